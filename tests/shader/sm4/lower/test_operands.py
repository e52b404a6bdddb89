"""What operands read and write: registers of every file, indexed or not."""

from __future__ import annotations

import pytest

from dp2emu.errors import Unsupported
from dp2emu.shader.sm4.lower import Lowered4, flow
from dp2emu.shader.sm4.opcodes import Op
from tests.shader.sm4.lower.running import (
    execute,
    floats,
    lowered,
    ps,
    ps_text,
    registers,
    vs,
    vs_text,
    words,
)

V = registers(v0=[10, 11, 12, 13], v1=[20, 21, 22, 23], v2=[30, 31, 32, 33], v3=[1, 0, 2, 9])
CONSTANTS = {"cb3": [100 + n for n in range(40)]}
ARRAYS = "dcl_indexableTemp x0[3], 4\ndcl_indexableTemp x2[2], 2"
BUFFER = "dcl_constantbuffer cb3[4], dynamicIndexed"
ICB = "dcl_immediateConstantBuffer { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }"


def test_swizzles_masks_and_selected_components() -> None:
    body = "mov o0, v0.wzyx\nmov o0.yw, v1.xxzw"
    assert vs(body, inputs=V) == [13, 20, 11, 23]
    assert vs("mov o0.xyzw, v0.z", inputs=V) == [12] * 4


def test_immediates_of_one_word_are_in_every_component() -> None:
    assert vs("mov o0, l(7)") == [7] * 4
    assert vs("mov o0, l(1, 2, 3, 4)") == [1, 2, 3, 4]
    assert floats(vs("add o0, l(1.5), l(1.0, 2.0, 3.0, 0.0)")) == [2.5, 3.5, 4.5, 1.5]


def test_temporaries_start_as_0() -> None:
    assert vs("mov o0, r3") == [0] * 4


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("cb3[2].xyzw", [108, 109, 110, 111]),
        ("cb3[9].xyzw", [136, 137, 138, 139]),  # declared rows: 4, real rows: 10
        ("cb3[10].xyzw", [0] * 4),
        ("cb3[4095].xyzw", [0] * 4),
        ("cb3[v3.x + 2].xyzw", [112, 113, 114, 115]),
        ("cb3[v3.y].wzyx", [103, 102, 101, 100]),
        ("cb3[v3.w + 1].xyzw", [0] * 4),
        ("cb3[v3.x + 4294967295].xyzw", [100, 101, 102, 103]),  # the sum has 32 bits
        ("cb3[v3.w + 4294967288].xyzw", [104, 105, 106, 107]),
        ("cb3[v3.x + 2147483648].xyzw", [0] * 4),
        ("cb3[v3.x + 1073741823].xyzw", [0] * 4),
    ],
)
def test_constant_buffer_has_what_is_bound_and_0_beyond(source: str, wanted: list[int]) -> None:
    found = vs(f"mov o0, {source}", BUFFER, inputs=V, uniforms=CONSTANTS)
    assert found == wanted


def test_unbound_constant_buffers_are_0() -> None:
    assert vs("mov o0, cb3[v3.x + 0]", BUFFER, inputs=V) == [0] * 4


@pytest.mark.parametrize(
    ("index", "offset", "row"),
    [(0xFFFFFFFF, 3, 2), (0xFFFFFFFE, 2, 0), (0xFFFFFFFF, 0, None), (0x80000000, 5, None)],
)
def test_indices_are_unsigned_and_wrap(index: int, offset: int, row: int | None) -> None:
    source = f"mov o0, cb3[v0.x + {offset}]"
    found = vs(source, BUFFER, inputs={"v0.x": index}, uniforms=CONSTANTS)
    assert found[0] == (0 if row is None else 100 + 4 * row)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("icb[1].xyzw", [5, 6, 7, 8]),
        ("icb[2].xyzw", [0] * 4),
        ("icb[v3.x + 0].wxyz", [8, 5, 6, 7]),
        ("icb[v3.z + 0].xyzw", [0] * 4),
    ],
)
def test_immediate_constants_end_in_0(source: str, wanted: list[int]) -> None:
    assert vs(f"mov o0, {source}", ICB, inputs=V) == wanted


