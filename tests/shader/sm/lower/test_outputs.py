"""Ports that come out of programs."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.fog import Fog, FogSource, blend_fog
from dp2emu.shader.values import Value
from tests.shader.sm.lower.running import execute, inputs, lowered, ps, vector

BIG = (2.0, -1.0, 0.5, 3.0)


def test_colours_and_fog_are_clamped_before_3_0() -> None:
    text = "vs_2_0\nmov oPos, v0\nmov oD0, v0\nmov oD1, v0\nmov oFog.x, v0.x\nmov oPts.x, v0.w"
    shader = lowered(text)
    assert shader.outputs == ("position0", "fog0", "psize0", "color0", "color1")
    result = execute(shader.program, inputs(v0=BIG))
    assert vector(result, "position0") == list(BIG)
    assert vector(result, "color0") == vector(result, "color1") == [1, 0, 0.5, 1]
    assert result.outputs["fog0.x"] == 1
    assert result.outputs["psize0.x"] == 3
    assert "fog0.y" not in result.outputs


def test_outputs_of_3_0_are_not_clamped() -> None:
    text = (
        "vs_3_0\ndcl_position o2\ndcl_color1 o0\ndcl_fog o1.x\nmov o0, v0\nmov o1, v0\nmov o2, v0"
    )
    shader = lowered(text)
    assert shader.outputs == ("position0", "color1", "fog0")
    result = execute(shader.program, inputs(v0=BIG))
    assert vector(result, "color1") == list(BIG)
    assert vector(result, "fog0")[0] == 2


@pytest.mark.parametrize(
    "text",
    [
        "vs_1_1\nmov oPos, v0\nmov oD1, v0",
        "vs_2_0\nmov oPos, v0\nmov oD1.w, v0.w",
        "vs_3_0\ndcl_position o0\ndcl_color1 o1\nmov o0, v0\nmov o1, v0",
    ],
)
def test_a_fog_factor_never_written_is_the_alpha_of_the_specular_colour(text: str) -> None:
    shader = lowered(text)
    assert shader.outputs[-1] == "fog0"
    result = execute(shader.program, inputs(v0=(0.1, 0.2, 0.3, 0.7)))
    assert result.outputs["fog0.x"] == np.float32(0.7)


def test_a_fog_factor_that_is_written_is_not_the_specular_alpha() -> None:
    text = "vs_2_0\nmov oPos, v0\nmov oD1, v0\nmov oFog, v0.x"
    result = execute(lowered(text).program, inputs(v0=(0.25, 0.2, 0.3, 0.7)))
    assert result.outputs["fog0.x"] == 0.25
    assert "fog0" not in lowered("vs_2_0\nmov oPos, v0\nmov oD0, v0\nmov oD1.xyz, v0").outputs


def test_components_never_written_are_0_and_1_in_the_first_colour() -> None:
    text = "vs_1_1\nmov oPos, v0\nmov oD0.x, v1.x\nmov oD1.x, v1.x\nmov oT3.xy, v1"
    result = execute(lowered(text).program, inputs(v1=(0.5, 0.25)))
    assert vector(result, "color0") == [0.5, 1, 1, 1]
    assert vector(result, "color1") == [0.5, 0, 0, 0]
    assert vector(result, "texcoord3") == [0.5, 0.25, 0, 0]


def test_packed_output_is_a_varying_for_each_usage() -> None:
    text = """vs_3_0
    dcl_position o0\ndcl_texcoord0 o1.xy\ndcl_texcoord1 o1.z\ndcl_psize o1.w
    mov o0, v0\nmov o1, v0"""
    shader = lowered(text)
    assert shader.outputs == ("position0", "texcoord0", "texcoord1", "psize0")
    result = execute(shader.program, inputs(v0=(1, 2, 3, 4)))
    assert vector(result, "texcoord0") == [1, 2, 0, 0]
    assert vector(result, "texcoord1") == [0, 0, 3, 0]
    assert result.outputs["psize0.x"] == 4


def test_scalar_output_takes_the_lowest_component_written() -> None:
    text = "vs_2_0\nmov oPos, v0\nmov oFog.zw, v0"
    assert execute(lowered(text).program, inputs(v0=(0, 0.1, 0.5, 0.9))).outputs["fog0.x"] == 0.5


def test_position_and_first_target_are_always_outputs() -> None:
    assert lowered("vs_2_0\nnop").outputs == ("position0",)
    assert lowered("ps_2_0\nnop").outputs == ("target0",)


def test_targets_and_depth() -> None:
    text = "ps_2_0\nmov oC0, t0\nmov oC2.yzw, t1\nmov oDepth, t1.y"
    shader = lowered(text)
    assert shader.outputs == ("target0", "target2", "depth")
    assert "depth" in shader.outputs and not shader.kills
    given = inputs(texcoord0=(1, 2, 3, 4), texcoord1=(5, 6, 7, 8))
    result = execute(shader.program, given, lanes=4)
    assert vector(result, "target2") == [0, 6, 7, 8]
    assert result.outputs["depth.x"][0] == 6


def test_result_of_ps_1_is_r0() -> None:
    shader = lowered("ps_1_1\nmov r0, v0")
    assert shader.outputs == ("target0",)
    assert "depth" not in shader.outputs
    given = inputs(color0=(0.5, 0, 1, 0.25))
    assert vector(execute(shader.program, given, lanes=4), "target0") == [0.5, 0, 1, 0.25]


def doubled(b: Builder, rgb: list[Value]) -> list[Value]:
    return [x * 2.0 for x in rgb]


@pytest.mark.parametrize(
    ("version", "body", "wanted"),
    [
        ("ps_1_1", "mov r0, c0", [2, 2, 2, 1]),
        ("ps_2_0", "mov oC0, c0\nmov oC1, c0", [2, 2, 2, 1]),
        ("ps_3_0", "mov oC0, c0", [1, 1, 1, 1]),
    ],
)
def test_epilogue_replaces_colour_before_3_0(version: str, body: str, wanted: list[float]) -> None:
    one = {"c": np.ones(4, np.float32)}
    assert ps(body, version, {"epilogue": doubled}, uniforms=one) == wanted


def test_epilogue_leaves_other_targets_alone() -> None:
    program = lowered("ps_2_0\nmov oC0, c0\nmov oC1, c0", epilogue=doubled).program
    result = execute(program, uniforms={"c": np.ones(4, np.float32)}, lanes=4)
    assert vector(result, "target1") == [1, 1, 1, 1]


def test_fog_is_an_epilogue() -> None:
    fog = Fog(FogSource.VERTEX)
    shader = lowered("ps_1_1\nmov r0, v0", epilogue=lambda b, rgb: blend_fog(b, fog, rgb))
    given = {**inputs(color0=(1, 0, 1, 0.5)), "fog0.x": 0.25}
    color = {"fog": np.array([0, 1, 0, 0, 0, 0, 0, 0], np.float32)}
    result = execute(shader.program, given, color, lanes=4)
    assert vector(result, "target0") == [0.25, 0.75, 0.25, 0.5]


def test_lowered_shaders_are_equal_and_hash_alike() -> None:
    first, second = (lowered("ps_2_0\nmov oC0, t0") for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
