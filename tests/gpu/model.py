"""The pipeline once more, for triangles: one fragment after the other, in plain Python numbers.

Python floats are float64 and its integers exact, so results must be equal bit for bit.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from dp2emu.d3d.enums import CmpFunc, Cull
from dp2emu.gpu.command.pipeline import DepthState, RasterState

COMPARE: dict[CmpFunc, Callable[[float, float], bool]] = {
    CmpFunc.NEVER: lambda new, old: False,
    CmpFunc.LESS: operator.lt,
    CmpFunc.EQUAL: operator.eq,
    CmpFunc.LESSEQUAL: operator.le,
    CmpFunc.GREATER: operator.gt,
    CmpFunc.NOTEQUAL: operator.ne,
    CmpFunc.GREATEREQUAL: operator.ge,
    CmpFunc.ALWAYS: lambda new, old: True,
}


@dataclass(frozen=True)
class Corner:
    """A vertex as the pipeline gets it: float32 values and a D3DCOLOR."""

    x: float
    y: float
    z: float
    rhw: float
    color: int

    def lane(self, shift: int) -> float:
        return float(np.float32(self.color >> shift & 0xFF) / np.float32(255))


CENTRE = ((0, 0),)


@dataclass
class Canvas:
    """An X8R8G8B8 target and a depth buffer of some bits, as lists of rows.

    A pixel has a column for each of ``samples``, which are offsets from its centre in 1/16 pixel.
    """

    size: int
    depth_bits: int
    samples: tuple[tuple[int, int], ...] = CENTRE
    color: list[list[int]] = field(default_factory=list)
    depth: list[list[int]] = field(default_factory=list)
    tested: int = 0
    passed: int = 0

    def __post_init__(self) -> None:
        columns = self.size * len(self.samples)
        self.color = [[0] * columns for _ in range(self.size)]
        self.depth = [[1 << self.depth_bits - 1] * columns for _ in range(self.size)]

    def draw(self, corners: tuple[Corner, Corner, Corner], raster: RasterState,
             test: DepthState) -> None:  # fmt: skip
        """One triangle."""
        x, y = ([grid(getattr(c, axis)) for c in corners] for axis in "xy")
        area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
        if area == 0 or (raster.cull is not Cull.NONE and (area > 0) == (raster.cull is Cull.CW)):
            return
        setup = Setup(corners, [v / 256 for v in x], [v / 256 for v in y], area / 65536)
        for row in range(self.size):
            for column in range(self.size):
                samples = self.samples if raster.multisample else CENTRE * len(self.samples)
                inside = [covered(x, y, area, column, row, (16 * dx, 16 * dy))
                          for dx, dy in samples]  # fmt: skip
                places = [(column + dx / 16, row + dy / 16) for dx, dy in samples]
                partly = any(inside) and not all(inside)
                site = places[inside.index(True)] if partly else (column, row)
                for number, place in enumerate(places):
                    if inside[number]:
                        self._fragment(setup, raster, test, (column, row), number, place, site)

    def _fragment(
        self, setup: Setup, raster: RasterState, test: DepthState, pixel: tuple[int, int],
        sample: int, place: tuple[float, float], site: tuple[float, float],
    ) -> None:  # fmt: skip
        """The depth is that of the sample, the colour that of a place for the whole pixel."""
        column, y = pixel[0] * len(self.samples) + sample, pixel[1]
        z = setup.plane([c.z for c in setup.corners], *place)
        outside = any(not 0 <= c.z <= 1 for c in setup.corners)
        if raster.clip and outside and not 0 <= z <= 1:
            return
        self.tested += 1
        if test.enable:
            z += test.bias
            if test.slope:
                z += test.slope * max(abs(g) for g in setup.gradient([c.z for c in setup.corners]))
            z = min(max(z, 0.0), 1.0)
            new = math.floor(z * ((1 << self.depth_bits) - 1) + 0.5)
            if not COMPARE[test.func](new, self.depth[y][column]):
                return
            if test.write:
                self.depth[y][column] = new
        self.passed += 1
        word = 0xFF000000
        for shift in (16, 8, 0):
            value = setup.attribute([c.lane(shift) for c in setup.corners], raster.flat, *site)
            word |= math.floor(min(max(float(np.float32(value)), 0.0), 1.0) * 255 + 0.5) << shift
        self.color[y][column] = word


@dataclass(frozen=True)
class Setup:
    """Snapped positions in pixels and the doubled area."""

    corners: tuple[Corner, Corner, Corner]
    x: list[float]
    y: list[float]
    area: float

    def gradient(self, f: list[float]) -> tuple[float, float]:
        d1, d2 = f[1] - f[0], f[2] - f[0]
        dx1, dx2 = self.x[1] - self.x[0], self.x[2] - self.x[0]
        dy1, dy2 = self.y[1] - self.y[0], self.y[2] - self.y[0]
        return (d1 * dy2 - d2 * dy1) / self.area, (d2 * dx1 - d1 * dx2) / self.area

    def plane(self, f: list[float], x: float, y: float) -> float:
        ddx, ddy = self.gradient(f)
        return (f[0] + ddy * (y - self.y[0])) + ddx * (x - self.x[0])

    def attribute(self, f: list[float], flat: bool, x: float, y: float) -> float:
        rhw = [c.rhw for c in self.corners]
        if flat:
            return f[0]
        if rhw[0] == rhw[1] == rhw[2]:
            return self.plane(f, x, y)
        above = self.plane([a * b for a, b in zip(f, rhw, strict=True)], x, y)
        return above / self.plane(rhw, x, y)


def grid(value: float) -> int:
    return round(Fraction(value) * 256)


def covered(
    x: list[int], y: list[int], area: int, column: int, row: int, sample: tuple[int, int] = (0, 0)
) -> bool:
    """Whether a pixel's ``sample``, in 1/256 from its centre, is inside."""
    corners = list(zip(x, y, strict=True))
    if area < 0:
        corners.reverse()
    for (ax, ay), (bx, by) in pairwise([*corners, corners[0]]):
        down, right = row * 256 + sample[1] - ay, column * 256 + sample[0] - ax
        side = (bx - ax) * down - (by - ay) * right
        top_left = by < ay or (by == ay and bx > ax)
        if side < 0 or (side == 0 and not top_left):
            return False
    return True
