"""The draw or dispatch at an address of a capture, shown to a function before its execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Generic, TypeGuard, TypeVar

import msgspec

from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.options import Options
from dp2emu.errors import (
    STOPPED,
    Absent,
    Disagreement,
    Dp2Error,
    Exceeded,
    Fault,
    Unsupported,
    UsageError,
)
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.events import Event
from dp2emu.explain.playback import EventList, Observer, Playback, Stage
from dp2emu.gpu.command.packets import Dispatch, Draw, Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.gpu.input_assembler.indirect_arguments import direct_dispatch
from dp2emu.gpu.input_assembler.vertex_fetch import measured
from dp2emu.gpu.work_budget import WorkBudget
from dp2emu.limits import Limits
from dp2emu.replay import Watcher
from dp2emu.replay.calls import Performed
from dp2emu.replay.player import Recording

Seen = TypeVar("Seen")
Look = Callable[[Event, Any, Stage], Seen]
"""Function that looks at a draw or dispatch before it is executed, and returns what it saw."""

Kind = type[Draw] | type[Dispatch]


def at_packet(
    capture: Recording,
    address: Address,
    look: Look[Seen],
    *,
    kind: Kind = Draw,
    after: Callable[[Event, Stage], None] | None = None,
    options: Options | None = None,
    timing: Timing | None = None,
    watcher: Watcher | None = None,
) -> tuple[Event, Seen]:
    """Play a capture up to a draw or dispatch -> its event, and what ``look`` returns for it.

    The event is the first at the address that is of the ``kind``.  ``after`` is called once it is
    executed; a Disagreement that it raises gives way to what ended the execution early, if that
    was a limit or a want of memory.  Raises UsageError if there is none: for a frame always, which
    is neither; Exceeded for a packet that alone is beyond the limits of a call.
    """
    noun = kind.__name__.lower()
    if address.frame is not None:
        raise UsageError(f"{address.text} is a frame, not a {noun}")
    looking: _Looking[Seen] = _Looking(address, kind, look, after)
    known, watcher, ended = EventList(), watcher or Watcher(), list[Dp2Error]()

    def answered(performed: Performed) -> None:
        watcher.answered(performed)
        if _ends_execution(performed.error):
            ended.append(performed.error.at(stream=capture.name, call=performed.number))

    watched = msgspec.structs.replace(watcher, answered=answered)
    playback = Playback(capture, [known, looking], options=options, timing=timing, watcher=watched)
    with closing(playback):
        while looking.event is None and looking.error is None and playback.step():
            pass
    if isinstance(looking.error, Disagreement) and ended:
        raise ended[-1]
    if looking.error is not None:
        raise looking.error
    if looking.event is None or not looking.seen:
        event = find(known.events, address)
        if event.kind == noun and event.text:
            raise Absent(f"{event.address}: {event.name} does nothing: {event.text}")
        raise Absent(f"{event.address} is a {event.kind.value} ({event.name}), not a {noun}")
    return looking.event, looking.seen[0]


def _ends_execution(error: Dp2Error | None) -> TypeGuard[Dp2Error]:
    """Whether a call with this error left packets partly executed."""
    lacking = isinstance(error, Fault) and error.hr == HResult.DDERR_OUTOFMEMORY
    return lacking or isinstance(error, Exceeded)


def _admit(packet: Draw | Dispatch, limits: Limits) -> None:
    """Raise Exceeded for a packet that alone is beyond the limits of a call."""
    budget = WorkBudget(limits)
    if isinstance(packet, Draw):
        budget.admit_draw(measured(packet))
    else:
        budget.admit_dispatch(direct_dispatch(packet))


class _Looking(Observer, Generic[Seen]):
    """Looks at the first packet of a kind at an address.

    Mutable: it keeps what it saw, or the ``error`` at it, which is none of the capture.
    """

    def __init__(
        self,
        address: Address,
        kind: Kind,
        look: Look[Seen],
        after: Callable[[Event, Stage], None] | None,
    ) -> None:
        self.event: Event | None = None
        self.seen: list[Seen] = []
        self.error: Dp2Error | None = None
        self._address = address
        self._kind = kind
        self._look = look
        self._after = after
        self._number = -1

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Look at the packet."""
        begun = bool(self.seen) or self.error is not None
        if begun or not matches(event, self._address) or not isinstance(packet, self._kind):
            return
        self._number = event.number
        with self._keeping(event):
            _admit(packet, stage.gpu.heap.limits)
            self.seen.append(self._look(event, packet, stage))

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Keep the event of the packet."""
        if self.seen and event.number == self._number:
            self.event = event
            if self._after is not None:
                with self._keeping(event):
                    self._after(event, stage)

    @contextmanager
    def _keeping(self, event: Event) -> Iterator[None]:
        """Context manager that keeps an error, which a playback would report as a fault."""
        try:
            yield
        except STOPPED:
            raise
        except Dp2Error as error:
            if isinstance(error, Unsupported):
                error.at(call=event.call, token=event.name)
            self.error = error
