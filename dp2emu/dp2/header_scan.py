"""Machine code that finds the offsets of tokens, for callers that need nothing else of them.

    i64 headers(ptr words)      ``WORDS`` -> number of tokens; ``at`` is the offset it stopped at

The token table is compiled into rows of numbers, one per opcode (``ROW``).  ``dp2.walk`` handles
tokens that rows cannot describe, such as payloads whose size depends on flags, and malformed ones.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu import allocation
from dp2emu.dp2.table import TABLE, Tail, Token
from dp2emu.dp2.walk import HEADER_BYTES, VERTEX_ALIGNMENT, scan
from dp2emu.errors import Malformed
from dp2emu.layout import Buffer
from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.scalars import Code, Value
from dp2emu.shader.jit.writer import Writer, module

STRETCH = 1 << 16
"""Default of the maximum number of tokens that a call of ``headers`` finds."""

_I64 = NDArray[np.int64]

WORDS = ("data", "at", "end", "vertex_size", "table", "offsets", "limit")
"""Names of the 64-bit integers in the array whose address is the compiled function's argument.

``data``: address of the bytes; ``at``, ``end``: offsets of the walk and its end; ``vertex_size``
in bytes; ``table``: address of 256 rows of ``ROW`` words; ``offsets``: address of ``limit`` i64
for the result."""

ROW = ("kind", "base", "each", "item", "field0", "bytes0", "field1", "bytes1")
"""Names of the 64-bit integers from which compiled code computes the payload size of an opcode's
tokens, given n, the count in the header."""
OTHER, LINEAR, VERTICES, TAILS = range(4)
"""How the payload size of an opcode is computed.  OTHER: only ``dp2.walk`` computes the size.
LINEAR: ``base + each * n`` bytes.  VERTICES: ``item`` bytes, padding to 4 bytes, and
``base + each * n`` vertices.  TAILS: ``base + each * n`` items of ``item`` bytes; the 32-bit
fields at ``field0`` and ``field1`` of an item count elements of ``bytes0`` and ``bytes1`` bytes
that follow it."""
_LOG_ROW = 6

_PROBES = 64
_MOST_N = 0xFFFF


class Headers(NamedTuple):
    """Byte offsets of the tokens up to offset ``stop``; ``problem`` is the error of a malformed
    token there, None without one.
    """

    offsets: _I64
    stop: int
    problem: Malformed | None


def headers(
    buffer: Buffer, start: int, end: int, vertex_size: int = 0, limit: int = STRETCH
) -> Headers:
    """The offsets of the tokens in ``buffer[start:end]``, equal to those of ``walk.scan``.

    Raises ImportError without llvmlite; malformed bytes raise nothing.
    """
    data = allocation.current.view(buffer)
    room = max(min(limit, (end - start) // HEADER_BYTES), 0)
    offsets = np.empty(room + 1, np.int64)
    words = np.array([_address(data), start, end, vertex_size, _address(_table()),
                      _address(offsets), 0], np.int64)  # fmt: skip
    found = 0
    while found < limit:
        words[5:] = _address(offsets[found:]), min(limit, room) - found
        found += _compiled()(_address(words))
        if found >= limit:
            break
        # The compiled walk stopped at a token of kind OTHER, a malformed one, or the end.
        rest = scan(buffer, int(words[1]), end, vertex_size, limit=1)
        if not rest.commands:
            return Headers(offsets[:found], rest.stop, rest.problem)
        offsets[found] = rest.commands[0][0]
        found, words[1] = found + 1, rest.stop
    return Headers(offsets[:found], int(words[1]), None)


class ShortWalk:
    """The compiled walk over buffers of at most ``most`` bytes, in memory that every call reuses.

    ``vertex_size`` is in bytes.  Mutable.  Raises ImportError without llvmlite.
    """

    def __init__(self, most: int, vertex_size: int) -> None:
        data = np.zeros(max(most, 1), np.uint8)
        offsets = np.empty(most // HEADER_BYTES + 1, np.int64)
        words = header_words(data, vertex_size, offsets.size)
        words[WORDS.index("offsets")] = _address(offsets)
        self._data, self._offsets, self._words = data.data, offsets.data, words.data
        self._run, self._place = _compiled(), _address(words)
        self._behind = _address(data) + data.size

    def __call__(self, data: bytes, start: int = 0) -> tuple[list[int], int]:
        """Return the offsets of the tokens from ``start`` on, and the offset where they end.

        A token of kind ``OTHER``, a malformed one, or the end of ``data`` is there.
        """
        words, size, room = self._words, len(data), len(self._data)
        # The bytes end where the memory for them ends: a guard page may be behind.
        self._data[room - size :] = data
        words[0], words[1], words[2] = self._behind - size, start, size
        found = self._run(self._place)
        return self._offsets[:found].tolist(), words[1]


def header_words(data: NDArray[np.uint8], vertex_size: int, limit: int) -> _I64:
    """Return ``WORDS`` for bytes; ``at``, ``end`` and ``offsets`` remain to be set."""
    return np.array([_address(data), 0, 0, vertex_size, _address(_table()), 0, limit], np.int64)


def _address(array: NDArray[Any]) -> int:
    address: int = array.ctypes.data
    return address


@lru_cache(maxsize=1)
def _compiled() -> Callable[[int], int]:
    code = CodeSource.of(module(*walk_functions()), "headers").good()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(code.address)
    function.code = code  # type: ignore[attr-defined]
    return function


# The table as numbers.


@lru_cache(maxsize=1)
def _table() -> _I64:
    rows = np.zeros((256, len(ROW)), np.int64)
    for op, token in TABLE.items():
        row = row_of(token)
        rows[op, : len(row)] = row
    return rows


def row_of(token: Token) -> tuple[int, ...]:
    """Integers, named by ``ROW``, that tell compiled code how to compute the payload size of
    tokens of one opcode; trailing zeros are left out.
    """
    head = token.head_dtype.itemsize if token.head_dtype is not None else 0
    item = token.item_dtype.itemsize if token.item_dtype is not None else 0
    if token.vertices is not None:
        return VERTICES, *_line(token.vertices), head
    base, each = _line(token.count)
    if token.tail is not None:
        fields = (
            None if head or token.item_dtype is None else _fields(token.tail, token.item_dtype)
        )
        return (OTHER,) if fields is None else (TAILS, base, each, item, *fields)
    if token.implied is not None:
        return (OTHER,)
    return LINEAR, head + base * item, each * item


def _line(count: Callable[[int], int]) -> tuple[int, int]:
    """Split a linear function of the header's n: its value for 0, and its increase per n."""
    base = count(0)
    each = count(1) - base
    if any(count(n) != base + each * n for n in range(0, _MOST_N + 1, 255)):
        raise TypeError("a number of items is not linear in n")
    return base, each


