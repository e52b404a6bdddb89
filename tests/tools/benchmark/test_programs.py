"""A program is the same in both languages."""

from __future__ import annotations

from benchmark.programs import SHADER_40, assembly, glsl

from dp2emu.shader.sm.assemble import assemble
from dp2emu.shader.sm.disassemble import disassemble


def test_the_program_has_40_instructions_that_ps_2_0_takes() -> None:
    lines = disassemble(assemble(assembly(SHADER_40))).splitlines()
    declared = [line for line in lines if line.split()[0] in ("ps_2_0", "def", "dcl")]
    assert len(lines) - len(declared) == 40 == len(SHADER_40)


def test_glsl_has_a_statement_for_each_instruction() -> None:
    statements = glsl(("mad r0 t0 c2 c3", "rcp r1 r0.x", "cmp oC0 r1 r0 v0"))
    assert statements.splitlines()[-4:] == [
        "r0 = t0 * c2 + c3;",
        "r1 = vec4(1.0 / r0.x);",
        "oC0 = mix(v0, r0, vec4(greaterThanEqual(r1, vec4(0.0))));",
        "color = oC0;",
    ]
