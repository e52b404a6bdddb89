"""Lowering of instructions in order, and of flow control (SM1-3 tokens, "Flow control").

Calls are expanded inline: a subroutine ends in its only ret, and the decoder bounds the depth and
size of the expansion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader.builder import LOOP_LIMIT
from dp2emu.shader.sm.lower import arithmetic, texture
from dp2emu.shader.sm.lower import texture as early
from dp2emu.shader.sm.lower.arithmetic import compared
from dp2emu.shader.sm.lower.lowering import Lowering, Result
from dp2emu.shader.sm.lower.reading import condition, operands
from dp2emu.shader.sm.lower.texture import Effect
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.sm.registers import Register
from dp2emu.shader.sm.versions import V1_4
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value, Variable

MAX_SLOTS = 1 << 17
"""Maximum number of slots: four for each of 32,768 instructions, the most of any hardware."""


def lower_body(low: Lowering, body: Iterable[Instruction]) -> None:
    """Lower the instructions of a routine.

    Raises ShaderError if blocks nest too deep or the program has too many slots.
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
    """Groups of instructions that read the same old values: single ones, and co-issued pairs."""
    group: list[Instruction] = []
    for instruction in body:
        if group and not instruction.coissue:
            yield group
            group = []
        group.append(instruction)
    if group:
        yield group


def _evaluate(low: Lowering, instruction: Instruction) -> Result:
    before_1_4 = low.version.is_ps_1_x and low.version.level < V1_4
    return (_EVALUATE_1_0 if before_1_4 else _EVALUATE)[instruction.op](low, instruction)


def _nothing(low: Lowering, instruction: Instruction) -> None:
    """nop and phase; temporaries keep their alpha across a phase."""


def _tested(low: Lowering, instruction: Instruction) -> Value:
    """The condition of if and break: a comparison of two scalars, a boolean or the predicate."""
    if instruction.comparison is None:
        return condition(low, instruction.sources[0])
    x, y = operands(low, instruction)
    return compared(instruction, x[0], y[0])


def _if(low: Lowering, instruction: Instruction) -> None:
    low.open(low.b.if_(_tested(low, instruction)), instruction)


def _else(low: Lowering, instruction: Instruction) -> None:
    low.close()
    low.open(low.b.else_(), instruction)


def _end(low: Lowering, instruction: Instruction) -> None:
    low.close()


def _rep(low: Lowering, instruction: Instruction) -> None:
    _repeat(low, instruction, instruction.sources[0].register)


def _loop(low: Lowering, instruction: Instruction) -> None:
    """rep with its own aL, from i#.y in steps of i#.z; the outer aL returns afterwards."""
    count = instruction.sources[1].register
    counter = low.b.variable(Type.I32)
    counter.value = low.integer(count, 1)
    _repeat(low, instruction, count, counter)


def _repeat(
    low: Lowering, instruction: Instruction, count: Register, counter: Variable | None = None
) -> None:
    """Begin a loop of i#.x iterations: none if i#.x <= 0, and ``LOOP_LIMIT`` at most.

    All loops of a shader share a work budget.
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


def _break_if(low: Lowering, instruction: Instruction) -> None:
    low.b.break_(_tested(low, instruction))


def _call(low: Lowering, instruction: Instruction) -> None:
    lower_body(low, low.parts.subroutines[instruction.label])


def _callnz(low: Lowering, instruction: Instruction) -> None:
    low.open(low.b.if_(condition(low, instruction.sources[1])), instruction)
    _call(low, instruction)
    low.close()


_EVALUATE_1_0 = {**arithmetic.EVALUATE, **early.EVALUATE_1_0}
_EVALUATE = {**arithmetic.EVALUATE, **texture.EVALUATE}

EFFECTS: dict[Op, Effect] = {
    **texture.EFFECTS,
    **early.EFFECTS_1_0,
    Op.NOP: _nothing,
    Op.PHASE: _nothing,
    Op.IF: _if,
    Op.IFC: _if,
    Op.ELSE: _else,
    Op.ENDIF: _end,
    Op.LOOP: _loop,
    Op.ENDLOOP: _end,
    Op.REP: _rep,
    Op.ENDREP: _end,
    Op.BREAK: _break,
    Op.BREAKC: _break_if,
    Op.BREAKP: _break_if,
    Op.CALL: _call,
    Op.CALLNZ: _callnz,
}
