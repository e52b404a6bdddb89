#!/usr/bin/env python3
"""Break a module on purpose, one small change at a time, and see that its tests notice.

    python tools/mutate.py MODULE [--sample N] [--seed N] -- TESTS ...

    python tools/mutate.py dp2emu.shader.reference --sample 60 -- tests/shader

A change exchanges an operator, a comparison, a constant or a NumPy function for its neighbour,
turns a condition around, or leaves a statement out.  Every change is tried in a process of its
own, a fork of this one, which imports the changed module in place of the file; no file is
written.  Prints what was not noticed, then a tally; exits with 1 if anything was not.  Some
changes change nothing, so the list is to be read, not to be empty.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 120
"""Seconds of a processor after which the tests of a change count as having noticed it."""
PATIENCE = 20 * LIMIT
"""Seconds after which they count as waiting for something that does not come."""
UNCHANGED = -1
"""The number of no change."""
MEMORY = 8 << 30
"""Bytes that the tests of a change may have; with more they have noticed it too."""
PRELOADED = ("construct", "hypothesis", "mcap.records", "numpy", "pytest")
"""What a fork need not import again."""
OPTIONS = (
    "-x", "-q", "-p", "no:cacheprovider", "--no-header",
    "-W", "ignore::pytest.PytestAssertRewriteWarning",  # of what is preloaded
)  # fmt: skip

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
NAMES = {
    "floor": "ceil", "ceil": "floor", "rint": "trunc", "trunc": "rint", "any": "all",
    "all": "any", "int32": "uint32", "uint32": "int32", "float64": "float32", "ones": "zeros",
    "zeros": "ones", "negative": "abs", "abs": "negative", "invert": "negative",
    "minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min",
}  # fmt: skip
"""Attributes, such as NumPy's functions, and what they are mistaken for."""


class Change(NamedTuple):
    """A change: what it does, where, and the function that makes it in a tree."""

    what: str
    line: int
    make: Callable[[], None]


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change of a tree, in the order of its lines.  Annotations and texts stay."""
    for node in _code(tree):
        line = getattr(node, "lineno", 0)
        for what, make in _changes_of(node):
            yield Change(what, line, make)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run, in the order of the text."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr):
                yield from _code(child)


def _changes_of(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        yield _named(node.op), _setter(node, "op", OPERATORS[type(node.op)]())
    if isinstance(node, ast.Compare):
        yield _named(node.ops[0]), _setter(node, "ops", [OPERATORS[type(node.ops[0])]()])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield _named(node.op), _setter(node, "op", ast.UAdd() if _signed(node) else ast.Not())
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        other = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} -> {other}", _setter(node, "value", other)
    if isinstance(node, ast.If | ast.IfExp):
        test = ast.UnaryOp(ast.Not(), node.test)
        yield "condition turned", _setter(node, "test", test)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield f"{node.attr} -> {NAMES[node.attr]}", _setter(node, "attr", NAMES[node.attr])
    yield from _omissions(node)


def _omissions(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """Calls and assignments of a function left out."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or isinstance(node, ast.Module | ast.ClassDef):
        return
    for place, statement in enumerate(body):
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.Continue):
            nothing = ast.copy_location(ast.Pass(), statement)
            left = [*body[:place], nothing, *body[place + 1 :]]
            yield f"left out: {ast.unparse(statement)[:50]}", _setter(node, "body", left)


def _signed(node: ast.UnaryOp) -> bool:
    """Whether the operator is one of numbers: its change is to leave it out."""
    return not isinstance(node.op, ast.Invert)


def _named(node: ast.AST) -> str:
    return f"{type(node).__name__} changed"


def _setter(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def changed(source: str, number: int) -> ast.Module:
    """The tree of a module with one change."""
    tree = ast.parse(source)
    for place, change in enumerate(changes(tree)):
        if place == number:
            change.make()
            break
    return ast.fix_missing_locations(tree)


class _Loader(importlib.abc.Loader):
    """Runs a tree in place of a module's file."""

    def __init__(self, tree: ast.Module, origin: str) -> None:
        self.code = compile(tree, origin, "exec")

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module, and leaves the others to those who know them."""

    def __init__(self, name: str, loader: _Loader) -> None:
        self.name, self.loader = name, loader

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self.loader)


def changes_of(module: str) -> list[tuple[int, Change]]:
    """Every change of a module of the package, with its number."""
    return list(enumerate(changes(ast.parse(file_of(module).read_text("utf-8")))))


def file_of(module: str) -> Path:
    """The file of a module of the package."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def run_changed(module: str, number: int, tests: Sequence[str]) -> int:
    """Run tests on a changed module, in this process; pytest's exit code."""
    import pytest

    path = file_of(module)
    tree = changed(path.read_text("utf-8"), number)
    sys.meta_path.insert(0, _Finder(module, _Loader(tree, str(path))))
    # Before pytest puts a finder of its own first, which knows what is installed with a plugin.
    importlib.import_module(module)
    return int(pytest.main([*OPTIONS, *tests]))


def prepare() -> None:
    """What all forks have in common: where they are, what they import, and how tests run."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ["HYPOTHESIS_PROFILE"] = "unshrunk"
    for name in PRELOADED:
        importlib.import_module(name)


def noticed(module: str, number: int, tests: Sequence[str]) -> bool:
    """Whether the tests fail, or do not end, with a change; behind ``prepare``."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            _try_and_exit(module, number, [f"--basetemp={folder}/tests", *tests])
        return os.waitpid(child, 0)[1] != 0


def bound() -> None:
    """Bounds for a fork that runs tests of a change, which shows nothing."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    signal.alarm(PATIENCE)


def _try_and_exit(module: str, number: int, tests: Sequence[str]) -> NoReturn:
    """In a fork, which must not end without an exit code."""
    code = 1
    try:
        bound()
        code = run_changed(module, number, tests)
    finally:
        os._exit(code)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Break a module, and see that tests notice.")
    parser.add_argument("module")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--sample", type=int, help="try this many changes only")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    return parser.parse_args()


def main() -> int:
    """Try the changes, and print those that were not noticed."""
    chosen = options()
    prepare()
    if noticed(chosen.module, UNCHANGED, chosen.tests):
        sys.exit("tests fail without a change")
    every = changes_of(chosen.module)
    if chosen.sample is not None and chosen.sample < len(every):
        every = sorted(random.Random(chosen.seed).sample(every, chosen.sample))
    caught = 0
    for number, change in every:
        if noticed(chosen.module, number, chosen.tests):
            caught += 1
        else:
            print(f"not noticed: {chosen.module}:{change.line}: {change.what}", flush=True)
    print(f"{chosen.module}: {len(every)} changes, {caught} noticed")
    return int(caught < len(every))


if __name__ == "__main__":
    sys.exit(main())
