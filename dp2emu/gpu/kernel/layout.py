"""Where a kernel finds its numbers: 64-bit words of records and of arguments.

A record belongs to a primitive: where its planes are anchored, what it is, then its planes, three
doubles each.  Those of triangles that the kernel covers itself have their corners behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dp2emu.d3d.dxgi import ROWS
from dp2emu.gpu.kernel.key import ColorKey, Key

X0, Y0, FRONT, FLAGS, SLOPE, NUMBER = range(6)
"""Words of a record: anchor in pixels, +1 or -1 as a double, bits, the sloped bias,
and the number of the primitive."""
CLIPPED, DIVIDED = 1, 2
"""Bits: fragments go for their z; there is perspective."""
_PLANES = 6
PLANE = 3
"""Words of a plane: value at the anchor, change along x and along y."""
DEPTH, RHW, DIVISOR = "depth", "rhw", "divisor"
"""Names of planes beside those of the varyings."""
CORNER_WORDS = 7
"""Corners 0 to 2 in grid units, x before y, oriented, then the first row and one past the last."""

RESULTS = ("fragments", "tested", "passed", "invocations")
"""What a kernel counts."""

_COMMON = (
    "records", "count", "left", "top", "right", "bottom",
    "span.owner", "span.y", "span.left", "span.right", "span.coverage", "span.spans",
    "program", "depth.base", "depth.pitch",
    "bias", "near", "range", "depth.low", "depth.high",
    "alpha.reference", "sample.mask", "stipple", "stipple.rows",
    "stencil.reference", "stencil.mask", "stencil.write",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layout:
    """Words by name; ``size`` is the words of a record, ``corners`` where its corners are."""

    planes: dict[str, int]
    corners: int
    size: int
    arguments: dict[str, int]


@lru_cache(maxsize=1 << 10)
def layout_of(key: Key) -> Layout:
    """The layout of a kernel."""
    names = [DEPTH]
    names += [RHW] if key.w_buffer or "w.x" in key.reads else []
    names += [DIVISOR] if key.perspective else []
    names += [*key.plain, *key.perspective]
    planes = {name: _PLANES + PLANE * number for number, name in enumerate(names)}
    corners = _PLANES + PLANE * len(names)
    arguments = [*_COMMON, *(name for color in key.colors for name in _color_words(color))]
    return Layout(
        planes,
        corners,
        corners + (CORNER_WORDS if key.triangles else 0),
        {name: number for number, name in enumerate(arguments)},
    )


def _color_words(color: ColorKey) -> list[str]:
    target = f"color{color.number}"
    parts = range(max(1, ROWS[color.format].size // 4))
    return [f"{target}.base", f"{target}.pitch", f"{target}.program",
            *(f"{target}.bits{part}" for part in parts)]  # fmt: skip
