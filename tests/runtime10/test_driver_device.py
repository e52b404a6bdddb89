"""Objects, commands and read-backs of a device for applications."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.resources.resource import ResourceType, SubresourceUP
from dp2emu.ddi10.resources.views import CreateTargetView
from dp2emu.runtime10 import Api, DriverDevice, Refused, Result
from dp2emu.runtime10.codes import RESULTS

RGBA8, FLOAT4 = 28, 2
TARGET = 0x20


@pytest.mark.parametrize("code", DdiCode)
def test_every_code_of_a_driver_has_a_result(code: DdiCode) -> None:
    assert code in RESULTS


def test_a_buffer_reads_back() -> None:
    device = DriverDevice(Adapter(checking=True))
    assert device.read(device.create_buffer(7, 1, b"1234567")) == b"1234567"
    assert device.read(device.create_buffer(5, 1, None)) == bytes(5)


@pytest.mark.parametrize(("format", "size"), [(RGBA8, 4), (FLOAT4, 16)])
def test_a_texture_reads_back_without_holes(format: int, size: int) -> None:
    data = bytes(range(3 * 2 * size))
    device = DriverDevice(Adapter(checking=True))
    given = SubresourceUP(data, 3 * size, 6 * size)
    assert device.read(device.create_texture2d(format, (3, 2), 8, data=given)) == data


def followed(device: DriverDevice) -> list[tuple[str, Any]]:
    """The calls of functions of the driver from now on."""
    called: list[tuple[str, Any]] = []
    call = device.call

    def follow(name: str, *arguments: Any) -> Any:
        called.append((name, arguments))
        return call(name, *arguments)

    device.call = follow  # type: ignore[method-assign]
    return called


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("samples", [1, 4])
def test_a_target_reads_back_resolved(api: Api, samples: int) -> None:
    device = DriverDevice(Adapter(checking=True), api)
    called = followed(device)
    texture = device.create_texture2d(RGBA8, (4, 2), TARGET, samples=samples)
    desc = CreateTargetView(texture.memory, RGBA8, ResourceType.TEXTURE2D)
    view = device.make("RenderTargetView", desc)
    device.call("ClearRenderTargetView", view.memory, (1.0, 0.0, 0.2, 1.0))
    assert device.read(texture) == b"\xff\x00\x33\xff" * 8
    made = [name for name, _ in called if name == "CreateResource"]
    assert len(made) == 1 + [name for name, _ in called].count("DestroyResource")


def test_what_the_driver_reports_is_refused() -> None:
    adapter = Adapter()
    device = DriverDevice(adapter)
    adapter.remove()
    with pytest.raises(Refused, match="CreateResource") as caught:
        device.create_buffer(4, 1, None)
    assert caught.value.hr == Result.DXGI_ERROR_DEVICE_REMOVED


def test_finish_lets_the_gpu_become_idle() -> None:
    adapter = Adapter()
    device = DriverDevice(adapter)
    device.create_query(0).end()
    device.call("Flush")
    device.finish()
    assert adapter.gpu.idle
