"""LLVM text of exact triangle coverage, row by row; ``Rows`` shade what is covered.

In a row an edge bounds the columns by the quotient of its function's value and its change per
pixel.  Quotient and remainder take the same step from row to row, so an edge needs one division.
Each sample has a lane; all lanes of an edge take the same step.
``gpu.rasterizer.triangles`` stays a twin that divides in every row, which suits NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from dp2emu.gpu.code.block_writer import Code, Variable
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, TOGETHER, WORD, Layout
from dp2emu.gpu.rasterizer.multisample import POSITIONS
from dp2emu.gpu.rasterizer.planes_code import Primitive
from dp2emu.gpu.rasterizer.spans import CENTRE, ONE, Offset
from dp2emu.gpu.rasterizer.spans_code import Bounds, RowSink

_EDGES = ((0, 1), (1, 2), (2, 0))
AHEAD = 4
"""How many triangles ahead records are prefetched; as many entries past a list's end are read."""

Pair = tuple[str, str]
"""Two LLVM values, one for each of two adjacent pixel rows."""
Runs = Sequence[tuple[Pair, Pair]]
"""Covered columns of two rows, for each sample: the rows' first columns and their end columns,
i32."""
Rows = Callable[[str, str, Runs, Pair], None]
"""Function that emits the shading of two rows of a triangle.

Parameters: address of its record, i32 of the upper row, runs of both rows, and their lowest first
and highest end column, i32."""


class Records(msgspec.Struct, frozen=True):
    """Layout of primitive records, i64 constants in bytes: size, offset of the corners, offsets of
    the cache lines to prefetch.
    """

    size: str
    corners: str
    lines: Sequence[str]

    @classmethod
    def of(cls, layout: Layout) -> Records:
        """Layout of a kernel's records."""
        lines = tuple(str(WORD * word) for word in range(0, layout.size, TOGETHER))
        return cls(str(WORD * layout.size), str(WORD * layout.corners), lines)

    def at(self, w: Code, base: str, number: str) -> str:
        """Address of record ``number`` of those at ``base``."""
        return w.place(base, w(f"mul i64 {number}, {self.size}"))


class Lanes(msgspec.Struct, frozen=True):
    """Writer of integer arithmetic with a lane for each sample: on an i64 for one sample, else on
    a vector of i64 whose length is a power of two.
    """

    code: Code
    samples: tuple[Offset, ...]

    @property
    def count(self) -> int:
        """Number of lanes; surplus lanes repeat the last sample."""
        return 1 << (len(self.samples) - 1).bit_length()

    @property
    def type(self) -> str:
        """LLVM type of a number in each lane."""
        return "i64" if self.count == 1 else f"<{self.count} x i64>"

    @property
    def flags(self) -> str:
        """LLVM type of a comparison's result in each lane."""
        return "i1" if self.count == 1 else f"<{self.count} x i1>"

    def constant(self, value: int) -> str:
        """Constant with a number in all lanes."""
        return str(value) if self.count == 1 else f"splat (i64 {value})"

    def spread(self, value: str) -> str:
        """Broadcast an i64 to all lanes."""
        if self.count == 1:
            return value
        w = self.code
        one = w(f"insertelement {self.type} poison, i64 {value}, i32 0")
        zeros = f"<{self.count} x i32> zeroinitializer"
        return w(f"shufflevector {self.type} {one}, {self.type} poison, {zeros}")

    def offsets(self, axis: int) -> str:
        """Vector constant of the samples' offsets from the pixel centre along an axis (0 is x, 1
        is y).
        """
        places = [place[axis] for place in self.samples]
        places += places[-1:] * (self.count - len(places))
        if self.count == 1:
            return str(places[0])
        return f"<{', '.join(f'i64 {place}' for place in places)}>"

    def lane(self, value: str, number: int) -> str:
        """The lane of ``value`` for sample ``number``."""
        if self.count == 1:
            return value
        return self.code(f"extractelement {self.type} {value}, i32 {number}")

    def choose(self, how: str, x: str, y: str) -> str:
        """Lane-wise ``smin`` or ``smax``."""
        name = "i64" if self.count == 1 else f"v{self.count}i64"
        return self.code.call(f"llvm.{how}.{name}", self.type, (self.type, x), (self.type, y))

    def select(self, condition: str, x: str, y: str) -> str:
        """``x`` or ``y`` by an i1 for all lanes."""
        return self.code(f"select i1 {condition}, {self.type} {x}, {self.type} {y}")

    def where(self, flags: str, x: str, y: str) -> str:
        """``x`` or ``y`` in each lane, by that lane's i1 in ``flags``."""
        return self.code(f"select {self.flags} {flags}, {self.type} {x}, {self.type} {y}")

    def divided(self, x: str, y: str) -> tuple[str, str]:
        """Lane-wise quotient of x by y, rounded down, and remainder; y is positive."""
        w, type = self.code, self.type
        quotient = w(f"sdiv {type} {x}, {y}")
        rest = w(f"sub {type} {x}, {w(f'mul {type} {quotient}, {y}')}")
        below = w(f"icmp slt {type} {rest}, {self.constant(0)}")
        down = w(f"sext {self.flags} {below} to {type}")
        more = w(f"and {type} {down}, {y}")
        return w(f"add {type} {quotient}, {down}"), w(f"add {type} {rest}, {more}")


