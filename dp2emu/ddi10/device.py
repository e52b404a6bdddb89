"""The functions of a device, by name, interface version and what they may report.

Source: Direct3D 10/11 DDI, "Query functions" and "Device functions"; names are those of the
members of D3D10DDI_DEVICEFUNCS without ``pfn``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from dp2emu.ddi10.capabilities import check_format_support, check_multisample_quality_levels
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.context import Commands, Context
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.draws.dispatch import Compute
from dp2emu.ddi10.draws.draw import Draws
from dp2emu.ddi10.dxgi import Dxgi
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.queries.counters import Watched, check_counter, check_counter_info
from dp2emu.ddi10.queries.query import Queries
from dp2emu.ddi10.queries.statistics import Statistics, statistics
from dp2emu.ddi10.resources.maps import Maps
from dp2emu.ddi10.resources.residency import QueryResidencyCb
from dp2emu.ddi10.resources.resource import Resources
from dp2emu.ddi10.resources.transfers import Moves
from dp2emu.ddi10.resources.unordered_access import UnorderedViews
from dp2emu.ddi10.resources.views import Views
from dp2emu.ddi10.shaders.stages import Stages
from dp2emu.ddi10.shared_resources import Shared
from dp2emu.ddi10.states.bindings import Setters
from dp2emu.ddi10.states.input_layout import ElementLayouts
from dp2emu.ddi10.states.state_objects import States
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.heap import Surface

_D3D10_0 = """
    DefaultConstantBufferUpdateSubresourceUP VsSetConstantBuffers PsSetShaderResources PsSetShader
    PsSetSamplers VsSetShader DrawIndexed Draw DynamicIABufferMapNoOverwrite DynamicIABufferUnmap
    DynamicConstantBufferMapDiscard DynamicIABufferMapDiscard DynamicConstantBufferUnmap
    PsSetConstantBuffers IaSetInputLayout IaSetVertexBuffers IaSetIndexBuffer DrawIndexedInstanced
    DrawInstanced DynamicResourceMapDiscard DynamicResourceUnmap GsSetConstantBuffers GsSetShader
    IaSetTopology StagingResourceMap StagingResourceUnmap VsSetShaderResources VsSetSamplers
    GsSetShaderResources GsSetSamplers SetRenderTargets ShaderResourceViewReadAfterWriteHazard
    ResourceReadAfterWriteHazard SetBlendState SetDepthStencilState SetRasterizerState QueryEnd
    QueryBegin ResourceCopyRegion ResourceUpdateSubresourceUP SoSetTargets DrawAuto SetViewports
    SetScissorRects ClearRenderTargetView ClearDepthStencilView SetPredication QueryGetData Flush
    GenMips ResourceCopy ResourceResolveSubresource ResourceMap ResourceUnmap
    ResourceIsStagingBusy RelocateDeviceFuncs
    CalcPrivateResourceSize CalcPrivateOpenedResourceSize CreateResource OpenResource
    DestroyResource
    CalcPrivateShaderResourceViewSize CreateShaderResourceView DestroyShaderResourceView
    CalcPrivateRenderTargetViewSize CreateRenderTargetView DestroyRenderTargetView
    CalcPrivateDepthStencilViewSize CreateDepthStencilView DestroyDepthStencilView
    CalcPrivateElementLayoutSize CreateElementLayout DestroyElementLayout
    CalcPrivateBlendStateSize CreateBlendState DestroyBlendState
    CalcPrivateDepthStencilStateSize CreateDepthStencilState DestroyDepthStencilState
    CalcPrivateRasterizerStateSize CreateRasterizerState DestroyRasterizerState
    CalcPrivateShaderSize CreateVertexShader CreateGeometryShader CreatePixelShader
    CalcPrivateGeometryShaderWithStreamOutput CreateGeometryShaderWithStreamOutput DestroyShader
    CalcPrivateSamplerSize CreateSampler DestroySampler
    CalcPrivateQuerySize CreateQuery DestroyQuery
    CheckFormatSupport CheckMultisampleQualityLevels CheckCounterInfo CheckCounter DestroyDevice
    SetTextFilterSize
