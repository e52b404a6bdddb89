"""The fixed-function vertex stage for one vertex, in float64 and from the formulas alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.enums import FogMode, LightType, TexGen
from dp2emu.d3d.enums import MaterialColorSource as Source
from dp2emu.shader.fixed.records import FixedState, FixedVertex, IndexForm, Light, Lighting

F64 = NDArray[np.float64]


@dataclass
class Vertex:
    """Attributes by usage, four components each."""

    attributes: dict[str, list[float]]
    missing: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 1.0])

    def __getitem__(self, name: str) -> F64:
        return np.array(self.attributes.get(name, self.missing))


def matrix(state: FixedState, number: int) -> F64:
    return np.array(state.transforms.get(number, np.eye(4).ravel()), np.float64).reshape(4, 4)


def norm(x: F64) -> F64:
    size = math.sqrt(x @ x)
    return x / size if size else x * 0


def influences(key: FixedVertex, vertex: Vertex) -> list[tuple[int, float]]:
    weights = list(vertex["blendweight0"][: key.weights])
    weights.append(1 - sum(weights))
    indices = list(vertex["blendindices0"])
    if key.indices is IndexForm.NONE:
        numbers = range(4)
    elif key.indices is IndexForm.BYTES:
        numbers = [int(i) for i in indices]
    else:
        red, green, blue, alpha = (round(255 * i) for i in indices)
        numbers = [blue, green, red, alpha]
    return list(zip(numbers, weights, strict=False))


def moved(key: FixedVertex, state: FixedState, vertex: Vertex, after: F64) -> F64:
    """The position through the world matrices and one more."""
    place = vertex["position0"]
    if key.tween:
        place = place * (1 - state.tween) + vertex["position1"] * state.tween
    return sum(w * (place @ matrix(state, 256 + n) @ after) for n, w in influences(key, vertex))


def eye_position(key: FixedVertex, state: FixedState, vertex: Vertex) -> F64:
    x = moved(key, state, vertex, matrix(state, 2))
    return x[:3] / x[3]


def eye_normal(key: FixedVertex, state: FixedState, vertex: Vertex) -> F64:
    if not key.normal:
        return np.zeros(3)
    normal = vertex["normal0"][:3]
    if key.tween:
        normal = normal * (1 - state.tween) + vertex["normal1"][:3] * state.tween
    total = np.zeros(3)
    for number, weight in influences(key, vertex):
        turn = (matrix(state, 256 + number) @ matrix(state, 2))[:3, :3]
        total += weight * (normal @ np.linalg.inv(turn).T)
    return norm(total) if key.normalize else total


def attenuated(light: Light, distance: float) -> float:
    a, b, c = light.attenuation
    return 1 / (a + b * distance + c * distance**2) if distance <= light.range else 0.0


def cone(light: Light, rho: float) -> float:
    inner, outer = math.cos(light.theta / 2), math.cos(light.phi / 2)
    if rho > inner:
        return 1.0
    return ((rho - outer) / (inner - outer)) ** light.falloff if rho > outer else 0.0


def incidence(light: Light, view: F64, position: F64) -> tuple[F64, float]:
    toward = -norm(np.array(light.direction) @ view[:3, :3])
    if light.type is LightType.DIRECTIONAL:
        return toward, 1.0
    way = (np.array([*light.position, 1.0]) @ view)[:3] - position
    strength = attenuated(light, math.sqrt(way @ way))
    if light.type is LightType.SPOT:
        strength *= cone(light, float(norm(way) @ toward))
    return norm(way), strength


def lit(key: FixedVertex, state: FixedState, vertex: Vertex) -> tuple[F64, F64]:
    lighting = key.lighting
    assert lighting is not None
    position, normal = eye_position(key, state, vertex), eye_normal(key, state, vertex)
    ambient, diffuse, specular = np.array(state.ambient[:3]), np.zeros(3), np.zeros(3)
    for light in state.lights:
        toward, strength = incidence(light, matrix(state, 2), position)
        ambient = ambient + strength * np.array(light.ambient[:3])
        facing = float(normal @ toward)
        diffuse += strength * min(max(facing, 0), 1) * np.array(light.diffuse[:3])
        viewer = norm(-position) if lighting.local_viewer else np.array([0, 0, -1.0])
        glance = float(normal @ norm(toward + viewer))
        if facing > 0 and glance > 0:
            specular += strength * glance**state.material.power * np.array(light.specular[:3])
    return combined(lighting, state, vertex, (ambient, diffuse, specular))


def combined(
    lighting: Lighting, state: FixedState, vertex: Vertex, sums: tuple[F64, F64, F64]
) -> tuple[F64, F64]:
    def color(name: str) -> F64:
        source = getattr(lighting, f"{name}_source")
        if source is Source.MATERIAL:
            return np.array(getattr(state.material, name))
        return vertex["color0" if source is Source.COLOR1 else "color1"]

    ambient, diffuse, specular = sums
    first = color("emissive")[:3] + color("ambient")[:3] * ambient + color("diffuse")[:3] * diffuse
    second = np.zeros(4)
    if lighting.specular:
        second = np.array([*(color("specular")[:3] * specular), color("specular")[3]])
    return np.clip([*first, color("diffuse")[3]], 0, 1), np.clip(second, 0, 1)


def generated(source: TexGen, position: F64, normal: F64) -> F64:
    if source is TexGen.CAMERASPACENORMAL:
        return np.array([*normal, 1])
    if source is TexGen.CAMERASPACEPOSITION:
        return np.array([*position, 1])
    ray = norm(position)
    x, y, z = ray - 2 * (normal @ ray) * normal
    if source is TexGen.CAMERASPACEREFLECTIONVECTOR:
        return np.array([x, y, z, 1])
    m = 2 * math.sqrt(x**2 + y**2 + (z + 1) ** 2)
    return np.array([x / m + 0.5, y / m + 0.5, 0, 1])


def texcoord(key: FixedVertex, state: FixedState, vertex: Vertex, number: int) -> F64:
    stage = key.textures[number]
    row = np.array([0, 0, 0, 1.0])
    if stage.source is TexGen.PASSTHRU:
        row[: stage.components] = vertex[f"texcoord{stage.set}"][: stage.components]
        if stage.count and 0 < stage.components < 4:
            row[3] = 0
            row[stage.components] = 1
    else:
        position = eye_position(key, state, vertex)
        row = generated(stage.source, position, eye_normal(key, state, vertex))
    if not stage.count:
        return row
    result = np.array([0, 0, 0, 1.0])
    result[: stage.count] = (row @ matrix(state, 16 + number))[: stage.count]
    return result


def fog(mode: FogMode, d: float, start: float, end: float, density: float) -> float:
    if mode is FogMode.LINEAR:
        factor = (end - d) / (end - start)
    else:
        factor = math.exp(-((d * density) ** (1 if mode is FogMode.EXP else 2)))
    return min(max(factor, 0), 1)
