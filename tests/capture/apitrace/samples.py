"""Calls to make traces of."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import dp2emu
from dp2emu.capture.apitrace import MISSING, Trace, TraceCall, open_trace
from dp2emu.capture.apitrace.values import (
    Bitmask,
    BitmaskSignature,
    Double,
    Enum,
    EnumSignature,
    FunctionSignature,
    Pointer,
    Repr,
    Struct,
    StructSignature,
    Value,
    WideString,
)
from dp2emu.limits import Limits

REAL = sorted((Path(dp2emu.__file__).parents[1] / "streams" / "real").glob("*.trace"))

POOL = EnumSignature((("D3DPOOL_DEFAULT", 0), ("ALSO_DEFAULT", 0), ("D3DPOOL_FORCE", -1)))
CLEAR = BitmaskSignature((("NONE", 0), ("TARGET", 1), ("ZBUFFER", 2), ("BOTH", 3), ("STENCIL", 4)))
RECT = StructSignature("RECT", ("left", "top"))

VALUES: dict[str, tuple[Value, str]] = {
    "null": (None, "NULL"),
    "false": (False, "false"),
    "true": (True, "true"),
    "negative": (-(2**63), "-9223372036854775808"),
    "natural": (2**64 - 1, "18446744073709551615"),
    "float": (0.10000000149011612, "0.1"),
    "infinity": (float("-inf"), "-inf"),
    "double": (Double(0.1), "0.1"),
    "string": ('a "b" \\ \t\r\n\x01\udcff', '"a \\"b\\" \\\\ \t\n\\1\\377"'),
    "blob": (b"\0\1\2", "blob(3)"),
    "enum": (Enum(POOL, 0), "D3DPOOL_DEFAULT"),
    "negative enum": (Enum(POOL, -1), "D3DPOOL_FORCE"),
    "nameless enum": (Enum(POOL, 7), "7"),
    "bitmask": (Bitmask(CLEAR, 5), "TARGET | STENCIL"),
    "empty bitmask": (Bitmask(CLEAR, 0), "NONE"),
    "nameless bitmask": (Bitmask(BitmaskSignature(()), 0x30), "0x30"),
    "partly named bitmask": (Bitmask(CLEAR, 0x12), "ZBUFFER | 0x10"),
    "array": ((1, 2), "{1, 2}"),
    "pointer to one thing": ((1,), "&1"),
    "empty array": ((), "{}"),
    "struct": (Struct(RECT, (1, -2)), "{left = 1, top = -2}"),
    "pointer": (Pointer(0x36E1B0), "0x36e1b0"),
    "repr": (Repr("vs_1_1", b"1234"), '"vs_1_1"'),
    "wide string": (WideString('a"\u20ac'), 'L"a\\"\\20254"'),
}
"""A value of every type and how it is shown."""


def call(number: int, name: str = "F", *values: Any, **fields: Any) -> TraceCall:
    """A finished call of a function with arguments a0, a1..."""
    names = tuple(f"a{index}" for index in range(len(values)))
    rest: dict[str, Any] = {
        "thread": 0,
        "result": MISSING,
        "flags": 0,
        "backtrace": (),
        "finished": True,
        "offset": 2,
    }
    function = FunctionSignature(name, names)
    return TraceCall(number=number, function=function, arguments=values, **rest | fields)


def opened(data: bytes, limits: Limits | None = None) -> Trace:
    return open_trace(BytesIO(data), limits=limits)
