"""Statements of a module, for tests of what its source says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def plain_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom | ast.Expr, ...]:
    """The imports, and the expressions that are statements of their own: docstrings for example.

    Those of functions and other blocks are among them, wherever in the file.
    """
    kinds = ast.Import, ast.ImportFrom, ast.Expr
    tree = ast.parse(path.read_text("utf-8"))
    return tuple(each for each in _statements(tree) if isinstance(each, kinds))


def _statements(block: ast.AST) -> Iterator[ast.AST]:
    """Statements, handlers and cases in a block; no expression has one."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        for each in getattr(block, name, ()):
            yield each
            yield from _statements(each)
