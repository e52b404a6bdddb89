"""Streams, indices, draws and clears."""

from __future__ import annotations

from dp2emu.d3d.enums import Basis, Degree, Format, PrimitiveType
from dp2emu.retrace.arguments import Arguments, integer, members
from dp2emu.retrace.d3d9.held import (
    application,
    enumerator,
    format_of,
    hand_out,
    held,
    on,
    optional,
    rect_of,
)
from dp2emu.retrace.d3d9.root import DEVICES, EVERY_DEVICE
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.objects import Declaration, RectPatchInfo, TriPatchInfo
from dp2emu.runtime.processing import Target, process_streams, size_of
from dp2emu.runtime.resources import Resource

_DEAD_STREAM = (None, 0, 0)


@on(EVERY_DEVICE, "BeginScene")
def begin_scene(program: Program, call: Arguments) -> None:
    """The state that marks a scene."""
    application(call).device.begin_scene()


@on(EVERY_DEVICE, "EndScene")
def end_scene(program: Program, call: Arguments) -> None:
    """The state that marks a scene."""
    application(call).device.end_scene()


@on(EVERY_DEVICE, "Clear")
def clear(program: Program, call: Arguments) -> None:
    """The rectangles, clipped to viewport and scissor; nothing without flags."""
    if not call.integer("Flags"):
        return
    rects = [rect_of(each) for each in call.structs("pRects")] if call.has("pRects") else None
    if rects is not None and call.integer("Count"):
        rects = rects[: call.integer("Count")]
    application(call).device.clear(
        call.integer("Flags"),
        call.dword("Color"),
        call.real("Z"),
        call.integer("Stencil"),
        rects or None,
    )


# Streams


@on(DEVICES, "SetStreamSource")
def set_stream_source(program: Program, call: Arguments) -> None:
    """A vertex buffer with offset and stride, or none."""
    buffer = optional(call, Resource, "pStreamData")
    offset, stride = call.integer("OffsetInBytes"), call.integer("Stride")
    source = (buffer.desc, offset, stride) if buffer else _DEAD_STREAM
    application(call).mirror.put("stream", call.integer("StreamNumber"), source)


@on(DEVICES, "GetStreamSource")
def get_stream_source(program: Program, call: Arguments) -> None:
    """The address of a bound buffer."""
    app = application(call)
    desc = app.mirror.get("stream", call.integer("StreamNumber"))[0]
    hand_out(program, call, "ppStreamData", app, app.resource(desc))


@on(DEVICES, "SetStreamSourceFreq")
def set_stream_source_freq(program: Program, call: Arguments) -> None:
    """How often a stream advances."""
    name = "Setting" if call.has("Setting") else "Divider"
    application(call).mirror.put("frequency", call.integer("StreamNumber"), call.dword(name))


@on(DEVICES, "SetIndices")
def set_indices(program: Program, call: Arguments) -> None:
    """An index buffer or none."""
    app, buffer = application(call), optional(call, Resource, "pIndexData")
    bound = app.index_buffer(buffer, buffer.format) if buffer else None
    app.mirror.put("indices", bound)


@on(DEVICES, "GetIndices")
def get_indices(program: Program, call: Arguments) -> None:
    """The address of the bound buffer."""
    app = application(call)
    bound = app.mirror.get("indices")
    hand_out(program, call, "ppIndexData", app, app.resource(bound.desc if bound else None))


# Draws


def primitive_of(call: Arguments, name: str = "PrimitiveType") -> PrimitiveType:
    """A D3DPRIMITIVETYPE."""
    return enumerator(PrimitiveType, call.integer(name))


@on(EVERY_DEVICE, "DrawPrimitive")
def draw_primitive(program: Program, call: Arguments) -> None:
    """A draw from the bound streams."""
    app = application(call)
    first, count = call.integer("StartVertex"), call.integer("PrimitiveCount")
    app.device.draw_primitive(primitive_of(call), first, count)


@on(DEVICES, "DrawIndexedPrimitive")
def draw_indexed_primitive(program: Program, call: Arguments) -> None:
    """An indexed draw from the bound streams."""
    draw_indexed(application(call), call, call.integer("BaseVertexIndex"))


