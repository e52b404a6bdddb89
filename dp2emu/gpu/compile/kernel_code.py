"""Kernels as compiled functions, one function each or, for triangles, in two functions at first:

    void front(ptr arguments, ptr results, i32 first, i32 end, ptr rows)
    void rows(ptr arguments, ptr results, ptr record, ptr runs, i32 y, i32 low, i32 high)

The front covers triangles and is shared by all states.  It calls ``rows`` for each pair of rows;
``runs`` has four i32 for each sample: the columns where both rows begin, then where they end.  A
new state compiles half as much text then, and draws a little slower.  The kernel finds the front
through its arguments (``kernel_layout.TRIANGLES``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial

import msgspec

from dp2emu.gpu.code.block_writer import Code
from dp2emu.gpu.code.kernel_key import Key, SetupKey
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, TOGETHER, TRIANGLES, WORD, layout_of
from dp2emu.gpu.compile.block_code import Blocks
from dp2emu.gpu.pixel_shader.pixel_code import sampling
from dp2emu.gpu.rasterizer.planes_code import Primitive
from dp2emu.gpu.rasterizer.spans_code import Bounds, spans
from dp2emu.gpu.rasterizer.triangle_setup_code import Setup
from dp2emu.gpu.rasterizer.triangles_code import (
    Pair,
    Records,
    Runs,
    places,
    rows_within,
    triangles,
)
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.machine import machine
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import Target, Writer, module

FRONT, ROWS = "front", "rows"
NAME, SETUP = "kernel", "setup"
PASSES = ("always_inliner", "sroa")
"""LLVM passes run on kernel text; they inline programs and promote variables to registers."""

_ROWS_PARAMETERS = (
    *(("ptr", name) for name in ("arguments", "results", "record", "runs")),
    *(("i32", name) for name in ("y", "low", "high")),
)
_SETUP_PARAMETERS = (("ptr", "arguments"), ("ptr", "results"))
_PARAMETERS = (*_SETUP_PARAMETERS, ("i32", "first"), ("i32", "end"))
_COLUMNS = "<2 x i32>"
"""LLVM type of a pair of columns, one for each row of a row pair."""


class FrontKey(msgspec.Struct, frozen=True):
    """The part of ``Key`` that the front, the coverage part of a kernel, depends on."""

    samples: int
    by_sample: bool


def front(w: Code, key: FrontKey) -> None:
    """Write the text of a kernel's front, which computes coverage."""
    setup = w.word("ptr", "%arguments", ARGUMENTS.index("setup"))
    size, corners = (
        w(f"mul i64 {w.word('i64', setup, TRIANGLES.index(name))}, {WORD}")
        for name in ("record", "corners")
    )
    records = Records(size, corners, ("0", str(TOGETHER * WORD), corners))
    lanes = places(key.samples, by_sample=key.by_sample)
    memory = w.allocate("i32", 4 * len(lanes))

    def rows(record: str, y: str, runs: Runs, ends: Pair) -> None:
        bounds = [column for low, high in runs for column in (*low, *high)]
        for number, column in enumerate(bounds):
            w.do(f"store i32 {column}, ptr {w.place(memory, str(4 * number))}")
        values = "%arguments", "%results", record, memory, y, *ends
        given = (f"{type} {value}"
                 for (type, _), value in zip(_ROWS_PARAMETERS, values, strict=True))  # fmt: skip
        w.do(f"call void %rows({', '.join(given)})")

    triangles(w, lanes, records, rows)


def rows(blocks: Blocks) -> str:
    """Write the function ``rows``, which draws a pair of pixel rows -> its header."""
    w, key = blocks.w, blocks.key
    bounds = [
        Bounds(_lanes(w, 16 * number), _lanes(w, 16 * number + 8))
        for number in range(len(places(key.samples, by_sample=key.by_sample)))
    ]
    blocks.rows(Primitive(w, blocks.layout, "%record"), "%y", bounds, ("%low", "%high"))
    blocks.finish()
    return f"define internal void @{ROWS}({parameters(_ROWS_PARAMETERS)}) nounwind"


def _lanes(w: Code, at: int) -> str:
    """Load the columns of two rows from byte ``at`` of ``runs``, spread over the rows' lanes."""
    pair = w(f"load {_COLUMNS}, ptr {w.place('%runs', str(at))}, align 4")
    return w.picked(_COLUMNS, pair, "poison", w.memory.rows)


