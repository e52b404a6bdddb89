"""Uniforms of fixed-function vertex programs: layout and contents of the float32 file ``f``.

The file concatenates the blocks of ``BLOCKS``, sized by the program's key:

============= ============================ ======================================================
block         scalars                      holds
============= ============================ ======================================================
clip_matrix   16 for each world matrix     (world x view) x projection
eye_matrix    16 for each world matrix     world x view, if eye-space positions are used
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

Matrices are row-major, for row vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from operator import add

import msgspec
import numpy as np

from dp2emu.d3d.enums import FogMode, LightType, TransformState
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.records import FixedState, FixedVertex, Light
from dp2emu.shader.functions import cos
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import run
from dp2emu.shader.types import F32

FILE = "f"

MATERIAL = {"diffuse": 0, "ambient": 4, "specular": 8, "emissive": 12, "power": 16}
"""Name of a material's field -> its offset in the uniform block ``material``, in scalars; a colour
has four."""
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
"""Offsets of a light's fields in its block, in scalars.  Colours have no alpha.  ``position`` and
``toward``, the unit vector opposite to the light's direction, are in eye space; ``cos_theta`` and
``cos_phi`` are of half the cone's angles."""
LIGHT_SIZE = 22

MATRIX_SIZE, NORMAL_SIZE = 16, 9


Scalars = Callable[[FixedVertex], int]
Contents = Callable[[FixedVertex, FixedState], F32]


class UniformLayout(msgspec.Struct, frozen=True):
    """Offset of each block of a uniform file, and the file's size, in scalars."""

    offsets: dict[str, int]
    size: int


@lru_cache(maxsize=256)
def uniform_layout(key: FixedVertex) -> UniformLayout:
    """Return the layout of a key's uniform file."""
    offsets, size = {}, 0
    for name, (scalars, _) in BLOCKS.items():
        offsets[name] = size
        size += scalars(key)
    return UniformLayout(offsets, size)


# Matrix arithmetic in float32, every sum from left to right: identical bits on every machine.
# Leading axes are batches of matrices.  Infinity and NaN are legal.


@np.errstate(all="ignore")
def product(left: F32, right: F32) -> F32:
    """Matrix product left x right, shapes (..., n, k) and (..., k, m)."""
    terms = [left[..., :, k : k + 1] * right[..., k : k + 1, :] for k in range(left.shape[-1])]
    return reduce(add, terms)


@np.errstate(all="ignore")
def normal_matrix(matrix: F32) -> F32:
    """Upper left 3x3 of the inverse transpose, shape (..., 3, 3): cofactors / determinant.

    For an affine matrix only its upper left 3x3 is inverted; a singular upper left 3x3 is
    returned unchanged.
    """
    m = matrix[..., :3, :3]
    cofactors = np.stack([_cross(m[..., 1, :], m[..., 2, :]),
                          _cross(m[..., 2, :], m[..., 0, :]),
                          _cross(m[..., 0, :], m[..., 1, :])], axis=-2)  # fmt: skip
    terms = m[..., 0, :] * cofactors[..., 0, :]
    determinant = terms[..., 0] + terms[..., 1] + terms[..., 2]
    affine = (matrix[..., 3] == np.array([0, 0, 0, 1], np.float32)).all(axis=-1)
    whole, volume = _cofactors(matrix)
    cofactors = np.where(affine[..., None, None], cofactors, whole)
    determinant = np.where(affine, determinant, volume)[..., None, None]
    inverse: F32 = np.where(determinant == 0, m, cofactors / determinant)
    return inverse


def _cofactors(matrix: F32) -> tuple[F32, F32]:
    """Cofactors of the upper left 3x3 of 4x4 matrices, and the matrices' determinants.

    A cofactor sums products of three from the left, a determinant expands along the first row.
    """
    rows = [
        [_minor(matrix, row, column) * np.float32(-1 if (row + column) % 2 else 1)
         for column in range(4)]
        for row in range(3)
    ]  # fmt: skip
    terms = [matrix[..., 0, column] * rows[0][column] for column in range(4)]
    volume: F32 = terms[0] + terms[1] + terms[2] + terms[3]
    upper = np.stack([np.stack(row[:3], axis=-1) for row in rows], axis=-2)
    return upper, volume


