"""Texels whose channels are fields of their own words, by the rows of ``d3d.formats``.

``shader.codings`` says what their bits stand for.  With sRGB, red, green and blue of up to 8 bits,
rounded to 8 bits first, become what the table of ``bindings.linear_light`` says; formats of more
bits are linear already.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import Channel, Coding, FormatRow, Use
from dp2emu.errors import Unsupported
from dp2emu.records import dataclass
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import decoded, field
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.texture.bindings import Files
from dp2emu.shader.texture.filters import Texel
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.values import Number, Value


def row_of(key: SamplerKey) -> FormatRow:
    """The format of a texture.  Raises Unsupported if it is none here."""
    row = ROWS.get(key.format)
    if row is None or Use.TEXTURE not in row.uses:
        raise Unsupported(f"texture format {key.format.sdk}")
    shadow = key.kind is TextureKind.SHADOW
    if key.compare is None and shadow is not (Use.SHADOW in row.uses):
        raise Unsupported(f"{key.kind.value} textures of format {key.format.sdk}")
    return row


@dataclass(frozen=True, slots=True)
class Source:
    """What texels are read with; ``reference`` is what depths are compared with."""

    b: Builder
    files: Files
    key: SamplerKey
    row: FormatRow
    reference: Value | None = None

    @classmethod
    def of(cls, b: Builder, key: SamplerKey) -> Source:
        """Raises Unsupported for formats that are no textures here."""
        row = row_of(key)
        return cls(b, Files.of(b), key, row, _reference(b, key, row))

    def word(self, address: Value, number: int = 0) -> Value:
        """A word of the block at a byte address."""
        return self.b.load(self.files.texels, number, address >> 2)

    def codes(self, address: Value) -> tuple[Value, ...]:
        """The words of a pixel; of one below 32 bits a word with the pixel in its low bits."""
        size = self.row.size
        if size % 4 == 0:
            return tuple(self.word(address, number) for number in range(size // 4))
        shift = (address & 3) << 3
        low = self.b.apply("ushr", self.word(address), shift)
        if size != 3:
            return (low,)
        # Three bytes may lie across words; shifting in two steps makes 32 a shift like others.
        return (low | (self.word(address, 1) << 1 << (31 - shift)),)

    def shade(self, code: Value, *, color: bool = True) -> Value:
        """An 8-bit code as 0..1; a colour's maybe in linear light."""
        if color and self.key.srgb:
            return self.b.load(self.files.linear, 0, code)
        return self.b.itof(code) / 255.0


def _reference(b: Builder, key: SamplerKey, row: FormatRow) -> Value | None:
    """What texels are compared with.  In Direct3D 10 it is a number of the format."""
    if key.compare is None:
        shadow = key.kind is TextureKind.SHADOW
        return b.saturate(b.input("coordinate.z")) if shadow else None
    given, lane = b.input("reference.x"), row.depth or row.lanes[0]
    if not isinstance(lane, Channel) or lane.coding is not Coding.UNORM:
        return given
    most = float(lane.max)
    return b.round(b.saturate(given) * most) / most


def plain(source: Source, address: Value, u: Value, v: Value) -> Texel:
    """The lanes of a row whose pixels have bytes of their own."""
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
    source: Source, codes: tuple[Value, ...], channel: Channel, *, color: bool
) -> Value:
    """One channel of a texel whose words are ``codes``."""
    if channel.coding is Coding.UNORM:
        return _coded(source, codes, channel, color)
    return decoded(codes, channel)


def _coded(source: Source, codes: tuple[Value, ...], channel: Channel, color: bool) -> Value:
    """A fraction without a sign."""
    b, code = source.b, field(codes, channel)
    if channel.bits == 8:
        return source.shade(code, color=color)
    value = decoded(codes, channel)
    if channel.bits > 8 or not (color and source.key.srgb):
        return value
    return source.shade(b.ftoi(value * 255.0 + 0.5))


Decode = Callable[[Source, Value, Value, Value], Texel]
"""Reads the texel ``u``, ``v`` of the pixel or block at a byte address."""
