"""Which points compiled code sets up, and what it is given for that."""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.assembly import CORNERS
from dp2emu.gpu.geometry import is_flat
from dp2emu.gpu.kernel.arguments import Arguments
from dp2emu.gpu.kernel.setup_words import table_of
from dp2emu.gpu.kernel.vertex_frame import double
from dp2emu.gpu.kernel.vertex_plan import plan_of
from dp2emu.gpu.packets import Draw
from dp2emu.gpu.points import point_sizes
from dp2emu.gpu.setup import POINT_SIZE
from dp2emu.shader.jit.bindings import address

POINTS = ("size", "rows", "clips", "record", "planes", "plane_count")
"""What ``setup`` of the arguments is an address of: the size in grid units, a double; room for
spans; 1 if fragments are clipped by their z; words of a record; ``setup_words.PLANE`` words for
each plane."""

ROWS = 1 << 10
"""Rows of points that there is room for."""


def sets_up(draw: Draw, names: tuple[str, ...]) -> bool:
    """Whether primitives are points of one size, the same all over, on single samples; ``names``
    are the varyings that they may have.
    """
    pipeline = draw.pipeline
    offset = pipeline.depth.bias_of_float or pipeline.depth.bias_clamp
    plain = not (pipeline.raster.point_sprites or offset) and pipeline.samples == 1
    if CORNERS[draw.topology] != 1 or not plain:
        return False
    return POINT_SIZE not in plan_of(pipeline, names).names


def with_points(given: Arguments, draw: Draw, names: tuple[str, ...]) -> None:
    """Add what points of a draw are set up from, whose corners have ``names`` of varyings."""
    for name in ("owner", "y", "left", "right"):
        given.array(f"span.{name}", np.empty(ROWS, np.int64))
    layout, raster = given.layout, draw.pipeline.raster
    flat = [name for name in names if is_flat(name, raster.flat)]
    table = table_of(layout.planes, names, flat)
    (size,) = point_sizes(None, draw.point, 1).tolist()
    clips = raster.clip and draw.pipeline.vertex is None
    words = (double(size), ROWS, int(clips), layout.size, address(table), len(table))
    given.kept.append(table)
    given.array("setup", np.array(words, np.int64))
