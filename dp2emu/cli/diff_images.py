"""The verb ``dp2emu diff-images``: compare pictures."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dp2emu.cli.allowances import show_judgements, with_allowance
from dp2emu.cli.captures import given_limits, with_limits
from dp2emu.cli.file_kinds import check_file
from dp2emu.cli.outcome import DIFFERS, FINE
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.cli.streams import text_output
from dp2emu.diff import Allowance, judge_paths


@verb_command("diff-images")
@click.argument("one", metavar="A", type=INPUT)
@click.argument("other", metavar="B", type=INPUT)
@click.option(
    "--out", metavar="PNG", type=OUTPUT, help="Write both side by side with their difference."
)
@with_limits
@with_allowance(tolerance=0, share=100.0, across=None)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(one: str, other: str, out: str | None, allowance: Allowance, as_json: bool) -> int:
    """Compare two pictures, or the pictures of two folders.

    In folders, pictures are compared that have the same name, or names that end with the same
    call_N; --out is then a folder for pairs that differ.
    """
    for path in (one, other):
        check_file("diff-images", path)
    folder = Path(out) if out else None
    judgements = judge_paths(Path(one), Path(other), allowance, folder, given_limits())
    with text_output("-") as stream:
        if as_json:
            rows = [judgement.row(allowance) for judgement in judgements]
            stream.write(json.dumps({"schema": 1, "pictures": rows}, indent=1) + "\n")
        else:
            show_judgements(judgements, allowance, stream)
    return FINE if all(judgement.within for judgement in judgements) else DIFFERS
