#!/usr/bin/env python3
"""Writes the lists of docs/import.rst from the tables of methods.

python tools/method_table.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from token_table import rewritten

from dp2emu.retrace import Method, all_methods

DOCUMENT = Path(__file__).parents[1] / "docs" / "import.rst"
BEGIN = ".. The lists below are written by tools/method_table.py.\n\n"
END = "\n.. The lists above are written by tools/method_table.py.\n"
FUNCTIONS = "Functions"
WIDTH = 99
_VERSIONED = re.compile(r"(.*?)((?:\d(?:Ex)?)?)")
"""An interface's name and its version, such as 9Ex or nothing."""
_LATER = re.compile(r"ID3D1[01]|ID3D(?=[A-Z])|(?=IDXGI)")
"""The start of an interface's name in Direct3D 10, 11 and DXGI, without the part that tells
families apart."""


class Family(NamedTuple):
    """Versions of an interface, and what is done for methods of which of them."""

    interfaces: tuple[str, ...]
    rows: dict[tuple[str, tuple[str, ...]], list[str]]


def families() -> list[Family]:
    """Every interface with its versions; plain functions come first."""
    methods: dict[tuple[int, str], dict[str, dict[str, str]]] = {}
    for row in all_methods().values():
        interface, _, name = row.name.rpartition("::")
        family = methods.setdefault(_family(interface), {})
        family.setdefault(name, {})[interface] = said(row)
    return [_grouped(methods[family]) for family in sorted(methods)]


def _family(interface: str) -> tuple[int, str]:
    """Direct3D 8 and 9 are apart from the interfaces before them, whatever these are called; last
    come Direct3D 10 and 11, whose interfaces of one name are together, with DXGI.
    """
    later = _LATER.match(interface)
    if later is not None:
        return 2, interface[later.end() :]
    name, version = _VERSIONED.fullmatch(interface).groups()  # type: ignore[union-attr]
    return int(version[:1] in ("8", "9")), name


def _grouped(methods: dict[str, dict[str, str]]) -> Family:
    """The rows of a family, those of equal words and interfaces together."""
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, told in methods.items():
        for says in dict.fromkeys(told.values()):
            of = tuple(sorted(interface for interface in told if told[interface] == says))
            rows.setdefault((says, of), []).append(name)
    return Family(tuple(sorted({each for _, of in rows for each in of})), rows)


def said(row: Method) -> str:
    """What is done for a method, in words."""
    return row.says if row.act else f"*Nothing.* {row.says}"


def lines() -> Iterator[str]:
    """The lists: a heading for each family, then what is done and for what."""
    for family in families():
        title = ", ".join(family.interfaces) or FUNCTIONS
        yield f"{title}\n{'~' * len(title)}\n"
        for (says, of), names in family.rows.items():
            shown = ", ".join(f"``{name}``" for name in names)
            if of != family.interfaces:
                shown += f" of {', '.join(of)}"
            term = fill(shown, WIDTH, break_long_words=False, break_on_hyphens=False)
            yield term + "\n" * ("\n" in term)  # terms of definitions have one line
            yield fill(says, WIDTH, initial_indent="    ", subsequent_indent="    ") + "\n"


def with_lists(text: str) -> str:
    """The document's text with the lists brought up to date."""
    return rewritten(text, BEGIN, "\n".join(lines()), END)


def main() -> None:
    """Rewrite the document."""
    DOCUMENT.write_text(with_lists(DOCUMENT.read_text("utf-8")), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
