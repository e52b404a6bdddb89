"""Registers of patches: control points and patch constants, which hull and domain programs read.

Those of all patches that run together are in uniform files, words of ``vicp``, ``vocp`` and
``vpc``: patch after patch, of a patch point after point, of a point or of the constants register
after register, each of four components.  The I32 input ``patch.x`` is the number of a lane's patch
in them.  A point, register or component that a file does not have is 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from dp2emu.shader.ports import CONSTANTS, POINTS_IN, POINTS_OUT
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

PATCH = "patch.x"

_WORDS = 1 << 28
"""Of a file at most; there are as many as the patches that run have."""


_FILES = {
    File.INPUT: POINTS_IN,
    File.INPUT_CONTROL_POINT: POINTS_IN,
    File.OUTPUT_CONTROL_POINT: POINTS_OUT,
    File.PATCH_CONSTANT: CONSTANTS,
}

Number = int | Value
"""Of a point or a register: known, or found out when the program runs."""


def is_of_patch(stage: Stage, operand: Operand) -> bool:
    """Whether an operand is a register of a patch: v# too in hull programs."""
    own = operand.file in _FILES and operand.file is not File.INPUT
    return own or (operand.file is File.INPUT and stage is Stage.HULL)


def registers_of(instructions: Iterable[Instruction], stage: Stage) -> int:
    """Registers that each point has in the files: all that are declared, patch constants that a
    hull program makes among them.
    """
    made = {File.OUTPUT} if stage is Stage.HULL else set()
    named = [
        operand.indices[-1].offset + _count(each)
        for each in instructions
        if each.declaration is not None
        for operand in each.operands
        if is_of_patch(stage, operand) or operand.file in made
    ]
    return max(named, default=1)


def _count(instruction: Instruction) -> int:
    """Registers that a declaration is about."""
    ranged = instruction.op is Op.DCL_INDEXRANGE
    return instruction.declaration.count if ranged and instruction.declaration else 1


def word(low: Lowering, file: File, point: Number, register: Number, component: int) -> Value:
    """A component of a register of a point, or of a constant, whose point is 0."""
    name, declared = _FILES[file], low.declared
    points = {POINTS_IN: declared.points_in, POINTS_OUT: declared.points_out}.get(name, 1)
    patch = low.b.input(PATCH, Type.I32)
    words = low.b.uniform(name, Type.I32, _WORDS)
    if isinstance(point, int) and isinstance(register, int):
        if point >= points or register >= low.registers:
            return low.word(0)
        at = 4 * (point * low.registers + register) + component
        return low.b.load(words, at, patch, 4 * points * low.registers)
    there = _below(low, point, points) & _below(low, register, low.registers)
    row = (patch * points + point) * low.registers + register
    return low.b.load(words, component, low.b.select(there, row, -1), 4)


def _below(low: Lowering, number: Number, limit: int) -> Value:
    """Whether a number, taken without sign, is one of so many."""
    number = low.word(number) if isinstance(number, int) else number
    return low.b.apply("ult", number, limit)
