"""The verb ``dp2emu mesh``: show the vertices and primitives of a draw, stage by stage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.errors import Absent
from dp2emu.escaping import plain
from dp2emu.explain.address import MEANING, parse_address
from dp2emu.explain.at_packet import at_packet
from dp2emu.explain.events import Event
from dp2emu.explain.input_names import input_names
from dp2emu.explain.listing import row_of
from dp2emu.explain.mesh import STAGES, Piece, mesh_of, stages_of
from dp2emu.explain.mesh_files import csv_lines, json_of, obj_lines, text_lines
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.device.timing import Timing
from dp2emu.replay import Watcher


@verb_command("mesh", more=MEANING)
@capture_verb("mesh")
@click.argument("event", metavar="EVENT")
@click.option(
    "--stage", type=click.Choice(STAGES),
    help="Only this stage; --csv and --obj have one, by default the input.",
)  # fmt: skip
@click.option("--csv", "form", flag_value="csv", help="Print all vertices as CSV.")
@click.option("--json", "form", flag_value="json", help="Print a JSON object.")
@click.option("--obj", "form", flag_value="obj", help="Print a Wavefront OBJ file.")
@click.option("-o", "--output", metavar="FILE", type=OUTPUT, default="-", help="Write to a file.")
@with_timing
@with_driver_options
def command(
    opened: Opened,
    event: str,
    stage: str | None,
    form: str | None,
    output: str,
    timing: Timing | None,
    options: Options,
) -> None:
    """Show the vertices and primitives of a draw, stage by stage.

    EVENT has to be a draw.  The memory is as before the draw.
    """
    one = stage or ("input" if form in ("csv", "obj") else None)
    found, pieces = at_packet(
        opened.capture,
        parse_address(event),
        lambda event, draw, stage: _wanted(draw, one, input_names(event, draw, stage)),
        options=options,
        timing=timing,
        watcher=Watcher(fault=opened.faults.note),
    )
    with text_output(output) as out:
        for text in _written(found, pieces, form):
            out.write(text + "\n")


def _wanted(draw: Draw, stage: str | None, names: Mapping[str, str]) -> list[Piece]:
    there = stages_of(draw)
    if stage is not None and stage not in there:
        raise Absent(f"the draw has no stage {stage}; it has {', '.join(there)}")
    return list(mesh_of(draw, STAGES if stage is None else (stage,), names))


def _written(event: Event, pieces: list[Piece], form: str | None) -> Iterable[str]:
    if form == "csv":
        return csv_lines(pieces)
    if form == "obj":
        return obj_lines(pieces)
    if form == "json":
        return [json.dumps(json_of(pieces, row_of(event)), indent=1)]
    count = f"{event.primitives} primitive{'' if event.primitives == 1 else 's'}"
    head = f"{event.address} {event.place} {event.name}: {count}, {event.topology}"
    return map(plain, (head, *text_lines(pieces)))
