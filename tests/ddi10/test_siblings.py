"""The same triangles through DrawPrimitives2 and through the Direct3D 10/11 interface."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import (
    Blend,
    CmpFunc,
    Cull,
    DeclMethod,
    DeclType,
    DeclUsage,
    Format,
    PrimitiveType,
    QueryType,
    RenderState,
)
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.states.state_objects import BlendDesc1, DepthStencilDesc, RenderTargetBlend
from dp2emu.dp2.driver import Driver
from dp2emu.gpu.command.queries import COUNTER_NAMES
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.device.timing import by_work
from dp2emu.runtime.device9 import Device9
from dp2emu.runtime.objects import VertexElement
from dp2emu.shader.sm.assemble import assemble
from tests.ddi10.rendering import D24S8, LIST, Rendering

SIDE = 16
BGRA8 = DxgiFormat.B8G8R8A8_UNORM
VERTEX = "vs_2_0\ndcl_position v0\ndcl_color v1\nmov oPos, v0\nmov oD0, v1"
PIXEL = "ps_2_0\ndcl v0\nmov oC0, v0"
OF_THE_HOST = {"upload_bytes", "wait_queue_ticks", "wait_resource_ticks"}
"""Counters of how commands come to the GPU, which is different."""

Vertex = tuple[float, ...]


class Seen(NamedTuple):
    """What is the same: samples, pixels, depth, and what the GPU did, in counts and in ticks."""

    samples: int
    pixels: NDArray[np.uint32]
    depth: NDArray[np.uint32]
    counters: dict[str, int]


def counts(gpu: Gpu) -> dict[str, int]:
    return {n: getattr(gpu.counters, n) for n in COUNTER_NAMES if n not in OF_THE_HOST}


def change(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after}


def words(text: str) -> tuple[int, ...]:
    code = assemble(text)
    return struct.unpack(f"<{len(code) // 4}I", code)


def by_tokens(vertices: list[Vertex], indices: list[int], blends: bool) -> Seen:
    driver = Driver(by_work())
    device = Device9(driver, SIDE, SIDE, format=Format.A8R8G8B8)
    elements = [
        VertexElement(0, 0, DeclType.FLOAT4, DeclMethod.DEFAULT, DeclUsage.POSITION, 0),
        VertexElement(0, 16, DeclType.FLOAT4, DeclMethod.DEFAULT, DeclUsage.COLOR, 0),
    ]
    device.set_vertex_declaration(device.create_vertex_declaration(elements))
    device.set_vertex_shader(device.create_vertex_shader(words(VERTEX)))
    device.set_pixel_shader(device.create_pixel_shader(words(PIXEL)))
    for state, value in {
        RenderState.CULLMODE: Cull.NONE,
        RenderState.ZFUNC: CmpFunc.LESS,
        RenderState.ALPHABLENDENABLE: blends,
        RenderState.SRCBLEND: Blend.SRCALPHA,
        RenderState.DESTBLEND: Blend.INVSRCALPHA,
    }.items():
        device.set_render_state(state, value)
    # Centres of pixels are at whole numbers here, and half a pixel further there.
    half = 1 / SIDE
    moved = [(x - half * w, y + half * w, z, w, *c) for x, y, z, w, *c in vertices]
    device.set_stream_source(0, device.create_vertex_buffer(packed(moved)), 0, 32)
    device.set_indices(device.create_index_buffer(np.array(indices, "<u2").tobytes()))
    device.clear()
    query = device.create_query(QueryType.OCCLUSION)
    # The vertex cache is observed on this side only while a query asks for it.
    watching = device.create_query(QueryType.CACHEUTILIZATION)
    device.session.flush()
    driver.gpu.finish()
    before = counts(driver.gpu)
    query.begin()
    watching.begin()
    triangles = len(indices) // 3
    device.draw_indexed_primitive(PrimitiveType.TRIANGLELIST, 0, 0, len(vertices), 0, triangles)
    query.end()
    watching.end()
    samples = int(query.wait().value)
    assert device.depth_buffer is not None
    depth = device.read_back(device.depth_buffer) >> 8
    found = change(before, counts(driver.gpu))
    return Seen(samples, device.read_back(), depth, found)


def packed(vertices: list[Vertex]) -> bytes:
    return np.array(vertices, "<f4").tobytes()


def by_entries(vertices: list[Vertex], indices: list[int], blends: bool) -> Seen:
    gpu = Gpu(by_work())
    driven = Rendering(adapter=Adapter(gpu, checking=True))
    color = driven.texture(BGRA8, SIDE, SIDE)
    deep = driven.texture(D24S8, SIDE, SIDE, bind=BindFlag.DEPTH_STENCIL)
    view, deep_view = driven.target(color, BGRA8), driven.depth(deep)
    blend = RenderTargetBlend(int(blends), 5, 6, 1, 5, 6, 1)
    driven.prepare(
        size=SIDE, depth=DepthStencilDesc(), blend=BlendDesc1(RenderTarget=(blend,) * 8)
    )
    driven.shaders()
    driven.vertices(vertices)
    data = np.array(indices, "<u2").tobytes()
    driven.call("IaSetIndexBuffer", driven.buffer(data, BindFlag.INDEX_BUFFER), 57, 0)
    driven.call("IaSetTopology", LIST)
    driven.call("SetRenderTargets", [view], 7, deep_view)
    driven.call("ClearRenderTargetView", view, (0, 0, 0, 0))
    driven.call("ClearDepthStencilView", deep_view, 3, 1.0, 0)
    driven.call("Flush")
    driven.adapter.finish()
    query = driven.create(Query.OCCLUSION)
    before = counts(gpu)
    driven.call("QueryBegin", query)
    driven.call("DrawIndexed", len(indices), 0, 0)
    driven.call("QueryEnd", query)
    driven.call("Flush")
    driven.adapter.finish()
    found = change(before, counts(gpu))
    data = driven.data(query, Query.OCCLUSION) or b""
    depth = driven.pixels(deep, size=SIDE) & 0xFFFFFF
    return Seen(int.from_bytes(data, "little"), driven.pixels(color, size=SIDE), depth, found)


NUMBERS = st.integers(-24, 24).map(lambda n: n / 16)
FRACTIONS = st.integers(0, 8).map(lambda n: n / 8)
VERTICES = st.tuples(NUMBERS, NUMBERS, FRACTIONS, st.sampled_from([1.0, 2.0, 0.5]),
                     FRACTIONS, FRACTIONS, FRACTIONS, FRACTIONS)  # fmt: skip


@given(st.lists(VERTICES, min_size=3, max_size=9), st.data(), st.booleans())
def test_the_same_triangles_have_the_same_samples_pixels_and_cost(
    vertices: list[Vertex], data: st.DataObject, blends: bool
) -> None:
    numbers = st.integers(0, len(vertices) - 1)
    triangles = data.draw(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6))
    indices = [number for triangle in triangles for number in triangle]
    compare(vertices, indices, blends)


@pytest.mark.parametrize("blends", [False, True])
def test_a_triangle_over_the_edges_is_the_same(blends: bool) -> None:
    corners = [(-3, 2, 0.25), (2, 2, 0.5), (-1, -4, 0.75)]
    vertices = [(x, y, z, 1.0, 1.0, 0.5, 0.25, 0.5) for x, y, z in corners]
    assert compare(vertices, [0, 1, 2], blends).samples > 100


def compare(vertices: list[Vertex], indices: list[int], blends: bool) -> Seen:
    one = by_tokens(vertices, indices, blends)
    other = by_entries(vertices, indices, blends)
    assert one.samples == other.samples
    assert (one.pixels == other.pixels).all()
    assert (one.depth == other.depth).all()
    assert one.counters == other.counters
    assert any(ticks for name, ticks in one.counters.items() if name.endswith("_ticks"))
    return one
