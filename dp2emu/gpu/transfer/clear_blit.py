"""DirectDraw blits (fills, point-sampled copies, colour keys, rotations, raster operations) and
clears of colour and depth surfaces.

Source: the DirectX 7 documentation of IDirectDrawSurface7::Blt and DDBLTFX, and of ternary raster
operations.  Blits copy stored pixels; only a copy to another format converts colours.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple, replace
from numpy.typing import NDArray

from dp2emu.cancellation import polled
from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import FORMATS, AnyFormat, Coding, FormatRow
from dp2emu.gpu.arrays import F32, I64, Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import SOURCE_COPY, Blit, Clear, Part
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource import pixel_format
from dp2emu.gpu.resource.heap import ColorKey, Surface
from dp2emu.gpu.resource.resample import point
from dp2emu.gpu.resource.srgb import encoded
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import Blocks, blocks, encode_texels, read_texels, whole_blocks
from dp2emu.gpu.transfer.copy_resolve import resolved_blocks
from dp2emu.shader.ops import float_to_int, float_to_uint
from dp2emu.shader.types import I32

_BAND = 1 << 18
"""Maximum number of pixels of a blit or clear that are processed at once, unless a band of four
rows has more."""
_BLOCK_ROWS = 4
_WORDS = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}
"""Types of stored pixels, as words, by their size in bytes."""

Pixels = NDArray[np.uint8]
"""Pixels as their stored bytes: an array of shape (rows, columns, bytes of a pixel)."""


def needs_pattern(index: int) -> bool:
    """Whether a ternary raster operation depends on the pattern."""
    return index >> 4 != index & 0xF


def execute_blit(blit: Blit, counters: Counters) -> Work:
    """Execute a blit; the source is read in full before any write.  Pixels are not counted."""
    row = FORMATS[blit.target.surface.format]
    if blit.source is None:
        _fill(blit, row)
    elif row.blocked:
        _write_blocks(blit, blit.source, row)
    else:
        _write_pixels(blit, blit.source, row)
    width, height, _ = blit.target.box.sides
    accesses = 1 if blit.source is None else 2
    moved = width * height * row.size * accesses // (row.block[0] * row.block[1])
    counters.pixel_bytes += moved
    return Work(pixels=width * height, pixel_bytes=moved)


def _stored(part: Part) -> Blocks:
    return blocks(part.surface, part.index)


def _bands(width: int, height: int) -> Iterator[slice]:
    """Yield the rows of a rectangle in bands of whole blocks, which bound the memory that pixels
    take while they are processed.  Raises Cancelled if the work is cancelled.
    """
    rows = max(_BAND // width // _BLOCK_ROWS, 1) * _BLOCK_ROWS
    for top in polled(range(0, height, rows)):
        yield slice(top, min(top + rows, height))


def _pixels(part: Part) -> Pixels:
    """Return a writable view of the pixels in a part of an uncompressed surface."""
    box = part.box
    return _stored(part)[0, box.top : box.bottom, box.left : box.right, 0]


def _fill(blit: Blit, row: FormatRow) -> None:
    """Fill every pixel, or compressed block, with one value, by the raster operation."""
    value = blit.fill.to_bytes(8, "little")[: min(row.size, 8)].ljust(row.size, b"\0")
    one = np.frombuffer(value, np.uint8)
    if row.blocked:
        _stored(blit.target)[whole_blocks(row, blit.target.box)] = one
        return
    whole = _pixels(blit.target)
    for band in _bands(whole.shape[1], whole.shape[0]):
        old = whole[band]
        new = np.broadcast_to(one, old.shape)
        if blit.depth_only:
            format = pixel_format.depth_format(blit.target.surface)
            depth = pixel_format.depth_bits(format, depth=True, stencil=False)
            changed = np.frombuffer(depth.to_bytes(row.size, "little"), np.uint8)
            new = new & changed | old & ~changed
        _store(blit, row, old, _operated(blit.rop, new, old), None)


def _write_pixels(blit: Blit, source: Part, row: FormatRow) -> None:
    whole, places = _pixels(blit.target), _Places.of(blit, source.box)
    given = _Given.of(source, whole)
    for band in _bands(whole.shape[1], whole.shape[0]):
        old, (y, x) = whole[band], places.of_rows(band)
        written = None
        if given.row.blocked:
            new = _converted(given, row, y, x)
        else:
            new = given.pixels(y, x)
            if blit.source_key is not None:
                written = ~_within(given.row, new, blit.source_key)
            if given.row.format != row.format:
                new = _converted(given, row, y, x)
        _store(blit, row, old, _operated(blit.rop, new, old), written)


def _write_blocks(blit: Blit, source: Part, row: FormatRow) -> None:
    """Copy to a compressed target: blocks as stored if possible, otherwise compressed again."""
    source_row, box = FORMATS[source.surface.format], blit.target.box
    plain = not (blit.turns or blit.mirror_x or blit.mirror_y)
    if source_row.format == row.format and source.box.sides == box.sides and plain:
        read = _stored(source)[whole_blocks(source_row, source.box)].copy()
        _stored(blit.target)[whole_blocks(row, box)] = read
        return
    target, (width, height, _) = _stored(blit.target), box.sides
    given, places = _Given.of(source, target), _Places.of(blit, source.box)
    for band in _bands(width, height):
        there = replace(box, top=box.top + band.start, bottom=box.top + band.stop)
        data = _converted(given, row, *places.of_rows(band))
        target[whole_blocks(row, there)] = data[None, :, :, None]


class _Given(msgspec.Struct, frozen=True, eq=False):
    """The source of a blit: its format, and its stored pixels or blocks."""

    row: FormatRow
    stored: Blocks

    @classmethod
    def of(cls, source: Part, target: NDArray[np.uint8]) -> _Given:
        """The source, copied if it shares memory with ``target``, and resolved to one sample."""
        surface = source.surface
        stored = resolved_blocks(surface) if surface.samples > 1 else _stored(source)
        shared = np.may_share_memory(stored, target)
        return cls(FORMATS[surface.format], stored.copy() if shared else stored)

    def pixels(self, y: I64, x: I64) -> Pixels:
        """The stored pixels in rows ``y`` and columns ``x``, which broadcast to one shape."""
        size = self.row.size
        words = self.stored[0, :, :, 0].view(_WORDS.get(size, f"V{size}"))[..., 0]
        found = np.ascontiguousarray(words[y, x])
        return found.view(np.uint8).reshape(*found.shape, size)


def _converted(given: _Given, row: FormatRow, y: I64, x: I64) -> Pixels:
    """Return the source's texels in rows ``y`` and columns ``x``, converted to another format."""
    rows, columns = np.unique(y), np.unique(x)
    lanes = read_texels(given.row, given.stored, np.zeros(1, np.int64), rows, columns)
    at = np.searchsorted(rows, y), np.searchsorted(columns, x)
    return encode_texels(row, tuple(lane[0][at] for lane in lanes))


