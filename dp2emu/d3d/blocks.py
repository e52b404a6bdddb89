"""Formats whose pixels share bytes: DXT1 to DXT5, pairs with common components, and single bits.

Source: "Compressed Texture Resources" of the Direct3D 9 documentation; D3DFORMAT documentation
for the pairs; "Recommended 8-Bit YUV Formats for Video Rendering" for the YUV arithmetic.  Values
are 8-bit integers by integer arithmetic alone, so that a texel is the same wherever it is decoded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import FORMATS, AnyFormat, Channel
from dp2emu.errors import UsageError

Bytes = NDArray[np.uint8]
I32 = NDArray[np.int32]

Weights = tuple[tuple[int, int], ...]
"""Of each code: how much of the first and of the second endpoint; their sum divides, cut off."""

FOUR_COLORS: Weights = ((3, 0), (0, 3), (2, 1), (1, 2))
"""Colours of DXT2 to DXT5 by 2-bit code, and of DXT1 if its first endpoint is the greater."""

THREE_COLORS: Weights = ((2, 0), (0, 2), (1, 1))
"""Colours of DXT1 otherwise; code 3 is transparent black."""

EIGHT_ALPHAS: Weights = ((7, 0), (0, 7), (6, 1), (5, 2), (4, 3), (3, 4), (2, 5), (1, 6))
"""Alphas of DXT4 and DXT5 by 3-bit code if the first endpoint is the greater."""

SIX_ALPHAS: Weights = ((5, 0), (0, 5), (4, 1), (3, 2), (2, 3), (1, 4))
"""Alphas otherwise; code 6 is 0, code 7 is 255."""

_ENDPOINT = FORMATS[Format.R5G6B5]

YUV_TO_RGB = ((298, 0, 409), (298, -100, -208), (298, 516, 0))
"""Red, green and blue: (y (Y - 16) + u (U - 128) + v (V - 128) + 128) >> 8, clamped to a byte.

