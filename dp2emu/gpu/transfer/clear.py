"""Clear: fill rectangles of colour and depth surfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import AnyFormat, Coding, FormatRow
from dp2emu.gpu.arrays import F32, Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Clear
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource import pixel_format
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.srgb import encoded
from dp2emu.shader.ops import float_to_int, float_to_uint
from dp2emu.shader.types import I32

FEW = 32
"""Rectangles filled one by one; of more the union is filled, since each may be the whole."""

_BAND = 1 << 20
"""Pixels whose coverage is worked out together."""


def execute_clear(clear: Clear, counters: Counters) -> Work:
    """Fill, and count the bytes that filling each rectangle writes.  No query counts pixels.

    Raises Unsupported, before anything is written, for formats that are not built.
    """
    fills = [_color_fill(surface, clear.color)
             for surface in clear.colors
             if surface is not None and clear.color is not None]  # fmt: skip
    if clear.depth is not None and (clear.z is not None or clear.stencil is not None):
        fills.append(_depth_fill(clear.depth, clear.z, clear.stencil))
    work = Work()
    for surface, fill in fills:
        whole = Rect(0, 0, surface.width, surface.height)
        rects = [inside for rect in clear.rects if not (inside := rect.intersect(whole)).empty]
        _fill(surface.pixels(), [_columns(rect, surface.samples) for rect in rects], fill)
        pixels = sum((r.right - r.left) * (r.bottom - r.top) for r in rects)
        pixel_bytes = ROWS[surface.format].size * surface.samples
        work += Work(pixels=pixels, shaded=pixels, pixel_bytes=pixels * pixel_bytes)
    counters.pixel_bytes += work.pixel_bytes
    return work


def _columns(rect: Rect, samples: int) -> Rect:
    """The same in words: each pixel has one for every sample."""
    return replace(rect, left=rect.left * samples, right=rect.right * samples)


class _Fill(msgspec.Struct, frozen=True):
    """The word, or words, of a pixel; ``written`` are its bits that change, None all of them."""

    word: Any
    written: int | None = None

    def put(self, pixels: Any) -> None:
        """Fill a view of pixel words, in place."""
        if self.written is None:
            pixels[...] = self.word
        elif self.written:
            pixels &= ~pixels.dtype.type(self.written)
            pixels |= self.word


def _fill(pixels: Any, rects: list[Rect], fill: _Fill) -> None:
    if len(rects) <= FEW:
        for rect in rects:
            fill.put(pixels[rect.top : rect.bottom, rect.left : rect.right])
        return
    for top, covered in _union(rects, *pixels.shape[:2]):
        band = pixels[top : top + len(covered)]
        filled = band[covered]
        fill.put(filled)
        band[covered] = filled


def _union(rects: list[Rect], height: int, width: int) -> Iterator[tuple[int, Mask]]:
    """Which pixels any of the rectangles covers, as bands: (first row, mask of whole rows).

    Each corner is a step of a two-dimensional sum, so the cost does not follow their areas.
    """
    left, top, right, bottom = np.array([astuple(rect) for rect in rects]).T
    rows = max(1, _BAND // width)
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


def _color_fill(surface: Surface, color: int | pixel_format.Color) -> tuple[Surface, _Fill]:
    return surface, _Fill(_color_word(surface, color))


def _depth_fill(surface: Surface, z: float | None, stencil: int | None) -> tuple[Surface, _Fill]:
    return surface, _depth_word(pixel_format.depth_format(surface).format, z, stencil)


# Frames are cleared alike; a zero below 0 is a zero here.
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


def _color_word(surface: Surface, color: int | pixel_format.Color) -> Any:
    """The word, or words, of a pixel in a colour; of integers the whole parts."""
    row = pixel_format.color_format(surface)
    # Of floats, two that are equal may not have the same bits.
    return _code_word(row.format, color) if isinstance(color, int) else _word(row, color)


@lru_cache(maxsize=64)
def _code_word(format: AnyFormat, color: int) -> Any:
    return _word(ROWS[format], color)


def _word(row: FormatRow, color: int | pixel_format.Color) -> Any:
    rgba = encoded(row, [np.array([value], np.float32) for value in pixel_format.floats_of(color)])
    codings = {channel.coding for channel in row.channels.values()}
    whole = next((_WHOLE[coding] for coding in codings if coding in _WHOLE), None)
    return pixel_format.pack_color(row, rgba if whole is None else [whole(lane) for lane in rgba])[
        0
    ]


_WHOLE: dict[Coding, Callable[[F32], I32]] = {
    Coding.UINT: float_to_uint,
    Coding.SINT: float_to_int,
}
