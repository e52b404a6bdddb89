"""The driver that init-driver writes: complete, clean by every compiler, and a start.

The newcomer's way through a shell, from init-driver to the first green group and beyond, is
docs/init_driver.rst, whose commands ``tests/test_commands.py`` runs.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dp2emu.conform import Outcome, Verdict, kit, run_kit
from dp2emu.errors import UsageError
from dp2emu.rig.served import NativeDriver
from dp2emu.template_driver import driver_files, init_driver
from tests.cli.running import dp2emu
from tests.native.building import GCC, WARNINGS, missing
from tests.tools.loading import ROOT

SOURCES = ("driver.c",)
GREEN = (("query", "response", "error"), pytest.param(("walk",), marks=pytest.mark.slow))
"""Groups that the driver passes."""
MSVC = ("clang", "--driver-mode=cl")
"""A compiler that knows Microsoft's language, flags and messages."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as init-driver writes it."""
    made = tmp_path / "mydriver"
    assert dp2emu("init-driver", made).code == 0
    return made


def built(folder: Path) -> Path:
    """The driver as a library."""
    made = folder / "driver.so"
    options = ("-std=c89", *WARNINGS, "-shared", "-fPIC", "-Idp2emu")
    subprocess.run([*GCC, *options, *SOURCES, "-o", made], cwd=folder, check=True)
    return made


def outcomes(library: Path, *groups: str) -> list[Outcome]:
    with NativeDriver(library, forked=True) as rig:
        return list(run_kit(kit(*groups), rig))


def failures(found: list[Outcome]) -> set[str]:
    return {each.case.name for each in found if each.verdict is Verdict.FAILED}


@pytest.mark.parametrize("groups", GREEN)
def test_the_driver_passes_the_first_groups_and_refuses_other_query_types_alone(
    groups: tuple[str, ...], folder: Path
) -> None:
    found = outcomes(built(folder), *groups)
    assert found and failures(found) == set()
    skipped = {each.case.name for each in found if each.verdict is Verdict.SKIPPED}
    assert all(each.startswith("query.type.") for each in skipped)
    for kind in ("vcache", "event", "occlusion"):
        assert f"query.type.{kind}" not in skipped


def test_the_change_of_the_page_makes_cases_pass(folder: Path) -> None:
    page = (ROOT / "docs" / "init_driver.rst").read_text("utf-8")
    (block,) = re.findall(r"\.\. code-block:: diff\n\n((?:    .*\n|\n)+)", page)
    change = "\n".join(line[4:] for line in block.split("\n")).rstrip() + "\n"
    before = failures(outcomes(built(folder), "draw"))
    subprocess.run(["git", "apply", "-"], input=change, text=True, cwd=folder, check=True)
    after = failures(outcomes(built(folder), "draw"))
    assert "draw.trianglelist.0" in before - after and after < before


@pytest.mark.parametrize("bits", ["-m32", "-m64"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_driver_is_clean_c89(folder: Path, compiler: str, bits: str) -> None:
    command = compiler, bits
    if lacks := missing(command):
        pytest.skip(f"{lacks} is missing")
    options = ("-std=c89", *WARNINGS, "-Idp2emu", "-fsyntax-only")
    subprocess.run([*command, *options, *SOURCES, "dp2emu/dp2stub.c"], cwd=folder, check=True)


@pytest.mark.parametrize("machine", ["i686", "x86_64"])
def test_the_driver_is_clean_for_windows(folder: Path, machine: str) -> None:
    command = (f"{machine}-w64-mingw32-gcc",)
    if lacks := missing(command):
        pytest.skip(f"{lacks} is missing")
    options = ("-std=c89", *WARNINGS, "-Idp2emu", "-fsyntax-only")
    subprocess.run([*command, *options, *SOURCES, "dp2emu/dp2stub.c"], cwd=folder, check=True)


@pytest.mark.parametrize("machine", ["i686", "x86_64"])
def test_the_driver_is_clean_in_the_language_of_microsofts_compiler(
    folder: Path, machine: str
) -> None:
    if lacks := missing(("clang",)):
        pytest.skip(f"{lacks} is missing")
    command = [*MSVC, f"--target={machine}-pc-windows-msvc", "/Zs", "/W4", "/WX", "/Idp2emu"]
    # cl itself is silent on functions of headers that are not called.
    quiet = ["-Wno-unused-function", "-Wshorten-64-to-32"]
    subprocess.run([*command, *quiet, *SOURCES], cwd=folder, check=True)


def test_the_driver_uses_no_constructs_of_one_compiler_and_is_small(folder: Path) -> None:
    text = (folder / "driver.c").read_text("ascii")
    assert [path.name for path in folder.glob("*.[ch]")] == ["driver.c"]
    assert not re.search(r"__\w+|#\s*pragma|//", text)
    code = [line for line in text.splitlines() if line and not line.startswith(("/*", " *"))]
    assert len(code) <= 200
    assert set(re.findall(r"#include (\S+)", text)) == {'"dp2answer.h"', '"dp2stub.h"'}


@pytest.mark.parametrize("name", driver_files())
def test_no_file_is_overwritten_and_none_written_beside_one_that_exists(
    name: str, tmp_path: Path
) -> None:
    mine = tmp_path / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_bytes(b"mine")
    ran = dp2emu("init-driver", tmp_path)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == f"dp2emu: {mine} exists, and no file is overwritten\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_bytes() == b"mine"


def test_a_link_to_nowhere_is_a_file_that_exists(tmp_path: Path) -> None:
    (tmp_path / "driver.c").symlink_to(tmp_path / "elsewhere.c")
    with pytest.raises(UsageError, match=r"driver\.c exists"):
        init_driver(tmp_path)


def test_a_failure_leaves_no_file_so_that_the_command_may_be_run_again(tmp_path: Path) -> None:
    (tmp_path / "dp2emu").write_bytes(b"a file where the folder of the headers should be")
    ran = dp2emu("init-driver", tmp_path)
    assert ran.code == 2 and ran.err.count("\n") == 1 and "Traceback" not in ran.err
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["dp2emu"]
    (tmp_path / "dp2emu").unlink()
    assert dp2emu("init-driver", tmp_path).code == 0


def test_a_file_is_no_folder_for_a_driver(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    ran = dp2emu("init-driver", tmp_path / "file")
    assert (ran.code, ran.err.count("\n")) == (2, 1) and str(tmp_path / "file") in ran.err


@pytest.mark.slow
def test_an_installed_dp2emu_has_the_files(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT / "dp2emu", source / "dp2emu",
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    for name in ("setup.cfg", "pyproject.toml", "README.rst", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-c", "import setuptools; setuptools.setup()"]
    into = ["build_py", "--build-lib", tmp_path / "installed"]
    subprocess.run([*build, *into], cwd=source, check=True, capture_output=True)
    begin = f"from dp2emu.cli import run; run(['init-driver', {str(tmp_path / 'made')!r}])"
    subprocess.run([sys.executable, "-c", begin], cwd=tmp_path / "installed", check=True,
                   env={"PATH": ""})  # fmt: skip
    names = {path.relative_to(tmp_path / "made").as_posix(): path.read_bytes()
             for path in (tmp_path / "made").rglob("*") if path.is_file()}  # fmt: skip
    assert names == driver_files()