"""

_D3D10_1 = "ResourceConvert ResourceConvertRegion"

_D3D11_0 = """
    DrawIndexedInstancedIndirect DrawInstancedIndirect CommandListExecute
    HsSetShaderResources HsSetShader HsSetSamplers HsSetConstantBuffers
    DsSetShaderResources DsSetShader DsSetSamplers DsSetConstantBuffers
    CreateHullShader CreateDomainShader
    CheckDeferredContextHandleSizes CalcDeferredContextHandleSize CalcPrivateDeferredContextSize
    CreateDeferredContext AbandonCommandList CalcPrivateCommandListSize CreateCommandList
    DestroyCommandList CalcPrivateTessellationShaderSize
    PsSetShaderWithIfaces VsSetShaderWithIfaces GsSetShaderWithIfaces HsSetShaderWithIfaces
    DsSetShaderWithIfaces CsSetShaderWithIfaces
    CreateComputeShader CsSetShader CsSetShaderResources CsSetSamplers CsSetConstantBuffers
    CalcPrivateUnorderedAccessViewSize CreateUnorderedAccessView DestroyUnorderedAccessView
    ClearUnorderedAccessViewUint ClearUnorderedAccessViewFloat CsSetUnorderedAccessViews
    Dispatch DispatchIndirect SetResourceMinLOD CopyStructureCount
    RecycleCommandList RecycleCreateCommandList RecycleCreateDeferredContext
    RecycleDestroyCommandList
"""

SINCE: dict[str, Interface] = {
    name: interface
    for interface, names in (
        (Interface.D3D10_0, _D3D10_0),
        (Interface.D3D10_1, _D3D10_1),
        (Interface.D3D11_0, _D3D11_0),
    )
    for name in names.split()
}
"""The interface version each function came with, in the order of the tables."""

DXGI_FUNCTIONS = (
    "Present",
    "GetGammaCaps",
    "SetDisplayMode",
    "SetResourcePriority",
    "QueryResourceResidency",
    "RotateResourceIdentities",
    "Blt",
)
"""The DXGI functions in the order of their table; each returns an HRESULT."""

_PREDICATED = """
    Draw DrawIndexed DrawInstanced DrawIndexedInstanced DrawAuto
    DrawInstancedIndirect DrawIndexedInstancedIndirect Dispatch DispatchIndirect CommandListExecute
    ClearRenderTargetView ClearDepthStencilView
    ClearUnorderedAccessViewUint ClearUnorderedAccessViewFloat
    ResourceCopy ResourceCopyRegion ResourceConvert ResourceConvertRegion
    ResourceUpdateSubresourceUP DefaultConstantBufferUpdateSubresourceUP
    ResourceResolveSubresource GenMips CopyStructureCount SetResourceMinLOD
