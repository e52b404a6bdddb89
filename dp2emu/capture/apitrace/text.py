"""Calls as text, a line a call, in the form of ``apitrace dump``, so that both can be compared.

Text within a call is printed with its line breaks, which shaders have; blobs by their size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TextIO

from dp2emu.capture.apitrace.guids import guid_name
from dp2emu.capture.apitrace.summary import ends_frame
from dp2emu.capture.apitrace.trace import Trace
from dp2emu.capture.apitrace.values import (
    Bitmask,
    Double,
    Enum,
    Missing,
    Pointer,
    Repr,
    Struct,
    TraceCall,
    Value,
    WideString,
)

_GROUP_ENDS = {"IDirect3DDevice9::GetRenderTargetData"}
"""Calls that apitrace has an empty line after, as after a frame."""


def dump_trace(trace: Trace, out: TextIO) -> None:
    """Write the properties and calls of a trace; this is a pass and sets its ``damage``."""
    for name, value in sorted(trace.properties.items()):
        out.write(f"// {name} = {_quoted(value)}\n")
    for call in trace.calls():
        out.write(call_line(call) + "\n")
        if ends_frame(call) or call.name in _GROUP_ENDS:
            out.write("\n")


def call_line(call: TraceCall) -> str:
    """A call as ``NUMBER FUNCTION(NAME = VALUE, ...) = RESULT``."""
    named = zip(call.function.arguments, call.arguments, strict=True)
    arguments = ", ".join(f"{name} = {value_text(value)}" for name, value in named)
    result = "" if call.result is Missing.MISSING else f" = {value_text(call.result)}"
    remarks = ["fake"] * call.fake + ["incomplete"] * (not call.finished)
    remark = f" // {' '.join(remarks)}" if remarks else ""
    return f"{call.number} {call.name}({arguments}){result}{remark}"


def value_text(value: Value | Missing) -> str:
    """A value as text; what was not recorded is a question mark."""
    return _TEXT[type(value)](value)


def _float(value: float, digits: int = 7) -> str:
    sign = "-" if math.isnan(value) and math.copysign(1, value) < 0 else ""
    return f"{sign}{value:.{digits}g}"


def _quoted(text: str) -> str:
    data = text.partition("\0")[0].encode("utf-8", "surrogateescape")
    return '"' + "".join(map(_BYTES.__getitem__, data)) + '"'


def _wide(text: WideString) -> str:
    units = text.partition("\0")[0]
    return 'L"' + "".join(_BYTES[ord(c)] if c < "\x7f" else f"\\{ord(c):o}" for c in units) + '"'


def _byte(value: int) -> str:
    """How a byte of text is shown: carriage returns not at all."""
    character = chr(value)
    if character in "\t\n":
        return character
    if character in '"\\':
        return f"\\{character}"
    if 0x20 <= value < 0x7F:
        return character
    return "" if character == "\r" else f"\\{value:o}"


_BYTES = tuple(map(_byte, range(256)))


def _enum(value: Enum) -> str:
    name = value.name
    return str(value.value) if name is None else name


def _bitmask(mask: Bitmask) -> str:
    """The names of the flags that are set, then what has no name."""
    names, rest = [], mask.value
    for name, bits in mask.signature.flags:
        if (bits and rest & bits == bits) or (not bits and not rest):
            names.append(name)
            rest &= ~bits
        if not rest:
            break
    if rest or not names:
        names.append(f"0x{rest:x}")
    return " | ".join(names)


def _array(values: tuple[Value, ...]) -> str:
    if len(values) == 1:
        return f"&{value_text(values[0])}"
    return "{" + ", ".join(map(value_text, values)) + "}"


def _struct(value: Struct) -> str:
    if value.signature.name == "GUID":
        name = guid_name(value)
        if name is not None:
            return name
    return "{" + ", ".join(_members(value)) + "}"


def _members(value: Struct) -> list[str]:
    """Members by name; those of a structure without one stand among them."""
    texts = []
    for name, member in zip(value.signature.members, value.members, strict=True):
        if not name and isinstance(member, Struct):
            texts += _members(member)
        else:
            texts.append(f"{name} = {value_text(member)}")
    return texts


def _repr(value: Repr) -> str:
    return value_text(value.human)


_TEXT: dict[type, Callable[..., str]] = {
    type(None): lambda value: "NULL",
    bool: lambda value: "true" if value else "false",
    int: str,
    float: _float,
    Double: lambda value: _float(value, 16),
    str: _quoted,
    WideString: _wide,
    bytes: lambda value: f"blob({len(value)})",
    tuple: _array,
    Enum: _enum,
    Bitmask: _bitmask,
    Struct: _struct,
    Pointer: lambda value: f"0x{value.value:x}",
    Repr: _repr,
    Missing: lambda value: "?",
}
"""How each type of value is shown."""
