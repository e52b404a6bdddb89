"""Edge flags in wireframe fill mode, from the tokens that carry them to the picture."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.dp2.rigging import Bench, clear, header, render_state, token, vertex

SQUARE = b"".join(vertex(x, y) for x, y in ((8, 8), (40, 8), (40, 40), (8, 40)))
SIDES = ((8, 24), (24, 40), (40, 24), (24, 8))
"""A pixel (row, column) of the top, the right, the bottom and the left side."""
DIAGONAL = 24, 24
WIREFRAME = render_state(8, 2) + render_state(22, 1)


def sides_drawn(commands: bytes, vertices: bytes = b"") -> list[bool]:
    """Which sides a wireframe has; the diagonal of the two triangles comes last."""
    bench = Bench()
    bench.ok(clear() + WIREFRAME + commands, vertices)
    pixels = np.frombuffer(bench.driver.read(1, 0, 64 * 64 * 4), "<u4").reshape(64, 64)
    return [bool(pixels[place] & 0xFFFFFF) for place in (*SIDES, DIAGONAL)]


def sides(flags: int) -> list[bool]:
    return [bool(flags >> bit & 1) for bit in range(4)]


@pytest.mark.parametrize("flags", [0b1111, 0b0101, 0b1000, 0])
def test_a_fan_in_the_stream_shows_the_edges_of_its_flags(flags: int) -> None:
    fan = header(23, 2) + struct.pack("<I", flags) + SQUARE
    assert sides_drawn(fan) == [*sides(flags), False]


@pytest.mark.parametrize("flags", [0b1111, 0b0110, 0b0001])
def test_a_clipped_fan_shows_the_edges_of_its_flags(flags: int) -> None:
    setup = token(50, 0, 20) + token(47, 0x44)
    assert sides_drawn(setup + token(58, 0, flags, 2), SQUARE) == [*sides(flags), False]


def test_an_indexed_list_shows_the_edges_of_each_triangle() -> None:
    def triangles(first: int, second: int) -> bytes:
        return header(3, 2) + struct.pack("<8H", 0, 1, 2, first, 0, 2, 3, second)

    assert sides_drawn(triangles(0x700, 0x700), SQUARE) == [True] * 5
    assert sides_drawn(triangles(0x300, 0x600), SQUARE) == [True] * 4 + [False]
    assert sides_drawn(triangles(0x100, 0x200), SQUARE) == [True, False, True, False, False]


def test_an_unclipped_fan_shows_the_edges_between_its_triangles() -> None:
    assert sides_drawn(token(21, 0, count=2)[:6], SQUARE) == [True] * 5


def test_a_clipped_fan_of_far_too_many_triangles_is_refused_at_once() -> None:
    setup = token(50, 0, 20) + token(47, 0x44)
    answer = Bench().call(setup + token(58, 0, 0, 0xFFFFFFFF), SQUARE)
    assert answer.ddrval != 0
