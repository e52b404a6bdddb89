"""Argument words of compiled stages, by name, and the text that reads and writes them."""

from __future__ import annotations

import msgspec

from dp2emu.shader.jit.scalars import Code, Value


class ArgumentWords(msgspec.Struct, frozen=True):
    """64-bit words at an address; the methods emit loads and stores."""

    code: Code
    base: Value
    places: dict[str, int]

    @classmethod
    def of(cls, code: Code, names: tuple[str, ...], base: Value | None = None) -> ArgumentWords:
        """The words at ``base``, by default at the function's parameter ``words``."""
        places = {name: place for place, name in enumerate(names)}
        return cls(code, code["words"] if base is None else base, places)

    def integer(self, name: str) -> Value:
        """Load a word as i64."""
        return self._load("i64", name)

    def integers(self, *names: str) -> list[Value]:
        """Load several words as i64."""
        return [self.integer(name) for name in names]

    def pointer(self, name: str) -> Value:
        """Load a word as an address."""
        return self._load("ptr", name)

    def pointers(self, *names: str) -> list[Value]:
        """Load several words as addresses."""
        return [self.pointer(name) for name in names]

    def double(self, name: str) -> Value:
        """Load a word as a double."""
        return self._load("double", name)

    def set(self, name: str, value: Value) -> None:
        """Store an i64 to a word."""
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
"""Words of a draw of ``count`` primitives from ``start`` on.  ``indices`` is 0 without indices;
otherwise ``index_bytes`` bytes, those from ``index_at`` on being indices of ``index_size`` 2 or 4
bytes, none at places below ``index_low`` or above ``index_high``.  ``bindings`` are the program's.
``edges`` are three rows of edge flags, ``edge_pitch`` bytes apart, or 0.  The viewport's words are
doubles; ``centre`` is subtracted from x and y."""

DOUBLES = 7
"""The number of doubles, which are the last words of ``DRAW``."""

TAKING = ("taken", "capacity", "numbers_taken", "edges_taken", "lanes", "extra")
"""Output: ``taken`` receives three rows of ``capacity`` doubles for each of screen x, y, z, rhw
and the varyings; ``numbers_taken`` i64; ``edges_taken``, unless 0, three rows of bytes.  ``lanes``
receives the number of distinct vertices, ``extra`` that of triangles added by clipping."""

NUMBERS = (
    "step0", "odd0", "offset0", "step1", "odd1", "offset1", "step2", "odd2", "offset2",
    "numbers", "distinct", "places", "table", "slots", "table_size",
)  # fmt: skip
"""Corner c of primitive i is vertex (or index) ``first + step * i + odd * (i & 1) + offset``.
``numbers`` receives 3 * count i64, ``places`` as many i32: each corner's lane in ``distinct``, as
many i64.  ``table`` and ``slots`` are memory for ``table_size`` i64 and i32, a power of two of at
least 6 * count."""

CORNER = ("step", "odd", "offset")
"""The words of a corner in ``NUMBERS``, from ``step0`` on."""

SHADING = (
    "lane_words", "lane_count", "identity",
    "loop", "body", "in", "inputs", "input_count", "out", "outputs", "output_count",
)  # fmt: skip
"""``lane_words`` has ``LANE`` words for each component of an element.  ``identity``, unless 0,
receives the vertex numbers less ``base`` as i32.  ``loop`` runs a program (``shader.jit.batches``)
with the arguments that follow; ``body`` is 0 without a program."""

SOURCE = ("data", "end", "at", "stride", "whole", "low", "high", "first", "divider")
"""A vertex stream: an element is at byte ``at + number * stride`` of ``data``, which has ``end``
bytes; it is complete for numbers below ``whole``, missing below ``low`` and above ``high``."""

LANE = ("source", "word", "left", "right", "mode", "scale", "row")
"""A component is ``(word << left) >> right`` of the 32-bit ``word`` of the element whose stream is
``source``, converted by ``mode`` and divided by ``scale``, a double.  ``row`` receives floats."""

RAW, SIGNED, UNSIGNED, HALF, FRACTION, WHOLE_SIGNED, WHOLE_UNSIGNED, SMALL = range(8)
"""Modes: raw bits, signed and unsigned integers, 16-bit floats; fractions of at least -1, bits of
signed and unsigned integers, and floats of 10, 11 or 16 bits with canonical NaNs."""

PLACING = ("x", "y", "z", "w", "room", "screen", "inside", "depth",
           "plane_count", "planes", "distances", "cull_count", "culls")  # fmt: skip
"""``x`` to ``w`` are rows of floats, in clip space if there is a program.  ``screen`` receives
``room`` doubles each of x, y, z and 1 / w; ``inside`` an i64 for each vertex; ``distances`` a row
for each user plane, which has ``PLANE`` words in ``planes``.  ``depth`` is 1 if z is clipped.
``culls`` are ``cull_count`` rows of cull distances: a primitive needs one >= 0 in each."""

PLANE = ("row", "strict", "a", "b", "c", "d")
"""A row of distances, or 0 and the plane's doubles.  ``strict`` is 1 if a NaN distance drops the
primitive."""

EMITTING = (
    "chosen", "corners", "varying_count", "varyings", "single", "polygons", "most",
)  # fmt: skip
"""``chosen`` receives an i32 for each primitive: its number, and bit 31 if it has to be clipped.
``corners`` is 1, 2 or 3.  ``varyings`` has ``VARYING`` words for each; ``single`` is 1 if they are
interpolated as floats, 0 as doubles.  ``polygons`` is memory for two polygons of ``most`` corners,
a word for each row and one for the edge that begins there."""

VARYING = ("row", "mode")
SMOOTH, FLAT, WRAPPED, WHOLE = range(4)
"""Modes of a row: interpolated, constant, or wrapped floats; constant integers."""

VERTEX_WORDS = (*DRAW, *TAKING, *NUMBERS, *SHADING, *PLACING, *EMITTING)
