"""What is drawn is what the names promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmark.workloads import (
    GRID,
    SERIES,
    WORKLOADS,
    Look,
    Size,
    Step,
    changes,
    torus,
    torus_indices,
    workload_of,
)

FULL = Size()


def areas(vertices: Any) -> Any:
    """Of triangles on the screen, in pixels."""
    x, y = np.moveaxis(vertices["position"][:, :2].astype(float).reshape(-1, 3, 2), -1, 0)
    return (
        abs((x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0]))
        / 2
    )


@pytest.mark.parametrize(
    ("name", "triangles", "pixels"),
    [("zonly", 20_000, 200), ("textured", 4_000, 1_000), ("msaa4", 4_000, 1_000),
     ("small_draws", 4_000, 100)],
)  # fmt: skip
def test_triangles_are_as_many_and_as_large_as_said(
    name: str, triangles: int, pixels: int
) -> None:
    workload = WORKLOADS[name](FULL)
    assert (workload.width, workload.height) == (1024, 768)
    assert workload.triangles == triangles == len(workload.vertices) // 3
    assert areas(workload.vertices).mean() == pytest.approx(pixels, rel=0.02)


@pytest.mark.parametrize("name", ["zonly", "textured", "msaa4", "small_draws"])
def test_positions_lie_on_the_grid_that_both_sides_snap_to(name: str) -> None:
    places = WORKLOADS[name](FULL).vertices["position"][:, :2] * GRID
    assert (places == np.rint(places)).all()


@pytest.mark.parametrize(("name", "quads"), [("blend", 16), ("ps40", 4)])
def test_quads_cover_the_screen(name: str, quads: int) -> None:
    workload = WORKLOADS[name](FULL)
    assert areas(workload.vertices).sum() == quads * 1024 * 768


def test_mesh_has_100_000_vertices_each_of_which_is_used() -> None:
    workload = WORKLOADS["mesh"](FULL)
    assert len(workload.vertices) == 100_000 and workload.triangles == 200_000
    assert workload.indices is not None
    assert (np.unique(workload.indices) == np.arange(100_000)).all()


def test_triangles_of_the_torus_face_the_way_its_normals_point() -> None:
    vertices, indices = torus(24, 20), torus_indices(24, 20)
    a, b, c = (vertices["position"][indices[n::3]].astype(float) for n in range(3))
    # Direct3D is left-handed: seen from where the normal points, the corners go clockwise.
    out = np.cross(b - a, c - a)
    assert ((out * vertices["normal"][indices[::3]]).sum(axis=1) > 0).all()


def test_each_small_draw_has_another_state_than_the_one_before() -> None:
    steps = WORKLOADS["small_draws"](FULL).steps
    assert len(steps) == 2_000
    _, *others = changes(steps)
    assert all(changed for _, changed in others)


def test_the_first_step_of_a_frame_sets_everything_and_others_what_changes() -> None:
    steps = (Step(Look(), 0, 3), Step(Look(depth=True), 3, 3), Step(Look(depth=True), 6, 3))
    fields = [changed for _, changed in changes(steps)]
    assert fields[0].keys() == set(Look.__struct_fields__)
    assert fields[1:] == [{"depth": True}, {}]


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_tiny_scale_leaves_something_to_draw(name: str) -> None:
    workload = workload_of(name, 1e-6)
    assert workload.triangles >= 1
    assert min(workload.width, workload.height) == 16


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_workload_takes_the_scale(name: str) -> None:
    small, full = WORKLOADS[name](Size(0.01)), WORKLOADS[name](FULL)
    assert small.triangles < full.triangles
    assert (small.width, small.height) < (full.width, full.height)


def test_a_series_is_asked_for_by_its_amount() -> None:
    assert workload_of("triangles=30", 1.0).triangles == 30
    pixels = workload_of("pixels=10000", 1.0)
    assert pixels.width * pixels.height == 10_000
    assert SERIES.keys() == {"triangles", "pixels"}
