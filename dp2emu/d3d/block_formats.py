"""Tables of formats whose pixels share bytes: DXT1 to DXT5, and pairs with common components.

Source: "Compressed Texture Resources" of the Direct3D 9 documentation; D3DFORMAT documentation
for the pairs; "Recommended 8-Bit YUV Formats for Video Rendering" for the YUV arithmetic.
``shader.texture.block_decoder`` decodes texels with them; ``compress`` encodes DXT blocks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import AnyFormat

Weights = tuple[tuple[int, int], ...]
"""Code of a texel in a DXT block -> weights (first, second) of the block's two endpoints.

The texel is the weighted sum of the endpoints, divided by the sum of the weights, rounding down.
"""

FOUR_COLORS: Weights = ((3, 0), (0, 3), (2, 1), (1, 2))
"""2-bit code -> weights of a block's two endpoints for colours in DXT2 to DXT5, and in DXT1 if the
first endpoint is the greater."""

THREE_COLORS: Weights = ((2, 0), (0, 2), (1, 1))
"""2-bit code -> weights of a block's two endpoints for colours in DXT1, if the first endpoint is
not the greater; code 3 is transparent black."""

EIGHT_ALPHAS: Weights = ((7, 0), (0, 7), (6, 1), (5, 2), (4, 3), (3, 4), (2, 5), (1, 6))
"""3-bit code -> weights of a block's two endpoints for alpha in DXT4 and DXT5, if the first
endpoint is the greater."""

SIX_ALPHAS: Weights = ((5, 0), (0, 5), (4, 1), (3, 2), (2, 3), (1, 4))
"""3-bit code -> weights of a block's two endpoints for alpha in DXT4 and DXT5, if the first
endpoint is not the greater; code 6 is alpha 0, code 7 is 255."""

YUV_TO_RGB = ((298, 0, 409), (298, -100, -208), (298, 516, 0))
"""Integer coefficients (y, u, v) that convert YUV to red, to green and to blue.

