"""Depth and stencil tests of a block: ``gpu.merge.DepthTarget`` in LLVM instructions.

All lanes are in MEMORY order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import CmpFunc, StencilOp
from dp2emu.d3d.formats import Channel, Coding, FormatRow
from dp2emu.gpu.code.block_writer import Code, Parts, Words
from dp2emu.gpu.code.kernel_key import DepthKey
from dp2emu.gpu.code.pixel_format_code import HALF, double, mixed, splat
from dp2emu.gpu.command.pipeline import StencilFace
from dp2emu.records import dataclass
from dp2emu.shader.jit.writer import ALL, ZERO

_ORDERED = {
    CmpFunc.LESS: ("ult", "olt"),
    CmpFunc.EQUAL: ("eq", "oeq"),
    CmpFunc.LESSEQUAL: ("ule", "ole"),
    CmpFunc.GREATER: ("ugt", "ogt"),
    CmpFunc.NOTEQUAL: ("ne", "une"),
    CmpFunc.GREATEREQUAL: ("uge", "oge"),
}
"""How LLVM calls a comparison of unsigned integers, and of floats."""


def compare(w: Code, func: CmpFunc, new: str, old: str, *, floats: bool = False) -> str:
    """The mask of a D3DCMPFUNC (``gpu.output_merger.compare``)."""
    if func not in _ORDERED:
        return ALL if func is CmpFunc.ALWAYS else ZERO
    word = _ORDERED[func][floats]
    return w(f"fcmp {word} {w.f} {new}, {old}" if floats else f"icmp {word} {w.i} {new}, {old}")


def quantised(w: Code, row: FormatRow, z: str) -> str:
    """What is compared, i32, or the float itself (``pixels.quantise_depth``)."""
    depth = row.depth
    if depth is None:
        return ZERO
    if depth.coding is Coding.UNORM:
        scaled = w(f"fadd {w.d} {w(f'fmul {w.d} {z}, {double(depth.max)}')}, {HALF}")
        return w(f"{'fptosi' if depth.bits < 32 else 'fptoui'} {w.d} {scaled} to {w.i}")
    if depth.bits == 32:
        return w(f"fptrunc {w.d} {z} to {w.f}")
    return _float24(w, z)


def _float24(w: Code, z: str) -> str:
    """4 bits of exponent and 20 of mantissa, rounded to even; denormal below 2^-14."""
    bits = w(f"bitcast {w.d} {z} to {w.l}")
    odd = w(f"and {w.l} {w(f'lshr {w.l} {bits}, splat (i64 32)')}, splat (i64 1)")
    rounding = w(f"add {w.l} {odd}, splat (i64 {0x7FFFFFFF})")
    kept = w(f"lshr {w.l} {w(f'add {w.l} {bits}, {rounding}')}, splat (i64 32)")
    moved = w(f"sub {w.l} {kept}, splat (i64 {(1023 - 15) << 20})")
    normal = w(f"trunc {w.l} {moved} to {w.i}")
    steps = w(f"fmul {w.d} {z}, {double(2.0**34)}")
    tiny = w(f"fptosi {w.d} {w.apply('rint', w.d, steps)} to {w.i}")
    # Numbers that are not tiny may be too many steps for an i32, and are not selected.
    return w.select(w(f"fcmp olt {w.d} {z}, {double(2.0**-14)}"), w.i, tiny, normal)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Stencil reference, mask and write mask of a draw: i32 vectors."""

    reference: str
    mask: str
    write: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The mask of what passed, and what the buffer has after it."""

    passed: str
    stored: Parts


@dataclass(frozen=True, slots=True)
class DepthTest:
    """The tests of a kernel, and the buffer.  ``back`` is the mask of a primitive's back face."""

    code: Code
    key: DepthKey
    words: Words
    numbers: Numbers

    @property
    def row(self) -> FormatRow:
        """The buffer's format."""
        return ROWS[self.key.format]

    def __call__(
        self, x: str, y: str, depths: Sequence[str], masks: Sequence[str], back: str
    ) -> list[str]:
        """Test doubles z in 0..1 of the masked lanes, by sample, and store what becomes of the
        buffer.  Gives the lanes that passed.
        """
        outcomes = self.look(x, y, depths, masks, back)
        passed = [each.passed for each in outcomes]
        self.store(x, y, outcomes, passed if self.key.stencil is None else masks)
        return passed

    def look(
        self, x: str, y: str, depths: Sequence[str], masks: Sequence[str], back: str
    ) -> list[Outcome]:
        """Test, and leave the buffer as it is."""
        stored = self.words.at(x, y).load()
        return [self._outcome(*each, back) for each in zip(stored, depths, masks, strict=True)]

    def store(self, x: str, y: str, outcomes: Sequence[Outcome], masks: Sequence[str]) -> None:
        """Store, by sample, what becomes of masked lanes; without a stencil all of them passed."""
        if self.key.stores:
            self.words.at(x, y).store(masks, [each.stored for each in outcomes])

    def _outcome(self, stored: Parts, z: str, mask: str, back: str) -> Outcome:
        w, key = self.code, self.key
        incoming = quantised(w, self.row, z)
        better = compare(w, key.func, incoming, self._depth(stored), floats=self._floats)
        new, passed = stored, better
        if key.stencil is not None and self.row.stencil is not None:
            right, value = self._stencil(stored, better, back)
            passed = w.both(better, right)
            new = _with(w, self.row.stencil, new, value)
        passed = w.both(mask, passed)
        if key.written:
            # Without a stencil only what passed is stored.
            deeper = incoming if key.stencil is None else self._deeper(passed, stored, incoming)
            new = self._with_depth(new, deeper)
        return Outcome(passed, new)

    @property
    def _floats(self) -> bool:
        depth = self.row.depth
        return depth is not None and depth.coding is Coding.FLOAT and depth.bits == 32

    def _depth(self, stored: Parts) -> str:
        w, depth = self.code, self.row.depth
        if depth is None:
            return ZERO
        found = _field(w, depth, stored)
        return w(f"bitcast {w.i} {found} to {w.f}") if self._floats else found

    def _deeper(self, passed: str, stored: Parts, incoming: str) -> str:
        """The depth that lanes have afterwards."""
        w, type = self.code, self.code.f if self._floats else self.code.i
        return w.select(passed, type, incoming, self._depth(stored))

    def _with_depth(self, stored: Parts, incoming: str) -> Parts:
        w, depth = self.code, self.row.depth
        if depth is None:
            return stored
        if self._floats:
            incoming = w(f"bitcast {w.f} {incoming} to {w.i}")
        return _with(w, depth, stored, incoming)

    def _stencil(self, stored: Parts, better: str, back: str) -> tuple[str, str]:
        """Which lanes pass the stencil test, and the values after both tests."""
        w, key, channel = self.code, self.key, self.row.stencil
        assert key.stencil is not None and channel is not None
        old = _field(w, channel, stored)
        right, value = self._face(key.stencil.front, old, better, channel)
        if key.stencil.back is not None:
            other, behind = self._face(key.stencil.back, old, better, channel)
            right = w.select(back, w.b, other, right)
            value = w.select(back, w.i, behind, value)
        return right, mixed(w, self.numbers.write, value, old)

    def _face(self, face: StencilFace, old: str, better: str, channel: Channel) -> tuple[str, str]:
        w, held = self.code, self.numbers
        wanted, found = (w(f"and {w.i} {each}, {held.mask}") for each in (held.reference, old))
        right = compare(w, face.func, wanted, found)
        failed, behind, both = (
            OPERATIONS[op](w, old, held.reference, splat(channel.max))
            for op in (face.fail, face.depth_fail, face.passed)
        )
        return right, w.select(right, w.i, w.select(better, w.i, both, behind), failed)