def _fields(tail: Tail, item: np.dtype[Any]) -> tuple[int, ...] | None:
    """Byte offset, and bytes per element, of each field of an item that counts elements after it.

    None unless ``Tail.size``, probed with random numbers, is a weighted sum of at most two DWORDs.
    """
    names = [name for name in item.names or () if item[name] == np.dtype("<u4")]
    nothing = dict.fromkeys(item.names or (), 0)
    counted = {name: tail.size(nothing | {name: 1}) for name in names}
    used = {name: bytes for name, bytes in counted.items() if bytes}
    random = Random(1)
    for _ in range(_PROBES):
        probe = {name: random.getrandbits(random.randint(1, 32)) for name in names}
        if tail.size(nothing | probe) != sum(probe[name] * used[name] for name in used):
            return None
    if len(used) > 2 or (len(names) < len(nothing) and _reads_others(tail, item, names)):
        return None
    offsets: Mapping[str, Any] = item.fields or {}
    return tuple(word for name, bytes in used.items() for word in (offsets[name][1], bytes))


def _reads_others(tail: Tail, item: np.dtype[Any], names: list[str]) -> bool:
    """Whether the number of bytes after an item depends on any of its fields but ``names``."""
    nothing = dict.fromkeys(item.names or (), 0)
    others = [name for name in nothing if name not in names]
    return any(tail.size(nothing | {name: value}) for name in others for value in (1, 255))


