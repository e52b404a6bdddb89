"""Check triangles against an exact model, as many random ones as you like.

    python tools/raster_check.py [--triangles N] [--seed N]

The models share nothing with the rasteriser but the rules.  That of coverage evaluates three cross
products at every pixel centre, in int64 where they fit and in Python integers where they do not.
That of depth order (``tests/gpu/ordering.py``) finds by fractions which of fifty triangles is in
front.  Each gets N triangles.  Prints a tally and exits with 1 if any pixel of any triangle
differs.  A million take a quarter of an hour.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.d3d.enums import Cull
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer.spans import snap
from dp2emu.gpu.rasterizer.triangles import doubled_area, drawn, triangle_spans
from tests.gpu.ordering import disagreements, random_vertices
from tests.gpu.ordering import drawn as in_front

SIZE = 16
REGION = Rect(0, 0, SIZE, SIZE)
PORTION = 2000
PILE = 50
"""Triangles that are drawn over each other to see their order."""

F32 = NDArray[np.float32]
Hits = NDArray[np.int64]


class Kind(NamedTuple):
    """A way to make triangles: its share of all, corners of shape (3, n) x and y, the model."""

    share: float
    corners: Callable[[np.random.Generator, int], tuple[F32, F32]]
    model: Callable[[F32, F32], Hits]


def on_lattice(generator: np.random.Generator, count: int) -> tuple[F32, F32]:
    """Whole and half pixels: vertices and edges on centres, shared, flat and empty triangles."""
    x, y = generator.integers(-4, 2 * SIZE + 4, (2, 3, count)) / 2
    return x.astype(np.float32), y.astype(np.float32)


def between_pixels(generator: np.random.Generator, count: int) -> tuple[F32, F32]:
    """Anywhere around the region."""
    x, y = generator.uniform(-4, SIZE + 4, (2, 3, count))
    return x.astype(np.float32), y.astype(np.float32)


def slivers(generator: np.random.Generator, count: int) -> tuple[F32, F32]:
    """Three corners near one line."""
    x, y = generator.uniform(-40, SIZE + 40, (2, 2, count))
    t, off = generator.uniform(0, 1, count), generator.normal(0, 0.5, (2, count)) ** 3
    xs = np.stack([x[0], x[1], x[0] + t * (x[1] - x[0]) + off[0]])
    ys = np.stack([y[0], y[1], y[0] + t * (y[1] - y[0]) + off[1]])
    return xs.astype(np.float32), ys.astype(np.float32)


def large(generator: np.random.Generator, count: int) -> tuple[F32, F32]:
    """Corners up to two million pixels away, the limit of int64."""
    x, y = generator.uniform(-(2.0**21), 2.0**21, (2, 3, count))
    x[0], y[0] = generator.uniform(0, SIZE, (2, count))
    return x.astype(np.float32), y.astype(np.float32)


def unbounded(generator: np.random.Generator, count: int) -> tuple[F32, F32]:
    """Every magnitude a float32 has."""
    magnitude = 2.0 ** generator.uniform(-10, 127.9, (2, 3, count))
    x, y = magnitude * generator.choice([-1, 1], (2, 3, count))
    x[0], y[0] = generator.uniform(-2, SIZE + 2, (2, count))
    return x.astype(np.float32), y.astype(np.float32)


def int64_model(x: F32, y: F32) -> Hits:
    """Coverage of each triangle, shape (n, SIZE, SIZE)."""
    px, py = (np.rint(v.astype(np.float64) * 256).astype(np.int64) for v in (x, y))
    area = (px[1] - px[0]) * (py[2] - py[0]) - (px[2] - px[0]) * (py[1] - py[0])
    turn = np.sign(area)
    rows, columns = (np.arange(SIZE) * 256).reshape(-1, 1), (np.arange(SIZE) * 256).reshape(1, -1)
    inside = np.broadcast_to((area != 0)[:, None, None], (len(area), SIZE, SIZE)).copy()
    for a, b in ((0, 1), (1, 2), (2, 0)):
        dx, dy = (((v[b] - v[a]) * turn)[:, None, None] for v in (px, py))
        side = dx * (rows - py[a][:, None, None]) - dy * (columns - px[a][:, None, None])
        top_left = (dy < 0) | ((dy == 0) & (dx > 0))
        inside &= (side > 0) | ((side == 0) & top_left)
    return inside.astype(np.int64)


def integer_model(x: F32, y: F32) -> Hits:
    """The same in Python integers, one pixel after the other."""
    hits = np.zeros((x.shape[1], SIZE, SIZE), np.int64)
    for number in range(x.shape[1]):
        corners = [
            (round(float(a) * 256), round(float(b) * 256))
            for a, b in zip(x[:, number], y[:, number], strict=True)
        ]
        for row in range(SIZE):
            for column in range(SIZE):
                hits[number, row, column] = _covers(corners, column * 256, row * 256)
    return hits


def _covers(corners: list[tuple[int, int]], x: int, y: int) -> bool:
    (ax, ay), (bx, by), (cx, cy) = corners
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area == 0:
        return False
    turn = 1 if area > 0 else -1
    for (px, py), (qx, qy) in zip(corners, corners[1:] + corners[:1], strict=True):
        dx, dy = turn * (qx - px), turn * (qy - py)
        side = dx * (y - py) - dy * (x - px)
        if side < 0 or (side == 0 and not (dy < 0 or (dy == 0 and dx > 0))):
            return False
    return True


KINDS = {
    "lattice": Kind(0.30, on_lattice, int64_model),
    "sub-pixel": Kind(0.33, between_pixels, int64_model),
    "sliver": Kind(0.20, slivers, int64_model),
    "large": Kind(0.15, large, int64_model),
    "unbounded": Kind(0.02, unbounded, integer_model),
}


def engine(x: F32, y: F32) -> Hits:
    """Hits of the rasteriser on each pixel, shape (n, SIZE, SIZE)."""
    grid_x, grid_y = snap(x), snap(y)
    area = doubled_area(grid_x, grid_y)
    kept = np.flatnonzero(drawn(area, Cull.NONE))
    edges = np.zeros((x.shape[1], SIZE, SIZE + 1), np.int64)
    for spans in triangle_spans(grid_x[:, kept], grid_y[:, kept], area[kept], REGION):
        np.add.at(edges, (kept[spans.primitive], spans.y, spans.left), 1)
        np.add.at(edges, (kept[spans.primitive], spans.y, spans.right), -1)
    return np.cumsum(edges, axis=2)[:, :, :SIZE]


def portions(kind: Kind, seed: int, count: int) -> Iterator[tuple[Hits, Hits]]:
    """(engine, model) of ``count`` triangles, some at a time."""
    generator = np.random.default_rng(seed)
    for start in range(0, count, PORTION):
        x, y = kind.corners(generator, min(PORTION, count - start))
        yield engine(x, y), kind.model(x, y)


def check_coverage(name: str, kind: Kind, seed: int, count: int) -> int:
    """Print a line for a kind; gives how many triangles differ."""
    drawn_count = pixels = different = 0
    for found, expected in portions(kind, seed, count):
        drawn_count += int(np.count_nonzero(expected.any(axis=(1, 2))))
        pixels += int(expected.sum())
        different += int(np.count_nonzero((found != expected).any(axis=(1, 2))))
    print(f"{name:<10} {count:>10} {drawn_count:>10} {pixels:>12} {different:>10}", flush=True)
    return different


def check_order(seed: int, count: int) -> int:
    """Print a line for depth order; gives how many pixels differ."""
    generator = np.random.default_rng(seed)
    visible = pixels = different = 0
    for start in range(0, count, PILE):
        vertices = random_vertices(generator, min(PILE, count - start))
        front = in_front(vertices)
        visible += len(set(front.ravel().tolist()) - {-1})
        pixels += int(np.count_nonzero(front >= 0))
        different += disagreements(vertices)
    print(f"{'order':<10} {count:>10} {visible:>10} {pixels:>12} {different:>10}")
    return different


def main() -> int:
    """Run every kind and print a line for each."""
    parser = argparse.ArgumentParser(description="Check triangles against an exact model.")
    parser.add_argument("--triangles", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    wrong = 0
    print(f"{'kind':<10} {'triangles':>10} {'drawn':>10} {'pixels':>12} {'different':>10}")
    for name, kind in KINDS.items():
        count = round(arguments.triangles * kind.share)
        wrong += check_coverage(name, kind, arguments.seed, count)
    wrong += check_order(arguments.seed, arguments.triangles)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
