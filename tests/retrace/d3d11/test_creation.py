"""Devices and the objects that they create, in traces."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from dp2emu.runtime10.codes import Api
from dp2emu.runtime10.deferred import DeferredContext
from dp2emu.runtime10.device import Device
from tests.retrace.calls import struct
from tests.retrace.d3d11.context_rows import Row
from tests.retrace.d3d11.creation_rows import ROWS
from tests.retrace.d3d11.played import Played, buffer_desc, desc, texture_desc, to

CASES = {f"{interface}::{row.name}": row for row in ROWS for interface in row.interfaces.split()}
VERSIONS = {
    "D3D10CreateDevice": Api.D3D10,
    "D3D10CreateDeviceAndSwapChain": Api.D3D10,
    "D3D10CreateDevice1": Api.D3D10_1,
    "D3D10CreateDeviceAndSwapChain1": Api.D3D10_1,
    "D3D11CreateDevice": Api.D3D11,
    "D3D11CreateDeviceAndSwapChain": Api.D3D11,
}
DEFERRED = [f"ID3D11Device::CreateDeferredContext{version}" for version in ("", 1, 2, 3)]
LINKAGE = "ID3D11Device::CreateClassLinkage"


@cache
def program_of(version: int) -> Played:
    return Played(version)


def version_of(name: str) -> int:
    return 10 if name.startswith("ID3D10") else 11


@pytest.mark.parametrize("name", CASES)
def test_a_creating_method_creates_the_driver_s_object(name: str) -> None:
    row: Row = CASES[name]
    program = program_of(version_of(name))
    made = program.of("device", name, **row.arguments)
    assert [each.partition("(")[0] for each in made] == row.records
    assert " new" in made[0] and program.losses() == []
    gone = program.of("new", "ID3D11DeviceChild::Release")
    assert [each.partition("(")[0][:7] for each in gone] == ["Destroy"]


@pytest.mark.parametrize("name", CASES)
def test_without_a_place_for_the_object_nothing_is_created(name: str) -> None:
    program = program_of(version_of(name))
    given = CASES[name].arguments | {"ppNew": None}
    assert program.of("device", name, **given) == []
    assert program.losses() == []


@pytest.mark.parametrize("name", VERSIONS)
def test_a_device_has_the_version_of_its_function(name: str) -> None:
    program = Played(11)
    chain: dict[str, Any] = {}
    if "SwapChain" in name:
        mode = struct("MODE", Width=4, Height=2, Format=28)
        described = desc(
            "DXGI_SWAP_CHAIN_DESC", BufferDesc=mode, SampleDesc=struct("S", Count=1, Quality=0),
            BufferUsage=0x20, BufferCount=1, OutputWindow=None, Windowed=1, SwapEffect=0, Flags=0,
        )  # fmt: skip
        chain = {"pSwapChainDesc": described, "ppSwapChain": to("other")}
    made = program.play(name, **chain, ppDevice=to("new"))
    device = program.thing("new")
    assert isinstance(device, Device) and device.driver.api == VERSIONS[name]
    assert "CreateDevice" in made[0]
    assert any("CreateResource" in each for each in made) == ("SwapChain" in name)
    assert program.losses() == []


def test_a_device_without_a_place_for_it_is_not_created() -> None:
    program = Played(10)
    assert program.play("D3D10CreateDevice", ppDevice=None) == []
    assert program.losses() == []


@pytest.mark.parametrize("name", DEFERRED)
def test_a_deferred_context_is_nothing_for_the_driver(name: str) -> None:
    program = Played(11)
    assert program.of("device", name, ContextFlags=0, ppNew=to("new")) == []
    assert isinstance(program.thing("new"), DeferredContext)
    assert program.of("new", "ID3D11DeviceContext::Draw", VertexCount=3, Start=0) == []


def test_class_instances_belong_to_a_linkage() -> None:
    program = Played(11)
    assert program.of("device", LINKAGE, ppLinkage=to("new")) == []
    linkage = program.thing("new")
    linkage._types["class"] = 0
    places = {"ConstantBufferOffset": 1, "ConstantVectorOffset": 2, "TextureOffset": 0}
    program.of(
        "new", "ID3D11ClassLinkage::CreateClassInstance", pClassTypeName="class", **places,
        SamplerOffset=0, ppInstance=to("other"),
    )  # fmt: skip
    assert program.thing("other").desc.BaseConstantBufferOffset == 2
    found = {"pClassInstanceName": "none", "InstanceIndex": 0, "ppInstance": to("read")}
    program.of("new", "ID3D11ClassLinkage::GetClassInstance", **found)
    assert program.losses() == [
        "ID3D11ClassLinkage::GetClassInstance: no class instance 'none', 0"
    ]
    program.program.objects.forget_all(linkage)
    program.of("other", "ID3D11ClassInstance::GetClassLinkage", ppLinkage=to("read"))
    assert program.thing("read") is linkage


def test_an_object_at_the_address_of_another_tells_that_the_other_one_is_gone() -> None:
    program = Played(11)
    given = {"pDesc": buffer_desc(64, BindFlags=1), "pInitialData": None}
    program.create("Buffer", "new", **given)
    made = program.create("Buffer", "new", **given)
    assert [each.partition("(")[0] for each in made] == ["CreateResource", "DestroyResource"]
    assert program.losses() == []


def test_equal_states_are_one_object_with_one_address() -> None:
    program = Played(11)
    before = program.thing("sampler")
    made = program.create("SamplerState", "sampler", pDesc=desc("SAMPLER_DESC", Filter=0))
    assert made == [] and program.thing("sampler") is before


def test_a_refused_creation_is_a_loss() -> None:
    program = Played(11)
    given = {"pDesc": texture_desc((0, 4)), "pInitialData": None}
    assert program.create("Texture2D", "new", **given) == []
    (loss,) = program.losses()
    assert loss.startswith("ID3D11Device::CreateTexture2D: ")
    assert program.thing("new") is None
