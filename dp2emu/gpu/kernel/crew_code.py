"""What threads that draw together run, as a function in memory.

    void crew(ptr hand, i64 painting)

With ``painting`` 0 it takes items, as long as there are any, makes records of their triangles and
lists of which are in which band.  With 1 it takes bands, and draws all items in each of them, in
order.  What nobody has taken yet is a number in memory, so that threads need Python's lock at the
beginning and at the end only (``crew_words``).
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

from dp2emu.gpu.kernel.crew_words import ALONE, HAND, ITEM, JOB, READY, TILTED
from dp2emu.gpu.kernel.layout import ARGUMENTS, RESULTS, SETUP_RESULTS, WORD
from dp2emu.gpu.kernel.vertex_code import ASSEMBLE
from dp2emu.gpu.kernel.vertex_words import VERTEX_WORDS
from dp2emu.gpu.kernel.words import Words
from dp2emu.shader.jit.code import Source
from dp2emu.shader.jit.improving import Improving
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer, module

NAME = "crew"
PREPARING, PAINTING = 0, 1
_NUMBER = 4
"""Bytes of the number of a primitive that is chosen."""
_TOP, _BOTTOM = 6, 7
"""Words of a triangle's corners in which its rows are."""
_RHW_ROWS = 9
"""Rows of corners before those of 1 / w."""


