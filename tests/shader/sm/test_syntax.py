"""Single instructions: text to tokens, tokens to text, and what cannot be read."""

from __future__ import annotations

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.assemble import instruction_of
from dp2emu.shader.sm.disassemble import text_of
from dp2emu.shader.sm.encode import instruction_words
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.versions import BY_NAME, VERSIONS
from tests.shader.sm.instructions import INSTRUCTIONS
from tests.shader.sm.making import words_of


def words(text: str, version: str) -> tuple[int, ...]:
    return instruction_words(instruction_of(text, BY_NAME[version]), BY_NAME[version])


@pytest.mark.parametrize(("version", "text", "tokens"), INSTRUCTIONS)
def test_text_becomes_the_tokens_of_the_bit_tables(version: str, text: str, tokens: str) -> None:
    assert words(text, version) == words_of(tokens)


@pytest.mark.parametrize(("version", "text", "tokens"), INSTRUCTIONS)
def test_instruction_is_written_as_it_was_read(version: str, text: str, tokens: str) -> None:
    assert text_of(instruction_of(text, BY_NAME[version]), BY_NAME[version]) == text


@pytest.mark.parametrize(
    ("version", "spelled", "standard"),
    [
        ("vs_2_0", "MOV R0.XYZ, -C1.WZYX", "mov r0.xyz, -c1.wzyx"),
        ("vs_2_0", "mov r0 , v0.xy", "mov r0, v0.xyyy"),
        ("vs_2_0", "mov r0.rgb, c[3].a", "mov r0.xyz, c3.w"),
        ("vs_2_0", "mov r0, c[2+a0.z]", "mov r0, c[a0.z + 2]"),
        ("vs_2_0", "mov r0, c4[a0.z + 1]", "mov r0, c[a0.z + 5]"),
        ("vs_2_0", "mov r0, c[a0]", "mov r0, c[a0.x]"),
        ("vs_2_0", "loop al,i0", "loop aL, i0"),
        ("vs_2_0", "mov OPOS, v0.xyzw", "mov oPos, v0"),
        ("vs_2_0", "def c0, 1, +2.5, 1.0f, -3", "def c0, 1.0, 2.5, 1.0, -3.0"),
        ("vs_2_0", "def c0, 1e2, inf, -inf, .5", "def c0, 100.0, inf, -inf, 0.5"),
        ("vs_2_0", "def c0, 0, 0, 0, NaN(0x7FC00001)", "def c0, 0.0, 0.0, 0.0, nan(0x7fc00001)"),
        ("vs_2_0", "defi i0, 0xff, +1, 0, -2147483648", "defi i0, 255, 1, 0, -2147483648"),
        ("vs_2_0", "defb b0, 1", "defb b0, true"),
        ("vs_2_0", "defb b0, 0x80000000", "defb b0, 0x80000000"),
        ("vs_2_0", "dcl_position0 v0", "dcl_position v0"),
        ("vs_2_0", "DCL_TexCoord15 v0", "dcl_texcoord15 v0"),
        ("vs_2_x", "( ! p0.x ) mov r0, r1", "(!p0.x) mov r0, r1"),
        ("ps_1_1", "+mov r0.w, 1 - t0.b", "+ mov r0.a, 1-t0.b"),
        ("ps_1_1", "mov_sat_x4 r0, r1.a_bias", "mov_x4_sat r0, r1_bias.a"),
        ("ps_1_4", "texld r0, t0_da.xyw", "texld r0, t0_dw.rgaa"),
        ("ps_1_4", "texld r0, r1_db.xyz", "texld r0, r1_dz.rgbb"),
        ("ps_3_0", "setp_lt_pp p0, r0, r1", "setp_lt_pp p0, r0, r1"),
    ],
)
def test_conventional_spellings_are_read(version: str, spelled: str, standard: str) -> None:
    assert text_of(instruction_of(spelled, BY_NAME[version]), BY_NAME[version]) == standard


