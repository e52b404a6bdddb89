"""Peephole rules: cheaper instructions with results identical to those of ``operations``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType

import msgspec
import numpy as np

from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.jit.operations import EMIT
from dp2emu.shader.jit.ranges import InputRanges, Range, SampleRanges, SlotRanges, producer, ranges
from dp2emu.shader.jit.writer import ZERO, Writer, constant
from dp2emu.shader.types import Type

# Normalisation of n-bit codes, c / (2^n - 1), by multiplication, and the inverse conversion.
#
# The code times the reciprocal, given as a sum of two floats whose small product is rounded first,
# is the correctly rounded quotient for every integer below 2^16 and every n up to 16.

BITS = 16
"""Maximum n for which the rules optimise division by 2^n - 1 (as in UNORM and SNORM conversions),
and maximum number of bits of the dividend."""
_LARGEST = (1 << BITS) - 1
_DIVISORS = {
    ir.Constant.of(Type.F32, float((1 << bits) - 1)): (1 << bits) - 1
    for bits in range(1, BITS + 1)
}


def fraction(w: Writer, value: str, largest: int) -> str:
    """Emit value / largest for integers of at most ``BITS`` bits and either sign."""
    if not w.target.fused or largest > _LARGEST:
        return w(f"fdiv {w.f} {value}, {_constant(largest)}")
    about, beyond = (_constant(float(part)) for part in parts(largest))
    return w.float_call("fma", value, about, w(f"fmul {w.f} {value}, {beyond}"))


def parts(largest: int) -> tuple[np.float32, np.float32]:
    """Return 1 / ``largest`` as a sum of two floats."""
    about = np.float32(1) / np.float32(largest)
    return about, np.float32((1 - float(about) * largest) / largest)


def byte_fraction(w: Writer, words: str, number: int) -> str:
    """Emit byte ``number`` of each word, over 255: 2^-32 times the byte four times over, rounded
    up.

    The binary expansion of the quotient repeats the byte without end, and the float has at most 24
    bits from the byte's first set bit on.  The remainder after these bits therefore always begins
    with a set bit and exceeds half a unit in the last place: rounding up is rounding to nearest.
    """
    width = w.target.width
    bytes, count = f"<{4 * width} x i8>", 4 * width
    each = w(f"bitcast {w.i} {words} to {bytes}")
    four = w.picked(bytes, each, "poison", tuple(n // 4 * 4 + number for n in range(count)))
    repeated = w(f"bitcast {bytes} {four} to {w.i}")
    name = "llvm.x86.avx512.uitofp.round.v16f32.v16i32"
    value = w.call(name, w.f, (w.i, repeated), ("i32", str(_UP)))
    return w(f"fmul {w.f} {value}, {_constant(2.0**-32)}")


_UP = 10
"""Rounding mode operand of the AVX-512 conversion: up, without exceptions."""
_EXACT = frozenset((1 << bits) - 1 for bits in range(2, 17))
"""Values 2^n - 1 of ``largest`` for which ``fraction_code`` needs only one fma: the product is
exact, and the only tie, at one half, rounds up to an even number."""


def fraction_code(w: Writer, value: str, largest: float) -> str:
    """Emit floor(c * largest + 0.5) as i32 for c within 0..1; ``largest`` is below 2^31."""
    if largest in _EXACT and w.target.fused:
        rounded = w.float_call("fma", value, _constant(largest), _constant(2.0**23))
        # Clear the upper byte, which holds the exponent of 2^23; a later shift may do so anyway.
        return w(f"and {w.i} {w(f'bitcast {w.f} {rounded} to {w.i}')}, splat (i32 {0xFFFFFF})")
    factor, half = (constant(ir.Constant.of(Type.F64, each)) for each in (largest, 0.5))
    scaled = w(f"fmul {w.d} {w(f'fpext {w.f} {value} to {w.d}')}, {factor}")
    return w(f"fptosi {w.d} {w(f'fadd {w.d} {scaled}, {half}')} to {w.i}")


def _constant(value: float) -> str:
    return constant(ir.Constant.of(Type.F32, value))


def divisor(operand: ir.Operand) -> int | None:
    """Return 2^n - 1 if the operand is such a constant with n up to ``BITS``, otherwise None."""
    return _DIVISORS.get(operand) if isinstance(operand, ir.Constant) else None


@identity_cached()
def made_once(program: ir.Program) -> dict[int, ir.Assign]:
    """Return the assignment of each slot that is assigned only once, by slot number."""
    statements = [*ir.walk(program.statements)]
    places = Counter(slot for statement in statements for slot in ir.written(statement))
    return {s.slot: s for s in statements if isinstance(s, ir.Assign) and places[s.slot] == 1}


@identity_cached()
def whole_numbers(program: ir.Program) -> frozenset[int]:
    """Return the F32 slots that hold only integers of at most ``BITS`` bits.

    Each has a single assignment, as do the slots it is computed from; before it they hold 0.
    """
    made = made_once(program)
    small = {slot for slot, s in made.items() if _is_small(s)}
    converted = {slot: s.operands[0] for slot, s in made.items() if s.op in ("itof", "utof")}
    return frozenset(slot for slot, value in converted.items()
                     if isinstance(value, ir.Slot) and value.number in small)  # fmt: skip


def _is_small(statement: ir.Assign) -> bool:
    """Whether a statement masks or shifts its operand so that at most ``BITS`` bits are left."""
    last = statement.operands[-1]
    if not isinstance(last, ir.Constant):
        return False
    masked = statement.op == "iand" and 0 <= last.bits <= _LARGEST
    return masked or (statement.op in ("ushr", "ishr") and BITS <= last.bits < 32)


# Sign-of-zero analysis: mulz gives +0 where an operand is 0.  A plain product differs there by the
# zero's sign, or if the other operand is infinite or NaN, so knowledge of signs and ranges allows
# a plain product.

_SIGN_BLIND = frozenset(
    ("mulz", "abs", "lt", "ge", "eq", "ne", "saturate", "fract", "ftoi", "ftou")
)
"""Operations whose result is the same for an operand of +0 and of -0."""
_SIGN_PRESERVING = frozenset(
    ("mov", "add", "sub", "mul", "neg", "sqrt", "floor", "select", "min", "max")
)
"""Operations whose results for an operand of +0 and of -0 differ at most in the sign of a zero."""


@identity_cached()
def unsigned_zeros(program: ir.Program) -> frozenset[int]:
    """Return the slots whose zeros may have either sign without an observable effect.

    A slot counts as signed if a statement exposes its sign, or writes it to a signed slot.  Each
    signed slot is visited once, and so are the statements that write it.
    """
    uses: dict[int, list[ir.Statement]] = defaultdict(list)
    writers: dict[int, list[ir.Assign]] = defaultdict(list)
    for statement in ir.walk(program.statements):
        for operand in ir.operands(statement):
            if isinstance(operand, ir.Slot):
                uses[operand.number].append(statement)
        if isinstance(statement, ir.Assign):
            writers[statement.slot].append(statement)
    signed = {slot for slot, each in uses.items() if not all(map(_may_ignore_sign, each))}
    pending = [*signed]
    while pending:
        for statement in writers[pending.pop()]:
            more = _exposed_operands(statement) - signed
            signed |= more
            pending += more
    return frozenset(uses.keys() - signed)


def _may_ignore_sign(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Assign) and statement.op in _SIGN_BLIND | _SIGN_PRESERVING


def _exposed_operands(statement: ir.Assign) -> set[int]:
    """Return the operand slots whose zeros' signs can be observed through the result's sign."""
    if statement.op in _SIGN_BLIND:
        return set()
    hides = _SIGN_HIDING.get(statement.op, _hides_nothing)
    slots = {each.number for each in statement.operands if isinstance(each, ir.Slot)}
    return {
        slot for slot in slots
        if not any(hides(each) for each in statement.operands if each != ir.Slot(slot))
    }  # fmt: skip


def _hides_nothing(operand: ir.Operand) -> bool:
    return False


def number_of(operand: ir.Operand) -> float | None:
    """Return the value of a constant that is a finite float, otherwise None."""
    if not isinstance(operand, ir.Constant):
        return None
    value = operand.scalar
    return float(value) if np.isfinite(value) else None


def _is(test: Callable[[float], bool]) -> Callable[[ir.Operand], bool]:
    def holds(operand: ir.Operand) -> bool:
        value = number_of(operand)
        return value is not None and test(value)

    return holds


_SIGN_HIDING: dict[str, Callable[[ir.Operand], bool]] = {
    "add": _is(lambda value: value != 0 or not np.signbit(value)),
    "sub": _is(lambda value: value != 0),
    "min": _is(lambda value: value < 0),
    "max": _is(lambda value: value > 0),
}
"""From operation to a test of one operand: whether its value makes the result the same if the
other operand is +0 and if it is -0."""
Read = Callable[[ir.Operand], str]
"""Function that returns the name of an operand's value."""
_NO_INPUTS: InputRanges = MappingProxyType({})


