"""Depth and stencil tests of a block, by the formulas of ``gpu.output_merger``.

All lanes are in MEMORY order.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dp2emu.gpu.code.block_writer import Code, Parts, Words
from dp2emu.gpu.code.kernel_key import DepthKey
from dp2emu.gpu.output_merger.depth_stencil import MergeTests, depth_stencil
from dp2emu.shader.jit.inline import emitted
from dp2emu.shader.jit.ranges import UNIT
from dp2emu.shader.types import Type


class Numbers(msgspec.Struct, frozen=True):
    """Stencil reference, mask and write mask of a draw: i32 vectors."""

    reference: str
    mask: str
    write: str


class Outcome(msgspec.Struct, frozen=True):
    """The mask of what passed, and what the buffer has after it."""

    passed: str
    stored: Parts


class DepthTest(msgspec.Struct, frozen=True):
    """The tests of a kernel, and the buffer.  ``back`` is the mask of a primitive's back face."""

    code: Code
    key: DepthKey
    words: Words
    numbers: Numbers

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
        w, key, numbers = self.code, self.key, self.numbers
        tests = MergeTests(key.format, key.func, key.written, key.stencil)
        words = (numbers.reference, numbers.mask, numbers.write, *stored)
        operands = [(Type.F64, z), (Type.BOOL, back), *((Type.I32, each) for each in words)]
        passed, *new = emitted(w, depth_stencil, tests, operands, [UNIT])
        return Outcome(w.both(mask, passed), new)
