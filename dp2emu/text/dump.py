"""Dump of a capture as text: every record, every token with every field by its SDK name.

The first line names the form of the capture, so that ``assemble`` makes the same bytes again.
Members with their default are omitted from records; tokens have every field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Any, TextIO

from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.text.commands import Shown, command_lines, command_text, response_lines
from dp2emu.text.contexts import Contexts
from dp2emu.text.entries import entry_lines
from dp2emu.text.forms import BY_RECORD
from dp2emu.text.lines import Line
from dp2emu.text.memory import LINE_BYTES, hex_lines, vertex_line
from dp2emu.text.remarks import fvf_names
from dp2emu.text.syntax import quote

MAGIC = "dp2emu-text"
VERSION = 1
"""Version of the text form of captures, written in the first line of a dump; ``textfile`` reads
no other."""
CHUNK = "chunk"
NO_COMMANDS = "none"
"""Value of ``commands`` in the statement of a call whose command bytes were in memory already."""

_PIECE = re.compile(r"[^\n]{0,4095}\n|[^\n]{1,4095}")
"""Pattern that cuts the text of an annotation into pieces for lines of a dump: at line breaks, and
after 4,095 characters."""

_BYTES_COLUMN = 60


class TextWriter:
    """A writer of records as text.  Mutable: it tracks contexts and counts calls.

    ``hex`` adds the bytes of each line as a comment, ``offset  bytes``: one group of digits for
    each field, offsets as in dwErrorOffset; ``places`` the address of each token, such as ``1:6``.
    """

    def __init__(
        self, out: TextIO, *, form: str = "sealed", compression: str | None = None,
        hex: bool = False, places: bool = False,
    ) -> None:  # fmt: skip
        """``assemble`` uses ``form`` and ``compression``; ``hex`` adds bytes as comments, and
        ``places`` addresses of tokens, if there are no bytes.
        """
        self._out = out
        self._hex = hex
        self._places = places
        self._contexts = Contexts()
        self._calls = 0
        self._entries = 0
        self._context = 0
        words = [MAGIC, f"version={VERSION}", f"form={form}"]
        words += [f"compression={compression}"] if compression else []
        out.write(" ".join(words) + "\n")

    def write(self, record: Record) -> None:
        """Append a record, a call after an empty line."""
        self._contexts.see(record)
        form, said = BY_RECORD[type(record)], None
        words = form.words(record)
        if isinstance(record, records.Called):
            words, said = self._enter(record, words)
        elif isinstance(record, records.EntryCalled):
            said = f"entry {self._entries}"
            self._entries += 1
        self._put(Shown(Line(" ".join(words), 0), remark=said), 0)
        lines = _BELOW.get(type(record))
        for each in lines(self, record) if lines else ():
            self._put(each, 1)
        if isinstance(record, records.Called) and not self._hex:
            number = self._calls - 1 if self._places else None
            self._out.writelines(command_text(record.call, self._contexts, number))

    def start_chunk(self, size: int) -> None:
        """Mark the start of a sealed capture's chunk; ``size`` limits it in bytes (0: default)."""
        self._out.write(f"{CHUNK} bytes={size}\n" if size else f"{CHUNK}\n")

    def _enter(self, record: records.Called, words: list[str]) -> tuple[list[str], str]:
        call = record.call
        self._context = call.dwhContext
        if call.dwCommandLength == len(call.commands or b""):
            words = [word for word in words if not word.startswith("dwCommandLength=")]
        elif call.dwCommandLength == 0:
            words.append("dwCommandLength=0")
        if call.commands is None:
            words.append(f"commands={NO_COMMANDS}")
        said = f"call {self._calls}"
        self._calls += 1
        self._out.write("\n")
        names = fvf_names(call.dwVertexType)
        return words, f"{said}, {names}" if names else said

    def _call(self, record: records.Called) -> Iterator[Shown]:
        if record.call.vertices is not None:
            yield from self._vertices(record.call.vertices, record)
        if self._hex:
            yield from command_lines(record.call, self._contexts)

    def _vertices(self, data: bytes, record: records.Called) -> Iterator[Shown]:
        vertex = self._contexts.vertex_format(record.call)
        step = vertex.line or LINE_BYTES
        for start in range(0, max(len(data), 1), step):
            piece = data[start : start + step]
            yield Shown(Line(f"vertices: {vertex_line(piece, vertex.floats)}", 0))

    def _answer(self, record: records.Answered) -> Iterator[Shown]:
        return response_lines(record.answer.response, self._context, self._contexts)

    def _data(
        self, record: records.MemoryWritten | records.Pictured | records.Observed
    ) -> Iterator[Shown]:
        return (Shown(Line(text, 0)) for text in hex_lines("data", record.data))

    def _annotation(self, record: records.Annotation) -> Iterator[Shown]:
        for piece in _PIECE.findall(record.key):
            yield Shown(Line(f"key: {quote(piece)}", 0))
        for piece in _PIECE.findall(record.text):
            yield Shown(Line(f"text: {quote(piece)}", 0))

    def _entry(self, record: records.EntryCalled) -> Iterator[Shown]:
        for line in entry_lines(record, self._contexts.handles):
            yield Shown(Line(line, 0))
        self._contexts.handles.see(record)

    def _put(self, shown: Shown, depth: int) -> None:
        line = shown.line
        if not self._hex or line.sizes is None:
            self._out.write(shown.text(depth))
            return
        text = "  " * (depth + line.depth) + line.text
        self._out.write(f"{text:<{_BYTES_COLUMN}}  # {self._beside(shown)}\n")

    def _beside(self, shown: Shown) -> str:
        """The comment beside a line: offset, bytes in hexadecimal by field, remark."""
        line, data, said = shown
        cuts = [0, *accumulate(line.sizes or ())]
        groups = [data[start:stop].hex() for start, stop in pairwise(cuts)]
        return " ".join([f"{line.at:#06x} ", *groups, *([f" {said}"] if said else [])])


_BELOW: dict[type[Any], Callable[[TextWriter, Any], Iterator[Shown]]] = {
    records.Called: TextWriter._call,
    records.Answered: TextWriter._answer,
    records.MemoryWritten: TextWriter._data,
    records.Pictured: TextWriter._data,
    records.Observed: TextWriter._data,
    records.Annotation: TextWriter._annotation,
    records.EntryCalled: TextWriter._entry,
}
"""``TextWriter`` methods that yield what is written below the first line of a record, by type of
record."""
