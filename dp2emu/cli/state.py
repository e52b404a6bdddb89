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
from dp2emu.explain.address import MEANING, parse_address
from dp2emu.explain.state import Looked, changes_json, changes_text, found_setters, state_at
from dp2emu.replay.player import Recording
from dp2emu.snapshot import snapshot_text


@verb_command("state", more=MEANING)
@capture_verb("state")
@click.option(
    "--at", "where", metavar="EVENT", required=True,
    help="After a call (12), before a token of it (12:3), or as a draw or other event uses it.",
)  # fmt: skip
@click.option(
    "--against", metavar="EVENT", help="Show what changed from --at to this address instead."
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
    call.  --against tells which token or call set each fact that changed.
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
        out.write(
            _state(found[0], as_json)
            if against is None
            else _differences(capture, found, options, as_json)
        )
    return faults.report()


def _state(facts: Facts, as_json: bool) -> str:
    return json.dumps(facts, indent=1) + "\n" if as_json else snapshot_text(facts)


def _differences(capture: Recording, found: list[Facts], options: Options, as_json: bool) -> str:
    before, after = found
    setters = found_setters(capture, before, after, options=options)
    if as_json:
        return json.dumps(changes_json(before, after, setters), indent=1) + "\n"
    return changes_text(before, after, setters)
