"""Kernels against the stages they take the place of: memory and counts have to be equal."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import ROWS
from dp2emu.errors import Disagreement
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.jit.tiering import optimize_all
from dp2emu.shader.text import dump

Bytes = NDArray[np.uint8]


def compared(draw: Draw, stages: Callable[[], Work], kernel: Callable[[], Work]) -> Work:
    """Draw through the stages and by a kernel, quick and good code of it; what the stages did, if
    all are equal.

    Raises Disagreement for the first pixel of the first target that differs, or for the counts.
    """
    surfaces = list(
        {id(s): s for s in (*draw.output.colors, draw.output.depth) if s is not None}.values()
    )
    before = [surface.data.copy() for surface in surfaces]
    work = stages()
    wanted = [surface.data.copy() for surface in surfaces]
    way, again = _Way(draw, surfaces, before), True
    while again:
        way.compare(wanted, work, kernel)
        again = optimize_all()
    return work


class _Way(msgspec.Struct, frozen=True):
    """Surfaces of a draw, and what was in them before."""

    draw: Draw
    surfaces: list[Surface]
    before: list[Bytes]

    def compare(self, wanted: list[Bytes], work: Work, kernel: Callable[[], Work]) -> None:
        """Draw by a kernel.  Raises Disagreement unless memory and work are as wanted."""
        for surface, data in zip(self.surfaces, self.before, strict=True):
            surface.data[:] = data
        other = kernel()
        told = [difference for surface, data in zip(self.surfaces, wanted, strict=True)
                if (difference := _memory(self.draw, surface, data))]  # fmt: skip
        told += [f"{name} are {count} and {found}"
                 for name, count, found in zip(work._fields, work, other, strict=True)
                 if found != count]  # fmt: skip
        if told:
            raise Disagreement(f"kernel: {'; '.join(told)}", dump(self.draw.pipeline.pixel), 0)


def _memory(draw: Draw, surface: Surface, wanted: Bytes) -> str | None:
    """The first pixel that differs, and how many bytes do."""
    differing = np.flatnonzero(surface.data != wanted)
    if not len(differing):
        return None
    row = ROWS[surface.format]
    y, column = divmod(int(differing[0]), surface.pitch)
    sample = column // row.size
    start = y * surface.pitch + sample * row.size
    values = " and ".join(
        "0x" + each[start : start + row.size][::-1].tobytes().hex()
        for each in (wanted, surface.data)
    )
    target = (
        "depth" if surface is draw.output.depth else f"target {draw.output.colors.index(surface)}"
    )
    place = f"pixel {sample // surface.samples}, {y} sample {sample % surface.samples}"
    return f"{target} {place} is {values}, {len(differing)} bytes differ"
