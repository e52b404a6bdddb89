"""Arithmetic instructions, a row for each opcode (SM4-5 tokens, "Opcodes", "Floats" and "Integers
and conversions").

Products are rounded before the addition; dot products add from x to w.  Intermediate results keep
subnormals; the result of an instruction is flushed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dp2emu.shader import functions, integers
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import half
from dp2emu.shader.ir import Axis
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.reading import Source, sources
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Instruction
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.values import Value

Result = Mapping[int, Value]
"""Type of a result: the value of each written component, by component number 0 to 3.  When
written, F32 values are flushed and BOOL values become masks of 32 bits."""
Evaluate = Callable[[Lowering, Instruction], tuple[Result, ...]]
"""Type of a rule: a function (lowering, instruction) that computes the results of an instruction,
one for each destination, without writing them."""
_BEFORE_ONE = 1.0 - 2.0**-24


def _each(value: Callable[..., Value]) -> Evaluate:
    """Return a component-wise rule.

    ``value`` takes the builder and one component of each source.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        read = sources(low, instruction)
        (target,) = instruction.destinations
        return ({c: value(low.b, *(s[c] for s in read)) for c in target.written},)

    return evaluate


def _both(value: Callable[..., tuple[Value, Value]]) -> Evaluate:
    """Return a component-wise rule with two destinations, whose masks may differ.

    ``value`` is a function of the builder and a component of each source; it returns both results.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        read = sources(low, instruction)
        first, second = instruction.destinations
        wanted = sorted({*first.written, *second.written})
        found = {c: value(low.b, *(s[c] for s in read)) for c in wanted}
        return ({c: found[c][0] for c in first.written}, {c: found[c][1] for c in second.written})

    return evaluate


def _dot(size: int) -> Evaluate:
    """Return a rule: each component is the dot product of the sources' first ``size``."""

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        x, y = sources(low, instruction)
        total = x[0] * y[0]
        for c in range(1, size):
            total = total + x[c] * y[c]
        return (dict.fromkeys(instruction.destinations[0].written, total),)

    return evaluate


