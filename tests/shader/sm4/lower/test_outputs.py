"""Ports and facts that come out of a lowering."""

from __future__ import annotations

import pytest

from dp2emu.shader.sm4.enums import Interpolation, SystemValue
from dp2emu.shader.sm4.lower import Register
from tests.shader.sm4.lower.running import execute, floats, lowered, words

VERTEX = """vs_5_0
dcl_input v0.xyzw
dcl_output_siv o0.xyzw, position
dcl_output_siv o1.yz, clip_distance
dcl_output_siv o2.x, cull_distance
dcl_output_siv o2.y, clip_distance
dcl_output o2.z
dcl_output o4.w
mov o0, v0
mov o1.yz, v0.xxyy
mov o2.xyz, v0.zwxy
ret
"""
PIXEL = """ps_5_0
dcl_globalFlags {flags}
dcl_input_ps linear v1.xyzw
dcl_output o0.xyzw
dcl_output o3.y
dcl_output {scalar}
mov o3.y, l(5)
mov {scalar}, {value}
ret
"""


def test_vertices_give_bits_by_register_and_floats_by_meaning() -> None:
    ports = {f"v0.{c}": 0x3F800000 + (n << 23) for n, c in enumerate("xyzw")}
    result = execute(lowered(VERTEX), ports)
    bits = [ports[f"v0.{c}"] for c in "xyzw"]
    assert words(result, "o0") == bits
    assert floats(words(result, "position0")) == [1, 2, 4, 8]
    assert words(result, "o1") == [0, bits[0], bits[1], 0]
    assert words(result, "o2") == [bits[2], bits[3], bits[0], 0]
    distances = {name: float(result.outputs[f"{name}.x"][0]) for name in
                 ("clip0", "clip1", "clip2", "cull0")}  # fmt: skip
    assert distances == {"clip0": 1, "clip1": 2, "clip2": 8, "cull0": 4}


def test_what_is_declared_and_never_written_is_0() -> None:
    result = execute(lowered(VERTEX))
    assert result.outputs["o4.w"].tolist() == [0]
    assert "o4.x" not in result.outputs


def test_declarations_are_told() -> None:
    found = lowered(VERTEX)
    assert found.inputs == (Register(0, 15),)
    assert found.outputs == (
        Register(0, 15, SystemValue.POSITION),
        Register(1, 6, SystemValue.CLIP_DISTANCE),
        Register(2, 1, SystemValue.CULL_DISTANCE),
        Register(2, 2, SystemValue.CLIP_DISTANCE),
        Register(2, 4),
        Register(4, 8),
    )
    pixel = lowered(PIXEL.format(flags="refactoringAllowed", scalar="oDepth", value="l(0.5)"))
    assert pixel.inputs == (Register(1, 15, interpolation=Interpolation.LINEAR),)
    assert not (pixel.kills or pixel.forces_early or pixel.per_sample)
    assert "coverage.x" not in {port.name for port in pixel.program.outputs}


@pytest.mark.parametrize("scalar", ["oDepth", "oDepthGE", "oDepthLE"])
def test_depth_is_a_float(scalar: str) -> None:
    found = lowered(PIXEL.format(flags="refactoringAllowed", scalar=scalar, value="l(0.75)"))
    result = execute(found, {"position.z": 0.75}, lanes=4)
    assert result.outputs["depth.x"].tolist() == [0.75] * 4
    assert words(result, "target0") == [0] * 4
    assert words(result, "target3") == [0, 5, 0, 0]


@pytest.mark.parametrize(
    ("scalar", "depths"), [("oDepthGE", [0.75, 0.75, 0.875]), ("oDepthLE", [0.5, 0.75, 0.75])]
)
def test_a_depth_is_bounded_by_the_interpolated_one(scalar: str, depths: list[float]) -> None:
    found = lowered(PIXEL.format(flags="refactoringAllowed", scalar=scalar, value="l(0.75)"))
    result = execute(found, {"position.z": [0.5, 0.75, 0.875]}, lanes=3)
    assert result.outputs["depth.x"].tolist() == depths


def test_coverage_is_a_mask() -> None:
    found = lowered(PIXEL.format(flags="refactoringAllowed", scalar="oMask", value="l(9)"))
    outputs = execute(found, lanes=4).outputs
    assert outputs["coverage.x"].tolist() == [9] * 4
    assert "depth.x" not in outputs


def test_tests_may_be_forced_before_the_program() -> None:
    found = lowered(PIXEL.format(flags="forceEarlyDepthStencil", scalar="oMask", value="l(9)"))
    assert found.forces_early


def test_buffers_are_told_in_order() -> None:
    text = "vs_4_0\ndcl_constantbuffer cb7[1], immediateIndexed\n"
    text += "dcl_constantbuffer cb2[1], immediateIndexed\nret"
    assert lowered(text).constant_buffers == (2, 7)
