"""Draws through the entries: what is set becomes pixels and counts."""

from __future__ import annotations

from operator import is_
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.query_types import CreateQuery, Query
from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.ddi10.resources.maps import Map
from dp2emu.ddi10.resources.resource import BindFlag, Usage
from dp2emu.ddi10.states.bindings import Scissor, Viewport
from dp2emu.ddi10.states.input_layout import InputElement
from dp2emu.ddi10.states.state_objects import (
    BlendDesc1,
    DepthStencilDesc,
    RasterizerDesc,
    RenderTargetBlend,
    StencilOpDesc,
)
from dp2emu.errors import ContractError, Unsupported
from dp2emu.gpu.command.packets import Draw, PageIn
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import by_work, fixed
from dp2emu.gpu.resource.memory_residency import Budgets
from dp2emu.shader.engines import CHECKED, engine
from tests.ddi10.drawing import FULL, SIZE, strip, tokens
from tests.ddi10.driving import REMOVED
from tests.ddi10.rendering import FLOAT4, GREEN, LIST, NO_DEPTH, RED, WHITE, Drawing, Rendering
from tests.ddi10.shaders.test_stage_resources import ps


def test_a_strip_fills_its_target_with_its_colour() -> None:
    driven = Drawing()
    driven.vertices(strip((1, 0.5, 0.25, 1)))
    assert driven.call("Draw", 4, 0) == []
    assert (driven.pixels(driven.color) == 0xFF4080FF).all()
    counted = Statistics(4, 2, 4, 0, 0, 2, 2, SIZE * SIZE)
    assert driven.device.statistics() == counted


@pytest.mark.parametrize(
    ("scalar", "least", "most"), [("oDepthGE", 0.5, 0.9), ("oDepthLE", 0.1, 0.5)]
)
def test_a_depth_of_a_pixel_shader_is_bounded_by_the_fragments(
    scalar: str, least: float, most: float
) -> None:
    driven = Rendering(adapter=Adapter(Gpu(run=engine(CHECKED)), checking=True))
    format = DxgiFormat.D32_FLOAT
    texture = driven.texture(format, bind=BindFlag.DEPTH_STENCIL)
    driven.prepare(depth=DepthStencilDesc(1, 1, CmpFunc.ALWAYS))
    driven.call("VsSetShader", driven.make("VertexShader", tokens("vs_pass")))
    lines = ["mov o0, v1", f"mov {scalar}, v1.x"]
    head = f"dcl_input_ps linear v1.xyzw\ndcl_output {scalar}"
    driven.call("PsSetShader", driven.make("PixelShader", ps(lines, head)))
    driven.vertices([[x, y, 0.5, 1, 0.5 + 0.4 * x, 0, 0, 1] for x, y in FULL])
    driven.call("SetRenderTargets", [], 8, driven.depth(texture, format))
    driven.call("Draw", 4, 0)
    given = (0.1 + 0.05 * (np.arange(SIZE) + 0.5)).astype("f4")
    found = driven.pixels(texture).view("<f4")
    assert np.allclose(found, np.clip(given, least, most), rtol=0, atol=1e-6)


def test_a_gpu_that_skips_draws_gets_a_packet_for_each_pipeline_and_none_for_a_repeated_one() -> (
    None
):
    gpu = Gpu()
    gpu.skipped = frozenset({Draw})
    driven = Drawing(adapter=Adapter(gpu))
    seen: list[Draw] = []
    gpu.packet_taps.append(
        lambda packet, _: seen.append(packet) if isinstance(packet, Draw) else None
    )
    for topology in (LIST, LIST, 5, 5, LIST):
        driven.call("IaSetTopology", topology)
        driven.call("Draw", 3, 0)
    driven.call("Flush")
    driven.adapter.finish()
    assert [int(packet.input.topology) for packet in seen] == [LIST, 5, LIST]


