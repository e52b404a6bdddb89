"""Planes that a host sees, against a model that stores texel by texel."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind, host_bytes
from dp2emu.gpu.resource.planar import packed_planes
from dp2emu.gpu.resource.texels import blocks
from dp2emu.shader.texture.texels import decode

BOTH = pytest.mark.parametrize("format", [Format.YV12, Format.NV12])


def surface(format: Format, width: int, height: int, levels: int = 1) -> tuple[Heap, Surface]:
    heap = Heap()
    desc = SurfaceDesc(1, SurfaceKind.TEXTURE, width, height, int(format), levels=levels)
    return heap, heap.create(desc)


def modelled(format: Format, data: bytes, columns: int, rows: int) -> list[list[int]]:
    """The bytes of each block, Y by Y, then U and V, by the documented places of each."""
    pitch, luma, found = 2 * columns, 4 * columns * rows, []
    for row in range(rows):
        for column in range(columns):
            block = [data[(2 * row + v) * pitch + 2 * column + u] for v in (0, 1) for u in (0, 1)]
            number = row * columns + column
            if format is Format.NV12:
                u, v = luma + row * pitch + 2 * column, luma + row * pitch + 2 * column + 1
            else:
                v, u = luma + number, luma + columns * rows + number
            found.append([*block, data[u], data[v]])
    return found


@BOTH
@pytest.mark.parametrize("size", [(2, 2), (8, 4), (5, 3)])
def test_planes_of_a_host_are_blocks_of_the_gpu(format: Format, size: tuple[int, int]) -> None:
    heap, made = surface(format, *size)
    columns, rows = -(-size[0] // 2), -(-size[1] // 2)
    data = np.random.default_rng(5).integers(0, 256, 6 * columns * rows, np.uint8).tobytes()
    heap.write(1, 0, data)
    assert blocks(made, 0).reshape(-1, 6).tolist() == modelled(format, data, columns, rows)
    assert host_bytes(made, 0, len(data)) == data


@BOTH
def test_bytes_are_written_and_read_from_any_place_of_any_level(format: Format) -> None:
    heap, made = surface(format, 8, 8, levels=3)
    whole = bytearray(np.random.default_rng(6).integers(0, 256, made.data.nbytes, np.uint8))
    heap.write(1, 0, bytes(whole))
    heap.write(1, 91, b"0123456789")
    whole[91:101] = b"0123456789"
    assert host_bytes(made, 0, len(whole)) == whole
    assert host_bytes(made, 95, 30) == whole[95:125]
    small = made.subresources[1]
    data = bytes(whole[small.offset : small.offset + small.size])
    assert blocks(made, 1).reshape(-1, 6).tolist() == modelled(format, data, 2, 2)


@BOTH
def test_rows_are_taken_from_the_pitch_of_their_plane(format: Format) -> None:
    luma = b"aaaa....bbbb....cccc....dddd...."
    chroma = b"vv..VV..uu..UU.." if format is Format.YV12 else b"uvuv....UVUV...."
    packed = b"aaaabbbbccccdddd" + chroma.replace(b".", b"")
    assert packed_planes(format, 2, 2, luma + chroma, 8) == packed
    assert packed_planes(format, 2, 2, packed, 0) == packed


@BOTH
def test_texels_of_a_block_share_their_chroma(format: Format) -> None:
    found = decode(format, bytes([16, 235, 81, 145, 90, 240]), 2, 2)
    pairs = decode(Format.YUY2, bytes([16, 90, 235, 240, 81, 90, 145, 240]), 2, 2)
    assert found.tolist() == pairs.tolist()
