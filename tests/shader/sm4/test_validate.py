"""Rules of a program as a whole: what is refused, at the line that breaks them."""

from __future__ import annotations

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.calls import CALLED
from dp2emu.shader.sm4 import assemble, decode, phases
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.registers import File

STRUCTURED = "dcl_resource_structured t0, 16"
TEXTURE = "dcl_resource_texture2d (float,float,float,float) t0"

REFUSED = [
    ("vs_4_0", 2, "if is not closed", "if_nz l(1)", "nop"),
    ("vs_4_0", 2, "loop is not closed", "loop", "break"),
    ("vs_4_0", 2, "switch is not closed", "switch l(1)", "case l(1)"),
    ("vs_4_0", 2, "endif closes nothing", "endif"),
    ("vs_4_0", 3, "endloop closes nothing", "if_z l(1)", "endloop"),
    ("vs_4_0", 3, "endswitch closes nothing", "loop", "endswitch", "endloop"),
    ("vs_4_0", 2, "else without if", "else"),
    ("vs_4_0", 4, "else without if", "if_z l(1)", "else", "else", "endif"),
    ("vs_4_0", 3, "else without if", "loop", "else", "endloop"),
    ("vs_4_0", 2, "break outside of loop and switch", "break"),
    ("vs_4_0", 3, "breakc outside of loop and switch", "if_z l(1)", "breakc_z l(0)", "endif"),
    ("vs_4_0", 2, "continue outside of a loop", "continue"),
    ("vs_4_0", 4, "continuec outside of a loop", "switch l(1)", "default", "continuec_z l(0)"),
    ("vs_4_0", 2, "case outside of switch", "case l(1)"),
    ("vs_4_0", 5, "default outside of switch", "switch l(1)", "default", "loop", "default"),
    ("vs_4_0", 3, "switch begins with a case", "switch l(1)", "nop", "endswitch"),
    ("vs_4_0", 4, "a second case 7", "switch l(1)", "case l(7)", "case l(7)"),
    ("vs_4_0", 4, "a second default", "switch l(1)", "default", "default"),
    ("vs_4_0", 66, "blocks nest deeper than 64", *["loop"] * 65),
    ("vs_4_0", 2, "there is no label l3", "call l3"),
    ("vs_4_0", 2, "a label may only follow ret", "label l0"),
    ("vs_4_0", 5, "l0 is a label already", "ret", "label l0", "ret", "label l0", "ret"),
    ("vs_4_0", 4, "l0 calls itself", "ret", "label l0", "call l0", "ret"),
    ("vs_4_0", 7, "l0 calls itself", "ret", "label l0", "call l1", "ret", "label l1", "call l0"),
    ("vs_4_0", 2, "r[0] is not declared", "mov r0.x, l(0)"),
    ("vs_4_0", 3, "r[1] is not declared", "dcl_temps 1", "mov r1.x, l(0)"),
    (
        "vs_4_0",
        3,
        "r[2] is not declared",
        "dcl_constantbuffer cb0[1], dynamicIndexed",
        "mov o0.x, cb0[r2.x + 0].x",
    ),
    ("vs_4_0", 3, "temporaries are declared twice", "dcl_temps 1", "dcl_temps 2"),
    ("vs_4_0", 2, "x[0][1] is not declared", "mov x0[1].x, l(0)"),
    ("vs_4_0", 3, "x[0][4] is not declared", "dcl_indexableTemp x0[4], 4", "mov x0[4].x, l(0)"),
    (
        "vs_4_0",
        3,
        "x0 is declared twice",
        "dcl_indexableTemp x0[4], 4",
        "dcl_indexableTemp x0[4], 4",
    ),
    ("vs_4_0", 3, "more than 4096 temporaries", "dcl_temps 1", "dcl_indexableTemp x0[4096], 4"),
    ("vs_4_0", 2, "dcl_temps of 4097", "dcl_temps 4097"),
    ("vs_4_0", 2, "dcl_indexabletemp of 0", "dcl_indexableTemp x0[0], 4"),
    ("vs_4_0", 2, "rows of 5 components", "dcl_indexableTemp x0[1], 5"),
    ("vs_4_0", 2, "cb[1][0] is not declared", "mov o0.x, cb1[0].x"),
    ("vs_4_0", 2, "icb[0] is not declared", "mov o0.x, icb[0].x"),
    (
        "vs_4_0",
        3,
        "a second immediate constant buffer",
        *["dcl_immediateConstantBuffer { { 0, 0, 0, 0 } }"] * 2,
    ),
    (
        "vs_4_0",
        2,
        "3 DWORDs of immediate constants",
        "dcl_immediateConstantBuffer { { 0, 0, 0 } }",
    ),
    ("ps_4_0", 3, "t0 is declared twice", TEXTURE, TEXTURE),
    ("ps_4_0", 3, "s[0] is not declared", TEXTURE, "sample o0.x, v0.xyxx, t0.xyzw, s0"),
    (
        "ps_4_0",
        3,
        "t[0] is not declared",
        "dcl_sampler s0, mode_default",
        "sample o0.x, v0.xyxx, t0.xyzw, s0",
    ),
    ("ps_4_0", 3, "ldms of texture2d t0", TEXTURE, "ldms o0.x, v0.xyxx, t0.xyzw, l(0)"),
    ("ps_5_0", 3, "ld of structured_buffer t0", STRUCTURED, "ld o0.x, v0.xyxx, t0.xyzw"),
    (
        "ps_5_0",
        3,
        "ld_structured of texture2d t0",
        TEXTURE,
        "ld_structured o0.x, l(0), l(0), t0.xyzw",
    ),
    ("ps_5_0", 2, "a stride of 6 bytes", "dcl_resource_structured t0, 6"),
    ("ps_5_0", 2, "a stride of 0 bytes", "dcl_uav_structured u0, 0"),
    ("ps_5_0", 2, "a stride of 2052 bytes", "dcl_uav_structured u0, 2052"),
    ("vs_4_0", 2, "a range of 0 registers", "dcl_indexrange v0.xyzw 0"),
    ("vs_4_0", 2, "a range of 31 registers", "dcl_indexrange v2.xyzw 31"),
    ("gs_4_0", 2, "dcl_maxout of 1025", "dcl_maxout 1025"),
    ("gs_5_0", 2, "dcl_gsinstances of 33", "dcl_gsinstances 33"),
    ("gs_5_0", 2, "dcl_gsinstances of 0", "dcl_gsinstances 0"),
    ("cs_5_0", 2, "0 threads in a group", "dcl_thread_group 8, 0, 1"),
    ("cs_5_0", 2, "1028 threads in a group", "dcl_thread_group 257, 4, 1"),
    ("cs_5_0", 2, "more than 32768 bytes of shared memory", "dcl_tgsm_structured g0, 16, 2049"),
    ("cs_5_0", 2, "more than 32768 bytes of shared memory", "dcl_tgsm_raw g0, 32772"),
    ("ps_5_0", 2, "2 functions, not 3", "dcl_function_table ft0, 3 { 0, 1 }"),
    ("hs_5_0", 2, "a hull shader begins with a phase", "dcl_temps 1"),
    ("hs_5_0", 4, "hs_fork_phase is out of place", "hs_decls", "hs_join_phase", "hs_fork_phase"),
    ("hs_5_0", 3, "hs_decls is out of place", "hs_decls", "hs_decls"),
    ("hs_5_0", 3, "hs_control_point_phase is out of place", *["hs_control_point_phase"] * 2),
    ("hs_5_0", 3, "only declarations are in hs_decls", "hs_decls", "ret"),
    (
        "hs_5_0",
        4,
        "dcl_input_control_point_count of 33",
        "hs_decls",
        "dcl_temps 1",
        "dcl_input_control_point_count 33",
    ),
    (
        "hs_5_0",
        3,
        "dcl_hs_fork_phase_instance_count of 0",
        "hs_fork_phase",
        "dcl_hs_fork_phase_instance_count 0",
    ),
    (
        "hs_5_0",
        5,
        "r[0] is not declared",
        "hs_fork_phase",
        "dcl_temps 1",
        "hs_fork_phase",
        "mov o0.x, r0.x",
    ),
]


