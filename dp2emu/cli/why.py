"""The verb ``dp2emu why``: explain the answers of a query."""

from __future__ import annotations

import json

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.options import with_driver_options, with_timing
from dp2emu.cli.paths import verb_command
from dp2emu.cli.streams import text_output
from dp2emu.dp2.options import Options
from dp2emu.explain.query_account import accounts_of, parse_question
from dp2emu.explain.query_report import document, lines
from dp2emu.gpu.device.timing import Timing


@verb_command("why")
@capture_verb("why")
@click.argument("query")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@with_timing
@with_driver_options
def command(
    opened: Opened, query: str, as_json: bool, timing: Timing | None, options: Options
) -> None:
    """Explain the answers of a query: what counted, when it was delivered, what it waits for.

    QUERY is the id of a query, or in a capture of Direct3D 10 or 11 the number of its object.
    5@12 means those answers of query 5 that were issued or delivered in call 12, and 5#0 its first
    answer.
    """
    found = accounts_of(
        opened.capture,
        parse_question(query),
        options=options,
        timing=timing,
        fault=opened.faults.note,
    )
    with text_output("-") as out:
        if as_json:
            out.write(json.dumps(document(found), indent=1) + "\n")
        else:
            out.writelines(f"{line}\n" for account in found for line in lines(account))
