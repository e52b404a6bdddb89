"""Reading of a text stream as a capture, and of its blocks as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.capture import records
from dp2emu.capture.files import Chunk, Closable
from dp2emu.capture.payloads import encode
from dp2emu.capture.reader import KINDS
from dp2emu.capture.records import Record
from dp2emu.dp2.call import Call
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import VERTEX_ALIGNMENT
from dp2emu.errors import CaptureError
from dp2emu.limits import GENEROUS, Limits
from dp2emu.text import syntax
from dp2emu.text.answers import CODECS
from dp2emu.text.build import build
from dp2emu.text.codec import Codec, codec_of
from dp2emu.text.commands import RAW
from dp2emu.text.contexts import Contexts
from dp2emu.text.dump import CHUNK, MAGIC, NO_COMMANDS, VERSION
from dp2emu.text.entries import entry_of
from dp2emu.text.forms import BY_KEYWORD
from dp2emu.text.handles import Handles
from dp2emu.text.memory import bytes_of
from dp2emu.text.shape import Leaf, scalar
from dp2emu.text.syntax import Block, Paragraph, Parts, TextError, Value, Word

_NO_MAGIC = f"the first statement is not {MAGIC}"
_VERSION = Leaf("I", "version", None, alone=True)
_BYTES = Leaf("I", "bytes", None, alone=True)
_LENGTH, _COMMANDS = "dwCommandLength", "commands"


@checked
class TextCapture(Closable):
    """A capture in the form of text, read line by line on demand.

    ``kind`` is "text"; ``form`` and ``compression`` are those of the capture that the text is a
    dump of.  ``damage`` is always None: errors in the text are raised, with the line.  ``chunk``
    is the chunk of the last record.
    """

    kind = "text"
    damage: CaptureError | None = None

    def __init__(
        self, source: Iterable[str], name: str = "-", limits: Limits | None = None
    ) -> None:
        """``source`` is a text stream or lines; of ``limits`` ``record_bytes`` bounds each record.

        Raises TextError for a bad first statement.
        """
        self.name = name
        self._limits = limits or GENEROUS
        self.chunk = Chunk(0, 0)
        self._paragraphs = syntax.paragraphs(syntax.lines_of(source))
        self._contexts = Contexts()
        try:
            first = next(self._paragraphs, None)
            if first is None:
                raise TextError(1, _NO_MAGIC)
            self.form, self.compression = first.read(_first)
        except TextError as error:
            raise error.at(stream=name) from None

    def records(self) -> Iterator[Record]:
        """Every record in order, once.  Raises TextError."""
        try:
            for paragraph, below in _grouped(self._paragraphs):
                if paragraph.block.name == CHUNK:
                    self._start_chunk(paragraph.placed(), below)
                else:
                    yield self._record(paragraph, below)
        except TextError as error:
            raise error.at(stream=self.name) from None

    def _record(self, paragraph: Paragraph, below: list[Paragraph]) -> Record:
        try:
            record = record_of(paragraph.block, [each.block for each in below], self._contexts)
        except TextError:
            # Cached blocks have relative line numbers: raise the error again with real ones.
            placed = [each.placed() for each in below]
            record = record_of(paragraph.placed(), placed, self._contexts)
        try:
            size = len(encode(record)[2])
        except CaptureError as error:
            raise paragraph.placed().error(error.what) from None
        if size > self._limits.record_bytes:
            raise paragraph.placed().error(self._limits.refusal("record_bytes", size))
        self._contexts.see(record)
        if isinstance(record, records.EntryCalled):
            self._contexts.handles.see(record)
        return record

    def _start_chunk(self, block: Block, below: list[Paragraph]) -> None:
        fields = dict(block.fields.values)
        size = fields.pop("bytes", None)
        if fields or block.items or block.parts or below:
            raise block.error(f"{CHUNK} has a field bytes and nothing else")
        self.chunk = Chunk(self.chunk.number + 1, scalar(_BYTES, size) if size else 0)


@syntax.once
def _first(block: Block) -> tuple[str, str | None]:
    """Parse the first statement of a text: (form, compression or None) of the capture."""
    if block.name != MAGIC:
        raise block.error(_NO_MAGIC)
    fields = dict(block.fields.values)
    version = fields.pop("version", None)
    if version is None or scalar(_VERSION, version) != VERSION:
        raise block.error(f"the grammar is not version={VERSION}")
    form, compression = _word(fields.pop("form", None)), _word(fields.pop("compression", None))
    if fields or block.items or block.parts:
        raise block.error(f"{MAGIC} has the fields version, form and compression")
    if form not in (None, *KINDS):
        raise block.error(f"form {form} is none of {', '.join(KINDS)}")
    return form or KINDS[0], compression


def _word(value: Value | None) -> str | None:
    if value is None or isinstance(value, Word):
        return value.text if value else None
    raise TextError(value.line, "a word belongs here")


def _grouped(stream: Iterator[Paragraph]) -> Iterator[tuple[Paragraph, list[Paragraph]]]:
    """Yield (statement of a record or chunk, statements of its tokens or responses below it)."""
    record: Paragraph | None = None
    below: list[Paragraph] = []
    for paragraph in stream:
        name = paragraph.block.name
        if name not in BY_KEYWORD and name != CHUNK:
            if record is None:
                raise paragraph.placed().error(f"{name} is no record")
            below.append(paragraph)
            continue
        if record is not None:
            yield record, below
        record, below = paragraph, []
    if record is not None:
        yield record, below


# Records


def record_of(block: Block, below: Sequence[Block], contexts: Contexts) -> Record:
    """The record of a statement and the token or response blocks below it.

    ``contexts`` is the state before the record.  Raises TextError.
    """
    form = BY_KEYWORD[block.name]
    if block.items:
        raise TextError(block.items[0].fields.line, f"{block.name} has no items")
    parts = dict(block.parts)
    record: Record
    if form.record is records.Called:
        record = _called(block, below, parts, contexts)
    else:
        if below and form.record is not records.Answered:
            raise below[0].error(f"{below[0].name} cannot stand below {block.name}")
        read = _APART.get(form.record)
        if form.record is records.EntryCalled:
            read = partial(_entry, block.line, contexts.handles)
        record = form.make(block, read(parts, below) if read else {})
    for name in parts:
        raise block.error(f"{block.name} has no part {name}")
    return record


def _called(
    block: Block, below: Sequence[Block], parts: Parts, contexts: Contexts
) -> records.Called:
    fields = block.fields.values
    present = _present(fields.get(_COMMANDS))
    vertices = bytes_of(parts.pop("vertices")) if "vertices" in parts else None
    numbers, own = _numbers(block)
    if not present and below:
        raise below[0].error(f"a call with {_COMMANDS}={NO_COMMANDS} has no tokens")
    call = Call(**numbers, vertices=vertices)
    commands = _commands(call, below, contexts) if present else None
    length = call.dwCommandLength if _LENGTH in fields else len(commands or b"")
    return records.Called(replace(call, commands=commands, dwCommandLength=length), **own)


@syntax.once
def _numbers(block: Block) -> tuple[dict[str, Any], dict[str, Any]]:
    """The numbers in a call's statement, by name: of ``Call``, and of ``Called``."""
    fields = {name: each for name, each in block.fields.values.items() if name != _COMMANDS}
    return BY_KEYWORD[block.name].members(Block(block.name, syntax.Fields(fields, block.line)))


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


