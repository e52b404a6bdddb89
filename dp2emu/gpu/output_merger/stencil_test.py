"""The stencil test and what becomes of stencil values (D3DCMPFUNC, D3DSTENCILOP).

Reference, mask and write mask count as far as the format has stencil bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dp2emu.d3d.enums import StencilOp
from dp2emu.gpu.arrays import F32, Mask, Words
from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import StencilFace, StencilState
from dp2emu.gpu.output_merger.compare import COMPARE
from dp2emu.records import dataclass


@dataclass(frozen=True, slots=True)
class StencilTest:
    """A test of stencil values of some bits, of which ``max`` has all set.

    Values are uint32.  Lanes are fragments of different pixels.
    """

    state: StencilState
    max: np.uint32
    reference: np.uint32
    mask: np.uint32
    write_mask: np.uint32

    @classmethod
    def of(cls, state: StencilState, numbers: MergeNumbers, max: int) -> StencilTest:
        """For a draw's state and numbers and a format's values."""
        held = (
            np.uint32(number & max)
            for number in (
                numbers.stencil_reference,
                numbers.stencil_mask,
                numbers.stencil_write_mask,
            )
        )
        return cls(state, np.uint32(max), *held)

    @property
    def writes(self) -> bool:
        """Whether any value can change."""
        faces = (self.state.front, self.state.back)
        return bool(self.write_mask) and any(f is not None and f.writes for f in faces)

    def passes(self, stored: Words, front: F32 | None) -> Mask:
        """(reference & mask) compared with (stored & mask); ``front`` is -1 for back faces, and
        not looked at if they are tested like front faces."""
        return self._by_face(front, lambda face: self._passes(face, stored))

    def after(self, stored: Words, front: F32 | None, passed: Mask, depth_passed: Mask) -> Words:
        """Stencil values when both tests have been made."""
        new = self._by_face(front, lambda face: self._after(face, stored, passed, depth_passed))
        return new & self.write_mask | stored & ~self.write_mask

    def _by_face(self, front: F32 | None, of_face: Callable[[StencilFace], Words]) -> Words:
        if self.state.back is None or front is None:
            return of_face(self.state.front)
        return np.where(front < 0, of_face(self.state.back), of_face(self.state.front))

    def _passes(self, face: StencilFace, stored: Words) -> Mask:
        return COMPARE[face.func](np.full(1, self.reference & self.mask), stored & self.mask)

    def _after(self, face: StencilFace, stored: Words, passed: Mask, depth_passed: Mask) -> Words:
        failed, depth_failed, both = (
            OPERATIONS[op](stored, self.reference, self.max)
            for op in (face.fail, face.depth_fail, face.passed)
        )
        return np.where(passed, np.where(depth_passed, both, depth_failed), failed)


_ONE = np.uint32(1)

OPERATIONS: dict[StencilOp, Callable[[Words, np.uint32, np.uint32], Words]] = {
    StencilOp.KEEP: lambda stored, reference, max: stored,
    StencilOp.ZERO: lambda stored, reference, max: np.zeros_like(stored),
    StencilOp.REPLACE: lambda stored, reference, max: np.full_like(stored, reference),
    StencilOp.INCRSAT: lambda stored, reference, max: stored + (stored < max),
    StencilOp.DECRSAT: lambda stored, reference, max: stored - (stored > 0),
    StencilOp.INVERT: lambda stored, reference, max: stored ^ max,
    StencilOp.INCR: lambda stored, reference, max: stored + _ONE & max,
    StencilOp.DECR: lambda stored, reference, max: stored - _ONE & max,
}
"""New values from old ones, the reference, and the largest value there is."""
