"""Surfaces: textures as DXGI sees them."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import Usage
from dp2emu.errors import Unsupported
from dp2emu.runtime10.codes import Api, Refused, Result
from dp2emu.runtime10.descriptions import BufferDesc, Texture2DDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import BufferUsage, DxgiResource, MapFlag, Surface, SurfaceDesc
from dp2emu.runtime10.textures import CpuAccess
from tests.runtime10.dxgi.showing import RGBA8, SIDES, Program

BOTH = int(CpuAccess.READ | CpuAccess.WRITE)
READ, WRITE, DISCARD = MapFlag.READ, MapFlag.WRITE, MapFlag.DISCARD


def staging(api: Api = Api.D3D11, access: int = BOTH) -> Surface:
    device = Device(Adapter(checking=True), api)
    desc = Texture2DDesc(4, 2, Format=RGBA8, Usage=int(Usage.STAGING), CPUAccessFlags=access)
    return Surface(device.create_texture2d(desc))


@pytest.mark.parametrize("api", Api)
def test_a_map_writes_and_reads_rows(api: Api) -> None:
    surface = staging(api)
    pitch, bits = surface.map(WRITE)
    bits[pitch : pitch + 4] = b"abcd"
    surface.unmap()
    pitch, bits = surface.map(READ)
    assert bytes(bits[pitch : pitch + 4]) == b"abcd"
    surface.unmap()
    pitch, bits = surface.map(READ | WRITE)
    assert bytes(bits[pitch : pitch + 4]) == b"abcd"
    surface.unmap()


def test_a_dynamic_texture_is_discarded() -> None:
    device = Device(Adapter(checking=True))
    desc = Texture2DDesc(
        4, 2, 1, 1, RGBA8, Usage=int(Usage.DYNAMIC), BindFlags=8,
        CPUAccessFlags=int(CpuAccess.WRITE),
    )  # fmt: skip
    surface = Surface(device.create_texture2d(desc))
    surface.map(WRITE | DISCARD).pBits[:4] = b"abcd"
    surface.unmap()
    assert device.driver.read(surface.texture.driver)[:4] == b"abcd"


@pytest.mark.parametrize("flags", [0, DISCARD, READ | DISCARD, READ | WRITE | DISCARD, 8])
def test_flags_that_name_no_map(flags: int) -> None:
    with pytest.raises(Refused) as caught:
        staging().map(int(flags))
    assert caught.value.hr == Result.E_INVALIDARG


def test_maps_that_a_texture_does_not_allow() -> None:
    chain = Program().chain
    for surface in (staging(access=int(CpuAccess.READ)), Surface(chain.get_buffer(0))):
        with pytest.raises(Refused) as caught:
            surface.map(WRITE)
        assert caught.value.hr == Result.DXGI_ERROR_INVALID_CALL


def test_a_back_buffer_is_a_surface() -> None:
    surface = Surface(Program().chain.get_buffer(0))
    assert surface.get_desc() == SurfaceDesc(*SIDES, RGBA8)
    assert surface.get_usage() == BufferUsage.BACK_BUFFER | BufferUsage.RENDER_TARGET_OUTPUT
    assert (surface.add_ref(), surface.release()) == (2, 1)
    assert surface.get_device() is surface.texture.owner


def test_resources_that_are_no_surfaces() -> None:
    device = Device(Adapter())
    levels = device.create_texture2d(Texture2DDesc(4, 2, 2, 1, RGBA8, BindFlags=8))
    for resource in (levels, device.create_buffer(BufferDesc(16, BindFlags=1))):
        with pytest.raises(Refused) as caught:
            Surface(resource)
        assert caught.value.hr == Result.E_NOINTERFACE
        assert DxgiResource(resource).resource is resource


def test_eviction_priorities() -> None:
    device = Device(Adapter())
    found = DxgiResource(device.create_buffer(BufferDesc(16, BindFlags=1)))
    assert found.get_eviction_priority() == 0x78000000
    found.set_eviction_priority(0x28000000)
    assert DxgiResource(found.resource).get_eviction_priority() == 0x28000000


def test_what_is_not_shared_has_no_handle() -> None:
    with pytest.raises(Refused) as caught:
        staging().get_shared_handle()
    assert caught.value.hr == Result.DXGI_ERROR_INVALID_CALL


def test_there_is_no_gdi() -> None:
    surface = staging()
    with pytest.raises(Unsupported, match="GDI"):
        surface.get_dc(False)
    with pytest.raises(Unsupported, match="GDI"):
        surface.release_dc()
