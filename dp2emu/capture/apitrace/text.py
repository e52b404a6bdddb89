"""Calls as text, a line a call, comparable with the output of ``apitrace dump``.

Strings keep their line breaks, which shaders have; blobs are shown by their size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TextIO

from dp2emu.argument_check import checked
from dp2emu.capture.apitrace import values
from dp2emu.capture.apitrace.summary import ends_frame
from dp2emu.capture.apitrace.trace import Trace
from dp2emu.capture.apitrace.values import Missing, Struct, TraceCall, Value

_GROUP_ENDS = {"IDirect3DDevice9::GetRenderTargetData"}
"""Methods after whose calls apitrace prints an empty line, as it does after a frame."""


@checked
def dump_trace(trace: Trace, out: TextIO) -> None:
    """Write the properties and calls of a trace, reading it once; sets its ``damage``."""
    for name, value in sorted(trace.properties.items()):
        out.write(f"// {name} = {_quoted(value)}\n")
    for call in trace.calls():
        out.write(call_line(call) + "\n")
        if ends_frame(call) or call.name in _GROUP_ENDS:
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
    """Members as ``name = value``; those of a nested structure without a name are inlined."""
    texts = []
    for name, member in zip(value.signature.members, value.members, strict=True):
        if not name and isinstance(member, Struct):
            texts += _members(member)
        else:
            texts.append(f"{name} = {value_text(member)}")
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


_NAMES = {
    "00000000-0000-0000-c000-000000000046": "IID_IUnknown",
    "6c14db80-a733-11ce-a521-0020af0be560": "IID_IDirectDraw",
    "b3a6f3e0-2b43-11cf-a2de-00aa00b93356": "IID_IDirectDraw2",
    "9c59509a-39bd-11d1-8c4a-00c04fd930c5": "IID_IDirectDraw4",
    "15e65ec0-3b9c-11d2-b92f-00609797ea5b": "IID_IDirectDraw7",
    "0b2b8630-ad35-11d0-8ea6-00609797ea5b": "IID_IDirectDrawSurface4",
    "06675a80-3b9b-11d2-b92f-00609797ea5b": "IID_IDirectDrawSurface7",
    "3bba0080-2421-11cf-a31a-00aa00b93356": "IID_IDirect3D",
    "6aae1ec1-662a-11d0-889d-00aa00bbb76a": "IID_IDirect3D2",
    "bb223240-e72b-11d0-a9b4-00aa00c0993e": "IID_IDirect3D3",
    "f5049e77-4861-11d2-a407-00a0c90629a8": "IID_IDirect3D7",
    "93281502-8cf8-11d0-89ab-00a0c9054129": "IID_IDirect3DTexture2",
    "a4665c60-2673-11cf-a31a-00aa00b93356": "IID_IDirect3DRGBDevice",
    "84e63de0-46aa-11cf-816f-0000c020156e": "IID_IDirect3DHALDevice",
    "f5049e78-4861-11d2-a407-00a0c90629a8": "IID_IDirect3DTnLHalDevice",
    "81bdcbca-64d4-426d-ae8d-ad0147f4275c": "IID_IDirect3D9",
    "d0223b96-bf7a-43fd-92bd-a43b0d82b9eb": "IID_IDirect3DDevice9",
    "794950f2-adfc-458a-905e-10a10b0b503b": "IID_IDirect3DSwapChain9",
    "05eec05d-8f7d-4362-b999-d1baf357c704": "IID_IDirect3DResource9",
    "580ca87e-1d3c-4d54-991d-b7d3e3c298ce": "IID_IDirect3DBaseTexture9",
    "85c31227-3de5-4f00-9b3a-f11ac38c18b5": "IID_IDirect3DTexture9",
    "fff32f81-d953-473a-9223-93d652aba93f": "IID_IDirect3DCubeTexture9",
    "2518526c-e789-4111-a7b9-47ef328d13e6": "IID_IDirect3DVolumeTexture9",
    "0cfbaf3a-9ff6-429a-99b3-a2796af8b89b": "IID_IDirect3DSurface9",
    "24f416e6-1f67-4aa7-b88e-d33f6f3128a1": "IID_IDirect3DVolume9",
    "b64bb1b5-fd70-4df6-bf91-19d0a12455e3": "IID_IDirect3DVertexBuffer9",
    "7c9dd65e-d3f7-4529-acee-785830acde35": "IID_IDirect3DIndexBuffer9",
}
"""SDK names of interfaces and devices by GUID, which is lower-case text with hyphens."""


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
    return _NAMES.get(text, f"uuid({text})")
