"""Compiled setup of points of one size: its conditions, arguments and code."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache

import numpy as np

from dp2emu.gpu.code import kernel_layout
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
"""Names of the words that the argument ``setup`` points to for points: size in grid units, a
double; the most spans; 1 if fragments are clipped in z; words of a record; address of the planes'
``kernel_layout.SETUP_PLANE`` words, and number of planes."""

ROWS = 1 << 10
"""The most rows that all points of a draw cover in sum: memory for as many spans is allocated."""


def sets_up(draw: Draw, names: tuple[str, ...]) -> bool:
    """Whether primitives are points of one size without sprite coordinates, on targets with one
    sample per pixel; ``names`` are the varyings that they may have.
    """
    pipeline = draw.pipeline
    offset = pipeline.depth.bias_of_float or pipeline.depth.bias_clamp
    plain = not (pipeline.raster.point_sprites or offset) and pipeline.samples == 1
    if CORNERS[draw.input.topology] != 1 or not plain:
        return False
    return POINT_SIZE not in plan_of(pipeline, names).names


def set_points(given: Arguments, draw: Draw, names: tuple[str, ...]) -> None:
    """Set the arguments of point setup; ``names`` are the varyings of corners."""
    for name in ("owner", "y", "left", "right"):
        given.set_array(f"span.{name}", np.empty(ROWS, np.int64))
    layout, raster = given.layout, draw.pipeline.raster
    flat = [name for name in names if is_flat(name, raster.flat)]
    table = kernel_layout.table_of(layout.planes, names, flat)
    (size,) = point_sizes(None, draw.raster.point, 1).tolist()
    clips = raster.clip and draw.pipeline.vertex is None
    words = (double(size), ROWS, int(clips), layout.size, address(table), len(table))
    given.kept.append(table)
    given.set_array("setup", np.array(words, np.int64))


# The compiled function:
#
# void points(ptr arguments, ptr results)
#
# It replaces ``gpu.rasterizer.lines_and_points``, ``gpu.rasterizer.planes`` and
# ``kernel_arguments.records`` for points of one size on single samples.  The arguments are a
# kernel's; ``results`` are those of triangle setup, ``large`` if the points cannot be set up here.

NAME = "points"
_STATE = ("made", "spans", "pixels", "odd")
"""Names of the totals of point setup: records, spans, pixels, and 1 if a point needs the reference
stages."""


@lru_cache(maxsize=1)
def points() -> TieredFunction:
    """Compiled point setup.  Raises ImportError without llvmlite."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    return TieredFunction(CodeSource(NAME, text, NAME), kind)


def text() -> str:
    """The LLVM module of point setup."""
    return module(_edge(), _planes(), _record(), _rows(), _points())


def _edge() -> tuple[str, Writer]:
    """Write the function ``edge``: the first pixel whose centre is at or after the coordinate
    ``twice``, in half grid units, clamped to ``low``..``high``.
    """
    k = Code("edge", ("double twice", "i64 low", "i64 high"), "i64")
    low, high = (k[name].signed("double") for name in ("low", "high"))
    found = k.intrinsic("ceil", k["twice"] / float(2 * ONE))
    found = (found > low).choose(found, low)
    found = (found < high).choose(found, high)
    k.give(found.whole("i64"))
    return k.text(internal=True)


