"""Lit colours against the formulas in float64."""

from __future__ import annotations

import random

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import LightType
from dp2emu.d3d.enums import MaterialColorSource as Source
from dp2emu.shader.fixed.records import (
    FixedState,
    FixedVertex,
    IndexForm,
    Lighting,
    material_source,
)
from dp2emu.shader.fixed.vertex import vertex_program
from dp2emu.shader.ir import Loop, walk
from tests.shader.fixed import model
from tests.shader.fixed.vertices import a_state, a_vertex, outputs

POINT, SPOT, SUN = LightType.POINT, LightType.SPOT, LightType.DIRECTIONAL
BOUND = 2e-5
"""Of a channel: rounding of float32 over some fifty operations."""


def lighting(kinds: tuple[LightType, ...], **fields: object) -> Lighting:
    counts = (sum(kind is wanted for kind in kinds) for wanted in (POINT, SPOT, SUN))
    return replace(Lighting(*counts, specular=True), **fields)


def check(key: FixedVertex, state: FixedState, seed: int, count: int = 40) -> None:
    source = random.Random(seed)
    vertices = [a_vertex(source) for _ in range(count)]
    found = outputs(key, state, vertices)
    wanted = [model.lit(key, state, vertex) for vertex in vertices]
    assert np.abs(found["color0"] - [first for first, _ in wanted]).max() < BOUND
    assert np.abs(found["color1"] - [second for _, second in wanted]).max() < BOUND


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("kinds", [(), (SUN,), (POINT,), (SPOT,), (SUN, SPOT, POINT, SUN, POINT)])
def test_lights_of_all_types(kinds: tuple[LightType, ...], local: bool) -> None:
    key = FixedVertex(normal=True, lighting=lighting(kinds, local_viewer=local), normalize=True)
    check(key, a_state(random.Random(len(kinds)), kinds), seed=1)


def test_normals_that_are_not_normalised() -> None:
    key = FixedVertex(normal=True, lighting=lighting((SUN, POINT)))
    check(key, a_state(random.Random(7), (SUN, POINT)), seed=2)


def test_a_normal_longer_than_one_reflects_no_more_than_all_light() -> None:
    key = FixedVertex(normal=True, lighting=lighting((SUN,), specular=False))
    state = a_state(random.Random(3), (SUN,))
    small = tuple(0.25 * (place % 5 == 0) for place in range(15))
    state = replace(state, transforms={256: (*small, 1.0)})
    check(key, state, seed=3)


@pytest.mark.parametrize("normalize", [False, True])
def test_normals_follow_blended_and_indexed_matrices(normalize: bool) -> None:
    state = a_state(random.Random(11), (SUN, POINT))
    for form in (IndexForm.NONE, IndexForm.BYTES):
        key = FixedVertex(
            normal=True,
            lighting=lighting((SUN, POINT)),
            normalize=normalize,
            weights=2,
            indices=form,
        )
        check(key, state, seed=4)


def test_tweened_normals() -> None:
    key = FixedVertex(normal=True, lighting=lighting((SUN,)), tween=True, normalize=True)
    check(key, a_state(random.Random(12), (SUN,)), seed=5)


@pytest.mark.parametrize("part", ["diffuse", "ambient", "specular", "emissive"])
@pytest.mark.parametrize("source", [Source.COLOR1, Source.COLOR2])
def test_each_material_colour_can_come_from_the_vertex(part: str, source: Source) -> None:
    lit = lighting((SUN, POINT), **{f"{part}_source": source})
    key = FixedVertex(normal=True, diffuse=True, specular=True, lighting=lit, normalize=True)
    check(key, a_state(random.Random(5), (SUN, POINT)), seed=6)


