"""The verb ``dp2emu state``: show all device state at a point of a capture."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options
from dp2emu.cli.outcome import Faults
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.dp2.states.inspect import Facts
from dp2emu.explain.address import parse_address
from dp2emu.explain.state import Looked, changes_json, changes_text, state_at
from dp2emu.snapshot import snapshot_text


@verb_command("state")
@capture_verb("state")
@click.option(
    "--at", "where", metavar="ADDRESS", required=True,
    help="After a call (12), before a token of it (12:3), or as a draw or other event uses it.",
)  # fmt: skip
@click.option(
    "--against", metavar="ADDRESS", help="Show what changed from --at to this address instead."
)
@click.option(
    "--png", "pictures", metavar="DIR", type=OUTPUT,
    help="Write a picture of each bound texture and target.",
)  # fmt: skip
@click.option(
    "--rows", metavar="N", type=click.IntRange(0, 1 << 20), default=0,
    help="Show the first N vertices of the bound buffers, as the declaration says.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@with_driver_options
def command(
    opened: Opened,
    where: str,
    against: str | None,
    pictures: str | None,
    rows: int,
    as_json: bool,
    options: Options,
) -> int:
    """Show all device state at a point of a capture.

    The capture is replayed up to this point.  Shows the context or Direct3D 10/11 device of the
    call.
    """
    faults = Faults()
    places = [parse_address(each) for each in (where, against) if each is not None]
    found, capture = [], opened.repeated
    for name, address in zip(("at", "against"), places, strict=False):
        folder = Path(pictures) if pictures else None
        if folder is not None and against is not None:
            folder = folder / name
        looked = Looked(rows, folder)
        faults.clear()
        found.append(state_at(capture, address, options=options, fault=faults.note, looked=looked))
    with text_output("-") as out:
        out.write(_text(found, as_json))
    return faults.report()


def _text(found: list[Facts], as_json: bool) -> str:
    """The state, or what changed between two."""
    facts = found[0] if len(found) == 1 else changes_json(*found)
    if as_json:
        return json.dumps(facts, indent=1) + "\n"
    return snapshot_text(facts) if len(found) == 1 else changes_text(*found)
