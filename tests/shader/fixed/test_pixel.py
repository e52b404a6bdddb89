"""The fixed-function pixel programs."""

from __future__ import annotations

import numpy as np

from dp2emu.d3d.enums import FogMode
from dp2emu.shader.fixed import Fog, FogSource, fog_uniforms, pixel_program
from dp2emu.shader.reference import run


def lanes(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def test_programs_with_the_same_statements_are_the_same_key() -> None:
    assert pixel_program(specular=False) is pixel_program(specular=False)
    assert hash(pixel_program(specular=True)) != hash(pixel_program(specular=False))


def test_without_specular_only_the_diffuse_colour_is_read() -> None:
    names = [port.name for port in pixel_program(specular=False).inputs]
    assert names == [f"color0.{c}" for c in "xyzw"]


def test_specular_is_added_to_red_green_and_blue_and_clamped() -> None:
    inputs = {f"color0.{c}": lanes(0.75) for c in "xyzw"}
    inputs |= {f"color1.{c}": lanes(0.125 * i) for i, c in enumerate("xyz", 1)}
    outputs = run(pixel_program(specular=True), inputs, {}, 1).outputs
    assert [float(outputs[f"target0.{c}"][0]) for c in "xyzw"] == [0.875, 1.0, 1.0, 0.75]


def test_fog_is_blended_over_the_clamped_sum_and_leaves_alpha_alone() -> None:
    inputs = {f"color0.{c}": lanes(0.75) for c in "xyzw"}
    inputs |= {f"color1.{c}": lanes(0.125 * i) for i, c in enumerate("xyz", 1)}
    inputs["fog0.x"] = lanes(0.75)
    program = pixel_program(specular=True, fog=Fog(FogSource.VERTEX))
    outputs = run(program, inputs, fog_uniforms((1, 0, 0.5), 0, 1, 1), 1).outputs
    found = [float(outputs[f"target0.{c}"][0]) for c in "xyzw"]
    assert found == [0.875 * 0.75 + 0.25, 0.75, 0.75 + 0.125, 0.75]


def test_table_fog_reads_the_depth() -> None:
    program = pixel_program(specular=False, fog=Fog(FogSource.TABLE_Z, FogMode.LINEAR))
    inputs = {f"color0.{c}": lanes(1.0) for c in "xyzw"} | {"depth.x": lanes(0.25)}
    outputs = run(program, inputs, fog_uniforms((0, 0, 0), 0, 1, 1), 1).outputs
    assert [float(outputs[f"target0.{c}"][0]) for c in "xyzw"] == [0.75, 0.75, 0.75, 1.0]
