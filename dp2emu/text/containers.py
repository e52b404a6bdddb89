"""Calls and answers of a capture as construct reads them: nested fields as text, or JSON lines.

The fields are the containers of ``dp2.parse``: every member by its SDK name, headers and
padding included.  Other records are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, TextIO

import numpy as np
from construct import ConstructError

from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.words import FLOAT
from dp2emu.dp2 import parse
from dp2emu.errors import Unsupported
from dp2emu.number_text import float_text, unsigned_text
from dp2emu.text.commands import CallTokens
from dp2emu.text.contexts import Contexts

_INDENT = "  "
_RAW = "raw"


class Block(NamedTuple):
    """A token, a block of responses, or bytes that are neither: number of the call, offset in the
    command surface, name of the token or the problem, and fields as dictionaries, lists, numbers
    and text.
    """

    record: str
    call: int
    offset: int
    name: str
    fields: dict[str, Any]


class ContainerWriter:
    """A writer of calls and answers as construct reads them, as text or, with ``jsonl``, as JSON
    lines.  Mutable: it tracks contexts and counts calls.
    """

    def __init__(self, out: TextIO, *, jsonl: bool = False) -> None:
        self._out = out
        self._put = self._put_json if jsonl else self._put_text
        self._contexts = Contexts()
        self._calls = 0

    def write(self, record: Record) -> None:
        """Append a call with its tokens, or an answer with its responses; skip others.

        Raises Unsupported for a function of the Direct3D 10/11 interface, which has no bytes to
        decode.
        """
        if isinstance(record, records.EntryCalled):
            raise Unsupported("functions of the Direct3D 10/11 interface as containers")
        self._contexts.see(record)
        if isinstance(record, records.Called):
            for block in self._tokens(record):
                self._put(block)
            self._calls += 1
        elif isinstance(record, records.Answered):
            for block in _responses(max(self._calls - 1, 0), record.answer.response):
                self._put(block)

    def _tokens(self, record: records.Called) -> Iterator[Block]:
        call, number = record.call, self._calls
        size = self._contexts.vertex_format(call).size
        tokens = CallTokens(call, self._contexts, parse.scan)
        memory, base = tokens.stream.memory, tokens.stream.base
        for offset, token, _, _, end in tokens:
            fields = _plain(parse.token_fields(token.op, memory, offset, end, size))
            yield Block("token", number, base + offset, token.name, fields)
        for offset, data, why in tokens.rest():
            yield _raw(number, offset, data, why)

    def _put_json(self, block: Block) -> None:
        row: dict[str, Any] = {
            "record": block.record, "call": block.call, "offset": block.offset
        }  # fmt: skip
        if block.record == _RAW:
            row |= {"problem": block.name, **block.fields}
        else:
            row |= {"token": block.name, "fields": block.fields}
        self._out.write(json.dumps(row, separators=(",", ":")) + "\n")

    def _put_text(self, block: Block) -> None:
        place = f"{block.record} of call {block.call}, offset {block.offset:#06x}"
        self._out.write(f"{place}, {block.name}\n")
        self._out.writelines(f"{line}\n" for line in _lines(block.fields, _INDENT))


def _responses(call: int, data: bytes) -> Iterator[Block]:
    try:
        blocks = parse.parse_responses(data)
    except ConstructError as error:
        yield _raw(call, 0, data, str(error).partition("\n")[0])
        return
    for block in blocks:
        fields = _plain(block)
        yield Block("responses", call, block.offset, Op(block.header.bCommand).name, fields)


def _raw(call: int, offset: int, data: bytes, why: str) -> Block:
    return Block(_RAW, call, offset, why, {"bytes": data.hex()})


def _plain(value: Any) -> Any:
    """A parsed value as dictionaries, lists, numbers and text; bytes are hexadecimal.

    Floats that JSON cannot express are text: ``inf``, ``nan(0x7fc00000)``.
    """
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name != "_io"}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (float, np.float32)):
        text = float_text(int.from_bytes(FLOAT.build(value), "little"))
        return float(text) if np.isfinite(value) else text
    return value


def _lines(fields: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in fields.items():
        rows = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(rows, dict) and any(map(_has_parts, rows.values())):
            yield f"{indent}{name}"
            yield from _lines(rows, indent + _INDENT)
        else:
            yield f"{indent}{name}: {_shown(value)}".rstrip()


def _has_parts(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_shown(each)}" for name, each in value.items())
    if isinstance(value, list):
        return " ".join(map(_shown, value))
    return unsigned_text(value) if isinstance(value, int) else str(value)
