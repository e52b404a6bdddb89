"""``dp2emu import``."""

from __future__ import annotations

from typing import BinaryIO

import click

from dp2emu.capture.apitrace import Trace
from dp2emu.capture.writer import COMPRESSIONS, CaptureWriter
from dp2emu.cli.captures import PATH, trace_verb
from dp2emu.cli.losses import tell_losses
from dp2emu.cli.outcome import FINE, UNUSABLE, complain, worst
from dp2emu.cli.progress import progress_through
from dp2emu.outputs import replacing_output
from dp2emu.replay import parse_frames
from dp2emu.retrace import importing


@click.command("import")
@trace_verb
@click.option("-o", "--out", metavar="FILE", type=PATH, required=True,
              help='The capture; "-" is stdout.')  # fmt: skip
@click.option("--frames", metavar="A-B", help="Only these frames, from 0: like 3, 3-7, 3- or -7.")
@click.option(
    "--compression", type=click.Choice(list(COMPRESSIONS)), default="zstd", help="Of the capture."
)
def command(
    trace: Trace, file: BinaryIO | None, out: str, frames: str | None, compression: str
) -> int:
    """Turn a program's Direct3D or DirectDraw calls, an apitrace trace, into a capture.

    A runtime makes of them what it would send a display driver.  What the program saw, pictures
    and answers of queries, is in the capture too.  Calls that cannot be expressed are told by
    their numbers, and the exit code is 3.
    """
    wanted = parse_frames(frames or "0-")
    with (
        replacing_output(out) as place,
        CaptureWriter(place, compression=compression) as writer,
        progress_through(file) as advance,
    ):
        losses = importing(trace, writer, frames=wanted, progress=advance)
    if trace.damage is not None:
        complain(str(trace.damage))
    return worst(UNUSABLE if trace.damage else FINE, tell_losses(trace.name, losses))
