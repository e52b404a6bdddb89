"""Instructions in order, and the ones that change it (SM1-3 tokens, "Flow control").

Subroutines are expanded where they are called: they end in their only ret, nesting is limited,
and the decoder bounds what comes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader.builder import LOOP_LIMIT
from dp2emu.shader.sm.lower import arithmetic, early, texture
from dp2emu.shader.sm.lower.arithmetic import compared
from dp2emu.shader.sm.lower.lowering import Lowering, Result
from dp2emu.shader.sm.lower.reading import condition, operands
from dp2emu.shader.sm.lower.texture import Effect
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.sm.registers import Register
from dp2emu.shader.sm.versions import V1_4
from dp2emu.shader.types import Type
from dp2emu.shader.values import Variable

MAX_SLOTS = 1 << 17
"""Slots of a program.  32,768 instructions, more than any hardware takes, have four each."""


def lower_body(low: Lowering, body: Iterable[Instruction]) -> None:
    """Lower the instructions of a routine.

    Raises ShaderError if blocks nest too deep, or if there is too much of it.
    """
    for group in _pairs(body):
        if low.b.size > MAX_SLOTS:
            what = f"more than {MAX_SLOTS} operations, calls expanded"
            raise ShaderError(what, offset=group[0].offset)
        effect = EFFECTS.get(group[0].op)
        if effect is not None:
            effect(low, group[0])
        else:
            results = [(each, _evaluate(low, each)) for each in group]
            low.commit([w for each, result in results for w in low.writes(each, result)])


def _pairs(body: Iterable[Instruction]) -> Iterator[list[Instruction]]:
    """Instructions one by one, but the two of a pair together: both read the old values."""
    group: list[Instruction] = []
    for instruction in body:
        if group and not instruction.coissue:
            yield group
            group = []
        group.append(instruction)
    if group:
        yield group


def _evaluate(low: Lowering, instruction: Instruction) -> Result:
    texture_registers = low.version.early_pixel and low.version.level < V1_4
    return (_EARLY if texture_registers else _LATER)[instruction.op](low, instruction)


def _nothing(low: Lowering, instruction: Instruction) -> None:
    """nop and phase: alpha of a temporary keeps its value over the phase."""


def _if(low: Lowering, instruction: Instruction) -> None:
    low.open(low.b.if_(condition(low, instruction.sources[0])), instruction)


def _ifc(low: Lowering, instruction: Instruction) -> None:
    x, y = operands(low, instruction)
    low.open(low.b.if_(compared(instruction, x[0], y[0])), instruction)


def _else(low: Lowering, instruction: Instruction) -> None:
    low.close()
    low.open(low.b.else_(), instruction)


def _end(low: Lowering, instruction: Instruction) -> None:
    low.close()


def _rep(low: Lowering, instruction: Instruction) -> None:
    _repeat(low, instruction, instruction.sources[0].register)


def _loop(low: Lowering, instruction: Instruction) -> None:
    """rep with an aL of its own, from i#.y on in steps of i#.z; the outer one comes back after."""
    count = instruction.sources[1].register
    counter = low.b.variable(Type.I32)
    counter.value = low.integer(count, 1)
    _repeat(low, instruction, count, counter)


def _repeat(
    low: Lowering, instruction: Instruction, count: Register, counter: Variable | None = None
) -> None:
    """Begin a loop of i#.x rounds, none if that is 0 or less, and ``LOOP_LIMIT`` at most.

    All loops of a shader share a budget.
    """
    rounds, done = low.integer(count, 0), low.b.variable(Type.I32, 0)

    def advance() -> None:
        done.value = done.value + 1
        if counter is not None:
            counter.value = counter.value + low.integer(count, 2)

    low.open(low.b.loop(LOOP_LIMIT), instruction, advance, counter)
    low.b.break_(done.value >= rounds)
    low.budget.spend()


def _break(low: Lowering, instruction: Instruction) -> None:
    low.b.break_()


def _breakc(low: Lowering, instruction: Instruction) -> None:
    x, y = operands(low, instruction)
    low.b.break_(compared(instruction, x[0], y[0]))


def _breakp(low: Lowering, instruction: Instruction) -> None:
    low.b.break_(condition(low, instruction.sources[0]))


def _call(low: Lowering, instruction: Instruction) -> None:
    lower_body(low, low.parts.subroutines[instruction.label])


def _callnz(low: Lowering, instruction: Instruction) -> None:
    low.open(low.b.if_(condition(low, instruction.sources[1])), instruction)
    _call(low, instruction)
    low.close()


_EARLY = {**arithmetic.EVALUATE, **early.EVALUATE}
_LATER = {**arithmetic.EVALUATE, **texture.EVALUATE}

EFFECTS: dict[Op, Effect] = {
    **texture.EFFECTS,
    **early.EFFECTS,
    Op.NOP: _nothing,
    Op.PHASE: _nothing,
    Op.IF: _if,
    Op.IFC: _ifc,
    Op.ELSE: _else,
    Op.ENDIF: _end,
    Op.LOOP: _loop,
    Op.ENDLOOP: _end,
    Op.REP: _rep,
    Op.ENDREP: _end,
    Op.BREAK: _break,
    Op.BREAKC: _breakc,
    Op.BREAKP: _breakp,
    Op.CALL: _call,
    Op.CALLNZ: _callnz,
}
