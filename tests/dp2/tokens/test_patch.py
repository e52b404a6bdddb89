"""Patch tokens: each element is followed by what its own flags say."""

from __future__ import annotations

import struct

from tests.dp2.rigging import header
from tests.dp2.tokens.recorder import executed

RECTANGLE, TRIANGLE = 61, 62


def element(handle: int, segments: tuple[float, ...] = (), info: tuple[int, ...] = ()) -> bytes:
    flags = bool(segments) | 2 * bool(info)
    data = struct.pack(f"<{len(segments)}f{len(info)}I", *segments, *info)
    return struct.pack("<2I", handle, flags) + data


def test_elements_of_rectangles_have_their_own_tails() -> None:
    whole, half, info = (1.0, 2.0, 3.5, 4.0), (9.0, 8.0, 7.0, 6.0), (1, 2, 3, 4, 5, 6, 7)
    body = element(5, whole, info) + element(6) + element(7, half) + element(8, (), info)
    assert executed(header(RECTANGLE, 4) + body) == [
        ("draw_rectangle_patch", 5, whole, info),
        ("draw_rectangle_patch", 6, None, None),
        ("draw_rectangle_patch", 7, half, None),
        ("draw_rectangle_patch", 8, None, info),
    ]


def test_elements_of_triangles_have_their_own_tails() -> None:
    counts, info = (1.0, 2.0, 3.5), (1, 2, 3, 4)
    body = element(0, counts, info) + element(7, counts) + element(0xFFFFFFFF)
    assert executed(header(TRIANGLE, 3) + body) == [
        ("draw_triangle_patch", 0, counts, info),
        ("draw_triangle_patch", 7, counts, None),
        ("draw_triangle_patch", 0xFFFFFFFF, None, None),
    ]


def test_other_flags_bring_nothing() -> None:
    plain = struct.pack("<2I", 3, 0xFFFFFFFC)
    assert executed(header(TRIANGLE) + plain) == [("draw_triangle_patch", 3, None, None)]
