"""``dp2emu dump``."""

from __future__ import annotations

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FINE, UNUSABLE, complain
from dp2emu.cli.streams import text_output
from dp2emu.text import dump_jsonl, dump_text


@click.command("dump")
@capture_verb(text=True)
@click.option("--hex", "with_bytes", is_flag=True, help="Show the bytes beside the fields.")
@click.option("--jsonl", is_flag=True, help="A JSON object for each token and other record.")
def command(opened: Opened, with_bytes: bool, jsonl: bool) -> int:
    """Show a capture as text, or its tokens as JSON lines.

    The text assembles back to the same capture, byte for byte.
    """
    if jsonl and with_bytes:
        raise click.UsageError("--hex belongs to text, not to --jsonl")
    capture = opened.capture
    with text_output("-") as out:
        if jsonl:
            dump_jsonl(capture, out)
        else:
            dump_text(capture, out, hex=with_bytes)
    if capture.damage:
        complain(str(capture.damage))
        return UNUSABLE
    return FINE
