"""A sequence of small draws as one function in memory.

    i64 sequence(ptr rows, i64 first, i64 end, ptr room, ptr why)

It draws rows from ``first`` on and says where it stopped: at ``end``, or at a draw that it leaves
alone, and ``why`` (``sequence_words``).  Of that draw nothing is drawn or counted.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

from dp2emu.gpu.kernel.crew_code import level
from dp2emu.gpu.kernel.layout import ARGUMENTS, SETUP_RESULTS, TOGETHER
from dp2emu.gpu.kernel.sequence_words import (
    ALONE,
    COUNTS,
    DONE,
    LEVELS,
    OWN,
    PLANNED,
    RECIPE,
    ROOM,
    ROW,
)
from dp2emu.gpu.kernel.threads import WORTH
from dp2emu.gpu.kernel.vertex_code import ASSEMBLE
from dp2emu.gpu.kernel.vertex_words import VERTEX_WORDS
from dp2emu.gpu.kernel.words import Words
from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.improving import Improving
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer, module

NAME = "sequence"
_WORD = 8
_POSITION, _CORNERS = 4, 3
"""Rows of a vertex before its varyings, each of a double for every corner."""


@lru_cache(maxsize=1)
def sequence() -> Improving:
    """The function.  It runs without Python's lock.  Raises ImportError without llvmlite."""
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(number, pointer, number, number, pointer, pointer)
    return Improving(Source(NAME, text, NAME), kind)


def text() -> str:
    """Its module."""
    return module(_copied(), level(), _gathered(), _painted(), _drawn(), _sequence())


def _copied() -> tuple[str, Writer]:
    """Words from one place to another."""
    k = Code("copied", ("ptr from", "ptr to", "i64 count"))
    with k.loop(k["count"]) as n:
        k.store(k.load("i64", k["from"], n), k["to"], n)
    k.give()
    return k.text(internal=True)


def _gathered() -> tuple[str, Writer]:
    """Assemble, and gather what is seen -> how many triangles, -1 if that cannot be done here.

    ``capacity`` takes how far a row is from the next one.
    """
    k = Code("gathered", ("ptr recipe", "ptr room", "ptr capacity"), "i64")
    b, m = Words.of(k, RECIPE, k["recipe"]), Words.of(k, ROOM, k["room"])
    words, (vertices, cutting) = b.pointer("words"), m.pointers("vertices", "cutting")
    found = k.call(vertices.name, "i64", words, k.constant("i64", ASSEMBLE))
    taken, cut = found & 0xFFFFFFFF, found.shifted(32)
    k.give_if((cut > 0) & m.integer("cutting").equals(0), -1)
    capacity = taken + cut * b.integer("pieces")
    wanted = capacity * (b.integer("lanes") + _POSITION) * _CORNERS
    k.give_if((wanted > m.integer("lane_room")) | (capacity > m.integer("number_room")), -1)
    v = Words.of(k, VERTEX_WORDS, words)
    v.set("taken", m.integer("lanes"))
    v.set("capacity", capacity)
    v.set("numbers_taken", m.integer("numbers"))
    # What is cut says where its edges are, which nobody wants: records come later.
    nowhere = k.constant("i64", 0)
    v.set("edges_taken", (cut > 0).choose(m.integer("records"), nowhere))
    for name in ("lanes", "extra"):
        v.set(name, nowhere)
    k.store(capacity, k["capacity"])
    k.give(k.call((cut > 0).choose(cutting, vertices).name, "i64", words, taken))
    return k.text(internal=True)


