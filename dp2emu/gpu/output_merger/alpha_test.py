"""Formulas of the tests that a fragment's alpha decides."""

from __future__ import annotations

from dp2emu.d3d.enums import CmpFunc
from dp2emu.shader.builder import Builder
from dp2emu.shader.comparisons import compare
from dp2emu.shader.values import Value

LARGEST = 65535


REFERENCE_STEP = LARGEST // 255


def alpha_passes(b: Builder, func: CmpFunc, alpha: Value, reference: Value) -> tuple[Value]:
    """Formula: the alpha test, floor(alpha * 65535 + 0.5), clamped, against 257 times a byte.

    The documents say that the reference value has 8 bits, and nothing of alpha's.  With 16 bits an
    alpha of n / 255 equals the reference n in spite of interpolation's rounding, and one between
    two references is between them.  The format of the target does not matter.
    """
    return (compare(func, b.apply("ftoun", alpha, float(LARGEST)), reference),)
