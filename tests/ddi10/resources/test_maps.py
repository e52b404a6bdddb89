"""Maps: what the host sees, and when it waits."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.ddi10.resources.maps import Map, MapFlag
from dp2emu.ddi10.resources.resource import BindFlag, ResourceType, Usage
from dp2emu.errors import ContractError
from dp2emu.gpu.device.timing import fixed
from tests.ddi10.driving import REMOVED, STILL
from tests.ddi10.rendering import Rendering

TICKS = 100


def slow() -> Rendering:
    """Every packet takes its time, calls hardly any."""
    return Rendering(fixed(call=1, packet=TICKS))


def mapped(driven: Rendering, entry: str, *arguments: Any) -> Any:
    """What an entry puts out; None if it reports."""
    driven.codes.clear()
    return driven.device.functions[entry](*arguments)


def test_a_map_shows_rows_and_slices() -> None:
    driven = Rendering()
    kind = ResourceType.TEXTURE3D
    made = driven.texture(width=6, height=4, depth=2, kind=kind, levels=2, usage=Usage.STAGING)
    whole = mapped(driven, "StagingResourceMap", made, 0, Map.WRITE)
    level = mapped(driven, "StagingResourceMap", made, 1, Map.WRITE)
    assert (whole.RowPitch, whole.DepthPitch, len(whole.pData)) == (24, 96, 192)
    assert (level.RowPitch, level.DepthPitch, len(level.pData)) == (12, 24, 24)
    level.pData[0] = 7
    assert whole.pData[0] == 0


def test_what_is_written_through_a_map_is_there() -> None:
    driven = Rendering()
    made = driven.buffer(bytes(4), usage=Usage.STAGING)
    mapped(driven, "StagingResourceMap", made, 0, Map.READWRITE).pData[1:3] = b"ab"
    driven.call("StagingResourceUnmap", made, 0)
    assert driven.read(made) == b"\0ab\0"


def test_a_map_for_reading_is_not_written_through() -> None:
    driven = Rendering()
    made = driven.buffer(bytes(4), usage=Usage.STAGING)
    with pytest.raises(TypeError):
        mapped(driven, "StagingResourceMap", made, 0, Map.READ).pData[0] = 1


# Waiting


def copying(driven: Rendering) -> bytearray:
    """A staging buffer that the GPU is told to copy to."""
    made = driven.buffer(bytes(4), usage=Usage.STAGING)
    driven.call("ResourceCopy", made, driven.buffer(b"abcd"))
    return made


def test_a_map_waits_for_what_the_gpu_was_told() -> None:
    driven = slow()
    made = copying(driven)
    before = driven.adapter.gpu.now
    assert mapped(driven, "StagingResourceMap", made, 0, Map.READ).pData == b"abcd"
    assert driven.adapter.gpu.now >= before + TICKS


def test_a_map_that_may_not_wait_is_still_drawing_until_it_need_not() -> None:
    driven = slow()
    made = copying(driven)
    codes = []
    while not codes or codes[-1]:
        found = mapped(driven, "StagingResourceMap", made, 0, Map.READ, MapFlag.DONOTWAIT)
        codes.append(list(driven.codes))
    assert codes[0] == STILL
    assert len(codes) == TICKS
    assert found.pData == b"abcd"


def test_a_staging_resource_is_busy_as_long_as_the_gpu_uses_it() -> None:
    driven = slow()
    made, other = copying(driven), driven.buffer(bytes(4), usage=Usage.STAGING)
    busy = driven.device.functions["ResourceIsStagingBusy"]
    assert (busy(made), busy(other)) == (True, False)
    driven.call("Flush")
    assert busy(made)
    driven.adapter.finish()
    assert not busy(made)


def test_a_staging_resource_nobody_uses_is_mapped_while_the_gpu_works() -> None:
    driven = slow()
    copying(driven)
    other = driven.buffer(bytes(4), usage=Usage.STAGING)
    before = driven.adapter.gpu.now
    assert mapped(driven, "StagingResourceMap", other, 0, Map.READ, MapFlag.DONOTWAIT)
    assert driven.adapter.gpu.now < before + TICKS


# Dynamic resources


def dynamic(driven: Rendering, data: bytes = b"old!") -> bytearray:
    return driven.buffer(data, BindFlag.VERTEX_BUFFER, Usage.DYNAMIC)


def test_a_discard_does_not_wait_and_the_gpu_keeps_what_it_was_told_about() -> None:
    driven = slow()
    source, made = dynamic(driven), driven.buffer(bytes(4))
    driven.call("ResourceCopy", made, source)
    before = driven.adapter.gpu.now
    found = mapped(driven, "DynamicIABufferMapDiscard", source, 0, Map.WRITE_DISCARD)
    assert driven.adapter.gpu.now == before
    assert found.pData == bytes(4)
    found.pData[:] = b"new!"
    driven.call("DynamicIABufferUnmap", source, 0)
    later = driven.buffer(bytes(4))
    driven.call("ResourceCopy", later, source)
    assert (driven.read(made), driven.read(later)) == (b"old!", b"new!")


def test_no_overwrite_neither_waits_nor_discards() -> None:
    driven = slow()
    source, made = dynamic(driven), driven.buffer(bytes(4))
    driven.call("ResourceCopy", made, source)
    before = driven.adapter.gpu.now
    found = mapped(driven, "DynamicIABufferMapNoOverwrite", source, 0, Map.WRITE_NOOVERWRITE)
    assert driven.adapter.gpu.now == before
    found.pData[3:] = b"?"
    assert driven.read(made) == b"old?"


@pytest.mark.parametrize(
    ("entry", "unmap"),
    [
        ("DynamicIABufferMapDiscard", "DynamicIABufferUnmap"),
        ("DynamicConstantBufferMapDiscard", "DynamicConstantBufferUnmap"),
        ("DynamicResourceMapDiscard", "DynamicResourceUnmap"),
        ("ResourceMap", "ResourceUnmap"),
    ],
)
def test_every_discarding_map_has_its_unmap(entry: str, unmap: str) -> None:
    driven = Rendering()
    made = dynamic(driven)
    mapped(driven, entry, made, 0, Map.WRITE_DISCARD).pData[:] = b"done"
    assert driven.call(unmap, made, 0) == []
    assert driven.read(made) == b"done"


# Promises


@pytest.mark.parametrize(
    ("usage", "entry", "kind"),
    [
        (Usage.DEFAULT, "StagingResourceMap", Map.READ),
        (Usage.DYNAMIC, "StagingResourceMap", Map.READ),
        (Usage.DEFAULT, "DynamicResourceMapDiscard", Map.WRITE_DISCARD),
        (Usage.STAGING, "DynamicIABufferMapDiscard", Map.WRITE_DISCARD),
        (Usage.IMMUTABLE, "ResourceMap", Map.READ),
    ],
)
def test_maps_go_with_the_usage(usage: Usage, entry: str, kind: Map) -> None:
    driven = Rendering()
    made = driven.buffer(bytes(4), usage=usage)
    with pytest.raises(ContractError) as broken:
        driven.call(entry, made, 0, kind)
    assert broken.value.rule == "MAP_BY_USAGE"


ALLOWED: dict[str, set[Map]] = {
    "ResourceMap": set(Map),
    "StagingResourceMap": {Map.READ, Map.WRITE, Map.READWRITE},
    "DynamicIABufferMapDiscard": {Map.WRITE_DISCARD},
    "DynamicIABufferMapNoOverwrite": {Map.WRITE_NOOVERWRITE},
    "DynamicConstantBufferMapDiscard": {Map.WRITE_DISCARD},
    "DynamicResourceMapDiscard": {Map.WRITE_DISCARD},
}


@pytest.mark.parametrize("kind", list(Map))
@pytest.mark.parametrize("entry", ALLOWED)
def test_every_map_goes_with_its_entries(entry: str, kind: Map) -> None:
    driven = Rendering()
    usage = Usage.STAGING if entry.startswith("Staging") else Usage.DYNAMIC
    made = driven.buffer(bytes(4), usage=usage)
    if kind in ALLOWED[entry]:
        assert driven.call(entry, made, 0, kind) == []
        return
    with pytest.raises(ContractError):
        driven.call(entry, made, 0, kind)


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        ("StagingResourceMap", Map.WRITE_DISCARD),
        ("DynamicResourceMapDiscard", Map.WRITE),
        ("DynamicIABufferMapNoOverwrite", Map.WRITE_DISCARD),
        ("ResourceMap", 0),
        ("ResourceMap", 6),
    ],
)
def test_maps_are_of_their_entry(entry: str, kind: int) -> None:
    driven = Rendering(checking=False)
    with pytest.raises(ContractError) as broken:
        driven.call(entry, dynamic(driven), 0, kind)
    assert broken.value.rule == "KNOWN_STATE"


def test_a_subresource_is_mapped_once_and_unmapped_when_it_is() -> None:
    driven = Rendering()
    made = driven.buffer(bytes(4), usage=Usage.STAGING)
    with pytest.raises(ContractError, match="is not mapped"):
        driven.call("StagingResourceUnmap", made, 0)
    driven.call("StagingResourceMap", made, 0, Map.READ)
    with pytest.raises(ContractError, match="is mapped"):
        driven.call("StagingResourceMap", made, 0, Map.READ)


@pytest.mark.parametrize("index", [-1, 1])
def test_only_subresources_that_there_are_are_mapped(index: int) -> None:
    driven = Rendering(checking=False)
    with pytest.raises(ContractError, match="no such subresource"):
        driven.call("ResourceMap", driven.buffer(bytes(4)), index, Map.READ)


def test_samples_are_neither_mapped_nor_updated() -> None:
    driven = Rendering(checking=False)
    made = driven.texture(samples=4)
    for entry, arguments in (
        ("ResourceMap", (made, 0, Map.READ)),
        ("ResourceUpdateSubresourceUP", (made, 0, None, bytes(1 << 12), 64, 0)),
    ):
        with pytest.raises(ContractError) as broken:
            driven.call(entry, *arguments)
        assert broken.value.rule == "SAMPLES"


def test_what_is_mapped_is_not_used() -> None:
    driven = Rendering()
    staging, made = driven.buffer(bytes(4), usage=Usage.STAGING), driven.buffer(bytes(4))
    driven.call("StagingResourceMap", staging, 0, Map.WRITE)
    with pytest.raises(ContractError) as broken:
        driven.call("ResourceCopy", made, staging)
    assert broken.value.rule == "USED_MAPPED"
    driven.call("StagingResourceUnmap", staging, 0)
    assert driven.call("ResourceCopy", made, staging) == []


def test_a_removed_device_maps_nothing() -> None:
    driven = Rendering()
    made = driven.buffer(bytes(4))
    driven.adapter.remove()
    assert driven.call("ResourceMap", made, 0, Map.READ) == REMOVED