class _Edge(msgspec.Struct, frozen=True):
    """An edge function in the current row, divided by ``divisor``, its change per pixel: quotient
    and remainder (``rest``), their steps per row; and whether the edge bounds the ``left`` or
    ``right`` side of the triangle, i1.
    """

    quotient: Variable
    rest: Variable
    quotient_step: str
    rest_step: str
    divisor: str
    left: str
    right: str


def places(samples: int, *, by_sample: bool) -> tuple[Offset, ...]:
    """Offsets at which coverage is computed: each sample's if ``by_sample``, else the centre."""
    return POSITIONS[samples] if by_sample else (CENTRE,)


def rows_within(blocks: RowSink) -> Rows:
    """Return a ``Rows`` function that emits the shading by ``blocks`` in place, not as a call."""
    w = blocks.w

    def rows(record: str, y: str, runs: Runs, ends: Pair) -> None:
        bounds = [Bounds(*(_by_row(w, side) for side in run)) for run in runs]
        blocks.rows(Primitive(w, blocks.layout, record), y, bounds, ends)

    return rows


def triangles(w: Code, samples: tuple[Offset, ...], records: Records, rows: Rows) -> None:
    """Emit a loop over the triangles whose numbers are in the argument ``list``, in order;
    ``rows`` shades those of their rows that are in ``%first`` to below ``%end``.
    """
    base, numbers, stop = (_argument(w, "ptr", name) for name in ("records", "list", "stop"))
    with w.count("i64", "0", _argument(w, "i64", "count"), 1) as n:
        record = records.at(w, base, _listed(w, numbers, n))
        _fetch(w, records, base, _listed(w, numbers, w(f"add i64 {n}, {AHEAD}")))
        at = w.place(record, records.corners)
        top, bottom = (w.word("i64", at, word) for word in (6, 7))
        top = w.larger("i64", top, w("sext i32 %first to i64"))
        bottom = w.smaller("i64", bottom, w("sext i32 %end to i64"))
        some = w(f"icmp slt i64 {top}, {bottom}")
        with w.when(w(f"and i1 {some}, {w.running(stop)}")):
            corners = [
                (w.word("i64", at, word), w.word("i64", at, word + 1)) for word in (0, 2, 4)
            ]
            _Triangle(w, samples, corners, (top, bottom)).whole(record, rows)


def _argument(w: Code, type: str, name: str) -> str:
    return w.word(type, "%arguments", ARGUMENTS.index(name))


def _listed(w: Code, numbers: str, n: str) -> str:
    """Emit the load, as an i64, of entry ``n`` of the i32 triangle numbers at ``numbers``."""
    place = w(f"getelementptr i32, ptr {numbers}, i64 {n}")
    return w(f"zext i32 {w(f'load i32, ptr {place}')} to i64")


def _fetch(w: Code, records: Records, base: str, number: str) -> None:
    """Prefetch record ``number``; its address may be invalid, which is harmless."""
    w.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    record = records.at(w, base, number)
    for line in records.lines:
        w.do(f"call void @llvm.prefetch.p0(ptr {w.place(record, line)}, i32 0, i32 3, i32 1)")


