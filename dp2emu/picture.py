"""Pictures of surfaces, from pixel words to PNG: RGBA, RGB, and grey for depth and stencil.

Formats with alpha give RGBA, others RGB.  Channels of less than 8 bits are widened by repeating
their bits, so that the largest value stays the largest; wider ones are cut to their high bits.
Floats are clamped to 0..1; signed channels of bump maps show x as 0.5 + 0.5 x.  Palette indices
are shades of grey.  Missing channels have the values that sampling gives them.  Depth and stencil
are black for 0 and white for their largest value.
"""

from __future__ import annotations

import io
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeGuard

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.cancellation import polled
from dp2emu.d3d.dxgi import DXGI, ROWS, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import DEPTH, FORMATS, AnyFormat, Channel, Coding, FormatRow, Lane, Use
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.resource.pixel_format import channel_bits, read_lane, stored_depth, stored_stencil
from dp2emu.gpu.transfer.copy_resolve import resolve
from dp2emu.shader.ops import saturate
from dp2emu.shader.texture.block_decoder import BYTE_DECODERS
from dp2emu.shader.texture.texels import decode

_COMPRESS_LEVEL = 6
_BAND = 1 << 20
"""Number of samples (a pixel has one or more) that are converted to a picture at a time."""

_DEPTH_ROWS: dict[AnyFormat, FormatRow] = {
    **DEPTH,
    **{each: row.texels for each, row in DXGI.items() if Support.DEPTH in row.support},
}
DEPTHS = frozenset(format for format, row in _DEPTH_ROWS.items() if row.depth)
"""The formats that store depth; a D3DFORMAT is equal to its number."""
STENCILS = frozenset(format for format, row in _DEPTH_ROWS.items() if row.stencil)
"""The formats that store a stencil value; a D3DFORMAT is equal to its number."""

_FLOAT24_BIAS = 15
_FLOAT24_MANTISSA = 20


