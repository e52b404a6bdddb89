"""The interval that the documents allow for each pipeline statistic of a list of draws.

Source: Direct3D 10/11 DDI, "Pipeline statistics" and "Topologies", with the table of counts for
four example triangles.  Counts are integers and clipping is done in fractions, so nothing is
rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from math import isfinite, prod
from typing import NamedTuple, Self

import msgspec

from dp2emu.ddi10.queries.statistics import Statistics
from dp2emu.errors import UsageError

VERTICES = 1 << 24
"""Maximum number of vertices of a draw, summed over its instances."""

Position = Sequence[float]
"""Type of a vertex position: its clip space coordinates x, y, z, w."""


class Interval(NamedTuple):
    """Integers from ``low`` to ``high``, both included."""

    low: int
    high: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    def plus(self, other: Interval) -> Interval:
        """The sum of two intervals."""
        return Interval(self.low + other.low, self.high + other.high)


class Ranges(NamedTuple):
    """An interval for each field of ``Statistics``."""

    IAVertices: Interval
    IAPrimitives: Interval
    VSInvocations: Interval
    GSInvocations: Interval
    GSPrimitives: Interval
    CInvocations: Interval
    CPrimitives: Interval
    PSInvocations: Interval
    HSInvocations: Interval
    DSInvocations: Interval
    CSInvocations: Interval

    @classmethod
    def of(cls, **fields: Interval) -> Self:
        """The intervals of ``fields`` by name, and 0 to 0 for every other statistic."""
        return cls(**{name: fields.get(name, Interval(0, 0)) for name in cls._fields})

    def outside(self, found: Statistics) -> list[str]:
        """Names of the fields of ``found`` that are not in their interval."""
        return [
            name
            for name, interval, value in zip(self._fields, self, found, strict=True)
            if value not in interval
        ]


class Depth(Enum):
    """The source of a pixel's depth: interpolated, or written by the pixel shader."""

    INTERPOLATED = "interpolated"
    WRITTEN = "written by the pixel shader"


class Tessellated(msgspec.Struct, frozen=True):
    """The output of the tessellator for one instance of a draw.

    ``points`` counts the domain points of all patches, and ``primitives`` their primitives, which
    have ``corners`` vertices; culled patches have neither.  ``outlines`` has, for each primitive,
    its corners' positions; None if unknown, so that any result of clipping is allowed.
    """

    points: int = 0
    primitives: int = 0
    corners: int = 3
    outlines: Sequence[Sequence[Position]] | None = None


class GeometryOutput(msgspec.Struct, frozen=True):
    """The output of a geometry shader for one instance of a draw.

    ``adjacent``: its input has adjacent vertices.  It runs ``instances`` times per primitive.
    ``primitives`` counts the whole primitives that it puts out to all streams, ``drawn`` those to
    the rasterized stream (None: all), ``broken`` its strips too short for a primitive.
    ``outlines`` has the positions of the ``corners`` corners of each drawn primitive; None if
    unknown, so that any result of clipping is allowed.
    """

    adjacent: bool = False
    instances: int = 1
    primitives: int = 0
    drawn: int | None = None
    broken: int = 0
    outlines: Sequence[Sequence[Position]] | None = None
    corners: int = 3

    @property
    def entering(self) -> int:
        """Number of whole primitives in the rasterized stream, which enter the clipper."""
        return self.primitives if self.drawn is None else self.drawn


class Case(msgspec.Struct, frozen=True):
    """The properties of a draw that its statistics depend on.

    ``topology`` is a D3D10_DDI_PRIMITIVE_TOPOLOGY.  ``vertices`` is the vertex count of a draw
    without indices; ``indices`` are the values read in order, of which ``cut`` ends a strip.
    ``positions`` has positions by vertex number, for all instances; None allows any result of
    clipping.  ``passed`` and ``failed`` count pixels at the depth and stencil tests.  ``depth`` is
    None without a pixel shader.  ``culls``: triangles may be culled by their winding.
    ``streams``: there is stream output without a geometry shader, which may count as a geometry
    shader's.  ``tessellation`` and ``geometry`` are the output of these stages, None without them.
    """

    topology: int
    vertices: int = 0
    indices: Sequence[int] | None = None
    cut: int = 0xFFFFFFFF
    instances: int = 1
    positions: Sequence[Position] | None = None
    rasterized: bool = True
    depth_clip: bool = True
    culls: bool = False
    passed: int = 0
    failed: int = 0
    depth: Depth | None = Depth.INTERPOLATED
    streams: bool = False
    tessellation: Tessellated | None = None
    geometry: GeometryOutput | None = None


class Dispatched(msgspec.Struct, frozen=True):
    """A dispatch: the numbers of groups and of threads per group, by x, y and z."""

    groups: tuple[int, int, int]
    threads: tuple[int, int, int]


