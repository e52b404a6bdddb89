"""The verb ``dp2emu graph``: write the graph of passes and resources."""

from __future__ import annotations

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.explain.pass_graph import dot, graph_of
from dp2emu.gpu.device.timing import Timing


@verb_command("graph")
@capture_verb("graph")
@click.option(
    "-o", "--output", "--out", "out", metavar="FILE", type=OUTPUT, default="-", show_default=True,
    help="The graph in DOT.",
)  # fmt: skip
@with_timing
@with_driver_options
def command(opened: Opened, out: str, timing: Timing | None, options: Options) -> None:
    """Write the graph of passes and resources in DOT, which Graphviz draws.

    A pass is a run of events that write the same surfaces.
    """
    graph = graph_of(opened.capture, options=options, timing=timing, fault=opened.faults.note)
    with text_output(out) as page:
        page.writelines(f"{line}\n" for line in dot(graph))
