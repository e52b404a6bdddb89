"""Maps of Direct3D 10 and 11 in traces, and the bytes that the tracer noted."""

from __future__ import annotations

from typing import Any

import pytest

from dp2emu.retrace.open_maps import OpenMaps
from tests.retrace.calls import Pointer, struct
from tests.retrace.d3d11.played import Played, at

READ, WRITE, DISCARD, NO_OVERWRITE = 1, 2, 4, 5
MEMORY = 0x7000_0000
OLD = {"staged": "Texture2D", "line": "Texture1D", "volume": "Texture3D"}


def mapped(row: int = 0, slice: int = 0) -> tuple[Any]:
    pitches = {"RowPitch": row, "DepthPitch": slice}
    return (struct("D3D11_MAPPED_SUBRESOURCE", pData=Pointer(MEMORY), **pitches),)


def map_new(program: Played, name: str, kind: int, row: int = 0, slice: int = 0) -> list[str]:
    return program.of(
        "context", "ID3D11DeviceContext::Map", pResource=at(name), Subresource=0, MapType=kind,
        MapFlags=0, pMappedResource=mapped(row, slice),
    )  # fmt: skip


def unmap_new(program: Played, name: str) -> list[str]:
    return program.of("context", "ID3D11DeviceContext::Unmap", pResource=at(name), Subresource=0)


def store(program: Played, address: int, data: bytes) -> None:
    program.play("memcpy", dest=Pointer(address), src=data, n=len(data))


def test_stored_bytes_reach_the_driver_at_unmap() -> None:
    program = Played(11)
    assert map_new(program, "dynamic", DISCARD) == ["DynamicIABufferMapDiscard(dynamic, 0, 4, 0)"]
    store(program, MEMORY + 4, b"abcd")
    written, unmapped = unmap_new(program, "dynamic")
    assert written == f"Host.Write(dynamic, 0, {(bytes(4) + b'abcd' + bytes(248)).hex()})"
    assert unmapped == "DynamicIABufferUnmap(dynamic, 0)"
    assert program.losses() == []


def test_rows_of_a_texture_have_the_recorder_s_pitch() -> None:
    program = Played(11)
    map_new(program, "staged", WRITE, 48, 192)
    rows = [bytes([row]) * 32 for row in range(4)]
    store(program, MEMORY, b"".join(row + bytes(16) for row in rows))
    written = unmap_new(program, "staged")[0]
    assert written == f"Host.Write(staged, 0, {b''.join(rows).hex()})"


def test_a_map_for_reading_is_a_picture_and_takes_no_bytes() -> None:
    program = Played(11)
    entry, picture = map_new(program, "staged", READ, 32, 128)
    assert (entry, picture) == ("StagingResourceMap(staged, 0, 1, 0)", "picture of staged 0")
    store(program, MEMORY, b"abcd")
    assert unmap_new(program, "staged") == ["StagingResourceUnmap(staged, 0)"]
    assert program.losses() == []


@pytest.mark.parametrize("name", OLD)
def test_textures_of_direct3d_10_are_mapped_by_themselves(name: str) -> None:
    program, interface = Played(10), f"ID3D10{OLD[name]}"
    place: Any = mapped(64, 128) if name != "line" else (Pointer(MEMORY),)
    given = {"Subresource": 0, "MapType": WRITE, "MapFlags": 0, "pMapped": place}
    assert program.of(name, f"{interface}::Map", **given) == [
        f"StagingResourceMap({name}, 0, 2, 0)"
    ]
    store(program, MEMORY, b"abcd")
    written, unmapped = program.of(name, f"{interface}::Unmap", Subresource=0)
    assert written.startswith(f"Host.Write({name}, 0, {b'abcd'.hex()}")
    assert unmapped == f"StagingResourceUnmap({name}, 0)"
    assert program.losses() == []


