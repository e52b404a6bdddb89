"""dp2fuzz.c: the harness by which fuzzers try a driver, with a main function of its own."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from dp2emu.conform.script import create, end, token
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.flags import Clear
from tests.native.building import INCLUDES, STRICT, built, compile_only, sample_objects

EVENT = create(1) + end(1)
MANY = b"".join(token(op, struct.pack("<6I", *items), 3) for op, items in (
    (Op.CREATEQUERY, (1, 4, 2, 4, 3, 4)), (Op.ISSUEQUERY, (1, 1, 2, 1, 3, 1)),
))  # fmt: skip
"""Three queries of type VCACHE in commands of 56 bytes; their answers have 80."""
PRIORITY = token(Op.SETPRIORITY, struct.pack("<4I", 4, 1, 4, 1), 2)
CLEARED = token(Op.CLEAR, struct.pack("<I", Clear.TARGET | Clear.COMPUTERECTS) + bytes(28), 0)
CUT = EVENT[:-1]
INVALID = b"\xff\0\0\0"


def harness(*bugs: str) -> Path:
    main = built("dp2fuzz.o", ("dp2fuzz.c",), "-c")
    return built("-".join(("dp2fuzz", *bugs)), (str(main), *sample_objects(bugs=bugs)))


def tried(program: Path, folder: Path, *inputs: bytes) -> subprocess.CompletedProcess[str]:
    paths = [folder / str(number) for number in range(len(inputs))]
    for path, data in zip(paths, inputs, strict=True):
        path.write_bytes(data)
    return subprocess.run([program, *paths], capture_output=True, text=True)


def test_a_driver_without_a_mistake_is_not_accused(tmp_path: Path) -> None:
    ran = tried(harness(), tmp_path, b"", EVENT, MANY, CUT, INVALID, EVENT + INVALID, EVENT * 8)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_nothing_is_said_about_a_clear_without_rectangles(tmp_path: Path) -> None:
    for bugs in ((), ("CLEAR_WITHOUT_RECT",)):
        assert tried(harness(*bugs), tmp_path, CLEARED, CLEARED + EVENT).stderr == ""


@pytest.mark.parametrize(
    ("bug", "data", "what"),
    [
        ("CRASHES", EVENT, ""),
        ("OVERRUNS", MANY, ""),
        ("SETPRIORITY_LENGTH", PRIORITY, "dwErrorOffset is not the start of a token"),
        ("ERROR_OFFSET_FROM_FIRST", EVENT + INVALID, "dwErrorOffset is not the start of a token"),
        pytest.param(
            "UNKNOWN_SKIPPED",
            EVENT + INVALID,
            "D3D_OK for a stream that cannot be decoded",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "TOTAL_WITHOUT_HEADER", EVENT, "a malformed response", marks=pytest.mark.slow
        ),
    ],
)
def test_a_planted_mistake_ends_the_program(
    bug: str, data: bytes, what: str, tmp_path: Path
) -> None:
    ran = tried(harness(bug), tmp_path, data)
    assert ran.returncode < 0
    assert what in ran.stderr


def test_the_entry_of_libfuzzer_compiles() -> None:
    source = f'#define DP2FUZZ_LIBFUZZER\n#include "{INCLUDES / "dp2fuzz.c"}"\n'
    compile_only(("gcc",), source, *STRICT)
