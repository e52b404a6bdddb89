"""What pixel programs give: colours by target, depth, and which fragments are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from dp2emu.gpu.arrays import F32, I64, Mask
from dp2emu.gpu.encodings import as_floats
from dp2emu.gpu.vertex import COMPONENTS
from dp2emu.records import dataclass
from dp2emu.shader.ir import Program
from dp2emu.shader.types import I32

MAX_TARGETS = 8
"""Of Direct3D 10; before there are four."""

COLOR_PORTS = tuple(
    tuple(f"target{number}.{component}" for component in COMPONENTS)
    for number in range(MAX_TARGETS)
)


@lru_cache(maxsize=1 << 10)
def targets_of(program: Program) -> tuple[int, ...]:
    """The targets a pixel program has a colour for."""
    names = {port.name for port in program.outputs}
    return tuple(n for n, ports in enumerate(COLOR_PORTS) if not names.isdisjoint(ports))


@dataclass(frozen=True, slots=True)
class Shaded:
    """Colours of fragments by target, four lanes each: float32, not clamped, or int32, which are
    the bits of whatever the target has; the depth the program wrote, if it writes one; which
    fragments it did not kill; and which samples of their pixels it draws, None if all.
    """

    colors: dict[int, tuple[F32 | I32, ...]]
    depth: F32 | None
    alive: Mask
    drawn: I32 | None = None

    def part(self, chosen: I64) -> Shaded:
        """Some of the fragments."""
        depth = None if self.depth is None else self.depth[chosen]
        colors = {n: tuple(c[chosen] for c in rgba) for n, rgba in self.colors.items()}
        drawn = None if self.drawn is None else self.drawn[chosen]
        return Shaded(colors, depth, self.alive[chosen], drawn)


def covered(shaded: Shaded, coverage: F32) -> Shaded:
    """With all alphas multiplied by how much of each pixel is covered."""
    colors = {n: (*rgba[:3], as_floats(rgba[3]) * coverage) for n, rgba in shaded.colors.items()}
    return replace(shaded, colors=colors)


def joined(parts: Sequence[Shaded]) -> Shaded:
    """Fragments one after the other; there are some parts."""
    depths = [part.depth for part in parts if part.depth is not None]
    masks = [part.drawn for part in parts if part.drawn is not None]
    return Shaded(
        {n: _joined([part.colors[n] for part in parts]) for n in parts[0].colors},
        np.concatenate(depths) if depths else None,
        np.concatenate([part.alive for part in parts]),
        np.concatenate(masks) if masks else None,
    )


def _joined(parts: list[tuple[F32 | I32, ...]]) -> tuple[F32 | I32, ...]:
    return tuple(np.concatenate(lanes) for lanes in zip(*parts, strict=True))
