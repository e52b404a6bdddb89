"""Codecs of tokens for text, compiled from rows of the token table.

Response blocks have the structure of tokens (a head, items, bytes behind each item), so they have
codecs too (``answers``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from dp2emu.d3d.sdk import SdkEnum
from dp2emu.dp2.table import TABLE, Tail, exactly_n
from dp2emu.dp2.walk import VERTEX_ALIGNMENT
from dp2emu.layout import Buffer, reader_of
from dp2emu.text.shape import Shape

HEADER = struct.Struct("<BBH")
"""``struct`` format of a token's 4-byte header: bCommand, bReserved, wPrimitiveCount (n)."""

_INDICES_BEYOND = 2
"""A fan or strip has at most this many indices (2) more than primitives."""

Number = Callable[[Any], int]


def aligned(at: int) -> int:
    """``at`` rounded up to the alignment of inline vertices (wire format, "Inline vertices")."""
    return -(-at // VERTEX_ALIGNMENT) * VERTEX_ALIGNMENT


class Place(NamedTuple):
    """Byte offsets of a token (``offset``), its data after the header (``start``) and its end
    (``end``); ``n`` is its wPrimitiveCount."""

    offset: int
    n: int
    start: int
    end: int


class Run(NamedTuple):
    """An array behind an item of a token; it fills bytes ``start`` to ``end`` (exclusive)."""

    name: str
    shape: Shape
    start: int
    end: int


class Codec:
    """The codec of the tokens of one opcode.

    ``head`` and ``item`` are the layouts of the fixed part and of an item, None where tokens have
    none.  ``tail`` lists the arrays after an item: name, layout of an element, and function from
    the item's fields to the number of elements.  ``vertices`` is a function from n
    (wPrimitiveCount) to the number of inline vertices of an _IMM token.  ``item_name`` names items
    that are plain numbers, else it is empty.
    """

    def __init__(
        self,
        op: SdkEnum,
        head: Any,
        items: Any,
        *,
        enums: Mapping[str, type[SdkEnum]] | None = None,
        count: Callable[[int], int] = exactly_n,
        implied: Number | None = None,
        tail: Tail | None = None,
        vertices: Callable[[int], int] | None = None,
    ) -> None:
        self.op = int(op)
        self.name = op.name
        self.head = None if head is None else Shape(head, enums)
        self.item = None if items is None else Shape(items, enums)
        plain = self.item is not None and self.item.dtype.names is None
        self.item_name = str(items.name or "items") if plain else ""
        self.vertices = vertices
        parts = tail.parts if tail else ()
        self.tail = [(name, Shape(part), number) for name, part, number in parts]
        self._count = count
        self._implied = implied
        self._read_head = reader_of(self.head.dtype) if implied and self.head else None
        self._read_item = reader_of(self.item.dtype) if tail and self.item else None

    def number(self, n: int, head: Buffer) -> int:
        """Number of items of a token whose wPrimitiveCount is ``n``.

        For some opcodes with ``n`` 0 the number is computed from the fields in ``head``.
        """
        if self.item is None:
            return 0
        if n == 0 and self._implied and self._read_head:
            return self._implied(self._read_head(head, 0))
        return self._count(n)

    def inferred(self, number: int) -> int | None:
        """wPrimitiveCount of a token with ``number`` items; None if they do not determine it."""
        if self.item is None:
            return None
        for n in range(number, max(number - _INDICES_BEYOND, 0) - 1, -1):
            if self._count(n) == number:
                return n
        return None

    def runs(self, buffer: Buffer, item: int) -> Iterator[Run]:
        """The arrays after a token's item at byte ``item`` of ``buffer``, empty ones too."""
        if self._read_item is None or self.item is None:
            return
        fields = self._read_item(buffer, item)
        at = item + self.item.size
        for name, shape, number in self.tail:
            stop = at + shape.size * number(fields)
            yield Run(name, shape, at, stop)
            at = stop


@cache
def codec_of(op: int) -> Codec:
    """The codec of the token table's row for an opcode."""
    token = TABLE[op]
    return Codec(
        token.op, token.head, token.items, enums=token.enums, count=token.count,
        implied=token.implied, tail=token.tail, vertices=token.vertices,
    )  # fmt: skip
