"""Arithmetic instructions, a row for each opcode (SM1-3 tokens, "Opcodes").

Products are rounded before the addition; dot products add from x to w.  A scalar operation whose
source swizzle selects no single component reads w, pow reads x (SM1-3 tokens, "Open points").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from dp2emu.shader import functions
from dp2emu.shader.sm.lower.lowering import Lowering, Result
from dp2emu.shader.sm.lower.reading import Operand, operands
from dp2emu.shader.sm.modifiers import Comparison
from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.program import Instruction
from dp2emu.shader.sm.registers import File
from dp2emu.shader.sm.versions import V1_4, V2_0, Stage
from dp2emu.shader.values import Value

Evaluate = Callable[[Lowering, Instruction], Result]
"""Type of a rule: a function (lowering, instruction) that computes an instruction's result, as
values by component, without writing it."""
Vector = Operand | Sequence[Value]

LIT_POWER = 127.9961
"""The specular exponent of lit, its source's w, is clamped to plus or minus this number."""

COMPARISONS: Mapping[Comparison, Callable[[Value, Value], Value]] = {
    Comparison.GT: lambda x, y: x > y,
    Comparison.EQ: lambda x, y: x.eq(y),
    Comparison.GE: lambda x, y: x >= y,
    Comparison.LT: lambda x, y: x < y,
    Comparison.NE: lambda x, y: x.ne(y),
    Comparison.LE: lambda x, y: x <= y,
}


def compared(instruction: Instruction, x: Value, y: Value) -> Value:
    """Apply the instruction's comparison to two values.

    With NaN only NE is true (SM1-3 tokens, "Flow control").
    """
    assert instruction.comparison is not None
    return COMPARISONS[instruction.comparison](x, y)


def dot(low: Lowering, x: Vector, y: Vector, size: int) -> Value:
    """The dot product of the first ``size`` components of two vectors."""
    total = low.mul(x[0], y[0])
    for c in range(1, size):
        total = total + low.mul(x[c], y[c])
    return total


def _each(value: Callable[..., Value]) -> Evaluate:
    """Return a component-wise rule.

    ``value`` takes the lowering and one component of each source.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        sources = operands(low, instruction)
        return {c: value(low, *(o[c] for o in sources)) for c in instruction.target.components}

    return evaluate


def _all(value: Callable[..., Value]) -> Evaluate:
    """Return a rule that writes one scalar to every component.

    ``value`` is a function of the lowering and the source operands that returns the scalar.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        result = value(low, *operands(low, instruction))
        return dict.fromkeys(instruction.target.components, result)

    return evaluate


def _named(*values: Callable[..., Value]) -> Evaluate:
    """Return a rule with a function for each component: x, y and so on.

    Each is a function of the lowering and the source operands.  Components beyond are not written.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        sources = operands(low, instruction)
        wanted = [c for c in instruction.target.components if c < len(values)]
        return {c: values[c](low, *sources) for c in wanted}

    return evaluate


def before(level: tuple[int, int], early: Evaluate, late: Evaluate) -> Evaluate:
    """Return a rule that is ``early`` in versions below ``level``, and ``late`` from it on."""

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        return (early if low.version.level < level else late)(low, instruction)

    return evaluate


def _one(low: Lowering, *sources: Operand) -> Value:
    return low.number(1.0)


def _truth(low: Lowering, condition: Value) -> Value:
    return low.b.select(condition, 1.0, 0.0)


def _mov(low: Lowering, instruction: Instruction) -> Result:
    """Copy; into the address register of vs_1_1 round down (SM1-3 tokens, "Opcodes")."""
    if instruction.target.register.file is File.ADDR:
        return _MOV_ADDRESS(low, instruction)
    return COPY(low, instruction)


COPY = _each(lambda low, x: x)
"""Rule of mov and texcrd: copy the source with its modifier applied."""
_MOV_ADDRESS = _each(lambda low, x: low.b.ftoi(low.b.floor(x)))


def _lrp(low: Lowering, s: Value, x: Value, y: Value) -> Value:
    return low.mul(s, x - y) + y


def _sgn(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate sgn of source 0: -1, 0 or 1; sources 1 and 2 are scratch registers, not used."""
    source = operands(low, instruction)[0]
    b = low.b
    return {
        c: b.select(source[c] > 0.0, 1.0, b.select(source[c] < 0.0, -1.0, 0.0))
        for c in instruction.target.components
    }


def _rcp(low: Lowering, x: Operand) -> Value:
    """1 / x; a zero gives infinity with the zero's sign."""
    return functions.rcp(x.scalar)


