"""Array types of the pipeline, and ragged arrays.  Lanes are the last axis everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[Any]
"""Array of pixel words, whose dtype depends on the pixel format."""


def expand(counts: I64) -> tuple[I64, I64]:
    """Two arrays for ``counts`` = [2, 3], which split numbers 0 to 4 into groups of 2 and 3: the
    group number of each element, here 0 0 1 1 1, and its index in the group, here 0 1 0 1 2.
    """
    which = np.arange(len(counts)).repeat(counts)
    return which, np.arange(len(which)) - (counts.cumsum() - counts)[which]
