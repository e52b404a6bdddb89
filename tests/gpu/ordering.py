"""Which of many triangles is in front, in exact numbers.

Corners lie on 1/256 pixel and depths are float32, so that depth at a pixel centre is a fraction
of integers.  The depth buffer has 24 bits: triangles closer to each other than a step of it may
come out either way, others may not.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import CmpFunc
from dp2emu.gpu.command.pipeline import DepthState
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.draw.draw_stages import execute_draw
from tests.gpu.drawing import color_surface, corner, depth_surface, draw

SIZE = 16
GRID = 256
STEP = Fraction(1001, 1000) / ((1 << 24) - 1)
"""A step of the depth buffer, and a little for the arithmetic of planes."""
FAR = (1 << 24) - 1 << 8


def random_vertices(rng: np.random.Generator, triangles: int) -> NDArray[np.float32]:
    """x, y, z of corners, shape (triangles, 3, 3): small, large, thin, flat and steep ones."""
    reach = 2.0 ** rng.uniform(0, 6, (triangles, 1, 1))
    place = rng.uniform(0, SIZE, (triangles, 1, 2)) + rng.normal(0, 1, (triangles, 3, 2)) * reach
    spread = 2.0 ** rng.uniform(-26, 0, (triangles, 1))
    z = np.clip(0.5 + rng.uniform(-0.5, 0.5, (triangles, 3)) * spread, 0, 1)
    return np.concatenate([np.rint(place * GRID) / GRID, z[..., None]], 2).astype(np.float32)


def drawn(vertices: NDArray[np.float32]) -> NDArray[np.int64]:
    """For each pixel the number of the triangle in front, -1 where there is none."""
    color, depth = color_surface(width=SIZE, height=SIZE), depth_surface(word=FAR)
    corners = [
        corner(*map(float, place), color=0xFF000000 | number + 1)
        for number, triangle in enumerate(vertices)
        for place in triangle
    ]
    test = DepthState(enable=True, write=True, func=CmpFunc.LESS)
    execute_draw(draw(corners, color=color, depth=depth, test=test), Counters())
    return (color.pixels()[:SIZE, :SIZE].astype(np.int64) & 0xFFFFFF) - 1


def weights(vertices: NDArray[np.float32]) -> NDArray[np.int64]:
    """What each corner weighs at pixel centres, shape (triangles, 3, SIZE, SIZE).

    0 for all three where a triangle covers nothing.
    """
    x, y = np.rint(vertices[..., :2].astype(np.float64) * GRID).astype(np.int64).transpose(2, 1, 0)
    turn = np.sign((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]))
    rows, columns = np.mgrid[:SIZE, :SIZE] * GRID
    sides = np.zeros((3, len(vertices), SIZE, SIZE), np.int64)
    covered = np.broadcast_to((turn != 0)[:, None, None], sides.shape[1:]).copy()
    for number, (a, b) in enumerate(((1, 2), (2, 0), (0, 1))):
        dx, dy = (((v[b] - v[a]) * turn)[:, None, None] for v in (x, y))
        side = dx * (rows - y[a][:, None, None]) - dy * (columns - x[a][:, None, None])
        covered &= (side > 0) | ((side == 0) & ((dy < 0) | ((dy == 0) & (dx > 0))))
        sides[number] = side
    return (sides * covered).swapaxes(0, 1)


def depth_of(weights: NDArray[np.int64], places: NDArray[np.float32]) -> Fraction:
    """Depth of a triangle where its corners have these weights."""
    parts = [int(w) * Fraction(float(z)) for w, z in zip(weights, places[:, 2], strict=True)]
    return sum(parts, Fraction(0)) / int(weights.sum())


def disagreements(vertices: NDArray[np.float32]) -> int:
    """Pixels on which a triangle is in front that is a step or more behind another.

    Which one is nearest is found in float64, whose rounding the step has room for.
    """
    share = weights(vertices)
    total = share.sum(axis=1)
    with np.errstate(invalid="ignore"):
        depth = (share * vertices[:, :, 2, None, None].astype(np.float64)).sum(axis=1) / total
    nearest = np.where(total > 0, depth, np.inf).argmin(axis=0)
    found, wrong = drawn(vertices), 0
    for y, x in np.ndindex(SIZE, SIZE):
        front, best = int(found[y, x]), int(nearest[y, x])
        if front < 0 or not total[front, y, x]:
            wrong += front >= 0 or bool(total[:, y, x].any())
        elif front != best:
            gap = depth_of(share[front, :, y, x], vertices[front])
            wrong += gap - depth_of(share[best, :, y, x], vertices[best]) > STEP
    return wrong
