"""Factories, adapters, outputs, devices and surfaces of DXGI."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments, flattened, integer
from dp2emu.retrace.d3d11 import lifetimes
from dp2emu.retrace.d3d11.maps import begin_map, end_map
from dp2emu.retrace.d3d11.objects import RESOURCES, owner_of, record, this_of
from dp2emu.retrace.program import NO_EFFECT, Program, inert, lost, method
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import DxgiResource, SurfaceDesc, SwapChain, dxgi_device
from dp2emu.runtime10.dxgi.surface import map_kind
from dp2emu.runtime10.objects import DeviceChild, Resource, Texture2D

_DEVICES = "IDXGIDevice"
_ADAPTERS = "IDXGIAdapter"
_FACTORIES = "IDXGIFactory"
_OUTPUTS = "IDXGIOutput"
_SURFACES = "IDXGISurface"
_RESOURCES = "IDXGIResource"
_MUTEXES = "IDXGIKeyedMutex"
_GENERAL = "IDXGIObject IDXGIDeviceSubObject"
_PARTS = f"{_SURFACES} {_RESOURCES} {_MUTEXES}"
_SYSTEM = f"{_ADAPTERS} {_FACTORIES} {_OUTPUTS} IDXGIOutputDuplication"
_DEBUG = "IDXGIDebug IDXGIInfoQueue"
_OBJECT = "AddRef GetParent SetPrivateData SetPrivateDataInterface GetPrivateData"

inert("", "CreateDXGIFactory CreateDXGIFactory1 CreateDXGIFactory2", NO_EFFECT)
inert("", "DXGIGetDebugInterface DXGIGetDebugInterface1", NO_EFFECT)
inert("", "DXGIDeclareAdapterRemovalSupport DXGIDisableVBlankVirtualization", NO_EFFECT)
inert(f"{_DEVICES} {_PARTS} {_GENERAL} {_SYSTEM}", _OBJECT, NO_EFFECT)
inert(_SYSTEM, "QueryInterface Release", NO_EFFECT)
inert(f"{_DEBUG} IDXGIFactoryMedia", "QueryInterface AddRef Release", NO_EFFECT)

# Devices

inert(
    _DEVICES,
    "GetAdapter QueryResourceResidency SetGPUThreadPriority GetGPUThreadPriority "
    "SetMaximumFrameLatency GetMaximumFrameLatency EnqueueSetEvent Trim",
    NO_EFFECT,
)
inert(
    _DEVICES,
    "OfferResources ReclaimResources OfferResources1 ReclaimResources1",
    "Has no effect on the driver: resources keep their contents.",
)


@method(_DEVICES, "CreateSurface")
def create_surface(program: Program, call: Arguments) -> None:
    """Creates textures."""
    device, desc = call.thing("this", Device), record(call.value("pDesc"), SurfaceDesc)
    addresses = [integer(each) for each in flattened(call.value("ppSurface"))]
    usage = call.integer("Usage")
    made = dxgi_device(device).create_surface(desc, len(addresses), usage)
    for address, surface in zip(addresses, made, strict=True):
        call.objects.bind(address, surface.texture, call.number)


@method(f"{_DEVICES} {_PARTS} {_GENERAL}", "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    lifetimes.query_interface(program, call)


@method(f"{_DEVICES} {_PARTS} {_GENERAL}", "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys the device, texture or swap chain with the last reference."""
    # Factories, adapters and outputs are not known.
    if call.objects.get(call.address("this")) is not None:
        lifetimes.release(program, call)