class _Places(msgspec.Struct, frozen=True, eq=False):
    """The source position of each target pixel of a blit: by target row and by target column, the
    source row and column or, if ``turned`` by a quarter, column and row.
    """

    by_row: I64
    by_column: I64
    turned: bool

    @classmethod
    def of(cls, blit: Blit, box: Box) -> _Places:
        """The positions in ``box``.  Rotation is by clockwise quarter turns, after mirroring."""
        width, height, _ = blit.target.box.sides
        if blit.turns % 2:
            width, height = height, width
        across, down = (point(*sides).taps[0][0]
                        for sides in zip(box.sides, (width, height), strict=False))  # fmt: skip
        across = across[:: -1 if blit.mirror_x else 1] + box.left
        down = down[:: -1 if blit.mirror_y else 1] + box.top
        turns = blit.turns % 4
        if turns % 2:
            return cls(across[:: 1 if turns == 1 else -1], down[:: -1 if turns == 1 else 1], True)
        return cls(down[:: -1 if turns else 1], across[:: -1 if turns else 1], False)

    def of_rows(self, band: slice) -> tuple[I64, I64]:
        """Source rows and columns of the target rows of a band; they broadcast to its shape."""
        rows, columns = self.by_row[band, None], self.by_column[None, :]
        return (columns, rows) if self.turned else (rows, columns)


