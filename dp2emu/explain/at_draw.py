"""The draw at an address of a capture, shown to a function while memory is as before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.play import EventList, Observer, Playback, Stage
from dp2emu.gpu.command.packets import Draw, Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.work_budget import WorkBudget
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording

Seen = TypeVar("Seen")
Look = Callable[[Event, Draw, Stage], Seen]
"""Function that looks at a draw before it is executed, and returns what it saw."""


def at_draw(
    capture: Recording,
    address: Address,
    look: Look[Seen],
    *,
    after: Callable[[Event, Stage], None] | None = None,
    options: Options | None = None,
    timing: Timing | None = None,
    watcher: Watcher | None = None,
) -> tuple[Event, Seen]:
    """Play a capture up to a draw -> its event, and what ``look`` returns for it.

    The draw is the first at the address that is one.  ``after`` is called once it is executed.
    Raises UsageError if there is none: for a frame always, which is no draw.
    """
    if address.frame is not None:
        raise UsageError(f"{address.text} is a frame, not a draw")
    looking: _Looking[Seen] = _Looking(address, look, after)
    known = EventList()
    playback = Playback(capture, [known, looking], options=options, timing=timing, watcher=watcher)
    while looking.event is None and playback.step():
        pass
    if looking.event is None or not looking.seen:
        event = find(known.events, address)
        raise UsageError(f"{address.text} is a {event.kind.value} ({event.name}), not a draw")
    return looking.event, looking.seen[0]


class _Looking(Observer, Generic[Seen]):
    """Looks at the first draw at an address.  Mutable: it keeps what it saw."""

    def __init__(
        self, address: Address, look: Look[Seen], after: Callable[[Event, Stage], None] | None
    ) -> None:
        self.event: Event | None = None
        self.seen: list[Seen] = []
        self._address = address
        self._look = look
        self._after = after

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Look at the draw."""
        wanted = not self.seen and event.kind is EventKind.DRAW and matches(event, self._address)
        if wanted and isinstance(packet, Draw):
            WorkBudget(stage.gpu.heap.limits).admit_draw(packet)
            self.seen.append(self._look(event, packet, stage))
            self._number = event.number

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Keep the event of the draw."""
        if self.seen and self.event is None and event.number == self._number:
            self.event = event
            if self._after is not None:
                self._after(event, stage)
