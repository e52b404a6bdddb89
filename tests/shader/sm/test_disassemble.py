"""Code to text: layout, and whatever text cannot say."""

from __future__ import annotations

import json

import pytest

from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.disassemble import disassemble
from tests.reference import DATA
from tests.shader.sm.making import END, code_of, words_of

GOLDEN = json.loads((DATA / "shaders.json").read_text("utf-8"))
"""Shaders of another implementation's assembler, with the text they were made from."""


def lines(version: str, text: str) -> list[str]:
    """The text of an instruction in tokens, which has to assemble back."""
    code = code_of(version, *words_of(text))
    shown = disassemble(code)
    assert assemble(shown) == code
    first, *rest = shown.splitlines()
    assert first == version
    return rest


def test_blocks_are_indented() -> None:
    text = [
        "vs_2_0",
        "rep i0",
        "    if b0",
        "        call l0",
        "    else",
        "        nop",
        "    endif",
        "endrep",
        "ret",
        "label l0",
        "    nop",
        "ret",
    ]
    assert disassemble(assemble("\n".join(text))).splitlines() == text


@pytest.mark.parametrize(
    ("version", "tokens", "means"),
    [
        ("vs_1_1", "20000001 800f0000 80e40001", "mov r0, r1"),
        ("vs_1_1", "02000001 800f0000 80e40001", "mov r0, r1"),
        ("vs_1_1", "00000001 800f4000 80e40001", "mov r0, r1"),
        ("vs_1_1", "00000001 808f0000 80e40001", "mov r0, r1"),
        ("vs_1_1", "00000001 800f0000 80e48001", "mov r0, r1"),
        ("vs_1_1", "00020001 800f0000 80e40001", "mov r0, r1"),
        ("vs_2_0", "03000001 800f0000 a0e42001 b0e40000", "mov r0, c[a0.x + 1]"),
        ("vs_2_0", "03000001 800f0000 a0e42001 b0e50000", "mov r0, c[a0.y + 1]"),
        ("ps_2_0", "01000041 80000001", "texkill r1."),
        ("ps_2_0", "0200001f 80030005 b00f0001", "dcl t1"),
        ("vs_2_0", "0200001f 90000000 900f0001", "dcl_position v1"),
    ],
)
def test_bits_without_words_are_shown_as_tokens(version: str, tokens: str, means: str) -> None:
    shown = ", ".join(f"{word:#010x}" for word in words_of(tokens))
    assert lines(version, tokens) == [f"dword {shown}  // {means}"]


def test_nan_constants_keep_their_bits() -> None:
    assert lines("vs_1_1", "00000051 a00f0000 7f800001 ffffffff 7f800000 80000000") == [
        "def c0, nan(0x7f800001), nan(0xffffffff), inf, -0.0"
    ]


def test_integers_are_signed_and_odd_truths_are_numbers() -> None:
    assert lines("vs_2_0", "05000030 f00f0000 ffffffff 7fffffff 80000000 0") == [
        "defi i0, -1, 2147483647, -2147483648, 0"
    ]
    assert lines("vs_2_0", "0200002f e00f0800 0 0200002f e00f0801 2") == [
        "defb b0, false",
        "defb b1, 0x2",
    ]


def test_comments_show_their_words_and_letters() -> None:
    shown = lines("vs_2_0", "0009fffe 42415443 3b2f2a2f 0 1 2 3 4 5 6 00000000")
    assert shown == [
        "comment 9",
        "    dword 0x42415443, 0x3b2f2a2f, 0x00000000, 0x00000001, 0x00000002, 0x00000003, "
        "0x00000004, 0x00000005  // CTAB/*/;........................",
        "    dword 0x00000006  // ....",
        "nop",
    ]


def test_bytes_behind_the_end_are_shown() -> None:
    code = code_of("vs_2_0") + bytes(range(35))
    shown = disassemble(code)
    assert shown.splitlines()[1:] == ["raw " + bytes(range(32)).hex(" "), "raw 20 21 22"]
    assert assemble(shown) == code


def test_two_shaders_in_a_row_are_one_and_raw_bytes() -> None:
    code = code_of("vs_2_0") + code_of("ps_2_0")
    assert assemble(disassemble(code)) == code


@pytest.mark.parametrize("row", GOLDEN, ids=[row["shader"] for row in GOLDEN])
def test_golden_shader_reads_as_it_was_written(row: dict[str, str]) -> None:
    words = words_of(row["dwords"])
    version = row["asm"].split("\n")[0]
    code = code_of(version, *words[1:-1])
    assert words[-1] == END
    shown = disassemble(code)
    assert assemble(shown) == code
    assert _in_order(shown) == _in_order(_patched(row["asm"]))


def _in_order(text: str) -> list[str]:
    """Lines without indent; constants after declarations, which is where the other puts them."""
    lines = [line.strip().replace("+mov", "+ mov") for line in text.strip().split("\n")]
    return sorted(lines, key=lambda line: _KINDS.get(line[:3], len(_KINDS)))


_KINDS = {"vs_": 0, "ps_": 0, "dcl": 1, "def": 2}


def _patched(text: str) -> str:
    """``//patch v7=vFace``: one register stands for another, and is declared without a usage."""
    lines = text.split("\n")
    for line in [line for line in lines if line.startswith("//patch")]:
        lines.remove(line)
        register, _, stands_for = line.removeprefix("//patch ").partition("=")
        lines = [each.replace(f"dcl_texcoord7 {register}", f"dcl {register}") for each in lines]
        lines = [each.replace(register, stands_for) for each in lines]
    return "\n".join(lines)
