"""Calls as text, a line a call, comparable with the output of ``apitrace dump``.

Strings keep their line breaks, which shaders have; blobs are shown by their size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TextIO

from dp2emu.argument_check import checked
from dp2emu.capture.apitrace import values
from dp2emu.capture.apitrace.guids import GUID_NAMES
from dp2emu.capture.apitrace.summary import ends_frame
from dp2emu.capture.apitrace.trace import Trace
from dp2emu.capture.apitrace.values import Missing, Struct, TraceCall, Value

_GROUP_ENDS = re.compile(
    r"IDirect3DDevice9(Ex)?::GetRenderTargetData|IDXGI(Decode)?SwapChain\w*::Present\w*"
)
"""Methods after whose calls apitrace prints an empty line, whether or not they end a frame."""


@checked
def dump_trace(trace: Trace, out: TextIO) -> None:
    """Write the properties and calls of a trace, reading it once; sets its ``damage``."""
    for name, value in sorted(trace.properties.items()):
        out.write(f"// {name} = {_quoted(value)}\n")
    for call in trace.calls():
        out.write(call_line(call) + "\n")
        if ends_frame(call) or _GROUP_ENDS.fullmatch(call.name):
            out.write("\n")


@checked
def call_line(call: TraceCall) -> str:
    """A call as ``NUMBER FUNCTION(NAME = VALUE, ...) = RESULT``."""
    named = zip(call.function.arguments, call.arguments, strict=True)
    arguments = ", ".join(f"{name} = {value_text(value)}" for name, value in named)
    result = "" if call.result is Missing.MISSING else f" = {value_text(call.result)}"
    remarks = ["fake"] * call.fake + ["incomplete"] * (not call.finished)
    remark = f" // {' '.join(remarks)}" if remarks else ""
    return f"{call.number} {call.name}({arguments}){result}{remark}"


def value_text(value: Value | Missing) -> str:
    """A value as text; one that was not recorded is ``?``."""
    return _TEXT[type(value)](value)


def _float(value: float, digits: int = 7) -> str:
    sign = "-" if math.isnan(value) and math.copysign(1, value) < 0 else ""
    return f"{sign}{value:.{digits}g}"


def _quoted(text: str) -> str:
    data = text.partition("\0")[0].encode("utf-8", "surrogateescape")
    return '"' + "".join(map(_BYTES.__getitem__, data)) + '"'


def _wide(text: values.WideString) -> str:
    units = text.partition("\0")[0]
    return 'L"' + "".join(_BYTES[ord(c)] if c < "\x7f" else f"\\{ord(c):o}" for c in units) + '"'


def _byte(value: int) -> str:
    """The text of a byte of a string, escaped as apitrace does; empty for a carriage return."""
    character = chr(value)
    if character in '"\\':
        return f"\\{character}"
    if character in "\t\n" or 0x20 <= value < 0x7F:
        return character
    return "" if character == "\r" else f"\\{value:o}"


_BYTES = tuple(map(_byte, range(256)))


def _bitmask(mask: values.Bitmask) -> str:
    """Names of the set flags, then the bits without a name in hexadecimal, joined by ``|``."""
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
    if value.signature.name == "GUID" and (name := _guid_name(value)):
        return name
    return "{" + ", ".join(_members(value)) + "}"


def _members(value: Struct) -> list[str]:
    """Members as ``name = value``; those of a nested structure without a name are inlined.

    A member without a name that is no structure, as of a union that holds nothing, is left out.
    """
    texts = []
    for name, member in zip(value.signature.members, value.members, strict=True):
        if name:
            texts.append(f"{name} = {value_text(member)}")
        elif isinstance(member, Struct):
            texts += _members(member)
    return texts


_TEXT: dict[type, Callable[..., str]] = {
    type(None): lambda value: "NULL",
    bool: lambda value: "true" if value else "false",
    int: str,
    float: _float,
    values.Double: lambda value: _float(value, 16),
    str: _quoted,
    values.WideString: _wide,
    bytes: lambda value: f"blob({len(value)})",
    tuple: _array,
    values.Enum: lambda value: str(value.value) if value.name is None else value.name,
    values.Bitmask: _bitmask,
    Struct: _struct,
    values.Pointer: lambda value: f"0x{value.value:x}",
    values.Repr: lambda value: value_text(value.human),
    Missing: lambda value: "?",
}
"""Functions that format a traced value as text, by the value's Python type."""


def _guid_name(value: Struct) -> str | None:
    """The SDK name of a GUID, ``uuid(...)`` if unknown; None if the members are not a GUID's."""
    *words, tail = value.members or (None,)
    if len(words) != 3 or not isinstance(tail, tuple) or len(tail) != 8:
        return None
    numbers = [number for number in (*words, *tail) if type(number) is int and number >= 0]
    if len(numbers) != 11:
        return None
    first, second, third, *rest = numbers
    last = "".join(f"{number:02x}" for number in rest)
    text = f"{first:08x}-{second:04x}-{third:04x}-{last[:4]}-{last[4:]}"
    return GUID_NAMES.get(text, f"uuid({text})")
