"""Calls of a trace, made by hand."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from dp2emu.capture.apitrace.values import (
    MISSING,
    Enum,
    EnumSignature,
    FunctionSignature,
    Pointer,
    Struct,
    StructSignature,
    TraceCall,
)

_HRESULTS = EnumSignature((("D3D_OK", 0), ("D3DERR_INVALIDCALL", -2005530516)))


def call(name: str, *, number: int = 0, result: Any = 0, finished: bool = True, **given: Any) -> (
    TraceCall
):  # fmt: skip
    """A call with its arguments in order; an int as the ``result`` is an HRESULT."""
    told = Enum(_HRESULTS, result) if type(result) is int else result
    signature = FunctionSignature(name, tuple(given))
    return TraceCall(number, 1, signature, tuple(given.values()), told, 0, (), finished, 0)


def struct(name: str, **members: Any) -> Struct:
    """A structure with its members in order."""
    return Struct(StructSignature(name, tuple(members)), tuple(members.values()))


def out(address: int) -> tuple[Pointer]:
    """A pointer to an address, as calls hand out objects."""
    return (Pointer(address),)


def functions(work: Callable[[], object]) -> int:
    """Python functions that are entered during ``work``, without those of garbage collections."""
    entered, collects = 0, gc.isenabled()

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal entered
        entered += event == "call"

    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        if collects:
            gc.enable()
    return entered


__all__ = ["MISSING", "Pointer", "call", "functions", "out", "struct"]
