"""What compiled code sets primitives up from beside their corners, which is found once a state."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.kernel.layout import DEPTH, DIVISOR, RHW

TRIANGLES = (
    "reach", "clips", "record", "corners", "divisor", "planes", "plane_count", "front",
)  # fmt: skip
"""What ``setup`` of the arguments is an address of for triangles: how far in grid units a sample
may be from its pixel's centre; the bit of flags that z outside 0 to 1 sets, or 0; words of a
record; the word of its corners, and of the plane of what divides, or 0; ``PLANE`` words for each
plane; the code of the kernel's front, or 0 if the kernel is one function."""
PLANE = ("row", "word", "kind")
"""Row of the corners, of positions or of varyings, word of the record, and bits of its kind."""
FLAT, DIVIDED, PLACED = 1, 2, 4
"""It is level, whatever it is; it is divided by 1 / w; its row is one of positions."""

_PLACED = {DEPTH: 2, RHW: 3}
"""Rows of planes that are positions'."""


def table_of(
    words: Mapping[str, int],
    lanes: tuple[str, ...],
    flat: Container[str],
    divided: Container[str] = (),
) -> I64:
    """The table of planes, whose places are ``words``; ``lanes`` are the rows of varyings."""
    return np.array([
        (_PLACED[name], word, PLACED) if name in _PLACED else
        (lanes.index(name), word, FLAT * (name in flat) + DIVIDED * (name in divided))
        for name, word in words.items() if name != DIVISOR
    ], np.int64)  # fmt: skip
