"""The token table: one row per opcode, everything else derives from it.

The ``token`` decorator registers a row at the function that executes the token.  Parser, NumPy
dtypes, walk, dump, assembler, sample generator and documentation derive from the row.

The layouts (wire format, "Opcodes"), in payload order after the 4-byte header:

    head     one fixed record
    items    a number of fixed records, given by ``count`` from the header's n
    tails    after each item, bytes whose number follows from the item's own fields
    vertices  vertex data in the stream, aligned to 4 from the buffer base (the _IMM tokens)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from dp2emu.argument_check import checked_on_failure
from dp2emu.d3d.dp2structs import Op as Op
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.layout import dtype_of


class Since(IntEnum):
    """The DirectX version whose runtime first sent a token."""

    DX6 = 6
    DX7 = 7
    DX8 = 8
    DX9 = 9

    @classmethod
    def of(cls, op: int) -> Since:
        """The version of opcode ``op``: each DirectX numbered its opcodes after earlier ones."""
        return cls(6 + sum(op >= first for first in _FIRST_OPCODES))


_FIRST_OPCODES = Op.ZRANGE, Op.CREATEVERTEXSHADER, Op.CREATEVERTEXSHADERDECL
"""The lowest opcodes that DirectX 7, 8 and 9 added, in this order."""


class Body(msgspec.Struct, eq=False):
    """A decoded payload, as views into the command buffer: valid only while it executes.

    Not frozen: one is created per token, and frozen creation takes three times as long.

    ``count`` is the header's n; ``head`` a NumPy record or None; ``items`` a structured (or plain
    uint16) array; ``tails`` one view per item for tokens with tails, else empty; ``vertices`` the
    bytes of an _IMM token, else empty.
    """

    count: int
    head: Any
    items: NDArray[Any]
    tails: list[memoryview]
    vertices: memoryview


class Tail(msgspec.Struct, frozen=True):
    """Layout of the bytes after each item of a token: ``size(item)`` bytes, ``parts`` in order.

    A part is (name, construct of one element, number of elements as a function of the item); dump
    and assembler read and build the bytes by it.
    """

    parts: tuple[tuple[str, Any, Callable[[Any], int]], ...]

    def size(self, item: Any) -> int:
        """Number of bytes after an item, which is any mapping or record with the item's fields."""
        return sum([_size_of(part) * number(item) for _, part, number in self.parts])


@cache
def _size_of(element: Any) -> int:
    """Return the bytes of a construct of fixed size."""
    size: int = element.sizeof()
    return size


class Token(msgspec.Struct, frozen=True):
    """A row of the token table: a token's payload layout, ``samples`` of whole tokens as bytes,
    and the function that executes it.
    """

    op: Op
    since: Since
    head: Any
    items: Any
    count: Callable[[int], int]
    implied: Callable[[Any], int] | None
    tail: Tail | None
    vertices: Callable[[int], int] | None
    enums: Mapping[str, type[SdkEnum]]
    samples: tuple[bytes, ...]
    execute: Callable[[Any, Body], None]
    doc: str
    head_dtype: np.dtype[Any] | None
    item_dtype: np.dtype[Any] | None

    @property
    def name(self) -> str:
        """SDK name without the prefix ``D3DDP2OP_``."""
        return self.op.name

    @checked_on_failure
    def number(self, n: int, head: Any) -> int:
        """The number of items after the head, for count n in the header (rule ``count``)."""
        return self.implied(head) if n == 0 and self.implied else self.count(n)


_Execute = TypeVar("_Execute", bound=Callable[[Any, Body], None])
"""Type of a function that executes a token, called with its ``Context`` and ``Body``; importing
``Context`` for the annotation would be a circular import."""

TABLE: dict[int, Token] = {}
"""Opcode -> token, for all that may come from a runtime.  Filled by importing ``dp2.tokens``."""


def exactly_n(n: int) -> int:
    """Return ``n``: the rule of most tokens, whose header count is the number of items."""
    return n


def token(
    op: Op,
    *samples: str,
    head: Any = None,
    items: Any = None,
    count: Callable[[int], int] = exactly_n,
    implied: Callable[[Any], int] | None = None,
    tail: Tail | None = None,
    vertices: Callable[[int], int] | None = None,
    enums: Mapping[str, type[SdkEnum]] | None = None,
) -> Callable[[_Execute], _Execute]:
    """Register the decorated function as the meaning of ``op``; its docstring documents the row.

    ``samples`` are whole tokens in hexadecimal, header included, used by tests and documentation.
    ``head`` and ``items`` are constructs of fixed size; ``implied`` is the number of items as a
    function of the head where n is 0 (CLEAR: wire format, "Clearing"); ``vertices`` gives the
    number of inline vertices from n; ``enums`` names the enumeration of a field for dumps.
    """

    def register(execute: _Execute) -> _Execute:
        if op in TABLE:
            raise TypeError(f"{op.sdk} is registered twice")
        TABLE[op] = Token(
            op, Since.of(op), head, items, count, implied, tail, vertices, dict(enums or {}),
            tuple(bytes.fromhex(sample) for sample in samples), execute,
            (execute.__doc__ or "").strip(),
            dtype_of(head) if head is not None else None,
            dtype_of(items) if items is not None else None,
        )  # fmt: skip
        return execute

    return register
