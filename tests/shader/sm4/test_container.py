"""Containers: what is in them, and one error with its place for everything else."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.errors import ShaderError
from dp2emu.shader.sm4.container import (
    Chunk,
    ComponentType,
    Element,
    Signature,
    _compressed,
    digest,
    pack,
    unpack,
)
from tests.shader.sm4.making import container, recorded

IDS = [row["shader"] for row in recorded()]
PLAIN = container("ps_color")
TYPES = {ComponentType.UINT: "uint32", ComponentType.INT: "sint32", ComponentType.FLOAT: "float32"}


def listed(signature: Signature) -> list[list[object]]:
    return [
        [
            each.semantic,
            each.index,
            each.system_value,
            TYPES[each.component],
            -1 if each.register is None else each.register,
            each.mask,
            each.used,
            each.stream,
        ]
        for each in signature
    ]


@pytest.mark.parametrize("row", recorded(), ids=IDS)
def test_recorded_container_holds_what_reflection_says(row: dict[str, Any]) -> None:
    found = unpack(bytes.fromhex(row["dxbc"]))
    assert [chunk.tag for chunk in found.chunks] == row["chunks"]
    assert found.program.hex() == row["tokens"]
    assert listed(found.inputs) == row["inputs"]
    assert listed(found.outputs) == row["outputs"]
    assert listed(found.patch_constants) == row["patch_constants"]


@pytest.mark.parametrize("row", recorded(), ids=IDS)
def test_recorded_container_is_packed_again_with_its_hash(row: dict[str, Any]) -> None:
    data = bytes.fromhex(row["dxbc"])
    assert pack(unpack(data).chunks) == data


@given(st.binary(max_size=70))
def test_hash_is_md5_of_blocks_that_end_otherwise(data: bytes) -> None:
    """The compression under it is that of MD5: with MD5's own ending it gives MD5."""
    ended = (data + b"\x80").ljust(-(-(len(data) + 9) // 64) * 64 - 8, b"\0")
    ended += struct.pack("<Q", 8 * len(data))
    state = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
    for block in struct.iter_unpack("<16I", ended):
        state = _compressed(state, block)
    assert struct.pack("<4I", *state) == hashlib.md5(data).digest()
    assert len(digest(data)) == 16


def test_changed_byte_makes_the_hash_wrong() -> None:
    for at in range(20, len(PLAIN)):
        if 24 <= at < 32:
            continue
        changed = bytearray(PLAIN)
        changed[at] ^= 0x10
        with pytest.raises(ShaderError):
            unpack(bytes(changed))
    with pytest.raises(ShaderError, match="hash of the container is wrong") as raised:
        unpack(PLAIN[:-1] + b"\x01")
    assert raised.value.offset == 4


def test_hash_can_be_ignored() -> None:
    assert unpack(PLAIN[:4] + bytes(16) + PLAIN[20:], hashed=False) == unpack(PLAIN)


def test_every_cut_is_refused() -> None:
    for size in range(len(PLAIN)):
        with pytest.raises(ShaderError) as raised:
            unpack(PLAIN[:size])
        assert raised.value.offset in (24, size)


def patched(at: int, *words: int) -> bytes:
    data = bytearray(PLAIN)
    struct.pack_into(f"<{len(words)}I", data, at, *words)
    return bytes(data)


TABLE = 32
ISGN = struct.unpack_from("<I", PLAIN, TABLE + 4)[0]
SIZE = len(PLAIN)

REFUSED = [
    (patched(0, 0x44584244), 0, "no DXBC container"),
    (patched(20, 2), 20, "2 is no version of a container"),
    (patched(24, SIZE + 1), 24, f"the container has {SIZE} bytes, not {SIZE + 1}"),
    (patched(28, 0xFFFFFFFF), 28, "no room for 4294967295 chunks"),
    (patched(28, 0), 0, "0 programs in a container"),
    (patched(TABLE, SIZE - 7), TABLE, "no chunk at 0x1c9"),
    (patched(TABLE, 0xFFFFFFFF), TABLE, "no chunk at 0xffffffff"),
    (patched(ISGN + 4, 0x1000), ISGN + 4, "a chunk of 4096 bytes goes past the end"),
    (patched(ISGN + 8, 4), ISGN + 8, "ISGN has no room for 4 elements"),
    (patched(ISGN + 12, 12), ISGN + 12, "elements of ISGN do not begin at 12"),
    (patched(ISGN + 16, 0x4C), ISGN + 16, "no name at 0x4c of ISGN"),
    (patched(ISGN + 28, 4), ISGN + 16, "4 is no component type"),
    (patched(ISGN + 4, 4), ISGN + 12, "ISGN ends in its header"),
    (patched(ISGN, 0x4E47534F), ISGN + 8 + 84, "OSGN is a second signature"),
    (patched(ISGN, 0x52444853), 0, "2 programs in a container"),
]


@pytest.mark.parametrize(("data", "offset", "what"), REFUSED)
def test_bad_container_is_refused_where_it_is_bad(data: bytes, offset: int, what: str) -> None:
    with pytest.raises(ShaderError, match=what) as raised:
        unpack(data, hashed=False)
    assert raised.value.offset == offset


def test_container_is_of_bounded_size() -> None:
    size = (1 << 22) + 4
    data = bytearray(PLAIN.ljust(size, b"\0"))
    data[24:28] = size.to_bytes(4, "little")
    with pytest.raises(ShaderError, match="more than 4194304 bytes") as raised:
        unpack(bytes(data))
    assert raised.value.offset == 24


def test_chunks_do_not_overlap() -> None:
    data = bytearray(pack([Chunk("RDEF", bytes(100)), Chunk("STAT", b""), Chunk("SFI0", b"")]))
    data[36:44] = data[32:36] * 2
    with pytest.raises(ShaderError, match="chunks overlap") as raised:
        unpack(bytes(data), hashed=False)
    assert raised.value.offset == 36


@pytest.mark.parametrize(("tag", "stream", "precision"), [("OSG5", 3, 0), ("OSG1", 2, 4)])
def test_long_elements_have_streams_and_precisions(tag: str, stream: int, precision: int) -> None:
    words = [1, 8, stream, 0, 5, 64, 1, 0xFFFFFFFF, 0x0C0F]
    words += [precision] if tag == "OSG1" else []
    words[3] = 4 * len(words)
    data = struct.pack(f"<{len(words)}I", *words) + b"NAME\0"
    program = Chunk("SHEX", b"")
    (found,) = unpack(pack([Chunk(tag, data), program])).outputs
    assert found == Element("NAME", 5, 64, ComponentType.UINT, None, 15, 12, stream, precision)


@given(st.binary(max_size=200), st.integers(0, len(PLAIN)), st.booleans())
def test_damaged_container_is_refused_or_read(part: bytes, at: int, behind_magic: bool) -> None:
    at = max(at, 20) if behind_magic else at
    data = PLAIN[:at] + part + PLAIN[at + len(part) :]
    try:
        unpack(data, hashed=False)
    except ShaderError as error:
        assert error.offset is not None and 0 <= error.offset <= len(data)