def _painted() -> tuple[str, Writer]:
    """Set up and draw so many triangles by a kernel, unless they are too large -> what became."""
    k = Code(
        "painted", ("ptr recipe", "ptr room", "ptr level", "i64 count", "i64 capacity"), "i64"
    )
    b, m, at = (Words.of(k, names, k[base]) for names, base in
                ((RECIPE, "recipe"), (ROOM, "room"), (LEVELS, "level")))  # fmt: skip
    groups = (k["count"] + TOGETHER - 1) // TOGETHER
    k.give_if((groups + 1) * TOGETHER * at.integer("size") > m.integer("record_room"), ALONE)
    words, kernel = at.pointer("arguments"), at.pointer("kernel").name
    lanes, pitch = m.integer("lanes"), k["capacity"] * _WORD
    for name, value in {
        "records": m.integer("records"),
        "count": k["count"],
        "in.position": lanes,
        "in.varyings": lanes + pitch * (_POSITION * _CORNERS),
        "in.lane": pitch * _CORNERS,
        "in.corner": pitch,
        "in.numbers": m.integer("numbers"),
    }.items():
        Words.of(k, ARGUMENTS, words).set(name, value)
    found = k.room("i64", len(SETUP_RESULTS))
    k.call(at.pointer("setup").name, "void", words, found)
    triangles, large, area, records = (k.load("i64", found, n) for n in range(len(SETUP_RESULTS)))
    Words.of(k, ARGUMENTS, words).set("count", records)
    worth = (area // 2) * b.integer("samples") >= WORTH
    k.give_if(large.differs(0) | worth, ALONE)
    top, bottom = b.integer("top"), b.integer("bottom")
    with k.when(top < bottom):
        counts = k.at(k["recipe"], RECIPE.index("fragments"), "i64")
        k.call(kernel, "void", words, counts, top.cut("i32"), bottom.cut("i32"))
    b.set("triangles", b.integer("triangles") + triangles)
    k.give(DONE)
    return k.text(internal=True)


def _drawn() -> tuple[str, Writer]:
    """One row -> what became of it."""
    k = Code("drawn", ("ptr row", "ptr room"), "i64")
    r = Words.of(k, ROW, k["row"])
    recipe, capacity = r.pointer("recipe"), k.room("i64")
    b, m = Words.of(k, RECIPE, recipe), Words.of(k, ROOM, k["room"])
    k.call("@copied", "void", r.pointer("sources"), b.pointer("into"), b.integer("source_words"))
    own = k.at(k["row"], ROW.index(OWN[0]), "i64")
    k.call("@copied", "void", own, b.pointer("words"), k.constant("i64", len(OWN)))
    count = k.call("@gathered", "i64", recipe, k["room"], capacity)
    k.give_if(count < 0, ALONE)
    with k.when(count > 0):
        pitch = k.load("i64", capacity)
        level = k.variable("i64", 0)
        with k.when(b.integer("shaded").equals(0)):
            rhw = k.at(m.pointer("lanes"), pitch * ((_POSITION - 1) * _CORNERS), "double")
            level.set(k.call("@level", "i64", rhw, count, pitch))
        start = level.get() * len(LEVELS) + RECIPE.index("kernel0")
        at = k.at(recipe, start, "i64")
        k.give_if(k.load("i64", at).equals(0), lambda: level.get() + PLANNED)
        arguments = Words.of(k, ARGUMENTS, Words.of(k, LEVELS, at).pointer("arguments"))
        arguments.set("program", r.integer("program"))
        found = k.call("@painted", "i64", recipe, k["room"], at, count, pitch)
        k.give_if(found.differs(DONE), lambda: found)
    _count(b, r, Words.of(k, VERTEX_WORDS, b.pointer("words")), count)
    k.give(DONE)
    return k.text(internal=True)


def _count(recipe: Words, row: Words, vertices: Words, clipped: Value) -> None:
    """What kernels do not."""
    one = recipe.code.constant("i64", 1)
    added = one, row.integer("count"), vertices.integer("extra"), clipped
    for name, value in zip(COUNTS, added, strict=False):
        recipe.set(name, recipe.integer(name) + value)


def _sequence() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr rows", "i64 first", "i64 end", "ptr room", "ptr why"), "i64")
    with k.loop(k["end"], k["first"]) as n:
        row = k.at(k["rows"], n * len(ROW), "i64")
        why = k.call("@drawn", "i64", row, k["room"])
        k.store(why, k["why"])
        k.give_if(why.differs(DONE), lambda: n)
    k.give(k["end"])
    return k.text()
