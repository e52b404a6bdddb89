#!/usr/bin/env python3
"""Writes the token coverage table of the README from the token table.

python tools/token_table.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dp2emu.dp2 import tokens
from dp2emu.dp2.table import TABLE, Token

README = Path(__file__).parents[1] / "README.rst"
BEGIN = ".. The table below is written by tools/token_table.py.\n\n"
END = "\n.. The table above is written by tools/token_table.py.\n"
HEADS = ("op", "token", "since", "meaning")


def cells(token: Token) -> tuple[str, ...]:
    """A token's row: its documentation is its docstring."""
    meaning = " ".join(token.doc.split("\n\n")[0].split())
    return str(int(token.op)), token.name, token.since.name, meaning


def simple_table(rows: Iterable[tuple[str, ...]]) -> str:
    """A reStructuredText table, the first row being its heads."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"


def token_table() -> str:
    """The table, and how many tokens there are."""
    rows = [TABLE[op] for op in sorted(TABLE)]
    said = (
        f"There are {len(rows)} tokens, and all of them run.  {len(tokens.GAPS)} of the 256 "
        "opcodes mean nothing.\n\n"
    )
    return said + simple_table([HEADS, *map(cells, rows)])


def rewritten(text: str, begin: str, written: str, end: str) -> str:
    """``text`` with all between the lines ``begin`` and ``end`` replaced by ``written``."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return before + begin + written + end + after


def with_table(text: str) -> str:
    """The README's text with the table brought up to date."""
    return rewritten(text, BEGIN, token_table(), END)


def main() -> None:
    """Rewrite the README."""
    README.write_text(with_table(README.read_text("utf-8")), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
