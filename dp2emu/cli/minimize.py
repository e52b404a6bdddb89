"""``dp2emu minimize``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from dp2emu.cli.captures import PATH, Opened, capture_verb
from dp2emu.cli.outcome import FINE, say
from dp2emu.cli.ranges import FloatRange
from dp2emu.errors import UsageError
from dp2emu.fuzz.minimize import TRIES, Check, minimize, save


@click.command("minimize")
@capture_verb(text=True)
@click.option(
    "--check", metavar="CMD", required=True,
    help="Fails for captures that are wanted; {} in it is the capture, else it comes last.",
)  # fmt: skip
@click.option("-o", "--out", metavar="FILE", type=PATH, required=True, help="The small capture.")
@click.option(
    "--tries", type=click.IntRange(1), default=TRIES, show_default=True,
    help="Captures to try at most.",
)  # fmt: skip
@click.option("--timeout", type=FloatRange(0.1), default=60.0, help="Seconds CMD may take.")
def command(opened: Opened, check: str, out: str, tries: int, timeout: float) -> int:
    """Make a capture smaller that still fails: fewer calls, tokens, records and bytes.

    It fails if CMD ends as it does for FILE, which must not be with 0.
    """
    records = list(opened.stored.records())
    with closing(Check(check, timeout)) as fails:
        if not fails.first(records):
            raise UsageError(f"{check!r} ends with 0 for {opened.stored.name}")
        kept = minimize(records, fails, tries)
    save(kept, Path(out))
    say(f"{len(records)} records became {len(kept)}, {Path(out).stat().st_size} bytes")
    return FINE
