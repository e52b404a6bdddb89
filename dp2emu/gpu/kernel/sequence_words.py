"""What a sequence of small draws is described by: 64-bit words by name, addresses unless said."""

from __future__ import annotations

from dp2emu.gpu.kernel.layout import RESULTS
from dp2emu.gpu.kernel.vertex_words import DRAW

OWN = DRAW[: DRAW.index("bindings") + 1]
"""What draws of a recipe have for themselves of the words of the vertex stages."""

ROW = ("recipe", "sources", "program", *OWN)
"""A draw.  ``sources`` are ``vertex_words.SOURCE`` words of its elements, ``program`` is what its
pixel program reads."""

LEVELS = ("kernel", "setup", "arguments", "size")
COUNTS = ("draws", "primitives", "extra", "clipped", "triangles", *RESULTS)
RECIPE = (
    "words", "into", "source_words", "pieces", "lanes", "shaded", "top", "bottom", "samples",
    *(f"{name}{level}" for level in range(2) for name in LEVELS), *COUNTS,
)  # fmt: skip
"""How draws of a state are drawn.  ``words`` are those of the vertex stages, ``into`` is where
their ``source_words`` words of sources go; cutting a primitive leaves no more than ``pieces``.
``lanes`` are varyings, ``shaded`` is 1 if nobody looks whether they have perspective.  Kernels are
for primitives with it, and, if they have a 1, for triangles without; 0 if they are not known yet.
``size`` is the words of a record.  What is counted adds up."""

ROOM = (
    "vertices", "cutting",
    "lanes", "lane_room", "numbers", "number_room", "records", "record_room",
)  # fmt: skip
"""The functions of the vertex stages, of which the one that cuts is 0 if it is not compiled yet,
and memory for doubles, i64 and records, in words."""

DONE, ALONE, PLANNED = 0, 1, 2
"""What became of a draw: it is drawn, has to be drawn by itself, or waits for a kernel, of which
the number follows."""