@method(f"{_PARTS} IDXGIDeviceSubObject", "GetDevice")
def get_device(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the device."""
    thing = this_of(call)
    device = owner_of(thing) if isinstance(thing, DeviceChild) else _of_chain(call)
    call.bind(call.placed(2), device)


def _of_chain(call: Arguments) -> Device:
    return call.thing("this", SwapChain).get_device()


# Adapters, factories and outputs

inert(
    _ADAPTERS,
    "EnumOutputs GetDesc GetDesc1 GetDesc2 GetDesc3 CheckInterfaceSupport QueryVideoMemoryInfo "
    "SetVideoMemoryReservation RegisterHardwareContentProtectionTeardownStatusEvent "
    "UnregisterHardwareContentProtectionTeardownStatus "
    "RegisterVideoMemoryBudgetChangeNotificationEvent "
    "UnregisterVideoMemoryBudgetChangeNotification",
    NO_EFFECT,
)
inert(
    _FACTORIES,
    "EnumAdapters EnumAdapters1 MakeWindowAssociation GetWindowAssociation IsCurrent "
    "CreateSoftwareAdapter IsWindowedStereoEnabled GetCreationFlags CheckFeatureSupport "
    "EnumAdapterByLuid EnumWarpAdapter EnumAdapterByGpuPreference GetSharedResourceAdapterLuid "
    "RegisterStereoStatusWindow RegisterStereoStatusEvent UnregisterStereoStatus "
    "RegisterOcclusionStatusWindow RegisterOcclusionStatusEvent UnregisterOcclusionStatus "
    "RegisterAdaptersChangedEvent UnregisterAdaptersChangedEvent",
    NO_EFFECT,
)
inert(
    _OUTPUTS,
    "GetDesc GetDesc1 GetDisplayModeList GetDisplayModeList1 FindClosestMatchingMode "
    "FindClosestMatchingMode1 WaitForVBlank TakeOwnership ReleaseOwnership "
    "GetGammaControlCapabilities GetGammaControl GetFrameStatistics SupportsOverlays "
    "CheckOverlaySupport CheckOverlayColorSpaceSupport CheckHardwareCompositionSupport",
    NO_EFFECT,
)
inert(_OUTPUTS, "SetGammaControl", "Changes what the screen shows, not the back buffers.")
lost(
    _OUTPUTS,
    "SetDisplaySurface GetDisplaySurfaceData GetDisplaySurfaceData1 DuplicateOutput "
    "DuplicateOutput1",
    "what the screen shows",
)
inert(
    "IDXGIOutputDuplication",
    "GetDesc GetFrameDirtyRects GetFrameMoveRects GetFramePointerShape UnMapDesktopSurface "
    "ReleaseFrame",
    NO_EFFECT,
)
lost("IDXGIOutputDuplication", "AcquireNextFrame MapDesktopSurface", "what the screen shows")

# Surfaces and resources

inert(_SURFACES, "GetDesc", NO_EFFECT)
inert(_RESOURCES, "GetUsage GetEvictionPriority", NO_EFFECT)
inert(
    _MUTEXES,
    "AcquireSync ReleaseSync",
    "Orders the work of devices, whose calls are in order already.",
)
lost(_SURFACES, "GetDC ReleaseDC", "drawing by GDI")
lost(_RESOURCES, "CreateSubresourceSurface", "a surface of one of several subresources")


@method(_SURFACES, "Map")
def map_surface(program: Program, call: Arguments) -> None:
    """Maps a texture; a picture record if the program reads it."""
    texture, given = call.thing("this", Texture2D), call.struct(call.placed(1))
    kind, pitch = map_kind(call.integer("MapFlags")), integer(given["Pitch"])
    place = integer(given["pBits"]), (pitch, 0)
    begin_map(program, call, owner_of(texture).context, texture, kind, *place)


@method(_SURFACES, "Unmap")
def unmap_surface(program: Program, call: Arguments) -> None:
    """Unmaps a texture, which writes the stored bytes."""
    texture = call.thing("this", Texture2D)
    end_map(program, call, owner_of(texture).context, texture)


@method(_SURFACES, "GetResource")
def get_resource(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the address means the texture."""
    call.bind(call.placed(2), call.thing("this", Texture2D))


@method(f"{_RESOURCES} {RESOURCES}", "SetEvictionPriority")
def set_eviction_priority(program: Program, call: Arguments) -> None:
    """Sets the priority of the resource's memory."""
    DxgiResource(call.thing("this", Resource)).set_eviction_priority(call.integer(call.placed(1)))


# Debugging

inert(
    "IDXGIDebug",
    "ReportLiveObjects EnableLeakTrackingForThread DisableLeakTrackingForThread "
    "IsLeakTrackingEnabledForThread",
    NO_EFFECT,
)
inert(
    "IDXGIInfoQueue",
    "SetMessageCountLimit ClearStoredMessages GetMessage "
    "GetNumStoredMessagesAllowedByRetrievalFilters GetNumStoredMessages "
    "GetNumMessagesDiscardedByMessageCountLimit GetMessageCountLimit "
    "GetNumMessagesAllowedByStorageFilter GetNumMessagesDeniedByStorageFilter "
    "AddStorageFilterEntries GetStorageFilter ClearStorageFilter PushEmptyStorageFilter "
    "PushDenyAllStorageFilter PushCopyOfStorageFilter PushStorageFilter PopStorageFilter "
    "GetStorageFilterStackSize AddRetrievalFilterEntries GetRetrievalFilter "
    "ClearRetrievalFilter PushEmptyRetrievalFilter PushDenyAllRetrievalFilter "
    "PushCopyOfRetrievalFilter PushRetrievalFilter PopRetrievalFilter "
    "GetRetrievalFilterStackSize AddMessage AddApplicationMessage SetBreakOnCategory "
    "SetBreakOnSeverity SetBreakOnID GetBreakOnCategory GetBreakOnSeverity GetBreakOnID "
    "SetMuteDebugOutput GetMuteDebugOutput",
    "Concerns messages of DXGI for tools.",
)
