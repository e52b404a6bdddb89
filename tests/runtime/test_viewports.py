"""Clip volumes and lights of DirectX 5 and 6 as those of later versions."""

from __future__ import annotations

import pytest

from dp2emu.d3d.enums import LightType
from dp2emu.dp2.states.raw_state import IDENTITY
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.runtime.viewports import ClipVolume, early_light


def moved(matrix: tuple[float, ...], point: tuple[float, ...]) -> list[float]:
    return [sum(point[k] * matrix[4 * k + n] for k in range(4)) for n in range(4)]


def test_the_usual_volume_changes_nothing() -> None:
    assert ClipVolume().matrix() == IDENTITY


@pytest.mark.parametrize("w", [1.0, 2.0])
def test_corners_of_a_volume_are_those_of_the_screen(w: float) -> None:
    matrix = ClipVolume(-3.0, 5.0, 4.0, 8.0, 0.25, 0.75).matrix()
    near = moved(matrix, (-3.0 * w, 5.0 * w, 0.25 * w, w))
    far = moved(matrix, (1.0 * w, -3.0 * w, 0.75 * w, w))
    assert [lane / w for lane in near] == [-1.0, 1.0, 0.0, 1.0]
    assert [lane / w for lane in far] == [1.0, -1.0, 1.0, 1.0]


@pytest.mark.parametrize("volume", [ClipVolume(width=0.0), ClipVolume(min_z=1.0)])
def test_a_volume_without_inside_is_none(volume: ClipVolume) -> None:
    assert volume.matrix() == IDENTITY


def test_scales_are_pixels_per_unit() -> None:
    volume = ClipVolume.scaled(Viewport(0, 0, 8, 6), 2.0, 3.0, 0.0, 1.0)
    assert volume == ClipVolume(-2.0, 1.0, 4.0, 2.0)


@pytest.mark.parametrize(
    ("kind", "made", "direction"),
    [
        (1, LightType.POINT, (0.0, 0.0, 1.0)),
        (2, LightType.SPOT, (0.0, 0.0, 1.0)),
        (3, LightType.DIRECTIONAL, (0.0, 0.0, 1.0)),
        (4, LightType.DIRECTIONAL, (-1.0, -2.0, -3.0)),
        (5, LightType.SPOT, (0.0, 0.0, 1.0)),
    ],
)
def test_lights_have_a_kind_that_drivers_know(
    kind: int, made: LightType, direction: tuple[float, ...]
) -> None:
    color = (0.5, 0.25, 0.125, 1.0)
    light = early_light(kind, color, (1.0, 2.0, 3.0), (0.0, 0.0, 1.0), (9.0,) * 7)
    assert (light.type, light.direction) == (made, direction)
    assert light.diffuse == light.specular == color
