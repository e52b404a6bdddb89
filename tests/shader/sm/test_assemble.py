"""Whole texts: lines that are no instructions, remarks, and errors that name their line."""

from __future__ import annotations

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.assemble import assemble
from tests.shader.sm.making import END, code_of, packed

MOV = (0x00000001, 0x800F0000, 0xA0E40000)


def test_text_is_a_version_and_instructions() -> None:
    assert assemble("ps_1_1\nmov r0, c0\n") == code_of("ps_1_1", *MOV)


def test_end_token_goes_without_saying() -> None:
    assert assemble("vs_2_0") == packed(0xFFFE0200, END)


@pytest.mark.parametrize("name", ["ps.1.1", "PS_1_1", "ps_1_1  ", "\ufeffps_1_1"])
def test_version_may_be_spelled_otherwise(name: str) -> None:
    assert assemble(f"{name}\n") == code_of("ps_1_1")


@pytest.mark.parametrize(
    "text",
    [
        "// a remark\n\nps_1_1 // and one\n; another\nmov r0, c0 ; last",
        "/* one over\n two lines */ ps_1_1\nmov /* r1 */ r0, c0",
        "ps_1_1\r\nmov r0, c0\r\n",
        "ps_1_1\nmov r0, c0\n/* never closed\nmov r1, c0",
        "ps_1_1\nmov r0, c0 // /* no beginning\n// */",
    ],
)
def test_remarks_and_space_do_not_matter(text: str) -> None:
    assert assemble(text) == code_of("ps_1_1", *MOV)


def test_tokens_can_be_written_as_they_are() -> None:
    text = "ps_1_1\ndword 0x00000001, 0x800f0000\ndword 0xA0E40000"
    assert assemble(text) == code_of("ps_1_1", *MOV)


def test_comment_is_its_head_and_its_words() -> None:
    text = "ps_1_1\ncomment 2\n  dword 0x42415443, 7\nmov r0, c0"
    assert assemble(text) == code_of("ps_1_1", 0x0002FFFE, 0x42415443, 7, *MOV)


def test_raw_bytes_follow_the_end_token() -> None:
    text = "ps_1_1\nmov r0, c0\nraw 01 02 FF\nRAW 0304\nraw"
    assert assemble(text) == code_of("ps_1_1", *MOV) + bytes([1, 2, 255, 3, 4])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "line 1: there is no shader version"),
        ("// nothing", "line 1: there is no shader version"),
        ("\n\nmov r0, c0", "line 3: mov r0, c0 is no shader version"),
        ("vs_4_0", "line 1: vs_4_0 is no shader version"),
        ("ps_1_1\nmov r0", "line 2: mov has 2 operands, not 1"),
        ("ps_1_1\n/*\n*/ mov r0, c9", "line 3: ps_1_1 has no c9"),
        ("ps_1_1\ndword", "line 2:  is no number from 0 to 0xffffffff"),
        ("ps_1_1\ndword 0x100000000", "is no number from 0 to 0xffffffff"),
        ("ps_1_1\ndword -1", "line 2: -1 is no number"),
        ("ps_1_1\ncomment 32768", "is no number from 0 to 0x7fff"),
        ("ps_1_1\nraw 0", "line 2: only raw bytes may follow raw bytes"),
        ("ps_1_1\nraw 00\nmov r0, c0", "line 3: only raw bytes may follow raw bytes"),
        ("raw 00", "line 1: raw 00 is no shader version"),
    ],
)
def test_unreadable_line_is_named(text: str, what: str) -> None:
    with pytest.raises(ShaderError) as raised:
        assemble(text)
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ps_2_0\nnop\nmov r0, -c0_bias\nnop", "line 3: c registers have no source modifier 3"),
        ("ps_2_0\nnop\nmov c0, r0", "line 3: c0 cannot be written here"),
        ("vs_2_0\nnop\n\nif b0\nnop", "line 4: if is not closed"),
        ("ps_1_1\ndword 1", "line 2: 0x0000ffff is no parameter"),
        ("ps_1_1\ncomment 9\ndword 0", "the code ends early"),
        ("ps_1_1\n\n\ntex t0\ndword 0x61", "line 5: unknown opcode 97"),
    ],
)
def test_line_whose_code_is_refused_is_named(text: str, what: str) -> None:
    with pytest.raises(ShaderError) as raised:
        assemble(text)
    assert what in str(raised.value)


def test_refused_code_can_be_had() -> None:
    assert assemble("vs_2_0\nif b0", check=False) == code_of("vs_2_0", 0x01000028, 0xE0E40800)


def test_error_line_stays_short_and_printable() -> None:
    with pytest.raises(ShaderError) as raised:
        assemble("vs_2_0\nmov r0, " + "\u00e9\x1b" * 1000)
    text = str(raised.value)
    assert len(text) < 300 and text.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 200_000,
        "vs_2_0\nraw " + "0 " * 200_000,
        "vs_2_0\nmov r0, r1" + "_a" * 200_000,
        "vs_2_0\nmov r0, " + "(" * 200_000,
        "vs_2_0\n+" + " " * 200_000 + "!",
        "vs_2_0\nmov r0, 1" + " " * 200_000 + "!",
        "vs_2_0\ndef c0, " + "9" * 200_000,
    ],
)
def test_long_nonsense_is_refused_without_ado(text: str) -> None:
    with pytest.raises(ShaderError):
        assemble(text)