def _mov(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    """Copy bits; if the instruction saturates, the value is treated as a float."""
    (target,) = instruction.destinations
    source = Source(low, instruction.sources[0], _letter(instruction))
    return ({c: source[c] for c in target.written},)


def _movc(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
    (target,) = instruction.destinations
    tested, *others = instruction.sources
    chosen = Source(low, tested, "s")
    x, y = (Source(low, each, _letter(instruction)) for each in others)
    return ({c: low.b.select(chosen[c].ne(0), x[c], y[c]) for c in target.written},)


def _letter(instruction: Instruction) -> str:
    return "f" if instruction.saturate else "s"


def _swapc(b: Builder, tested: Value, x: Value, y: Value) -> tuple[Value, Value]:
    swapped = tested.ne(0)
    return b.select(swapped, y, x), b.select(swapped, x, y)


def _frc(b: Builder, x: Value) -> Value:
    """x - floor(x), at most the float below 1: the difference may round up to 1."""
    rest = b.fract(x)
    return b.select(rest >= 1.0, _BEFORE_ONE, rest)


def _sincos(b: Builder, x: Value) -> tuple[Value, Value]:
    """Sine and cosine; the sine of a zero keeps its sign."""
    sine, cosine = functions.sincos(x)
    return b.select(x.eq(0.0), x, sine), cosine


def _op(name: str) -> Evaluate:
    """Return a component-wise rule that applies operation ``name`` of the op table."""
    return _each(lambda b, *operands: b.apply(name, *operands))


def _two(first: str, second: str) -> Evaluate:
    """Return a rule for instructions with two destinations, each of which may be null.

    The first gets the results of the operation ``first``, the second those of ``second``, on the
    same operands.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> tuple[Result, ...]:
        x, y = sources(low, instruction)
        return tuple(
            {c: low.b.apply(name, x[c], y[c]) for c in target.written}
            if target.file is not File.NULL
            else {}
            for name, target in zip((first, second), instruction.destinations, strict=True)
        )

    return evaluate


def _chosen(test: str) -> Evaluate:
    """Return a component-wise rule: x where the comparison ``test`` of x and y is true, else y."""
    return _each(lambda b, x, y: b.select(b.apply(test, x, y), x, y))


def _derivative(axis: Axis) -> Evaluate:
    return _each(lambda b, x: b.derivative(axis, x))


def _bit(b: Builder, condition: Value) -> Value:
    return b.apply("iselect", condition, 1, 0)


EVALUATE: dict[Op, Evaluate] = {
    # Float
    Op.ADD: _op("add"),
    Op.MUL: _op("mul"),
    Op.MAD: _each(lambda b, x, y, z: x * y + z),
    Op.DIV: _op("div"),
    Op.DP2: _dot(2),
    Op.DP3: _dot(3),
    Op.DP4: _dot(4),
    Op.MIN: _op("min"),
    Op.MAX: _op("max"),
    Op.FRC: _each(_frc),
    Op.ROUND_NE: _op("round"),
    Op.ROUND_NI: _op("floor"),
    Op.ROUND_PI: _op("ceil"),
    Op.ROUND_Z: _op("trunc"),
    Op.SQRT: _op("sqrt"),
    Op.RSQ: _each(lambda b, x: functions.rsqrt(x)),
    Op.RCP: _each(lambda b, x: functions.rcp(x)),
    Op.EXP: _each(lambda b, x: functions.exp2(x)),
    Op.LOG: _each(lambda b, x: functions.log2(x)),
    Op.SINCOS: _both(_sincos),
    Op.DERIV_RTX: _derivative(Axis.X),
    Op.DERIV_RTY: _derivative(Axis.Y),
    Op.DERIV_RTX_FINE: _derivative(Axis.X),
    Op.DERIV_RTY_FINE: _derivative(Axis.Y),
    Op.DERIV_RTX_COARSE: _derivative(Axis.X_COARSE),
    Op.DERIV_RTY_COARSE: _derivative(Axis.Y_COARSE),
    Op.EQ: _op("eq"),
    Op.GE: _op("ge"),
    Op.LT: _op("lt"),
    Op.NE: _op("ne"),
    # Bits
    Op.MOV: _mov,
    Op.MOVC: _movc,
    Op.SWAPC: _both(_swapc),
    Op.AND: _op("iand"),
    Op.OR: _op("ior"),
    Op.XOR: _op("ixor"),
    Op.NOT: _op("inot"),
    Op.ISHL: _op("ishl"),
    Op.ISHR: _op("ishr"),
    Op.USHR: _op("ushr"),
    Op.COUNTBITS: _each(lambda b, x: integers.count_bits(x)),
    Op.FIRSTBIT_HI: _each(lambda b, x: integers.first_high(x)),
    Op.FIRSTBIT_LO: _each(lambda b, x: integers.first_low(x)),
    Op.FIRSTBIT_SHI: _each(lambda b, x: integers.first_signed(x)),
    Op.UBFE: _each(lambda b, w, o, x: integers.extract_unsigned(w, o, x)),
    Op.IBFE: _each(lambda b, w, o, x: integers.extract_signed(w, o, x)),
    Op.BFI: _each(lambda b, w, o, x, base: integers.insert(w, o, x, base)),
    Op.BFREV: _each(lambda b, x: integers.reverse_bits(x)),
    # Integer
    Op.IADD: _op("iadd"),
    Op.IMAD: _each(lambda b, x, y, z: x * y + z),
    Op.UMAD: _each(lambda b, x, y, z: x * y + z),
    Op.IMUL: _two("imulh", "imul"),
    Op.UMUL: _two("umulh", "imul"),
    Op.UDIV: _two("udiv", "urem"),
    Op.INEG: _op("ineg"),
    Op.IMAX: _chosen("ige"),
    Op.IMIN: _chosen("ilt"),
    Op.UMAX: _chosen("uge"),
    Op.UMIN: _chosen("ult"),
    Op.IEQ: _op("ieq"),
    Op.INE: _op("ine"),
    Op.IGE: _op("ige"),
    Op.ILT: _op("ilt"),
    Op.UGE: _op("uge"),
    Op.ULT: _op("ult"),
    Op.UADDC: _both(lambda b, x, y: (x + y, _bit(b, b.apply("ult", x + y, x)))),
    Op.USUBB: _both(lambda b, x, y: (x - y, _bit(b, b.apply("ult", x, y)))),
    Op.MSAD: _each(lambda b, ref, x, total: integers.sum_of_differences(ref, x, total)),
    # Conversions
    Op.FTOI: _op("ftoi"),
    Op.FTOU: _op("ftou"),
    Op.ITOF: _op("itof"),
    Op.UTOF: _op("utof"),
    Op.F32TOF16: _each(lambda b, x: integers.to_half(x)),
    Op.F16TOF32: _each(lambda b, x: half(x & 0xFFFF)),
}
