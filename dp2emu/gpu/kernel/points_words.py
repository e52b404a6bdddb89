"""Which points compiled code sets up, and what it is given for that."""

from __future__ import annotations

import numpy as np

from dp2emu.gpu.assembly import CORNERS
from dp2emu.gpu.geometry import is_flat
from dp2emu.gpu.kernel.arguments import Arguments
from dp2emu.gpu.kernel.layout import DEPTH, RHW
from dp2emu.gpu.kernel.vertex_frame import double
from dp2emu.gpu.kernel.vertex_plan import plan_of
from dp2emu.gpu.packets import Draw
from dp2emu.gpu.points import point_sizes
from dp2emu.gpu.setup import POINT_SIZE
from dp2emu.shader.jit.bindings import address

POINTS = ("size", "rows", "clips", "record", "planes", "plane_count")
"""What ``points`` of the arguments is an address of: the size in grid units, a double; room for
spans; 1 if fragments are clipped by their z; words of a record; ``PLANE`` words for each plane."""
PLANE = ("row", "word", "flat")
"""Row of the corners, from x, y, z and 1 / w on, word of the record, and 1 if it is level whatever
it is."""

ROWS = 1 << 10
"""Rows of points that there is room for."""
_POSITION = {DEPTH: 2, RHW: 3}
"""Rows of planes beside those of the varyings."""


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
    rows = _POSITION | {name: 4 + number for number, name in enumerate(names)}
    layout, raster = given.layout, draw.pipeline.raster
    planes = [(rows[name], word, int(is_flat(name, raster.flat)))
              for name, word in layout.planes.items()]  # fmt: skip
    table = np.array(planes, np.int64)
    (size,) = point_sizes(None, draw.point, 1).tolist()
    clips = raster.clip and draw.pipeline.vertex is None
    words = (double(size), ROWS, int(clips), layout.size, address(table), len(planes))
    given.kept.append(table)
    given.array("points", np.array(words, np.int64))
