"""Changes tried quickly: in functions that are imported already, by tests that are collected once.

Whatever fails then would fail anyway.  What does not fail proves nothing, since some functions
have run when their module was imported: that is for ``mutate.noticed`` to say.
"""

from __future__ import annotations

import gc
import importlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple, NoReturn

import pytest
from _pytest.main import pytest_runtestloop
from mutate import OPTIONS, Change, bound, changed, file_of


class Trial(NamedTuple):
    """A change by its number in a module of the package."""

    module: str
    number: int
    change: Change


def survivors(trials: Sequence[Trial], tests: Sequence[str]) -> list[Trial] | None:
    """Those after which the tests do not fail; None if they fail without a change."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            _collect_and_exit(trials, tests, Path(folder))
        if os.waitpid(child, 0)[1] != 0:
            return None
        return [trials[int(line)] for line in (Path(folder) / "left").read_text().split()]


def _collect_and_exit(trials: Sequence[Trial], tests: Sequence[str], folder: Path) -> NoReturn:
    code = 1
    try:
        plugin = _Trials(trials, folder / "left")
        temporary = f"--basetemp={folder}/tests"
        code = int(pytest.main([*OPTIONS, "-s", temporary, *tests], plugins=[plugin]))
    finally:
        os._exit(code)


class _Trials:
    """A plugin of pytest that runs what was collected once for each trial."""

    def __init__(self, trials: Sequence[Trial], left: Path) -> None:
        self._trials, self._left = trials, left

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if _fails(session, None):
            raise pytest.UsageError("tests fail without a change")
        with self._left.open("w") as left:
            for place, trial in enumerate(self._trials):
                if not _fails(session, trial):
                    left.write(f"{place}\n")
        return True


def _fails(session: pytest.Session, trial: Trial | None) -> bool:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            bound()
            if trial is None:
                pytest_runtestloop(session)
            elif change_functions(trial.module, trial.number):
                session.items.sort(key=lambda item: not is_near(item.path, trial.module))
                pytest_runtestloop(session)
            code = int(session.testsfailed > 0)
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] != 0


def is_near(tests: str | Path, module: str) -> bool:
    """Whether a file of tests is called like a module."""
    return Path(tests).stem == f"test_{module.rpartition('.')[2]}"


def change_functions(module: str, number: int) -> bool:
    """Make a change in the functions of an imported module, where they are; whether there are
    some that change.
    """
    path = file_of(module)
    importlib.import_module(module)
    code = compile(changed(path.read_text("utf-8"), number), str(path), "exec")
    new = {(each.co_qualname, each.co_firstlineno): each for each in _within(code)}
    different = False
    # Nobody looks at what was taken out of the collector's sight, as tests are.
    gc.unfreeze()
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        old = function.__code__
        other = new.get((old.co_qualname, old.co_firstlineno))
        if old.co_filename == str(path) and other and other.co_freevars == old.co_freevars:
            different |= old != other
            function.__code__ = other
    return different


def _within(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions in a code, and in these."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _within(constant)
