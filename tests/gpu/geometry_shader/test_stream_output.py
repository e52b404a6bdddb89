"""What streams out against a plain model, which writes primitive by primitive and word by word."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.gpu.command.stream_targets import Filled, Overflow, StreamLayout, StreamTarget, Word
from dp2emu.gpu.geometry_shader.stream_output import stream_out
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind

EMPTY = 0xCD
PORTS = ("a", "b", "c")

Layout = tuple[tuple[Word, ...], dict[int, int]]


def buffer(size: int) -> Surface:
    surface = Heap().create(SurfaceDesc(1, SurfaceKind.VERTEXBUFFER, size))
    surface.data[:] = EMPTY
    return surface


def targets(sizes: Mapping[int, int], filled: int = 0) -> dict[int, StreamTarget]:
    return {slot: StreamTarget(buffer(size), Filled(filled)) for slot, size in sizes.items()}


def lanes(count: int) -> dict[str, np.ndarray]:
    """Words that tell their port and their vertex."""
    numbers = np.arange(count, dtype=np.int32)
    return {port: numbers + 1000 * place for place, port in enumerate(PORTS, 1)}


def modelled(
    layout: Layout,
    sizes: Mapping[int, int],
    filled: int,
    outputs: Mapping[str, np.ndarray],
    primitives: Sequence[Sequence[int]],
) -> tuple[int, dict[int, bytes]]:
    """How many primitives are written, and the buffers then."""
    words, strides = layout
    found = {slot: bytearray([EMPTY] * size) for slot, size in sizes.items()}
    at = dict.fromkeys(sizes, filled)
    written = 0
    for primitive in primitives:
        if any(
            slot not in found or at[slot] + stride * len(primitive) > len(found[slot])
            for slot, stride in strides.items()
        ):
            break
        for vertex in primitive:
            for port, slot, offset in words:
                value = int(outputs[port][vertex]) if port in outputs else 0
                struct.pack_into("<i", found[slot], at[slot] + offset, value)
            for slot, stride in strides.items():
                at[slot] += stride
        written += 1
    return written, {slot: bytes(data) for slot, data in found.items()}


def check(
    layout: Layout, sizes: Mapping[int, int], filled: int, primitives: Sequence[Sequence[int]]
) -> int:
    """Stream as the model does; how many primitives were written."""
    words, strides = layout
    outputs, bound = lanes(16), targets(sizes, filled)
    corners = np.array(primitives or [[0]], np.int64)[: len(primitives)].T
    streams = StreamLayout(words, tuple(strides.items()))
    found = stream_out(streams, bound, outputs, corners, Overflow())
    written, data = modelled(layout, sizes, filled, outputs, primitives)
    assert found[:2] == (written, len(primitives))
    assert found.size == 4 * len(words) * written * len(corners)
    for slot, target in bound.items():
        assert target.surface.data.tobytes() == data[slot]
        moved = written * strides.get(slot, 0) * (len(primitives[0]) if primitives else 0)
        assert target.filled.size == filled + moved
    return written


ONE: Layout = ((Word("a", 0, 0), Word("b", 0, 4)), {0: 8})
GAPS: Layout = ((Word("b", 0, 4), Word("a", 0, 12)), {0: 20})
TWO: Layout = ((Word("a", 0, 0), Word("b", 2, 0), Word("c", 2, 4)), {0: 4, 2: 12})
TRIANGLES = [(0, 1, 2), (2, 1, 3), (4, 4, 5)]


@pytest.mark.parametrize("layout", [ONE, GAPS, TWO])
@pytest.mark.parametrize("primitives", [[(3,), (1,)], [(0, 1), (2, 3)], TRIANGLES, []])
def test_points_lines_and_triangles_are_written_vertex_by_vertex(
    layout: Layout, primitives: list[tuple[int, ...]]
) -> None:
    assert check(layout, {0: 400, 2: 400}, 0, primitives) == len(primitives)


def test_a_primitive_is_written_whole_or_not_at_all() -> None:
    assert [check(ONE, {0: size}, 0, TRIANGLES) for size in (23, 24, 47, 71, 72)] == [
        0,
        1,
        1,
        2,
        3,
    ]


def test_the_first_buffer_without_room_stops_all_of_the_stream() -> None:
    assert check(TWO, {0: 400, 2: 36 + 35}, 0, TRIANGLES) == 1
    assert check(TWO, {0: 23, 2: 400}, 0, TRIANGLES) == 1


def test_a_buffer_that_is_missing_has_no_room() -> None:
    assert check(TWO, {0: 400}, 0, TRIANGLES) == 0


def test_a_buffer_that_no_word_is_for_is_left_alone() -> None:
    assert check(ONE, {0: 400, 1: 4}, 0, TRIANGLES) == 3


def test_what_comes_later_is_appended() -> None:
    bound = targets({0: 64})
    layout = StreamLayout((Word("a", 0, 0),), ((0, 8),))
    for number in range(4):
        stream_out(layout, bound, lanes(4), np.array([[number]]), Overflow())
    words = bound[0].surface.data.view("<i4")[:8:2]
    assert words.tolist() == [1000, 1001, 1002, 1003]
    assert bound[0].filled.size == 32


def layout_of(*slots: int) -> StreamLayout:
    return StreamLayout(tuple(Word("a", slot, 0) for slot in slots), tuple((s, 4) for s in slots))


def test_after_an_overflow_writes_stop_for_all_buffers_of_the_stream() -> None:
    """A triangle does not fit buffer 1; then no point is written to either buffer, not even by a
    stream to buffer 0 alone, but the stream to buffer 2 goes on."""
    bound, overflow = targets({0: 400, 1: 8, 2: 400}), Overflow()
    streamed = [
        stream_out(layout_of(*slots), bound, lanes(4), np.array([[0]] * corners), overflow)
        for slots, corners in (((0, 1), 1), ((0, 1), 3), ((0, 1), 1), ((0,), 1), ((2,), 1))
    ]
    assert [each[:2] for each in streamed] == [(1, 1), (0, 1), (0, 1), (0, 1), (1, 1)]
    assert [bound[slot].filled.size for slot in range(3)] == [4, 4, 4]


def test_a_buffer_that_is_missing_stops_no_other() -> None:
    bound, overflow = targets({0: 400}), Overflow()
    assert stream_out(layout_of(0, 1), bound, lanes(4), np.array([[0]]), overflow).written == 0
    assert stream_out(layout_of(0), bound, lanes(4), np.array([[0]]), overflow).written == 1


def test_beyond_the_end_there_is_no_room() -> None:
    assert check(ONE, {0: 32}, 40, TRIANGLES) == 0


def test_a_word_that_no_stage_wrote_is_0() -> None:
    check(((Word("nobody", 0, 0), Word("a", 0, 4)), {0: 8}), {0: 80}, 0, TRIANGLES)


slots = st.integers(0, 3)


@given(
    st.lists(st.tuples(st.sampled_from((*PORTS, "nobody")), slots, st.integers(0, 3)), max_size=8),
    st.dictionaries(slots, st.integers(1, 90), max_size=4),
    st.integers(0, 3),
    st.integers(0, 9),
    st.integers(1, 3),
    st.data(),
)
def test_any_words_in_any_buffers_are_those_of_the_model(
    words: list[tuple[str, int, int]],
    sizes: dict[int, int],
    more: int,
    filled: int,
    corners: int,
    data: st.DataObject,
) -> None:
    placed = {(slot, place): Word(port, slot, 4 * place) for port, slot, place in words}
    strides = {slot: 16 + 4 * more for _, slot, _ in words}
    vertices = st.tuples(*[st.integers(0, 15)] * corners)
    primitives = data.draw(st.lists(vertices, max_size=6))
    check((tuple(placed.values()), strides), sizes, filled, primitives)
