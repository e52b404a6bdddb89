"""A text stream as a capture: the form it was made from, and the records it spells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from dp2emu.capture.files import Chunk
from dp2emu.capture.opened import KINDS
from dp2emu.capture.payloads import encode
from dp2emu.capture.records import Record
from dp2emu.errors import CaptureError
from dp2emu.text.contexts import Contexts
from dp2emu.text.dump import CHUNK, MAGIC, VERSION
from dp2emu.text.forms import BY_KEYWORD
from dp2emu.text.reading import record_of
from dp2emu.text.shape import Leaf, scalar
from dp2emu.text.syntax import Block, Paragraph, TextError, Value, Word, lines_of, once, paragraphs

_NO_MAGIC = f"the first statement is not {MAGIC}"
_VERSION = Leaf("I", "version", None, alone=True)
_BYTES = Leaf("I", "bytes", None, alone=True)


class TextCapture:
    """Text read as a capture, a line at a time as records are asked for.

    ``kind`` is "text"; ``form`` and ``compression`` are what the text says it was made from.
    ``damage`` stays None: text with an error is not half believed, the error is raised, and says
    on which line.  ``chunk`` is the chunk that the last record belongs to.
    """

    kind = "text"
    damage: CaptureError | None = None

    def __init__(self, source: Iterable[str], name: str = "-") -> None:
        """``source`` is a text stream or lines.  Raises TextError for a bad first statement."""
        self.name = name
        self.chunk = Chunk(0, 0)
        self._paragraphs = paragraphs(lines_of(source))
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

    def close(self) -> None:
        """Nothing to do: the stream belongs to the caller."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _record(self, paragraph: Paragraph, below: list[Paragraph]) -> Record:
        try:
            record = record_of(paragraph.block, [each.block for each in below], self._contexts)
        except TextError:
            # Known blocks do not know where they stand; others do, and say the same again.
            placed = [each.placed() for each in below]
            record = record_of(paragraph.placed(), placed, self._contexts)
        try:
            encode(record)
        except CaptureError as error:
            raise paragraph.placed().error(error.what) from None
        self._contexts.see(record)
        return record

    def _start_chunk(self, block: Block, below: list[Paragraph]) -> None:
        fields = dict(block.fields.values)
        size = fields.pop("bytes", None)
        if fields or block.items or block.parts or below:
            raise block.error(f"{CHUNK} has a field bytes and nothing else")
        self.chunk = Chunk(self.chunk.number + 1, scalar(_BYTES, size) if size else 0)


@once
def _first(block: Block) -> tuple[str, str | None]:
    """(form, compression) from the first statement."""
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
    """Each record or chunk statement with what is below it."""
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
