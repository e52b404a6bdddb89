"""Which points compiled code sets up, and what it is given for that."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache

import numpy as np

from dp2emu.gpu.code.kernel_layout import (
    ARGUMENTS,
    CLIPPED,
    FLAGS,
    FLAT,
    FRONT,
    NUMBER,
    PLACED,
    SETUP_PLANE,
    SLOPE,
    WORD,
    X0,
    Y0,
    table_of,
)
from dp2emu.gpu.code.vertex_arguments import ArgumentWords
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import is_flat
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.compile.kernel_arguments import Arguments
from dp2emu.gpu.rasterizer.lines_and_points import point_sizes
from dp2emu.gpu.rasterizer.primitive_setup import POINT_SIZE
from dp2emu.gpu.rasterizer.spans import ONE
from dp2emu.gpu.vertex_shader.vertex_frame import double, plan_of
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code, Value, Variable
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import Writer, module

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
    if CORNERS[draw.input.topology] != 1 or not plain:
        return False
    return POINT_SIZE not in plan_of(pipeline, names).names


def with_points(given: Arguments, draw: Draw, names: tuple[str, ...]) -> None:
    """Add what points of a draw are set up from, whose corners have ``names`` of varyings."""
    for name in ("owner", "y", "left", "right"):
        given.array(f"span.{name}", np.empty(ROWS, np.int64))
    layout, raster = given.layout, draw.pipeline.raster
    flat = [name for name in names if is_flat(name, raster.flat)]
    table = table_of(layout.planes, names, flat)
    (size,) = point_sizes(None, draw.raster.point, 1).tolist()
    clips = raster.clip and draw.pipeline.vertex is None
    words = (double(size), ROWS, int(clips), layout.size, address(table), len(table))
    given.kept.append(table)
    given.array("setup", np.array(words, np.int64))


# The set-up of points for kernels that are given spans, as one function in memory.
#
# void points(ptr arguments, ptr results)
#
# It does what ``gpu.rasterizer.lines_and_points``, ``gpu.rasterizer.planes`` and
# ``arguments.records`` do
# for points of one size on a target of single samples.  ``results`` are those of the set-up of
# triangles, ``large`` meaning that it cannot be done here; arguments are a kernel's, with
# ``points_words.POINTS``.

NAME = "points"


_STATE = ("made", "spans", "pixels", "odd")
"""Counted from point to point: records, spans and pixels, and 1 if there is no doing it here."""


@lru_cache(maxsize=1)
def points() -> TieredFunction:
    """The function.  Raises ImportError without llvmlite."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    return TieredFunction(CodeSource(NAME, text, NAME), kind)


def text() -> str:
    """Its module."""
    return module(_edge(), _planes(), _record(), _rows(), _points())


def _edge() -> tuple[str, Writer]:
    """The first pixel at or behind a place in half grid units, within limits."""
    k = Code("edge", ("double twice", "i64 low", "i64 high"), "i64")
    low, high = (k[name].signed("double") for name in ("low", "high"))
    found = k.intrinsic("ceil", k["twice"] / float(2 * ONE))
    found = (found > low).choose(found, low)
    found = (found < high).choose(found, high)
    k.give(found.whole("i64"))
    return k.text(internal=True)


def _planes() -> tuple[str, Writer]:
    """Planes of a point; what is no number or infinite has no slope that is a number."""
    k = Code("planes", ("ptr words", "ptr record", "i64 n"))
    w = ArgumentWords.of(k, ARGUMENTS)
    p = ArgumentWords.of(k, POINTS, w.pointer("setup"))
    placed, others = w.pointers("in.position", "in.varyings")
    lane = w.integer("in.lane")
    with k.loop(p.integer("plane_count")) as number:
        plane = ArgumentWords.of(
            k, SETUP_PLANE, k.at(p.pointer("planes"), number * len(SETUP_PLANE), "i64")
        )
        kind = plane.integer("kind")
        base = (kind & PLACED).differs(0).choose(placed, others)
        value = k.load("double", k.at(base, lane * plane.integer("row")), k["n"])
        level = (kind & FLAT).differs(0)
        slope = level.choose(k.constant("double", 0.0), value - value)
        into = k.at(k["record"], plane.integer("word") * WORD)
        for place, each in enumerate((value, slope, slope)):
            k.store(each, k.at(into, place * WORD))
    k.give()
    return k.text(internal=True)


