"""The public names: there at run time and for who checks types, and free until they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dp2emu
from dp2emu.lazy_import import names_of_stub
from tests.tools.loading import ROOT

LATE = (
    "", ".batch", ".capture.apitrace", ".d3d", ".ddi10", ".dp2", ".gpu", ".rig", ".runtime",
)  # fmt: skip
"""Packages whose names are imported when they are asked for."""

USER = """
from pathlib import Path

import dp2emu
from dp2emu import CaptureWriter, Device9, Driver, QueryType, by_work
from dp2emu.conform import Verdict, kit, run_kit
from dp2emu.replay import replay


def recorded(path: Path) -> int:
    with CaptureWriter(str(path)) as written:
        device = Device9(Driver(by_work()), 64, 64, record=written.write)
        query = device.create_query(QueryType.OCCLUSION)
        query.begin()
        device.clear(color=0xFF203040)
        query.end()
        data: bytes | None = query.wait().data
        assert data is not None
    with dp2emu.open_capture(str(path)) as capture:
        return replay(capture).calls


def failing(rig: dp2emu.Rig) -> list[str]:
    outcomes = run_kit(kit("query.order"), rig)
    return [outcome.case.name for outcome in outcomes if outcome.verdict is Verdict.FAILED]
"""


def python(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "SYSTEMROOT": ""},
    )


def told(package: str) -> dict[str, str]:
    """Modules by name as type checkers read them from a package's stub."""
    module = import_module(f"dp2emu{package}")
    tree = ast.parse(Path(f"{module.__file__}i").read_text("utf-8"))
    return {
        alias.asname or alias.name: str(node.module)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", LATE)
def test_type_checkers_are_told_what_is_there(package: str) -> None:
    module = import_module(f"dp2emu{package}")
    assert told(package) == names_of_stub(module.__spec__)
    assert list(told(package)) == module.__all__


@pytest.mark.parametrize("package", LATE)
def test_every_name_is_the_one_of_its_home(package: str) -> None:
    module = import_module(f"dp2emu{package}")
    assert len(set(module.__all__)) == len(module.__all__)
    for name, home in told(package).items():
        assert getattr(module, name) is getattr(import_module(home), name)


def test_no_name_is_hidden_by_a_package() -> None:
    parts = {path.stem for path in Path(str(dp2emu.__file__)).parent.iterdir()}
    assert parts.isdisjoint(dp2emu.__all__)
    assert set(dp2emu.__all__) <= set(dir(dp2emu))


def test_importing_it_imports_nothing_else() -> None:
    ran = python("-c", "import sys, dp2emu; print(*(m for m in sys.modules if 'dp2emu' in m))")
    assert set(ran.stdout.split()) == {"dp2emu", "dp2emu.lazy_import"}
    quick = python("-c", "import sys, dp2emu; dp2emu.Format; print('numpy' in sys.modules)")
    assert quick.stdout == "False\n"


def test_a_users_program_type_checks_strictly_and_runs(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "wrong.py").write_text("import dp2emu\n\ndp2emu.Devcie9\n")
    checking = ["-m", "mypy", "--strict", "--config-file", "", "--cache-dir", "cache"]
    ran = python(*checking, "user.py", "wrong.py", folder=tmp_path)
    assert ran.stdout.splitlines() == [
        'wrong.py:3: error: Module has no attribute "Devcie9"; maybe "Device9"?  [attr-defined]',
        "Found 1 error in 1 file (checked 2 source files)",
    ]
    space: dict[str, object] = {}
    exec(compile(USER, "user.py", "exec"), space)
    assert space["recorded"](tmp_path / "user.dp2") > 0  # type: ignore[operator]
    assert space["failing"](dp2emu.Driver()) == []  # type: ignore[operator]
