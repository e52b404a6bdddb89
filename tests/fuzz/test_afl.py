"""The worked example of docs/fuzzing.rst: AFL++ with our mutator and corpus finds planted bugs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dp2emu.fuzz.dictionary import export
from tests.native.building import HERE, SAMPLE, built

ROOT = HERE.parents[1]
LENGTHS = ("CLEAR_LENGTH", "CONSTB_LENGTH", "PATCH_TAILS", "SETLIGHT_LENGTH", "SETPRIORITY_LENGTH",
           "SETRENDERTARGET_LENGTH", "SETTEXLOD_LENGTH", "UNKNOWN_SKIPPED")  # fmt: skip

TRIES = "200000"


def harness(*bugs: str) -> Path:
    options = tuple(f"-DBUG_{bug}" for bug in bugs)
    return built("-".join(("fuzzed", *bugs)), ("fuzzed.c", *SAMPLE), *options)


def crashes(program: Path, inputs: Path) -> list[str]:
    """The inputs of a folder for which a program aborts."""
    return [p.name for p in sorted(inputs.iterdir())
            if subprocess.run([program, p], stderr=subprocess.DEVNULL).returncode < 0]  # fmt: skip


def test_an_honest_walk_agrees_with_the_kit_on_the_corpus(tmp_path: Path) -> None:
    export(tmp_path)
    assert crashes(harness(), tmp_path / "corpus") == []


@pytest.mark.slow
@pytest.mark.parametrize("bug", LENGTHS)
def test_afl_finds_every_planted_length(bug: str, tmp_path: Path) -> None:
    """AFL++ in its dumb mode, which wants no instrumentation: our grammar does the work."""
    export(tmp_path)
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "one").write_bytes((tmp_path / "corpus" / "renderstate-0").read_bytes())
    settings = {
        "AFL_PYTHON_MODULE": "dp2emu.fuzz.afl", "AFL_CUSTOM_MUTATOR_ONLY": "1", "AFL_NO_UI": "1",
        "AFL_SKIP_CPUFREQ": "1", "AFL_BENCH_UNTIL_CRASH": "1", "AFL_NO_AFFINITY": "1",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }  # fmt: skip
    out = tmp_path / "out"
    command = ["afl-fuzz", "-n", "-i", seeds, "-o", out, "-x", tmp_path / "dp2.dict", "-E", TRIES,
               "--", harness(bug), "@@"]  # fmt: skip
    done = subprocess.run(command, env=os.environ | settings, capture_output=True)
    found = sorted(out.rglob("crashes/id*"))
    assert found, done.stdout[-2000:]
    assert subprocess.run([harness(bug), found[0]], stderr=subprocess.DEVNULL).returncode < 0
