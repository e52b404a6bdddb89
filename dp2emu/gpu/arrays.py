"""Names for the array types of the pipeline.  Lanes are the last axis everywhere."""

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
