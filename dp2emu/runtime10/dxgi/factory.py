"""IDXGIFactory and IDXGIAdapter: adapters of drivers, and swap chains.

Source: the DXGI documentation of IDXGIFactory to IDXGIFactory7 and IDXGIAdapter to IDXGIAdapter4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.argument_check import checked
from dp2emu.ddi10.adapter import Adapter as DdiAdapter
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.driver_device import Adapter, Functions
from dp2emu.runtime10.dxgi.descriptions import (
    AdapterDesc,
    Luid,
    SwapChainDesc,
    SwapChainDesc1,
    SwapChainFullscreenDesc,
    Window,
    WindowAssociation,
)
from dp2emu.runtime10.dxgi.objects import DxgiObject
from dp2emu.runtime10.dxgi.output import Output
from dp2emu.runtime10.dxgi.swap_chain import SwapChain

DESCRIPTION = "dp2emu"
"""The name of every adapter."""
MEMORY = 256 << 20
"""Bytes of video memory, and of shared memory, that an adapter reports."""
UMD_VERSION = 1 << 32
"""The driver's version in the form of CheckInterfaceSupport: 0.1.0.0."""
_CHECKED = ("IDXGIDevice", "ID3D10Device", "ID3D10Device1")
"""The interfaces that CheckInterfaceSupport knows; no interface of Direct3D 11 is among them."""
_TEARING = 0
"""DXGI_FEATURE_PRESENT_ALLOW_TEARING."""
_DEBUG = 1
"""DXGI_CREATE_FACTORY_DEBUG."""
_MAX_FLAGS = int(sum(WindowAssociation))


@checked
class DxgiAdapter(DxgiObject):
    """IDXGIAdapter of a factory over a driver's adapter, ``driver``; devices can be created with
    it, as with the driver's.
    """

    def __init__(self, factory: Factory, driver: Adapter, number: int) -> None:
        super().__init__()
        self._factory = factory
        self.driver = driver
        self._number = number
        self.outputs = [Output(self, number)]

    def get_parent(self) -> Factory:
        """GetParent: the factory, with a reference more."""
        self._factory.add_ref()
        return self._factory

    def get_desc(self) -> AdapterDesc:
        """GetDesc, GetDesc1, GetDesc2 and GetDesc3."""
        return AdapterDesc(DESCRIPTION, 0, 0, 0, 0, MEMORY, 0, MEMORY, Luid(self._number + 1))

    def enum_outputs(self, output: int) -> Output:
        """EnumOutputs: an output, with a reference more.  Raises Refused (DXGI_ERROR_NOT_FOUND)
        behind the last one.
        """
        if not 0 <= output < len(self.outputs):
            raise Refused(Result.DXGI_ERROR_NOT_FOUND, f"output {output}")
        self.outputs[output].add_ref()
        return self.outputs[output]

    def check_interface_support(self, interface: str) -> int:
        """CheckInterfaceSupport of an interface by its name: the version of the driver.

        Raises Refused (DXGI_ERROR_UNSUPPORTED) for interfaces other than Direct3D 10.
        """
        if interface not in _CHECKED:
            raise Refused(Result.DXGI_ERROR_UNSUPPORTED, f"{interface:.60} of an adapter")
        return UMD_VERSION

    def query_video_memory_info(self, node: int, group: int) -> Any:
        """QueryVideoMemoryInfo of a ``node`` and memory ``group``.  Raises Unsupported."""
        raise Unsupported("QueryVideoMemoryInfo")

    # The driver's adapter

    def create_device(
        self, interface: int, set_error: Callable[[int, int], None], core_layer: int = 0
    ) -> Functions:
        """CreateDevice of the driver's adapter: ``interface`` is the version, ``set_error`` is
        called with ``core_layer`` and a code.
        """
        return self.driver.create_device(interface, set_error, core_layer)

    def get_caps(self, type: int, data: bytearray) -> int:
        """GetCaps of the driver's adapter: ``data`` of a ``type``."""
        return self.driver.get_caps(type, data)

    def finish(self) -> None:
        """Let time pass until the GPU is idle."""
        self.driver.finish()


