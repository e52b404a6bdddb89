"""State of contexts of Direct3D 11 and devices of Direct3D 10: bindings, queries, lists."""

from __future__ import annotations

from dp2emu.capture.records import Observed
from dp2emu.retrace.arguments import Arguments, flattened, integer, real
from dp2emu.retrace.d3d11.objects import (
    CONTEXTS,
    context_of,
    integers,
    number_of,
    owner_of,
    record,
    things,
)
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
from dp2emu.runtime10.codes import Result
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.deferred import CommandList, DeferredContext, ListContext
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
    Predicate,
    Query,
    RasterizerState,
    RenderTargetView,
    SamplerState,
    Shader,
    ShaderResourceView,
    UnorderedAccessView,
    VertexShader,
)

_KEEP = 0xFFFFFFFF
"""D3D11_KEEP_RENDER_TARGETS_AND_DEPTH_STENCIL and D3D11_KEEP_UNORDERED_ACCESS_VIEWS."""
_STAGES: dict[str, tuple[str, type[Shader]]] = {
    "VS": (CONTEXTS, VertexShader),
    "GS": (CONTEXTS, GeometryShader),
    "PS": (CONTEXTS, PixelShader),
    "HS": ("ID3D11DeviceContext", HullShader),
    "DS": ("ID3D11DeviceContext", DomainShader),
    "CS": ("ID3D11DeviceContext", ComputeShader),
}
_SLOTTED: dict[str, type[DeviceChild]] = {
    "ConstantBuffers": Buffer,
    "ShaderResources": ShaderResourceView,
    "Samplers": SamplerState,
}


def _shader_method(prefix: str, interfaces: str, kind: type[Shader]) -> None:
    """Register the methods that bind and return the shader of a stage."""

    @method(interfaces, f"{prefix}SetShader")
    def set_shader(program: Program, call: Arguments) -> None:
        """Binds a shader."""
        if call.declares("ppClassInstances") and call.has("ppClassInstances"):
            raise Inexpressible("class instances")
        shader = call.optional(call.placed(1), kind)
        getattr(context_of(call), f"{prefix.lower()}_set_shader")(shader)

    @method(interfaces, f"{prefix}GetShader")
    def get_shader(program: Program, call: Arguments) -> None:
        """Nothing for the driver: the address means the shader that is bound."""
        found = getattr(context_of(call), f"{prefix.lower()}_get_shader")()
        _hand_out(call, call.placed(1), [found])


def _slots_method(prefix: str, interfaces: str, noun: str, kind: type[DeviceChild]) -> None:
    """Register the methods that bind and return the objects in slots of a stage."""
    name = {
        "ConstantBuffers": "constant_buffers",
        "ShaderResources": "shader_resources",
        "Samplers": "samplers",
    }[noun]

    @method(interfaces, f"{prefix}Set{noun}")
    def set_slots(program: Program, call: Arguments) -> None:
        """Binds objects to slots of the stage."""
        found = things(call, call.placed(3), kind)
        setter = getattr(context_of(call), f"{prefix.lower()}_set_{name}")
        setter(call.integer("StartSlot"), found)

    @method(interfaces, f"{prefix}Get{noun}")
    def get_slots(program: Program, call: Arguments) -> None:
        """Nothing for the driver: the addresses mean the objects that are bound."""
        getter = getattr(context_of(call), f"{prefix.lower()}_get_{name}")
        found = getter(call.integer("StartSlot"), call.integer(call.placed(2)))
        _hand_out(call, call.placed(3), found)


def _ranges_method(prefix: str) -> None:
    """Register the methods that bind and return ranges of constant buffers of a stage."""
    stage = prefix.lower()

    @method("ID3D11DeviceContext", f"{prefix}SetConstantBuffers1")
    def set_ranges(program: Program, call: Arguments) -> None:
        """Binds ranges of buffers to slots of the stage."""
        found = things(call, "ppConstantBuffers", Buffer)
        ranges = (integers(call, name) for name in ("pFirstConstant", "pNumConstants"))
        setter = getattr(context_of(call), f"{stage}_set_constant_buffers1")
        setter(call.integer("StartSlot"), found, *ranges)

    @method("ID3D11DeviceContext", f"{prefix}GetConstantBuffers1")
    def get_ranges(program: Program, call: Arguments) -> None:
        """Nothing for the driver: the addresses mean the buffers that are bound."""
        getter = getattr(context_of(call), f"{stage}_get_constant_buffers1")
        found = getter(call.integer("StartSlot"), call.integer("NumBuffers"))
        _hand_out(call, "ppConstantBuffers", [row[0] for row in found])


