"""The 16 binary raster operations of Windows (R2_BLACK to R2_WHITE), on pixels as stored.

Number n is a truth table: bit 2 p + d of n - 1 is the result where the bit drawn is p and the bit
that was there is d.
"""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.shader.builder import Builder
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

COPY = 13
"""R2_COPYPEN: what is drawn takes the place of what was there."""
RASTER_OPS = range(1, 17)


class Writing(NamedTuple):
    """How drawn words are stored: by which operation, and whether all their bits are."""

    operation: int
    whole: bool


def written_over(
    b: Builder, writing: Writing, drawn: Value, there: Value, mask: Value
) -> tuple[Value]:
    """Formula: what a part of a pixel becomes; bits that ``mask`` lacks stay."""
    new = combine(writing.operation, drawn, there)
    return (new if writing.whole else new & mask | there & ~mask,)


def combine(operation: int, drawn: Value, there: Value) -> Value:
    """A raster operation on words."""
    if operation == COPY:
        return drawn
    result = drawn.builder.constant(Type.I32, 0)
    for case, bits in enumerate((~drawn & ~there, ~drawn & there, drawn & ~there, drawn & there)):
        if operation - 1 >> case & 1:
            result = result | bits
    return result
