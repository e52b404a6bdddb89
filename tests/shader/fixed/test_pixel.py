"""The fixed-function pixel programs."""

from __future__ import annotations

import numpy as np

from dp2emu.shader.fixed import pixel_program
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