class _Triangle:
    """Writer of the loop over one triangle's pixel rows, between two i64 bounds.  Mutable."""

    def __init__(
        self, w: Code, samples: tuple[Offset, ...], corners: Sequence[Pair], ends: Pair
    ) -> None:
        self.w, self.lanes = w, Lanes(w, samples)
        self.top, self.bottom = ends
        self.first = w(f"and i64 {self.top}, -2")
        self.left, self.right = (_argument(w, "i64", side) for side in ("left", "right"))
        self.stop = _argument(w, "ptr", "stop")
        self.edges = [self._edge(corners[a], corners[b]) for a, b in _EDGES]

    def whole(self, record: str, rows: Rows) -> None:
        """Emit a loop over the rows of the triangle, two at a time."""
        w = self.w
        with w.count("i64", self.first, self.bottom, 2) as y:
            pair = [self._row(self.edges, w(f"add i64 {y}, {step}") if step else y)
                    for step in range(2)]  # fmt: skip
            self._drawn(y, pair, record, rows)

    def _edge(self, a: tuple[str, str], b: tuple[str, str]) -> _Edge:
        w, lanes, type = self.w, self.lanes, self.lanes.type
        dx, dy = (w(f"sub i64 {to}, {start}") for to, start in zip(b, a, strict=True))
        falls = w(f"icmp sgt i64 {dy}, 0")
        level = w(f"icmp eq i64 {dy}, 0")
        top = w(f"and i1 {level}, {w(f'icmp slt i64 {dx}, 0')}")
        # Top-left rule: an edge that does not own its points lies one step farther in.
        open_edge = w(f"zext i1 {w(f'or i1 {falls}, {top}')} to i64")
        x, y = (w(f"sub {type} {lanes.spread(place)}, {lanes.offsets(axis)}")
                for axis, place in enumerate(a))  # fmt: skip
        value = w(f"sub {type} {w(f'mul {type} {lanes.spread(dy)}, {x}')}, "
                  f"{w(f'mul {type} {lanes.spread(dx)}, {y}')}")  # fmt: skip
        step = w(f"mul i64 {dx}, {ONE}")
        start = w(f"sub i64 {w(f'mul i64 {step}, {self.first}')}, {open_edge}")
        value = w(f"add {type} {value}, {lanes.spread(start)}")
        size = w(f"mul i64 {w.call('llvm.abs.i64', 'i64', ('i64', dy), ('i1', 'false'))}, {ONE}")
        divisor = w(f"select i1 {level}, i64 1, i64 {size}")
        quotient, rest = lanes.divided(value, lanes.spread(divisor))
        steps = Lanes(w, (CENTRE,)).divided(step, divisor)
        quotient_step, rest_step = (lanes.spread(each) for each in steps)
        rises = w(f"icmp slt i64 {dy}, 0")
        return _Edge(
            w.variable(type, quotient), w.variable(type, rest),
            quotient_step, rest_step, lanes.spread(divisor), rises, falls,
        )  # fmt: skip

    def _row(self, edges: Sequence[_Edge], y: str) -> tuple[str, str]:
        """First covered column of row ``y`` and one past the last, by lane; moves the edges to the
        next row.

        In an empty row these are the region's right and left bound.
        """
        w, lanes, type = self.w, self.lanes, self.lanes.type
        left, right = lanes.spread(self.left), lanes.spread(self.right)
        first, end = left, right
        for edge in edges:
            quotient = edge.quotient.value
            low = w(f"sub {type} {lanes.constant(0)}, {quotient}")
            first = lanes.choose("smax", first, lanes.select(edge.left, low, left))
            high = w(f"add {type} {quotient}, {lanes.constant(1)}")
            # A horizontal edge keeps or empties the whole row.
            outside = w(f"icmp slt {type} {quotient}, {lanes.constant(0)}")
            level = lanes.where(outside, left, right)
            neither = lanes.select(edge.left, right, level)
            end = lanes.choose("smin", end, lanes.select(edge.right, high, neither))
            self._step(edge, quotient)
        above, below = w(f"icmp sge i64 {y}, {self.top}"), w(f"icmp slt i64 {y}, {self.bottom}")
        end = lanes.select(w(f"and i1 {above}, {below}"), end, left)
        some = w(f"icmp slt {type} {first}, {end}")
        return lanes.where(some, first, right), lanes.where(some, end, left)

    def _step(self, edge: _Edge, quotient: str) -> None:
        w, type = self.w, self.lanes.type
        rest = w(f"add {type} {edge.rest.value}, {edge.rest_step}")
        over = w(f"icmp sge {type} {rest}, {edge.divisor}")
        carry = w(f"sext {self.lanes.flags} {over} to {type}")
        further = w(f"add {type} {quotient}, {edge.quotient_step}")
        edge.quotient.set(w(f"sub {type} {further}, {carry}"))
        edge.rest.set(w(f"sub {type} {rest}, {w(f'and {type} {carry}, {edge.divisor}')}"))

    def _drawn(self, y: str, pair: Sequence[Pair], record: str, rows: Rows) -> None:
        """Emit the shading of a pair of rows from ``y`` on, unless both are empty."""
        w, runs = self.w, []
        for lane in range(len(self.lanes.samples)):
            low, high = (tuple(w(f"trunc i64 {self.lanes.lane(row[side], lane)} to i32")
                               for row in pair) for side in range(2))  # fmt: skip
            runs.append(((low[0], low[1]), (high[0], high[1])))
        first, *lows = (each for low, _ in runs for each in low)
        end, *highs = (each for _, high in runs for each in high)
        for column, other in zip(lows, highs, strict=True):
            first, end = w.smaller("i32", first, column), w.larger("i32", end, other)
        some = w(f"icmp slt i32 {first}, {end}")
        with w.when(w(f"and i1 {some}, {w.running(self.stop)}")):
            rows(record, w(f"trunc i64 {y} to i32"), runs, (first, end))


def _by_row(w: Code, rows: Sequence[str]) -> str:
    """Vector of i32, MEMORY order: ``rows[0]`` in lanes of the upper row, else ``rows[1]``."""
    pair = "<2 x i32>"
    both = w(f"insertelement {pair} poison, i32 {rows[0]}, i32 0")
    both = w(f"insertelement {pair} {both}, i32 {rows[1]}, i32 1")
    return w.picked(pair, both, "poison", w.memory.rows)