@pytest.mark.parametrize(
    ("version", "line", "what", "lines"), [(v, n, w, t) for v, n, w, *t in REFUSED]
)
def test_broken_rule_is_refused_where_it_is_broken(
    version: str, line: int, what: str, lines: list[str]
) -> None:
    with pytest.raises(ShaderError) as raised:
        assemble("\n".join([version, *lines]))
    assert str(raised.value) == f"line {line}: {what}"


ACCEPTED = [
    ("vs_4_0",),
    ("hs_5_0",),
    ("vs_4_0", "ret", "nop"),
    ("vs_4_0", "if_z l(1)", "ret", "endif", "ret"),
    ("vs_4_0", "loop", "switch l(1)", "case l(1)", "default", "continue", "endswitch", "endloop"),
    ("vs_4_0", "switch l(1)", "case l(1)", "nop", "case l(2)", "break", "endswitch"),
    ("vs_4_0", "switch l(1)", "endswitch"),
    ("vs_4_0", "call l9", "ret", "label l9", "retc_nz l(1)"),
    ("vs_4_0", *["loop"] * 64, *["endloop"] * 64),
    ("vs_4_0", "dcl_temps 4095", "dcl_indexableTemp x0[1], 4", "mov r4094.x, x0[0].x"),
    ("vs_4_0", "dcl_constantbuffer cb0[1], immediateIndexed", "mov o0.x, cb0[9].x"),
    ("vs_4_0", "mov o5.x, v7.x"),
    ("ps_4_1", "samplepos o0.x, rasterizer, l(0)"),
    (
        "hs_5_0",
        "hs_decls",
        "dcl_constantbuffer cb0[1], immediateIndexed",
        "hs_fork_phase",
        "mov o0.x, cb0[0].x",
        "ret",
        "hs_fork_phase",
        "ret",
        "hs_join_phase",
        "ret",
    ),
]


