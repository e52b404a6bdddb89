"""Binary raster operations against what Windows says they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dp2emu.gpu.command.raster_operations import COPY, RASTER_OPS, combine

OPERATIONS: dict[int, Callable[[int, int], int]] = {
    1: lambda pen, there: 0,
    2: lambda pen, there: ~(there | pen),
    3: lambda pen, there: there & ~pen,
    4: lambda pen, there: ~pen,
    5: lambda pen, there: pen & ~there,
    6: lambda pen, there: ~there,
    7: lambda pen, there: there ^ pen,
    8: lambda pen, there: ~(there & pen),
    9: lambda pen, there: there & pen,
    10: lambda pen, there: ~(there ^ pen),
    11: lambda pen, there: there,
    12: lambda pen, there: there | ~pen,
    13: lambda pen, there: pen,
    14: lambda pen, there: pen | ~there,
    15: lambda pen, there: there | pen,
    16: lambda pen, there: -1,
}
"""R2_BLACK, NOTMERGEPEN, MASKNOTPEN, NOTCOPYPEN, MASKPENNOT, NOT, XORPEN, NOTMASKPEN, MASKPEN,
NOTXORPEN, NOP, MERGENOTPEN, COPYPEN, MERGEPENNOT, MERGEPEN, WHITE."""


@pytest.mark.parametrize("operation", RASTER_OPS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_an_operation_is_that_of_its_number(operation: int, dtype: type) -> None:
    pen, there = 0b1100_0101, 0b1010_0110
    [word] = combine(operation, np.array([pen], dtype), np.array([there], dtype)).tolist()
    assert word == OPERATIONS[operation](pen, there) % (1 << 8 * np.dtype(dtype).itemsize)


def test_copying_is_one_of_them() -> None:
    assert combine(COPY, np.array([3], np.uint32), np.array([5], np.uint32)).tolist() == [3]
