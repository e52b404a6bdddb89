"""One row per surface format: how many bytes, which channels, how they are coded.

Source: D3DFORMAT documentation; channel names read from the most significant bit down, so
X8R8G8B8 is blue in the lowest byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dp2emu.d3d.enums import Format


@dataclass(frozen=True, slots=True)
class Channel:
    """A field of a pixel word: ``bits`` bits from bit ``shift``."""

    shift: int
    bits: int

    @property
    def max(self) -> int:
        return (1 << self.bits) - 1


@dataclass(frozen=True, slots=True)
class ColorFormat:
    """Unsigned normalised colour.  ``word`` is the storage dtype; a missing alpha reads as 1."""

    word: np.dtype[np.unsignedinteger]
    red: Channel
    green: Channel
    blue: Channel
    alpha: Channel | None = None


@dataclass(frozen=True, slots=True)
class DepthFormat:
    """Depth, unsigned normalised in ``depth`` or (``depth`` None) the word itself is float32."""

    word: np.dtype[np.generic]
    depth: Channel | None
    stencil: Channel | None = None


_U2, _U4, _F4 = np.dtype("<u2"), np.dtype("<u4"), np.dtype("<f4")
_A, _R, _G, _B = Channel(24, 8), Channel(16, 8), Channel(8, 8), Channel(0, 8)

COLOR: dict[Format, ColorFormat] = {
    Format.A8R8G8B8: ColorFormat(_U4, _R, _G, _B, _A),
    Format.X8R8G8B8: ColorFormat(_U4, _R, _G, _B),
    Format.R5G6B5: ColorFormat(_U2, Channel(11, 5), Channel(5, 6), Channel(0, 5)),
}
"""Formats that can be rendered to."""

DEPTH: dict[Format, DepthFormat] = {
    Format.D16: DepthFormat(_U2, Channel(0, 16)),
    Format.D16_LOCKABLE: DepthFormat(_U2, Channel(0, 16)),
    Format.D24S8: DepthFormat(_U4, Channel(8, 24), Channel(0, 8)),
    Format.D24X8: DepthFormat(_U4, Channel(8, 24)),
    Format.D32F_LOCKABLE: DepthFormat(_F4, None),
}
"""Formats that can be depth-stencil surfaces."""


def pixel_bytes(format: Format) -> int | None:
    """Bytes of one pixel (one sample), or None for a format without such a size here."""
    row = COLOR.get(format) or DEPTH.get(format)
    return row.word.itemsize if row else None