@lru_cache(maxsize=1)
def crew() -> Improving:
    """The function.  It runs without Python's lock.  Raises ImportError without llvmlite."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    return Improving(Source(NAME, text, NAME), kind)


def text() -> str:
    """Its module."""
    return module(
        level(), _listed(), _set_up(), _gathered(), _made(), _prepare(), _paint(), _crew()
    )


def _crew() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr hand", "i64 painting"))
    painting = k["painting"].equals(PAINTING)
    with k.when(painting):
        k.call("@paint", "void", k["hand"])
    with k.unless(painting):
        k.call("@prepare", "void", k["hand"])
    k.give()
    return k.text()


def _gathered() -> tuple[str, Writer]:
    """Assemble an item -> how many triangles are on the screen; -1 if some have to be cut."""
    k = Code("gathered", ("ptr hand", "ptr job", "i64 number"), "i64")
    h, j = Words.of(k, HAND, k["hand"]), Words.of(k, JOB, k["job"])
    words, vertices = h.pointer("words"), j.pointer("vertices").name
    each, before = j.integer("each"), k["number"] * j.integer("each")
    left = j.integer("count") - before
    v, nowhere = Words.of(k, VERTEX_WORDS, words), k.constant("i64", 0)
    v.set("start", j.integer("start") + before)
    v.set("count", (left < each).choose(left, each))
    v.set("taken", h.integer("lanes"))
    v.set("capacity", j.integer("block"))
    v.set("numbers_taken", h.integer("numbers"))
    v.set("edges_taken", nowhere)
    found = k.call(vertices, "i64", words, k.constant("i64", ASSEMBLE))
    k.give((found.shifted(32) > 0).choose(k.constant("i64", -1), found))
    return k.text(internal=True)


def _made() -> tuple[str, Writer]:
    """Make the records of so many triangles, block by block -> what became of them."""
    k = Code("made", ("ptr hand", "ptr job", "ptr item", "i64 count"), "i64")
    j, item = Words.of(k, JOB, k["job"]), Words.of(k, ITEM, k["item"])
    words, block = Words.of(k, HAND, k["hand"]).pointer("words"), j.integer("block")
    v, what = Words.of(k, VERTEX_WORDS, words), k.variable("i64", READY)
    chosen = v.integer("chosen")
    with k.loop((k["count"] + block - 1) // block) as n:
        first = n * block
        left = k["count"] - first
        some = (left < block).choose(left, block)
        v.set("chosen", chosen + first * _NUMBER)
        k.call(j.pointer("vertices").name, "i64", words, some)
        found = k.call("@set_up", "i64", k["hand"], k["job"], k["item"], some)
        what.set((found > what.get()).choose(found, what.get()))
    v.set("chosen", chosen)
    item.set("taken", k["count"])
    k.give(what.get())
    return k.text(internal=True)


def _set_up() -> tuple[str, Writer]:
    """Set up a block, and list its triangles -> what became of it."""
    k = Code("set_up", ("ptr hand", "ptr job", "ptr item", "i64 count"), "i64")
    h, j, item = (Words.of(k, names, k[base]) for names, base in
                  ((HAND, "hand"), (JOB, "job"), (ITEM, "item")))  # fmt: skip
    with k.when(j.integer("level") >= 0):
        rhw = k.at(h.pointer("lanes"), j.integer("block") * _RHW_ROWS, "double")
        same = k.call("@level", "i64", rhw, k["count"], j.integer("block"))
        item.set("level", item.integer("level") & same)
    k.give_if(item.integer("level") < j.integer("level"), TILTED)
    words, found = h.pointer("arguments"), k.room("i64", len(SETUP_RESULTS))
    given, first = Words.of(k, ARGUMENTS, words), item.integer("made")
    given.set("records", item.integer("records") + first * h.integer("record") * WORD)
    given.set("count", k["count"])
    k.call(j.pointer("setup").name, "void", words, found)
    triangles, large, area, made = (k.load("i64", found, n) for n in range(len(SETUP_RESULTS)))
    k.give_if(large.differs(0), ALONE)
    for name, value in {"triangles": triangles, "area": area, "made": made}.items():
        item.set(name, item.integer(name) + value)
    k.call("@listed", "void", k["hand"], k["job"], k["item"], first, first + made)
    k.give(READY)
    return k.text(internal=True)


def level() -> tuple[str, Writer]:
    """1 if no triangle has corners whose 1 / w differ (``running``)."""
    k = Code("level", ("ptr rhw", "i64 count", "i64 capacity"), "i64")
    with k.loop(k["count"]) as n:
        first, *others = (
            k.load("double", k["rhw"], k["capacity"] * corner + n) for corner in range(3)
        )
        for other in (first, *others):
            k.give_if(first.equals(other) ^ 1, 0)
    k.give(1)
    return k.text(internal=True)


def _listed() -> tuple[str, Writer]:
    """List triangles of an item by band."""
    k = Code("listed", ("ptr hand", "ptr job", "ptr item", "i64 first", "i64 end"))
    h, j, item = (Words.of(k, names, k[base]) for names, base in
                  ((HAND, "hand"), (JOB, "job"), (ITEM, "item")))  # fmt: skip
    shift, size = j.integer("shift"), h.integer("record")
    lowest, counts = j.integer("top") >> shift, item.pointer("counts")
    lists, step = item.pointer("lists"), item.integer("list_step")
    rows = [k.at(item.pointer("records"), h.integer("corners") + word, "i64")
            for word in (_TOP, _BOTTOM)]  # fmt: skip
    with k.loop(k["end"], k["first"]) as n:
        top, bottom = (k.load("i64", row, n * size) for row in rows)
        end = ((bottom - 1) >> shift) - lowest + 1
        with k.loop(end, (top >> shift) - lowest) as band:
            before = k.load("i64", counts, band)
            k.store(n.cut("i32"), k.at(lists, band * step), before)
            k.store(before + 1, counts, band)
    k.give()
    return k.text(internal=True)


def _prepare() -> tuple[str, Writer]:
    k = Code("prepare", ("ptr hand",))
    job = Words.of(k, HAND, k["hand"]).pointer("job")
    j = Words.of(k, JOB, job)
    number = k.variable("i64", _next(k, job))
    with k.while_(lambda: number.get() < j.integer("end")):
        here = number.get()
        item = k.at(j.pointer("item_words"), here * len(ITEM), "i64")
        count = k.call("@gathered", "i64", k["hand"], job, here)
        what = k.variable("i64", ALONE)
        with k.when(count >= 0):
            what.set(k.call("@made", "i64", k["hand"], job, item, count))
        Words.of(k, ITEM, item).set("what", what.get())
        number.set(_next(k, job))
    k.give()
    return k.text(internal=True)


def _paint() -> tuple[str, Writer]:
    k = Code("paint", ("ptr hand",))
    h = Words.of(k, HAND, k["hand"])
    job, arguments = h.pointers("job", "arguments")
    j, given = Words.of(k, JOB, job), Words.of(k, ARGUMENTS, arguments)
    kernel, item_words = j.pointers("kernel", "item_words")
    top, bottom, shift = j.integers("top", "bottom", "shift")
    counts = k.at(k["hand"], HAND.index(RESULTS[0]), "i64")
    number = k.variable("i64", _next(k, job))
    with k.while_(lambda: number.get() < j.integer("parts")):
        band = number.get()
        start = ((top >> shift) + band) << shift
        stop = start + (k.constant("i64", 1) << shift)
        rows = [each.cut("i32") for each in ((start < top).choose(top, start),
                                             (stop > bottom).choose(bottom, stop))]  # fmt: skip
        with k.loop(j.integer("end"), j.integer("items")) as n:
            item = Words.of(k, ITEM, k.at(item_words, n * len(ITEM), "i64"))
            count = k.load("i64", item.pointer("counts"), band)
            with k.when(count > 0):
                given.set("records", item.integer("records"))
                given.set("count", count)
                given.set("list", item.integer("lists") + item.integer("list_step") * band)
                k.call(kernel.name, "void", arguments, counts, *rows)
        number.set(_next(k, job))
    k.give()
    return k.text(internal=True)


def _next(k: Code, job: Value) -> Value:
    """Take what nobody has taken."""
    return k.counted(k.at(job, JOB.index("next"), "i64"))
