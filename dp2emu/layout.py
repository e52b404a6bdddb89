"""Conversion of construct declarations to NumPy dtypes and ``struct`` formats.

construct declares, builds and explains records; execution reads them through dtypes, without
copies or Python per field.  Format letters are translated by a table, since a letter can mean
different sizes: ``<L`` is 4 bytes in ``struct`` and 8 in NumPy on a 64-bit host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from struct import error as StructError
from typing import Any

import construct
import numpy as np

_LETTERS = {
    "B": "u1", "b": "i1", "H": "u2", "h": "i2", "I": "u4", "i": "i4", "L": "u4", "l": "i4",
    "Q": "u8", "q": "i8", "f": "f4", "d": "f8",
}  # fmt: skip

_STRUCT_LETTERS = {code: letter for letter, code in _LETTERS.items()}

Buffer = bytes | bytearray | memoryview


def packer_of(dtype: np.dtype[Any] | None) -> Struct:
    """The ``struct`` format of a packed dtype, nested records flattened.  Raises TypeError."""
    if dtype is None:
        raise TypeError("a record of variable size has no packed form")
    layout = Struct("<" + _codes(dtype))
    if layout.size != dtype.itemsize:
        raise TypeError(f"{dtype} is not a packed record of scalars")
    return layout


def record_packer(dtype: np.dtype[Any]) -> Callable[[Any], bytes]:
    """A function that packs a record of Python numbers, in tuples that are nested as the dtype is.

    It is faster than NumPy for a single record, and raises ``struct.error`` or OverflowError where
    NumPy would convert or refuse values.  Raises TypeError for a dtype that is not packed.
    """
    pack, shape = packer_of(dtype).pack, _shape(dtype)
    if shape is None:
        return pack
    if any(shape):
        return lambda record: pack(*_leaves(shape, record))

    def pack_flat(record: Any) -> bytes:
        if type(record) is not tuple:
            raise StructError(f"{record!r:.60} is no tuple")
        return pack(*record)

    return pack_flat


def _shape(dtype: np.dtype[Any]) -> list[Any] | None:
    """The shape of a record: of a tuple the shapes of its parts, of a number None."""
    if dtype.names is not None:
        return [_shape(dtype[name]) for name in dtype.names]
    if dtype.subdtype is not None:
        base, (length, *more) = dtype.subdtype
        return [_shape(np.dtype((base, tuple(more))))] * length
    return None


def _leaves(shape: Sequence[Any], value: Any) -> Sequence[Any]:
    """The numbers of a record in order.  Raises ``struct.error`` if it has another shape."""
    if type(value) is not tuple or len(value) != len(shape):
        raise StructError(f"{value!r:.60} are not {len(shape)} fields")
    if not any(shape):
        return value
    leaves: list[Any] = []
    for part, each in zip(shape, value, strict=True):
        leaves += [each] if part is None else _leaves(part, each)
    return leaves


def _codes(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return "".join(_codes(dtype[name]) for name in dtype.names)
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return _codes(base) * int(np.prod(shape))
    return _STRUCT_LETTERS[dtype.str[1:]]


def reader_of(dtype: np.dtype[Any]) -> Callable[[Buffer, int], dict[str, Any]]:
    """A function (buffer, offset) -> fields of a flat record, faster than a NumPy view."""
    names = dtype.names or ()
    unpack = packer_of(dtype).unpack_from
    return lambda buffer, at: dict(zip(names, unpack(buffer, at), strict=True))


def dtype_of(declaration: Any) -> np.dtype[Any] | None:
    """The packed little-endian dtype of a construct, or None if its size depends on data.

    Raises TypeError for an unsupported construct, and if the sizes of both differ.
    """
    try:
        size = declaration.sizeof()
    except construct.SizeofError:
        return None
    dtype = _convert(declaration)
    if dtype.itemsize != size:
        raise TypeError(f"{declaration!r}: dtype has {dtype.itemsize} bytes, construct {size}")
    return dtype


def _convert(declaration: Any) -> np.dtype[Any]:
    if isinstance(declaration, construct.FormatField):
        order, letter = declaration.fmtstr
        if order != "<" and letter not in "Bb":
            raise TypeError(f"{declaration!r} is not little-endian")
        return np.dtype("<" + _LETTERS[letter])
    if isinstance(declaration, construct.Struct):
        return np.dtype(_fields(declaration))
    if isinstance(declaration, construct.Array):
        return np.dtype((_convert(declaration.subcon), (int(declaration.count),)))
    if isinstance(declaration, construct.Bytes):
        return np.dtype(f"V{int(declaration.length)}")
    if isinstance(declaration, (construct.Renamed, construct.Adapter)):
        return _convert(declaration.subcon)
    raise TypeError(f"no dtype for {declaration!r}")


def _fields(declaration: construct.Struct[Any, Any]) -> list[tuple[str, np.dtype[Any]]]:
    return [
        (subcon.name or f"_{index}", _convert(subcon))
        for index, subcon in enumerate(declaration.subcons)
    ]
