"""``dp2emu info``."""

from __future__ import annotations

import json
from typing import cast

import click

from dp2emu.capture import Capture
from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FINE, UNUSABLE, complain
from dp2emu.cli.streams import text_output
from dp2emu.info import info, info_text


@click.command("info")
@capture_verb(text=False)
@click.option("--json", "as_json", is_flag=True, help="As a JSON object.")
@click.option("--tokens", is_flag=True, help="Count tokens too; reads the whole capture.")
def command(opened: Opened, as_json: bool, tokens: bool) -> int:
    """Say what a capture holds.

    Large captures answer from their index, without a look at the records.
    """
    facts = info(cast(Capture, opened.capture), tokens=tokens)
    with text_output("-") as out:
        out.write(json.dumps(facts, indent=1) + "\n" if as_json else info_text(facts))
    if facts["damage"]:
        complain(facts["damage"])
        return UNUSABLE
    return FINE
