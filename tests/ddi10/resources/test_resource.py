"""Resources: what can be made, and what is in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.ddi10.codes import DdiCode
from dp2emu.ddi10.resources.resource import (
    CreateResource,
    DxgiSampleDesc,
    MipInfo,
    ResourceType,
    SubresourceUP,
    Usage,
)
from dp2emu.errors import ContractError, Unsupported
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.limits import Limits
from tests.ddi10.driving import REMOVED
from tests.ddi10.rendering import RGBA8, Rendering, infos

FLAT, CUBE, VOLUME = ResourceType.TEXTURE2D, ResourceType.TEXTURECUBE, ResourceType.TEXTURE3D


def noise(size: int, seed: int = 1) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8).tobytes()


def test_a_buffer_has_its_initial_data() -> None:
    driven = Rendering()
    assert driven.read(driven.buffer(b"initial")) == b"initial"


@pytest.mark.parametrize(
    ("kind", "slices", "depth"),
    [
        (ResourceType.TEXTURE1D, 3, 1),
        (FLAT, 1, 1),
        (FLAT, 3, 1),
        (CUBE, 6, 1),
        (CUBE, 12, 1),
        (VOLUME, 1, 4),
    ],
)
def test_every_subresource_has_its_initial_data(kind: int, slices: int, depth: int) -> None:
    driven = Rendering()
    height = 1 if kind == ResourceType.TEXTURE1D else 8
    levels = infos(3, 8, height, depth)
    data = [noise(4 * w * h * d, seed) for seed, (w, h, d) in enumerate(levels * slices)]
    given = [
        SubresourceUP(found, 4 * w, 4 * w * h)
        for found, (w, h, _) in zip(data, levels * slices, strict=True)
    ]
    made = driven.texture(
        width=8, height=height, levels=3, slices=slices, kind=kind, depth=depth, data=given
    )
    assert [driven.read(made, index) for index in range(len(data))] == data


def test_initial_data_may_have_holes_between_rows_and_slices() -> None:
    driven = Rendering()
    data = noise(2 * 40 + 20)
    given = [SubresourceUP(data, 12, 40)]
    made = driven.texture(width=2, height=2, depth=3, kind=VOLUME, data=given)
    rows = [data[z * 40 + y * 12 :][:8] for z in range(3) for y in range(2)]
    assert driven.read(made) == b"".join(rows)


def test_blocks_are_rows_of_initial_data() -> None:
    driven = Rendering()
    data = noise(2 * 20)
    format = DxgiFormat.BC1_UNORM
    made = driven.texture(format, 8, 8, data=[SubresourceUP(data, 20, 0)])
    assert driven.read(made) == data[:16] + data[20:36]


def test_data_that_is_too_short_is_a_broken_promise_and_makes_nothing() -> None:
    driven = Rendering(checking=False)
    desc = CreateResource([MipInfo(9)], [SubresourceUP(bytes(8))], ResourceType.BUFFER)
    memory = driven.memory_of("Resource", desc)
    with pytest.raises(ContractError, match="shorter"):
        driven.call("CreateResource", desc, memory)
    assert driven.adapter.gpu.residency.add(1) == 2
    with pytest.raises(ContractError):
        driven.call("DestroyResource", memory)


def test_memory_begins_with_zeros() -> None:
    driven = Rendering()
    assert driven.read(driven.texture(width=2, height=2)) == bytes(16)


def description(**changes: Any) -> CreateResource:
    base = CreateResource(infos(1, 8, 8), None, FLAT, Format=RGBA8.value)
    return base._replace(**changes)


IMPOSSIBLE = {
    "no type": {"ResourceDimension": 0},
    "no format": {"Format": 0},
    "a format that there is not": {"Format": 1234},
    "no slices": {"ArraySize": 0},
    "too many slices": {"ArraySize": 2049},
    "a volume in an array": {"ResourceDimension": VOLUME, "ArraySize": 2},
    "a cube that is none": {
        "ResourceDimension": CUBE, "ArraySize": 6, "pMipInfoList": [MipInfo(8, 4)],
    },
    "five faces": {"ResourceDimension": CUBE, "ArraySize": 5},
    "a high texture of one dimension": {"ResourceDimension": ResourceType.TEXTURE1D},
    "no width": {"pMipInfoList": [MipInfo(0, 8)]},
    "too much width": {"pMipInfoList": [MipInfo(16385, 1)]},
    "too deep": {"ResourceDimension": VOLUME, "pMipInfoList": [MipInfo(1, 1, 2049)]},
    "levels without sizes": {"MipLevels": 2},
    "levels that do not halve": {"MipLevels": 2, "pMipInfoList": [MipInfo(8, 8), MipInfo(4, 5)]},
    "too many levels": {"MipLevels": 5, "pMipInfoList": infos(5, 8, 8)},
    "three samples": {"SampleDesc": DxgiSampleDesc(3)},
    "quality": {"SampleDesc": DxgiSampleDesc(4, 1)},
    "samples of levels": {
        "SampleDesc": DxgiSampleDesc(4), "MipLevels": 2, "pMipInfoList": infos(2, 8, 8),
    },
    "data of samples": {
        "SampleDesc": DxgiSampleDesc(4), "pInitialDataUP": [SubresourceUP(bytes(1 << 12))],
    },
    "data of a slice alone": {"ArraySize": 2, "pInitialDataUP": [SubresourceUP(bytes(256))]},
    "no usage": {"Usage": 4},
    "an empty buffer": {"ResourceDimension": 1, "pMipInfoList": [MipInfo(0)], "Format": 0},
    "buffers in an array": {
        "ResourceDimension": 1, "pMipInfoList": [MipInfo(8)], "ArraySize": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize("changes", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())
def test_what_cannot_be_is_a_broken_promise(changes: dict[str, Any]) -> None:
    driven = Rendering(checking=False)
    desc = description(**changes)
    with pytest.raises(ContractError) as broken:
        driven.call("CreateResource", desc, driven.memory_of("Resource", desc))
    assert broken.value.rule == "KNOWN_RESOURCE"


@pytest.mark.parametrize(
    ("kind", "sides", "slices", "possible"),
    [
        (ResourceType.TEXTURE1D, (16384, 1, 1), 1, True),
        (ResourceType.TEXTURE1D, (16385, 1, 1), 1, False),
        (ResourceType.TEXTURE1D, (1, 1, 1), 2048, True),
        (ResourceType.TEXTURE1D, (1, 1, 2), 1, False),
        (FLAT, (16384, 1, 1), 1, True),
        (FLAT, (1, 16384, 1), 1, True),
        (FLAT, (1, 16385, 1), 1, False),
        (FLAT, (1, 1, 2), 1, False),
        (FLAT, (1, 1, 1), 2048, True),
        (VOLUME, (2048, 1, 1), 1, True),
        (VOLUME, (1, 2048, 1), 1, True),
        (VOLUME, (1, 1, 2048), 1, True),
        (VOLUME, (2049, 1, 1), 1, False),
        (VOLUME, (1, 2049, 1), 1, False),
        (CUBE, (1, 1, 1), 2046, True),
        (CUBE, (1, 1, 1), 2052, False),
        (CUBE, (4, 4, 1), 7, True),
        (CUBE, (4, 4, 1), 5, False),
    ],
)
def test_resources_are_as_large_as_direct3d_11_has_them(
    kind: int, sides: tuple[int, int, int], slices: int, possible: bool
) -> None:
    driven = Rendering(checking=False)
    desc = CreateResource(
        [MipInfo(*sides)], None, kind, Format=DxgiFormat.R8_UNORM.value, ArraySize=slices
    )
    try:
        driven.call("CreateResource", desc, driven.memory_of("Resource", desc))
    except ContractError as error:
        assert (error.rule, possible) == ("KNOWN_RESOURCE", False)
    else:
        assert possible
        assert len(driven.device._parts.resources.objects) == 1


@pytest.mark.parametrize("format", [DxgiFormat.AYUV, DxgiFormat.NV12])
def test_formats_that_are_not_built_say_so_by_name(format: DxgiFormat) -> None:
    driven = Rendering()
    desc = description(Format=format.value)
    with pytest.raises(Unsupported, match=f"DXGI_FORMAT_{format.name}$"):
        driven.call("CreateResource", desc, driven.memory_of("Resource", desc))


@pytest.mark.parametrize("limits", [Limits(surface_bytes=255), Limits(total_bytes=255)])
def test_more_than_there_is_is_out_of_memory(limits: Limits) -> None:
    driven = Rendering()
    driven.adapter.gpu = Gpu(limits=limits)
    driven = Rendering(adapter=driven.adapter)
    memory = driven.memory_of("Resource")
    assert driven.call("CreateResource", description(), memory) == [DdiCode.E_OUTOFMEMORY]
    smaller = description(pMipInfoList=infos(1, 7, 8))
    assert driven.call("CreateResource", smaller, memory) == []


def test_memory_of_destroyed_resources_is_free() -> None:
    driven = Rendering()
    made = driven.texture()
    before = driven.adapter.gpu.heap.allocated
    driven.call("DestroyResource", made)
    assert driven.adapter.gpu.heap.allocated == before - 4 * 16 * 16


def test_views_are_destroyed_before_their_resource() -> None:
    driven = Rendering()
    made = driven.texture()
    view = driven.target(made)
    with pytest.raises(ContractError) as broken:
        driven.call("DestroyResource", made)
    assert broken.value.rule == "VIEWS_LEFT"
    driven.call("DestroyRenderTargetView", view)
    assert driven.call("DestroyResource", made) == []


def test_packets_keep_memory_of_destroyed_resources() -> None:
    driven = Rendering()
    given, made = driven.buffer(b"abcd"), driven.buffer(bytes(4))
    driven.call("ResourceCopy", made, given)
    driven.call("DestroyResource", given)
    assert driven.read(made) == b"abcd"


def test_creation_reports_a_removed_device() -> None:
    driven = Rendering()
    driven.adapter.remove()
    memory = driven.memory_of("Resource")
    assert driven.call("CreateResource", description(), memory) == REMOVED


@pytest.mark.parametrize("usage", list(Usage))
def test_resources_of_every_usage_are_made(usage: Usage) -> None:
    driven = Rendering()
    assert driven.texture(usage=usage)
    assert driven.buffer(bytes(4), usage=usage)
