"""What both sides draw: pictures of triangles in terms that Direct3D 9 and OpenGL share.

Positions on the screen lie on a grid of 1/16 pixel, so that both sides snap them to the same
place, and depth is a plane of each triangle.  Sizes scale: counts by the factor, the sides of
pictures by its square root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmark.programs import SHADER_40

SCREEN = np.dtype([("position", "<f4", 4), ("color", "<u4"), ("uv", "<f4", 2)])
"""Vertices on the screen: x, y, z, rhw; A8R8G8B8; texture coordinates."""
MODEL = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3)])
GRID = 16.0
SEED = 20_000
WIDTH, HEIGHT = 1024, 768
TEXTURE = 256
"""Texels along the sides of a texture."""
TEXTURES = 8
MESH_RINGS, MESH_SIDES = 250, 400

Array = NDArray[Any]
Matrix = tuple[float, ...]
"""16 floats, row-major, for row vectors."""


class Look(msgspec.Struct, frozen=True):
    """State of a draw.  Depth is tested with LESSEQUAL and written; blending is by source alpha.

    ``texture`` is filtered bilinearly and multiplied by the colour; ``tested`` lets alphas above
    128 of 255 through; ``shader`` is a program of ``programs``, in place of all that.
    """

    depth: bool = False
    color: bool = True
    blended: bool = False
    tested: bool = False
    texture: int | None = None
    shader: tuple[str, ...] = ()


class Step(msgspec.Struct, frozen=True):
    """A draw: ``count`` vertices or indices from ``first`` on, three a triangle."""

    look: Look
    first: int
    count: int


class Model(msgspec.Struct, frozen=True, eq=False):
    """What the fixed function does to a mesh: matrices, and one directional light.

    ``normal_matrix`` and ``direction`` (towards the mesh) are in view space.
    """

    world: Matrix
    projection: Matrix
    direction: tuple[float, float, float]
    diffuse: tuple[float, float, float, float]
    ambient: tuple[float, float, float, float]


class Workload(msgspec.Struct, frozen=True, eq=False):
    """A frame: clear colour and depth, draw every step, resolve if there are several samples.

    ``vertices`` are of dtype SCREEN, or MODEL with ``indices`` (uint32) and ``model``;
    ``textures`` are square, uint32 A8R8G8B8.  ``counted``: an occlusion query is around the steps.
    """

    width: int
    height: int
    vertices: Array
    steps: tuple[Step, ...]
    samples: int = 1
    indices: Array | None = None
    textures: tuple[Array, ...] = ()
    model: Model | None = None
    counted: bool = False

    @property
    def triangles(self) -> int:
        """Triangles of a frame."""
        return sum(step.count for step in self.steps) // 3


class Size(msgspec.Struct, frozen=True):
    """The factor for everything."""

    scale: float = 1.0

    def count(self, full: int) -> int:
        """``full`` things scaled, at least one."""
        return max(1, round(full * self.scale))

    def side(self, full: int) -> int:
        """``full`` pixels scaled, at least 16."""
        return max(16, round(full * min(1.0, sqrt(self.scale))))

    @property
    def screen(self) -> tuple[int, int]:
        """Width and height of the picture."""
        return self.side(WIDTH), self.side(HEIGHT)


def scattered(count: int, pixels: float, screen: tuple[int, int], *, flat: bool = False) -> Array:
    """``count`` nearly equilateral triangles of about ``pixels``, anywhere, turned anyhow.

    Colours, alphas and depths are random, and rhw too unless ``flat``.
    """
    rng = np.random.default_rng(SEED)
    radius = (pixels / 1.299) ** 0.5
    center = rng.uniform(0, 1, (count, 1, 2)) * np.array(screen)
    turns = rng.uniform(0, 1, (count, 1)) + np.arange(3) / 3
    around = radius * np.stack((np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)), axis=-1)
    found = np.zeros((count, 3), SCREEN)
    found["position"][..., :2] = np.rint((center + around) * GRID) / GRID
    found["position"][..., 2] = rng.uniform(0, 1, (count, 3))
    found["position"][..., 3] = 1 if flat else 1 / rng.uniform(1, 4, (count, 3))
    found["color"] = rng.integers(0, 1 << 32, (count, 3), np.uint32)
    found["uv"] = rng.uniform(0, 1, (count, 1, 2)) + around / TEXTURE
    return found.ravel()


def quads(count: int, screen: tuple[int, int]) -> Array:
    """``count`` quads over the whole screen, of two triangles each."""
    rng = np.random.default_rng(SEED)
    corners = np.array([(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)], np.float32)
    same = np.array([0, 1, 2, 2, 1, 3])
    found = np.zeros((count, 6), SCREEN)
    found["position"][..., :2] = corners * np.array(screen) - 0.5
    found["position"][..., 2:] = 0.5, 1.0
    found["color"] = rng.integers(0, 1 << 32, (count, 4), np.uint32)[:, same]
    found["uv"] = corners
    return found.ravel()


def noise(number: int) -> Array:
    """A texture: four random waves across it, one a channel, so that half of it is opaque."""
    rng = np.random.default_rng(SEED + number)
    axis = np.arange(TEXTURE) / TEXTURE
    words = np.zeros((TEXTURE, TEXTURE), np.uint32)
    for shift in (0, 8, 16, 24):
        across, down, phase = rng.integers(1, 6), rng.integers(1, 6), rng.uniform(0, 1)
        wave = np.sin(2 * np.pi * (across * axis + down * axis[:, None] + phase))
        words |= np.rint(127.5 + 127.5 * wave).astype(np.uint32) << np.uint32(shift)
    return words


def _whole(look: Look, vertices: Array) -> tuple[Step, ...]:
    return (Step(look, 0, len(vertices)),)


def zonly(size: Size) -> Workload:
    """20,000 triangles of about 200 pixels, depth only, counted."""
    return triangles(size.count(20_000), size.screen)


def triangles(count: int, screen: tuple[int, int]) -> Workload:
    """Triangles of about 200 pixels, depth only, counted."""
    vertices = scattered(count, 200, screen, flat=True)
    look = Look(depth=True, color=False)
    return Workload(*screen, vertices, _whole(look, vertices), counted=True)


def blend(size: Size) -> Workload:
    """16 Gouraud quads over the whole screen, blended by their alpha."""
    vertices = quads(size.count(16), size.screen)
    return Workload(*size.screen, vertices, _whole(Look(blended=True), vertices))


def textured(size: Size) -> Workload:
    """4,000 triangles of about 1,000 pixels: perspective, bilinear filter, alpha test, depth."""
    vertices = scattered(size.count(4_000), 1_000, size.screen)
    look = Look(depth=True, tested=True, texture=0)
    return Workload(*size.screen, vertices, _whole(look, vertices), textures=(noise(0),))


def ps40(size: Size) -> Workload:
    """A ps_2_0 of 40 instructions over the whole screen, four times."""
    vertices = quads(size.count(4), size.screen)
    return Workload(*size.screen, vertices, _whole(Look(shader=SHADER_40), vertices))


def mesh(size: Size) -> Workload:
    """A torus of 100,000 vertices and 200,000 triangles, transformed and lit."""
    rings, sides = (max(3, round(n * sqrt(size.scale))) for n in (MESH_RINGS, MESH_SIDES))
    vertices, indices = torus(rings, sides), torus_indices(rings, sides)
    steps = (Step(Look(depth=True), 0, len(indices)),)
    screen = size.screen
    return Workload(*screen, vertices, steps, indices=indices, model=_model(*screen))


def torus(rings: int, sides: int) -> Array:
    """Vertices of a torus around the z axis, radii 2 and 0.8."""
    along = 2 * np.pi * np.arange(rings)[:, None] / rings
    around = 2 * np.pi * np.arange(sides) / sides
    found = np.zeros((rings, sides), MODEL)
    for lane, direction in enumerate((np.cos(along), np.sin(along))):
        found["normal"][..., lane] = direction * np.cos(around)
        found["position"][..., lane] = direction * (2 + 0.8 * np.cos(around))
    found["normal"][..., 2] = np.sin(around)
    found["position"][..., 2] = 0.8 * np.sin(around)
    return found.ravel()


def torus_indices(rings: int, sides: int) -> Array:
    """Its triangles, clockwise from outside."""
    here = np.arange(rings * sides).reshape(rings, sides)
    right, below = np.roll(here, -1, axis=0), np.roll(here, -1, axis=1)
    across = np.roll(right, -1, axis=1)
    corners = (here, right, below, below, right, across)
    return np.stack(corners, axis=-1).astype(np.uint32).ravel()


def _model(width: int, height: int) -> Model:
    """The torus leaning by 0.6, 6 away, seen with a field of view of 53 degrees."""
    c, s, near, far = 0.8, 0.6, 1.0, 20.0
    world = (1, 0, 0, 0, 0, c, s, 0, 0, -s, c, 0, 0, 0, 6, 1)
    deep = far / (far - near)
    projection = (2 * height / width, 0, 0, 0, 0, 2, 0, 0, 0, 0, deep, 1, 0, 0, -near * deep, 0)
    return Model(
        tuple(map(float, world)), tuple(map(float, projection)),
        (0.6, 0.0, 0.8), (0.9, 0.7, 0.4, 1.0), (0.1, 0.1, 0.2, 1.0),
    )  # fmt: skip


def small_draws(size: Size) -> Workload:
    """2,000 draws of two triangles of 100 pixels, each with another state than the one before."""
    vertices = scattered(2 * size.count(2_000), 100, size.screen)
    looks = [
        Look(depth=True, texture=0), Look(depth=True, blended=True, texture=1),
        Look(depth=True), Look(blended=True), Look(depth=True, tested=True, texture=2),
        Look(texture=3), Look(depth=True, blended=True, texture=4), Look(blended=True, texture=5),
        Look(tested=True, texture=6), Look(depth=True, texture=7),
    ]  # fmt: skip
    steps = (Step(looks[n % len(looks)], 6 * n, 6) for n in range(len(vertices) // 6))
    textures = tuple(map(noise, range(TEXTURES)))
    return Workload(*size.screen, vertices, tuple(steps), textures=textures)


def msaa4(size: Size) -> Workload:
    """4,000 Gouraud triangles of about 1,000 pixels, depth, four samples, resolved."""
    vertices = scattered(size.count(4_000), 1_000, size.screen)
    return Workload(*size.screen, vertices, _whole(Look(depth=True), vertices), samples=4)


WORKLOADS: dict[str, Callable[[Size], Workload]] = {
    "zonly": zonly,
    "blend": blend,
    "textured": textured,
    "ps40": ps40,
    "mesh": mesh,
    "small_draws": small_draws,
    "msaa4": msaa4,
}
"""The workloads by name; what they are is their docstrings."""


def _area(pixels: int) -> Workload:
    side = round(pixels**0.5)
    vertices = quads(1, (side, side))
    return Workload(side, side, vertices, _whole(Look(), vertices))


SERIES: dict[str, Callable[[int], Workload]] = {
    "triangles": lambda count: triangles(count, (WIDTH, HEIGHT)),
    "pixels": _area,
}
"""Work by amount: triangles of 200 pixels, and pixels of one Gouraud quad."""


def workload_of(name: str, scale: float) -> Workload:
    """A workload by name, or ``SERIES=AMOUNT``.  Raises KeyError."""
    series, _, amount = name.partition("=")
    return SERIES[series](int(amount)) if amount else WORKLOADS[name](Size(scale))


def changes(steps: tuple[Step, ...]) -> Iterator[tuple[Step, dict[str, Any]]]:
    """Every step with the fields of its look that differ from those of the step before it.

    The first of a frame sets them all.
    """
    before: Look | None = None
    for step in steps:
        look = {name: getattr(step.look, name) for name in Look.__struct_fields__}
        yield (
            step,
            {
                name: value
                for name, value in look.items()
                if before is None or getattr(before, name) != value
            },
        )
        before = step.look
