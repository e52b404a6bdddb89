"""What threads that draw together are called with: 64-bit words by name, addresses unless said."""

from __future__ import annotations

from dp2emu.gpu.kernel.layout import RESULTS

JOB = (
    "next", "items", "end", "item_words",
    "each", "block", "start", "count", "level", "vertices", "setup",
    "kernel", "parts", "top", "bottom", "shift",
)  # fmt: skip
"""What all of them know.  ``next`` is the number of the item, or of the band, that nobody has
taken yet.  Items are those from ``items`` to below ``end``; ``item_words`` has ``ITEM`` words of
each from number 0 on.  An item is ``each`` primitives of the ``count`` from ``start`` on, the
last one fewer; ``block`` of them are gathered and set up at once.  ``level`` is 1 if what sets
triangles up is for those without perspective, and -1 if nobody looks whether they have any.  Of
the rows from ``top`` to below ``bottom`` a band has those that are the same but for the low
``shift`` bits, which are ``parts`` bands."""

HAND = ("job", "words", "arguments", "lanes", "numbers", "corners", "record", *RESULTS)
"""What each of them has for itself: the words of the vertex stages, the arguments of a kernel and
of what sets up triangles, room for the corners and numbers of an item, and what its kernel counts.
A record has ``record`` words, the corners of its triangle from word ``corners`` on."""

ITEM = (
    "records", "lists", "list_step", "counts", "what", "level",
    "taken", "triangles", "made", "area",
)  # fmt: skip
"""Some primitives.  A band has ``counts`` i64 numbers of them, i32 each, ``list_step`` bytes after
those of the band before.  ``what`` became of them when they were set up: see below; ``level`` is 1
if no triangle has perspective.  ``taken`` are on the screen, ``triangles`` are left after culling,
of which ``made`` ones have records; the area is doubled, in pixels."""

READY, ALONE, TILTED = 0, 1, 2
"""They can be drawn, have to be drawn by themselves, or have perspective that ``setup`` is not
for."""
