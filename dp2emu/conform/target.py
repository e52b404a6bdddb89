"""Pixels of the render target of conformance cases: colours, backgrounds, expected memory."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from itertools import groupby

from msgspec.structs import replace

from dp2emu.conform.case import Shown

TARGET = 2
"""Handle of the render target of conformance cases."""
WIDTH, HEIGHT = 32, 16
"""Width and height in pixels of the render target of conformance cases."""
PIXEL_BYTES = 4

BACK, FRONT, OTHER = 0xFF0000FF, 0xFFFFFF00, 0xFF00FF00
"""A8R8G8B8 colours: the target before a case draws, the default of vertices, another colour of
vertices."""

Pixel = tuple[int, int]
Pixels = dict[Pixel, int]

_PLACES = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]
WHOLE = (0, 0, WIDTH, HEIGHT)
"""Left, top, right and bottom of the render target."""
FIRST_BOX = (WIDTH - 3, HEIGHT - 3, WIDTH, HEIGHT)
"""Left, top, right and bottom of a box that is drawn before a case where there is no CLEAR token;
its middle shows whether the driver draws into memory at all."""


def background() -> Pixels:
    """The pixels of the target before a case draws."""
    return dict.fromkeys(_PLACES, BACK)


def fill(pixels: Pixels, left: int, top: int, right: int, bottom: int, color: int) -> None:
    """Set the colour of pixels ``left`` to ``right`` - 1 of rows ``top`` to ``bottom`` - 1."""
    pixels |= {(x, y): color for y in range(top, bottom) for x in range(left, right)}


def offset_of(x: int, y: int) -> int:
    """Byte offset of pixel (x, y) in the target."""
    return PIXEL_BYTES * (y * WIDTH + x)


def shown(
    pixels: Mapping[Pixel, int], probe: Pixel | None = None, unknown: Collection[Pixel] = ()
) -> tuple[Shown, ...]:
    """Expected bytes of the target, for each run of adjacent pixels in ``pixels``.

    The first entry is the pixel ``probe``: a driver that draws no pictures leaves it 0.  Without
    it, the longest run is the probe.  Pixels in ``unknown`` are expected only if they differ from
    the background.
    """

    def kept(place: Pixel) -> bool:
        return place in pixels and (place not in unknown or pixels[place] != BACK)

    runs = []
    for expected, run in groupby(_PLACES, key=kept):
        if expected:
            places = list(run)
            data = struct.pack(f"<{len(places)}I", *map(pixels.__getitem__, places))
            runs.append(Shown(TARGET, offset_of(*places[0]), data))
    if probe is None:
        longest = max(runs, key=lambda run: len(run.data))
        return tuple(replace(run, probe=run is longest) for run in runs)
    first = Shown(TARGET, offset_of(*probe), struct.pack("<I", pixels[probe]), probe=True)
    return first, *runs
