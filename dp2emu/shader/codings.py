"""Formulas that decode and encode channels of pixels, by ``Coding``.

Sources: Direct3D 9 documentation for UNORM and FLOAT; the data conversion rules of Direct3D 10 for
the other codings.  Values are F32, or I32 with integers or the bits of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dp2emu.d3d.formats import Channel, Coding
from dp2emu.shader.integers import nearest_half, to_small_float, ushr
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

WORD_BITS = 32


def bits(word: Value, shift: int, count: int) -> Value:
    """Extract a field of a word, zero-extended."""
    if shift:
        word = ushr(word, shift)
    return word if shift + count == WORD_BITS else word & ((1 << count) - 1)


def signed_bits(word: Value, shift: int, count: int) -> Value:
    """Extract a field of a word, sign-extended."""
    spare = WORD_BITS - count
    return (word << (spare - shift) if spare > shift else word) >> spare


def field(words: Sequence[Value], channel: Channel) -> Value:
    """Extract the bits of a channel from a pixel's words, zero-extended."""
    word, shift = divmod(channel.shift, WORD_BITS)
    return bits(words[word], shift, channel.bits)


def signed_field(words: Sequence[Value], channel: Channel) -> Value:
    """Extract the bits of a channel from a pixel's words, sign-extended."""
    word, shift = divmod(channel.shift, WORD_BITS)
    return signed_bits(words[word], shift, channel.bits)


def with_field(words: Sequence[Value], channel: Channel, value: Value) -> list[Value]:
    """Replace the bits of a channel in a pixel's words by the low bits of a value."""
    word, shift = divmod(channel.shift, WORD_BITS)
    if channel.bits < WORD_BITS:
        kept = words[word] & ~(channel.max << shift)
        low = value & channel.max
        value = kept | (low << shift if shift else low)
    return [*words[:word], value, *words[word + 1 :]]


# Decoding


def decoded(words: Sequence[Value], channel: Channel) -> Value:
    """Decode a channel to F32.

    UNORM: c / max, one float32 division.  SNORM: max(c / max, -1) with max 2^(n-1) - 1.  FLOAT:
    exact.  UINT and SINT: the nearest float.
    """
    return _DECODED[channel.coding](words, channel)


def _unorm_value(words: Sequence[Value], channel: Channel) -> Value:
    return _unsigned_value(words, channel) / float(channel.max)


def _snorm_value(words: Sequence[Value], channel: Channel) -> Value:
    value = _signed_value(words, channel) / float(channel.max >> 1)
    return value.builder.max(value, -1.0)


def _float_value(words: Sequence[Value], channel: Channel) -> Value:
    return _FLOATS[channel.bits](field(words, channel))


def _unsigned_value(words: Sequence[Value], channel: Channel) -> Value:
    code = field(words, channel)
    return code.builder.apply("utof", code)


def _signed_value(words: Sequence[Value], channel: Channel) -> Value:
    number = signed_field(words, channel)
    return number.builder.itof(number)


def half(code: Value) -> Value:
    """Decode an IEEE half to F32, exactly."""
    b, magnitude = code.builder, (code & 0x7FFF) << 13
    # Exponent and mantissa shifted into place read as a float32 that is 2**112 too small.
    finite = b.asfloat(magnitude) * 2.0**112
    value = b.select(magnitude >= 0x7C00 << 13, b.asfloat(magnitude | 0x7F800000), finite)
    return b.select((code & 0x8000).ne(0), -value, value)


def _depth_float(code: Value) -> Value:
    """Decode a 24-bit depth: 4 bits of exponent with bias 15, 20 of mantissa."""
    return code.builder.asfloat(code << 3) * 2.0**112


_FLOATS: dict[int, Callable[[Value], Value]] = {
    10: lambda code: half(code << 5),
    11: lambda code: half(code << 4),
    16: half,
    24: _depth_float,
    32: lambda code: code.builder.asfloat(code),
}
"""Functions that decode the code of a float channel to F32, by the channel's number of bits."""

_DECODED: dict[Coding, Callable[[Sequence[Value], Channel], Value]] = {
    Coding.UNORM: _unorm_value,
    Coding.SNORM: _snorm_value,
    Coding.FLOAT: _float_value,
    Coding.UINT: _unsigned_value,
    Coding.SINT: _signed_value,
}


def unit_blue(red: Value, green: Value) -> Value:
    """Return the z component, 0 or more, of a unit vector (CxV8U8)."""
    b = red.builder
    return b.sqrt(b.max(1.0 - red * red - green * green, 0.0))


# Encoding


def encoded(value: Value, channel: Channel, *, toward_zero: bool = False) -> Value:
    """Encode a value as the bits of a channel, in the low bits of an I32.

    UNORM: clamped to 0..1, NaN as 0, then floor(c * max + 0.5) in float64.  SNORM: clamped to
    -1..1, NaN as 0, c * (2^(n-1) - 1) in float64 rounded to nearest, half away from 0.  FLOAT:
    rounded to nearest even or ``toward_zero``, canonical NaN; but an I32 is the bits of a 32-bit
    channel, NaNs included.  UINT and SINT: an integer, or the bits of an F32, clamped to the range
    of the channel.
    """
    if channel.coding is Coding.FLOAT:
        if value.type is Type.I32 and channel.bits == Type.I32.bits:
            return value
        return _float_code(channel, as_float(value), toward_zero)
    return _ENCODED[channel.coding](channel, value)


def as_float(value: Value) -> Value:
    """Reinterpret an I32 as a float; an F32 is unchanged."""
    return value.builder.asfloat(value) if value.type is Type.I32 else value


def as_bits(value: Value) -> Value:
    """Reinterpret an F32 as its bits, NaN canonical; an I32 is unchanged."""
    return value if value.type is Type.I32 else value.builder.asint(value)


def _unorm_code(channel: Channel, value: Value) -> Value:
    return value.builder.apply("ftoun", as_float(value), float(channel.max))


def _snorm_code(channel: Channel, value: Value) -> Value:
    b, c = value.builder, as_float(value)
    clamped = b.max(b.min(b.select(c.eq(c), c, 0.0), 1.0), -1.0)
    scaled = b.apply("ftod", clamped) * float(channel.max >> 1)
    # dtoi truncates toward zero: adding half of the sign's rounds half away from zero.
    beyond = scaled + b.select(scaled < 0.0, b.constant(Type.F64, -0.5), 0.5)
    return b.apply("dtoi", beyond) & channel.max


def _uint_code(channel: Channel, value: Value) -> Value:
    return value.builder.apply("umin", as_bits(value), channel.max)


def _sint_code(channel: Channel, value: Value) -> Value:
    b, most = value.builder, channel.max >> 1
    return b.apply("imax", b.apply("imin", as_bits(value), most), -most - 1) & channel.max


def _float_code(channel: Channel, value: Value, toward_zero: bool) -> Value:
    if channel.bits == WORD_BITS:
        return value.builder.asint(value)
    if not toward_zero:
        return nearest_half(value)
    signed = channel.bits == 16
    return to_small_float(value, channel.bits - 5 - signed, signed=signed)


_ENCODED: dict[Coding, Callable[[Channel, Value], Value]] = {
    Coding.UNORM: _unorm_code,
    Coding.SNORM: _snorm_code,
    Coding.UINT: _uint_code,
    Coding.SINT: _sint_code,
}
