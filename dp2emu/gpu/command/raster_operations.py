"""The 16 binary raster operations of Windows (R2_BLACK to R2_WHITE), on pixels as stored.

Number n is a truth table: bit 2 p + d of n - 1 is the result where the bit drawn is p and the bit
that was there is d.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

COPY = 13
"""R2_COPYPEN: what is drawn takes the place of what was there."""
RASTER_OPS = range(1, 17)

Words = NDArray[Any]


def combine(operation: int, drawn: Words, there: Words) -> Words:
    """Words of unsigned integers after an operation."""
    table = operation - 1
    result = drawn ^ drawn
    for case, bits in enumerate((~drawn & ~there, ~drawn & there, drawn & ~there, drawn & there)):
        if table >> case & 1:
            result |= bits
    return result
