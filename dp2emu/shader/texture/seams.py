"""Seamless cube filtering of Direct3D 10: linear filters across the edges of faces.

A texel beyond an edge is read from the neighbouring face.  A texel beyond a corner does not exist;
the mean of the filter's other three texels replaces it.  The table of neighbours is derived from
the orientation of the faces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import product
from typing import NamedTuple

from dp2emu.shader.texture.address import FRACTION_BITS, ONE
from dp2emu.shader.texture.bindings import CUBE_FACES
from dp2emu.shader.texture.fields import Decode, TexelSource
from dp2emu.shader.texture.filters import Texel, between
from dp2emu.shader.texture.reading import Level, compared, texel_address
from dp2emu.shader.texture.texels import texel
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

LEFT, RIGHT, TOP, BOTTOM = EDGES = range(4)
FIRST, LAST, ALONG, BACK = range(4)
"""How to number a texel on the neighbouring face along an axis: 0, size - 1, its number along the
shared edge, or that number counted from the edge's other end."""


class Neighbour(NamedTuple):
    """The cube face beyond an edge of a face, and how texels beyond it are numbered there."""

    face: int
    across: int
    down: int


_DIRECTIONS: tuple[Callable[[Fraction, Fraction], tuple[Fraction, ...]], ...] = (
    lambda s, t: (Fraction(1), -t, -s),
    lambda s, t: (Fraction(-1), -t, s),
    lambda s, t: (s, Fraction(1), t),
    lambda s, t: (s, Fraction(-1), -t),
    lambda s, t: (s, -t, Fraction(1)),
    lambda s, t: (-s, -t, Fraction(-1)),
)
"""For each cube face, by number, a function that returns the direction of the point s, t of the
face; both are -1 to 1."""
_SIDE, _AT = 4, 1
"""Numbers that the table of neighbours is derived with: size of a face in texels, and a texel's
number along its edge, which is another when counted from the other end."""


def _neighbour(face: int, edge: int) -> Neighbour:
    across, down = {
        LEFT: (-1, _AT), RIGHT: (_SIDE, _AT), TOP: (_AT, -1), BOTTOM: (_AT, _SIDE),
    }[edge]  # fmt: skip
    s, t = (Fraction(2 * n + 1, _SIDE) - 1 for n in (across, down))
    wanted = _DIRECTIONS[face](s, t)
    most = max(map(abs, wanted))
    for other, i, j in product(range(CUBE_FACES), range(_SIDE), range(_SIDE)):
        s, t = (Fraction(2 * n + 1, _SIDE) - 1 for n in (i, j))
        found = _DIRECTIONS[other](s, t)
        near = (abs(a / most - b) for a, b in zip(wanted, found, strict=True))
        if other != face and all(each < Fraction(1, _SIDE) for each in near):
            return Neighbour(other, _number(i), _number(j))
    raise AssertionError(f"nothing beyond edge {edge} of face {face}")


def _number(n: int) -> int:
    return {0: FIRST, _SIDE - 1: LAST, _AT: ALONG, _SIDE - 1 - _AT: BACK}[n]


@lru_cache(maxsize=1)
def neighbours() -> tuple[Neighbour, ...]:
    """Return the neighbour across each edge, four per face.  Computed on first use."""
    return tuple(_neighbour(face, edge) for face, edge in product(range(CUBE_FACES), EDGES))


_BITS, _PER_WORD = 4, 8


def _packed(numbers: list[int]) -> list[int]:
    words = [numbers[at : at + _PER_WORD] for at in range(0, len(numbers), _PER_WORD)]
    return [sum(n << _BITS * place for place, n in enumerate(word)) for word in words]


@lru_cache(maxsize=1)
def _faces() -> list[int]:
    return _packed([seam.face for seam in neighbours()])


@lru_cache(maxsize=1)
def _codes() -> list[int]:
    return _packed([seam.across | seam.down << 2 for seam in neighbours()])


class Tap(NamedTuple):
    """One of the four texels of a linear filter, and whether it is beyond a corner of the face."""

    texel: Texel
    corner: Value


class CubeTaps(NamedTuple):
    """The four texels around a coordinate on a face, row by row, and fractions across and down."""

    taps: tuple[Tap, ...]
    right: Value
    bottom: Value


