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
from dp2emu.text.syntax import Block, TextError, Value, Word, blocks, lines_of

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
        self._blocks = blocks(lines_of(source))
        self._contexts = Contexts()
        try:
            self.form, self.compression = _first(next(self._blocks, None))
        except TextError as error:
            raise error.at(stream=name) from None

    def records(self) -> Iterator[Record]:
        """Every record in order, once.  Raises TextError."""
        try:
            for block, below in _grouped(self._blocks):
                if block.name == CHUNK:
                    self._start_chunk(block, below)
                else:
                    yield self._record(block, below)
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

    def _record(self, block: Block, below: list[Block]) -> Record:
        record = record_of(block, below, self._contexts)
        try:
            encode(record)
        except CaptureError as error:
            raise block.error(error.what) from None
        self._contexts.see(record)
        return record

    def _start_chunk(self, block: Block, below: list[Block]) -> None:
        fields = dict(block.fields.values)
        size = fields.pop("bytes", None)
        if fields or block.items or block.parts or below:
            raise block.error(f"{CHUNK} has a field bytes and nothing else")
        self.chunk = Chunk(self.chunk.number + 1, scalar(_BYTES, size) if size else 0)


def _first(block: Block | None) -> tuple[str, str | None]:
    """(form, compression) from the first statement."""
    if block is None or block.name != MAGIC:
        raise TextError(block.line if block else 1, f"the first statement is not {MAGIC}")
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


def _grouped(stream: Iterator[Block]) -> Iterator[tuple[Block, list[Block]]]:
    """Each record or chunk statement with the blocks below it."""
    record: Block | None = None
    below: list[Block] = []
    for block in stream:
        if block.name not in BY_KEYWORD and block.name != CHUNK:
            if record is None:
                raise block.error(f"{block.name} is no record")
            below.append(block)
            continue
        if record is not None:
            yield record, below
        record, below = block, []
    if record is not None:
        yield record, below
