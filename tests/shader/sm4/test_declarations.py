"""Declarations: the bits of each, and the line that says them."""

from __future__ import annotations

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.sm4 import assemble, disassemble
from dp2emu.shader.sm4.opcodes import Op
from tests.shader.sm4.making import code_of

T, U, S, G, M = 0x107000, 0x11E000, 0x106000, 0x11F000, 0x110000
CB, V, OUT, V_GS = 0x208E46, 0x1010F2, 0x1020F2, 0x2010F2
FLOATS, UINTS = 0x5555, 0x4444

ROWS: list[tuple[str, tuple[int, ...], str]] = [
    ("ps_4_0", (88 | 1 << 11, T, 0, FLOATS), "dcl_resource_buffer (float,float,float,float) t0"),
    ("ps_4_0", (88 | 3 << 11, T, 7, 0x4321), "dcl_resource_texture2d (unorm,snorm,sint,uint) t7"),
    (
        "ps_4_0",
        (88 | 4 << 11 | 8 << 16, T, 1, 0x9876),
        "dcl_resource_texture2dms(8) (mixed,double,continued,unused) t1",
    ),
    (
        "ps_4_1",
        (88 | 10 << 11, T, 0, UINTS),
        "dcl_resource_texturecubearray (uint,uint,uint,uint) t0",
    ),
    ("vs_4_0", (89, CB, 3, 16), "dcl_constantbuffer cb3[16], immediateIndexed"),
    ("vs_4_0", (89 | 1 << 11, CB, 14, 4096), "dcl_constantbuffer cb14[4096], dynamicIndexed"),
    ("ps_4_0", (90, S, 0), "dcl_sampler s0, mode_default"),
    ("ps_4_0", (90 | 1 << 11, S, 15), "dcl_sampler s15, mode_comparison"),
    ("ps_4_0", (90 | 2 << 11, S, 1), "dcl_sampler s1, mode_mono"),
    ("vs_4_0", (91, V, 2, 4), "dcl_indexrange v2.xyzw 4"),
    ("gs_4_0", (91, V_GS, 3, 2, 4), "dcl_indexrange v[3][2].xyzw 4"),
    ("gs_4_0", (92 | 1 << 11,), "dcl_outputtopology pointlist"),
    ("gs_4_0", (92 | 3 << 11,), "dcl_outputtopology linestrip"),
    ("gs_4_0", (92 | 5 << 11,), "dcl_outputtopology trianglestrip"),
    ("gs_4_0", (93 | 6 << 11,), "dcl_inputprimitive lineadj"),
    ("gs_5_0", (93 | 39 << 11,), "dcl_inputprimitive patch32"),
    ("gs_4_0", (94, 24), "dcl_maxout 24"),
    ("vs_4_0", (95, V, 1), "dcl_input v1.xyzw"),
    ("gs_4_0", (95, 0xB000), "dcl_input vPrim"),
    ("cs_5_0", (95, 0x20032), "dcl_input vThreadID.xy"),
    ("vs_4_0", (96, 0x101012, 1, 6), "dcl_input_sgv v1.x, vertex_id"),
    ("gs_4_0", (97, V_GS, 6, 0, 1), "dcl_input_siv v[6][0].xyzw, position"),
    ("ps_4_0", (98 | 2 << 11, V, 1), "dcl_input_ps linear v1.xyzw"),
    ("ps_4_1", (98 | 7 << 11, V, 1), "dcl_input_ps linear noperspective sample v1.xyzw"),
    ("ps_4_0", (99 | 1 << 11, 0x101012, 1, 9), "dcl_input_ps_sgv v1.x, is_front_face"),
    ("ps_4_0", (99 | 2 << 11, 0x101012, 1, 7), "dcl_input_ps_sgv linear v1.x, primitive_id"),
    (
        "ps_4_0",
        (100 | 4 << 11, V, 0, 1),
        "dcl_input_ps_siv linear noperspective v0.xyzw, position",
    ),
    ("vs_4_0", (101, OUT, 1), "dcl_output o1.xyzw"),
    ("ps_4_0", (101, 0xC001), "dcl_output oDepth"),
    ("ps_4_1", (101, 0xF000), "dcl_output oMask"),
    ("ps_5_0", (95, 0x23001), "dcl_input vCoverage"),
    ("ps_5_0", (101, 0x26001), "dcl_output oDepthGE"),
    ("hs_5_0", (95, 0x16000), "dcl_input vOutputControlPointID"),
    ("gs_4_0", (102, 0x102012, 2, 7), "dcl_output_sgv o2.x, primitive_id"),
    ("vs_4_0", (103, 0x102032, 2, 3), "dcl_output_siv o2.xy, cull_distance"),
    ("vs_4_0", (104, 7), "dcl_temps 7"),
    ("vs_4_0", (105, 1, 9, 3), "dcl_indexableTemp x1[9], 3"),
    ("ps_5_0", (106 | 5 << 11,), "dcl_globalFlags refactoringAllowed | forceEarlyDepthStencil"),
    (
        "ps_5_0",
        (106 | 0x1FA << 11,),
        "dcl_globalFlags enableDoublePrecisionFloatOps | enableRawAndStructuredBuffers | "
        "skipOptimization | enableMinimumPrecision | enable11_1DoubleExtensions | "
        "enable11_1ShaderExtensions | allResourcesBound",
    ),
    ("ps_5_0", (106,), "dcl_globalFlags"),
    ("gs_5_0", (143, M, 3), "dcl_stream m3"),
    ("ps_5_0", (144, 5), "dcl_function_body fb5"),
    ("ps_5_0", (145, 2, 3, 7, 8, 9), "dcl_function_table ft2, 3 { 7, 8, 9 }"),
    (
        "ps_5_0",
        (146 | 1 << 11, 1, 4, 0x20001, 0),
        "dcl_interface fp1, dynamicIndexed, 4 { 131073, 0 }",
    ),
    ("hs_5_0", (147 | 3 << 11,), "dcl_input_control_point_count 3"),
    ("hs_5_0", (148 | 32 << 11,), "dcl_output_control_point_count 32"),
    ("hs_5_0", (149 | 1 << 11,), "dcl_tessellator_domain domain_isoline"),
    ("ds_5_0", (149 | 3 << 11,), "dcl_tessellator_domain domain_quad"),
    ("hs_5_0", (150 | 4 << 11,), "dcl_tessellator_partitioning partitioning_fractional_even"),
    ("hs_5_0", (151 | 4 << 11,), "dcl_tessellator_output_primitive output_triangle_ccw"),
    ("hs_5_0", (152, 0x42800000), "dcl_hs_max_tessfactor l(64.0)"),
    ("hs_5_0", (153, 4), "dcl_hs_fork_phase_instance_count 4"),
    ("hs_5_0", (154, 2), "dcl_hs_join_phase_instance_count 2"),
    ("cs_5_0", (155, 8, 4, 1), "dcl_thread_group 8, 4, 1"),
    ("cs_5_0", (156 | 1 << 11, U, 0, UINTS), "dcl_uav_typed_buffer (uint,uint,uint,uint) u0"),
    (
        "ps_5_0",
        (156 | 3 << 11 | 3 << 16, U, 2, UINTS),
        "dcl_uav_typed_texture2d_glc_rov (uint,uint,uint,uint) u2",
    ),
    ("cs_5_0", (157 | 1 << 16, U, 1), "dcl_uav_raw_glc u1"),
    ("cs_5_0", (158 | 1 << 23, U, 1, 16), "dcl_uav_structured_opc u1, 16"),
    ("cs_5_0", (159, G, 0, 64), "dcl_tgsm_raw g0, 64"),
    ("cs_5_0", (160, G, 0, 16, 4), "dcl_tgsm_structured g0, 16, 4"),
    ("cs_4_0", (161, T, 3), "dcl_resource_raw t3"),
    ("cs_4_0", (162, T, 3, 32), "dcl_resource_structured t3, 32"),
    ("gs_5_0", (206, 4), "dcl_gsinstances 4"),
]
"""A version, the tokens without their length, and the line."""


