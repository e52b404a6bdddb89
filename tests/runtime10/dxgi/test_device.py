"""Devices as DXGI sees them."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.errors import ArgumentError, Unsupported
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.descriptions import BufferDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import BufferUsage, DxgiDevice, SurfaceDesc, dxgi_device
from tests.runtime10.dxgi.showing import RGBA8


def made(api: Api = Api.D3D11) -> DxgiDevice:
    return dxgi_device(Device(Adapter(checking=True), api))


def test_a_device_has_one_object_of_dxgi() -> None:
    device = Device(Adapter())
    assert dxgi_device(device) is dxgi_device(device)
    assert dxgi_device(device).device is device


def test_the_name_of_private_data_is_a_text() -> None:
    found: Any = made()
    with pytest.raises(ArgumentError):
        found.get_private_data([None])


@pytest.mark.parametrize("api", Api)
def test_surfaces_of_a_usage(api: Api) -> None:
    usage = int(BufferUsage.RENDER_TARGET_OUTPUT | BufferUsage.SHADER_INPUT)
    desc = SurfaceDesc(4, 2, RGBA8)
    found = made(api).create_surface(desc, 2, usage)
    assert [each.get_desc() for each in found] == [desc, desc]
    assert [each.get_usage() for each in found] == [usage, usage]
    assert found[0].texture is not found[1].texture


def test_the_number_of_surfaces_is_bounded() -> None:
    with pytest.raises(Refused) as caught:
        made().create_surface(SurfaceDesc(4, 2, RGBA8), 0xFFFFFFFF, 0x20)
    assert caught.value.hr == Result.E_OUTOFMEMORY


def test_resources_are_resident() -> None:
    found = made()
    buffers = [found.device.create_buffer(BufferDesc(16, BindFlags=1)) for _ in range(2)]
    assert found.query_resource_residency(buffers) == [1, 1]


def test_priorities_and_latencies() -> None:
    found = made()
    assert (found.get_gpu_thread_priority(), found.get_maximum_frame_latency()) == (0, 3)
    found.set_gpu_thread_priority(-7)
    found.set_maximum_frame_latency(16)
    assert (found.get_gpu_thread_priority(), found.get_maximum_frame_latency()) == (-7, 16)
    found.set_maximum_frame_latency(0)
    assert found.get_maximum_frame_latency() == 3
    with pytest.raises(Refused) as caught:
        found.set_gpu_thread_priority(8)
    assert caught.value.hr == Result.E_INVALIDARG
    with pytest.raises(Refused) as caught:
        found.set_maximum_frame_latency(17)
    assert caught.value.hr == Result.DXGI_ERROR_INVALID_CALL


def test_offered_resources_keep_their_contents() -> None:
    found = made()
    buffer = found.device.create_buffer(BufferDesc(4, BindFlags=1), b"1234")
    found.offer_resources([buffer], 1)
    found.trim()
    assert found.reclaim_resources([buffer]) == [False]
    assert found.device.driver.read(buffer.driver) == b"1234"
    with pytest.raises(Unsupported, match="EnqueueSetEvent"):
        found.enqueue_set_event(None)
