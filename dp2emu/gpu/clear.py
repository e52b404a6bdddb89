"""Clear: fill rectangles of colour and depth surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from dp2emu.gpu.memory import Surface
from dp2emu.gpu.packets import Clear, Rect
from dp2emu.gpu.pixels import (
    color_format,
    depth_format,
    pack_color,
    quantise_depth,
    with_depth,
    with_stencil,
)
from dp2emu.gpu.queries import Counters
from dp2emu.gpu.work import Work


def execute_clear(clear: Clear, counters: Counters) -> Work:
    """Fill, and count the bytes written.  No query counts cleared pixels.

    Raises Unsupported, before anything is written, for formats that are not built.
    """
    colors = [(surface, _color_word(surface, clear.color))
              for surface in clear.colors
              if surface is not None and clear.color is not None]  # fmt: skip
    depth = None if clear.z is None and clear.stencil is None else clear.depth
    if depth is not None:
        depth_format(depth)
    work = Work()
    for rect in clear.rects:
        for surface, word in colors:
            pixels = _pixels(surface, rect)
            pixels[...] = word
            work += Work(pixels=pixels.size, pixel_bytes=pixels.nbytes)
        if depth is not None:
            work += _fill_depth(depth, rect, clear.z, clear.stencil)
    counters.pixel_bytes += work.pixel_bytes
    return work


def _pixels(surface: Surface, rect: Rect) -> Any:
    """View of the part of a rectangle that lies on the surface."""
    inside = rect.intersect(Rect(0, 0, surface.width, surface.height))
    if inside.empty:
        return surface.pixels()[:0, :0]
    return surface.pixels()[inside.top : inside.bottom, inside.left : inside.right]


def _color_word(surface: Surface, color: int) -> Any:
    """The pixel word of an A8R8G8B8 colour."""
    channels = [color >> shift & 0xFF for shift in (16, 8, 0, 24)]
    rgba = [np.array([value], np.float32) / np.float32(255) for value in channels]
    return pack_color(color_format(surface), rgba)[0]


def _fill_depth(surface: Surface, rect: Rect, z: float | None, stencil: int | None) -> Work:
    row = depth_format(surface)
    pixels = _pixels(surface, rect)
    if z is not None:
        # A NaN fails the first comparison and clears to 0.
        clamped = min(z, 1.0) if z > 0 else 0.0
        depth = quantise_depth(row, np.array([[clamped]], np.float64))
        pixels[...] = with_depth(row, pixels, depth)
    if stencil is not None:
        pixels[...] = with_stencil(row, pixels, stencil)
    return Work(pixels=pixels.size, pixel_bytes=pixels.nbytes)
