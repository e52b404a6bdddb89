"""Decoding of texels whose channels are bit fields, by the rows of ``d3d.formats``.

UNORM is code / max and SNORM max(code / max, -1), each one float32 quotient; floats are exact.
With sRGB decoding, colour channels of up to 8 bits, widened to 8 bits first, go through the table
of ``bindings.srgb_to_linear_table``; wider formats are linear already.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import Channel, Coding, FormatRow, Use
from dp2emu.errors import Unsupported
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.bindings import SamplerFiles
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.values import Number, Value

WORD_BITS = 32


def row_of(key: SamplerKey) -> FormatRow:
    """Return the format row of a texture.  Raises Unsupported for formats that cannot be
    sampled.
    """
    row = ROWS.get(key.format)
    if row is None or Use.TEXTURE not in row.uses:
        raise Unsupported(f"texture format {key.format.sdk}")
    shadow = key.kind is TextureKind.SHADOW
    if key.compare is None and shadow is not (Use.SHADOW in row.uses):
        raise Unsupported(f"{key.kind.value} textures of format {key.format.sdk}")
    return row


@dataclass(frozen=True, slots=True)
class TexelSource:
    """Context of texel reads: builder, files, key, format row and the comparison ``reference``, if
    any.
    """

    b: Builder
    files: SamplerFiles
    key: SamplerKey
    row: FormatRow
    reference: Value | None = None

    @classmethod
    def of(cls, b: Builder, key: SamplerKey) -> TexelSource:
        """Declare the files of a key.  Raises Unsupported for formats that cannot be sampled."""
        row = row_of(key)
        return cls(b, SamplerFiles.of(b), key, row, _reference(b, key, row))

    def word(self, address: Value, number: int = 0) -> Value:
        """Load a word of the block at a byte address."""
        return self.b.load(self.files.texels, number, address >> 2)

    def codes(self, address: Value) -> tuple[Value, ...]:
        """Load the words of a pixel; a pixel below 32 bits is in the low bits of a word."""
        size = self.row.size
        if size % 4 == 0:
            return tuple(self.word(address, number) for number in range(size // 4))
        shift = (address & 3) << 3
        low = self.b.apply("ushr", self.word(address), shift)
        if size != 3:
            return (low,)
        # Three bytes may straddle words.  Two shifts, since a shift by 32 would be a shift by 0.
        return (low | (self.word(address, 1) << 1 << (31 - shift)),)

    def shade(self, code: Value, *, color: bool = True) -> Value:
        """Normalise an 8-bit code to 0..1, colours by the sRGB table if the key asks for it."""
        if color and self.key.srgb:
            return self.b.load(self.files.linear, 0, code)
        return self.b.itof(code) / 255.0


def _reference(b: Builder, key: SamplerKey, row: FormatRow) -> Value | None:
    """Return the comparison reference; for Direct3D 10 it is quantised to the texture's format."""
    if key.compare is None:
        shadow = key.kind is TextureKind.SHADOW
        return b.saturate(b.input("coordinate.z")) if shadow else None
    given, lane = b.input("reference.x"), row.depth or row.lanes[0]
    if not isinstance(lane, Channel) or lane.coding is not Coding.UNORM:
        return given
    most = float(lane.max)
    return b.round(b.saturate(given) * most) / most


def decode_channels(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a pixel channel by channel."""
    codes = source.codes(address)
    done: dict[Channel, Number] = {}
    for lane in source.row.lanes:
        if isinstance(lane, Channel) and lane not in done:
            color = lane is not source.row.lanes[3]
            done[lane] = read_channel(source, codes, lane, color=color)
    red, green, blue, alpha = (
        done[lane] if isinstance(lane, Channel) else lane for lane in source.row.lanes
    )
    return red, green, blue, alpha


def read_channel(
    source: TexelSource, codes: tuple[Value, ...], channel: Channel, *, color: bool
) -> Value:
    """Decode one channel of a pixel whose words are ``codes``."""
    word, shift = divmod(channel.shift, WORD_BITS)
    read = _CODINGS[channel.coding]
    return read(source, codes[word], Channel(shift, channel.bits, channel.coding), color)


def bits(word: Value, shift: int, count: int) -> Value:
    """Extract an unsigned bit field."""
    if shift:
        word = word.builder.apply("ushr", word, shift)
    return word if shift + count == WORD_BITS else word & ((1 << count) - 1)


def signed_bits(word: Value, shift: int, count: int) -> Value:
    """Extract a two's complement bit field, sign-extended."""
    spare = WORD_BITS - count
    return (word << (spare - shift) if spare > shift else word) >> spare


def _unorm(source: TexelSource, word: Value, channel: Channel, color: bool) -> Value:
    b, code = source.b, bits(word, channel.shift, channel.bits)
    if channel.bits == 8:
        return source.shade(code, color=color)
    value = b.apply("utof", code) / float(channel.max)
    if channel.bits > 8 or not (color and source.key.srgb):
        return value
    # The sRGB table has 8-bit codes: widen the channel first.
    return source.shade(b.ftoi(value * 255.0 + 0.5))


def _snorm(source: TexelSource, word: Value, channel: Channel, color: bool) -> Value:
    code = signed_bits(word, channel.shift, channel.bits)
    return source.b.max(source.b.itof(code) / float(channel.max >> 1), -1.0)


def _uint(source: TexelSource, word: Value, channel: Channel, color: bool) -> Value:
    return source.b.apply("utof", bits(word, channel.shift, channel.bits))


def _sint(source: TexelSource, word: Value, channel: Channel, color: bool) -> Value:
    return source.b.itof(signed_bits(word, channel.shift, channel.bits))


def _float(source: TexelSource, word: Value, channel: Channel, color: bool) -> Value:
    if channel.bits == WORD_BITS:
        return source.b.asfloat(word)
    return _SMALL_FLOATS[channel.bits](bits(word, channel.shift, channel.bits))


def half(code: Value) -> Value:
    """Convert an IEEE half: with exponent and mantissa in float32 position it is 2**112 too small,
    exactly.
    """
    b, magnitude = code.builder, (code & 0x7FFF) << 13
    # 112 = 127 - 15, the difference of the biases; the product also normalises subnormals.
    finite = b.asfloat(magnitude) * 2.0**112
    value = b.select(magnitude >= 0x7C00 << 13, b.asfloat(magnitude | 0x7F800000), finite)
    return b.select((code & 0x8000).ne(0), -value, value)


def _depth_float(code: Value) -> Value:
    """Convert a 24-bit depth: 4 bits of exponent with bias 15, and 20 of mantissa."""
    return code.builder.asfloat(code << 3) * 2.0**112


_SMALL_FLOATS: dict[int, Callable[[Value], Value]] = {
    10: lambda code: half(code << 5),
    11: lambda code: half(code << 4),
    16: half,
    24: _depth_float,
}
"""Conversions of unsigned and half floats by their width in bits."""

_CODINGS: dict[Coding, Callable[[TexelSource, Value, Channel, bool], Value]] = {
    Coding.UNORM: _unorm,
    Coding.SNORM: _snorm,
    Coding.UINT: _uint,
    Coding.SINT: _sint,
    Coding.FLOAT: _float,
}
Decode = Callable[[TexelSource, Value, Value, Value], Texel]
"""Decodes texel ``u``, ``v`` of the pixel or block at a byte address."""
