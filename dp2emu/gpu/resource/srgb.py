"""sRGB codes outside of draws: colours of formats that have them are in linear light in between.

Only Direct3D 10 has such formats; of all others colours stay what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

import numpy as np

from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.arrays import F32, F64
from dp2emu.shader.ops import saturate
from dp2emu.shader.texture.bindings import linear_light, linear_value

_COLORS = 3
"""Red, green and blue; an alpha is a fraction."""


def decoded(row: FormatRow, lanes: Sequence[F32]) -> tuple[F32, ...]:
    """Red, green, blue and alpha of pixels in linear light."""
    if not row.srgb:
        return tuple(lanes)
    colors = [linear_light()[np.rint(lane * np.float32(255)).astype(np.int64)]
              for lane in lanes[:_COLORS]]  # fmt: skip
    return (*colors, *lanes[_COLORS:])


def encoded(row: FormatRow, lanes: Sequence[F32]) -> tuple[F32, ...]:
    """What is to be stored for them: the nearest codes, as fractions of 255."""
    if not row.srgb:
        return tuple(lanes)
    return (*map(_code, lanes[:_COLORS]), *lanes[_COLORS:])


def _code(lane: F32) -> F32:
    code = np.searchsorted(_steps(), saturate(lane).astype(np.float64), side="right")
    return code.astype(np.float32) / np.float32(255)


@lru_cache(maxsize=1)
def _steps() -> F64:
    """The light from which on a code is that of the next number: halfway between two codes."""
    halves = (Decimal(2 * code + 1) / 510 for code in range(255))
    return np.array([float(linear_value(half)) for half in halves], np.float64)
