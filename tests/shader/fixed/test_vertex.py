"""Positions, colours that are not lit, fog, point sizes and clip distances."""

from __future__ import annotations

import random
from dataclasses import replace as vertex_with

import numpy as np
import pytest
from msgspec.structs import replace

from dp2emu.d3d.enums import FogMode, LightType
from dp2emu.shader.fixed.records import FixedState, FixedVertex, IndexForm, Lighting
from dp2emu.shader.fixed.uniforms import vertex_uniforms
from dp2emu.shader.fixed.vertex import vertex_program
from tests.shader.fixed import model
from tests.shader.fixed.vertices import a_state, a_vertex, outputs

VERTICES = [a_vertex(random.Random(seed)) for seed in range(40)]
STATE = a_state(random.Random(99))
PLANES = a_state(random.Random(99), planes=3)
PROJECTED = model.matrix(STATE, 2) @ model.matrix(STATE, 3)


def close(found: np.ndarray, wanted: object, bound: float = 1e-5) -> bool:
    expected = np.asarray(wanted)
    return bool((np.abs(found - expected) <= bound * (1 + np.abs(expected))).all())


@pytest.mark.parametrize("tween", [False, True])
@pytest.mark.parametrize("form", [IndexForm.NONE, IndexForm.BYTES])
@pytest.mark.parametrize("weights", [0, 1, 2, 3])
def test_position_is_the_weighted_sum_of_its_transforms(
    weights: int, form: IndexForm, tween: bool
) -> None:
    key = FixedVertex(weights=weights, indices=form, tween=tween)
    found = outputs(key, STATE, VERTICES)["position0"]
    assert close(found, [model.moved(key, STATE, v, PROJECTED) for v in VERTICES])


def test_indices_in_a_colour_are_its_bytes_with_blue_first() -> None:
    key = FixedVertex(weights=2, indices=IndexForm.COLOR)
    vertices = [
        vertex_with(
            v, attributes=v.attributes | {"blendindices0": [2 / 255, 200 / 255, 77 / 255, 0]}
        )
        for v in VERTICES
    ]
    found = outputs(key, STATE, vertices)["position0"]
    assert close(found, [model.moved(key, STATE, v, PROJECTED) for v in vertices])
    numbers = replace(key, indices=IndexForm.BYTES)
    vertices = [
        vertex_with(v, attributes=v.attributes | {"blendindices0": [77, 200, 2, 0]})
        for v in VERTICES
    ]
    assert np.array_equal(found, outputs(numbers, STATE, vertices)["position0"])


def test_an_index_beyond_the_palette_gives_nothing() -> None:
    key = FixedVertex(indices=IndexForm.BYTES)
    vertex = vertex_with(
        VERTICES[0], attributes=VERTICES[0].attributes | {"blendindices0": [256.0]}
    )
    assert (outputs(key, STATE, [vertex])["position0"] == 0).all()


def test_position_has_the_same_bits_whatever_else_is_computed() -> None:
    state = a_state(random.Random(5), (LightType.POINT,), planes=3)
    plain = outputs(FixedVertex(), replace(state, clip_planes=()), VERTICES)["position0"]
    key = FixedVertex(normal=True, lighting=Lighting(points=1), fog=FogMode.EXP, clip_planes=3)
    assert np.array_equal(outputs(key, state, VERTICES)["position0"], plain)


def test_position_is_summed_from_left_to_right() -> None:
    one = np.float32(1)
    place = [float(np.float32(2.0**-24)), float(np.float32(2.0**-24)), 1.0, 0.0]
    state = FixedState({256: (1.0,) * 16})
    found = outputs(FixedVertex(), state, [model.Vertex({"position0": place})])["position0"]
    x, y, z, w = (np.float32(p) * one for p in place)
    assert found[0, 0] == ((x + y) + z) + w != (x + (y + z)) + w


def test_colours_that_are_not_lit_are_those_of_the_vertex() -> None:
    found = outputs(FixedVertex(diffuse=True, specular=True), STATE, VERTICES)
    assert np.array_equal(found["color0"], np.float32([v["color0"] for v in VERTICES]))
    assert np.array_equal(found["color1"], np.float32([v["color1"] for v in VERTICES]))


def test_a_vertex_without_colours_is_white_and_transparent_black() -> None:
    found = outputs(FixedVertex(), STATE, VERTICES[:1])
    assert found["color0"].tolist() == [[1.0] * 4]
    assert found["color1"].tolist() == [[0.0] * 4]


