"""Pixel programs in both languages, from one list of instructions.

An instruction is an opcode, a whole register and its sources.  Scalar operations read one
component and write it to all.
"""

from __future__ import annotations

from collections.abc import Iterable

CONSTANTS = {
    "c0": (0.5, 0.25, 0.125, 1.0),
    "c1": (0.3, 0.59, 0.11, 0.0),
    "c2": (1.5, 0.75, 1.25, 0.5),
    "c3": (0.1, 0.2, 0.3, 0.4),
}

_GLSL = {
    "mov": "{0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "mad": "{0} * {1} + {2}",
    "dp3": "vec4(dot({0}.xyz, {1}.xyz))",
    "dp4": "vec4(dot({0}, {1}))",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
    "lrp": "mix({2}, {1}, {0})",
    "abs": "abs({0})",
    "rcp": "vec4(1.0 / {0})",
    "rsq": "vec4(inversesqrt(abs({0})))",
    "cmp": "mix({2}, {1}, vec4(greaterThanEqual({0}, vec4(0.0))))",
}
"""What an opcode of ps_2_0 is in GLSL."""

SHADER_40 = (
    "mad r0 t0 c2 c3", "mul r1 t0 t0", "dp3 r2 r1 c1", "add r3 r2 c0", "rsq r4 r3.x",
    "mul r0 r0 r4", "mad r1 r1 c0 r0", "sub r2 c0 r1", "abs r2 r2", "mul r3 r2 r1",
    "mad r3 r3 c2 c3", "dp4 r4 r3 c3", "max r4 r4 c0", "rcp r5 r4.x", "mul r3 r3 r5",
    "lrp r6 v0 r3 r0", "min r6 r6 c2", "mad r7 r6 r6 c3", "dp3 r8 r7 r6", "add r8 r8 c0",
    "rsq r9 r8.x", "mul r7 r7 r9", "sub r1 r7 r6", "mad r2 r1 r1 c3", "mul r2 r2 c0",
    "cmp r3 r1 r2 r7", "add r4 r3 r6", "mul r4 r4 c0", "mad r5 r4 v0 r2", "dp3 r6 r5 c1",
    "max r6 r6 c3", "rcp r7 r6.x", "mul r8 r5 r7", "mad r8 r8 c3 r4", "lrp r9 c0 r8 r5",
    "abs r9 r9", "min r9 r9 c2", "mul r0 r9 v0", "mad r0 r0 c0 c3", "mov oC0 r0",
)  # fmt: skip
"""40 arithmetic instructions over the interpolated colour v0 and the coordinates t0."""


def assembly(program: Iterable[str]) -> str:
    """The program as ps_2_0."""
    numbers = (f"def {name}, {', '.join(map(str, row))}" for name, row in CONSTANTS.items())
    lines = (each.replace(" ", ", ").replace(",", "", 1) for each in program)
    return "\n".join(("ps_2_0", *numbers, "dcl v0", "dcl t0", *lines))


def glsl(program: Iterable[str]) -> str:
    """The program as statements that leave the colour in ``color``, given ``color`` and ``uv``."""
    numbers = (f"const vec4 {name} = vec4{row};" for name, row in CONSTANTS.items())
    registers = ", ".join(f"r{n}" for n in range(10))
    head = (*numbers, f"vec4 {registers}, oC0;", "vec4 v0 = color, t0 = vec4(uv, 0.0, 1.0);")
    return "\n".join((*head, *map(_statement, program), "color = oC0;"))


def _statement(instruction: str) -> str:
    opcode, target, *sources = instruction.split()
    return f"{target} = {_GLSL[opcode].format(*sources)};"
