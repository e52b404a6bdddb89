"""Where a vertex program finds its numbers: the uniform file ``f``, float32.

The file is the blocks of ``BLOCKS`` one after the other, each as long as the key asks for:

============= ============================ ======================================================
block         scalars                      holds
============= ============================ ======================================================
clip_matrix   16 for each world matrix     (world x view) x projection
eye_matrix    16 for each world matrix     world x view, if positions before the camera are used
normal_matrix 9 for each world matrix      inverse transpose of world x view, if normals are used
world_matrix  16 for each world matrix     world, if there are clip planes
clip_plane    4 for each plane             world space
texture       16 for each stage with count the stage's matrix
ambient       3                            D3DRS_AMBIENT without alpha
material      17                           ``MATERIAL``
lights        22 for each light            ``LIGHT``; points, then spots, then directionals
fog           3                            start, end, density
point         5                            size, scale A, B, C, height of the viewport
tween         1                            D3DRS_TWEENFACTOR
============= ============================ ======================================================

Matrices are row by row, for row vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from dp2emu.d3d.enums import FogMode
from dp2emu.records import dataclass
from dp2emu.shader.fixed.records import FixedVertex

FILE = "f"

MATERIAL = {"diffuse": 0, "ambient": 4, "specular": 8, "emissive": 12, "power": 16}
"""Place of the first scalar; colours have four."""
MATERIAL_SIZE = 17

LIGHT = {
    "diffuse": 0,
    "specular": 3,
    "ambient": 6,
    "position": 9,
    "toward": 12,
    "range": 15,
    "attenuation": 16,
    "cos_theta": 19,
    "cos_phi": 20,
    "falloff": 21,
}
"""Colours without alpha; position in eye space, ``toward`` the unit vector against the light's
direction there; cosines of half the angles of the cone."""
LIGHT_SIZE = 22

MATRIX_SIZE, NORMAL_SIZE = 16, 9


def _lights(key: FixedVertex) -> int:
    return LIGHT_SIZE * key.lighting.lights if key.lighting else 0


BLOCKS: dict[str, Callable[[FixedVertex], int]] = {
    "clip_matrix": lambda key: MATRIX_SIZE * key.matrices,
    "eye_matrix": lambda key: MATRIX_SIZE * key.matrices if key.eye else 0,
    "normal_matrix": lambda key: NORMAL_SIZE * key.matrices if key.eye_normal else 0,
    "world_matrix": lambda key: MATRIX_SIZE * key.matrices if key.clip_planes else 0,
    "clip_plane": lambda key: 4 * key.clip_planes,
    "texture": lambda key: MATRIX_SIZE * sum(1 for stage in key.textures if stage.count),
    "ambient": lambda key: 3 if key.lighting else 0,
    "material": lambda key: MATERIAL_SIZE if key.lighting else 0,
    "lights": _lights,
    "fog": lambda key: 3 if key.fog not in (None, FogMode.NONE) else 0,
    "point": lambda key: 5 if key.point_scale else 0,
    "tween": lambda key: 1 if key.tween else 0,
}
"""Number of scalars, by name, in the order of the file."""


@dataclass(frozen=True, slots=True)
class Layout:
    """First scalar of each block, and the size of the file."""

    offsets: dict[str, int]
    size: int


@lru_cache(maxsize=256)
def layout(key: FixedVertex) -> Layout:
    """The layout of a program's file."""
    offsets, size = {}, 0
    for name, scalars in BLOCKS.items():
        offsets[name] = size
        size += scalars(key)
    return Layout(offsets, size)
