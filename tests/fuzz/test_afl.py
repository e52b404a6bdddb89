"""AFL++ with our mutator and corpus finds planted bugs, as docs/fuzzing.rst has it by the word."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from dp2emu.conform.script import render_state
from dp2emu.dp2.walk import scan
from dp2emu.fuzz import afl
from dp2emu.fuzz.afl import export
from dp2emu.fuzz.grammar import VERTEX_SIZE
from tests.native.building import HERE, INCLUDES, SAMPLE, built, sample_objects

ROOT = HERE.parents[1]
LENGTHS = ("CLEAR_LENGTH", "CONSTB_LENGTH", "PATCH_TAILS", "SETLIGHT_LENGTH", "SETPRIORITY_LENGTH",
           "SETRENDERTARGET_LENGTH", "SETTEXLOD_LENGTH", "UNKNOWN_SKIPPED")  # fmt: skip

TRIES = "200000"
ANYWHERE = {
    "AFL_NO_UI": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_NO_AFFINITY": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
}  # fmt: skip
"""What AFL++ wants to be told on a machine that is not set up for it."""


def harness(*bugs: str) -> Path:
    main = built("fuzzed.o", ("fuzzed.c",), "-c")
    return built("-".join(("fuzzed", *bugs)), (str(main), *sample_objects(bugs=bugs)))


def crashes(program: Path, inputs: Path) -> list[str]:
    """The inputs of a folder for which a program aborts."""
    return [p.name for p in sorted(inputs.iterdir())
            if subprocess.run([program, p], stderr=subprocess.DEVNULL).returncode < 0]  # fmt: skip


def test_an_honest_walk_agrees_with_the_kit_on_the_corpus(tmp_path: Path) -> None:
    export(tmp_path)
    assert crashes(harness(), tmp_path / "corpus") == []


def several_items(inputs: Iterable[bytes]) -> set[str]:
    """The names of tokens of which an input has more than one item."""
    found = (scan(each, 0, len(each), VERTEX_SIZE).commands for each in inputs)
    return {token.name for commands in found for _, token, number, *_ in commands if number > 1}


def test_one_seed_becomes_tokens_of_several_items() -> None:
    afl.init(0)
    seed = bytearray(render_state(7, 1) + render_state(14, 0))
    names = several_items(bytes(afl.fuzz(seed, bytearray(), 4096)) for _ in range(20_000))
    assert names >= {"CLEAR", "DRAWRECTPATCH", "SETLIGHT", "SETPRIORITY", "SETTEXLOD"}


@pytest.mark.slow
@pytest.mark.parametrize("bug", LENGTHS)
def test_afl_finds_every_planted_length(bug: str, tmp_path: Path) -> None:
    """AFL++ in its dumb mode, which wants no instrumentation: our grammar does the work."""
    export(tmp_path)
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "one").write_bytes((tmp_path / "corpus" / "renderstate-0").read_bytes())
    settings = ANYWHERE | {
        "AFL_PYTHON_MODULE": "dp2emu.fuzz.afl", "AFL_CUSTOM_MUTATOR_ONLY": "1",
        "AFL_BENCH_UNTIL_CRASH": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }  # fmt: skip
    out = tmp_path / "out"
    command = ["afl-fuzz", "-n", "-i", seeds, "-o", out, "-x", tmp_path / "dp2.dict", "-E", TRIES,
               "--", harness(bug), "@@"]  # fmt: skip
    done = subprocess.run(command, env=os.environ | settings, capture_output=True)
    found = sorted(out.rglob("crashes/id*"))
    assert found, done.stdout[-2000:]
    assert subprocess.run([harness(bug), found[0]], stderr=subprocess.DEVNULL).returncode < 0


def shipped(bug: str, place: Path) -> Path:
    """The shipped harness with the sample driver, built by the page's line in a shell."""
    page = (ROOT / "docs" / "fuzzing.rst").read_text("utf-8")
    (line,) = re.findall(r"^    (afl-clang-fast .*mydriver.*)$", page, re.MULTILINE)
    sources = " ".join(str(HERE / source) for source in SAMPLE)
    line = line.replace("mydriver.c", f"-DBUG_{bug} -I {HERE} {sources}")
    script = f"set -e\nINCLUDES={INCLUDES}\n{line}"
    subprocess.run(["bash", "-c", script], cwd=place, check=True, capture_output=True)
    return place / "fuzzed"


def fuzzed(bug: str, place: Path, tries: int) -> list[Path]:
    """What AFL++ finds with the shipped harness: inputs that crash."""
    if not shutil.which("afl-clang-fast"):
        pytest.skip("this machine has no afl-clang-fast")
    export(place)
    settings = ANYWHERE | {
        "AFL_PYTHON_MODULE": "dp2emu.fuzz.afl", "AFL_CUSTOM_MUTATOR_ONLY": "1",
        "AFL_BENCH_UNTIL_CRASH": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
    }  # fmt: skip
    command = ["afl-fuzz", "-t", "1000+", "-i", place / "corpus", "-o", place / "out",
               "-x", place / "dp2.dict", "-E", str(tries), "--", shipped(bug, place)]  # fmt: skip
    subprocess.run(command, cwd=place, env=os.environ | settings, capture_output=True)
    return sorted((place / "out").rglob("crashes/id*"))


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["CRASHES", "INDEX_CHECK", *LENGTHS])
def test_afl_finds_a_planted_mistake_with_the_shipped_harness(bug: str, tmp_path: Path) -> None:
    assert fuzzed(bug, tmp_path, 50000)


def documented() -> str:
    """The commands of the example."""
    page = (ROOT / "docs" / "fuzzing.rst").read_text("utf-8")
    (block,) = [each for each in page.split(".. code-block:: console\n") if "afl-fuzz -i" in each]
    return "\n".join(re.findall(r"^    (?:\$ )?(.*)$", block, re.MULTILINE))


def test_the_example_names_what_there_is() -> None:
    for word in re.findall(r"(?:tests|dp2emu)/\S+", documented()):
        assert list(ROOT.glob(word)), word
    assert "BUG_CLEAR_LENGTH" in (HERE / "sample.c").read_text("ascii")


@pytest.mark.slow
def test_the_example_finds_the_mistake(tmp_path: Path) -> None:
    for name in ("tests", "dp2emu"):
        (tmp_path / name).symlink_to(ROOT / name)
    script = f'set -e\ndp2emu() {{ python -m dp2emu "$@"; }}\n{documented()}'
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=os.environ | ANYWHERE | {"PATH": path},
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert list(tmp_path.glob("work/out/default/crashes/id*"))
    assert b"\ncall " in done.stdout
    assert b"CLEAR" in done.stdout