def _within(row: FormatRow, pixels: Pixels, key: ColorKey) -> Mask:
    """Mask of the pixels whose stored colour bits, without alpha, are in a colour key's range."""
    words = np.zeros(pixels.shape[:2], np.uint64)
    for byte in range(min(row.size, 4)):
        words |= pixels[..., byte].astype(np.uint64) << np.uint64(8 * byte)
    bits = row.mask & ~(row.alpha.max << row.alpha.shift if row.alpha else 0)
    words &= np.uint64(bits)
    low, high = np.uint64(key[0] & bits), np.uint64(key[1] & bits)
    inside: Mask = (low <= words) & (words <= high)
    return inside


def _operated(index: int, source: Pixels, target: Pixels) -> Pixels:
    """Apply a ternary raster operation without a pattern to the bits of pixels."""
    if index == SOURCE_COPY:
        return source
    terms = (~source & ~target, ~source & target, source & ~target, source & target)
    result = np.zeros_like(target)
    for bit, term in enumerate(terms):
        if index >> bit & 1:
            result |= term
    return result


def _store(blit: Blit, row: FormatRow, old: Pixels, new: Pixels, written: Mask | None) -> None:
    """Store pixels in ``old``, those in ``written`` only unless it is None."""
    if blit.target_key is not None:
        keyed = _within(row, old, blit.target_key)
        written = keyed if written is None else written & keyed
    old[...] = new if written is None else np.where(written[..., None], new, old)


# Clears

FEW = 32
"""A clear of at most this many rectangles fills one after the other; one of more fills their
union, each pixel once."""

_UNION_BAND = 1 << 20
"""Maximum number of pixels for which the union of clear rectangles is computed at once."""


def execute_clear(clear: Clear, counters: Counters) -> Work:
    """Execute a clear; counts the bytes that each rectangle's fill writes, but no pixels.

    Raises Unsupported, before any write, for formats that cannot be drawn to.
    """
    fills = [(surface, _Fill(_color_word(surface, clear.color, srgb=clear.srgb)))
             for surface in clear.colors
             if surface is not None and clear.color is not None]  # fmt: skip
    if clear.depth is not None and (clear.z is not None or clear.stencil is not None):
        format = pixel_format.depth_format(clear.depth).format
        fills.append((clear.depth, _depth_word(format, clear.z, clear.stencil)))
    work = Work()
    for surface, fill in fills:
        whole, samples = Rect(0, 0, surface.width, surface.height), surface.samples
        rects = [inside for rect in clear.rects if not (inside := rect.intersect(whole)).empty]
        words = [replace(r, left=r.left * samples, right=r.right * samples) for r in rects]
        _fill_rects(surface.pixels(), words, fill)
        pixels = sum((r.right - r.left) * (r.bottom - r.top) for r in rects)
        pixel_bytes = ROWS[surface.format].size * samples
        work += Work(pixels=pixels, shaded=pixels, pixel_bytes=pixels * pixel_bytes)
    counters.pixel_bytes += work.pixel_bytes
    return work


class _Fill(msgspec.Struct, frozen=True):
    """What a clear stores: a pixel's word or words, and a mask of bits to write (None: all)."""

    word: Any
    written: int | None = None

    def put(self, pixels: Any) -> None:
        """Store this fill in every pixel of a view of a surface's pixel words."""
        if self.written is None:
            pixels[...] = self.word
        elif self.written:
            pixels &= ~pixels.dtype.type(self.written)
            pixels |= self.word


