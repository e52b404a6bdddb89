"""The verb ``dp2emu overlay``: a picture of what a draw did at each pixel."""

from __future__ import annotations

from typing import Any

import click

from dp2emu.cli.captures import Opened, Verb, capture_verb, with_options
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.outcome import say
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import byte_output
from dp2emu.dp2.options import Options
from dp2emu.explain.address import MEANING, parse_address
from dp2emu.explain.at_packet import at_packet
from dp2emu.explain.overlay import Overlay, overlay_of
from dp2emu.explain.rehearsal import check_same
from dp2emu.gpu.device.timing import Timing
from dp2emu.picture import encode_png
from dp2emu.replay import Watcher

_KINDS = {
    "overdraw": "Fragments at each pixel, darker where none passed.",
    "depth": "Stored depth after the draw, from the least to the largest.",
    "wireframe": "Edges of the primitives that are not culled.",
    "quads": "Covered lanes of the 2x2 quads of each primitive.",
    "nan": "Shader outputs and stored floats that are NaN, infinite or negative.",
    "clipped": "Primitives that were drawn, cut by clipping, culled or degenerate.",
    "mips": "Most detailed mip level that is read.",
    "cost": "Operations of the pixel program.",
}
"""Help of each kind of overlay, by its name, which is its option."""


def _with_kind(verb: Verb) -> Verb:
    return with_options(
        verb,
        *(
            click.option(f"--{kind}", "kind", flag_value=kind, help=line)
            for kind, line in _KINDS.items()
        ),
    )


@verb_command("overlay", more=MEANING)
@capture_verb("overlay", buffers=False)
@click.argument("event", metavar="EVENT")
@_with_kind
@click.option(
    "-o",
    "--output",
    metavar="PNG",
    type=OUTPUT,
    required=True,
    help='Write the picture here; "-" is stdout.',
)  # fmt: skip
@with_timing
@with_driver_options
def command(
    opened: Opened,
    event: str,
    kind: str | None,
    output: str,
    timing: Timing | None,
    options: Options,
) -> None:
    """Show what a draw did at each pixel, as a picture with a legend.

    EVENT has to be a draw.  Exactly one kind of picture is needed.
    """
    if kind is None:
        raise click.UsageError(
            f"exactly one of {', '.join(f'--{each}' for each in _KINDS)} is needed"
        )
    seen: list[Overlay] = []

    def look(found: Any, draw: Any, stage: Any) -> Overlay:
        seen.append(overlay_of(draw, kind))
        return seen[0]

    def after(found: Any, stage: Any) -> None:
        if seen[0].rehearsal is not None:
            check_same(seen[0].rehearsal, found.address)

    found, overlay = at_packet(
        opened.capture,
        parse_address(event),
        look,
        after=after,
        options=options,
        timing=timing,
        watcher=Watcher(fault=opened.faults.note),
    )
    with byte_output(output) as file:
        file.write(encode_png(overlay.drawn()))
    for row in overlay.legend:
        say(f"{found.address}: {row.text}")
