"""The verb ``dp2emu minimize``: reduce a failing capture."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from dp2emu.cli.captures import Opened, capture_verb
from dp2emu.cli.number_range import FloatRange, IntRange
from dp2emu.cli.outcome import FINE, say
from dp2emu.cli.paths import OUTPUT, verb_command
from dp2emu.fuzz.minimize import TRIES, Check, minimize, save


@verb_command("minimize")
@capture_verb("minimize", told=False)  # a crash often cuts the log that is reduced
@click.option(
    "--check", metavar="CMD", required=True,
    help="Command that fails for wanted captures; {} in it is the file, which else comes last.",
)  # fmt: skip
@click.option(
    "-o", "--out", metavar="FILE", type=OUTPUT, required=True, help="The minimized capture."
)
@click.option(
    "--tries", type=IntRange(1), default=TRIES, show_default=True,
    help="Maximum number of captures to try.",
)  # fmt: skip
@click.option("--timeout", type=FloatRange(0.1), default=60.0, help="Seconds CMD may take.")
def command(opened: Opened, check: str, out: str, tries: int, timeout: float) -> int:
    """Reduce a failing capture to fewer calls, tokens, records and bytes.

    A capture fails if CMD has the same exit code for it as for FILE, other than 0.  For a capture
    without records CMD must end otherwise.
    """
    records = list(opened.stored.records())
    with closing(Check(check, timeout)) as fails:
        fails.require(records, opened.stored.name)
        kept = minimize(records, fails, tries)
    save(kept, Path(out))
    say(f"{len(records)} records became {len(kept)}, {Path(out).stat().st_size} bytes")
    return FINE
