"""The 16 binary raster operations of Windows (R2_BLACK to R2_WHITE), on pixels as stored.

Number n is a truth table: bit 2 p + d of n - 1 is the result where the source (pen) bit is p and
the destination bit is d.
"""

from __future__ import annotations

from typing import NamedTuple

from dp2emu.shader.builder import Builder
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

COPY = 13
"""Number of the raster operation R2_COPYPEN, by which the source replaces the destination."""
RASTER_OPS = range(1, 17)


class Writing(NamedTuple):
    """How words are stored: the raster operation, and whether all their bits are written."""

    operation: int
    whole: bool


def written_over(
    b: Builder, writing: Writing, drawn: Value, there: Value, mask: Value
) -> tuple[Value]:
    """Formula: the new value of a word of a pixel; bits outside of ``mask`` are preserved."""
    new = combine(writing.operation, drawn, there)
    return (new if writing.whole else new & mask | there & ~mask,)


def combine(operation: int, drawn: Value, there: Value) -> Value:
    """The result of a raster operation on source and destination words."""
    if operation == COPY:
        return drawn
    result = drawn.builder.constant(Type.I32, 0)
    for case, bits in enumerate((~drawn & ~there, ~drawn & there, drawn & ~there, drawn & there)):
        if operation - 1 >> case & 1:
            result = result | bits
    return result