@pytest.mark.parametrize(("version", "words", "line"), ROWS, ids=[row[2] for row in ROWS])
def test_declaration_reads_as_a_line(version: str, words: tuple[int, ...], line: str) -> None:
    marker = (0x01000073,) if version == "hs_5_0" else ()
    code = code_of(version, *marker, words[0] | len(words) << 24, *words[1:])
    assert disassemble(code).splitlines()[-1] == line
    assert assemble(disassemble(code)) == code


def test_every_declaration_is_among_them() -> None:
    declared = {op for op in Op if op.row.declares is not None}
    assert declared == {op for op in Op if op.phrase}
    seen = {words[0] & 0x7FF for _, words, _ in ROWS} | {53}
    assert seen == set(map(int, declared))


def test_immediate_constants_are_rows_of_four() -> None:
    code = code_of("vs_4_0", 53 | 3 << 11, 10, 0x3F800000, 0, 1, 0x80000000, 5, 6, 7, 0xFFFFFFFF)
    assert disassemble(code).splitlines()[1:] == [
        "dcl_immediateConstantBuffer { { 1.0, 0, 1, 0x80000000 },",
        "  { 5, 6, 7, -1 } }",
    ]
    assert assemble(disassemble(code)) == code


def test_long_table_tells_its_length_in_a_second_word() -> None:
    code = code_of("ps_5_0", 145, 204, 0, 200, *range(200))
    assert disassemble(code).splitlines()[1].startswith("dcl_function_table ft0, 200 { 0, 1, 2,")
    assert assemble(disassemble(code)) == code


MEANINGLESS = [
    ("ps_4_0", (88 | 13 << 11, T, 0, FLOATS), "13 is not a valid Dimension"),
    ("ps_4_0", (88 | 3 << 11, T, 0, 0x5550), "0 is not a valid ReturnType"),
    ("ps_4_0", (90 | 3 << 11, S, 0), "3 is not a valid SamplerMode"),
    ("gs_4_0", (92 | 2 << 11,), "2 is not a valid Topology"),
    ("gs_4_0", (93 | 4 << 11,), "4 is not a valid Primitive"),
    ("vs_4_0", (96, 0x101012, 1, 23), "23 is not a valid SystemValue"),
    ("ps_4_0", (98 | 8 << 11, V, 1), "8 is not a valid Interpolation"),
    ("hs_5_0", (149,), "0 is not a valid Domain"),
    ("hs_5_0", (150 | 5 << 11,), "5 is not a valid Partitioning"),
    ("hs_5_0", (151,), "0 is not a valid OutputPrimitive"),
]


@pytest.mark.parametrize(("version", "words", "what"), MEANINGLESS)
def test_number_without_a_meaning_is_refused(
    version: str, words: tuple[int, ...], what: str
) -> None:
    with pytest.raises(ShaderError, match=what):
        disassemble(code_of(version, words[0] | len(words) << 24, *words[1:]))
