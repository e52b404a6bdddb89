"""Machine code of the vertex cache model.

    i64 misses(ptr numbers, i64 count, ptr words)   vertex numbers, i64 -> the misses so far

``words`` are i64: the misses so far, and the cached vertex numbers, of which miss number k is at k
modulo the size of the cache.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache

from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code
from dp2emu.shader.jit.writer import Writer, module

EMPTY = -(1 << 63)
"""Content of an entry that holds no vertex; an index plus a base is never so low."""


@lru_cache(maxsize=1)
def compiled(size: int) -> Callable[[int, int, int], int]:
    """The compiled function for a cache of ``size`` vertices, a power of two.

    Raises ImportError without llvmlite.
    """
    code = CodeSource.of(module(_misses(size)), "misses").good()
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    function = ctypes.CFUNCTYPE(number, pointer, number, pointer)(code.address)
    function.code = code  # type: ignore[attr-defined]
    return function


def _misses(size: int) -> tuple[str, Writer]:
    k = Code("misses", ("ptr numbers", "i64 count", "ptr words"), "i64")
    words, entries = k["words"], k.at(k["words"], 1, "i64")
    misses = k.variable("i64", k.load("i64", words))
    with k.loop(k["count"]) as n:
        number = k.load("i64", k["numbers"], n)
        hit = k.constant("i1", 0)
        for entry in range(size):
            hit = hit | k.load("i64", entries, entry).equals(number)
        with k.unless(hit):
            k.store(number, entries, misses.get() & (size - 1))
            misses.add(1)
    k.store(misses.get(), words)
    k.give(misses.get())
    return k.text()
