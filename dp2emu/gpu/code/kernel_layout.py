"""Where a kernel finds its numbers: 64-bit words of records and of arguments.

A record belongs to a primitive: where its planes are anchored, what it is, then its planes, three
doubles each.  Those of triangles that the kernel covers itself have their corners behind them.
Of a band only some triangles are drawn, so a record is in one piece, of whole lines of the cache.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.formats import AnyFormat
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.code.block_writer import Code
from dp2emu.gpu.code.kernel_key import Key, SetupKey

X0, Y0, FRONT, FLAGS, SLOPE, NUMBER = range(6)
"""Words of a record: anchor in pixels, +1 or -1 as a double, bits, the sloped bias,
and the number of the primitive."""

CLIPPED, DIVIDED = 1, 2
"""Bits: fragments go for their z; there is perspective."""
PLANES = 6
"""Word of the first plane, which is depth's."""
PLANE = 3
"""Words of a plane: value at the anchor, change along x and along y."""
DEPTH, RHW, DIVISOR = "depth", "rhw", "divisor"
"""Names of planes beside those of the varyings."""
CORNER_WORDS = 8
"""Corners 0 to 2 in grid units, x before y, oriented, then the first row and one past the last."""
TOGETHER = 8
"""Records that are made at once, and words of a line of the cache.  Room for so many more is where
words are collected by triangle before records are made of them."""

WORD = 8
"""Bytes of a word."""

RESULTS = ("fragments", "tested", "passed", "invocations")
"""What a kernel counts; of what is equal by its key only the first (``counts_of``)."""
SETUP_RESULTS = ("triangles", "large", "area", "records")
"""What is counted when triangles are set up; the area is doubled, in pixels.  Records are those of
triangles that have rows, one behind the other.
"""

INTEGERS = (
    "left", "top", "right", "bottom", "depth.base", "depth.pitch",
    "alpha.reference", "sample.mask", "stipple", "stipple.rows",
    "stencil.reference", "stencil.mask", "stencil.write",
    "records", "count", "in.position", "in.varyings", "in.lane", "in.corner", "in.numbers",
    "culled",
)  # fmt: skip

DOUBLES = ("bias", "near", "range", "depth.low", "depth.high", "front", "slope", "clamp")
"""Numbers that every kernel is given, in this order; what begins with ``in`` is what triangles are
set up from, lane by lane and in these corner by corner.
"""

_SPANS = ("owner", "y", "left", "right", "coverage", "spans")

ARGUMENTS = (*INTEGERS, *DOUBLES, *(f"span.{name}" for name in _SPANS), "program", "setup", "list")
"""All that kernels have in common, with what spans cover, what the program reads, what primitives
are set up from beside their corners, and the numbers, i32, of the ``count`` triangles that are
drawn.
"""


class Layout(msgspec.Struct, frozen=True):
    """Words by name; ``size`` is the words of a record, ``corners`` where its corners are,
    ``programs`` are the arguments that say what programs read.
    """

    planes: dict[str, int]
    corners: int
    size: int
    arguments: dict[str, int]
    programs: list[int]


@lru_cache(maxsize=1 << 10)
def layout_of(key: Key) -> Layout:
    """The layout of a kernel."""
    names = planes_of(key)
    planes = {name: PLANES + PLANE * number for number, name in enumerate(names)}
    corners = PLANES + PLANE * len(names)
    used = corners + (CORNER_WORDS if key.triangles else 0)
    size = -(-used // TOGETHER) * TOGETHER
    colors = [name for color in key.colors for name in color_words(color.number, color.format)]
    arguments = (*ARGUMENTS, *colors)
    programs = [at for at, name in enumerate(arguments) if name.endswith("program")]
    return Layout(planes, corners, size, {n: at for at, n in enumerate(arguments)}, programs)


def planes_of(key: Key) -> tuple[str, ...]:
    """Names of the planes of a record, in order."""
    names = [DEPTH]
    names += [RHW] if key.w_buffer or "w.x" in key.reads else []
    names += [DIVISOR] if key.perspective else []
    return (*names, *key.plain, *key.perspective)


def setup_key(key: Key) -> SetupKey:
    """The key of what sets triangles up for a kernel."""
    return SetupKey(key.sloped, key.tilted, key.bias_of_float, key.clamp)


def color_words(number: int, format: AnyFormat) -> list[str]:
    """Arguments of a colour target: those that vary before the program's."""
    parts = range(max(1, ROWS[format].size // 4))
    names = ("base", "pitch", *(f"bits{part}" for part in parts), "program")
    return [f"color{number}.{name}" for name in names]


def record_at(w: Code, layout: Layout, base: str, number: str) -> str:
    """Where the first word of record ``number``, an i64, lies."""
    return w.place(base, w(f"mul i64 {number}, {layout.size * WORD}"))


def counts_of(key: Key, results: Sequence[int]) -> tuple[int, int, int, int]:
    """All of ``RESULTS``: tests before the program are of every fragment, all passes without
    tests, and the program runs for every fragment or, if it runs after the tests, for what passed.
    """
    fragments, tested, passed, invocations = results
    tested = tested if key.late and not key.ahead else fragments
    passed = tested if key.depth is None else passed
    if key.samples == 1:
        invocations = fragments if key.late else passed
    return fragments, tested, passed, invocations


# What compiled code sets primitives up from beside their corners, which is found once a state.

TRIANGLES = (
    "reach", "clips", "record", "corners", "divisor", "planes", "plane_count", "front",
)  # fmt: skip
"""What ``setup`` of the arguments is an address of for triangles: how far in grid units a sample
may be from its pixel's centre; the bit of flags that z outside 0 to 1 sets, or 0; words of a
record; the word of its corners, and of the plane of what divides, or 0; ``SETUP_PLANE`` words
for each plane; the code of the kernel's front, or 0 if the kernel is one function."""

SETUP_PLANE = ("row", "word", "kind")
"""Row of the corners, of positions or of varyings, word of the record, and bits of its kind."""
FLAT, BY_RHW, PLACED = 1, 2, 4
"""It is level, whatever it is; it is divided by 1 / w; its row is one of positions."""

_PLACED = {DEPTH: 2, RHW: 3}
"""Rows of planes that are positions'."""


def table_of(
    words: Mapping[str, int],
    lanes: tuple[str, ...],
    flat: Container[str],
    divided: Container[str] = (),
) -> I64:
    """The table of planes, whose places are ``words``; ``lanes`` are the rows of varyings."""
    return np.array([
        (_PLACED[name], word, PLACED) if name in _PLACED else
        (lanes.index(name), word, FLAT * (name in flat) + BY_RHW * (name in divided))
        for name, word in words.items() if name != DIVISOR
    ], np.int64)  # fmt: skip
