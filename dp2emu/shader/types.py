"""The three types a lane holds, and how NumPy holds them."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
Mask = NDArray[np.bool_]
Lanes = NDArray[Any]
"""Values of one slot: float32, int32 or bool, of shape (lanes,), or (1,) if all lanes agree."""

NAN_BITS = 0x7FC00000
"""The NaN that is seen wherever the bits of a float32 become visible."""


class Type(Enum):
    """What a slot holds.  An I32 is signed or unsigned by the operation that reads it."""

    F32 = "f32"
    I32 = "i32"
    BOOL = "bool"

    # A program has one for each of its slots, and is hashed: an enumeration would hash the name.
    __hash__ = object.__hash__

    @property
    def letter(self) -> str:
        """First letter of the name, which prefixes slots in text."""
        return self.value[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """What NumPy calls it."""
        return _DTYPES[self]


_DTYPES: dict[Type, np.dtype[Any]] = {
    Type.F32: np.dtype(np.float32),
    Type.I32: np.dtype(np.int32),
    Type.BOOL: np.dtype(np.bool_),
}


def canonical(lanes: F32) -> F32:
    """The same values with every NaN as ``NAN_BITS``; the same array if it has none."""
    bad = np.isnan(lanes)
    if not bad.any():
        return lanes
    return np.where(bad, np.array(NAN_BITS, np.uint32).view(np.float32), lanes)
