"""Blocks of text as capture records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import VERTEX_ALIGNMENT
from dp2emu.text.answers import CODECS
from dp2emu.text.build import build
from dp2emu.text.codec import Codec, codec_of
from dp2emu.text.commands import RAW
from dp2emu.text.contexts import Contexts
from dp2emu.text.dump import NO_COMMANDS
from dp2emu.text.forms import BY_KEYWORD
from dp2emu.text.memory import bytes_of
from dp2emu.text.syntax import Block, Fields, Quoted, TextError, Value, Word, once
from dp2emu.text.values import NOTHING, values_of

FindCodec = Callable[[str], Codec | None]

_LENGTH, _COMMANDS = "dwCommandLength", "commands"


def record_of(block: Block, below: Sequence[Block], contexts: Contexts) -> Record:
    """The record a statement and the token or response blocks below it spell.

    ``contexts`` are those before the record.  Raises TextError.
    """
    form = BY_KEYWORD[block.name]
    if block.items:
        raise TextError(block.items[0].fields.line, f"{block.name} has no items")
    parts = dict(block.parts)
    record: Record
    if form.record is Called:
        record = _called(block, below, parts, contexts)
    else:
        if below and form.record is not Answered:
            raise below[0].error(f"{below[0].name} cannot stand below {block.name}")
        read = _APART.get(form.record)
        record = form.make(block, read(parts, below) if read else {})
    for name in parts:
        raise block.error(f"{block.name} has no part {name}")
    return record


def _called(
    block: Block, below: Sequence[Block], parts: dict[str, list[Value]], contexts: Contexts
) -> Called:
    fields = block.fields.values
    present = _present(fields.get(_COMMANDS))
    vertices = bytes_of(parts.pop("vertices")) if "vertices" in parts else None
    numbers, own = _numbers(block)
    if not present and below:
        raise below[0].error(f"a call with {_COMMANDS}={NO_COMMANDS} has no tokens")
    commands = _commands(Call(**numbers), below, contexts) if present else None
    length = numbers[_LENGTH] if _LENGTH in fields else len(commands or b"")
    call = Call(**numbers | {_COMMANDS: commands, "vertices": vertices, _LENGTH: length})
    return Called(call, **own)


@once
def _numbers(block: Block) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a call says of itself, and of its record."""
    fields = {name: each for name, each in block.fields.values.items() if name != _COMMANDS}
    return BY_KEYWORD[block.name].members(Block(block.name, Fields(fields, block.line)))


def _present(value: Value | None) -> bool:
    if value is None:
        return True
    if isinstance(value, Word) and value.text == NO_COMMANDS:
        return False
    raise TextError(value.line, f"{_COMMANDS} can only be {NO_COMMANDS}")


def _commands(call: Call, below: Sequence[Block], contexts: Contexts) -> bytes:
    vertex_size = contexts.vertex_format(call).size
    data = bytearray()
    for block in below:
        at = (call.dwCommandOffset + len(data)) % VERTEX_ALIGNMENT
        data += _bytes(block, _token, at, vertex_size)
    return bytes(data)


@once
def _bytes(block: Block, find: FindCodec, at: int, vertex_size: int) -> bytes:
    if block.name == RAW:
        return _raw(block)
    codec = find(block.name)
    if codec is None:
        raise block.error(f"{block.name} is neither a record nor what can stand here")
    return build(codec, block, at, vertex_size)


def _raw(block: Block) -> bytes:
    if block.items or block.fields.values or block.parts.keys() - {"bytes"}:
        raise block.error(f"{RAW} has a part bytes and nothing else")
    return bytes_of(block.parts.get("bytes", ()))


def _token(name: str) -> Codec | None:
    op = _OPS.get(name)
    return None if op is None else codec_of(op)


def _answer(parts: dict[str, list[Value]], below: Sequence[Block]) -> Mapping[str, Any]:
    return {"response": b"".join(_bytes(block, _RESPONSES.get, 0, 0) for block in below)}


def _data(parts: dict[str, list[Value]], below: Sequence[Block]) -> Mapping[str, Any]:
    return {"data": bytes_of(parts.pop("data", ()))}


def _annotation(parts: dict[str, list[Value]], below: Sequence[Block]) -> Mapping[str, Any]:
    return {"key": _string(parts.pop("key", ())), "text": _string(parts.pop("text", ()))}


def _string(values: Sequence[Value]) -> str:
    strings = []
    for value in values:
        if not isinstance(value, Quoted):
            raise TextError(value.line, "only quoted strings belong here")
        strings.append(value.text)
    return "".join(strings)


def _entry(parts: dict[str, list[Value]], below: Sequence[Block]) -> Mapping[str, Any]:
    name = parts.pop("name", [])
    if len(name) != 1 or not isinstance(name[0], Word):
        raise TextError(name[0].line if name else 0, "an entry has one word for its name")
    lists = {
        key: values_of(parts.pop(key, []), parts) for key in ("arguments", "codes", "written")
    }
    result = values_of(parts.pop("result", [Word(NOTHING, name[0].line)]), parts)
    if len(result) != 1:
        raise TextError(name[0].line, "an entry has one result")
    return {"entry": name[0].text, "result": result[0], **lists}


_OPS = {token.name: op for op, token in TABLE.items()}
_RESPONSES = {codec.name: codec for codec in CODECS.values()}
_APART: dict[type[Any], Callable[[dict[str, list[Value]], Sequence[Block]], Mapping[str, Any]]] = {
    Answered: _answer,
    MemoryWritten: _data,
    Pictured: _data,
    Observed: _data,
    Annotation: _annotation,
    EntryCalled: _entry,
}
"""How to read the members of a record that are no numbers."""
