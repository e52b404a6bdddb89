"""The header walk as a loop in C, to compare with: the same table, the same bounds."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dp2emu.dp2.table import TABLE

SOURCE = """
#include <stddef.h>
#include <stdint.h>

/* Offsets of the tokens of data[0:size]; stops at the first that does not fit or varies in size.
   known[op] says whether a token is head[op] + n * item[op] bytes behind its header. */
size_t walk(const uint8_t *data, size_t size, const uint8_t *known, const uint32_t *head,
            const uint32_t *item, uint64_t *offsets)
{
    size_t at = 0, found = 0;
    while (at + 4 <= size) {
        unsigned op = data[at], n = data[at + 2] | data[at + 3] << 8;
        size_t stop = at + 4 + head[op] + (size_t)item[op] * n;
        if (!known[op] || stop > size)
            break;
        offsets[found++] = at;
        at = stop;
    }
    return found;
}
"""
COMPILERS = "cc", "gcc", "clang"
MOST_OPS = 256


def compiled(folder: Path) -> Callable[[bytes], int] | None:
    """The loop as a function that counts the tokens of some bytes; None without a compiler."""
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        return None
    source, library = folder / "walk.c", folder / "walk.so"
    source.write_text(SOURCE)
    options = "-O2", "-shared", "-fPIC", "-o"
    subprocess.run([compiler, *options, str(library), str(source)], check=True)
    return _bound(ctypes.CDLL(str(library)))


def _bound(library: ctypes.CDLL) -> Callable[[bytes], int]:
    known, head, item = np.zeros(MOST_OPS, np.uint8), *np.zeros((2, MOST_OPS), np.uint32)
    for op, row in TABLE.items():
        known[op] = row.tail is None and row.vertices is None and row.count(5) == 5
        head[op] = row.head_dtype.itemsize if row.head_dtype is not None else 0
        item[op] = row.item_dtype.itemsize if row.item_dtype is not None else 0
    tables = [array.ctypes.data_as(ctypes.c_void_p) for array in (known, head, item)]
    function = library.walk
    function.restype = ctypes.c_size_t

    def walk(data: bytes) -> int:
        offsets = np.empty(len(data) // 4, np.uint64)
        places = offsets.ctypes.data_as(ctypes.c_void_p)
        found: int = function(data, ctypes.c_size_t(len(data)), *tables, places)
        return found

    return walk
