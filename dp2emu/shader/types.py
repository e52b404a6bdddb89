"""The types of slots and their NumPy equivalents."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
Mask = NDArray[np.bool_]
Lanes = NDArray[Any]
"""Values of a slot: float32, int32 or bool, of shape (lanes,), or (1,) if uniform across lanes."""

NAN_BITS = 0x7FC00000
"""The canonical NaN: every NaN has these bits where the bits of a float32 are observable."""


class Type(Enum):
    """Type of a slot.  The operation that reads an I32 decides whether it is signed."""

    F32 = "f32"
    I32 = "i32"
    BOOL = "bool"

    # Enum hashes the member's name, which is slow for programs with thousands of slots.
    __hash__ = object.__hash__

    @property
    def letter(self) -> str:
        """First letter of the name, which prefixes slots in text."""
        return self.value[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return _DTYPES[self]


_DTYPES: dict[Type, np.dtype[Any]] = {
    Type.F32: np.dtype(np.float32),
    Type.I32: np.dtype(np.int32),
    Type.BOOL: np.dtype(np.bool_),
}


def canonical(lanes: F32) -> F32:
    """Replace every NaN by ``NAN_BITS``; returns the same array if it has none."""
    bad = np.isnan(lanes)
    if not bad.any():
        return lanes
    return np.where(bad, np.array(NAN_BITS, np.uint32).view(np.float32), lanes)
