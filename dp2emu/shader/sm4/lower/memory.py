"""Stores, atomics and typed loads of unordered access views and group shared memory (SM4-5 tokens,
"Unordered access").

Each becomes an Access statement of the intermediate representation.  An engine finishes it for all
lanes before any lane executes the next statement, so barriers need no code.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.resources import ADDRESS_SHAPES, Dimension, MemoryOpcode, MemoryOperation
from dp2emu.shader.sm4.lower.arithmetic import Evaluate, Result
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, sources
from dp2emu.shader.sm4.lower.resources import Words, memory_operation, swizzled
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction
from dp2emu.shader.values import Value

Effect = Callable[[Lowering, Instruction], None]

_UNTYPED = {Dimension.RAW_BUFFER: 1, Dimension.STRUCTURED_BUFFER: 2}
"""Number of address components of raw and structured buffers."""


def _operation(low: Lowering, instruction: Instruction, opcode: MemoryOpcode) -> MemoryOperation:
    operation = memory_operation(low, instruction, opcode)
    assert operation is not None
    return operation


def _at(operation: MemoryOperation, source: Source) -> list[Value]:
    """Address components, as many as the memory's dimension has."""
    shape = ADDRESS_SHAPES[operation.dimension]
    count = _UNTYPED.get(operation.dimension, shape.axes + shape.slices)
    return [source[c] for c in range(count)]


def _write_access(low: Lowering, operation: MemoryOperation, operands: list[Value]) -> Words:
    """The words of an access that may write; discarded pixels do not execute it."""
    if low.dropped is None:
        return low.access(operation, operands)
    results = [low.b.variable(low.word(0).type, 0) for _ in range(4)]
    with low.b.if_(~low.dropped.value):
        for result, word in zip(results, low.access(operation, operands), strict=True):
            result.value = word
    x, y, z, w = (low.b.copy(result.value) for result in results)
    return x, y, z, w


# Loads


def _ld_typed(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    operation = _operation(low, instruction, MemoryOpcode.LOAD)
    (at,) = sources(low, instruction)
    return swizzled(instruction, low.access(operation, _at(operation, at)))


# Stores


def _store(low: Lowering, instruction: Instruction) -> None:
    """Store the components of the mask from the address on; typed stores write all four."""
    operation = _operation(low, instruction, MemoryOpcode.STORE)
    *places, value = sources(low, instruction)
    typed = operation.dimension not in _UNTYPED
    address = _at(operation, places[0]) if typed else [each[0] for each in places]
    components = range(4) if typed else instruction.operands[0].written
    _write_access(low, operation, [*address, *(value[c] for c in components)])


# Atomics


def _atomic(opcode: MemoryOpcode) -> Effect:
    def effect(low: Lowering, instruction: Instruction) -> None:
        _atomic_access(low, instruction, opcode, silent=True)

    return effect


def _immediate(opcode: MemoryOpcode) -> Evaluate:
    """An atomic whose result is the previous value."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        old, *_ = _atomic_access(low, instruction, opcode, silent=False)
        return (dict.fromkeys(instruction.destinations[0].written, old),)

    return evaluate


def _atomic_access(
    low: Lowering, instruction: Instruction, opcode: MemoryOpcode, *, silent: bool
) -> Words:
    operation = _operation(low, instruction, opcode)._replace(silent=silent)
    at, *given = sources(low, instruction)
    return _write_access(low, operation, [*_at(operation, at), *(each[0] for each in given)])


def _counter(opcode: MemoryOpcode) -> Evaluate:
    """An operation on the hidden counter of a view; the result is the counter value."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        number, *_ = _write_access(low, _operation(low, instruction, opcode), [])
        return (dict.fromkeys(instruction.destinations[0].written, number),)

    return evaluate


EVALUATE: dict[Op, Evaluate] = {
    Op.LD_UAV_TYPED: _ld_typed,
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
