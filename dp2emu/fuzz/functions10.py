"""Functions of programs of Direct3D 10 and 11 that are methods of no object: QueryInterface for
interfaces of DXGI, and functions that create factories, devices and swap chains.
"""

from __future__ import annotations

from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import (
    DxgiDevice,
    DxgiResource,
    Factory,
    Surface,
    SwapChain,
    SwapChainDesc,
    SwapChainDesc1,
    Window,
    create_device_and_swap_chain,
    create_dxgi_factory1,
    create_dxgi_factory2,
    dxgi_device,
)
from dp2emu.runtime10.objects import Resource


class Functions:
    """The functions that a program with a ``device`` calls."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._adapter = device.driver.adapter

    def dxgi_device(self) -> DxgiDevice:
        """QueryInterface of the device for IDXGIDevice."""
        return dxgi_device(self._device)

    def surface(self, resource: Resource) -> Surface:
        """QueryInterface of a resource for IDXGISurface."""
        return Surface(resource)

    def dxgi_resource(self, resource: Resource) -> DxgiResource:
        """QueryInterface of a resource for IDXGIResource."""
        return DxgiResource(resource)

    def create_dxgi_factory1(self) -> Factory:
        """CreateDXGIFactory1, with the adapter of the device."""
        return create_dxgi_factory1(self._adapter)

    def create_dxgi_factory2(self, flags: int) -> Factory:
        """CreateDXGIFactory2, with the adapter of the device."""
        return create_dxgi_factory2(flags, self._adapter)

    def create_swap_chain(self, desc: SwapChainDesc1) -> SwapChain:
        """CreateSwapChainForHwnd of the device's factory, for a window of its own."""
        factory = dxgi_device(self._device).get_adapter().get_parent()
        return factory.create_swap_chain_for_hwnd(self._device, Window(16, 16), desc)

    def create_device_and_swap_chain(self, desc: SwapChainDesc) -> tuple[SwapChain, Device]:
        """D3D11CreateDeviceAndSwapChain on the adapter of the device."""
        return create_device_and_swap_chain(desc, self._adapter, self._device.api)
