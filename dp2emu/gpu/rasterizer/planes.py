"""Plane equations of interpolated attributes, in float64.

    ddx = ((f1 - f0) * dy2 - (f2 - f0) * dy1) / area
    ddy = ((f2 - f0) * dx1 - (f1 - f0) * dx2) / area
    f(x, y) = (f0 + ddy * (y - y0)) + ddx * (x - x0)

Every operation is rounded, none fused; results depend on this order.  Positions are the snapped
ones, in pixels; ``area`` is the exact doubled area, rounded once.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.rasterizer.spans import ONE, Fragments, Spans
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value


class Frame(msgspec.Struct, frozen=True):
    """Coordinate frames of planes: corner 0, offsets of corners 1 and 2, doubled signed area.

    All in pixels, float64, shape (n,), a lane a primitive.
    """

    x0: F64
    y0: F64
    dx1: F64
    dy1: F64
    dx2: F64
    dy2: F64
    area: F64


class Plane(msgspec.Struct, frozen=True):
    """Planes, one a primitive: value at corner 0 and gradients, float64, shape (n,)."""

    value: F64
    ddx: F64
    ddy: F64


def triangle_frame(x: F64, y: F64, area: F64) -> Frame:
    """Frame of triangles from grid coordinates, shape (3, n), and their doubled area in pixels."""
    x0, dx1, dx2 = computed(corner_ways, None, *x)
    y0, dy1, dy2 = computed(corner_ways, None, *y)
    return Frame(x0, y0, dx1, dy1, dx2, dy2, area)


def corner_ways(b: Builder, key: None, c0: Value, c1: Value, c2: Value) -> list[Value]:
    """Formula: corner 0, and corners 1 and 2 relative to it, in pixels, from grid coordinates."""
    first, second, third = (corner / float(ONE) for corner in (c0, c1, c2))
    return [first, second - first, third - first]


def line_frame(x: F64, y: F64) -> Frame:
    """Frame of lines, shape (3, n): linear along the longer axis, constant across it."""
    # The third corner has the first's attributes, and lies one pixel off along the shorter axis.
    x, y = x / ONE, y / ONE
    dx, dy = x[1] - x[0], y[1] - y[0]
    steep = (np.abs(dy) > np.abs(dx)).astype(np.float64)
    flat = 1 - steep
    return Frame(x[0], y[0], dx, dy, steep, flat, np.where(steep > 0, -dy, dx))


def point_frame(x: F64, y: F64) -> Frame:
    """Frame of points, shape (3, n): every gradient is zero."""
    zero, one = np.zeros_like(x[0]), np.ones_like(x[0])
    return Frame(x[0] / ONE, y[0] / ONE, zero, zero, zero, zero, one)


def plane(frame: Frame, corners: F32 | F64) -> Plane:
    """Planes through values at the three corners, shape (3, n)."""
    values = corners.astype(np.float64)
    ways = frame.dx1, frame.dy1, frame.dx2, frame.dy2, frame.area
    return Plane(values[0], *computed(plane_changes, None, *ways, *values))


def planes(frame: Frame, corners: Mapping[str, F64]) -> dict[str, Plane]:
    """``plane`` of values by name, all computed at once: for a few primitives each NumPy call
    takes longer than its arithmetic.
    """
    if not corners:
        return {}
    values = np.stack([*corners.values()], axis=1)
    ways = frame.dx1, frame.dy1, frame.dx2, frame.dy2, frame.area
    changes = computed(plane_changes, None, *ways, *values)
    return {name: Plane(*each) for name, *each in zip(corners, values[0], *changes, strict=True)}


def plane_changes(
    b: Builder,
    key: None,
    dx1: Value,
    dy1: Value,
    dx2: Value,
    dy2: Value,
    area: Value,
    f0: Value,
    f1: Value,
    f2: Value,
) -> list[Value]:
    """Formula: gradients along x and y of the plane through values at the corners."""
    d1, d2 = f1 - f0, f2 - f0
    return [(d1 * dy2 - d2 * dy1) / area, (d2 * dx1 - d1 * dx2) / area]


def along(b: Builder, key: None, start: Value, change: Value, way: Value) -> tuple[Value]:
    """Formula: start + change * way."""
    return (start + change * way,)


def reciprocal(b: Builder, key: None, x: Value) -> tuple[Value]:
    """Formula: 1 / x."""
    return (1.0 / x,)


def read_plane(b: Builder, whole: bool, value: Value, *divided: Value) -> tuple[Value]:
    """Formula: pixel program input from the value of its plane, times the factors ``divided``,
    such as 1 / rhw; an I32 if ``whole``, otherwise an F32.
    """
    for factor in divided:
        value = value * factor
    return (b.apply("dtoi" if whole else "dtof", value),)


class Sites(msgspec.Struct, frozen=True):
    """Fragments and their distances ``dx`` and ``dy``, in pixels, from corner 0 of their
    primitive.

    ``span`` (span numbers), ``x`` and ``dx`` have a lane a fragment, ``dy`` a lane a span.
    """

    spans: Spans
    span: I64
    x: I64
    dx: F64
    dy: F64

    @property
    def y(self) -> I64:
        """Pixel row of each fragment."""
        return self.spans.y[self.span]

    @property
    def one_primitive(self) -> bool:
        """Whether all spans belong to the same primitive."""
        primitive = self.spans.primitive
        return bool(primitive[0] == primitive[-1])

    def at(self, plane: Plane) -> F64:
        """Value of a plane at each fragment; terms in y are computed once a span."""
        primitive = self.spans.primitive
        start, down, across = (each[primitive] for each in (plane.value, plane.ddy, plane.ddx))
        (row,) = computed(along, None, start, down, self.dy)
        return computed(along, None, row[self.span], across[self.span], self.dx)[0]

    def moved(self, way: F64) -> Sites:
        """Fragments with ``way``, pixels, shape (2, n), added to their distances from corner 0."""
        spans = replace(self.spans, runs=None).part(self.span)
        dy = self.dy[self.span] + way[1]
        return Sites(spans, np.arange(len(self.x)), self.x, self.dx + way[0], dy)

    def part(self, chosen: I64) -> Sites:
        """The fragments at the indices ``chosen``."""
        return Sites(self.spans, self.span[chosen], self.x[chosen], self.dx[chosen], self.dy)


def sites(frame: Frame, fragments: Fragments) -> Sites:
    """Fragments with their distances from corner 0, which ``frame`` has for each primitive."""
    spans = fragments.spans
    dx = fragments.x - frame.x0[spans.primitive][fragments.span]
    dy = spans.y - frame.y0[spans.primitive]
    return Sites(spans, fragments.span, fragments.x, dx, dy)