def draw_indexed(app: Application, call: Arguments, base: int) -> None:
    """DrawIndexedPrimitive with the base vertex of the call, or of SetIndices."""
    minimum = next(n for n in ("MinVertexIndex", "minIndex", "MinIndex") if _named(call, n))
    start = "startIndex" if _named(call, "startIndex") else "StartIndex"
    count = "primCount" if _named(call, "primCount") else "PrimitiveCount"
    total = "NumVertices" if _named(call, "NumVertices") else "NumVertexIndices"
    kind = "Type" if _named(call, "Type") else "PrimitiveType"
    app.device.draw_indexed_primitive(
        primitive_of(call, kind), base, call.integer(minimum), call.integer(total),
        call.integer(start), call.integer(count),
    )  # fmt: skip


def _named(call: Arguments, name: str) -> bool:
    return name in call.call.function.arguments


@on(EVERY_DEVICE, "DrawPrimitiveUP")
def draw_primitive_up(program: Program, call: Arguments) -> None:
    """User memory behind lpVertices; stream 0 is unbound afterwards."""
    app = application(call)
    data, stride = call.blob("pVertexStreamZeroData"), call.integer("VertexStreamZeroStride")
    app.device.draw_primitive_up(primitive_of(call), call.integer("PrimitiveCount"), data, stride)
    app.mirror.know("stream", 0, _DEAD_STREAM)


@on(EVERY_DEVICE, "DrawIndexedPrimitiveUP")
def draw_indexed_primitive_up(program: Program, call: Arguments) -> None:
    """User memory behind lpVertices, its indices in a buffer; stream 0 and indices are unbound
    afterwards.
    """
    app = application(call)
    total = "NumVertices" if _named(call, "NumVertices") else "NumVertexIndices"
    app.device.draw_indexed_primitive_up(
        primitive_of(call), call.integer("MinVertexIndex"), call.integer(total),
        call.integer("PrimitiveCount"), call.blob("pIndexData"),
        _index_format(call), call.blob("pVertexStreamZeroData"),
        call.integer("VertexStreamZeroStride"),
    )  # fmt: skip
    app.mirror.know("stream", 0, _DEAD_STREAM)
    app.mirror.know("indices", None)


def _index_format(call: Arguments) -> Format:
    return format_of(call.integer("IndexDataFormat"))


@on(EVERY_DEVICE, "ProcessVertices")
def process_vertices(program: Program, call: Arguments) -> None:
    """Vertices of the bound streams, transformed by the runtime, go into a buffer; by fixed
    functions, for with a vertex shader it is a loss.
    """
    app = application(call)
    buffer = held(call, Resource, "pDestBuffer")[1]
    named = optional(call, Declaration, "pVertexDecl") if _named(call, "pVertexDecl") else None
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


@on(EVERY_DEVICE, "DrawRectPatch")
def draw_rect_patch(program: Program, call: Arguments) -> None:
    """A rectangular patch, kept under its handle."""
    handle, segments = _patch(call, 4)
    info = None
    if call.has("pRectPatchInfo"):
        found = call.struct("pRectPatchInfo")
        names = ("StartVertexOffsetWidth", "StartVertexOffsetHeight", "Width", "Height", "Stride")
        column, row, width, height, stride = members(found, names, integer)
        shape = _shape(call, "pRectPatchInfo")
        info = RectPatchInfo(column, row, width, height, stride, *shape)
    application(call).device.draw_rect_patch(handle, segments, info)


@on(EVERY_DEVICE, "DrawTriPatch")
def draw_tri_patch(program: Program, call: Arguments) -> None:
    """A triangular patch, kept under its handle."""
    handle, segments = _patch(call, 3)
    info = None
    if call.has("pTriPatchInfo"):
        found = call.struct("pTriPatchInfo")
        start, total = members(found, ("StartVertexOffset", "NumVertices"), integer)
        info = TriPatchInfo(start, total, *_shape(call, "pTriPatchInfo"))
    application(call).device.draw_tri_patch(handle, segments, info)


def _shape(call: Arguments, name: str) -> tuple[Basis, Degree]:
    """Basis and degree; Direct3D 8 calls the degree an order."""
    found = call.struct(name)
    degree = "Degree" if "Degree" in found.signature.members else "Order"
    basis, order = members(found, ("Basis", degree), integer)
    return enumerator(Basis, basis), enumerator(Degree, order)


@on(EVERY_DEVICE, "DeletePatch")
def delete_patch(program: Program, call: Arguments) -> None:
    """A patch is forgotten."""
    application(call).device.delete_patch(call.integer("Handle"))
