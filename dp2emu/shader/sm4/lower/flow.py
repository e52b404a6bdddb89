"""Instructions in order, and the ones that change it (SM4-5 tokens, "Flow control").

Subroutines are expanded where they are called, which the decoder bounds.  What lanes leave early
is in frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import reduce
from operator import or_

from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.sm4.flow import CLOSED_BY, CONTINUES, OPENERS, label_of
from dp2emu.shader.sm4.lower import arithmetic, attributes, memory, resources
from dp2emu.shader.sm4.lower.emission import CUTS, EMITS
from dp2emu.shader.sm4.lower.frames import Frame, Kind, Switch
from dp2emu.shader.sm4.lower.lowering import Lowering, Write
from dp2emu.shader.sm4.lower.reading import Source, condition, index_of
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from dp2emu.shader.verify import MAX_DEPTH

MAX_SLOTS = 1 << 18
"""Slots of a program: 65,536 instructions, more than any hardware takes, have four each."""

_RETURNS = frozenset({Op.RET, Op.RETC})
_LABELS = frozenset({Op.CASE, Op.DEFAULT})
_BREAKABLE = frozenset({Kind.LOOP, Kind.SWITCH})


def lower_routine(low: Lowering, body: tuple[Instruction, ...]) -> None:
    """Lower the instructions of a routine; what is returned from early is a frame.

    Raises ShaderError if blocks nest too deep or if there is too much of it, Unsupported for what
    is not built.
    """
    if body and body[-1].op is Op.RET:
        body = body[:-1]
    framed = any(each.op in _RETURNS for each in body)
    if framed:
        _open(low, Kind.ROUTINE, body[0])
    inner = _blocks(body)
    for number, instruction in enumerate(body):
        _lower(low, instruction, inner.get(number, ()))
    if framed:
        _close(low)


def _blocks(body: tuple[Instruction, ...]) -> dict[int, tuple[Instruction, ...]]:
    """For each loop and switch the cases and the continues that are its own."""
    found: dict[int, list[Instruction]] = {}
    around: list[int] = []
    for number, instruction in enumerate(body):
        if instruction.op in OPENERS:
            around.append(number)
            found[number] = []
        elif instruction.op in CLOSED_BY:
            around.pop()
        elif instruction.op is Op.CASE:
            found[around[-1]].append(instruction)
        elif instruction.op in CONTINUES:
            loop = next(each for each in reversed(around) if body[each].op is Op.LOOP)
            found[loop].append(instruction)
    return {number: tuple(each) for number, each in found.items()}


def _lower(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    if low.b.size > MAX_SLOTS:
        what = f"more than {MAX_SLOTS} operations, calls expanded"
        raise ShaderError(what, offset=instruction.offset)
    if instruction.op not in _LABELS:
        _enter_case(low, instruction)
    if instruction.op in _OPEN:
        _OPEN[instruction.op](low, instruction, own)
    elif instruction.op in _EFFECTS:
        _EFFECTS[instruction.op](low, instruction)
    else:
        _assign(low, instruction)


def _assign(low: Lowering, instruction: Instruction) -> None:
    """Read and compute everything, then write it."""
    _check(instruction)
    results = EVALUATE[instruction.op](low, instruction)
    indices: dict[Operand, Value | None] = {}
    writes: list[Write] = []
    for operand, result in zip(instruction.destinations, results, strict=True):
        if operand.file is File.STENCIL_REFERENCE:
            raise Unsupported("stencil reference values of shaders")
        indices[operand] = index_of(low, operand)
        writes += [
            _written(low, instruction, operand, component, value)
            for component, value in result.items()
            if operand.file is not File.NULL
        ]
    low.commit(writes, indices)


def _check(instruction: Instruction) -> None:
    """Raises Unsupported by the name of what there is no lowering of."""
    if instruction.op not in EVALUATE:
        raise Unsupported(_REFUSED.get(instruction.op, f"opcode {instruction.op.name.lower()}"))


def _written(
    low: Lowering, instruction: Instruction, operand: Operand, component: int, value: Value
) -> Write:
    """Bits of a result: a float without subnormals and maybe saturated, a truth as a mask."""
    b = low.b
    if value.type is Type.BOOL:
        return Write(operand, component, b.apply("iselect", value, 0xFFFFFFFF, 0))
    if value.type is Type.I32:
        return Write(operand, component, value)
    number = b.apply("flush", value)
    number = b.saturate(number) if instruction.saturate else number
    return Write(operand, component, b.asint(number), number)


# Frames


def _open(low: Lowering, kind: Kind, at: Instruction, limit: int = 1) -> Frame:
    """Begin what lanes can leave."""
    flag = low.b.variable(Type.BOOL)
    flag.value = False
    frame = _push(low, Frame(kind, ExitStack(), flag), at)
    frame.exit.enter_context(low.b.loop(limit))
    return frame


def _push(low: Lowering, frame: Frame, at: Instruction) -> Frame:
    """Raises ShaderError if, with calls expanded, blocks nest too deep."""
    if len(low.frames) == MAX_DEPTH:
        what = f"more than {MAX_DEPTH} blocks inside each other, calls expanded"
        raise ShaderError(what, offset=at.offset)
    low.known.clear()
    low.frames.append(frame)
    return frame


def _close(low: Lowering) -> None:
    """End the innermost block; lanes on their way further out go on."""
    frame = low.frames.pop()
    frame.exit.close()
    low.known.clear()
    for target in frame.passed:
        assert target.flag is not None
        low.b.break_(target.flag.value)


def _leave(low: Lowering, kinds: frozenset[Kind], test: Value) -> None:
    """Lanes for which the test holds leave the innermost frame of one of the kinds."""
    inner: list[Frame] = []
    for frame in reversed(low.frames):
        if frame.kind in kinds:
            break
        if frame.kind is not Kind.BRANCH:
            inner.append(frame)
    if inner:
        assert frame.flag is not None
        frame.flag.value = frame.flag.value | test
    for each in inner:
        if frame not in each.passed:
            each.passed.append(frame)
    low.b.break_(test)


def _always(low: Lowering) -> Value:
    return low.b.constant(Type.BOOL, True)


# Blocks

Open = Callable[[Lowering, Instruction, tuple[Instruction, ...]], None]
Effect = Callable[[Lowering, Instruction], None]


def _if(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    test = condition(low, instruction)
    frame = _push(low, Frame(Kind.BRANCH, ExitStack()), instruction)
    frame.exit.enter_context(low.b.if_(test))


def _else(low: Lowering, instruction: Instruction) -> None:
    _close(low)
    frame = _push(low, Frame(Kind.BRANCH, ExitStack()), instruction)
    frame.exit.enter_context(low.b.else_())


def _endif(low: Lowering, instruction: Instruction) -> None:
    _close(low)


def _loop(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    """A loop without end but for the budget that all loops share."""
    _open(low, Kind.LOOP, instruction, EXECUTED)
    low.budget.spend()
    if own:
        _open(low, Kind.ROUND, instruction)


def _endloop(low: Lowering, instruction: Instruction) -> None:
    if low.frames[-1].kind is Kind.ROUND:
        _close(low)
    _close(low)


def _switch(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    """A round of a loop, in which each body is for lanes whose case has come."""
    value = low.b.copy(Source(low, instruction.operands[0], "s")[0])
    running = low.b.variable(Type.BOOL)
    running.value = False
    frame = _open(low, Kind.SWITCH, instruction)
    frame.switch = Switch(value, tuple(each.operands[0].words[0] for each in own), running)


def _label(low: Lowering, instruction: Instruction) -> None:
    """case and default; lanes that come from the body above run on."""
    if low.frames[-1].switch is None:
        _close(low)
    switch = low.frames[-1].switch
    assert switch is not None
    if instruction.op is Op.CASE:
        come = switch.value.eq(instruction.operands[0].words[0])
    else:
        tests = (switch.value.eq(word) for word in switch.words)
        come = ~reduce(or_, tests, low.b.constant(Type.BOOL, False))
    switch.running.value = switch.running.value | come


def _enter_case(low: Lowering, instruction: Instruction) -> None:
    """Begin the body of a case, if labels stand before it."""
    switch = low.frames[-1].switch if low.frames else None
    if switch is not None and instruction.op is not Op.ENDSWITCH:
        frame = _push(low, Frame(Kind.BRANCH, ExitStack()), instruction)
        frame.exit.enter_context(low.b.if_(switch.running.value))


def _endswitch(low: Lowering, instruction: Instruction) -> None:
    if low.frames[-1].switch is None:
        _close(low)
    _close(low)


# What leaves, and calls


def _break(low: Lowering, instruction: Instruction) -> None:
    _leave(low, _BREAKABLE, _always(low))


def _breakc(low: Lowering, instruction: Instruction) -> None:
    _leave(low, _BREAKABLE, condition(low, instruction))


def _continue(low: Lowering, instruction: Instruction) -> None:
    _leave(low, frozenset({Kind.ROUND}), _always(low))


def _continuec(low: Lowering, instruction: Instruction) -> None:
    _leave(low, frozenset({Kind.ROUND}), condition(low, instruction))


def _ret(low: Lowering, instruction: Instruction) -> None:
    _leave(low, frozenset({Kind.ROUTINE}), _always(low))


def _retc(low: Lowering, instruction: Instruction) -> None:
    _leave(low, frozenset({Kind.ROUTINE}), condition(low, instruction))


def _call(low: Lowering, instruction: Instruction) -> None:
    lower_routine(low, low.parts.subroutines[label_of(instruction)])


def _callc(low: Lowering, instruction: Instruction) -> None:
    _if(low, instruction, ())
    _call(low, instruction)
    _close(low)


def _discard(low: Lowering, instruction: Instruction) -> None:
    """The lane goes on: its neighbours' derivatives need it."""
    test = condition(low, instruction)
    if low.dropped is not None:
        low.dropped.value = low.dropped.value | test
    low.b.kill(test)
    low.kills = True


