"""The pytest plugin, used by tests of a stranger."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

import pytest

from dp2emu.capture import open_capture
from dp2emu.replay import replay
from dp2emu.shader.engines import can_compile
from tests.native.building import sample
from tests.tools.loading import ROOT

pytest_plugins = ["pytester"]

LOADED = () if entry_points(group="pytest11", name="dp2emu") else ("-p", "dp2emu.pytest_plugin")


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=PREFACE + source)
    return pytester.runpytest_inprocess(*LOADED, "-p", "no:xdist", *arguments)


PREFACE = """
import pytest
from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.table import Op
"""

EVENT = "dp2.emit(Op.CREATEQUERY, [(1, QueryType.EVENT)]).emit(Op.ISSUEQUERY, [(1, 1)])"


def test_importing_it_imports_nothing_else_of_ours() -> None:
    code = (
        "import sys, dp2emu.pytest_plugin\n"
        "ours = {m for m in sys.modules if m.startswith('dp2emu')}\n"
        "assert ours == {'dp2emu', 'dp2emu.lazy_import', 'dp2emu.pytest_plugin'}, ours\n"
        "assert not {'numpy', 'hypothesis', 'PIL'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_fixture_works(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        f"""
def test_own_calls(dp2):
    {EVENT}
    assert dp2.ask() == {{1: b"\\1\\0\\0\\0"}}

def test_device(dp2_device, dp2_gpu, dp2_capture):
    dp2_device.clear(color=0xFF102030)
    assert dp2_device.read_back()[0, 0] == 0xFF102030
    assert dp2_gpu.counters.pixel_bytes > 0
    assert "CLEAR" in dp2_capture.text()

def test_ddi10(ddi10):
    event = ddi10.create_query(0)
    event.end()
    assert event.value(event.wait().data)
""",
        "--strict-markers",
    )
    result.assert_outcomes(passed=3)


def test_markers_say_what_the_bench_is_like(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("slow.toml").write_text('timing = "fixed:call=7"')
    result = run(
        pytester,
        """
pytestmark = pytest.mark.dp2(width=8, height=2)

@pytest.mark.dp2(width=9, timing="work")
def test_marked(dp2, dp2_gpu):
    assert dp2.shot().pixels.shape[:2] == (2, 9)
    assert dp2_gpu.timing.name.startswith("work")

@pytest.mark.dp2(scenario="slow.toml")
def test_scenario(dp2):
    before = dp2.rig.time  # the device's call goes first
    assert dp2.submit().time - before == 14

def test_options(dp2, dp2_gpu):
    assert dp2_gpu.timing.name.startswith("seeded")
    assert dp2.rig.options.engine == "reference"
""",
        "--strict-markers",
        "--dp2-timing=seeded:3",
        "--dp2-engine=reference",
    )
    result.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--dp2-timing=sometimes", "*--dp2-timing: no timing model 'sometimes'*"),
        ("--dp2-scenario=missing.toml", "*--dp2-scenario: *missing.toml*"),
        ("--dp2-rig=unknown", "*--dp2-rig: no rig 'unknown'; there are emulator,*"),
        ("--dp2-rig=native", "*--dp2-rig: rig 'native' needs an argument behind a colon"),
    ],
)
def test_options_that_mean_nothing_are_told_once(
    pytester: pytest.Pytester, option: str, said: str
) -> None:
    ran = run(pytester, "def test_any(dp2): pass", option)
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([said])


def test_a_rig_without_a_gpu_skips_what_needs_one(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        f"""
def test_saved(dp2):
    {EVENT}
    dp2.submit()
    dp2.tape.save("saved.dp2")
""",
    )
    result.assert_outcomes(passed=1)
    second = run(pytester, "def test_gpu(dp2_gpu): pass\n", "--dp2-rig=recorded:saved.dp2")
    second.assert_outcomes(skipped=1)


def test_failures_are_explained_and_saved(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        f"""
def test_answer(dp2):
    {EVENT}
    good = dp2.submit()
    assert dp2.submit(b"\\0\\0\\0\\0") == good

def test_picture(dp2):
    before = dp2.shot()
    dp2.device.clear(color=0xFFFFFFFF)
    assert dp2.shot() == before

def test_fine(dp2):
    dp2.submit()

def test_stranger():
    assert b"one" == b"two"