A colour is (y (Y - 16) + u (U - 128) + v (V - 128) + 128) >> 8, clamped to a byte: BT.601 with Y
in 16..235 and U and V in 16..240."""


PAIRS = {
    Format.R8G8_B8G8: "grGb",
    Format.G8R8_G8B8: "rgbG",
    Format.UYVY: "uyvY",
    Format.YUY2: "yuYv",
}
"""Format of two pixels in four bytes -> a letter for the component in each byte: capitals belong
to the second pixel, lower-case r, b, u and v to both, lower-case g and y to the first."""


# Encoder.  Direct3D defines the decoding only: the endpoints of a block are its extreme colours
# along the channel of the greatest range, and every texel takes the nearest palette entry, the
# first of equals.  All arithmetic is integer, so that all machines make the same blocks.

Bytes = NDArray[np.uint8]
I32 = NDArray[np.int32]

_SIDE = 4
_HALF_ALPHA = 128
"""Texels with alpha below this are transparent in DXT1, which has one bit of alpha."""


def compress(format: AnyFormat, colors: Bytes) -> Bytes:
    """The DXT blocks, uint8 (rows, columns, bytes), of RGBA colours, uint8 (height, width, 4).

    Sides are padded to multiples of 4 by repeating the last row and column.  Raises KeyError for
    formats not in ``COMPRESSED``.
    """
    height, width = colors.shape[:2]
    padding = ((0, -height % _SIDE), (0, -width % _SIDE), (0, 0))
    whole = np.pad(colors, padding, mode="edge").astype(np.int32)
    rows, columns = whole.shape[0] // _SIDE, whole.shape[1] // _SIDE
    apart = whole.reshape(rows, _SIDE, columns, _SIDE, 4).swapaxes(1, 2)
    texels = apart.reshape(rows * columns, _SIDE * _SIDE, 4)
    return COMPRESSED[format](texels).reshape(rows, columns, -1)


def _dxt1(texels: I32) -> Bytes:
    """DXT1 blocks: four colours for opaque texels, otherwise three and transparent black."""
    clear = texels[..., 3] < _HALF_ALPHA
    high, low = _ends(texels[..., :3])
    first, second = _packed(high), _packed(low)
    opaque = ~clear.any(axis=1)
    first, second = np.maximum(first, second), np.minimum(first, second)
    ends = np.where(opaque, first, second), np.where(opaque, second, first)
    four = _nearest(texels, *ends, FOUR_COLORS)
    three = np.where(clear, 3, _nearest(texels, *ends, THREE_COLORS))
    # Equal endpoints are read as three colours, of which the first is the right one.
    codes = np.where((opaque & (first != second))[:, None], four, three)
    return _color_block(*ends, codes)


def _dxt3(texels: I32) -> Bytes:
    alphas = (texels[..., 3] * 15 + 127) // 255
    packed = (alphas[:, 0::2] | alphas[:, 1::2] << 4).astype(np.uint8)
    return np.concatenate([packed, _opaque_block(texels)], axis=1)


def _dxt5(texels: I32) -> Bytes:
    alphas = texels[..., 3]
    high, low = alphas.max(axis=1), alphas.min(axis=1)
    mixed = np.stack([(a * high + b * low) // (a + b) for a, b in EIGHT_ALPHAS], axis=1)
    distance = np.abs(alphas[:, :, None] - mixed[:, None])
    # Equal endpoints are read as six alphas; code 0 is the first endpoint in either reading.
    codes = distance.argmin(axis=2)
    ends = np.stack([high, low], axis=1).astype(np.uint8)
    return np.concatenate([ends, _bits(codes, 3), _opaque_block(texels)], axis=1)


def _opaque_block(texels: I32) -> Bytes:
    """The colour half (8 bytes) of DXT2 to DXT5 blocks, which always has four colours."""
    high, low = _ends(texels[..., :3])
    first, second = _packed(high), _packed(low)
    return _color_block(first, second, _nearest(texels, first, second, FOUR_COLORS))


def _ends(colors: I32) -> tuple[I32, I32]:
    """The endpoints of n blocks, (n, 3) each: the texels with the most and the least of the
    channel whose range is greatest.
    """
    ranges = colors.max(axis=1) - colors.min(axis=1)
    along = np.take_along_axis(colors, ranges.argmax(axis=1)[:, None, None], axis=2)[..., 0]
    each = np.arange(len(colors))
    return colors[each, along.argmax(axis=1)], colors[each, along.argmin(axis=1)]


def _packed(colors: I32) -> I32:
    """Colours as R5G6B5 words, rounding half up."""
    red, green, blue = (
        (colors[:, lane] * most * 2 + 255) // 510 for lane, most in enumerate((31, 63, 31))
    )
    words: I32 = red << 11 | green << 5 | blue
    return words


def _widened(words: I32) -> I32:
    """R5G6B5 words as 8-bit colours (n, 3), by repeating the high bits."""
    red, green, blue = words >> 11, words >> 5 & 63, words & 31
    return np.stack(
        [red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], axis=1
    ).astype(np.int32)


def _nearest(texels: I32, first: I32, second: I32, weights: Weights) -> NDArray[np.intp]:
    one, two = _widened(first), _widened(second)
    palette = np.stack([(a * one + b * two) // (a + b) for a, b in weights], axis=1)
    apart = texels[:, :, None, :3] - palette[:, None]
    codes: NDArray[np.intp] = (apart * apart).sum(axis=3).argmin(axis=2)
    return codes


def _color_block(first: I32, second: I32, codes: NDArray[np.intp]) -> Bytes:
    ends = np.stack([first & 255, first >> 8, second & 255, second >> 8], axis=1)
    return np.concatenate([ends.astype(np.uint8), _bits(codes, 2)], axis=1)


def _bits(codes: NDArray[np.intp], width: int) -> Bytes:
    """Codes of ``width`` bits packed into bytes, the first in the lowest bits."""
    ones = codes[:, :, None] >> np.arange(width) & 1
    return np.packbits(ones.reshape(len(codes), -1).astype(np.uint8), axis=1, bitorder="little")


COMPRESSED: dict[AnyFormat, Callable[[I32], Bytes]] = {
    Format.DXT1: _dxt1,
    Format.DXT2: _dxt3,
    Format.DXT3: _dxt3,
    Format.DXT4: _dxt5,
    Format.DXT5: _dxt5,
}
"""Format -> function that encodes the texels of n blocks (n, 16, 4) as bytes (n, bytes)."""
