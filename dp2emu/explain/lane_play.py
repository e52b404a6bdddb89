"""Traces of lanes of the events of a capture: the capture is played up to the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.explain.address import Address
from dp2emu.explain.at_packet import at_packet
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
from dp2emu.explain.playback import Stage
from dp2emu.explain.shader_trace import ShaderTrace
from dp2emu.gpu.command.packets import Dispatch, Draw
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


class _Tracing:
    """Traces a lane before its event, and checks afterwards what was stored.  Mutable."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._drawn: Draw | None = None
        self._traces: tuple[ShaderTrace, ...] = ()

    def trace(self, event: Event, packet: Any, stage: Stage) -> tuple[ShaderTrace, ...]:
        """The traces of the lane in a packet that is about to be executed."""
        self._traces = _TRACE[self._lane.what](self, packet)
        return self._traces

    def check(self, event: Event, stage: Stage) -> None:
        """Raise Disagreement if the event stored something else than the trace of a pixel says."""
        if self._drawn is not None:
            check_stored(self._traces[0], self._drawn, Pixel(*self._lane.numbers))

    def pixel(self, draw: Draw) -> tuple[ShaderTrace, ...]:
        """The trace of a pixel; the draw is kept for the check."""
        x, y = self._lane.numbers
        made, self._drawn = traced_pixel(draw, Pixel(x, y), self._lane.chosen)
        return (made,)

    def vertex(self, draw: Draw) -> tuple[ShaderTrace, ...]:
        """The trace of a vertex."""
        return (trace_vertex(draw, self._lane.numbers[0], self._lane.chosen.instance or 0),)

    def primitive(self, draw: Draw) -> tuple[ShaderTrace, ...]:
        """The traces of a primitive."""
        return trace_primitive(draw, self._lane.numbers[0], self._lane.chosen.instance or 0)

    def thread(self, dispatch: Dispatch) -> tuple[ShaderTrace, ...]:
        """The trace of a thread."""
        x, y, z = self._lane.numbers
        return (trace_thread(dispatch, (x, y, z)),)


_TRACE: dict[str, Callable[[_Tracing, Any], tuple[ShaderTrace, ...]]] = {
    "pixel": _Tracing.pixel,
    "vertex": _Tracing.vertex,
    "primitive": _Tracing.primitive,
    "thread": _Tracing.thread,
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
    else than the trace says, Exceeded and Unsupported as the draw or dispatch does.
    """
    if len(lane.numbers) != LANES[lane.what]:
        raise UsageError(f"{lane.what} takes {LANES[lane.what]} numbers, not {len(lane.numbers)}")
    tracing = _Tracing(lane)
    _, traces = at_packet(
        capture,
        address,
        tracing.trace,
        kind=Dispatch if lane.what == "thread" else Draw,
        after=tracing.check,
        options=options,
        timing=timing,
        watcher=watcher,
    )
    return traces
