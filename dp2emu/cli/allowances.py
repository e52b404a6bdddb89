"""The options that say how far apart pictures may be, and what is said of how far they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO

import click

from dp2emu.cli.ranges import FloatRange
from dp2emu.escaping import plain

if TYPE_CHECKING:
    from dp2emu.diff import Allowance, Comparison, Judgement

Verb = Callable[..., int | None]

_NAMES = ("tolerance", "share", "across")


def with_allowance(tolerance: int, share: float, across: int | None) -> Callable[[Verb], Verb]:
    """Give a verb the options, with these defaults; it gets an ``Allowance`` as ``allowance``."""
    options = (
        click.option(
            "--tolerance", metavar="N", type=click.IntRange(0, 255), default=tolerance,
            show_default=True, help="Difference of a channel that does not count, of 255.",
        ),
        click.option(
            "--share", metavar="PERCENT", type=FloatRange(0, 100), default=share,
            show_default=True, help="Pixels that must be within the tolerance.",
        ),
        click.option(
            "--across", metavar="N", type=click.IntRange(0), default=across,
            show_default=True, help="Widest connected region of others, in pixels.",
        ),
    )  # fmt: skip

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def run(*given: Any, **others: Any) -> int | None:
            from dp2emu.diff import Allowance

            asked = {name: others.pop(name) for name in _NAMES}
            return verb(*given, allowance=Allowance(**asked), **others)

        decorated: Verb = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def show_judgements(judgements: Sequence[Judgement], allowance: Allowance, out: TextIO) -> None:
    """A table: a row for each picture."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    beyond = f"beyond {allowance.tolerance}"
    table = Table("picture", "reference", beyond, "within %", "largest", "regions", "")
    for judgement in judgements:
        verdict = "within" if judgement.within else "DIFFERS"
        cells = _numbers(judgement.comparison)
        names = (judgement.name or "none", judgement.reference or "none")
        # As Text, since names come from files: they are shown, and are no markup.
        table.add_row(*(Text(plain(name)) for name in names), *cells, verdict)
    Console(file=out, width=None if out.isatty() else 120, highlight=False).print(table)


def _numbers(comparison: Comparison | None) -> tuple[str, str, str, str]:
    if comparison is None:
        return "", "", "", ""
    if comparison.size != comparison.other_size:
        one, other = ("x".join(map(str, s)) for s in (comparison.size, comparison.other_size))
        return f"{one}, not {other}", "", "", ""
    sizes = [f"{r.right - r.left}x{r.bottom - r.top}" for r in comparison.regions[:3]]
    more = comparison.region_count - len(sizes)
    regions = " ".join(sizes) + (f" and {more} more" if more else "")
    shown = f"{comparison.share:.3f}"
    return f"{comparison.beyond:,}", shown, str(comparison.largest), regions
