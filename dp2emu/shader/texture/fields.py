"""Decoding of texels whose channels are bit fields, by the rows of ``d3d.formats``.

``shader.codings`` defines the codings of channels.  With sRGB decoding, colour channels of up to 8
bits, widened to 8 bits first, go through the table of ``bindings.srgb_to_linear_table``; wider
formats are linear already.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import Channel, Coding, FormatRow, Use
from dp2emu.errors import Unsupported
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import decoded, field
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.bindings import SamplerFiles
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.values import Number, Value


def row_of(key: SamplerKey) -> FormatRow:
    """Return the ``FormatRow`` of a texture.  Raises Unsupported if it cannot be sampled."""
    row = ROWS.get(key.format)
    if row is None or Use.TEXTURE not in row.uses:
        raise Unsupported(f"texture format {key.format.sdk}")
    shadow = key.kind is TextureKind.SHADOW
    if key.compare is None and shadow is not (Use.SHADOW in row.uses):
        raise Unsupported(f"{key.kind.value} textures of format {key.format.sdk}")
    return row


class TexelSource(msgspec.Struct, frozen=True):
    """What code that reads texels needs: builder of the program, its uniform files, sampler key,
    texture format and, if it compares depths, the reference value.
    """

    b: Builder
    files: SamplerFiles
    key: SamplerKey
    row: FormatRow
    reference: Value | None = None

    @classmethod
    def of(cls, b: Builder, key: SamplerKey) -> TexelSource:
        """Declare a sampler's files.  Raises Unsupported for formats that cannot be sampled."""
        row = row_of(key)
        return cls(b, SamplerFiles.of(b), key, row, _reference(b, key, row))

    def word(self, address: Value, number: int = 0) -> Value:
        """Load word ``number`` of the pixel or block at a byte address."""
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
        """Convert an 8-bit code to 0..1.

        With ``color``, uses the sRGB table if the key has ``srgb`` set.
        """
        if color and self.key.srgb:
            return self.b.load(self.files.linear, 0, code)
        return self.b.itof(code) / 255.0


def _reference(b: Builder, key: SamplerKey, row: FormatRow) -> Value | None:
    """Load the reference of a depth comparison, None if the key has no comparison.

    Direct3D 10 rounds it to the texture's format if that is UNORM.
    """
    if key.compare is None:
        shadow = key.kind is TextureKind.SHADOW
        return b.saturate(b.input("coordinate.z")) if shadow else None
    given, lane = b.input("reference.x"), row.depth or row.lanes[0]
    if not isinstance(lane, Channel) or lane.coding is not Coding.UNORM:
        return given
    most = float(lane.max)
    return b.round(b.saturate(given) * most) / most


def decode_channels(source: TexelSource, address: Value, u: Value, v: Value) -> Texel:
    """Decode a pixel whose channels are bit fields."""
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
    if channel.coding is Coding.UNORM:
        return _unorm(source, codes, channel, color)
    return decoded(codes, channel)


_CODE_BITS = 8
"""Number of bits of an sRGB code."""


_CODED_BLOCKS = {
    Format.DXT1, Format.DXT2, Format.DXT3, Format.DXT4, Format.DXT5, Format.R8G8_B8G8,
    Format.G8R8_G8B8,
}  # fmt: skip
"""Formats of blocks of colours; the others have vectors, one bit, or luminance and chroma."""


def decodes_codes(row: FormatRow) -> bool:
    """Whether D3DSAMP_SRGBTEXTURE has an effect on textures of a format: whether its colours have
    no more than 8 bits each.
    """
    if row.blocked:
        return row.format in _CODED_BLOCKS
    if Use.PALETTE in row.uses:
        return True
    colors = [lane for lane in row.lanes[:3] if isinstance(lane, Channel)]
    return bool(colors) and all(
        each.coding is Coding.UNORM and each.bits <= _CODE_BITS for each in colors
    )


def _unorm(source: TexelSource, codes: tuple[Value, ...], channel: Channel, color: bool) -> Value:
    b, code = source.b, field(codes, channel)
    if channel.bits == _CODE_BITS:
        return source.shade(code, color=color)
    value = decoded(codes, channel)
    if channel.bits > _CODE_BITS or not (color and source.key.srgb):
        return value
    # The sRGB table has 8-bit codes: widen the channel first.
    return source.shade(b.ftoi(value * 255.0 + 0.5))


Decode = Callable[[TexelSource, Value, Value, Value], Texel]
"""Function that decodes a texel; parameters: source, byte address of the pixel or block, texel
``u``, ``v``."""
