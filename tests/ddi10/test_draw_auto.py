"""DrawAuto: what was streamed out is drawn."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stream_output import NO_RASTERIZED_STREAM
from tests.ddi10.streaming import (
    APPEND,
    ENGINES,
    LINE_STRIP,
    POINTS,
    STRIP,
    TRIANGLES,
    WHOLE,
    Streaming,
    statistics,
)


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize(("offset", "vertices"), [(0, 3), (32, 2), (33, 1), (96, 0), (200, 0)])
def test_as_many_vertices_are_drawn_as_were_streamed(run: str, offset: int, vertices: int) -> None:
    driven = Streaming(run)
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    driven.draw(POINTS, 3, 2)
    driven.targets()
    driven.call("GsSetShader", None)
    driven.call("IaSetVertexBuffers", 0, [buffer], [32], [offset])
    before = statistics(driven)
    driven.call("DrawAuto")
    after = statistics(driven)
    assert after.IAVertices - before.IAVertices == vertices


@pytest.mark.parametrize(("topology", "primitives"), [(POINTS, 5), (LINE_STRIP, 4), (TRIANGLES, 1),
                                                      (STRIP, 3)])  # fmt: skip
def test_the_topology_is_the_one_that_is_set(topology: int, primitives: int) -> None:
    driven = Streaming()
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    driven.draw(POINTS, 5)
    driven.targets()
    driven.call("GsSetShader", None)
    driven.call("IaSetVertexBuffers", 0, [buffer], [32], [0])
    driven.call("IaSetTopology", topology)
    before = statistics(driven)
    driven.call("DrawAuto")
    assert statistics(driven).IAPrimitives - before.IAPrimitives == primitives


def test_an_offset_says_how_full_a_buffer_is() -> None:
    driven = Streaming()
    buffer = driven.buffer(bytes(400), bind=BindFlag.STREAM_OUTPUT | BindFlag.VERTEX_BUFFER)
    driven.call("IaSetTopology", POINTS)
    driven.call("IaSetVertexBuffers", 0, [buffer], [32], [0])
    for offset, vertices in ((None, 0), (64, 2), (APPEND, 4), (0, 4)):
        if offset is not None:
            driven.targets(buffer, offset=offset)
        driven.targets()
        driven.call("DrawAuto")
        assert statistics(driven).IAVertices == vertices


@pytest.mark.parametrize("buffers", [[None], [0]])
def test_without_a_buffer_or_a_stride_nothing_is_drawn(buffers: list[int | None]) -> None:
    driven = Streaming()
    handles = [None if each is None else driven.room(8) for each in buffers]
    driven.call("IaSetVertexBuffers", 0, handles, [0], [0])
    driven.call("DrawAuto")
    assert statistics(driven).IAVertices == 0


def test_what_was_streamed_is_drawn_as_what_it_was_made_of() -> None:
    pictures = []
    for again in (False, True):
        driven = Streaming()
        driven.vertices([[x, y, 0.5, 1, 1, 0, 0, 1] for x, y in ((-1, 1), (1, 1), (-1, -1))])
        if again:
            buffer = driven.room(400)
            driven.streaming(*WHOLE, RasterizedStream=NO_RASTERIZED_STREAM)
            driven.targets(buffer)
            driven.draw(TRIANGLES, 3)
            assert driven.filled == 0
            driven.targets()
            driven.call("GsSetShader", None)
            driven.call("IaSetVertexBuffers", 0, [buffer], [32], [0])
            driven.call("DrawAuto")
        else:
            driven.draw(TRIANGLES, 3)
        pictures.append(driven.pixels(driven.color).tolist())
        assert driven.filled > 0
    assert pictures[0] == pictures[1]
