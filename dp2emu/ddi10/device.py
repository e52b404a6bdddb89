"""A device: its function tables by interface version, and the dispatch of their calls.

Functions are called as ``device.functions["QueryEnd"](query)``; hDevice is the device itself.  As
in the DDI they report errors through pfnSetErrorCb; not calling it means S_OK.

Source: Direct3D 10/11 DDI, "Query functions" and "Device functions"; names are the members of
D3D10DDI_DEVICEFUNCS without ``pfn``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from dp2emu.argument_check import FOREIGN, Parameters, checked, plain_function
from dp2emu.ddi10.capabilities import check_format_support, check_multisample_quality_levels
from dp2emu.ddi10.codes import DdiCode, Interface
from dp2emu.ddi10.context import Commands, Context
from dp2emu.ddi10.contract import Contract, Rule
from dp2emu.ddi10.draws.draw import Compute, Draws
from dp2emu.ddi10.dxgi import Dxgi
from dp2emu.ddi10.objects import Objects
from dp2emu.ddi10.queries.counters import ActiveCounters, check_counter, check_counter_info
from dp2emu.ddi10.queries.query import Queries
from dp2emu.ddi10.queries.statistics import Statistics, statistics
from dp2emu.ddi10.resources.maps import Maps
from dp2emu.ddi10.resources.residency import QueryResidencyCb
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.ddi10.resources.transfers import Transfers
from dp2emu.ddi10.resources.unordered_access import UnorderedViews
from dp2emu.ddi10.resources.views import Views
from dp2emu.ddi10.shaders.stages import Stages
from dp2emu.ddi10.shared_resources import SharedResources
from dp2emu.ddi10.states.bindings import StateSetters
from dp2emu.ddi10.states.input_layout import ElementLayouts
from dp2emu.ddi10.states.state_objects import States
from dp2emu.errors import ArgumentError, Dp2Error, Fault, Unsupported
from dp2emu.gpu.command.packets import Observe
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
"""The first interface version that has a DDI function, by the function's name without ``pfn``."""

DXGI_FUNCTIONS = (
    "Present",
    "GetGammaCaps",
    "SetDisplayMode",
    "SetResourcePriority",
    "QueryResourceResidency",
    "RotateResourceIdentities",
    "Blt",
)
"""Names of the DXGI functions of a device, without ``pfn``; each returns an HRESULT."""

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
"""Names of the DDI functions whose commands the predicate of SetPredication can skip (Direct3D
10/11 DDI, "Predication"); maps, state setters, queries and flushes always execute."""

_REMOVED = DdiCode.D3DDDIERR_DEVICEREMOVED

_MEMORY, _STILL = DdiCode.E_OUTOFMEMORY, DdiCode.DXGI_DDI_ERR_WASSTILLDRAWING

_INFALLIBLE = ("Calc", "Destroy", "Check", "RelocateDeviceFuncs", "RecycleDestroy")
"""DDI functions whose names begin with one of these never call pfnSetErrorCb."""

_CREATING = ("Create", "Open", "RecycleCreate")
"""DDI functions whose names begin with one of these create objects and may report
E_OUTOFMEMORY."""

_SPECIAL: dict[str, frozenset[DdiCode]] = {
    "CreateQuery": frozenset({_MEMORY, DdiCode.DXGI_DDI_ERR_NONEXCLUSIVE, _REMOVED}),
    "QueryGetData": frozenset({_STILL, _REMOVED}),
    "CheckCounter": frozenset({DdiCode.DXGI_DDI_ERR_UNSUPPORTED, DdiCode.E_INVALIDARG}),
    "ResourceMap": frozenset({_STILL, _MEMORY, _REMOVED}),
    "StagingResourceMap": frozenset({_STILL, _REMOVED}),
}


def _may_report(name: str) -> frozenset[DdiCode]:
    if name in _SPECIAL:
        return _SPECIAL[name]
    if name.startswith(_INFALLIBLE):
        return frozenset()
    if name.startswith(_CREATING) or name.endswith("MapDiscard"):
        return frozenset({_MEMORY, _REMOVED})
    return frozenset({_REMOVED})


MAY_REPORT: dict[str, frozenset[DdiCode]] = {name: _may_report(name) for name in SINCE}
"""Error codes that a DDI function may pass to pfnSetErrorCb, by the function's name without
``pfn``."""


def names_of(interface: Interface) -> tuple[str, ...]:
    """Names of the DDI functions of an interface version, without ``pfn``."""
    return tuple(name for name, since in SINCE.items() if since <= interface)


