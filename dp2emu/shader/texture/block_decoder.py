"""Decoders of block-compressed and packed formats: DXT, BC4, BC5, ATI, YUV pairs, single bits.

``partitioned_decoder`` has those of BC6H and BC7; the tables here list them too.

The weights of ``d3d.block_formats`` mix endpoints.  8-bit values use integer arithmetic only, so
that a texel is the same sampled by a program and converted to a picture.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from dp2emu.d3d import block_formats as blocks
from dp2emu.d3d import partitioned_blocks as partitioned
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, AnyFormat, Channel
from dp2emu.shader.codings import bits, signed_bits
from dp2emu.shader.texture.fields import Decode, TexelSource
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.partitioned_decoder import bc6h, bc7
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

Code = Callable[[TexelSource, Value, Value, Value], Value]
"""Function that decodes an 8-bit value of a texel; parameters: source, byte address of the block,
texel ``u``, ``v``."""

_RECIPROCAL_BITS = 16
"""Fraction bits of the fixed-point reciprocals that replace a division by the sum of two weights.

A number below 2**12 times 2**16 / d, rounded up, has the exact quotient above these bits, for d up
to 7."""


class _Blend(msgspec.Struct, frozen=True):
    """I32 weights of a block's two endpoints for a texel, and the reciprocal of their sum."""

    first: Value
    second: Value
    reciprocal: Value

    @classmethod
    def of(cls, weights: blocks.Weights, code: Value) -> _Blend:
        """Look up the weights of a code in a table, which the program has as constant words."""
        whole = sum(weights[0])
        first, second = (
            code.builder.constant(Type.I32, _packed(shares))
            for shares in zip(*weights, strict=True)
        )
        reciprocal = code.builder.constant(Type.I32, -(-(1 << _RECIPROCAL_BITS) // whole))
        at = code << 2
        return cls(first >> at & 15, second >> at & 15, reciprocal)

    def unless(self, condition: Value, other: _Blend) -> _Blend:
        """Return a blend that is ``other`` where the condition is true and ``self`` elsewhere."""
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
    """Decode a texel of DXT2 to DXT5, BC2 or BC3: 8 bytes of alpha, which the function ``alpha``
    decodes, then 8 of colour.
    """
    ends, code = source.word(address, 2), _color_code(source.word(address, 3), u, v)
    red, green, blue = _colors(source, ends, _Blend.of(blocks.FOUR_COLORS, code))
    return red, green, blue, source.shade(alpha(source, address, u, v), color=False)


def _color_code(codes: Value, u: Value, v: Value) -> Value:
    """Extract a texel's 2-bit code; the 4 x 4 codes go row by row from the lowest bit."""
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
    """Return the 8-bit alpha of a DXT3 texel: its 4 bits times 17, from rows of 16 bits."""
    half = source.word(address + ((v & 2) << 1))
    return bits_at(half, ((v & 1) << 4) + ((u & 3) << 2), 4) * 17


def _three_bits(source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """Return a DXT5 alpha (or ATI value), 0 to 255: the texel's 3-bit code mixes two endpoints."""
    b, low = source.b, source.word(address)
    first, second = bits(low, 0, 8), bits(low, 8, 8)
    six = second >= first
    code = _three_bit_code(source, address, u, v)
    mix = _Blend.of(blocks.EIGHT_ALPHAS, code).unless(six, _Blend.of(blocks.SIX_ALPHAS, code))
    return b.select(six & code.eq(7), 255, mix.between(first, second))


def _three_bit_code(source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """Extract a texel's 3-bit code; 48 bits of them follow the endpoints, row by row."""
    b, low, high = source.b, source.word(address), source.word(address, 1)
    upper = bits(low, 16, 16) | (high & 0xFF) << 16
    rows = b.select((v & 2).eq(0), upper, bits(high, 8, 24))
    return bits_at(rows, ((v & 1) * 4 + (u & 3)) * 3, 3)


def _ramp(signed: bool, source: TexelSource, address: Value, u: Value, v: Value) -> Value:
    """Return the one channel of a BC4 texel: a mix of two normalised endpoints, F32, rounded once.

    Unless the first endpoint is the greater, codes 6 and 7 are the minimum and maximum of the
    format.  If ``signed``, -128 equals -127.
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
    """Decode a BC5 texel: 8 bytes of red, then 8 of green; blue is 0, alpha 1."""
    red, green = (_ramp(signed, source, address + 8 * n, u, v) for n in range(2))
    return red, green, 0.0, 1.0


def _one_red_bit(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode an R1 texel; the most significant bit of a byte is its leftmost texel."""
    (code,) = source.codes(address)
    return source.b.itof(bits_at(code, (u & 7) ^ 7, 1)), 0.0, 0.0, 1.0


def _ati1(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode an ATI1N texel: its one value goes to all four channels."""
    value = source.shade(_three_bits(source, address, u, v), color=False)
    return value, value, value, value


def _ati2(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode an ATI2N texel: 8 bytes of green, then 8 of red; blue and alpha are 1."""
    green = source.shade(_three_bits(source, address, u, v), color=False)
    red = source.shade(_three_bits(source, address + 8, u, v), color=False)
    return red, green, 1.0, 1.0


def _rgb_pair(order: str, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode one of two pixels that share red and blue; ``order`` has a letter for each byte."""
    word = source.word(address)
    red, blue = (source.shade(bits(word, 8 * order.index(name), 8)) for name in "rb")
    return red, source.shade(_pair_byte(word, order, "gG", u)), blue, 1.0


def _yuv_pair(order: str, source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode one of two pixels that share U and V, never as sRGB; ``order`` names the bytes."""
    word = source.word(address)
    y = _pair_byte(word, order, "yY", u) - 16
    u_v = [bits(word, 8 * order.index(name), 8) - 128 for name in "uv"]
    return _yuv_color(source, y, u_v)


def _yuv_block(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode one of 2 x 2 texels that share U and V, never as sRGB: a block of four Y, U, V."""
    y = _byte(source, address + ((v & 1) * 2 + (u & 1))) - 16
    u_v = [_byte(source, address + place) - 128 for place in (4, 5)]
    return _yuv_color(source, y, u_v)


def _byte(source: TexelSource, address: Value) -> Value:
    return bits_at(source.word(address), (address & 3) << 3, 8)


def _yuv_color(source: TexelSource, y: Value, u_v: list[Value]) -> Texel:
    red, green, blue = (
        source.shade(_rgb_of(y, u_v, weights), color=False) for weights in blocks.YUV_TO_RGB
    )
    return red, green, blue, 1.0


def _pair_byte(word: Value, order: str, names: str, u: Value) -> Value:
    """Extract pixel ``u``'s own byte from the word of a pixel pair.

    ``order`` names the word's bytes by letters; ``names`` are those of the first and second pixel.
    """
    first, second = (8 * order.index(name) for name in names)
    return bits_at(word, (u & 1) * (second - first) + first, 8)


def _rgb_of(y: Value, u_v: list[Value], weights: tuple[int, int, int]) -> Value:
    """Convert YUV to one RGB channel, clamped to a byte."""
    b, (u, v) = y.builder, u_v
    found = (y * weights[0] + u * weights[1] + v * weights[2] + 128) >> 8
    return b.select(found < 0, 0, b.select(found < 255, found, 255))


def _one_bit(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode an A1 texel; the most significant bit of a byte is its leftmost texel."""
    (code,) = source.codes(address)
    return 0.0, 0.0, 0.0, source.b.itof(bits_at(code, (u & 7) ^ 7, 1))


BYTE_DECODERS: dict[AnyFormat, Decode] = {
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
    Format.YV12: _yuv_block,
    Format.NV12: _yuv_block,
    **dict.fromkeys((DxgiFormat.BC1_UNORM, DxgiFormat.BC1_UNORM_SRGB), _dxt1),
    **dict.fromkeys(
        (DxgiFormat.BC2_UNORM, DxgiFormat.BC2_UNORM_SRGB), partial(_beside_alpha, _four_bits)
    ),
    **dict.fromkeys(
        (DxgiFormat.BC3_UNORM, DxgiFormat.BC3_UNORM_SRGB), partial(_beside_alpha, _three_bits)
    ),
    **dict.fromkeys((DxgiFormat.BC7_UNORM, DxgiFormat.BC7_UNORM_SRGB), bc7),
    DxgiFormat.R8G8_B8G8_UNORM: partial(_rgb_pair, "rgbG"),
    DxgiFormat.G8R8_G8B8_UNORM: partial(_rgb_pair, "grGb"),
}
"""Compressed or packed texture format -> its texel decoder, for formats of 8-bit channels."""

BLOCK_DECODERS: dict[AnyFormat, Decode] = {
    **BYTE_DECODERS,
    DxgiFormat.BC4_UNORM: partial(_one_ramp, False),
    DxgiFormat.BC4_SNORM: partial(_one_ramp, True),
    DxgiFormat.BC5_UNORM: partial(_two_ramps, False),
    DxgiFormat.BC5_SNORM: partial(_two_ramps, True),
    DxgiFormat.BC6H_UF16: partial(bc6h, False),
    DxgiFormat.BC6H_SF16: partial(bc6h, True),
    DxgiFormat.R1_UNORM: _one_red_bit,
}

BLOCK_TABLES: dict[AnyFormat, Callable[[], partitioned.Words]] = {
    **dict.fromkeys((DxgiFormat.BC6H_UF16, DxgiFormat.BC6H_SF16), partitioned.bc6h_words),
    **dict.fromkeys((DxgiFormat.BC7_UNORM, DxgiFormat.BC7_UNORM_SRGB), partitioned.bc7_words),
}
"""Format -> function that returns the tables of its decoder, for formats that have any; they are
bound as uniform file ``palette``."""
