"""Value range analysis of F32 and F64 slots.

Ranges bound the rounded results.  Every operation handled is monotonic in each operand,
and so is rounding, so the bounds of a result follow from the bounds of its operands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from dp2emu.cancellation import polled
from dp2emu.identity_cache import identity_cached
from dp2emu.shader import ir
from dp2emu.shader.jit.layout import Callee, callee_of
from dp2emu.shader.types import FLOATS

_I32_MAX = 2**31 - 1
_WORD = 32


class Range(msgspec.Struct, frozen=True):
    """Numbers from ``low`` to ``high``; possibly NaN (``nan``) or -0 (``minus``)."""

    low: float
    high: float
    nan: bool = False
    minus: bool = False

    @property
    def within(self) -> bool:
        """Whether clamping values of the range to 0..1 has no effect."""
        return self.low >= 0 and self.high <= 1 and not self.nan and not self.minus

    @property
    def converts(self) -> bool:
        """Whether every number in the range truncates to a representable I32."""
        return self.low >= -(2.0**31) and self.high < 2.0**31

    @property
    def signed(self) -> bool:
        """Whether the range has values with a set sign bit."""
        return self.low < 0 or self.minus


SlotRanges = dict[int, Range]
Components = tuple["Range | None", ...]
SampleRanges = Mapping[Callee, Components]
"""From callee to the known ranges of the components that it returns."""
UNIT = Range(0.0, 1.0)
InputRanges = Mapping[str, "Range | None"]
"""From name of a program's input to the known range of its values."""
_NOTHING: Mapping[Any, Any] = MappingProxyType({})
_INFINITE = float("inf")
_ANY_NUMBER = Range(-_INFINITE, _INFINITE, nan=True, minus=True)


def ranges(
    program: ir.Program, sampled: SampleRanges = _NOTHING, inputs: InputRanges = _NOTHING
) -> SlotRanges:
    """Return the ranges of slots assigned once, extended by their initial 0, by slot number."""
    return _ranges(program, tuple(sampled.items()), tuple(inputs.items()))


@identity_cached()
def _ranges(
    program: ir.Program,
    sampled: tuple[tuple[Callee, Components], ...],
    given: tuple[tuple[str, Range | None], ...],
) -> SlotRanges:
    statements = [*ir.walk(program.statements)]
    places = Counter(slot for statement in statements for slot in ir.written(statement))
    told, made, found = dict(sampled), dict[int, ir.Assign](), dict[int, Range]()
    inputs = dict(given)
    for statement in polled(statements):
        results: tuple[Range | None, ...] = ()
        if isinstance(statement, ir.Assign):
            made[statement.slot] = statement
            results = (_result_range(statement, made, found),)
        elif isinstance(statement, ir.Input):
            results = (inputs.get(statement.port),)
        elif isinstance(statement, ir.Sample):
            results = told.get(callee_of(statement), ())
        for slot, range_ in zip(ir.written(statement), results, strict=False):
            if range_ is not None and places[slot] == 1:
                found[slot] = _with_zero(range_)
    return found


@identity_cached()
def output_ranges(program: ir.Program) -> dict[str, Range | None]:
    """Return the range of each output port, None if unknown."""
    found, given = ranges(program), dict[str, Range | None]()
    for statement in ir.walk(program.statements):
        if isinstance(statement, ir.Output):
            own = _operand_range(statement.value, found)
            before = given.get(statement.port, own)
            given[statement.port] = None if own is None or before is None else _hull(own, before)
    return given


def clamped(program: ir.Program, ports: tuple[str, ...]) -> bool:
    """Whether all values written to the ports are numbers within 0..1."""
    found = output_ranges(program)
    given = [found[port] for port in ports if port in found]
    return all(range_ is not None and range_.within for range_ in given)


def _with_zero(range_: Range) -> Range:
    """Extend a range by the 0 that a slot holds before its assignment."""
    return Range(min(range_.low, 0.0), max(range_.high, 0.0), range_.nan, range_.minus)


def _hull(one: Range, other: Range) -> Range:
    return Range(min(one.low, other.low), max(one.high, other.high),
                 one.nan or other.nan, one.minus or other.minus)  # fmt: skip


def _operand_range(operand: ir.Operand, found: SlotRanges) -> Range | None:
    if isinstance(operand, ir.Slot):
        return found.get(operand.number)
    if operand.type not in FLOATS:
        return None
    value = operand.scalar
    if not np.isfinite(value):
        return None
    return Range(float(value), float(value), minus=bool(value == 0 and np.signbit(value)))


def _result_range(
    statement: ir.Assign, made: dict[int, ir.Assign], found: SlotRanges
) -> Range | None:
    if statement.op in _INTEGER_RULES:
        return _INTEGER_RULES[statement.op](statement.operands[-1])
    if statement.op == "add" and _is_lerp(statement, made, found):
        return UNIT
    rule = _RULES.get(statement.op)
    operands = [_operand_range(each, found) for each in statement.operands]
    if rule is None:
        return None
    if statement.op in _PARTIAL:
        return rule(*operands)
    known = [each for each in operands if each is not None]
    return rule(*known) if len(known) == len(operands) else None


