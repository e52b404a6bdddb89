"""The verb ``dp2emu import``: convert a trace of Direct3D calls to a capture."""

from __future__ import annotations

from typing import BinaryIO

import click

from dp2emu.capture.apitrace import Trace
from dp2emu.capture.writer import COMPRESSIONS, CaptureWriter
from dp2emu.cli.captures import trace_verb
from dp2emu.cli.outcome import FINE, UNUSABLE, complain, progress_through, report_losses, worst
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.outputs import replacing_output
from dp2emu.replay import parse_frames
from dp2emu.retrace import importing


@verb_command("import")
@trace_verb
@click.option("-o", "--out", metavar="FILE", type=OUTPUT, required=True,
              help='The capture; "-" is stdout.')  # fmt: skip
@click.option("--frames", metavar="A-B", help="Only these frames, from 0: like 3, 3-7, 3- or -7.")
@click.option(
    "--compression",
    type=click.Choice(list(COMPRESSIONS)),
    default="zstd",
    help="Compression of the capture.",
)
def command(
    trace: Trace, file: BinaryIO | None, out: str, frames: str | None, compression: str
) -> int:
    """Convert an apitrace trace of Direct3D or DirectDraw calls to a capture.

    An emulated runtime turns the calls into what it sends a display driver.  The capture also has
    the pictures and query results that the program received.  Calls that cannot be expressed are
    listed by number, and the exit code is 3.
    """
    wanted = parse_frames(frames or "0-")
    with (
        replacing_output(out) as place,
        CaptureWriter(place, compression=compression, durable=False) as writer,
        progress_through("import", file) as advance,
    ):
        losses = importing(trace, writer, frames=wanted, progress=advance)
    if trace.damage is not None:
        complain(str(trace.damage))
    return worst(UNUSABLE if trace.damage else FINE, report_losses(trace.name, losses))
