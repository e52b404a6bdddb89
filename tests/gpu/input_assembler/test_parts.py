"""Instances and cut strips against plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.enums10 import Topology10
from dp2emu.gpu.command.bindings import Topology
from dp2emu.gpu.command.packets import Draw, Indices, Instances, Stream
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.topology import corners, vertex_count
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.gpu.input_assembler.vertex_fetch import instanced, uncut, vertex_numbers
from tests.gpu.drawing import color_surface, corner, draw, rebound

CUT = 0xFFFFFFFF


def stripped(values: Sequence[int], topology: Topology, size: int = 4, base: int = 0) -> Draw:
    """A draw of a strip with cuts, its indices in 16 or 32 bits."""
    cut = (1 << 8 * size) - 1
    words = np.array([cut if v == CUT else v for v in values], f"<u{size}")
    given = draw([corner(0, 0)], color=color_surface())
    data = words.view(np.uint8).tobytes()
    surface = color_surface(width=64, height=64)
    surface.data[: len(data)] = np.frombuffer(data, np.uint8)
    step, extra = {3: (1, 1), 5: (1, 2), 11: (1, 3), 13: (2, 4)}[topology]
    return rebound(
        given,
        topology=topology,
        count=max((len(values) - extra) // step, 0),
        indices=Indices(surface, size, 0, base),
        cuts=True,
    )


def pieces(values: Sequence[int]) -> list[list[int]]:
    strips: list[list[int]] = [[]]
    for value in values:
        if value == CUT:
            strips.append([])
        else:
            strips[-1].append(value)
    return strips


def triangles(values: Sequence[int]) -> list[tuple[int, ...]]:
    """The triangles of strips, leading vertex first."""
    found = []
    for strip in pieces(values):
        for n in range(len(strip) - 2):
            odd = n & 1
            found.append((strip[n], strip[n + 1 + odd], strip[n + 2 - odd]))
    return found


def listed(packet: Draw, many: int) -> list[tuple[int, ...]]:
    numbers = corners(packet.input.topology, packet.input.first, 0, packet.input.count)
    found = vertex_numbers(packet.input.indices, numbers.ravel()).reshape(numbers.shape)
    return [tuple(each) for each in found[:many].T.tolist()]


@pytest.mark.parametrize("size", [2, 4])
@given(values=st.lists(st.sampled_from([0, 1, 2, 3, CUT]), min_size=3, max_size=24))
def test_a_cut_begins_another_strip(size: int, values: list[int]) -> None:
    packet = uncut(stripped(values, PrimitiveType.TRIANGLESTRIP, size))
    assert listed(packet, 3) == triangles(values)
    assert packet.input.vertices == sum(len(strip) for strip in pieces(values) if len(strip) > 2)


@given(values=st.lists(st.sampled_from([0, 1, 2, CUT]), min_size=2, max_size=16))
def test_lines_are_cut_as_well(values: list[int]) -> None:
    packet = uncut(stripped(values, PrimitiveType.LINESTRIP))
    lines = [pair for strip in pieces(values) for pair in pairwise(strip)]
    assert listed(packet, 2) == lines


def test_the_base_is_added_to_what_is_no_cut() -> None:
    packet = uncut(stripped([1, 2, 3, CUT, 4], PrimitiveType.TRIANGLESTRIP, 2, base=10))
    assert listed(packet, 3) == [(11, 12, 13)]


def test_lists_are_never_cut() -> None:
    given = stripped([0, 1, 2], PrimitiveType.TRIANGLESTRIP, 2)
    plain = rebound(given, topology=PrimitiveType.TRIANGLELIST)
    assert uncut(plain) is plain


def test_what_is_left_of_a_strip_counts_nowhere() -> None:
    packet = stripped([0, 0, 0, CUT, 0, 0, CUT, 0, 0, 0, 0], PrimitiveType.TRIANGLESTRIP)
    counters = Counters()
    execute_draw(packet, counters)
    assert (counters.vertices, counters.primitives) == (7, 3)


ADJACENT = [
    (Topology10.LINELIST_ADJ, 8, [(1, 2), (5, 6)]),
    (Topology10.LINESTRIP_ADJ, 5, [(1, 2), (2, 3)]),
    (Topology10.TRIANGLELIST_ADJ, 12, [(0, 2, 4), (6, 8, 10)]),
    (Topology10.TRIANGLESTRIP_ADJ, 8, [(0, 2, 4), (2, 6, 4)]),
]


@pytest.mark.parametrize(("topology", "vertices", "wanted"), ADJACENT)
def test_adjacent_vertices_are_left_out(
    topology: Topology10, vertices: int, wanted: list[tuple[int, ...]]
) -> None:
    numbers = corners(topology, 0, 0, len(wanted))
    assert [tuple(each) for each in numbers[: len(wanted[0])].T.tolist()] == wanted
    assert vertex_count(topology, len(wanted)) == vertices


@pytest.mark.parametrize(
    ("rate", "first", "wanted"),
    [(1, 0, [0, 1, 2, 3]), (2, 0, [0, 0, 1, 1]), (3, 5, [5, 5, 5, 6]), (0, 7, [7, 7, 7, 7])],
)
def test_an_element_serves_as_many_instances_as_the_rate_says(
    rate: int, first: int, wanted: list[int]
) -> None:
    given = draw([corner(0, 0)], color=color_surface())
    packet = rebound(
        given,
        streams=(given.input.streams[0], Stream(b"", 100, 8)),
        instances=Instances(4, first, ((1, rate),), "instance"),
    )
    parts = list(instanced(packet))
    offsets = [part.input.streams[1].offset for part in parts if part.input.streams[1]]
    assert offsets == [100 + 8 * element for element in wanted]
    assert all(part.input.streams[1] and part.input.streams[1].stride == 0 for part in parts)
    assert [int(part.vertex.uniforms["instance"][0]) for part in parts] == [0, 1, 2, 3]
    assert all(part.input.streams[0] is given.input.streams[0] for part in parts)


def test_instances_count_as_often_as_they_are_drawn() -> None:
    shape = [corner(0, 0), corner(8, 0), corner(0, 8)]
    packet = draw(shape, color=color_surface(), instances=Instances(3))
    counters = Counters()
    execute_draw(packet, counters)
    assert (counters.vertices, counters.primitives, counters.triangles) == (9, 3, 3)


def test_no_instances_draw_nothing() -> None:
    packet = draw([corner(0, 0)] * 3, color=color_surface(), instances=Instances(0))
    assert list(instanced(packet)) == []
