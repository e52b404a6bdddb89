"""Level of detail: which mip levels a pixel reads, by which filter.

The derivatives of the coordinates, in texels of the top level, are two vectors: the steps to the
right and down.  The level is the base-2 logarithm of the longer one plus bias, rounded to 1/256.
At or below 0 the texture is magnified.  The level is then clamped to the most and least detailed
one; the nearest level is found by rounding half up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import msgspec

from dp2emu.shader.functions import log2
from dp2emu.shader.texture.address import FRACTION_BITS, ONE
from dp2emu.shader.values import Value

Gradient = tuple[tuple[Value, ...], tuple[Value, ...]]
"""Derivatives of the coordinates: change of each per pixel to the right, and per pixel down."""


class Footprint(msgspec.Struct, frozen=True):
    """Footprint of a pixel in the texture: the vectors to its right and to its lower neighbour.

    ``right`` and ``down`` are the squared lengths of the vectors in texels; ``gradient`` has the
    vectors in coordinates.
    """

    right: Value
    down: Value
    gradient: Gradient

    @property
    def wide(self) -> Value:
        """Whether the vector to the right pixel is at least as long as that to the lower."""
        return self.right >= self.down

    @property
    def longest(self) -> Value:
        """Squared length of the longer vector, in texels."""
        return self.right.builder.max(self.right, self.down)


def footprint(gradient: Gradient, sides: Sequence[Value]) -> Footprint:
    """Return the footprint of a gradient; ``sides`` are the F32 sizes of the top level."""
    right, down = (_squared_length(vector, sides) for vector in gradient)
    return Footprint(right, down, gradient)


def _squared_length(vector: Sequence[Value], sides: Sequence[Value]) -> Value:
    texels = [change * side for change, side in zip(vector, sides, strict=True)]
    return reduce(lambda total, each: total + each, [each * each for each in texels])


def level_from(squared_length: Value) -> Value:
    """Level of detail for a length in texels, given its square: log2 of the length."""
    return log2(squared_length) * 0.5


def in_steps(level: Value) -> Value:
    """Convert a level of detail to an I32 in units of 1/256, rounded half up; 0 for a NaN."""
    b = level.builder
    return b.ftoi(b.floor(level * float(ONE) + 0.5))


def clamped(steps: Value, first: Value, last: Value) -> Value:
    """Clamp a level in 1/256 between two whole levels."""
    b = steps.builder
    low, high = first << FRACTION_BITS, last << FRACTION_BITS
    steps = b.select(steps < low, low, steps)
    return b.select(steps < high, steps, high)


def nearest(steps: Value) -> Value:
    """Round a level in 1/256 to a whole level, half up."""
    return (steps + ONE // 2) >> FRACTION_BITS


def probes(covered: Footprint, most: int) -> Value:
    """Number of probes of an anisotropic filter, I32.

    The ratio of the longer to the shorter vector, rounded to 1/256 and then up, at most ``most``;
    1 if both are 0.
    """
    b = covered.right.builder
    shorter = b.min(covered.right, covered.down)
    ratio = b.sqrt(covered.longest / shorter)
    ratio = b.select(ratio >= 1.0, ratio, 1.0)
    return (in_steps(b.min(ratio, float(most))) + (ONE - 1)) >> FRACTION_BITS
