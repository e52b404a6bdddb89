"""The verb ``dp2emu assemble``: convert the text of a dump back to a capture."""

from __future__ import annotations

import click

from dp2emu.cli.captures import given_limits, with_limits
from dp2emu.cli.file_kinds import check_file
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.cli.streams import text_input
from dp2emu.text.conversion import assemble


@verb_command("assemble")
@click.argument("text", metavar="TEXT", type=INPUT)
@click.option(
    "-o", "--out", metavar="FILE", type=OUTPUT, required=True, help='The capture; "-" is stdout.'
)
@with_limits
def command(text: str, out: str) -> None:
    """Convert the text of dump back to a capture.

    The first line of TEXT names the form of the capture.
    """
    check_file("assemble", text)
    with text_input(text) as source:
        assemble(source, out, name=text, limits=given_limits())
