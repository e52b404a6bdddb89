"""State of contexts of Direct3D 11 and devices of Direct3D 10: bindings of all stages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dp2emu.argument_check import trusted_function
from dp2emu.retrace.arguments import Arguments, real, structure
from dp2emu.retrace.d3d11.objects import (
    CONTEXT,
    CONTEXTS,
    bind_found,
    context_row,
    number,
    numbers,
    on_context,
    optional,
    record,
    rows_of,
    things,
)
from dp2emu.retrace.program import NO_EFFECT, inert
from dp2emu.runtime10.class_linkage import ClassInstance
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.descriptions import Rect, Viewport
from dp2emu.runtime10.objects import (
    BlendState,
    Buffer,
    ComputeShader,
    DepthStencilState,
    DepthStencilView,
    DeviceChild,
    DomainShader,
    GeometryShader,
    HullShader,
    InputLayout,
    PixelShader,
    RasterizerState,
    RenderTargetView,
    SamplerState,
    ShaderResourceView,
    UnorderedAccessView,
    VertexShader,
)

_KEEP = 0xFFFFFFFF
"""D3D11_KEEP_RENDER_TARGETS_AND_DEPTH_STENCIL and D3D11_KEEP_UNORDERED_ACCESS_VIEWS."""
_MEANS = "Nothing for the driver: the addresses mean the objects that are bound."


# Shader stages

_Method = Callable[..., Any]


class _Pair(NamedTuple):
    """The methods that bind and return objects."""

    set: _Method
    get: _Method


class _Stage(NamedTuple):
    """The type of a stage's shaders, and the methods of a context for the stage."""

    kind: type[DeviceChild]
    shader: _Pair
    constants: _Pair
    ranges: _Pair
    resources: _Pair
    samplers: _Pair


_NOUNS = ["shader", "constant_buffers", "constant_buffers1", "shader_resources", "samplers"]


def _stage_of(prefix: str, kind: type[DeviceChild]) -> _Stage:
    """The stage whose methods begin with a prefix."""
    return _Stage(
        kind,
        *(
            _Pair(
                trusted_function(Context, f"{prefix}_set_{noun}"),
                trusted_function(Context, f"{prefix}_get_{noun}"),
            )
            for noun in _NOUNS
        ),
    )


_STAGES = {
    "VS": _stage_of("vs", VertexShader),
    "HS": _stage_of("hs", HullShader),
    "DS": _stage_of("ds", DomainShader),
    "GS": _stage_of("gs", GeometryShader),
    "PS": _stage_of("ps", PixelShader),
    "CS": _stage_of("cs", ComputeShader),
}
"""The stages by the start of their methods' names."""
_OLD = ("VS", "GS", "PS")
"""The stages that Direct3D 10 has."""


def _shader_rows(interfaces: str, prefix: str, kind: type[DeviceChild], pair: _Pair) -> None:
    """Register the methods that bind and return the shader of a stage."""

    @on_context(interfaces, f"{prefix}SetShader", says="Binds a shader.")
    def set_shader(context: Context, call: Arguments) -> None:
        shader = call.optional(call.placed(1), kind)
        pair.set(context, shader, things(call, "ppClassInstances", ClassInstance))

    @on_context(interfaces, f"{prefix}GetShader", says=_MEANS)
    def get_shader(context: Context, call: Arguments) -> None:
        bind_found(call, call.placed(1), [pair.get(context)])


def _slot_rows(interfaces: str, names: str, kind: type[DeviceChild], pair: _Pair) -> None:
    """Register the methods that bind and return objects in slots; ``names`` has a place for Set or
    Get.
    """

    @on_context(interfaces, names.format("Set"), says="Binds objects to slots of the stage.")
    def set_slots(context: Context, call: Arguments) -> None:
        pair.set(context, call.integer("StartSlot"), things(call, call.placed(3), kind))

    @on_context(interfaces, names.format("Get"), says=_MEANS)
    def get_slots(context: Context, call: Arguments) -> None:
        found = pair.get(context, call.integer("StartSlot"), call.integer(call.placed(2)))
        bind_found(call, call.placed(3), found)


def _range_rows(prefix: str, pair: _Pair) -> None:
    """Register the methods that bind and return ranges of constant buffers of a stage."""

    @on_context(CONTEXT, f"{prefix}SetConstantBuffers1", says="Binds ranges of buffers to slots.")
    def set_ranges(context: Context, call: Arguments) -> None:
        buffers = things(call, "ppConstantBuffers", Buffer)
        ranges = (numbers(name)(call) for name in ("pFirstConstant", "pNumConstants"))
        pair.set(context, call.integer("StartSlot"), buffers, *ranges)

    @on_context(CONTEXT, f"{prefix}GetConstantBuffers1", says=_MEANS)
    def get_ranges(context: Context, call: Arguments) -> None:
        found = pair.get(context, call.integer("StartSlot"), call.integer("NumBuffers"))
        bind_found(call, "ppConstantBuffers", [row[0] for row in found])


