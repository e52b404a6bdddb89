"""Numbers of one channel as the bits that are stored, and back, by coding.

Sources: Direct3D 9 documentation for UNORM and FLOAT; for the rest the data conversion rules of
Direct3D 10.  There floats that become smaller ones are rounded toward zero, a finite number stays
finite, and in a format without a sign what is negative becomes 0 (SM4-5 tokens, "Integers and
conversions").
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.formats import Channel, Coding
from dp2emu.gpu.arrays import F32, Words
from dp2emu.shader.exact import saturate
from dp2emu.shader.types import I32, NAN_BITS, canonical

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