for _prefix, (_interfaces, _kind) in _STAGES.items():
    _ranges_method(_prefix)
    _shader_method(_prefix, _interfaces, _kind)
    for _noun, _slot_kind in _SLOTTED.items():
        _slots_method(_prefix, _interfaces, _noun, _slot_kind)


def _hand_out(call: Arguments, name: str, found: list[DeviceChild | None]) -> None:
    """Bind the addresses that the call returned in an argument to the objects found."""
    if not call.has(name):
        return
    leaves = flattened(call.value(name))
    for leaf, thing in zip(leaves, found, strict=False):
        if thing is not None and integer(leaf):
            call.objects.bind(integer(leaf), thing, call.number)


# Input assembler


@method(CONTEXTS, "IASetInputLayout")
def set_input_layout(program: Program, call: Arguments) -> None:
    """Binds an input layout."""
    context_of(call).ia_set_input_layout(call.optional("pInputLayout", InputLayout))


@method(CONTEXTS, "IAGetInputLayout")
def get_input_layout(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the layout that is bound."""
    _hand_out(call, call.placed(1), [context_of(call).ia_get_input_layout()])


@method(CONTEXTS, "IASetPrimitiveTopology")
def set_primitive_topology(program: Program, call: Arguments) -> None:
    """Sets the topology."""
    context_of(call).ia_set_primitive_topology(call.integer("Topology"))


@method(CONTEXTS, "IASetVertexBuffers")
def set_vertex_buffers(program: Program, call: Arguments) -> None:
    """Binds vertex buffers."""
    buffers = things(call, "ppVertexBuffers", Buffer)
    strides = integers(call, "pStrides") or [0] * len(buffers)
    offsets = integers(call, "pOffsets") or [0] * len(buffers)
    start = call.integer("StartSlot")
    context_of(call).ia_set_vertex_buffers(start, buffers, strides, offsets)


@method(CONTEXTS, "IAGetVertexBuffers")
def get_vertex_buffers(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the addresses mean the buffers that are bound."""
    start, count = call.integer("StartSlot"), call.integer("NumBuffers")
    found = context_of(call).ia_get_vertex_buffers(start, count)
    _hand_out(call, "ppVertexBuffers", [row[0] for row in found])


@method(CONTEXTS, "IASetIndexBuffer")
def set_index_buffer(program: Program, call: Arguments) -> None:
    """Binds an index buffer."""
    buffer = call.optional("pIndexBuffer", Buffer)
    context_of(call).ia_set_index_buffer(buffer, call.integer("Format"), call.integer("Offset"))


@method(CONTEXTS, "IAGetIndexBuffer")
def get_index_buffer(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the buffer that is bound."""
    _hand_out(call, call.placed(1), [context_of(call).ia_get_index_buffer()[0]])


inert(CONTEXTS, "IAGetPrimitiveTopology RSGetViewports RSGetScissorRects", NO_EFFECT)


# Rasterizer


@method(CONTEXTS, "RSSetState")
def set_rasterizer_state(program: Program, call: Arguments) -> None:
    """Binds a rasterizer state."""
    context_of(call).rs_set_state(call.optional("pRasterizerState", RasterizerState))


@method(CONTEXTS, "RSGetState")
def get_rasterizer_state(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the state that is bound."""
    _hand_out(call, call.placed(1), [context_of(call).rs_get_state()])


@method(CONTEXTS, "RSSetViewports")
def set_viewports(program: Program, call: Arguments) -> None:
    """Sets the viewports."""
    rows = call.structs("pViewports") if call.has("pViewports") else []
    numbers = ([real(each) for each in row.members] for row in rows)
    context_of(call).rs_set_viewports([Viewport(*row) for row in numbers])


@method(CONTEXTS, "RSSetScissorRects")
def set_scissor_rects(program: Program, call: Arguments) -> None:
    """Sets the scissor rectangles."""
    rows = call.structs("pRects") if call.has("pRects") else []
    context_of(call).rs_set_scissor_rects([record(row, Rect) for row in rows])


# Output merger


@method(CONTEXTS, "OMSetBlendState")
def set_blend_state(program: Program, call: Arguments) -> None:
    """Binds a blend state, with blend factor and sample mask."""
    factor = call.reals("BlendFactor") if call.has("BlendFactor") else None
    state = call.optional("pBlendState", BlendState)
    context_of(call).om_set_blend_state(state, factor, call.integer("SampleMask"))


@method(CONTEXTS, "OMGetBlendState")
def get_blend_state(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the state that is bound."""
    _hand_out(call, call.placed(1), [context_of(call).om_get_blend_state()[0]])


@method(CONTEXTS, "OMSetDepthStencilState")
def set_depth_stencil_state(program: Program, call: Arguments) -> None:
    """Binds a depth-stencil state, with the reference value."""
    state = call.optional("pDepthStencilState", DepthStencilState)
    context_of(call).om_set_depth_stencil_state(state, call.integer("StencilRef"))


@method(CONTEXTS, "OMGetDepthStencilState")
def get_depth_stencil_state(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the state that is bound."""
    _hand_out(call, call.placed(1), [context_of(call).om_get_depth_stencil_state()[0]])


@method(CONTEXTS, "OMSetRenderTargets")
def set_render_targets(program: Program, call: Arguments) -> None:
    """Binds render targets and a depth-stencil view."""
    targets = _targets(call, "NumViews")
    depth = call.optional("pDepthStencilView", DepthStencilView)
    context_of(call).om_set_render_targets(targets, depth)


def _targets(call: Arguments, count: str) -> list[RenderTargetView | None]:
    """The render targets, with None for each if the array is NULL."""
    found = things(call, "ppRenderTargetViews", RenderTargetView)
    return found or [None] * min(call.integer(count), 8)


@method("ID3D11DeviceContext", "OMSetRenderTargetsAndUnorderedAccessViews")
def set_targets_and_views(program: Program, call: Arguments) -> None:
    """Binds render targets, a depth-stencil view and unordered access views."""
    targets = None if call.integer("NumRTVs") == _KEEP else _targets(call, "NumRTVs")
    depth = call.optional("pDepthStencilView", DepthStencilView) if targets is not None else None
    views = None
    if call.integer("NumUAVs") != _KEEP:
        views = things(call, "ppUnorderedAccessViews", UnorderedAccessView)
    counts = integers(call, "pUAVInitialCounts")
    context_of(call).om_set_render_targets_and_unordered_access_views(
        targets, depth, call.integer("UAVStartSlot"), views, counts
    )


@method(CONTEXTS, "OMGetRenderTargets")
def get_render_targets(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the addresses mean the views that are bound."""
    colors, depth = context_of(call).om_get_render_targets(call.integer("NumViews"))
    _hand_out(call, "ppRenderTargetViews", list(colors))
    _hand_out(call, call.placed(3), [depth])


@method("ID3D11DeviceContext", "OMGetRenderTargetsAndUnorderedAccessViews")
def get_targets_and_views(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the addresses mean the views that are bound."""
    context = context_of(call)
    colors, depth = context.om_get_render_targets(call.integer("NumRTVs"))
    _hand_out(call, "ppRenderTargetViews", list(colors))
    _hand_out(call, "ppDepthStencilView", [depth])
    start, count = call.integer("UAVStartSlot"), call.integer("NumUAVs")
    views = context.om_get_unordered_access_views(start, count)
    _hand_out(call, "ppUnorderedAccessViews", list(views))


@method("ID3D11DeviceContext", "CSSetUnorderedAccessViews")
def set_unordered_access_views(program: Program, call: Arguments) -> None:
    """Binds unordered access views of compute shaders."""
    views = things(call, "ppUnorderedAccessViews", UnorderedAccessView)
    counts = integers(call, "pUAVInitialCounts")
    context_of(call).cs_set_unordered_access_views(call.integer("StartSlot"), views, counts)


@method("ID3D11DeviceContext", "CSGetUnorderedAccessViews")
def get_unordered_access_views(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the addresses mean the views that are bound."""
    start, count = call.integer("StartSlot"), call.integer("NumUAVs")
    found = context_of(call).cs_get_unordered_access_views(start, count)
    _hand_out(call, "ppUnorderedAccessViews", list(found))


# Stream output


@method(CONTEXTS, "SOSetTargets")
def set_stream_targets(program: Program, call: Arguments) -> None:
    """Binds stream-output buffers."""
    buffers = things(call, "ppSOTargets", Buffer)
    context_of(call).so_set_targets(buffers, integers(call, "pOffsets"))


@method(CONTEXTS, "SOGetTargets")
def get_stream_targets(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the addresses mean the buffers that are bound."""
    found = context_of(call).so_get_targets(call.integer("NumBuffers"))
    _hand_out(call, "ppSOTargets", list(found))


# Predication and queries


@method(CONTEXTS, "SetPredication")
def set_predication(program: Program, call: Arguments) -> None:
    """Sets the predicate of the next draws."""
    predicate = call.optional("pPredicate", Predicate)
    context_of(call).set_predication(predicate, bool(call.integer("PredicateValue")))


@method(CONTEXTS, "GetPredication")
def get_predication(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the predicate that is set."""
    _hand_out(call, call.placed(1), [context_of(call).get_predication()[0]])


@method("ID3D11DeviceContext", "Begin")
def begin(program: Program, call: Arguments) -> None:
    """Begins a query."""
    context_of(call).begin(call.thing("pAsync", Query))


@method("ID3D11DeviceContext", "End")
def end(program: Program, call: Arguments) -> None:
    """Ends a query."""
    context_of(call).end(call.thing("pAsync", Query))


_QUERIES = "ID3D10Query ID3D10Predicate ID3D10Asynchronous"


@method(_QUERIES, "Begin")
def begin_query(program: Program, call: Arguments) -> None:
    """Begins a query."""
    query = call.thing("this", Query)
    owner_of(query).context.begin(query)


@method(_QUERIES, "End")
def end_query(program: Program, call: Arguments) -> None:
    """Ends a query."""
    query = call.thing("this", Query)
    owner_of(query).context.end(query)


@method(_QUERIES, "GetData", failing=True)
def get_query_data(program: Program, call: Arguments) -> None:
    """An observation, if the program received an answer."""
    query = call.thing("this", Query)
    _observe(program, call, owner_of(query).context, query)


@method("ID3D11DeviceContext", "GetData", failing=True)
def get_data(program: Program, call: Arguments) -> None:
    """An observation, if the program received an answer."""
    _observe(program, call, context_of(call), call.thing("pAsync", Query))


_S_FALSE = 1


def _observe(program: Program, call: Arguments, context: Context, query: Query) -> None:
    size, hr = call.integer("DataSize"), call.result & 0xFFFF_FFFF
    if hr == _S_FALSE:
        return
    put, driver = program.recorder.put, query.driver
    # Memory of a failed call is not recorded; with a right size only NULL is an invalid argument.
    null = hr == Result.E_INVALIDARG and size == driver.data_size
    refusal = driver.refusal(size, size > 0 and not null)
    if isinstance(context, DeferredContext):
        refusal = context.get_data(query, size).hr
    if refusal is not None:
        put(Observed(call.number, 0, 0, int(refusal)))
        return
    data = b""
    if size and call.has("pData"):
        leaves = flattened(call.value("pData"))
        data = driver.kind.layout.pack(*map(integer, leaves))
    put(Observed(call.number, 0, number_of(program, query.memory), hr, data))


# Command lists and all state


@method("ID3D11DeviceContext", "FinishCommandList")
def finish_command_list(program: Program, call: Arguments) -> None:
    """Ends a command list."""
    context = call.thing("this", DeferredContext)
    made = context.finish_command_list(bool(call.integer("RestoreDeferredContextState")))
    if call.has("ppCommandList"):
        call.bind("ppCommandList", made)


@method("ID3D11DeviceContext", "ExecuteCommandList")
def execute_command_list(program: Program, call: Arguments) -> None:
    """Makes the driver's calls of a command list."""
    commands = call.thing("pCommandList", CommandList)
    context = call.thing("this", ListContext)
    context.execute_command_list(commands, bool(call.integer("RestoreContextState")))


@method(CONTEXTS, "ClearState")
def clear_state(program: Program, call: Arguments) -> None:
    """Sets the default state."""
    context_of(call).clear_state()


@method(CONTEXTS, "Flush")
def flush(program: Program, call: Arguments) -> None:
    """Sends what is recorded to the GPU."""
    context_of(call).flush()


@method("ID3D11DeviceContext", "Release")
def release_context(program: Program, call: Arguments) -> None:
    """Forgets a deferred context with its last reference."""
    context = call.thing("this", Context)
    if call.result == 0 and isinstance(context, DeferredContext):
        call.objects.forget_all(context)


inert("ID3D11DeviceContext", "GetType GetContextFlags GetResourceMinLOD AddRef", NO_EFFECT)
inert("ID3D11DeviceContext", "SetPrivateData GetPrivateData", "The program's own data.")


@method("ID3D11DeviceContext", "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    call.bind("ppDevice", call.thing("this", Context).owner)
