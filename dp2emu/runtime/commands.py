"""The command buffer: bytes built token by token from the rows of the token table."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

import msgspec
import numpy as np

import dp2emu.dp2.tokens  # noqa: F401  (registers the token table)
from dp2emu.argument_check import FOREIGN, check_contents, checked_on_failure, unchecked
from dp2emu.capture.api_calls import Origin
from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.table import TABLE, Token
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.layout import reader_of, record_packer

MAX_ITEMS = 0xFFFF
"""Largest number of items in a token: the header's n is 16 bits (wire format, "Stream shape")."""

_HEADER = struct.Struct("<BBH")
_MERGED = frozenset({Op.RENDERSTATE, Op.TEXTURESTAGESTATE})
"""Token types whose items are added to the previous token if that has the same type, without
changing the meaning."""


NEWEST = 9
"""The newest version of DirectX that has tokens of its own."""
SENT_EARLY = frozenset(
    {
        (Op.ZRANGE, 6), (Op.SETMATERIAL, 6), (Op.CREATELIGHT, 6), (Op.SETLIGHT, 6),
        (Op.SETTRANSFORM, 6), (Op.SETRENDERTARGET, 6), (Op.CLEAR, 6),
    }
)  # fmt: skip
"""Pairs of a token and a version before its own whose contexts get it: the runtime of DirectX 7
executes programs of DirectX 6 through the same driver interface (docs/departures.rst)."""


def allowed(op: Op, version: int) -> bool:
    """Whether a runtime writes a token into contexts of a ``version`` of DirectX."""
    return TABLE[op].since <= version or (op, version) in SENT_EARLY


def pack(dtype: np.dtype[Any] | None, values: Any, op: Op) -> bytes:
    """Records of the token ``op`` as bytes: ``values`` has one as a tuple of fields, or several.

    Floats beyond float32 become infinite.  Raises UsageError for values that do not fit.
    """
    if dtype is None:
        raise UsageError(f"{op.name} has no records of this kind")
    try:
        with np.errstate(over="ignore"):
            return np.array(values, dtype).tobytes()
    except (OverflowError, TypeError, ValueError) as error:
        raise UsageError(f"{op.name}: {error}") from None


class _Records:
    """Packs the records of a token, its heads or its items, of ``size`` bytes each."""

    def __init__(self, dtype: np.dtype[Any], op: Op) -> None:
        self._dtype, self._op = dtype, op
        self.size = dtype.itemsize
        self._pack_one = record_packer(dtype)

    def pack(self, records: Sequence[Any]) -> bytes:
        """Records as bytes; values that ``struct`` does not take are converted as ``pack`` does.

        Raises UsageError for values that do not fit.
        """
        try:
            if len(records) == 1:
                return self._pack_one(records[0])
            return b"".join(map(self._pack_one, records))
        except (struct.error, OverflowError, TypeError):
            return pack(self._dtype, records, self._op)


class _Form(msgspec.Struct, frozen=True):
    """A row of the token table, prepared for writing: ``run`` tells whether a token is a head and
    a run of items, ``tail_size`` is the number of bytes that an item's bytes announce behind it.
    """

    op: Op
    since: int
    run: bool
    head: _Records | None
    item: _Records | None
    tail_size: Callable[[bytes], int] | None


@cache
def _form(op: int) -> _Form:
    row = TABLE[op]
    head, item = (
        None if dtype is None else _Records(dtype, row.op)
        for dtype in (row.head_dtype, row.item_dtype)
    )
    several = item is None or row.count(1) == 1
    run = not row.tail and not row.vertices and several
    return _Form(row.op, row.since, run, head, item, _tail_size(row))


def _tail_size(row: Token) -> Callable[[bytes], int] | None:
    if row.tail is None or row.item_dtype is None:
        return None
    size, fields = row.tail.size, reader_of(row.item_dtype)
    return lambda item: size(fields(item, 0))


def _packed(records: _Records | None, record: Any, op: Op) -> bytes:
    """A single record as bytes.  Raises UsageError if the token has none, or it does not fit."""
    return pack(None, record, op) if records is None else records.pack([record])


class Numbered(Protocol):
    """An object that knows the number of the application's API call in progress, if any."""

    api_call: int | None


