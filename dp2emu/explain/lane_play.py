"""Traces of lanes of the events of a capture: the capture is played up to the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.explain.address import Address, find, matches
from dp2emu.explain.events import Event
from dp2emu.explain.lanes import (
    Chosen,
    Pixel,
    check_stored,
    trace_primitive,
    trace_thread,
    trace_vertex,
    traced_pixel,
)
from dp2emu.explain.playback import Observer, Playback, Stage
from dp2emu.explain.shader_trace import ShaderTrace
from dp2emu.gpu.command.packets import Dispatch, Draw, Packet
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher
from dp2emu.replay.player import Recording

LANES = {"pixel": 2, "vertex": 1, "primitive": 1, "thread": 3}
"""Number of numbers that name a lane, by what it is."""


class Lane(msgspec.Struct, frozen=True):
    """A lane: ``what`` is a key of ``LANES``, ``numbers`` are its place.

    A pixel is named by column and row, a thread by SV_DispatchThreadID.  ``chosen`` tells
    fragments of a pixel apart, and the instance of a vertex or primitive.
    """

    what: str
    numbers: tuple[int, ...]
    chosen: Chosen = Chosen()


class LaneObserver(Observer):
    """Traces a lane of the event at an address.  Mutable: ``traces`` are set by the event.

    ``events`` are those seen so far.  ``error`` is what the tracing raised.
    """

    def __init__(self, address: Address, lane: Lane) -> None:
        self.events: list[Event] = []
        self.traces: tuple[ShaderTrace, ...] = ()
        self.error: Dp2Error | None = None
        self.done = False
        self._address, self._lane = address, lane
        self._drawn: Draw | None = None
        self._event: Event | None = None

    def before(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Trace the lane if this is its event."""
        if self._event is not None or not matches(event, self._address):
            return
        if self._address.frame is not None and packet is not None:
            return
        self._event = event
        try:
            self._trace(event, packet)
        except Dp2Error as error:
            self.error = error

    def after(self, event: Event, packet: Packet | None, stage: Stage) -> None:
        """Check that the event stored what the trace says."""
        self.events.append(event)
        if self._event is None or event.number != self._event.number:
            return
        self.done = True
        if self._drawn is not None and self.error is None:
            try:
                check_stored(self.traces[0], self._drawn, Pixel(*self._lane.numbers))
            except Dp2Error as error:
                self.error = error

    def _trace(self, event: Event, packet: Packet | None) -> None:
        what, wanted = self._lane.what, Dispatch if self._lane.what == "thread" else Draw
        if not isinstance(packet, wanted):
            noun = wanted.__name__.lower()
            raise UsageError(f"{event.address} is a {event.kind}: {what} needs a {noun}")
        self.traces = _TRACE[what](self, packet)

    def _pixel(self, draw: Draw) -> tuple[ShaderTrace, ...]:
        x, y = self._lane.numbers
        made, self._drawn = traced_pixel(draw, Pixel(x, y), self._lane.chosen)
        return (made,)

    def _vertex(self, draw: Draw) -> tuple[ShaderTrace, ...]:
        return (trace_vertex(draw, self._lane.numbers[0], self._lane.chosen.instance or 0),)

    def _primitive(self, draw: Draw) -> tuple[ShaderTrace, ...]:
        return trace_primitive(draw, self._lane.numbers[0], self._lane.chosen.instance or 0)

    def _thread(self, dispatch: Dispatch) -> tuple[ShaderTrace, ...]:
        x, y, z = self._lane.numbers
        return (trace_thread(dispatch, (x, y, z)),)


_TRACE: dict[str, Callable[[LaneObserver, Any], tuple[ShaderTrace, ...]]] = {
    "pixel": LaneObserver._pixel,
    "vertex": LaneObserver._vertex,
    "primitive": LaneObserver._primitive,
    "thread": LaneObserver._thread,
}


def trace_event(
    capture: Recording,
    address: Address,
    lane: Lane,
    *,
    options: Options | None = None,
    timing: Timing | None = None,
    watcher: Watcher | None = None,
) -> tuple[ShaderTrace, ...]:
    """Play a capture up to an event, and trace a lane of it.

    One trace, or for a primitive one for each program and invocation.  Raises UsageError if there
    is no such event or lane, Disagreement if the engine that plays the capture stored something
    else than the trace says, Unsupported as the draw does.
    """
    if len(lane.numbers) != LANES[lane.what]:
        raise UsageError(f"{lane.what} takes {LANES[lane.what]} numbers, not {len(lane.numbers)}")
    observer = LaneObserver(address, lane)
    playback = Playback(capture, [observer], options=options, timing=timing, watcher=watcher)
    try:
        while not observer.done and playback.step():
            pass
    finally:
        playback.close()
    if observer.error is not None:
        raise observer.error
    if not observer.traces:
        event = find(observer.events, address)
        raise UsageError(f"{event.address} is a {event.kind}, which runs no shader")
    return observer.traces
