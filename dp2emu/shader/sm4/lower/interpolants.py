"""Pull-model interpolation: eval instructions of pixel shaders 5.0, which evaluate an input at
another position than its declaration says.
"""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.errors import Unsupported
from dp2emu.shader.ports import CENTROID, NOPERSPECTIVE
from dp2emu.shader.resources import ReadOpcode, Unit
from dp2emu.shader.sm4.enums import Interpolation
from dp2emu.shader.sm4.lower.arithmetic import Evaluate, Result
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, input_of, signed
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

_FLAT = frozenset(
    {
        Interpolation.LINEAR_NOPERSPECTIVE,
        Interpolation.LINEAR_NOPERSPECTIVE_CENTROID,
        Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE,
    }
)
_SIGN_SHIFT = 32 - 4
"""Shift that sign-extends a 4-bit offset, in units of 1/16 pixel."""


def _snapped(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """eval_snapped: at an offset from the pixel's centre, two signed 4-bit numbers."""
    at = Source(low, instruction.sources[1], "i")
    return _fetched(
        low,
        instruction,
        ReadOpcode.SNAPPED,
        [(at[c] << _SIGN_SHIFT) >> _SIGN_SHIFT for c in range(2)],
    )


def _at_sample(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    number = Source(low, instruction.sources[1], "i")[0]
    return _fetched(low, instruction, ReadOpcode.AT_SAMPLE, [number])


def _fetched(
    low: Lowering, instruction: Instruction, read: ReadOpcode, where: Sequence[Value]
) -> tuple[Result, ...]:
    """The attribute at a position, by Fetch: the rasterizer has its plane equations.

    A constant input is returned unchanged.
    """
    operand = instruction.sources[0]
    if not _is_interpolated(low, operand):
        return _copied(low, instruction)
    unit = Unit(read, register=operand.number)
    return _result(low, instruction, low.fetch(unit, *where))


def _centroid(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """eval_centroid."""
    operand = instruction.sources[0]
    if not _is_interpolated(low, operand):
        return _copied(low, instruction)
    number = operand.number
    found = [input_of(low, number, c, _prefix(low, number, c)) for c in range(4)]
    return _result(low, instruction, found)


def _prefix(low: Lowering, number: int, component: int) -> str:
    register = low.declared.input_of.get((number, component))
    flat = register is not None and register.interpolation in _FLAT
    return CENTROID + NOPERSPECTIVE if flat else CENTROID


def _is_interpolated(low: Lowering, operand: Operand) -> bool:
    """Whether an operand is an interpolated input.  Raises Unsupported for v[r0.x]."""
    if operand.file is not File.INPUT:
        return False
    if operand.indices[0].relative is not None:
        raise Unsupported("evaluation of indexed inputs")
    modes = {each.interpolation for each in low.declared.inputs if each.number == operand.number}
    return not modes <= {Interpolation.CONSTANT}


def _copied(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (target,) = instruction.destinations
    source = Source(low, instruction.sources[0], "s")
    return ({c: source[c] for c in target.written},)


def _result(low: Lowering, instruction: Instruction, found: Sequence[Value]) -> tuple[Result, ...]:
    """Words after swizzle and sign modifiers of the source."""
    operand, (target,) = instruction.sources[0], instruction.destinations
    words = [low.b.asint(each) if each.type is Type.F32 else each for each in found]
    return ({c: signed(operand, words[operand.swizzle[c]]) for c in target.written},)


EVALUATE: dict[Op, Evaluate] = {
    Op.EVAL_SNAPPED: _snapped,
    Op.EVAL_SAMPLE_INDEX: _at_sample,
    Op.EVAL_CENTROID: _centroid,
}