def _fill_rects(pixels: Any, rects: list[Rect], fill: _Fill) -> None:
    if len(rects) <= FEW:
        for rect in rects:
            for band in _bands(max(rect.right - rect.left, 1), rect.bottom - rect.top):
                rows = slice(rect.top + band.start, rect.top + band.stop)
                fill.put(pixels[rows, rect.left : rect.right])
        return
    for top, covered in polled(_union(rects, *pixels.shape[:2])):
        band = pixels[top : top + len(covered)]
        filled = band[covered]
        fill.put(filled)
        band[covered] = filled


def _union(rects: list[Rect], height: int, width: int) -> Iterator[tuple[int, Mask]]:
    """Yield the union of rectangles in bands of rows: (first row, mask of the band's pixels).

    A summed-area table of the corners makes the cost independent of the rectangles' areas.
    """
    left, top, right, bottom = np.array([astuple(rect) for rect in rects]).T
    rows = max(1, _UNION_BAND // width)
    for first in range(0, height, rows):
        last = min(first + rows, height)
        steps = np.zeros((last - first + 1, width + 1), np.int32)
        hit = np.flatnonzero((top < last) & (bottom > first))
        upper, lower = np.maximum(top[hit], first) - first, np.minimum(bottom[hit], last) - first
        for row, column, step in (
            (upper, left, 1), (upper, right, -1), (lower, left, -1), (lower, right, 1),
        ):  # fmt: skip
            np.add.at(steps, (row, column[hit]), step)
        yield first, steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0


# Frames are cleared alike.  -0.0 and 0.0 are one key of the cache; both clear to 0.
@lru_cache(maxsize=64)
def _depth_word(format: AnyFormat, z: float | None, stencil: int | None) -> _Fill:
    row = ROWS[format]
    # A NaN fails the first comparison and clears to 0.
    clamped = min(z, 1.0) if z is not None and z > 0 else 0.0
    depth = pixel_format.quantise_depth(row, np.array([clamped], np.float64))

    word: Any = np.zeros(1, row.word)
    if z is not None:
        word = pixel_format.with_depth(row, word, depth)
    if stencil is not None:
        word = pixel_format.with_stencil(row, word, stencil)
    written = pixel_format.depth_bits(row, depth=z is not None, stencil=stencil is not None)
    return _Fill(word[0], None if written == pixel_format.every_bit(row) else written)


def _color_word(surface: Surface, color: int | pixel_format.Color, *, srgb: bool) -> Any:
    """Return the pixel word or words that store a colour, converted to ``srgb`` codes where the
    format holds them; integer formats truncate it.
    """
    row = pixel_format.color_format(surface)
    if isinstance(color, int):
        return _code_word(row.format, color, srgb=srgb)
    return _float_word(row.format, struct.pack("<4d", *color), srgb=srgb)


@lru_cache(maxsize=64)
def _code_word(format: AnyFormat, color: int, *, srgb: bool) -> Any:
    return _word(ROWS[format], color, srgb=srgb)


@lru_cache(maxsize=64)
def _float_word(format: AnyFormat, color: bytes, *, srgb: bool) -> Any:
    """``color`` has the bits of four floats: equal floats may have others (-0.0 and 0.0)."""
    return _word(ROWS[format], struct.unpack("<4d", color), srgb=srgb)


def _word(row: FormatRow, color: int | pixel_format.Color, *, srgb: bool) -> Any:
    values = [np.array([value], np.float32) for value in pixel_format.floats_of(color)]
    rgba: Sequence[F32 | I32] = encoded(row, values, forced=srgb)
    for coding, truncated in ((Coding.UINT, float_to_uint), (Coding.SINT, float_to_int)):
        if any(channel.coding is coding for channel in row.channels.values()):
            rgba = [truncated(lane) for lane in values]
    return pixel_format.pack_color(row, rgba)[0]