def around(
    source: TexelSource,
    coordinates: Sequence[Value],
    face: Value,
    level_on: Callable[[Value], Level],
    decode: Decode = texel,
) -> CubeTaps:
    """Read the texels around a coordinate on a face; ``level_on`` returns the mip level of a
    face.
    """
    side = level_on(face).sides[0]
    (left, right), (top, bottom) = (_axis(at, side) for at in coordinates)
    read = partial(_tap, source, decode, face, side, level_on)
    taps = (read((left + i, top + j)) for j, i in product((0, 1), (0, 1)))
    return CubeTaps(tuple(taps), right, bottom)


def linear(
    source: TexelSource,
    coordinates: Sequence[Value],
    face: Value,
    level_on: Callable[[Value], Level],
) -> Texel:
    """Read a cube map linearly at coordinates on ``face``, across the edges of the face."""
    taps, right, bottom = around(source, coordinates, face, level_on)
    upper, lower = (
        between(_corner_filled(taps, n), _corner_filled(taps, n + 1), right)
        for n in range(0, len(taps), 2)
    )
    return between(upper, lower, bottom)


def _axis(coordinate: Value, side: Value) -> tuple[Value, Value]:
    """Return the number of the first of two texels around a coordinate, from -1 to size - 1, and
    the fraction to the second.
    """
    b = coordinate.builder
    shift = 0.5 - ONE // 2
    position = b.ftoi(b.floor(coordinate * (b.itof(side) * float(ONE)) + shift))
    first = position >> FRACTION_BITS
    # Anisotropic probes may leave the face: stay within one texel of it.
    first = b.select(first < -1, -1, b.select(first < side, first, side - 1))
    return first, b.itof(position & (ONE - 1)) * (1.0 / ONE)


def _tap(
    source: TexelSource,
    decode: Decode,
    face: Value,
    side: Value,
    level_on: Callable[[Value], Level],
    at: tuple[Value, Value],
) -> Tap:
    b, (i, j), last = source.b, at, side - 1
    in_x, in_y = (b.apply("ult", n, side) for n in at)
    # Beyond a corner any edge will do: _corner_filled replaces that texel.
    rows = b.select(j < 0, b.constant(Type.I32, TOP), BOTTOM)
    edge = b.select(in_x, rows, b.select(i < 0, b.constant(Type.I32, LEFT), RIGHT))
    along = b.select(in_x, i, j)
    along = b.select(along < 0, 0, b.select(along < side, along, last))
    seam, inside = (face << 2) + edge, in_x & in_y
    code = _entry(_codes(), seam)
    here = (
        b.select(inside, i, _neighbour_number(code & 3, last, along)),
        b.select(inside, j, _neighbour_number(code >> 2, last, along)),
    )
    level = level_on(b.select(inside, face, _entry(_faces(), seam)))
    found = decode(source, texel_address(source, level, here), *here)
    return Tap(compared(source, found), ~(in_x | in_y))


def _entry(words: list[int], seam: Value) -> Value:
    """Extract the 4-bit number of cube edge ``seam`` from ``words``, which has one per edge."""
    b = seam.builder
    word = reduce(
        lambda chosen, n: b.select(seam < _PER_WORD * n, words[n - 1], chosen),
        range(len(words) - 1, 0, -1),
        b.constant(Type.I32, words[-1]),
    )
    return b.apply("ushr", word, (seam & (_PER_WORD - 1)) << 2) & ((1 << _BITS) - 1)


def _neighbour_number(code: Value, last: Value, along: Value) -> Value:
    b = code.builder
    ends = b.select(code.eq(FIRST), b.constant(Type.I32, 0), last)
    return b.select(code < ALONG, ends, b.select(code.eq(ALONG), along, last - along))


def _corner_filled(taps: Sequence[Tap], number: int) -> Texel:
    """Return texel ``number`` of four; if it is beyond a corner, the mean of the other three."""
    others = [tap.texel for place, tap in enumerate(taps) if place != number]
    own, corner = taps[number]
    red, green, blue, alpha = (
        corner.builder.select(corner, (a + b + c) / 3.0, each) if isinstance(a, Value) else each
        for each, a, b, c in zip(own, *others, strict=True)
    )
    return red, green, blue, alpha
