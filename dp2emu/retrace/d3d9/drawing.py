"""Declarations, shaders, constants, clears, draws and patches of Direct3D 9 and 8."""

from __future__ import annotations

import struct
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
from dp2emu.retrace.program import NO_EFFECT, Program, forward, inert, method, method_of
from dp2emu.runtime.application import Application
from dp2emu.runtime.mirror import REGISTERS
from dp2emu.runtime.objects import Declaration, RectPatchInfo, TriPatchInfo, VertexElement
from dp2emu.runtime.processing import Target, process_streams, size_of

_END = 0xFF
"""The number in the member Stream of D3DDECL_END, the element that ends a vertex declaration."""
_ELEMENT = ("Stream", "Offset", "Type", "Method", "Usage", "UsageIndex")
_INTEGER = Arguments.integer
_CONSTANTS = {"F": ("floats", 4), "I": ("integers", 4), "B": ("booleans", 1)}
"""Type name of shader constants (floats, integers or booleans) and numbers per register, by the
last letter of Set...ShaderConstantF, I and B."""
_HARDWARE = {0xFFFE02FF: 0xFFFE0201, 0xFFFE03FF: 0xFFFE0300,
             0xFFFF02FF: 0xFFFF0201, 0xFFFF03FF: 0xFFFF0300}  # fmt: skip
"""Hardware version token by software version token, such as vs_2_x by vs_2_sw;
both versions have the same instructions."""

inert(
    "IDirect3DVertexDeclaration9 IDirect3DVertexShader9 IDirect3DPixelShader9",
    "GetDeclaration GetFunction",
    NO_EFFECT,
)
inert(DEVICES, "GetFVF", NO_EFFECT)


@method(DEVICES, "CreateVertexDeclaration")
def create_vertex_declaration(program: Program, call: Arguments) -> None:
    """Creates a declaration of the elements up to D3DDECL_END."""
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
    """Sets a vertex format without bit 0, which marks declarations on the wire; a format of 0
    changes nothing.
    """
    if fvf := call.integer("FVF") & ~1:
        application(call).mirror.put("format", Declaration(fvf))


def code_of(call: Arguments) -> list[int]:
    """The DWORDs of a call's argument pFunction, shader code."""
    data = call.blob("pFunction")
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))


def _hardware_code(call: Arguments) -> list[int]:
    """Shader code for drivers, as DWORDs: a software version token becomes a hardware one."""
    code = code_of(call)
    return [_HARDWARE.get(word, word) for word in code[:1]] + code[1:]


@method(DEVICES, "CreateVertexShader")
def create_vertex_shader(program: Program, call: Arguments) -> None:
    """Creates a vertex shader; a software version becomes a hardware version."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.device.create_vertex_shader(_hardware_code(call)))


@method(DEVICES, "CreatePixelShader")
def create_pixel_shader(program: Program, call: Arguments) -> None:
    """Creates a pixel shader; a software version becomes a hardware version."""
    app = application(call)
    hand_out(program, call, "ppShader", app, app.device.create_pixel_shader(_hardware_code(call)))


def put_constants(app: Application, setting: str, first: int, values: list[Any]) -> None:
    """Set constant registers of the kind ``setting`` from register ``first`` on.

    Registers that only software vertex processing has are not set; Inexpressible is then raised.
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
    """Register the methods that set and get constants of a shader ``stage``; ``letter`` is their
    kind: F, I or B.
    """
    name, act = f"{stage.title()}ShaderConstant{letter}", partial(_set_constants, stage, letter)
    act.__doc__ = f"Sets constant {_CONSTANTS[letter][0]} of the {stage} shader."
    method(DEVICES, f"Set{name}")(act)
    inert(DEVICES, f"Get{name}", NO_EFFECT)


for _stage in ("vertex", "pixel"):
    for _letter in _CONSTANTS:
        _register_constants(_stage, _letter)


# Draws


def _primitive(call: Arguments, name: str) -> PrimitiveType:
    return enumerator(PrimitiveType, call.integer(name))