def _rcp_1_0(low: Lowering, x: Operand) -> Value:
    """1 / x; +infinity for a zero of either sign: adding +0 turns -0 into +0."""
    return functions.rcp(x.scalar + 0.0)


def _rsq(low: Lowering, x: Operand) -> Value:
    return functions.rsqrt(low.b.abs(x.scalar))


def _exp(low: Lowering, x: Operand) -> Value:
    return functions.exp2(x.scalar)


def _log(low: Lowering, x: Operand) -> Value:
    return functions.log2(low.b.abs(x.scalar))


def _pow(low: Lowering, x: Operand, y: Operand) -> Value:
    return functions.pow(low.b.abs(x[0]), y[0])


def _exp_of_floor(low: Lowering, x: Operand) -> Value:
    return functions.exp2(low.b.floor(x.scalar))


def _fraction(low: Lowering, x: Operand) -> Value:
    return low.b.fract(x.scalar)


def _normal(low: Lowering, x: Operand) -> tuple[Value, Value]:
    """Return abs(x) and an exponent correction: abs(x) * 2**24 and -24 for a subnormal x."""
    b, magnitude = low.b, low.b.abs(x.scalar)
    subnormal = magnitude < 2.0**-126
    scaled = b.select(subnormal, magnitude * 2.0**24, magnitude)
    return scaled, b.select(subnormal, -24.0, 0.0)


def _exponent(low: Lowering, x: Operand) -> Value:
    """floor(log2(abs(x))), exact, from the exponent bits; for 0, infinity and NaN log2(abs(x))."""
    b = low.b
    scaled, power = _normal(low, x)
    exponent = b.itof((b.asint(scaled) >> 23) - 127) + power
    finite = (scaled > 0.0) & (scaled < math.inf)
    return b.select(finite, exponent, _log(low, x))


def _mantissa(low: Lowering, x: Operand) -> Value:
    """abs(x) divided by 2**floor(log2(abs(x))); 1 for 0 and infinity, NaN for NaN."""
    b = low.b
    scaled, _ = _normal(low, x)
    mantissa = b.asfloat((b.asint(scaled) & 0x7FFFFF) | 0x3F800000)
    return b.select(scaled > 0.0, mantissa, scaled + 1.0)


def _lit_diffuse(low: Lowering, x: Operand) -> Value:
    return low.b.max(x[0], 0.0)


def _lit_specular(low: Lowering, x: Operand) -> Value:
    b = low.b
    power = b.max(b.min(x[3], LIT_POWER), -LIT_POWER)
    lit = (x[0] > 0.0) & (x[1] > 0.0)
    return b.select(lit, functions.pow(x[1], power), 0.0)


def _cross(first: int, second: int) -> Callable[..., Value]:
    def component(low: Lowering, x: Operand, y: Operand) -> Value:
        return low.mul(x[first], y[second]) - low.mul(x[second], y[first])

    return component


def _nrm(low: Lowering, instruction: Instruction) -> Result:
    """Divide by the length of xyz; a zero vector stays zero."""
    (x,) = operands(low, instruction)
    factor = functions.rsqrt(dot(low, x, x, 3))
    return {c: low.mul(x[c], factor) for c in instruction.target.components}


def _matrix(size: int, rows: int) -> Evaluate:
    """Return a rule for a product of a vector with a matrix of ``rows`` rows, by dot products.

    The rows are consecutive registers, the second source being the first of them.
    """

    def evaluate(low: Lowering, instruction: Instruction) -> Result:
        vector, matrix = (Operand(low, source) for source in instruction.sources)
        return {
            row: dot(low, vector, Operand(low, matrix.source, row), size)
            for row in instruction.target.components
            if row < rows
        }

    return evaluate


