"""The verb ``dp2emu timeline``: write a timeline for Perfetto."""

from __future__ import annotations

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import byte_output
from dp2emu.dp2.options import Options
from dp2emu.explain.timeline import timeline_of
from dp2emu.gpu.device.timing import Timing


@verb_command("timeline")
@capture_verb("timeline")
@click.option(
    "-o", "--output", "--out", "out", metavar="FILE", type=OUTPUT, required=True,
    help="The trace.",
)  # fmt: skip
@with_timing
@with_driver_options
def command(opened: Opened, out: str, timing: Timing | None, options: Options) -> None:
    """Write calls, events, queries, responses and counters as a trace for Perfetto.

    Times are ticks of the virtual clock: with the default timing model all work is instant.
    """
    trace = timeline_of(opened.capture, options=options, timing=timing, fault=opened.faults.note)
    with byte_output(out) as file:
        file.writelines(trace.packets())