@checked
class Factory(DxgiObject):
    """IDXGIFactory of drivers' adapters.  Mutable: it knows the windows of swap chains."""

    def __init__(self, *adapters: Adapter) -> None:
        super().__init__()
        self.adapters = [DxgiAdapter(self, each, n) for n, each in enumerate(adapters)]
        self._chains: list[SwapChain] = []
        self._associated: Window | None = None
        self.creation_flags = 0

    def enum_adapters(self, adapter: int) -> DxgiAdapter:
        """EnumAdapters and EnumAdapters1: an adapter, with a reference more.  Raises Refused
        (DXGI_ERROR_NOT_FOUND) behind the last one.
        """
        if not 0 <= adapter < len(self.adapters):
            raise Refused(Result.DXGI_ERROR_NOT_FOUND, f"adapter {adapter}")
        self.adapters[adapter].add_ref()
        return self.adapters[adapter]

    enum_adapters1 = enum_adapters

    def enum_adapter_by_gpu_preference(self, adapter: int, preference: int) -> DxgiAdapter:
        """EnumAdapterByGpuPreference: ``adapter`` as in ``enum_adapters``, whatever the
        ``preference``.
        """
        return self.enum_adapters(adapter)

    def enum_adapter_by_luid(self, luid: Luid) -> DxgiAdapter:
        """EnumAdapterByLuid.  Raises Refused (DXGI_ERROR_NOT_FOUND) if no adapter has it."""
        return self.enum_adapters(luid.LowPart - 1 if not luid.HighPart else -1)

    def enum_warp_adapter(self) -> DxgiAdapter:
        """EnumWarpAdapter.  Raises Unsupported."""
        raise Unsupported("EnumWarpAdapter")

    def create_software_adapter(self, module: Any) -> DxgiAdapter:
        """CreateSoftwareAdapter of a ``module``.  Raises Unsupported."""
        raise Unsupported("CreateSoftwareAdapter")

    # Swap chains

    def create_swap_chain(self, device: Device, desc: SwapChainDesc) -> SwapChain:
        """CreateSwapChain.

        A swap chain for full-screen mode, which is not available, stays in its window.  Raises
        Refused (DXGI_ERROR_INVALID_CALL) for a description that DXGI rejects or without a window.
        """
        mode, window = desc.BufferDesc, desc.OutputWindow
        if window is None:
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, "a swap chain without a window")
        described = SwapChainDesc1(
            mode.Width, mode.Height, mode.Format, 0, desc.SampleDesc, desc.BufferUsage,
            desc.BufferCount, SwapEffect=desc.SwapEffect, Flags=desc.Flags,
        )  # fmt: skip
        shown = SwapChainFullscreenDesc(
            mode.RefreshRate, mode.ScanlineOrdering, mode.Scaling, desc.Windowed
        )
        return self.create_swap_chain_for_hwnd(device, window, described, shown)

    def create_swap_chain_for_hwnd(
        self,
        device: Device,
        window: Window,
        desc: SwapChainDesc1,
        fullscreen_desc: SwapChainFullscreenDesc | None = None,
        restrict_to_output: Output | None = None,
    ) -> SwapChain:
        """CreateSwapChainForHwnd; a swap chain for full-screen mode stays in its window.

        Raises Refused: DXGI_ERROR_INVALID_CALL for a description that DXGI rejects,
        E_ACCESSDENIED for a second swap chain of the flip model in a window; and Unsupported for
        an output.
        """
        if fullscreen_desc is not None:
            fullscreen_desc = fullscreen_desc._replace(Windowed=1)
        if restrict_to_output is not None:
            raise Unsupported("swap chains that are restricted to an output")
        return self._created(device, desc, window, fullscreen_desc)

    def create_swap_chain_for_composition(
        self, device: Device, desc: SwapChainDesc1, restrict_to_output: Output | None = None
    ) -> SwapChain:
        """CreateSwapChainForComposition: a swap chain without a window.

        Raises Refused (DXGI_ERROR_INVALID_CALL) for a description that DXGI rejects, such as one
        without the flip model or without a size, and Unsupported for an output.
        """
        if restrict_to_output is not None:
            raise Unsupported("swap chains that are restricted to an output")
        return self._created(device, desc, None, None)

    def create_swap_chain_for_core_window(
        self, device: Device, window: Window, desc: SwapChainDesc1
    ) -> SwapChain:
        """CreateSwapChainForCoreWindow.  Raises Unsupported."""
        raise Unsupported("CreateSwapChainForCoreWindow")

    def _created(
        self,
        device: Device,
        desc: SwapChainDesc1,
        window: Window | None,
        mode: SwapChainFullscreenDesc | None,
    ) -> SwapChain:
        self._chains = [each for each in self._chains if each.references]
        made = SwapChain(self, device, desc, window, self.adapters[0].outputs[0], mode)
        if window is None and not made.flips:
            made.release()
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, "composition without the flip model")
        if made.flips and any(each.flips and each.window is window for each in self._chains):
            made.release()
            raise Refused(Result.E_ACCESSDENIED, "a window has one swap chain of the flip model")
        self._chains.append(made)
        return made

    # Windows and features

    def make_window_association(self, window: Window | None, flags: int) -> None:
        """MakeWindowAssociation: DXGI watches a window, less the messages of ``flags``
        (``WindowAssociation``); None ends it.

        Raises Refused (DXGI_ERROR_INVALID_CALL) for unknown flags.
        """
        if not 0 <= flags <= _MAX_FLAGS:
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, f"flags {flags:#x}")
        self._associated = window

    def get_window_association(self) -> Window | None:
        """GetWindowAssociation: the window that is watched."""
        return self._associated

    def is_current(self) -> bool:
        """IsCurrent: True, since adapters do not come and go."""
        return True

    def is_windowed_stereo_enabled(self) -> bool:
        """IsWindowedStereoEnabled: False."""
        return False

    def get_creation_flags(self) -> int:
        """GetCreationFlags: the flags of CreateDXGIFactory2."""
        return self.creation_flags

    def check_feature_support(self, feature: int) -> int:
        """CheckFeatureSupport: 1 for ``feature`` 0, DXGI_FEATURE_PRESENT_ALLOW_TEARING.

        Raises Refused (DXGI_ERROR_INVALID_CALL) for others.
        """
        if feature != _TEARING:
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, f"DXGI_FEATURE {feature}")
        return 1


