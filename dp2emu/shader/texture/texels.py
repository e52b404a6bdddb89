"""Texel decoders of every format: red, green, blue and alpha of the texel at a byte address.

Block formats are decoded by the tables of ``d3d.block_formats``.  Their 8-bit values use integer
arithmetic only, so that a texel is the same sampled by a program and converted to a picture
(``decode``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d import block_formats as blocks
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, AnyFormat, Channel
from dp2emu.errors import UsageError
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import bits, signed_bits, unit_blue
from dp2emu.shader.ir import Program, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import LimitField
from dp2emu.shader.texture.fields import Decode, TexelSource, decode_channels, read_channel
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.types import I32, I64, Type
from dp2emu.shader.values import Number, Value

Bytes = NDArray[np.uint8]

Code = Callable[[TexelSource, Value, Value, Value], Value]
"""Decodes an 8-bit integer of texel ``u``, ``v`` of the block at a byte address."""

_RECIPROCAL_BITS = 16
"""Multiplying by 2**16 / d, rounded up, divides numbers below 2**12 by d up to 7 exactly."""


class _Blend(msgspec.Struct, frozen=True):
    """A point between two endpoints: two weights and the reciprocal of their sum, as I32."""

    first: Value
    second: Value
    reciprocal: Value

    @classmethod
    def of(cls, weights: blocks.Weights, code: Value) -> _Blend:
        """Look up the weights of a code, packed as 4 bits per code in a word."""
        whole = sum(weights[0])
        first, second = (
            code.builder.constant(Type.I32, _packed(shares))
            for shares in zip(*weights, strict=True)
        )
        reciprocal = code.builder.constant(Type.I32, -(-(1 << _RECIPROCAL_BITS) // whole))
        at = code << 2
        return cls(first >> at & 15, second >> at & 15, reciprocal)

    def unless(self, condition: Value, other: _Blend) -> _Blend:
        """Return this blend where the condition is false, the other where it is true."""
        choose = partial(condition.builder.select, condition)
        return _Blend(
            choose(other.first, self.first),
            choose(other.second, self.second),
            choose(other.reciprocal, self.reciprocal),
        )

    def between(self, first: Value, second: Value) -> Value:
        mixed = first * self.first + second * self.second
        return mixed * self.reciprocal >> _RECIPROCAL_BITS


def _packed(shares: tuple[int, ...]) -> int:
    return sum(share << 4 * code for code, share in enumerate(shares))


def _dxt1(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    ends, code = source.word(address), _color_code(source.word(address, 1), u, v)
    # Endpoint order selects the three-colour mode with a transparent black.
    three = bits(ends, 16, 16) >= bits(ends, 0, 16)
    mix = _Blend.of(blocks.FOUR_COLORS, code).unless(three, _Blend.of(blocks.THREE_COLORS, code))
    red, green, blue = _colors(source, ends, mix)
    return red, green, blue, source.b.select(three & code.eq(3), 0.0, 1.0)


def _beside_alpha(alpha: Code, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Four-colour block in the second half, alpha block in the first."""
    ends, code = source.word(address, 2), _color_code(source.word(address, 3), u, v)
    red, green, blue = _colors(source, ends, _Blend.of(blocks.FOUR_COLORS, code))
    return red, green, blue, source.shade(alpha(source, address, u, v), color=False)


def _color_code(codes: Value, u: Value, v: Value) -> Value:
    """Extract the 2-bit code of a texel; rows of four start at the lowest bit."""
    return bits_at(codes, ((v & 3) << 3) + ((u & 3) << 1), 2)


def bits_at(word: Value, shift: Value, count: int) -> Value:
    """Extract a bit field at a computed position."""
    return word.builder.apply("ushr", word, shift) & ((1 << count) - 1)


def _colors(source: TexelSource, ends: Value, mix: _Blend) -> tuple[Value, Value, Value]:
    red, green, blue = (
        source.shade(
            mix.between(_widen_endpoint(ends, 0, channel), _widen_endpoint(ends, 16, channel))
        )
        for channel in _ENDPOINT
    )
    return red, green, blue


def _widen_endpoint(ends: Value, shift: int, channel: Channel) -> Value:
    """Widen a 5- or 6-bit channel to 8 bits by replicating its high bits."""
    value = bits(ends, shift + channel.shift, channel.bits)
    return value << (8 - channel.bits) | value >> (2 * channel.bits - 8)


