"""The options ``--tolerance``, ``--share`` and ``--across`` (differences between pictures that are
tolerated), and the table of picture comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO

import click

from dp2emu.cli.captures import Verb, with_options
from dp2emu.cli.number_range import FloatRange, IntRange
from dp2emu.escaping import plain

if TYPE_CHECKING:
    from dp2emu.diff import Allowance, Comparison, Judgement


def with_allowance(tolerance: int, share: float, across: int | None) -> Callable[[Verb], Verb]:
    """Give a verb the options ``--tolerance``, ``--share`` and ``--across``, with these defaults.

    The verb gets their values as the argument ``allowance``.
    """
    options = (
        click.option(
            "--tolerance", metavar="N", type=IntRange(0, 255), default=tolerance,
            show_default=True, help="Tolerated difference of a channel, of 255.",
        ),
        click.option(
            "--share", metavar="PERCENT", type=FloatRange(0, 100), default=share,
            show_default=True, help="Pixels that must be within the tolerance.",
        ),
        click.option(
            "--across", metavar="N", type=IntRange(0), default=across, show_default=True,
            help="Width in pixels of the largest connected region that may be beyond it.",
        ),
    )  # fmt: skip

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def run(
            *given: Any, tolerance: int, share: float, across: int | None, **others: Any
        ) -> int | None:
            from dp2emu.diff import Allowance

            return verb(*given, allowance=Allowance(tolerance, share, across), **others)

        return with_options(run, *options)

    return decorate


def show_judgements(judgements: Sequence[Judgement], allowance: Allowance, out: TextIO) -> None:
    """Print a table with a row for each comparison."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    beyond = f"beyond {allowance.tolerance}"
    table = Table("picture", "reference", beyond, "within %", "largest", "regions", "")
    for judgement in judgements:
        verdict = "within" if judgement.within else "DIFFERS"
        names = (judgement.name or "none", judgement.reference or "none")
        # Text is not parsed as markup: names come from files.
        texts = [Text(plain(name)) for name in names]
        table.add_row(*texts, *_numbers(judgement.comparison), verdict)
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
