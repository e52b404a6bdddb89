#!/usr/bin/env python3
"""Writes the lists of docs/import.rst from the tables of methods.

python tools/method_table.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.retrace import METHODS, Method

DOCUMENT = Path(__file__).parents[1] / "docs" / "import.rst"
BEGIN = ".. The lists below are written by tools/method_table.py.\n\n"
END = "\n.. The lists above are written by tools/method_table.py.\n"
FUNCTIONS = "Functions"
WIDTH = 99


def interfaces() -> dict[str, dict[str, list[str]]]:
    """By interface what is done, and for which of its methods."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in METHODS.values():
        interface, _, name = row.name.rpartition("::")
        methods = found.setdefault(interface or FUNCTIONS, {})
        methods.setdefault(said(row), []).append(name)
    return dict(sorted(found.items(), key=lambda pair: (pair[0] != FUNCTIONS, pair[0])))


def said(row: Method) -> str:
    """What is done for a method, in words."""
    return row.says if row.act else f"*Nothing.* {row.says}"


def lines() -> Iterator[str]:
    """The lists: a heading for each interface, then what is done and for what."""
    for interface, rows in interfaces().items():
        yield f"{interface}\n{'~' * len(interface)}\n"
        for says, names in rows.items():
            shown = ", ".join(f"``{name}``" for name in names)
            yield fill(shown, WIDTH, break_long_words=False, break_on_hyphens=False)
            yield fill(says, WIDTH, initial_indent="    ", subsequent_indent="    ") + "\n"


def with_lists(text: str) -> str:
    """The document's text with the lists brought up to date."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n".join(lines()) + END + after


def main() -> None:
    """Rewrite the document."""
    DOCUMENT.write_text(with_lists(DOCUMENT.read_text("utf-8")), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
