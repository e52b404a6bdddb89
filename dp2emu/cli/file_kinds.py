"""The kind of a file by its first bytes, and the error for a verb that does not read this kind."""

from __future__ import annotations

import os
import re
import stat
from io import BufferedReader

from dp2emu.capture.reader import MAGICS
from dp2emu.cli.verbs import (
    CAPTURE,
    CAPTURE_TEXT,
    JSON,
    PICTURE,
    SHADER_CODE,
    SHADER_TEXT,
    TEXT,
    TRACE,
    VERBS,
    readers,
)
from dp2emu.errors import UsageError
from dp2emu.inputs import open_input

_EXAMINED = 4096
"""Number of bytes at the start of a file that decide its kind, if it has that many."""
_MAGICS = {
    **dict.fromkeys(MAGICS.values(), CAPTURE),
    b"\x89PNG\r\n\x1a\n": PICTURE,
    b"DXBC": SHADER_CODE,
}
"""Kinds by the bytes that files of the kind begin with."""
_CODE = re.compile(rb"[\0-\xff][\1-\3][\xfe\xff]\xff|[\x40\x41\x50]\0[\0-\5]\0", re.DOTALL)
"""Version tokens of shaders: Direct3D 8 and 9; Direct3D 10 and 11."""
_OPENINGS = (
    (re.compile(rb"dp2emu-text\b"), CAPTURE_TEXT),
    (re.compile(rb"[vpghdc]s_\d"), SHADER_TEXT),
    (re.compile(rb'\{\s*["}]|\[\s*["{\[\]\d-]'), JSON),
)
"""Kinds of text by the beginning of their first statement."""
_SKIPPED = re.compile(rb"\A\xef\xbb\xbf|\A(?:\s+|(?:#|;|//)[^\n]*\n)+")
"""What precedes the first statement of text: byte order mark, space, comment lines."""
_NOT_TEXT = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
_BARE = "; --bare reads a file as the bytes of one command buffer"
_FIRST = "; the first statement of a capture's text is dp2emu-text"
_ARTICLES = {CAPTURE: "a ", CAPTURE_TEXT: "the ", TRACE: "a ", PICTURE: "a "}


def kind_of(start: bytes) -> str | None:
    """The kind of a file that begins with these bytes, None for an unknown one.

    Traces are not among the kinds: ``capture.apitrace.begins_as_trace`` identifies them.

    >>> kind_of(b"{}"), kind_of(b"vs_2_0\\nmov oPos, v0"), kind_of(b"\\0" * 8)
    ('JSON', 'shader text', None)
    """
    for magic, kind in _MAGICS.items():
        if start.startswith(magic):
            return kind
    if _CODE.match(start):
        return SHADER_CODE
    if not start or _NOT_TEXT.search(start) or not _is_utf8(start):
        return None
    while found := _SKIPPED.match(start):
        start = start[found.end() :]
    return next((kind for opening, kind in _OPENINGS if opening.match(start)), TEXT)


def check_stream(verb: str, stream: BufferedReader, name: str) -> None:
    """Raise UsageError if a stream is of a kind that the verb does not read.

    The message names the kind and the verbs that read it.  Nothing is consumed; a file of an
    unknown kind passes.
    """
    from dp2emu.capture.apitrace import begins_as_trace

    traced = begins_as_trace(stream, str(getattr(stream, "name", "")))
    kind = TRACE if traced else kind_of(_start(stream))
    reads = VERBS[verb].reads
    if kind is None or kind in reads or (kind == TEXT and reads[0] == CAPTURE_TEXT):
        return
    hint = _text_hint(reads) if kind == TEXT else f"; verbs that read it: {_listed(kind)}"
    raise UsageError(f"{name} is no {reads[0]} but {_ARTICLES.get(kind, '')}{kind}{hint}")


def _start(stream: BufferedReader) -> bytes:
    """The first bytes of a stream; of one that cannot seek those that are there already."""
    if not stream.seekable():
        return stream.peek(_EXAMINED)[:_EXAMINED]
    place = stream.tell()
    start = stream.read(_EXAMINED)  # peek would return a part if the system reads a part
    stream.seek(place)
    return start


def check_file(verb: str, path: str) -> None:
    """Raise UsageError as ``check_stream`` does; OSError if the file cannot be opened.

    Only regular files are examined: a byte read from a pipe is lost.
    """
    if path != "-" and stat.S_ISREG(os.stat(path).st_mode):
        with open_input(path) as file:
            check_stream(verb, file, path)


def _is_utf8(start: bytes) -> bool:
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(start) - 4 and len(start) == _EXAMINED  # a character is cut
    return True


def _listed(kind: str) -> str:
    return ", ".join(readers(kind))


def _text_hint(reads: tuple[str, ...]) -> str:
    """The end of the message on text without a known beginning, for a verb that ``reads`` kinds.

    Text may be a dump without its first line, or hexadecimal digits of raw commands.
    """
    if CAPTURE not in reads:
        return ""
    return f"{_FIRST if CAPTURE_TEXT in reads else ''}{_BARE}"
