"""The alpha test, as a formula of both engines."""

from __future__ import annotations

from dp2emu.d3d.enums import CmpFunc
from dp2emu.shader.builder import Builder
from dp2emu.shader.comparisons import compare
from dp2emu.shader.values import Value

LARGEST = 65535
REFERENCE_STEP = LARGEST // 255


def alpha_passes(b: Builder, func: CmpFunc, alpha: Value, reference: Value) -> tuple[Value]:
    """Formula: compare floor(alpha * 65535 + 0.5), clamped, with a reference of 257 times a byte.

    Direct3D documents 8 bits for the reference and no precision of alpha.  With 16 bits an alpha
    of n / 255 equals reference n in spite of rounding in interpolation, and an alpha between two
    references compares so.  The format of the target does not matter.
    """
    return (compare(func, b.apply("ftoun", alpha, float(LARGEST)), reference),)
