"""The operations of a program: one row each, and the row's expression is its meaning.

Every operation takes and gives float32 and has one correct result on every machine.  Comparisons
are with select, never with minimum or maximum, so that a NaN has a defined way through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]

ZERO, UNIT = np.float32(0), np.float32(1)


class Op(NamedTuple):
    """``arity`` operands; ``lanes`` computes the result for NumPy lanes of float32."""

    arity: int
    lanes: Callable[..., F32]


def _saturate(x: F32) -> F32:
    positive = np.where(x > ZERO, x, ZERO)
    return np.where(positive < UNIT, positive, UNIT)


OPS: dict[str, Op] = {
    "add": Op(2, lambda x, y: x + y),
    "mul": Op(2, lambda x, y: x * y),
    "saturate": Op(1, _saturate),
}
"""``saturate`` clamps to 0..1; a NaN becomes 0."""
