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
from tests.replay.authoring import BUFFER
from tests.rig.crashes import ended
from tests.shell import GREEN
from tests.tools.loading import ROOT

DP2EMU = f"{shlex.quote(sys.executable)} -m dp2emu"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init_driver(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of a Wine with settings of its own, which ends with the tests."""
    if not shutil.which("wine"):
        pytest.skip("wine is missing")
    folder = str(tmp_path_factory.mktemp("wine"))
    environment = {**os.environ, "WINEPREFIX": folder, "WINEDEBUG": "-all", "DISPLAY": ""}
    subprocess.run(["wine", "cmd", "/c", "exit"], env=environment, check=True, timeout=300,
                   capture_output=True)  # fmt: skip
    yield environment
    subprocess.run(["wine", "wineboot", "-k"], env=environment, check=True, timeout=300)


@pytest.fixture(params=["x86_64", "i686"])
def mingw(request: pytest.FixtureRequest, prefix: dict[str, str]) -> str:
    """A compiler for Windows whose programs this Wine runs."""
    compiler = f"{request.param}-w64-mingw32-gcc"
    if lacks := missing((compiler,)):
        pytest.skip(f"{lacks} is missing")
    there = Path(prefix["WINEPREFIX"]) / "drive_c" / "windows" / "syswow64" / "kernel32.dll"
    if request.param == "i686" and not there.exists():
        pytest.skip("wine32 is missing")
    return compiler


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
    prefix: dict[str, str], mingw: str, folder: Path
) -> None:
    subprocess.run(["make", "windows", f"MINGW={mingw}"], cwd=folder, check=True)
    assert re.search(GREEN, conformed("pipe:wine driver.exe", folder, prefix))


@pytest.mark.slow
def test_bytes_pass_a_program_for_windows_as_they_are(
    prefix: dict[str, str], mingw: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["make", "windows", f"MINGW={mingw}"], cwd=folder, check=True)
    for name, value in prefix.items():
        monkeypatch.setenv(name, value)
    every = bytes(range(256)) + b"\r\n\n\r\x1a\n\0"  # line ends, and the end of a text file
    with PipeRig(shlex.join(["wine", str(folder / "driver.exe")])) as rig:
        rig.create_surface(SurfaceDesc(1, SurfaceKind.MEMORY, len(every)))
        rig.write(1, 0, every)
        assert rig.read(1, 0, len(every)) == every


@pytest.mark.slow
@pytest.mark.parametrize("layout", [(), ("-DDP2STUB_9X",)], ids=["NT", "9x"])
def test_the_sample_driver_for_windows_passes_the_first_groups(
    layout: tuple[str, ...], prefix: dict[str, str], mingw: str, tmp_path: Path
) -> None:
    sources = [INCLUDES / "dp2stub.c", *(HERE / name for name in SAMPLE)]
    command = [mingw, *STRICT, *layout, f"-I{INCLUDES}", *sources, "-o", tmp_path / "sample.exe"]
    subprocess.run(command, check=True)
    assert re.search(GREEN, conformed("pipe:wine sample.exe", tmp_path, prefix))


ENDS = {
    0: ("crash", "EXCEPTION_ACCESS_VIOLATION outside of all buffers"),
    1: ("overrun", "EXCEPTION_ACCESS_VIOLATION 0 bytes behind the user's vertices"),
    2: ("overrun", f"EXCEPTION_ACCESS_VIOLATION 0 bytes behind command buffer {BUFFER}"),
    5: ("crash", "SIGABRT"),
    10: ("crash", "EXCEPTION_INT_DIVIDE_BY_ZERO"),
    13: ("overrun", f"EXCEPTION_ACCESS_VIOLATION 2 bytes before command buffer {BUFFER}"),
}
"""By the way in which a driver ends (``crashing.c``): what its program for Windows tells."""


@pytest.mark.slow
def test_a_fault_of_a_program_for_windows_tells_buffer_and_distance(
    prefix: dict[str, str], mingw: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in prefix.items():
        monkeypatch.setenv(name, value)
    program = tmp_path / "crashing.exe"
    sources = [INCLUDES / "dp2stub.c", HERE / "crashing.c"]
    subprocess.run([mingw, *STRICT, f"-I{INCLUDES}", *sources, "-o", program], check=True)
    with PipeRig(shlex.join(["wine", str(program)]), timeout=30) as rig:
        for way, (end, words) in ENDS.items():
            found = ended(rig, way)
            assert (found.kind.value, found.what.partition(":")[0]) == (end, words)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_commands_of_the_ci_file_run_in_order(compiler: str, folder: Path) -> None:
    if lacks := missing((compiler,)):
        pytest.skip(f"{lacks} is missing")
    text = (folder / ".github" / "workflows" / "driver.yml").read_text("ascii")
    assert "compiler: [gcc, clang]" in text
    install, *commands = re.findall(r"^      - run: (.+)$", text, re.MULTILINE)
    assert install == "pip install dp2emu" and len(commands) == 2
    for command in commands:
        line = re.sub("^dp2emu", lambda _: DP2EMU, command)
        line = line.replace("${{ matrix.compiler }}", compiler)
        subprocess.run(
            ["bash", "-e", "-c", line], cwd=folder, check=True, capture_output=True, timeout=300,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        )  # fmt: skip
    (kept,) = re.findall(r"^          path: (\S+)$", text, re.MULTILINE)
    assert "<testsuite" in (folder / kept).read_text("utf-8")
