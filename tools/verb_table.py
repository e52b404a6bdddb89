#!/usr/bin/env python3
"""Writes the table of verbs, and of the files that each reads, of docs/command-line.rst.

python tools/verb_table.py
"""

from __future__ import annotations

from pathlib import Path

from token_table import rewritten, simple_table

from dp2emu.cli.verbs import TRACE, VERBS, readers

PAGE = Path(__file__).parents[1] / "docs" / "command-line.rst"
BEGIN = ".. The table below is written by tools/verb_table.py.\n\n"
END = "\n.. The table above is written by tools/verb_table.py.\n"
HEADS = ("verb", "reads", "purpose")


def verb_table() -> str:
    """The table, and the list of the verbs that read traces."""
    rows = [(name, ", ".join(row.reads), row.line) for name, row in VERBS.items()]
    shown = [(f"``{name}``", reads or "no FILE", line) for name, reads, line in rows]
    traced = [f"``{name}``" for name in readers(TRACE)]
    said = f"{', '.join(traced[:-1])} and {traced[-1]} read traces of API calls.\n"
    return simple_table([HEADS, *shown]) + "\n" + said


def with_table(text: str) -> str:
    """The page's text with the table brought up to date."""
    return rewritten(text, BEGIN, verb_table(), END)


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(with_table(PAGE.read_text("utf-8")), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