@pytest.mark.parametrize(
    ("version", "text", "what"),
    [
        ("vs_2_0", "!", "is no instruction"),
        ("vs_2_0", "frob r0, r1", "vs_2_0 has no frob"),
        ("vs_2_0", "texld r0, r1, s0", "vs_2_0 has no texld"),
        ("vs_2_0", "if_gt r0.x, r1.x", "no suffix _gt"),
        ("vs_2_x", "if_xx r0.x, r1.x", "no suffix _xx"),
        ("vs_2_0", "mov_frob r0, r1", "no suffix _frob"),
        ("vs_2_0", "endif_sat", "no flags"),
        ("vs_2_0", "mov r0", "mov has 2 operands, not 1"),
        ("vs_2_0", "ret r0", "ret has 0 operands, not 1"),
        ("vs_3_0", "sgn r0, r1, r2", "sgn has 2 operands, not 3"),
        ("vs_2_0", "mov r0,", "is no operand"),
        ("vs_2_0", "mov r12, r1", "vs_2_0 has no r12"),
        ("vs_2_0", "mov r0, c256", "vs_2_0 has no c256"),
        ("vs_2_0", "mov r0, c[a0.x + 256]", "vs_2_0 has no c256"),
        ("vs_2_0", "mov r0, c99999", "vs_2_0 has no c99999"),
        ("vs_2_0", "mov r0, q0", "vs_2_0 has no q0"),
        ("vs_2_0", "mov r0, c[a0.x + aL]", "is no index"),
        ("vs_2_0", "mov r0, c[1 + 2]", "is no index"),
        ("vs_2_0", "mov r0, c[aL.x]", "is no index"),
        ("vs_2_0", "mov r0, c[a0.xy]", "is no index"),
        ("vs_2_0", "mov r0, c[]", "has no"),
        ("vs_1_1", "mov r0, c[a0.y]", "a0.x only"),
        ("vs_1_1", "mov r0, c[aL]", "vs_1_1 has no al"),
        ("vs_2_0", "mov -r0, r1", "cannot be written"),
        ("vs_2_0", "mov r0.yx, r1", "out of order"),
        ("vs_2_0", "mov r0.xx, r1", "out of order"),
        ("vs_2_0", "mov r0, r1.xyzwx", "no components"),
        ("vs_2_0", "mov r0, r1.xg", "no components"),
        ("vs_2_0", "mov r0, r1.x.y", "two swizzles"),
        ("ps_1_1", "mov r0, 1-r1_bias", "exclude each other"),
        ("ps_1_1", "mov r0, r1_bias_bx2", "two swizzles or modifiers"),
        ("vs_2_0", "def c0, 1, 2, 3, x", "x is no float"),
        ("vs_2_0", "def c0, 1, 2, 3, 1e39", "1e39 is no float"),
        ("vs_2_0", "def c0, 1, 2, 3", "def has 5 operands, not 4"),
        ("vs_2_0", "defi i0, 4294967296, 0, 0, 0", "is no 32-bit integer"),
        ("vs_2_0", "defb b0, maybe", "is no 32-bit integer"),
        ("vs_2_0", "dcl v0", "is no usage"),
        ("vs_2_0", "dcl_frob v0", "frob is no usage"),
        ("vs_2_0", "dcl_texcoord16 v0", "is no usage"),
        ("vs_2_0", "dcl_position_color v0", "as two things"),
        ("ps_2_0", "dcl_texcoord t0", "without a usage"),
        ("ps_2_0", "dcl_4d s0", "is no texture type"),
        ("vs_2_0", "mov r0, \N{LATIN SMALL LETTER E WITH ACUTE}", "is no operand"),
    ],
)
def test_error_says_what_cannot_be_read(version: str, text: str, what: str) -> None:
    with pytest.raises(ShaderError, match=what):
        instruction_of(text, BY_NAME[version])


def test_every_kind_of_opcode_is_among_the_hand_made_ones() -> None:
    tried = [instruction_of(text, BY_NAME[version]).op.row for version, text, _ in INSTRUCTIONS]
    kinds = {(row.group, row.control, row.raw) for row in tried}
    assert {(op.row.group, op.row.control, op.row.raw) for op in Op} <= kinds


def test_every_version_has_a_plain_move() -> None:
    for version in VERSIONS:
        assert text_of(instruction_of("mov r0, r1", version), version) == "mov r0, r1"