def ranges(draws: Iterable[Case | Dispatched]) -> Ranges:
    """The intervals of the statistics, summed over ``draws``.

    Raises UsageError for an unknown topology, a negative number, or too many vertices.
    """
    total = Ranges.of()
    for draw in draws:
        found = _of_dispatch(draw) if isinstance(draw, Dispatched) else _of_draw(draw)
        total = Ranges(*(a.plus(b) for a, b in zip(total, found, strict=True)))
    return total


def _of_dispatch(dispatch: Dispatched) -> Ranges:
    """Statistics of a dispatch: a compute shader invocation for each thread, all others 0."""
    if min(*dispatch.groups, *dispatch.threads) < 0:
        raise UsageError(f"a dispatch of {dispatch.groups} groups of {dispatch.threads} threads")
    threads = prod(dispatch.groups) * prod(dispatch.threads)
    return Ranges.of(CSInvocations=Interval(threads, threads))


class _Shape(msgspec.Struct, frozen=True):
    """Number of vertices that the first primitive of a topology takes, and each further one.

    ``size`` and ``step`` count adjacent vertices too, ``core`` and ``core_step`` do not.
    """

    size: int
    step: int
    core: int
    core_step: int

    def primitives(self, vertices: int) -> int:
        """Number of whole primitives that ``vertices`` vertices of one strip or list form."""
        return (vertices - self.size) // self.step + 1 if vertices >= self.size else 0

    def used(self, vertices: int) -> int:
        """Number of vertices, of ``vertices`` in one strip or list, that whole primitives use."""
        count = self.primitives(vertices)
        return self.size + (count - 1) * self.step if count else 0

    def needed(self, vertices: int) -> int:
        """Number of vertices, except adjacent ones, in whole primitives of a strip or list."""
        count = self.primitives(vertices)
        return self.core + (count - 1) * self.core_step if count else 0

    def corners(self, primitive: int) -> list[int]:
        """Corners of primitive number ``primitive``, as indices in its strip or list."""
        first = primitive * self.step
        if self.size == self.core:
            return list(range(first, first + self.core))
        if self.core == _TRIANGLE:
            return [first, first + 2, first + 4]
        return [first + 1, first + 2]


_TRIANGLE = 3
_PATCH_1, _PATCH_32 = 33, 64

_SHAPES = {
    1: _Shape(1, 1, 1, 1),
    2: _Shape(2, 2, 2, 2),
    3: _Shape(2, 1, 2, 1),
    4: _Shape(3, 3, 3, 3),
    5: _Shape(3, 1, 3, 1),
    10: _Shape(4, 4, 2, 2),
    11: _Shape(4, 1, 2, 1),
    12: _Shape(6, 6, 3, 3),
    13: _Shape(6, 2, 3, 1),
    **{
        topology: _Shape(*[topology - _PATCH_1 + 1] * 4)
        for topology in range(_PATCH_1, _PATCH_32 + 1)
    },
}
"""``_Shape`` by D3D10_DDI_PRIMITIVE_TOPOLOGY: points, lines, triangles, lines and triangles with
adjacency, patches."""

_STRIPS = frozenset({3, 5, 11, 13})
"""D3D10_DDI_PRIMITIVE_TOPOLOGY values of strips, which the cut index ends."""


def _of_draw(draw: Case) -> Ranges:
    shape = _checked(draw)
    runs = list(_runs(draw, shape))
    cuts = _cuts(draw, runs)
    whole = sum(shape.primitives(len(run)) for run in runs)
    partial = sum(len(run) > shape.used(len(run)) for run in runs)
    needed = shape.used if _reads_adjacent(draw) else shape.needed
    vertices = Interval(sum(needed(len(run)) for run in runs), sum(map(len, runs)) + cuts)
    primitives = Interval(whole, whole + partial)
    once = {
        "IAVertices": vertices,
        "IAPrimitives": primitives,
        "VSInvocations": _shaded(draw, shape, runs, vertices),
        **_after_vertices(draw, shape, runs, primitives),
    }
    if not draw.rasterized:
        once |= dict.fromkeys(("CInvocations", "CPrimitives"), Interval(0, 0))
    each = draw.instances
    times = {name: Interval(row.low * each, row.high * each) for name, row in once.items()}
    return Ranges.of(**times, PSInvocations=_pixels(draw))


def _reads_adjacent(draw: Case) -> bool:
    return draw.geometry is not None and draw.geometry.adjacent


def _after_vertices(
    draw: Case, shape: _Shape, runs: Sequence[list[int]], primitives: Interval
) -> dict[str, Interval]:
    """Intervals of all statistics of one instance from hull shader to clipper, by name."""
    divided = _divided(draw, primitives)
    if draw.tessellation is not None:
        primitives = Interval(draw.tessellation.primitives, draw.tessellation.primitives)
    return {**divided, **_after_division(draw, shape, runs, primitives)}


