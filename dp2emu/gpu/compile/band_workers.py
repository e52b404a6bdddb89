"""What threads that draw together are called with: 64-bit words by name, addresses unless said."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, RESULTS, SETUP_RESULTS, WORD, Layout
from dp2emu.gpu.code.vertex_arguments import VERTEX_WORDS, ArgumentWords
from dp2emu.gpu.compile.kernel_arguments import Arguments, Made, rooms
from dp2emu.gpu.compile.kernel_plan import Plan
from dp2emu.gpu.compile.thread_pool import Bands, share
from dp2emu.gpu.rasterizer.triangles_code import AHEAD
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, Frames
from dp2emu.gpu.vertex_shader.vertex_kernel import ASSEMBLE, vertices
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import Writer, module

JOB = (
    "next", "items", "end", "item_words",
    "each", "block", "start", "count", "level", "vertices", "setup",
    "kernel", "parts", "top", "bottom", "shift",
)  # fmt: skip
"""What all of them know.  ``next`` is the number of the item, or of the band, that nobody has
taken yet.  Items are those from ``items`` to below ``end``; ``item_words`` has ``ITEM`` words of
each from number 0 on.  An item is ``each`` primitives of the ``count`` from ``start`` on, the
last one fewer; ``block`` of them are gathered and set up at once.  ``level`` is 1 if what sets
triangles up is for those without perspective, and -1 if nobody looks whether they have any.  Of
the rows from ``top`` to below ``bottom`` a band has those that are the same but for the low
``shift`` bits, which are ``parts`` bands."""

HAND = ("job", "words", "arguments", "lanes", "numbers", "corners", "record", *RESULTS)
"""What each of them has for itself: the words of the vertex stages, the arguments of a kernel and
of what sets up triangles, room for the corners and numbers of an item, and what its kernel counts.
A record has ``record`` words, the corners of its triangle from word ``corners`` on."""

ITEM = (
    "records", "lists", "list_step", "counts", "what", "level",
    "taken", "triangles", "made", "area",
)  # fmt: skip
"""Some primitives.  A band has ``counts`` i64 numbers of them, i32 each, ``list_step`` bytes after
those of the band before.  ``what`` became of them when they were set up: see below; ``level`` is 1
if no triangle has perspective.  ``taken`` are on the screen, ``triangles`` are left after culling,
of which ``made`` ones have records; the area is doubled, in pixels."""

READY, ALONE, TILTED = 0, 1, 2
"""They can be drawn, have to be drawn by themselves, or have perspective that ``setup`` is not
for."""


# What threads that draw together run, as a function in memory.
#
# void crew(ptr hand, i64 painting)
#
# With ``painting`` 0 it takes items, as long as there are any, makes records of their triangles
# and lists of which are in which band.  With 1 it takes bands, and draws all items in each of
# them, in order.  What nobody has taken yet is a number in memory, so that threads need Python's
# lock at the beginning and at the end only (``crew_words``).

NAME = "crew"
PREPARING, PAINTING = 0, 1
_NUMBER = 4
"""Bytes of the number of a primitive that is chosen."""
_TOP, _BOTTOM = 6, 7
"""Words of a triangle's corners in which its rows are."""
_RHW_ROWS = 9
"""Rows of corners before those of 1 / w."""