def _mask_range(last: ir.Operand) -> Range | None:
    """Range of an I32 masked by ``last``, None unless that is a constant without the sign bit."""
    if isinstance(last, ir.Constant) and last.bits <= _I32_MAX:
        return Range(0.0, last.bits)
    return None


def _shift_range(last: ir.Operand) -> Range | None:
    """Range of an I32 shifted right by ``last``, None unless that is a constant from 1 to 31."""
    if isinstance(last, ir.Constant) and 0 < last.bits < _WORD:
        return Range(0.0, (1 << _WORD - last.bits) - 1)
    return None


_INTEGER_RULES: dict[str, Callable[[ir.Operand], Range | None]] = {
    "iand": _mask_range,
    "ushr": _shift_range,
}


def _is_lerp(statement: ir.Assign, made: dict[int, ir.Assign], found: SlotRanges) -> bool:
    """Whether a sum is x + w (y - x) with all three within 0..1.

    The rounded result is within 0..1 too: for y >= x it is x + p with p <= y - x <= 1 - x after
    rounding, and otherwise p >= -x since y >= 0.
    """
    x, scaled = statement.operands
    times = producer(scaled, made, "mul")
    if times is None:
        return False
    weight, way = times.operands
    minus = producer(way, made, "sub")
    if minus is None or minus.operands[1] != x:
        return False
    terms = [_operand_range(each, found) for each in (x, weight, minus.operands[0])]
    return all(term is not None and term.within for term in terms)


def producer(operand: ir.Operand, made: Mapping[int, ir.Statement], *ops: str) -> ir.Assign | None:
    """Return the assignment that produces an operand if its operation is one of ``ops``."""
    found = made.get(operand.number) if isinstance(operand, ir.Slot) else None
    return found if isinstance(found, ir.Assign) and found.op in ops else None


def _interval(
    x: Range,
    y: Range,
    how: Callable[..., np.floating[Any]],
    minus: bool,
    type: Callable[[float], np.floating[Any]] = np.float32,
) -> Range | None:
    with np.errstate(over="ignore", invalid="ignore"):
        ends = [float(how(type(a), type(b)))
                for a, b in product((x.low, x.high), (y.low, y.high))]  # fmt: skip
    # An overflow or 0 times infinity leaves the range unknown.
    if not np.isfinite(ends).all():
        return None
    return Range(min(ends), max(ends), x.nan or y.nan, minus)


def _product(
    x: Range, y: Range, type: Callable[[float], np.floating[Any]] = np.float32
) -> Range | None:
    return _interval(x, y, np.multiply, x.signed or y.signed, type)


def _min_max(how: Callable[[float, float], float]) -> Callable[..., Range | None]:
    """Rule for the range of a minimum or maximum: a single known operand bounds it on one side."""

    def rule(x: Range | None, y: Range | None) -> Range | None:
        if x is None and y is None:
            return None
        a, b = x or _ANY_NUMBER, y or _ANY_NUMBER
        low, high = how(a.low, b.low), how(a.high, b.high)
        return Range(low, high, a.nan and b.nan, a.minus or b.minus)

    return rule


def _quotient(x: Range, y: Range) -> Range | None:
    return _interval(x, y, np.divide, x.signed) if y.low > 0 else None


def _mapped(x: Range, how: Callable[[float], np.floating[Any]], minus: bool) -> Range:
    return Range(float(how(x.low)), float(how(x.high)), x.nan, minus)


_RULES: dict[str, Callable[..., Range | None]] = {
    "mov": lambda x: x,
    "min": _min_max(min),
    "max": _min_max(max),
    "ftod": lambda x: x,
    "dtof": lambda x: _mapped(x, np.float32, x.signed),
    "dadd": lambda x, y: _interval(x, y, np.add, x.minus and y.minus, np.float64),
    "dmul": lambda x, y: _product(x, y, np.float64),
    "dround": lambda x: _mapped(x, np.rint, x.signed),
    "dmin": _min_max(min),
    "dmax": _min_max(max),
    "dselect": lambda condition, x, y: None if x is None or y is None else _hull(x, y),
    "add": lambda x, y: _interval(x, y, np.add, x.minus and y.minus),
    "sub": lambda x, y: _interval(x, y, np.subtract, x.minus),
    "mul": _product,
    "div": _quotient,
    "floor": lambda x: _mapped(x, np.floor, x.minus),
    "fract": lambda x: Range(0.0, 1.0, nan=True),
    "saturate": lambda x: UNIT,
    "select": lambda condition, x, y: None if x is None or y is None else _hull(x, y),
    "itof": lambda x: _mapped(x, np.float32, False),
    "utof": lambda x: _mapped(x, np.float32, False),
}
"""By operation: function from the ranges of the operands to the range of the result."""
_PARTIAL = ("fract", "saturate", "select", "dselect", "min", "max", "dmin", "dmax")
"""Operations whose result may have a known range even if an operand's range is unknown (None)."""