def _divided(draw: Case, patches: Interval) -> dict[str, Interval]:
    """Intervals of HSInvocations and DSInvocations; empty without tessellation.

    The hull shader runs once per patch; the domain shader at least once per domain point, at most
    once per corner of each primitive.
    """
    made = draw.tessellation
    if made is None:
        return {}
    runs = Interval(made.points, max(made.points, made.primitives * made.corners))
    return {"HSInvocations": patches, "DSInvocations": runs}


def _after_division(
    draw: Case, shape: _Shape, runs: Sequence[list[int]], primitives: Interval
) -> dict[str, Interval]:
    """Intervals of GSInvocations, GSPrimitives, CInvocations and CPrimitives of one instance;
    ``primitives`` is how many primitives reach the geometry shader.
    """
    geometry = draw.geometry
    if geometry is None:
        return {
            "GSInvocations": Interval(0, primitives.high if draw.streams else 0),
            "GSPrimitives": Interval(0, primitives.high),
            "CInvocations": _entering(draw, primitives),
            "CPrimitives": _without_geometry(draw, shape, runs, primitives),
        }
    put, broken, entering = geometry.primitives, geometry.broken, geometry.entering
    return {
        "GSInvocations": Interval(primitives.low, primitives.high * geometry.instances),
        "GSPrimitives": Interval(put, put + broken),
        "CInvocations": Interval(entering, entering + broken),
        "CPrimitives": _left_of(draw, geometry),
    }


def _entering(draw: Case, primitives: Interval) -> Interval:
    """The interval of CInvocations: ``primitives``; from 0 for patches without tessellation."""
    open_ = draw.topology >= _PATCH_1 and draw.tessellation is None
    return Interval(0 if open_ else primitives.low, primitives.high)


def _without_geometry(
    draw: Case, shape: _Shape, runs: Sequence[list[int]], primitives: Interval
) -> Interval:
    """The interval of CPrimitives for one instance of a draw without a geometry shader."""
    made = draw.tessellation
    if made is not None:
        return _of_outlines(draw, made.outlines, made.primitives, made.corners)
    if draw.topology >= _PATCH_1:
        return Interval(0, primitives.high)
    return _leaving(draw, shape, runs, primitives.high - primitives.low)


def _left_of(draw: Case, geometry: GeometryOutput) -> Interval:
    """The interval of CPrimitives for one instance of a draw with a geometry shader."""
    whole = _of_outlines(draw, geometry.outlines, geometry.entering, geometry.corners)
    return whole.plus(Interval(0, geometry.broken))


def _of_outlines(
    draw: Case, outlines: Sequence[Sequence[Position]] | None, primitives: int, corners: int
) -> Interval:
    """The interval of CPrimitives for primitives with these corner positions; with ``outlines``
    None, of ``primitives`` primitives with ``corners`` corners.
    """
    if outlines is None:
        return Interval(0, primitives * (_PIECES if corners == _TRIANGLE else 1))
    total = Interval(0, 0)
    for outline in outlines:
        total = total.plus(_clipped_at(draw, outline))
    return total


def _checked(draw: Case) -> _Shape:
    shape = _SHAPES.get(draw.topology)
    if shape is None:
        raise UsageError(f"{draw.topology} is no primitive topology")
    count = draw.vertices if draw.indices is None else len(draw.indices)
    geometry = draw.geometry or GeometryOutput()
    made = draw.tessellation or Tessellated()
    numbers = (geometry.instances, geometry.primitives, geometry.entering, geometry.broken,
               made.points, made.primitives)  # fmt: skip
    if min(count, draw.instances, draw.passed, draw.failed, *numbers) < 0:
        raise UsageError("a draw of a negative number")
    if count * max(draw.instances, 1) > VERTICES:
        raise UsageError(f"more than {VERTICES} vertices")
    return shape


def _runs(draw: Case, shape: _Shape) -> Iterator[list[int]]:
    """The vertex numbers of a draw in order, as one list for each strip between cut indices."""
    if draw.indices is None:
        yield list(range(draw.vertices))
        return
    run: list[int] = []
    for index in draw.indices:
        if index == draw.cut and draw.topology in _STRIPS:
            yield run
            run = []
        else:
            run.append(index)
    yield run


def _cuts(draw: Case, runs: Sequence[list[int]]) -> int:
    """Number of cut indices in a draw; documents leave open whether they count as vertices."""
    return 0 if draw.indices is None else len(draw.indices) - sum(map(len, runs))


