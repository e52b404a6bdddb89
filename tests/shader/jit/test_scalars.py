"""Scalar functions do what their Python expressions say."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import pytest

from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import module

_TYPES = {"i64": ctypes.c_int64, "double": ctypes.c_double, "i32": ctypes.c_int32}


def function(k: Code, *types: str) -> Callable[..., Any]:
    code = CodeSource.of(module(k.text()), k.name).good()
    made = ctypes.CFUNCTYPE(_TYPES[k.result], *(_TYPES[type] for type in types))(code.address)
    made.code = code  # type: ignore[attr-defined]
    return made


def binary(type: str, apply: Callable[[Value, Value], Value], result: str = "") -> Any:
    k = Code("binary", (f"{type} x", f"{type} y"), result or type)
    k.give(apply(k["x"], k["y"]))
    return function(k, type, type)


@pytest.mark.parametrize(
    ("apply", "found"),
    [
        (lambda x, y: x + y, -4),
        (lambda x, y: x - y, -10),
        (lambda x, y: x * y, -21),
        (lambda x, y: x // y, -2),
        (lambda x, y: x & y, 1),
        (lambda x, y: x | y, -5),
        (lambda x, y: x ^ y, -6),
        (lambda x, y: x << y, -56),
        (lambda x, y: x >> y, -1),
        (lambda x, y: x.shifted(y), ((1 << 64) - 7) >> 3),
        (lambda x, y: (x < y).unsigned("i64"), 1),
        (lambda x, y: (x <= y).unsigned("i64"), 1),
        (lambda x, y: (x > y).unsigned("i64"), 0),
        (lambda x, y: (x >= y).unsigned("i64"), 0),
        (lambda x, y: x.below(y).unsigned("i64"), 0),
        (lambda x, y: x.equals(y).unsigned("i64"), 0),
        (lambda x, y: x.differs(-7).signed("i64"), 0),
        (lambda x, y: (x < 0).choose(y, 5), 3),
        (lambda x, y: x.cut("i8").unsigned("i64"), 249),
    ],
)
def test_integers(apply: Callable[[Value, Value], Value], found: int) -> None:
    assert binary("i64", apply)(-7, 3) == found


@pytest.mark.parametrize(
    ("apply", "found"),
    [
        (lambda x, y: x + y, 1.75),
        (lambda x, y: x - y, 3.25),
        (lambda x, y: x * y, -1.875),
        (lambda x, y: x / y, 2.5 / -0.75),
        (lambda x, y: (x < y).choose(x, y), -0.75),
        (lambda x, y: x.narrow().wide(), 2.5),
        (lambda x, y: y.bits("i64").shifted(63).signed("double"), 1.0),
        (lambda x, y: (x + 0.1).narrow().wide(), struct.unpack("f", struct.pack("f", 2.6))[0]),
    ],
)
def test_floats(apply: Callable[[Value, Value], Value], found: float) -> None:
    assert binary("double", apply)(2.5, -0.75) == found


def test_a_nan_equals_nothing() -> None:
    def compared(x: Value, y: Value) -> Value:
        differs = x.differs(y).unsigned("i64") << 1
        return x.equals(y).unsigned("i64") | differs | (x >= y).unsigned("i64") << 2

    assert binary("double", compared, "i64")(float("nan"), float("nan")) == 2


def test_loops_branches_and_memory() -> None:
    k = Code("collatz", ("i64 start",), "i64")
    n, steps = k.variable("i64", k["start"]), k.variable("i64", 0)
    k.give_if(k["start"] <= 0, -1)
    with k.while_(lambda: n.get() > 1):
        odd = (n.get() & 1).equals(1)
        half = n.get() >> 1
        with k.when(odd):
            n.set(n.get() * 3 + 1)
        with k.unless(odd):
            n.set(half)
        steps.add(1)
    k.give(steps.get())
    assert [function(k, "i64")(start) for start in (1, 6, 27, 0)] == [0, 8, 111, -1]


def test_items_of_memory() -> None:
    k = Code("prefix", ("i64 items", "i64 count"), "i64")
    items = Value(k.w, "ptr", k.w(f"inttoptr i64 {k['items'].name} to ptr"))
    total = k.variable("i64", 0)
    with k.loop(k["count"]) as n:
        total.add(k.load("i64", items, n))
        k.store(total.get(), items, n)
    k.give(k.load("i64", k.at(items, 8)))
    held = (ctypes.c_int64 * 4)(1, 2, 3, 4)
    assert function(k, "i64", "i64")(ctypes.addressof(held), 4) == 3
    assert list(held) == [1, 3, 6, 10]
