"""Import of API traces: their calls are made again on runtimes, whose commands are captured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Protocol

from dp2emu.argument_check import trusted_function
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
from dp2emu.places import Place, working_at
from dp2emu.replay.frames import EVERY, FrameCount, Frames
from dp2emu.retrace import d3d8, d3d9, ddraw  # noqa: F401  (registers the methods)
from dp2emu.retrace.losses import Losses
from dp2emu.retrace.program import Program


class Writer(Protocol):
    """An object to which the records of a capture are written, such as ``CaptureWriter``."""

    def write(self, record: Record) -> None:
        """Append a record."""


class Import:
    """A trace read as a capture: its calls run on runtimes over a driver whose GPU skips drawing,
    and the commands that the runtimes send are the capture's records.

    Only the program's objects and the records of one call are in memory.  Mutable: ``losses`` are
    the losses of the last pass over the trace, and grow during it.
    """

    def __init__(self, trace: Trace) -> None:
        self.losses = Losses()
        self._trace = trace
        self._call: TraceCall | None = None

    def place(self) -> Place:
        """The call of the trace that is being performed: its number, and its name as a token."""
        call = self._call
        if call is None:
            return {"stream": self.name}
        return {"stream": self.name, "call": call.number, "token": call.name}

    @property
    def name(self) -> str:
        """The trace's file name, for error messages."""
        return self._trace.name

    @property
    def damage(self) -> CaptureError | None:
        """The error that ended the trace early, None if it is complete."""
        return self._trace.damage

    @property
    def bytes_read(self) -> int:
        """Size of the trace's file, or of a pipe the number of bytes that were read."""
        return self._trace.bytes_read

    def records(self) -> Iterator[Record]:
        """Every record in order.  Each call of this method reads the trace from its start."""
        made: list[Record] = [Annotation(IMPORTED, PurePath(self.name).name)]
        driver = Driver()
        driver.gpu.skipped = DRAWING
        program = Program(driver, made.append)
        self.losses = program.losses
        for call in self._trace.calls():
            self._call = call
            program.play(call)
            if made:
                yield from made
                if SurfaceCreated in map(type, made):
                    yield from _labels(call, made)
                made.clear()
        program.end()
        yield from made


def _labels(call: TraceCall, made: Iterable[Record]) -> Iterator[Annotation]:
    """Yield an annotation for each surface in ``made``: its handle, and the method and number of
    the call that created it.
    """
    for record in made:
        if type(record) is SurfaceCreated and record.desc.kind is not SurfaceKind.MEMORY:
            yield Annotation(f"{LABEL}{record.desc.handle}", _maker(call))


def _maker(call: TraceCall) -> str:
    name = call.name.partition("::")[2] or call.name
    given = [value[0] for value in call.arguments if isinstance(value, tuple) and len(value) == 1]
    address = next((f"{each.value:#x}, " for each in given if isinstance(each, Pointer)), "")
    return f"{address}{name} in call {call.number}"


def selected(records: Iterable[Record], frames: Frames) -> Iterator[Record]:
    """``records`` without the markers, pictures and GetData results of frames before ``frames``,
    and without the records behind the last frame.

    Other records of earlier frames stay, since later frames may depend on them.  Frames count from
    0 and end with a marker; the records behind the last marker are a frame too.
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
    """Import a trace and write the records to ``writer``; only those of ``frames``, if not all.

    Returns the losses, calls that could not be expressed; ``Trace.damage`` has the error of a
    truncated trace.  ``progress`` is called with each record.  Raises UsageError if the trace has
    none of the frames, OSError, and CaptureError if ``writer`` cannot take a record.
    """
    capture, count = Import(trace), FrameCount()
    with working_at(capture.place):
        records = capture.records()
        if frames != EVERY:
            records = selected(count.counted(records), frames)
        write = trusted_function(type(writer), "write")
        for record in records:
            write(writer, record)
            if progress is not None:
                progress(record)
    if trace.damage is None:
        frames.check(count.there)
    return capture.losses
