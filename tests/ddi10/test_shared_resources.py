"""Resources that devices share."""

from __future__ import annotations

import pytest

from dp2emu.ddi10.resources.resource import (
    BindFlag,
    CreateResource,
    MipInfo,
    OpenResource,
    ResourceMisc,
    ResourceType,
    SubresourceUP,
)
from dp2emu.errors import ContractError
from tests.ddi10.rendering import Rendering


def sharing(driven: Rendering, data: bytes = b"data") -> bytearray:
    given = [SubresourceUP(data)]
    flags = ResourceMisc.SHARED
    desc = CreateResource([MipInfo(len(data))], given, ResourceType.BUFFER, MiscFlags=flags)
    return driven.make("Resource", desc)


def opened(driven: Rendering, handle: int) -> bytearray:
    desc = OpenResource(handle)
    memory = bytearray(driven.device.functions["CalcPrivateOpenedResourceSize"](desc))
    assert driven.call("OpenResource", desc, memory) == []
    return memory


def test_what_is_written_by_one_device_is_read_by_another() -> None:
    one = Rendering()
    other = Rendering(adapter=one.adapter)
    made = sharing(one)
    found = opened(other, one.device.kernel_handle(made))
    assert other.read(found) == b"data"
    one.call("ResourceUpdateSubresourceUP", made, 0, None, b"more")
    one.call("Flush")
    assert other.read(found) == b"more"
    assert other.device.kernel_handle(found) == one.device.kernel_handle(made)


def test_a_shared_resource_lives_as_long_as_anyone_has_it() -> None:
    one = Rendering()
    other = Rendering(adapter=one.adapter)
    made = sharing(one)
    handle = one.device.kernel_handle(made)
    found = opened(other, handle)
    one.call("DestroyResource", made)
    assert other.read(found) == b"data"
    assert one.adapter.gpu.residency.place(handle)
    third = opened(one, handle)
    other.call("DestroyResource", found)
    one.call("DestroyResource", third)
    with pytest.raises(ContractError, match="shares"):
        opened(one, handle)


def test_only_what_is_shared_is_opened() -> None:
    driven = Rendering(checking=False)
    assert driven.device.kernel_handle(driven.buffer(b"mine")) == 0
    for handle in (0, 1, -1, 1 << 40):
        with pytest.raises(ContractError) as broken:
            opened(driven, handle)
        assert broken.value.rule == "SHARED_RESOURCE"


def test_one_device_appends_where_another_stopped_streaming() -> None:
    one = Rendering()
    other = Rendering(adapter=one.adapter)
    desc = CreateResource(
        [MipInfo(64)], None, ResourceType.BUFFER, BindFlags=int(BindFlag.STREAM_OUTPUT),
        MiscFlags=int(ResourceMisc.SHARED),
    )  # fmt: skip
    made = one.make("Resource", desc)
    found = opened(other, one.device.kernel_handle(made))
    progress = [
        driven.device._parts.resources.objects.open(memory, "")
        for driven, memory in ((one, made), (other, found))
    ]
    other.call("SoSetTargets", [found], 3, [16])
    assert [each.filled.size for each in progress] == [16, 16]
    one.call("SoSetTargets", [made], 3, [0xFFFFFFFF])
    assert [each.filled.size for each in progress] == [16, 16]