_MARKER = "Sets the render state that marks a scene."
forward(EVERY_DEVICE, "BeginScene", _MARKER, method_of(device_of, "begin_scene"))
forward(EVERY_DEVICE, "EndScene", _MARKER, method_of(device_of, "end_scene"))
forward(EVERY_DEVICE, "DeletePatch", "Deletes a patch.", method_of(device_of, "delete_patch"),
        (_INTEGER, "Handle"))  # fmt: skip
forward(EVERY_DEVICE, "DrawPrimitive", "Draws from the bound streams.",
        method_of(device_of, "draw_primitive"),
        (_primitive, "PrimitiveType"), (_INTEGER, "StartVertex"),
        (_INTEGER, "PrimitiveCount"))  # fmt: skip


@method(EVERY_DEVICE, "Clear")
def clear(program: Program, call: Arguments) -> None:
    """Clears rectangles, clipped to viewport and scissor; without flags nothing, and nothing of
    0 rectangles unless pRects is NULL, which means all.
    """
    rects = [rect_of(each) for each in call.structs("pRects")] if call.has("pRects") else None
    if rects is not None:
        rects = rects[: max(call.integer("Count"), 0)]
    if not call.integer("Flags") or rects == []:
        return
    flags, color, z = call.integer("Flags"), call.dword("Color"), call.real("Z")
    device_of(call).clear(flags, color, z, call.integer("Stencil"), rects)


@method(EVERY_DEVICE, "DrawIndexedPrimitive")
def draw_indexed_primitive(program: Program, call: Arguments) -> None:
    """Draws with indices; in Direct3D 8 the base vertex is an argument of SetIndices."""
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
    """Draws from user memory in lpVertices, and unbinds stream 0."""
    app = application(call)
    data, stride = call.blob("pVertexStreamZeroData"), call.integer("VertexStreamZeroStride")
    primitive, count = _primitive(call, "PrimitiveType"), call.integer("PrimitiveCount")
    app.device.draw_primitive_up(primitive, count, data, stride)
    app.mirror.know("stream", 0, (None, 0, 0))


@method(EVERY_DEVICE, "DrawIndexedPrimitiveUP")
def draw_indexed_primitive_up(program: Program, call: Arguments) -> None:
    """Draws from user memory in lpVertices with indices in a temporary buffer, and unbinds
    stream 0 and the indices.
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
    """Transforms vertices of the bound streams into a buffer by the runtime; a loss with a
    vertex shader.
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
    """Draws a rectangular patch, which is stored under its handle."""
    handle, segments = _patch(call, 4)
    info, name = None, "pRectPatchInfo"
    if call.has(name):
        names = ("StartVertexOffsetWidth", "StartVertexOffsetHeight", "Width", "Height", "Stride")
        column, row, width, height, stride = members(call.struct(name), names, integer)
        info = RectPatchInfo(column, row, width, height, stride, *_curve(call, name))
    device_of(call).draw_rect_patch(handle, segments, info)


@method(EVERY_DEVICE, "DrawTriPatch")
def draw_tri_patch(program: Program, call: Arguments) -> None:
    """Draws a triangular patch, which is stored under its handle."""
    handle, segments = _patch(call, 3)
    info, name = None, "pTriPatchInfo"
    if call.has(name):
        names = ("StartVertexOffset", "NumVertices")
        start, total = members(call.struct(name), names, integer)
        info = TriPatchInfo(start, total, *_curve(call, name))
    device_of(call).draw_tri_patch(handle, segments, info)


def _curve(call: Arguments, name: str) -> tuple[Basis, Degree]:
    """(basis, degree) in the patch description ``name``; Direct3D 8 calls the degree Order."""
    found = call.struct(name)
    degree = "Degree" if "Degree" in found.signature.members else "Order"
    basis, order = members(found, ("Basis", degree), integer)
    return enumerator(Basis, basis), enumerator(Degree, order)
