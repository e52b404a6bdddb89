"""Declarations, and what is left to whoever executes the shader."""

from __future__ import annotations

import pytest

from tests.shader.sm.test_flow import accepted, refusal


@pytest.mark.parametrize(
    ("version", "lines", "what"),
    [
        ("vs_2_0", ["dcl_position v0", "dcl_color v0"], "v0 is declared twice"),
        ("vs_3_0", ["dcl_color o1.xyz", "dcl_fog o1.z"], "o1 is declared twice"),
        ("ps_2_0", ["dcl_2d s0", "dcl_cube s0"], "s0 is declared twice"),
        ("ps_3_0", ["dcl vPos.xy", "dcl vPos.y"], "vPos is declared twice"),
        (
            "ps_2_0",
            ["nop", "dword 0x0200001f, 0x80000000, 0xb0000000"],
            "no component of t0 is declared",
        ),
    ],
)
def test_component_is_declared_once(version: str, lines: list[str], what: str) -> None:
    assert refusal(version, *lines) == (what, 3)


def test_register_may_be_shared_by_declarations() -> None:
    accepted("vs_3_0", "dcl_position o0", "dcl_texcoord o1.xy", "dcl_fog o1.z")
    accepted("ps_3_0", "dcl_texcoord v0.xy", "dcl_texcoord1 v0.zw", "dcl vFace", "dcl vPos.xy")


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        ("ps_2_0", ["texld r0, t0, s0", "mov oC0, r0"]),
        ("vs_2_0", ["mov r0, v3"]),
        ("ps_2_0", ["add r0, c0, c1", "mad r0, c2, c3, c4", "mov oC3, r11"]),
        ("vs_1_1", ["def c0, 1, 2, 3, 4", "def c0, 4, 3, 2, 1", "mov oPos, c0"]),
        ("vs_2_0", []),
    ],
)
def test_what_a_driver_can_shrug_off_is_accepted(version: str, lines: list[str]) -> None:
    accepted(version, *lines)