def _planes() -> tuple[str, Writer]:
    """Write the function ``planes``: store the planes of point n in its record, constant over the
    point; the slopes of a NaN or infinite value are NaN.
    """
    k = Code("planes", ("ptr words", "ptr record", "i64 n"))
    w = ArgumentWords.of(k, kernel_layout.ARGUMENTS)
    p = ArgumentWords.of(k, POINTS, w.pointer("setup"))
    placed, others = w.pointers("in.position", "in.varyings")
    lane = w.integer("in.lane")
    with k.loop(p.integer("plane_count")) as number:
        plane = ArgumentWords.of(
            k,
            kernel_layout.SETUP_PLANE,
            k.at(p.pointer("planes"), number * len(kernel_layout.SETUP_PLANE), "i64"),
        )
        kind = plane.integer("kind")
        base = (kind & kernel_layout.PLACED).differs(0).choose(placed, others)
        value = k.load("double", k.at(base, lane * plane.integer("row")), k["n"])
        level = (kind & kernel_layout.FLAT).differs(0)
        slope = level.choose(k.constant("double", 0.0), value - value)
        into = k.at(k["record"], plane.integer("word") * kernel_layout.WORD)
        for place, each in enumerate((value, slope, slope)):
            k.store(each, k.at(into, place * kernel_layout.WORD))
    k.give()
    return k.text(internal=True)


def _record() -> tuple[str, Writer]:
    """Write the function ``record``: store primitive record number ``made`` for the point with
    number n, at the grid coordinates x and y.
    """
    k = Code("record", ("ptr words", "i64 made", "i64 n", "double x", "double y"))
    w = ArgumentWords.of(k, kernel_layout.ARGUMENTS)
    p = ArgumentWords.of(k, POINTS, w.pointer("setup"))
    record = k.at(w.pointer("records"), k["made"] * p.integer("record") * kernel_layout.WORD)
    z = k.load("double", k.at(w.pointer("in.position"), w.integer("in.lane") * 2), k["n"])
    inside = (z >= 0.0) & (z <= 1.0)
    outside = (inside ^ 1).unsigned("i64") * p.integer("clips")
    one, zero = k.constant("double", 1.0), k.constant("double", 0.0)
    number = k.load("i64", w.pointer("in.numbers"), k["n"])
    for word, value in {
        kernel_layout.X0: k["x"] / float(ONE),
        kernel_layout.Y0: k["y"] / float(ONE),
        kernel_layout.FRONT: one,
        kernel_layout.SLOPE: zero,
        kernel_layout.FLAGS: outside * kernel_layout.CLIPPED,
        kernel_layout.NUMBER: number,
    }.items():
        k.store(value, k.at(record, word * kernel_layout.WORD))
    k.call("@planes", "void", k["words"], record, k["n"])
    k.give()
    return k.text(internal=True)


def _rows() -> tuple[str, Writer]:
    """Write the function ``rows``: store a span for each row from ``top`` to below ``bottom``,
    from span number ``at`` on; ``owner`` is the number of the point's record.
    """
    k = Code("rows", ("ptr words", "i64 owner", "i64 at", "i64 left", "i64 right", "i64 top",
                      "i64 bottom"))  # fmt: skip
    w = ArgumentWords.of(k, kernel_layout.ARGUMENTS)
    owners, ys, lefts, rights = w.pointers("span.owner", "span.y", "span.left", "span.right")
    with k.loop(k["bottom"], k["top"]) as y:
        at = k["at"] + y - k["top"]
        values = k["owner"], y, k["left"], k["right"]
        for value, into in zip(values, (owners, ys, lefts, rights), strict=True):
            k.store(value, into, at)
    k.give()
    return k.text(internal=True)


def _points() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr words", "ptr results"))
    w = ArgumentWords.of(k, kernel_layout.ARGUMENTS)
    state = {name: k.variable("i64", 0) for name in _STATE}
    base, lane = w.pointer("in.position"), w.integer("in.lane")
    across, down, rhws = (k.at(base, lane * row) for row in (0, 1, 3))
    with k.loop(w.integer("count")) as n:
        x, y = (k.intrinsic("rint", k.load("double", row, n) * float(ONE))
                for row in (across, down))  # fmt: skip
        rhw = k.load("double", rhws, n)
        finite = [k.intrinsic("fabs", each) < math.inf for each in (x, y)]
        with k.when(finite[0] & finite[1]):
            # With a NaN rhw the reference looks for perspective.
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
    """Emit the set-up of point n, whose centre is finite: record, spans and ``state`` totals."""
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
