"""Blending against the formulas of Direct3D 9, channel by channel in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dp2emu.d3d.enums import Blend, BlendOp
from dp2emu.d3d.enums10 import Blend10
from dp2emu.shader.fixed.blend import FACTORS, BlendEquation, BlendState, Factor, stays_within
from dp2emu.shader.fixed.output import TargetOutput, output_program
from dp2emu.shader.reference import run

Color = tuple[float, ...]
SOURCE = (0.25, 0.5, 0.875, 0.375)
DESTINATION = (0.75, 0.125, 1.0, 0.8125)
SECOND = (0.3125, 0.8125, 0.4375, 0.5625)
CONSTANT = (0.0625, 0.625, 0.9375, 0.6875)
SOURCES: tuple[Color, ...] = (SOURCE, (0.0, 1.0, 0.5, 0.0), (1.0, 0.0, 0.5, 1.0))

# What a factor is made of (a source, destination, constant or the number 1), which channel of it
# counts for colour, and whether it is taken from 1.
PARTS: dict[Blend | Blend10, tuple[str, str, bool]] = {
    Blend.ZERO: ("one", "own", True),
    Blend.ONE: ("one", "own", False),
    Blend.SRCCOLOR: ("source", "own", False),
    Blend.INVSRCCOLOR: ("source", "own", True),
    Blend.SRCALPHA: ("source", "alpha", False),
    Blend.INVSRCALPHA: ("source", "alpha", True),
    Blend.DESTALPHA: ("destination", "alpha", False),
    Blend.INVDESTALPHA: ("destination", "alpha", True),
    Blend.DESTCOLOR: ("destination", "own", False),
    Blend.INVDESTCOLOR: ("destination", "own", True),
    Blend.BLENDFACTOR: ("constant", "own", False),
    Blend.INVBLENDFACTOR: ("constant", "own", True),
    Blend.SRCCOLOR2: ("second", "own", False),
    Blend.INVSRCCOLOR2: ("second", "own", True),
    Blend10.SRC1_ALPHA: ("second", "alpha", False),
    Blend10.INV_SRC1_ALPHA: ("second", "alpha", True),
}


def factor(name: Factor, channel: int, source: Color, destination: Color) -> Fraction:
    if name is Blend.SRCALPHASAT:
        wanted = min(source[3], 1 - destination[3]) if channel < 3 else 1.0
        return Fraction(wanted)
    of, which, inverted = PARTS[name]
    numbers = {"one": (1.0,) * 4, "source": source, "destination": destination,
               "constant": CONSTANT, "second": SECOND}[of]  # fmt: skip
    value = Fraction(numbers[channel if which == "own" else 3])
    return 1 - value if inverted else value


def expected(equation: BlendEquation, channel: int, source: Color, destination: Color) -> Fraction:
    s, d = Fraction(source[channel]), Fraction(destination[channel])
    weighted_s = s * factor(equation.source, channel, source, destination)
    weighted_d = d * factor(equation.destination, channel, source, destination)
    return {
        BlendOp.ADD: weighted_s + weighted_d,
        BlendOp.SUBTRACT: weighted_s - weighted_d,
        BlendOp.REVSUBTRACT: weighted_d - weighted_s,
        BlendOp.MIN: min(s, d),
        BlendOp.MAX: max(s, d),
    }[equation.operation]


def blended(
    state: BlendState, source: Color, destination: Color, *, clamped: bool = True
) -> list[float]:
    inputs = {}
    for name, color in (("source", source), ("destination", destination), ("second", SECOND)):
        for component, value in zip("xyzw", color, strict=True):
            inputs[f"{name}.{component}"] = np.array([value], np.float32)
    uniforms = {"blend": np.array(CONSTANT, np.float32)}
    outputs = run(output_program(TargetOutput(state, clamped)), inputs, uniforms, 1).outputs
    return [float(outputs[f"result.{component}"][0]) for component in "xyzw"]


def both(equation: BlendEquation) -> BlendState:
    return BlendState(equation, equation)


def test_the_model_knows_every_factor() -> None:
    assert set(PARTS) | {Blend.SRCALPHASAT} == FACTORS


@pytest.mark.parametrize("destination", sorted(FACTORS))
@pytest.mark.parametrize("source", sorted(FACTORS))
def test_every_pair_of_factors(source: Factor, destination: Factor) -> None:
    equation = BlendEquation(source, destination)
    for color in SOURCES:
        found = blended(both(equation), color, DESTINATION)
        for channel in range(4):
            wanted = min(expected(equation, channel, color, DESTINATION), Fraction(1))
            assert abs(Fraction(found[channel]) - wanted) < Fraction(1, 1 << 22)


@pytest.mark.parametrize("operation", list(BlendOp))
@pytest.mark.parametrize(
    ("source", "destination"),
    [
        (Blend.ONE, Blend.ONE),
        (Blend.SRCALPHA, Blend.INVSRCALPHA),
        (Blend.ZERO, Blend.DESTCOLOR),
        (Blend.BLENDFACTOR, Blend.ZERO),
        (Blend.ZERO, Blend.ZERO),
    ],
)
def test_every_operation(operation: BlendOp, source: Blend, destination: Blend) -> None:
    equation = BlendEquation(source, destination, operation)
    for color in SOURCES:
        free = blended(both(equation), color, DESTINATION, clamped=False)
        held = blended(both(equation), color, DESTINATION)
        for channel in range(4):
            wanted = expected(equation, channel, color, DESTINATION)
            assert free[channel] == float(wanted)
            assert held[channel] == min(max(float(wanted), 0.0), 1.0)


def test_alpha_has_an_equation_of_its_own() -> None:
    color = BlendEquation(Blend.ZERO, Blend.ONE)
    alpha = BlendEquation(Blend.ONE, Blend.ONE, BlendOp.REVSUBTRACT)
    found = blended(BlendState(color, alpha), SOURCE, DESTINATION)
    assert found == [*DESTINATION[:3], 0.8125 - 0.375]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 3e38, -0.0])
def test_a_factor_of_zero_leaves_no_trace_of_its_side(bad: float) -> None:
    keep = both(BlendEquation(Blend.ZERO, Blend.ONE))
    assert blended(keep, (bad,) * 4, DESTINATION, clamped=False) == list(DESTINATION)
    replace = both(BlendEquation(Blend.ONE, Blend.ZERO))
    assert blended(replace, SOURCE, (bad,) * 4, clamped=False) == list(SOURCE)


def test_sources_of_clamped_targets_are_clamped_before_they_are_weighted() -> None:
    equation = both(BlendEquation(Blend.DESTCOLOR, Blend.ZERO))
    source, destination = (4.0, -3.0, math.nan, math.inf), (0.5, 0.5, 0.5, 0.5)
    assert blended(equation, source, destination) == [0.5, 0.0, 0.0, 0.5]


def test_other_targets_hold_any_number() -> None:
    equation = both(BlendEquation(Blend.ONE, Blend.ONE))
    found = blended(equation, (4.0, -3.0, math.inf, 0.5), (2.0, 1.0, 1.0, 9.0), clamped=False)
    assert found == [6.0, -2.0, math.inf, 9.5]


def test_each_step_is_rounded_to_float32() -> None:
    equation = both(BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA))
    s, d = np.float32(64) / np.float32(255), np.float32(3) / np.float32(255)
    a = np.float32(77) / np.float32(255)
    wanted = s * a + d * (np.float32(1) - a)
    source, destination = (float(s),) * 3 + (float(a),), (float(d),) * 4
    assert blended(equation, source, destination)[0] == float(wanted)


def test_what_is_said_to_stay_within_0_to_1_does_for_any_numbers() -> None:
    random = np.random.default_rng(4)
    near = np.float32([0, 2.0**-149, 2.0**-26, 2.0**-25, 2.0**-24, 0.5, 1 - 2.0**-24, 1])
    numbers = np.concatenate([random.random(1500, np.float32), np.repeat(near, 60)])
    lanes = {f"{of}.{c}": random.permutation(numbers) for of in ("source", "destination", "second")
             for c in "xyzw"}  # fmt: skip
    uniforms = {"blend": np.float32([0, 1, 0.5, 1])}
    staying = 0
    for source in FACTORS:
        for destination in FACTORS:
            for operation in BlendOp:
                equation = BlendEquation(source, destination, operation)
                if not stays_within(equation):
                    continue
                staying += 1
                program = output_program(
                    TargetOutput(BlendState(equation, equation), clamped=False)
                )
                names = [port.name for port in program.inputs]
                inputs = {name: lanes[name] for name in names}
                found = run(program, inputs, uniforms, len(numbers)).outputs
                for lane in found.values():
                    assert ((lane >= 0) & (lane <= 1) & ~np.signbit(lane)).all(), equation
    assert staying > len(FACTORS)


@pytest.mark.parametrize(
    "equation",
    [
        BlendEquation(Blend.ONE, Blend.ONE),
        BlendEquation(Blend.SRCALPHA, Blend.ONE),
        BlendEquation(Blend.SRCALPHA, Blend.INVDESTALPHA),
        BlendEquation(Blend.BLENDFACTOR, Blend.INVBLENDFACTOR),
        BlendEquation(Blend.BLENDFACTOR, Blend.ZERO),
        BlendEquation(Blend.ONE, Blend.ZERO, BlendOp.REVSUBTRACT),
        BlendEquation(Blend.SRCALPHA, Blend.INVSRCALPHA, BlendOp.SUBTRACT),
    ],
)
def test_what_may_leave_0_to_1_is_clamped_again(equation: BlendEquation) -> None:
    assert not stays_within(equation)
