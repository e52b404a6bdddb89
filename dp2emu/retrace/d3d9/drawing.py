"""Declarations, shaders, constants, clears, draws and patches of Direct3D 9 and 8."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from dp2emu.d3d.enums import Basis, DeclMethod, DeclType, DeclUsage, Degree, PrimitiveType
from dp2emu.retrace.arguments import Arguments, integer, members
from dp2emu.retrace.d3d9.objects import (
    DEVICES,
    EVERY_DEVICE,
    application,
    device_of,
    enumerator,
    format_of,
    hand_out,
    optional,
    rect_of,
    resources_of,
)
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import INFORMATION, Program, forward, inert, method
from dp2emu.runtime.application import Application
from dp2emu.runtime.mirror import REGISTERS
from dp2emu.runtime.objects import Declaration, RectPatchInfo, TriPatchInfo, VertexElement
from dp2emu.runtime.processing import Target, process_streams, size_of

_END = 0xFF
"""The stream of the element that ends a declaration."""
_ELEMENT = ("Stream", "Offset", "Type", "Method", "Usage", "UsageIndex")
_INTEGER = Arguments.integer
_CONSTANTS = {"F": ("floats", 4), "I": ("integers", 4), "B": ("booleans", 1)}
"""Kind of constants and numbers per register, by the last letter of their methods."""
_HARDWARE = {0xFFFE02FF: 0xFFFE0201, 0xFFFE03FF: 0xFFFE0300,
             0xFFFF02FF: 0xFFFF0201, 0xFFFF03FF: 0xFFFF0300}  # fmt: skip
"""Hardware versions with the instructions of software shader versions (vs_2_sw and others)."""

inert(
    "IDirect3DVertexDeclaration9 IDirect3DVertexShader9 IDirect3DPixelShader9",
    "GetDeclaration GetFunction",
    INFORMATION,
)
inert(DEVICES, "GetFVF", INFORMATION)


@method(DEVICES, "CreateVertexDeclaration")
def create_vertex_declaration(program: Program, call: Arguments) -> None:
    """A declaration, up to its end."""
    app, elements = application(call), []
    for found in call.structs("pVertexElements"):
        stream, offset, kind, method, usage, index = members(found, _ELEMENT, integer)
        if stream == _END:
            break
        types = enumerator(DeclType, kind), enumerator(DeclMethod, method)
        elements.append(VertexElement(stream, offset, *types, enumerator(DeclUsage, usage), index))
    hand_out(program, call, "ppDecl", app, app.create_declaration(elements))


@method(DEVICES, "SetFVF")
def set_fvf(program: Program, call: Arguments) -> None:
    """A vertex format without its reserved bit, which marks declarations on the wire; 0 changes
    nothing.
    """
    if fvf := call.integer("FVF") & ~1:
        application(call).mirror.put("format", Declaration(fvf))


def code_of(call: Arguments) -> list[int]:
    """Shader code as DWORDs."""
    data = call.blob("pFunction")
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))


def _hardware_code(call: Arguments) -> list[int]:
    """Shader code as drivers take it: with a hardware version instead of a software one."""
    code = code_of(call)
    return [_HARDWARE.get(word, word) for word in code[:1]] + code[1:]


@method(DEVICES, "CreateVertexShader")
def create_vertex_shader(program: Program, call: Arguments) -> None:
    """A vertex shader; a software version becomes a hardware version."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.device.create_vertex_shader(_hardware_code(call)))


