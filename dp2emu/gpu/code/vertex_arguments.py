"""Names of the argument words of compiled stages, and the text that loads and stores them."""

from __future__ import annotations

import msgspec

from dp2emu.shader.jit.scalars import Code, Value


class ArgumentWords(msgspec.Struct, frozen=True):
    """Named 64-bit words at an address; the methods emit loads and stores of them."""

    code: Code
    base: Value
    places: dict[str, int]

    @classmethod
    def of(cls, code: Code, names: tuple[str, ...], base: Value | None = None) -> ArgumentWords:
        """The words at ``base``, by default at the function's parameter ``words``."""
        places = {name: place for place, name in enumerate(names)}
        return cls(code, code["words"] if base is None else base, places)

    def integer(self, name: str) -> Value:
        """Emit a load of the word ``name`` as an i64."""
        return self._load("i64", name)

    def integers(self, *names: str) -> list[Value]:
        """Emit loads of the words ``names`` as i64."""
        return [self.integer(name) for name in names]

    def pointer(self, name: str) -> Value:
        """Emit a load of the word ``name`` as an address."""
        return self._load("ptr", name)

    def pointers(self, *names: str) -> list[Value]:
        """Emit loads of the words ``names`` as addresses."""
        return [self.pointer(name) for name in names]

    def double(self, name: str) -> Value:
        """Emit a load of the word ``name`` as a double."""
        return self._load("double", name)

    def set(self, name: str, value: Value) -> None:
        """Emit a store of an i64 to the word ``name``."""
        self.code.store(value, self.base, self.places[name])

    def _load(self, type: str, name: str) -> Value:
        return self.code.load(type, self.base, self.places[name])


# Arguments of the compiled vertex stages; addresses unless stated otherwise.

DRAW = (
    "first", "start", "count",
    "indices", "index_bytes", "index_at", "index_size", "index_low", "index_high", "base",
    "bindings", "edges", "edge_pitch",
    "view_x", "half_width", "view_y", "half_height", "min_z", "z_range", "centre",
)  # fmt: skip
"""Words of a draw of ``count`` primitives from ``start`` on.  ``indices`` is the address of
``index_bytes`` bytes, or 0 without indices.  Indices of ``index_size`` 2 or 4 bytes begin at byte
``index_at``; their numbers are clamped to ``index_low`` to ``index_high``, beyond which the buffer
has none.  ``bindings`` are the program's.  ``edges`` are three rows of edge flags, ``edge_pitch``
bytes apart, or 0.  The viewport's words, from ``view_x`` on, are doubles; ``centre`` is subtracted
from x and y."""

DOUBLES = 7
"""Number of words at the end of ``DRAW`` that are doubles; all before them are integers."""

TAKING = ("taken", "capacity", "numbers_taken", "edges_taken", "lanes", "extra")
"""Words of the output: ``taken`` points to three rows (by corner) of ``capacity`` doubles for each
of screen x, y, z, rhw and the varyings; ``numbers_taken`` to an i64 for each primitive;
``edges_taken``, unless 0, to three rows of bytes.  ``lanes`` receives the number of distinct
vertices, ``extra`` the number of triangles that clipping added."""

NUMBERS = (
    "step0", "odd0", "offset0", "step1", "odd1", "offset1", "step2", "odd2", "offset2",
    "numbers", "distinct", "places", "table", "slots", "table_size",
)  # fmt: skip
"""Words for numbering vertices.  Corner c of primitive i is vertex (or index)
``first + step * i + odd * (i & 1) + offset``, with the words ``step0`` to ``offset2`` of corner c.
``numbers`` receives the vertex number of each of 3 * count corners, i64; ``distinct`` each number
once, i64; ``places`` the place of each corner's number in ``distinct``, i32.  ``table`` and
``slots`` are memory of a hash table for ``table_size`` i64 and i32, a power of two of at least 6 *
count."""

CORNER = ("step", "odd", "offset")
"""Names of the words that tell how vertex numbers of one corner of primitives are computed;
``NUMBERS`` has them, suffixed 0 to 2, for each corner."""

SHADING = (
    "lane_words", "lane_count", "identity",
    "loop", "body", "in", "inputs", "input_count", "out", "outputs", "output_count",
)  # fmt: skip
"""Words for fetching and shading vertices.  ``lane_words`` has ``LANE`` words for each component
of an element.  ``identity``, unless 0, receives the vertex numbers less ``base`` as i32.  ``loop``
runs a program (``shader.jit.batches``) with the arguments that follow; ``body`` is 0 without a
program."""

SOURCE = ("data", "end", "at", "stride", "whole", "low", "high", "first", "divider")
"""Words of a vertex stream: an element is at byte ``at + number * stride`` of ``data``, which has
``end`` bytes; it is complete for numbers below ``whole``, and outside of the data for numbers
below ``low`` and above ``high``."""

LANE = ("source", "word", "left", "right", "mode", "scale", "row")
"""Words of a component of a vertex element: it is ``(word << left) >> right`` of the 32-bit
``word`` of the element whose stream is ``source``, converted by ``mode`` and divided by ``scale``,
a double.  ``row`` receives a float for each vertex."""

RAW, SIGNED, UNSIGNED, HALF, FRACTION, WHOLE_SIGNED, WHOLE_UNSIGNED, SMALL = range(8)
"""Values of ``mode`` in ``LANE``: raw bits; signed and unsigned integers converted to floats;
16-bit floats; signed fractions of at least -1; bits of signed and unsigned integers; floats of 10,
11 or 16 bits with canonical NaNs."""

PLACING = ("x", "y", "z", "w", "room", "screen", "inside", "depth",
           "plane_count", "planes", "distances", "cull_count", "culls")  # fmt: skip
"""Words for mapping vertices to the screen.  ``x`` to ``w`` are rows of floats, in clip space if
there is a program.  ``screen`` receives ``room`` doubles each of x, y, z and 1 / w; ``inside`` an
i64 of clip tests for each vertex; ``distances`` a row for each user plane, which has ``PLANE``
words in ``planes``.  ``depth`` is 1 if z is clipped.  ``culls`` are ``cull_count`` rows of cull
distances: a primitive needs one >= 0 in each."""

PLANE = ("row", "strict", "a", "b", "c", "d")
"""Words of a user clip plane: ``row`` is the address of a row of distances, or 0 if they are
computed from the plane's doubles ``a`` to ``d``.  ``strict`` is 1 if a NaN distance drops the
primitive."""

EMITTING = (
    "chosen", "corners", "varying_count", "varyings", "single", "polygons", "most",
)  # fmt: skip
"""Words for the output of visible primitives.  ``chosen`` receives an i32 for each primitive: its
number, and bit 31 if it has to be clipped.  ``corners`` is the number of corners, 1 to 3.
``varyings`` has ``VARYING`` words for each varying; ``single`` is 1 if they are interpolated as
floats, 0 as doubles.  ``polygons`` is memory for two polygons of ``most`` corners, each with a
word for each row of vertex data and one for the edge flag."""

VARYING = ("row", "mode")
SMOOTH, FLAT, WRAPPED, WHOLE = range(4)
"""Values of ``mode`` in ``VARYING``: interpolated floats, constant floats, floats that wrap
(D3DRS_WRAP0), and constant integers."""

VERTEX_WORDS = (*DRAW, *TAKING, *NUMBERS, *SHADING, *PLACING, *EMITTING)
