"""Fog factors and the blend."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.enums import FogMode
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.fog import Fog, FogSource, blend_fog, fog_uniforms
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import run
from tests.shader.fixed import model

COLOR = (0.25, 0.5, 1.0)
RGB = (1.0, 0.75, 0.0)


def program(fog: Fog) -> Program:
    b = Builder(Stage.PIXEL)
    for channel, value in zip("xyz", blend_fog(b, fog, [b.input(c) for c in "rgb"]), strict=True):
        b.output(channel, value)
    return b.program()


def blended(fog: Fog, name: str, places: list[float], *numbers: float) -> np.ndarray:
    """Shape (places, 3)."""
    inputs = {c: np.full(1, value, np.float32) for c, value in zip("rgb", RGB, strict=True)}
    inputs[name] = np.array(places, np.float32)
    uniforms = fog_uniforms(COLOR, *numbers)
    found = run(program(fog), inputs, uniforms, len(places)).outputs
    return np.stack([found[c] for c in "xyz"], axis=1)


def mixed(factor: float) -> list[float]:
    return [c * factor + f * (1 - factor) for c, f in zip(RGB, COLOR, strict=True)]


@pytest.mark.parametrize("mode", [FogMode.LINEAR, FogMode.EXP, FogMode.EXP2])
@pytest.mark.parametrize(("source", "name"), [("TABLE_Z", "depth.x"), ("TABLE_W", "w.x")])
def test_table_fog_by_depth_or_by_w(source: str, name: str, mode: FogMode) -> None:
    places = [0.0, 0.125, 0.5, 0.75, 2.0, 90.0]
    found = blended(Fog(FogSource[source], mode), name, places, 0.25, 1.5, 0.7)
    wanted = [mixed(model.fog(mode, d, 0.25, 1.5, 0.7)) for d in places]
    assert np.abs(found - wanted).max() < 1e-6


def test_vertex_fog_is_the_interpolated_factor_clamped() -> None:
    found = blended(Fog(FogSource.VERTEX), "fog0.x", [-1.0, 0.0, 0.25, 1.0, 2.0], 0, 1, 1)
    assert found.tolist() == [mixed(factor) for factor in (0, 0, 0.25, 1, 1)]


def test_linear_fog_without_extent_is_a_wall() -> None:
    fog = Fog(FogSource.TABLE_Z, FogMode.LINEAR)
    found = blended(fog, "depth.x", [0.25, 0.75], 0.5, 0.5, 1.0)
    assert found.tolist() == [mixed(1), mixed(0)]


def test_linear_fog_may_run_backwards() -> None:
    fog = Fog(FogSource.TABLE_Z, FogMode.LINEAR)
    found = blended(fog, "depth.x", [0.0, 0.5, 1.0], 1.0, 0.0, 1.0)
    assert found.tolist() == [mixed(0), mixed(0.5), mixed(1)]


def test_only_the_input_that_counts_is_read() -> None:
    for source, name in (("VERTEX", "fog0.x"), ("TABLE_Z", "depth.x"), ("TABLE_W", "w.x")):
        ports = {port.name for port in program(Fog(FogSource[source], FogMode.EXP)).inputs}
        assert ports == {"r", "g", "b", name}
