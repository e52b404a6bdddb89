"""Quads: fragments completed to two by two pixels, so that a program can take differences.

Quads lie on even pixels.  The pixels a primitive does not cover become helpers: their inputs are
those of the primitive's planes, continued beyond its edges.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.planes import Frame, Sites, sites
from dp2emu.gpu.spans import Fragments, Spans
from dp2emu.gpu.state import Samplers
from dp2emu.records import dataclass
from dp2emu.shader.ir import Derivative, Lod, Program, Sample, walk
from dp2emu.shader.texture.sampler import needs_detail


@lru_cache(maxsize=1 << 10)
def in_quads(program: Program, samplers: Samplers = ()) -> bool:
    """Whether a program looks at neighbours: derivatives, or a level of detail found from them
    that its samplers care about.
    """
    caring = {number for number, key in samplers if needs_detail(key)}
    return any(
        isinstance(s, Derivative)
        or (isinstance(s, Sample) and s.lod in (Lod.IMPLICIT, Lod.BIAS) and s.sampler in caring)
        for s in walk(program.statements)
    )


@dataclass(frozen=True, slots=True)
class Quads:
    """``sites`` has four for each quad, in the order programs want; ``lane`` finds a fragment."""

    sites: Sites
    lane: I64


def quads(frame: Frame, here: Sites) -> Quads:
    """The quads that fragments, of which there are some, lie in."""
    primitive, x, y = here.spans.primitive[here.span], here.x, here.y
    columns, rows = (int(axis.max() >> 1) + 1 for axis in (x, y))
    found, quad = np.unique((primitive * rows + (y >> 1)) * columns + (x >> 1),
                            return_inverse=True)  # fmt: skip
    above, column = np.divmod(found, columns)
    owner, row = np.divmod(above, rows)
    left = np.repeat(2 * column, 2)
    spans = Spans(np.repeat(owner, 2), (2 * row[:, None] + np.arange(2)).ravel(), left, left + 2)
    lane = np.arange(4 * len(found))
    fragments = Fragments(spans, lane >> 1, left[lane >> 1] + (lane & 1))
    return Quads(sites(frame, fragments), 4 * quad.ravel() + 2 * (y & 1) + (x & 1))
