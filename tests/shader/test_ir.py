"""Programs as values, and the engine that runs them."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader.fixed import pixel_program
from dp2emu.shader.ir import Apply, Builder, Constant, Input, Output, Program
from dp2emu.shader.reference import run


def lanes(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def test_the_builder_records_statements_in_order() -> None:
    b = Builder()
    b.output("y", b.add(b.input("x"), b.constant(0.5)))
    assert b.program() == Program(
        (Input(0, "x"), Constant(1, 0.5), Apply(2, "add", (0, 1)), Output("y", 2))
    )


def test_an_input_is_read_once() -> None:
    b = Builder()
    b.output("y", b.apply("mul", b.input("x"), b.input("x")))
    assert b.program().inputs == ("x",)
    assert run(b.program(), {"x": lanes(3, -2)}, 2)["y"].tolist() == [9, 4]


def test_constants_fill_the_lanes() -> None:
    b = Builder()
    b.output("y", b.constant(0.1))
    assert run(b.program(), {}, 3)["y"].tolist() == [np.float32(0.1)] * 3


def test_the_wrong_number_of_operands_is_refused() -> None:
    b = Builder()
    with pytest.raises(TypeError, match="add takes 2 operands, not 1"):
        b.apply("add", b.input("x"))


def test_programs_with_the_same_statements_are_the_same_key() -> None:
    assert pixel_program(specular=False) is pixel_program(specular=False)
    assert hash(pixel_program(specular=True)) != hash(pixel_program(specular=False))


def test_without_specular_only_the_diffuse_colour_is_read() -> None:
    assert pixel_program(specular=False).inputs == tuple(f"diffuse.{c}" for c in "rgba")


def test_specular_is_added_to_red_green_and_blue_and_clamped() -> None:
    inputs = {f"diffuse.{c}": lanes(0.75) for c in "rgba"}
    inputs |= {f"specular.{c}": lanes(0.125 * i) for i, c in enumerate("rgb", 1)}
    outputs = run(pixel_program(specular=True), inputs, 1)
    assert [float(outputs[f"color0.{c}"][0]) for c in "rgba"] == [0.875, 1.0, 1.0, 0.75]
