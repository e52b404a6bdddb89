"""Textures as an application describes them, created and read by subresource."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.resources.resource import ResourceType, Usage
from dp2emu.ddi10.resources.transfers import DdiBox
from dp2emu.errors import Unsupported
from dp2emu.runtime10 import Api, DriverDevice, Refused, Resource, TextureDesc
from dp2emu.runtime10.textures import CpuAccess, MiscFlag, part_of, parts_of

FLOAT, BC1, D24S8 = 41, 71, 45
KINDS: list[tuple[TextureDesc, list[int]]] = [
    (TextureDesc(ResourceType.TEXTURE1D, FLOAT, 4, levels=0, bind=8), [16, 8, 4]),
    (TextureDesc(ResourceType.TEXTURE2D, FLOAT, 4, 2, levels=2, slices=2, bind=8),
     [32, 8, 32, 8]),
    (TextureDesc(ResourceType.TEXTURE3D, FLOAT, 4, 2, 3, levels=0, bind=8), [96, 8, 4]),
    (TextureDesc(ResourceType.TEXTURECUBE, FLOAT, 2, 2, slices=6, bind=8), [16] * 6),
    (TextureDesc(ResourceType.TEXTURE2D, BC1, 12, 8, levels=4, bind=8), [48, 16, 8, 8]),
]  # fmt: skip


@pytest.mark.parametrize(("desc", "sizes"), KINDS)
@pytest.mark.parametrize("api", Api)
def test_each_subresource_reads_back_as_it_was_given(
    desc: TextureDesc, sizes: list[int], api: Api
) -> None:
    device = DriverDevice(Adapter(checking=True), api)
    data = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    texture = device.create_texture(desc, data)
    parts = parts_of(texture.desc)
    assert [part.size for part in parts] == sizes
    assert [part_of(texture.desc, index) for index in range(len(parts))] == list(parts)
    with pytest.raises(IndexError):
        part_of(texture.desc, len(parts))
    assert [device.read(texture, index) for index in range(len(sizes))] == data


def test_a_subresource_that_does_not_exist_is_refused() -> None:
    device = DriverDevice(Adapter(checking=True))
    texture = device.create_texture(KINDS[1][0])
    for index in (-1, 4):
        with pytest.raises(Refused, match=f"subresource {index} of 4"):
            device.read(texture, index)


@pytest.mark.parametrize(
    "change",
    [{"width": 0}, {"levels": 4}, {"levels": 0xFFFFFFFF}, {"slices": 0}, {"slices": 4096},
     {"samples": 3}, {"quality": 1}, {"format": 0}, {"usage": 4},
     {"kind": ResourceType.TEXTURECUBE}, {"kind": ResourceType.TEXTURE3D}],
)  # fmt: skip
def test_an_invalid_description_is_refused(change: dict[str, int]) -> None:
    device, desc = DriverDevice(Adapter(checking=True)), KINDS[1][0]
    with pytest.raises(Refused):
        device.create_texture(desc._replace(**change))  # type: ignore[arg-type]


def test_data_of_another_size_is_refused() -> None:
    device = DriverDevice(Adapter(checking=True))
    for data in ([bytes(32)], [bytes(32), bytes(8), bytes(32), bytes(9)]):
        with pytest.raises(Refused, match="initial data of another size"):
            device.create_texture(KINDS[1][0], data)


def test_flags_that_are_not_implemented_are_named() -> None:
    desc = KINDS[1][0]._replace(misc=0x400)
    with pytest.raises(Unsupported, match="MiscFlags 0x400"):
        DriverDevice(Adapter(checking=True)).create_texture(desc)


def test_only_direct3d_10_0_lacks_arrays_of_cubes() -> None:
    desc = KINDS[3][0]._replace(slices=12, misc=int(MiscFlag.TEXTURECUBE))
    for api in (Api.D3D10_1, Api.D3D11):
        assert isinstance(DriverDevice(Adapter(checking=True), api).create_texture(desc), Resource)
    with pytest.raises(Refused, match="12 faces"):
        DriverDevice(Adapter(checking=True), Api.D3D10).create_texture(desc)


def test_access_flags_are_flags_of_maps() -> None:
    device = DriverDevice(Adapter(checking=True))
    both = int(CpuAccess.READ | CpuAccess.WRITE)
    desc = KINDS[1][0]._replace(bind=0, usage=Usage.STAGING, access=both)
    assert device.create_texture(desc).desc.MapFlags == 3
    assert device.create_texture(desc._replace(access=int(CpuAccess.READ))).desc.MapFlags == 1


def test_depth_reads_back() -> None:
    device = DriverDevice(Adapter(checking=True))
    desc = TextureDesc(ResourceType.TEXTURE2D, D24S8, 2, 1, bind=0x40)
    texture = device.create_texture(desc)
    view = device.create_view("DepthStencilView", texture)
    device.call("ClearDepthStencilView", view.memory, 3, 1.0, 5)
    assert device.read(texture) == bytes.fromhex("ffffff05") * 2


@pytest.mark.parametrize(
    ("box", "size", "what"),
    [
        (None, 47, "47 bytes for 48"),
        (DdiBox(4, 0, 0, 8, 4, 1), 8, ""),
        (DdiBox(8, 4, 0, 12, 8, 1), 8, ""),
        (DdiBox(2, 0, 0, 8, 4, 1), 16, "through blocks"),
        (DdiBox(0, 0, 0, 6, 4, 1), 16, "through blocks"),
        (DdiBox(0, 0, 0, 0, 4, 1), 0, "a box"),
        (DdiBox(8, 0, 0, 16, 4, 1), 16, "a box"),
    ],
)
def test_a_box_is_of_whole_blocks_inside_the_subresource(
    box: DdiBox | None, size: int, what: str
) -> None:
    device = DriverDevice(Adapter(checking=True))
    texture = device.create_texture(KINDS[4][0])
    if what:
        with pytest.raises(Refused, match=what):
            device.update(texture, 0, bytes(size), box)
    else:
        device.update(texture, 0, b"\7" * size, box)
        assert device.read(texture).count(7) == size


def test_a_box_of_a_buffer_is_bytes() -> None:
    device = DriverDevice(Adapter(checking=True))
    buffer = device.create_buffer(8, 1, bytes(8))
    device.update(buffer, 0, b"\1\2\3", DdiBox(2, 0, 0, 5, 1, 1))
    assert device.read(buffer) == b"\0\0\1\2\3\0\0\0"
