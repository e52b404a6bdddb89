"""Band workers: threads that set up triangles together, then draw bands of rows together.

Their arguments are 64-bit words, in the order of these tuples of names; words are addresses
unless stated otherwise.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import lru_cache, partial

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.cancellation import CURRENT
from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.code.kernel_layout import ARGUMENTS, RESULTS, SETUP_RESULTS, WORD, Layout
from dp2emu.gpu.code.vertex_arguments import VERTEX_WORDS, ArgumentWords
from dp2emu.gpu.compile.kernel_arguments import Arguments, SetupInput, record_capacity
from dp2emu.gpu.compile.kernel_plan import Plan
from dp2emu.gpu.compile.thread_pool import share
from dp2emu.gpu.rasterizer.triangles_code import AHEAD
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, Frames
from dp2emu.gpu.vertex_shader.vertex_kernel import ASSEMBLE, vertices
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import Writer, module

ROWS = 64
"""Pixel rows in a band of a target; bands of very high targets have more.  A power of two, and
even, because kernels draw pairs of rows."""
MOST = 64
"""Maximum number of bands that a target is divided into; the bands of a higher target have more
rows."""
WORTH = 1 << 15
"""Minimum number of covered samples for which a draw may be divided among several threads."""


class Bands(msgspec.Struct, frozen=True):
    """Bands of the pixel rows from ``top`` to below ``bottom``: two rows are in the same band if
    their numbers are equal without the low ``shift`` bits.
    """

    top: int
    bottom: int
    shift: int

    @classmethod
    def of(cls, top: int, bottom: int) -> Bands:
        """Divide a non-empty row range into bands."""
        shift = ROWS.bit_length() - 1
        while ((bottom - 1) >> shift) - (top >> shift) >= MOST:
            shift += 1
        return cls(top, bottom, shift)

    @property
    def count(self) -> int:
        """The number of bands."""
        return ((self.bottom - 1) >> self.shift) - (self.top >> self.shift) + 1


JOB = (
    "next", "items", "end", "item_words",
    "each", "block", "start", "count", "level", "vertices", "setup",
    "kernel", "parts", "top", "bottom", "shift", "stop",
)  # fmt: skip
"""Words of a job, the arguments that all workers share.  ``next`` is the number of the next item
or band to claim.  Items are those from ``items`` to below ``end``; ``item_words`` has ``ITEM``
words for each from number 0 on.  An item is ``each`` primitives of the ``count`` from ``start``
on, the last one fewer; ``block`` of them are assembled and set up at once.  ``level`` is 1 if
``setup`` is for triangles without perspective, -1 if 1 / w is not checked for perspective.  Rows
from ``top`` to below ``bottom`` are ``parts`` bands; rows of a band are equal but for the low
``shift`` bits.  ``stop`` is the address of the stop word (``dp2emu.cancellation``)."""

WORKER = ("job", "words", "arguments", "lanes", "numbers", "corners", "record", *RESULTS)
"""Words of one worker: the shared job; ``words`` of the vertex stages; ``arguments`` of kernel and
triangle setup; memory for an item's corners (``lanes``) and ``numbers``; the sizes of records; and
the kernel's counts.  A record has ``record`` words and its triangle's corners from word
``corners`` on."""

ITEM = (
    "records", "lists", "list_step", "counts", "what", "level",
    "taken", "triangles", "made", "area",
)  # fmt: skip
"""Words of an item, a group of primitives.  ``counts`` has an i64 for each band: how many
primitives are in its list of i32 numbers; lists are ``list_step`` bytes apart.  ``what`` is READY,
ALONE or TILTED, ``level`` 1 if no triangle has perspective.  ``taken`` primitives are on the
screen, ``triangles`` are left after culling, ``made`` have records; ``area`` is doubled, in
pixels."""

READY, ALONE, TILTED = 0, 1, 2
"""Results of setting up an item: the workers can draw it; it must be drawn without them, since it
has triangles to clip or too large ones; or it has perspective, but ``setup`` expects none."""

# The code of the workers:
#
# void band_worker(ptr worker, i64 painting)
#
# With ``painting`` 0 it claims items while any are left, makes records of their triangles, and
# lists the triangles of each band.  With 1 it claims bands and draws all items in each, in order.
# Claims increment ``next`` atomically, so the threads need the GIL only at begin and end.

NAME = "band_worker"
PREPARING, PAINTING = 0, 1
_NUMBER = 4
"""Size in bytes of a primitive number in the list of visible primitives ``chosen``."""
_TOP, _BOTTOM = 6, 7
"""Indices of the 64-bit words that hold a triangle's first pixel row and one past its last,
counted from the word where corners begin in the triangle's record."""
_RHW_ROWS = 9
"""Number of rows of corner data before the rows of 1 / w: x, y and z of three corners."""


