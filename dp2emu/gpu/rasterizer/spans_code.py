"""LLVM text of kernels over spans: lines, points, and triangles of any size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from dp2emu.gpu.code.block_writer import Code, numbers, splat
from dp2emu.gpu.code.kernel_key import Key
from dp2emu.gpu.code.kernel_layout import Layout, record_at
from dp2emu.gpu.rasterizer.planes_code import Primitive
from dp2emu.shader.jit.writer import ZERO

_LAST = (1 << 31) - 1


class Bounds(msgspec.Struct, frozen=True):
    """Columns left <= x < right that are covered in the row of each lane: i32, in MEMORY order."""

    left: str
    right: str


class RowSink(Protocol):
    """Interface of the part of a kernel that shades covered rows."""

    w: Code
    key: Key
    layout: Layout

    def argument(self, type: str, name: str) -> str:
        """Load the word ``name`` of the kernel's arguments."""

    def rows(
        self,
        primitive: Primitive,
        y: str,
        bounds: Sequence[Bounds],
        ends: tuple[str, str],
        coverage: str | None = None,
    ) -> None:
        """Emit the shading of the pixel rows ``y`` and y + 1 of a primitive.

        ``bounds`` has the covered columns for each sample, ``ends`` their lowest left and highest
        right, i32; ``coverage`` is the coverage by an antialiased line, if any.
        """


def spans(blocks: RowSink) -> None:
    """Emit a loop over the spans in rows ``%first`` to ``%end``, in order."""
    w = blocks.w
    base, count = blocks.argument("ptr", "span.y"), blocks.argument("i64", "span.spans")
    stop = blocks.argument("ptr", "stop")
    with w.count("i64", "0", count, 1) as number:
        y = _item(w, base, number)
        inside = w(f"and i1 {w(f'icmp sge i32 {y}, %first')}, {w(f'icmp slt i32 {y}, %end')}")
        with w.when(w(f"and i1 {inside}, {w.running(stop)}")):
            _span(blocks, number, y, count)


def _item(w: Code, base: str, number: str) -> str:
    """Load item ``number`` of the int64 array at ``base``, as an i32."""
    place = w(f"getelementptr i64, ptr {base}, i64 {number}")
    return w(f"trunc i64 {w(f'load i64, ptr {place}')} to i32")


def _span(blocks: RowSink, number: str, y: str, count: str) -> None:
    w, key = blocks.w, blocks.key
    owner = w(f"getelementptr i64, ptr {blocks.argument('ptr', 'span.owner')}, i64 {number}")
    base, number_ = blocks.argument("ptr", "records"), w(f"load i64, ptr {owner}")
    record = record_at(w, blocks.layout, base, number_)
    here = w(f"icmp eq {w.i} {numbers('i32', w.memory.rows)}, "
             f"{w.spread('i32', w(f'and i32 {y}, 1'))}")  # fmt: skip
    lefts, rights = (blocks.argument("ptr", f"span.{side}") for side in ("left", "right"))
    # Consecutive arrays, one a sample.
    arrays = key.samples if key.by_sample else 1
    pairs = []
    for array in range(arrays):
        at = w(f"add i64 {number}, {w(f'mul i64 {count}, {array}')}")
        pairs.append((_item(w, lefts, at), _item(w, rights, at)))
    bounds = [Bounds(_lanes(w, here, left, splat(_LAST)), _lanes(w, here, right, ZERO))
              for left, right in pairs]  # fmt: skip
    first, end = pairs[0]
    for left, right in pairs[1:]:
        # An empty run is 0 to 0, which must not lower the first column.
        empty = w(f"icmp sge i32 {left}, {right}")
        near = w.smaller("i32", first, left)
        first = w(f"select i1 {empty}, i32 {first}, i32 {near}")
        end = w.larger("i32", end, right)
    coverage = None
    if key.smooth:
        base = blocks.argument("ptr", "span.coverage")
        place = w(f"getelementptr float, ptr {base}, i64 {number}")
        coverage = w.spread("float", w(f"load float, ptr {place}"))
    even = w(f"and i32 {y}, -2")
    blocks.rows(Primitive(w, blocks.layout, record), even, bounds, (first, end), coverage)


def _lanes(w: Code, here: str, value: str, otherwise: str) -> str:
    return w.select(here, w.i, w.spread("i32", value), otherwise)