def _stage_rows(prefix: str, stage: _Stage) -> None:
    """Register the methods of a stage."""
    interfaces = CONTEXTS if prefix in _OLD else CONTEXT
    _shader_rows(interfaces, prefix, stage.kind, stage.shader)
    _slot_rows(interfaces, prefix + "{}ConstantBuffers", Buffer, stage.constants)
    _range_rows(prefix, stage.ranges)
    _slot_rows(interfaces, prefix + "{}ShaderResources", ShaderResourceView, stage.resources)
    _slot_rows(interfaces, prefix + "{}Samplers", SamplerState, stage.samplers)


for _prefix, _stage in _STAGES.items():
    _stage_rows(_prefix, _stage)


# Input assembler

context_row(
    CONTEXTS, "IASetInputLayout", "Binds an input layout.",
    Context.ia_set_input_layout, optional("pInputLayout", InputLayout),
)  # fmt: skip
context_row(
    CONTEXTS, "IASetPrimitiveTopology", "Sets the topology.",
    Context.ia_set_primitive_topology, number("Topology"),
)  # fmt: skip
context_row(
    CONTEXTS, "IASetIndexBuffer", "Binds an index buffer.",
    Context.ia_set_index_buffer,
    optional("pIndexBuffer", Buffer), number("Format"), number("Offset"),
)  # fmt: skip


_STRIDES, _OFFSETS = numbers("pStrides"), numbers("pOffsets")


@on_context(CONTEXTS, "IASetVertexBuffers")
def set_vertex_buffers(context: Context, call: Arguments) -> None:
    """Binds vertex buffers."""
    buffers = things(call, "ppVertexBuffers", Buffer)
    zeros = [0] * len(buffers)
    strides, offsets = _STRIDES(call) or zeros, _OFFSETS(call) or zeros
    set_buffers = trusted_function(type(context), "ia_set_vertex_buffers")
    set_buffers(context, call.integer("StartSlot"), buffers, strides, offsets)


@on_context(CONTEXTS, "IAGetInputLayout", says=_MEANS)
def get_input_layout(context: Context, call: Arguments) -> None:
    """The layout that is bound."""
    bind_found(call, call.placed(1), [context.ia_get_input_layout()])


@on_context(CONTEXTS, "IAGetVertexBuffers", says=_MEANS)
def get_vertex_buffers(context: Context, call: Arguments) -> None:
    """The buffers that are bound."""
    start, count = call.integer("StartSlot"), call.integer("NumBuffers")
    found = context.ia_get_vertex_buffers(start, count)
    bind_found(call, "ppVertexBuffers", [row[0] for row in found])


@on_context(CONTEXTS, "IAGetIndexBuffer", says=_MEANS)
def get_index_buffer(context: Context, call: Arguments) -> None:
    """The buffer that is bound."""
    bind_found(call, call.placed(1), [context.ia_get_index_buffer()[0]])


inert(CONTEXTS, "IAGetPrimitiveTopology RSGetViewports RSGetScissorRects", NO_EFFECT)


# Rasterizer

context_row(
    CONTEXTS, "RSSetState", "Binds a rasterizer state.",
    Context.rs_set_state, optional("pRasterizerState", RasterizerState),
)  # fmt: skip


@on_context(CONTEXTS, "RSGetState", says=_MEANS)
def get_rasterizer_state(context: Context, call: Arguments) -> None:
    """The state that is bound."""
    bind_found(call, call.placed(1), [context.rs_get_state()])


@on_context(CONTEXTS, "RSSetViewports")
def set_viewports(context: Context, call: Arguments) -> None:
    """Sets the viewports."""
    rows = map(structure, rows_of(call, "pViewports"))
    context.rs_set_viewports([Viewport(*map(real, row.members)) for row in rows])


@on_context(CONTEXTS, "RSSetScissorRects")
def set_scissor_rects(context: Context, call: Arguments) -> None:
    """Sets the scissor rectangles."""
    context.rs_set_scissor_rects([record(row, Rect) for row in rows_of(call, "pRects")])


# Output merger


@on_context(CONTEXTS, "OMSetBlendState")
def set_blend_state(context: Context, call: Arguments) -> None:
    """Binds a blend state, with blend factor and sample mask."""
    factor = call.reals("BlendFactor") if call.has("BlendFactor") else None
    state = call.optional("pBlendState", BlendState)
    context.om_set_blend_state(state, factor, call.integer("SampleMask"))


