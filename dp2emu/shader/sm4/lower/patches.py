"""Patch registers of hull and domain programs: control points and patch constants.

The registers of all patches of a draw are in the uniform files ``vicp``, ``vocp`` and ``vpc``, in
the order patch, control point, register, component.  The I32 input ``patch.x`` is the number of a
lane's patch.  Reads out of range are 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from dp2emu.shader.ports import CONSTANTS, POINTS_IN, POINTS_OUT
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

PATCH = "patch.x"

_WORDS = 1 << 28
"""Declared size of a patch file; the bound array has the words of the patches of a draw."""

_FILES = {
    File.INPUT: POINTS_IN,
    File.INPUT_CONTROL_POINT: POINTS_IN,
    File.OUTPUT_CONTROL_POINT: POINTS_OUT,
    File.PATCH_CONSTANT: CONSTANTS,
}

Number = int | Value
"""Number of a point or a register: constant, or computed at run time."""


def is_of_patch(stage: Stage, operand: Operand) -> bool:
    """Whether an operand is a patch register; in hull programs v# is one too."""
    own = operand.file in _FILES and operand.file is not File.INPUT
    return own or (operand.file is File.INPUT and stage is Stage.HULL)


def registers_of(instructions: Iterable[Instruction], stage: Stage) -> int:
    """Registers of a point in the patch files: the highest number declared plus one, including the
    outputs of a hull program.
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
    """Number of registers that a declaration covers."""
    ranged = instruction.op is Op.DCL_INDEXRANGE
    return instruction.declaration.count if ranged and instruction.declaration else 1


def patch_word(
    low: Lowering, file: File, point: Number, register: Number, component: int
) -> Value:
    """Read a component of a control point's register, or of a patch constant, with point 0."""
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
    """Unsigned ``number < limit``."""
    number = low.word(number) if isinstance(number, int) else number
    return low.b.apply("ult", number, limit)
