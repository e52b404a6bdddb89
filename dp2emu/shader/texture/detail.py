"""The level of detail: which mip level a pixel reads, and by which filter.

The gradient of the coordinates, in texels of the top level, gives two vectors: how far a step to
the right and a step down go.  The level is the logarithm to base 2 of the longer one, plus bias,
rounded to 1/256 of a level.  At or below 0 a texture is magnified.  The most and the least
detailed level then clamp it; the nearest level is the one reached by rounding half up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from dp2emu.records import dataclass
from dp2emu.shader.functions import log2
from dp2emu.shader.texture.address import FRACTION_BITS, ONE
from dp2emu.shader.values import Value

Gradient = tuple[tuple[Value, ...], tuple[Value, ...]]
"""Change of each coordinate for a step to the right, and for a step down."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a pixel covers: squared lengths of the two vectors in texels, and the vectors in
    coordinates.
    """

    right: Value
    down: Value
    gradient: Gradient

    @property
    def wide(self) -> Value:
        """Whether the vector to the right is the longer one, or as long."""
        return self.right >= self.down

    @property
    def longest(self) -> Value:
        """The larger squared length."""
        return self.right.builder.max(self.right, self.down)


def footprint(gradient: Gradient, sides: Sequence[Value]) -> Footprint:
    """``sides`` are those of the top level, F32."""
    right, down = (_squared_length(vector, sides) for vector in gradient)
    return Footprint(right, down, gradient)


def _squared_length(vector: Sequence[Value], sides: Sequence[Value]) -> Value:
    texels = [change * side for change, side in zip(vector, sides, strict=True)]
    return reduce(lambda total, each: total + each, [each * each for each in texels])


def level_from(squared_length: Value) -> Value:
    """log2 of a length that is given squared, F32."""
    return log2(squared_length) * 0.5


def in_steps(level: Value) -> Value:
    """A level in 1/256, I32: rounded to nearest, half up; 0 if it is no number."""
    b = level.builder
    return b.ftoi(b.floor(level * float(ONE) + 0.5))


def clamped(steps: Value, first: Value, last: Value) -> Value:
    """A level in 1/256 between two whole levels."""
    b = steps.builder
    low, high = first << FRACTION_BITS, last << FRACTION_BITS
    steps = b.select(steps < low, low, steps)
    return b.select(steps < high, steps, high)


def nearest(steps: Value) -> Value:
    """The whole level nearest to one in 1/256."""
    return (steps + ONE // 2) >> FRACTION_BITS


def probes(covered: Footprint, most: int) -> Value:
    """How many probes an anisotropic filter takes, I32: how much longer the longer vector is,
    rounded to 1/256 and then up, but ``most`` at most; 1 if nothing changes at all.
    """
    b = covered.right.builder
    shorter = b.min(covered.right, covered.down)
    ratio = b.sqrt(covered.longest / shorter)
    ratio = b.select(ratio >= 1.0, ratio, 1.0)
    return (in_steps(b.min(ratio, float(most))) + (ONE - 1)) >> FRACTION_BITS