def test_immediate_constants_are_told() -> None:
    assert lowered(vs_text("mov o0, icb[v3.x + 0]", ICB)).immediates == (1, 2, 3, 4, 5, 6, 7, 8)


def test_arrays_are_indexed() -> None:
    body = """mov x0[0], v0
    mov x0[v3.x + 1], v1
    mov r0.x, l(1)
    mov o0, x0[r0.x + 1]
    mov o0.y, x0[0].z"""
    assert vs(body, ARRAYS, inputs=V) == [20, 12, 22, 23]


def test_arrays_have_as_many_components_as_declared() -> None:
    body = "mov x2[0], v0\nmov x2[1], v1\nmov o0, x2[0]"
    assert vs(body, ARRAYS, inputs=V) == [10, 11, 0, 0]


@pytest.mark.parametrize("index", [3, 4, 0xFFFFFFFF, 0x7FFFFFFF])
def test_out_of_an_array_nothing_is_written_and_0_is_read(index: int) -> None:
    body = "mov x0[0], v1\nmov x0[2], v1\nmov x0[v0.x + 0], v2\nmov o0, x0[v0.x + 0]"
    assert vs(body, ARRAYS, inputs={**V, "v0.x": index}) == [0] * 4
    body = "mov x0[0], v1\nmov x0[v0.x + 0], v2\nmov o0, x0[0]"
    assert vs(body, ARRAYS, inputs={**V, "v0.x": index}) == [20, 21, 22, 23]


def test_the_index_of_a_destination_is_that_of_before() -> None:
    body = "mov r0, l(0, 1, 2, 0)\nmov x0[2], v2\nmov x0[r0.x + 0].x, v1.x\n"
    body += "umul r0.x, x0[r0.x + 1].x, r0.z, v3.z\nmov o0.x, x0[1].x\nmov o0.y, r0.x"
    assert vs(body, ARRAYS, inputs=V)[:2] == [4, 0]


def test_inputs_may_be_indexed() -> None:
    body = "mov o0, v[v3.x + 0]\nmov o0.x, v2.x"
    assert vs(body, "dcl_indexrange v0.xyzw 3", inputs=V) == [30, 21, 22, 23]


def test_outputs_may_be_indexed() -> None:
    text = vs_text("mov o1, v2\nmov o[v3.x + 0].xy, v0", "dcl_indexrange o0.xyzw 2")
    result = execute(lowered(text), V)
    assert words(result, "o1") == [10, 11, 32, 33]
    assert words(result, "o0") == [0] * 4


def test_interpolated_inputs_may_be_indexed() -> None:
    head = "dcl_input_ps linear v4.xy\ndcl_input_ps constant v5.x\ndcl_indexrange v4.xy 2"
    body = "mov o0, v[v2.x + 4]"
    ports = {"v4.x": 1.0, "v4.y": 2.0, "v5.x": 9}
    assert ps(body, head, inputs={**ports, "v2.x": 0})[:3] == [0x3F800000, 0x40000000, 0]
    assert ps(body, head, inputs={**ports, "v2.x": 1})[:2] == [9, 0]


def test_components_not_declared_are_0() -> None:
    assert vs("mov o0, v9", "dcl_input v9.y", inputs={"v9.y": 4}) == [0, 4, 0, 0]


def inputs_of(shader: Lowered4) -> dict[str, str]:
    return {port.name: port.type.value for port in shader.program.inputs}


@pytest.mark.parametrize(
    ("mode", "port", "type"),
    [
        ("constant", "v3.x", "i32"),
        ("linear", "v3.x", "f32"),
        ("linear centroid", "centroid.v3.x", "f32"),
        ("linear noperspective", "noperspective.v3.x", "f32"),
        ("linear noperspective centroid", "centroid.noperspective.v3.x", "f32"),
        ("linear sample", "sample.v3.x", "f32"),
        ("linear noperspective sample", "sample.noperspective.v3.x", "f32"),
    ],
)
def test_names_of_inputs_tell_how_they_are_interpolated(mode: str, port: str, type: str) -> None:
    shader = lowered(ps_text("mov o0.x, v3.x", f"dcl_input_ps {mode} v3.x"))
    assert inputs_of(shader) == {port: type}
    assert shader.per_sample == ("sample" in mode)


