"""Texts that are no captures: one error, with the line."""

from __future__ import annotations

import contextlib
import struct
from io import StringIO
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.records import Called, FrameMarker, Record
from dp2emu.errors import CaptureError
from dp2emu.text import TextCapture, TextError, syntax
from tests.capture.samples import sealed
from tests.text.samples import SMALL, assembled, text_of

FIRST = "dp2emu-text version=1\n"


def records(text: str) -> list[Record]:
    return list(TextCapture(StringIO(text), "a.txt").records())


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "a.txt: line 1: the first statement is not dp2emu-text"),
        ("\n\ncall", "a.txt: line 3: the first statement is not dp2emu-text"),
        ("dp2emu-text", "a.txt: line 1: the grammar is not version=1"),
        ("dp2emu-text version=2", "a.txt: line 1: the grammar is not version=1"),
        ("dp2emu-text version=1 form=vhs", "a.txt: line 1: form vhs is none of sealed, log, bare"),
        ('dp2emu-text version=1 form="log"', "a.txt: line 1: a word belongs here"),
        (
            "dp2emu-text version=1 speed=9",
            "a.txt: line 1: dp2emu-text has the fields version, form and compression",
        ),
    ],
)
def test_a_wrong_first_line_is_named(text: str, what: str) -> None:
    with pytest.raises(TextError) as caught:
        TextCapture(StringIO(text), "a.txt")
    assert str(caught.value) == what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("RENDERSTATE", "line 2: RENDERSTATE is no record"),
        ("frame surface=1 frames=2", "line 2: no field frames; the fields are frame surface time"),
        ("frame frame=FIRST", "line 2: FIRST is neither a number nor an SDK name"),
        ("frame\n- a=1", "line 3: frame has no items"),
        ("frame\n data: 1", "line 2: frame has no part data"),
        ("frame\nraw", "line 3: raw cannot stand below frame"),
        ("frame frame=0x10000000000000000", "line 2: 0x10000000000000000 does not fit 64 bits"),
        ("surface kind=PAPER", "line 2: PAPER is neither a number nor an SDK name"),
        ("surface kind=9", "line 2: surface kind 9 is unknown"),
        ("surface width=0x100000000", "line 2: width 0x100000000 does not fit 4 bytes"),
        ("call abi=16", "line 2: abi 16 is neither 32 nor 64"),
        ("call dwhContext=0x100000000", "line 2: dwhContext 0x100000000 does not fit 4 bytes"),
        ("call commands=all", "line 2: commands can only be none"),
        ("call commands=none\nPOINTS", "line 3: a call with commands=none has no tokens"),
        ("call\nNOISE", "line 3: NOISE is neither a record nor what can stand here"),
        ("call\nRESPONSECONTINUE",
         "line 3: RESPONSECONTINUE is neither a record nor what can stand here"),
        ("answer\nPOINTS", "line 3: POINTS is neither a record nor what can stand here"),
        ("call\nPOINTS n=2\n- wCount=1", "line 3: n=2 stands for 2 items, 1 follow"),
        ("call\nPOINTS n=65536", "line 3: 65536 does not fit 16 bits"),
        ("call\nPOINTS wCount=1", "line 3: POINTS has no field wCount"),
        ("call\nPOINTS\n- wCount=1\n more: 1", "line 4: POINTS has no part more"),
        ("call\nPOINTS\n more: 1", "line 3: POINTS has no part more"),
        ("call\nLINELIST wVStart=1", "line 3: LINELIST does not say n, the number in its header"),
        ("call\nLINELIST n=1\n- wVStart=1", "line 3: LINELIST has no items"),
        ("call\nINDEXEDLINESTRIP\n wV: 1\n- wV=2", "line 3: INDEXEDLINESTRIP has no items"),
        ("call\nINDEXEDTRIANGLEFAN\n wV: 1",
         "line 3: INDEXEDTRIANGLEFAN does not say n, the number in its header"),
        ("call\nCREATEPIXELSHADER\n- dwCodeSize=4294967295\n code: 1",
         "line 4: code has 1 elements, the item speaks of 1073741823"),
        ("call\nLINELIST_IMM", "line 3: LINELIST_IMM does not say n, the number in its header"),
        ("call\nLINELIST_IMM n=1", "line 3: the vertices take 40 bytes, 0 follow"),
        ("call\nraw n=1", "line 3: raw has a part bytes and nothing else"),
        ('call\nraw\n bytes: "0"', "line 4: '0' are no hexadecimal bytes"),
        ('call\nraw\n bytes: "0 0"', "line 4: '0 0' are no hexadecimal bytes"),
        ('call\nraw\n bytes: "0\u00a00"', "line 4: '0\\xa00' are no hexadecimal bytes"),
        ('call\nraw\n bytes: "00\u2028"', "line 4: '00\\u2028' are no hexadecimal bytes"),
        ("call\nraw\n bytes: 1e39", "line 4: 1e39 is beyond a 32-bit float"),
        ("call\nraw\n bytes: [1]", "line 4: a list where a number or name belongs"),
        ("annotation\n text: 1", "line 3: only quoted strings belong here"),
        ("chunk size=1", "line 2: chunk has a field bytes and nothing else"),
        ("chunk\nraw", "line 2: chunk has a field bytes and nothing else"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_named_with_its_line(text: str, what: str) -> None:
    text = text.replace("call\nLINELIST_IMM", "call dwVertexType=D3DFVF_XYZRHW|D3DFVF_DIFFUSE\n"
                        "LINELIST_IMM")  # fmt: skip
    with pytest.raises(TextError) as caught:
        records(FIRST + text)
    assert str(caught.value) == f"a.txt: {what}"


def test_a_text_of_no_records_is_a_capture() -> None:
    with TextCapture(StringIO(FIRST)) as capture:
        assert list(capture.records()) == []
        assert (capture.form, capture.compression, capture.damage) == ("sealed", None, None)


def test_what_came_before_the_error_is_read() -> None:
    stream = TextCapture(StringIO(FIRST + "frame\nframe\nframe x=1")).records()
    assert [next(stream), next(stream)] == 2 * [FrameMarker(0)]
    with pytest.raises(TextError, match="line 4"):
        next(stream)


@given(st.randoms(use_true_random=False))
def test_a_damaged_text_is_another_capture_or_one_error(random: Random) -> None:
    lines = _TEXT.splitlines(keepends=True)
    for _ in range(random.randint(1, 3)):
        at = random.randrange(len(lines))
        lines[at] = random.choice([_cut, _doubled, _changed])(lines[at], random)
    with contextlib.suppress(CaptureError):
        assembled("".join(lines))


@given(st.randoms(use_true_random=False))
def test_what_is_known_by_its_text_is_read_as_if_it_were_not(random: Random) -> None:
    lines = _TEXT.splitlines(keepends=True) + _CALL
    for _ in range(random.randint(0, 2)):
        at = random.randrange(len(lines))
        lines[at] = random.choice([_cut, _changed])(lines[at], random)
    at = random.randrange(len(lines))
    text = "".join(lines[:1] + lines[at:] + lines[1:])
    with patch.object(syntax, "_SMALL", -1):
        expected = _outcome(text)
    assert _outcome(text) == _outcome(text) == expected


def _outcome(text: str) -> list[Record] | str:
    try:
        return records(text)
    except CaptureError as error:
        return str(error)


def test_blocks_of_any_length_are_as_they_would_be_alone() -> None:
    words = "".join(f" bytes: {number}\n" for number in range(40))
    (call,) = records(FIRST + f"call\nraw\n{words}raw # 1\nraw # 2\n bytes: 41{1000 * ' 0'}\n")
    assert isinstance(call, Called)
    assert call.call.commands == struct.pack("<1041I", *range(40), 41, *1000 * [0])


def _cut(line: str, random: Random) -> str:
    return line[: random.randrange(len(line) + 1)] + "\n"


def _doubled(line: str, random: Random) -> str:
    return line + line


def _changed(line: str, random: Random) -> str:
    at = random.randrange(len(line) + 1)
    return line[:at] + random.choice('0x9-=[]{}":.# \n\0é\u2028') + line[at + 1 :]


_CALL = """call dwVertexType=0x44
LINELIST_IMM n=1
  vertices: 0.0 0.0 0.0 1.0 0xffffffff
  vertices: 8.0 0.0 0.0 1.0 0xffffffff
RENDERSTATE
  - RenderState=D3DRENDERSTATE_ZENABLE dwState=1
CREATEPIXELSHADER
  - dwHandle=1 dwCodeSize=8
    code: 0xffff0200 0x0000ffff
""".splitlines(keepends=True)
_TEXT = text_of(sealed(SMALL))