@pytest.mark.parametrize("by_range", [False, True])
@pytest.mark.parametrize("mode", [FogMode.LINEAR, FogMode.EXP, FogMode.EXP2])
def test_vertex_fog_by_depth_and_by_distance(mode: FogMode, by_range: bool) -> None:
    key = FixedVertex(fog=mode, range_fog=by_range)
    places = [model.eye_position(key, STATE, v) for v in VERTICES]
    distances = [np.sqrt(p @ p) if by_range else abs(p[2]) for p in places]
    wanted = [[model.fog(mode, d, *STATE.fog)] for d in distances]
    assert close(outputs(key, STATE, VERTICES)["fog0"], wanted)
    assert 0 < np.mean(wanted) < 1


def test_vertex_fog_counts_the_depth_behind_the_camera_as_well() -> None:
    key = FixedVertex(fog=FogMode.EXP)
    front, back = (model.Vertex({"position0": [0, 0, z, 1]}) for z in (3.0, -3.0))
    factors = outputs(key, FixedState(fog=(0, 1, 0.5)), [front, back])["fog0"]
    assert factors[0] == factors[1] < 1


def test_fog_without_a_mode_is_the_alpha_of_the_specular_colour() -> None:
    found = outputs(FixedVertex(fog=FogMode.NONE, specular=True), STATE, VERTICES)["fog0"]
    assert np.array_equal(found[:, 0], np.float32([v["color1"][3] for v in VERTICES]))
    assert outputs(FixedVertex(fog=FogMode.NONE), STATE, VERTICES[:1])["fog0"].tolist() == [[0]]


def test_eye_positions_are_divided_by_their_w() -> None:
    key = FixedVertex(fog=FogMode.LINEAR)
    doubled = FixedState({2: (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2)}, fog=(0, 4, 1))
    vertex = model.Vertex({"position0": [0, 0, 2, 1]})
    assert outputs(key, doubled, [vertex])["fog0"].tolist() == [[0.75]]


@pytest.mark.parametrize("own", [False, True])
def test_point_size_shrinks_with_the_distance(own: bool) -> None:
    key = FixedVertex(point_scale=True, point_size=own)
    a, b, c = STATE.point_scale
    wanted = []
    for vertex in VERTICES:
        place = model.eye_position(key, STATE, vertex)
        d = np.sqrt(place @ place)
        size = vertex["psize0"][0] if own else STATE.point_size
        wanted.append([STATE.viewport_height * size * np.sqrt(1 / (a + b * d + c * d * d))])
    assert close(outputs(key, STATE, VERTICES)["psize0"], wanted)


def test_points_do_not_shrink_by_the_default_scale() -> None:
    vertex = model.Vertex({"position0": [0, 3, 4, 1]})
    state = FixedState(point_size=0.25, viewport_height=96)
    assert outputs(FixedVertex(point_scale=True), state, [vertex])["psize0"].tolist() == [[24]]


def test_a_point_size_that_is_not_scaled_passes() -> None:
    assert outputs(FixedVertex(point_size=True), STATE, VERTICES)["psize0"][0, 0] == 5.0
    assert "psize0" not in outputs(FixedVertex(), STATE, VERTICES)


def test_clip_distances_are_to_the_planes_in_world_space() -> None:
    key = FixedVertex(clip_planes=3, weights=1)
    found = outputs(key, PLANES, VERTICES)
    for number, plane in enumerate(PLANES.clip_planes):
        places = [model.moved(key, PLANES, v, np.eye(4)) for v in VERTICES]
        assert close(found[f"clip{number}"], [[place @ np.array(plane)] for place in places])


def test_equal_keys_have_the_same_program() -> None:
    assert vertex_program(FixedVertex()) is vertex_program(FixedVertex())


def test_only_what_is_read_is_an_input() -> None:
    names = {port.name.split(".")[0] for port in vertex_program(FixedVertex(normal=True)).inputs}
    assert names == {"position0"}


def test_lights_and_planes_the_state_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="expected 4 clip planes, got 0"):
        vertex_uniforms(FixedVertex(clip_planes=4), FixedState())
    with pytest.raises(ValueError, match="expected 1 lights of type D3DLIGHT_SPOT, got 0"):
        vertex_uniforms(FixedVertex(lighting=Lighting(spots=1)), FixedState())
