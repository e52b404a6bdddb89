"""Pixel words: floats to the bits of a format, by the rows of ``d3d.formats``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.flags import ColorWrite
from dp2emu.d3d.formats import Channel, Coding, FormatRow, Use
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32, F64, Words
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.ops import saturate
from dp2emu.shader.types import I32, NAN_BITS, canonical


def color_format(surface: Surface) -> FormatRow:
    """Raises Unsupported if the surface cannot be a render target here."""
    row = ROWS.get(surface.format)
    if row is None or Use.TARGET not in row.uses:
        raise Unsupported(f"render target format {surface.format.sdk}")
    return row


def depth_format(surface: Surface) -> FormatRow:
    """Raises Unsupported if the surface cannot be a depth buffer here."""
    row = ROWS.get(surface.format)
    if row is None or Use.DEPTH not in row.uses:
        raise Unsupported(f"depth buffer format {surface.format.sdk}")
    return row


def _channels(row: FormatRow) -> tuple[Channel | None, ...]:
    return row.red, row.green, row.blue, row.alpha


def _field(channel: Channel | None) -> int:
    return channel.max << channel.shift if channel else 0


def write_bits(row: FormatRow, write_mask: int) -> int:
    """Bits of a pixel that D3DRS_COLORWRITEENABLE lets through; 0 if it is no channel there is.

    Bits that belong to no channel (the X of X8R8G8B8) go with any write.
    """
    written = zip((ColorWrite.RED, ColorWrite.GREEN, ColorWrite.BLUE, ColorWrite.ALPHA),
                  _channels(row), strict=True)  # fmt: skip
    bits = sum(_field(channel) for flag, channel in written if write_mask & flag)
    return bits | unused_bits(row) if bits else 0


def unused_bits(row: FormatRow) -> int:
    """Bits of no channel; they are stored as ones, so that memory is the same everywhere."""
    used = sum(_field(channel) for channel in row.channels.values())
    return every_bit(row) & ~used


def every_bit(row: FormatRow) -> int:
    """All bits of a pixel."""
    return (1 << 8 * row.size) - 1


def pack_color(row: FormatRow, rgba: Sequence[F32 | I32]) -> Words:
    """Pixel words of four lanes (n,): shape (n,), or (n, row.words) if there are several.

    Lanes are float32, or int32 with the bits of what is stored in 32 bits;
    ``gpu.resource.pixel_format`` says
    what becomes of them.  Smaller floats are rounded to even, in Direct3D 10 toward zero.
    """
    bits = 8 * row.word.itemsize
    wide: Any = np.uint64 if bits > 32 else np.uint32
    unused = unused_bits(row)
    parts = [np.full(rgba[0].shape, unused >> bits * part & (1 << bits) - 1, wide)
             for part in range(row.words)]  # fmt: skip
    for lane, channel in zip(rgba, _channels(row), strict=True):
        if channel:
            part, shift = divmod(channel.shift, bits)
            coded = encode(channel, lane, toward_zero=isinstance(row.format, DxgiFormat))
            parts[part] |= coded.astype(wide) << wide(shift)
    words = [part.astype(row.word) for part in parts]
    return words[0] if len(words) == 1 else np.stack(words, axis=-1)


def with_color(row: FormatRow, old: Words, new: Words, bits: int) -> Words:
    """Pixel words with the bits that ``write_bits`` gave replaced by those of others."""
    mask = np.frombuffer(bits.to_bytes(row.size, "little"), row.word)
    return new & mask | old & ~mask


def unpack_color(row: FormatRow, words: Words) -> tuple[F32, F32, F32, F32]:
    """Red, green, blue and alpha of pixel words as ``pack_color`` gives them, float32 lanes (n,).

    What the format lacks reads as its row says.  Raises Unsupported for palette indexes and
    pixels that share bytes.
    """
    if row.blocked or Use.PALETTE in row.uses:
        raise Unsupported(f"reading pixels of {row.format.sdk}")
    shape = words.shape if row.words == 1 else words.shape[:-1]
    red, green, blue, alpha = (
        read_lane(row, words, lane)
        if isinstance(lane, Channel)
        else np.full(shape, lane, np.float32)
        for lane in row.lanes
    )
    if row.format is Format.CxV8U8:
        one = np.float32(1)
        blue = np.sqrt(np.maximum(one - red * red - green * green, np.float32(0)))
    return red, green, blue, alpha


def unpack_bits(row: FormatRow, words: Words) -> tuple[I32, ...]:
    """Red, green, blue and alpha as int32 lanes (n,): whole numbers, or the bits of floats.

    Floats of 32 bits keep theirs.  What the format lacks is 0, 0, 0 and 1, a whole one where there
    are whole numbers.
    """
    whole = any(channel.coding in _WHOLE for channel in row.channels.values())
    shape = words.shape if row.words == 1 else words.shape[:-1]
    one = np.array([1.0], np.float32).view(np.int32)[0]
    return tuple(
        _bits(row, words, lane)
        if isinstance(lane, Channel)
        else np.full(shape, int(lane) if whole else one * int(lane), np.int32)
        for lane in row.lanes
    )


_WHOLE = frozenset({Coding.UINT, Coding.SINT})


def _bits(row: FormatRow, words: Words, channel: Channel) -> I32:
    field = channel_bits(row, words, channel)
    if channel.coding is Coding.SINT:
        return whole_number(channel, field)
    if channel.coding is Coding.UINT or channel.bits == 32:
        return field.view(np.int32)
    return canonical(decode(channel, field)).view(np.int32)


def read_lane(row: FormatRow, words: Words, channel: Channel) -> F32:
    """The values of one channel in pixel words."""
    return decode(channel, channel_bits(row, words, channel))


def channel_bits(row: FormatRow, words: Words, channel: Channel) -> NDArray[np.uint32]:
    """The bits of one channel in pixel words, uint32 (n,)."""
    part, shift = divmod(channel.shift, 8 * row.word.itemsize)
    word = words if row.words == 1 else words[..., part]
    field: NDArray[np.uint32] = (word >> word.dtype.type(shift)).astype(np.uint32)
    return field & np.uint32(channel.max)


def floats_of(color: int | Color) -> Color:
    """Red, green, blue and alpha of an A8R8G8B8 colour, or the ones given, as float32 values."""
    if not isinstance(color, int):
        return color
    channels = np.array([color >> shift & 0xFF for shift in (16, 8, 0, 24)], np.float32)
    red, green, blue, alpha = (channels / np.float32(255)).tolist()
    return red, green, blue, alpha


def quantise_depth(row: FormatRow, z: F64) -> Words:
    """What the depth test compares, of z in 0..1.

    UNORM: floor(z * max + 0.5) as uint32.  FLOAT of 32 bits: float32; of 24: its bits as uint32,
    rounded to even.  A format without depth has 0 everywhere.
    """
    depth = row.depth
    if depth is None:
        return np.zeros(z.shape, np.uint32)
    if depth.coding is Coding.UNORM:
        return np.floor(z * depth.max + 0.5).astype(np.uint32)
    return z.astype(np.float32) if depth.bits == 32 else _float24(z)


def _float24(z: F64) -> Words:
    """Bits of z in 0..1: 4 of exponent with bias 15, 20 of mantissa; below 2^-14 denormal."""
    fraction, power = np.frexp(z)
    exponent = np.maximum(np.where(fraction > 0, power + 14, 1), 1)
    scaled = np.rint(np.ldexp(fraction, power - exponent + 35)).astype(np.int64)
    bits: Words = (exponent - 1 << 20) + scaled
    return bits.astype(np.uint32)


def quantised(row: FormatRow) -> type[np.float32 | np.uint32]:
    """What depth is compared as: floats of 32 bits as they are, all else as whole numbers."""
    depth = row.depth
    floats = depth is not None and depth.coding is Coding.FLOAT and depth.bits == 32
    return np.float32 if floats else np.uint32


def _beside(row: FormatRow, words: Words, field: Words, channel: Channel) -> Words:
    """Words of 64 bits with one of their fields replaced."""
    kept = words & np.uint64(every_bit(row) & ~_field(channel))
    return kept | field.astype(np.uint64) << np.uint64(channel.shift)


def stored_depth(row: FormatRow, words: Words) -> Words:
    """The depth in pixel words, as ``quantise_depth`` gives it."""
    depth = row.depth
    if depth is None:
        return np.zeros(words.shape, np.uint32)
    if depth.bits == 32:
        low = words if row.size == 4 else words.astype(np.uint32)
        return low.view(quantised(row))
    return words.astype(np.uint32) >> np.uint32(depth.shift) & np.uint32(depth.max)


def with_depth(row: FormatRow, words: Words, depth: Words) -> Words:
    """Pixel words with their depth replaced, if they have one, and everything else kept."""
    channel = row.depth
    if channel is None:
        return words
    if row.size == 8:
        return _beside(row, words, depth.view(np.uint32), channel)
    if channel.bits == 32:
        return depth
    kept = words.astype(np.uint32, copy=False) & np.uint32(0xFFFFFFFF & ~_field(channel))
    return (kept | depth << np.uint32(channel.shift)).astype(row.word, copy=False)


def stored_stencil(row: FormatRow, words: Words) -> Words:
    """The stencil values in pixel words, uint32; 0 where they have none."""
    if row.stencil is None:
        return np.zeros(words.shape, np.uint32)
    if row.size == 8:
        words = words >> np.uint64(row.stencil.shift)
        return words.astype(np.uint32) & np.uint32(row.stencil.max)
    return words.astype(np.uint32) >> np.uint32(row.stencil.shift) & np.uint32(row.stencil.max)


def with_stencil(row: FormatRow, words: Words, stencil: Words | int) -> Words:
    """Pixel words with their stencil replaced by the low bits of values, where they have one."""
    if row.stencil is None:
        return words
    if row.size == 8:
        low = np.asarray(stencil, np.uint32) & np.uint32(row.stencil.max)
        return _beside(row, words, low, row.stencil)
    kept = words.astype(np.uint32, copy=False) & np.uint32(0xFFFFFFFF & ~_field(row.stencil))
    value = (stencil & row.stencil.max) << row.stencil.shift
    return (kept | np.asarray(value, np.uint32)).astype(row.word, copy=False)


def depth_bits(row: FormatRow, *, depth: bool, stencil: bool) -> int:
    """The bits of pixel words in which depth and stencil values lie."""
    used = row.depth if depth else None, row.stencil if stencil else None
    return sum(map(_field, used))


# Numbers of one channel as the bits that are stored, and back, by coding.
#
# Sources: Direct3D 9 documentation for UNORM and FLOAT; for the rest the data conversion rules
# of Direct3D 10.  There floats that become smaller ones are rounded toward zero, a finite number
# stays finite, and in a format without a sign what is negative becomes 0 (SM4-5 tokens,
# "Integers and conversions").

Bits = NDArray[np.unsignedinteger]

_HALF_MANTISSA, _EXPONENT_BITS = 10, 5


_MANTISSA = 23


_SMALLEST_NORMAL = 113 << _MANTISSA
"""Bits of 2^-14, the smallest normal number with 5 bits of exponent."""


_TOO_LARGE = 143 << _MANTISSA
"""Bits of 2^16, which those have no room for."""


_INFINITY = 0x7F800000


_REBIAS = 112 << _MANTISSA


def encode(channel: Channel, lane: F32 | I32, *, toward_zero: bool = False) -> Bits:
    """The bits of a channel, in the low bits of unsigned integers.

    UNORM: clamped to 0..1, NaN as 0, then floor(c * max + 0.5) in float64.  SNORM: clamped to
    -1..1, NaN as 0, c * (2^(n-1) - 1) in float64 rounded to the nearest, half away from 0.
    FLOAT: as it is, or rounded to even, or ``toward_zero``, NaN the canonical one.  UINT and SINT
    take int32 lanes, and clamp what is too much for their bits; the bits of a float lane are taken
    for an integer's, and those of an int32 lane for a float's.
    """
    if channel.coding is Coding.FLOAT:
        return _float_bits(channel, as_floats(lane), toward_zero)
    return _ENCODED[channel.coding](channel, lane)


def as_floats(lane: F32 | I32) -> F32:
    """A lane, or the floats whose bits it has, every NaN the canonical one."""
    floats: F32 = lane.view(np.float32)
    return canonical(floats) if lane.dtype == np.int32 else floats


def _unorm(channel: Channel, lane: F32 | I32) -> Bits:
    c = saturate(as_floats(lane)).astype(np.float64)
    return np.floor(c * channel.max + 0.5).astype(np.uint32)


def _snorm(channel: Channel, lane: F32 | I32) -> Bits:
    c = as_floats(lane).astype(np.float64)
    c = np.where(c > -1, np.where(c < 1, c, 1.0), np.where(np.isnan(c), 0.0, -1.0))
    scaled = c * (channel.max >> 1)
    rounded = np.where(scaled < 0, np.ceil(scaled - 0.5), np.floor(scaled + 0.5))
    return rounded.astype(np.int32).view(np.uint32) & np.uint32(channel.max)


def _uint(channel: Channel, lane: F32 | I32) -> Bits:
    return np.minimum(lane.view(np.uint32), np.uint32(channel.max))


def _sint(channel: Channel, lane: F32 | I32) -> Bits:
    most = channel.max >> 1
    held = np.clip(lane.view(np.int32), np.int32(-most - 1), np.int32(most))
    return held.view(np.uint32) & np.uint32(channel.max)


_ENCODED: dict[Coding, Callable[[Channel, F32 | I32], Bits]] = {
    Coding.UNORM: _unorm,
    Coding.SNORM: _snorm,
    Coding.UINT: _uint,
    Coding.SINT: _sint,
}


def _float_bits(channel: Channel, lane: F32, toward_zero: bool) -> Bits:
    if channel.bits == 32:
        return np.where(np.isnan(lane), np.uint32(NAN_BITS), lane.view(np.uint32))
    if toward_zero:
        return _small_float(channel, lane)
    with np.errstate(over="ignore"):
        half = lane.astype(np.float16).view(np.uint16)
    return np.where(np.isnan(lane), np.uint16(0x7E00), half)


def _small_float(channel: Channel, lane: F32) -> Bits:
    """5 bits of exponent, and with 16 bits a sign; cut off."""
    signed = channel.bits == 16
    mantissa = channel.bits - _EXPONENT_BITS - signed
    bits = lane.view(np.uint32)
    magnitude = bits & np.uint32(0x7FFFFFFF)
    shift = np.uint32(_MANTISSA - mantissa)
    small = np.abs(lane).astype(np.float64) * 2.0 ** (14 + mantissa)
    denormal = np.floor(np.where(magnitude < _SMALLEST_NORMAL, small, 0.0)).astype(np.uint32)
    found = np.where(
        magnitude < _SMALLEST_NORMAL, denormal, (magnitude - np.uint32(_REBIAS)) >> shift
    )
    largest, infinity = (31 << mantissa) - 1, 31 << mantissa
    found = np.where(magnitude >= _TOO_LARGE, np.uint32(largest), found)
    found = np.where(magnitude == _INFINITY, np.uint32(infinity), found)
    negative = bits >> np.uint32(31) != 0
    if signed:
        found = found | np.where(negative, np.uint32(0x8000), np.uint32(0))
    else:
        found = np.where(negative, np.uint32(0), found)
    nan = np.uint32(infinity | 1 << mantissa - 1)
    return np.where(magnitude > _INFINITY, nan, found).astype(np.uint32)


def decode(channel: Channel, field: Words) -> F32:
    """The value of a channel by its bits, uint32 lanes.

    UNORM: c / max, one float32 division.  SNORM: max(c / max, -1), max 2^(n-1) - 1.  FLOAT: as it
    is.  UINT and SINT: the float nearest to the number.
    """
    return _DECODED[channel.coding](channel, field)


def _unorm_value(channel: Channel, field: Words) -> F32:
    return field.astype(np.float32) / np.float32(channel.max)


def whole_number(channel: Channel, field: Words) -> I32:
    """A field in two's complement."""
    spare = 32 - channel.bits
    number: I32 = (field << np.uint32(spare)).view(np.int32) >> np.int32(spare)
    return number


def _snorm_value(channel: Channel, field: Words) -> F32:
    scale = np.float32(channel.max >> 1)
    value: F32 = np.maximum(
        whole_number(channel, field).astype(np.float32) / scale, np.float32(-1)
    )
    return value


def _float_value(channel: Channel, field: Words) -> F32:
    if channel.bits == 32:
        return field.view(np.float32)
    spare = max(_HALF_MANTISSA + _EXPONENT_BITS - channel.bits, 0)
    half = (field << np.uint32(spare)).astype(np.uint16)
    return half.view(np.float16).astype(np.float32)


_DECODED: dict[Coding, Callable[[Channel, Words], F32]] = {
    Coding.UNORM: _unorm_value,
    Coding.SNORM: _snorm_value,
    Coding.FLOAT: _float_value,
    Coding.UINT: lambda channel, field: field.astype(np.float32),
    Coding.SINT: lambda channel, field: whole_number(channel, field).astype(np.float32),
}


Color = tuple[float, float, float, float]
"""Red, green, blue and alpha, of any value; what is whole in a format of integers."""
