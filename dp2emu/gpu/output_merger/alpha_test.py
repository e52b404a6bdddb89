"""Alpha test and alpha to coverage, as code for both engines."""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.d3d.enums import CmpFunc
from dp2emu.gpu.arrays import F32, I64, Mask
from dp2emu.shader.builder import Builder
from dp2emu.shader.comparisons import compare
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value

LARGEST = 65535
REFERENCE_STEP = LARGEST // 255


class AlphaTest(NamedTuple):
    """An alpha test: its comparison, and whether alpha is ``unclamped``."""

    func: CmpFunc
    unclamped: bool = False


def alpha_passes(b: Builder, test: AlphaTest, alpha: Value, reference: Value) -> tuple[Value]:
    """Emit the alpha test, which compares floor(alpha * 65535 + 0.5) with ``reference``.

    ``reference`` is 257 times a byte.  Alpha is clamped to 0..1 unless the test is of unclamped
    alpha, which a NaN passes for NOTEQUAL only.  Direct3D documents 8 bits for the reference and
    no precision of alpha.  With 16 bits an alpha of n / 255 equals reference n in spite of
    rounding in interpolation, and an alpha between two references is above one and below the
    other.
    """
    if test.unclamped:
        scaled = b.apply("ftod", alpha) * float(LARGEST) + 0.5
        return (compare(test.func, b.apply("dfloor", scaled), b.apply("itod", reference)),)
    return (compare(test.func, b.apply("ftoun", alpha, float(LARGEST)), reference),)


def alpha_covers(alpha: F32, sample: I64, samples: int) -> Mask:
    """Mask of the fragments that alpha to coverage keeps; ``sample`` are their sample numbers."""
    (kept,) = computed(samples_covered, samples, alpha)
    covered: Mask = sample < kept
    return covered


def samples_covered(b: Builder, samples: int, alpha: Value) -> tuple[Value]:
    """Emit code for the number of samples, from sample 0 on, that alpha to coverage keeps.

    floor(alpha * samples + 0.5), in float64; alpha is clamped to 0..1, NaN is 0.  The pattern,
    which the documentation leaves open, does not depend on the pixel.
    """
    return (b.apply("ftoun", alpha, float(samples)),)
