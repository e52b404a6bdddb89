"""Draws and vertex buffers of IDirect3DDevice3 and IDirect3DDevice7."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.fvf import fvf_layout, fvf_size
from dp2emu.d3d.vertices import TYPE_BYTES
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.retrace.arguments import Arguments, array, integer, member, structure
from dp2emu.retrace.ddraw.lifetimes import bind_argument
from dp2emu.retrace.locks import Lock
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, inert, method
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.earlydevice import EarlyDevice
from dp2emu.runtime.processing import Span

DEVICES = "IDirect3DDevice3", "IDirect3DDevice7"
BUFFERS = "IDirect3DVertexBuffer", "IDirect3DVertexBuffer7"
_MOST_VERTICES = 0xFFFF
_RESERVED = 0x20
"""D3DFVF_RESERVED1, the only part of a format that strided vertices do not have."""


def rows(interfaces: Sequence[str], name: str) -> tuple[str, ...]:
    """A method of several interfaces."""
    return tuple(f"{interface}::{name}" for interface in interfaces)


def indices_of(call: Arguments, name: str) -> list[int] | None:
    """Indices of 16 bits, as a blob or an array.  Raises Inexpressible if some are missing."""
    count = call.integer("dwIndexCount")
    if not count:
        return None
    value = call.value(name)
    if isinstance(value, bytes):
        found = list(struct.unpack_from(f"<{len(value) // 2}H", value))
    else:
        found = [integer(each) for each in array(value)]
    if len(found) < count:
        raise Inexpressible(f"{len(found)} of {count} indices were recorded")
    return found[:count]


@method(*rows(DEVICES, "DrawPrimitive"))
def draw_primitive(program: Program, call: Arguments) -> None:
    """Vertices behind a pointer, drawn by the version's own tokens."""
    _draw(program, call, None)


@method(*rows(DEVICES, "DrawIndexedPrimitive"))
def draw_indexed_primitive(program: Program, call: Arguments) -> None:
    """The same with indices."""
    _draw(program, call, indices_of(call, "lpwIndices"))


def _draw(program: Program, call: Arguments, indices: list[int] | None) -> None:
    device = call.thing("this", EarlyDevice)
    count = call.integer("dwVertexCount")
    if count:
        format, vertices = call.integer("d3dvtVertexType"), call.blob("lpvVertices")
        device.flags = call.integer("dwFlags")
        device.draw(call.integer("d3dptPrimitiveType"), format, vertices, count, indices)


# Strided vertices


@method(*rows(DEVICES, "DrawPrimitiveStrided"))
def draw_strided(program: Program, call: Arguments) -> None:
    """Vertices whose parts lie apart; they are brought together for the driver."""
    _draw_strided(call, None)


@method(*rows(DEVICES, "DrawIndexedPrimitiveStrided"))
def draw_indexed_strided(program: Program, call: Arguments) -> None:
    """The same with indices."""
    _draw_strided(call, indices_of(call, "lpIndex"))


def _draw_strided(call: Arguments, indices: list[int] | None) -> None:
    device = call.thing("this", EarlyDevice)
    format, count = call.integer("dwVertexType"), call.integer("dwVertexCount")
    if count:
        data = call.struct("lpD3DDrawPrimStrideData")
        vertices = together(data, format & ~_RESERVED, count, device.interface)
        device.flags = call.integer("dwFlags")
        primitive = call.integer("d3dptPrimitiveType")
        device.draw(primitive, format & ~_RESERVED, vertices, count, indices)


_MEMBERS = {
    (DeclUsage.POSITION, 0): "position",
    (DeclUsage.POSITIONT, 0): "position",
    (DeclUsage.NORMAL, 0): "normal",
    (DeclUsage.COLOR, 0): "diffuse",
    (DeclUsage.COLOR, 1): "specular",
}
"""Which member of D3DDRAWPRIMITIVESTRIDEDDATA an element comes from."""


def together(data: Struct, format: int, count: int, interface: int) -> bytes:
    """Vertices of an FVF from their parts.  Raises Inexpressible if bytes are missing."""
    if count > _MOST_VERTICES:
        raise Inexpressible(f"{count} vertices")
    stride = fvf_size(format, interface)
    made = np.zeros((count, stride), np.uint8)
    for element in fvf_layout(format, interface).elements:
        assert isinstance(element.type, DeclType)
        size = TYPE_BYTES[element.type]
        part = _member_of(data, element.usage, element.index)
        offset = _offset_in(element.usage, element.offset)
        made[:, element.offset : element.offset + size] = _column(part, offset, size, count)
    return made.tobytes()


def _member_of(data: Struct, usage: DeclUsage, index: int) -> Struct:
    if usage is DeclUsage.TEXCOORD:
        return structure(array(member(data, "textureCoords"))[index])
    name = _MEMBERS.get((usage, index), "position")
    return structure(member(data, name))


def _offset_in(usage: DeclUsage, offset: int) -> int:
    """Where in its part an element lies: weights follow the position they belong to."""
    return offset if usage is DeclUsage.BLENDWEIGHT else 0


