"""Shared resources and states of contexts in traces."""

from __future__ import annotations

import pytest

from dp2emu.runtime10.context_state import DeviceContextState
from dp2emu.runtime10.objects import Texture2D
from tests.retrace.calls import Pointer
from tests.retrace.d3d11.played import Played, at, texture_desc, to

HANDLE = 0x40000002


def sharing(version: int) -> Played:
    program = Played(version)
    desc = texture_desc(MiscFlags=2)
    program.create("Texture2D", "new", pDesc=desc, pInitialData=None)
    return program


@pytest.mark.parametrize("version", [10, 11])
def test_an_opened_resource_is_another_object_of_the_same_memory(version: int) -> None:
    program = sharing(version)
    handle = (Pointer(HANDLE),)
    assert program.of("new", "IDXGIResource::GetSharedHandle", pSharedHandle=handle) == []
    records = program.of(
        "device", f"ID3D{version}Device::OpenSharedResource", hResource=Pointer(HANDLE),
        ReturnedInterface=None, ppResource=to("other"),
    )  # fmt: skip
    assert [each.partition("(")[0] for each in records] == ["OpenResource"]
    found = program.thing("other")
    assert isinstance(found, Texture2D)
    assert found is not program.thing("new")
    assert program.losses() == []


@pytest.mark.parametrize(("name", "opening"), [(None, "1"), ("Local\\surface", "ByName")])
def test_resources_are_opened_by_later_handles_and_names(name: str | None, opening: str) -> None:
    program = sharing(11)
    program.of(
        "new", "IDXGIResource1::CreateSharedHandle", pAttributes=None, dwAccess=1, lpName=name,
        pHandle=(Pointer(HANDLE),),
    )  # fmt: skip
    given = {"hResource": Pointer(HANDLE)} if name is None else {"lpName": name, "dwAccess": 1}
    program.of(
        "device", f"ID3D11Device1::OpenSharedResource{opening}", **given,
        returnedInterface=None, ppResource=to("other"),
    )  # fmt: skip
    assert isinstance(program.thing("other"), Texture2D)
    assert program.losses() == []


def test_a_resource_that_is_not_shared_has_no_handle() -> None:
    program = Played(11)
    program.create("Texture2D", "new", pDesc=texture_desc(), pInitialData=None)
    program.of("new", "IDXGIResource::GetSharedHandle", pSharedHandle=(Pointer(0),))
    assert program.losses() == []


def test_a_resource_of_another_process_is_a_loss() -> None:
    program = Played(11)
    program.of(
        "device", "ID3D11Device::OpenSharedResource", hResource=Pointer(HANDLE),
        ReturnedInterface=None, ppResource=to("other"),
    )  # fmt: skip
    assert program.losses() == [
        "ID3D11Device::OpenSharedResource: a resource that another process created"
    ]


def test_a_state_of_a_context_is_exchanged() -> None:
    program = Played(11)
    program.of("context", "ID3D11DeviceContext::IASetPrimitiveTopology", Topology=4)
    program.of(
        "device", "ID3D11Device1::CreateDeviceContextState", Flags=0, pFeatureLevels=(0xB000,),
        FeatureLevels=1, SDKVersion=7, EmulatedInterface=None, pChosenFeatureLevel=None,
        ppContextState=to("new"),
    )  # fmt: skip
    swap = "ID3D11DeviceContext1::SwapDeviceContextState"
    program.of("context", swap, pState=at("new"), ppPreviousState=to("other"))
    assert program.thing("context").ia_get_primitive_topology() == 0
    assert isinstance(program.thing("other"), DeviceContextState)
    program.of("context", swap, pState=at("other"), ppPreviousState=None)
    assert program.thing("context").ia_get_primitive_topology() == 4
    program.of("context", swap, pState=None, ppPreviousState=None)
    assert program.thing("context").ia_get_primitive_topology() == 4
    program.of("deferred", swap, pState=at("new"), ppPreviousState=None)
    assert program.losses() == []
