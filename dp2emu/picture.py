"""Pictures of surfaces: pixel words to PNG.

Formats with alpha give RGBA, others RGB.  Channels narrower than 8 bits are widened by repeating
their bits, so that full scale stays full scale, and of wider ones the high bits are shown.  Floats
are clamped to 0..1.  What a format lacks shows as it is sampled.
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, Channel, FormatRow, Lane
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.pixels import unpack_color
from dp2emu.gpu.resolve import resolve
from dp2emu.shader.exact import saturate

_COMPRESS_LEVEL = 6
_BAND = 1 << 20
"""Pixel words converted together: in between they take several times their size."""


@dataclass(frozen=True, eq=False)
class Picture:
    """What a surface shows, and as a PNG file.

    ``image`` is uint8 (height, width, 3 or 4).  ``crc32`` is of the surface's pixel words, rows
    tight and samples included, so it depends on nothing a picture leaves out.
    """

    format: Format
    crc32: int
    image: NDArray[np.uint8]

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return int(self.image.shape[1])

    @property
    def height(self) -> int:
        """Rows of pixels."""
        return int(self.image.shape[0])

    @cached_property
    def png(self) -> bytes:
        """The bytes of the file."""
        file = io.BytesIO()
        Image.fromarray(self.image).save(file, "PNG", compress_level=_COMPRESS_LEVEL)
        return file.getvalue()


def take_picture(surface: Surface) -> Picture:
    """The picture of a colour surface as it is now.  Raises Unsupported for other formats.

    A multisampled surface is shown resolved.
    """
    words = surface.pixels()
    row = _format(surface.format)
    image = np.empty((surface.height, surface.width, _lanes(row)), np.uint8)
    crc32, step = 0, max(1, _BAND // words.shape[1])
    for top in range(0, surface.height, step):
        band = words[top : top + step]
        single = band if surface.samples == 1 else resolve(row, band, surface.samples)
        image[top : top + step] = rgba(single, surface.format)
        crc32 = zlib.crc32(band.tobytes(), crc32)
    return Picture(surface.format, crc32, image)


def rgba(words: NDArray[Any], format: Format) -> NDArray[np.uint8]:
    """uint8 (..., 4) or, for a format without alpha, (..., 3) of the words of pixels (...).

    Raises Unsupported for a format that is not a colour format here.
    """
    row = _format(format)
    if row.floating:
        shown = [_byte(lane) for lane in unpack_color(row, words)]
    else:
        shown = [_shown(words, source) for source in row.lanes]
    return np.stack(shown[: _lanes(row)], axis=-1)


def _format(format: Format) -> FormatRow:
    row = COLOR.get(format)
    if row is None:
        raise Unsupported(f"picture of {format.sdk}")
    return row


def _lanes(row: FormatRow) -> int:
    return 3 if row.alpha is None else 4


def _shown(words: NDArray[Any], source: Lane) -> NDArray[np.uint8]:
    if isinstance(source, Channel):
        return _widen(words, source)
    return np.full(words.shape, 255 * source, np.uint8)


def _byte(lane: F32) -> NDArray[np.uint8]:
    return np.floor(saturate(lane).astype(np.float64) * 255 + 0.5).astype(np.uint8)


def _widen(words: NDArray[Any], channel: Channel) -> NDArray[np.uint8]:
    """Eight bits of a channel: the high ones, or all of them repeated until eight are full."""
    value: NDArray[Any] = (words >> channel.shift) & channel.max
    excess = channel.bits - 8
    wide: NDArray[Any] = value >> excess if excess > 0 else value << -excess
    filled = channel.bits
    while filled < 8:
        wide |= wide >> filled
        filled *= 2
    return wide.astype(np.uint8)
