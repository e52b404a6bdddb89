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
"""Pixel words: the storage dtype depends on the format."""


def expand(counts: I64) -> tuple[I64, I64]:
    """Run and place in its run of each element of runs of ``counts`` elements."""
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - (np.cumsum(counts) - counts)[which]
