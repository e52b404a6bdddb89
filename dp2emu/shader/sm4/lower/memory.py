"""What acts on memory: unordered access views and the memory of a thread group (SM4-5 tokens,
"Unordered access").

Every access is one of the representation's, in its place among the instructions, so that there is
nothing left for barriers to do: all lanes have come to an access before any goes on.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.resources import SHAPES, Dimension, MemoryOpcode, MemoryOperation
from dp2emu.shader.sm4.lower.arithmetic import Evaluate, Result
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, sources
from dp2emu.shader.sm4.lower.resources import EVALUATE as OF_RESOURCES
from dp2emu.shader.sm4.lower.resources import answered, sized
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.values import Value

Words = tuple[Value, Value, Value, Value]
Effect = Callable[[Lowering, Instruction], None]

MEMORY = frozenset({File.UAV, File.SHARED_MEMORY})

_UNTYPED = {Dimension.RAW_BUFFER: 1, Dimension.STRUCTURED_BUFFER: 2}
"""Components of the address of a word."""


def _memory(instruction: Instruction) -> Operand:
    return next(each for each in instruction.operands if each.file in MEMORY)


def _deed(low: Lowering, instruction: Instruction, act: MemoryOpcode) -> MemoryOperation:
    operand = _memory(instruction)
    shared = operand.file is File.SHARED_MEMORY
    declared = low.declared.shared if shared else low.declared.unordered
    return MemoryOperation(act, operand.number, shared, declared[operand.number].dimension)


def _at(deed: MemoryOperation, source: Source) -> list[Value]:
    """The components of an address that the memory has."""
    shape = SHAPES[deed.dimension]
    count = _UNTYPED.get(deed.dimension, shape.axes + shape.slices)
    return [source[c] for c in range(count)]


def _changed(low: Lowering, deed: MemoryOperation, operands: list[Value]) -> Words:
    """The words of an access that may write: pixels that were dropped write no more."""
    if low.dropped is None:
        return low.access(deed, operands)
    results = [low.b.variable(low.word(0).type, 0) for _ in range(4)]
    with low.b.if_(~low.dropped.value):
        for result, word in zip(results, low.access(deed, operands), strict=True):
            result.value = word
    x, y, z, w = (low.b.copy(result.value) for result in results)
    return x, y, z, w


# Loads


def _either(op: Op, own: Evaluate) -> Evaluate:
    """What reads views for unordered access and shared memory as well as resources."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        there = any(each.file in MEMORY for each in instruction.operands)
        return (own if there else OF_RESOURCES[op])(low, instruction)

    return evaluate


def _ld_typed(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    deed = _deed(low, instruction, MemoryOpcode.LOAD)
    (at,) = sources(low, instruction)
    return answered(instruction, low.access(deed, _at(deed, at)))


def _ld_raw(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (at,) = sources(low, instruction)
    return answered(instruction, low.access(_deed(low, instruction, MemoryOpcode.LOAD), [at[0]]))


def _ld_structured(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    number, at = sources(low, instruction)
    deed = _deed(low, instruction, MemoryOpcode.LOAD)
    return answered(instruction, low.access(deed, [number[0], at[0]]))


def _resinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    deed = _deed(low, instruction, MemoryOpcode.SIZE)
    (level,) = sources(low, instruction)
    words = low.access(deed, [level[0]])
    return sized(low, instruction, words, SHAPES[deed.dimension])


def _bufinfo(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    count, *_ = low.access(_deed(low, instruction, MemoryOpcode.COUNT), [])
    return answered(instruction, (count,) * 4)


# Stores


def _store(low: Lowering, instruction: Instruction) -> None:
    """The components of the mask, at the address and on; what is typed is stored whole."""
    deed = _deed(low, instruction, MemoryOpcode.STORE)
    *places, value = sources(low, instruction)
    typed = deed.dimension not in _UNTYPED
    address = _at(deed, places[0]) if typed else [each[0] for each in places]
    components = range(4) if typed else instruction.operands[0].written
    _changed(low, deed, [*address, *(value[c] for c in components)])


# Atomics


def _atomic(act: MemoryOpcode) -> Effect:
    def effect(low: Lowering, instruction: Instruction) -> None:
        _act(low, instruction, act, silent=True)

    return effect


def _immediate(act: MemoryOpcode) -> Evaluate:
    """The same with what was there before as its result."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        old, *_ = _act(low, instruction, act, silent=False)
        return (dict.fromkeys(instruction.destinations[0].written, old),)

    return evaluate


def _act(low: Lowering, instruction: Instruction, act: MemoryOpcode, *, silent: bool) -> Words:
    deed = _deed(low, instruction, act)._replace(silent=silent)
    at, *given = sources(low, instruction)
    return _changed(low, deed, [*_at(deed, at), *(each[0] for each in given)])


def _counter(act: MemoryOpcode) -> Evaluate:
    """Of the counter that a view hides."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        number, *_ = _changed(low, _deed(low, instruction, act), [])
        return (dict.fromkeys(instruction.destinations[0].written, number),)

    return evaluate


EVALUATE: dict[Op, Evaluate] = {
    Op.LD_UAV_TYPED: _ld_typed,
    Op.LD_RAW: _either(Op.LD_RAW, _ld_raw),
    Op.LD_STRUCTURED: _either(Op.LD_STRUCTURED, _ld_structured),
    Op.RESINFO: _either(Op.RESINFO, _resinfo),
    Op.BUFINFO: _either(Op.BUFINFO, _bufinfo),
    Op.IMM_ATOMIC_ALLOC: _counter(MemoryOpcode.ALLOC),
    Op.IMM_ATOMIC_CONSUME: _counter(MemoryOpcode.CONSUME),
    Op.IMM_ATOMIC_IADD: _immediate(MemoryOpcode.IADD),
    Op.IMM_ATOMIC_AND: _immediate(MemoryOpcode.AND),
    Op.IMM_ATOMIC_OR: _immediate(MemoryOpcode.OR),
    Op.IMM_ATOMIC_XOR: _immediate(MemoryOpcode.XOR),
    Op.IMM_ATOMIC_EXCH: _immediate(MemoryOpcode.EXCHANGE),
    Op.IMM_ATOMIC_CMP_EXCH: _immediate(MemoryOpcode.COMPARE),
    Op.IMM_ATOMIC_IMAX: _immediate(MemoryOpcode.IMAX),
    Op.IMM_ATOMIC_IMIN: _immediate(MemoryOpcode.IMIN),
    Op.IMM_ATOMIC_UMAX: _immediate(MemoryOpcode.UMAX),
    Op.IMM_ATOMIC_UMIN: _immediate(MemoryOpcode.UMIN),
}
EFFECTS: dict[Op, Effect] = {
    Op.STORE_UAV_TYPED: _store,
    Op.STORE_RAW: _store,
    Op.STORE_STRUCTURED: _store,
    Op.ATOMIC_AND: _atomic(MemoryOpcode.AND),
    Op.ATOMIC_OR: _atomic(MemoryOpcode.OR),
    Op.ATOMIC_XOR: _atomic(MemoryOpcode.XOR),
    Op.ATOMIC_CMP_STORE: _atomic(MemoryOpcode.COMPARE),
    Op.ATOMIC_IADD: _atomic(MemoryOpcode.IADD),
    Op.ATOMIC_IMAX: _atomic(MemoryOpcode.IMAX),
    Op.ATOMIC_IMIN: _atomic(MemoryOpcode.IMIN),
    Op.ATOMIC_UMAX: _atomic(MemoryOpcode.UMAX),
    Op.ATOMIC_UMIN: _atomic(MemoryOpcode.UMIN),
}
