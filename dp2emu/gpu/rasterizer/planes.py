"""Interpolation: attributes as planes over the screen, in float64.

The order of operations is part of the specification, because the counts depend on the last bit:

    ddx = ((f1 - f0) * dy2 - (f2 - f0) * dy1) / area
    ddy = ((f2 - f0) * dx1 - (f1 - f0) * dx2) / area
    f(x, y) = (f0 + ddy * (y - y0)) + ddx * (x - x0)

with every operation rounded to float64 and none fused.  Positions are the snapped ones, in
pixels; ``area`` is the exact doubled area, rounded once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.rasterizer.spans import ONE, Fragments, Spans
from dp2emu.records import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """Where planes are anchored: corner 0, the way to corners 1 and 2, the doubled signed area.

    All in pixels, float64, shape (n,) with one lane for each primitive.
    """

    x0: F64
    y0: F64
    dx1: F64
    dy1: F64
    dx2: F64
    dy2: F64
    area: F64


@dataclass(frozen=True, slots=True)
class Plane:
    """A function of the pixel, one for each primitive: float64, shape (n,)."""

    value: F64
    ddx: F64
    ddy: F64


def triangle_frame(x: F64, y: F64, area: F64) -> Frame:
    """Frame of triangles from grid coordinates, shape (3, n), and their doubled area in pixels."""
    x, y = x / ONE, y / ONE
    return Frame(x[0], y[0], x[1] - x[0], y[1] - y[0], x[2] - x[0], y[2] - y[0], area)


def line_frame(x: F64, y: F64) -> Frame:
    """Frame of lines, shape (3, n): linear along the longer axis, constant across it.

    That is a triangle whose third corner, equal to the first in all attributes, lies one pixel
    off the line along the shorter axis.
    """
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
    """The plane through values at the three corners, shape (3, n)."""
    f0, f1, f2 = corners.astype(np.float64)
    d1, d2 = f1 - f0, f2 - f0
    ddx = (d1 * frame.dy2 - d2 * frame.dy1) / frame.area
    ddy = (d2 * frame.dx1 - d1 * frame.dx2) / frame.area
    return Plane(f0, ddx, ddy)


@dataclass(frozen=True, slots=True)
class Sites:
    """Fragments as places in their primitive's frame.

    ``span`` (which of ``spans``), ``x`` and ``dx`` have a lane for each fragment, ``dy`` one for
    each span; dx and dy are the distances from the anchor in pixels.
    """

    spans: Spans
    span: I64
    x: I64
    dx: F64
    dy: F64

    @property
    def y(self) -> I64:
        """Pixel rows."""
        return self.spans.y[self.span]

    @property
    def one_primitive(self) -> bool:
        """Whether all spans belong to the same primitive."""
        primitive = self.spans.primitive
        return bool(primitive[0] == primitive[-1])

    def at(self, plane: Plane) -> F64:
        """The plane's value at each fragment; what a row shares is computed once."""
        primitive = self.spans.primitive
        row = plane.value[primitive] + plane.ddy[primitive] * self.dy
        return row[self.span] + plane.ddx[primitive][self.span] * self.dx

    def moved(self, way: F64) -> Sites:
        """Places beside these, shape (2, n) in pixels: that far from the distances they have."""
        spans = replace(self.spans, runs=None).part(self.span)
        dy = self.dy[self.span] + way[1]
        return Sites(spans, np.arange(len(self.x)), self.x, self.dx + way[0], dy)

    def part(self, chosen: I64) -> Sites:
        """Some of the fragments."""
        return Sites(self.spans, self.span[chosen], self.x[chosen], self.dx[chosen], self.dy)


def sites(frame: Frame, fragments: Fragments) -> Sites:
    """Fragments in the frame of their primitives."""
    spans = fragments.spans
    dx = fragments.x - frame.x0[spans.primitive][fragments.span]
    dy = spans.y - frame.y0[spans.primitive]
    return Sites(spans, fragments.span, fragments.x, dx, dy)
