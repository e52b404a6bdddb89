"""The verb ``dp2emu init-driver``: write a driver in C to start from."""

from __future__ import annotations

from pathlib import Path

import click

from dp2emu.cli.outcome import FINE, say
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.template_driver import init_driver


@verb_command("init-driver")
@click.argument("folder", metavar="DIR", type=OUTPUT)
def command(folder: str) -> int:
    """Write a driver in C, its Makefile, a CI file and dp2emu's headers into the folder DIR.

    "make check" in DIR builds the driver and tests it.  No file is overwritten.
    """
    say(f"{init_driver(Path(folder))} files in {folder}; make check builds and tests the driver")
    return FINE