@checked
def create_dxgi_factory(*adapters: Adapter) -> Factory:
    """CreateDXGIFactory and CreateDXGIFactory1: a factory of drivers' adapters, by default of a
    new one.
    """
    return Factory(*(adapters or (DdiAdapter(),)))


create_dxgi_factory1 = create_dxgi_factory


@checked
def create_dxgi_factory2(flags: int, *adapters: Adapter) -> Factory:
    """CreateDXGIFactory2, with DXGI_CREATE_FACTORY_DEBUG or no flags.

    Raises Refused (E_INVALIDARG) for other flags.
    """
    if flags & ~_DEBUG:
        raise Refused(Result.E_INVALIDARG, f"flags {flags:#x}")
    made = create_dxgi_factory(*adapters)
    made.creation_flags = flags
    return made


@checked
def create_device_and_swap_chain(
    desc: SwapChainDesc,
    adapter: Adapter | None = None,
    api: Api = Api.D3D11,
    feature_level: int | None = None,
) -> tuple[SwapChain, Device]:
    """D3D11CreateDeviceAndSwapChain and D3D10CreateDeviceAndSwapChain: a device on an adapter, by
    default a new one, and a swap chain of the adapter's factory.

    ``feature_level`` is a D3D_FEATURE_LEVEL.  Raises as ``Device`` and
    ``Factory.create_swap_chain`` do.
    """
    if not isinstance(adapter, DxgiAdapter):
        adapter = create_dxgi_factory(*(() if adapter is None else (adapter,))).adapters[0]
    device = Device(adapter, api, feature_level)
    return adapter.get_parent().create_swap_chain(device, desc), device
