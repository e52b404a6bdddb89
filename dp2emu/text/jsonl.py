"""A capture as JSON lines: one object per token, and one per record that is no token.

Every field has its SDK name; a number whose name is known has both, the name as ``FIELD`` and the
number as ``FIELD_raw``.  Floats are numbers, and strings where JSON has no number for them, with
the bits in ``FIELD_raw``.  Memory is hexadecimal.  Parts behind an item that have no elements are
left out.

Objects are put together as text by functions compiled from the token table: ``json.dumps`` of a
dictionary per token takes several times as long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TextIO

from dp2emu.capture.records import (
    Annotation,
    Answered,
    Called,
    EntryCalled,
    MemoryWritten,
    Observed,
    Pictured,
    Record,
)
from dp2emu.capture.values import json_of
from dp2emu.text.answers import payload, response_blocks
from dp2emu.text.codec import Codec, Place, Run, aligned, codec_of
from dp2emu.text.commands import Found
from dp2emu.text.contexts import Contexts
from dp2emu.text.forms import BY_RECORD, enumerated, value_name
from dp2emu.text.shape import Shape

Encode = Callable[[bytes, int, int, int], str]
"""(memory, n, start, end of the payload) -> members of a token's object, each after a comma."""

_PIECE = 1 << 16
"""Characters, about, that are gathered before they are written."""


