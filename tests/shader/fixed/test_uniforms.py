"""Matrices and the packing of uniforms."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from dp2emu.d3d.enums import LightType
from dp2emu.shader.fixed.records import FixedState, FixedVertex, Lighting
from dp2emu.shader.fixed.uniforms import (
    BLOCKS,
    LIGHT,
    normal_matrix,
    product,
    uniform_layout,
    unit,
    vertex_uniforms,
)
from tests.shader.fixed.vertices import a_matrix, a_state

ONE = np.float32(1)


def test_products_are_summed_from_left_to_right() -> None:
    tiny = np.float32(2.0**-24)
    left = np.array([[tiny, tiny, ONE, 0]], np.float32)
    right = np.ones((4, 1), np.float32)
    assert product(left, right)[0, 0] == ((tiny + tiny) + ONE) != tiny + (tiny + ONE)


def test_normal_matrix_is_the_inverse_transpose() -> None:
    source = random.Random(1)
    matrices = np.array([a_matrix(source) for _ in range(20)], np.float32).reshape(-1, 4, 4)
    wanted = np.linalg.inv(matrices[:, :3, :3].astype(np.float64)).swapaxes(1, 2)
    assert np.abs(normal_matrix(matrices) - wanted).max() < 1e-5


def test_normals_of_projections_are_those_of_planes() -> None:
    source = random.Random(3)
    numbers = [[source.uniform(-2, 2) for _ in range(16)] for _ in range(20)]
    matrices = np.array(numbers, np.float32).reshape(-1, 4, 4)
    wanted = np.linalg.inv(matrices.astype(np.float64)).swapaxes(1, 2)[:, :3, :3]
    off = np.abs(normal_matrix(matrices) - wanted) / np.abs(wanted).max(axis=(1, 2))[:, None, None]
    assert off.max() < 1e-4


def test_a_matrix_without_an_inverse_moves_normals_itself() -> None:
    flat = np.diag([1, 0, 2, 1]).astype(np.float32)
    assert normal_matrix(flat).tolist() == flat[:3, :3].tolist()


def test_unit_vectors_leave_zero_alone() -> None:
    assert unit(np.array([[3, 0, 4], [0, 0, 0]], np.float32)).tolist() == [
        [float(np.float32(3) * np.float32(0.2)), 0, float(np.float32(4) * np.float32(0.2))],
        [0, 0, 0],
    ]


def test_lights_lie_in_the_order_they_are_summed() -> None:
    kinds = (LightType.DIRECTIONAL, LightType.SPOT, LightType.POINT, LightType.SPOT)
    state = a_state(random.Random(2), kinds)
    key = FixedVertex(lighting=Lighting(points=1, spots=2, directionals=1))
    places = uniform_layout(key)
    values = vertex_uniforms(key, state)["f"]
    start = places.offsets["lights"]
    rows = values[start : start + 88].reshape(4, 22)
    reds = [state.lights[n].diffuse[0] for n in (2, 1, 3, 0)]
    assert rows[:, 0].tolist() == reds
    cosines = [math.cos(state.lights[n].phi / 2) for n in (2, 1, 3, 0)]
    assert np.abs(rows[:, LIGHT["cos_phi"]] - cosines).max() < 1e-7


def test_the_file_is_as_long_as_its_blocks_and_read_only() -> None:
    key = FixedVertex(clip_planes=2, lighting=Lighting(), point_scale=True, tween=True)
    state = FixedState(clip_planes=((1, 0, 0, 0), (0, 1, 0, 0)))
    values = vertex_uniforms(key, state)["f"]
    assert (
        len(values)
        == sum(scalars(key) for scalars, _ in BLOCKS.values())
        == uniform_layout(key).size
    )
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 1


def test_a_missing_transform_is_the_identity() -> None:
    values = vertex_uniforms(FixedVertex(), FixedState())["f"]
    assert values.tolist() == np.eye(4).ravel().tolist()


def test_matrices_that_are_no_numbers_raise_nothing() -> None:
    state = FixedState({256: (math.inf,) * 16, 2: (math.nan,) * 16})
    key = FixedVertex(normal=True, lighting=Lighting(directionals=1))
    light = a_state(random.Random(3), (LightType.DIRECTIONAL,)).lights
    with np.errstate(all="raise"):
        vertex_uniforms(key, FixedState(state.transforms, light))