@syntax.once
def _bytes(block: Block, find: Callable[[str], Codec | None], at: int, vertex_size: int) -> bytes:
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
    return codec_of(_OPS[name]) if name in _OPS else None


def _answer(parts: Parts, below: Sequence[Block]) -> Mapping[str, Any]:
    return {"response": b"".join(_bytes(block, _RESPONSES.get, 0, 0) for block in below)}


def _data(parts: Parts, below: Sequence[Block]) -> Mapping[str, Any]:
    return {"data": bytes_of(parts.pop("data", ()))}


def _annotation(parts: Parts, below: Sequence[Block]) -> Mapping[str, Any]:
    return {"key": _string(parts.pop("key", ())), "text": _string(parts.pop("text", ()))}


def _string(values: Sequence[Value]) -> str:
    strings = []
    for value in values:
        if not isinstance(value, syntax.Quoted):
            raise TextError(value.line, "only quoted strings belong here")
        strings.append(value.text)
    return "".join(strings)


def _entry(line: int, handles: Handles, parts: Parts, below: Sequence[Block]) -> Mapping[str, Any]:
    return entry_of(parts, line, handles)


_OPS = {token.name: op for op, token in TABLE.items()}


_RESPONSES = {codec.name: codec for codec in CODECS.values()}


_APART: dict[type[Any], Callable[[Parts, Sequence[Block]], Mapping[str, Any]]] = {
    records.Answered: _answer,
    records.MemoryWritten: _data,
    records.Pictured: _data,
    records.Observed: _data,
    records.Annotation: _annotation,
}
"""Functions that parse the members of a record which are no numbers, by type of record."""
