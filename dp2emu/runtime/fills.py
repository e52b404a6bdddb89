"""ColorFill of surfaces that no GPU renders to: the runtime stores the colour itself.

Source: the documentation of IDirect3DDevice9::ColorFill, which takes plain surfaces of any format;
what a colour is in each is the opposite of how texels of it are read (``d3d.block_formats``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

import numpy as np

from dp2emu.d3d.block_formats import PAIRS
from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, FORMATS, Channel, Use
from dp2emu.errors import Unsupported
from dp2emu.gpu.resource.pixel_format import encode

Color = tuple[int, int, int, int]
"""Red, green, blue and alpha, 0 to 255 each."""

_YUV = ((66, 129, 25, 16), (-38, -74, 112, 128), (112, -94, -18, 128))
"""Y, U and V: (r R + g G + b B + 128) >> 8, and the last added; BT.601 in the range of video."""


def filled_by_gpu(format: Format) -> bool:
    """Whether the driver's COLORFILL takes surfaces of a format."""
    return format in COLOR


def block_of(format: Format, color: int) -> bytes:
    """The bytes of a pixel, or of a block of pixels, that are all of an A8R8G8B8 colour.

    DXT1 is transparent below an alpha of 128; luminance is red, and U, V, W and Q are red, green,
    blue and alpha.  Raises Unsupported for palette indices and depth.
    """
    row = FORMATS[format]
    lanes = tuple(color >> shift & 0xFF for shift in (16, 8, 0, 24))
    if format in _BLOCKS:
        return _BLOCKS[format](lanes)  # type: ignore[arg-type]
    if row.uses & (Use.PALETTE | Use.DEPTH):
        raise Unsupported(f"ColorFill of {format.sdk}")
    held = sum(
        _bits(row.channels[name], lanes[index]) << row.channels[name].shift
        for index, names in enumerate(("rlu", "gv", "bw", "aq"))
        for name in names if name in row.channels
    )  # fmt: skip
    unused = (1 << 8 * row.size) - 1
    for channel in row.channels.values():
        unused &= ~(channel.max << channel.shift)
    return (held | unused).to_bytes(row.size, "little")


def _bits(channel: Channel, value: int) -> int:
    lane = np.array([value], np.float32) / np.float32(255)
    return int(encode(channel, lane)[0])


def _of(value: int, most: int) -> int:
    """A byte as a number from 0 to ``most``, the nearest."""
    return (2 * value * most + 255) // 510


def _rgb565(color: Color) -> bytes:
    """Two endpoints that are alike, and 16 times the first."""
    red, green, blue, _ = color
    word = _of(red, 31) << 11 | _of(green, 63) << 5 | _of(blue, 31)
    return struct.pack("<HHI", word, word, 0)


def _dxt1(color: Color) -> bytes:
    return _rgb565(color) if color[3] >= 128 else struct.pack("<HHI", 0, 0, 0xFFFFFFFF)


def _dxt3(color: Color) -> bytes:
    return bytes([17 * _of(color[3], 15)] * 8) + _rgb565(color)


def _dxt5(color: Color) -> bytes:
    return _ramp(color[3]) + _rgb565(color)


def _ramp(value: int) -> bytes:
    return bytes([value, value, 0, 0, 0, 0, 0, 0])


def _pair(order: str, color: Color) -> bytes:
    """Two pixels of one colour: ``PAIRS`` has the components of its bytes."""
    red, green, blue, _ = color
    y, u, v = ((r * red + g * green + b * blue + 128 >> 8) + base for r, g, b, base in _YUV)
    parts = {"r": red, "g": green, "b": blue, "y": y, "u": u, "v": v}
    return bytes(parts[letter.lower()] for letter in order)


_BLOCKS: dict[Format, Callable[[Color], bytes]] = {
    Format.A1: lambda color: bytes([0xFF if color[3] >= 128 else 0]),
    Format.DXT1: _dxt1,
    Format.DXT2: _dxt3,
    Format.DXT3: _dxt3,
    Format.DXT4: _dxt5,
    Format.DXT5: _dxt5,
    Format.ATI1N: lambda color: _ramp(color[0]),
    Format.ATI2N: lambda color: _ramp(color[1]) + _ramp(color[0]),
    **{format: partial(_pair, order) for format, order in PAIRS.items()},
}
"""Formats whose pixels share bytes -> one block of a colour."""
