"""The decoder: what it gives, and one error with its place for everything else."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.shader.sm4 import decode
from dp2emu.shader.sm4.enums import (
    Access,
    Dimension,
    Interpolation,
    ReturnType,
    Sizes,
    SystemValue,
)
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Selection
from dp2emu.shader.sm4.registers import File
from tests.shader.sm4.making import code_of, recorded, words_of

TEMPS = "02000068 10 "
RESOURCES = "04001858 00107000 0 5555 0300005a 00106000 0 04000859 00208e46 2 10 "
DECLARED = TEMPS + RESOURCES
"""Sixteen temporaries, t0, s0 and cb2."""


def only(version: str, text: str) -> Instruction:
    return decode(code_of(version, *words_of(text))).instructions[-1]


@pytest.mark.parametrize("row", recorded(), ids=[row["shader"] for row in recorded()])
def test_recorded_program_is_cut_into_its_instructions(row: dict[str, Any]) -> None:
    code = bytes.fromhex(row["tokens"])
    program = decode(code)
    assert program.version.name == row["asm"].split("\n")[0]
    ends = [each.offset + 4 * len(each.tokens) for each in program.instructions]
    assert [8, *ends] == [each.offset for each in program.instructions] + [len(code)]
    assert program.trailing == b""
    assert decode(code + b"more").trailing == b"more"


def test_operands_have_files_components_and_modifiers() -> None:
    mad = only("ps_4_0", DECLARED + "0a002032 001020e2 3 80100e46 41 0 0010002a 1 4001 3f800000")
    assert (mad.op, mad.saturate) == (Op.MAD, True)
    assert mad.destinations == (Operand(File.OUTPUT, (Index(3),), Selection.MASK, (1, 2, 3)),)
    first, second, third = mad.sources
    assert (first.negate, first.absolute, first.swizzle) == (True, False, (0, 1, 2, 3))
    assert (second.selection, second.swizzle, second.number) == (Selection.SELECT, (2,) * 4, 1)
    assert (third.words, third.swizzle) == ((0x3F800000,), (0, 0, 0, 0))


def test_index_is_a_number_and_a_scalar() -> None:
    mov = only("vs_4_0", DECLARED + "08000036 001000f2 0 06208e46 2 7 0010001a 4")
    (source,) = mov.sources
    scalar = Operand(File.TEMP, (Index(4),), Selection.SELECT, (1,))
    assert source.indices == (Index(2), Index(7, scalar))


def test_declarations_say_what_they_say() -> None:
    resource = only("ps_4_0", "04001858 00107000 5 00005555").declaration
    assert resource is not None
    assert (resource.dimension, resource.samples) == (Dimension.TEXTURE2D, 0)
    assert resource.returns == (ReturnType.FLOAT,) * 4
    buffer = only("vs_4_0", "04000859 00208e46 3 10")
    assert buffer.declaration is not None
    assert buffer.declaration.access is Access.DYNAMIC_INDEXED
    assert [index.offset for index in buffer.operands[0].indices] == [3, 16]
    position = only("ps_4_0", "04002064 00101032 0 1").declaration
    assert position is not None
    assert position.interpolation is Interpolation.LINEAR_NOPERSPECTIVE
    assert position.name is SystemValue.POSITION
    array = only("vs_4_0", "04000069 3 8 2").declaration
    assert array is not None
    assert (array.number, array.count, array.components) == (3, 8, 2)


def test_opcode_token_tells_offsets_tests_and_sizes() -> None:
    assert only("ps_4_0", DECLARED + "0304000d 0010000a 0").nonzero
    assert only("ps_4_0", DECLARED + "0700103d 001000f2 0 4001 0 00107e46 0").sizes is Sizes.UINT
    sample = only(
        "ps_4_0", DECLARED + "8a000045 0001e201 001000f2 0 00101046 1 00107e46 0 00106000 0"
    )
    assert sample.texel == (1, -1, 0)
