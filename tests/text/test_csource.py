"""A capture as a C program: it compiles everywhere, makes the calls, and tells what differs."""

from __future__ import annotations

import re
import subprocess
from io import BufferedReader, BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.records import (
    Annotation,
    Called,
    ColorKeyRemoved,
    ColorKeySet,
    EntryCalled,
    Flipped,
    FrameMarker,
    Record,
)
from dp2emu.conform import kit
from dp2emu.conform.report import recorded
from dp2emu.errors import Unsupported
from dp2emu.text import convert, open_any
from dp2emu.text.csource import comment
from tests.capture.samples import sealed
from tests.native.building import GCC, STRICT, compile_only, folder, sample_objects
from tests.text.samples import SMALL

BLOCKS = Path(__file__).parents[2] / "streams" / "state_blocks.dp2"


def source_of(data: bytes) -> str:
    out = BytesIO()
    convert(open_any(BufferedReader(BytesIO(data))), "c", out)  # type: ignore[arg-type]
    return out.getvalue().decode("ascii")


def linked(source: str, *bugs: str) -> Path:
    """The program with the sample driver, and nothing of the kit to include beside it."""
    made = folder() / f"reproducer-{abs(hash((source, bugs)))}"
    text = made.with_suffix(".c")
    text.write_text(source)
    subprocess.run([*GCC, *STRICT, "-c", text, "-o", made.with_suffix(".o")], check=True)
    drivers = sample_objects(bugs=bugs)
    subprocess.run([*GCC, *drivers, made.with_suffix(".o"), "-o", made], check=True)
    return made


def ran(case: str, *bugs: str) -> tuple[int, str]:
    """What the program of a case of the conformance kit returns and prints."""
    found = next(each for each in kit(case) if each.name == case)
    program = linked(source_of(sealed(recorded(found))), *bugs)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


@pytest.mark.parametrize("case", ["query.end_again", "response.overflow.40", "error.offset.40.12"])
def test_a_driver_that_answers_as_the_capture_says_ends_with_0(case: str) -> None:
    code, said = ran(case)
    assert code == 0, said
    assert said.endswith(" calls, 0 differences\n")


def test_a_driver_that_answers_otherwise_is_told_what_differs() -> None:
    code, said = ran("query.end_again", "EMPTY_RESPONSE")
    assert code == 1
    assert re.search(r"  \S.* is 0x[0-9a-f]{8}, was 0x[0-9a-f]{8}\n", said), said


def test_any_records_compile_without_a_warning() -> None:
    compile_only(GCC, source_of(sealed(SMALL)))


def test_every_byte_of_commands_is_there_in_order() -> None:
    source = source_of(BLOCKS.read_bytes())
    arrays = re.findall(r"dp2_u8 commands_\d+\[\] = \{(.*?)\};", source, re.DOTALL)
    written = [bytes.fromhex("".join(re.findall(r"0x(..),", text))) for text in arrays]
    with BLOCKS.open("rb") as stream:
        calls = [r.call.commands for r in open_any(stream).records() if isinstance(r, Called)]
    assert written == [commands for commands in calls if commands]


def test_tokens_stand_beside_their_bytes() -> None:
    source = source_of(BLOCKS.read_bytes())
    assert re.search(r"    0x27,0x00,0x01,0x00.* /\* STATESET", source)


@pytest.mark.parametrize("text", ["a */ int x; /* b", "what??/\n", "/*/", "é\x1b[31m\0"])
def test_what_a_capture_says_of_itself_stays_in_a_comment(text: str) -> None:
    source = source_of(sealed([Annotation("title", text), FrameMarker(0)]))
    compile_only(GCC, source)


@given(st.text())
def test_comments_neither_end_nor_nest(text: str) -> None:
    shown = f"/* {comment(text)} */"
    assert shown.isascii() and shown.isprintable()
    assert shown.find("*/") == len(shown) - 2 and shown.rfind("/*") == 0
    assert "??" not in shown


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (Flipped(1, 2), "flips"),
        (ColorKeySet(1, 0, 0), "colour keys"),
        (ColorKeyRemoved(1), "colour keys"),
        (EntryCalled(1, 10, "Flush"), "functions of the Direct3D 10/11 interface"),
    ],
)
def test_what_no_driver_is_served_with_is_refused(record: Record, what: str) -> None:
    with pytest.raises(Unsupported, match=what):
        source_of(sealed([record]))
