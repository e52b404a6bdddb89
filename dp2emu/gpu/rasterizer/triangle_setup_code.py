"""LLVM text of triangle set-up, by the formulas of planes, triangles and fragment depth.

Lanes are triangles, ``TOGETHER`` at a time, and become records unless they cover no pixel.
Triangles too large for int64 are only counted; the caller draws them another way.

Row bounds are a twin of ``gpu.rasterizer.triangles``, in integers instead of floats.  So is the
product with 1 / w, since a table selects perspective.  The planes are read from a table
(``code.kernel_layout``), so that the first draw of a state need not wait for code of its own.
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from dp2emu.gpu.code.block_writer import Code, double, numbers
from dp2emu.gpu.code.kernel_key import SetupKey
from dp2emu.gpu.code.kernel_layout import (
    ARGUMENTS,
    DIVIDED,
    FLAGS,
    FLAT,
    FRONT,
    NUMBER,
    PLACED,
    PLANES,
    SETUP_PLANE,
    SLOPE,
    TOGETHER,
    TRIANGLES,
    WORD,
    X0,
    Y0,
)
from dp2emu.gpu.code.kernel_layout import BY_RHW as IN_PERSPECTIVE
from dp2emu.gpu.rasterizer.fragment_depth import OffsetTerms, depth_offset, inside_depth, tilt
from dp2emu.gpu.rasterizer.planes import corner_ways, plane_changes
from dp2emu.gpu.rasterizer.spans import EXACT_LIMIT, snapped
from dp2emu.gpu.rasterizer.spans import ONE as GRID
from dp2emu.gpu.rasterizer.triangles import facing, grid_area, left_by_culling, pixel_area
from dp2emu.shader.formulas import Formula
from dp2emu.shader.jit.inline import Typed, emitted
from dp2emu.shader.jit.writer import ZERO
from dp2emu.shader.types import Type

F64, I64 = Type.F64, Type.I64
GRID_BITS = GRID.bit_length() - 1

POSITION = ("x", "y", "z", "rhw")
Triple = tuple[str, str, str]
"""LLVM values at the three corners of triangles, corner 0 first."""


def long(value: int) -> str:
    """Vector constant with an i64 in all lanes."""
    return f"splat (i64 {value})" if value else ZERO


class _Frame(msgspec.Struct, frozen=True):
    """Vectors of doubles for a group of triangles: x and y of corners 1 and 2 relative to corner
    0, in pixels, and the doubled signed area.
    """

    dx1: str
    dy1: str
    dx2: str
    dy2: str
    area: str


class _Found(msgspec.Struct, frozen=True):
    """Results for a group of triangles: masks of those left after culling (``kept``), of those
    among them with rows in the region (``seen``), and of those too ``large`` for int64; and
    ``area``, the doubled areas in whole pixels.
    """

    kept: str
    seen: str
    large: str
    area: str


class Setup:
    """Writer of the code that sets up the triangles of a chunk.  Mutable.

    A group is ``TOGETHER`` triangles, with a vector lane for each.  The words of its records are
    first stored after the last record, one vector for each word, and then transposed to records.
    """

    def __init__(self, w: Code, key: SetupKey) -> None:
        self.w, self.key = w, key
        self.mask = self.given = self.size = self.rows = ""

    def whole(self) -> None:
        """Emit the loop over all triangles and store the results: number left after culling,
        number too large, total area, number of records.
        """
        w = self.w
        self.given = self.argument("ptr", "setup")
        self.size = self._known("record")
        triangles, large, made = (w.variable("i64", "0") for _ in range(3))
        area = w.variable(w.l, ZERO)
        count = self.argument("i64", "count")
        with w.count("i64", "0", count, TOGETHER) as first:
            self._group(first, count)
            self.rows = w.place(self._record(made.value), self._bytes(str(TOGETHER)))
            found = self._triangles(first)
            made.set(self._store_records(found.seen, made.value))
            triangles.add(w.population(found.kept))
            large.add(w.population(found.large))
            area.add(w.select(found.kept, w.l, found.area, ZERO))
        total = w.call(f"llvm.vector.reduce.add.v{TOGETHER}i64", "i64", (w.l, area.value))
        for word, value in enumerate((triangles.value, large.value, total, made.value)):
            w.do(f"store i64 {value}, ptr {w.place('%results', str(8 * word))}")

    def argument(self, type: str, name: str) -> str:
        """Load the word ``name`` of the kernel's arguments."""
        return self.w.word(type, "%arguments", ARGUMENTS.index(name))

    def _known(self, name: str, type: str = "i64") -> str:
        """Load the word ``name`` of ``TRIANGLES``, to which the argument ``setup`` points."""
        return self.w.word(type, self.given, TRIANGLES.index(name))

    def _group(self, first: str, count: str) -> None:
        """Set the mask of the lanes in use: a group begins with triangle ``first`` of ``count``,
        and lanes past the last triangle are unused.
        """
        w = self.w
        lanes = w(f"add {w.l} {w.spread('i64', first)}, {numbers('i64', tuple(range(TOGETHER)))}")
        self.mask = w(f"icmp slt {w.l} {lanes}, {w.spread('i64', count)}")

    def _store(self, word: int | str, type: str, value: str) -> None:
        """Store a vector to word ``word`` (constant or an i64) of the group's records."""
        self.w.do(f"store {type} {value}, ptr {self._row(word)}, align {WORD}")

    def _bytes(self, records: str) -> str:
        """Size in bytes of ``records`` records, i64."""
        return self.w(f"mul i64 {self.w(f'mul i64 {self.size}, {WORD}')}, {records}")

    def _record(self, number: str) -> str:
        """Emit the address of triangle record ``number``, an i64."""
        return self.w.place(self.argument("ptr", "records"), self._bytes(number))

    def _row(self, word: int | str) -> str:
        """Address of the vector that holds word ``word`` of each of the group's records."""
        return self.w(f"getelementptr {self.w.l}, ptr {self.rows}, i64 {word}")

    def _store_records(self, seen: str, made: str) -> str:
        """Transpose the group's words to records from number ``made`` on -> number of records
        afterwards.

        A record whose bit in the mask ``seen`` is 0 is overwritten by the next one.
        """
        w, records = self.w, []
        for lane in range(TOGETHER):
            records.append(self._record(made))
            bit = w(f"zext i1 {w(f'extractelement {w.b} {seen}, i32 {lane}')} to i64")
            made = w(f"add i64 {made}, {bit}")
        with w.count("i64", "0", self.size, TOGETHER) as first:
            row = self._row(first)
            rows = [w(f"load {w.l}, ptr {w.place(row, str(word * TOGETHER * WORD))}, align {WORD}")
                    for word in range(TOGETHER)]  # fmt: skip
            for record, line in zip(records, self._turned(rows), strict=True):
                place = w(f"getelementptr i64, ptr {record}, i64 {first}")
                w.do(f"store {w.l} {line}, ptr {place}, align 8")
        return made

    def _turned(self, rows: list[str]) -> list[str]:
        """Transpose a square matrix of row vectors by exchanging blocks across the diagonal."""
        size = 1
        while size < TOGETHER:
            low = [lane & ~size | (lane & size) * TOGETHER // size for lane in range(TOGETHER)]
            high = [lane + size for lane in low]
            turned = rows.copy()
            for row in (each for each in range(TOGETHER) if not each & size):
                pair = rows[row], rows[row + size]
                turned[row], turned[row + size] = (self._mixed(*pair, o) for o in (low, high))
            rows, size = turned, 2 * size
        return rows

    def _mixed(self, one: str, other: str, lanes: list[int]) -> str:
        """Shuffle two vectors; lane numbers count those of ``one``, then of ``other``."""
        w, order = self.w, ", ".join(f"i32 {lane}" for lane in lanes)
        return w(f"shufflevector {w.l} {one}, {w.l} {other}, <{TOGETHER} x i32> <{order}>")

    def _corners(self, name: str, first: str) -> Triple:
        """Position component ``name`` at the three corners of a group's triangles, doubles."""
        base = self.argument("ptr", "in.position")
        return self._corners_at(base, str(POSITION.index(name)), first)

    def _corners_at(self, base: str, row: str, first: str) -> Triple:
        """Row ``row`` of the doubles at ``base``, at the corners of a group's triangles."""
        w = self.w
        lane = w.place(base, w(f"mul i64 {self.argument('i64', 'in.lane')}, {row}"))
        stride, found = self.argument("i64", "in.corner"), []
        for corner in range(3):
            place = w.place(lane, w(f"mul i64 {stride}, {corner}"))
            found.append(self._load("f64", w.d, place, first))
        return found[0], found[1], found[2]

    def _load(self, suffix: str, type: str, row: str, first: str) -> str:
        w = self.w
        place = w(f"getelementptr i64, ptr {row}, i64 {first}")
        return w.call(
            f"llvm.masked.load.v{TOGETHER}{suffix}.p0", type, ("ptr", place), ("i32", "8"),
            (w.b, self.mask), (type, ZERO),
        )  # fmt: skip

    # Triangles

    def _triangles(self, first: str) -> _Found:
        """Emit the set-up of ``TOGETHER`` triangles from ``first`` on -> their masks and areas."""
        w = self.w
        x, y = (self._snapped(name, first) for name in "xy")
        fits = self._each([self._within(each, EXACT_LIMIT) for each in (*x, *y)])
        finite = self._each([self._within(each, float("inf")) for each in (*x, *y)])
        large = w.both(self.mask, w(f"xor {w.b} {fits}, {finite}"))
        ix, iy = (self._whole(axis, fits) for axis in (x, y))
        area = self._one(grid_area, *((I64, each) for each in (*ix, *iy)))
        culled = w.spread("i64", self.argument("i64", "culled"))
        drawn = self._one(left_by_culling, (I64, area), (I64, culled))
        kept = w.both(w.both(self.mask, fits), drawn)
        seen = self._rows(ix, iy, area, kept)
        self._records(first, x, y, area)
        size = w.call("llvm.abs.v8i64", w.l, (w.l, area), ("i1", "false"))
        return _Found(kept, seen, large, w(f"lshr {w.l} {size}, {long(2 * GRID_BITS)}"))

    def _snapped(self, name: str, first: str) -> Triple:
        """Position component ``name`` at the corners of a group's triangles, in 1/256 pixel."""
        a, b, c = (self._one(snapped, (F64, each)) for each in self._corners(name, first))
        return a, b, c

    def _one(self, formula: Formula, *operands: Typed, key: Hashable = None) -> str:
        """Emit a formula that has a single result, and return the result."""
        (found,) = emitted(self.w, formula, key, operands)
        return found

    def _within(self, value: str, limit: float) -> str:
        """Whether the magnitude of a double is at most ``limit``, or finite for inf."""
        w = self.w
        size = w.apply("fabs", w.d, value)
        if limit == float("inf"):
            return w(f"fcmp one {w.d} {size}, splat (double 0x7FF0000000000000)")
        return w(f"fcmp ole {w.d} {size}, {double(limit)}")

    def _each(self, masks: list[str]) -> str:
        found = masks[0]
        for mask in masks[1:]:
            found = self.w.both(found, mask)
        return found

    def _whole(self, axis: Triple, fits: str) -> Triple:
        """Convert coordinates of corners from doubles to i64, 0 where ``fits`` is false."""
        w = self.w
        held = (w.select(fits, w.d, each, ZERO) for each in axis)
        a, b, c = (w(f"sext {w.i} {w(f'fptosi {w.d} {each} to {w.i}')} to {w.l}") for each in held)
        return a, b, c

    def _rows(self, x: Triple, y: Triple, area: str, kept: str) -> str:
        """Store corners, in order of positive winding, and first and end rows of the group's
        triangles -> mask of those in the mask ``kept`` that may cover pixels of the region.
        """
        w = self.w
        swap = w(f"icmp slt {w.l} {area}, {ZERO}")
        corners = []
        for axis in (x, y):
            second, third = (w.select(swap, w.l, axis[a], axis[b]) for a, b in ((2, 1), (1, 2)))
            corners.append((axis[0], second, third))
        words = [corner for pair in zip(*corners, strict=True) for corner in pair]
        left, right = self._extent(x, "left", "right")
        top, bottom = self._extent(y, "top", "bottom")
        corners_at = self._known("corners")
        for word, value in enumerate((*words, top, bottom)):
            self._store(w(f"add i64 {corners_at}, {word}"), w.l, value)
        some = w.both(kept, w(f"icmp slt {w.l} {left}, {right}"))
        return w.both(some, w(f"icmp slt {w.l} {top}, {bottom}"))

    def _extent(self, axis: Triple, low: str, high: str) -> tuple[str, str]:
        """First pixel on an axis, within the region, in which each triangle may cover a sample,
        and one past the last; ``low`` and ``high`` name the region's bounds.
        """
        w = self.w
        reach = w.spread("i64", self._known("reach"))
        least, most = (
            w.apply(how, w.l, w.apply(how, w.l, axis[0], axis[1]), axis[2])
            for how in ("smin", "smax")
        )
        lowest, highest = w(f"sub {w.l} {least}, {reach}"), w(f"add {w.l} {most}, {reach}")
        raised = w(f"add {w.l} {lowest}, {long(GRID - 1)}")
        beyond = w(f"add {w.l} {highest}, {long(GRID)}")
        first, end = (w(f"ashr {w.l} {each}, {long(GRID_BITS)}") for each in (raised, beyond))
        start, stop = (w.spread("i64", self.argument("i64", name)) for name in (low, high))
        return w.apply("smax", w.l, first, start), w.apply("smin", w.l, end, stop)

    # Records

    def _records(self, first: str, x: Triple, y: Triple, area: str) -> None:
        w = self.w
        frame = self._frame(x, y, area)
        front = self._front(frame.area)
        numbers_ = self._load("i64", w.l, self.argument("ptr", "in.numbers"), first)
        self._store(FRONT, w.d, front)
        self._store(NUMBER, w.l, numbers_)
        z = self._corners("z", first)
        ddx, ddy = self._changes(frame, z)
        for word, value in enumerate((z[0], ddx, ddy), PLANES):
            self._store(word, w.d, value)
        if self.key.sloped:
            self._store(SLOPE, w.d, self._slope(z, ddx, ddy))
        divided, rhw = self._divisor(first, frame)
        self._planes(first, frame, rhw)
        clips = w.spread("i64", self._known("clips"))
        clipped = w.select(self._outside(z), w.l, clips, ZERO)
        self._store(FLAGS, w.l, w(f"or {w.l} {clipped}, {divided}"))

    def _frame(self, x: Triple, y: Triple, area: str) -> _Frame:
        w, ways = self.w, []
        for word, axis in ((X0, x), (Y0, y)):
            anchor, *way = emitted(w, corner_ways, None, [(F64, each) for each in axis])
            self._store(word, w.d, anchor)
            ways.append(way)
        (dx1, dx2), (dy1, dy2) = ways
        return _Frame(dx1, dy1, dx2, dy2, self._one(pixel_area, (I64, area)))

    def _front(self, area: str) -> str:
        """Emit the facing of each triangle, by its area's sign: +1 for front, -1 for back."""
        sign = self.w.spread("double", self.argument("double", "front"))
        return self._one(facing, (F64, area), (F64, sign))

    def _changes(self, frame: _Frame, corners: Triple) -> tuple[str, str]:
        """Gradients along x and y of the plane through values at the three corners."""
        ways = frame.dx1, frame.dy1, frame.dx2, frame.dy2, frame.area
        operands = [(F64, each) for each in (*ways, *corners)]
        ddx, ddy = emitted(self.w, plane_changes, None, operands)
        return ddx, ddy

    def _planes(self, first: str, frame: _Frame, rhw: Triple) -> None:
        """Emit a loop over the plane table (``SETUP_PLANE``), which stores the three words of each
        plane in the group's records.
        """
        w = self.w
        placed, others = (self.argument("ptr", f"in.{name}") for name in ("position", "varyings"))
        table = self._known("planes", "ptr")
        with w.count("i64", "0", self._known("plane_count"), 1) as number:
            entry = w.place(table, w(f"mul i64 {number}, {len(SETUP_PLANE) * WORD}"))
            row, word, kind = (w.word("i64", entry, place) for place in range(len(SETUP_PLANE)))
            flat, divided, is_placed = (
                w(f"icmp ne i64 {w(f'and i64 {kind}, {bit}')}, 0")
                for bit in (FLAT, IN_PERSPECTIVE, PLACED)
            )
            base = w(f"select i1 {is_placed}, ptr {placed}, ptr {others}")
            a, b, c = (
                w(f"fmul {w.d} {f}, {self._either(divided, r, double(1.0))}")
                for f, r in zip(self._corners_at(base, row, first), rhw, strict=True)
            )
            changes = (self._either(flat, ZERO, each) for each in self._changes(frame, (a, b, c)))
            place = self._row(word)
            for value in (a, *changes):
                w.do(f"store {w.d} {value}, ptr {place}, align {WORD}")
                place = w.place(place, str(TOGETHER * WORD))

    def _either(self, which: str, one: str, other: str) -> str:
        """Emit the choice of ``one`` if the i1 ``which`` is set, otherwise ``other``: vectors of
        doubles.
        """
        w = self.w
        return w(f"select i1 {which}, {w.d} {one}, {w.d} {other}")

    def _divisor(self, first: str, frame: _Frame) -> tuple[str, Triple]:
        """Store the plane of rhw -> ``DIVIDED`` flag of each triangle, and rhw at its corners.

        The flag is 0 and rhw 1 if rhw is equal at all corners, or if no plane is in perspective.
        """
        w, word = self.w, self._known("divisor")
        divided, *rhw = (w.variable(w.l, ZERO), *(w.variable(w.d, double(1.0)) for _ in range(3)))
        with w.when(w(f"icmp ne i64 {word}, 0")):
            corners = self._corners("rhw", first)
            same = w.both(*(w(f"fcmp oeq {w.d} {each}, {corners[0]}") for each in corners[1:]))
            same = w.both(same, w(f"fcmp oeq {w.d} {corners[0]}, {corners[0]}"))
            divided.set(w.select(same, w.l, ZERO, long(DIVIDED)))
            a, b, c = (w.select(same, w.d, double(1.0), each) for each in corners)
            for place, value in enumerate((a, *self._changes(frame, (a, b, c)))):
                self._store(w(f"add i64 {word}, {place}"), w.d, value)
            for variable, value in zip(rhw, (a, b, c), strict=True):
                variable.set(value)
        a, b, c = (variable.value for variable in rhw)
        return divided.value, (a, b, c)

    def _outside(self, z: Triple) -> str:
        """Mask of triangles with a corner whose z is outside of 0..1."""
        w = self.w
        inside = [emitted(w, inside_depth, None, [(F64, each)])[0] for each in z]
        return w(f"xor {w.b} {self._each(inside)}, splat (i1 true)")

    def _slope(self, z: Triple, ddx: str, ddy: str) -> str:
        """Emit the depth offset of each triangle from its corners' ``z`` and z's gradients."""
        key = self.key
        terms = OffsetTerms(key.tilted, key.offset, key.bias_of_float, key.clamp)
        given = []
        if key.tilted:
            given += [self._number("slope"), self._one(tilt, (F64, ddx), (F64, ddy))]
        if key.offset:
            given.append(self._number("bias"))
        if key.bias_of_float:
            given += z
        if key.clamp:
            given.append(self._number("clamp"))
        if not given:
            return ZERO
        return self._one(depth_offset, *((F64, each) for each in given), key=terms)

    def _number(self, name: str) -> str:
        return self.w.spread("double", self.argument("double", name))
