"""Chunk IFCE of a container: names and numbers of class linkage (SM4-5 tokens, "Class linkage").

The runtime finds class types and instances by name there, and the function table of a class for an
interface; the driver gets numbers only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from dp2emu.errors import ShaderError
from dp2emu.shader.sm4.container import Chunk, name_at

INTERFACES_TAG = "IFCE"
_HEADER = struct.Struct("<7I")
_TYPE = struct.Struct("<I4H")
_INSTANCE = struct.Struct("<I6H")
_SLOT = struct.Struct("<4I")
_NONE = 0xFFFF


class ClassType(NamedTuple):
    """A class: its name, its number, and what an instance has of constants (bytes) and slots."""

    name: str
    number: int
    constants: int
    textures: int
    samplers: int


class ClassInstance(NamedTuple):
    """A named instance: the number of its class, and the places of its data, None for nothing."""

    name: str
    type: int
    constant_buffer: int | None
    offset: int | None
    texture: int | None
    sampler: int | None


class InterfaceSlot(NamedTuple):
    """An interface: its first pointer, their number, and the table of each class it accepts."""

    first: int
    length: int
    tables: dict[int, int]


class Interfaces(msgspec.Struct, frozen=True):
    """The contents of a chunk IFCE."""

    types: tuple[ClassType, ...]
    instances: tuple[ClassInstance, ...]
    slots: tuple[InterfaceSlot, ...]


def interfaces_in(chunk: Chunk) -> Interfaces:
    """Read a chunk IFCE.  Raises ShaderError for a part that is outside of the chunk."""
    header = _rows(chunk, _HEADER, 0, 1)
    instances, types, slots, _, _, at_types, at_slots = next(header)
    at_instances = at_types + types * _TYPE.size
    return Interfaces(
        tuple(ClassType(name_at(chunk, name), *rest)
              for name, *rest in _rows(chunk, _TYPE, at_types, types)),
        tuple(ClassInstance(name_at(chunk, name), type, *map(_place, rest))
              for name, type, _, *rest in _rows(chunk, _INSTANCE, at_instances, instances)),
        tuple(_slots(chunk, at_slots, slots)),
    )  # fmt: skip


def _slots(chunk: Chunk, at: int, count: int) -> Iterator[InterfaceSlot]:
    first = entries = 0
    for length, classes, at_types, at_tables in _rows(chunk, _SLOT, at, count):
        entries += classes
        if entries > len(chunk.data):
            raise ShaderError(f"{chunk.tag} lists classes more than once", offset=chunk.offset)
        types = (type for (type,) in _rows(chunk, struct.Struct("<H"), at_types, classes))
        tables = (table for (table,) in _rows(chunk, struct.Struct("<I"), at_tables, classes))
        yield InterfaceSlot(first, length, dict(zip(types, tables, strict=True)))
        first += length


def _rows(chunk: Chunk, row: struct.Struct, at: int, count: int) -> Iterator[tuple[int, ...]]:
    size = row.size * count
    if size > len(chunk.data) - at:
        what = f"{chunk.tag} has no {size} bytes at {at:#x}"
        raise ShaderError(what, offset=chunk.offset + min(at, len(chunk.data)))
    return row.iter_unpack(chunk.data[at : at + size])


def _place(number: int) -> int | None:
    return None if number == _NONE else number