def _column(part: Struct, offset: int, size: int, count: int) -> NDArray[np.uint8]:
    blob, stride = member(part, "lpvData"), integer(member(part, "dwStride"))
    if not isinstance(blob, bytes) or len(blob) < (count - 1) * stride + offset + size:
        raise Inexpressible("vertices were not recorded in full")
    at = np.arange(count)[:, None] * stride + offset + np.arange(size)
    column: NDArray[np.uint8] = np.frombuffer(blob, np.uint8)[at]
    return column


# Vertex buffers


for _interface in BUFFERS:
    inert(_interface, "AddRef GetVertexBufferDesc Optimize", "Changes nothing that is drawn.")


@method("IDirect3D3::CreateVertexBuffer", "IDirect3D7::CreateVertexBuffer")
def create_buffer(program: Program, call: Arguments) -> None:
    """A vertex buffer of a flexible vertex format."""
    asked = call.struct("lpD3DVertBufDesc")
    format, count = integer(member(asked, "dwFVF")), integer(member(asked, "dwNumVertices"))
    interface = 6 if call.call.name.startswith("IDirect3D3") else 7
    stride = fvf_size(format, interface)
    memory = program.ddraw.settle()
    desc = memory.create_surface(SurfaceKind.VERTEXBUFFER, max(count * stride, 1))
    bind_argument(program, call, "lplpD3DVertBuf", VertexBuffer(desc, format, stride, count))


@method(*rows(BUFFERS, "Lock"))
def lock_buffer(program: Program, call: Arguments) -> None:
    """Where the program will find the buffer."""
    program.locks.begin(call.address("lplpData"), Lock(call.thing("this", VertexBuffer), 0))


@method(*rows(BUFFERS, "Unlock"))
def unlock_buffer(program: Program, call: Arguments) -> None:
    """What the program stored is written."""
    buffer = call.thing("this", VertexBuffer)
    held = program.locks.end(buffer, 0)
    if held is not None and held.data:
        memory = program.ddraw.settle()
        memory.lock(buffer.desc.handle)
        memory.write(buffer.desc.handle, 0, held.data[: buffer.desc.width])


@method(*rows(DEVICES, "DrawPrimitiveVB"))
def draw_buffer(program: Program, call: Arguments) -> None:
    """Vertices of a buffer."""
    device = call.thing("this", EarlyDevice)
    buffer = call.thing("lpD3DVertexBuf", VertexBuffer)
    start, count = call.integer("dwStartVertex"), call.integer("dwNumVertices")
    device.flags = call.integer("dwFlags")
    device.draw_buffer(call.integer("d3dptPrimitiveType"), buffer, start, count)


@method(*rows(DEVICES, "DrawIndexedPrimitiveVB"))
def draw_indexed_buffer(program: Program, call: Arguments) -> None:
    """The same with indices, which in DirectX 7 count from the first vertex that is named."""
    device = call.thing("this", EarlyDevice)
    buffer = call.thing("lpD3DVertexBuf", VertexBuffer)
    seven = device.interface == 7
    start = call.integer("dwStartVertex") if seven else 0
    count = call.integer("dwNumVertices") if seven else buffer.count
    device.flags = call.integer("dwFlags")
    indices = indices_of(call, "lpwIndices")
    device.draw_buffer(call.integer("d3dptPrimitiveType"), buffer, start, count, indices or [])


@method(*rows(BUFFERS, "ProcessVertices"))
def process_vertices(program: Program, call: Arguments) -> None:
    """Vertices of one buffer, transformed by the runtime, go into another."""
    device = call.thing("lpD3DDevice", EarlyDevice)
    count = call.integer("dwCount")
    made = Span(call.thing("this", VertexBuffer), call.integer("dwDestIndex"), count)
    source = call.thing("lpSrcBuffer", VertexBuffer)
    given = Span(source, call.integer("dwSrcIndex"), count)
    device.process(made, given, call.integer("dwVertexOp"), call.integer("dwFlags"))


@method("IDirect3DVertexBuffer7::ProcessVerticesStrided")
def process_strided(program: Program, call: Arguments) -> None:
    """Vertices whose parts lie apart are brought together in a buffer of their own."""
    device, count = call.thing("lpD3DDevice", EarlyDevice), call.integer("dwCount")
    format = call.integer("dwVertexTypeDesc") & ~_RESERVED
    vertices = together(call.struct("lpVertexArray"), format, count, device.interface)
    memory = program.ddraw.settle()
    desc = memory.create_surface(SurfaceKind.VERTEXBUFFER, max(len(vertices), 1))
    memory.write(desc.handle, 0, vertices)
    source = VertexBuffer(desc, format, fvf_size(format, device.interface), count)
    made = Span(call.thing("this", VertexBuffer), call.integer("dwDestIndex"), count)
    given = Span(source, 0, count)
    device.process(made, given, call.integer("dwVertexOp"), call.integer("dwFlags"))
    memory.destroy_surface(desc.handle)
