"""Double precision instructions, a row for each opcode (SM4-5 tokens, "Doubles").

A register holds two doubles, in xy and in zw, the low word first.  Double number n of a result is
computed from double n of each source, or from component n of a source of words; comparisons and
conversions to words write it to component n of those that the mask selects.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from dp2emu.shader import doubles
from dp2emu.shader.builder import Builder
from dp2emu.shader.sm4.enums import GlobalFlags
from dp2emu.shader.sm4.lower.arithmetic import Evaluate, Result
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, sources
from dp2emu.shader.sm4.opcodes import EXTENDED_DOUBLES, Op
from dp2emu.shader.sm4.program import Instruction, Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.spelling import COMPONENTS, flags_text
from dp2emu.shader.values import Value

_PAIRS = (0, 1), (2, 3)
"""Components of a register's two doubles."""
_DOUBLE_MASKS = frozenset({*_PAIRS, _PAIRS[0] + _PAIRS[1]})
_WORD_MASKS = frozenset({*combinations(range(4), 1), *combinations(range(4), 2)})


# Doubles to doubles


def _arithmetic(value: Callable[..., Value]) -> Evaluate:
    """Return a rule: ``value`` takes the builder and a double of each source; returns a double."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        read = sources(low, instruction)
        return _doubles(instruction, lambda n: value(low.b, *(s.double(n) for s in read)))

    return evaluate


def _widened(value: Callable[[Builder, Value], Value]) -> Evaluate:
    """Return a rule: ``value`` takes the builder and a word; returns a double."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        (source,) = sources(low, instruction)
        return _doubles(instruction, lambda n: value(low.b, source[n]))

    return evaluate


def _doubles(instruction: Instruction, value: Callable[[int], Value]) -> tuple[Result, ...]:
    """The result of an instruction from ``value``, a function of a double's number."""

    def words(number: int) -> tuple[Value, Value]:
        found = value(number)
        return doubles.to_words(doubles.saturate(found) if instruction.saturate else found)

    return _pairs(instruction, words)


def _pairs(
    instruction: Instruction, words: Callable[[int], tuple[Value, Value]]
) -> tuple[Result, ...]:
    """The result of an instruction from ``words``, a function of a double's number."""
    (target,) = instruction.destinations
    written = [n for n, pair in enumerate(_PAIRS) if pair[1] in target.written]
    found = {n: words(n) for n in written}
    return ({c: found[n][half] for n in written for half, c in enumerate(_PAIRS[n])},)


def _move(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Copy bits; if the instruction saturates, the value is treated as a double."""
    (source,) = sources(low, instruction)
    if instruction.saturate:
        return _doubles(instruction, source.double)
    return _pairs(instruction, source.pair)


def _select(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """dmovc: component n of the first source selects double n; else as ``_move``."""
    tested, *others = instruction.sources
    chosen = Source(low, tested, "s")
    x, y = (Source(low, each, "q") for each in others)

    def words(n: int) -> tuple[Value, Value]:
        test = chosen[n].ne(0)
        (x_low, x_high), (y_low, y_high) = x.pair(n), y.pair(n)
        return low.b.select(test, x_low, y_low), low.b.select(test, x_high, y_high)

    if instruction.saturate:
        return _doubles(instruction, lambda n: doubles.from_words(*words(n)))
    return _pairs(instruction, words)


# Doubles to words


def _narrowed(name: str) -> Evaluate:
    """Return a rule: the operation ``name`` of the op table on doubles, its results words."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        read = sources(low, instruction)
        (target,) = instruction.destinations
        found = (low.b.apply(name, *(s.double(n) for s in read)) for n in range(len(_PAIRS)))
        return (dict(zip(target.written, found, strict=False)),)

    return evaluate


_TO_DOUBLES: dict[Op, Evaluate] = {
    Op.DADD: _arithmetic(lambda b, x, y: x + y),
    Op.DMUL: _arithmetic(lambda b, x, y: x * y),
    Op.DDIV: _arithmetic(lambda b, x, y: x / y),
    Op.DRCP: _arithmetic(lambda b, x: 1.0 / x),
    Op.DFMA: _arithmetic(lambda b, x, y, z: b.apply("dfma", x, y, z)),
    Op.DMIN: _arithmetic(lambda b, x, y: b.apply("dmin", x, y)),
    Op.DMAX: _arithmetic(lambda b, x, y: b.apply("dmax", x, y)),
    Op.DMOV: _move,
    Op.DMOVC: _select,
    Op.FTOD: _widened(lambda b, x: b.apply("ftod", x)),
    Op.ITOD: _widened(lambda b, x: b.apply("itod", x)),
    Op.UTOD: _widened(lambda b, x: b.apply("ltod", b.apply("utol", x))),
}
_TO_WORDS: dict[Op, Evaluate] = {
    Op.DEQ: _narrowed("deq"),
    Op.DNE: _narrowed("dne"),
    Op.DLT: _narrowed("dlt"),
    Op.DGE: _narrowed("dge"),
    Op.DTOF: _narrowed("dtof"),
    Op.DTOI: _narrowed("dtoi"),
    Op.DTOU: _narrowed("dtou"),
}
EVALUATE = _TO_DOUBLES | _TO_WORDS
"""Rules by opcode, for all opcodes of double precision."""
DOUBLES, TO_DOUBLES = frozenset(EVALUATE), frozenset(_TO_DOUBLES)
"""Opcodes of double precision, and those whose results are doubles."""


# Rules


def check_doubles(program: Program) -> None:
    """Raise ShaderError at an instruction whose global flags are missing or whose mask is invalid.

    Doubles are written as .xy, .zw or .xyzw, results of comparisons and conversions to words to
    one or two components.
    """
    flags = GlobalFlags(0)
    for instruction in program.instructions:
        if instruction.op is Op.DCL_GLOBALFLAGS and instruction.declaration is not None:
            flags |= instruction.declaration.flags
        missing = double_flags(instruction) & ~flags
        if missing:
            what = f"{instruction.op.text} of doubles without the flag {flags_text(missing)}"
            raise instruction.error(what)
        if instruction.op in EVALUATE:
            _check_mask(instruction)


def double_flags(instruction: Instruction) -> GlobalFlags:
    """The flags of double precision that an instruction needs."""
    if instruction.op in EXTENDED_DOUBLES:
        return GlobalFlags.DOUBLE_EXTENSIONS
    literal = any(each.file is File.IMMEDIATE64 for each in instruction.operands)
    needed = literal or instruction.op in EVALUATE
    return GlobalFlags.DOUBLE_PRECISION if needed else GlobalFlags(0)


def double_masks(op: Op) -> frozenset[tuple[int, ...]]:
    """The write masks that an opcode of double precision may have."""
    return _DOUBLE_MASKS if op in _TO_DOUBLES else _WORD_MASKS


def _check_mask(instruction: Instruction) -> None:
    (target,) = instruction.destinations
    if target.file is File.NULL or target.written in double_masks(instruction.op):
        return
    mask = "".join(COMPONENTS[c] for c in target.written)
    wide = instruction.op in _TO_DOUBLES
    expected = ".xy, .zw or .xyzw" if wide else "one or two components"
    raise instruction.error(f"{instruction.op.text} to .{mask}, expected {expected}")
