"""Threads that draw together: what each of them has, and how they are set to work."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dp2emu.gpu.arrays import F64, I64
from dp2emu.gpu.kernel.arguments import Arguments, Made, rooms
from dp2emu.gpu.kernel.crew_code import PAINTING, PREPARING, crew
from dp2emu.gpu.kernel.crew_words import HAND, ITEM, JOB
from dp2emu.gpu.kernel.layout import RESULTS, Layout
from dp2emu.gpu.kernel.plan import Plan
from dp2emu.gpu.kernel.threads import Bands, share
from dp2emu.gpu.kernel.triangles import AHEAD
from dp2emu.gpu.kernel.vertex_code import vertices
from dp2emu.gpu.kernel.vertex_frame import Frame, Frames
from dp2emu.shader.jit.bindings import address

_Item = TypeVar("_Item", bound=np.generic)
_LINE = 16
"""Words that two threads do not write side by side: two lines of the cache."""
_COUNTS = slice(HAND.index(RESULTS[0]), HAND.index(RESULTS[-1]) + 1)
_AT = {name: place for place, name in enumerate(ITEM)}
_FEWEST = 1 << 14
_NO_RECORDS: F64 = np.empty(1)
_ROWS_PLACED, _CORNERS = 4, 3


class Hand:
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


class _Crew(threading.local):
    """Hands of a thread that draws, and memory that they fill.  Mutable."""

    def __init__(self) -> None:
        self.hands: list[Hand] = []
        self.records: F64 = np.empty(0)
        self.lists: NDArray[np.int32] = np.empty(0, np.int32)


_crew = _Crew()


def hands(count: int) -> list[Hand]:
    """So many, which no two draws use at a time."""
    _crew.hands += [Hand() for _ in range(len(_crew.hands), count)]
    return _crew.hands[:count]


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
        records = _crew.records = _grown(_crew.records, count * size)
        items._set("records", records[: count * size].reshape(count, size))
        lists = _crew.lists = _grown(_crew.lists, count * bands.count * each + AHEAD)
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
        working: Sequence[tuple[Hand, Frame, Arguments]],
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
        working = hands(len(given))
        for hand, own in zip(working, given, strict=True):
            hand.take(job, own)
        _work(PAINTING, working)
        for own in given:
            if own.bindings is not None:
                own.bindings.complain()
        return np.sum([hand.words[_COUNTS] for hand in working], axis=0).tolist()  # type: ignore[no-any-return]

    def _job(self, first: int, end: int, setting_up: tuple[int, ...], kernel: int) -> I64:
        """``JOB`` words; the next of what nobody has taken is the first, be it item or band."""
        bands = self.bands
        return np.array((
            0, first, end, address(self.words), *setting_up, kernel,
            bands.count, bands.top, bands.bottom, bands.shift,
        ), np.int64)  # fmt: skip


assert len(JOB) == 4 + 7 + 5


def _work(what: int, working: Sequence[Hand]) -> None:
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
