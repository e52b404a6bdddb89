"""The verb ``dp2emu state``: show all device state at a point of a capture."""

from __future__ import annotations

import json

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options
from dp2emu.cli.outcome import FAULTS, FINE, complain
from dp2emu.cli.paths import verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.snapshot import moment, snapshot, snapshot_text


@verb_command("state")
@capture_verb("state")
@click.option(
    "--at", "where", metavar="CALL[:TOKEN]", required=True,
    help="After this call, or before this token of it; both count from 0.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@with_driver_options
def command(opened: Opened, where: str, as_json: bool, options: Options) -> int:
    """Show all device state at a point of a capture.

    The capture is replayed up to this point.  Shows the context or Direct3D 10/11 device of the
    call.
    """
    faults: list[Dp2Error] = []
    facts = snapshot(opened.capture, moment(where), options=options, fault=faults.append)
    with text_output("-") as out:
        out.write(json.dumps(facts, indent=1) + "\n" if as_json else snapshot_text(facts))
    for fault in faults:
        complain(str(fault))
    return FAULTS if faults else FINE
