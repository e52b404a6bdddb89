"""``dp2emu state``."""

from __future__ import annotations

import json

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FAULTS, FINE, complain
from dp2emu.cli.readings import with_readings
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.snapshot import moment, snapshot, snapshot_text


@click.command("state")
@capture_verb(text=True, trace="imported")
@click.option(
    "--at",
    "where",
    metavar="CALL[:TOKEN]",
    required=True,
    help="Behind that call, or before that token of it; both count from 0.",
)
@click.option("--json", "as_json", is_flag=True, help="As a JSON object.")
@with_readings
def command(opened: Opened, where: str, as_json: bool, options: Options) -> int:
    """Show all device state at a point of a capture.

    The capture is replayed up to there; it is the context of that call that is shown.
    """
    faults: list[Dp2Error] = []
    facts = snapshot(opened.capture, moment(where), options=options, fault=faults.append)
    with text_output("-") as out:
        out.write(json.dumps(facts, indent=1) + "\n" if as_json else snapshot_text(facts))
    for fault in faults:
        complain(str(fault))
    return FAULTS if faults else FINE
