"""Geometry shaders through the entries, by both engines at once."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, SubresourceUP
from dp2emu.ddi10.resources.views import CreateShaderResourceView, CreateTargetView
from dp2emu.ddi10.shaders.stream_output import StreamOutputEntry11, StreamOutputShader11
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.ddi10.states.state_objects import DepthStencilDesc, RasterizerDesc
from dp2emu.errors import Unsupported
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.shader.engines import CHECKED, can_compile, engine
from dp2emu.shader.sm4 import assemble
from tests.ddi10.drawing import SIZE, tokens
from tests.ddi10.rendering import NO_DEPTH, Drawing, Handle, Rendering

POINTS, LINES, LINE_STRIP, LIST, STRIP = range(1, 6)
WORDS = DxgiFormat.R32_UINT
HEAD = """gs_5_0
dcl_input_siv v[{vertices}][0].xyzw, position
dcl_input v[{vertices}][1].xyzw
dcl_temps 2
dcl_inputprimitive {primitive}
dcl_stream m0
dcl_outputtopology {topology}
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
{more}
dcl_maxout {limit}
"""
CORNERS = ("l(-1.0, 1.0, 0.5, 1.0)", "l(3.0, 1.0, 0.5, 1.0)", "l(-1.0, -3.0, 0.5, 1.0)")
"""A triangle over all of a viewport."""


def gs(
    body: str,
    more: str = "",
    primitive: str = "point",
    topology: str = "trianglestrip",
    limit: int = 6,
) -> bytes:
    vertices = {"point": 1, "line": 2, "triangle": 3}.get(primitive) or int(primitive[5:])
    head = HEAD.format(vertices=vertices, primitive=primitive, topology=topology, more=more,
                       limit=limit)  # fmt: skip
    return assemble(f"{head}{body}\nret\n")


def over_all(*lines: str) -> str:
    """Emit the triangle, with the same lines before each vertex."""
    each = "\n".join(lines)
    return "\n".join(f"mov o0, {place}\n{each}\nemit_stream m0" for place in CORNERS)


PS = """ps_4_0
{declaration}
dcl_output o0.x
mov o0.x, {register}.x
ret
"""


def ps(register: str = "v1", declaration: str = "dcl_input_ps constant v1.xyzw") -> bytes:
    """A pixel shader that writes a word as it is."""
    return assemble(PS.format(declaration=declaration, register=register))


class Geometry(Rendering):
    """A device with a target of words, points that have a word each, and a geometry shader."""

    def __init__(self, code: bytes | None, pixel: bytes | None = None) -> None:
        run = engine(CHECKED if can_compile() else "reference")
        super().__init__(adapter=Adapter(Gpu(run=run), checking=True))
        self.prepare()
        self.call("VsSetShader", self.make("VertexShader", tokens("vs_pass")))
        self.call("PsSetShader", self.make("PixelShader", pixel or ps()))
        self.call("GsSetShader", None if code is None else self.make("GeometryShader", code))
        self.call("IaSetTopology", POINTS)
        self.color = self.texture(WORDS)
        self.call("SetRenderTargets", [self.target(self.color, WORDS)], 7, None)

    def memory_of(self, noun: str, *description: object) -> Handle:
        return super().memory_of("VertexShader" if noun == "GeometryShader" else noun,
                                 *description)  # fmt: skip

    def draw(self, *numbers: int) -> None:
        """A vertex for each number, which stands in the first component of v1."""
        rows = [struct.pack("<4f4i", 0, 0, 0.5, 1, number, 0, 0, 0) for number in numbers]
        buffer = self.buffer(b"".join(rows))
        self.call("IaSetVertexBuffers", 0, [buffer], [32], [0])
        assert self.call("Draw", len(numbers), 0) == []

    def counts(self) -> Statistics:
        """What was counted when all is done."""
        self.call("Flush")
        self.adapter.finish()
        return self.device.statistics()

    def shown(self, index: int = 0, resource: Handle | None = None) -> set[int]:
        """The words of a subresource."""
        return set(self.pixels(resource or self.color, index).ravel().tolist())


# Arrays of targets

LAYERS = over_all("mov o1, l(7, 0, 0, 0)", "mov o2.x, v[0][1].x")
LAYER = "dcl_output_siv o2.x, rendertarget_array_index"
KINDS = [
    (ResourceType.TEXTURE2D, {"slices": 4}),
    (ResourceType.TEXTURE3D, {"depth": 4}),
    (ResourceType.TEXTURECUBE, {"slices": 6}),
]


@pytest.mark.parametrize(("kind", "size"), KINDS)
@pytest.mark.parametrize(("number", "slice_"), [(0, 1), (1, 2), (2, 3), (3, 1), (-1, 1)])
def test_a_primitive_goes_to_the_slice_it_names_and_else_to_the_first(
    kind: ResourceType, size: dict[str, int], number: int, slice_: int
) -> None:
    driven = Geometry(gs(LAYERS, LAYER))
    texture = driven.texture(WORDS, kind=kind, **size)
    view = driven.make("RenderTargetView", CreateTargetView(texture, WORDS.value, kind, 0, 1, 3))
    driven.call("SetRenderTargets", [view], 7, None)
    driven.draw(number)
    if kind is ResourceType.TEXTURE3D:
        words = np.frombuffer(driven.read(texture), "<u4").reshape(4, -1)
        shown = [set(words[n].tolist()) for n in range(4)]
    else:
        shown = [driven.shown(n, texture) for n in range(4)]
    assert shown == [{7} if n == slice_ else {0} for n in range(4)]


def test_pixel_shaders_see_the_slice_and_depth_has_slices_too() -> None:
    pixel = ps("v2", "dcl_input_ps_siv constant v2.x, rendertarget_array_index")
    driven = Geometry(gs(LAYERS, LAYER), pixel)
    color, deep = (
        driven.texture(format, bind=bind, slices=3)
        for format, bind in ((WORDS, BindFlag.RENDER_TARGET),
                             (DxgiFormat.D32_FLOAT, BindFlag.DEPTH_STENCIL))
    )  # fmt: skip
    desc = CreateTargetView(color, WORDS.value, ResourceType.TEXTURE2D, 0, 0, 3)
    depth = CreateTargetView(deep, DxgiFormat.D32_FLOAT.value, ResourceType.TEXTURE2D, 0, 0, 3)
    view = driven.make("DepthStencilView", depth)
    driven.call("ClearDepthStencilView", view, 1, 1.0, 0)
    driven.call("SetDepthStencilState", None, 0)
    driven.call("SetRenderTargets", [driven.make("RenderTargetView", desc)], 7, view)
    driven.draw(2, 1)
    assert [driven.shown(n, color) for n in range(3)] == [{0}, {1}, {2}]
    half, one = (struct.unpack("<I", struct.pack("<f", z))[0] for z in (0.5, 1.0))
    assert [driven.shown(n, deep) for n in range(3)] == [{one}, {half}, {half}]
    assert driven.counts().CInvocations == 2


def test_samples_of_slices_count() -> None:
    driven = Geometry(gs(LAYERS, LAYER))
    texture = driven.texture(WORDS, slices=2, samples=4)
    desc = CreateTargetView(texture, WORDS.value, ResourceType.TEXTURE2D, 0, 0, 2)
    driven.call("SetRenderTargets", [driven.make("RenderTargetView", desc)], 7, None)
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    driven.draw(1, 0, 1)
    driven.call("QueryEnd", query)
    driven.call("Flush")
    driven.adapter.finish()
    assert driven.data(query, Query.OCCLUSION) == struct.pack("<Q", 3 * 4 * SIZE * SIZE)


def test_without_the_index_all_goes_to_the_first_slice() -> None:
    driven = Geometry(gs(over_all("mov o1, v[0][1]")))
    texture = driven.texture(WORDS, slices=3)
    desc = CreateTargetView(texture, WORDS.value, ResourceType.TEXTURE2D, 0, 1, 2)
    driven.call("SetRenderTargets", [driven.make("RenderTargetView", desc)], 7, None)
    driven.draw(5)
    assert [driven.shown(n, texture) for n in range(3)] == [{0}, {5}, {0}]


# Arrays of viewports

VIEWS = over_all("mov o1, v[0][1]", "iadd o2.x, v[0][1].x, l(-1)")
VIEW = "dcl_output_siv o2.x, viewport_array_index"


def squares(count: int) -> list[Viewport]:
    return [Viewport(4 * (n % 4), 4 * (n // 4), 4, 4) for n in range(count)]


@pytest.mark.parametrize("number", [*range(16), 16, -1, 1 << 30])
def test_a_primitive_is_in_the_viewport_it_names_and_else_in_the_first(number: int) -> None:
    driven = Geometry(gs(VIEWS, VIEW))
    driven.call("SetViewports", 0, squares(16))
    driven.draw(number + 1)
    y, x = divmod(number if 0 <= number < 16 else 0, 4)
    wanted = np.zeros((SIZE, SIZE), np.bool_)
    wanted[4 * y : 4 * y + 4, 4 * x : 4 * x + 4] = number + 1 != 0
    assert ((driven.pixels(driven.color) != 0) == wanted).all()


def test_a_viewport_that_is_not_set_shows_nothing() -> None:
    driven = Geometry(gs(VIEWS, VIEW))
    driven.call("SetViewports", 13, squares(3))
    driven.draw(3 + 1)
    assert driven.shown() == {0}
    driven.draw(2 + 1)
    assert driven.shown() == {0, 3}


def test_each_viewport_has_its_scissor_rectangle() -> None:
    driven = Geometry(gs(VIEWS, VIEW))
    state = driven.make("RasterizerState", RasterizerDesc(CullMode=1, ScissorEnable=1))
    driven.call("SetRasterizerState", state)
    driven.call("SetViewports", 14, [Viewport(0, 0, 8, 8), Viewport(8, 8, 8, 8)])
    driven.call("SetScissorRects", 14, [Scissor(0, 0, 4, 8), Scissor(0, 0, 16, 10)])
    driven.draw(1, 2)
    found = driven.pixels(driven.color)
    assert (found[:8, :4] == 1).all()
    assert (found[8:10, 8:] == 2).all()
    assert np.count_nonzero(found) == 8 * 4 + 2 * 8


def test_viewports_that_overlap_are_drawn_in_order() -> None:
    driven = Geometry(gs(VIEWS, VIEW))
    driven.call("SetViewports", 14, [Viewport(0, 0, 16, 16), Viewport(4, 4, 4, 4)])
    driven.draw(2, 1)
    assert driven.shown() == {1}
    driven.draw(1, 2)
    assert driven.shown() == {1, 2}


# Slices and viewports that a vertex or a domain shader names

VS = """vs_5_0
dcl_input v0.xyzw
dcl_input v1.xyzw
dcl_output_siv o0.xyzw, position
dcl_output o1.xyzw
dcl_output_siv o2.x, {name}
mov o0, v0
mov o1, v1.yyyy
mov o2.x, v1.x
ret
"""
COVER = ((-1.0, 1.0), (3.0, 1.0), (-1.0, -3.0))


class Naming(Geometry):
    """Triangles over all of a viewport, whose vertex shader names a slice or a viewport."""

    def __init__(self, name: str, pixel: bytes | None = None) -> None:
        super().__init__(None, pixel)
        self.call("VsSetShader", self.make("VertexShader", assemble(VS.format(name=name))))
        self.call("IaSetTopology", LIST)

    def draw(self, *numbers: int, instances: int = 1) -> None:
        """A triangle of the colour 7 for each number, which its first vertex alone has."""
        rows = [struct.pack("<4f4i", x, y, 0.5, 1, number if corner == 0 else 9, 7, 0, 0)
                for number in numbers for corner, (x, y) in enumerate(COVER)]  # fmt: skip
        self.call("IaSetVertexBuffers", 0, [self.buffer(b"".join(rows))], [32], [0])
        assert self.call("DrawInstanced", 3 * len(numbers), instances, 0, 0) == []


@pytest.mark.parametrize(
    ("numbers", "slices"), [((0,), {1}), ((2, 1), {2, 3}), ((3,), {1}), ((-1, 2), {1, 3})]
)
def test_a_vertex_shader_may_name_the_slice(numbers: tuple[int, ...], slices: set[int]) -> None:
    driven = Naming("rendertarget_array_index")
    texture = driven.texture(WORDS, slices=4)
    desc = CreateTargetView(texture, WORDS.value, ResourceType.TEXTURE2D, 0, 1, 3)
    driven.call("SetRenderTargets", [driven.make("RenderTargetView", desc)], 7, None)
    driven.draw(*numbers, instances=2)
    assert [driven.shown(n, texture) for n in range(4)] == [
        {7} if n in slices else {0} for n in range(4)
    ]
    counts = driven.counts()
    assert counts.GSInvocations == counts.GSPrimitives == 0
    assert counts.CPrimitives == 2 * len(numbers)


def test_a_vertex_shader_may_name_the_viewport() -> None:
    driven = Naming("viewport_array_index")
    driven.call("SetViewports", 0, squares(16))
    driven.draw(5, 16)
    wanted = np.zeros((SIZE, SIZE), np.int64)
    wanted[4:8, 4:8] = wanted[:4, :4] = 7
    assert (driven.pixels(driven.color) == wanted).all()


def test_pixel_shaders_see_the_slice_that_a_vertex_shader_names() -> None:
    pixel = ps("v2", "dcl_input_ps_siv constant v2.x, rendertarget_array_index")
    driven = Naming("rendertarget_array_index", pixel)
    driven.draw(12)
    assert driven.shown() == {12}


def test_a_geometry_shader_hides_the_index_of_the_vertex_shader() -> None:
    driven = Naming("viewport_array_index")
    code = gs("mov o0, v[0][0]\nmov o1, v[0][1]\nemit_stream m0\nmov o0, v[1][0]\n"
              "emit_stream m0\nmov o0, v[2][0]\nemit_stream m0", primitive="triangle")  # fmt: skip
    driven.call("GsSetShader", driven.make("GeometryShader", code))
    driven.call("SetViewports", 0, squares(16))
    driven.draw(5)
    assert (driven.pixels(driven.color) != 0).sum() == 16
    assert driven.pixels(driven.color)[0, 0] == 7


# Numbers of primitives

IDENTITY = ps("v2", "dcl_input_ps_sgv v2.x, primitive_id")
COUNTING = "dcl_input vPrim\n{}"


def test_primitives_are_numbered_without_a_geometry_shader() -> None:
    driven = Geometry(None, IDENTITY)
    driven.draw(0, 0, 0)
    assert driven.pixels(driven.color).max() == 2
    assert driven.counts().GSInvocations == 0


def test_a_geometry_shader_hands_numbers_on_or_there_are_none() -> None:
    more = COUNTING.format("dcl_output_sgv o2.x, primitive_id")
    for number in (100, -7, 1 << 30):
        body = over_all(f"iadd o2.x, vPrim, l({number})", "mov o1, v[0][1]")
        driven = Geometry(gs(body, more), IDENTITY)
        driven.draw(0, 0, 0)
        assert driven.shown() == {number + 2 & 0xFFFFFFFF}
    driven = Geometry(gs(over_all("mov o1, v[0][1]")), IDENTITY)
    driven.draw(0, 0, 0)
    assert driven.shown() == {0}


@pytest.mark.parametrize(
    ("topology", "vertices", "primitive", "last"),
    [(POINTS, 3, "point", 2), (LINES, 4, "line", 1), (LINE_STRIP, 4, "line", 2),
     (LIST, 6, "triangle", 1), (STRIP, 6, "triangle", 3)],
)  # fmt: skip
def test_a_geometry_shader_gets_the_number_of_its_primitive(
    topology: int, vertices: int, primitive: str, last: int
) -> None:
    code = gs(over_all("mov o1.x, vPrim", "mov o1.yzw, l(0, 0, 0, 0)"), COUNTING.format(""),
              primitive)  # fmt: skip
    driven = Geometry(code)
    driven.call("IaSetTopology", topology)
    driven.draw(*range(vertices))
    assert driven.shown() == {last}
    found = driven.counts()
    assert (found.GSInvocations, found.GSPrimitives, found.CInvocations) == (last + 1,) * 3


def test_instances_of_a_draw_begin_at_0_and_those_of_the_shader_have_numbers() -> None:
    more = "dcl_gsinstances 3\ndcl_input vGSInstanceID\ndcl_input vPrim"
    body = over_all("imad o1.x, vGSInstanceID.x, l(10), vPrim", "mov o1.yzw, l(0, 0, 0, 0)")
    driven = Geometry(gs(body, more))
    driven.draw(0, 0)
    assert driven.shown() == {21}
    driven.call("DrawInstanced", 1, 2, 0, 0)
    assert driven.shown() == {20}
    assert driven.counts().GSInvocations == 3 * (2 + 2)


# What is emitted


def test_constants_come_from_the_first_vertex_of_each_triangle_of_a_strip() -> None:
    places = ((-1, 1), (0, 1), (-1, -1), (0, -1))
    body = "\n".join(
        f"mov o0, l({x}.0, {y}.0, 0.5, 1.0)\nmov o1, l({n + 1}, 0, 0, 0)\nemit_stream m0"
        for n, (x, y) in enumerate(places)
    )
    driven = Geometry(gs(body))
    driven.draw(0)
    assert driven.shown() == {0, 1, 2}


@pytest.mark.parametrize(("cull", "drawn"), [(1, True), (2, True), (3, False)])
def test_all_triangles_of_a_strip_turn_the_same_way(cull: int, drawn: bool) -> None:
    places = ((-1, -1), (1, -1), (-1, 1), (1, 1))
    body = "\n".join(
        f"mov o0, l({x}.0, {y}.0, 0.5, 1.0)\nmov o1, l(9, 0, 0, 0)\nemit_stream m0"
        for x, y in places
    )
    driven = Geometry(gs(body))
    driven.call(
        "SetRasterizerState", driven.make("RasterizerState", RasterizerDesc(CullMode=cull))
    )
    driven.draw(0)
    assert driven.shown() == ({9} if drawn else {0})


@pytest.mark.parametrize(
    ("name", "distances", "shown", "clipped"),
    [
        ("clip_distance", (1, 1, 1), {0, 5}, 1),
        ("clip_distance", (-1, -1, -1), {0}, 0),
        ("cull_distance", (-1, -1, 1), {5}, 1),
        ("cull_distance", (-1, -1, -1), {0}, 0),
    ],
)
def test_distances_clip_and_cull(
    name: str, distances: Sequence[int], shown: set[int], clipped: int
) -> None:
    body = "\n".join(
        f"mov o0, {place}\nmov o1, l(5, 0, 0, 0)\nmov o2.x, l({distance}.0)\nemit_stream m0"
        for place, distance in zip(CORNERS, distances, strict=True)
    )
    if shown == {0, 5}:
        body = body.replace("mov o2.x, l(1.0)", "mov o2.x, l(-0.25)", 1)
    driven = Geometry(gs(body, f"dcl_output_siv o2.x, {name}"))
    driven.draw(0)
    assert driven.shown() == shown
    found = driven.counts()
    assert (found.CInvocations, bool(found.CPrimitives)) == (1, bool(clipped))


def test_lines_and_points_come_out_too() -> None:
    ends = "\n".join(
        f"mov o0, l({x}, 0.03125, 0.5, 1.0)\nmov o1, l(3, 0, 0, 0)\nemit_stream m0"
        for x in ("-1.0", "1.0")
    )
    for topology, count in (("linestrip", SIZE), ("pointlist", 1)):
        driven = Geometry(gs(ends, topology=topology))
        driven.draw(0)
        assert np.count_nonzero(driven.pixels(driven.color)) == count


# What is read


def test_constants_and_textures_are_read() -> None:
    body = over_all("mov r0, l(2, 1, 0, 0)", "ld r0, r0, t3", "iadd o1, r0, cb2[1]")
    more = (
        "dcl_constantbuffer cb2[2], immediateIndexed\n"
        "dcl_resource_texture2d (uint,uint,uint,uint) t3"
    )
    driven = Geometry(gs(body, more))
    constants = driven.buffer(struct.pack("<8i", *range(100, 108)), BindFlag.CONSTANT_BUFFER)
    driven.call("GsSetConstantBuffers", 2, [constants])
    words = np.arange(16, dtype="<u4").reshape(4, 4)
    texture = driven.texture(WORDS, 4, 4, bind=BindFlag.SHADER_RESOURCE,
                             data=[SubresourceUP(words.tobytes(), 16, 64)])  # fmt: skip
    view = CreateShaderResourceView(texture, WORDS.value, ResourceType.TEXTURE2D)
    driven.call("GsSetShaderResources", 3, [driven.make("ShaderResourceView", view)])
    driven.draw(0)
    assert driven.shown() == {6 + 104}


def test_vertices_lack_what_no_shader_wrote() -> None:
    code = gs(over_all("mov o1, v[0][4]"), "dcl_input v[1][4].xyzw")
    driven = Geometry(code)
    driven.draw(3)
    assert driven.shown() == {0}
    assert driven.counts().GSPrimitives == 1


def test_amplification_is_bounded() -> None:
    driven = Geometry(gs("emit_stream m0", limit=128))
    driven.draw(0)
    with pytest.raises(Unsupported, match="geometry shaders that emit more"):
        driven.call("Draw", 1 << 21, 0)


@pytest.mark.parametrize(("points", "patch"), [(1, 33), (3, 35), (32, 64)])
def test_patches_are_primitives_too(points: int, patch: int) -> None:
    code = gs(over_all(f"mov o1, v[{points - 1}][1]"), primitive=f"patch{points}")
    driven = Geometry(code)
    driven.call("IaSetTopology", patch)
    driven.draw(*range(100, 100 + 2 * points))
    assert driven.shown() == {99 + 2 * points}
    found = driven.counts()
    assert found[:4] == (2 * points, 2, 2 * points, 2)
    driven.call("IaSetTopology", 33 if points > 1 else 34)
    driven.draw(*range(4))
    assert driven.counts().GSInvocations == 2


def test_taken_away_it_is_gone() -> None:
    driven = Geometry(gs(over_all("mov o1, v[0][1]")))
    driven.draw(3)
    assert driven.shown() == {3}
    driven.call("GsSetShader", None)
    driven.draw(4)
    assert sorted(driven.shown()) == [3, 4]
    assert driven.counts().GSInvocations == 1


# Counts


def outline(*zs: str) -> str:
    """A triangle with these depths in clip space."""
    places = ((-1, 1), (1, 1), (-1, -1))
    return "\n".join(
        f"mov o0, l({x}.0, {y}.0, {z}, 1.0)\nmov o1, l(1, 0, 0, 0)\nemit_stream m0"
        for (x, y), z in zip(places, zs, strict=True)
    )


@pytest.mark.parametrize(
    ("depths", "left"),
    [
        (("0.5", "0.5", "0.5"), 1),
        (("-1.0", "-1.0", "-1.0"), 0),
        (("-1.0", "0.5", "-1.0"), 1),
        (("-1.0", "0.5", "0.5"), 2),
        (("-1.0", "0.5", "3.0"), 3),
    ],
)
def test_the_clipper_is_like_a_geometry_shader_behind_the_geometry_shader(
    depths: Sequence[str], left: int
) -> None:
    driven = Geometry(gs("\n".join((outline(*depths), "cut_stream m0", outline(*depths)))))
    driven.draw(0)
    found = driven.counts()
    assert (found.GSInvocations, found.GSPrimitives) == (1, 2)
    assert (found.CInvocations, found.CPrimitives) == (2, 2 * left)


def test_what_a_geometry_shader_puts_out_is_what_the_clipper_gets() -> None:
    driven = Geometry(gs(over_all("mov o1, v[0][1]"), "dcl_gsinstances 2"))
    driven.draw(1, 2, 3)
    found = driven.counts()
    assert found.GSPrimitives == found.CInvocations == 6


def test_the_clipper_gets_nothing_where_nothing_is_rasterized() -> None:
    """Stream output without a pixel shader and tests turns rasterization off; without stream
    output it stays on."""
    code = gs(over_all("mov o1, v[0][1]"))
    streamed = StreamOutputShader11(code, (StreamOutputEntry11(0, 0, 1, 0b1111),))
    for desc, entered in ((streamed, 0), (None, 3)):
        driven = Geometry(code)
        if desc is not None:
            entry = "GeometryShaderWithStreamOutput"
            memory = bytearray(driven.device.functions[f"CalcPrivate{entry}"](desc, None))
            assert driven.call(f"Create{entry}", desc, memory) == []
            driven.call("GsSetShader", memory)
        driven.call("PsSetShader", None)
        driven.call("SetDepthStencilState", driven.make("DepthStencilState", NO_DEPTH), 0)
        driven.draw(1, 2, 3)
        found = driven.counts()
        assert (found.GSInvocations, found.GSPrimitives) == (3, 3)
        assert (found.CInvocations, found.CPrimitives) == (entered, entered)
        assert found.PSInvocations == 0


def test_partial_primitives_count_nowhere_and_partial_strips_neither() -> None:
    whole = Geometry(gs(over_all("mov o1, v[0][1]"), primitive="triangle"))
    broken = Geometry(gs(over_all("mov o1, v[0][1]") + "\ncut_stream m0\nemit_stream m0",
                         primitive="triangle"))  # fmt: skip
    found = []
    for driven, vertices in ((whole, 6), (whole, 8), (broken, 7)):
        before = driven.counts()
        driven.call("IaSetTopology", LIST)
        driven.draw(*range(vertices))
        after = driven.counts()
        found.append([b - a for a, b in zip(before, after, strict=True)])
    assert found[0] == found[1] == found[2]
    assert found[0][:6] == [6, 2, 6, 2, 2, 2]


PASSING = {LINES: "gs_line_pass", LINE_STRIP: "gs_line_pass", LIST: "gs_pass_tri",
           STRIP: "gs_pass_tri", 10: "gs_line_pass", 11: "gs_line_pass", 12: "gs_pass_tri",
           13: "gs_pass_tri"}  # fmt: skip
PLACES = st.integers(-24, 24).map(lambda n: n / 8)


@pytest.mark.parametrize("topology", PASSING)
@settings(deadline=None, max_examples=15)
@given(rows=st.lists(st.tuples(PLACES, PLACES, PLACES, PLACES), min_size=2, max_size=13))
def test_a_shader_that_hands_vertices_on_changes_nothing(
    topology: int, rows: list[tuple[float, ...]]
) -> None:
    colored = [(*place, n % 3, n % 2, 0.5, 1) for n, place in enumerate(rows)]
    found = []
    for name in (None, PASSING[topology]):
        driven = Drawing(depth=DepthStencilDesc())
        if name is not None:
            shader = driven.memory_of("VertexShader", tokens(name))
            driven.call("CreateGeometryShader", tokens(name), shader)
            driven.call("GsSetShader", shader)
        driven.call("IaSetTopology", topology)
        driven.vertices(colored)
        driven.call("Draw", len(rows), 0)
        memory = driven.read(driven.color), driven.read(driven.deep)
        counts = driven.device.statistics()
        found.append((memory, counts._replace(GSInvocations=0, GSPrimitives=0)))
    assert found[0] == found[1]