class DeviceObjects:
    """Resources, views, states, shaders and bindings of a device.  Mutable.

    The DDI functions of these objects act on them.
    """

    def __init__(self, context: Context, query_residency: QueryResidencyCb) -> None:
        self._contract = context.contract
        self.commands = context.commands
        self.resources = Resources(context)
        self.views = Views(context, self.resources)
        self.unordered = UnorderedViews(context, self.resources)
        self.states = States(context)
        self.layouts = ElementLayouts(context)
        self.stages = Stages(context, self.resources, self.views, self.states)
        self.setters = StateSetters(
            context, self.resources, self.views, self.states, self.layouts, self.unordered
        )
        self.dxgi = Dxgi(context, self.resources, query_residency)
        self.compute = Compute(context, self.resources, self.stages, self.unordered)
        self.draws = Draws(context, self.resources, self.stages, self.setters.bindings)
        self._owners = (
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
            Transfers(context, self.resources, self.views),
            self.draws,
            self.compute,
        )

    def __len__(self) -> int:
        """Number of live objects of the device, queries excluded."""
        return sum(map(len, self.tables()))

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """All DDI functions of a device, by name without ``pfn``."""
        functions: dict[str, Callable[..., Any]] = {
            "CheckFormatSupport": check_format_support,
            "CheckMultisampleQualityLevels": check_multisample_quality_levels,
            "RelocateDeviceFuncs": _do_nothing,
            "SetTextFilterSize": _do_nothing,
        }
        for part in (*self._owners, *self._users):
            functions |= part.entries()
        return functions | {"DestroyResource": self._destroy_resource}

    def _destroy_resource(self, memory: bytearray) -> None:
        """DestroyResource; its views must be destroyed before."""
        entry = "DestroyResource"
        resource = self.resources.objects.open(memory, entry)
        left = id(resource) in self.resources.views_of
        self._contract.check(not left, Rule.VIEWS_LEFT, entry)
        self.resources.destroy(memory)

    def tables(self) -> tuple[Objects[Any], ...]:
        """The tables of live objects of each type, queries excluded."""
        views, states = self.views, self.states
        return (
            *views.all(),
            self.unordered.objects,
            *(states.blends, states.depths, states.rasterizers, states.samplers),
            *(self.layouts.objects, self.stages.objects, self.resources.objects),
        )


def _do_nothing(*given: object) -> None:
    """Implement RelocateDeviceFuncs and SetTextFilterSize, which need no work.

    The function table cannot move here, and one-bit textures are filtered like any others.
    """


class _Table(dict[str, Callable[..., Any]]):
    """Functions by name; an unknown name raises ArgumentError."""

    def __missing__(self, name: object) -> Callable[..., Any]:
        raise ArgumentError(f"the Direct3D 10/11 interface has no function {name!r:.60}")


_PARAMETERS: dict[tuple[str, Any], Parameters] = {}
"""Parameters of DDI functions by name and code, read at the first call by any device."""


def _parameters(name: str, entry: Callable[..., Any]) -> Parameters:
    key = name, plain_function(entry).__code__
    found = _PARAMETERS.get(key)
    if found is None:
        found = _PARAMETERS[key] = Parameters(entry, name)
    return found


class _Function:
    """A DDI function of a device; ``entry`` implements it, and its parameters are read at the
    first call.  Mutable.
    """

    __slots__ = ("entry", "name", "parameters", "predicated")

    def __init__(self, name: str, entry: Callable[..., Any] | None) -> None:
        self.name, self.entry = name, entry
        self.parameters: Parameters | None = None
        self.predicated = name in PREDICATED


class Host(Protocol):
    """What a device needs of its adapter: GPU, contract, active counters, shared resources."""

    gpu: Gpu
    contract: Contract
    active_counters: ActiveCounters
    shared: SharedResources[Any]

    def count_call(self) -> bool:
        """Count a DDI call; returns whether the adapter is still present."""


