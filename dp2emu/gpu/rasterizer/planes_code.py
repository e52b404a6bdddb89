"""LLVM text that reads primitive records and evaluates planes (``gpu.rasterizer.planes``)."""

from __future__ import annotations

import msgspec

from dp2emu.gpu.code.block_writer import ROWS, Code, Order, numbers
from dp2emu.gpu.code.kernel_layout import FLAGS, WORD, X0, Y0, Layout
from dp2emu.gpu.rasterizer.planes import along
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.writer import number
from dp2emu.shader.types import Type


class Primitive(msgspec.Struct, frozen=True):
    """Writer of text that reads the primitive record at an address."""

    code: Code
    layout: Layout
    address: str

    def splat(self, word: int) -> str:
        """Load word number ``word`` of the record as a double, broadcast to all lanes."""
        return self.code.spread("double", self._word("double", word))

    def integer(self, word: int) -> str:
        """Load word number ``word`` of the record as an i64."""
        return self._word("i64", word)

    def _word(self, type: str, word: int) -> str:
        w = self.code
        return w(f"load {type}, ptr {w.place(self.address, str(WORD * word))}, align 8")

    def flag(self, bit: int) -> str:
        """Whether ``bit`` of the record's word FLAGS is set, an i1."""
        w = self.code
        found = w(f"and i64 {self.integer(FLAGS)}, {bit}")
        return w(f"icmp ne i64 {found}, 0")

    def down(self, y: str, order: Order) -> str:
        """Distances in y from corner 0 to the lanes of a block that begins in row ``y``."""
        return self._way(Y0, y, order.rows)

    def along(self, x: str, order: Order) -> str:
        """Distances in x from corner 0 to the lanes of a block that begins in column ``x``."""
        return self._way(X0, x, order.columns)

    def _way(self, anchor: int, first: str, lanes: tuple[int, ...]) -> str:
        """Emit the distances, in pixels, of a block's lanes from a corner of the triangle.

        The corner's coordinate is word ``anchor`` of the triangle's record.  A lane's column or
        row is the value ``first`` plus the lane's entry in ``lanes``.
        """
        w, row = self.code, lanes[: self.code.columns]
        own = row if lanes == row * ROWS else lanes
        type = f"<{len(own)} x double>"
        places = w(f"sitofp <{len(own)} x i32> {lanes_from(w, first, own)} to {type}")
        start = w.spread("double", self._word("double", anchor), len(own))
        way = w(f"fsub {type} {places}, {start}")
        # Equal rows are computed once and repeated, which saves a CPU vector for each.
        return way if own == lanes else w.picked(type, way, "poison", (*range(len(own)),) * ROWS)

    def row(self, plane: str, dy: str) -> str:
        """Values of a plane in corner 0's column, at distances ``dy``: value + ddy * dy."""
        at = self.layout.planes[plane]
        return self._along(self.splat(at), self.splat(at + 2), dy)

    def at(self, plane: str, row: str, dx: str) -> str:
        """Values of a plane at distances ``dx`` from corner 0, given the values ``row`` of the
        same pixel rows in corner 0's column: row + ddx * dx.
        """
        return self._along(row, self.splat(self.layout.planes[plane] + 1), dx)

    def _along(self, *operands: str) -> str:
        (value,) = emitted(self.code, along, None, [(Type.F64, each) for each in operands])
        return value


def lanes_from(w: Code, first: str, lanes: tuple[int, ...]) -> str:
    """Column or row number of each lane: the i32 ``first`` plus the lane's offset in ``lanes``."""
    count = len(lanes)
    return w(f"add <{count} x i32> {w.spread('i32', first, count)}, {numbers('i32', lanes)}")


def offset(w: Code, way: str, grid: int, one: int) -> str:
    """Emit the distances ``way``, doubles in pixels, plus the constant ``grid`` / ``one``."""
    return w(f"fadd {w.d} {way}, splat (double {number(grid / one)})")
