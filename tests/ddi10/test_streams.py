"""What geometry and domain shaders stream out, and streams that count for themselves."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stream_output import (
    NO_RASTERIZED_STREAM,
    StreamOutputEntry11,
    StreamOutputShader11,
)
from dp2emu.errors import ContractError
from tests.ddi10.drawing import tokens
from tests.ddi10.rendering import Rendering
from tests.ddi10.streaming import (
    ALL,
    EMITTED,
    ENGINES,
    LINES_ADJ,
    POINTS,
    TRIANGLES,
    TRIANGLES_ADJ,
    VERTICES,
    WHOLE,
    FourStreams,
    Streaming,
    rows,
    statistics,
    vertex,
)


@pytest.mark.parametrize("run", ENGINES)
def test_each_stream_goes_to_its_own_buffer_and_none_stops_another(run: str) -> None:
    driven = FourStreams(run)
    driven.draw(POINTS, 12)
    for stream, (buffer, emitted) in enumerate(zip(driven.buffers, EMITTED, strict=True)):
        half = slice(0, 4) if stream % 2 == 0 else slice(4, 8)
        wanted = np.array(VERTICES, np.float32)[: min(emitted, 5), half]
        assert driven.floats(buffer) == wanted.ravel().tolist()


@pytest.mark.parametrize("stream", range(4))
def test_statistics_of_a_stream_count_what_it_wrote_and_needed(stream: int) -> None:
    query = Query(Query.STREAMOUTPUTSTATS_STREAM0 + stream)
    counts = min(EMITTED[stream], 5), EMITTED[stream]
    assert FourStreams().measured(query, (POINTS, 12)) == counts
    plain = FourStreams().measured(Query.STREAMOUTPUTSTATS, (POINTS, 12))
    assert plain == (EMITTED[0], EMITTED[0])


@pytest.mark.parametrize(("stream", "overflowed"), [(None, 1), (0, 0), (1, 1), (2, 0), (3, 1)])
def test_a_stream_overflows_by_itself_and_the_plain_predicate_with_any(
    stream: int | None, overflowed: int
) -> None:
    query = Query.STREAMOVERFLOWPREDICATE
    if stream is not None:
        query = Query(Query.STREAMOVERFLOWPREDICATE_STREAM0 + stream)
    assert FourStreams().measured(query, (POINTS, 12)) == (overflowed,)


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize("stream", [0, 1, 2, 3, NO_RASTERIZED_STREAM])
def test_the_clipper_gets_the_rasterized_stream_alone(run: str, stream: int) -> None:
    driven = FourStreams(run, stream)
    driven.draw(POINTS, 12)
    entered = 0 if stream == NO_RASTERIZED_STREAM else EMITTED[stream]
    found = statistics(driven)
    assert (found.GSInvocations, found.CInvocations) == (12, entered)
    assert found.GSPrimitives == sum(EMITTED)


@pytest.mark.parametrize("run", ENGINES)
def test_what_a_geometry_shader_makes_of_triangles_streams_out_for_each_instance(run: str) -> None:
    driven = Streaming(run)
    entries = (StreamOutputEntry11(0, 0, 0, 1), StreamOutputEntry11(0, 0, 1, 1))
    driven.set_geometry(StreamOutputShader11(tokens("gs5_instance"), entries))
    buffer = driven.room(400)
    driven.targets(buffer)
    assert driven.measured(Query.STREAMOUTPUTSTATS, (TRIANGLES, 6)) == (8, 8)
    wanted = [
        [vertex(n)[0] + 0.25 * instance, n]
        for first in (0, 3) for instance in range(4) for n in range(first, first + 3)
    ]  # fmt: skip
    assert driven.floats(buffer) == np.array(wanted, np.float32).ravel().tolist()


@pytest.mark.parametrize(
    ("shader", "given", "corners"),
    [("gs_tri_lines", TRIANGLES, [0, 1, 1, 2, 2, 0]), ("gs_partial", TRIANGLES, [0, 1, 2]),
     ("gs_so_points", TRIANGLES, [0, 1, 2]), ("gs_pass_tri", TRIANGLES_ADJ, [0, 2, 4]),
     ("gs_lineadj", LINES_ADJ, None), ("gs_zero", TRIANGLES, [])],
)  # fmt: skip
def test_strips_of_a_geometry_shader_stream_out_as_lists_without_what_is_not_whole(
    shader: str, given: int, corners: list[int] | None
) -> None:
    driven = Streaming()
    entries = (StreamOutputEntry11(0, 0, 1, 0b0001),)
    driven.set_geometry(StreamOutputShader11(tokens(shader), entries))
    buffer = driven.room(400)
    driven.targets(buffer)
    vertices = 3 if given == TRIANGLES else 6
    needed = driven.measured(Query.STREAMOUTPUTSTATS, (given, vertices))[1]
    if corners is not None:
        assert driven.floats(buffer) == corners
    assert statistics(driven).GSPrimitives == needed


def test_a_quad_of_a_geometry_shader_streams_out_as_two_triangles_that_face_alike() -> None:
    driven = Streaming()
    entries = (StreamOutputEntry11(0, 0, 0, 0b0011),)
    driven.set_geometry(StreamOutputShader11(tokens("gs_point_quad"), entries))
    half = np.array([0.25, 0.5, 0, 0], "<f4").tobytes()
    driven.call("GsSetConstantBuffers", 0, [driven.buffer(half, bind=BindFlag.CONSTANT_BUFFER)])
    buffer = driven.room(400)
    driven.targets(buffer)
    driven.draw(POINTS, 1)
    x, y = vertex(0)[:2]
    corner = [(x + dx, y + dy) for dx in (-0.25, 0.25) for dy in (-0.5, 0.5)]
    found = np.array(driven.floats(buffer)).reshape(-1, 2)
    assert found.tolist() == [list(corner[n]) for n in (0, 1, 2, 1, 3, 2)]


def test_a_geometry_shader_without_entries_stores_nothing() -> None:
    driven = Streaming()
    driven.set_geometry(StreamOutputShader11(tokens("gs_pass_tri"), ()))
    buffer = driven.room(40)
    driven.targets(buffer)
    assert driven.measured(Query.STREAMOUTPUTSTATS, (TRIANGLES, 3)) == (0, 0)
    assert driven.floats(buffer) == []
    assert statistics(driven).CInvocations == 1


def test_direct3d_10_has_no_streams() -> None:
    driven = Rendering(interface=Interface.D3D10_1, checking=False)
    desc = StreamOutputShader11(tokens("gs5_streams"), (StreamOutputEntry11(1, 0, 0, ALL),))
    with pytest.raises(ContractError) as error:
        driven.call("CreateGeometryShaderWithStreamOutput", desc, bytearray(16))
    assert error.value.rule == "STREAMED"


def divided(driven: Streaming) -> None:
    """Set hull and domain shaders, which make 13 triangles of a patch of three points."""
    for stage, prefix in (("Vertex", "Vs"), ("Hull", "Hs"), ("Domain", "Ds")):
        code = tokens({"Vertex": "vs5_cp", "Hull": "hs5_tri", "Domain": "ds5_tri"}[stage])
        size = driven.device.functions["CalcPrivateShaderSize"](code, None)
        memory = bytearray(size)
        assert driven.call(f"Create{stage}Shader", code, memory) == []
        assert driven.call(f"{prefix}SetShader", memory) == []
    factors = driven.buffer(np.full(4, 3, "<f4").tobytes(), bind=BindFlag.CONSTANT_BUFFER)
    assert driven.call("HsSetConstantBuffers", 0, [factors]) == []


@pytest.mark.parametrize("run", ENGINES)
def test_domain_shaders_stream_out_as_through_a_geometry_shader_that_passes_on(run: str) -> None:
    found = []
    for code in (None, tokens("gs_pass_tri")):
        driven = Streaming(run)
        divided(driven)
        entries = tuple(StreamOutputEntry11(0, *entry) for entry in WHOLE)
        driven.set_geometry(StreamOutputShader11(code, entries))
        buffer = driven.room(24 * 26)
        driven.targets(buffer)
        assert driven.measured(Query.STREAMOUTPUTSTATS, (35, 6)) == (26, 26)
        found.append(driven.read(buffer))
    corners = np.frombuffer(found[0], "<f4").reshape(26, 3, 8)
    assert found[0] == found[1]
    assert all(vertex(n)[:4] in corners[..., :4].reshape(-1, 4).tolist() for n in range(6))


def test_as_many_patches_are_drawn_as_were_streamed() -> None:
    driven = Streaming()
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    driven.draw(36, 11)
    driven.targets()
    driven.call("IaSetVertexBuffers", 0, [buffer], [32], [0])
    driven.streaming(*WHOLE, RasterizedStream=NO_RASTERIZED_STREAM)
    other = driven.room(400)
    driven.targets(other)
    driven.call("IaSetTopology", 35)
    driven.call("DrawAuto")
    assert driven.floats(other) == rows(range(6))
