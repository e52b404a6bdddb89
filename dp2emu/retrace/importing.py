"""A trace becomes records of a capture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Protocol

import dp2emu.retrace.tables  # noqa: F401  (registers the methods)
from dp2emu.capture.apitrace import Trace, TraceCall
from dp2emu.capture.apitrace.values import Pointer
from dp2emu.capture.records import (
    IMPORTED,
    LABEL,
    Annotation,
    FrameMarker,
    Observed,
    Pictured,
    Record,
    SurfaceCreated,
)
from dp2emu.dp2.driver import Driver
from dp2emu.errors import CaptureError
from dp2emu.gpu.device.gpu import DRAWING
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.replay.frames import EVERY, Frames
from dp2emu.retrace.losses import Losses
from dp2emu.retrace.program import Program


class Writer(Protocol):
    """Who takes records, such as ``CaptureWriter``."""

    def write(self, record: Record) -> None:
        """Append a record."""


class Import:
    """A trace read as a capture: its calls are played through runtimes on a driver whose GPU
    draws nothing, and what they send are the records.

    Streams: beside the program's own memory it holds what one call gave.  Mutable: ``losses`` of
    the last pass grow while it goes on.
    """

    def __init__(self, trace: Trace) -> None:
        self.losses = Losses()
        self._trace = trace

    @property
    def name(self) -> str:
        """What errors call the trace."""
        return self._trace.name

    @property
    def damage(self) -> CaptureError | None:
        """What ended the trace early, if anything did."""
        return self._trace.damage

    def records(self) -> Iterator[Record]:
        """Every record, in order; as often as the trace can be read."""
        made: list[Record] = [Annotation(IMPORTED, PurePath(self.name).name)]
        driver = Driver()
        driver.gpu.skipped = DRAWING
        program = Program(driver, made.append)
        self.losses = program.losses
        for call in self._trace.calls():
            program.play(call)
            yield from made
            yield from _labels(call, made)
            made.clear()
        program.end()
        yield from made


def _labels(call: TraceCall, made: Iterable[Record]) -> Iterator[Annotation]:
    """What the surfaces are that a call made: by its number and name, and the address it gave."""
    for record in made:
        if isinstance(record, SurfaceCreated) and record.desc.kind is not SurfaceKind.MEMORY:
            yield Annotation(f"{LABEL}{record.desc.handle}", _maker(call))


def _maker(call: TraceCall) -> str:
    name = call.name.partition("::")[2] or call.name
    given = [value[0] for value in call.arguments if isinstance(value, tuple) and len(value) == 1]
    address = next((f"{each.value:#x}, " for each in given if isinstance(each, Pointer)), "")
    return f"{address}{name} in call {call.number}"


def selected(records: Iterable[Record], frames: Frames) -> Iterator[Record]:
    """``records`` with what frames outside of ``frames`` show left out: no marker, no picture and
    no answer of GetData before the first, and nothing behind the last.

    Everything else of earlier frames stays, their draws too, since later ones may depend on it.
    Frames count from 0, each ending with its marker, and what comes behind the last is one too.
    """
    frame = 0
    for record in records:
        if frame in frames or not isinstance(record, (FrameMarker, Pictured, Observed)):
            yield record
        if isinstance(record, FrameMarker):
            if frame == frames.last:
                return
            frame += 1


def importing(
    trace: Trace,
    writer: Writer,
    *,
    frames: Frames = EVERY,
    progress: Callable[[Record], None] | None = None,
) -> Losses:
    """Write a trace as a capture, or ``frames`` of it (``selected``).

    Returns what could not be expressed; a trace that is cut short says so itself
    (``Trace.damage``).  ``progress`` is told of each record.  Raises OSError, and CaptureError if
    ``writer`` cannot take a record.
    """
    capture = Import(trace)
    for record in selected(capture.records(), frames):
        writer.write(record)
        if progress is not None:
            progress(record)
    return capture.losses