@method(DEVICES, "CreatePixelShader")
def create_pixel_shader(program: Program, call: Arguments) -> None:
    """A pixel shader; a software version becomes a hardware version."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.device.create_pixel_shader(_hardware_code(call)))


def put_constants(app: Application, setting: str, first: int, values: list[Any]) -> None:
    """Set constant registers from ``first`` on.

    Raises Inexpressible for registers of software vertex processing, after setting the others.
    """
    room = max(REGISTERS[setting] - first, 0)
    app.mirror.put_rows(setting, first, values[:room])
    if len(values) > room:
        raise Inexpressible(f"{len(values) - room} constants from {first + room} on")


def _set_constants(stage: str, letter: str, program: Program, call: Arguments) -> None:
    kind, size = _CONSTANTS[letter]
    flat = call.reals("pConstantData") if letter == "F" else call.integers("pConstantData")
    rows = [tuple(flat[i : i + size]) for i in range(0, len(flat) // size * size, size)]
    values: list[Any] = [row[0] != 0 for row in rows] if letter == "B" else rows
    put_constants(application(call), f"{stage}_{kind}", call.integer("StartRegister"), values)


def _register_constants(stage: str, letter: str) -> None:
    """Register the setter and the getter of a kind of constants of a shader stage."""
    name, act = f"{stage.title()}ShaderConstant{letter}", partial(_set_constants, stage, letter)
    act.__doc__ = f"Constant {_CONSTANTS[letter][0]} of the {stage} shader."
    method(DEVICES, f"Set{name}")(act)
    inert(DEVICES, f"Get{name}", INFORMATION)


for _stage in ("vertex", "pixel"):
    for _letter in _CONSTANTS:
        _register_constants(_stage, _letter)


# Draws


def _device(name: str) -> Callable[[Arguments], Callable[..., object]]:
    """A method of the runtime's device, by name."""

    def find(call: Arguments) -> Callable[..., object]:
        found: Callable[..., object] = getattr(device_of(call), name)
        return found

    return find


def _primitive(call: Arguments, name: str) -> PrimitiveType:
    return enumerator(PrimitiveType, call.integer(name))


_MARKER = "The render state that marks a scene."
forward(EVERY_DEVICE, "BeginScene", _MARKER, _device("begin_scene"))
forward(EVERY_DEVICE, "EndScene", _MARKER, _device("end_scene"))
forward(EVERY_DEVICE, "DeletePatch", "Deletes a patch.", _device("delete_patch"),
        (_INTEGER, "Handle"))  # fmt: skip
forward(EVERY_DEVICE, "DrawPrimitive", "A draw from the bound streams.", _device("draw_primitive"),
        (_primitive, "PrimitiveType"), (_INTEGER, "StartVertex"),
        (_INTEGER, "PrimitiveCount"))  # fmt: skip


@method(EVERY_DEVICE, "Clear")
def clear(program: Program, call: Arguments) -> None:
    """Clears rectangles, clipped to viewport and scissor; without flags nothing."""
    if not call.integer("Flags"):
        return
    rects = [rect_of(each) for each in call.structs("pRects")] if call.has("pRects") else None
    if rects is not None and call.integer("Count"):
        rects = rects[: call.integer("Count")]
    flags, color, z = call.integer("Flags"), call.dword("Color"), call.real("Z")
    device_of(call).clear(flags, color, z, call.integer("Stencil"), rects or None)


@method(EVERY_DEVICE, "DrawIndexedPrimitive")
def draw_indexed_primitive(program: Program, call: Arguments) -> None:
    """An indexed draw from the bound streams; Direct3D 8 has the base vertex of SetIndices."""
    app, name = application(call), "BaseVertexIndex"
    base = call.integer(name) if call.declares(name) else integer(app.mirror.get("base"))
    minimum = call.spelled("MinVertexIndex", "minIndex", "MinIndex")
    app.device.draw_indexed_primitive(
        _primitive(call, call.spelled("Type", "PrimitiveType")), base, call.integer(minimum),
        call.integer(call.spelled("NumVertices", "NumVertexIndices")),
        call.integer(call.spelled("startIndex", "StartIndex")),
        call.integer(call.spelled("primCount", "PrimitiveCount")),
    )  # fmt: skip


