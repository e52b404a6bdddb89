"""Texture addressing along one axis: from a coordinate to texel numbers and a fraction.

A coordinate times the size of the level, one float32 product, is rounded to 1/256 texel.  A filter
of more than one texel subtracts half a texel, a convolution half its width.  From there on
arithmetic is in integers: the integer part is the texel number, the fraction weighs the filter.
WRAP and MIRROR first reduce the coordinate to its period, so that large coordinates keep their
precision; infinity and NaN read as 0.  The address mode then folds texel numbers beyond the level
back into it, so that filters at an edge read the correct neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from dp2emu.d3d.enums import TextureAddress
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

FRACTION_BITS = 8
ONE = 1 << FRACTION_BITS
SIDE_BITS = (1 << 21) - 1
"""Mask that is applied to sizes of mip levels, to show the compiler that they are below 2**21."""


class Reach(NamedTuple):
    """Maximum number of texels by which a filter's texel numbers lie before and after a level.

    For MIRROR, before and after a period of two levels.
    """

    before: int
    after: int


Fold = Callable[[Value, Value, Reach], Value]
"""Function that maps a texel number beyond a level to one in it; parameters: number, size of the
level in texels, and how far beyond its ends the number can be."""


class Mode(NamedTuple):
    """An address mode's functions: ``reduce`` for coordinates, ``fold`` for texel numbers."""

    reduce: Callable[[Value], Value]
    fold: Fold


class Taps(msgspec.Struct, frozen=True):
    """The texels of a filter along one axis.

    ``numbers`` are texel numbers, ``inside`` says which are within the level (``None``: all are),
    and ``fraction`` is the I32 position between the first two, 0 to 255.
    """

    numbers: tuple[Value, ...]
    inside: tuple[Value | None, ...]
    fraction: Value


def taps(
    mode: TextureAddress,
    coordinate: Value,
    side: Value,
    places: Sequence[int],
    back: int,
    moves: Value | None = None,
) -> Taps:
    """Return the texels of a filter around a coordinate, along one axis.

    ``places`` are their distances from the texel that contains the point ``back`` half texels
    before the coordinate; ``side`` is the I32 size of the level.  Where ``moves`` is true, a
    coordinate exactly on an edge between two texels selects the one before, except at the
    texture's own edge.
    """
    b, row, centred = coordinate.builder, MODES[mode], len(places) > 1
    # In 1/256 texel: 0.5 makes floor round half up, the rest moves to the first texel.
    shift = 0.5 - ONE // 2 * back
    texels = b.itof(side & SIDE_BITS) * float(ONE)
    position = b.ftoi(b.floor(row.reduce(coordinate) * texels + shift))
    if moves is not None:
        position = position - b.select(moves & (position > 0), b.constant(Type.I32, 1), 0)
    first = position >> FRACTION_BITS
    near = [first if place == 0 else first + place for place in places]
    reach = [Reach(max(1 - p, 0), max(p, 0)) if centred else Reach(0, 1) for p in places]
    bordered = mode is TextureAddress.BORDER
    return Taps(
        tuple(row.fold(i, side, far) for i, far in zip(near, reach, strict=True)),
        tuple(b.apply("ult", i, side) if bordered else None for i in near),
        position & (ONE - 1),
    )


def _as_it_is(coordinate: Value) -> Value:
    return coordinate


def _one_period(coordinate: Value) -> Value:
    return coordinate.builder.fract(coordinate)


def _two_periods(coordinate: Value) -> Value:
    return coordinate.builder.fract(coordinate * 0.5) * 2.0


def _either_side(coordinate: Value) -> Value:
    return coordinate.builder.abs(coordinate)


def _unfolded(i: Value, side: Value, reach: Reach) -> Value:
    return i


def _repeated(i: Value, side: Value, reach: Reach) -> Value:
    """Wrap a texel number: add or subtract the size of the level once per texel of ``reach``.

    Once is not enough, since a level may have a single texel.
    """
    b = i.builder
    for _ in range(reach.before):
        i = b.select(i < 0, i + side, i)
    for _ in range(reach.after):
        i = b.select(i >= side, i - side, i)
    return i


def _reflected(i: Value, side: Value, reach: Reach) -> Value:
    """Mirror a texel number at a level's ends: -1 becomes 0, and ``side`` becomes side - 1."""
    b = i.builder
    i = _turned(i)
    i = _turned(b.select(i >= side, side + side - 1 - i, i))
    return _held(i, side, reach)


def _turned(i: Value) -> Value:
    """Map a negative number n to -1 - n, so that -1 becomes 0."""
    return i ^ (i >> 31)


def _held(i: Value, side: Value, reach: Reach) -> Value:
    """Clamp a texel number to the last texel of a level."""
    return i.builder.select(i >= side, side - 1, i)


def _clamped(i: Value, side: Value, reach: Reach) -> Value:
    return _held(i.builder.select(i < 0, 0, i), side, reach)


def _turned_and_held(i: Value, side: Value, reach: Reach) -> Value:
    return _held(_turned(i), side, reach)


MODES: dict[TextureAddress, Mode] = {
    TextureAddress.WRAP: Mode(_one_period, _repeated),
    TextureAddress.MIRROR: Mode(_two_periods, _reflected),
    TextureAddress.CLAMP: Mode(_as_it_is, _clamped),
    TextureAddress.BORDER: Mode(_as_it_is, _unfolded),
    TextureAddress.MIRRORONCE: Mode(_either_side, _turned_and_held),
}
"""D3DTEXTUREADDRESS -> functions that map coordinates and texel numbers into a mip level.
MIRRORONCE mirrors around 0 and clamps."""
