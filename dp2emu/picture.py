"""Pictures of surfaces: pixel words to PNG.

Formats with alpha give RGBA, others RGB.  Channels narrower than 8 bits are widened by repeating
their bits, so that full scale stays full scale, and of wider ones the high bits are shown.  Floats
are clamped to 0..1; bump vectors, which are signed, show x as 0.5 + 0.5 x.  Palette indexes are
shades of grey.  What a format lacks shows as it is sampled.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeGuard

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, AnyFormat, Channel, Coding, FormatRow, Lane, Use
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import channel_bits, read_lane
from dp2emu.gpu.transfer.copy_resolve import resolve
from dp2emu.shader.ops import saturate
from dp2emu.shader.texture.texels import decode

_COMPRESS_LEVEL = 6
_BAND = 1 << 20
"""Pixel words converted together: in between they take several times their size."""


class Picture(msgspec.Struct, frozen=True, eq=False, dict=True):
    """What a surface shows, and as a PNG file.

    ``image`` is uint8 (height, width, 3 or 4), or grey: uint8 or uint16 (height, width).
    ``crc32`` is of the surface's pixel words, rows
    tight and samples included, so it depends on nothing a picture leaves out.
    """

    format: AnyFormat
    crc32: int
    image: NDArray[Any]

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
        return encode_png(self.image)


def encode_png(image: NDArray[Any]) -> bytes:
    """A PNG file of an image: uint8 (height, width, 3 or 4), or grey, uint8 or uint16."""
    file = io.BytesIO()
    # Many a picture is only compared.
    from PIL import Image

    Image.fromarray(image).save(file, "PNG", compress_level=_COMPRESS_LEVEL)
    return file.getvalue()


def take_picture(surface: Surface) -> Picture:
    """The picture of a surface as it is now, of a texture its first face's top level.

    A multisampled surface is shown resolved.  Raises Unsupported for depth formats and buffers.
    """
    row, level = _format(surface.format), surface.subresources[0]
    used = -(-surface.width * surface.samples // row.block[0]) * row.size
    memory = surface.data[: level.pitch * level.rows].reshape(level.rows, level.pitch)[:, :used]
    image = np.empty((surface.height, surface.width, _lanes(row)), np.uint8)
    crc32, step = 0, max(1, _BAND // (surface.width * surface.samples * row.block[1]))
    for first in range(0, level.rows, step):
        band = memory[first : first + step]
        top, bottom = first * row.block[1], min((first + step) * row.block[1], surface.height)
        image[top:bottom] = _band(row, band, (surface.width, bottom - top), surface.samples)
        crc32 = zlib.crc32(band.tobytes(), crc32)
    return Picture(surface.format, crc32, image)


def has_picture(format: int | DxgiFormat) -> bool:
    """Whether surfaces of a format can be shown."""
    if isinstance(format, DxgiFormat):
        return _shows(ROWS.get(format))
    known = format in Format._value2member_map_
    return known and _shows(FORMATS.get(Format(format)))


def _shows(row: FormatRow | None) -> TypeGuard[FormatRow]:
    return row is not None and Use.TEXTURE in row.uses and Use.DEPTH not in row.uses


def _band(
    row: FormatRow, memory: NDArray[np.uint8], size: tuple[int, int], samples: int
) -> NDArray[np.uint8]:
    """What rows of pixels, or of blocks, show; ``size`` is width and height in pixels."""
    if row.blocked:
        return decode(row.format, memory.tobytes(), *size)[..., : _lanes(row)]
    words = memory.view(row.word)
    words = words if row.words == 1 else words.reshape(len(words), -1, row.words)
    return rgba(words if samples == 1 else resolve(row, words, samples), row.format)


def rgba(words: NDArray[Any], format: AnyFormat) -> NDArray[np.uint8]:
    """uint8 (..., 4) or, for a format without alpha, (..., 3) of the words of pixels (...).

    Raises Unsupported for a format that is not a colour format here.
    """
    row = _format(format)
    if Use.PALETTE in row.uses:
        gray, alpha = row.channels["p"], row.alpha or 1.0
        lanes: Sequence[Lane] = (gray, gray, gray, alpha)
    else:
        lanes = row.lanes
    return np.stack([_shown(row, words, lane) for lane in lanes[: _lanes(row)]], axis=-1)


def _format(format: AnyFormat) -> FormatRow:
    row = ROWS.get(format)
    if not _shows(row):
        raise Unsupported(f"picture of {format.sdk}")
    return row


def _lanes(row: FormatRow) -> int:
    return 4 if row.alpha or row.block == (4, 4) or row.format is Format.A1 else 3


def _shown(row: FormatRow, words: NDArray[Any], lane: Lane) -> NDArray[np.uint8]:
    if not isinstance(lane, Channel):
        shape = words.shape if row.words == 1 else words.shape[:-1]
        return np.full(shape, 255 * lane, np.uint8)
    if lane.coding in (Coding.UNORM, Coding.UINT):
        return _widen(channel_bits(row, words, lane), lane.bits)
    value = read_lane(row, words, lane)
    if lane.coding is Coding.SNORM:
        value = np.float32(0.5) + np.float32(0.5) * value
    return _byte(value)


def _byte(lane: F32) -> NDArray[np.uint8]:
    return np.floor(saturate(lane).astype(np.float64) * 255 + 0.5).astype(np.uint8)


def _widen(value: NDArray[np.uint32], bits: int) -> NDArray[np.uint8]:
    """Eight of some bits: the high ones, or all of them repeated until eight are full."""
    excess = bits - 8
    wide = value >> excess if excess > 0 else value << -excess
    while bits < 8:
        wide |= wide >> bits
        bits *= 2
    return wide.astype(np.uint8)
