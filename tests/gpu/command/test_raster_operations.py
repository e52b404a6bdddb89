"""Binary raster operations against what Windows says they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dp2emu.gpu.command.raster_operations import COPY, RASTER_OPS, Writing, written_over
from dp2emu.shader.formulas import computed

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


def stored(writing: Writing, drawn: int, there: int, mask: int) -> int:
    lanes = (np.array([each], np.uint32) for each in (drawn, there, mask))
    (words,) = computed(written_over, writing, *lanes)
    return int(np.broadcast_to(words, 1).view(np.uint32)[0])


@pytest.mark.parametrize("operation", RASTER_OPS)
def test_an_operation_is_that_of_its_number(operation: int) -> None:
    pen, there = 0xF0C5A536, 0xA6C3FF00
    found = stored(Writing(operation, whole=True), pen, there, 0)
    assert found == OPERATIONS[operation](pen, there) % (1 << 32)


def test_copying_is_one_of_them() -> None:
    assert stored(Writing(COPY, whole=True), 3, 5, 0) == 3


def test_bits_that_are_masked_stay() -> None:
    assert stored(Writing(COPY, whole=False), 0x12345678, 0xAAAAAAAA, 0x00FF00FF) == 0xAA34AA78
