"""Drivers behind pipes, built by make or for Windows, pass the first groups through a shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dp2emu.capture.headers import INCLUDES
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.rig.served import PipeRig
from dp2emu.template_driver import init_driver
from tests.native.building import HERE, SAMPLE, STRICT, missing
from tests.shell import GREEN
from tests.tools.loading import ROOT

MINGW = ("x86_64-w64-mingw32-gcc",)
DP2EMU = f"{shlex.quote(sys.executable)} -m dp2emu"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init_driver(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of a Wine with settings of its own, which ends with the tests."""
    if lacks := missing(MINGW) or ("" if shutil.which("wine") else "wine"):
        pytest.skip(f"{lacks} is missing")
    prefix = str(tmp_path_factory.mktemp("wine"))
    environment = {**os.environ, "WINEPREFIX": prefix, "WINEDEBUG": "-all", "DISPLAY": ""}
    subprocess.run(["wine", "cmd", "/c", "exit"], env=environment, check=True, timeout=300,
                   capture_output=True)  # fmt: skip
    yield environment
    subprocess.run(["wine", "wineboot", "-k"], env=environment, check=True, timeout=300)


def conformed(rig: str, folder: Path, environment: dict[str, str]) -> str:
    """The table of the first groups; the driver breaks no rule."""
    line = f"{DP2EMU} conform query response --rig {shlex.quote(rig)}"
    ran = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**environment, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_driver_of_make_piped_passes_the_first_groups(folder: Path) -> None:
    subprocess.run(["make", "piped"], cwd=folder, check=True)
    assert re.search(GREEN, conformed("pipe:./driver", folder, {**os.environ}))


@pytest.mark.slow
def test_the_driver_of_make_windows_passes_the_first_groups(
    wine: dict[str, str], folder: Path
) -> None:
    subprocess.run(["make", "windows"], cwd=folder, check=True)
    assert re.search(GREEN, conformed("pipe:wine driver.exe", folder, wine))


@pytest.mark.slow
def test_bytes_pass_a_program_for_windows_as_they_are(
    wine: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["make", "windows"], cwd=folder, check=True)
    for name, value in wine.items():
        monkeypatch.setenv(name, value)
    every = bytes(range(256)) + b"\r\n\n\r\x1a\n\0"  # line ends, and the end of a text file
    with PipeRig(shlex.join(["wine", str(folder / "driver.exe")])) as rig:
        rig.create_surface(SurfaceDesc(1, SurfaceKind.MEMORY, len(every)))
        rig.write(1, 0, every)
        assert rig.read(1, 0, len(every)) == every


@pytest.mark.slow
def test_the_sample_driver_for_windows_passes_the_first_groups(
    wine: dict[str, str], tmp_path: Path
) -> None:
    sources = [INCLUDES / "dp2stub.c", *(HERE / name for name in SAMPLE)]
    command = [*MINGW, *STRICT, f"-I{INCLUDES}", *sources, "-o", tmp_path / "sample.exe"]
    subprocess.run(command, check=True)
    assert re.search(GREEN, conformed("pipe:wine sample.exe", tmp_path, wine))
