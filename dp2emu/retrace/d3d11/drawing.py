"""Draws, dispatches, clears and transfers of Direct3D 10 and 11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11.objects import (
    CONTEXT,
    CONTEXTS,
    blob,
    context_row,
    described,
    float_of,
    floats,
    needed,
    number,
    numbers,
    on_context,
    placed,
    record,
    rows_of,
)
from dp2emu.retrace.program import inert
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.descriptions import Box, Rect
from dp2emu.runtime10.objects import (
    Buffer,
    DepthStencilView,
    RenderTargetView,
    Resource,
    ShaderResourceView,
    UnorderedAccessView,
    View,
)

# Draws

_DRAWS: dict[str, tuple[str, Callable[..., None], int]] = {
    "Draw": (CONTEXTS, Context.draw, 2),
    "DrawIndexed": (CONTEXTS, Context.draw_indexed, 3),
    "DrawInstanced": (CONTEXTS, Context.draw_instanced, 4),
    "DrawIndexedInstanced": (CONTEXTS, Context.draw_indexed_instanced, 5),
    "DrawAuto": (CONTEXTS, Context.draw_auto, 0),
    "Dispatch": (CONTEXT, Context.dispatch, 3),
}
"""Interfaces, method of a context and number of arguments, by traced method."""

for _name, (_interfaces, _called, _count) in _DRAWS.items():
    context_row(
        _interfaces, _name, "Draws." if _name != "Dispatch" else "Dispatches thread groups.",
        _called, *map(placed, range(1, _count + 1)),
    )  # fmt: skip

_INDIRECT: dict[str, Callable[..., None]] = {
    "DrawInstancedIndirect": Context.draw_instanced_indirect,
    "DrawIndexedInstancedIndirect": Context.draw_indexed_instanced_indirect,
    "DispatchIndirect": Context.dispatch_indirect,
}
"""Method of a context by traced method."""

for _name, _called in _INDIRECT.items():
    context_row(
        CONTEXT, _name, "Draws or dispatches with arguments in a buffer.",
        _called, needed("pBufferForArgs", Buffer), number("AlignedByteOffsetForArgs"),
    )  # fmt: skip


# Clears

_CLEARS = "Clears a view."

context_row(
    CONTEXTS, "ClearRenderTargetView", _CLEARS, Context.clear_render_target_view,
    needed("pRenderTargetView", RenderTargetView), floats("ColorRGBA"),
)  # fmt: skip
context_row(
    CONTEXTS, "ClearDepthStencilView", _CLEARS, Context.clear_depth_stencil_view,
    needed("pDepthStencilView", DepthStencilView), number("ClearFlags"), float_of("Depth"),
    number("Stencil"),
)  # fmt: skip
context_row(
    CONTEXT, "ClearUnorderedAccessViewUint", _CLEARS, Context.clear_unordered_access_view_uint,
    needed("pUnorderedAccessView", UnorderedAccessView), numbers("Values"),
)  # fmt: skip
context_row(
    CONTEXT, "ClearUnorderedAccessViewFloat", _CLEARS, Context.clear_unordered_access_view_float,
    needed("pUnorderedAccessView", UnorderedAccessView), floats("Values"),
)  # fmt: skip


@on_context(CONTEXT, "ClearView")
def clear_view(context: Context, call: Arguments) -> None:
    """Clears rectangles of a view."""
    view: Any = needed("pView", View)(call)
    rects = [record(each, Rect) for each in rows_of(call, "pRect")]
    context.clear_view(view, call.reals("Color"), rects)


# Transfers

_TARGET, _SOURCE = needed("pDstResource", Resource), needed("pSrcResource", Resource)

context_row(
    CONTEXTS, "CopyResource", "Copies a resource.", Context.copy_resource, _TARGET, _SOURCE
)
_REGION = (
    _TARGET, number("DstSubresource"), number("DstX"), number("DstY"), number("DstZ"),
    _SOURCE, number("SrcSubresource"), described("pSrcBox", Box),
)  # fmt: skip
_COPIES = "Copies a box of a subresource."
context_row(CONTEXTS, "CopySubresourceRegion", _COPIES, Context.copy_subresource_region, *_REGION)
context_row(
    CONTEXT, "CopySubresourceRegion1", _COPIES,
    Context.copy_subresource_region1, *_REGION, number("CopyFlags"),
)  # fmt: skip
_WRITTEN = (
    _TARGET, number("DstSubresource"), described("pDstBox", Box), blob("pSrcData"),
    number("SrcRowPitch"), number("SrcDepthPitch"),
)  # fmt: skip
_WRITES = "Writes a box of a subresource."
context_row(CONTEXTS, "UpdateSubresource", _WRITES, Context.update_subresource, *_WRITTEN)
context_row(
    CONTEXT, "UpdateSubresource1", _WRITES,
    Context.update_subresource1, *_WRITTEN, number("CopyFlags"),
)  # fmt: skip
context_row(
    CONTEXTS, "ResolveSubresource", "Resolves a multisampled subresource.",
    Context.resolve_subresource,
    _TARGET, number("DstSubresource"), _SOURCE, number("SrcSubresource"), number("Format"),
)  # fmt: skip
context_row(
    CONTEXTS, "GenerateMips", "Generates mip levels.", Context.generate_mips,
    needed("pShaderResourceView", ShaderResourceView),
)  # fmt: skip
context_row(
    CONTEXT, "CopyStructureCount", "Copies a hidden counter to a buffer.",
    Context.copy_structure_count,
    needed("pDstBuffer", Buffer), number("DstAlignedByteOffset"),
    needed("pSrcView", UnorderedAccessView),
)  # fmt: skip
context_row(
    CONTEXT, "SetResourceMinLOD", "Clamps the level of detail of a texture.",
    Context.set_resource_min_lod, needed("pResource", Resource), float_of("MinLOD"),
)  # fmt: skip


inert(
    CONTEXT,
    "DiscardResource DiscardView DiscardView1",
    "The contents become undefined; here they stay as they are.",
)
