"""Mutants of a command stream, tried together.  NumPy makes them, from numbers that the stream
determines.  Both walks find the same tokens in each:

    void lanes(ptr words, ptr lanes, i64 number)

walks all streams of a batch by one call of compiled code; ``words`` are ``header_scan.WORDS``, a
lane has the words ``LANE``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dp2emu.dp2.header_scan import WORDS, header_words, walk_functions
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import HEADER_BYTES, VERTEX_ALIGNMENT, Scan, scan
from dp2emu.fuzz.mutations import BOUNDARIES
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code
from dp2emu.shader.jit.writer import Writer, module

NUMBER = 64
"""Mutants of a stream."""
LANE = ("at", "end", "offsets", "found")
"""Names of the 64-bit integers of a lane: ``at`` and ``end`` of its bytes, the address of the
offsets that are found, and their number.  The walk sets ``at`` to where it stops, and ``found``.
"""
_RANDOM = 1 << 16
_U32 = NDArray[np.uint32]


def plain_scan() -> Callable[..., Scan]:
    """Return a copy of Python's walk that coverage, measured from now on, does not slow down."""
    walk: Any = scan
    original = walk.__wrapped__
    return FunctionType(original.__code__, original.__globals__, "scan", original.__defaults__)


class Mutator:
    """Makes mutants of streams of at most ``most`` bytes.  Mutable: it reuses its memory."""

    def __init__(self, most: int) -> None:
        self._stride = stride = -(-most // VERTEX_ALIGNMENT) * VERTEX_ALIGNMENT
        self._data = np.zeros((NUMBER, stride), np.uint8)
        random = np.random.Generator(np.random.PCG64(1))
        self._random = random.integers(0, 1 << 32, _RANDOM, np.uint32)
        self._values = _values(random)
        self._rows = np.arange(NUMBER)

    def distinct(self, data: bytes, offsets: list[int]) -> list[bytes]:
        """Return the mutants of a stream with tokens at ``offsets``, each once and without the
        stream itself.
        """
        lengths = self._mutate(data, np.array(offsets or [0])).tolist()
        made, stride = self._data.tobytes(), self._stride
        all_mutants = (made[n * stride : n * stride + each] for n, each in enumerate(lengths))
        return [each for each in dict.fromkeys(all_mutants) if each != data]

    def _mutate(self, data: bytes, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Fill the memory with mutants of ``data``, and return their lengths."""
        size, rows, made = len(data), self._rows, self._data
        seed = crc32(data)
        first = seed % (_RANDOM - 5 * NUMBER)
        random: _U32 = self._random[first : first + 5 * NUMBER] * np.uint32(seed | 1)
        where, place, value, other, length = (random >> np.uint32(8)).reshape(5, NUMBER)
        made[:, :size] = np.frombuffer(data, np.uint8)
        header = offsets[place % len(offsets)] + (where >> 1 & HEADER_BYTES - 1)
        at = np.where(where & 1, header, place) % size
        made[rows, at] = self._values[value % len(self._values)]
        bit = np.where(other & 3, 0, 1 << (other >> 2 & 7)).astype(np.uint8)
        made[rows, (other >> 5) % size] ^= bit
        return np.where(length & 7, size, (length >> 3) % (size + 1)).astype(np.int64)


class Mutants(Mutator):
    """Mutants of streams of at most ``most`` bytes, with the tokens that compiled code finds.

    ``vertex_size`` is in bytes.  Mutable: each call reuses its memory.  Raises ImportError without
    llvmlite.
    """

    def __init__(self, most: int, vertex_size: int) -> None:
        super().__init__(most)
        stride = self._stride
        self._offsets = np.zeros((NUMBER, stride // HEADER_BYTES + 1), np.int64)
        self._lanes = np.zeros((NUMBER, len(LANE)), np.int64)
        self._starts = np.arange(NUMBER, dtype=np.int64) * stride
        places = self._offsets.ctypes.data + np.arange(NUMBER) * self._offsets.strides[0]
        self._lanes[:, LANE.index("offsets")] = places
        self._words = header_words(self._data.reshape(-1), vertex_size, self._offsets.shape[1])
        self._run = _compiled()

    def __call__(
        self, data: bytes, offsets: list[int]
    ) -> tuple[bytes, list[list[int]], list[list[int]]]:
        """Return the bytes of all mutants of a stream with tokens at ``offsets``, and for each its
        start, its end, where the compiled walk stopped and the number of tokens; and the offsets
        of all tokens, with others behind them.
        """
        lengths = self._mutate(data, np.array(offsets or [0]))
        lanes = self._lanes
        lanes[:, 0] = self._starts
        lanes[:, 1] = ends = self._starts + lengths
        self._run(self._words.ctypes.data, lanes.ctypes.data, NUMBER)
        ways = np.column_stack((self._starts, ends, lanes[:, 0], lanes[:, 3]))
        found = self._offsets[:, : lanes[:, 3].max()]
        return self._data.tobytes(), ways.tolist(), found.tolist()


def _values(random: np.random.Generator) -> NDArray[np.uint8]:
    """Bytes to write: opcodes, boundary values and any, as many of each."""
    any_byte = random.integers(0, 256, 256, np.uint8)
    kinds = [int(op) for op in TABLE], BOUNDARIES[1]
    return np.concatenate(
        [np.resize(np.array(kind, np.uint8), 256) for kind in kinds] + [any_byte]
    )


@lru_cache(maxsize=1)
def _compiled() -> Callable[[int, int, int], None]:
    code = CodeSource.of(module(*walk_functions(), _lanes()), "lanes").good()
    kinds = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(None, *kinds)(code.address)
    function.code = code  # type: ignore[attr-defined]
    return function


def _lanes() -> tuple[str, Writer]:
    k = Code("lanes", ("ptr words", "ptr lanes", "i64 number"))
    words, width = k["words"], len(LANE)
    with k.loop(k["number"]) as number:
        lane = k.at(k["lanes"], number * width, "i64")
        for name in ("at", "end", "offsets"):
            k.store(k.load("i64", lane, LANE.index(name)), words, WORDS.index(name))
        found = k.call("@headers", "i64", words)
        k.store(k.load("i64", words, WORDS.index("at")), lane, LANE.index("at"))
        k.store(found, lane, LANE.index("found"))
    k.give()
    return k.text()
