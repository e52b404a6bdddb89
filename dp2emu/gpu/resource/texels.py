"""Reading and writing texels of subresources, as stored bytes and as colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.block_formats import COMPRESSED, compress
from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import Coding, FormatRow, Use
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import pack_color, unpack_color
from dp2emu.gpu.resource.resample import Lanes
from dp2emu.gpu.resource.srgb import decoded, encoded
from dp2emu.gpu.resource.subresources import Box
from dp2emu.shader.texture.texels import decode

Blocks = NDArray[np.uint8]
"""Bytes of stored pixels or compressed blocks: uint8 (slices, rows, columns, samples, bytes)."""


def blocks(surface: Surface, index: int) -> Blocks:
    """Return a writable view of a whole subresource's pixels or blocks."""
    row, part = ROWS[surface.format], surface.subresources[index]
    start = part.offset - surface.subresources[0].offset
    columns = -(-part.width // row.block[0])
    rows = surface.data[start : start + part.size].reshape(part.depth, part.rows, part.pitch)
    used = rows[:, :, : columns * surface.samples * row.size]
    return used.reshape(part.depth, part.rows, columns, surface.samples, row.size)


def whole_blocks(row: FormatRow, box: Box) -> tuple[slice, slice, slice]:
    """Return the index ranges (slices, rows, columns) of the blocks that a box of texels meets."""
    width, height = row.block
    return (
        slice(box.front, box.back),
        slice(box.top // height, -(-box.bottom // height)),
        slice(box.left // width, -(-box.right // width)),
    )


def read_texels(row: FormatRow, stored: Blocks, z: I64, y: I64, x: I64) -> Lanes:
    """Decode the single-sample texels at all combinations of z, y and x.

    Returns red, green, blue and alpha as a sampler reads them, float32 (len(z), len(y), len(x)).
    """
    if row.blocked:
        return _read_blocks(row, stored, z, y, x)
    picked = stored[z[:, None, None], y[:, None], x, 0]
    lanes = decoded(row, unpack_color(row, row.view(picked.reshape(-1))))
    return tuple(lane.reshape(picked.shape[:-1]) for lane in lanes)


def _read_blocks(row: FormatRow, stored: Blocks, z: I64, y: I64, x: I64) -> Lanes:
    """Read texels of a compressed format; only the blocks that contain them are decoded."""
    width, height = row.block
    rows, row_of = np.unique(y // height, return_inverse=True)
    columns, column_of = np.unique(x // width, return_inverse=True)
    slices = [
        decode(
            row.format,
            np.ascontiguousarray(stored[number][rows][:, columns, 0]).reshape(-1),
            len(columns) * width,
            len(rows) * height,
        )[(row_of * height + y % height)[:, None], column_of * width + x % width]
        for number in z
    ]
    colors = np.stack(slices).astype(np.float32) / np.float32(255)
    return tuple(colors[..., lane] for lane in range(4))


def write_texels(row: FormatRow, stored: Blocks, lanes: Lanes) -> None:
    """Store colours in all samples of the pixels of ``stored``, which has the lanes' shape."""
    words = pack_color(row, encoded(row, [lane.reshape(-1) for lane in lanes]))
    stored[...] = words.view(np.uint8).reshape(*lanes[0].shape, 1, row.size)


def encodable(row: FormatRow) -> bool:
    """Whether ``encode_texels`` supports a format."""
    if row.blocked:
        return row.format in COMPRESSED
    codings = {channel.coding for channel in row.channels.values()}
    return not row.uses & (Use.DEPTH | Use.PALETTE) and codings <= {Coding.UNORM, Coding.FLOAT}


def encode_texels(row: FormatRow, lanes: Lanes) -> Blocks:
    """Encode colours of shape (height, width) as pixels or blocks (rows, columns, bytes).

    Before compression colours are clamped to 0..1 and rounded to 8 bits: floor(c * 255 + 0.5).
    """
    height, width = lanes[0].shape
    if not row.blocked:
        words = pack_color(row, [np.ascontiguousarray(lane).reshape(-1) for lane in lanes])
        return words.view(np.uint8).reshape(height, width, row.size)
    clipped = [np.clip(np.nan_to_num(lane), 0, 1).astype(np.float64) for lane in lanes]
    colors = np.stack([np.floor(lane * 255 + 0.5) for lane in clipped], axis=-1)
    return compress(row.format, colors.astype(np.uint8))