def _record() -> tuple[str, Writer]:
    """The record ``made`` of point n, which is at x and y."""
    k = Code("record", ("ptr words", "i64 made", "i64 n", "double x", "double y"))
    w = ArgumentWords.of(k, ARGUMENTS)
    p = ArgumentWords.of(k, POINTS, w.pointer("setup"))
    record = k.at(w.pointer("records"), k["made"] * p.integer("record") * WORD)
    z = k.load("double", k.at(w.pointer("in.position"), w.integer("in.lane") * 2), k["n"])
    inside = (z >= 0.0) & (z <= 1.0)
    outside = (inside ^ 1).unsigned("i64") * p.integer("clips")
    one, zero = k.constant("double", 1.0), k.constant("double", 0.0)
    number = k.load("i64", w.pointer("in.numbers"), k["n"])
    for word, value in {
        X0: k["x"] / float(ONE), Y0: k["y"] / float(ONE), FRONT: one, SLOPE: zero,
        FLAGS: outside * CLIPPED, NUMBER: number,
    }.items():  # fmt: skip
        k.store(value, k.at(record, word * WORD))
    k.call("@planes", "void", k["words"], record, k["n"])
    k.give()
    return k.text(internal=True)


def _rows() -> tuple[str, Writer]:
    """Spans of ``owner`` from ``at`` on, in rows from top to bottom."""
    k = Code("rows", ("ptr words", "i64 owner", "i64 at", "i64 left", "i64 right", "i64 top",
                      "i64 bottom"))  # fmt: skip
    w = ArgumentWords.of(k, ARGUMENTS)
    owners, ys, lefts, rights = w.pointers("span.owner", "span.y", "span.left", "span.right")
    with k.loop(k["bottom"], k["top"]) as y:
        at = k["at"] + y - k["top"]
        for value, into in (
            (k["owner"], owners),
            (y, ys),
            (k["left"], lefts),
            (k["right"], rights),
        ):
            k.store(value, into, at)
    k.give()
    return k.text(internal=True)


def _points() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr words", "ptr results"))
    w = ArgumentWords.of(k, ARGUMENTS)
    state = {name: k.variable("i64", 0) for name in _STATE}
    base, lane = w.pointer("in.position"), w.integer("in.lane")
    across, down, rhws = (k.at(base, lane * row) for row in (0, 1, 3))
    with k.loop(w.integer("count")) as n:
        x, y = (k.intrinsic("rint", k.load("double", row, n) * float(ONE))
                for row in (across, down))  # fmt: skip
        rhw = k.load("double", rhws, n)
        finite = [k.intrinsic("fabs", each) < math.inf for each in (x, y)]
        with k.when(finite[0] & finite[1]):
            # Then perspective would be looked for.
            odd = rhw.differs(rhw).unsigned("i64")
            state["odd"].set(state["odd"].get() | odd)
            _point(k, w, n, (x, y), state)
    w.set("span.spans", state["spans"].get())
    pixels, zero = state["pixels"].get() * 2, k.constant("i64", 0)
    for place, value in enumerate((zero, state["odd"].get(), pixels, zero)):
        k.store(value, k["results"], place)
    k.give()
    return k.text()


def _point(
    k: Code, w: ArgumentWords, n: Value, centre: tuple[Value, Value], state: dict[str, Variable]
) -> None:
    """One that has a place."""
    p = ArgumentWords.of(k, POINTS, w.pointer("setup"))
    size = p.double("size")
    sides = []
    for axis, ends in zip(centre, (("left", "right"), ("top", "bottom")), strict=True):
        limits, twice = w.integers(*ends), axis * 2.0
        sides += [k.call("@edge", "i64", each, *limits) for each in (twice - size, twice + size)]
    left, right, top, bottom = sides
    with k.when((left < right) & (top < bottom)):
        at, made, height = state["spans"].get(), state["made"].get(), bottom - top
        fits = at + height <= p.integer("rows")
        with k.unless(fits):
            state["odd"].set(1)
        with k.when(fits):
            k.call("@record", "void", k["words"], made, n, *centre)
            k.call("@rows", "void", k["words"], made, at, left, right, top, bottom)
            state["made"].add(1)
            state["spans"].add(height)
            state["pixels"].add((right - left) * height)
