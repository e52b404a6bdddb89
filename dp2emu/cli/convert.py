"""The verb ``dp2emu convert``: rewrite a capture in another form."""

from __future__ import annotations

from pathlib import Path

import click

from dp2emu.capture.writer import COMPRESSIONS
from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.outcome import FINE, UNUSABLE, complain
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.text.conversion import KINDS, convert

SUFFIXES = {
    ".dp2": "sealed",
    ".mcap": "sealed",
    ".log": "log",
    ".bin": "bare",
    ".txt": "text",
    ".c": "c",
}
"""Name of the capture form (``sealed``, ``log``, ``bare``, ...) by file name suffix."""


@verb_command("convert")
@capture_verb("convert", told=False)
@click.argument("out", type=OUTPUT)
@click.option("--to", "form", type=click.Choice(KINDS), help="Form of OUT; default: by its name.")
@click.option(
    "--compression", type=click.Choice(list(COMPRESSIONS)), help="Compression of a sealed capture."
)
def command(opened: Opened, out: str, form: str | None, compression: str | None) -> int:
    """Rewrite a capture in another form.

    By the name of OUT: .dp2 and .mcap are sealed captures, .log driver logs, .bin bare command
    buffers, .txt text, .c the source of a program that makes the calls to a linked driver.
    """
    form = form or SUFFIXES.get(Path(out).suffix.lower())
    if form is None:
        raise click.UsageError(f"cannot tell the form of {out!r} from its name; use --to FORM")
    damage = convert(opened.stored, form, out, compression=compression)
    if damage:
        complain(str(damage))
        return UNUSABLE
    return FINE