@lru_cache(maxsize=1)
def band_function() -> TieredFunction:
    """The code of the workers, called without the GIL.  Raises ImportError without llvmlite."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    return TieredFunction(CodeSource(NAME, text, NAME), kind)


def text() -> str:
    """The LLVM module of the workers' code."""
    return module(
        level(), _listed(), _set_up(), _gathered(), _made(), _prepare(), _paint(), _worker_loop()
    )


def _worker_loop() -> tuple[str, Writer]:
    k = Code(NAME, ("ptr worker", "i64 painting"))
    painting = k["painting"].equals(PAINTING)
    with k.when(painting):
        k.call("@paint", "void", k["worker"])
    with k.unless(painting):
        k.call("@prepare", "void", k["worker"])
    k.give()
    return k.text()


def _gathered() -> tuple[str, Writer]:
    """Write the function ``gathered``: assemble the triangles of an item -> the number of those on
    the screen, or -1 if one must be clipped, in which case the item is not set up.
    """
    k = Code("gathered", ("ptr worker", "ptr job", "i64 number"), "i64")
    h, j = ArgumentWords.of(k, WORKER, k["worker"]), ArgumentWords.of(k, JOB, k["job"])
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
    """Write the function ``made``: set up the ``count`` visible triangles of an item, block by
    block -> the greatest result of a block: READY, ALONE or TILTED.
    """
    k = Code("made", ("ptr worker", "ptr job", "ptr item", "i64 count"), "i64")
    j, item = ArgumentWords.of(k, JOB, k["job"]), ArgumentWords.of(k, ITEM, k["item"])
    words, block = ArgumentWords.of(k, WORKER, k["worker"]).pointer("words"), j.integer("block")
    v, what = ArgumentWords.of(k, VERTEX_WORDS, words), k.variable("i64", READY)
    chosen = v.integer("chosen")
    with k.loop((k["count"] + block - 1) // block) as n:
        first = n * block
        left = k["count"] - first
        some = (left < block).choose(left, block)
        v.set("chosen", chosen + first * _NUMBER)
        k.call(j.pointer("vertices").name, "i64", words, some)
        found = k.call("@set_up", "i64", k["worker"], k["job"], k["item"], some)
        what.set((found > what.get()).choose(found, what.get()))
    v.set("chosen", chosen)
    item.set("taken", k["count"])
    k.give(what.get())
    return k.text(internal=True)


def _set_up() -> tuple[str, Writer]:
    """Write the function ``set_up``: set up a block of triangles and list them by band -> READY;
    ALONE if one is too large; or TILTED if one has perspective that ``setup`` does not expect.
    """
    k = Code("set_up", ("ptr worker", "ptr job", "ptr item", "i64 count"), "i64")
    h, j, item = (ArgumentWords.of(k, names, k[base]) for names, base in
                  ((WORKER, "worker"), (JOB, "job"), (ITEM, "item")))  # fmt: skip
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
    k.call("@listed", "void", k["worker"], k["job"], k["item"], first, first + made)
    k.give(READY)
    return k.text(internal=True)


def level() -> tuple[str, Writer]:
    """Write the function ``level`` -> 1 if 1 / w is equal at the corners of each triangle (no
    perspective), otherwise 0.
    """
    k = Code("level", ("ptr rhw", "i64 count", "i64 capacity"), "i64")
    with k.loop(k["count"]) as n:
        first, *others = (
            k.load("double", k["rhw"], k["capacity"] * corner + n) for corner in range(3)
        )
        # Compared with itself too: a NaN equals nothing.
        for other in (first, *others):
            k.give_if(first.equals(other) ^ 1, 0)
    k.give(1)
    return k.text(internal=True)


def _listed() -> tuple[str, Writer]:
    """Write the function ``listed``: append numbers of an item's triangles to the lists of all
    bands that they touch.
    """
    k = Code("listed", ("ptr worker", "ptr job", "ptr item", "i64 first", "i64 end"))
    h, j, item = (ArgumentWords.of(k, names, k[base]) for names, base in
                  ((WORKER, "worker"), (JOB, "job"), (ITEM, "item")))  # fmt: skip
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
    k = Code("prepare", ("ptr worker",))
    job = ArgumentWords.of(k, WORKER, k["worker"]).pointer("job")
    j = ArgumentWords.of(k, JOB, job)
    number = k.variable("i64", _next(k, job))
    with k.while_(lambda: (number.get() < j.integer("end")) & k.running(j.pointer("stop"))):
        here = number.get()
        item = k.at(j.pointer("item_words"), here * len(ITEM), "i64")
        count = k.call("@gathered", "i64", k["worker"], job, here)
        what = k.variable("i64", ALONE)
        with k.when(count >= 0):
            what.set(k.call("@made", "i64", k["worker"], job, item, count))
        ArgumentWords.of(k, ITEM, item).set("what", what.get())
        number.set(_next(k, job))
    k.give()
    return k.text(internal=True)


def _paint() -> tuple[str, Writer]:
    k = Code("paint", ("ptr worker",))
    h = ArgumentWords.of(k, WORKER, k["worker"])
    job, arguments = h.pointers("job", "arguments")
    j, given = ArgumentWords.of(k, JOB, job), ArgumentWords.of(k, ARGUMENTS, arguments)
    kernel, item_words = j.pointers("kernel", "item_words")
    top, bottom, shift = j.integers("top", "bottom", "shift")
    counts = k.at(k["worker"], WORKER.index(RESULTS[0]), "i64")
    number = k.variable("i64", _next(k, job))
    with k.while_(lambda: (number.get() < j.integer("parts")) & k.running(j.pointer("stop"))):
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
    """Emit the atomic increment by which a worker claims the next item or band -> its number."""
    return k.counted(k.at(job, JOB.index("next"), "i64"))


_LINE = 16
"""Number of 64-bit words in two cache lines: the distance between words that different threads
write."""
_COUNTS = slice(WORKER.index(RESULTS[0]), WORKER.index(RESULTS[-1]) + 1)
_AT = {name: place for place, name in enumerate(ITEM)}
_NO_RECORDS: F64 = np.empty(1)
_ROWS_PLACED, _CORNERS = 4, 3


class BandWorker:
    """Argument words (``WORKER``) and working memory of one of the threads that draw bands.
    Mutable: the memory grows.
    """

    def __init__(self) -> None:
        self.frames = Frames()
        self.words = np.zeros(-(-len(WORKER) // _LINE) * _LINE + _LINE, np.int64)
        self._lanes, self._numbers = np.empty(0), np.empty(0, np.int64)

    def setup_input(self, each: int, varyings: int) -> SetupInput:
        """Memory for the corners of ``each`` triangles, without memory for records."""
        rows = _ROWS_PLACED + varyings
        grown = allocation.current.grown
        self._lanes = grown(self._lanes, rows * _CORNERS * each)
        self._numbers = grown(self._numbers, each)
        lanes = self._lanes[: rows * _CORNERS * each].reshape(rows, _CORNERS, each)
        placed, others = lanes[:_ROWS_PLACED], lanes[_ROWS_PLACED:]
        return SetupInput(placed, others, self._numbers[:each], _NO_RECORDS)

    def take(self, job: I64, given: Arguments, frame: Frame | None = None) -> None:
        """Set the worker's arguments for a job; ``frame`` is needed for setup only."""
        layout = given.layout
        start = 0 if frame is None else frame.start
        lanes, numbers = address(self._lanes), address(self._numbers)
        self.words[: len(WORKER)] = (
            address(job), start, address(given.words), lanes, numbers,
            layout.corners, layout.size, *(0 for _ in RESULTS),
        )  # fmt: skip


class _Workers(threading.local):
    """Thread-local: the band workers of the thread that executes a draw, the memory of triangle
    ``records``, and ``lists`` of triangles by band.  Mutable: all grow as draws need.
    """

    def __init__(self) -> None:
        self.workers: list[BandWorker] = []
        self.records: F64 = np.empty(0)
        self.lists: NDArray[np.int32] = np.empty(0, np.int32)


_workers = _Workers()


def band_workers(count: int) -> list[BandWorker]:
    """``count`` band workers (arguments and memory, not threads), kept for the calling thread."""
    workers = _workers.workers
    workers += [BandWorker() for _ in range(len(workers), count)]
    return workers[:count]


class Items:
    """Groups of primitives that workers draw together in ``bands``.  Mutable: setup fills them.

    ``words`` has a row of ``ITEM`` words for each group.
    """

    def __init__(self, count: int, bands: Bands) -> None:
        self.bands = bands
        self.words: I64 = np.zeros((count, len(ITEM)), np.int64)
        self.counts: I64 = np.zeros((count, bands.count), np.int64)
        self._set("counts", self.counts)

    @classmethod
    def set_up(cls, count: int, each: int, bands: Bands, layout: Layout) -> Items:
        """``count`` items that are not set up yet, each with memory for ``each`` triangles."""
        items, grown = cls(count, bands), allocation.current.grown
        size = record_capacity(each) * layout.size
        records = _workers.records = grown(_workers.records, count * size)
        items._set("records", records[: count * size].reshape(count, size))
        lists = _workers.lists = grown(_workers.lists, count * bands.count * each + AHEAD)
        rows = lists[: count * bands.count * each].reshape(count, bands.count * each)
        items._set("lists", rows)
        items.words[:, _AT["list_step"]] = each * lists.itemsize
        items.words[:, _AT["level"]] = 1
        return items

    @classmethod
    def whole(cls, given: Arguments, bands: Bands) -> Items:
        """A single item with all primitives of ``given``, which are set up already; the list of
        every band has all of them.
        """
        items = cls(1, bands)
        records, count, numbers = (int(given.words[given.layout.arguments[name]])
                                   for name in ("records", "count", "list"))  # fmt: skip
        items.counts[:] = count
        items.words[0, [_AT["records"], _AT["lists"]]] = records, numbers
        return items

    def _set(self, name: str, rows: NDArray[np.generic]) -> None:
        """Set word ``name`` of each item to the address of the item's row of an array."""
        steps = np.arange(len(rows)) * rows.strides[0]
        self.words[:, _AT[name]] = address(rows) + steps

    def total(self, name: str, first: int, end: int) -> int:
        """The sum of the word ``name`` over groups of primitives ``first`` to below ``end``."""
        return int(self.words[first:end, _AT[name]].sum())

    def each(self, name: str) -> list[int]:
        """The values of the word ``name`` of all groups of primitives, in order."""
        found: list[int] = self.words[:, _AT[name]].tolist()
        return found

    def prepare(
        self, plan: Plan, level: int, amounts: tuple[int, int, int, int],
        working: Sequence[tuple[BandWorker, Frame, Arguments]],
    ) -> None:  # fmt: skip
        """Assemble and set up all items on the given workers.

        ``amounts`` are the number of primitives in an item, that in a block, the number of the
        first primitive, and the number of all primitives.
        """
        gathering, setting_up = vertices().best(), plan.setup.best()
        code = gathering.code.address, setting_up.code.address
        job = self._job(0, len(self.words), (*amounts, level, *code), 0)
        for worker, frame, given in working:
            frame.refresh()
            worker.take(job, given, frame)
        _work(PREPARING, [worker for worker, _, _ in working])

    def paint(self, plan: Plan, given: Sequence[Arguments], first: int, end: int) -> list[int]:
        """Draw items ``first`` to below ``end``, which are set up, on all workers -> the kernel's
        counts.
        """
        kernel = plan.kernel.best()
        job = self._job(first, end, (0,) * 7, kernel.code.address)
        working = band_workers(len(given))
        for worker, own in zip(working, given, strict=True):
            worker.take(job, own)
        _work(PAINTING, working)
        for own in given:
            if own.bindings is not None:
                own.bindings.raise_errors()
        return np.sum([worker.words[_COUNTS] for worker in working], axis=0).tolist()  # type: ignore[no-any-return]

    def _job(self, first: int, end: int, setting_up: tuple[int, ...], kernel: int) -> I64:
        """The ``JOB`` words; the first, 0, is the number of the next item or band to claim."""
        bands = self.bands
        return np.array((
            0, first, end, address(self.words), *setting_up, kernel,
            bands.count, bands.top, bands.bottom, bands.shift, CURRENT.token.address,
        ), np.int64)  # fmt: skip


assert len(JOB) == 4 + 7 + 6


def _work(what: int, working: Sequence[BandWorker]) -> None:
    run = band_function().best()
    share([partial(run, address(worker.words), what) for worker in working])
    if CURRENT.token.word.value:
        CURRENT.token.check()
