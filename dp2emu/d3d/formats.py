"""One row per surface format: size, channels, their encoding, and uses.

Source: D3DFORMAT documentation.  The name of a format lists its channels from the most significant
bit down, so X8R8G8B8 has blue in the lowest byte; rows derive their layout from the name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, Flag, auto
from functools import cached_property
from types import MappingProxyType

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import FOREIGN, check_contents, unchecked
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import Format

AnyFormat = Format | DxgiFormat
"""The format of a surface, of Direct3D 9 or DXGI."""


class Coding(Enum):
    """The encoding of a channel.

    UNORM: c / (2^n - 1).  SNORM: two's complement, max(c / (2^(n-1) - 1), -1).  FLOAT: IEEE half
    (16 bits) or single (32), or the unsigned 24-bit depth, with 4 bits of exponent (bias 15) and
    20 of mantissa.  UINT: an integer, such as a palette index or stencil.  SINT: two's complement,
    in Direct3D 10 only.
    """

    UNORM = auto()
    SNORM = auto()
    FLOAT = auto()
    UINT = auto()
    SINT = auto()


class Use(Flag):
    """Uses of surfaces of a format.

    TEXTURE: sampled.  TARGET: a render target.  DEPTH: a depth-stencil buffer.  SHADOW: a depth
    texture whose sampling compares instead of reading.  BUMP: bump vectors.  PALETTE: palette
    indices.
    """

    NONE = 0
    TEXTURE = auto()
    TARGET = auto()
    DEPTH = auto()
    SHADOW = auto()
    BUMP = auto()
    PALETTE = auto()


class Channel(msgspec.Struct, frozen=True):
    """A bit field of a pixel: ``bits`` bits from bit ``shift`` on, little-endian."""

    shift: int
    bits: int
    coding: Coding = Coding.UNORM

    @property
    def max(self) -> int:
        """The largest unsigned value of the field."""
        return (1 << self.bits) - 1


Lane = Channel | float
"""What a colour component is read from: a ``Channel`` of the pixel, or a constant if the format
has none."""


class FormatRow(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A format of ``size`` bytes per block of ``block`` (width, height) pixels.

    Blocks of one pixel have ``channels`` by name: r, g, b, a, l (luminance), u, v, w, q, p
    (palette index), d (depth), s (stencil).  ``missing`` is the value of an absent red, green or
    blue; an absent alpha is 1.  ``srgb``: reads and writes convert red, green and blue from and to
    sRGB (Direct3D 10 formats only).
    """

    format: AnyFormat
    size: int
    channels: Mapping[str, Channel]
    uses: Use
    block: tuple[int, int] = (1, 1)
    missing: float = 1.0
    srgb: bool = False

    @property
    def blocked(self) -> bool:
        """Whether the format stores blocks of several pixels, so single pixels have no address."""
        return self.block != (1, 1)

    @cached_property
    def word(self) -> np.dtype[np.generic]:
        """The dtype of stored words: float32 for float depth only, else the widest unsigned
        integer that divides the size.
        """
        depth = self.depth
        if depth and depth.coding is Coding.FLOAT and depth.bits == 8 * self.size:
            return np.dtype("<f4")
        return np.dtype(f"<u{min(self.size & -self.size, 8)}")

    @cached_property
    def words(self) -> int:
        """Number of ``word`` units in a pixel or block: one if it has 1, 2, 4 or 8 bytes; R8G8B8
        has three of a byte.
        """
        return self.size // self.word.itemsize

    @cached_property
    def lanes(self) -> tuple[Lane, Lane, Lane, Lane]:
        """The sources of red, green, blue and alpha in a sampler's result.

        Luminance is red, green and blue; U, V, W, Q are the lanes in order, with luminance in
        place of W.  A depth that is read and not compared is all four.
        """
        has = self.channels
        if "d" in has and Use.SHADOW not in self.uses:
            return (has["d"],) * 4
        gray = has.get("l")
        red = has.get("r") or has.get("u") or gray
        green = has.get("g") or has.get("v") or gray
        blue = has.get("b") or has.get("w") or gray
        alpha = has.get("a") or has.get("q")
        colors = (red or self.missing, green or self.missing, blue or self.missing)
        return (*colors, alpha or 1.0)

    @property
    def mask(self) -> int:
        """Mask of the channel bits in a pixel's first DWORD; all bits for block formats."""
        if not self.channels:
            return 0xFFFFFFFF
        bits = sum(channel.max << channel.shift for channel in self.channels.values())
        return bits & 0xFFFFFFFF

    @property
    def red(self) -> Channel | None:
        """The channel that stores red: red or luminance."""
        return self.channels.get("r") or self.channels.get("l")

    @property
    def green(self) -> Channel | None:
        """The green channel."""
        return self.channels.get("g")

    @property
    def blue(self) -> Channel | None:
        """The blue channel."""
        return self.channels.get("b")

    @property
    def alpha(self) -> Channel | None:
        """The alpha channel."""
        return self.channels.get("a")

    @property
    def depth(self) -> Channel | None:
        """The depth channel."""
        return self.channels.get("d")

    @property
    def stencil(self) -> Channel | None:
        """The stencil channel."""
        return self.channels.get("s")

    @property
    def floating(self) -> bool:
        """Whether any channel is a float; stores do not clamp float channels."""
        return any(channel.coding is Coding.FLOAT for channel in self.channels.values())

    @unchecked
    def view(self, data: NDArray[np.uint8]) -> NDArray[np.generic]:
        """Pixel bytes ``data``, uint8 (n * size,), as words: ``word`` (n,), or (n, words) if a
        pixel has several.
        """
        try:
            words: NDArray[np.generic] = data.view(self.word)
            return words if self.words == 1 else words.reshape(-1, self.words)
        except FOREIGN:
            check_contents(FormatRow.view, self, data)
            raise