@lru_cache(maxsize=1)
def crew() -> TieredFunction:
    """The function.  It runs without Python's lock.  Raises ImportError without llvmlite."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    return TieredFunction(CodeSource(NAME, text, NAME), kind)


def text() -> str:
    """Its module."""
    return module(
        level(), _listed(), _set_up(), _gathered(), _made(), _prepare(), _paint(), _worker_loop()
    )


def _worker_loop() -> tuple[str, Writer]:
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
    h, j = ArgumentWords.of(k, HAND, k["hand"]), ArgumentWords.of(k, JOB, k["job"])
    words, vertices = h.pointer("words"), j.pointer("vertices").name
    each, before = j.integer("each"), k["number"] * j.integer("each")
    left = j.integer("count") - before
    v, nowhere = ArgumentWords.of(k, VERTEX_WORDS, words), k.constant("i64", 0)
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
    j, item = ArgumentWords.of(k, JOB, k["job"]), ArgumentWords.of(k, ITEM, k["item"])
    words, block = ArgumentWords.of(k, HAND, k["hand"]).pointer("words"), j.integer("block")
    v, what = ArgumentWords.of(k, VERTEX_WORDS, words), k.variable("i64", READY)
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
    h, j, item = (ArgumentWords.of(k, names, k[base]) for names, base in
                  ((HAND, "hand"), (JOB, "job"), (ITEM, "item")))  # fmt: skip
    with k.when(j.integer("level") >= 0):
        rhw = k.at(h.pointer("lanes"), j.integer("block") * _RHW_ROWS, "double")
        same = k.call("@level", "i64", rhw, k["count"], j.integer("block"))
        item.set("level", item.integer("level") & same)
    k.give_if(item.integer("level") < j.integer("level"), TILTED)
    words, found = h.pointer("arguments"), k.room("i64", len(SETUP_RESULTS))
    given, first = ArgumentWords.of(k, ARGUMENTS, words), item.integer("made")
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
    h, j, item = (ArgumentWords.of(k, names, k[base]) for names, base in
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
    job = ArgumentWords.of(k, HAND, k["hand"]).pointer("job")
    j = ArgumentWords.of(k, JOB, job)
    number = k.variable("i64", _next(k, job))
    with k.while_(lambda: number.get() < j.integer("end")):
        here = number.get()
        item = k.at(j.pointer("item_words"), here * len(ITEM), "i64")
        count = k.call("@gathered", "i64", k["hand"], job, here)
        what = k.variable("i64", ALONE)
        with k.when(count >= 0):
            what.set(k.call("@made", "i64", k["hand"], job, item, count))
        ArgumentWords.of(k, ITEM, item).set("what", what.get())
        number.set(_next(k, job))
    k.give()
    return k.text(internal=True)


def _paint() -> tuple[str, Writer]:
    k = Code("paint", ("ptr hand",))
    h = ArgumentWords.of(k, HAND, k["hand"])
    job, arguments = h.pointers("job", "arguments")
    j, given = ArgumentWords.of(k, JOB, job), ArgumentWords.of(k, ARGUMENTS, arguments)
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
            item = ArgumentWords.of(k, ITEM, k.at(item_words, n * len(ITEM), "i64"))
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


# Threads that draw together: what each of them has, and how they are set to work.

_Item = TypeVar("_Item", bound=np.generic)
_LINE = 16
"""Words that two threads do not write side by side: two lines of the cache."""
_COUNTS = slice(HAND.index(RESULTS[0]), HAND.index(RESULTS[-1]) + 1)

_AT = {name: place for place, name in enumerate(ITEM)}
_FEWEST = 1 << 14

_NO_RECORDS: F64 = np.empty(1)

_ROWS_PLACED, _CORNERS = 4, 3


class BandWorker:
    """One of the threads: its words (``HAND``) and its memory.  Mutable: memory grows."""

    def __init__(self) -> None:
        self.frames = Frames()
        self.words = np.zeros(-(-len(HAND) // _LINE) * _LINE + _LINE, np.int64)
        self._lanes, self._numbers = np.empty(0), np.empty(0, np.int64)

    def made(self, each: int, varyings: int) -> Made:
        """Room for the corners of ``each`` triangles, whose records lie elsewhere."""
        rows = _ROWS_PLACED + varyings
        if len(self._lanes) < rows * _CORNERS * each:
            self._lanes = np.empty(rows * _CORNERS * each)
        if len(self._numbers) < each:
            self._numbers = np.empty(each, np.int64)
        lanes = self._lanes[: rows * _CORNERS * each].reshape(rows, _CORNERS, each)
        placed, others = lanes[:_ROWS_PLACED], lanes[_ROWS_PLACED:]
        return Made(placed, others, self._numbers[:each], _NO_RECORDS)

    def take(self, job: I64, given: Arguments, frame: Frame | None = None) -> None:
        """Be ready to work on a job."""
        layout = given.layout
        start = 0 if frame is None else frame.start
        lanes, numbers = address(self._lanes), address(self._numbers)
        self.words[: len(HAND)] = (
            address(job), start, address(given.words), lanes, numbers,
            layout.corners, layout.size, *(0 for _ in RESULTS),
        )  # fmt: skip


class _Workers(threading.local):
    """Hands of a thread that draws, and memory that they fill.  Mutable."""

    def __init__(self) -> None:
        self.hands: list[BandWorker] = []
        self.records: F64 = np.empty(0)
        self.lists: NDArray[np.int32] = np.empty(0, np.int32)


_workers = _Workers()


def band_workers(count: int) -> list[BandWorker]:
    """So many, which no two draws use at a time."""
    _workers.hands += [BandWorker() for _ in range(len(_workers.hands), count)]
    return _workers.hands[:count]


class Items:
    """What is drawn together, ``ITEM`` words of each, in ``bands``.  Mutable: they are set up."""

    def __init__(self, count: int, bands: Bands) -> None:
        self.bands = bands
        self.words: I64 = np.zeros((count, len(ITEM)), np.int64)
        self.counts: I64 = np.zeros((count, bands.count), np.int64)
        self._set("counts", self.counts)

    @classmethod
    def set_up(cls, count: int, each: int, bands: Bands, layout: Layout) -> Items:
        """Room for ``count`` of ``each`` triangles."""
        items = cls(count, bands)
        size = rooms(each) * layout.size
        records = _workers.records = _grown(_workers.records, count * size)
        items._set("records", records[: count * size].reshape(count, size))
        lists = _workers.lists = _grown(_workers.lists, count * bands.count * each + AHEAD)
        rows = lists[: count * bands.count * each].reshape(count, bands.count * each)
        items._set("lists", rows)
        items.words[:, _AT["list_step"]] = each * lists.itemsize
        items.words[:, _AT["level"]] = 1
        return items

    @classmethod
    def whole(cls, given: Arguments, bands: Bands) -> Items:
        """A single one, all of whose primitives are looked at in any band."""
        items = cls(1, bands)
        records, count, numbers = (int(given.words[given.layout.arguments[name]])
                                   for name in ("records", "count", "list"))  # fmt: skip
        items.counts[:] = count
        items.words[0, [_AT["records"], _AT["lists"]]] = records, numbers
        return items

    def _set(self, name: str, rows: NDArray[np.generic]) -> None:
        """Where the row of each is."""
        steps = np.arange(len(rows)) * rows.strides[0]
        self.words[:, _AT[name]] = address(rows) + steps

    def total(self, name: str, first: int, end: int) -> int:
        """A word of some of them, added up."""
        return int(self.words[first:end, _AT[name]].sum())

    def each(self, name: str) -> list[int]:
        """A word of all of them."""
        found: list[int] = self.words[:, _AT[name]].tolist()
        return found

    def prepare(
        self, plan: Plan, level: int, amounts: tuple[int, int, int, int],
        working: Sequence[tuple[BandWorker, Frame, Arguments]],
    ) -> None:  # fmt: skip
        """Have them gathered and set up, ``amounts`` being an item's and a block's, the start and
        the count of all.
        """
        gathering, setting_up = vertices().best(), plan.setup.best()
        code = gathering.code.address, setting_up.code.address
        job = self._job(0, len(self.words), (*amounts, level, *code), 0)
        for hand, frame, given in working:
            frame.refresh()
            hand.take(job, given, frame)
        _work(PREPARING, [hand for hand, _, _ in working])

    def paint(self, plan: Plan, given: Sequence[Arguments], first: int, end: int) -> list[int]:
        """Have some of them drawn -> what the kernel counts."""
        kernel = plan.kernel.best()
        job = self._job(first, end, (0,) * 7, kernel.code.address)
        working = band_workers(len(given))
        for hand, own in zip(working, given, strict=True):
            hand.take(job, own)
        _work(PAINTING, working)
        for own in given:
            if own.bindings is not None:
                own.bindings.raise_errors()
        return np.sum([hand.words[_COUNTS] for hand in working], axis=0).tolist()  # type: ignore[no-any-return]

    def _job(self, first: int, end: int, setting_up: tuple[int, ...], kernel: int) -> I64:
        """``JOB`` words; the next of what nobody has taken is the first, be it item or band."""
        bands = self.bands
        return np.array((
            0, first, end, address(self.words), *setting_up, kernel,
            bands.count, bands.top, bands.bottom, bands.shift,
        ), np.int64)  # fmt: skip


assert len(JOB) == 4 + 7 + 5


def _work(what: int, working: Sequence[BandWorker]) -> None:
    run = crew().best()
    share([partial(run, address(hand.words), what) for hand in working])


def _grown(held: NDArray[_Item], size: int) -> NDArray[_Item]:
    """The same memory, or more."""
    return held if len(held) >= size else np.empty(size, held.dtype)


@lru_cache(maxsize=32)
def _counted(size: int) -> NDArray[np.int32]:
    return np.arange(size + AHEAD, dtype=np.int32)


def everything(count: int) -> NDArray[np.int32]:
    """The list of all of so many triangles, and maybe more."""
    return _counted(max(_FEWEST, 1 << count.bit_length()))
