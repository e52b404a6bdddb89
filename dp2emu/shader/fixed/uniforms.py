"""The numbers of a vertex program, packed as ``layout`` says.

Everything is float32 in a fixed order of operations; the cosines of spot lights come from the
shader's own cosine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np

from dp2emu.d3d.enums import LightType, TransformState
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.layout import BLOCKS, FILE, LIGHT, LIGHT_SIZE, layout
from dp2emu.shader.fixed.matrices import normal_matrix, product, unit
from dp2emu.shader.fixed.records import FixedState, FixedVertex, Light
from dp2emu.shader.functions import cos
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import run
from dp2emu.shader.types import F32

WORLD = 256
"""D3DTS_WORLDMATRIX(0)."""

_IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))


def vertex_uniforms(key: FixedVertex, state: FixedState) -> dict[str, F32]:
    """The uniform file ``f`` of ``vertex_program(key)``, float32 of shape (size,), read only.

    Raises ValueError for a state that has not the lights or clip planes of the key.
    """
    _check(key, state)
    places = layout(key)
    values = np.zeros(places.size, np.float32)
    for name, scalars in BLOCKS.items():
        count, start = scalars(key), places.offsets[name]
        if count:
            values[start : start + count] = _PACKING[name](key, state).reshape(count)
    values.flags.writeable = False
    return {FILE: values}


def _check(key: FixedVertex, state: FixedState) -> None:
    if len(state.clip_planes) != key.clip_planes:
        raise ValueError(f"{len(state.clip_planes)} clip planes, not {key.clip_planes}")
    for kind, _, count in key.lighting.runs if key.lighting else ():
        found = sum(light.type is kind for light in state.lights)
        if found != count:
            raise ValueError(f"{found} lights of type {kind.sdk}, not {count}")


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
"""What is packed as it is."""
_ORDER = (LightType.POINT, LightType.SPOT, LightType.DIRECTIONAL)


def _lights(key: FixedVertex, state: FixedState) -> F32:
    """One row for each light, in the order of the program."""
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
    put("cos_theta", _cosines(_rows(lights, lambda light: (light.theta,))))
    put("cos_phi", _cosines(_rows(lights, lambda light: (light.phi,))))
    return rows


def _rows(lights: Sequence[Light], part: Callable[[Light], Sequence[float]]) -> F32:
    return np.array([part(light) for light in lights], np.float32)


@lru_cache(maxsize=1)
def _half_cosine() -> Program:
    b = Builder(Stage.VERTEX)
    b.output("cosine", cos(b.input("angle") * 0.5))
    return b.program()


def _cosines(angles: F32) -> F32:
    """Cosines of half the angles, the same shape."""
    return _known_cosines(angles.tobytes()).reshape(angles.shape)


@lru_cache(maxsize=1 << 6)
def _known_cosines(angles: bytes) -> F32:
    """Cosines of half of float32 angles, read only.  Lights keep their angles while all else
    moves; as bytes a zero and a negative zero are two.
    """
    values = np.frombuffer(angles, np.float32)
    cosines: F32 = run(_half_cosine(), {"angle": values}, {}, values.size).outputs["cosine"]
    cosines.flags.writeable = False
    return cosines


def _point(key: FixedVertex, state: FixedState) -> F32:
    return _array((state.point_size, *state.point_scale, state.viewport_height))


_PACKING: dict[str, Callable[[FixedVertex, FixedState], F32]] = {
    "clip_matrix": _clip,
    "eye_matrix": _eye,
    "normal_matrix": _normal,
    "world_matrix": _world,
    "clip_plane": _planes,
    "texture": _texture,
    "ambient": lambda key, state: _array(state.ambient[:3]),
    "material": _material,
    "lights": _lights,
    "fog": lambda key, state: _array(state.fog),
    "point": _point,
    "tween": lambda key, state: _array((state.tween,)),
}
