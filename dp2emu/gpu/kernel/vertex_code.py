"""The vertex stages as two functions in memory.

    i64 vertices(ptr words, i64 taken)

With ``taken`` below 0 it fetches, shades, places and chooses, and says how many primitives are
taken, plus how many of these have to be cut << 32; then, with the first of these, it gathers the
corners of primitives of which none has to be, and gives their number.

    i64 emit_cut(ptr words, i64 taken)

It cuts, gathers, and says how many there are, or -1 if there is no room for them.

They are the same code for all draws, hence compiled but once; only programs differ.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

from dp2emu.gpu.kernel import vertex_cut, vertex_emit, vertex_fetch, vertex_place
from dp2emu.gpu.kernel.vertex_words import LANE, VERTEX_WORDS
from dp2emu.gpu.kernel.words import Words
from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.improving import Improving
from dp2emu.shader.jit.scalars import Code
from dp2emu.shader.jit.writer import Writer, module

NAME = "vertices"
ASSEMBLE = -1
"""What ``taken`` is at first."""


@lru_cache(maxsize=1)
def vertices() -> Improving:
    """The first function.  Raises ImportError without llvmlite."""
    return Improving(Source(NAME, text, NAME), KIND)


@lru_cache(maxsize=1)
def cutting() -> Improving:
    """The second."""
    return Improving(Source(vertex_cut.NAME, _cutting, vertex_cut.NAME), KIND)


KIND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)


def _cutting() -> str:
    return module(*vertex_cut.functions())


def text() -> str:
    """The first one's module."""
    parts = (vertex_fetch, vertex_place, vertex_emit)
    functions = [function for part in parts for function in part.functions()]
    return module(*functions, _elements(), _assembled(), _vertices())


def _elements() -> tuple[str, Writer]:
    """All that the program is given."""
    k = Code("elements", ("ptr words", "i64 lanes"))
    w = Words.of(k, VERTEX_WORDS)
    lane_words, distinct, identity = w.pointers("lane_words", "distinct", "identity")
    base = w.integer("base")
    with k.loop(w.integer("lane_count")) as n:
        element = k.at(lane_words, n * len(LANE), "i64")
        k.call("@element", "void", element, distinct, k["lanes"])
    with k.when(w.integer("identity").differs(0)), k.loop(k["lanes"]) as n:
        k.store((k.load("i64", distinct, n) - base).cut("i32"), identity, n)
    k.give()
    return k.text(internal=True)


def _assembled() -> tuple[str, Writer]:
    k = Code("assembled", ("ptr words",), "i64")
    w, words = Words.of(k, VERTEX_WORDS), k["words"]
    lanes = k.call("@numbers", "i64", words)
    w.set("lanes", lanes)
    k.call("@elements", "void", words, lanes)
    k.give_if(w.integer("body").equals(0), lambda: k.call("@screened", "i64", words, lanes))
    body, bindings, given, inputs, out, outputs = w.pointers(
        "body", "bindings", "in", "inputs", "out", "outputs"
    )
    input_count, output_count = w.integers("input_count", "output_count")
    unmasked = k.constant("i64", 0)
    k.call(
        w.pointer("loop").name, "void", body, bindings,
        given, inputs, input_count, out, outputs, output_count, unmasked, lanes,
    )  # fmt: skip
    k.call("@place", "void", words, lanes)
    k.give(k.call("@choose", "i64", words))
    return k.text(internal=True)


def _vertices() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr words", "i64 taken"), "i64")
    k.give_if(k["taken"] < 0, lambda: k.call("@assembled", "i64", k["words"]))
    k.call("@emit", "void", k["words"], k["taken"])
    k.give(k["taken"])
    return k.text()
