"""Stream output through the entries, without a geometry shader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import pack
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.contract import Contract
from dp2emu.ddi10.queries.query_types import Query
from dp2emu.ddi10.resources.resource import BindFlag
from dp2emu.ddi10.shaders.stream_output import (
    GAP,
    NO_RASTERIZED_STREAM,
    StreamOutputEntry,
    StreamOutputEntry11,
    StreamOutputShader,
    StreamOutputShader11,
    stream_output_layouts,
)
from dp2emu.errors import ContractError
from dp2emu.gpu.command.stream_targets import StreamLayout, Word
from tests.ddi10.streaming import (
    ALL,
    APPEND,
    EMPTY,
    ENGINES,
    LINE_STRIP,
    LINE_STRIP_ADJ,
    LINES,
    LINES_ADJ,
    POINTS,
    STRIP,
    STRIP_ADJ,
    TRIANGLES,
    TRIANGLES_ADJ,
    VERTICES,
    WHOLE,
    Entry,
    FourStreams,
    Streaming,
    rows,
    statistics,
    vertex,
)

SHAPES: dict[int, tuple[int, list[Sequence[int]]]] = {
    POINTS: (3, [(0,), (1,), (2,)]),
    LINES: (5, [(0, 1), (2, 3)]),
    LINE_STRIP: (4, [(0, 1), (1, 2), (2, 3)]),
    TRIANGLES: (8, [(0, 1, 2), (3, 4, 5)]),
    STRIP: (6, [(0, 1, 2), (1, 3, 2), (2, 3, 4), (3, 5, 4)]),
    LINES_ADJ: (9, [(1, 2), (5, 6)]),
    LINE_STRIP_ADJ: (6, [(1, 2), (2, 3), (3, 4)]),
    TRIANGLES_ADJ: (13, [(0, 2, 4), (6, 8, 10)]),
    STRIP_ADJ: (10, [(0, 2, 4), (2, 6, 4), (4, 6, 8)]),
    33: (2, [(0,), (1,)]),
    36: (11, [(0, 1, 2, 3), (4, 5, 6, 7)]),
    40: (9, [tuple(range(8))]),
}
"""Vertices that are drawn, and the corners of what comes of them; some have a part too much.
Patches that nothing divides are their control points."""


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize("topology", SHAPES)
def test_whole_primitives_of_every_topology_stream_out_as_a_list(run: str, topology: int) -> None:
    driven = Streaming(run)
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    vertices, primitives = SHAPES[topology]
    counts = driven.measured(Query.STREAMOUTPUTSTATS, (topology, vertices))
    assert counts == (len(primitives),) * 2
    assert driven.floats(buffer) == rows(n for each in primitives for n in each)


def test_indices_bases_cuts_and_instances_are_gone_in_what_streams_out() -> None:
    driven = Streaming()
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    indices = np.array([2, 1, 0, 4, 0xFFFF, 3, 3, 5], "<u2").tobytes()
    handle = driven.buffer(indices, bind=BindFlag.INDEX_BUFFER)
    driven.call("IaSetIndexBuffer", handle, DxgiFormat.R16_UINT.value, 0)
    driven.call("IaSetTopology", STRIP)
    driven.call("DrawIndexedInstanced", 8, 2, 0, 1, 0)
    assert driven.floats(buffer) == rows([3, 2, 1, 2, 5, 1, 4, 4, 6] * 2)


def test_a_strip_has_its_odd_triangles_turned_so_that_each_faces_as_it_did() -> None:
    driven = Streaming()
    buffer = driven.room(400)
    driven.streaming((0, 0, ALL))
    driven.targets(buffer)
    driven.draw(STRIP, 5)
    found = np.array(driven.floats(buffer)).reshape(-1, 3, 4)
    strip = np.array(VERTICES, np.float32)[:5, :4]
    turned = [facing(strip[n : n + 3]) * (-1) ** n for n in range(3)]
    assert [facing(triangle) for triangle in found] == turned


def facing(corners: NDArray[Any]) -> float:
    """The sign of the area of a triangle."""
    (ax, ay), (bx, by), (cx, cy) = corners[:, :2].tolist()
    return float(np.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)))


# Declarations


def layouts(*entries: Sequence[int], **members: Any) -> dict[int, StreamLayout]:
    declared = tuple(StreamOutputEntry11(*entry) for entry in entries)
    desc = StreamOutputShader11(b"", declared, **members)
    return dict(stream_output_layouts(desc, Contract(checking=False)).layouts)


def test_entries_of_a_slot_follow_each_other_and_gaps_are_left_out() -> None:
    found = layouts(
        (0, 0, 3, 0b0110), (0, 1, 0, ALL), (0, 0, GAP, 0b0111), (0, 0, 3, 0b1000),
        BufferStridesInBytes=(64, 16),
    )  # fmt: skip
    words = (
        Word("constant.v3.y", 0, 0), Word("constant.v3.z", 0, 4),
        *(Word(f"constant.v0.{c}", 1, 4 * n) for n, c in enumerate("xyzw")),
        Word("constant.v3.w", 0, 20),
    )  # fmt: skip
    assert found == {0: StreamLayout(words, ((0, 64), (1, 16)))}


def test_each_stream_has_slots_of_its_own() -> None:
    found = layouts((1, 2, 0, 1), (0, 0, 0, 1), (1, 3, 1, 2))
    assert found == {
        0: StreamLayout((Word("constant.v0.x", 0, 0),), ((0, 4),)),
        1: StreamLayout(
            (Word("constant.v0.x", 2, 0), Word("constant.v1.y", 3, 0)), ((2, 4), (3, 4))
        ),
    }


@pytest.mark.parametrize(
    ("slots", "stride", "strides"),
    [((0, 0), 40, {0: 40}), ((0, 0), 0, {0: 32}), ((0, 1), 40, {0: 16, 1: 16}),
     ((2, 2), 40, {2: 32})],
)  # fmt: skip
def test_direct3d_10_has_a_stride_for_slot_0_alone_and_else_none_but_the_entries(
    slots: tuple[int, int], stride: int, strides: dict[int, int]
) -> None:
    entries = tuple(StreamOutputEntry(slot, n, ALL) for n, slot in enumerate(slots))
    found = stream_output_layouts(
        StreamOutputShader(None, entries, stride), Contract(checking=False)
    )
    assert dict(found.layouts[0].strides) == strides
    assert found.rasterized == 0


@pytest.mark.parametrize(
    ("entries", "members"),
    [([(4, 0, 0, 1)], {}), ([(0, 4, 0, 1)], {}), ([(0, 0, 32, 1)], {}), ([(0, 0, 0, 0)], {}),
     ([(0, 0, 0, 16)], {}), ([(0, 0, 0, 5)], {}), ([(0, 0, GAP, 2)], {}),
     ([(0, 0, 0, 1), (1, 0, 0, 1)], {}), ([(0, 0, 0, 3), (0, 1, 0, 2)], {}),
     ([(0, 0, 0, 3)], {"BufferStridesInBytes": (4,)}),
     ([(0, 0, 0, 3)], {"BufferStridesInBytes": (2052,)}),
     ([(0, 0, 0, 3)], {"RasterizedStream": 4}),
     ([(0, 0, GAP, ALL)] * 33, {"BufferStridesInBytes": (2048,)})],
)  # fmt: skip
def test_what_cannot_be_streamed_out_is_refused(
    entries: list[tuple[int, ...]], members: dict[str, Any]
) -> None:
    with pytest.raises(ContractError) as error:
        layouts(*entries, **members)
    assert error.value.rule == "STREAMED"


def test_without_a_program_there_is_a_single_stream() -> None:
    for entries in ((), (StreamOutputEntry11(1, 0, 0, 1),)):
        with pytest.raises(ContractError):
            stream_output_layouts(StreamOutputShader11(None, entries), Contract(checking=False))


def test_components_gaps_and_slots_are_where_the_entries_say() -> None:
    driven = Streaming()
    buffers = driven.room(40), driven.room(40)
    driven.streaming(
        (0, 1, 0b0110), (1, 0, 0b0011), (0, GAP, 0b0001), (0, 1, 0b0001),
        BufferStridesInBytes=(20, 12),
    )  # fmt: skip
    driven.targets(*buffers)
    driven.draw(POINTS, 2, 3)
    empty = np.array([EMPTY], "<u4").view("<f4")[0]
    first = [[n + 0.25, -n, empty, n, empty] for n in (3, 4)]
    second = [[*vertex(n)[:2], empty] for n in (3, 4)]
    for buffer, wanted in zip(buffers, (first, second), strict=True):
        words = np.array(wanted, np.float32).view("<u4").ravel()
        assert driven.read(buffer)[: words.nbytes] == words.tobytes()


# Room


def test_a_primitive_that_does_not_fit_is_not_begun() -> None:
    driven = Streaming()
    buffer = driven.room(8 * 5)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    assert driven.measured(Query.STREAMOUTPUTSTATS, (TRIANGLES, 9)) == (1, 3)
    assert driven.floats(buffer) == rows(range(3))


@pytest.mark.parametrize("small", [0, 1])
def test_the_first_of_several_buffers_to_overflow_stops_all(small: int) -> None:
    driven = Streaming()
    sizes = [400, 400]
    sizes[small] = 4 * 4
    buffers = [driven.room(size) for size in sizes]
    driven.streaming((0, 0, ALL), (1, 1, ALL))
    driven.targets(*buffers)
    assert driven.measured(Query.STREAMOUTPUTSTATS, (TRIANGLES, 9)) == (1, 3)
    assert [len(driven.floats(buffer)) for buffer in buffers] == [12, 12]


@pytest.mark.parametrize(
    ("query", "overflowed"),
    [(Query.STREAMOVERFLOWPREDICATE, 1), (Query.STREAMOVERFLOWPREDICATE_STREAM0, 1),
     (Query.STREAMOVERFLOWPREDICATE_STREAM1, 0)],
)  # fmt: skip
@pytest.mark.parametrize("fits", [False, True])
def test_the_overflow_predicates_tell_whether_something_was_left_out(
    query: Query, overflowed: int, fits: bool
) -> None:
    driven = Streaming()
    driven.streaming(*WHOLE)
    driven.targets(driven.room(24 if fits else 23))
    assert driven.measured(query, (TRIANGLES, 3)) == (0 if fits else overflowed,)


@pytest.mark.parametrize("bound", [(), (0,), (1,), (0, 1)])
def test_a_slot_without_a_buffer_is_full_and_one_that_is_not_used_does_not_matter(
    bound: tuple[int, ...],
) -> None:
    driven = Streaming()
    driven.streaming((0, 0, ALL), (1, 1, ALL))
    buffers = [driven.room(40) if slot in bound else None for slot in range(2)]
    driven.targets(*buffers, driven.room(0 + 1))
    written = 1 if len(bound) == 2 else 0
    assert driven.measured(Query.STREAMOUTPUTSTATS, (TRIANGLES, 3)) == (written, 1)


@pytest.mark.parametrize("run", ENGINES)
def test_after_an_overflow_a_smaller_primitive_is_not_written_either(run: str) -> None:
    driven = Streaming(run)
    buffer = driven.room(8 * 4)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    draws = (TRIANGLES, 6), (POINTS, 2, 7)
    assert driven.measured(Query.STREAMOUTPUTSTATS, *draws) == (1, 4)
    assert driven.floats(buffer) == rows([0, 1, 2])
    assert driven.measured(Query.STREAMOVERFLOWPREDICATE, (POINTS, 1)) == (1,)


def test_setting_the_buffers_again_ends_an_overflow() -> None:
    driven = Streaming()
    buffer = driven.room(8 * 4)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    driven.draw(TRIANGLES, 6)
    driven.targets(buffer, offset=APPEND)
    driven.draw(POINTS, 2, 7)
    assert driven.floats(buffer) == rows([0, 1, 2, 7])


# Where it goes on


def test_draws_append_to_each_other() -> None:
    driven = Streaming()
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer, offset=32)
    driven.draw(POINTS, 2)
    driven.draw(LINES, 2, 5)
    assert driven.floats(buffer)[8:] == rows([0, 1, 5, 6])


def test_a_buffer_that_is_set_again_is_appended_to_or_begun_anew() -> None:
    driven = Streaming()
    buffer, other = driven.room(400), driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    driven.draw(POINTS, 3)
    driven.targets(other, offset=APPEND)
    driven.draw(POINTS, 1, 9)
    driven.targets(buffer, offset=APPEND)
    driven.draw(POINTS, 1, 4)
    assert driven.floats(buffer) == rows([0, 1, 2, 4])
    assert driven.floats(other) == rows([9])
    driven.targets(buffer, offset=32)
    driven.draw(POINTS, 1, 8)
    assert driven.floats(buffer) == rows([0, 8, 2, 4])


def test_a_draw_that_is_predicated_away_streams_nothing() -> None:
    driven = Streaming()
    buffer = driven.room(400)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    predicate = driven.create(Query.OCCLUSIONPREDICATE)
    driven.call("QueryBegin", predicate)
    driven.call("QueryEnd", predicate)
    driven.call("SetPredication", predicate, 0)
    driven.draw(POINTS, 3)
    driven.call("SetPredication", None, 0)
    driven.draw(POINTS, 1, 4)
    assert driven.floats(buffer) == rows([4])


@pytest.mark.parametrize("stream", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("value", [0, 1])
def test_overflow_predicates_of_streams_predicate_too(stream: int | None, value: int) -> None:
    query = Query.STREAMOVERFLOWPREDICATE
    if stream is not None:
        query = Query(Query.STREAMOVERFLOWPREDICATE_STREAM0 + stream)
    driven = FourStreams()
    predicate = driven.create(query)
    driven.call("QueryBegin", predicate)
    driven.draw(POINTS, 12)
    driven.call("QueryEnd", predicate)
    driven.call("SetPredication", predicate, value)
    driven.draw(POINTS, 12)
    driven.call("SetPredication", None, 0)
    skipped = (stream in (None, 1, 3)) == bool(value)
    assert statistics(driven).IAPrimitives == (12 if skipped else 24)


@pytest.mark.parametrize(("words", "value", "drawn"), [(24, 0, 1), (24, 1, 2), (23, 0, 2),
                                                       (23, 1, 1)])  # fmt: skip
def test_draws_are_skipped_when_the_overflow_predicate_equals_the_value(
    words: int, value: int, drawn: int
) -> None:
    driven = Streaming()
    driven.streaming(*WHOLE)
    driven.targets(driven.room(words))
    predicate = driven.create(Query.STREAMOVERFLOWPREDICATE)
    driven.call("QueryBegin", predicate)
    driven.draw(TRIANGLES, 3)
    driven.call("QueryEnd", predicate)
    driven.call("SetPredication", predicate, value)
    driven.draw(TRIANGLES, 3)
    driven.call("SetPredication", None, 0)
    driven.adapter.finish()
    driven.call("Flush")
    assert driven.device.statistics().IAPrimitives == drawn


# Rasterization beside it


@pytest.mark.parametrize("run", ENGINES)
@pytest.mark.parametrize("stream", [0, 1, NO_RASTERIZED_STREAM])
def test_the_rasterized_stream_alone_is_drawn(run: str, stream: int) -> None:
    driven = Streaming(run)
    driven.vertices([[x, y, 0.5, 1, 1, 0, 0, 1] for x, y in ((-1, 1), (3, 1), (-1, -3))])
    driven.streaming(*WHOLE, RasterizedStream=stream)
    driven.targets(driven.room(400))
    driven.draw(TRIANGLES, 3)
    assert driven.filled == (256 if stream == 0 else 0)


def test_stream_output_only_counts_nothing_at_the_clipper() -> None:
    for ps in (None, "ps_color"):
        driven = Streaming(ps=ps)
        members = {} if ps is None else {"RasterizedStream": NO_RASTERIZED_STREAM}
        driven.streaming(*WHOLE, **members)
        driven.targets(driven.room(400))
        driven.draw(TRIANGLES, 9)
        found = statistics(driven)
        assert (found.IAPrimitives, found.VSInvocations) == (3, 9)
        assert (found.CInvocations, found.CPrimitives, found.PSInvocations) == (0, 0, 0)


@pytest.mark.parametrize("entry", ["IaSetVertexBuffers", "IaSetIndexBuffer"])
def test_no_runtime_lets_a_buffer_be_read_and_streamed_into(entry: str) -> None:
    driven = Streaming()
    buffer = driven.room(40)
    driven.streaming(*WHOLE)
    driven.targets(buffer)
    if entry == "IaSetIndexBuffer":
        driven.call(entry, buffer, DxgiFormat.R16_UINT.value, 0)
    else:
        driven.call(entry, 3, [buffer], [32], [0])
    driven.call("IaSetTopology", POINTS)
    with pytest.raises(ContractError) as error:
        driven.call("Draw", 1, 0)
    assert error.value.rule == "STREAMED_AND_READ"


def test_without_a_shader_that_streams_buffers_that_are_bound_stay_as_they_are() -> None:
    driven = Streaming()
    buffer = driven.room(40)
    driven.targets(buffer)
    assert driven.measured(Query.STREAMOUTPUTSTATS, (TRIANGLES, 3)) == (0, 0)
    assert driven.floats(buffer) == []


def test_bytes_that_are_streamed_out_are_traffic_of_memory_and_busy_geometry() -> None:
    driven = Streaming()
    driven.streaming((0, 0, 0b0111), (1, 1, ALL), BufferStridesInBytes=(64, 16))
    driven.targets(driven.room(400), driven.room(20))
    driven.draw(POINTS, 7)
    statistics(driven)
    assert driven.device.counters.stream_bytes == 5 * 28


# Anything


@st.composite
def declarations(draw: st.DrawFn) -> list[Entry]:
    """Runs of components, of which none comes twice, and gaps, in any slots."""
    free = {(register, component) for register in (0, 1) for component in range(4)}
    found: list[Entry] = []
    for _ in range(draw(st.integers(1, 6))):
        slot, register = draw(st.integers(0, 3)), draw(st.sampled_from((0, 1, GAP)))
        first, size = draw(st.integers(0, 3)), draw(st.integers(1, 4))
        places = range(size) if register == GAP else range(first, min(first + size, 4))
        wanted = {(register, component) for component in places}
        if register == GAP or wanted <= free:
            free -= wanted
            found.append((slot, register, sum(1 << component for component in places)))
    return found


def assembled(topology: int, numbers: Sequence[int], cuts: bool) -> list[Sequence[int]]:
    """The primitives of vertices, those of strips with the leading vertex first."""
    found: list[Sequence[int]] = []
    runs: list[list[int]] = [[]]
    for number in numbers:
        if cuts and number == 0xFFFFFFFF:
            runs.append([])
        else:
            runs[-1].append(number)
    for run in runs:
        size = {POINTS: 1, LINES: 2, LINE_STRIP: 2}.get(topology, 3)
        step = 1 if topology in (POINTS, LINE_STRIP, STRIP) else size
        for place, first in enumerate(range(0, len(run) - size + 1, step)):
            corners = run[first : first + size]
            if topology == STRIP and place % 2:
                corners = [corners[0], corners[2], corners[1]]
            found.append(corners)
    return found


def stored(
    entries: Sequence[Entry],
    strides: Mapping[int, int],
    rooms: Mapping[int, int],
    primitives: Sequence[Sequence[int]],
) -> tuple[int, dict[int, list[int]]]:
    """How many primitives go into buffers of so many words, and the words in these then."""
    found = {slot: [EMPTY] * words for slot, words in rooms.items()}
    at, written = dict.fromkeys(strides, 0), 0
    for primitive in primitives:
        if any(rooms.get(slot, 0) < at[slot] + stride * len(primitive) for slot, stride in
               strides.items()):  # fmt: skip
            break
        for number in primitive:
            words = np.array(vertex(number), np.float32).view("<u4").tolist()
            inside = dict.fromkeys(strides, 0)
            for slot, register, mask in entries:
                for component in (c for c in range(4) if mask >> c & 1):
                    if register != GAP:
                        found[slot][at[slot] + inside[slot]] = words[4 * register + component]
                    inside[slot] += 1
            for slot, stride in strides.items():
                at[slot] += stride
        written += 1
    return written, found


@pytest.mark.parametrize("run", ENGINES)
@given(
    entries=declarations(),
    wider=st.integers(0, 2),
    rooms=st.dictionaries(st.integers(0, 3), st.integers(1, 80)),
    topology=st.sampled_from((POINTS, LINES, LINE_STRIP, TRIANGLES, STRIP)),
    numbers=st.lists(st.integers(0, 23) | st.just(0xFFFFFFFF), max_size=14),
    instances=st.integers(1, 2),
)
@settings(max_examples=40)
def test_any_declaration_into_any_buffers_is_as_written_word_by_word(
    run: str,
    entries: list[Entry],
    wider: int,
    rooms: dict[int, int],
    topology: int,
    numbers: list[int],
    instances: int,
) -> None:
    if not entries:
        return
    sizes: dict[int, int] = {}
    for slot, _, mask in entries:
        sizes[slot] = sizes.get(slot, 0) + mask.bit_count()
    strides = {slot: size + wider for slot, size in sizes.items()}
    cuts = topology in (LINE_STRIP, STRIP)
    kept = [n for n in numbers if cuts or n != 0xFFFFFFFF]
    primitives = assembled(topology, kept, cuts) * instances
    written, words = stored(entries, strides, rooms, primitives)
    driven = Streaming(run)
    given_strides = tuple(4 * strides.get(slot, 0) for slot in range(4))
    driven.streaming(*entries, BufferStridesInBytes=given_strides)
    buffers = {slot: driven.room(size) for slot, size in rooms.items()}
    driven.targets(*(buffers.get(slot) for slot in range(4)))
    driven.call("IaSetTopology", topology)
    data = np.array([*kept, 0], "<u4").tobytes()
    handle = driven.buffer(data, bind=BindFlag.INDEX_BUFFER)
    driven.call("IaSetIndexBuffer", handle, DxgiFormat.R32_UINT.value, 0)
    query = driven.create(Query.STREAMOUTPUTSTATS)
    driven.call("QueryBegin", query)
    driven.call("DrawIndexedInstanced", len(kept), instances, 0, 0, 0)
    driven.call("QueryEnd", query)
    counts = driven.data(query, Query.STREAMOUTPUTSTATS)
    assert counts == pack("<2Q", written, len(primitives))
    for slot, buffer in buffers.items():
        assert np.frombuffer(driven.read(buffer), "<u4").tolist() == words[slot]
