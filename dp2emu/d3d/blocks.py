"""Tables of formats whose pixels share bytes: DXT1 to DXT5, and pairs with common components.

Source: "Compressed Texture Resources" of the Direct3D 9 documentation; D3DFORMAT documentation
for the pairs; "Recommended 8-Bit YUV Formats for Video Rendering" for the YUV arithmetic.
``shader.texture.texels`` reads texels by them, ``d3d.compress`` makes blocks.
"""

from __future__ import annotations

from dp2emu.d3d.enums import Format

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

YUV_TO_RGB = ((298, 0, 409), (298, -100, -208), (298, 516, 0))
"""Red, green and blue: (y (Y - 16) + u (U - 128) + v (V - 128) + 128) >> 8, clamped to a byte.

BT.601 with Y in 16..235 and U and V in 16..240.
"""


PAIRS = {
    Format.R8G8_B8G8: "grGb",
    Format.G8R8_G8B8: "rgbG",
    Format.UYVY: "uyvY",
    Format.YUY2: "yuYv",
}
"""Bytes of a pair in order; capitals belong to the second pixel, components common to both are
r, b, u and v."""