"""

PREDICATED = frozenset(_PREDICATED.split())
"""Functions that do nothing when the current predicate says so (Direct3D 10/11 DDI,
"Predication"); all others always act: maps, state, queries and flushing."""

_REMOVED = DdiCode.D3DDDIERR_DEVICEREMOVED

_MEMORY, _STILL = DdiCode.E_OUTOFMEMORY, DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING

_NOTHING = ("Calc", "Destroy", "Check", "RelocateDeviceFuncs", "RecycleDestroy")
"""What names of functions that report nothing begin with."""

_MAKING = ("Create", "Open", "RecycleCreate")
"""What names of functions that make something begin with."""

_OTHERS: dict[str, frozenset[DdiCode]] = {
    "CreateQuery": frozenset({_MEMORY, DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE, _REMOVED}),
    "QueryGetData": frozenset({_STILL, _REMOVED}),
    "CheckCounter": frozenset({DdiCode.DXGI_DDI_ERR_UNSUPPORTED, DdiCode.E_INVALIDARG}),
    "ResourceMap": frozenset({_STILL, _MEMORY, _REMOVED}),
    "StagingResourceMap": frozenset({_STILL, _REMOVED}),
}


def _may_report(name: str) -> frozenset[DdiCode]:
    if name in _OTHERS:
        return _OTHERS[name]
    if name.startswith(_NOTHING):
        return frozenset()
    if name.startswith(_MAKING) or name.endswith("MapDiscard"):
        return frozenset({_MEMORY, _REMOVED})
    return frozenset({_REMOVED})


MAY_REPORT: dict[str, frozenset[DdiCode]] = {name: _may_report(name) for name in SINCE}
"""What each function may give to pfnSetErrorCb: what makes something memory runs out for, what
checks a capability or destroys nothing at all."""


def names_of(interface: Interface) -> tuple[str, ...]:
    """The functions a device of an interface version has, in the order of its table."""
    return tuple(name for name, since in SINCE.items() if since <= interface)


# What a device consists of beside its queries, put together.


class Parts:
    """The objects of a device and the entries that act on them.  Mutable: they are."""

    def __init__(self, context: Context, query_residency: QueryResidencyCb) -> None:
        self._contract = context.contract
        self.resources = Resources(context)
        self.views = Views(context, self.resources)
        self.unordered = UnorderedViews(context, self.resources)
        self.states = States(context)
        self.layouts = ElementLayouts(context)
        self.stages = Stages(context, self.resources, self.views, self.states)
        self.setters = Setters(
            context, self.resources, self.views, self.states, self.layouts, self.unordered
        )
        self.dxgi = Dxgi(context, self.resources, query_residency)
        self._makers = (
            self.resources,
            self.views,
            self.unordered,
            self.states,
            self.layouts,
            self.stages,
        )
        self._users = (
            self.setters,
            Maps(context, self.resources),
            Moves(context, self.resources, self.views),
            Draws(context, self.resources, self.stages, self.setters.bindings),
            Compute(context, self.resources, self.stages, self.unordered),
        )

    def __len__(self) -> int:
        """Live objects."""
        return sum(map(len, self._objects()))

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """All entries, by name."""
        found: dict[str, Callable[..., Any]] = {
            "CheckFormatSupport": check_format_support,
            "CheckMultisampleQualityLevels": check_multisample_quality_levels,
            "RelocateDeviceFuncs": _do_nothing,
            "SetTextFilterSize": _do_nothing,
        }
        for part in (*self._makers, *self._users):
            found |= part.entries()
        return found | {"DestroyResource": self._destroy_resource}

    def _destroy_resource(self, memory: bytearray) -> None:
        """DestroyResource, after its views."""
        entry, objects = "DestroyResource", (*self.views.all(), self.unordered.objects)
        resource = self.resources.objects.open(memory, entry)
        left = any(view.resource is resource for each in objects for view in each.values())
        self._contract.hold(not left, Rule.VIEWS_LEFT, entry)
        self.resources.destroy(memory)

    def _objects(self) -> tuple[Objects[Any], ...]:
        views, states = self.views, self.states
        return (
            *views.all(),
            self.unordered.objects,
            *(states.blends, states.depths, states.rasterizers, states.samplers),
            *(self.layouts.objects, self.stages.objects, self.resources.objects),
        )


def _do_nothing(*arguments: object) -> None:
    """RelocateDeviceFuncs: the table is where it is found.  SetTextFilterSize: one-bit textures
    are filtered like any others.
    """


# A device: its function table, and what every call of an entry has in common.
#
# Entries are called as ``device.functions["QueryEnd"](query)``; hDevice is the device itself.  As
# in the DDI they return nothing but what their signature says, and report through
# pfnSetErrorCb; not calling it means S_OK.


class Host(Protocol):
    """The adapter, as a device sees it."""

    gpu: Gpu
    contract: Contract
    watched: Watched
    shared: Shared[Any]

    def count_call(self) -> bool:
        """An entry is called: whether the adapter is there for it."""


class Device:
    """A device of one interface version.  Mutable: entries act on it.

    ``functions`` maps the names of the version's table, without ``pfn``, to the entries.  What is
    not built yet raises Unsupported.  ``dxgi_functions`` are those of DXGI, which return HRESULTs.
    ``entries`` and ``dxgi_entries`` are what is behind them where it is built: their annotations
    say what each takes.
    """

    def __init__(
        self,
        adapter: Host,
        interface: Interface,
        set_error: Callable[[int, int], None],
        core_layer: int,
        query_residency: QueryResidencyCb,
    ) -> None:
        self.interface = interface
        self._adapter = adapter
        self._set_error = set_error
        self._core_layer = core_layer
        self._destroyed = False
        self._commands = Commands(adapter.gpu)
        self.queries = Queries(
            adapter.gpu, self._commands, interface, adapter.contract, adapter.watched
        )
        context = Context(adapter.gpu, self._commands, adapter.contract, interface, adapter.shared)
        self._parts = Parts(context, query_residency)
        self.entries = built = self._built()
        self.functions: Mapping[str, Callable[..., Any]] = MappingProxyType(
            {name: partial(self._call, name, built.get(name)) for name in names_of(interface)}
        )

        self.dxgi_entries = dxgi = self._parts.dxgi.entries()
        self.dxgi_functions: Mapping[str, Callable[..., int]] = MappingProxyType(
            {name: partial(self._call_dxgi, name, dxgi[name]) for name in DXGI_FUNCTIONS}
        )

    @property
    def destroyed(self) -> bool:
        """Whether DestroyDevice was called."""
        return self._destroyed

    @property
    def target(self) -> Surface | None:
        """What it draws to first, None if that is nothing."""
        view = self._parts.setters.bindings.targets[0]
        return view.surface() if view is not None else None

    @property
    def shown(self) -> Surface | None:
        """What is on the screen, None before anything was presented."""
        found = self._parts.dxgi.shown
        return found[0].surface if found is not None else None

    @property
    def counters(self) -> Counters:
        """What its draws have counted, as far as the GPU has come."""
        return self._commands.counters

    def kernel_handle(self, resource: bytearray) -> int:
        """What the kernel calls a shared resource, for OpenResource; 0 if it is not shared.

        Raises ContractError for what is no resource.
        """
        return self._parts.resources.objects.open(resource, "kernel_handle").shared

    def statistics(self) -> Statistics:
        """The pipeline statistics since the device was created, as far as the GPU has come."""
        return statistics(partial(getattr, self.counters))

    def _built(self) -> dict[str, Callable[..., Any]]:
        queries = self.queries
        return {
            "CalcPrivateQuerySize": queries.size,
            "CreateQuery": queries.create,
            "DestroyQuery": queries.destroy,
            "QueryBegin": queries.begin,
            "QueryEnd": queries.end,
            "QueryGetData": queries.get_data,
            "SetPredication": queries.set_predication,
            "CheckCounterInfo": partial(check_counter_info, self._adapter.gpu.overlap.units),
            "CheckCounter": partial(check_counter, self._adapter.contract),
            "Flush": self._commands.flush,
            "DestroyDevice": self._destroy,
            **self._parts.entries(),
        }

    def _call(self, name: str, entry: Callable[..., Any] | None, *arguments: Any) -> Any:
        """Call an entry; None when it reports."""
        self._adapter.contract.hold(not self._destroyed, Rule.LIVE_DEVICE, name)
        if entry is None:
            raise Unsupported(f"{name} of the Direct3D 10/11 interface")
        self._adapter.gpu.begin_call()
        there = self._adapter.count_call()
        if not there and DdiCode.D3DDDIERR_DEVICEREMOVED in MAY_REPORT[name]:
            return self._set_error(self._core_layer, DdiCode.D3DDDIERR_DEVICEREMOVED)
        self._commands.predicated = name in PREDICATED
        try:
            return entry(*arguments)
        except Fault as fault:
            assert fault.hr in MAY_REPORT[name]
            return self._set_error(self._core_layer, fault.hr)

    def _call_dxgi(self, name: str, entry: Callable[..., int], *arguments: Any) -> int:
        """Call a DXGI function and return its code."""
        self._adapter.contract.hold(not self._destroyed, Rule.LIVE_DEVICE, name)
        self._adapter.gpu.begin_call()
        if not self._adapter.count_call():
            return DdiCode.D3DDDIERR_DEVICEREMOVED
        try:
            return entry(*arguments)
        except Fault as fault:
            return fault.hr

    def _destroy(self) -> None:
        self._adapter.contract.hold(not self.queries, Rule.QUERIES_LEFT, "DestroyDevice")
        self._adapter.contract.hold(not len(self._parts), Rule.OBJECTS_LEFT, "DestroyDevice")
        self.queries.destroy_all()
        self._parts.resources.destroy_all()
        self._commands.drop()
        self._destroyed = True
