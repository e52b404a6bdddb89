"""The decoder: what it gives, and one error with its place for everything else."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import DeclUsage
from dp2emu.errors import ShaderError
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.modifiers import Comparison, Sampling, SourceModifier, TextureType
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Comment, Declaration, Instruction, Relative
from dp2emu.shader.sm.registers import File, Register
from tests.shader.sm.making import END, code_of, packed, words_of


def only(version: str, text: str) -> Instruction:
    (instruction,) = decode(code_of(version, *words_of(text))).instructions
    return instruction


def test_instruction_has_all_its_parts() -> None:
    mad = only("ps_1_4", "00000004 81170002 84e40001 a0aa0000 811b0000")
    assert mad.op is Op.MAD
    target = mad.target
    assert (target.register, target.mask, target.shift) == (Register(File.TEMP, 2), 0b0111, 1)
    assert target.saturate and target.components == (0, 1, 2)
    modifiers = [source.modifier for source in mad.sources]
    assert modifiers == [SourceModifier.SIGN, SourceModifier.NONE, SourceModifier.NEG]
    assert mad.sources[0].swizzle == (0, 1, 2, 3)
    assert mad.sources[1].swizzle == (2, 2, 2, 2)
    assert mad.sources[2].swizzle == (3, 2, 1, 0)


def test_predicate_comes_before_the_sources() -> None:
    add = only("vs_2_x", "14000002 80010000 bdaa1000 80e40001 80e40002")
    assert add.predicate is not None
    assert add.predicate.register == Register(File.PREDICATE)
    assert add.predicate.modifier is SourceModifier.NOT
    assert [source.register.number for source in add.sources] == [1, 2]


def test_index_follows_the_operand_it_belongs_to() -> None:
    mov = only("vs_2_0", "04000002 800f0000 a0e42007 b0ff0000 80e40001")
    assert mov.sources[0].relative == Relative(Register(File.ADDR), 3)
    assert mov.sources[0].register.number == 7
    assert mov.sources[1].register == Register(File.TEMP, 1)


def test_index_goes_without_saying_before_2_0() -> None:
    mov = only("vs_1_1", "00000001 800f0000 a0e42007")
    assert mov.sources[0].relative == Relative(Register(File.ADDR), 0)


def test_comparison_and_sampling_are_read_from_the_control_bits() -> None:
    setp = only("vs_2_x", "0305005e b00f1000 80e40000 80e40001")
    assert setp.comparison is Comparison.NE
    texld = only("ps_2_0", "03020042 800f0000 b0e40000 a0e40801")
    assert (texld.comparison, texld.sampling) == (None, Sampling.BIAS)


def test_declarations_have_a_usage_a_texture_type_or_neither() -> None:
    assert only("vs_3_0", "0200001f 800a0001 900f0002").declaration == Declaration(
        DeclUsage.BLENDWEIGHT, 10
    )
    sampler = only("ps_2_0", "0200001f 98000000 a00f0802").declaration
    assert sampler == Declaration(texture=TextureType.D3DSTT_CUBE)
    assert only("ps_2_0", "0200001f 80030005 b00f0001").declaration == Declaration()


def test_constants_are_taken_as_they_are() -> None:
    assert only("vs_1_1", "00000051 a00f0000 1 fffe0101 ffff 7fc00001").constant == (
        1,
        0xFFFE0101,
        0xFFFF,
        0x7FC00001,
    )


def test_upper_float_constants_are_numbered_on() -> None:
    assert only("vs_2_sw", "02000001 800f0000 b0e40801").sources[0].register.number == 2049


def test_comments_are_kept_apart_with_their_offsets() -> None:
    shader = decode(code_of("vs_2_0", 0x0002FFFE, 0xFFFF, 2, 0, 0x0000FFFE))
    assert shader.comments == (Comment((0xFFFF, 2)), Comment(()))
    assert [comment.offset for comment in shader.comments] == [4, 20]
    assert [instruction.offset for instruction in shader.instructions] == [16]


def test_words_and_offset_of_an_instruction_are_kept() -> None:
    shader = decode(code_of("vs_1_1", 0, 1, 0x800F0000, 0x80E40001))
    assert [each.offset for each in shader.instructions] == [4, 8]
    assert shader.instructions[1].words == (1, 0x800F0000, 0x80E40001)


def test_what_follows_the_end_is_not_looked_at() -> None:
    assert decode(code_of("vs_1_1") + b"\xde\xad\xbe").trailing == b"\xde\xad\xbe"


def test_memory_of_any_kind_can_be_decoded() -> None:
    code = code_of("vs_1_1", 0)
    assert decode(memoryview(code)) == decode(bytearray(code)) == decode(code)


REFUSED = [
    ("vs_1_1", "00000001 800f0000", 12, "no parameter"),
    ("vs_1_1", "00000061", 4, "unknown opcode 97"),
    ("ps_1_1", "0000004b b00f0001 b0e40000", 4, "unknown opcode 75"),
    ("vs_1_1", "800f0000", 4, "is no instruction"),
    ("vs_1_1", "0100ffff", 4, "unknown opcode 65535"),
    ("vs_1_1", "00000020 800f0000 80e40000 80e40000", 4, "vs_1_1 has no D3DSIO_POW"),
    ("vs_2_0", "0301005e b00f1000 80e40000 80e40001", 4, "vs_2_0 has no D3DSIO_SETP"),
    ("vs_2_0", "01000001 800f0000 80e40001", 12, "length field is too small"),
    ("vs_2_0", "00000001 800f0000 80e40001", 8, "length field is too small"),
    ("vs_2_0", "03000001 800f0000 80e40001 80e40001", 4, "length field is too large"),
    ("vs_2_0", "0f000001 800f0000 80e40001", 4, "ends within this instruction"),
    ("vs_2_0", "03000051 a00f0000 0 0 0 0", 20, "length field is too small"),
    ("vs_3_0", "03000022 800f0000 80e40001 80e40002", 20, "length field is too small"),
    ("vs_2_0", "02000001 000f0000 80e40001", 8, "is no parameter"),
    ("vs_2_0", "02000001 800f0000 00e40001", 12, "is no parameter"),
    ("vs_2_0", "02000001 80000000 80e40001", 8, "its mask is empty"),
    ("vs_2_0", "02000001 800f000c 80e40001", 8, "vs_2_0 has no r12"),
    ("vs_2_0", "02000001 800f0000 a0e40100", 12, "vs_2_0 has no c256"),
    ("vs_2_0", "02000001 800f0000 90e40010", 12, "vs_2_0 has no v16"),
    ("ps_1_1", "00000001 800f0000 a0e40008", 12, "ps_1_1 has no c8"),
    ("vs_2_0", "02000001 800f0000 80e41800", 12, "no registers of type 24"),
    ("vs_2_0", "02000001 800f0000 a0e40800", 12, "no registers of type 10"),
    ("vs_2_0", "02000001 800f0000 b0e40800", 12, "vs_2_0 has no c2048"),
    ("vs_2_0", "02000001 a00f0000 80e40001", 8, "c0 cannot be written here"),
    ("vs_2_0", "02000001 b0010000 80e40001", 8, "a0 cannot be written here"),
    ("vs_2_0", "0200002e 800f0000 80e40001", 8, "r0 cannot be written here"),
    ("ps_1_4", "00000001 b00f0000 80e40001", 8, "t0 cannot be written here"),
    ("vs_2_0", "02000001 800f0000 c0e40000", 12, "oPos cannot be read here"),
    ("vs_2_0", "02000001 800f0000 b0e40000", 12, "a0 cannot be read here"),
    ("vs_2_0", "02000001 800f0000 f0e40800", 12, "aL cannot be read here"),
    ("ps_2_0", "03000042 800f0000 b0e40000 a0e40000", 16, "c0 cannot be read here"),
    ("vs_1_1", "00000014 800f0000 90e40000 a0e400fd", 16, "no 4 registers from c253"),
    ("vs_1_1", "00000018 80030000 90e40000 80e4000b", 16, "no 2 registers from r11"),
    ("vs_2_0", "02000001 800f0000 82e40001", 12, "r registers have no source modifier 2"),
    ("vs_2_0", "02000001 800f0000 8be40001", 12, "no source modifier 11"),
    ("vs_2_0", "02000001 800f0000 8ee40001", 12, "no source modifier 14"),
    ("vs_2_0", "02000001 800f0000 8de40001", 12, "no source modifier 13"),
    ("ps_1_3", "00000001 800f0000 87e40001", 12, "no source modifier 7"),
    ("vs_2_0", "01000028 e1e40800", 8, "b registers have no source modifier 1"),
    ("vs_2_0", "01000019 a1e41000", 8, "l registers have no source modifier 1"),
    ("vs_2_0", "02000001 810f0000 80e40001", 8, "vs_2_0 has no result shift 1"),
    ("ps_1_1", "00000001 840f0000 80e40001", 8, "ps_1_1 has no result shift 4"),
    ("vs_2_x", "03000029 80000000 80000001", 4, "0 is no comparison"),
    ("vs_2_x", "02070029 80000000 80000001", 4, "7 is no comparison"),
    ("ps_2_0", "03030042 800f0000 b0e40000 a0e40801", 4, "3 is no way of sampling"),
    ("vs_2_0", "13000001 800f0000 b0e41000 80e40001", 4, "vs_2_0 has no predicate"),
    ("vs_2_x", "1000002b", 4, "D3DSIO_ENDIF cannot be predicated"),
    ("vs_2_x", "13000001 800f0000 80e40000 80e40001", 12, "r0 cannot be read here"),
    ("vs_2_x", "13000001 800f0000 b0e41001 80e40001", 12, "vs_2_x has no p1"),
    ("vs_2_x", "13000001 800f0000 b1e41000 80e40001", 12, "no source modifier 1"),
    ("vs_1_1", "40000001 800f0000 80e40001", 4, "vs_1_1 has no co-issue"),
    ("vs_2_0", "0200001f 8000000e 900f0000", 8, "14 is no usage"),
    ("ps_2_0", "0200001f a8000000 a00f0800", 8, "5 is no texture type"),
    ("ps_2_0", "0200001f 00000000 b00f0000", 8, "is no parameter"),
    ("ps_2_0", "0200001f 80000000 800f0000", 12, "r0 cannot be written here"),
    ("vs_1_1", "00000001 800f0000 80e42000", 12, "r0 cannot be indexed in vs_1_1"),
    ("vs_1_0", "00000001 800f0000 a0e42000", 12, "c0 cannot be indexed in vs_1_0"),
    ("vs_2_0", "03000001 800f0000 90e42000 b0000000", 12, "v0 cannot be indexed in vs_2_0"),
    ("ps_3_0", "03000001 800f0000 a0e42000 f0e40800", 12, "c0 cannot be indexed in ps_3_0"),
    ("vs_3_0", "03000001 e00f2000 b0000000 80e40000", 12, "o0 cannot be indexed by this"),
    ("vs_2_0", "03000001 800f0000 a0e42000 80000000", 16, "c0 cannot be indexed by this"),
    ("vs_2_0", "03000001 800f0000 a0e42000 b0002000", 16, "c0 cannot be indexed by this"),
    ("vs_2_0", "03000001 800f0000 a0e42000 b0000001", 16, "c0 cannot be indexed by this"),
    ("vs_2_0", "03000001 800f0000 a0e42000 30000000", 16, "is no parameter"),
]


@pytest.mark.parametrize(("version", "text", "offset", "what"), REFUSED)
def test_bad_token_is_refused_where_it_stands(
    version: str, text: str, offset: int, what: str
) -> None:
    with pytest.raises(ShaderError, match=what) as raised:
        decode(code_of(version, *words_of(text)))
    assert raised.value.offset == offset


@pytest.mark.parametrize("size", range(4))
def test_code_without_a_version_is_refused(size: int) -> None:
    with pytest.raises(ShaderError, match="ends early") as raised:
        decode(code_of("vs_1_1")[:size])
    assert raised.value.offset == 0


@pytest.mark.parametrize("token", [0, END, 0xFFFE0102, 0xFFFE0301, 0xFFFD0200, 0xFFFF0105])
def test_unknown_version_is_refused(token: int) -> None:
    with pytest.raises(ShaderError, match=f"{token:#010x} is no shader version") as raised:
        decode(packed(token, END))
    assert raised.value.offset == 0


def test_every_cut_is_refused_at_the_end_of_the_code_or_before() -> None:
    words = words_of("00000051 a00f0000 0 0 0 0 0001fffe 2 00000002 800f0000 90e40000 a0e42002")
    code = code_of("vs_1_1", *words)
    for size in range(len(code)):
        with pytest.raises(ShaderError) as raised:
            decode(code[:size])
        assert raised.value.offset is not None and raised.value.offset <= size


def test_mask_does_not_matter_where_nothing_is_written() -> None:
    assert only("ps_2_0", "01000041 80000000").op is Op.TEXKILL
    assert only("ps_2_0", "0200001f 90000000 a0000800").op is Op.DCL


def test_reserved_bits_and_lengths_before_2_0_do_not_matter() -> None:
    assert only("vs_1_1", "23000001 800fc000 80e4c001") == only(
        "vs_1_1", "00000001 800f0000 80e40001"
    )