def _emit(low: Lowering, instruction: Instruction) -> None:
    """emit, cut and the like, of geometry programs alone."""
    assert low.emitter is not None
    low.emitter.perform(instruction)


def _nothing(low: Lowering, instruction: Instruction) -> None:
    """nop, and sync: what lanes wrote before is there, for every access is done for all lanes
    before any of them goes on.
    """


EVALUATE = {
    **arithmetic.EVALUATE,
    **resources.EVALUATE,
    **attributes.EVALUATE,
    **memory.EVALUATE,
}
"""Opcodes that do no more than write their destinations."""
_OPEN: dict[Op, Open] = {Op.IF: _if, Op.LOOP: _loop, Op.SWITCH: _switch}
_EFFECTS: dict[Op, Effect] = {
    Op.ELSE: _else,
    Op.ENDIF: _endif,
    Op.ENDLOOP: _endloop,
    Op.CASE: _label,
    Op.DEFAULT: _label,
    Op.ENDSWITCH: _endswitch,
    Op.BREAK: _break,
    Op.BREAKC: _breakc,
    Op.CONTINUE: _continue,
    Op.CONTINUEC: _continuec,
    Op.CALL: _call,
    Op.CALLC: _callc,
    Op.RET: _ret,
    Op.RETC: _retc,
    Op.DISCARD: _discard,
    Op.NOP: _nothing,
    Op.SYNC: _nothing,
    **dict.fromkeys(EMITS | CUTS, _emit),
    **memory.EFFECTS,
}

CONTROL = frozenset(_OPEN) | frozenset(_EFFECTS)
"""Opcodes that decide what is executed."""


def _named(what: str, ops: Iterable[Op]) -> dict[Op, str]:
    return {op: f"{what}: {op.name.lower()}" for op in ops}


_REFUSED: dict[Op, str] = {
    **_named("double precision", (op for op in Op if Op.DADD <= op <= Op.FTOD)),
    **_named("double precision", (Op.DDIV, Op.DFMA, Op.DRCP)),
    **_named("double precision", (Op.DTOI, Op.DTOU, Op.ITOD, Op.UTOD)),
    **_named("shader interfaces", (Op.FCALL,)),
    **_named("shader debugging", (Op.ABORT, Op.DEBUG_BREAK)),
    **_named("tiled resources", (op for op in Op if op >= Op.GATHER4_S)),
}