@pytest.mark.parametrize(
    ("declaration", "port", "type"),
    [
        ("dcl_input_ps_siv linear noperspective v3.xyzw, position", "position.x", "f32"),
        ("dcl_input_ps_sgv constant v3.x, primitive_id", "primitive_id.x", "i32"),
        ("dcl_input_ps_sgv constant v3.x, is_front_face", "is_front_face.x", "i32"),
        ("dcl_input_ps_sgv constant v3.x, sampleIndex", "sample_index.x", "i32"),
        ("dcl_input_ps_siv constant v3.x, rendertarget_array_index", "v3.x", "i32"),
        ("dcl_input_ps_siv linear v3.x, clip_distance", "v3.x", "f32"),
    ],
)
def test_system_values_of_pixels(declaration: str, port: str, type: str) -> None:
    shader = lowered(ps_text("mov o0.x, v3.x", declaration))
    assert inputs_of(shader) == {port: type}
    assert shader.per_sample == ("sample" in port)


@pytest.mark.parametrize("name", ["vertex_id", "instance_id"])
def test_system_values_of_vertices(name: str) -> None:
    text = vs_text("mov o0.x, v4.y", f"dcl_input_sgv v4.y, {name}")
    assert inputs_of(lowered(text)) == {f"{name}.x": "i32"}
    assert words(execute(lowered(text), {f"{name}.x": 77}), "o0")[0] == 77


def test_coverage_is_an_input() -> None:
    assert ps("mov o0.x, vCoverage.x", "dcl_input vCoverage", inputs={"coverage.x": 5})[0] == 5


@pytest.mark.parametrize(
    ("version", "declaration", "body", "what"),
    [
        ("vs_5_0", "dcl_uav_raw u1", "nop", "unordered access views of vertex shaders"),
        ("ps_5_0", "dcl_input vInnerCoverage", "mov o0.x, vInnerCoverage", "inner coverage"),
        ("ps_5_0", "dcl_output oStencilRef", "mov oStencilRef, v2.x", "stencil reference"),
        ("vs_5_0", "", "abort", "shader debugging: abort"),
        ("vs_5_0", "", "debug_break", "shader debugging: debug_break"),
    ],
)
def test_what_is_not_built_is_named(version: str, declaration: str, body: str, what: str) -> None:
    text = (vs_text if version[0] == "v" else ps_text)(body, declaration, version)
    with pytest.raises(Unsupported, match=what):
        lowered(text)


def test_every_opcode_is_lowered_or_refused_by_name() -> None:
    marks = {op for op in Op if op.row.declares is not None or op.text.startswith("hs_")}
    known = marks | set(flow.EVALUATE) | flow.CONTROL | set(flow.REFUSED) | {Op.LABEL}
    assert [op.text for op in Op if op not in known] == []
    assert not set(flow.REFUSED) & (set(flow.EVALUATE) | flow.CONTROL)


def test_hull_shaders_are_no_single_program() -> None:
    with pytest.raises(Unsupported, match="hull shaders"):
        lowered("hs_5_0\nhs_decls\n")


def test_a_row_of_an_array_is_a_sum_of_32_bits() -> None:
    rows = "".join(f"mov x0[{row}], l({row}, 1, 2, 3)\n" for row in range(3))
    body = rows + "mov x0[v3.z + 4294967295].y, l(9)\nmov x0[v3.z + 2147483647].y, l(8)\n"
    body += "mov o0.xy, x0[v3.x + 0].xyzw\nmov o0.z, x0[v3.z + 4294967294].x\n"
    body += "mov o0.w, x0[v3.x + 2147483648].w"
    assert vs(body, ARRAYS, inputs=V) == [1, 9, 0, 0]
