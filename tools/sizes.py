#!/usr/bin/env python3
"""Lines and longest function of every module against the budgets: a report, not a gate.

python tools/sizes.py [FOLDER]
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MODULE_LINES = 400
"""More than this is marked."""
FUNCTION_LINES = 60
FUNCTION_MEDIAN, FUNCTION_P90 = 10, 30


class Function(NamedTuple):
    """A function and how many lines it takes, docstring included."""

    name: str
    lines: int


class Module(NamedTuple):
    """A module, how many lines it has, and its functions."""

    path: Path
    lines: int
    functions: list[Function]


def functions_of(tree: ast.AST) -> Iterator[Function]:
    """Every function and method; a nested one counts for itself and for what holds it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, (node.end_lineno or node.lineno) - node.lineno + 1)


def modules_of(folder: Path) -> Iterator[Module]:
    """Every module below a folder."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text("utf-8")
        yield Module(path, text.count("\n"), list(functions_of(ast.parse(text))))


def line_of(module: Module, folder: Path) -> str:
    """One line of the report; ``!`` marks what is over budget."""
    longest = max(module.functions, key=lambda each: each.lines, default=Function("-", 0))
    over = module.lines > MODULE_LINES or longest.lines > FUNCTION_LINES
    name = module.path.relative_to(folder.parent).as_posix()
    return f"{'!' if over else ' '} {module.lines:5} {longest.lines:4} {name:36} {longest.name}"


def main() -> None:
    """Print the report."""
    default = Path(__file__).parents[1] / "dp2emu"
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default
    modules = list(modules_of(folder))
    print("  lines func module                               longest function")
    for module in modules:
        print(line_of(module, folder))
    lengths = sorted(each.lines for module in modules for each in module.functions)
    median, p90 = statistics.median(lengths), lengths[len(lengths) * 9 // 10]
    print(
        f"{len(modules)} modules, {sum(module.lines for module in modules)} lines, "
        f"{len(lengths)} functions: median {median:g} (budget {FUNCTION_MEDIAN}), "
        f"p90 {p90} (budget {FUNCTION_P90}), longest {lengths[-1]} (budget {FUNCTION_LINES})"
    )


if __name__ == "__main__":
    main()
