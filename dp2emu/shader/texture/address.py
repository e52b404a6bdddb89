"""From a coordinate to the numbers of texels along one axis.

A coordinate times the side of the level, one float32 product, is rounded to 1/256 of a texel; a
filter of more than one texel takes half a texel off, a convolution half its size.  From there on
everything is in integers: the whole part is the number of the texel, the rest is the fraction that
filters weigh with.  WRAP and MIRROR reduce the coordinate to its period first, so that large ones
lose nothing; a coordinate that is infinite or no number reads as 0.  Texels beyond the level then
follow from the mode, so that a filter at the edge sees what lies there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dp2emu.d3d.enums import TextureAddress
from dp2emu.records import dataclass
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

FRACTION_BITS = 8
ONE = 1 << FRACTION_BITS
SIDE_BITS = (1 << 21) - 1
"""Bits that the side of a level may have set: coordinates within a few periods are integers of 32
bits then, as who compiles the program can see.
"""


class Reach(NamedTuple):
    """How many texels before and after a period a number can lie."""

    before: int
    after: int


Fold = Callable[[Value, Value, Reach], Value]
"""The texel that stands for a number, given the side."""


class Mode(NamedTuple):
    """``reduce`` acts on the coordinate, ``fold`` on numbers of texels."""

    reduce: Callable[[Value], Value]
    fold: Fold


@dataclass(frozen=True, slots=True)
class Taps:
    """Texels along one axis: their numbers, which of them are inside (``None``: all are), and the
    fraction from the texel before to the one after, I32 of 0 to 255.
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
    """The texels at ``places`` from the one that lies ``back`` half texels before a coordinate;
    ``side`` is I32.  Where ``moves`` is true an edge between two texels, but not that of the
    texture, belongs to the one before.
    """
    b, row, centred = coordinate.builder, MODES[mode], len(places) > 1
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
    """One period off for each texel of reach, which a side of one texel may need."""
    b = i.builder
    for _ in range(reach.before):
        i = b.select(i < 0, i + side, i)
    for _ in range(reach.after):
        i = b.select(i >= side, i - side, i)
    return i


def _reflected(i: Value, side: Value, reach: Reach) -> Value:
    """Number -1 - k is k, and so it is from the end of the second period backwards."""
    b = i.builder
    i = _turned(i)
    i = _turned(b.select(i >= side, side + side - 1 - i, i))
    return _held(i, side, reach)


def _turned(i: Value) -> Value:
    """-1 - i for a negative number: 0 follows -1."""
    return i ^ (i >> 31)


def _held(i: Value, side: Value, reach: Reach) -> Value:
    """The last texel for those beyond it."""
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
"""Direct3D 9 documentation of D3DTEXTUREADDRESS.  MIRRORONCE mirrors around 0 and clamps."""
