"""Draws and vertex buffers of IDirect3DDevice3 and IDirect3DDevice7."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.fvf import fvf_layout, fvf_size
from dp2emu.d3d.vertices import TYPE_BYTES
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.retrace.arguments import Arguments, array, integer, member, structure
from dp2emu.retrace.ddraw.lifetimes import BUFFERS, bind_argument
from dp2emu.retrace.locks import Lock
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import UNCHANGED, Program, inert, method
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.earlydevice import EarlyDevice
from dp2emu.runtime.processing import Span

DEVICES = "IDirect3DDevice3 IDirect3DDevice7"
_MOST_VERTICES = 0xFFFF
_STRIDED = 3
"""Position of the strided vertices in the arguments of both methods, which header versions name
differently."""
_RESERVED = 0x20
"""D3DFVF_RESERVED1, the FVF bit of an unused DWORD in a vertex, which strided vertices lack."""
_MEMBERS = {DeclUsage.NORMAL: ("normal",), DeclUsage.COLOR: ("diffuse", "specular")}
"""Names of the members of D3DDRAWPRIMITIVESTRIDEDDATA for normals and colours, by a vertex
element's usage, then its usage index; positions and blend weights are in the member
``position``."""


def indices_of(call: Arguments, name: str) -> list[int] | None:
    """The 16-bit indices in an argument, None if dwIndexCount is 0.

    Raises Inexpressible if some of them were not recorded.
    """
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


@method(DEVICES, "DrawPrimitive DrawIndexedPrimitive")
def draw_primitive(program: Program, call: Arguments) -> None:
    """Draws vertices in user memory, with or without indices."""
    indices = indices_of(call, "lpwIndices") if call.declares("lpwIndices") else None
    device, count = call.thing("this", EarlyDevice), call.integer("dwVertexCount")
    if count:
        format, vertices = call.integer("d3dvtVertexType"), call.blob("lpvVertices")
        device.flags = call.integer("dwFlags")
        device.draw(call.integer("d3dptPrimitiveType"), format, vertices, count, indices)


# Strided vertices


@method(DEVICES, "DrawPrimitiveStrided DrawIndexedPrimitiveStrided")
def draw_strided(program: Program, call: Arguments) -> None:
    """Draws vertices whose elements are in separate arrays, after interleaving them."""
    indices = indices_of(call, "lpIndex") if call.declares("lpIndex") else None
    device = call.thing("this", EarlyDevice)
    format, count = call.integer("dwVertexType") & ~_RESERVED, call.integer("dwVertexCount")
    if count:
        data = call.struct(call.placed(_STRIDED))
        vertices = interleaved(data, format, count, device.interface)
        device.flags = call.integer("dwFlags")
        device.draw(call.integer("d3dptPrimitiveType"), format, vertices, count, indices)


def interleaved(data: Struct, format: int, count: int, interface: int) -> bytes:
    """Interleaved vertices of an FVF, from the arrays of ``data``, a D3DDRAWPRIMITIVESTRIDEDDATA.

    Raises Inexpressible for more than 65,535 vertices and for missing bytes.
    """
    if count > _MOST_VERTICES:
        raise Inexpressible(f"{count} vertices")
    made = np.zeros((count, fvf_size(format, interface)), np.uint8)
    for element in fvf_layout(format, interface).elements:
        assert isinstance(element.type, DeclType)
        size, start = TYPE_BYTES[element.type], element.offset
        if element.usage is DeclUsage.TEXCOORD:
            part = structure(array(member(data, "textureCoords"))[element.index])
        else:
            names = _MEMBERS.get(element.usage, ("position",))
            part = structure(member(data, names[element.index]))
        # Blend weights follow the position in its array.
        offset = start if element.usage is DeclUsage.BLENDWEIGHT else 0
        made[:, start : start + size] = _column(part, offset, size, count)
    return made.tobytes()


def _column(part: Struct, offset: int, size: int, count: int) -> NDArray[np.uint8]:
    blob, stride = member(part, "lpvData"), integer(member(part, "dwStride"))
    if not isinstance(blob, bytes) or len(blob) < (count - 1) * stride + offset + size:
        raise Inexpressible("vertices were not recorded in full")
    at = np.arange(count)[:, None] * stride + offset + np.arange(size)
    column: NDArray[np.uint8] = np.frombuffer(blob, np.uint8)[at]
    return column


# Vertex buffers

inert(BUFFERS, "AddRef GetVertexBufferDesc Optimize", UNCHANGED)


@method("IDirect3D3 IDirect3D7", "CreateVertexBuffer")
def create_buffer(program: Program, call: Arguments) -> None:
    """Creates a vertex buffer of a flexible vertex format."""
    asked = call.struct("lpD3DVertBufDesc")
    format, count = integer(member(asked, "dwFVF")), integer(member(asked, "dwNumVertices"))
    interface = 6 if call.call.name.startswith("IDirect3D3") else 7
    stride = fvf_size(format, interface)
    memory = program.ddraw.settle()
    desc = memory.create_surface(SurfaceKind.VERTEXBUFFER, max(count * stride, 1))
    bind_argument(program, call, "lplpD3DVertBuf", VertexBuffer(desc, format, stride, count))


@method(BUFFERS, "Lock")
def lock_buffer(program: Program, call: Arguments) -> None:
    """Returns the address of the buffer's memory."""
    program.locks.begin(call.address("lplpData"), Lock(call.thing("this", VertexBuffer), 0))


