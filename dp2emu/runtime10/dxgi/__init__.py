"""DXGI for applications: factories, adapters, outputs, swap chains and surfaces.

``create_dxgi_factory`` is the start; ``dxgi_device`` is QueryInterface of a device.
"""

from dp2emu.runtime10.descriptions import Rect, SampleDesc
from dp2emu.runtime10.dxgi.descriptions import (
    AdapterDesc,
    BufferUsage,
    FrameStatistics,
    MapFlag,
    MappedRect,
    ModeDesc,
    OutputDesc,
    Point,
    PresentFlag,
    PresentParameters,
    Rational,
    SurfaceDesc,
    SwapChainDesc,
    SwapChainDesc1,
    SwapChainFlag,
    SwapChainFullscreenDesc,
    SwapEffect,
    Window,
    WindowAssociation,
)
from dp2emu.runtime10.dxgi.device import DxgiDevice, dxgi_device
from dp2emu.runtime10.dxgi.factory import (
    DxgiAdapter,
    Factory,
    create_device_and_swap_chain,
    create_dxgi_factory,
    create_dxgi_factory1,
    create_dxgi_factory2,
)
from dp2emu.runtime10.dxgi.output import Output
from dp2emu.runtime10.dxgi.surface import DxgiResource, Surface
from dp2emu.runtime10.dxgi.swap_chain import SwapChain

__all__ = [
    "AdapterDesc",
    "BufferUsage",
    "DxgiAdapter",
    "DxgiDevice",
    "DxgiResource",
    "Factory",
    "FrameStatistics",
    "MapFlag",
    "MappedRect",
    "ModeDesc",
    "Output",
    "OutputDesc",
    "Point",
    "PresentFlag",
    "PresentParameters",
    "Rational",
    "Rect",
    "SampleDesc",
    "Surface",
    "SurfaceDesc",
    "SwapChain",
    "SwapChainDesc",
    "SwapChainDesc1",
    "SwapChainFlag",
    "SwapChainFullscreenDesc",
    "SwapEffect",
    "Window",
    "WindowAssociation",
    "create_device_and_swap_chain",
    "create_dxgi_factory",
    "create_dxgi_factory1",
    "create_dxgi_factory2",
    "dxgi_device",
]
