"""Making vertices and states, and running programs on them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from dp2emu.d3d.enums import LightType
from dp2emu.shader.fixed.records import FixedState, FixedVertex, Light, Material
from dp2emu.shader.fixed.uniforms import vertex_uniforms
from dp2emu.shader.fixed.vertex import vertex_program
from dp2emu.shader.reference import run
from tests.shader.fixed.model import Vertex


def single(value: float) -> float:
    return float(np.float32(value))


def numbers(source: random.Random, count: int, low: float, high: float) -> tuple[float, ...]:
    return tuple(single(source.uniform(low, high)) for _ in range(count))


def a_matrix(source: random.Random) -> tuple[float, ...]:
    """Invertible and affine: diagonally dominant, and a translation."""
    rows = [[*numbers(source, 3, -0.3, 0.3), 0.0] for _ in range(3)]
    for place in range(3):
        rows[place][place] += single(source.uniform(0.8, 1.4))
    rows.append([*numbers(source, 3, -1, 1), 1.0])
    return tuple(single(x) for row in rows for x in row)


def a_projection(source: random.Random) -> tuple[float, ...]:
    return (1.25, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 1.125, 1, 0, 0, -1.125, 0)


def a_light(source: random.Random, kind: LightType) -> Light:
    color = [(*numbers(source, 3, 0, 0.7), 1.0) for _ in range(3)]
    x, y = numbers(source, 2, -2, 2)
    return Light(
        kind,
        *color,
        position=(x, y, single(source.uniform(-1, 1))),
        direction=(-x / 4, -y / 4, single(source.uniform(0.5, 1.5))),
        range=single(source.uniform(2, 20)),
        falloff=single(source.uniform(0.5, 3)),
        attenuation=tuple(numbers(source, 3, 0.2, 0.6)),
        theta=single(source.uniform(0.1, 0.6)),
        phi=single(source.uniform(0.7, 3.0)),
    )


def a_state(
    source: random.Random, lights: Sequence[LightType] = (), planes: int = 0
) -> FixedState:
    world = {256 + number: a_matrix(source) for number in (0, 1, 2, 3, 77, 200)}
    textures = {16 + stage: tuple(numbers(source, 16, -1, 1)) for stage in range(8)}
    view = list(a_matrix(source))
    view[14] += 6.0
    colors = [numbers(source, 4, 0, 0.6) for _ in range(4)]
    return FixedState(
        transforms=world | textures | {2: tuple(view), 3: a_projection(source)},
        lights=tuple(a_light(source, kind) for kind in lights),
        material=Material(*colors, power=single(source.uniform(1, 20))),
        ambient=numbers(source, 4, 0, 0.5),
        fog=(2.0, 12.0, 0.125),
        tween=0.375,
        point_size=3.0,
        point_scale=numbers(source, 3, 0.1, 0.5),
        viewport_height=480.0,
        clip_planes=tuple(numbers(source, 4, -1, 1) for _ in range(planes)),
    )


def a_vertex(source: random.Random) -> Vertex:
    attributes = {
        "position0": [*numbers(source, 3, -1, 1), 1.0],
        "position1": [*numbers(source, 3, -1, 1), 1.0],
        "normal0": [*numbers(source, 2, -0.5, 0.5), -0.8, 1.0],
        "normal1": [*numbers(source, 2, -0.5, 0.5), -0.7, 1.0],
        "color0": [*numbers(source, 4, 0, 1)],
        "color1": [*numbers(source, 4, 0, 1)],
        "psize0": [5.0, 0.0, 0.0, 1.0],
        "blendweight0": [*numbers(source, 4, 0, 0.4)],
        "blendindices0": [77.0, 3.0, 200.0, 1.0],
    }
    coordinates = {f"texcoord{n}": [*numbers(source, 4, -2, 2)] for n in range(8)}
    return Vertex({name: [single(x) for x in v] for name, v in (attributes | coordinates).items()})


def outputs(
    key: FixedVertex, state: FixedState, vertices: Sequence[Vertex]
) -> dict[str, np.ndarray]:
    """Each output register, shape (vertices, components)."""
    program = vertex_program(key)
    inputs = {}
    for port in program.inputs:
        name, component = port.name.split(".")
        lane = "xyzw".index(component)
        inputs[port.name] = np.array([v[name][lane] for v in vertices], np.float32)
    found = run(program, inputs, vertex_uniforms(key, state), len(vertices)).outputs
    registers: dict[str, list[np.ndarray]] = {}
    for name, lanes in found.items():
        registers.setdefault(name.split(".")[0], []).append(lanes)
    return {name: np.stack(lanes, axis=-1) for name, lanes in registers.items()}
