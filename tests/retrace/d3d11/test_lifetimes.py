"""References, interfaces, names and relations of objects of Direct3D 10 and 11 in traces."""

from __future__ import annotations

import pytest

from dp2emu.runtime10.context import Context
from dp2emu.runtime10.device import Device
from tests.retrace.calls import Pointer, struct
from tests.retrace.d3d11.interfaces import INTERFACES
from tests.retrace.d3d11.played import ADDRESS, Played, at, buffer_desc, to

FURTHER = (
    "ID3D10Multithread ID3D11Multithread ID3D10Debug ID3D11Debug ID3D10InfoQueue ID3D11InfoQueue "
    "ID3D10SwitchToRef ID3D11SwitchToRef ID3D11VideoDevice ID3D11VideoContext "
    "ID3DDestructionNotifier ID3DUserDefinedAnnotation"
)
OBJECTS = (
    "DeviceChild Resource Buffer Texture1D Texture2D Texture3D View ShaderResourceView "
    "RenderTargetView DepthStencilView BlendState DepthStencilState RasterizerState SamplerState "
    "InputLayout VertexShader GeometryShader PixelShader Asynchronous Query Predicate"
)
LATER = (
    "UnorderedAccessView HullShader DomainShader ComputeShader CommandList ClassLinkage "
    "ClassInstance"
)
CHILDREN = [
    *(f"ID3D{version}{name}" for version in (10, 11) for name in OBJECTS.split()),
    *(f"ID3D11{name}" for name in LATER.split()),
    "ID3DDeviceContextState",
]
VIEWS = [each for each in CHILDREN if each.endswith("View")]
ALL = [*CHILDREN, "ID3D10Device", "ID3D11Device", "ID3D11DeviceContext", *FURTHER.split()]
DEVICE_OF = [*CHILDREN, "ID3D11DeviceContext"]
IMMEDIATE = [f"ID3D11Device::GetImmediateContext{version}" for version in ("", 1, 2, 3)]
NAME = struct(
    "GUID", Data1=0x429B8C22, Data2=0x9188, Data3=0x4B0C,
    Data4=(0x87, 0x42, 0xAC, 0xB0, 0xBF, 0x85, 0xC2, 0x00),
)  # fmt: skip
WIDE_NAME = struct(
    "GUID", Data1=0x4CCA5FD8, Data2=0x921F, Data3=0x42C8,
    Data4=(0x85, 0x66, 0x70, 0xCA, 0xF2, 0xA9, 0xB7, 0x41),
)  # fmt: skip


@pytest.fixture(scope="module")
def program() -> Played:
    return Played(11)


def with_buffer(program: Played) -> None:
    program.create("Buffer", "new", pDesc=buffer_desc(64, BindFlags=1), pInitialData=None)


@pytest.mark.parametrize("interface", ALL)
def test_each_address_of_an_object_means_it_until_its_last_release(
    program: Played, interface: str
) -> None:
    with_buffer(program)
    assert program.of("new", f"{interface}::QueryInterface", riid=None, ppvObj=to("other")) == []
    assert program.thing("other") is program.thing("new")
    assert program.of("other", f"{interface}::AddRef", result=2) == []
    assert program.of("other", f"{interface}::Release", result=1) == []
    gone = program.of("other", f"{interface}::Release", result=0)
    assert [each.partition("(")[0] for each in gone] == ["DestroyResource"]
    assert (program.thing("new"), program.thing("other")) == (None, None)
    assert program.losses() == []


def test_every_interface_with_references_is_here() -> None:
    named = {
        name for name, methods in INTERFACES.items()
        if "GetPrivateData" in methods and not name[-1].isdigit()
    }  # fmt: skip
    foreign = ("Video", "Crypto", "Authenticated", "ContextState", "Counter", "Fence")
    assert {each for each in named if not any(word in each for word in foreign)} <= set(ALL)


def test_the_last_release_of_a_device_destroys_it_with_its_objects() -> None:
    program = Played(11)
    gone = program.of("device", "ID3D11Device::Release", result=0)
    assert gone[-1] == "DestroyDevice()"
    assert {each.partition("(")[0] for each in gone} > {"DestroyResource", "DestroyQuery"}
    assert program.losses() == []


