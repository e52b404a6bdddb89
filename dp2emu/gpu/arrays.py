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
    """For each element of consecutive runs of ``counts`` elements: the number of its run, and its
    place in that run.
    """
    which = np.repeat(np.arange(len(counts)), counts)
    return which, np.arange(len(which)) - (np.cumsum(counts) - counts)[which]
