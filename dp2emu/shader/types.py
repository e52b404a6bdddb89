"""The types of slots and their NumPy equivalents."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
Lanes = NDArray[Any]
"""Values of a slot, in the dtype of its type; shape (lanes,), or (1,) if uniform across lanes."""
_Floats = TypeVar("_Floats", F32, F64)

NAN_BITS = 0x7FC00000
"""The canonical NaN: every NaN has these bits where the bits of a float32 are observable."""
WIDE_NAN_BITS = 0x7FF8000000000000
"""The canonical NaN of float64."""


class Type(Enum):
    """Type of a slot.  The operation that reads an integer decides whether it is signed.

    Shaders are lowered to F32, I32 and BOOL; F64 and I64 are for the fixed stages around them.
    """

    F32 = "f32"
    I32 = "i32"
    BOOL = "bool"
    F64 = "f64"
    I64 = "i64"

    # Enum hashes the member's name, which is slow for programs with thousands of slots.
    __hash__ = object.__hash__

    @property
    def letter(self) -> str:
        """The letter that prefixes slots in text; F64 and I64 are (d)ouble and (l)ong."""
        return _LETTERS[self]

    @property
    def bits(self) -> int:
        """The size of a value, 1 for a BOOL."""
        return 1 if self is Type.BOOL else 8 * self.dtype.itemsize

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return _DTYPES[self]


_DTYPES: dict[Type, np.dtype[Any]] = {
    Type.F32: np.dtype(np.float32),
    Type.I32: np.dtype(np.int32),
    Type.BOOL: np.dtype(np.bool_),
    Type.F64: np.dtype(np.float64),
    Type.I64: np.dtype(np.int64),
}
_LETTERS = dict(zip(Type, "fibdl", strict=True))
FLOATS = frozenset({Type.F32, Type.F64})


def canonical(lanes: _Floats) -> _Floats:
    """Replace every NaN by ``NAN_BITS`` or ``WIDE_NAN_BITS``; returns the same array if it has
    none.
    """
    bad = np.isnan(lanes)
    if not bad.any():
        return lanes
    return np.where(bad, _NANS[lanes.dtype.itemsize], lanes)


_NANS: dict[int, NDArray[Any]] = {
    4: np.array(NAN_BITS, np.uint32).view(np.float32),
    8: np.array(WIDE_NAN_BITS, np.uint64).view(np.float64),
}
