"""The shipped harness with libFuzzer, built as docs/fuzzing.rst says, finds planted mistakes."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from dp2emu.fuzz.afl import export
from tests.native.building import HERE, INCLUDES, SAMPLE, folder, missing

FOUND = {
    "CLEAR_LENGTH": "dp2fuzz: ",
    "CRASHES": "AddressSanitizer: SEGV",
    "HANGS": "libFuzzer: timeout",
    "INDEX_CHECK": "AddressSanitizer: SEGV",
    "SETPRIORITY_LENGTH": "dwErrorOffset is not the start of a token",
    "UNKNOWN_SKIPPED": "dp2fuzz: ",
}
"""Planted mistakes, and what the fuzzer says of each."""
SECONDS = "60"


@cache
def lacking() -> str:
    """What this machine lacks for libFuzzer with AddressSanitizer; empty if it has all."""
    if what := missing(("clang",)):
        return what
    source = folder() / "nothing.c"
    source.write_text("int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n);\n"
                      "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n)\n"
                      "{ return !d && n; }\n")  # fmt: skip
    command = ["clang", "-fsanitize=fuzzer,address", source, "-o", folder() / "nothing"]
    ran = subprocess.run(command, capture_output=True)
    return "" if ran.returncode == 0 else "libFuzzer's runtime for clang"


def build_line() -> str:
    """The line of the page that builds the harness with libFuzzer."""
    page = (HERE.parents[1] / "docs" / "fuzzing.rst").read_text("utf-8")
    (line,) = re.findall(r"^    (clang .*DP2FUZZ_LIBFUZZER.*)$", page, re.MULTILINE)
    return str(line)


def fuzzer(bug: str, place: Path) -> Path:
    """The harness with the sample driver, built by the page's line in a shell."""
    sources = " ".join(str(HERE / source) for source in SAMPLE)
    line = build_line().replace("mydriver.c", f"-DBUG_{bug} -I {HERE} {sources}")
    script = f"set -e\nINCLUDES={INCLUDES}\n{line}"
    subprocess.run(["bash", "-c", script], cwd=place, check=True, capture_output=True)
    return place / "fuzzed"


@pytest.mark.slow
@pytest.mark.parametrize("bug", FOUND)
def test_libfuzzer_finds_a_planted_mistake(bug: str, tmp_path: Path) -> None:
    if what := lacking():
        pytest.skip(f"this machine has no {what}")
    export(tmp_path)
    command = [
        fuzzer(bug, tmp_path), f"-max_total_time={SECONDS}", "-timeout=2", "-max_len=1024",
        f"-dict={tmp_path / 'dp2.dict'}", tmp_path / "corpus",
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert ran.returncode != 0
    assert FOUND[bug] in ran.stderr
    assert list(tmp_path.glob("crash-*")) or list(tmp_path.glob("timeout-*"))


@pytest.mark.slow
def test_libfuzzer_finds_nothing_in_a_driver_without_a_mistake(tmp_path: Path) -> None:
    if what := lacking():
        pytest.skip(f"this machine has no {what}")
    export(tmp_path)
    command = [fuzzer("NONE", tmp_path), "-runs=5000", "-timeout=20", tmp_path / "corpus"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert ran.returncode == 0, ran.stderr[-2000:]
