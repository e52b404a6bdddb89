"""Pipeline statistics of draws, against what the documents allow."""

from __future__ import annotations

from struct import unpack

import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import CmpFunc, PrimitiveType
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.queries.statistics import FIELDS_10, Statistics
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import DepthState, RasterState
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Program, Stage
from tests.ddi10.driving import Driven
from tests.gpu.drawing import Vertex, color_surface, corner, depth_surface, draw, programmed

LIST, STRIP = PrimitiveType.TRIANGLELIST, PrimitiveType.TRIANGLESTRIP
SMALL = [corner(-1, 1), corner(1, 1), corner(-1, -1)]
"""A triangle over half of the viewport, in clip space."""
HALF = RasterState(half_centres=True)


def counted(packet: Draw) -> Statistics:
    driven = Driven()
    driven.submit(packet)
    driven.adapter.finish()
    return driven.device.statistics()


def test_a_query_is_the_difference_of_what_the_device_counts() -> None:
    driven = Driven()
    packet = programmed(draw(SMALL, color=color_surface()))
    driven.submit(packet)
    queries = Query.PIPELINESTATS, Query.D3D11_PIPELINESTATS
    memories = [driven.create(query) for query in queries]
    for memory in memories:
        driven.call("QueryBegin", memory)
    driven.call("Flush")
    before = driven.device.statistics()
    for _ in range(3):
        driven.submit(packet)
    driven.call("Flush")
    change = tuple(b - a for a, b in zip(before, driven.device.statistics(), strict=True))
    for memory in memories:
        driven.call("QueryEnd", memory)
    found = [driven.data(memory, query) for memory, query in zip(memories, queries, strict=True)]
    assert before.IAVertices == 3
    assert change[:2] == (9, 3)
    assert [data and unpack(f"<{len(data) // 8}Q", data) for data in found] == [
        change[:FIELDS_10],
        change,
    ]


def test_a_new_device_has_counted_nothing() -> None:
    driven = Driven()
    driven.submit(programmed(draw(SMALL, color=color_surface())))
    driven.adapter.finish()
    assert Driven(adapter=driven.adapter).device.statistics() == Statistics()


@pytest.mark.parametrize(
    ("topology", "indices", "vertices", "invocations"),
    [(STRIP, [0] * 6, 6, range(1, 13)), (LIST, [0] * 12, 12, range(1, 13)),
     (STRIP, None, 6, range(6, 13)), (LIST, None, 12, range(6, 13))],
)  # fmt: skip
def test_vertices_and_primitives_are_those_of_the_table(
    topology: PrimitiveType, indices: list[int] | None, vertices: int, invocations: range
) -> None:
    places = (SMALL * 4)[:vertices]
    packet = draw(places, color=color_surface(), topology=topology, indices=indices)
    found = counted(programmed(packet))
    assert (found.IAVertices, found.IAPrimitives, found.CInvocations) == (vertices, 4, 4)
    assert found.VSInvocations in invocations


@pytest.mark.parametrize(
    ("depths", "left"),
    [((0.5, 0.5, 0.5), 1), ((-1, -1, -1), 0), ((2, 2, 2), 0), ((-1, 0.5, 0.5), 2),
     ((0.5, -1, -1), 1), ((-1, 0.5, 2), 3)],
)  # fmt: skip
def test_clipping_drops_keeps_and_splits(depths: tuple[float, ...], left: int) -> None:
    vertices: list[Vertex] = [corner(v[0], v[1], z) for v, z in zip(SMALL, depths, strict=True)]
    found = counted(programmed(draw(vertices, color=color_surface())))
    assert (found.IAPrimitives, found.CInvocations, found.CPrimitives) == (1, 1, left)


def test_without_a_pixel_shader_none_runs() -> None:
    packet = programmed(draw(SMALL, color=color_surface()))
    assert counted(packet).PSInvocations > 0
    silent = replace(packet.pipeline, counts_pixels=False)
    assert counted(replace(packet, pipeline=silent)).PSInvocations == 0


def deepening() -> Program:
    b = Builder(Stage.PIXEL)
    b.output("depth.x", b.input("depth.x"))
    return b.program()


