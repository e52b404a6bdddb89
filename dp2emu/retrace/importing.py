"""A trace becomes records of a capture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Protocol

import dp2emu.retrace.tables  # noqa: F401  (registers the methods)
from dp2emu.capture.apitrace import Trace
from dp2emu.capture.records import IMPORTED, Annotation, Record
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.gpu.core import DRAWING
from dp2emu.retrace.losses import Losses
from dp2emu.retrace.program import Program


class Writer(Protocol):
    """Who takes records, such as ``CaptureWriter``."""

    def write(self, record: Record) -> None:
        """Append a record."""


def importing(
    trace: Trace, writer: Writer, *, progress: Callable[[int], None] | None = None
) -> Losses:
    """Play the calls of ``trace`` through runtimes on a driver whose GPU draws nothing, and write
    what they send.  Returns what could not be expressed; a trace that is cut short says so
    itself (``Trace.damage``).

    Streams: beside the program's own memory one call is held.  ``progress`` is told the number
    of each call.  Raises OSError, and CaptureError if ``writer`` cannot take a record.
    """
    driver = Driver(options=Options())
    driver.gpu.skipped = DRAWING
    program = Program(driver, writer.write)
    writer.write(Annotation(IMPORTED, PurePath(trace.name).name))
    for call in trace.calls():
        program.play(call)
        if progress is not None:
            progress(call.number)
    return program.losses
