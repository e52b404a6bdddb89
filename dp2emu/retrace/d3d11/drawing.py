"""Draws, dispatches and transfers of Direct3D 10 and 11."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11.objects import CONTEXTS, context_of, record
from dp2emu.retrace.program import Program, inert, method
from dp2emu.runtime10.descriptions import Box
from dp2emu.runtime10.objects import (
    Buffer,
    DepthStencilView,
    RenderTargetView,
    Resource,
    ShaderResourceView,
    UnorderedAccessView,
)

_IMMEDIATE = "ID3D11DeviceContext"

_DRAWS = {
    "Draw": "draw",
    "DrawIndexed": "draw_indexed",
    "DrawInstanced": "draw_instanced",
    "DrawIndexedInstanced": "draw_indexed_instanced",
    "DrawAuto": "draw_auto",
    "Dispatch": "dispatch",
}
"""Method of a context by traced method, for draws whose arguments are numbers."""


def _draw_method(name: str, called: str) -> None:
    @method(_IMMEDIATE if name == "Dispatch" else CONTEXTS, name)
    def draw(program: Program, call: Arguments) -> None:
        """Draws, or dispatches thread groups."""
        count = len(call.call.function.arguments)
        numbers = (call.integer(call.placed(place)) for place in range(1, count))
        getattr(context_of(call), called)(*numbers)


for _name, _called in _DRAWS.items():
    _draw_method(_name, _called)


@method(_IMMEDIATE, "DrawInstancedIndirect")
def draw_instanced_indirect(program: Program, call: Arguments) -> None:
    """Draws with arguments in a buffer."""
    buffer = call.thing("pBufferForArgs", Buffer)
    context_of(call).draw_instanced_indirect(buffer, call.integer("AlignedByteOffsetForArgs"))


@method(_IMMEDIATE, "DrawIndexedInstancedIndirect")
def draw_indexed_instanced_indirect(program: Program, call: Arguments) -> None:
    """Draws with arguments in a buffer."""
    buffer, offset = call.thing("pBufferForArgs", Buffer), call.integer("AlignedByteOffsetForArgs")
    context_of(call).draw_indexed_instanced_indirect(buffer, offset)


@method(_IMMEDIATE, "DispatchIndirect")
def dispatch_indirect(program: Program, call: Arguments) -> None:
    """Dispatches thread groups, whose numbers are in a buffer."""
    buffer = call.thing("pBufferForArgs", Buffer)
    context_of(call).dispatch_indirect(buffer, call.integer("AlignedByteOffsetForArgs"))


# Clears


@method(CONTEXTS, "ClearRenderTargetView")
def clear_render_target_view(program: Program, call: Arguments) -> None:
    """Clears a view."""
    view = call.optional("pRenderTargetView", RenderTargetView)
    context_of(call).clear_render_target_view(view, call.reals("ColorRGBA"))


@method(CONTEXTS, "ClearDepthStencilView")
def clear_depth_stencil_view(program: Program, call: Arguments) -> None:
    """Clears a view."""
    view = call.optional("pDepthStencilView", DepthStencilView)
    flags, stencil = call.integer("ClearFlags"), call.integer("Stencil")
    context_of(call).clear_depth_stencil_view(view, flags, call.real("Depth"), stencil)


@method(_IMMEDIATE, "ClearUnorderedAccessViewUint")
def clear_unordered_access_view_uint(program: Program, call: Arguments) -> None:
    """Clears a view."""
    view = call.thing("pUnorderedAccessView", UnorderedAccessView)
    context_of(call).clear_unordered_access_view_uint(view, call.integers("Values"))


@method(_IMMEDIATE, "ClearUnorderedAccessViewFloat")
def clear_unordered_access_view_float(program: Program, call: Arguments) -> None:
    """Clears a view."""
    view = call.thing("pUnorderedAccessView", UnorderedAccessView)
    context_of(call).clear_unordered_access_view_float(view, call.reals("Values"))


# Transfers


@method(CONTEXTS, "CopyResource")
def copy_resource(program: Program, call: Arguments) -> None:
    """Copies a resource."""
    target, source = (call.optional(each, Resource) for each in ("pDstResource", "pSrcResource"))
    if target is not None and source is not None:
        context_of(call).copy_resource(target, source)


@method(CONTEXTS, "CopySubresourceRegion CopySubresourceRegion1")
def copy_subresource_region(program: Program, call: Arguments) -> None:
    """Copies a box of a subresource; nothing without a source or target."""
    target, source = (call.optional(each, Resource) for each in ("pDstResource", "pSrcResource"))
    if target is None or source is None:
        return
    index, x, y, z = map(call.integer, ("DstSubresource", "DstX", "DstY", "DstZ"))
    box = record(call.value("pSrcBox"), Box) if call.has("pSrcBox") else None
    context_of(call).copy_subresource_region(
        target, index, x, y, z, source, call.integer("SrcSubresource"), box
    )


@method(CONTEXTS, "UpdateSubresource UpdateSubresource1")
def update_subresource(program: Program, call: Arguments) -> None:
    """Writes a box of a subresource."""
    box = record(call.value("pDstBox"), Box) if call.has("pDstBox") else None
    pitches = (call.integer(each) for each in ("SrcRowPitch", "SrcDepthPitch"))
    context_of(call).update_subresource(
        call.thing("pDstResource", Resource),
        call.integer("DstSubresource"),
        box,
        call.blob("pSrcData"),
        *pitches,
    )


@method(CONTEXTS, "ResolveSubresource")
def resolve_subresource(program: Program, call: Arguments) -> None:
    """Resolves a multisampled subresource."""
    target, source = (call.thing(each, Resource) for each in ("pDstResource", "pSrcResource"))
    places = call.integer("DstSubresource"), call.integer("SrcSubresource")
    format = call.integer("Format")
    context_of(call).resolve_subresource(target, places[0], source, places[1], format)


@method(CONTEXTS, "GenerateMips")
def generate_mips(program: Program, call: Arguments) -> None:
    """Generates mip levels."""
    context_of(call).generate_mips(call.thing("pShaderResourceView", ShaderResourceView))


@method(_IMMEDIATE, "CopyStructureCount")
def copy_structure_count(program: Program, call: Arguments) -> None:
    """Copies a hidden counter to a buffer."""
    view = call.thing("pSrcView", UnorderedAccessView)
    buffer, offset = call.thing("pDstBuffer", Buffer), call.integer("DstAlignedByteOffset")
    context_of(call).copy_structure_count(buffer, offset, view)


@method(_IMMEDIATE, "SetResourceMinLOD")
def set_resource_min_lod(program: Program, call: Arguments) -> None:
    """Clamps the level of detail of a texture."""
    resource = call.thing("pResource", Resource)
    context_of(call).set_resource_min_lod(resource, call.real("MinLOD"))


inert(
    _IMMEDIATE,
    "DiscardResource DiscardView DiscardView1",
    "The contents become undefined; here they stay as they are.",
)