def test_a_source_the_vertex_lacks_is_the_material() -> None:
    def source(wanted: Source, color_vertex: bool = True) -> Source:
        return material_source(wanted, color_vertex=color_vertex, diffuse=True, specular=False)

    assert source(Source.COLOR1) is Source.COLOR1
    assert source(Source.COLOR2) is Source.MATERIAL
    assert source(Source.MATERIAL) is Source.MATERIAL
    assert source(Source.COLOR1, color_vertex=False) is Source.MATERIAL


def test_without_a_normal_only_ambient_light_counts() -> None:
    key = FixedVertex(lighting=lighting((SUN, POINT)))
    state = a_state(random.Random(8), (SUN, POINT))
    check(key, state, seed=7)
    dark = replace(state, lights=tuple(replace(x, ambient=(0, 0, 0, 0)) for x in state.lights))
    unlit = FixedVertex(lighting=lighting(()))
    vertex = [a_vertex(random.Random(9))]
    bare = outputs(unlit, replace(state, lights=()), vertex)["color0"]
    assert np.array_equal(outputs(key, dark, vertex)["color0"], bare)


def test_without_specular_the_second_colour_is_transparent_black() -> None:
    key = FixedVertex(normal=True, lighting=lighting((SUN,), specular=False))
    found = outputs(key, a_state(random.Random(1), (SUN,)), [a_vertex(random.Random(1))])
    assert (found["color1"] == 0).all()


def test_a_light_reaches_to_its_range_and_no_further() -> None:
    state = a_state(random.Random(1), (POINT,))
    place = (0.0, 0.0, 4.0)
    lamp = replace(state.lights[0], position=place, ambient=(1, 1, 1, 1), attenuation=(2, 0, 0))
    key = FixedVertex(lighting=Lighting(points=1))
    white = replace(state.material, emissive=(0,) * 4, ambient=(1,) * 4)
    vertex = model.Vertex({"position0": [0.0, 0.0, 0.0, 1.0]})
    for reach, wanted in ((4.0, 0.5), (float(np.nextafter(np.float32(4), 0)), 0.0)):
        dark = FixedState(material=white, lights=(replace(lamp, range=reach),))
        assert outputs(key, dark, [vertex])["color0"][0, 0] == wanted


def test_infinite_attenuation_does_not_reach_what_faces_away() -> None:
    state = a_state(random.Random(2), (POINT,))
    lamp = replace(
        state.lights[0],
        position=(0, 0, 4),
        attenuation=(0, 0, 0),
        ambient=(0, 0, 0, 0),
        diffuse=(1, 0, 1, 1),
        range=100.0,
    )
    key = FixedVertex(normal=True, lighting=Lighting(points=1))
    for normal, red in (([0, 0, 1, 1], 1.0), ([0, 0, -1, 1], 0.25)):
        vertex = model.Vertex({"position0": [0, 0, 0, 1], "normal0": normal})
        material = replace(state.material, emissive=(0.25,) * 4, ambient=(0,) * 4)
        found = outputs(key, FixedState(material=material, lights=(lamp,)), [vertex])
        assert found["color0"][0, :2].tolist() == [red, 0.25]


def test_many_lights_are_a_loop_and_give_the_sum_of_them() -> None:
    kinds = (POINT,) * 3 + (SPOT,) * 2 + (SUN,) * 20
    state = a_state(random.Random(4), kinds)
    dim = [replace(x, diffuse=(0.01, 0.02, 0.03, 1), ambient=(0,) * 4) for x in state.lights]
    key = FixedVertex(normal=True, lighting=lighting(kinds), normalize=True)
    check(key, replace(state, lights=tuple(dim)), seed=8)
    loops = [s for s in walk(vertex_program(key).statements) if isinstance(s, Loop)]
    assert [loop.limit for loop in loops] == [3, 2, 20]


def test_a_thousand_lights_make_no_longer_program_than_two() -> None:
    few, many = (
        vertex_program(FixedVertex(normal=True, lighting=Lighting(points=count)))
        for count in (2, 1000)
    )
    assert len(few.statements) == len(many.statements)
