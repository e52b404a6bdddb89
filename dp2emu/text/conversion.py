"""Captures from one form to another, text included."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import BinaryIO, Protocol, TextIO

from dp2emu.capture import BareOptions, Capture, CaptureWriter, LogWriter, open_capture
from dp2emu.capture.files import Chunk, Place
from dp2emu.capture.opened import begins_as_text
from dp2emu.capture.records import Called, Record
from dp2emu.capture.writer import COMPRESSIONS
from dp2emu.dp2.call import Call
from dp2emu.errors import CaptureError, UsageError
from dp2emu.limits import Limits
from dp2emu.outputs import replacing_output
from dp2emu.text.dump import TextWriter
from dp2emu.text.jsonl import JsonLinesWriter
from dp2emu.text.syntax import LINE_LIMIT
from dp2emu.text.textfile import TextCapture

AnyCapture = Capture | TextCapture

KINDS = ("sealed", "log", "bare", "text", "c")
"""The forms a capture can be written in."""

_USUAL_CHUNK = 1 << 20
"""Bytes after which ``CaptureWriter`` closes a chunk unless told otherwise."""


class _Records(Protocol):
    def write(self, record: Record) -> None: ...


def dump_text(capture: AnyCapture, out: TextIO, *, hex: bool = False) -> None:
    """Write a capture as text that ``assemble`` turns back into the same bytes.

    ``hex`` puts the bytes of every token beside its fields.  What follows damage is not in the
    text; see ``capture.damage``.
    """
    records = _started(capture)
    _copy(
        capture,
        records,
        TextWriter(out, form=_form(capture), compression=_compression(capture), hex=hex),
    )


def dump_jsonl(capture: AnyCapture, out: TextIO) -> None:
    """Write a capture as JSON lines, an object per token and per other record."""
    _copy(capture, capture.records(), JsonLinesWriter(out))


def assemble(source: TextIO, place: Place, *, name: str = "-") -> None:
    """Write the capture that a text spells, in the form its first line names.

    ``place`` is a path, ``-`` or a binary stream; ``name`` is what errors call the text.  Raises
    TextError (a path is then left as it was), OSError and what the form cannot hold.
    """
    capture = TextCapture(source, name)
    convert(capture, capture.form, place)


def convert(
    capture: AnyCapture, kind: str, place: Place, *, compression: str | None = None
) -> CaptureError | None:
    """Write a capture in the form ``kind`` to ``place``: "sealed", "log", "bare", "text", or
    "c", the source of a program that makes its calls (``csource``).

    ``compression`` ("zstd" or "none") is for sealed captures, by default that of the original,
    else zstd.  Returns the damage that ended the original, if any: everything before it is
    written.  Raises UsageError for an unknown kind, and for a bare buffer unless the capture has
    exactly one call; CaptureError and OSError.  A path is only replaced when all went well.
    """
    if kind not in _WRITERS:
        raise UsageError(f"capture form {kind!r} is none of {', '.join(KINDS)}")
    records = _started(capture)
    with (
        replacing_output(place) as out,
        _WRITERS[kind](out, _form(capture), compression or _compression(capture)) as writer,
    ):
        _copy(capture, records, writer)
    return capture.damage


def open_any(
    stream: io.BufferedReader,
    *,
    name: str | None = None,
    kind: str | None = None,
    bare: BareOptions | None = None,
    limits: Limits | None = None,
) -> AnyCapture:
    """A capture of any form, text included, told by the first byte; ``kind`` insists on one.

    The stream stays open and need not seek.  Errors are those of ``open_capture`` and
    ``TextCapture``; ``name`` is what they call the file.
    """
    if kind == "text" or (kind is None and begins_as_text(stream)):
        return TextCapture(_lines(stream), name or str(getattr(stream, "name", "-")))
    return open_capture(stream, kind=kind, bare=bare, limits=limits)


def _started(capture: AnyCapture) -> Iterator[Record]:
    """All records, the first already read: only then is the compression known."""
    records = capture.records()
    first = next(records, None)
    return records if first is None else chain([first], records)


def _copy(capture: AnyCapture, records: Iterator[Record], writer: _Records) -> None:
    """Write every record; say where chunks start if that is not what happens by itself."""
    start_chunk: Callable[[int], None] | None = getattr(writer, "start_chunk", None)
    chunk, behind_call, usual = Chunk(0, 0), True, _USUAL_CHUNK
    for record in records:
        if capture.chunk != chunk and start_chunk is not None:
            chunk = capture.chunk
            if not behind_call or chunk.size > usual:
                start_chunk(chunk.size if chunk.size > usual else 0)
            usual = max(usual, chunk.size)
        writer.write(record)
        behind_call = isinstance(record, Called)


def _form(capture: AnyCapture) -> str:
    """The form a capture has, or that the text of one was made from."""
    return capture.form if isinstance(capture, TextCapture) else capture.kind


def _compression(capture: AnyCapture) -> str | None:
    return capture.compression if capture.compression in COMPRESSIONS else None


def _lines(stream: io.BufferedReader) -> Iterator[str]:
    """The lines of UTF-8 text, without the byte order mark some editors put before the first."""
    encoding = "utf-8-sig"
    while line := stream.readline(LINE_LIMIT + 1):
        yield line.decode(encoding)
        encoding = "utf-8"


# Writers


@contextmanager
def _sealed(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Records]:
    with CaptureWriter(out, compression=compression or "zstd") as writer:
        yield writer


@contextmanager
def _log(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Records]:
    with LogWriter(out) as writer:
        yield writer


@contextmanager
def _bare(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Records]:
    calls = _OneCall()
    yield calls
    out.write(calls.commands())


@contextmanager
def _text(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Records]:
    text = io.TextIOWrapper(out, encoding="utf-8", newline="\n")
    try:
        yield TextWriter(text, form=form, compression=compression)
    finally:
        text.detach()


@contextmanager
def _c(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Records]:
    from dp2emu.text.csource import CWriter

    source = io.TextIOWrapper(out, encoding="ascii", newline="\n")
    try:
        writer = CWriter(source)
        yield writer
        writer.finish()
    finally:
        source.detach()


_WRITERS: dict[str, Callable[[BinaryIO, str, str | None], AbstractContextManager[_Records]]] = {
    "sealed": _sealed,
    "log": _log,
    "bare": _bare,
    "text": _text,
    "c": _c,
}


class _OneCall:
    """Keeps the one call a bare command buffer can hold.  Mutable: it waits for it."""

    def __init__(self) -> None:
        self._call: Call | None = None

    def write(self, record: Record) -> None:
        """Keep a call.  Raises UsageError at the second."""
        if not isinstance(record, Called):
            return
        if self._call is not None:
            raise UsageError("a bare command buffer holds one call, the capture has more")
        self._call = record.call

    def commands(self) -> bytes:
        """The call's bytes.  Raises UsageError if there are none, or not as many as it covers."""
        if self._call is None:
            raise UsageError("a bare command buffer holds one call, the capture has none")
        data, length = self._call.commands, self._call.dwCommandLength
        if data is None:
            raise UsageError("the command bytes of the call are not in it but in a memory write")
        if len(data) != length:
            raise UsageError(f"the call covers {length} bytes of commands and has {len(data)}")
        return data