@method(BUFFERS, "Unlock")
def unlock_buffer(program: Program, call: Arguments) -> None:
    """Writes the bytes that the program stored in the locked memory."""
    buffer = call.thing("this", VertexBuffer)
    ended = program.locks.end(buffer, 0)
    if ended is not None and ended.data:
        memory = program.ddraw.settle()
        memory.lock(buffer.desc.handle)
        memory.write(buffer.desc.handle, 0, ended.data[: buffer.desc.width])


@method(DEVICES, "DrawPrimitiveVB")
def draw_buffer(program: Program, call: Arguments) -> None:
    """Draws vertices of a buffer."""
    device = call.thing("this", EarlyDevice)
    buffer = call.thing("lpD3DVertexBuf", VertexBuffer)
    start, count = call.integer("dwStartVertex"), call.integer("dwNumVertices")
    device.flags = call.integer("dwFlags")
    device.draw_buffer(call.integer("d3dptPrimitiveType"), buffer, start, count)


@method(DEVICES, "DrawIndexedPrimitiveVB")
def draw_indexed_buffer(program: Program, call: Arguments) -> None:
    """Draws a buffer with indices, which in DirectX 7 count from the call's first vertex."""
    device = call.thing("this", EarlyDevice)
    buffer = call.thing("lpD3DVertexBuf", VertexBuffer)
    seven = device.interface == 7
    start = call.integer("dwStartVertex") if seven else 0
    count = call.integer("dwNumVertices") if seven else buffer.count
    device.flags = call.integer("dwFlags")
    indices = indices_of(call, "lpwIndices")
    device.draw_buffer(call.integer("d3dptPrimitiveType"), buffer, start, count, indices or [])


def _process(call: Arguments, device: EarlyDevice, source: VertexBuffer, start: int) -> None:
    count = call.integer("dwCount")
    made = Span(call.thing("this", VertexBuffer), call.integer("dwDestIndex"), count)
    given = Span(source, start, count)
    device.process(made, given, call.integer("dwVertexOp"), call.integer("dwFlags"))


@method(BUFFERS, "ProcessVertices")
def process_vertices(program: Program, call: Arguments) -> None:
    """Transforms vertices of one buffer into another by the runtime."""
    device = call.thing("lpD3DDevice", EarlyDevice)
    source = call.thing("lpSrcBuffer", VertexBuffer)
    _process(call, device, source, call.integer("dwSrcIndex"))


@method("IDirect3DVertexBuffer7", "ProcessVerticesStrided")
def process_strided(program: Program, call: Arguments) -> None:
    """Interleaves elements in a temporary buffer, and transforms them as ProcessVertices."""
    device, count = call.thing("lpD3DDevice", EarlyDevice), call.integer("dwCount")
    format = call.integer("dwVertexTypeDesc") & ~_RESERVED
    vertices = interleaved(call.struct("lpVertexArray"), format, count, device.interface)
    memory = program.ddraw.settle()
    desc = memory.create_surface(SurfaceKind.VERTEXBUFFER, max(len(vertices), 1))
    memory.write(desc.handle, 0, vertices)
    stride = fvf_size(format, device.interface)
    _process(call, device, VertexBuffer(desc, format, stride, count), 0)
    memory.destroy_surface(desc.handle)