""",
        "--dp2-save-failures=failed",
    )
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*ddrval: D3DERR_COMMAND_UNPARSED != D3D_OK*",
            "*replay it: dp2emu replay --verify failed*failed.dp2*",
            "*4096 of 4096 pixels differ, by 255 at most*",
            "*both and the difference: failed*difference1.png*",
        ]
    )
    result.stdout.no_fnmatch_line("*the tokens differ*")
    saved = sorted(Path(pytester.path, "failed").glob("*/failed.dp2"))
    assert [path.parent.name for path in saved] == [
        "test_it.py_test_answer",
        "test_it.py_test_picture",
    ]
    with open_capture(str(saved[0])) as capture:
        tally = replay(capture)
    assert (tally.known_faults, tally.faults, tally.different) == (1, 0, 0)


def test_goldens_are_written_when_asked_and_compared_otherwise(pytester: pytest.Pytester) -> None:
    source = """
import os

def test_both(dp2, dp2_golden):
    dp2.device.clear(color=int(os.environ["DP2_TEST_COLOR"], 16))
    shot = dp2.shot()
    assert shot == dp2_golden.picture("clear.png", shot)
    assert dp2.tape.text() == dp2_golden.text("clear.txt", dp2.tape.text())
"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DP2_TEST_COLOR", "FF102030")
        missing = run(pytester, source)
        missing.assert_outcomes(failed=1)
        missing.stdout.fnmatch_lines(["*no golden *--dp2-update-goldens writes it*"])
        run(pytester, source, "--dp2-update-goldens").assert_outcomes(passed=1)
        run(pytester, source).assert_outcomes(passed=1)
        patch.setenv("DP2_TEST_COLOR", "FF102031")
        run(pytester, source).assert_outcomes(failed=1)


def documented(language: str, heading: str = "The pytest plugin") -> str:
    """The first code block of a language behind a heading of the documentation."""
    text = (ROOT / "docs" / "pytest.rst").read_text("utf-8")
    _, _, below = text.partition(f"{heading}\n")
    _, _, rest = below.partition(f".. code-block:: {language}\n\n")
    lines = takewhile(lambda line: not line or line.startswith("    "), rest.split("\n"))
    return dedent("\n".join(lines))


def test_the_documented_tests_pass(pytester: pytest.Pytester) -> None:
    result = run(pytester, documented("python"), "--dp2-update-goldens")
    result.assert_outcomes(passed=2)


def test_the_documented_scenario_is_one(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("all.toml").write_text(documented("toml"))
    source = "def test_it(dp2):\n    assert dp2.commands.capacity == 256\n"
    run(pytester, source, "--dp2-scenario=all.toml").assert_outcomes(passed=1)


def test_the_documented_property_holds(pytester: pytest.Pytester) -> None:
    source = documented("python", "Strategies and the query model")
    run(pytester, source, "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_documented_rig_tries_a_driver_in_c(pytester: pytest.Pytester) -> None:
    shutil.copy(sample(), pytester.path / "mydriver.so")
    ini, tests = (documented(language, "A rig of three files") for language in ("ini", "python"))
    pytester.makeini(ini)
    run(pytester, tests).assert_outcomes(passed=2)


@pytest.mark.skipif(sys.platform != "linux" or not can_compile(), reason="needs guard pages")
def test_arrays_of_a_guarded_test_end_at_pages_that_end_the_process(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        test_it="""
import ctypes
import pytest
from dp2emu.guard_pages import PAGE, Edge

def test_surfaces(dp2_device, dp2_guard):
    before = dp2_guard.made
    dp2_device.clear(color=0xFF102030)
    assert dp2_device.read_back()[0, 0] == 0xFF102030
    surface = next(iter(dp2_device.session.rig.gpu.heap))
    assert (surface.data.ctypes.data + -(-surface.data.nbytes // 4) * 4) % PAGE == 0
    assert dp2_guard.made > before

@pytest.mark.parametrize("dp2_guard", [Edge.BEGIN], indirect=True)
def test_beginning(ddi10, dp2_guard):
    assert ddi10.create_buffer(8, 1, None)
    assert dp2_guard.edge is Edge.BEGIN

def test_overrun(dp2_guard):
    import numpy as np
    array = np.zeros(3, np.uint8)
    ctypes.memset(array.ctypes.data + 3, 0, 1)
"""
    )
    result = pytester.runpytest_subprocess(*LOADED, "-p", "no:xdist", "-v")
    assert result.ret == -signal.SIGSEGV
    result.stdout.fnmatch_lines(["*test_surfaces PASSED*", "*test_beginning?2? PASSED*"])
    result.stderr.fnmatch_lines(["dp2emu: guard page: access to *: past its end*"])
