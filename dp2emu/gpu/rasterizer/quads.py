"""Quads: fragments completed to two by two pixels, so that a program can take differences.

Quads lie on even pixels.  The pixels a primitive does not cover become helpers: their inputs are
those of the primitive's planes, continued beyond its edges.
"""

from __future__ import annotations

import msgspec
import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.rasterizer.planes import Frame, Sites, sites
from dp2emu.gpu.rasterizer.spans import Fragments, Spans


class Quads(msgspec.Struct, frozen=True):
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