def parameters(named: Sequence[tuple[str, str]]) -> str:
    """The parameter list of an LLVM function from pairs of type and name; its pointers do not
    alias.
    """
    return ", ".join(f"{type}{' noalias' if type == 'ptr' else ''} %{name}"
                     for type, name in named)  # fmt: skip


def text(key: Key, target: Target) -> str:
    """The LLVM module of a kernel as one function."""
    w = Code(target, quads=key.quads)
    blocks = Blocks(w, key, layout_of(key))
    if key.triangles:
        samples = places(key.samples, by_sample=key.by_sample)
        triangles(w, samples, Records.of(blocks.layout), rows_within(blocks))
    else:
        spans(blocks)
    blocks.finish()
    w.do("ret void")
    return module(*_routines(blocks), (_HEADER, w))


def text_in_two(key: Key, target: Target) -> str:
    """The LLVM module of a kernel for triangles that calls the front with its own ``rows``."""
    w, whole = Code(target, quads=key.quads), Code(target)
    blocks = Blocks(w, key, layout_of(key))
    header = rows(blocks)
    setup = whole.word("ptr", "%arguments", ARGUMENTS.index("setup"))
    code = whole.word("ptr", setup, TRIANGLES.index(FRONT))
    given = "ptr %arguments, ptr %results, i32 %first, i32 %end"
    whole.do(f"call void {code}({given}, ptr @{ROWS})")
    for each in (w, whole):
        each.do("ret void")
    return module(*_routines(blocks, paired=False), (header, w), (_HEADER, whole))


def _routines(blocks: Blocks, *, paired: bool = True) -> Iterator[tuple[str, Writer]]:
    """Functions that a kernel calls: blend, sampler and pixel programs, header and text."""
    key, target = blocks.key, blocks.w.target
    for routine in blocks.coloring.routines.values():
        yield routine.text(target, inline=key.samples == 1)
    if key.runs:
        for routine in sampling(key.samplers):
            yield routine.text(target, inline=True, paired=paired)
        yield blocks.routine.text(target, inline=not key.each)


_HEADER = f"define void @{NAME}({parameters(_PARAMETERS)}) nounwind"


def front_text(key: FrontKey, target: Target) -> str:
    """The LLVM module of a kernel's front, which computes coverage."""
    w = Code(target)
    front(w, key)
    w.do("ret void")
    given = parameters((*_PARAMETERS, ("ptr", ROWS)))
    return module((f"define void @{FRONT}({given}) nounwind", w))


def setup_text(key: SetupKey, target: Target) -> str:
    """The LLVM module of triangle setup."""
    w = Code(target)
    Setup(w, key).whole()
    w.do("ret void")
    return module((f"define void @{SETUP}({parameters(_SETUP_PARAMETERS)}) nounwind", w))


def target_of(key: Key) -> Target:
    """The compilation target of a kernel and of the programs that it calls."""
    return Target(key.width, machine().fused, machine().rounding)


@lru_cache(maxsize=1 << 10)
def kernel(key: Key) -> TieredFunction:
    """The compiled kernel for a key, cached; for triangles its first code is in two functions.

    It is called with the addresses of arguments and results, the first row and one past the last.
    """
    target = target_of(key)
    first = partial(text_in_two, key, target) if key.triangles else None
    whole = partial(text, key, target)
    return TieredFunction(CodeSource((key, target), whole, NAME, PASSES, first), KIND)


@lru_cache(maxsize=8)
def front_of(samples: int, by_sample: bool) -> TieredFunction:
    """The shared coverage part of triangle kernels; only compiled code calls it."""
    key, target = FrontKey(samples, by_sample), Target(TOGETHER, machine().fused)
    return TieredFunction(
        CodeSource((key, target), partial(front_text, key, target), FRONT), FRONT_KIND
    )


@lru_cache(maxsize=1 << 10)
def setup(key: SetupKey) -> TieredFunction:
    """Compiled triangle setup; it is called with the addresses of arguments and results."""
    target = Target(TOGETHER, machine().fused)
    return TieredFunction(
        CodeSource((key, target), partial(setup_text, key, target), SETUP), SETUP_KIND
    )


KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32)
FRONT_KIND = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p
)
SETUP_KIND = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