@checked
class Device:
    """A device of one interface version.  Mutable: its functions act on it.

    ``functions`` maps the function names of the interface version, without ``pfn``, to callables;
    a function that is not implemented raises Unsupported.  ``dxgi_functions`` are the DXGI
    functions, which return HRESULTs.  ``entries`` and ``dxgi_entries`` are the implementations,
    whose annotations type the arguments: a call with others, too few or too many, and an unknown
    name raise ArgumentError.
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
            adapter.gpu, self._commands, interface, adapter.contract, adapter.active_counters
        )
        context = Context(adapter.gpu, self._commands, adapter.contract, interface, adapter.shared)
        self._parts = DeviceObjects(context, query_residency)
        self.entries = built = self._built()
        self.functions: Mapping[str, Callable[..., Any]] = MappingProxyType(
            _Table(
                (name, partial(self._call, _Function(name, built.get(name))))
                for name in names_of(interface)
            )
        )

        self.dxgi_entries = dxgi = self._parts.dxgi.entries()
        self.dxgi_functions: Mapping[str, Callable[..., int]] = MappingProxyType(
            _Table((name, partial(self._call_dxgi, name, dxgi[name])) for name in DXGI_FUNCTIONS)
        )

    @property
    def destroyed(self) -> bool:
        """Whether DestroyDevice was called."""
        return self._destroyed

    @property
    def target(self) -> Surface | None:
        """The first render target, None if it is unbound."""
        view = self._parts.setters.bindings.targets[0]
        return view.surface() if view is not None else None

    @property
    def targets(self) -> tuple[Surface, ...]:
        """The surfaces of all bound render target and depth-stencil views, each slice's."""
        at = self._parts.setters.bindings
        views = (view for view in (*at.targets, at.depth) if view is not None)
        return tuple(surface for view in views for surface in view.surfaces())

    @property
    def shown(self) -> Surface | None:
        """The surface on the screen, None before the first Present."""
        shown = self._parts.dxgi.shown
        return shown[0].surface if shown is not None else None

    @property
    def parts(self) -> DeviceObjects:
        """The objects and bindings of the device, for inspection."""
        return self._parts

    @property
    def commands(self) -> Commands:
        """The command buffer of the device, for inspection."""
        return self._commands

    @property
    def counters(self) -> Counters:
        """The counters of the device's draws, up to the GPU's present time."""
        return self._commands.counters

    def resource(self, memory: bytearray) -> Resource | None:
        """The resource whose handle is ``memory``, None if there is none."""
        return self._parts.resources.objects.get(memory)

    def observe(self, surface: Surface, sink: Callable[[Surface], None]) -> None:
        """Pass ``surface`` to ``sink`` once all commands recorded before are executed.

        This takes no time, and no commands are flushed for it.
        """
        self._commands.add(Observe(surface, sink))

    def flush(self) -> None:
        """Submit the recorded commands to the GPU, without a call by the runtime."""
        self._commands.flush()

    def kernel_handle(self, resource: bytearray) -> int:
        """The kernel handle of a shared ``resource`` for OpenResource, 0 if it is not shared.

        Raises ContractError for a handle that is no resource.
        """
        return self._parts.resources.objects.open(resource, "kernel_handle").shared

    def statistics(self) -> Statistics:
        """The pipeline statistics since the device was created, up to the GPU's present time."""
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

    def _call(self, of: _Function, *arguments: Any) -> Any:
        """Call a DDI function; None if it reports an error."""
        host, name, entry = self._adapter, of.name, of.entry
        if self._destroyed:
            host.contract.check(False, Rule.LIVE_DEVICE, name)
        if entry is None:
            raise Unsupported(f"{name} of the Direct3D 10/11 interface")
        parameters = of.parameters
        if parameters is None:
            parameters = of.parameters = _parameters(name, entry)
        parameters.check_all(arguments)
        host.gpu.begin_call()
        if not host.count_call() and _REMOVED in MAY_REPORT[name]:
            return self._set_error(self._core_layer, _REMOVED)
        self._commands.predicated = of.predicated
        try:
            return entry(*arguments)
        except Fault as fault:
            assert fault.hr in MAY_REPORT[name]
            return self._set_error(self._core_layer, fault.hr)
        except Dp2Error:
            raise
        except FOREIGN:
            parameters.check_contents(arguments, {})
            raise

    def _call_dxgi(self, name: str, entry: Callable[..., int], *arguments: Any) -> int:
        """Call a DXGI function; returns its HRESULT."""
        self._adapter.contract.check(not self._destroyed, Rule.LIVE_DEVICE, name)
        parameters = _parameters(name, entry)
        parameters.check_all(arguments)
        self._adapter.gpu.begin_call()
        if not self._adapter.count_call():
            return DdiCode.D3DDDIERR_DEVICEREMOVED
        try:
            return entry(*arguments)
        except Fault as fault:
            return fault.hr
        except Dp2Error:
            raise
        except FOREIGN:
            parameters.check_contents(arguments, {})
            raise

    def _destroy(self) -> None:
        self._adapter.contract.check(not self.queries, Rule.QUERIES_LEFT, "DestroyDevice")
        self._adapter.contract.check(not len(self._parts), Rule.OBJECTS_LEFT, "DestroyDevice")
        self.queries.destroy_all()
        self._parts.resources.destroy_all()
        self._commands.abandon()
        self._destroyed = True