context_row(
    CONTEXTS, "OMSetDepthStencilState", "Binds a depth-stencil state, with the reference value.",
    Context.om_set_depth_stencil_state,
    optional("pDepthStencilState", DepthStencilState), number("StencilRef"),
)  # fmt: skip


@on_context(CONTEXTS, "OMGetBlendState", says=_MEANS)
def get_blend_state(context: Context, call: Arguments) -> None:
    """The state that is bound."""
    bind_found(call, call.placed(1), [context.om_get_blend_state()[0]])


@on_context(CONTEXTS, "OMGetDepthStencilState", says=_MEANS)
def get_depth_stencil_state(context: Context, call: Arguments) -> None:
    """The state that is bound."""
    bind_found(call, call.placed(1), [context.om_get_depth_stencil_state()[0]])


@on_context(CONTEXTS, "OMSetRenderTargets")
def set_render_targets(context: Context, call: Arguments) -> None:
    """Binds render targets and a depth-stencil view."""
    depth = call.optional("pDepthStencilView", DepthStencilView)
    context.om_set_render_targets(_targets(call, "NumViews"), depth)


def _targets(call: Arguments, count: str) -> list[RenderTargetView | None]:
    """The render targets, with None for each if the array is NULL."""
    found = things(call, "ppRenderTargetViews", RenderTargetView)
    return found or [None] * min(call.integer(count), 8)


@on_context(CONTEXT, "OMSetRenderTargetsAndUnorderedAccessViews")
def set_targets_and_views(context: Context, call: Arguments) -> None:
    """Binds render targets, a depth-stencil view and unordered access views."""
    targets = None if call.integer("NumRTVs") == _KEEP else _targets(call, "NumRTVs")
    depth = call.optional("pDepthStencilView", DepthStencilView) if targets is not None else None
    views = None
    if call.integer("NumUAVs") != _KEEP:
        views = things(call, "ppUnorderedAccessViews", UnorderedAccessView)
    context.om_set_render_targets_and_unordered_access_views(
        targets, depth, call.integer("UAVStartSlot"), views, numbers("pUAVInitialCounts")(call)
    )


@on_context(CONTEXTS, "OMGetRenderTargets", says=_MEANS)
def get_render_targets(context: Context, call: Arguments) -> None:
    """The views that are bound."""
    _bind_targets(context, call)


def _bind_targets(context: Context, call: Arguments) -> None:
    colors, depth = context.om_get_render_targets(call.integer(call.placed(1)))
    bind_found(call, call.placed(2), colors)
    bind_found(call, call.placed(3), [depth])


@on_context(CONTEXT, "OMGetRenderTargetsAndUnorderedAccessViews", says=_MEANS)
def get_targets_and_views(context: Context, call: Arguments) -> None:
    """The views that are bound."""
    _bind_targets(context, call)
    start, count = call.integer("UAVStartSlot"), call.integer("NumUAVs")
    views = context.om_get_unordered_access_views(start, count)
    bind_found(call, "ppUnorderedAccessViews", views)


@on_context(CONTEXT, "CSSetUnorderedAccessViews")
def set_unordered_access_views(context: Context, call: Arguments) -> None:
    """Binds unordered access views of compute shaders."""
    views = things(call, "ppUnorderedAccessViews", UnorderedAccessView)
    counts = numbers("pUAVInitialCounts")(call)
    context.cs_set_unordered_access_views(call.integer("StartSlot"), views, counts)


@on_context(CONTEXT, "CSGetUnorderedAccessViews", says=_MEANS)
def get_unordered_access_views(context: Context, call: Arguments) -> None:
    """The views that are bound."""
    start, count = call.integer("StartSlot"), call.integer("NumUAVs")
    found = context.cs_get_unordered_access_views(start, count)
    bind_found(call, "ppUnorderedAccessViews", found)


# Stream output


@on_context(CONTEXTS, "SOSetTargets")
def set_stream_targets(context: Context, call: Arguments) -> None:
    """Binds stream-output buffers."""
    context.so_set_targets(things(call, "ppSOTargets", Buffer), numbers("pOffsets")(call))


@on_context(CONTEXTS, "SOGetTargets", says=_MEANS)
def get_stream_targets(context: Context, call: Arguments) -> None:
    """The buffers that are bound."""
    bind_found(call, "ppSOTargets", context.so_get_targets(call.integer("NumBuffers")))


context_row(CONTEXTS, "ClearState", "Sets the default state.", Context.clear_state)
