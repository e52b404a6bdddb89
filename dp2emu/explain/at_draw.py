"""The draw at an address of a capture, shown to a function while memory is as before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from dp2emu.dp2.options import Options
from dp2emu.errors import STOPPED, Dp2Error, UsageError
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.events import Event, EventKind
from dp2emu.explain.playback import EventList, Observer, Playback, Stage
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
    while looking.event is None and looking.error is None and playback.step():
        pass
    if looking.error is not None:
        raise looking.error
    if looking.event is None or not looking.seen:
        event = find(known.events, address)
        raise UsageError(f"{address.text} is a {event.kind.value} ({event.name}), not a draw")
    return looking.event, looking.seen[0]


class _Looking(Observer, Generic[Seen]):
    """Looks at the first draw at an address.

    Mutable: it keeps what it saw, or the ``error`` at it, which is none of the capture.
    """

    def __init__(
        self, address: Address, look: Look[Seen], after: Callable[[Event, Stage], None] | None
    ) -> None:
        self.event: Event | None = None
        self.seen: list[Seen] = []
        self.error: Dp2Error | None = None
        self._address = address
        self._look = look
        self._after = after
        self._number = -1

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Look at the draw."""
        begun = bool(self.seen) or self.error is not None
        wanted = not begun and event.kind is EventKind.DRAW and matches(event, self._address)
        if wanted and isinstance(packet, Draw):
            self._number = event.number
            with self._keeping():
                WorkBudget(stage.gpu.heap.limits).admit_draw(packet)
                self.seen.append(self._look(event, packet, stage))

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Keep the event of the draw."""
        if self.seen and event.number == self._number:
            self.event = event
            if self._after is not None:
                with self._keeping():
                    self._after(event, stage)

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Context manager that keeps an error, which a playback would report as a fault."""
        try:
            yield
        except STOPPED:
            raise
        except Dp2Error as error:
            self.error = error