def test_buffers_of_direct3d_10_are_mapped_by_themselves() -> None:
    program = Played(10)
    given = {"MapType": DISCARD, "MapFlags": 0, "ppData": (Pointer(MEMORY),)}
    program.of("dynamic", "ID3D10Buffer::Map", **given)
    store(program, MEMORY + 252, b"abcd")
    written, _ = program.of("dynamic", "ID3D10Buffer::Unmap")
    assert written == f"Host.Write(dynamic, 0, {(bytes(252) + b'abcd').hex()})"


@pytest.mark.parametrize(
    ("name", "kind", "entry"),
    [
        ("staged", DISCARD, "StagingResourceMap(staged, 0, 2, 0)"),
        ("staged", NO_OVERWRITE, "StagingResourceMap(staged, 0, 2, 0)"),
        ("dynamic", WRITE, "DynamicIABufferMapNoOverwrite(dynamic, 0, 5, 0)"),
    ],
)
def test_a_map_that_only_the_traced_runtime_allows_is_made_as_direct3d_allows_it(
    name: str, kind: int, entry: str
) -> None:
    program = Played(11)
    assert map_new(program, name, kind, 32, 128) == [entry]
    store(program, MEMORY, bytes(128))
    assert unmap_new(program, name)[0].startswith("Host.Write")
    assert program.losses() == []


@pytest.mark.parametrize(("name", "kind"), [("dynamic", READ), ("buffer", WRITE)])
def test_a_map_without_access_is_a_loss(name: str, kind: int) -> None:
    program = Played(11)
    assert map_new(program, name, kind) == []
    assert len(program.losses()) == 1


def test_bytes_beyond_the_memory_are_dropped() -> None:
    program = Played(11)
    map_new(program, "dynamic", DISCARD)
    store(program, MEMORY + 254, b"abcd")
    written, _ = unmap_new(program, "dynamic")
    assert written == f"Host.Write(dynamic, 0, {(bytes(254) + b'ab').hex()})"
    assert program.losses() == []


def test_bytes_in_memory_that_was_unmapped_are_dropped() -> None:
    program = Played(11)
    map_new(program, "dynamic", DISCARD)
    unmap_new(program, "dynamic")
    store(program, MEMORY, b"abcd")
    assert program.losses() == []
    store(program, MEMORY + 0x1000, b"abcd")
    assert program.losses() == ["memcpy: memory that is not locked"]


def test_an_unmap_without_a_map_is_noted() -> None:
    program = Played(11)
    unmap = "ID3D11DeviceContext::Unmap"
    (noted,) = program.of("deferred", unmap, pResource=at("dynamic"), Subresource=0)
    number = program.program.recorder.call
    assert noted == f"dropped: call {number} {unmap}: Unmap of a resource that is not mapped"


def test_a_map_type_that_does_not_exist_is_a_loss() -> None:
    program = Played(11)
    assert map_new(program, "dynamic", 77) == []
    assert program.losses() == ["ID3D11DeviceContext::Map: MapType 77"]


class _Memory:
    def __init__(self, address: int, size: int) -> None:
        self.address, self.size = address, size
        self.stored: list[int] = []

    def store(self, address: int, data: bytes) -> None:
        self.stored.append(address)


def test_a_store_finds_its_map_among_many() -> None:
    maps, memories = OpenMaps(), [_Memory(100 * number, 50) for number in range(1, 200)]
    for memory in reversed(memories):
        maps.begin(memory.address, memory)
    assert maps.store(1249, b"") and memories[11].stored == [1249]
    assert not maps.store(1250, b"")
    maps.end(1200)
    assert maps.store(1200, b"") and not maps.store(1201, b"")
    assert memories[11].stored == [1249]


def test_a_second_map_of_a_part_replaces_the_first() -> None:
    maps, first, second = OpenMaps(), _Memory(100, 50), _Memory(300, 50)
    maps.begin("part", first)
    maps.begin("part", second)
    assert maps.store(310, b"") and not maps.store(110, b"")
    maps.end("part")
    assert not maps.store(310, b"")
