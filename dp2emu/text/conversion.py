"""Conversion of captures between forms, text included."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import chain
from typing import BinaryIO, Protocol, TextIO

from dp2emu.argument_check import checked
from dp2emu.capture import BareOptions, Capture, CaptureWriter, LogWriter, open_capture
from dp2emu.capture.files import Chunk, Place
from dp2emu.capture.reader import begins_as_text
from dp2emu.capture.records import Called, EntryCalled, Record
from dp2emu.capture.writer import CHUNK_BYTES, COMPRESSIONS
from dp2emu.dp2.call import Call
from dp2emu.errors import CaptureError, Unsupported, UsageError
from dp2emu.limits import Limits
from dp2emu.outputs import replacing_output
from dp2emu.text.dump import TextWriter
from dp2emu.text.jsonl import JsonLinesWriter
from dp2emu.text.syntax import LINE_LIMIT
from dp2emu.text.textfile import TextCapture

AnyCapture = Capture | TextCapture

KINDS = ("sealed", "log", "bare", "text", "c")
"""Names of the forms in which ``convert`` writes a capture."""


class _Writer(Protocol):
    def write(self, record: Record) -> None: ...


@checked
def dump_text(
    capture: AnyCapture, out: TextIO, *, hex: bool = False, places: bool = False
) -> None:
    """Write a capture as text that ``assemble`` turns back into the same bytes.

    ``hex`` adds the bytes of every token to its fields, ``places`` without it the address of each
    token.  The text ends at damage; see ``capture.damage``.
    """
    records = _started(capture)
    form, compression = _form(capture), _compression(capture)
    writer = TextWriter(out, form=form, compression=compression, hex=hex, places=places)
    _copy(capture, records, writer)


@checked
def dump_jsonl(capture: AnyCapture, out: TextIO) -> None:
    """Write a capture as JSON lines, an object per record and per token."""
    _copy(capture, capture.records(), JsonLinesWriter(out))


@checked
def dump_containers(capture: AnyCapture, out: TextIO, *, jsonl: bool = False) -> None:
    """Write the calls and answers of a capture as construct reads them.

    Every token and block of responses is a block of nested fields, or with ``jsonl`` a JSON
    object.
    """
    # Imported on use: the other forms need no declarations but those of the table.
    from dp2emu.text.containers import ContainerWriter

    _copy(capture, capture.records(), ContainerWriter(out, jsonl=jsonl))


@checked
def assemble(
    source: TextIO, place: Place, *, name: str = "-", limits: Limits | None = None
) -> None:
    """Write the capture that a text describes, in the form that the text's first line names.

    ``place`` is a path, ``-`` or a binary stream; ``name`` names the text in errors.  Raises
    TextError, which leaves a path unchanged, and the errors of ``convert``.
    """
    capture = TextCapture(source, name, limits)
    convert(capture, capture.form, place)


@checked
def convert(
    capture: AnyCapture, kind: str, place: Place, *, compression: str | None = None
) -> CaptureError | None:
    """Write a capture in the form ``kind`` to ``place``; returns its damage or None.

    ``kind`` is "sealed", "log", "bare", "text", or "c", the source of a program that makes its
    calls (``csource``).  ``compression`` ("zstd" or "none") is for sealed captures, by default
    the original's, else zstd.  Records before damage are written.  Raises UsageError for an
    unknown kind, and for a bare buffer unless the capture has exactly one call; CaptureError and
    OSError.  A path is replaced on success only.
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


@checked
def open_any(
    stream: io.BufferedReader,
    *,
    name: str | None = None,
    kind: str | None = None,
    bare: BareOptions | None = None,
    limits: Limits | None = None,
) -> AnyCapture:
    """A capture of any form, detected by its first bytes unless ``kind`` names it.

    The stream stays open and need not seek.  Raises the errors of ``open_capture`` and
    ``TextCapture``, which call the file ``name``.
    """
    if kind == "text" or (kind is None and begins_as_text(stream)):
        return TextCapture(_lines(stream), name or str(getattr(stream, "name", "-")), limits)
    return open_capture(stream, kind=kind, bare=bare, limits=limits)


