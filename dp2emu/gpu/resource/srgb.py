"""sRGB conversion outside draws, for transfers to and from formats of Direct3D 10 with sRGB codes.

Rounds to the nearest code exactly; a draw's output program (``shader.fixed.output``) computes the
curve in float32, so its codes may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

import numpy as np

from dp2emu.d3d.formats import FormatRow
from dp2emu.gpu.arrays import F32, F64
from dp2emu.shader.ops import saturate
from dp2emu.shader.texture.bindings import srgb_to_linear, srgb_to_linear_table

SRGB_BITS = 8
"""Bits of red, green and blue each in the formats that can hold sRGB codes."""
_COLORS = 3
"""Number of leading channels that are sRGB encoded: red, green and blue, but not alpha."""


def decoded(row: FormatRow, lanes: Sequence[F32]) -> tuple[F32, ...]:
    """Return red, green, blue and alpha as linear values: decoded if the format is sRGB."""
    if not row.srgb:
        return tuple(lanes)
    colors = [srgb_to_linear_table()[np.rint(lane * np.float32(255)).astype(np.int64)]
              for lane in lanes[:_COLORS]]  # fmt: skip
    return (*colors, *lanes[_COLORS:])


def takes_codes(row: FormatRow) -> bool:
    """Whether D3DRS_SRGBWRITEENABLE has an effect on targets of a format: whether red, green and
    blue have 8 bits each.
    """
    return all(each and each.bits == SRGB_BITS for each in (row.red, row.green, row.blue))


def encoded(row: FormatRow, lanes: Sequence[F32], *, forced: bool = False) -> tuple[F32, ...]:
    """Return linear values as a format stores them: the nearest codes / 255 if it is sRGB, or
    ``forced``, by D3DRS_SRGBWRITEENABLE, on a format that takes codes.
    """
    if not row.srgb and not (forced and takes_codes(row)):
        return tuple(lanes)
    codes = (np.searchsorted(_steps(), saturate(lane).astype(np.float64), side="right")
             for lane in lanes[:_COLORS])  # fmt: skip
    return (*(code.astype(np.float32) / np.float32(255) for code in codes), *lanes[_COLORS:])


@lru_cache(maxsize=1)
def _steps() -> F64:
    """Return the linear values halfway between successive 8-bit codes, float64 (255,)."""
    halves = (Decimal(2 * code + 1) / 510 for code in range(255))
    return np.array([float(srgb_to_linear(half)) for half in halves], np.float64)
