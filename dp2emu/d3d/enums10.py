"""Enumerations of Direct3D 10 and 11 that have more than those of Direct3D 9 (d3d10.h)."""

from __future__ import annotations

from dp2emu.d3d.sdk import SdkEnum


class Blend10(SdkEnum, prefix="D3D10_BLEND_"):
    """Blend factors: those of Direct3D 9 by the same numbers, and factors of the second colour."""

    ZERO = 1
    ONE = 2
    SRC_COLOR = 3
    INV_SRC_COLOR = 4
    SRC_ALPHA = 5
    INV_SRC_ALPHA = 6
    DEST_ALPHA = 7
    INV_DEST_ALPHA = 8
    DEST_COLOR = 9
    INV_DEST_COLOR = 10
    SRC_ALPHA_SAT = 11
    BLEND_FACTOR = 14
    INV_BLEND_FACTOR = 15
    SRC1_COLOR = 16
    INV_SRC1_COLOR = 17
    SRC1_ALPHA = 18
    INV_SRC1_ALPHA = 19
