"""Conversion between DDPIXELFORMAT and D3DFORMAT.

Sources: the DirectX 7 documentation of DDPIXELFORMAT; dwFlags selects the valid members.  The
DirectX 8 driver documentation, "Surface Formats as FOURCCs", on the formats of DirectX 8.
"""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.d3d.ddraw import PixelFlags
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, FormatRow
from dp2emu.errors import Unsupported


class PixelFormat(NamedTuple):
    """A DDPIXELFORMAT: ``bits`` is its first union (dwRGBBitCount), ``masks`` the next four (red,
    green, blue, alpha or the other members of the unions).
    """

    flags: int
    fourcc: int = 0
    bits: int = 0
    masks: tuple[int, int, int, int] = (0, 0, 0, 0)


_KINDS = PixelFlags.RGB, PixelFlags.LUMINANCE, PixelFlags.BUMPDUDV, PixelFlags.ZBUFFER

_INDEXED = PixelFlags.PALETTEINDEXED1 | PixelFlags.PALETTEINDEXED2 | PixelFlags.PALETTEINDEXED4


def format_of(pixels: PixelFormat) -> Format:
    """The format that ``pixels`` describe.  Raises Unsupported for an unknown description."""
    flags = pixels.flags
    if flags & PixelFlags.FOURCC:
        return _fourcc(pixels.fourcc)
    if flags & PixelFlags.PALETTEINDEXED8:
        return Format.P8
    if flags & _INDEXED:
        raise Unsupported("palette indexes of less than 8 bits")
    if flags & PixelFlags.ALPHA and pixels.bits == FORMATS[Format.A8].size * 8:
        return Format.A8
    found = _BY_MASKS.get(_key(pixels))
    if found is None:
        named = ", ".join(f"{mask:#x}" for mask in pixels.masks)
        raise Unsupported(f"pixels of {pixels.bits} bits, flags {flags:#x}, masks {named}")
    return found


def _fourcc(code: int) -> Format:
    if code not in Format._value2member_map_ or Format(code) not in FORMATS:
        raise Unsupported(f"pixels of FOURCC {code.to_bytes(4, 'little')!a}")
    return Format(code)


def _key(pixels: PixelFormat) -> tuple[int, int, tuple[int, ...]]:
    """A key of ``_BY_MASKS``: kind of pixels (a DDPF_* flag), bits per pixel, valid masks."""
    kind = next((kind for kind in _KINDS if pixels.flags & kind), 0)
    alpha = pixels.masks[3] if pixels.flags & PixelFlags.ALPHAPIXELS else 0
    first, second, third, _ = pixels.masks
    if kind == PixelFlags.ZBUFFER:
        stenciled = pixels.flags & PixelFlags.STENCILBUFFER
        # 24-bit depth is stored in 32 bits, even where a description says 24.
        bits = 32 if pixels.bits == 24 else pixels.bits
        every = (1 << pixels.bits) - 1 if 0 < pixels.bits <= 32 else 0
        return kind, bits, (second or every, third if stenciled else 0)
    if kind == PixelFlags.LUMINANCE:
        return kind, pixels.bits, (first, alpha)
    if kind == PixelFlags.BUMPDUDV:
        gray = third if pixels.flags & PixelFlags.BUMPLUMINANCE else 0
        return kind, pixels.bits, (first, second, gray)
    return kind, pixels.bits, (first, second, third, alpha)


def _mask(row: FormatRow, channel: str) -> int:
    found = row.channels.get(channel)
    return found.max << found.shift if found else 0


_LISTED: dict[int, tuple[str, tuple[Format, ...]]] = {
    PixelFlags.RGB: (
        "rgba",
        (
            Format.R8G8B8, Format.A8R8G8B8, Format.X8R8G8B8, Format.R5G6B5, Format.X1R5G5B5,
            Format.A1R5G5B5, Format.A4R4G4B4, Format.X4R4G4B4, Format.R3G3B2,
            Format.A8R3G3B2, Format.A8B8G8R8, Format.X8B8G8R8, Format.A2B10G10R10,
            Format.A2R10G10B10, Format.G16R16,
        ),
    ),
    PixelFlags.LUMINANCE: ("la", (Format.L8, Format.A8L8, Format.A4L4, Format.L16)),
    PixelFlags.BUMPDUDV: (
        "uvl", (Format.V8U8, Format.L6V5U5, Format.X8L8V8U8, Format.V16U16)
    ),
    PixelFlags.ZBUFFER: (
        "ds",
        (
            Format.D16, Format.D32, Format.S1D15, Format.D15S1, Format.S8D24, Format.D24S8,
            Format.X8D24, Format.D24X8, Format.X4S4D24, Format.D24X4S4,
        ),
    ),
}  # fmt: skip
"""DDPF_* flag of a kind of pixels, such as RGB -> (letters of the channels whose masks tell
formats apart, the formats of that kind)."""

_BY_MASKS = {
    (kind, 8 * row.size, tuple(_mask(row, channel) for channel in channels)): format
    for kind, (channels, formats) in _LISTED.items()
    for format in formats
    for row in (FORMATS[format],)
}
_PLACES: dict[int, tuple[str, str, int]] = {
    PixelFlags.RGB: ("rgba", "a", PixelFlags.ALPHAPIXELS),
    PixelFlags.LUMINANCE: ("l  a", "a", PixelFlags.ALPHAPIXELS),
    PixelFlags.BUMPDUDV: ("uvl ", "l", PixelFlags.BUMPLUMINANCE),
    PixelFlags.ZBUFFER: (" ds ", "s", PixelFlags.STENCILBUFFER),
}
"""DDPF_* flag of a kind of pixels -> (channel letter of each of the four masks of a DDPIXELFORMAT,
a space for none; the optional channel; the DDPF_* flag that says it is present)."""


def _masked(kind: int, row: FormatRow) -> PixelFormat:
    channels, optional, flag = _PLACES[kind]
    first, second, third, fourth = (_mask(row, channel) for channel in channels)
    if kind == PixelFlags.ZBUFFER:  # the first is the number of stencil bits
        first = third.bit_count()
    present = flag if _mask(row, optional) else 0
    return PixelFormat(int(kind | present), 0, 8 * row.size, (first, second, third, fourth))


_DESCRIBED = {
    format: _masked(kind, FORMATS[format])
    for kind, (_, formats) in _LISTED.items()
    for format in formats
} | {
    Format.P8: PixelFormat(int(PixelFlags.RGB | PixelFlags.PALETTEINDEXED8), 0, 8),
    Format.A8: PixelFormat(int(PixelFlags.ALPHA), 0, 8),
}
_DESCRIBED[Format.D16_LOCKABLE] = _DESCRIBED[Format.D16]
del _DESCRIBED[Format.V16U16]  # drivers get it as FOURCC, although there are masks for it


def described(format: Format) -> PixelFormat:
    """The DDPIXELFORMAT of a format, the inverse of ``format_of``.

    A format without masks is described by its number as FOURCC; D16_LOCKABLE as D16 is.
    """
    return _DESCRIBED.get(format) or PixelFormat(int(PixelFlags.FOURCC), int(format))
