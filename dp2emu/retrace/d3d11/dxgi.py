"""Factories, adapters, outputs and devices of DXGI."""

from __future__ import annotations

from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d11 import lifetimes
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method

_DEVICES = "IDXGIDevice"
_ADAPTERS = "IDXGIAdapter"
_FACTORIES = "IDXGIFactory"
_OUTPUTS = "IDXGIOutput"
_ALL = f"{_DEVICES} {_ADAPTERS} {_FACTORIES} {_OUTPUTS}"

inert("", "CreateDXGIFactory CreateDXGIFactory1 CreateDXGIFactory2", NO_EFFECT)
inert(_ALL, "AddRef GetParent SetPrivateData SetPrivateDataInterface GetPrivateData", NO_EFFECT)
inert(
    _DEVICES,
    "GetAdapter CreateSurface QueryResourceResidency SetGPUThreadPriority GetGPUThreadPriority "
    "SetMaximumFrameLatency GetMaximumFrameLatency EnqueueSetEvent Trim",
    NO_EFFECT,
)
inert(_ADAPTERS, "EnumOutputs GetDesc GetDesc1 GetDesc2 CheckInterfaceSupport", NO_EFFECT)
inert(
    _FACTORIES,
    "EnumAdapters EnumAdapters1 MakeWindowAssociation GetWindowAssociation IsCurrent "
    "CreateSoftwareAdapter IsWindowedStereoEnabled GetCreationFlags CheckFeatureSupport "
    "EnumAdapterByLuid EnumWarpAdapter EnumAdapterByGpuPreference",
    NO_EFFECT,
)
inert(f"{_ADAPTERS} {_FACTORIES} {_OUTPUTS}", "QueryInterface Release", NO_EFFECT)


@method(_DEVICES, "QueryInterface")
def query_interface(program: Program, call: Arguments) -> None:
    """Nothing for the driver: the new address means the same object."""
    if call.has("ppvObj"):
        call.bind("ppvObj", call.thing("this", object))


@method(_DEVICES, "Release")
def release(program: Program, call: Arguments) -> None:
    """Destroys the device with the last reference."""
    lifetimes.release(program, call)
