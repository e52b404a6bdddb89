"""Structures of the driver interface as ctypes has them on this host."""

from __future__ import annotations

import ctypes
from typing import Any

from construct import Array, FormatField
from construct import Struct as Declared

ABI = 8 * ctypes.sizeof(ctypes.c_void_p)
"""Bits of a pointer on this host."""

_TYPES: dict[str, Any] = {
    "B": ctypes.c_uint8, "H": ctypes.c_uint16, "L": ctypes.c_uint32, "I": ctypes.c_uint32,
    "l": ctypes.c_int32, "i": ctypes.c_int32, "Q": ctypes.c_uint64, "f": ctypes.c_float,
}  # fmt: skip


def structure(name: str, declaration: Any) -> type[ctypes.Structure]:
    """Return a ctypes structure with the layout of a construct declaration; its padding becomes
    members.

    Raises TypeError if the sizes differ on this host.
    """
    fields = [
        (member.name or f"_{place}", _type(f"{name}_{member.name}", member))
        for place, member in enumerate(declaration.subcons)
    ]
    made = type(name, (ctypes.Structure,), {"_fields_": fields})
    if ctypes.sizeof(made) != declaration.sizeof():
        raise TypeError(f"{name} has {ctypes.sizeof(made)} bytes here")
    return made


def _type(name: str, member: Any) -> Any:
    inner = member.subcon if member.name is not None else member
    if isinstance(inner, FormatField):
        return _TYPES[inner.fmtstr[-1]]
    if isinstance(inner, Declared):
        return structure(name, inner)
    if isinstance(inner, Array):
        return _TYPES[inner.subcon.fmtstr[-1]] * inner.count
    return ctypes.c_uint8 * inner.sizeof()


def fill(structure: Any, values: tuple[int, ...]) -> None:
    """Set the first members of a structure to ``values``, in order."""
    for (name, _), value in zip(structure._fields_, values, strict=False):
        setattr(structure, name, value)
