"""Formulas of the depth and stencil tests (D3DCMPFUNC, D3DSTENCILOP)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import CmpFunc, StencilOp
from dp2emu.d3d.formats import AnyFormat, Channel
from dp2emu.gpu.command.pipeline import StencilFace, StencilState
from dp2emu.gpu.resource.pixel_format import depth_of, quantised
from dp2emu.shader.builder import Builder
from dp2emu.shader.codings import as_bits, field, with_field
from dp2emu.shader.comparisons import compare
from dp2emu.shader.values import Value


class MergeTests(NamedTuple):
    """The tests of a buffer's format: how depth compares, whether it is written, the stencil test,
    None also if the format has no stencil.
    """

    format: AnyFormat
    func: CmpFunc
    written: bool
    stencil: StencilState | None


class _Numbers(NamedTuple):
    """What a stencil test is given: reference, mask and write mask, as far as the format has
    bits.
    """

    reference: Value
    mask: Value
    write_mask: Value


def depth_stencil(
    b: Builder,
    tests: MergeTests,
    z: Value,
    back: Value,
    reference: Value,
    mask: Value,
    write_mask: Value,
    *stored: Value,
) -> list[Value]:
    """Formula: whether a fragment passes, and the parts of its pixel after that.

    Without a stencil test the parts are those of a fragment that has passed.  ``back`` is whether
    it is one of a back face.
    """
    row, new = ROWS[tests.format], list(stored)
    incoming = quantised(row, z)
    passed = compare(tests.func, incoming, depth_of(row, stored))
    depth = as_bits(incoming)
    if tests.stencil is not None:
        assert row.stencil is not None
        numbers = _Numbers(reference, mask, write_mask)
        old = field(stored, row.stencil)
        test = partial(_face, numbers, old, passed, row.stencil)
        right, value = test(tests.stencil.front)
        if tests.stencil.back is not None:
            other, behind = test(tests.stencil.back)
            right, value = b.select(back, other, right), b.select(back, behind, value)
        new = with_field(new, row.stencil, value & write_mask | old & ~write_mask)
        passed = passed & right
        if row.depth is not None:
            depth = b.select(passed, depth, field(stored, row.depth))
    if tests.written and row.depth is not None:
        new = with_field(new, row.depth, depth)
    return [passed, *new]


def _face(
    numbers: _Numbers, old: Value, better: Value, channel: Channel, face: StencilFace
) -> tuple[Value, Value]:
    """(reference & mask) compared with (old & mask), and the value after both tests."""
    b, (reference, mask, _) = old.builder, numbers
    right = compare(face.func, reference & mask, old & mask)
    failed, depth_failed, both = (
        OPERATIONS[op](old, reference, channel.max)
        for op in (face.fail, face.depth_fail, face.passed)
    )
    return right, b.select(right, b.select(better, both, depth_failed), failed)


OPERATIONS: dict[StencilOp, Callable[[Value, Value, int], Value]] = {
    StencilOp.KEEP: lambda old, reference, largest: old,
    StencilOp.ZERO: lambda old, reference, largest: old ^ old,
    StencilOp.REPLACE: lambda old, reference, largest: reference,
    StencilOp.INCRSAT: lambda old, reference, largest: old + _one(old.ne(largest)),
    StencilOp.DECRSAT: lambda old, reference, largest: old - _one(old.ne(0)),
    StencilOp.INVERT: lambda old, reference, largest: old ^ largest,
    StencilOp.INCR: lambda old, reference, largest: old + 1 & largest,
    StencilOp.DECR: lambda old, reference, largest: old - 1 & largest,
}
"""New values from old ones, the reference, and the largest value."""


def _one(condition: Value) -> Value:
    return condition.builder.apply("iselect", condition, 1, 0)