def test_equal_draws_share_the_records_of_their_rasterizer_and_output() -> None:
    driven = Drawing(adapter=Adapter(Gpu()))
    state = driven.make("DepthStencilState", DepthStencilDesc())
    setters: list[tuple[str, tuple[object, ...]]] = [
        ("SetBlendState", (None, (1.0, 1.0, 1.0, 0.5), 0xFFFFFFFF)),
        ("SetBlendState", (None, (1.0, 1.0, 1.0, 0.5), 1)),
        ("SetDepthStencilState", (state, 7)),
        ("SetViewports", (15, [Viewport(0, 0, 2, 2)])),
        ("SetRenderTargets", ([driven.target(driven.color)], 7, None)),
    ]
    seen: list[Draw] = []
    driven.adapter.gpu.packet_taps.append(
        lambda packet, _: seen.append(packet) if isinstance(packet, Draw) else None
    )
    for name, given_ in [("SetBlendState", (None, (1,) * 4, 0xFFFFFFFF)), *setters]:
        driven.call(name, *given_)
        for _ in range(2):
            driven.call("Draw", 3, 0)
    driven.call("Flush")
    driven.adapter.finish()
    records = [(packet.output, packet.raster) for packet in seen]
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert all(map(is_, first, second))
    assert all(not all(map(is_, *two)) for two in zip(records[::2], records[2::2], strict=False))


# Input assembler


def test_a_draw_begins_at_its_start_vertex() -> None:
    driven = Drawing()
    driven.vertices([*strip(GREEN), *strip(RED)])
    driven.call("Draw", 4, 4)
    assert driven.filled == SIZE * SIZE


@pytest.mark.parametrize(("format", "type"), [(57, "<u2"), (42, "<u4")])
def test_indices_of_both_sizes_have_a_start_an_offset_and_a_base(format: int, type: str) -> None:
    driven = Drawing()
    driven.vertices([*strip(GREEN), *strip(RED)])
    data = b"!?" * 2 + np.array([9, 9, 9, 2, 3, 4, 5], type).tobytes()
    driven.call("IaSetIndexBuffer", driven.buffer(data, BindFlag.INDEX_BUFFER), format, 4)
    driven.call("DrawIndexed", 4, 3, 2)
    assert driven.filled == SIZE * SIZE


def test_an_index_of_ones_cuts_a_strip_and_not_a_list() -> None:
    driven = Drawing()
    data = np.array([0, 1, 2, 0xFFFF, 1, 3, 2], "<u2").tobytes()
    driven.call("IaSetIndexBuffer", driven.buffer(data), 57, 0)
    driven.call("DrawIndexed", 7, 0, 0)
    assert driven.filled == SIZE * SIZE
    assert driven.device.statistics().IAPrimitives == 2
    driven.call("IaSetTopology", LIST)
    driven.call("DrawIndexed", 7, 0, 0)
    driven.call("Flush")
    assert driven.device.statistics().IAPrimitives == 4


