"""Names of class linkage in a container."""

from __future__ import annotations

import struct

import pytest

from dp2emu.errors import ShaderError
from dp2emu.shader.files import container_text, packed
from dp2emu.shader.sm4 import pack
from dp2emu.shader.sm4.container import Chunk
from dp2emu.shader.sm4.interfaces import ClassInstance, ClassType, InterfaceSlot, interfaces_in
from tests.shader.sm4.making import code_of

NAMES = b"cRed\0cBlue\0g_red\0"
TYPES_AT = 28
INSTANCES_AT = TYPES_AT + 2 * 12
SLOTS_AT = INSTANCES_AT + 16
LISTS_AT = SLOTS_AT + 2 * 16
NAMES_AT = LISTS_AT + 4 + 8 + 4


def chunk(*, types: int = 2, at: int = TYPES_AT, name: int = NAMES_AT, classes: int = 2) -> bytes:
    return b"".join(
        (
            struct.pack("<7I", 1, types, 2, 4, LISTS_AT, at, SLOTS_AT),
            struct.pack("<I4H", name, 0, 16, 0, 0),
            struct.pack("<I4H", NAMES_AT + 5, 1, 32, 1, 1),
            struct.pack("<I6H", NAMES_AT + 11, 0, 1, 2, 3, 0xFFFF, 0xFFFF),
            struct.pack("<4I", 1, classes, LISTS_AT, LISTS_AT + 4),
            struct.pack("<4I", 3, 1, LISTS_AT + 2, LISTS_AT + 12),
            struct.pack("<2H3I", 0, 1, 4, 5, 6),
            NAMES,
        )
    )


def test_classes_instances_and_interfaces_have_names_and_numbers() -> None:
    found = interfaces_in(Chunk("IFCE", chunk()))
    assert found.types == (ClassType("cRed", 0, 16, 0, 0), ClassType("cBlue", 1, 32, 1, 1))
    assert found.instances == (ClassInstance("g_red", 0, 2, 3, None, None),)
    assert found.slots == (InterfaceSlot(0, 1, {0: 4, 1: 5}), InterfaceSlot(1, 3, {1: 6}))


def test_text_of_a_container_tells_its_class_linkage() -> None:
    data = pack([Chunk("IFCE", chunk()), Chunk("SHEX", code_of("vs_5_0"))])
    text = container_text(data)
    assert "    // class 1 cBlue: 32 bytes, 1 textures, 1 samplers\n" in text
    assert "    // instance g_red of class 0: cb 2, offset 3\n" in text
    assert "    // interface fp1[3]: class 1 ft6\n" in text
    assert packed(text) == data


DAMAGED = [
    b"",
    chunk()[:27],
    chunk()[: SLOTS_AT + 3],
    chunk(types=2**32 - 1),
    chunk(at=2**32 - 1),
    chunk(name=2**32 - 1),
    chunk(classes=2**31),
    chunk()[:-1],
]


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_chunk_is_one_error(data: bytes) -> None:
    with pytest.raises(ShaderError, match="IFCE"):
        interfaces_in(Chunk("IFCE", data))
