"""Kernels that access one element beyond an array, as targets of the fuzzer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable

import numpy as np

from dp2emu.fuzz import mutations
from dp2emu.fuzz.target import Target
from dp2emu.gpu.input_assembler.vertex_cache import VCACHE_SIZE
from dp2emu.gpu.input_assembler.vertex_cache_code import EMPTY, compiled
from dp2emu.guard_pages import PAGE
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code
from dp2emu.shader.jit.writer import module


def _look_up(beyond: int) -> None:
    """The vertex cache looks up the numbers of an index array, and ``beyond`` more."""
    numbers = np.arange(40)
    words = np.array([0, *[EMPTY] * VCACHE_SIZE], np.int64)
    compiled(VCACHE_SIZE)(numbers.ctypes.data, len(numbers) + beyond, words.ctypes.data)


def _fill(size: int, first: int, count: int) -> None:
    """Compiled code stores to ``count`` bytes of an array of ``size``, from ``first`` on."""
    k = Code("fill", ("ptr items", "i64 first", "i64 count"))
    with k.loop(k["first"] + k["count"], k["first"]) as n:
        k.store(k.constant("i8", 7), k["items"], n)
    k.give()
    code = CodeSource.of(module(k.text()), "fill").good()
    array = np.zeros(size, np.uint8)
    types = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
    ctypes.CFUNCTYPE(None, *types)(code.address)(array.ctypes.data, first, count)


def _freed(size: int) -> None:
    array = np.zeros(size, np.uint8)
    place = array.ctypes.data
    del array
    ctypes.memset(place, 1, 1)
    for _ in range(5000):
        np.empty(1)


_WAYS: tuple[Callable[[], object], ...] = (
    lambda: (_look_up(0), _fill(33, 0, 33), _fill(PAGE + 1, 0, PAGE + 1)),
    lambda: _fill(33, 0, 34),
    lambda: _fill(PAGE + 1, 0, PAGE + 2),
    lambda: _fill(PAGE + 1, -1, 1),
    lambda: _freed(33),
    lambda: _freed(PAGE + 1),
)
"""The first leaves no array."""


def _target(name: str, ways: tuple[Callable[[], object], ...]) -> Target:
    def trial(data: bytes) -> Hashable:
        ways[sum(data) % len(ways)]()
        return None

    return Target(
        name, "planted", lambda: trial, lambda rng: rng.randbytes(1), mutations.mutate, 1, ()
    )


WITHIN = _target("within", _WAYS[:1])
READING = _target("reading", (lambda: _look_up(1),))
LEAVING = _target("leaving", _WAYS)