def _minor(matrix: F32, row: int, column: int) -> F32:
    """Determinant of a 4x4 matrix without one row and one column."""
    rows = [n for n in range(4) if n != row]
    columns = [n for n in range(4) if n != column]
    left = matrix[..., rows, :][..., columns]
    crossed = _cross(left[..., 1, :], left[..., 2, :])
    terms = left[..., 0, :] * crossed
    found: F32 = terms[..., 0] + terms[..., 1] + terms[..., 2]
    return found


def _cross(x: F32, y: F32) -> F32:
    first, second = [1, 2, 0], [2, 0, 1]
    return x[..., first] * y[..., second] - x[..., second] * y[..., first]


@np.errstate(all="ignore")
def unit(vectors: F32) -> F32:
    """Normalise vectors, shape (..., 3); 0 stays 0."""
    squares = vectors * vectors
    size = np.sqrt(squares[..., 0] + squares[..., 1] + squares[..., 2])[..., None]
    scale: F32 = np.where(size > 0, np.float32(1) / size, np.float32(0))
    return vectors * scale


# Packing of the uniform file.  Spot light cosines come from the shader's cosine function, so that
# they do not depend on the host's C library.

WORLD = 256
"""Number of the transform D3DTS_WORLDMATRIX(0); world matrix i has this number plus i."""

_IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))


def vertex_uniforms(key: FixedVertex, state: FixedState) -> dict[str, F32]:
    """Return the uniform file ``f`` of ``vertex_program(key)``, float32 of shape (size,), read
    only.

    Raises ValueError for a state whose lights or clip planes do not match the key.
    """
    _check(key, state)
    places = uniform_layout(key)
    values = np.zeros(places.size, np.float32)
    for name, (scalars, contents) in BLOCKS.items():
        count, start = scalars(key), places.offsets[name]
        if count:
            values[start : start + count] = contents(key, state).reshape(count)
    values.flags.writeable = False
    return {FILE: values}


def _check(key: FixedVertex, state: FixedState) -> None:
    if len(state.clip_planes) != key.clip_planes:
        raise ValueError(f"expected {key.clip_planes} clip planes, got {len(state.clip_planes)}")
    for kind, _, count in key.lighting.runs if key.lighting else ():
        found = sum(light.type is kind for light in state.lights)
        if found != count:
            raise ValueError(f"expected {count} lights of type {kind.sdk}, got {found}")


def _array(numbers: Iterable[float]) -> F32:
    return np.array(list(numbers), np.float32)


def _transform(state: FixedState, number: int) -> F32:
    return _array(state.transforms.get(number, _IDENTITY)).reshape(4, 4)


def _world(key: FixedVertex, state: FixedState) -> F32:
    """World matrices, shape (matrices, 4, 4)."""
    matrices = np.tile(_array(_IDENTITY).reshape(4, 4), (key.matrices, 1, 1))
    for number, matrix in state.transforms.items():
        if WORLD <= number < WORLD + key.matrices:
            matrices[number - WORLD] = _array(matrix).reshape(4, 4)
    return matrices


def _eye(key: FixedVertex, state: FixedState) -> F32:
    return product(_world(key, state), _transform(state, TransformState.VIEW))


def _clip(key: FixedVertex, state: FixedState) -> F32:
    return product(_eye(key, state), _transform(state, TransformState.PROJECTION))


def _normal(key: FixedVertex, state: FixedState) -> F32:
    return normal_matrix(_eye(key, state))


def _planes(key: FixedVertex, state: FixedState) -> F32:
    return _array(number for plane in state.clip_planes for number in plane)


def _texture(key: FixedVertex, state: FixedState) -> F32:
    stages = [number for number, stage in enumerate(key.textures) if stage.count]
    return np.stack([_transform(state, TransformState.TEXTURE0 + stage) for stage in stages])


def _material(key: FixedVertex, state: FixedState) -> F32:
    m = state.material
    return _array((*m.diffuse, *m.ambient, *m.specular, *m.emissive, m.power))


