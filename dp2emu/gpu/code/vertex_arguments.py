"""Arguments of compiled stages: 64-bit words by name."""

from __future__ import annotations

import msgspec

from dp2emu.shader.jit.scalars import Code, Value


class ArgumentWords(msgspec.Struct, frozen=True):
    """Words that lie at an address, as text that reads and writes them."""

    code: Code
    base: Value
    places: dict[str, int]

    @classmethod
    def of(cls, code: Code, names: tuple[str, ...], base: Value | None = None) -> ArgumentWords:
        """Those of the parameter ``words`` unless another address is given."""
        places = {name: place for place, name in enumerate(names)}
        return cls(code, code["words"] if base is None else base, places)

    def integer(self, name: str) -> Value:
        """A word as i64."""
        return self._load("i64", name)

    def integers(self, *names: str) -> list[Value]:
        """Several."""
        return [self.integer(name) for name in names]

    def pointer(self, name: str) -> Value:
        """A word as an address."""
        return self._load("ptr", name)

    def pointers(self, *names: str) -> list[Value]:
        """Several."""
        return [self.pointer(name) for name in names]

    def double(self, name: str) -> Value:
        """A word as the bits of a double."""
        return self._load("double", name)

    def set(self, name: str, value: Value) -> None:
        """Leave an i64 for who called."""
        self.code.store(value, self.base, self.places[name])

    def _load(self, type: str, name: str) -> Value:
        return self.code.load(type, self.base, self.places[name])


# What the compiled vertex stages are called with, by name; addresses unless said otherwise.

DRAW = (
    "first", "start", "count",
    "indices", "index_bytes", "index_at", "index_size", "index_low", "index_high", "base",
    "bindings", "edges", "edge_pitch",
    "view_x", "half_width", "view_y", "half_height", "min_z", "z_range", "centre",
)  # fmt: skip
"""What each draw has for itself: ``count`` primitives from ``start`` on.  ``indices`` is 0 if
there are none, or where ``index_bytes`` bytes are, of which those from ``index_at`` on are indices
of ``index_size`` 2 or 4 bytes; at places below ``index_low`` and above ``index_high`` is none.
``bindings`` are the program's.  ``edges`` are three rows of bytes ``edge_pitch`` apart, 0 if all
edges are there.  The viewport are doubles; ``centre`` is taken off x and y."""

DOUBLES = 7
"""How many of these are doubles, the last ones."""

TAKING = ("taken", "capacity", "numbers_taken", "edges_taken", "lanes", "extra")
"""``taken`` takes three rows of ``capacity`` doubles for each of screen x, y, z, rhw and the
varyings; ``numbers_taken`` i64; ``edges_taken``, if it is not 0, three rows of bytes.  ``lanes``
is left there, how many vertices are distinct, and ``extra``, the triangles that cutting added."""

NUMBERS = (
    "step0", "odd0", "offset0", "step1", "odd1", "offset1", "step2", "odd2", "offset2",
    "numbers", "distinct", "places", "table", "slots", "table_size",
)  # fmt: skip
"""Corner c of primitive i is vertex (or index) ``first + step * i + odd * (i & 1) + offset``.
``numbers`` takes 3 * count i64, ``places`` as many i32: the lane of each corner in ``distinct``,
i64 with room for as many.  ``table`` and ``slots`` are room for ``table_size`` i64 and i32, a
power of two of 6 * count or more."""

CORNER = ("step", "odd", "offset")
"""The words of each corner among these, from ``step0`` on."""

SHADING = (
    "lane_words", "lane_count", "identity",
    "loop", "body", "in", "inputs", "input_count", "out", "outputs", "output_count",
)  # fmt: skip
"""``lane_words`` has ``LANE`` words for each component of an element.  ``identity`` takes the
numbers less ``base`` as i32, if it is not 0.  ``loop`` runs a program (``shader.jit.batches``) and
what follows are its arguments; ``body`` is 0 if there is none."""

SOURCE = ("data", "end", "at", "stride", "whole", "low", "high", "first", "divider")
"""An element lies at byte ``at + number * stride`` of ``data``, which has ``end``; of numbers
below ``whole`` all of it is there, of those below ``low`` and above ``high`` nothing."""

LANE = ("source", "word", "left", "right", "mode", "scale", "row")
"""A component is ``(word << left) >> right`` of the 32-bit ``word`` of the element, ``source``
being where its words are, read as ``mode`` says and divided by ``scale``, a double.  ``row`` takes
floats."""

RAW, SIGNED, UNSIGNED, HALF, FRACTION, WHOLE_SIGNED, WHOLE_UNSIGNED, SMALL = range(8)
"""Modes: the bits as they are, integers with and without a sign, a float of 16 bits; a fraction of
at least -1, the bits of integers with and without a sign, and a float of 10, 11 or 16 bits, of
which every NaN is the canonical one."""

PLACING = ("x", "y", "z", "w", "room", "screen", "inside", "depth",
           "plane_count", "planes", "distances", "cull_count", "culls")  # fmt: skip
"""``x`` to ``w`` are rows of floats, in clip space if there is a program.  ``screen`` takes four
rows of ``room`` doubles, x, y, z and 1 / w; ``inside`` an i64 for each vertex; ``distances`` a row
for each user plane.  ``planes`` has ``PLANE`` words for each.  ``depth`` is 1 if z is clipped.
``culls`` are ``cull_count`` rows of floats, of each of which a primitive needs one above or at 0.
"""

PLANE = ("row", "strict", "a", "b", "c", "d")
"""Floats of distances, or 0 and the plane's doubles.  ``strict`` is 1 if a distance that is no
number drops the primitive."""

EMITTING = (
    "chosen", "corners", "varying_count", "varyings", "single", "polygons", "most",
)  # fmt: skip
"""``chosen`` takes an i32 for each primitive: its number, and bit 31 if it has to be cut.
``corners`` is 1, 2 or 3.  ``varyings`` has ``VARYING`` words for each; ``single`` is 1 if they are
joined as floats, 0 as doubles.  ``polygons`` is room for two polygons of ``most`` corners, a word
for each row and one for the edge that begins there."""

VARYING = ("row", "mode")
SMOOTH, FLAT, WRAPPED, WHOLE = range(4)
"""A row of floats, and what a primitive makes of its corners'; WHOLE are integers instead, of
which all corners have the first's.
"""

VERTEX_WORDS = (*DRAW, *TAKING, *NUMBERS, *SHADING, *PLACING, *EMITTING)
