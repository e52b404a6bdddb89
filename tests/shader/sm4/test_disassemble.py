"""Text of programs: as Microsoft's disassembler writes it, and back to the same tokens."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from dp2emu.shader.assembly import WORDS
from dp2emu.shader.sm4 import assemble, decode, disassemble
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.spelling import value_of
from tests.shader.sm4.making import code_of, recorded, words_of

IDS = [row["shader"] for row in recorded()]
NUMBER = re.compile(r"(-?(?:0x[0-9a-f]+|[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?))")


def statements(text: str) -> list[str]:
    """Lines without blanks, those of an open brace as one."""
    found = [""]
    for line in text.split("\n"):
        found[-1] += "".join(line.split())
        if found[-1].count("{") == found[-1].count("}"):
            found.append("")
    return [each for each in found if each]


def agrees(theirs: str, ours: str) -> bool:
    """Whether a number of ours is theirs, which has six decimals at most."""
    word = value_of(ours)
    if "." not in theirs:
        return word == value_of(theirs)
    (value,) = struct.unpack("<f", struct.pack("<I", word))
    return f"{value:f}" == theirs


@pytest.mark.parametrize("row", recorded(), ids=IDS)
def test_recorded_program_reads_as_microsoft_writes_it(row: dict[str, Any]) -> None:
    code = bytes.fromhex(row["tokens"])
    text = disassemble(code)
    theirs, ours = statements(row["asm"]), statements(text)
    assert len(theirs) == len(ours)
    for their_line, our_line in zip(theirs, ours, strict=True):
        their_parts, our_parts = NUMBER.split(their_line), NUMBER.split(our_line)
        assert their_parts[::2] == our_parts[::2]
        numbers = zip(their_parts[1::2], our_parts[1::2], strict=True)
        assert all(agrees(*pair) for pair in numbers), (their_line, our_line)
    assert assemble(text) == code
    assert WORDS not in text


@pytest.mark.parametrize("row", recorded(), ids=IDS)
def test_microsofts_text_assembles_to_the_tokens(row: dict[str, Any]) -> None:
    """As far as six decimals go: every token but those of rounded constants is the same."""
    again = decode(assemble(row["asm"])).instructions
    for ours, theirs in zip(again, decode(bytes.fromhex(row["tokens"])).instructions, strict=True):
        constants = [word for operand in theirs.operands for word in operand.words]
        assert len(ours.words) == len(theirs.words)
        pairs = zip(ours.words, theirs.words, strict=True)
        assert all(a == b or b in constants for a, b in pairs)


@pytest.mark.parametrize("row", recorded(), ids=IDS)
def test_fields_of_a_recorded_instruction_make_its_tokens(row: dict[str, Any]) -> None:
    for instruction in decode(bytes.fromhex(row["tokens"])).instructions:
        assert instruction_words(instruction) == instruction.words


def lines(version: str, text: str) -> list[str]:
    code = code_of(version, *words_of(text))
    shown = disassemble(code)
    assert assemble(shown) == code
    return shown.splitlines()[1:]


def test_blocks_are_indented() -> None:
    text = (
        "vs_4_0\ndcl_temps 1\nloop\n    if_nz r0.x\n        break\n    else\n        continue\n"
        "    endif\nendloop\nswitch r0.x\n    case l(1)\n    case l(2)\n        nop\n    default\n"
        "        break\nendswitch\nret\n"
    )
    assert disassemble(assemble(text)) == text


def test_bits_without_a_spelling_are_shown_as_words() -> None:
    assert lines("vs_4_0", "0100083a") == ["dword 0x0100083a  // nop"]
    # A relative index with a base of zero has a shorter form.
    declared = "02000068 1 04000859 00208e46 0 1 "
    shown = lines("vs_4_0", declared + "08000036 00102012 0 06208e46 0 0 0010000a 0")
    assert shown[-1].endswith("// mov o0.x, cb0[r0.x + 0].xyzw")
    shown = lines("vs_4_0", declared + "07000036 00102012 0 04208e46 0 0010000a 0")
    assert shown[-1] == "mov o0.x, cb0[r0.x + 0].xyzw"


def test_custom_data_without_meaning_are_words() -> None:
    assert lines("ps_4_0", "00000035 b 1 2 3 4 5 6 7 8 9") == [
        "dword 0x00000035, 0x0000000b, 0x00000001, 0x00000002, 0x00000003, 0x00000004, "
        "0x00000005, 0x00000006  // customdata comment",
        "dword 0x00000007, 0x00000008, 0x00000009",
    ]


def test_custom_data_of_unknown_kind_are_words_too() -> None:
    assert lines("ps_4_0", "00003835 3 1") == [
        "dword 0x00003835, 0x00000003, 0x00000001  // customdata 7"
    ]


def test_surplus_word_of_samplepos_is_kept() -> None:
    declared = "02000068 1 04002058 00107000 0 5555 "
    shown = lines("ps_4_1", declared + "0800006e 001000f2 0 00107e46 0 4001 0 0")
    assert shown[-1].endswith("// samplepos r0.xyzw, t0.xyzw, l(0)")


def test_bytes_behind_the_program_are_kept() -> None:
    code = code_of("vs_4_0", 0x0100003E) + bytes(range(34))
    text = disassemble(code)
    assert text.splitlines()[2:] == ["raw " + bytes(range(32)).hex(" "), "raw 20 21"]
    assert assemble(text) == code