_ENDPOINT = tuple(FORMATS[Format.R5G6B5].channels[name] for name in "rgb")


def _four_bits(source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """DXT3 alpha: 4 bits per texel in rows of 16 bits."""
    half = source.word(address + ((v & 2) << 1))
    return bits_at(half, ((v & 1) << 4) + ((u & 3) << 2), 4) * 17


def _three_bits(source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """DXT5 alpha: two endpoints, then 3-bit codes."""
    b, low = source.b, source.word(address)
    first, second = bits(low, 0, 8), bits(low, 8, 8)
    six = second >= first
    code = _three_bit_code(source, address, u, v)
    mix = _Blend.of(blocks.EIGHT_ALPHAS, code).unless(six, _Blend.of(blocks.SIX_ALPHAS, code))
    return b.select(six & code.eq(7), 255, mix.between(first, second))


def _three_bit_code(source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """Extract a code from the 48 bits after the endpoints; each half holds two rows."""
    b, low, high = source.b, source.word(address), source.word(address, 1)
    upper = bits(low, 16, 16) | (high & 0xFF) << 16
    rows = b.select((v & 2).eq(0), upper, bits(high, 8, 24))
    return bits_at(rows, ((v & 1) * 4 + (u & 3)) * 3, 3)


def _ramp(signed: bool, source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """BC4: a point between two normalised endpoints, an F32 rounded once.

    Codes 6 and 7 of the shorter ramp are the minimum and maximum of the format.  Signed, -128
    equals -127.
    """
    b, low = source.b, source.word(address)
    given = [(signed_bits if signed else bits)(low, 8 * n, 8) for n in range(2)]
    six = given[1] >= given[0]
    ends = [b.select(n < -127, -127, n) if signed else n for n in given]
    code = _three_bit_code(source, address, u, v)
    mix = _Blend.of(blocks.EIGHT_ALPHAS, code).unless(six, _Blend.of(blocks.SIX_ALPHAS, code))
    most = _LARGEST[signed]
    steps = b.select(six, float(5 * most), float(7 * most))
    value = b.itof(ends[0] * mix.first + ends[1] * mix.second) / steps
    value = b.select(six & code.eq(6), -1.0 if signed else 0.0, value)
    return b.select(six & code.eq(7), 1.0, value)


_LARGEST = {False: 255, True: 127}


def _one_ramp(signed: bool, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    return _ramp(signed, source, address, u, v), 0.0, 0.0, 1.0


def _two_ramps(signed: bool, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """BC5: red, then green."""
    red, green = (_ramp(signed, source, address + 8 * n, u, v) for n in range(2))
    return red, green, 0.0, 1.0


def _one_red_bit(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """R1: the most significant bit is the leftmost texel."""
    (code,) = source.codes(address)
    return source.b.itof(bits_at(code, (u & 7) ^ 7, 1)), 0.0, 0.0, 1.0


def _ati1(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """ATI1N: one value in all four channels."""
    value = source.shade(_three_bits(source, address, u, v), color=False)
    return value, value, value, value


def _ati2(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """ATI2N: green, then red; blue and alpha are 1."""
    green = source.shade(_three_bits(source, address, u, v), color=False)
    red = source.shade(_three_bits(source, address + 8, u, v), color=False)
    return red, green, 1.0, 1.0


def _rgb_pair(order: str, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Packed RGB pair: red and blue are shared, green is per pixel."""
    word = source.word(address)
    red, blue = (source.shade(bits(word, 8 * order.index(name), 8)) for name in "rb")
    return red, source.shade(_pair_byte(word, order, "gG", u)), blue, 1.0


def _yuv_pair(order: str, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Packed YUV pair: U and V are shared, luminance is per pixel; never sRGB."""
    word = source.word(address)
    y = _pair_byte(word, order, "yY", u) - 16
    u_v = [bits(word, 8 * order.index(name), 8) - 128 for name in "uv"]
    red, green, blue = (
        source.shade(_rgb_of(y, u_v, weights), color=False) for weights in blocks.YUV_TO_RGB
    )
    return red, green, blue, 1.0


def _pair_byte(word: Value, order: str, names: str, u: Value) -> Value:
    """Extract the byte of one pixel of a pair; the second's lies two bytes on."""
    first, second = (8 * order.index(name) for name in names)
    return bits_at(word, (u & 1) * (second - first) + first, 8)


def _rgb_of(y: Value, u_v: list[Value], weights: tuple[int, int, int]) -> Value:
    """Convert YUV to one RGB channel, clamped to a byte."""
    b, (u, v) = y.builder, u_v
    found = (y * weights[0] + u * weights[1] + v * weights[2] + 128) >> 8
    return b.select(found < 0, 0, b.select(found < 255, found, 255))


def _one_bit(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """A1: the most significant bit is the leftmost texel."""
    (code,) = source.codes(address)
    return 0.0, 0.0, 0.0, source.b.itof(bits_at(code, (u & 7) ^ 7, 1))


_BYTE_DECODERS: dict[AnyFormat, Decode] = {
    Format.A1: _one_bit,
    Format.DXT1: _dxt1,
    Format.DXT2: partial(_beside_alpha, _four_bits),
    Format.DXT3: partial(_beside_alpha, _four_bits),
    Format.DXT4: partial(_beside_alpha, _three_bits),
    Format.DXT5: partial(_beside_alpha, _three_bits),
    Format.ATI1N: _ati1,
    Format.ATI2N: _ati2,
    Format.R8G8_B8G8: partial(_rgb_pair, blocks.PAIRS[Format.R8G8_B8G8]),
    Format.G8R8_G8B8: partial(_rgb_pair, blocks.PAIRS[Format.G8R8_G8B8]),
    Format.UYVY: partial(_yuv_pair, blocks.PAIRS[Format.UYVY]),
    Format.YUY2: partial(_yuv_pair, blocks.PAIRS[Format.YUY2]),
}
"""Formats whose values are bytes."""

_BLOCK_DECODERS: dict[AnyFormat, Decode] = {
    **_BYTE_DECODERS,
    **dict.fromkeys((DxgiFormat.BC1_UNORM, DxgiFormat.BC1_UNORM_SRGB), _dxt1),
    **dict.fromkeys(
        (DxgiFormat.BC2_UNORM, DxgiFormat.BC2_UNORM_SRGB), partial(_beside_alpha, _four_bits)
    ),
    **dict.fromkeys(
        (DxgiFormat.BC3_UNORM, DxgiFormat.BC3_UNORM_SRGB), partial(_beside_alpha, _three_bits)
    ),
    DxgiFormat.BC4_UNORM: partial(_one_ramp, False),
    DxgiFormat.BC4_SNORM: partial(_one_ramp, True),
    DxgiFormat.BC5_UNORM: partial(_two_ramps, False),
    DxgiFormat.BC5_SNORM: partial(_two_ramps, True),
    DxgiFormat.R8G8_B8G8_UNORM: partial(_rgb_pair, "rgbG"),
    DxgiFormat.G8R8_G8B8_UNORM: partial(_rgb_pair, "grGb"),
    DxgiFormat.R1_UNORM: _one_red_bit,
}

PALETTE_SHIFTS = (16, 8, 0, 24)
"""Shifts of red, green, blue and alpha in an A8R8G8B8 word."""


def texel(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode texel ``u``, ``v`` of the pixel or block at a byte address, colour key applied."""
    decoder = _depth if source.row.depth else DECODERS.get(source.row.format, decode_channels)
    found = decoder(source, address, u, v)
    return _keyed(source, address, found) if source.key.color_key else found


def _keyed(source: TexelSource, address: Value, found: Texel) -> Texel:
    """Return 0 in all channels where the stored texel is within the colour key range.

    Unused bits are masked out; texels of several words and blocks compare their first word.
    """
    b, limits = source.b, source.files.limits
    code = source.codes(address)[0]
    mask = source.row.mask & ((1 << 8 * min(source.row.size, 4)) - 1)
    if mask != 0xFFFFFFFF:
        code = code & mask
    low, high = (b.load(limits, f) for f in (LimitField.KEY_LOW, LimitField.KEY_HIGH))
    inside = b.apply("uge", code, low) & b.apply("uge", high, code)
    red, green, blue, alpha = (b.select(inside, 0.0, channel) for channel in found)
    return red, green, blue, alpha


def _depth(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Return the depth in every channel."""
    assert source.row.depth is not None
    found = read_channel(source, source.codes(address), source.row.depth, color=False)
    return found, found, found, found


def _computed_blue(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """CxV8U8: blue completes a unit vector that points out of the surface."""
    red, green, _, alpha = decode_channels(source, address, u, v)
    assert isinstance(red, Value) and isinstance(green, Value)
    return red, green, unit_blue(red, green), alpha


def _palette(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Look up the palette entry of the low byte; a second byte is the alpha."""
    (code,) = source.codes(address)
    entry = source.b.load(source.files.palette, 0, code & 0xFF)
    *colors, opacity = (source.shade(bits(entry, shift, 8), color=shift != 24)
                        for shift in PALETTE_SHIFTS)  # fmt: skip
    red, green, blue = colors
    alpha: Number = opacity if source.key.alpha_palette else 1.0
    own = source.row.alpha
    return (
        red,
        green,
        blue,
        alpha if own is None else read_channel(source, (code,), own, color=False),
    )


_EXPONENT_SHIFT, _MANTISSA_BITS, _FLOAT_EXPONENT = 27, 9, 23
_BIAS = 127 - 15 - _MANTISSA_BITS
"""Float32 exponent bias over that of the shared exponent, whose mantissas have no implicit 1."""


def _shared_exponent(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """R9G9B9E5: each mantissa times 2^(e - 24), exactly."""
    (code,) = source.codes(address)
    exponent = source.b.apply("ushr", code, _EXPONENT_SHIFT) + _BIAS
    scale = source.b.asfloat(exponent << _FLOAT_EXPONENT)
    red, green, blue = (
        source.b.itof(bits(code, _MANTISSA_BITS * n, _MANTISSA_BITS)) * scale for n in range(3)
    )
    return red, green, blue, 1.0


DECODERS: dict[AnyFormat, Decode] = {
    **_BLOCK_DECODERS,
    DxgiFormat.R9G9B9E5_SHAREDEXP: _shared_exponent,
    Format.CxV8U8: _computed_blue,
    Format.P8: _palette,
    Format.A8P8: _palette,
}
"""Formats that are not just bit fields side by side."""

_BAND = 1 << 13
"""Pixels decoded at once, which bounds the size of intermediate results."""


def decode(format: AnyFormat, data: Bytes | bytes, width: int, height: int) -> Bytes:
    """Decode a picture to red, green, blue and alpha: uint8 (height, width, 4).

    ``data`` is rows of blocks, tightly packed, sizes rounded up to whole blocks.  Raises
    UsageError if its length does not fit, or for a format whose values are not bytes.
    """
    if format not in _BYTE_DECODERS:
        raise UsageError(f"{format.sdk} has no blocks of colours")
    row = FORMATS[format]
    columns, rows = -(-width // row.block[0]), -(-height // row.block[1])
    raw = np.frombuffer(data, np.uint8)
    if min(width, height) < 1 or len(raw) != columns * rows * row.size:
        raise UsageError(f"{len(raw)} bytes are no {width} x {height} pixels of {format.sdk}")
    words = np.concatenate((raw, np.zeros(-len(raw) % 4, np.uint8))).view(np.int32)
    texels = np.empty((width * height, 4), np.uint8)
    for first in range(0, len(texels), _BAND):
        v, u = np.divmod(np.arange(first, min(first + _BAND, len(texels))), width)
        block = v // row.block[1] * columns + u // row.block[0]
        texels[first : first + _BAND] = _decoded(format, words, block * row.size, u, v)
    return texels.reshape(height, width, 4)


def _decoded(format: AnyFormat, words: I32, address: I64, u: I64, v: I64) -> Bytes:
    program = _texel_program(format)
    places = {"address": address, "u": u, "v": v}
    inputs = {name: place.astype(np.int32) for name, place in places.items()}
    nothing = {file.name: np.zeros(0, file.type.dtype) for file in program.files}
    outputs = run(program, inputs, nothing | {"texels": words}, len(u)).outputs
    return np.rint(np.stack([*outputs.values()], axis=-1) * np.float32(255)).astype(np.uint8)


@lru_cache(maxsize=len(_BYTE_DECODERS))
def _texel_program(format: AnyFormat) -> Program:
    """Return a program that decodes texel ``u``, ``v`` of the block at the input ``address``."""
    b = Builder(Stage.COMPUTE)
    source = TexelSource.of(b, SamplerKey(TextureKind.TEX2D, format))
    place = [b.input(name, Type.I32) for name in ("address", "u", "v")]
    for component, value in zip("rgba", _BYTE_DECODERS[format](source, *place), strict=True):
        b.output(component, value)
    return b.program()
