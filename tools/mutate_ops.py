#!/usr/bin/env python3
"""Break every row of the op table on purpose, and see that its test notices.

    python tools/mutate_ops.py [NAME ...]

Each row is broken in every way below that applies, and stands in for every other row of its
operands and result.  The test is the one that runs it against its model at the edges.  Prints a
tally for each row and what was not noticed, and exits with 1 if anything was not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.shader.ops import OPS, Op
from dp2emu.shader.types import Lanes, Type
from tests.shader.test_ops import operands_at_edges, results, test_a_row_is_its_model_at_the_edges

Break = Callable[[Lanes], Lanes]


def last_bit(lanes: Lanes) -> Lanes:
    """The last bit of one lane in eleven."""
    chosen = np.arange(len(lanes)) % 11 == 1
    if lanes.dtype == np.bool_:
        return np.where(chosen, ~lanes, lanes)
    words = lanes.view(f"u{lanes.itemsize}")
    return np.where(chosen, words ^ words.dtype.type(1), words).view(lanes.dtype)


def without_subnormals(lanes: Lanes) -> Lanes:
    """Results flushed to zero."""
    zero, least = lanes.dtype.type(0), np.finfo(lanes.dtype).smallest_normal
    return np.where(np.abs(lanes) < least, zero, lanes)


def without_negative_zero(lanes: Lanes) -> Lanes:
    """The sign of zeros dropped."""
    return np.where(lanes == 0, lanes.dtype.type(0), lanes)


def without_infinity(lanes: Lanes) -> Lanes:
    """Overflow to the largest number."""
    return np.where(np.isinf(lanes), np.copysign(np.finfo(lanes.dtype).max, lanes), lanes)


def without_nan(lanes: Lanes) -> Lanes:
    """Zero for a NaN."""
    return np.where(np.isnan(lanes), lanes.dtype.type(0), lanes)


def saturated(lanes: Lanes) -> Lanes:
    """The largest integers off by one."""
    return np.where(lanes == np.iinfo(lanes.dtype).max, lanes - lanes.dtype.type(1), lanes)


BREAKS: dict[Type, tuple[Break, ...]] = {
    Type.F32: (last_bit, without_subnormals, without_negative_zero, without_infinity, without_nan),
    Type.I32: (last_bit, saturated),
    Type.BOOL: (last_bit, np.invert),
}
BREAKS |= {Type.F64: BREAKS[Type.F32], Type.I64: BREAKS[Type.I32]}


def broken(row: Op) -> Iterator[tuple[str, Op, bool]]:
    """(what is wrong, the row, whether that must make a difference)."""
    for change in BREAKS[row.result]:
        always = change in (last_bit, np.invert)
        yield change.__name__, row._replace(lanes=_after(row, change)), always
    if len(row.operands) > 1 and row.operands[-1] is row.operands[-2]:
        yield "exchanged", row._replace(lanes=_exchanged(row)), False
    for name, other in OPS.items():
        if other is not row and other[:2] == row[:2]:
            yield name, other, True


def _after(row: Op, change: Break) -> Callable[..., Lanes]:
    return lambda *operands: change(row.lanes(*operands))


def _exchanged(row: Op) -> Callable[..., Lanes]:
    """The last two operands exchanged."""
    return lambda *operands: row.lanes(*operands[:-2], operands[-1], operands[-2])


def noticed(name: str, row: Op) -> bool:
    """Whether the test fails with the row in the place of the right one."""
    right, OPS[name] = OPS[name], row
    try:
        test_a_row_is_its_model_at_the_edges(name)
    except AssertionError:
        return True
    finally:
        OPS[name] = right
    return False


def same(name: str, row: Op) -> bool:
    """Whether the row gives what the right one does, so that there is nothing to notice."""
    bits = operands_at_edges(row.operands)
    before = results(name, bits)
    right, OPS[name] = OPS[name], row
    try:
        return results(name, bits) == before
    finally:
        OPS[name] = right


def main() -> int:
    """Print a line for each row."""
    parser = argparse.ArgumentParser(description="Break every row of the op table on purpose.")
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(OPS))
    total = caught = idle = 0
    missed: list[str] = []
    for name in parser.parse_args().names:
        tally = {"broken": 0, "noticed": 0, "no change": 0}
        for what, row, must_matter in broken(OPS[name]):
            if not must_matter and same(name, row):
                tally["no change"] += 1
                continue
            tally["broken"] += 1
            if noticed(name, row):
                tally["noticed"] += 1
            else:
                missed.append(f"{name}: {what}")
        print(f"{name:<9}", "  ".join(f"{key} {count:>2}" for key, count in tally.items()))
        total, caught = total + tally["broken"], caught + tally["noticed"]
        idle += tally["no change"]
    print(f"{total} broken rows, {caught} noticed; {idle} changes change nothing")
    print(*(f"not noticed: {each}" for each in missed), sep="\n", end="\n" if missed else "")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
