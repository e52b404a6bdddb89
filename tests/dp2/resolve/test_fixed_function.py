"""The fixed-function vertex stage and fog, as the raw state asks for them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d import fvf
from dp2emu.d3d.enums import (
    DeclType,
    FogMode,
    LightType,
    MaterialColorSource,
    RenderState,
    TexGen,
    TextureStageState,
    TransformState,
    VertexBlend,
)
from dp2emu.d3d.fvf import fvf_layout
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.vertices import VertexLayout
from dp2emu.dp2.resolve.fixed_function import (
    clip_planes,
    color,
    fixed_state,
    fixed_vertex,
    pixel_fog,
    pixel_fog_uniforms,
)
from dp2emu.dp2.states.raw_state import State
from dp2emu.dp2.tokens.lighting import LIGHT_DTYPE
from dp2emu.errors import Fault
from dp2emu.shader.fixed import Fog, FogSource, IndexForm
from tests.dp2.rigging import Bench, clear, header, render_state, token

XYZ = 0x002
IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))


def state(**render_states: int | float) -> State:
    made = State(has_depth=True)
    for name, value in render_states.items():
        bits = struct.unpack("<I", struct.pack("<f", value))[0] if type(value) is float else value
        made.set_render_state(RenderState[name], int(bits))
    return made


def layout(code: int = XYZ) -> VertexLayout:
    return fvf_layout(code)


def light(kind: int, **fields: object) -> np.void:
    record = np.zeros((), LIGHT_DTYPE)
    record["dltType"] = kind
    for name, value in fields.items():
        record[name] = value
    return record[()]


def test_what_a_vertex_has_is_in_the_key() -> None:
    plain = fixed_vertex(state(LIGHTING=0), layout(), 0)
    assert (plain.normal, plain.diffuse, plain.specular, plain.point_size) == (False,) * 4
    code = XYZ | fvf.NORMAL | fvf.DIFFUSE | fvf.SPECULAR | fvf.PSIZE
    full = fixed_vertex(state(LIGHTING=0), layout(code), 0)
    assert (full.normal, full.diffuse, full.specular, full.point_size) == (True,) * 4
    assert full.lighting is None


def test_lights_that_are_on_and_described_are_counted_by_type() -> None:
    made = state()
    for index, kind in enumerate((1, 3, 3, 2, 1)):
        made.set_light(index, light(kind, dvRange=float(index)))
        made.light_enable(index, index != 4)
    made.light_enable(9, True)
    lighting = fixed_vertex(made, layout(), 0).lighting
    assert lighting is not None
    assert (lighting.points, lighting.spots, lighting.directionals) == (1, 1, 2)
    assert [(found.type, found.range) for found in fixed_state(made).lights] == [
        (LightType.POINT, 0), (LightType.DIRECTIONAL, 1), (LightType.DIRECTIONAL, 2),
        (LightType.SPOT, 3),
    ]  # fmt: skip


def test_a_light_of_no_type_is_refused() -> None:
    made = state()
    made.set_light(0, light(7))
    made.light_enable(0, True)
    with pytest.raises(Fault, match="light type 7") as caught:
        fixed_vertex(made, layout(), 0)
    assert caught.value.hr == HResult.D3DERR_DRIVERINVALIDCALL


def test_colour_sources_need_the_colour_and_colorvertex() -> None:
    first = MaterialColorSource.COLOR1
    lit = fixed_vertex(state(), layout(XYZ | fvf.DIFFUSE), 0).lighting
    assert lit is not None
    assert (lit.diffuse_source, lit.specular_source) == (first, MaterialColorSource.MATERIAL)
    off = fixed_vertex(state(COLORVERTEX=0), layout(XYZ | fvf.DIFFUSE), 0).lighting
    assert off is not None
    assert off.diffuse_source is MaterialColorSource.MATERIAL


def test_the_material_reflects_diffuse_light_until_it_is_set() -> None:
    made = state()
    assert fixed_state(made).material.diffuse == (1, 1, 1, 1)
    assert fixed_state(made).material.ambient == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("blend", "weights", "tween"),
    [
        (VertexBlend.D3DVBF_DISABLE, 0, False),
        (VertexBlend.D3DVBF_3WEIGHTS, 3, False),
        (VertexBlend.D3DVBF_0WEIGHTS, 0, False),
        (VertexBlend.D3DVBF_TWEENING, 0, True),
    ],
)
def test_blending_is_by_weights_or_tweening(blend: int, weights: int, tween: bool) -> None:
    key = fixed_vertex(state(VERTEXBLEND=blend), layout(), 0)
    assert (key.weights, key.tween, key.indices) == (weights, tween, IndexForm.NONE)


@pytest.mark.parametrize(
    ("flag", "form"),
    [(fvf.LASTBETA_UBYTE4, IndexForm.BYTES), (fvf.LASTBETA_D3DCOLOR, IndexForm.COLOR)],
)
def test_indices_come_in_the_form_the_vertex_has_them(flag: int, form: IndexForm) -> None:
    indexed = layout(0x008 | flag)
    blend = state(VERTEXBLEND=1, INDEXEDVERTEXBLENDENABLE=1)
    assert fixed_vertex(blend, indexed, 0).indices is form
    assert fixed_vertex(blend, layout(), 0).indices is IndexForm.NONE
    assert fixed_vertex(state(VERTEXBLEND=1), indexed, 0).indices is IndexForm.NONE
    off = state(INDEXEDVERTEXBLENDENABLE=1)
    assert fixed_vertex(off, indexed, 0).indices is IndexForm.NONE


def test_texture_coordinates_have_a_set_a_generator_and_a_matrix() -> None:
    made = state()
    made.set_texture_stage_state(1, TextureStageState.TEXCOORDINDEX, 0x20000)
    made.set_texture_stage_state(2, TextureStageState.TEXCOORDINDEX, 0)
    made.set_texture_stage_state(2, TextureStageState.TEXTURETRANSFORMFLAGS, 256 + 3)
    code = XYZ | 2 << 8 | 1 << 16
    first, second, third = fixed_vertex(made, layout(code), 3).textures
    assert (first.source, first.set, first.components, first.count) == (TexGen.PASSTHRU, 0, 3, 0)
    assert (second.source, second.set) == (TexGen.CAMERASPACEPOSITION, 0)
    assert (third.components, third.count) == (3, 3)
    made.set_texture_stage_state(0, TextureStageState.TEXCOORDINDEX, 5)
    assert fixed_vertex(made, layout(code), 1).textures[0].components == 0
    made.set_texture_stage_state(0, TextureStageState.TEXCOORDINDEX, 0x50000)
    with pytest.raises(Fault, match="0x50000"):
        fixed_vertex(made, layout(code), 1)


def test_short_element_types_count_their_components() -> None:
    assert {e.type for e in layout(XYZ | 1 << 8).elements} == {DeclType.FLOAT3, DeclType.FLOAT2}


def test_only_enabled_planes_clip_in_order() -> None:
    made = state(CLIPPLANEENABLE=0b1010)
    made.set_clip_plane(0, (9, 9, 9, 9))
    made.set_clip_plane(3, (1, 2, 3, 4))
    assert clip_planes(made) == ((0, 0, 0, 0), (1, 2, 3, 4))
    assert fixed_vertex(made, layout(), 0).clip_planes == 2
    assert fixed_state(made).clip_planes == clip_planes(made)


def test_colours_are_red_green_blue_alpha_over_255() -> None:
    assert color(0x80FF0033) == (1, 0, float(np.float32(0.2)), float(np.float32(128 / 255)))


@pytest.mark.parametrize(
    ("states", "vertex", "pixel"),
    [
        ({}, None, None),
        ({"FOGVERTEXMODE": 3}, None, None),
        ({"FOGENABLE": 1}, FogMode.NONE, Fog(FogSource.VERTEX)),
        ({"FOGENABLE": 1, "FOGVERTEXMODE": 1}, FogMode.EXP, Fog(FogSource.VERTEX)),
        ({"FOGENABLE": 1, "FOGVERTEXMODE": 1, "FOGTABLEMODE": 3}, None,
         Fog(FogSource.TABLE_Z, FogMode.LINEAR)),
    ],
)  # fmt: skip
def test_table_fog_wins_over_vertex_fog(
    states: dict[str, int], vertex: FogMode | None, pixel: Fog | None
) -> None:
    made = state(**states)
    assert fixed_vertex(made, layout(), 0).fog is vertex
    assert pixel_fog(made) == pixel


def test_table_fog_goes_by_w_with_a_projection_that_has_perspective() -> None:
    made = state(FOGENABLE=1, FOGTABLEMODE=2)
    made.set_transform(TransformState.PROJECTION, IDENTITY)
    assert pixel_fog(made) == Fog(FogSource.TABLE_Z, FogMode.EXP2)
    perspective = [*IDENTITY[:11], 1.0, 0.0, 0.0, -1.0, 0.0]
    made.set_transform(TransformState.PROJECTION, perspective)
    assert pixel_fog(made) == Fog(FogSource.TABLE_W, FogMode.EXP2)


def test_fog_numbers_are_floats_and_the_colour_has_no_alpha() -> None:
    made = state(FOGCOLOR=0x80FF0000, FOGSTART=0.25, FOGEND=4.0, FOGDENSITY=0.5)
    assert pixel_fog_uniforms(made)["fog"].tolist() == [1, 0, 0, 0.25, 4, 0.5]
    assert fixed_state(made).fog == (0.25, 4, 0.5)


def test_a_mode_that_is_none_is_refused() -> None:
    made = state(FOGENABLE=1, FOGTABLEMODE=9)
    with pytest.raises(Fault, match="D3DRS_FOGTABLEMODE is 9"):
        pixel_fog(made)


def quad() -> bytes:
    """A triangle over all of clip space, z 0.5."""
    corners = ((-1.0, 1.0), (3.0, 1.0), (-1.0, -3.0))
    return b"".join(struct.pack("<3fI", x, y, 0.5, 0xFF00FF00) for x, y in corners)


def drawn(*commands: bytes) -> list[int]:
    """A pixel of each quarter after a draw of untransformed vertices."""
    bench = Bench()
    bench.ok(clear() + b"".join(commands))
    draw = token(50, 0, 16) + token(47, XYZ | fvf.DIFFUSE) + token(52, 4, 0, 1)
    vertices = quad()
    bench.ok(render_state(22, 1) + render_state(137, 0) + draw, vertices, dwVertexSize=16)
    pixels = np.frombuffer(bench.driver.read(1, 0, 64 * 64 * 4), "<u4").reshape(64, 64)
    return [int(pixels[y, x]) & 0xFFFFFF for y, x in ((16, 16), (16, 48), (48, 16), (48, 48))]


def matrix(kind: int, *values: float) -> bytes:
    return header(36) + struct.pack("<I16f", kind, *values)


def test_untransformed_vertices_go_through_world_view_and_projection() -> None:
    green = 0x00FF00
    assert drawn() == [green] * 4
    right = (*IDENTITY[:12], 1.0, 0.0, 0.0, 1.0)
    down = (*IDENTITY[:12], 0.0, -1.0, 0.0, 1.0)
    assert drawn(matrix(256, *right)) == [0, green, 0, green]
    assert drawn(matrix(1, *right), matrix(2, *down)) == [0, 0, 0, green]
    assert drawn(matrix(3, *down)) == [0, 0, green, green]


def test_a_changed_matrix_viewport_or_plane_is_seen_by_the_next_draw() -> None:
    green = 0x00FF00
    plane = struct.pack("<I4f", 0, -1.0, 0.0, 0.0, 0.0)
    enabled = render_state(152, 1)
    assert drawn(enabled, header(44) + plane) == [green, 0, green, 0]
    assert drawn(token(28, 32, 0, 32, 64)) == [0, green, 0, green]


def test_fog_blends_the_fixed_function_colour() -> None:
    fog = render_state(28, 1) + render_state(34, 0x0000FF) + render_state(35, 3)
    near, far = struct.unpack("<2I", struct.pack("<2f", 0.0, 0.5))
    assert drawn(fog, render_state(36, near), render_state(37, far)) == [0x0000FF] * 4


def test_wireframe_leaves_the_inside_and_a_w_buffer_compares_w() -> None:
    assert drawn(render_state(8, 2)) == [0] * 4
    usew, greater = render_state(7, 2), render_state(23, 5)
    assert drawn(usew, greater) == [0] * 4
    nearer = struct.unpack("<2I", struct.pack("<2f", 0.0, 2.0))
    assert (
        drawn(usew, greater, token(42, 2, 0, 0.25, 0, 0, 0, 64, 64), token(29, *nearer))
        == [0x00FF00] * 4
    )


@pytest.mark.parametrize(("flags", "count"), [(0, 0), (1, 0), (2, 2), (3, 3), (4, 4), (7, 4)])
def test_one_coordinate_counted_is_none_transformed(flags: int, count: int) -> None:
    made = state()
    made.set_texture_stage_state(0, TextureStageState.TEXTURETRANSFORMFLAGS, flags)
    assert fixed_vertex(made, layout(XYZ | 0x100), 1).textures[0].count == count