@checked_on_failure
class CommandBuffer:
    """A buffer of at most ``capacity`` bytes of tokens.  Mutable.

    If the next token does not fit, ``submit`` is called with the buffered tokens first; a token
    is never split between two calls.  ``version`` is the context's version of DirectX: tokens that
    it does not have raise UsageError, unless they are in ``SENT_EARLY``.  With ``numbers``, which
    knows the number of the application's API call in progress, ``taken`` are the origins of the
    bytes taken last.
    """

    def __init__(
        self, capacity: int, submit: Callable[[bytes], None], version: int = NEWEST
    ) -> None:
        self.capacity = capacity
        self._version = version
        self._submit = submit
        self._bytes = bytearray()
        self._open: tuple[Op, int, int] | None = None
        self.numbers: Numbered | None = None
        self._origins: list[Origin] = []
        self.taken: tuple[Origin, ...] = ()

    def __len__(self) -> int:
        return len(self._bytes)

    @property
    def waiting(self) -> bytes:
        """The buffered bytes."""
        return bytes(self._bytes)

    def take(self) -> bytes:
        """Remove and return the buffered bytes."""
        taken = bytes(self._bytes)
        self._bytes.clear()
        self._open = None
        self.taken = tuple(self._origins)
        self._origins.clear()
        return taken

    def flush(self) -> None:
        """Submit the buffered bytes, if there are any."""
        if self._bytes:
            self._submit(self.take())

    def reserve(self, size: int) -> None:
        """Flush unless ``size`` more bytes fit.  Raises UsageError beyond ``capacity``."""
        if size > self.capacity:
            raise UsageError(f"{size} bytes do not fit a command buffer of {self.capacity}")
        if len(self._bytes) + size > self.capacity:
            self.flush()

    @unchecked
    def emit(self, op: Op, items: Sequence[Any] = (), *, head: Any = None) -> None:
        """Append a token; ``items`` has a tuple of fields for each item (a number for an index).

        Items that do not fit go into further tokens, each with the same ``head``.  Raises
        UsageError for a token whose content is not a head and items.
        """
        try:
            form = _form(op)
            item, room = form.item, self.capacity - len(self._bytes) - _HEADER.size
            single = len(items) == 1 and head is None and form.run
            if single and item is not None and item.size <= room:
                self._append(form, b"", item.pack(items), 1)
            else:
                self._emit(form, items, head)
        except Dp2Error:
            raise
        except FOREIGN:
            check_contents(CommandBuffer.emit, self, op, items)
            raise

    def _emit(self, form: _Form, items: Sequence[Any], head: Any) -> None:
        op = form.op
        if not form.run:
            raise UsageError(f"{op.name} is not a run of records")
        first = b"" if head is None else _packed(form.head, head, op)
        if form.item is None or not items:
            self._append(form, first, b"", int(form.item is None))
            return
        data, each = form.item.pack(items), form.item.size
        size = len(self._bytes) + _HEADER.size + len(first) + each
        if len(data) == each and size <= self.capacity:
            self._append(form, first, data, 1)
            return
        while data:
            room = self._room(_HEADER.size + len(first), each)
            self._append(form, first, data[: room * each], min(room, len(data) // each))
            data = data[room * each :]

    def emit_counted(self, op: Op, count: int, head: Any, data: bytes = b"") -> None:
        """Append a token whose header's n is not the number of its items: n is ``count``, and the
        bytes ``data`` follow ``head``.

        Raises UsageError for an n beyond 16 bits, or data beyond ``capacity``.
        """
        if not 0 <= count <= MAX_ITEMS:
            raise UsageError(f"{op.name} of {count}")
        form = _form(op)
        self._append(form, _packed(form.head, head, op), data, count)

    def emit_tailed(self, op: Op, item: Any, tail: bytes) -> None:
        """Append a token of one ``item`` with the variable bytes ``tail`` behind it.

        Raises UsageError unless the fields of the item announce that number of bytes.
        """
        form = _form(op)
        data = _packed(form.item, item, op)
        if form.tail_size is None:
            raise UsageError(f"{op.name} has nothing behind its items")
        expected = form.tail_size(data)
        if len(tail) != expected:
            raise UsageError(f"{op.name}: {len(tail)} bytes behind the item, not {expected}")
        self._append(form, b"", data + tail, 1)

    def _room(self, fixed: int, each: int) -> int:
        """How many items of ``each`` bytes still fit into the buffer after ``fixed`` bytes, at
        most 65,535; flushes first if not even one fits.
        """
        self.reserve(fixed + each)
        return min((self.capacity - len(self._bytes) - fixed) // each, MAX_ITEMS)

    def _append(self, form: _Form, head: bytes, data: bytes, count: int) -> None:
        op = form.op
        if form.since > self._version and not allowed(op, self._version):
            raise UsageError(f"{op.name} in a context of DirectX {self._version}")
        token = self._open
        if token is not None and token[0] == op and self._join(token, data, count):
            return
        size = _HEADER.size + len(head) + len(data)
        if len(self._bytes) + size > self.capacity:
            self.reserve(size)
        if self.numbers is not None:
            self._note(self.numbers.api_call)
        self._open = (op, len(self._bytes), count) if op in _MERGED else None
        self._bytes += _HEADER.pack(op, 0, count) + head + data

    def _note(self, number: int | None) -> None:
        """Note the API call that writes the next bytes, unless it wrote those before them."""
        if number is not None and (not self._origins or self._origins[-1][1] != number):
            self._origins.append((len(self._bytes), number))

    def _join(self, token: tuple[Op, int, int], data: bytes, count: int) -> bool:
        """Append ``count`` items to the last token, ``token``, if they fit; returns whether they
        did.
        """
        op, offset, before = token
        together = before + count
        if len(self._bytes) + len(data) > self.capacity or together > MAX_ITEMS:
            return False
        if self.numbers is not None:
            self._note(self.numbers.api_call)
        self._bytes += data
        _HEADER.pack_into(self._bytes, offset, op, 0, together)
        self._open = (op, offset, together)
        return True