def _field(w: Code, channel: Channel, stored: Parts) -> str:
    part, shift = divmod(channel.shift, 32)
    shifted = w(f"lshr {w.i} {stored[part]}, {splat(shift)}") if shift else stored[part]
    return shifted if channel.bits == 32 else w(f"and {w.i} {shifted}, {splat(channel.max)}")


def _with(w: Code, channel: Channel, stored: Parts, value: str) -> Parts:
    """Parts with a field replaced."""
    part, shift = divmod(channel.shift, 32)
    if channel.bits < 32:
        kept = w(f"and {w.i} {stored[part]}, {splat(0xFFFFFFFF & ~(channel.max << shift))}")
        low = w(f"and {w.i} {value}, {splat(channel.max)}")
        value = w(f"or {w.i} {kept}, {w(f'shl {w.i} {low}, {splat(shift)}')}")
    return [*stored[:part], value, *stored[part + 1 :]]


def _step(word: str, limit: Callable[[str], str]) -> Callable[..., str]:
    """One more or less, unless the value is at its limit."""

    def emit(w: Code, old: str, reference: str, largest: str) -> str:
        free = w(f"icmp ne {w.i} {old}, {limit(largest)}")
        return w(f"{word} {w.i} {old}, {w(f'zext {w.b} {free} to {w.i}')}")

    return emit


def _wrapping(word: str) -> Callable[..., str]:
    def emit(w: Code, old: str, reference: str, largest: str) -> str:
        return w(f"and {w.i} {w(f'{word} {w.i} {old}, {splat(1)}')}, {largest}")

    return emit


OPERATIONS: dict[StencilOp, Callable[[Code, str, str, str], str]] = {
    StencilOp.KEEP: lambda w, old, reference, largest: old,
    StencilOp.ZERO: lambda w, old, reference, largest: ZERO,
    StencilOp.REPLACE: lambda w, old, reference, largest: reference,
    StencilOp.INCRSAT: _step("add", lambda largest: largest),
    StencilOp.DECRSAT: _step("sub", lambda largest: ZERO),
    StencilOp.INVERT: lambda w, old, reference, largest: w(f"xor {w.i} {old}, {largest}"),
    StencilOp.INCR: _wrapping("add"),
    StencilOp.DECR: _wrapping("sub"),
}
"""New values from old ones, the reference, and the largest value
(``gpu.output_merger.stencil_test``)."""
