"""The decoder: what it gives, and one error with its place for everything else."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import decode
from dp2emu.shader.sm4.enums import (
    Access,
    Interpolation,
    Precision,
    ReturnType,
    Sizes,
    SystemValue,
)
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Selection
from dp2emu.shader.sm4.registers import File
from tests.shader.sm4.making import code_of, packed, recorded, words_of

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
    ends = [each.offset + 4 * len(each.words) for each in program.instructions]
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


def test_components_of_operands_that_name_none() -> None:
    found = only("gs_4_0", TEMPS + "04000036 001000f2 0 0000b001")
    assert found.sources[0].selection is Selection.ONE
    assert found.sources[0].swizzle == (0, 0, 0, 0)
    found = only("ps_4_0", "04000036 0000c001 00004001 3f800000")
    assert (found.destinations[0].written, found.destinations[0].mask) == ((0,), 1)
    found = only("vs_4_0", TEMPS + "08000026 0000d000 00100012 0 0010000a 0 00004001 5")
    assert [each.file for each in found.destinations] == [File.NULL, File.TEMP]


def test_immediates_are_read_in_order_whatever_they_select() -> None:
    for selected in ("00004002", "00004e46", "00004036"):
        found = only("vs_4_0", f"08000036 001020f2 0 {selected} 1 2 3 4")
        assert found.sources[0].words == (1, 2, 3, 4)
        assert found.sources[0].swizzle == (0, 1, 2, 3)


def test_precision_and_modifiers_share_a_token() -> None:
    found = only("ps_5_0", "06000036 001020f2 0 80101e46 00004041 0")
    assert found.sources[0].precision is Precision.MIN16F
    assert found.sources[0].negate


def test_view_repeats_what_a_resource_is() -> None:
    found = only(
        "ps_5_0",
        "04001858 00107000 0 5555 0300005a 00106000 0 "
        + "8b000045 800000c2 00155543 001020f2 0 00101046 1 00107e46 0 00106000 0",
    )
    assert found.view is not None
    assert (found.view.dimension, found.view.stride) == (Dimension.TEXTURE2D, 0)
    assert found.view.returns == (ReturnType.FLOAT,) * 4


REFUSED = [
    ("vs_4_0", "010000ff", 8, "unknown opcode 255"),
    ("vs_4_0", "0100006b", 8, "unknown opcode 107"),
    ("vs_4_0", "0100006f", 8, "vs_4_0 has no sampleinfo"),
    ("vs_5_0", "01000013", 8, "vs_5_0 has no emit"),
    ("ps_4_0", "01000071", 8, "ps_4_0 has no hs_decls"),
    ("vs_4_0", "0000003a", 12, "the code ends early"),
    ("vs_4_0", "0000003a 1", 12, "1 DWORDs are no length of an instruction"),
    ("vs_4_0", "00000035 1", 12, "1 DWORDs are no length of an instruction"),
    ("vs_4_0", "00001835 fffffffe", 12, "the code ends within this instruction"),
    ("vs_4_0", "03000068 1 0", 8, "the length field is too large"),
    ("vs_4_0", "04000036 001020f2 0 00004001 0", 24, "the length field is too small"),
    ("vs_4_0", "05000036 00102002 0 00004001 0", 12, "nothing of o is written"),
    ("vs_4_0", "05000036 001020f2 20 00004001 0", 16, "o has no index 32"),
    ("ps_4_0", "05000036 001020f2 8 00004001 0", 16, "o has no index 8"),
    ("vs_4_0", "05000036 001050f2 0 00004001 0", 12, "vs_4_0 has no registers of type 5"),
    ("vs_4_0", "05000036 0012b0f2 0 00004001 0", 12, "vs_4_0 has no registers of type 43"),
    ("vs_4_0", "05000036 001010f2 0 00004001 0", 12, "mov has no v here"),
    ("vs_4_0", "06000036 002020f2 0 0 00004001 0", 12, "o has 1 indices, not 2"),
    ("gs_4_0", "05000036 001020f2 0 00101e46 0", 20, "v has 2 indices, not 1"),
    ("vs_4_0", "05000036 00102e46 0 00004001 0", 12, "cannot name its components like this"),
    ("vs_4_0", "04000036 0000de46 00004001 0", 12, "cannot name its components like this"),
    ("vs_4_0", "04000036 0000d0f2 00004001 0", 12, "cannot name its components like this"),
    ("vs_4_0", "05000036 00102000 0 00004001 0", 12, "cannot name its components like this"),
    ("vs_4_0", "05000036 001020f2 0 001010f2 0", 20, "cannot name its components like this"),
    ("vs_4_0", "05000036 001020f3 0 00004001 0", 12, "more than four components"),
    ("vs_4_0", "05000036 001020fe 0 00004001 0", 12, "by mask, by swizzle or one by one"),
    ("vs_4_0", "05000036 005020f2 0 00004001 0", 12, "1 is no representation of an index in use"),
    ("vs_4_0", "06000036 001020f2 0 80101e46 00000101 0", 24, "4 is no operand modifier"),
    ("vs_4_0", "06000036 001020f2 0 80101e46 0000c001 0", 24, "3 is no precision"),
    ("vs_4_0", TEMPS + "07000036 001000f2 0 04106e46 0 0010000a 0", 28, "mov has no s here"),
    ("vs_4_0", TEMPS + "06000036 00900012 0010000a 0 00004001 0", 20, "r cannot be indexed"),
    ("vs_4_0", TEMPS + "06000036 00902012 00100046 0 00004001 0", 24, "indexed by this r"),
    ("vs_4_0", TEMPS + "06000036 00902012 00107001 0 00004001 0", 24, "indexed by this t"),
    ("vs_4_0", TEMPS + "06000036 00902012 8010000a 0 00004001 0", 24, "indexed by this r"),
    ("vs_4_0", "08000036 00902012 0420800a 0 0010000a 0 00004001 0", 28, "an index is indexed"),
    ("vs_4_0", "8300003a 80000000 80000000 0100003a", 20, "the length field is too small"),
    ("vs_4_0", "8500003a 80000000 80000000 80000000 0", 20, "more than 3 extended opcode tokens"),
    ("vs_4_0", "8200003a 00000004", 12, "4 is no type of an extended opcode token"),
    ("ps_5_0", "8200003a 00000342", 12, "13 is not a valid Dimension"),
    ("ps_4_0", "0700183d 001020f2 0 4001 0 00107e46 0", 8, "resinfo cannot answer in type 3"),
]


@pytest.mark.parametrize(("version", "text", "offset", "what"), REFUSED)
def test_bad_token_is_refused_where_it_stands(
    version: str, text: str, offset: int, what: str
) -> None:
    with pytest.raises(ShaderError, match=what) as raised:
        decode(code_of(version, *words_of(text)))
    assert raised.value.offset == offset


@pytest.mark.parametrize("token", [0x51, 0x00030040, 0x00060050, 0xFFFE0300, 0x0001FF40, 0x10040])
def test_unknown_version_is_refused(token: int) -> None:
    with pytest.raises(ShaderError) as raised:
        decode(packed(token))
    known = token == 0x10040
    assert raised.value.offset == (4 if known else 0)
    assert ("ends early" if known else "is no shader version") in raised.value.what


@pytest.mark.parametrize("length", [0, 1, 4, 0xFFFFFFFF])
def test_length_that_is_not_that_of_the_code_is_refused(length: int) -> None:
    with pytest.raises(ShaderError, match="are not the length of this code") as raised:
        decode(packed(0x10040, length, 0x0100003E))
    assert raised.value.offset == 4


def test_programs_have_65536_instructions_at_most() -> None:
    nops = [0x0100003A] * 65536
    assert len(decode(code_of("vs_4_0", *nops)).instructions) == 65536
    with pytest.raises(ShaderError, match="more than 65536 instructions") as raised:
        decode(code_of("vs_4_0", *nops, 0x0100003A))
    assert raised.value.offset == 8 + 4 * 65536


def test_words_behind_the_operands_mean_nothing() -> None:
    found = only("vs_4_0", TEMPS + "07000036 001000f2 0 00004001 0 1 2")
    assert len(found.operands) == 2
    assert found.data == (1, 2)
