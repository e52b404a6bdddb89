"""Marks that a program sets for tools."""

from __future__ import annotations

from dp2emu.capture.records import MARKER, MARKER_BEGIN, MARKER_END, Annotation
from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11.objects import CONTEXT, MARKS
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method


def _text(call: Arguments, name: str) -> str:
    """A text argument."""
    return str(call.value(name)) if call.has(name) else ""


@method(MARKS, "BeginEvent")
@method(CONTEXT, "BeginEventInt")
def begin_event(program: Program, call: Arguments) -> None:
    """An annotation: the begin of a range."""
    program.recorder.put(Annotation(MARKER_BEGIN, _text(call, call.placed(1))))


@method(f"{MARKS} {CONTEXT}", "EndEvent")
def end_event(program: Program, call: Arguments) -> None:
    """An annotation: the end of a range."""
    program.recorder.put(Annotation(MARKER_END, ""))


@method(MARKS, "SetMarker")
@method(CONTEXT, "SetMarkerInt")
def set_marker(program: Program, call: Arguments) -> None:
    """An annotation: a single mark."""
    program.recorder.put(Annotation(MARKER, _text(call, call.placed(1))))


inert(MARKS, "GetStatus", NO_EFFECT)
inert(CONTEXT, "IsAnnotationEnabled", NO_EFFECT)