_LIGHT_PARTS: dict[str, Callable[[Light], Sequence[float]]] = {
    "diffuse": lambda light: light.diffuse[:3],
    "specular": lambda light: light.specular[:3],
    "ambient": lambda light: light.ambient[:3],
    "range": lambda light: (light.range,),
    "attenuation": lambda light: light.attenuation,
    "falloff": lambda light: (light.falloff,),
}
"""Field of ``LIGHT`` -> function that returns a light's numbers for it; only fields that are
copied without computation."""
_ORDER = (LightType.POINT, LightType.SPOT, LightType.DIRECTIONAL)


def _lights(key: FixedVertex, state: FixedState) -> F32:
    """Uniforms of the enabled lights, a row each: point lights, then spots, then directionals."""
    lights = [light for kind in _ORDER for light in state.lights if light.type is kind]
    view = _transform(state, TransformState.VIEW)
    rows = np.zeros((len(lights), LIGHT_SIZE), np.float32)

    def put(name: str, values: F32) -> None:
        rows[:, LIGHT[name] : LIGHT[name] + values.shape[1]] = values

    for name, part in _LIGHT_PARTS.items():
        put(name, _rows(lights, part))
    put("position", product(_rows(lights, lambda light: (*light.position, 1.0)), view)[:, :3])
    direction = product(_rows(lights, lambda light: light.direction), view[:3, :3])
    put("toward", -unit(direction))
    put("cos_theta", _half_cosines(_rows(lights, lambda light: (light.theta,)).tobytes()))
    put("cos_phi", _half_cosines(_rows(lights, lambda light: (light.phi,)).tobytes()))
    return rows


def _rows(lights: Sequence[Light], part: Callable[[Light], Sequence[float]]) -> F32:
    return np.array([part(light) for light in lights], np.float32)


@lru_cache(maxsize=1)
def _half_cosine() -> Program:
    b = Builder(Stage.VERTEX)
    b.output("cosine", cos(b.input("angle") * 0.5))
    return b.program()


# Cached, since angles of lights rarely change; by bytes, since 0 and -0 are equal floats.
@lru_cache(maxsize=1 << 6)
def _half_cosines(angles: bytes) -> F32:
    """Cosines of half of float32 angles, read only, shape (lights, 1)."""
    values = np.frombuffer(angles, np.float32)
    cosines: F32 = run(_half_cosine(), {"angle": values}, {}, values.size).outputs["cosine"]
    cosines.flags.writeable = False
    return cosines[:, None]


def _point(key: FixedVertex, state: FixedState) -> F32:
    return _array((state.point_size, *state.point_scale, state.viewport_height))


BLOCKS: dict[str, tuple[Scalars, Contents]] = {
    "clip_matrix": (lambda key: MATRIX_SIZE * key.matrices, _clip),
    "eye_matrix": (lambda key: MATRIX_SIZE * key.matrices if key.eye else 0, _eye),
    "normal_matrix": (lambda key: NORMAL_SIZE * key.matrices if key.eye_normal else 0, _normal),
    "world_matrix": (lambda key: MATRIX_SIZE * key.matrices if key.clip_planes else 0, _world),
    "clip_plane": (lambda key: 4 * key.clip_planes, _planes),
    "texture": (lambda key: MATRIX_SIZE * sum(bool(s.count) for s in key.textures), _texture),
    "ambient": (
        lambda key: 3 if key.lighting else 0,
        lambda key, state: _array(state.ambient[:3]),
    ),
    "material": (lambda key: MATERIAL_SIZE if key.lighting else 0, _material),
    "lights": (lambda key: LIGHT_SIZE * key.lighting.lights if key.lighting else 0, _lights),
    "fog": (
        lambda key: 3 if key.fog not in (None, FogMode.NONE) else 0,
        lambda key, state: _array(state.fog),
    ),
    "point": (lambda key: 5 if key.point_scale else 0, _point),
    "tween": (lambda key: 1 if key.tween else 0, lambda key, state: _array((state.tween,))),
}
"""Name of a block of the uniform file -> (function that returns its size in scalars from the key,
function that returns its values from key and state).  The blocks lie in the file in this order."""