def _started(capture: AnyCapture) -> Iterator[Record]:
    """All records of a capture; reading the first one at once makes ``compression`` known."""
    records = capture.records()
    first = next(records, None)
    return records if first is None else chain([first], records)


def _copy(capture: AnyCapture, records: Iterator[Record], writer: _Writer) -> None:
    """Write ``records``; chunks begin where they do in ``capture``, if the writer has chunks."""
    start_chunk: Callable[[int], None] | None = getattr(writer, "start_chunk", None)
    chunk, behind_call, usual = Chunk(0, 0), True, CHUNK_BYTES
    for record in records:
        if capture.chunk != chunk and start_chunk is not None:
            chunk = capture.chunk
            if not behind_call or chunk.size > usual:
                start_chunk(chunk.size if chunk.size > usual else 0)
            usual = max(usual, chunk.size)
        writer.write(record)
        behind_call = isinstance(record, Called)


def _form(capture: AnyCapture) -> str:
    """The form of a capture; for text, the form of the capture that it was dumped from."""
    return capture.form if isinstance(capture, TextCapture) else capture.kind


def _compression(capture: AnyCapture) -> str | None:
    return capture.compression if capture.compression in COMPRESSIONS else None


def _lines(stream: io.BufferedReader) -> Iterator[str]:
    """The lines of UTF-8 text, without a byte order mark."""
    encoding = "utf-8-sig"
    while line := stream.readline(LINE_LIMIT + 1):
        yield line.decode(encoding)
        encoding = "utf-8"


# Writers


def _sealed(out: BinaryIO, form: str, compression: str | None) -> CaptureWriter:
    return CaptureWriter(out, compression=compression or "zstd")


@contextmanager
def _bare(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Writer]:
    calls = _OneCall()
    yield calls
    out.write(calls.commands())


@contextmanager
def _text(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Writer]:
    text = io.TextIOWrapper(out, encoding="utf-8", newline="\n")
    try:
        yield TextWriter(text, form=form, compression=compression)
    finally:
        text.detach()


@contextmanager
def _c(out: BinaryIO, form: str, compression: str | None) -> Iterator[_Writer]:
    from dp2emu.text.csource import CWriter

    source = io.TextIOWrapper(out, encoding="ascii", newline="\n")
    try:
        writer = CWriter(source)
        yield writer
        writer.finish()
    finally:
        source.detach()


_WRITERS: dict[str, Callable[[BinaryIO, str, str | None], AbstractContextManager[_Writer]]] = {
    "sealed": _sealed,
    "log": lambda out, form, compression: LogWriter(out),
    "bare": _bare,
    "text": _text,
    "c": _c,
}


class _OneCall:
    """A writer of the form "bare", which holds one call.  Mutable: ``write`` stores the call."""

    def __init__(self) -> None:
        self._call: Call | None = None

    def write(self, record: Record) -> None:
        """Keep the record if it is a call.

        Raises UsageError for a second call, and Unsupported for a function of the Direct3D 10/11
        interface.
        """
        if isinstance(record, EntryCalled):
            raise Unsupported("functions of the Direct3D 10/11 interface in a bare command buffer")
        if isinstance(record, Called):
            if self._call is not None:
                raise UsageError("a bare command buffer holds one call, the capture has more")
            self._call = record.call

    def commands(self) -> bytes:
        """The command bytes.  Raises UsageError without a call, and if some are missing."""
        if self._call is None:
            raise UsageError("a bare command buffer holds one call, the capture has none")
        data, length = self._call.commands, self._call.dwCommandLength
        if data is None:
            raise UsageError("the command bytes of the call are not in it but in a memory write")
        if len(data) != length:
            raise UsageError(f"the call covers {length} bytes of commands and has {len(data)}")
        return data