class Picture(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The picture of a surface.

    ``image`` is uint8 (height, width, 3 or 4), or grey: uint8 or uint16 (height, width).
    ``crc32`` is of the surface's pixel words with all samples, in rows without padding.
    """

    format: AnyFormat
    crc32: int
    image: NDArray[Any]

    @property
    def width(self) -> int:
        """Width in pixels."""
        return int(self.image.shape[1])

    @property
    def height(self) -> int:
        """Height in pixels."""
        return int(self.image.shape[0])

    @cached_property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return encode_png(self.image)

    def _repr_html_(self) -> str:
        """The picture as an HTML image, for notebooks; small ones are magnified."""
        scale = max(1, min(8, 256 // max(self.width, self.height, 1)))
        size = f'width="{self.width * scale}" height="{self.height * scale}"'
        named = f"{self.format.sdk}, {self.width} x {self.height}"
        data = b64encode(self.png).decode("ascii")
        return (
            f'<img alt="{named}" title="{named}" {size} style="image-rendering: pixelated" '
            f'src="data:image/png;base64,{data}">'
        )


@checked
def encode_png(image: NDArray[Any]) -> bytes:
    """A PNG file of an image: uint8 (height, width, 3 or 4), or grey, uint8 or uint16."""
    file = io.BytesIO()
    from PIL import Image  # not needed for pictures that are only compared

    Image.fromarray(image).save(file, "PNG", compress_level=_COMPRESS_LEVEL)
    return file.getvalue()


@checked
def take_picture(surface: Surface) -> Picture:
    """The picture of a surface, for textures of the top level of the first face.

    A multisampled surface is resolved.  Raises Unsupported for depth formats and buffers.
    """
    row, level = _format(surface.format), surface.subresources[0]
    used = -(-surface.width * surface.samples // row.block[0]) * row.size
    memory = surface.data[: level.pitch * level.rows].reshape(level.rows, level.pitch)[:, :used]
    image = np.empty((surface.height, surface.width, _lanes(row)), np.uint8)
    crc32, step = 0, max(1, _BAND // (surface.width * surface.samples * row.block[1]))
    for first in polled(range(0, level.rows, step)):
        band = memory[first : first + step]
        top, bottom = first * row.block[1], min((first + step) * row.block[1], surface.height)
        image[top:bottom] = _band(row, band, (surface.width, bottom - top), surface.samples)
        crc32 = zlib.crc32(band.tobytes(), crc32)
    return Picture(surface.format, crc32, image)


def has_picture(format: int | DxgiFormat) -> bool:
    """Whether surfaces of a format have a colour picture."""
    if isinstance(format, DxgiFormat):
        return _shows(ROWS.get(format))
    known = format in Format._value2member_map_
    return known and _shows(FORMATS.get(Format(format)))


def _shows(row: FormatRow | None) -> TypeGuard[FormatRow]:
    if row is None or Use.TEXTURE not in row.uses or Use.DEPTH in row.uses:
        return False
    return not row.blocked or row.format in BYTE_DECODERS


def _band(
    row: FormatRow, memory: NDArray[np.uint8], size: tuple[int, int], samples: int
) -> NDArray[np.uint8]:
    """The image of some rows of a surface; ``memory`` has their bytes, ``size`` is in pixels."""
    if row.blocked:
        return decode(row.format, memory.tobytes(), *size)[..., : _lanes(row)]
    words = memory.view(row.word)
    words = words if row.words == 1 else words.reshape(len(words), -1, row.words)
    return rgba(words if samples == 1 else resolve(row, words, samples), row.format)


def rgba(words: NDArray[Any], format: AnyFormat) -> NDArray[np.uint8]:
    """Colours of pixels as bytes red, green, blue and, for a format with alpha, alpha.

    ``words`` are pixel words in an array of any shape; the result has another last axis, of 3 or
    4.  Raises Unsupported for a format without colours.
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
        return _scaled(channel_bits(row, words, lane), lane.bits, 8).astype(np.uint8)
    value = read_lane(row, words, lane)
    if lane.coding is Coding.SNORM:
        value = np.float32(0.5) + np.float32(0.5) * value
    return _byte(value)


def _byte(lane: F32) -> NDArray[np.uint8]:
    return np.floor(saturate(lane).astype(np.float64) * 255 + 0.5).astype(np.uint8)


def _scaled(value: NDArray[np.uint32], bits: int, to: int) -> NDArray[np.uint32]:
    """Integers of ``bits`` bits as integers of ``to`` bits: high bits, or all bits repeated."""
    excess = bits - to
    wide = value >> np.uint32(excess) if excess > 0 else value << np.uint32(-excess)
    while bits < to:
        wide |= wide >> np.uint32(bits)
        bits *= 2
    return wide


# Depth and stencil


def grey(row: FormatRow, words: NDArray[Any]) -> NDArray[np.uint8]:
    """The depth in pixel words as 8-bit grey, the high byte of ``take_depth``'s 16 bits; for a
    format without depth the stencil.  Raises Unsupported for a format with neither.
    """
    if row.depth is not None:
        return (_depth(row, row.depth, words) >> 8).astype(np.uint8)
    if row.stencil is None:
        raise Unsupported(f"picture of the depth of {row.format.sdk}")
    return _stencil(row, row.stencil, words)


def take_depth(surface: Surface) -> Picture:
    """Depth as a picture of 16-bit grey; of a multisampled surface its first samples.

    Of integers of more than 16 bits the 16 high bits are taken, shorter ones are widened by
    repeating their bits; floats are clamped to 0..1, scaled and rounded half up.  Raises
    Unsupported for a surface without depth.
    """
    return _first_samples(surface, "depth")


def take_stencil(surface: Surface) -> Picture:
    """The stencil as a picture of 8-bit grey; of a multisampled surface its first samples.

    A stencil of fewer bits is widened by repeating its bits.  Raises Unsupported for a surface
    without stencil.
    """
    return _first_samples(surface, "stencil")


def _first_samples(surface: Surface, what: Literal["depth", "stencil"]) -> Picture:
    words = surface.pixels()
    image = shades(words[:, :: surface.samples], surface.format, what)
    return Picture(surface.format, zlib.crc32(words.tobytes()), image)


def shades(
    words: NDArray[Any], format: AnyFormat, what: Literal["depth", "stencil"]
) -> NDArray[Any]:
    """Depth as uint16 or stencil as uint8, as in ``take_depth`` and ``take_stencil``, of an array
    of pixel words.  Raises Unsupported for a format without.
    """
    row = _DEPTH_ROWS.get(format)
    channel = getattr(row, what, None)
    if row is None or channel is None:
        raise Unsupported(f"picture of the {what} of {format.sdk}")
    return _SHADES[what](row, channel, words)


def _depth(row: FormatRow, channel: Channel, words: NDArray[Any]) -> NDArray[np.uint16]:
    depth = stored_depth(row, words)
    if channel.coding is Coding.UNORM:
        return _scaled(depth.astype(np.uint32), channel.bits, 16).astype(np.uint16)
    wide = depth.astype(np.float64) if channel.bits == 32 else _float24(depth)
    inside = np.where(wide > 0, np.where(wide < 1, wide, 1.0), 0.0)  # NaN is 0
    return np.floor(inside * 65535 + 0.5).astype(np.uint16)


def _stencil(row: FormatRow, channel: Channel, words: NDArray[Any]) -> NDArray[np.uint8]:
    stencil = stored_stencil(row, words).astype(np.uint32)
    return _scaled(stencil, channel.bits, 8).astype(np.uint8)


_SHADES: dict[str, Callable[[FormatRow, Channel, NDArray[Any]], NDArray[Any]]] = {
    "depth": _depth,
    "stencil": _stencil,
}


def _float24(bits: NDArray[Any]) -> NDArray[np.float64]:
    """The values of 24-bit floats: 4 bits of exponent, 20 of mantissa, denormal below 2^-14."""
    exponent = bits.astype(np.int64) >> _FLOAT24_MANTISSA
    mantissa = bits.astype(np.int64) & (1 << _FLOAT24_MANTISSA) - 1
    leading = np.where(exponent > 0, 1 << _FLOAT24_MANTISSA, 0)
    power = np.maximum(exponent, 1) - _FLOAT24_BIAS - _FLOAT24_MANTISSA
    value: NDArray[np.float64] = np.ldexp((mantissa + leading).astype(np.float64), power)
    return value