@pytest.mark.parametrize(
    ("topology", "before", "after"), [(3, 2, 3), (5, 3, 4), (11, 4, 5), (13, 6, 8), (13, 7, 6)]
)
def test_all_indices_behind_a_cut_count(topology: int, before: int, after: int) -> None:
    driven = Drawing()
    indices = [0] * before + [0xFFFF] + [0] * after
    buffer = driven.buffer(np.array(indices, "<u2").tobytes())
    driven.call("IaSetIndexBuffer", buffer, 57, 0)
    driven.call("IaSetTopology", topology)
    driven.call("DrawIndexed", len(indices), 0, 0)
    driven.call("Flush")
    made = {3: lambda n: n - 1, 5: lambda n: n - 2, 11: lambda n: n - 3, 13: lambda n: n // 2 - 2}
    wanted = made[topology](before) + made[topology](after)
    assert driven.device.statistics().IAPrimitives == wanted


TOPOLOGY_COUNTS = {
    1: [(0, 0), (1, 1), (5, 5)],
    2: [(1, 0), (2, 1), (5, 2)],
    3: [(1, 0), (2, 1), (5, 4)],
    4: [(2, 0), (3, 1), (8, 2)],
    5: [(2, 0), (3, 1), (8, 6)],
    10: [(3, 0), (4, 1), (11, 2)],
    11: [(3, 0), (4, 1), (11, 8)],
    12: [(5, 0), (6, 1), (17, 2)],
    13: [(5, 0), (6, 1), (7, 1), (8, 2)],
}


@pytest.mark.parametrize(
    ("topology", "vertices", "primitives"),
    [(t, v, p) for t, rows in TOPOLOGY_COUNTS.items() for v, p in rows],
)
def test_primitives_are_whole(topology: int, vertices: int, primitives: int) -> None:
    driven = Drawing()
    driven.call("IaSetTopology", topology)
    driven.call("Draw", vertices, 0)
    driven.call("Flush")
    assert driven.device.statistics().IAPrimitives == primitives


def test_neighbours_are_not_drawn_without_a_geometry_shader() -> None:
    driven = Drawing()
    (a, b, c, d), far = strip(RED), [9.0] * 8
    driven.vertices([a, far, b, far, c, far, d, far])
    driven.call("IaSetTopology", 13)
    driven.call("Draw", 8, 0)
    assert driven.filled == SIZE * SIZE


@pytest.mark.parametrize("topology", [0, 6, 99])
def test_without_a_topology_nothing_is_drawn(topology: int) -> None:
    driven = Drawing()
    driven.call("IaSetTopology", topology)
    driven.call("Draw", 4, 0)
    driven.call("Flush")
    assert driven.device.statistics() == Statistics()


@pytest.mark.parametrize(("topology", "points", "patches"), [(33, 1, 4), (36, 4, 1), (64, 32, 0)])
def test_patches_of_which_nothing_is_made_are_read_and_not_drawn(
    topology: int, points: int, patches: int
) -> None:
    driven = Drawing()
    driven.call("IaSetTopology", topology)
    driven.call("Draw", 4, 0)
    driven.call("Flush")
    read = points * patches
    expected = Statistics(IAVertices=read, IAPrimitives=patches, VSInvocations=read)
    assert driven.device.statistics() == expected


def test_without_a_vertex_shader_or_indices_nothing_is_drawn() -> None:
    driven = Drawing()
    driven.call("DrawIndexed", 4, 0, 0)
    driven.call("VsSetShader", None)
    driven.call("Draw", 4, 0)
    driven.call("Flush")
    assert driven.device.statistics() == Statistics()


def test_unbound_vertex_buffers_read_zeros() -> None:
    driven = Drawing()
    driven.call("IaSetVertexBuffers", 0, [None], [0], [0])
    driven.call("Draw", 4, 0)
    assert driven.filled == 0
    assert driven.device.statistics().VSInvocations == 4


def test_vertex_buffers_have_offsets_and_slots() -> None:
    driven = Drawing()
    driven.layout(
        InputElement(3, 0, FLOAT4.value, InputRegister=0),
        InputElement(5, 8, FLOAT4.value, InputRegister=1),
    )
    rows = np.array(strip(RED), "<f4")
    places, colors = rows[:, :4].tobytes(), b"." * 8 + rows[:, 4:].tobytes()
    buffers = [driven.buffer(b"#" * 4 + places), None, driven.buffer(colors)]
    driven.call("IaSetVertexBuffers", 3, buffers, [16, 0, 16], [4, 0, 0])
    driven.call("Draw", 4, 0)
    assert driven.filled == SIZE * SIZE


def instanced(rate: int, count: int, first: int) -> list[int]:
    """The colours of instances side by side, as indices of the elements they read."""
    driven = Drawing(vs="vs_instance")
    driven.layout(
        InputElement(0, 0, FLOAT4.value, InputRegister=0),
        InputElement(0, 16, FLOAT4.value, InputRegister=1),
        InputElement(1, 0, FLOAT4.value, 1, rate, InputRegister=3),
    )
    step = np.array([0.25, 0, 0, 0], "<f4").tobytes()
    driven.call("VsSetConstantBuffers", 0, [driven.buffer(step, BindFlag.CONSTANT_BUFFER)])
    edge = -1 + 2 / 8
    corners = [(-1, 1), (edge, 1), (-1, -1), (edge, -1)]
    driven.vertices([[x, y, 0.5, 1, *WHITE] for x, y in corners])
    colors = [[n / 255, 0, 0, 1] for n in range(10)]
    driven.call("IaSetVertexBuffers", 1, [driven.buffer(np.array(colors, "<f4").tobytes())],
                [16], [0])  # fmt: skip
    driven.call("DrawInstanced", 4, count, 0, first)
    row = driven.pixels(driven.color)[0, ::2]
    return [int(word) & 0xFF for word in row[:count]]


@pytest.mark.parametrize(
    ("rate", "first", "expected"),
    [
        (1, 0, [0, 1, 2, 3, 4, 5]),
        (2, 0, [0, 0, 1, 1, 2, 2]),
        (1, 3, [3, 4, 5, 6, 7, 8]),
        (4, 2, [2, 2, 2, 2, 3, 3]),
        (0, 2, [2, 2, 2, 2, 2, 2]),
    ],
)
def test_instances_step_through_their_elements(rate: int, first: int, expected: list[int]) -> None:
    assert instanced(rate, 6, first) == expected


def test_no_instance_draws_nothing_and_each_counts() -> None:
    driven = Drawing()
    driven.call("DrawInstanced", 4, 0, 0, 0)
    driven.call("Flush")
    assert driven.device.statistics() == Statistics()
    data = np.arange(4, dtype="<u2").tobytes()
    driven.call("IaSetIndexBuffer", driven.buffer(data), 57, 0)
    driven.call("DrawIndexedInstanced", 4, 3, 0, 0, 0)
    driven.call("Flush")
    assert driven.device.statistics()[:3] == (12, 6, 12)


@pytest.mark.parametrize(
    ("entry", "arguments"), [("Draw", (0xFFFFFFFF, 0)), ("DrawInstanced", (4, 0xFFFFFFFF, 0, 0))]
)
def test_more_than_can_be_drawn_says_so(entry: str, arguments: tuple[int, ...]) -> None:
    with pytest.raises(Unsupported, match="primitives"):
        Drawing().call(entry, *arguments)


HOSTILE = [0, 1, 3, 1 << 12, 0x7FFFFFFF, 0xFFFFFFFF]


@given(st.data())
def test_whatever_the_numbers_are_a_draw_ends(data: st.DataObject) -> None:
    """In pixels, nothing, or the name of what is too much."""
    driven = Drawing(vs="vs_instance")
    driven.layout(
        InputElement(0, 4, FLOAT4.value, InputRegister=0),
        InputElement(data.draw(st.integers(0, 3)), 0, FLOAT4.value, 1, 2, InputRegister=3),
    )
    number = st.sampled_from(HOSTILE)
    offsets = [data.draw(number) for _ in range(2)]
    strides = [data.draw(st.sampled_from([0, 1, 32, 2048])) for _ in range(2)]
    buffers = [driven.buffer(bytes(99)) for _ in range(2)]
    driven.call("IaSetVertexBuffers", 0, buffers, strides, offsets)
    driven.call("IaSetIndexBuffer", buffers[0], 57, data.draw(number))
    driven.call("IaSetTopology", data.draw(st.sampled_from([1, 2, 3, 4, 5, 10, 11, 12, 13])))
    base = data.draw(st.sampled_from([0, -1, 1, 0x7FFFFFFF, -0x80000000]))
    counts = data.draw(number), data.draw(st.sampled_from([0, 1, 5, 0xFFFFFFFF]))
    numbers = (*counts, data.draw(number), base, data.draw(number))
    try:
        assert driven.call("DrawIndexedInstanced", *numbers) == []
        driven.call("Flush")
    except Unsupported as error:
        assert "primitives" in error.what


@pytest.mark.parametrize(
    "numbers", [(-1, 0, 0), (1 << 32, 0, 0), (3, -1, 0), (3, 0, 1 << 31), (3, 0, -(1 << 32))]
)
def test_numbers_of_draws_fit(numbers: tuple[int, int, int]) -> None:
    driven = Drawing()
    with pytest.raises(ContractError) as broken:
        driven.call("DrawIndexed", *numbers)
    assert broken.value.rule == "NUMBERS"


def test_elements_of_instances_in_buffers_that_are_not_bound_are_zeros() -> None:
    driven = Drawing(vs="vs_instance")
    driven.layout(
        InputElement(0, 0, FLOAT4.value, InputRegister=0),
        InputElement(0, 16, FLOAT4.value, InputRegister=1),
        InputElement(7, 0, FLOAT4.value, 1, 1, InputRegister=3),
    )
    driven.call("ClearRenderTargetView", driven.view, RED)
    driven.call("DrawInstanced", 4, 2, 0, 0)
    assert (driven.pixels(driven.color) == 0).all()


# Constants


def test_constants_are_those_of_the_time_of_the_draw() -> None:
    driven = Drawing(ps="ps_const")
    buffer = driven.buffer(np.array(GREEN, "<f4").tobytes(), BindFlag.CONSTANT_BUFFER)
    driven.call("PsSetConstantBuffers", 0, [buffer])
    half = driven.device.functions["SetViewports"]
    for color, left in ((GREEN, 0), (RED, SIZE // 2)):
        data = np.array(color, "<f4").tobytes()
        driven.call("DefaultConstantBufferUpdateSubresourceUP", buffer, 0, None, data)
        half(15, [Viewport(left, 0, SIZE // 2, SIZE)])
        driven.call("Draw", 4, 0)
    assert driven.drawn(GREEN)[:, : SIZE // 2].all()
    assert driven.drawn(RED)[:, SIZE // 2 :].all()


def test_constants_that_are_not_bound_are_0() -> None:
    driven = Drawing(ps="ps_const")
    driven.call("Draw", 4, 0)
    assert (driven.pixels(driven.color) == 0).all()


# Rasterizer


@pytest.mark.parametrize("counterclockwise", [0, 1])
@pytest.mark.parametrize(("cull", "drawn"), [(1, [1, 1]), (2, [0, 1]), (3, [1, 0])])
def test_faces_are_culled(counterclockwise: int, cull: int, drawn: list[int]) -> None:
    """The strip is clockwise on the screen: in front unless that is turned."""
    raster = RasterizerDesc(CullMode=cull, FrontCounterClockwise=counterclockwise)
    driven = Drawing(raster=raster)
    driven.call("Draw", 4, 0)
    assert bool(driven.filled) == bool(drawn[counterclockwise])


@pytest.mark.parametrize(("counterclockwise", "color"), [(0, GREEN), (1, RED)])
def test_pixel_shaders_are_told_the_face(counterclockwise: int, color: Any) -> None:
    raster = RasterizerDesc(CullMode=1, FrontCounterClockwise=counterclockwise)
    driven = Drawing(ps="ps_frontface", raster=raster)
    driven.call("Draw", 4, 0)
    assert driven.drawn(color).all()


def test_wireframe_draws_edges() -> None:
    driven = Drawing(raster=RasterizerDesc(FillMode=2, CullMode=1))
    driven.call("Draw", 4, 0)
    assert 0 < driven.filled < SIZE * SIZE


@pytest.mark.parametrize("enabled", [0, 1])
def test_the_scissor_rectangle_counts_if_it_is_enabled(enabled: int) -> None:
    driven = Drawing(raster=RasterizerDesc(CullMode=1, ScissorEnable=enabled))
    driven.call("SetScissorRects", 15, [Scissor(2, 3, 7, 5)])
    driven.call("Draw", 4, 0)
    expected = np.full((SIZE, SIZE), not enabled)
    expected[3:5, 2:7] = True
    assert (driven.drawn() == expected).all()


def test_no_scissor_rectangle_is_an_empty_one() -> None:
    driven = Drawing(raster=RasterizerDesc(CullMode=1, ScissorEnable=1))
    driven.call("SetScissorRects", 16, [])
    driven.call("Draw", 4, 0)
    assert driven.filled == 0


@pytest.mark.parametrize(
    ("view", "columns"),
    [
        (Viewport(4, 0, 8, 16), (4, 12)),
        (Viewport(3.5, 0, 8, 16), (3, 11)),
        (Viewport(3.75, 0, 8, 16), (4, 12)),
        (Viewport(-4, 0, 8, 16), (0, 4)),
        (Viewport(12, 0, 800, 16), (12, 16)),
        (Viewport(4, 0, 0, 16), (4, 4)),
    ],
)
def test_pixels_with_their_centre_in_the_viewport_are_drawn(
    view: Viewport, columns: tuple[int, int]
) -> None:
    driven = Drawing()
    driven.call("SetViewports", 15, [view])
    driven.call("Draw", 4, 0)
    expected = np.zeros((SIZE, SIZE), bool)
    expected[:, slice(*columns)] = True
    assert (driven.drawn() == expected).all()


def test_without_a_viewport_nothing_is_covered() -> None:
    driven = Drawing()
    driven.call("SetViewports", 16, [])
    driven.call("Draw", 4, 0)
    assert driven.filled == 0
    assert driven.device.statistics().CInvocations == 2


@pytest.mark.parametrize(("clip", "drawn"), [(1, 0), (0, SIZE * SIZE)])
def test_depth_outside_the_range_is_clipped_if_that_is_enabled(clip: int, drawn: int) -> None:
    driven = Drawing(raster=RasterizerDesc(CullMode=1, DepthClipEnable=clip))
    driven.vertices(strip(RED, z=1.5))
    driven.call("Draw", 4, 0)
    assert driven.filled == drawn


def test_distances_clip() -> None:
    driven = Drawing(vs="vs_clipdist")
    plane = np.array([1, 0, 0, 0], "<f4").tobytes()
    driven.call("VsSetConstantBuffers", 0, [driven.buffer(plane, BindFlag.CONSTANT_BUFFER)])
    driven.call("Draw", 4, 0)
    expected = np.zeros((SIZE, SIZE), bool)
    expected[:, SIZE // 2 :] = True
    assert (driven.drawn() == expected).all()


# No pixel shader


@pytest.mark.parametrize(
    "depth",
    [
        NO_DEPTH,
        DepthStencilDesc(DepthFunc=CmpFunc.ALWAYS),
        DepthStencilDesc(DepthEnable=0, StencilEnable=1),
    ],
)
def test_disabled_tests_are_tests_that_always_pass_without_a_pixel_shader_too(
    depth: DepthStencilDesc,
) -> None:
    driven = Drawing(ps=None, depth=depth)
    driven.call("SetRenderTargets", [], 8, None)
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    driven.call("Draw", 4, 0)
    driven.call("QueryEnd", query)
    assert driven.data(query, Query.OCCLUSION) == (SIZE * SIZE).to_bytes(8, "little")
    assert driven.device.statistics() == Statistics(4, 2, 4, 0, 0, 2, 2, 0)


def test_samples_count_without_any_target() -> None:
    driven = Drawing()
    driven.call("SetRenderTargets", [], 8, None)
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    driven.call("Draw", 4, 0)
    driven.call("QueryEnd", query)
    assert driven.data(query, Query.OCCLUSION) == (SIZE * SIZE).to_bytes(8, "little")


def test_a_removed_device_draws_nothing() -> None:
    driven = Drawing()
    driven.adapter.remove()
    assert driven.call("Draw", 4, 0) == REMOVED
    assert driven.call("DrawIndexedInstanced", 4, 1, 0, 0, 0) == REMOVED


# What queries say of draws


def occlusion(driven: Drawing) -> int:
    query = driven.create(Query.OCCLUSION)
    driven.call("QueryBegin", query)
    driven.call("Draw", 4, 0)
    driven.call("QueryEnd", query)
    return int.from_bytes(driven.data(query, Query.OCCLUSION) or b"", "little")


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_samples_are_counted_or_pixels_where_there_is_one(samples: int) -> None:
    assert occlusion(Drawing(samples=samples)) == samples * SIZE * SIZE


def test_disabled_tests_count_as_tests_that_always_pass() -> None:
    always = StencilOpDesc()
    enabled = DepthStencilDesc(1, 0, CmpFunc.ALWAYS, 1, FrontFace=always, BackFace=always)
    assert occlusion(Drawing()) == occlusion(Drawing(depth=enabled)) == SIZE * SIZE


def test_discarded_pixels_do_not_count() -> None:
    driven = Drawing(ps="ps_discard")
    assert occlusion(driven) == SIZE * SIZE // 2
    assert driven.device.statistics().PSInvocations == SIZE * SIZE


def test_masks_of_colours_and_blending_do_not_matter() -> None:
    off = RenderTargetBlend(1, 1, 2, RenderTargetWriteMask=0)
    assert occlusion(Drawing(blend=BlendDesc1(RenderTarget=(off,) * 8))) == SIZE * SIZE


def test_who_sees_an_event_sees_what_was_written_before() -> None:
    driven = Drawing(timing=fixed(call=1, packet=500, delivery=300))
    staging = driven.buffer(bytes(4), usage=Usage.STAGING)
    memory = driven.device.functions["StagingResourceMap"](staging, 0, Map.READ).pData
    driven.call("StagingResourceUnmap", staging, 0)
    driven.call("ResourceCopy", staging, driven.buffer(b"seen"))
    event = driven.issue(Query.EVENT)
    looks = []
    while not looks or looks[-1][0] is None:
        looks.append((driven.data(event, Query.EVENT), bytes(memory)))
    assert looks[0] == (None, bytes(4))
    assert looks[-1] == (b"\x01\0\0\0", b"seen")


def test_timestamps_go_up_by_the_work_between_them() -> None:
    driven = Drawing(timing=fixed(call=0, packet=500))
    driven.call("Flush")
    driven.adapter.finish()
    before = driven.issue(Query.TIMESTAMP)
    for _ in range(3):
        driven.call("Draw", 4, 0)
    after = driven.issue(Query.TIMESTAMP)
    driven.call("Flush")
    driven.adapter.finish()
    first, last = (
        int.from_bytes(driven.data(query, Query.TIMESTAMP) or b"", "little")
        for query in (before, after)
    )
    assert last - first == 3 * 500


# Removal


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Draw", (4, 0)),
        ("DrawIndexed", (4, 0, 0)),
        ("SetViewports", (16, [])),
        ("SetScissorRects", (16, [])),
        ("IaSetTopology", (5,)),
        ("Flush", ()),
    ],
)
@pytest.mark.parametrize("calls", range(3))
def test_removal_strikes_at_any_entry(name: str, arguments: Any, calls: int) -> None:
    driven = Drawing()
    driven.adapter.remove(after=calls)
    codes = [driven.call(name, *arguments) for _ in range(4)]
    assert codes == [[]] * calls + [REMOVED] * (4 - calls)


def test_what_is_removed_goes_on_telling_sizes_and_letting_go() -> None:
    driven = Drawing()
    driven.adapter.remove()
    for name in driven.device.entries:
        if name.startswith("CalcPrivate"):
            description = CreateQuery(Query.EVENT) if "Query" in name else None
            assert driven.call(name, description) == []
    assert driven.call("DestroyRenderTargetView", driven.view) == []
    assert driven.call("DestroyResource", driven.color) == []


# Memory


def test_what_a_draw_uses_is_brought_to_the_gpu_before_it() -> None:
    driven = Drawing(depth=DepthStencilDesc())
    constants = driven.buffer(bytes(16), BindFlag.CONSTANT_BUFFER)
    unused = driven.buffer(bytes(16))
    driven.call("VsSetConstantBuffers", 3, [constants])
    indices = driven.buffer(bytes(8), BindFlag.INDEX_BUFFER)
    driven.call("IaSetIndexBuffer", indices, 57, 0)
    driven.call("Flush")
    seen: list[object] = []
    driven.adapter.gpu.packet_taps.append(lambda packet, start: seen.append(packet))
    driven.call("DrawIndexed", 4, 0, 0)
    driven.call("Flush")
    page_in, draw = seen
    assert isinstance(page_in, PageIn) and isinstance(draw, Draw)
    of = {
        allocation.handle: resource
        for resource in driven.device._parts.resources.objects.values()
        for allocation in resource.allocations
    }
    opened = driven.device._parts.resources.objects.open
    used = {id(of[handle]) for handle in page_in.allocations}
    wanted = (driven.color, driven.deep, constants, indices)
    assert {id(opened(memory, "")) for memory in wanted} < used
    assert id(opened(unused, "")) not in used
    assert len(used) == len(wanted) + 1


def test_a_draw_with_what_was_evicted_takes_longer() -> None:
    def ticks(gpu: int) -> int:
        memory = Gpu(by_work(), budgets=Budgets(gpu, 1 << 20, 1 << 20))
        driven = Rendering(adapter=Adapter(memory, checking=True))
        made = driven.texture()
        view = driven.target(made)
        driven.prepare()
        driven.shaders()
        driven.vertices(strip(RED))
        driven.call("SetRenderTargets", [view], 7, None)
        driven.buffer(bytes(2000))
        driven.call("Flush")
        driven.adapter.finish()
        before = memory.counters.busy_ticks
        driven.call("Draw", 4, 0)
        driven.call("Flush")
        driven.adapter.finish()
        return memory.counters.busy_ticks - before

    of_the_draw = 4 * SIZE * SIZE + 4 * 32
    assert ticks(2000) - ticks(1 << 20) == of_the_draw // 2