def _shaded(draw: Case, shape: _Shape, runs: Sequence[list[int]], vertices: Interval) -> Interval:
    """The interval of VSInvocations: at least one for each distinct vertex, at most one for each
    corner of each primitive.

    Triangle lists without indices have the minimum of a strip, as in the table of the source.
    """
    distinct: set[int] = set()
    uncached = 0
    for run in runs:
        count = shape.primitives(len(run))
        if _reads_adjacent(draw):
            distinct.update(run[: shape.used(len(run))])
        for primitive in range(count):
            distinct.update(run[place] for place in shape.corners(primitive))
        uncached += count * shape.size + len(run) - shape.used(len(run))
    low = len(distinct)
    if draw.indices is None and (shape.size, shape.step) == (_TRIANGLE, _TRIANGLE) and low:
        low = min(low, low // _TRIANGLE + 2)
    return Interval(low, max(uncached + _cuts(draw, runs), vertices.high))


def _pixels(draw: Case) -> Interval:
    if draw.depth is None or not draw.rasterized:
        return Interval(0, 0)
    covered = draw.passed + draw.failed
    return Interval(covered if draw.depth is Depth.WRITTEN else draw.passed, covered)


# Clipping


_PIECES = 7
"""Largest number of triangles that a triangle becomes when clipped at six planes."""


def _leaving(draw: Case, shape: _Shape, runs: Sequence[list[int]], partial: int) -> Interval:
    """The interval of CPrimitives if no geometry shader or tessellator runs, for any guard band.

    ``partial`` is the number of incomplete primitives, which may be counted too.
    """
    total = Interval(0, partial)
    for run in runs:
        for primitive in range(shape.primitives(len(run))):
            corners = [run[place] for place in shape.corners(primitive)]
            total = total.plus(_clipped(draw, corners))
    return total


def _clipped(draw: Case, corners: Sequence[int]) -> Interval:
    if draw.positions is None:
        return Interval(0, _PIECES if len(corners) == _TRIANGLE else 1)
    return _clipped_at(draw, [_position(draw.positions, corner) for corner in corners])


def _clipped_at(draw: Case, positions: Sequence[Position]) -> Interval:
    triangle = len(positions) == _TRIANGLE
    if not all(isfinite(x) for place in positions for x in place):
        return Interval(0, _PIECES if triangle else 1)
    places = [tuple(map(Fraction, place)) for place in positions]
    depth = _DEPTH if draw.depth_clip else _DEPTH[:1]
    ends = [_pieces(places, planes) for planes in (depth, (*depth, *_SIDES))]
    vanishes = triangle and draw.culls
    return Interval(0 if vanishes else min(e.low for e in ends), max(e.high for e in ends))


def _position(positions: Sequence[Position], corner: int) -> Position:
    """The position of vertex ``corner``; zeros out of range, as for reads beyond a buffer."""
    return positions[corner] if corner < len(positions) else (0, 0, 0, 0)


_Plane = tuple[int, int, int, int]
_DEPTH: tuple[_Plane, ...] = ((0, 0, 0, 1), (0, 0, 1, 0), (0, 0, -1, 1))
_SIDES: tuple[_Plane, ...] = ((1, 0, 0, 1), (-1, 0, 0, 1), (0, 1, 0, 1), (0, -1, 0, 1))
"""Left, right, bottom and top clip plane as factors of x, y, z, w; a vertex is inside if the sum
of the products is 0 or more."""

_Corner = tuple[Fraction, ...]


def _pieces(corners: Sequence[_Corner], planes: Iterable[_Plane]) -> Interval:
    """Number of primitives that remain of a primitive clipped at ``planes``; of triangles, those
    of the remaining polygon.

    Degenerate triangles and lines may or may not be counted.
    """
    left = list(corners)
    for plane in planes:
        left = _cut(left, plane)
    return Interval(_count(len(set(left)), len(corners)), _count(len(left), len(corners)))


def _count(left: int, size: int) -> int:
    """Number of primitives if clipping leaves ``left`` of a primitive's ``size`` corners.

    A polygon counts as a fan of triangles; a point or line is whole or gone.
    """
    return max(left - 2, 0) if size == _TRIANGLE else int(left >= size)


def _cut(corners: list[_Corner], plane: _Plane) -> list[_Corner]:
    """The corners left of a polygon, line or point clipped at a plane (Sutherland-Hodgman)."""
    inside: list[_Corner] = []
    for number, corner in enumerate(corners):
        before = corners[number - 1]
        here, there = _height(corner, plane), _height(before, plane)
        if (here < 0) != (there < 0):
            part = there / (there - here)
            inside.append(tuple(b + part * (c - b) for b, c in zip(before, corner, strict=True)))
        if here >= 0:
            inside.append(corner)
    return inside


def _height(corner: _Corner, plane: _Plane) -> Fraction:
    return sum((a * b for a, b in zip(corner, plane, strict=True)), Fraction(0))
