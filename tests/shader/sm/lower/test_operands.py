"""Modifiers, masks, shifts, predicates, pairs, relative addressing, constants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dp2emu.d3d.enums import DeclUsage
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.sm.lower import InputRegister
from dp2emu.shader.sm.lower.lowering import DefinedConstant, overlay_constants
from tests.shader.sm.lower.running import execute, inputs, lowered, ps, vector, vs

V = (0.25, -2.0, 3.0, 8.0)
CONSTANTS = np.arange(1024, dtype=np.float32)


def registers(*numbers: float) -> np.ndarray:
    """c0, c1 and so on, each a number in all components."""
    return np.repeat(np.array(numbers, np.float32), 4)


@pytest.mark.parametrize(
    ("operand", "wanted"),
    [
        ("v0", V),
        ("-v0", (-0.25, 2.0, -3.0, -8.0)),
        ("v0_abs", (0.25, 2.0, 3.0, 8.0)),
        ("-v0_abs", (-0.25, -2.0, -3.0, -8.0)),
        ("v0.wzyx", (8.0, 3.0, -2.0, 0.25)),
        ("-v0.yyxw", (2.0, 2.0, -0.25, -8.0)),
    ],
)
def test_source_is_swizzled_then_modified(operand: str, wanted: tuple[float, ...]) -> None:
    assert vs(f"mov o1, {operand}", inputs=inputs(v0=V)) == list(wanted)


@pytest.mark.parametrize(
    ("operand", "wanted"),
    [
        ("r1", V),
        ("r1_bias", (-0.25, -2.5, 2.5, 7.5)),
        ("-r1_bias", (0.25, 2.5, -2.5, -7.5)),
        ("r1_bx2", (-0.5, -5.0, 5.0, 15.0)),
        ("-r1_bx2", (0.5, 5.0, -5.0, -15.0)),
        ("1-r1", (0.75, 3.0, -2.0, -7.0)),
        ("r1_x2", (0.5, -4.0, 6.0, 16.0)),
        ("-r1_x2", (-0.5, 4.0, -6.0, -16.0)),
    ],
)
def test_modifiers_of_ps_1(operand: str, wanted: tuple[float, ...]) -> None:
    found = ps(f"texcrd r1, t0\nmov r0, {operand}", "ps_1_4", inputs=inputs(texcoord0=V))
    assert found == list(wanted)


def test_ps_1_4_divides_coordinates_by_z_or_w() -> None:
    given = inputs(texcoord0=(6.0, 9.0, 3.0, 2.0))
    assert ps("texcrd r0, t0_dw.xyw", "ps_1_4", inputs=given)[:2] == [3.0, 4.5]
    body = "texcrd r1, t0\nphase\ntexld r0, r1_dz"
    assert ps(body, "ps_1_4", inputs=given)[:2] == [2.0, 3.0]
    # A volume also looks at the third coordinate, which is not divided.
    volume = {"sampler_kinds": {0: TextureKind.VOLUME}}
    assert ps(body, "ps_1_4", volume, inputs=given)[:3] == [2.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("suffix", "factor"),
    [("_x2", 2), ("_x4", 4), ("_x8", 8), ("_d2", 1 / 2), ("_d4", 1 / 4), ("_d8", 1 / 8)],
)
def test_result_is_shifted(suffix: str, factor: float) -> None:
    found = ps(f"mov{suffix} r0, t0", "ps_1_1", inputs=inputs(texcoord0=V))
    assert found == [factor * x for x in V]


def test_result_is_shifted_before_it_is_saturated() -> None:
    found = ps("mov_x2_sat r0, t0", "ps_1_1", inputs=inputs(texcoord0=(0.375, -1, 0.6, 9)))
    assert found == [0.75, 0.0, 1.0, 1.0]


def test_saturated_nan_is_0() -> None:
    found = vs("mov_sat o1, v0", inputs=inputs(v0=(math.nan, math.inf, -1.0, 0.5)))
    assert found == [0.0, 1.0, 0.0, 0.5]


def test_mask_keeps_the_other_components() -> None:
    body = "mov r0, v0\nmov r0.yw, v1\nmov o1, r0"
    assert vs(body, inputs=inputs(v0=(1, 2, 3, 4), v1=(5, 6, 7, 8))) == [1, 6, 3, 8]


def test_sources_are_read_before_anything_is_written() -> None:
    swap = "mov r0, v0\nmov r0.xyzw, r0.wzyx\nmov o1, r0"
    assert vs(swap, inputs=inputs(v0=(1, 2, 3, 4))) == [4, 3, 2, 1]
    rows = np.array([[2, 1, 0, 0], [0, 2, 1, 0], [0, 0, 2, 1], [1, 0, 0, 2]], np.float32)
    matrix = "mov r0, v0\nm4x4 r0, r0, c0\nmov o1, r0"
    assert vs(matrix, inputs=inputs(v0=(1, 2, 3, 4)), uniforms={"c": rows}) == [4, 7, 10, 9]


def test_unwritten_temporary_is_0() -> None:
    assert vs("mov r0.xyzw, r0.yxwz\nmov o1, r0") == [0, 0, 0, 0]


def test_predicate_chooses_components() -> None:
    body = """setp_gt p0, v0, c0
    mov r0, v0
    (p0) mov r0, v1
    (!p0.x) add r0.w, r0, c1
    mov o1, r0"""
    given = inputs(v0=(-1, 1, -1, 1), v1=(5, 6, 7, 8))
    assert vs(body, inputs=given, uniforms={"c": registers(0, 1)}) == [-1, 6, -1, 9]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("gt", (0, 1, 0, 0)),
        ("eq", (0, 0, 1, 0)),
        ("ge", (0, 1, 1, 0)),
        ("lt", (1, 0, 0, 0)),
        ("ne", (1, 1, 0, 1)),
        ("le", (1, 0, 1, 0)),
    ],
)
def test_comparisons_of_setp(name: str, wanted: tuple[float, ...]) -> None:
    body = f"setp_{name} p0, v0, v1\n(p0) mov r0, c1\nmov o1, r0"
    given = inputs(v0=(1, 2, 3, math.nan), v1=(2, 1, 3, 4))
    assert vs(body, inputs=given, uniforms={"c": registers(0, 1)}) == list(wanted)


def test_predicated_setp_reads_the_predicate_of_before() -> None:
    body = """setp_gt p0, v0, c0
    (p0.yxwz) setp_gt p0, c0, c1
    (p0) mov r0, c1
    mov o1, r0"""
    assert vs(body, inputs=inputs(v0=(1, -1, 1, 1)), uniforms={"c": registers(0, 1)}) == [
        1, 0, 0, 0,
    ]  # fmt: skip


def test_pair_reads_the_values_of_before() -> None:
    body = "mov r0, t0\nadd r0.rgb, r0.a, r0.a\n+ mov r0.a, r0.b"
    found = ps(body, "ps_1_2", inputs=inputs(texcoord0=(1, 2, 3, 4)))
    assert found == [8, 8, 8, 3]


@pytest.mark.parametrize(("version", "wanted"), [("ps_1_3", [1, 1, 1]), ("ps_1_4", [0, 0, 0])])
def test_second_cnd_of_a_pair_takes_its_first_choice_before_1_4(
    version: str, wanted: list[float]
) -> None:
    body = "def c0, 0, 0, 0, 0\ndef c1, 1, 1, 1, 1\nmov r0, c0\nmov r1.a, c0\n+ cnd r0.rgb, "
    found = ps(f"{body}r0.a, c1, c0", version)
    assert found[:3] == wanted


def test_cnd_for_alpha_in_a_pair_is_a_plain_one() -> None:
    body = "def c0, 0, 0, 0, 0\ndef c1, 1, 1, 1, 1\nmov r0, c0\nmov r1.rgb, c0\n"
    assert ps(f"{body}+ cnd r0.a, r0.a, c1, c0", "ps_1_1")[3] == 0


def test_constants_of_ps_1_are_clamped() -> None:
    body = "def c1, 0.5, 7, -9, 1\nadd r0, c0, c1"
    found = ps(body, "ps_1_1", uniforms={"c": np.array([2, 0.25, -3, -1], np.float32)})
    assert found == [1.5, 1.25, -2, 0]
    assert ps("def c1, 0.5, 7, -9, 1\nmov oC0, c1", "ps_2_0") == [0.5, 7, -9, 1]


def test_colours_are_clamped_in_ps_1_only() -> None:
    given = inputs(color0=(2, -1, 0.5, 1), color1=(0, 1, -3, 4))
    assert ps("mov r0, v0", "ps_1_1", inputs=given) == [1, 0, 0.5, 1]
    assert ps("mov r0, v1", "ps_1_4", inputs=given) == [0, 1, 0, 1]
    assert ps("mov oC0, v0", "ps_2_0", inputs=given) == [2, -1, 0.5, 1]


@pytest.mark.parametrize(
    ("address", "first"),
    [(0.0, 40), (1.0, 44), (1.9, 44), (-0.5, 36), (-10.0, 0), (-11.0, None), (1e30, None)],
)
def test_address_of_vs_1_is_rounded_down(address: float, first: float | None) -> None:
    found = vs(
        "mov a0.x, v0.x\nmov oT0, c[a0.x + 10]",
        "vs_1_1",
        inputs=inputs(v0=(address,)),
        uniforms={"c": CONSTANTS},
    )
    assert found == ([0, 0, 0, 0] if first is None else [first, first + 1, first + 2, first + 3])


@pytest.mark.parametrize(("address", "number"), [(0.5, 0), (1.5, 2), (0.51, 1), (-0.6, -1)])
def test_mova_rounds_to_nearest(address: float, number: int) -> None:
    body = "mova a0.y, v0.x\nmov oT0, c[a0.y + 3].x"
    found = vs(body, "vs_2_0", inputs=inputs(v0=(address,)), uniforms={"c": CONSTANTS})
    assert found[0] == 4 * (number + 3)


def test_lanes_index_constants_each_for_itself() -> None:
    program = lowered("vs_2_0\nmova a0.x, v0.x\nmov oT0.x, c[a0.x]").program
    address = np.array([0, 5, 255, 256, -1], np.float32)
    more = np.arange(2048, dtype=np.float32)
    result = execute(program, {"v0.x": address}, {"c": more}, lanes=5)
    assert result.outputs["texcoord0.x"].tolist() == [0, 20, 1020, 0, 0]


def test_rows_of_a_matrix_are_indexed() -> None:
    body = "mova a0.x, v1.x\nm3x2 r0.xy, v0, c[a0.x + 1]\nmov oT0, r0"
    given = inputs(v0=(1, 0, 0, 0), v1=(1,))
    assert vs(body, "vs_2_0", inputs=given, uniforms={"c": CONSTANTS})[:2] == [8, 12]


def test_inputs_are_indexed() -> None:
    body = """defi i0, 3, 0, 1, 0
    dcl_position v0\ndcl_texcoord v1\ndcl_texcoord2 v2
    mov r0, c0
    loop aL, i0
    add r0, r0, v[aL]
    add r1.x, r1, v[aL + 1].z
    endloop
    mov r0.w, r1.x
    mov o1, r0"""
    given = inputs(v0=(1, 2, 3, 4), v1=(10, 20, 30, 40), v2=(100, 200, 300, 400))
    assert vs(body, inputs=given) == [111, 222, 333, 330]
    body = body.replace("mov o1", "mov oC0").replace("position v0", "color1 v0")
    given = inputs(color1=(1, 2, 3, 4), texcoord0=(10, 20, 30, 40), texcoord2=(100, 200, 300, 400))
    assert ps(body, inputs=given) == [111, 222, 333, 330]


def test_outputs_are_indexed() -> None:
    body = """vs_3_0
    dcl_position o0\ndcl_texcoord0 o1\ndcl_texcoord1 o2.xy\ndcl_color o2.zw
    defi i0, 2, 1, 1, 0
    loop aL, i0
    mov o[aL], c[aL]
    endloop
    setp_gt p0, c1, c0
    defi i1, 1, 0, 0, 0
    loop aL, i1
    (!p0) mov o[aL + 1], c0
    (p0) mov o[aL + 2].w, c3.x
    endloop
    mov o0, c0"""
    program = lowered(body).program
    result = execute(program, uniforms={"c": CONSTANTS})
    assert vector(result, "texcoord0") == [4, 5, 6, 7]
    assert vector(result, "texcoord1") == [8, 9, 0, 0]
    assert vector(result, "color0") == [1, 1, 10, 12]


def test_own_constants_are_built_in_and_told() -> None:
    text = "vs_2_0\ndef c2, 1, 2, 3, 4\ndefi i1, 1, 2, 3, 4\ndefb b0, true\nmov oT0, c2"
    shader = lowered(text)
    assert shader.constants == (
        DefinedConstant("b", 0, (1,)),
        DefinedConstant("c", 2, (0x3F800000, 0x40000000, 0x40400000, 0x40800000)),
        DefinedConstant("i", 1, (1, 2, 3, 4)),
    )
    assert vector(execute(shader.program), "texcoord0") == [1, 2, 3, 4]
    uploaded = np.zeros((4, 4), np.float32)
    assert overlay_constants("c", uploaded, shader.constants)[2].tolist() == [1, 2, 3, 4]
    assert uploaded.sum() == 0
    assert overlay_constants("c", uploaded[:2], shader.constants) is not None
    assert overlay_constants("b", np.zeros(16, np.bool_), shader.constants)[0]
    assert overlay_constants("i", np.zeros((16, 4), np.int32), shader.constants)[1].tolist() == [
        1,
        2,
        3,
        4,
    ]


def test_constants_without_own_ones_stay_the_same_array() -> None:
    uploaded = np.zeros((4, 4), np.float32)
    assert overlay_constants("c", uploaded, ()) is uploaded


def test_inputs_are_told_with_their_usage() -> None:
    text = """vs_3_0
    dcl_position v3\ndcl_texcoord2 v1\ndcl_normal v5\ndcl_position o0
    add o0, v3, v1"""
    assert lowered(text).inputs == (
        InputRegister(1, DeclUsage.TEXCOORD, 2),
        InputRegister(3, DeclUsage.POSITION, 0),
    )
    assert lowered("vs_1_1\nmov oPos, v2").inputs == (InputRegister(2),)


def test_components_of_an_input_have_usages_of_their_own() -> None:
    text = "dcl_texcoord0 v0.xy\ndcl_texcoord1 v0.zw\nmov oC0, v0"
    given = inputs(texcoord0=(1, 2, 3, 4), texcoord1=(5, 6, 7, 8))
    assert ps(text, inputs=given) == [1, 2, 7, 8]


def test_usages_that_share_a_vertex_register_are_inputs_of_their_own() -> None:
    text = """vs_3_0
    dcl_texcoord2 v1.y\ndcl_normal v1.xz\ndcl_position v0\ndcl_position o0\ndcl_texcoord o1
    mov o0, v0\nmov o1, v1"""
    shader = lowered(text)
    assert [each.name for each in shader.inputs] == ["v0", "v1_normal0", "v1_texcoord2"]
    given = inputs(v1_normal0=(1, 2, 3, 4), v1_texcoord2=(5, 6, 7, 8))
    assert vector(execute(shader.program, given), "texcoord0") == [1, 6, 3, 1]


def test_an_indexed_vertex_input_has_the_components_that_no_declaration_names() -> None:
    body = """dcl_normal v1.xy\ndcl_color v2.x\ndcl_texcoord v2.y
    defi i0, 2, 0, 1, 0\nloop aL, i0\nadd r0, r0, v[aL + 1]\nendloop\nmov o1, r0"""
    given = inputs(v1=(10, 20, 30, 40), v2_color0=(1, 9, 9, 9), v2_texcoord0=(9, 2, 9, 9))
    assert vs(body, inputs=given) == [11, 22, 30, 41]


def test_position_and_face_of_the_pixel() -> None:
    body = "dcl vPos.xy\ndcl vFace\nmov r0.xy, vPos\nmov r0.zw, vFace\nmov oC0, r0"
    found = ps(body, inputs={"vpos.x": 7.0, "vpos.y": 9.0, "vface.x": -1.0})
    assert found == [7, 9, -1, -1]
    given = {"vpos.x": 7.0, "vpos.y": 9.0}
    assert ps("dcl vPos\nmov r0, vPos\nmov oC0, r0", inputs=given) == [7, 9, 0, 0]


@pytest.mark.parametrize(("code", "names"), [
    ("ps_2_0\ndcl_centroid t3.xy\nmov r0, t3\nmov oC0, r0",
     ["centroid.texcoord3.x", "centroid.texcoord3.y", "texcoord3.z", "texcoord3.w"]),
    ("ps_2_0\ndcl t3\nmov r0, t3\nmov oC0, r0", [f"texcoord3.{c}" for c in "xyzw"]),
    ("ps_3_0\ndcl_texcoord2_centroid v1.xw\ndcl_texcoord2 v2.y\nmov oC0, v1.x\nmov oC0.y, v2.y",
     ["centroid.texcoord2.x", "texcoord2.y"]),
])  # fmt: skip
def test_declared_centroids_are_inputs_of_their_own(code: str, names: list[str]) -> None:
    assert sorted(p.name for p in lowered(code).program.inputs) == sorted(names)
