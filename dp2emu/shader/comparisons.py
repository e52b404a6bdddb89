"""Comparisons of D3DCMPFUNC: of depth, stencil, alpha and shadow texture references."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.d3d.enums import CmpFunc
from dp2emu.shader.types import Type
from dp2emu.shader.values import Number, Value

_BELOW = {Type.F32: "lt", Type.F64: "dlt", Type.I32: "ult"}
_REACHES = {Type.F32: "ge", Type.F64: "dge", Type.I32: "uge"}


def _ordered(ops: dict[Type, str], x: Number, y: Number) -> Value:
    value = x if isinstance(x, Value) else y
    assert isinstance(value, Value)
    return value.builder.apply(ops[value.type], x, y)


COMPARE: dict[CmpFunc, Callable[[Value, Number], Value | bool]] = {
    CmpFunc.NEVER: lambda new, old: False,
    CmpFunc.LESS: lambda new, old: _ordered(_BELOW, new, old),
    CmpFunc.EQUAL: lambda new, old: new.eq(old),
    CmpFunc.LESSEQUAL: lambda new, old: _ordered(_REACHES, old, new),
    CmpFunc.GREATER: lambda new, old: _ordered(_BELOW, old, new),
    CmpFunc.NOTEQUAL: lambda new, old: new.ne(old),
    CmpFunc.GREATEREQUAL: lambda new, old: _ordered(_REACHES, new, old),
    CmpFunc.ALWAYS: lambda new, old: True,
}
"""Functions that compare a new value with the stored or reference value, by CmpFunc.

Integers are compared as unsigned."""


def compare(func: CmpFunc, new: Value, old: Number) -> Value:
    """Return a comparison as a BOOL value, a constant for NEVER and ALWAYS."""
    found = COMPARE[func](new, old)
    return found if isinstance(found, Value) else new.builder.constant(Type.BOOL, found)
