"""Lowering of instructions in order, and of flow control (SM4-5 tokens, "Flow control").

Calls are expanded inline; the decoder bounds the size of the expansion.  Blocks that lanes can
leave early are frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import reduce
from operator import or_

from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.compile_work import TooLong
from dp2emu.shader.sm4.flow import CLOSED_BY, CONTINUES, OPENERS, label_of
from dp2emu.shader.sm4.lower import arithmetic, doubles, resources
from dp2emu.shader.sm4.lower.geometry import CUTS, EMITS
from dp2emu.shader.sm4.lower.lowering import Frame, FrameKind, Lowering, Switch, Write
from dp2emu.shader.sm4.lower.reading import Source, condition, index_of
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value
from dp2emu.shader.verify import MAX_DEPTH

MAX_SLOTS = 1 << 17
"""Maximum number of slots and of statements, as of shader models 1 to 3."""
_RETURNS = frozenset({Op.RET, Op.RETC})
_LABELS = frozenset({Op.CASE, Op.DEFAULT})


def lower_routine(low: Lowering, body: tuple[Instruction, ...]) -> None:
    """Lower the instructions of a routine; one with early returns is a block that lanes can leave.

    Raises ShaderError if blocks nest too deep or the program has too many slots.  Raises
    Unsupported for instructions that are not implemented.
    """
    if body and body[-1].op is Op.RET:
        body = body[:-1]
    framed = any(each.op in _RETURNS for each in body)
    if framed:
        _open(low, FrameKind.ROUTINE, body[0])
    inner = _blocks(body)
    for number, instruction in enumerate(body):
        _lower(low, instruction, inner.get(number, ()))
    if framed:
        _close(low)


def _blocks(body: tuple[Instruction, ...]) -> dict[int, tuple[Instruction, ...]]:
    """The instructions of a routine that belong to a block, by position in ``body`` of its opener.

    They are the cases of a switch and the continues of a loop; an if has none.
    """
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
        raise TooLong(MAX_SLOTS, instruction.offset)
    low.b.at(low, instruction)
    if instruction.op not in _LABELS:
        _enter_case(low, instruction)
    if instruction.op in _OPEN:
        _OPEN[instruction.op](low, instruction, own)
    elif instruction.op in _EFFECTS:
        _EFFECTS[instruction.op](low, instruction)
    else:
        _assign(low, instruction)


def _assign(low: Lowering, instruction: Instruction) -> None:
    """Compute all results of an instruction, then write them.

    Raises Unsupported for an opcode that cannot be lowered.
    """
    op = instruction.op
    if op not in EVALUATE:
        raise Unsupported(REFUSED[op])
    results = EVALUATE[op](low, instruction)
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


def _written(
    low: Lowering, instruction: Instruction, operand: Operand, component: int, value: Value
) -> Write:
    """Make the Write of a result component.

    Floats are flushed, and clamped to 0..1 if the instruction saturates, BOOLs become masks of 32
    bits.
    """
    b = low.b
    if value.type is Type.BOOL:
        return Write(operand, component, b.apply("iselect", value, 0xFFFFFFFF, 0))
    if value.type is Type.I32:
        return Write(operand, component, value)
    number = b.apply("flush", value)
    number = b.saturate(number) if instruction.saturate else number
    return Write(operand, component, b.asint(number), number)


# Frames


def _open(low: Lowering, kind: FrameKind, at: Instruction, limit: int = 1) -> Frame:
    """Open a frame that lanes can leave early: a loop of ``limit`` iterations."""
    flag = low.b.variable(Type.BOOL)
    flag.value = False
    frame = _push(low, Frame(kind, ExitStack(), flag), at)
    frame.exit.enter_context(low.b.loop(limit))
    return frame


def _push(low: Lowering, frame: Frame, at: Instruction) -> Frame:
    """Push an open block.  Raises ShaderError if blocks, with calls expanded, nest too deep."""
    if len(low.frames) == MAX_DEPTH:
        what = f"more than {MAX_DEPTH} blocks inside each other, calls expanded"
        raise ShaderError(what, offset=at.offset)
    low.known.clear()
    low.frames.append(frame)
    return frame


def _close(low: Lowering) -> None:
    """Close the innermost frame; lanes on their way out of an outer one break again."""
    frame = low.frames.pop()
    frame.exit.close()
    low.known.clear()
    for target in frame.outer_exits:
        assert target.flag is not None
        low.b.break_(target.flag.value)


def _leave(low: Lowering, kinds: tuple[FrameKind, ...], test: Value) -> None:
    """Make the lanes in which ``test`` is true leave the innermost frame of one of ``kinds``."""
    inner: list[Frame] = []
    for frame in reversed(low.frames):
        if frame.kind in kinds:
            break
        if frame.kind is not FrameKind.BRANCH:
            inner.append(frame)
    if inner:
        assert frame.flag is not None
        frame.flag.value = frame.flag.value | test
    for each in inner:
        if frame not in each.outer_exits:
            each.outer_exits.append(frame)
    low.b.break_(test)


# Blocks

Open = Callable[[Lowering, Instruction, tuple[Instruction, ...]], None]
Effect = Callable[[Lowering, Instruction], None]


def _if(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    test = condition(low, instruction)
    frame = _push(low, Frame(FrameKind.BRANCH, ExitStack()), instruction)
    frame.exit.enter_context(low.b.if_(test))


def _end(low: Lowering, instruction: Instruction) -> None:
    _close(low)


def _else(low: Lowering, instruction: Instruction) -> None:
    _close(low)
    frame = _push(low, Frame(FrameKind.BRANCH, ExitStack()), instruction)
    frame.exit.enter_context(low.b.else_())


def _loop(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    """Open a loop without an end condition, bounded by the work budget that all loops share."""
    _open(low, FrameKind.LOOP, instruction, EXECUTED)
    low.budget.spend()
    if own:
        _open(low, FrameKind.ITERATION, instruction)


def _endloop(low: Lowering, instruction: Instruction) -> None:
    if low.frames[-1].kind is FrameKind.ITERATION:
        _close(low)
    _close(low)


def _switch(low: Lowering, instruction: Instruction, own: tuple[Instruction, ...]) -> None:
    """Lower switch: open a loop of one iteration, which break leaves.

    ``own`` are its case instructions.  A lane executes the bodies from its own case on.
    """
    value = low.b.copy(Source(low, instruction.operands[0], "s")[0])
    running = low.b.variable(Type.BOOL)
    running.value = False
    frame = _open(low, FrameKind.SWITCH, instruction)
    frame.switch = Switch(value, tuple(each.operands[0].words[0] for each in own), running)


def _label(low: Lowering, instruction: Instruction) -> None:
    """Lower case or default: the lanes that it selects start, lanes already running go on."""
    if low.frames[-1].switch is None:
        _close(low)
    switch = low.frames[-1].switch
    assert switch is not None
    if instruction.op is Op.CASE:
        reached = switch.value.eq(instruction.operands[0].words[0])
    else:
        tests = (switch.value.eq(word) for word in switch.words)
        reached = ~reduce(or_, tests, low.b.constant(Type.BOOL, False))
    switch.running.value = switch.running.value | reached


def _enter_case(low: Lowering, instruction: Instruction) -> None:
    """Open the body of a case, before its first instruction is lowered."""
    switch = low.frames[-1].switch if low.frames else None
    if switch is not None and instruction.op is not Op.ENDSWITCH:
        frame = _push(low, Frame(FrameKind.BRANCH, ExitStack()), instruction)
        frame.exit.enter_context(low.b.if_(switch.running.value))


def _endswitch(low: Lowering, instruction: Instruction) -> None:
    if low.frames[-1].switch is None:
        _close(low)
    _close(low)


# Jumps and calls


def _leaving(*kinds: FrameKind) -> Effect:
    """Return a function that lowers a jump: lanes leave the innermost frame of a kind."""

    def effect(low: Lowering, instruction: Instruction) -> None:
        tests = instruction.op.row.tests
        test = condition(low, instruction) if tests else low.b.constant(Type.BOOL, True)
        _leave(low, kinds, test)

    return effect


def _call(low: Lowering, instruction: Instruction) -> None:
    lower_routine(low, low.parts.subroutines[label_of(instruction)])


def _callc(low: Lowering, instruction: Instruction) -> None:
    _if(low, instruction, ())
    _call(low, instruction)
    _close(low)


def _discard(low: Lowering, instruction: Instruction) -> None:
    """Lower discard: mark lanes as killed.

    They keep executing, since derivatives of neighbours read them.
    """
    test = condition(low, instruction)
    if low.dropped is not None:
        low.dropped.value = low.dropped.value | test
    low.b.kill(test)
    low.kills = True


def _emit(low: Lowering, instruction: Instruction) -> None:
    """Lower emit, cut and their variants, in geometry programs."""
    assert low.emitter is not None
    low.emitter.lower(instruction)


def _nothing(low: Lowering, instruction: Instruction) -> None:
    """Lower nop and sync to nothing.

    A sync needs no code: an access finishes for all lanes before any lane executes the next
    statement.
    """


EVALUATE = {**arithmetic.EVALUATE, **doubles.EVALUATE, **resources.EVALUATE}
"""Rules by opcode, for all opcodes whose only effect is to write their destinations."""
_OPEN: dict[Op, Open] = {Op.IF: _if, Op.LOOP: _loop, Op.SWITCH: _switch}
_EFFECTS: dict[Op, Effect] = {
    Op.ELSE: _else,
    Op.ENDIF: _end,
    Op.ENDLOOP: _endloop,
    Op.CASE: _label,
    Op.DEFAULT: _label,
    Op.ENDSWITCH: _endswitch,
    **dict.fromkeys((Op.BREAK, Op.BREAKC), _leaving(FrameKind.LOOP, FrameKind.SWITCH)),
    **dict.fromkeys((Op.CONTINUE, Op.CONTINUEC), _leaving(FrameKind.ITERATION)),
    Op.CALL: _call,
    Op.CALLC: _callc,
    **dict.fromkeys((Op.RET, Op.RETC), _leaving(FrameKind.ROUTINE)),
    Op.DISCARD: _discard,
    Op.NOP: _nothing,
    Op.SYNC: _nothing,
    **dict.fromkeys(EMITS | CUTS, _emit),
    **resources.EFFECTS,
}

CONTROL = frozenset(_OPEN) | frozenset(_EFFECTS)
"""Opcodes whose lowering does more than write destinations: flow control and side effects."""


def _named(what: str, ops: Iterable[Op]) -> dict[Op, str]:
    return {op: f"{what}: {op.text}" for op in ops}


REFUSED: dict[Op, str] = {
    **_named("shader interfaces", (Op.FCALL,)),
    **_named("shader debugging", (Op.ABORT, Op.DEBUG_BREAK)),
    **_named("tiled resources", (op for op in Op if op >= Op.GATHER4_S)),
}
"""Opcodes that cannot be lowered, with the words of the Unsupported error."""
