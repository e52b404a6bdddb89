"""JSON lines of a capture: an object per record and per token.

Fields have their SDK names; an enumerated number has its name as ``FIELD`` and its value as
``FIELD_raw``.  Floats are numbers, or strings where JSON has no number for them, with the bits in
``FIELD_raw``.  Memory is hexadecimal.  Empty parts behind an item are omitted.

Objects are formatted by functions compiled from the token table, which is several times as fast as
``json.dumps`` of a dictionary per token.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TextIO

from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.capture.values import json_of
from dp2emu.text.answers import payload, response_blocks
from dp2emu.text.codec import Codec, Place, Run, aligned, codec_of
from dp2emu.text.commands import CallTokens
from dp2emu.text.contexts import Contexts
from dp2emu.text.entries import named_json
from dp2emu.text.forms import BY_RECORD, enumerated, value_name
from dp2emu.text.shape import Shape

Encode = Callable[[bytes, int, int, int], str]
"""Type of a function (command memory, n, start, end of the payload) that returns members of a
token's JSON object, each after a comma."""
_PIECE = 1 << 16
"""Approximate number of characters of JSON lines that are collected before they are written."""


class JsonLinesWriter:
    """A writer of records as JSON lines.  Mutable: it tracks contexts and counts calls."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._contexts = Contexts()
        self._calls = 0
        self._entries = 0
        self._context = 0

    def write(self, record: Record) -> None:
        """Append a record, a call with its tokens."""
        self._contexts.see(record)
        form, call = BY_RECORD[type(record)], ""
        if isinstance(record, records.Called):
            call = f',"call":{self._calls}'
        elif isinstance(record, records.Answered):
            call = f',"call":{max(self._calls - 1, 0)}'
        numbers = "".join(_number(name, value) for name, value in form.numbers(record))
        more = _MORE.get(type(record))
        rest = more(self, record) if more else ""
        self._out.write(f'{{"record":"{form.keyword}"{call}{numbers}{rest}}}\n')
        if isinstance(record, records.Called):
            self._context = record.call.dwhContext
            self._tokens(record)
            self._calls += 1

    def _tokens(self, record: records.Called) -> None:
        tokens = CallTokens(record.call, self._contexts)
        memory, base = tokens.stream.memory, tokens.stream.base
        begin = f'{{"record":"token","call":{self._calls},"offset":'
        lines: list[str] = []
        size = 0
        for offset, token, n, start, end in tokens:
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
        for offset, data, why in tokens.rest():
            lines.append(_raw(self._calls, offset, data, why))
        self._out.write("".join(lines))

    def _called(self, record: records.Called) -> str:
        commands, vertices = record.call.commands, record.call.vertices
        size = "null" if commands is None else len(commands)
        data = "null" if vertices is None else f'"{vertices.hex()}"'
        return f',"command_bytes":{size},"vertices":{data}'

    def _answered(self, record: records.Answered) -> str:
        data = record.answer.response
        rows: list[str] = []
        more, stop = "false", 0
        for codec, place in response_blocks(data):
            rows += self._responses(codec, data, place)
            more = "true" if codec.item is None else more
            stop = place.end
        rest = f',"raw":"{data[stop:].hex()}"' if stop < len(data) else ""
        return f',"responses":[{",".join(rows)}],"more":{more}{rest}'

    def _responses(self, codec: Codec, data: bytes, place: Place) -> Iterator[str]:
        """The responses in a block as JSON objects with the members that replay JSON has."""
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

    def _data(self, record: records.MemoryWritten | records.Pictured | records.Observed) -> str:
        return f',"data":"{record.data.hex()}"'

    def _annotation(self, record: records.Annotation) -> str:
        return f',"key":{_dumps(record.key)},"text":{_dumps(record.text)}'

    def _entry(self, record: records.EntryCalled) -> str:
        names = ("arguments", "result", "codes", "written")
        values = (f',"{name}":{_dumps(json_of(getattr(record, name)))}' for name in names)
        named = named_json(record, self._contexts.handles)
        self._contexts.handles.see(record)
        number = self._entries
        self._entries += 1
        head = f',"number":{number},"entry":"{record.entry}"'
        return head + "".join(values) + (f',"named":{_dumps(named)}' if named else "")


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
    records.Called: JsonLinesWriter._called,
    records.Answered: JsonLinesWriter._answered,
    records.MemoryWritten: JsonLinesWriter._data,
    records.Pictured: JsonLinesWriter._data,
    records.Observed: JsonLinesWriter._data,
    records.Annotation: JsonLinesWriter._annotation,
    records.EntryCalled: JsonLinesWriter._entry,
}
"""Functions that format a record's members which are not numbers as JSON, each after a comma, by
type of record."""


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
    """Return the encoder of what follows a token's head: its vertices or items, if any."""
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
            parts = "".join(_part(memory, run) for run in runs if run.start < run.end)
            rows.append(shape.json(shape.unpack(memory, at))[:-1] + parts + "}")
            at = runs[-1].end
        return f',"items":[{",".join(rows)}]'

    return encode


def _part(memory: bytes, run: Run) -> str:
    elements = map(run.shape.json, run.shape.unpack_all(memory[run.start : run.end]))
    return f',"{run.name}":[{",".join(elements)}]'