_CODINGS = dict.fromkeys("uvwq", Coding.SNORM) | dict.fromkeys("ps", Coding.UINT)


def _channels(layout: str) -> tuple[dict[str, Channel], int]:
    """Channels and bit count of a layout such as A8R8G8B8, most significant channel first.

    An F behind a channel makes it a float; a final F makes all channels floats.
    """
    fields = re.findall(r"([A-Z])(\d+)(F?)", layout)
    floats = layout.endswith("F")
    channels, shift = {}, 0
    for letter, digits, f in reversed(fields):
        name, bits = letter.lower(), int(digits)
        coding = Coding.FLOAT if f or floats else _CODINGS.get(name, Coding.UNORM)
        if name != "x":
            channels[name] = Channel(shift, bits, coding)
        shift += bits
    return channels, shift


def _row(format: Format, uses: Use, layout: str = "", missing: float = 1.0) -> FormatRow:
    """The row of a format without blocks; ``layout`` lists its channels if its name does not."""
    channels, bits = _channels(layout or format.name.removesuffix("_LOCKABLE"))
    return FormatRow(format, bits // 8, MappingProxyType(channels), uses, missing=missing)


def _block(format: Format, size: int, width: int, height: int, uses: Use) -> FormatRow:
    return FormatRow(format, size, MappingProxyType({}), uses, (width, height))


_TEXTURE, _SHADOW = Use.TEXTURE, Use.TEXTURE | Use.DEPTH | Use.SHADOW
_READABLE = Use.TEXTURE | Use.DEPTH
_TARGET, _BUMP, _PALETTE = _TEXTURE | Use.TARGET, _TEXTURE | Use.BUMP, _TEXTURE | Use.PALETTE

FORMATS: dict[AnyFormat, FormatRow] = {
    row.format: row
    for row in (
        _row(Format.R8G8B8, _TEXTURE),
        _row(Format.A8R8G8B8, _TARGET),
        _row(Format.X8R8G8B8, _TARGET),
        _row(Format.R5G6B5, _TARGET),
        _row(Format.X1R5G5B5, _TARGET),
        _row(Format.A1R5G5B5, _TARGET),
        _row(Format.A4R4G4B4, _TARGET),
        _row(Format.R3G3B2, _TARGET),
        _row(Format.A8, _TARGET, missing=0.0),
        _row(Format.A8R3G3B2, _TARGET),
        _row(Format.X4R4G4B4, _TARGET),
        _row(Format.A2B10G10R10, _TARGET),
        _row(Format.A8B8G8R8, _TARGET),
        _row(Format.X8B8G8R8, _TARGET),
        _row(Format.G16R16, _TARGET),
        _row(Format.A2R10G10B10, _TARGET),
        _row(Format.A16B16G16R16, _TARGET),
        _row(Format.A8P8, _PALETTE),
        _row(Format.P8, _PALETTE),
        _row(Format.L8, _TARGET),
        _row(Format.A8L8, _TARGET),
        _row(Format.A4L4, _TEXTURE),
        _row(Format.L16, _TARGET),
        _row(Format.V8U8, _BUMP),
        _row(Format.L6V5U5, _BUMP),
        _row(Format.X8L8V8U8, _BUMP),
        _row(Format.Q8W8V8U8, _BUMP),
        _row(Format.V16U16, _BUMP),
        _row(Format.A2W10V10U10, _BUMP),
        _row(Format.Q16W16V16U16, _BUMP),
        _row(Format.CxV8U8, _BUMP, layout="V8U8"),
        _row(Format.R16F, _TARGET),
        _row(Format.G16R16F, _TARGET),
        _row(Format.A16B16G16R16F, _TARGET),
        _row(Format.R32F, _TARGET),
        _row(Format.G32R32F, _TARGET),
        _row(Format.A32B32G32R32F, _TARGET),
        _row(Format.D16_LOCKABLE, _SHADOW),
        _row(Format.D32, _SHADOW),
        _row(Format.D15S1, _SHADOW),
        _row(Format.D24S8, _SHADOW),
        _row(Format.D24X8, _SHADOW),
        _row(Format.D24X4S4, _SHADOW),
        _row(Format.S1D15, Use.DEPTH),
        _row(Format.S8D24, Use.DEPTH),
        _row(Format.X8D24, Use.DEPTH),
        _row(Format.X4S4D24, Use.DEPTH),
        _row(Format.D16, _SHADOW),
        _row(Format.D32F_LOCKABLE, _SHADOW),
        _row(Format.D24FS8, _SHADOW),
        _row(Format.D32_LOCKABLE, _SHADOW),
        _row(Format.S8_LOCKABLE, Use.DEPTH),
        _row(Format.INTZ, _READABLE, layout="D24S8"),
        _row(Format.DF16, _READABLE, layout="D16"),
        _row(Format.DF24, _READABLE, layout="D24X8"),
        _block(Format.A1, 1, 8, 1, _TEXTURE),
        _block(Format.UYVY, 4, 2, 1, _TEXTURE),
        _block(Format.YUY2, 4, 2, 1, _TEXTURE),
        _block(Format.YV12, 6, 2, 2, _TEXTURE),
        _block(Format.NV12, 6, 2, 2, _TEXTURE),
        _block(Format.R8G8_B8G8, 4, 2, 1, _TEXTURE),
        _block(Format.G8R8_G8B8, 4, 2, 1, _TEXTURE),
        _block(Format.DXT1, 8, 4, 4, _TEXTURE),
        _block(Format.DXT2, 16, 4, 4, _TEXTURE),
        _block(Format.DXT3, 16, 4, 4, _TEXTURE),
        _block(Format.DXT4, 16, 4, 4, _TEXTURE),
        _block(Format.DXT5, 16, 4, 4, _TEXTURE),
        _block(Format.ATI1N, 8, 4, 4, _TEXTURE),
        _block(Format.ATI2N, 16, 4, 4, _TEXTURE),
    )
}
"""Direct3D 9 surface format -> ``FormatRow``, the layout of its pixels and its uses."""

COLOR = {format: row for format, row in FORMATS.items() if Use.TARGET in row.uses}
"""Direct3D 9 format -> ``FormatRow``, for formats that can be rendered to."""

DEPTH = {format: row for format, row in FORMATS.items() if Use.DEPTH in row.uses}
"""Direct3D 9 format -> ``FormatRow``, for formats of depth-stencil surfaces."""