# The walk.


def walk_functions() -> tuple[tuple[str, Writer], ...]:
    """Emit ``headers`` and the functions that it calls, for a module of code that calls it."""
    return _tails(), _vertices(), _headers()


def _headers() -> tuple[str, Writer]:
    k = Code("headers", ("ptr words",), "i64")
    words = k["words"]
    data, table, offsets = (k.load("ptr", words, WORDS.index(name))
                            for name in ("data", "table", "offsets"))  # fmt: skip
    end, limit = (k.load("i64", words, WORDS.index(name)) for name in ("end", "limit"))
    vertex_size = k.load("i64", words, WORDS.index("vertex_size"))
    place = k.at(words, WORDS.index("at"), "i64")
    at, found = k.variable("i64", k.load("i64", place)), k.variable("i64", 0)
    # Both are in registers; the caller's copy is written once, at the end.
    going = k.variable("i1", 1)
    with k.while_(lambda: going.get() & (at.get() + HEADER_BYTES <= end) & (found.get() < limit)):
        here = at.get()
        op = k.load("i8", data, here).unsigned("i64")
        n = k.load("i16", k.at(data, here + 2)).unsigned("i64")
        row = k.at(table, op << _LOG_ROW)
        kind, base, each = (k.load("i64", row, ROW.index(name)) for name in ROW[:3])
        number = base + each * n
        stop = k.variable("i64", here + HEADER_BYTES + number)
        with k.when(kind.equals(VERTICES)):
            stop.set(k.call("@vertices", "i64", row, here, number, vertex_size))
        with k.when(kind.equals(TAILS)):
            stop.set(k.call("@tails", "i64", row, data, here, end, number))
        fits = kind.differs(OTHER) & (stop.get() <= end)
        k.store(here, offsets, found.get())
        going.set(fits)
        found.add(fits.unsigned("i64"))
        at.set(fits.choose(stop.get(), here))
    k.store(at.get(), place)
    k.give(found.get())
    return k.text()


def _vertices() -> tuple[str, Writer]:
    """Emit the function that computes the end of a token with inline vertices (aligned to 4)."""
    k = Code("vertices", ("ptr row", "i64 at", "i64 number", "i64 vertex_size"), "i64")
    body = k["at"] + k.load("i64", k["row"], ROW.index("item")) + HEADER_BYTES
    aligned = (body + (VERTEX_ALIGNMENT - 1)) & -VERTEX_ALIGNMENT
    k.give(aligned + k["number"] * k["vertex_size"])
    return k.text(internal=True)


def _tails() -> tuple[str, Writer]:
    """Emit the function that finds the end of items with tails, beyond ``end`` if truncated."""
    k = Code("tails", ("ptr row", "ptr data", "i64 at", "i64 end", "i64 number"), "i64")
    row, data, end = k["row"], k["data"], k["end"]
    item = k.load("i64", row, ROW.index("item"))
    at = k.variable("i64", k["at"] + HEADER_BYTES)
    with k.loop(k["number"]):
        here = at.get()
        tail = here + item
        k.give_if(tail > end, lambda tail=tail: tail)  # type: ignore[misc]
        size = [_behind(k, row, data, here, field) for field in range(2)]
        at.set(tail + size[0] + size[1])
    k.give(at.get())
    return k.text(internal=True)


def _behind(k: Code, row: Value, data: Value, item: Value, field: int) -> Value:
    """Emit the size in bytes of the elements that an item's ``field`` (0 or 1) counts."""
    place, bytes = (k.load("i64", row, ROW.index(f"{what}{field}")) for what in ("field", "bytes"))
    return k.load("i32", k.at(data, item + place)).unsigned("i64") * bytes
