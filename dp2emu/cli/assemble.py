"""``dp2emu assemble``."""

from __future__ import annotations

import click

from dp2emu.cli.captures import PATH
from dp2emu.cli.streams import text_input
from dp2emu.text.conversion import assemble


@click.command("assemble")
@click.argument("text", metavar="TEXT", type=PATH)
@click.option(
    "-o", "--out", metavar="FILE", type=PATH, required=True, help='The capture; "-" is stdout.'
)
def command(text: str, out: str) -> None:
    """Turn dump's text back into a capture.

    The first line of TEXT says of which form.
    """
    with text_input(text) as source:
        assemble(source, out, name=text)