def test_an_object_that_is_bound_lives_on() -> None:
    program = Played(11)
    bind = {"StartSlot": 0, "NumBuffers": 1, "pStrides": (4,), "pOffsets": (0,)}
    set_buffers = "ID3D11DeviceContext::IASetVertexBuffers"
    program.of("context", set_buffers, ppVertexBuffers=to("buffer"), **bind)
    assert program.of("buffer", "ID3D11Buffer::Release", result=0) == []
    gone = program.of("context", set_buffers, ppVertexBuffers=(None,), **bind)
    assert gone[-1].startswith("DestroyResource(")
    assert program.losses() == []


def test_a_release_that_ends_after_its_address_was_given_to_another_object() -> None:
    program = Played(11)
    with_buffer(program)
    late = program._number + 1
    program._number += 1
    with_buffer(program)
    program.of("new", "ID3D11Buffer::Release", result=0)
    program._number = late - 1
    assert program.of("new", "ID3D11Buffer::Release", result=0) == []
    assert program.losses() == []


def test_a_release_that_ends_late_leaves_the_new_object() -> None:
    program = Played(11)
    with_buffer(program)
    late = program._number + 1
    program._number += 1
    with_buffer(program)
    program._number = late - 1
    assert program.of("new", "ID3D11Buffer::Release", result=0) == []
    assert program.thing("new") is not None
    assert program.losses() == []


@pytest.mark.parametrize("interface", CHILDREN)
def test_names_of_objects_are_labels(program: Played, interface: str) -> None:
    memory = program.thing("buffer").memory
    number = program.program.recorder.memories.number(memory)
    name = f"{interface}::SetPrivateData"
    assert program.of("buffer", name, guid=NAME, DataSize=4, pData=b"grid") == [
        f"label.resource.{number}: grid"
    ]
    assert program.of("buffer", name, guid=WIDE_NAME, DataSize=4, pData=b"\xe9\0t\0") == [
        f"label.resource.{number}: \xe9t"
    ]
    other = struct("GUID", Data1=1, Data2=2, Data3=3, Data4=(0,) * 8)
    assert program.of("buffer", name, guid=other, DataSize=4, pData=b"grid") == []
    assert program.losses() == []


@pytest.mark.parametrize("interface", DEVICE_OF)
def test_an_object_hands_out_its_device(program: Played, interface: str) -> None:
    name = "context" if interface.endswith("Context") else "buffer"
    assert program.of(name, f"{interface}::GetDevice", ppDevice=to("read")) == []
    assert isinstance(program.thing("read"), Device)
    program.program.objects.forget(ADDRESS["read"])


@pytest.mark.parametrize("interface", VIEWS)
def test_a_view_hands_out_its_resource(program: Played, interface: str) -> None:
    assert program.of("srv", f"{interface}::GetResource", ppResource=to("read")) == []
    assert program.thing("read") is program.thing("texture")
    program.program.objects.forget(ADDRESS["read"])


@pytest.mark.parametrize("name", IMMEDIATE)
def test_a_device_hands_out_its_context(program: Played, name: str) -> None:
    assert program.of("device", name, ppImmediateContext=to("read")) == []
    assert isinstance(program.thing("read"), Context)
    program.program.objects.forget(ADDRESS["read"])


def test_a_known_address_keeps_its_object() -> None:
    program = Played(11)
    slots = {"StartSlot": 0, "NumBuffers": 1}
    bound = {"ppConstantBuffers": to("constants"), **slots}
    program.of("context", "ID3D11DeviceContext::VSSetConstantBuffers", **bound)
    before = program.thing("buffer")
    read = {"ppConstantBuffers": (at("buffer"),), **slots}
    program.of("context", "ID3D11DeviceContext::VSGetConstantBuffers", **read)
    assert program.thing("buffer") is before


def test_an_object_that_is_not_known_is_a_loss() -> None:
    program = Played(11)
    program.play("ID3D11Buffer::Release", this=Pointer(0x99), result=0)
    assert program.losses() == ["ID3D11Buffer::Release: 0x99 is nothing known"]
