"""The types of slots and their NumPy equivalents."""

from __future__ import annotations

from enum import Enum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I32 = NDArray[np.int32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
Lanes = NDArray[Any]
"""Values of a slot: an array of its dtype, shape (lanes,), or (1,) if uniform across lanes."""

NAN_BITS = 0x7FC00000
"""Bits of the canonical float32 NaN, which stands for every NaN where bits are observable."""
WIDE_NAN_BITS = 0x7FF8000000000000
"""Bits of the canonical float64 NaN, 0x7FF8000000000000."""


class Type(Enum):
    """Type of a slot.  The operation that reads an integer decides whether it is signed.

    Shaders are lowered to F32, I32 and BOOL, and where they have doubles to F64 and I64, which
    the fixed stages around them use too.
    """

    F32 = "f32", "f", 32, np.float32
    I32 = "i32", "i", 32, np.int32
    BOOL = "bool", "b", 1, np.bool_
    F64 = "f64", "d", 64, np.float64
    I64 = "i64", "l", 64, np.int64

    letter: str
    """The letter that prefixes slots in text; F64 and I64 are (d)ouble and (l)ong."""
    bits: int
    """The size of a value in bits."""
    dtype: np.dtype[Any]
    """The NumPy dtype."""

    def __new__(cls, name: str, letter: str, bits: int, scalar: type[np.generic]) -> Self:
        """Create a member of the enumeration; its value is ``name``."""
        self = object.__new__(cls)
        self._value_, self.letter, self.bits, self.dtype = name, letter, bits, np.dtype(scalar)
        return self

    # Enum hashes the member's name, which is slow for programs with thousands of slots.
    __hash__ = object.__hash__


FLOATS = frozenset({Type.F32, Type.F64})