def visible_and_run(func: CmpFunc, program: Program | None) -> tuple[int, int]:
    """Samples that pass and pixel invocations, of pixels of a rectangle."""
    driven = Driven()
    vertices = [corner(-1, 1, 0.25), corner(1, 1, 0.75), corner(-1, -1, 0.25), corner(1, -1, 0.75)]
    depth = depth_surface(word=0x80000000)
    packet = draw(vertices, color=color_surface(), depth=depth, topology=STRIP, pixel=program,
                  test=DepthState(True, True, func), raster=HALF)  # fmt: skip
    driven.submit(programmed(packet))
    driven.adapter.finish()
    return driven.adapter.gpu.counters.samples, driven.device.statistics().PSInvocations


@pytest.mark.parametrize("func", [CmpFunc.LESS, CmpFunc.NEVER, CmpFunc.ALWAYS])
def test_pixel_invocations_are_between_visible_and_covered(func: CmpFunc) -> None:
    visible, invocations = visible_and_run(func, None)
    assert visible == {CmpFunc.LESS: 512, CmpFunc.NEVER: 0, CmpFunc.ALWAYS: 1024}[func]
    assert visible <= invocations <= 1024
    assert visible_and_run(func, deepening()) == (visible, 1024)


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
@pytest.mark.parametrize("program", [None, deepening()])
def test_a_multisampled_pixel_is_shaded_once(samples: int, program: Program | None) -> None:
    vertices = [corner(-1, 1), corner(1, 1), corner(-1, -1), corner(1, -1)]
    packet = draw(vertices, color=color_surface(samples=samples), topology=STRIP, pixel=program,
                  depth=depth_surface(word=0x80000000, samples=samples),
                  test=DepthState(True, False, CmpFunc.LESSEQUAL), raster=HALF)  # fmt: skip
    pipeline = replace(packet.pipeline, samples=samples)
    found = counted(programmed(replace(packet, pipeline=pipeline)))
    # Along the diagonal both triangles may have samples of a pixel.
    assert found.PSInvocations in range(1024, 1024 + 32 * (samples > 1) + 1)


def test_without_a_target_all_of_the_scissor_rectangle_counts() -> None:
    vertices = [corner(-1, 1), corner(1, 1), corner(-1, -1), corner(1, -1)]
    packet = draw(vertices, topology=STRIP, scissor=Rect(3, 4, 10, 8))
    for targetless, passed in ((False, 0), (True, 7 * 4)):
        raster = RasterState(half_centres=True, targetless=targetless)
        driven = Driven()
        pipeline = replace(packet.pipeline, raster=raster)
        driven.submit(programmed(replace(packet, pipeline=pipeline)))
        driven.adapter.finish()
        assert driven.adapter.gpu.counters.samples == passed
        assert driven.device.statistics().PSInvocations == passed


OWN = (Query.OCCLUSION, Query.OCCLUSIONPREDICATE, Query.PIPELINESTATS, Query.D3D11_PIPELINESTATS)


def test_draws_of_other_devices_and_front_ends_do_not_count() -> None:
    driven = Driven()
    other = Driven(adapter=driven.adapter)
    packet = programmed(draw(SMALL, color=color_surface(samples=4)))
    memories = {query: driven.create(query) for query in OWN}
    for memory in memories.values():
        driven.call("QueryBegin", memory)
    driven.call("Flush")
    other.submit(packet)
    driven.adapter.gpu.submit(packet)
    for memory in memories.values():
        driven.call("QueryEnd", memory)
    for query, memory in memories.items():
        assert not any(driven.data(memory, query))
    assert driven.device.statistics() == Statistics()
    assert other.device.statistics().IAVertices == 3
    assert driven.adapter.gpu.counters.vertices == 6


def test_the_counters_of_a_device_and_of_the_gpu_count_alike() -> None:
    driven = Driven()
    packet = programmed(draw(SMALL, color=color_surface(samples=4)))
    driven.submit(packet)
    driven.adapter.gpu.run()
    own, whole = driven.device.counters, driven.adapter.gpu.counters
    assert own == whole
    assert sum(own.multisamples.passed.values()) == sum(whole.multisamples.passed.values()) > 0


def test_what_is_not_rasterized_is_assembled_and_shaded_and_no_more() -> None:
    packet = programmed(draw(SMALL, color=color_surface()))
    raster = replace(packet.pipeline.raster, enabled=False)
    found = counted(replace(packet, pipeline=replace(packet.pipeline, raster=raster)))
    assert found == Statistics(IAVertices=3, IAPrimitives=1, VSInvocations=3)
