"""Opcodes once more, a vector at a time in NumPy scalars, as SM1-3 tokens, "Opcodes" has them.

Independent of the lowering: nothing here uses its op table or its builder.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dp2emu.shader.sm.opcodes import Op
from dp2emu.shader.sm.versions import V1_4, V2_0, Stage, Version

F = np.float32
Vector = list[np.float32]
Model = Callable[..., list[float | np.float32 | None]]
"""Given the version and the sources: a result, None for a component that is not written."""


def mul(version: Version, x: np.float32, y: np.float32) -> np.float32:
    if x == 0 or y == 0:
        return F(0)
    return F(x * y)


def dot(version: Version, x: Vector, y: Vector, size: int) -> np.float32:
    total = mul(version, x[0], y[0])
    for a, b in zip(x[1:size], y[1:size], strict=True):
        total = F(total + mul(version, a, b))
    return total


def smaller(x: np.float32, y: np.float32) -> np.float32:
    if math.isnan(x) or math.isnan(y):
        return y if math.isnan(x) else x
    return x if x < y else y


def larger(x: np.float32, y: np.float32) -> np.float32:
    if math.isnan(x) or math.isnan(y):
        return y if math.isnan(x) else x
    return x if x >= y else y


def exp2(x: float) -> float:
    if math.isnan(x):
        return math.nan
    return math.inf if x >= 128 else 2.0**x if x > -160 else 0.0


def log2(x: float) -> float:
    x = abs(float(x))
    return -math.inf if x == 0 else x if not math.isfinite(x) else math.log2(x)


def power(x: float, y: float) -> float:
    """abs(x)**y by way of logarithms, where 0 times anything is 0."""
    logarithm, y = log2(x), float(y)
    return exp2(0.0 if y == 0 or logarithm == 0 else y * logarithm)


def _each(one: Callable[..., float | np.float32]) -> Model:
    return lambda version, *sources: [one(version, *each) for each in zip(*sources, strict=True)]


def _all(one: Callable[..., float | np.float32]) -> Model:
    return lambda version, *sources: [one(version, *sources)] * 4


def _matrix(size: int, rows: int) -> Model:
    def model(version: Version, x: Vector, *matrix: Vector) -> list[np.float32 | None]:
        made = [dot(version, x, row, size) for row in matrix[:rows]]
        return [*made, *[None] * (4 - rows)]

    return model


def _rcp(version: Version, x: Vector) -> float | np.float32:
    return math.inf if x[3] == 0 and version.level < V2_0 else F(1) / x[3]


def _rsq(version: Version, x: Vector) -> float | np.float32:
    return math.inf if x[3] == 0 else F(1) / np.sqrt(abs(x[3]))


def _lit(version: Version, x: Vector) -> list[float]:
    clamped = min(max(float(x[3]), -127.9961), 127.9961) if not math.isnan(x[3]) else 127.9961
    lit = power(x[1], clamped) if x[0] > 0 and x[1] > 0 else 0.0
    return [1.0, larger(x[0], F(0)), lit, 1.0]


def _dst(version: Version, x: Vector, y: Vector) -> list[float]:
    return [1.0, mul(version, x[1], y[1]), x[2], y[3]]


def _frc(version: Version, x: Vector) -> list[float | None]:
    made: list[float | None] = [F(a - np.floor(a)) for a in x]
    two = version.stage is Stage.VERTEX and version.level < V2_0
    return [*made[:2], None, None] if two else made


def _crs(version: Version, x: Vector, y: Vector) -> list[np.float32 | None]:
    def part(i: int, j: int) -> np.float32:
        return F(mul(version, x[i], y[j]) - mul(version, x[j], y[i]))

    return [part(1, 2), part(2, 0), part(0, 1), None]


def _nrm(version: Version, x: Vector) -> list[np.float32]:
    square = dot(version, x, x, 3)
    factor = F(math.inf) if square == 0 else F(1) / np.sqrt(square)
    return [F(0) if a == 0 or factor == 0 else F(a * factor) for a in x]


def _sincos(version: Version, x: Vector, *scratch: Vector) -> list[float | None]:
    if not math.isfinite(x[0]):
        return [math.nan, math.nan, None, None]
    angle = float(x[0]) if abs(x[0]) <= 2**23 else 0.0
    return [math.cos(angle), math.sin(angle), None, None]


def _expp(version: Version, x: Vector) -> list[float]:
    if version.level >= V2_0:
        return [exp2(x[3])] * 4
    return [exp2(np.floor(x[3])), F(x[3] - np.floor(x[3])), exp2(x[3]), 1.0]


def _logp(version: Version, x: Vector) -> list[float]:
    logarithm = log2(x[3])
    if version.level >= V2_0:
        return [logarithm] * 4
    if not math.isfinite(logarithm):
        return [logarithm, math.nan if math.isnan(logarithm) else 1.0, logarithm, 1.0]
    mantissa, exponent = math.frexp(abs(float(x[3])))
    return [exponent - 1.0, 2 * mantissa, logarithm, 1.0]


def _cnd(version: Version, s: Vector, x: Vector, y: Vector) -> list[np.float32]:
    chosen = s if version.level >= V1_4 else [s[3]] * 4
    return [a if c > 0.5 else b for c, a, b in zip(chosen, x, y, strict=True)]


def _sgn(version: Version, x: Vector, *scratch: Vector) -> list[float]:
    return [float(a > 0) - float(a < 0) for a in x]


MODELS: dict[Op, Model] = {
    Op.MOV: _each(lambda v, x: x),
    Op.ADD: _each(lambda v, x, y: x + y),
    Op.SUB: _each(lambda v, x, y: x - y),
    Op.MUL: _each(mul),
    Op.MAD: _each(lambda v, x, y, z: mul(v, x, y) + z),
    Op.LRP: _each(lambda v, s, x, y: mul(v, s, F(x - y)) + y),
    Op.MIN: _each(lambda v, x, y: smaller(x, y)),
    Op.MAX: _each(lambda v, x, y: larger(x, y)),
    Op.SLT: _each(lambda v, x, y: float(x < y)),
    Op.SGE: _each(lambda v, x, y: float(x >= y)),
    Op.CMP: _each(lambda v, s, x, y: x if s >= 0 else y),
    Op.ABS: _each(lambda v, x: abs(x)),
    Op.FRC: _frc,
    Op.SGN: _sgn,
    Op.CND: _cnd,
    Op.RCP: _all(_rcp),
    Op.RSQ: _all(_rsq),
    Op.EXP: _all(lambda v, x: exp2(x[3])),
    Op.LOG: _all(lambda v, x: log2(x[3])),
    Op.POW: _all(lambda v, x, y: power(x[0], y[0])),
    Op.EXPP: _expp,
    Op.LOGP: _logp,
    Op.DP3: _all(lambda v, x, y: dot(v, x, y, 3)),
    Op.DP4: _all(lambda v, x, y: dot(v, x, y, 4)),
    Op.DP2ADD: _all(lambda v, x, y, z: dot(v, x, y, 2) + z[0]),
    Op.LIT: _lit,
    Op.DST: _dst,
    Op.CRS: _crs,
    Op.NRM: _nrm,
    Op.SINCOS: _sincos,
    Op.M4x4: _matrix(4, 4),
    Op.M4x3: _matrix(4, 3),
    Op.M3x4: _matrix(3, 4),
    Op.M3x3: _matrix(3, 3),
    Op.M3x2: _matrix(3, 2),
}

NEARLY = {
    Op.EXP: {0, 1, 2, 3},
    Op.LOG: {0, 1, 2, 3},
    Op.POW: {0, 1, 2, 3},
    Op.SINCOS: {0, 1},
    Op.LIT: {2},
    Op.EXPP: {2},
    Op.LOGP: {2},
}
"""Components that a transcendental function gives; the others are exact."""


def nearly(op: Op, version: Version, component: int) -> bool:
    """Whether a component comes from a transcendental function."""
    replicated = op in (Op.EXPP, Op.LOGP) and version.level >= V2_0
    return replicated or component in NEARLY.get(op, ())
