"""The stencil test of a draw: reference, mask and write mask count as far as there are bits."""

from __future__ import annotations

import msgspec
import numpy as np

from dp2emu.gpu.command.packets import MergeNumbers
from dp2emu.gpu.command.pipeline import StencilState


class StencilTest(msgspec.Struct, frozen=True):
    """A state, and the numbers that stencil values are tested with and written by."""

    state: StencilState
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
        return cls(state, *held)

    @property
    def writes(self) -> bool:
        """Whether any value can change."""
        faces = (self.state.front, self.state.back)
        return bool(self.write_mask) and any(f is not None and f.writes for f in faces)
