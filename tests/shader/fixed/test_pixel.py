"""The fixed-function pixel programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import FogMode, TextureArgument, TextureOp
from dp2emu.shader.fixed.fog import Fog, FogSource, fog_uniforms
from dp2emu.shader.fixed.pixel import (
    DISABLED,
    Argument,
    Combination,
    FixedPixel,
    TextureStage,
    pixel_program,
)
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.reference import run
from tests.shader.fixed.stages import World, drawn, lane, modelled, rgba

TEXTURE = Argument(TextureArgument.TEXTURE)
CURRENT = Argument(TextureArgument.CURRENT)
DIFFUSE = Argument(TextureArgument.DIFFUSE)


def op(operation: TextureOp, one: Argument = TEXTURE, two: Argument = CURRENT) -> Combination:
    return Combination(operation, (CURRENT, one, two))


SELECT = op(TextureOp.SELECTARG1)
PLAIN = TextureStage(SELECT, SELECT, texture=TextureKind.TEX2D)
HERE = {
    f"texcoord{set}.{c}": 0.25 * (i + 1) + set for set in range(2) for i, c in enumerate("xyzw")
}


def lanes(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, np.float32)


def inputs_of(key: FixedPixel) -> set[str]:
    return {port.name for port in pixel_program(key).inputs}


def test_programs_with_the_same_statements_are_the_same_key() -> None:
    assert pixel_program(FixedPixel()) is pixel_program(FixedPixel())
    assert hash(pixel_program(FixedPixel(specular=True))) != hash(pixel_program(FixedPixel()))


def test_without_stages_only_the_diffuse_colour_is_read() -> None:
    assert inputs_of(FixedPixel()) == {f"color0.{c}" for c in "xyzw"}


def test_specular_is_added_to_red_green_and_blue_and_clamped() -> None:
    inputs = {f"color0.{c}": lanes(0.75) for c in "xyzw"}
    inputs |= {f"color1.{c}": lanes(0.125 * i) for i, c in enumerate("xyz", 1)}
    outputs = run(pixel_program(FixedPixel(specular=True)), inputs, {}, 1).outputs
    assert [float(outputs[f"target0.{c}"][0]) for c in "xyzw"] == [0.875, 1.0, 1.0, 0.75]


def test_specular_is_added_after_the_last_stage() -> None:
    world = World()
    world.textures[0] = rgba(1, 2, 3, 2)
    found, _ = drawn(FixedPixel((PLAIN,), specular=True), world)
    assert found == rgba(3, 2, 4, 2)


def test_fog_is_blended_over_the_clamped_sum_and_leaves_alpha_alone() -> None:
    inputs = {f"color0.{c}": lanes(0.75) for c in "xyzw"}
    inputs |= {f"color1.{c}": lanes(0.125 * i) for i, c in enumerate("xyz", 1)}
    inputs["fog0.x"] = lanes(0.75)
    program = pixel_program(FixedPixel(specular=True, fog=Fog(FogSource.VERTEX)))
    outputs = run(program, inputs, fog_uniforms((1, 0, 0.5), 0, 1, 1), 1).outputs
    found = [float(outputs[f"target0.{c}"][0]) for c in "xyzw"]
    assert found == [0.875 * 0.75 + 0.25, 0.75, 0.75 + 0.125, 0.75]


def test_table_fog_reads_the_depth() -> None:
    program = pixel_program(FixedPixel(fog=Fog(FogSource.TABLE_Z, FogMode.LINEAR)))
    inputs = {f"color0.{c}": lanes(1.0) for c in "xyzw"} | {"depth.x": lanes(0.25)}
    outputs = run(program, inputs, fog_uniforms((0, 0, 0), 0, 1, 1), 1).outputs
    assert [float(outputs[f"target0.{c}"][0]) for c in "xyzw"] == [0.75, 0.75, 0.75, 1.0]


# The cascade

arguments = st.builds(Argument, st.sampled_from(TextureArgument), st.booleans(), st.booleans())
combinations = st.builds(
    Combination,
    st.sampled_from([each for each in TextureOp if not each.name.startswith("BUMP")]),
    st.tuples(arguments, arguments, arguments),
)
kinds = st.sampled_from([None, *TextureKind])
stages = st.builds(TextureStage, combinations, combinations, st.booleans(), kinds)
quarters = st.lists(st.integers(0, 4), min_size=4, max_size=4).map(lambda given: rgba(*given))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(stages, max_size=3), quarters, quarters, st.lists(quarters, min_size=3, max_size=3)
)
def test_any_three_stages_do_what_the_model_does(
    cascade: list[TextureStage],
    diffuse: list[Fraction],
    factor: list[Fraction],
    textures: list[list[Fraction]],
) -> None:
    world = World(diffuse=diffuse, factor=factor, textures=textures)
    found, _ = drawn(FixedPixel(tuple(cascade)), world, HERE)
    assert found == modelled(cascade, world)


def test_every_stage_clamps_what_it_leaves() -> None:
    """A sum beyond 1 is 1 to the stage that follows, in TEMP as in CURRENT."""
    for register in (False, True):
        read = Argument(TextureArgument.TEMP) if register else CURRENT
        twice = TextureStage(op(TextureOp.ADD, DIFFUSE, DIFFUSE), temp=register)
        less = TextureStage(op(TextureOp.SUBTRACT, read, DIFFUSE))
        found, _ = drawn(FixedPixel((twice, less)), World(diffuse=rgba(3, 3, 3, 4)))
        assert found[0] == Fraction(1, 4)


def test_alpha_disabled_leaves_the_alpha_of_the_register() -> None:
    world = World()
    found, _ = drawn(
        FixedPixel((TextureStage(SELECT, DISABLED, texture=TextureKind.TEX2D),)), world
    )
    assert found[3] == world.diffuse[3]


def test_stage_that_writes_temp_leaves_current_alone() -> None:
    world = World()
    stage = TextureStage(SELECT, SELECT, temp=True, texture=TextureKind.TEX2D)
    assert drawn(FixedPixel((stage,)), world)[0] == world.diffuse


# What is sampled, and where


@pytest.mark.parametrize("kind", TextureKind)
def test_texture_is_sampled_once_at_the_coordinates_of_its_stage(kind: TextureKind) -> None:
    red = TextureStage(op(TextureOp.SELECTARG2, two=DIFFUSE))
    both = TextureStage(op(TextureOp.MODULATE, two=TEXTURE), SELECT, texture=kind)
    _, seen = drawn(FixedPixel((red, both)), World(), HERE)
    (call,) = seen
    assert (call.sampler, call.kind) == (1, kind)
    assert call.coordinates == (1.25, 1.5, 1.75)[: kind.coordinates]


@pytest.mark.parametrize("component", [1, 2, 3])
def test_projection_divides_by_the_coordinate_it_names(component: int) -> None:
    stage = TextureStage(SELECT, texture=TextureKind.VOLUME, projection=component)
    _, (call,) = drawn(FixedPixel((stage,)), World(), HERE)
    divisor = np.float32(0.25 * (component + 1))
    wanted = [float(np.float32(value) / divisor) for value in (0.25, 0.5, 0.75)]
    assert list(call.coordinates) == wanted


def test_what_has_no_part_in_the_result_is_neither_sampled_nor_read() -> None:
    replaced = TextureStage(op(TextureOp.SELECTARG1, DIFFUSE), op(TextureOp.SELECTARG1, DIFFUSE))
    unused = TextureStage(SELECT, SELECT, temp=True, texture=TextureKind.TEX2D)
    assert inputs_of(FixedPixel((PLAIN, unused, replaced))) == {f"color0.{c}" for c in "xyzw"}
    assert inputs_of(FixedPixel((PLAIN,))) == {"texcoord0.x", "texcoord0.y"}


def test_unbound_texture_is_opaque_black() -> None:
    stage = TextureStage(SELECT, SELECT)
    assert drawn(FixedPixel((stage,)), World())[0] == rgba(0, 0, 0, 4)


# Bump environment

MATRICES = [tuple(0.125 * (6 * stage + i + 1) for i in range(6)) for stage in range(8)]
BUMP = TextureStage(op(TextureOp.BUMPENVMAP), texture=TextureKind.TEX2D)
BRIGHT = TextureStage(op(TextureOp.BUMPENVMAPLUMINANCE), texture=TextureKind.TEX2D)


@pytest.mark.parametrize("first", [BUMP, BRIGHT])
@pytest.mark.parametrize("kind", TextureKind)
def test_bump_map_moves_the_next_stage_by_its_own_matrix(
    kind: TextureKind, first: TextureStage
) -> None:
    world = World()
    world.textures[1] = [Fraction(-1, 2), Fraction(3, 4), Fraction(0), Fraction(1)]
    environment = TextureStage(SELECT, texture=kind)
    lead = TextureStage(op(TextureOp.SELECTARG2))
    at = {**HERE, "texcoord2.x": 1.0, "texcoord2.y": 2.0, "texcoord2.z": 3.0}
    _, seen = drawn(FixedPixel((lead, first, environment)), world, at, MATRICES)
    m00, m01, m10, m11 = MATRICES[1][:4]
    du, dv = -0.5, 0.75
    moved = (1 + m00 * du + m10 * dv, 2 + m01 * du + m11 * dv, 3.0)
    assert [call.sampler for call in seen] == [1, 2]
    assert seen[1].coordinates == moved[: kind.coordinates]


def test_projection_divides_before_the_bump_moves() -> None:
    environment = TextureStage(SELECT, texture=TextureKind.TEX2D, projection=3)
    _, seen = drawn(
        FixedPixel((BUMP, environment)), World(), {**HERE, "texcoord1.w": 0.5}, MATRICES
    )
    m00, m01, m10, m11 = MATRICES[0][:4]
    du, dv = (float(each) for each in World().textures[0][:2])
    assert seen[1].coordinates == (2.5 + m00 * du + m10 * dv, 3.0 + m01 * du + m11 * dv)


def test_bump_stage_leaves_colour_and_alpha_to_the_stage_before() -> None:
    world = World()
    bump = TextureStage(op(TextureOp.BUMPENVMAP), SELECT, texture=TextureKind.TEX2D)
    assert drawn(FixedPixel((bump,)), world)[0] == world.diffuse


@pytest.mark.parametrize(("blue", "factor"), [(2, 0.5 * 0.625 + 0.75), (0, 0.75), (-4, 0.125)])
def test_luminance_dims_red_green_and_blue_of_the_next_texture(blue: int, factor: float) -> None:
    world = World()
    world.textures[0] = rgba(0, 0, blue, 4)
    environment = TextureStage(SELECT, SELECT, texture=TextureKind.TEX2D)
    bumps = [(*MATRICES[0][:4], 0.625, 0.75)] * 8
    found, _ = drawn(FixedPixel((BRIGHT, environment)), world, HERE, bumps)
    dimmed = [each * Fraction(min(factor, 1.0)) for each in world.textures[1][:3]]
    assert found == [*dimmed, world.textures[1][3]]


def test_colour_key_kills_where_the_first_texture_has_no_alpha() -> None:
    program = pixel_program(FixedPixel((PLAIN,), color_key=True))
    inputs = {f"texcoord0.{c}": np.zeros(3, np.float32) for c in "xy"}
    alphas = np.array([0.0, 0.01, 1.0], np.float32)
    red = np.zeros(3, np.float32)
    result = run(program, inputs, {}, 3, sampler=lambda *_: (red, red, red, alphas))
    assert list(result.alive) == [False, True, True]


def test_colours_beyond_the_range_are_clamped_before_they_are_arguments() -> None:
    stage = TextureStage(op(TextureOp.SELECTARG1, Argument(TextureArgument.DIFFUSE, True)))
    program = pixel_program(FixedPixel((stage,)))
    inputs = {f"color0.{c}": lane(1.5) for c in "xyzw"}
    outputs = run(program, inputs, {}, 1).outputs
    assert float(outputs["target0.x"][0]) == 0.0