BT.601 with Y in 16..235 and U and V in 16..240.
"""


def decode(format: AnyFormat, data: Bytes | bytes, width: int, height: int) -> Bytes:
    """Red, green, blue and alpha of each pixel: uint8 (height, width, 4).

    ``data`` is rows of blocks, tightly packed, the sizes rounded up to whole blocks.  Raises
    UsageError if its length is another, or if the format has no such blocks.
    """
    if format not in _TEXELS:
        raise UsageError(f"{format.sdk} has no blocks of colours")
    row = FORMATS[format]
    columns, rows = -(-width // row.block[0]), -(-height // row.block[1])
    raw = np.frombuffer(data, np.uint8)
    if min(width, height) < 1 or len(raw) != columns * rows * row.size:
        raise UsageError(f"{len(raw)} bytes are no {width} x {height} pixels of {format.sdk}")
    texels = _TEXELS[format](raw.reshape(rows, columns, row.size))
    whole = texels.swapaxes(1, 2).reshape(rows * row.block[1], columns * row.block[0], 4)
    return whole[:height, :width]


_Texels = Callable[[Bytes], Bytes]
"""Blocks (rows, columns, bytes) -> texels (rows, columns, block height, block width, 4)."""


def _dxt1(blocks: Bytes) -> Bytes:
    first, second = _endpoints(blocks)
    opaque = (first > second)[..., None, None]
    colors = np.where(opaque, _colors(first, second, FOUR_COLORS),
                      _colors(first, second, THREE_COLORS))  # fmt: skip
    return _chosen(colors, _codes(blocks[..., 4:8], 2))


def _dxt3(blocks: Bytes) -> Bytes:
    alphas = _codes(blocks[..., :8], 4) * 17
    return _with_alpha(blocks[..., 8:], alphas)


def _dxt5(blocks: Bytes) -> Bytes:
    return _with_alpha(blocks[..., 8:], _alphas(blocks))


def _alphas(blocks: Bytes) -> I32:
    """The 16 values of a block of two ends and 3-bit codes: shape (rows, columns, 16)."""
    first, second = blocks[..., 0].astype(np.int32), blocks[..., 1].astype(np.int32)
    six = [*_mixed(first, second, SIX_ALPHAS), np.zeros_like(first), np.full_like(first, 255)]
    eight = _mixed(first, second, EIGHT_ALPHAS)
    alphas = np.where((first > second)[..., None], np.stack(eight, -1), np.stack(six, -1))
    return np.take_along_axis(alphas, _codes(blocks[..., 2:8], 3), 2)


def _ati1(blocks: Bytes) -> Bytes:
    """One value, in all four."""
    value = _alphas(blocks).reshape(*blocks.shape[:2], 4, 4, 1)
    return np.repeat(value, 4, -1).astype(np.uint8)


def _ati2(blocks: Bytes) -> Bytes:
    """Green, then red; blue and alpha are 1."""
    green, red = _alphas(blocks[..., :8]), _alphas(blocks[..., 8:])
    full = np.full_like(red, 255)
    return np.stack((red, green, full, full), -1).reshape(*blocks.shape[:2], 4, 4, 4).astype("u1")


def _with_alpha(blocks: Bytes, alphas: I32) -> Bytes:
    colors = _colors(*_endpoints(blocks), FOUR_COLORS)
    texels = _chosen(colors, _codes(blocks[..., 4:8], 2))
    texels[..., 3] = alphas.reshape(texels.shape[:-1])
    return texels


def _endpoints(blocks: Bytes) -> tuple[I32, I32]:
    words = np.ascontiguousarray(blocks[..., :4]).view("<u2").astype(np.int32)
    return words[..., 0], words[..., 1]


def _colors(first: I32, second: I32, weights: Weights) -> I32:
    """Opaque colours of four codes: (rows, columns, 4, 4).  A code without weights is all zero."""
    colors = np.zeros((*first.shape, 4, 4), np.int32)
    for lane, channel in enumerate((_ENDPOINT.red, _ENDPOINT.green, _ENDPOINT.blue)):
        mixed = _mixed(_widened(first, channel), _widened(second, channel), weights)
        colors[..., : len(weights), lane] = np.stack(mixed, axis=-1)
    colors[..., : len(weights), 3] = 255
    return colors


def _mixed(first: I32, second: I32, weights: Weights) -> list[I32]:
    return [(a * first + b * second) // (a + b) for a, b in weights]


def _widened(words: I32, channel: Channel | None) -> I32:
    """Five or six bits as eight, by repeating the high ones."""
    assert channel is not None
    value = words >> channel.shift & channel.max
    wide: I32 = value << 8 - channel.bits | value >> 2 * channel.bits - 8
    return wide


def _codes(packed: Bytes, bits: int) -> I32:
    """Sixteen codes of that many bits, the first in the lowest: (rows, columns, 16)."""
    ones = np.unpackbits(packed, axis=-1, bitorder="little").astype(np.int32)
    apart = ones.reshape(*packed.shape[:-1], 16, bits)
    codes = np.zeros(apart.shape[:-1], np.int32)
    for bit in range(bits):
        codes |= apart[..., bit] << bit
    return codes


def _chosen(colors: I32, codes: I32) -> Bytes:
    texels = np.take_along_axis(colors, codes[..., None], axis=2).astype(np.uint8)
    return texels.reshape(*codes.shape[:2], 4, 4, 4)


def _one_bit(blocks: Bytes) -> Bytes:
    """A1: the highest bit is the leftmost texel; black, and opaque or not."""
    texels = np.zeros((*blocks.shape[:2], 1, 8, 4), np.uint8)
    texels[..., 0, :, 3] = np.unpackbits(blocks, axis=-1) * 255
    return texels


def _rgb_pairs(order: str) -> _Texels:
    """Two pixels that share red and blue; ``order`` names the bytes, g is the first's green."""

    def texels(blocks: Bytes) -> Bytes:
        red, blue = blocks[..., order.index("r")], blocks[..., order.index("b")]
        full = np.full_like(red, 255)
        pair = [np.stack([red, blocks[..., order.index(green)], blue, full], axis=-1)
                for green in "gG"]  # fmt: skip
        return np.stack(pair, axis=2)[:, :, None]

    return texels


def _yuv_pairs(order: str) -> _Texels:
    """Two pixels that share U and V; ``order`` names the bytes, y is the first's luminance."""

    def texels(blocks: Bytes) -> Bytes:
        u, v = (blocks[..., order.index(name)].astype(np.int32) - 128 for name in "uv")
        pair = [_rgb(blocks[..., order.index(name)].astype(np.int32) - 16, u, v) for name in "yY"]
        return np.stack(pair, axis=2)[:, :, None]

    return texels


def _rgb(y: I32, u: I32, v: I32) -> Bytes:
    lanes = [np.clip(a * y + b * u + c * v + 128 >> 8, 0, 255) for a, b, c in YUV_TO_RGB]
    return np.stack([*lanes, np.full_like(y, 255)], axis=-1).astype(np.uint8)


PAIRS = {
    Format.R8G8_B8G8: "grGb",
    Format.G8R8_G8B8: "rgbG",
    Format.UYVY: "uyvY",
    Format.YUY2: "yuYv",
}
"""Bytes of a pair in order; capitals belong to the second pixel, components common to both are
r, b, u and v."""

_TEXELS: dict[Format, _Texels] = {
    Format.A1: _one_bit,
    Format.DXT1: _dxt1,
    Format.DXT2: _dxt3,
    Format.DXT3: _dxt3,
    Format.DXT4: _dxt5,
    Format.DXT5: _dxt5,
    Format.ATI1N: _ati1,
    Format.ATI2N: _ati2,
    Format.R8G8_B8G8: _rgb_pairs(PAIRS[Format.R8G8_B8G8]),
    Format.G8R8_G8B8: _rgb_pairs(PAIRS[Format.G8R8_G8B8]),
    Format.UYVY: _yuv_pairs(PAIRS[Format.UYVY]),
    Format.YUY2: _yuv_pairs(PAIRS[Format.YUY2]),
}