@method(EVERY_DEVICE, "DrawPrimitiveUP")
def draw_primitive_up(program: Program, call: Arguments) -> None:
    """A draw from user memory in lpVertices; stream 0 is unbound afterwards."""
    app = application(call)
    data, stride = call.blob("pVertexStreamZeroData"), call.integer("VertexStreamZeroStride")
    primitive, count = _primitive(call, "PrimitiveType"), call.integer("PrimitiveCount")
    app.device.draw_primitive_up(primitive, count, data, stride)
    app.mirror.know("stream", 0, (None, 0, 0))


@method(EVERY_DEVICE, "DrawIndexedPrimitiveUP")
def draw_indexed_primitive_up(program: Program, call: Arguments) -> None:
    """A draw from user memory in lpVertices with its indices in a buffer; stream 0 and indices
    are unbound afterwards.
    """
    app = application(call)
    app.device.draw_indexed_primitive_up(
        _primitive(call, "PrimitiveType"), call.integer("MinVertexIndex"),
        call.integer(call.spelled("NumVertices", "NumVertexIndices")),
        call.integer("PrimitiveCount"), call.blob("pIndexData"),
        format_of(call, "IndexDataFormat"), call.blob("pVertexStreamZeroData"),
        call.integer("VertexStreamZeroStride"),
    )  # fmt: skip
    app.mirror.know("stream", 0, (None, 0, 0))
    app.mirror.know("indices", None)


@method(EVERY_DEVICE, "ProcessVertices")
def process_vertices(program: Program, call: Arguments) -> None:
    """The runtime transforms vertices of the bound streams into a buffer; with a vertex shader a
    loss.
    """
    app = application(call)
    (buffer,) = resources_of(call, "pDestBuffer")
    named = None
    if call.declares("pVertexDecl"):
        named = optional(call, Declaration, "pVertexDecl")
    layout = app.layout_of(named.handle if named else buffer.vertices)
    if layout is None:
        raise Inexpressible("a buffer without a vertex format")
    target = Target(buffer, call.integer("DestIndex"), layout, size_of(layout))
    first, count = call.integer("SrcStartIndex"), call.integer("VertexCount")
    process_streams(app, first, count, target, call.integer("Flags"))


# Patches


def _patch(call: Arguments, sides: int) -> tuple[int, list[float] | None]:
    found = call.reals("pNumSegs") if call.has("pNumSegs") else None
    return call.integer("Handle"), found[:sides] if found else None


@method(EVERY_DEVICE, "DrawRectPatch")
def draw_rect_patch(program: Program, call: Arguments) -> None:
    """A rectangular patch, stored under its handle."""
    handle, segments = _patch(call, 4)
    info, name = None, "pRectPatchInfo"
    if call.has(name):
        names = ("StartVertexOffsetWidth", "StartVertexOffsetHeight", "Width", "Height", "Stride")
        column, row, width, height, stride = members(call.struct(name), names, integer)
        info = RectPatchInfo(column, row, width, height, stride, *_curve(call, name))
    device_of(call).draw_rect_patch(handle, segments, info)


@method(EVERY_DEVICE, "DrawTriPatch")
def draw_tri_patch(program: Program, call: Arguments) -> None:
    """A triangular patch, stored under its handle."""
    handle, segments = _patch(call, 3)
    info, name = None, "pTriPatchInfo"
    if call.has(name):
        names = ("StartVertexOffset", "NumVertices")
        start, total = members(call.struct(name), names, integer)
        info = TriPatchInfo(start, total, *_curve(call, name))
    device_of(call).draw_tri_patch(handle, segments, info)


def _curve(call: Arguments, name: str) -> tuple[Basis, Degree]:
    """Basis and degree of a patch; Direct3D 8 names the degree Order."""
    found = call.struct(name)
    degree = "Degree" if "Degree" in found.signature.members else "Order"
    basis, order = members(found, ("Basis", degree), integer)
    return enumerator(Basis, basis), enumerator(Degree, order)
