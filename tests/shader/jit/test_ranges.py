"""Ranges hold for whatever is put in, and say what makes a clamp or a check needless."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dp2emu.d3d.enums import Format, TextureAddress, TextureFilter
from dp2emu.shader import reference
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.pixel import FixedPixel, pixel_program
from dp2emu.shader.ir import Assign, Lod, Program, Stage, TextureKind
from dp2emu.shader.jit.engine import run_for
from dp2emu.shader.jit.ranges import Range, clamped, output_ranges, ranges
from dp2emu.shader.jit.writer import Target
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, -1e-45, 1 - 2.0**-24, 3e38, -3e38, 255.0,
           np.inf, -np.inf, np.nan)  # fmt: skip


def _program(value: Callable[[Builder, Value, Value], Value]) -> Program:
    """Something of two numbers."""
    b = Builder(Stage.PIXEL)
    b.output("result", value(b, b.input("x"), b.input("y")))
    return b.program()


def _mix(b: Builder, x: Value, y: Value) -> Value:
    first, second = b.saturate(x), b.saturate(y)
    return first + b.itof(b.asint(y) & 255) * (1 / 256) * (second - first)


def _byte(b: Builder, x: Value) -> Value:
    return b.itof(b.asint(x) & 255)


CASES: dict[str, tuple[Callable[[Builder, Value, Value], Value], Range | None]] = {
    "an input": (lambda b, x, y: x, None),
    "clamped": (lambda b, x, y: b.saturate(x), Range(0, 1)),
    "a fraction": (lambda b, x, y: b.fract(x), Range(0, 1, nan=True)),
    "low bits": (lambda b, x, y: _byte(b, x), Range(0, 255)),
    "high bits": (lambda b, x, y: b.itof(b.apply("ushr", b.asint(x), 24)), Range(0, 255)),
    "a code": (lambda b, x, y: _byte(b, x) / 255.0, Range(0, 1)),
    "a product": (lambda b, x, y: b.saturate(x) * (_byte(b, y) - 127.5),
                  Range(-127.5, 127.5, minus=True)),
    "a product of positive ones": (lambda b, x, y: b.saturate(x) * b.saturate(y), Range(0, 1)),
    "a sum": (lambda b, x, y: b.saturate(x) + b.saturate(y), Range(0, 2)),
    "a difference": (lambda b, x, y: b.saturate(x) - b.saturate(y), Range(-1, 1)),
    "whole parts": (lambda b, x, y: b.floor(b.fract(x) * 9.5 - 0.25),
                    Range(-1, 9, nan=True, minus=False)),
    "a choice": (lambda b, x, y: b.select(x < y, b.saturate(x), b.constant(Type.F32, 3.0)),
                 Range(0, 3)),
    "a mix": (_mix, Range(0, 1)),
    "a quotient by 0": (lambda b, x, y: b.saturate(x) / 0.0, None),
    "a product of too large ones": (lambda b, x, y: _byte(b, x) * 3e38, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results_are_in_the_range(name: str) -> None:
    value, wanted = CASES[name]
    program = _program(value)
    found = output_ranges(program)["result"]
    assert found == wanted
    if found is None:
        return
    random = np.random.default_rng(1)
    numbers = np.concatenate([np.float32(SPECIAL), random.random(300, np.float32),
                              random.normal(0, 300, 300).astype(np.float32)])  # fmt: skip
    x, y = (each.ravel() for each in np.meshgrid(numbers, numbers[:80]))
    with np.errstate(all="ignore"):
        outputs = reference.run(program, {"x": x, "y": y}, {}, len(x)).outputs
    result = outputs["result"]
    nan = np.isnan(result)
    assert found.nan or not nan.any()
    assert (result[~nan] >= found.low).all()
    assert (result[~nan] <= found.high).all()
    assert found.minus or not (np.signbit(result) & (result == 0)).any()


def test_what_is_assigned_twice_has_no_range() -> None:
    b = Builder(Stage.PIXEL)
    value = b.variable(Type.F32, 0.0)
    with b.if_(b.input("x") < 0.0):
        value.value = b.saturate(b.input("y"))
    b.output("result", value.value)
    program = b.program()
    assert output_ranges(program)["result"] is None
    assert not clamped(program, ("result",))


def test_what_may_be_read_before_it_is_assigned_may_be_0() -> None:
    program = _program(lambda b, x, y: b.saturate(x) + 1.0)
    (slot,) = (s.slot for s in program.statements if isinstance(s, Assign) and s.op == "add")
    assert ranges(program)[slot] == Range(0, 2)


@pytest.mark.parametrize("filter", [TextureFilter.POINT, TextureFilter.LINEAR])
def test_texels_of_codes_are_within_0_to_1_however_they_are_filtered(
    filter: TextureFilter,
) -> None:
    address = (TextureAddress.WRAP,) * 3
    key = SamplerKey(TextureKind.TEX2D, Format.A8R8G8B8, address, mag=filter, min=filter)
    found = output_ranges(sampler_program(key, Lod.IMPLICIT, Stage.PIXEL))
    assert set(found.values()) == {Range(0, 1)}


@pytest.mark.parametrize("fused", [True, False])
def test_conversions_and_clamps_that_are_left_out_change_nothing(fused: bool) -> None:
    b = Builder(Stage.PIXEL)
    x = b.input("x")
    b.output("cut", b.ftoi(b.fract(x) * 1000.0 - 500.0), Type.I32)
    b.output("far", b.ftoi(b.saturate(x) * 2.0**31), Type.I32)
    b.output("clamped", b.saturate(b.saturate(x)))
    b.output("negative", b.saturate(b.saturate(x) * -1.0))
    program = b.program()
    numbers = np.concatenate([np.float32(SPECIAL), np.linspace(-3, 3, 200, dtype=np.float32)])
    with np.errstate(all="ignore"):
        wanted = reference.run(program, {"x": numbers}, {}, len(numbers)).outputs
    found = run_for(Target(8, fused), program, {"x": numbers}, {}, len(numbers)).outputs
    for name, lanes in wanted.items():
        assert (found[name].view(np.int32) == lanes.view(np.int32)).all(), name


def test_colours_that_are_clamped_plainly_are_known() -> None:
    ports = ("target0.x", "target0.y", "target0.z", "target0.w")
    assert clamped(pixel_program(FixedPixel()), ports)

    def of(value: Callable[[Builder], Value]) -> bool:
        b = Builder(Stage.PIXEL)
        b.output(ports[0], value(b))
        return clamped(b.program(), ports)

    assert not of(lambda b: b.input("color0.x"))
    assert of(lambda b: b.copy(b.saturate(b.input("color0.x"))))
    assert not of(lambda b: b.saturate(b.input("color0.x")) * 2.0)