class JsonLinesWriter:
    """Writes records as JSON lines.  Mutable: it remembers contexts and counts calls."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._contexts = Contexts()
        self._calls = 0
        self._context = 0

    def write(self, record: Record) -> None:
        """Append a record; a call is followed by its tokens."""
        self._contexts.see(record)
        form = BY_RECORD[type(record)]
        call = f',"call":{self._call(record)}' if isinstance(record, (Called, Answered)) else ""
        numbers = "".join(_number(name, value) for name, value in form.numbers(record))
        more = _MORE.get(type(record))
        rest = more(self, record) if more else ""
        self._out.write(f'{{"record":"{form.keyword}"{call}{numbers}{rest}}}\n')
        if isinstance(record, Called):
            self._context = record.call.dwhContext
            self._tokens(record)
            self._calls += 1

    def _call(self, record: Called | Answered) -> int:
        """The number of the call that a record is, or answers."""
        return self._calls if isinstance(record, Called) else max(self._calls - 1, 0)

    def _tokens(self, record: Called) -> None:
        found = Found(record.call, self._contexts)
        memory, base = found.stream.memory, found.stream.base
        begin = f'{{"record":"token","call":{self._calls},"offset":'
        lines: list[str] = []
        size = 0
        for offset, token, n, start, end in found:
            reserved = memory[offset + 1]
            members = _encoder(token.op)(memory, n, start, end)
            more = f',"bReserved":{reserved}' if reserved else ""
            line = f"{begin}{offset + base}{members}{more}}}\n"
            lines.append(line)
            size += len(line)
            if size > _PIECE:
                self._out.write("".join(lines))
                lines.clear()
                size = 0
        for offset, data, why in found.rest():
            lines.append(_raw(self._calls, offset, data, why))
        self._out.write("".join(lines))

    def _called(self, record: Called) -> str:
        commands, vertices = record.call.commands, record.call.vertices
        size = "null" if commands is None else len(commands)
        data = "null" if vertices is None else f'"{vertices.hex()}"'
        return f',"command_bytes":{size},"vertices":{data}'

    def _answered(self, record: Answered) -> str:
        data = record.answer.response
        rows: list[str] = []
        more, stop = False, 0
        for codec, place in response_blocks(data):
            rows += self._responses(codec, data, place)
            more = more or codec.item is None
            stop = place.end
        rest = f',"raw":"{data[stop:].hex()}"' if stop < len(data) else ""
        return f',"responses":[{",".join(rows)}],"more":{_dumps(more)}{rest}'

    def _responses(self, codec: Codec, data: bytes, place: Place) -> Iterator[str]:
        """A block's responses as replay's JSON has them, a row each."""
        at = place.start + (codec.head.size if codec.head else 0)
        while codec.item and at < place.end:
            query, size = codec.item.unpack(data, at)
            start = at + codec.item.size
            at = start + size
            said = payload(self._contexts.query_type(self._context, query), data[start:at])
            yield (
                f'{{"query":{query},"type":{_dumps(said.name if said else None)},"size":{size},'
                f'"value":{said.json if said else "null"},"raw":"{data[start:at].hex()}"}}'
            )

    def _data(self, record: MemoryWritten | Pictured | Observed) -> str:
        return f',"data":"{record.data.hex()}"'

    def _annotation(self, record: Annotation) -> str:
        return f',"key":{_dumps(record.key)},"text":{_dumps(record.text)}'

    def _entry(self, record: EntryCalled) -> str:
        values = (f',"{name}":{_dumps(json_of(getattr(record, name)))}' for name in _ENTRY)
        return f',"entry":"{record.entry}"' + "".join(values)


_ENTRY = ("arguments", "result", "codes", "written")
"""The values of an entry."""


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _number(name: str, value: int) -> str:
    if not enumerated(name):
        return f',"{name}":{value:d}'
    return f',"{name}":{_dumps(value_name(name, value))},"{name}_raw":{value:d}'


def _raw(call: int, offset: int, data: bytes, problem: str) -> str:
    row = {"record": "raw", "call": call, "offset": offset, "problem": problem}
    return _dumps(row | {"bytes": data.hex()}) + "\n"


_MORE: dict[type[Any], Callable[[JsonLinesWriter, Any], str]] = {
    Called: JsonLinesWriter._called,
    Answered: JsonLinesWriter._answered,
    MemoryWritten: JsonLinesWriter._data,
    Pictured: JsonLinesWriter._data,
    Observed: JsonLinesWriter._data,
    Annotation: JsonLinesWriter._annotation,
    EntryCalled: JsonLinesWriter._entry,
}
"""The members of a record that are no numbers, each after a comma."""


# Tokens


@cache
def _encoder(op: int) -> Encode:
    codec = codec_of(op)
    name = f',"token":"{codec.name}","count":'
    head, items = codec.head, _body(codec)

    def encode(memory: bytes, n: int, start: int, end: int) -> str:
        if head is None:
            return f"{name}{n}{items(memory, n, start, end)}"
        shown = head.json(head.unpack(memory, start))
        return f'{name}{n},"head":{shown}{items(memory, n, start + head.size, end)}'

    return encode


def _body(codec: Codec) -> Encode:
    """What follows the head; takes where that is for the start."""
    if codec.vertices:
        return _vertices
    if codec.item is None:
        return lambda memory, n, start, end: ""
    return _items_with_tails(codec, codec.item) if codec.tail else _items(codec.item)


def _vertices(memory: bytes, n: int, start: int, end: int) -> str:
    return f',"vertices":"{memory[aligned(start) : end].hex()}"'


def _items(shape: Shape) -> Encode:
    unpack, unpack_all, to_json, size = shape.unpack, shape.unpack_all, shape.json, shape.size

    def encode(memory: bytes, n: int, start: int, end: int) -> str:
        if end - start == size:
            return f',"items":[{to_json(unpack(memory, start))}]'
        return f',"items":[{",".join(map(to_json, unpack_all(memory[start:end])))}]'

    return encode


def _items_with_tails(codec: Codec, shape: Shape) -> Encode:
    def encode(memory: bytes, n: int, start: int, end: int) -> str:
        rows, at = [], start
        while at < end:
            runs = list(codec.runs(memory, at))
            parts = "".join(
                f',"{run.name}":[{_elements(memory, run)}]' for run in runs if run.start < run.end
            )
            rows.append(shape.json(shape.unpack(memory, at))[:-1] + parts + "}")
            at = runs[-1].end
        return f',"items":[{",".join(rows)}]'

    return encode


def _elements(memory: bytes, run: Run) -> str:
    return ",".join(map(run.shape.json, run.shape.unpack_all(memory[run.start : run.end])))
