"""Draws, dispatches, clears and transfers of Direct3D 10 and 11."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11.objects import (
    CONTEXT,
    CONTEXTS,
    context_row,
    described,
    float_of,
    floats,
    needed,
    number,
    numbers,
    on_context,
    placed,
)
from dp2emu.retrace.program import inert
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.descriptions import Box
from dp2emu.runtime10.objects import (
    Buffer,
    DepthStencilView,
    RenderTargetView,
    Resource,
    ShaderResourceView,
    UnorderedAccessView,
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


# Transfers

_TARGET, _SOURCE = needed("pDstResource", Resource), needed("pSrcResource", Resource)

context_row(
    CONTEXTS, "CopyResource", "Copies a resource.", Context.copy_resource, _TARGET, _SOURCE
)
context_row(
    CONTEXTS, "CopySubresourceRegion CopySubresourceRegion1", "Copies a box of a subresource.",
    Context.copy_subresource_region,
    _TARGET, number("DstSubresource"), number("DstX"), number("DstY"), number("DstZ"),
    _SOURCE, number("SrcSubresource"), described("pSrcBox", Box),
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


@on_context(CONTEXTS, "UpdateSubresource UpdateSubresource1")
def update_subresource(context: Context, call: Arguments) -> None:
    """Writes a box of a subresource."""
    target, box = _TARGET(call), described("pDstBox", Box)(call)
    pitches = (call.integer(each) for each in ("SrcRowPitch", "SrcDepthPitch"))
    index = call.integer("DstSubresource")
    context.update_subresource(target, index, box, call.blob("pSrcData"), *pitches)


inert(
    CONTEXT,
    "DiscardResource DiscardView DiscardView1",
    "The contents become undefined; here they stay as they are.",
)
