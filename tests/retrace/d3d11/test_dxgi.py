"""Factories, adapters, outputs, devices and surfaces of traced programs."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.capture.records import Pictured, PictureKind
from dp2emu.retrace.program import METHODS, row_of
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi import SwapChain
from dp2emu.runtime10.objects import Texture2D
from tests.retrace.calls import Pointer, call, out, struct
from tests.retrace.d3d11.dxgi_interfaces import FUNCTIONS, INTERFACES
from tests.retrace.d3d11.showing import CHAIN, DEVICE, RGBA8, SIDES, Showing

NAMES = [
    *(f"{interface}::{name}" for interface, names in INTERFACES.items() for name in names.split()),
    *FUNCTIONS.split(),
]
INERT = [name for name in NAMES if getattr(row_of(name), "act", None) is None]
LOST = {
    "IDXGIOutput::SetDisplaySurface": "what the screen shows",
    "IDXGIOutput::GetDisplaySurfaceData": "what the screen shows",
    "IDXGIOutput1::GetDisplaySurfaceData1": "what the screen shows",
    "IDXGIOutput1::DuplicateOutput": "what the screen shows",
    "IDXGIOutput5::DuplicateOutput1": "what the screen shows",
    "IDXGIOutputDuplication::AcquireNextFrame": "what the screen shows",
    "IDXGIOutputDuplication::MapDesktopSurface": "what the screen shows",
    "IDXGISurface1::GetDC": "drawing by GDI",
    "IDXGISurface1::ReleaseDC": "drawing by GDI",
    "IDXGIResource1::CreateSubresourceSurface": "a surface of one of several subresources",
    "IDXGIFactoryMedia::CreateDecodeSwapChainForCompositionSurfaceHandle": (
        "swap chains of video decoders"
    ),
}
SURFACE, TEXTURE = 0x3000, 0x3100
DESC = struct(
    "DXGI_SURFACE_DESC", Width=4, Height=2, Format=RGBA8,
    SampleDesc=struct("DXGI_SAMPLE_DESC", Count=1, Quality=0),
)  # fmt: skip


def test_every_method_has_a_row_that_says_what_it_does() -> None:
    rows = {name: row_of(name) for name in NAMES}
    assert [name for name, row in rows.items() if row is None or not row.says] == []


def test_rows_are_of_methods_that_exist() -> None:
    rows = {name for name in METHODS if name.startswith(("IDXGI", "DXGI", "CreateDXGI"))}
    known = {row.name for row in map(row_of, NAMES) if row is not None}
    assert rows == known


def test_methods_without_an_effect_are_no_losses() -> None:
    program = Showing()
    count = len(program.records)
    for name in INERT:
        program.play(name, this=Pointer(0x77), ppObject=out(0x78))
    assert len(program.records) == count
    assert program.losses() == []


def test_methods_that_cannot_be_expressed_are_named() -> None:
    program = Showing()
    for name in LOST:
        program.play(name, this=Pointer(0x77))
    told = [f"{name.partition('::')[2]}: {reason}" for name, reason in LOST.items()]
    assert program.losses() == told


def with_surface(version: int = 11) -> Showing:
    """A program with a texture and its surface."""
    program = Showing(version)
    desc = struct(
        f"D3D{version}_TEXTURE2D_DESC", Width=4, Height=2, MipLevels=1, ArraySize=1, Format=RGBA8,
        SampleDesc=DESC["SampleDesc"], Usage=3, BindFlags=0, CPUAccessFlags=0x30000, MiscFlags=0,
    )  # fmt: skip
    name = f"ID3D{version}Device::CreateTexture2D"
    program.of(DEVICE, name, pDesc=(desc,), pInitialData=None, ppTexture2D=out(TEXTURE))
    program.of(TEXTURE, f"ID3D{version}Texture2D::QueryInterface", ppvObj=out(SURFACE))
    return program


@pytest.mark.parametrize("version", [10, 11])
def test_a_surface_is_its_texture_and_is_mapped(version: int) -> None:
    program = with_surface(version)
    assert program.at(SURFACE, Texture2D) is program.at(TEXTURE, Texture2D)
    written = {"pLockedRect": (struct("DXGI_MAPPED_RECT", Pitch=32, pBits=Pointer(0x9000)),)}
    program.of(SURFACE, "IDXGISurface1::Map", **written, MapFlags=2)
    rows = b"abcd" * 4 + bytes(16) + b"efgh" * 4
    program.play("memcpy", dest=Pointer(0x9000), src=rows, n=len(rows))
    program.of(SURFACE, "IDXGISurface1::Unmap")
    texture = program.at(TEXTURE, Texture2D)
    assert program.pixels(texture) == {tuple(b"abcd"), tuple(b"efgh")}
    number = program.of(SURFACE, "IDXGISurface1::Map", **written, MapFlags=1)
    program.of(SURFACE, "IDXGISurface1::Unmap")
    found = [each for each in program.records if isinstance(each, Pictured)]
    assert [(each.call, each.how) for each in found] == [(number, PictureKind.MAP)]
    assert program.losses() == []


def test_a_map_with_senseless_flags_is_a_loss() -> None:
    program = with_surface()
    written = {"pLockedRect": (struct("DXGI_MAPPED_RECT", Pitch=32, pBits=Pointer(0x9000)),)}
    program.of(SURFACE, "IDXGISurface::Map", **written, MapFlags=4)
    assert program.losses() == ["Map: DXGI_MAP 0x4"]


def test_surfaces_are_created_by_the_device() -> None:
    program = Showing()
    program.of(DEVICE, "ID3D11Device2::QueryInterface", ppvObj=out(0x1010))
    surfaces = (Pointer(0x3000), Pointer(0x3010))
    usage = {"NumSurfaces": 2, "Usage": 0x30, "pSharedResource": None}
    program.of(0x1010, "IDXGIDevice3::CreateSurface", pDesc=(DESC,), **usage, ppSurface=surfaces)
    found = [program.at(each.value, Texture2D) for each in surfaces]
    assert found[0] is not found[1]
    assert [each.desc.BindFlags for each in found] == [0x28, 0x28]
    assert program.losses() == []


@pytest.mark.parametrize("name", ["IDXGISurface", "IDXGIResource1", "IDXGIKeyedMutex"])
def test_a_texture_is_released_by_each_of_its_interfaces(name: str) -> None:
    program = with_surface()
    program.of(SURFACE, f"{name}::Release", result=1)
    assert program.program.objects.get(TEXTURE) is not None
    program.of(SURFACE, f"{name}::QueryInterface", ppvObj=out(0x3200))
    program.of(0x3200, f"{name}::Release", result=0)
    assert program.program.objects.get(TEXTURE) is None
    assert program.entries()[-1] == "DestroyResource"
    assert program.losses() == []


@pytest.mark.parametrize("name", ["IDXGISurface2", "IDXGIResource", "IDXGIKeyedMutex"])
def test_the_device_and_the_texture_of_an_interface(name: str) -> None:
    program = with_surface()
    program.of(SURFACE, f"{name}::GetDevice", riid=None, ppDevice=out(0x1700))
    assert program.at(0x1700, Device) is program.at(DEVICE, Device)
    more = {"riid": None, "ppParentResource": out(0x3300), "pSubresourceIndex": (0,)}
    program.of(SURFACE, "IDXGISurface2::GetResource", **more)
    assert program.at(0x3300, Texture2D) is program.at(TEXTURE, Texture2D)


def test_an_eviction_priority_goes_to_the_driver() -> None:
    program = with_surface()
    program.of(SURFACE, "IDXGIResource::SetEvictionPriority", EvictionPriority=0x28000000)
    assert program.entries()[-1] == "DXGI.SetResourcePriority"
    assert program.at(TEXTURE, Texture2D).eviction_priority == 0x28000000


@pytest.mark.parametrize("version", [10, 11])
def test_a_device_is_one_object_with_several_addresses(version: int) -> None:
    program = Showing(version)
    device = program.at(DEVICE, Device)
    program.of(DEVICE, f"ID3D{version}Device::QueryInterface", ppvObj=out(0x1010))
    program.of(0x1010, "IDXGIDevice3::QueryInterface", ppvObj=out(0x1020))
    assert program.at(0x1020, Device) is device
    program.of(0x1010, "IDXGIDevice3::Release", result=1)
    assert program.at(DEVICE, Device) is device
    program.of(0x1020, "IDXGIDevice3::Release", result=0)
    assert program.program.objects.addresses(device) == []
    assert program.entries()[-1] == "DestroyDevice"
    program.play(f"D3D{version}CreateDevice", ppDevice=out(DEVICE))
    assert program.at(DEVICE, Device) is not device
    assert program.losses() == []


@pytest.mark.parametrize("name", ["IDXGIObject", "IDXGIDeviceSubObject"])
def test_interfaces_that_all_objects_have(name: str) -> None:
    program = with_surface()
    program.create()
    chain = program.at(CHAIN, SwapChain)
    program.of(CHAIN, f"{name}::QueryInterface", ppvObj=out(0x1280))
    assert program.at(0x1280, SwapChain) is chain
    program.of(0x1280, "IDXGIDeviceSubObject::GetDevice", riid=None, ppDevice=out(0x1700))
    assert program.at(0x1700, Device) is program.at(DEVICE, Device)
    program.of(0x1280, f"{name}::Release", result=0)
    program.of(0x5555, f"{name}::Release", result=0)
    assert program.program.objects.get(CHAIN) is None
    program.of(SURFACE, f"{name}::Release", result=0)
    program.of(DEVICE, f"{name}::Release", result=0)
    assert program.entries()[-2:] == ["DestroyResource", "DestroyDevice"]
    assert program.losses() == []


def test_a_release_that_ends_after_its_address_came_again_releases_nothing() -> None:
    program = with_surface()
    late = call("ID3D11Texture2D::Release", number=1, result=0, this=Pointer(TEXTURE))
    program.program.play(late)
    assert program.program.objects.get(TEXTURE) is not None
    program.of(TEXTURE, "ID3D11Texture2D::Release", result=0)
    program.program.play(late)
    assert program.program.objects.get(TEXTURE) is None
    assert program.losses() == []


def test_the_buffer_of_a_swap_chain_as_a_surface() -> None:
    program = Showing()
    program.create()
    name = "IDXGISwapChain1::GetBuffer"
    arguments: dict[str, Any] = {"Buffer": 0, "riid": "IID_IDXGISurface"}
    program.of(CHAIN, name, **arguments, ppSurface=out(SURFACE))
    assert program.at(SURFACE, Texture2D).desc[:2] == SIDES
