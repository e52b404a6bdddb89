"""What the DirectX 6 and 7 draw tokens draw."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType as Pt
from dp2emu.dp2.walk import decode, scan
from tests.dp2.tokens.recorder import Recorder, executed


def token(op: Op, n: int, *words: int) -> bytes:
    return struct.pack(f"<BBH{len(words)}H", op, 0, n, *words)


def test_points_draw_each_run() -> None:
    assert executed(token(Op.POINTS, 2, 3, 10, 1, 0)) == [
        ("draw_call", Pt.POINTLIST, 10, 3),
        ("draw_call", Pt.POINTLIST, 0, 1),
    ]


@pytest.mark.parametrize(
    ("op", "topology"),
    [
        (Op.LINELIST, Pt.LINELIST),
        (Op.LINESTRIP, Pt.LINESTRIP),
        (Op.TRIANGLELIST, Pt.TRIANGLELIST),
        (Op.TRIANGLESTRIP, Pt.TRIANGLESTRIP),
        (Op.TRIANGLEFAN, Pt.TRIANGLEFAN),
    ],
)
def test_lists_strips_and_fans_start_at_a_vertex(op: Op, topology: Pt) -> None:
    assert executed(token(op, 5, 0xFFFF)) == [("draw_call", topology, 0xFFFF, 5)]


def test_indexed_lists_are_absolute() -> None:
    assert executed(token(Op.INDEXEDLINELIST, 2, 0, 1, 0xFFFF, 2)) == [
        ("draw_call_indexed", Pt.LINELIST, [0, 1, 0xFFFF, 2], 2)
    ]


def test_edge_flags_of_indexed_triangles_are_no_indices() -> None:
    assert executed(token(Op.INDEXEDTRIANGLELIST, 2, 0, 1, 2, 0x700, 3, 4, 5, 0)) == [
        ("draw_call_indexed", Pt.TRIANGLELIST, [0, 1, 2, 3, 4, 5], 2, [0x700, 0])
    ]


@pytest.mark.parametrize(
    ("op", "n", "topology"),
    [
        (Op.INDEXEDLINESTRIP, 3, Pt.LINESTRIP),
        (Op.INDEXEDTRIANGLESTRIP, 2, Pt.TRIANGLESTRIP),
        (Op.INDEXEDTRIANGLEFAN, 2, Pt.TRIANGLEFAN),
        (Op.INDEXEDLINELIST2, 2, Pt.LINELIST),
    ],
)
def test_indices_behind_a_start_vertex_are_relative_to_it(op: Op, n: int, topology: Pt) -> None:
    assert executed(token(op, n, 10, 0, 1, 2, 3)) == [
        ("draw_call_indexed", topology, [10, 11, 12, 13], n)
    ]


def test_indexed_triangle_list_2_is_relative_to_its_start_vertex() -> None:
    assert executed(token(Op.INDEXEDTRIANGLELIST2, 1, 7, 2, 1, 0)) == [
        ("draw_call_indexed", Pt.TRIANGLELIST, [9, 8, 7], 1)
    ]


def test_start_vertex_and_index_are_added_in_32_bits() -> None:
    [(_, _, indices, _)] = executed(token(Op.INDEXEDLINELIST2, 1, 0xFFFF, 1, 0xFFFF))
    assert indices == [0x10000, 0x1FFFE]


def test_indices_are_32_bit_numbers_in_one_dimension() -> None:
    data = token(Op.INDEXEDTRIANGLELIST, 1, 0, 1, 2, 0)
    [(_, row, n, start, end)] = scan(data, 0, len(data)).commands
    seen: list[np.ndarray] = []
    recorder = Recorder()
    recorder.draw_call_indexed = lambda topology, indices, count, flags: seen.append(indices)
    row.execute(recorder, decode(row, data, n, start, end))
    assert [(array.dtype, array.shape) for array in seen] == [(np.uint32, (3,))]


def test_immediate_fan_passes_its_vertices_and_edge_flags() -> None:
    vertices = bytes(range(48))
    data = token(Op.TRIANGLEFAN_IMM, 1, 7, 0) + vertices
    assert executed(data, 16) == [("draw_immediate", Pt.TRIANGLEFAN, vertices, 1, 7)]


def test_immediate_lines_pass_their_vertices() -> None:
    vertices = bytes(range(64))
    data = token(Op.LINELIST_IMM, 2) + vertices
    assert executed(data, 16) == [("draw_immediate", Pt.LINELIST, vertices, 2, 0)]


def test_an_immediate_fan_of_no_triangles_draws_nothing() -> None:
    assert executed(token(Op.TRIANGLEFAN_IMM, 0, 7, 0) + bytes(32), 16) == []
