"""Layout of a kernel's data: 64-bit words of primitive records and of arguments.

A record has the anchor of a primitive's planes, its properties, and the planes, three doubles
each; a triangle's corners follow.  A band draws some triangles only, so a record is contiguous
and fills whole cache lines.
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
"""Indices of 64-bit words in a primitive's record: x and y in pixels of the point that planes
start from, +1.0 for a front face or -1.0, flag bits, slope bias, number of the primitive."""

CLIPPED, DIVIDED = 1, 2
"""Bits of the word FLAGS of a primitive's record: its fragments with z outside of 0..1 are
dropped; its varyings need the perspective division."""
PLANES = 6
"""Index of the 64-bit word in a primitive's record where its planes begin, depth first."""
PLANE = 3
"""Number of doubles that describe a plane in a primitive's record: its value at the record's
anchor point, and its change per pixel along x and along y."""
DEPTH, RHW, DIVISOR = "depth", "rhw", "divisor"
"""Names, in a primitive's record, of the planes of depth, of 1 / w, and of the divisor of varyings
in perspective."""
CORNER_WORDS = 8
"""Number of 64-bit words for a triangle's corners in its record: x and y of corners 0 to 2 in grid
units, wound positively; the triangle's first pixel row, and one past its last."""
TOGETHER = 8
"""Number of triangle records that compiled setup makes at once, and of 64-bit words in a cache
line.  Record buffers are allocated for this many more records than triangles."""

WORD = 8
"""Size in bytes of a word of a kernel's arguments and records."""

RESULTS = ("fragments", "tested", "passed", "invocations")
"""Names of the counts that a kernel returns, in order; ``counts_of`` replaces those that the
kernel leaves out by values computed from its key and other counts."""
SETUP_RESULTS = ("triangles", "large", "area", "records")
"""Names of the counts that triangle setup returns: triangles left after culling, triangles too
large for compiled setup, doubled area in pixels, and records made.  A triangle without pixel rows
has no record."""

INTEGERS = (
    "left", "top", "right", "bottom", "depth.base", "depth.pitch",
    "alpha.reference", "sample.mask", "stipple", "stipple.rows",
    "stencil.reference", "stencil.mask", "stencil.write",
    "records", "count", "in.position", "in.varyings", "in.lane", "in.corner", "in.numbers",
    "culled",
)  # fmt: skip

DOUBLES = ("bias", "near", "range", "depth.low", "depth.high", "front", "slope", "clamp")
"""Names of the arguments that are doubles, which follow ``INTEGERS`` in every kernel.  Corners of
triangles are arrays of shape (component, corner, triangle); ``in.lane`` and ``in.corner`` are the
strides of the first two axes in bytes."""

_SPANS = ("owner", "y", "left", "right", "coverage", "spans")

ARGUMENTS = (
    *INTEGERS, *DOUBLES, *(f"span.{name}" for name in _SPANS), "program", "setup", "list", "stop",
)  # fmt: skip
"""Names of the arguments of all kernels, in order: ``INTEGERS``, ``DOUBLES``, arrays of spans, and
addresses: bindings of the pixel program, constants of triangle setup, ``list``, the i32 numbers of
the ``count`` triangles to draw, and ``stop``, the stop word (``dp2emu.cancellation``)."""


class Layout(msgspec.Struct, frozen=True):
    """Where a kernel finds its data: number of each argument's word and of each plane's first word
    in a record, by name; ``corners``, the record's word where triangle corners begin; ``size``,
    the words of a record; ``programs``, the argument words that are addresses of program bindings.
    """

    planes: dict[str, int]
    corners: int
    size: int
    arguments: dict[str, int]
    programs: list[int]


@lru_cache(maxsize=1 << 10)
def layout_of(key: Key) -> Layout:
    """The word numbers of a kernel's primitive records and of its arguments."""
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
    """Names of the planes in each primitive's record, in order: depth, 1 / w and the perspective
    divisor if needed, then the varyings.
    """
    names = [DEPTH]
    names += [RHW] if key.w_buffer or "w.x" in key.reads else []
    names += [DIVISOR] if key.perspective else []
    return (*names, *key.plain, *key.perspective)


def setup_key(key: Key) -> SetupKey:
    """The part of a kernel's key that triangle setup is compiled for: its depth bias state."""
    return SetupKey(key.sloped, key.tilted, key.bias_of_float, key.clamp)


def color_words(number: int, format: AnyFormat) -> list[str]:
    """Argument names of a colour target with number ``number``: base address, pitch, the write
    mask of each 32-bit word of a pixel, and the bindings of its blend program.
    """
    parts = range(max(1, ROWS[format].size // 4))
    names = ("base", "pitch", *(f"bits{part}" for part in parts), "program")
    return [f"color{number}.{name}" for name in names]


def record_at(w: Code, layout: Layout, base: str, number: str) -> str:
    """Emit the address of record ``number``, an i64, of the records at ``base``."""
    return w.place(base, w(f"mul i64 {number}, {layout.size * WORD}"))


def counts_of(key: Key, results: Sequence[int]) -> tuple[int, int, int, int]:
    """All counts named in ``RESULTS``, from those that a kernel made; counts that it does not make
    are computed from its key and the other counts.
    """
    fragments, tested, passed, invocations = results
    tested = tested if key.late and not key.ahead else fragments
    passed = tested if key.depth is None else passed
    if key.samples == 1:
        invocations = fragments if key.late else passed
    return fragments, tested, passed, invocations


# Constants of compiled setup, which are the same for all draws of a state.

TRIANGLES = (
    "reach", "clips", "record", "corners", "divisor", "planes", "plane_count", "front",
)  # fmt: skip
"""Names of the words that the argument ``setup`` points to for triangles: the largest distance of
a sample from its pixel's centre in grid units; the flag to set if z is outside 0 to 1 (CLIPPED or
0); the number of words of a record; the numbers of its words where the corners and the plane of
the divisor begin, 0 without divisor; address and number of the ``SETUP_PLANE`` entries; address of
the kernel's front (its coverage part), or 0 if the kernel is one function."""

SETUP_PLANE = ("row", "word", "kind")
"""Names of the words that tell setup how to make a plane: row of the corners' positions or
varyings, the plane's first word in the record, and bits of its kind (FLAT, BY_RHW, PLACED)."""
FLAT, BY_RHW, PLACED = 1, 2, 4
"""Flag bits that tell triangle setup how to make a plane: the plane is constant; it is the plane
of a varying multiplied by 1 / w; its values are a component of positions, not a varying."""
_PLACED = {DEPTH: 2, RHW: 3}
"""From name of a plane to the component of the corners' positions that it interpolates (2 is z, 3
is 1 / w)."""


def table_of(
    words: Mapping[str, int],
    lanes: tuple[str, ...],
    flat: Container[str],
    divided: Container[str] = (),
) -> I64:
    """The ``SETUP_PLANE`` words for each plane of a record but the divisor's, shape (planes, 3).

    ``words`` are the planes' word numbers by name, ``lanes`` the names of the rows of varyings;
    planes named in ``flat`` are constant, those in ``divided`` multiplied by 1 / w.
    """
    return np.array([
        (_PLACED[name], word, PLACED) if name in _PLACED else
        (lanes.index(name), word, FLAT * (name in flat) + BY_RHW * (name in divided))
        for name, word in words.items() if name != DIVISOR
    ], np.int64)  # fmt: skip