def _sincos(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate sincos: x is the cosine, y the sine; the coefficients of 2.x are ignored."""
    sine, cosine = functions.sincos(operands(low, instruction)[0][0])
    return {0: cosine, 1: sine}


def _cnd(low: Lowering, instruction: Instruction) -> Result:
    """s0 > 0.5 ? s1 : s2, where s0 is r0.a before ps_1_4.

    Before ps_1_4 a co-issued cnd that writes colour takes s1 whatever r0.a is (SM1-3 tokens,
    "Pixel shaders 1.x").
    """
    s0, s1, s2 = operands(low, instruction)
    early, components = low.version.level < V1_4, instruction.target.components
    if early and instruction.coissue and components != (3,):
        return {c: s1[c] for c in components}
    return {c: low.b.select(s0[3 if early else c] > 0.5, s1[c], s2[c]) for c in components}


def _bem(low: Lowering, instruction: Instruction) -> Result:
    """bem: s0.xy plus s1.xy times the bump matrix of the stage with the destination's number."""
    s0, s1 = operands(low, instruction)
    return dict(enumerate(bumped(low, instruction, s0.__getitem__, s1)))


def bumped(
    low: Lowering, instruction: Instruction, at: Callable[[int], Value], by: Operand
) -> tuple[Value, Value]:
    """Two coordinates displaced by red and green of ``by`` times a stage's bump matrix.

    ``at`` returns a coordinate, u or v, by component.  The results are u + M00 r + M10 g and v +
    M01 r + M11 g, added from the left (SM1-3 tokens, "Pixel shaders 1.x").
    """
    stage = instruction.target.register.number
    m00, m01, m10, m11 = (low.stage(stage, scalar) for scalar in range(4))
    u = at(0) + low.mul(m00, by[0]) + low.mul(m10, by[1])
    v = at(1) + low.mul(m01, by[0]) + low.mul(m11, by[1])
    return u, v


def _dp2add(low: Lowering, x: Operand, y: Operand, z: Operand) -> Value:
    return dot(low, x, y, 2) + z[0]


def _setp(low: Lowering, instruction: Instruction) -> Result:
    x, y = operands(low, instruction)
    return {c: compared(instruction, x[c], y[c]) for c in instruction.target.components}


_FRC = _each(lambda low, x: low.b.fract(x))
_EXP, _LOG = _all(_exp), _all(_log)


def _frc(low: Lowering, instruction: Instruction) -> Result:
    """Evaluate frc; in vs_1_1 only x and y are written."""
    result = _FRC(low, instruction)
    if low.version.level >= V2_0 or low.version.stage is Stage.PIXEL:
        return result
    return {c: value for c, value in result.items() if c < 2}


EVALUATE: dict[Op, Evaluate] = {
    Op.MOV: _mov,
    Op.ADD: _each(lambda low, x, y: x + y),
    Op.SUB: _each(lambda low, x, y: x - y),
    Op.MUL: _each(lambda low, x, y: low.mul(x, y)),
    Op.MAD: _each(lambda low, x, y, z: low.mul(x, y) + z),
    Op.LRP: _each(_lrp),
    Op.MIN: _each(lambda low, x, y: low.b.min(x, y)),
    Op.MAX: _each(lambda low, x, y: low.b.max(x, y)),
    Op.SLT: _each(lambda low, x, y: _truth(low, x < y)),
    Op.SGE: _each(lambda low, x, y: _truth(low, x >= y)),
    Op.CMP: _each(lambda low, x, y, z: low.b.select(x >= 0.0, y, z)),
    Op.ABS: _each(lambda low, x: low.b.abs(x)),
    Op.FRC: _frc,
    Op.SGN: _sgn,
    Op.CND: _cnd,
    Op.MOVA: _each(lambda low, x: low.b.ftoi(low.b.round(x))),
    Op.SETP: _setp,
    Op.RCP: before(V2_0, _all(_rcp_1_0), _all(_rcp)),
    Op.RSQ: _all(_rsq),
    Op.EXP: _EXP,
    Op.LOG: _LOG,
    Op.POW: _all(_pow),
    Op.EXPP: before(V2_0, _named(_exp_of_floor, _fraction, _exp, _one), _EXP),
    Op.LOGP: before(V2_0, _named(_exponent, _mantissa, _log, _one), _LOG),
    Op.DP3: _all(lambda low, x, y: dot(low, x, y, 3)),
    Op.DP4: _all(lambda low, x, y: dot(low, x, y, 4)),
    Op.DP2ADD: _all(_dp2add),
    Op.LIT: _named(_one, _lit_diffuse, _lit_specular, _one),
    Op.DST: _named(
        _one, lambda low, x, y: low.mul(x[1], y[1]), lambda low, x, y: x[2], lambda low, x, y: y[3]
    ),
    Op.CRS: _named(_cross(1, 2), _cross(2, 0), _cross(0, 1)),
    Op.SINCOS: _sincos,
    Op.NRM: _nrm,
    Op.M4x4: _matrix(4, 4),
    Op.M4x3: _matrix(4, 3),
    Op.M3x4: _matrix(3, 4),
    Op.M3x3: _matrix(3, 3),
    Op.M3x2: _matrix(3, 2),
    Op.BEM: _bem,
    Op.DSX: _each(lambda low, x: low.b.ddx(x)),
    Op.DSY: _each(lambda low, x: low.b.ddy(x)),
}