class Facts(msgspec.Struct, frozen=True):
    """What the peephole rules know about a program: ranges of slots, slots that hold whole
    numbers, slots whose zeros may have either sign, and the assignment of slots that have only
    one.
    """

    ranges: SlotRanges
    whole: frozenset[int]
    unsigned: frozenset[int]
    made: Mapping[int, ir.Assign]

    @classmethod
    def of(
        cls, program: ir.Program, sampled: SampleRanges, inputs: InputRanges = _NO_INPUTS
    ) -> Facts:
        """Analyse a program; ``sampled``, ``inputs``: known ranges of callees' results and
        inputs.
        """
        return cls(
            ranges(program, sampled, inputs),
            whole_numbers(program),
            unsigned_zeros(program),
            made_once(program),
        )

    def range(self, operand: ir.Operand) -> Range | None:
        """Return the range of an operand if it is a slot whose range is known, otherwise None."""
        return self.ranges.get(operand.number) if isinstance(operand, ir.Slot) else None


Rule = Callable[[Writer, Facts, ir.Assign, Read], str | None]


def peephole(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """Emit a cheaper equivalent of a statement; None if no rule applies."""
    rule = _RULES.get(statement.op)
    return None if rule is None else rule(w, facts, statement, read)


def _quotient(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """Emit integer / (2^n - 1) without a division; None if the statement is no such quotient."""
    value, largest = statement.operands[0], divisor(statement.operands[1])
    whole = isinstance(value, ir.Slot) and value.number in facts.whole
    if not largest or not whole:
        return None
    byte = _byte(facts, value) if largest == _BYTE and w.target.rounding else None
    if byte is not None and w.target.width == _WIDE:
        return byte_fraction(w, read(byte[0]), byte[1])
    return fraction(w, read(value), largest)


_BYTE, _WIDE = 0xFF, 16
_BYTE_SHIFTS = (8, 16, 24)


def _byte(facts: Facts, value: ir.Operand) -> tuple[ir.Operand, int] | None:
    """If a float was converted from a byte of a word, return the word and the byte's number."""
    # Samplers convert by itof, excluded here: next to gathers, byte shuffles are slower.
    converted = producer(value, facts.made, "utof")
    if converted is None:
        return None
    field = producer(converted.operands[0], facts.made, "iand", "ushr")
    if field is None:
        return None
    if field.op == "iand":
        if field.operands[1] != ir.Constant(Type.I32, _BYTE):
            return None
        word = field.operands[0]
        field = producer(word, facts.made, "ushr") or field
        if field.op == "iand":
            return word, 0
    word, shift = field.operands
    number = shift.bits if isinstance(shift, ir.Constant) else 0
    return (word, number // 8) if number in _BYTE_SHIFTS else None


def _fraction_code(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """Emit floor(c * largest + 0.5) as an integer, with c the operand clamped to 0..1; None unless
    ``largest`` is a constant from 1 to below 2^31.
    """
    value, largest = statement.operands[0], number_of(statement.operands[1])
    if largest is None or not 1 <= largest < 2**31:
        return None
    known, x = facts.range(value), read(value)
    if known is None or not known.within:
        x = EMIT["saturate"](w, x)
    return fraction_code(w, x, largest)


def _convert_double(word: str) -> Rule:
    """Rule: convert F64 to I32 without saturation if the value is in range.

    Unsigned values that fit a signed integer use fptosi, which more CPUs have an instruction for.
    """

    def rule(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
        known = facts.range(statement.operands[0])
        if known is None or known.nan:
            return None
        x = read(statement.operands[0])
        if known.converts and (word == "fptosi" or known.low >= 0):
            return w(f"fptosi {w.d} {x} to {w.i}")
        if word == "fptoui" and known.low >= 0 and known.high < 2.0**32:
            return w(f"fptoui {w.d} {x} to {w.i}")
        return None

    return rule


def _reinterpret(given: str, found: str) -> Rule:
    """Rule: bit cast a float without NaN canonicalisation if it is not a NaN."""

    def rule(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
        known = facts.range(statement.operands[0])
        if known is None or known.nan:
            return None
        x = read(statement.operands[0])
        return w(f"bitcast {getattr(w, given)} {x} to {getattr(w, found)}")

    return rule


def _saturated(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """For a clamp to 0..1, return its operand if that is within 0..1 already; None otherwise."""
    (value,) = statement.operands
    known = facts.range(value)
    return read(value) if known is not None and known.within else None


def _convert(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """Emit a conversion to I32 without saturation if the value is in range; None otherwise."""
    (value,) = statement.operands
    known = facts.range(value)
    if known is None or not known.converts:
        return None
    x = read(value)
    if known.nan:
        x = w.select(w(f"fcmp ord {w.f} {x}, {ZERO}"), w.f, x, ZERO)
    return w(f"fptosi {w.f} {x} to {w.i}")


def _product(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """Emit mulz (0 if an operand is 0) with fewer tests of its operands, or none, where the result
    cannot differ: for a square, with a constant, and if an operand is finite; None otherwise.
    """
    x, y = statement.operands
    factor, unsigned = number_of(y) or number_of(x), statement.slot in facts.unsigned
    if x == y or (factor and unsigned):
        return w(f"fmul {w.f} {read(x)}, {read(y)}")
    if factor:
        return _scaled(w, read(x if number_of(y) else y), factor)
    return _finite_product(w, facts, statement, read) if unsigned else None


def _scaled(w: Writer, value: str, factor: float) -> str:
    """Emit mulz with a factor that is not 0: a zero of either sign becomes a zero with the
    factor's sign first.
    """
    sign = "fadd" if factor > 0 else "fsub"
    given = (value, ZERO) if factor > 0 else (ZERO, value)
    return w(f"fmul {w.f} {w(f'{sign} {w.f} {given[0]}, {given[1]}')}, {_constant(abs(factor))}")


def _finite_product(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
    """Emit mulz of operands of which one or both are finite, where the sign of a zero does not
    matter; None otherwise.

    Only a product with an infinity or a NaN is not 0 by itself.
    """
    finite = [each for each in statement.operands if _is_finite(facts.range(each))]
    if not finite:
        return None
    x, y = map(read, statement.operands)
    value = w(f"fmul {w.f} {x}, {y}")
    if len(finite) == len(statement.operands):
        return value
    return w.select(w(f"fcmp une {w.f} {read(finite[0])}, {ZERO}"), w.f, value, ZERO)


def _is_finite(known: Range | None) -> bool:
    return known is not None and not known.nan and isfinite(known.low) and isfinite(known.high)


def _min_max(how: str, letter: str = "f") -> Rule:
    """Rule: a minimum or maximum with a nonzero constant is one compare and select, since no zeros
    of two signs can meet.
    """

    def rule(w: Writer, facts: Facts, statement: ir.Assign, read: Read) -> str | None:
        x, y = statement.operands
        value, bound = (y, x) if isinstance(x, ir.Constant) else (x, y)
        if not number_of(bound):
            return None
        given, limit, type = read(value), read(bound), getattr(w, letter)
        return w.select(w(f"fcmp {how} {type} {given}, {limit}"), type, given, limit)

    return rule


_RULES: dict[str, Rule] = {
    "div": _quotient,
    "saturate": _saturated,
    "ftoi": _convert,
    "mulz": _product,
    "min": _min_max("olt"),
    "max": _min_max("ogt"),
    "dmin": _min_max("olt", "d"),
    "dmax": _min_max("ogt", "d"),
    "ftoun": _fraction_code,
    "dtoi": _convert_double("fptosi"),
    "dtou": _convert_double("fptoui"),
    "asint": _reinterpret("f", "i"),
    "aslong": _reinterpret("d", "l"),
}