@pytest.mark.parametrize("lines", ACCEPTED)
def test_what_has_a_meaning_is_accepted(lines: tuple[str, ...]) -> None:
    assemble("\n".join(lines))


def chain(length: int) -> str:
    """Subroutines that call the next one."""
    bodies = [f"ret\nlabel l{i}\ncall l{i + 1}" for i in range(length - 1)]
    return "\n".join(["vs_4_0", "call l0", *bodies, f"ret\nlabel l{length - 1}", "ret"])


def test_calls_nest_32_deep() -> None:
    assemble(chain(32))
    with pytest.raises(ShaderError, match="calls nest deeper than 32"):
        assemble(chain(33))


def test_calls_stand_for_a_bounded_number_of_instructions() -> None:
    bodies = [f"ret\nlabel l{i}\n" + f"call l{i + 1}\n" * 8 for i in range(5)]
    text = "\n".join(["vs_4_0", "call l0", *bodies, "ret\nlabel l5", "ret"])
    with pytest.raises(ShaderError, match=f"calls of more than {CALLED} instructions"):
        assemble(text)


def test_program_is_cut_into_phases_and_routines() -> None:
    text = "hs_5_0\nhs_decls\ndcl_temps 1\nhs_fork_phase\ncall l1\nret\nlabel l1\nnop\nret"
    first, second = phases(decode(assemble(text)))
    assert first.marker is not None and first.marker.op is Op.HS_DECLS
    assert [each.op for each in first.declarations] == [Op.DCL_TEMPS]
    assert [each.op for each in second.main] == [Op.CALL, Op.RET]
    routine = second.subroutines[File.LABEL, 1]
    assert [each.op for each in routine] == [Op.NOP, Op.RET]
    (only,) = phases(decode(assemble("ps_4_0\ndcl_temps 1\nnop")))
    assert only.marker is None
    assert [each.op for each in only.main] == [Op.NOP]
