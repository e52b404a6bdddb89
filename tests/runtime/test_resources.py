"""Stores into boxes of surfaces, against a plain model of bytes, and dirty boxes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.subresources import Box
from dp2emu.runtime.chains import samples_of
from dp2emu.runtime.resources import DIRTY_BOXES, Resource, Stored, store_pixels


class Memory:
    """A session as far as stores need it.  Mutable: it is memory."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)

    def write(self, handle: int, offset: int, data: bytes) -> None:
        assert handle == 1
        assert offset + len(data) <= len(self.data)
        self.data[offset : offset + len(data)] = data


def stored(resource: Resource, box: Box, given: Stored, size: int) -> bytes:
    memory = Memory(size)
    store_pixels(memory, resource, 0, box, given)  # type: ignore[arg-type]
    return bytes(memory.data)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_texels_arrive_where_the_box_says(data: st.DataObject) -> None:
    sides = [data.draw(st.integers(1, 6)) for _ in range(3)]
    width, height, depth = sides
    desc = SurfaceDesc(1, SurfaceKind.VOLUMETEXTURE, width, height, Format.R5G6B5, depth=depth)
    low = [data.draw(st.integers(0, side - 1)) for side in sides]
    high = [data.draw(st.integers(at + 1, side)) for at, side in zip(low, sides, strict=True)]
    box = Box(low[0], low[1], high[0], high[1], low[2], high[2])
    across, down, back = (b - a for a, b in zip(low, high, strict=True))
    pitch = 2 * across + data.draw(st.integers(0, 3))
    slice = pitch * down + data.draw(st.integers(0, 5))
    size = slice * (back - 1) + pitch * (down - 1) + 2 * across
    source = bytes((7 * i + 1) % 251 for i in range(size))
    found = stored(Resource(desc), box, Stored(source, pitch, slice), 2 * width * height * depth)
    for z in range(depth):
        for y in range(height):
            for x in range(width):
                at = 2 * ((z * height + y) * width + x)
                inside = all(a <= i < b for i, a, b in zip((x, y, z), low, high, strict=True))
                place = (z - low[2]) * slice + (y - low[1]) * pitch + 2 * (x - low[0])
                wanted = source[place : place + 2] if inside else b"\0\0"
                assert found[at : at + 2] == wanted


def test_blocks_are_stored_whole() -> None:
    desc = SurfaceDesc(1, SurfaceKind.TEXTURE, 10, 8, Format.DXT1)
    data = b"A" * 8 + b"B" * 8 + b"?" * 4
    found = stored(Resource(desc), Box(4, 4, 10, 8), Stored(data, 20), 48)
    assert found == bytes(32) + data[:16]
    rows = b"C" * 24 + b"holes..." + b"D" * 24
    assert stored(Resource(desc), Box(0, 0, 10, 8), Stored(rows, 32), 48) == rows[:24] + b"D" * 24


def test_what_is_short_stores_what_it_has() -> None:
    desc = SurfaceDesc(1, SurfaceKind.TEXTURE, 2, 2, Format.L8)
    assert stored(Resource(desc), Box(0, 0, 2, 2), Stored(b"abc", 2), 4) == b"abc\0"
    assert stored(Resource(desc), Box(0, 0, 2, 2), Stored(b"", 2), 4) == bytes(4)


def test_dirty_boxes_are_kept_until_they_are_too_many() -> None:
    desc = SurfaceDesc(1, SurfaceKind.CUBETEXTURE, 64, 64, Format.L8)
    cube = Resource(desc)
    assert cube.take_dirty() == {face: [Box(0, 0, 64, 64)] for face in range(6)}
    assert cube.take_dirty() == {}
    cube.add_dirty(2, Box(1, 1, 2, 2))
    assert cube.take_dirty() == {2: [Box(1, 1, 2, 2)]}
    for at in range(DIRTY_BOXES + 1):
        cube.add_dirty(1, Box(at, 0, at + 1, 1))
    cube.add_dirty(0, None)
    whole = [Box(0, 0, 64, 64)]
    assert cube.take_dirty() == {0: whole, 1: whole}


@pytest.mark.parametrize(
    ("type", "quality", "samples"),
    [(0, 0, 1), (2, 0, 2), (3, 0, 4), (4, 3, 4), (5, 0, 8), (8, 0, 8), (16, 0, 8),
     (1, 0, 2), (1, 1, 4), (1, 2, 8), (1, 9, 8), (1, -1, 2)],
)  # fmt: skip
def test_samples_are_as_many_as_were_asked_for(type: int, quality: int, samples: int) -> None:
    assert samples_of(type, quality) == samples
