"""DirectDraw blits: fills, copies by points, colour keys, turns, and operations on bits.

Source: the DirectX 7 documentation of IDirectDrawSurface7::Blt and DDBLTFX, and of ternary raster
operations.  Pixels are taken as they are stored; only a copy to another format looks at colours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.formats import FORMATS, FormatRow
from dp2emu.gpu.arrays import I64, Mask
from dp2emu.gpu.command.packets import Blit, Part
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.heap import ColorKey
from dp2emu.gpu.resource.pixel_format import depth_bits, depth_format
from dp2emu.gpu.resource.resample import point
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import Blocks, blocks, encode_texels, read_texels, whole_blocks

SOURCE_COPY = 0xCC
"""Index of SRCCOPY among the ternary raster operations."""

Pixels = NDArray[np.uint8]
"""Bytes of pixels: (rows, columns, bytes)."""


def needs_pattern(index: int) -> bool:
    """Whether a ternary raster operation looks at the pattern."""
    return index >> 4 != index & 0xF


def execute_blit(blit: Blit, counters: Counters) -> Work:
    """Blit; all of the source is read before anything is written.  No query counts pixels."""
    row = FORMATS[blit.target.surface.format]
    box = blit.target.box
    if blit.source is None:
        _fill(blit, row)
    elif row.blocked:
        _write_blocks(blit, blit.source, row)
    else:
        _write_pixels(blit, blit.source, row)
    width, height, _ = box.sides
    moved = (
        width
        * height
        * row.size
        * (1 if blit.source is None else 2)
        // (row.block[0] * row.block[1])
    )
    counters.pixel_bytes += moved
    return Work(pixels=width * height, pixel_bytes=moved)


def _stored(part: Part) -> Blocks:
    return blocks(part.surface, part.index)


def _pixels(part: Part) -> Pixels:
    """The pixels of a part that is not compressed, a writable view."""
    box = part.box
    return _stored(part)[0, box.top : box.bottom, box.left : box.right, 0]


def _fill(blit: Blit, row: FormatRow) -> None:
    """Store one value in every pixel (of compressed formats, block), or what needs no source."""
    value = blit.fill.to_bytes(8, "little")[: min(row.size, 8)].ljust(row.size, b"\0")
    one = np.frombuffer(value, np.uint8)
    if row.blocked:
        _stored(blit.target)[whole_blocks(row, blit.target.box)] = one
        return
    old = _pixels(blit.target)
    new = np.broadcast_to(one, old.shape)
    if blit.depth_only:
        kept = np.frombuffer(
            depth_bits(depth_format(blit.target.surface), depth=True, stencil=False).to_bytes(
                row.size, "little"
            ),
            np.uint8,
        )
        new = new & kept | old & ~kept
    _store(blit, row, old, _operated(blit.rop, new, old), np.ones(old.shape[:2], np.bool_))


def _write_pixels(blit: Blit, source: Part, row: FormatRow) -> None:
    old = _pixels(blit.target)
    y, x = _places(blit, source.box)
    given = FORMATS[source.surface.format]
    written = np.ones(old.shape[:2], np.bool_)
    if given.blocked or blit.source_key is None:
        raw = None if given.blocked else _stored(source)[0][y, x, 0]
    else:
        raw = _stored(source)[0][y, x, 0]
        written = ~_within(given, raw, blit.source_key)
    if raw is None or given.format != row.format:
        raw = _converted(source, given, row, y, x)
    _store(blit, row, old, _operated(blit.rop, raw, old), written)


def _write_blocks(blit: Blit, source: Part, row: FormatRow) -> None:
    """Compressed pixels: as they are where nothing is stretched, or else compressed anew."""
    given, box = FORMATS[source.surface.format], blit.target.box
    plain = not (blit.turns or blit.mirror_x or blit.mirror_y)
    if given.format == row.format and source.box.sides == box.sides and plain:
        read = _stored(source)[whole_blocks(given, source.box)].copy()
        _stored(blit.target)[whole_blocks(row, box)] = read
        return
    y, x = _places(blit, source.box)
    data = _converted(source, given, row, y, x)
    _stored(blit.target)[whole_blocks(row, box)] = data[None, :, :, None]


def _converted(source: Part, given: FormatRow, row: FormatRow, y: I64, x: I64) -> Pixels:
    """Texels at places of the source, coded in another format."""
    stored = _stored(source)
    rows, columns = np.unique(y), np.unique(x)
    lanes = read_texels(given, stored, np.zeros(1, np.int64), rows, columns)
    at = np.searchsorted(rows, y), np.searchsorted(columns, x)
    return encode_texels(row, tuple(lane[0][at] for lane in lanes))


def _places(blit: Blit, box: Box) -> tuple[I64, I64]:
    """Which texel of the source each pixel of the target takes: rows and columns (height, width).

    A quarter turn makes what was the top the right side; mirrors come before turns.
    """
    width, height, _ = blit.target.box.sides
    if blit.turns % 2:
        width, height = height, width
    across, down = _along(box.sides[0], width), _along(box.sides[1], height)
    x, y = np.meshgrid(across[:: -1 if blit.mirror_x else 1], down[:: -1 if blit.mirror_y else 1])
    turned = (np.rot90(place, -blit.turns) for place in (y + box.top, x + box.left))
    return next(turned), next(turned)


def _along(source: int, target: int) -> I64:
    return point(source, target).taps[0][0]


def _within(row: FormatRow, pixels: Pixels, key: ColorKey) -> Mask:
    """Whether pixels, without the bits of no colour, lie in the range of a colour key."""
    words = np.zeros(pixels.shape[:2], np.uint64)
    for byte in range(min(row.size, 4)):
        words |= pixels[..., byte].astype(np.uint64) << np.uint64(8 * byte)
    bits = row.mask & ~(row.alpha.max << row.alpha.shift if row.alpha else 0)
    words &= np.uint64(bits)
    low, high = np.uint64(key[0] & bits), np.uint64(key[1] & bits)
    inside: Mask = (low <= words) & (words <= high)
    return inside


def _operated(index: int, source: Pixels, target: Pixels) -> Pixels:
    """A ternary raster operation that does not look at the pattern, on the bits of pixels."""
    if index == SOURCE_COPY:
        return source
    terms = (~source & ~target, ~source & target, source & ~target, source & target)
    result = np.zeros_like(target)
    for bit, term in enumerate(terms):
        if index >> bit & 1:
            result |= term
    return result


def _store(blit: Blit, row: FormatRow, old: Pixels, new: Pixels, written: Mask) -> None:
    if blit.target_key is not None:
        written = written & _within(row, old, blit.target_key)
    old[...] = np.where(written[..., None], new, old)
