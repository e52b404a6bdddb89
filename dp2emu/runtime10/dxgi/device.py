"""IDXGIDevice: a device of Direct3D 10 or 11 as DXGI sees it.

Source: the DXGI documentation of IDXGIDevice to IDXGIDevice3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dp2emu.argument_check import checked
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.descriptions import Texture2DDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi.descriptions import SurfaceDesc
from dp2emu.runtime10.dxgi.factory import DxgiAdapter, create_dxgi_factory
from dp2emu.runtime10.dxgi.objects import DxgiObject
from dp2emu.runtime10.dxgi.surface import Surface, bind_flags_of
from dp2emu.runtime10.enums import Residency
from dp2emu.runtime10.objects import Resource

FRAME_LATENCY = 3
"""The number of frames that a device queues by default."""
MOST_LATENCY = 16
"""The most frames that a device can queue."""
MOST_SURFACES = 1 << 12
"""The most surfaces of a call of CreateSurface."""
MOST_PRIORITY = 7
"""The largest GPU thread priority, and the negative of the smallest."""


@checked
class DxgiDevice(DxgiObject):
    """IDXGIDevice of a ``device``.  Mutable: it has priorities and latencies."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device
        self._priority = 0
        self._latency = FRAME_LATENCY
        driver = device.driver.adapter
        if isinstance(driver, DxgiAdapter):
            self._adapter = driver
        else:
            self._adapter = create_dxgi_factory(driver).adapters[0]

    def get_adapter(self) -> DxgiAdapter:
        """GetAdapter: the adapter that the device was created with, with a reference more."""
        self._adapter.add_ref()
        return self._adapter

    get_parent = get_adapter

    def create_surface(self, desc: SurfaceDesc, count: int, usage: int) -> list[Surface]:
        """CreateSurface: ``count`` surfaces for a ``usage`` (``BufferUsage``).

        Raises Refused (E_OUTOFMEMORY) for more than 4096, and as ``Device.create_texture2d``.
        """
        if count > MOST_SURFACES:
            raise Refused(Result.E_OUTOFMEMORY, f"{count} surfaces")
        described = Texture2DDesc(
            desc.Width, desc.Height, 1, 1, desc.Format, desc.SampleDesc,
            BindFlags=bind_flags_of(usage),
        )  # fmt: skip
        return [Surface(self.device.create_texture2d(described)) for _ in range(count)]

    def query_resource_residency(self, resources: Sequence[Resource]) -> list[Residency]:
        """QueryResourceResidency: where each of the resources is.  Raises as the device's."""
        return self.device.query_resource_residency(resources)

    def set_gpu_thread_priority(self, priority: int) -> None:
        """SetGPUThreadPriority.  Raises Refused (E_INVALIDARG) for a ``priority`` outside of -7 to
        7.
        """
        if not -MOST_PRIORITY <= priority <= MOST_PRIORITY:
            raise Refused(Result.E_INVALIDARG, f"priority {priority}")
        self._priority = priority

    def get_gpu_thread_priority(self) -> int:
        """GetGPUThreadPriority."""
        return self._priority

    def set_maximum_frame_latency(self, latency: int) -> None:
        """SetMaximumFrameLatency; ``latency`` is in frames, 0 is the default, 3.  Raises Refused
        (DXGI_ERROR_INVALID_CALL) for more than 16.
        """
        if not 0 <= latency <= MOST_LATENCY:
            raise Refused(Result.DXGI_ERROR_INVALID_CALL, f"a latency of {latency} frames")
        self._latency = latency or FRAME_LATENCY

    def get_maximum_frame_latency(self) -> int:
        """GetMaximumFrameLatency, in frames."""
        return self._latency

    def offer_resources(self, resources: Sequence[Resource], priority: int) -> None:
        """OfferResources: nothing for any ``priority``, since the memory of ``resources`` need not
        be taken.
        """

    def reclaim_resources(self, resources: Sequence[Resource]) -> list[bool]:
        """ReclaimResources: whether each of the resources lost its contents; none did."""
        return [False] * len(resources)

    def enqueue_set_event(self, event: Any) -> None:
        """EnqueueSetEvent of an ``event``.  Raises Unsupported."""
        raise Unsupported("EnqueueSetEvent")

    def trim(self) -> None:
        """Trim: nothing, since the driver keeps no memory to give back."""


@checked
def dxgi_device(device: Device) -> DxgiDevice:
    """QueryInterface of a device for IDXGIDevice: the same object each time."""
    found = device.interfaces.get(DxgiDevice)
    if not isinstance(found, DxgiDevice):
        found = device.interfaces[DxgiDevice] = DxgiDevice(device)
    return found
