"""Input and output of verbs: files by path, the standard streams by ``-``."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, TextIO

from dp2emu.inputs import open_input, read_file, read_whole
from dp2emu.outputs import replacing_output, whole_output

_ERRORS = "backslashreplace"
_MODES = {"stdin": "r", "stdout": "r", "stderr": "w"}
"""Mode in which the null device is opened in place of a closed standard stream, by the stream's
name.  For standard output it is read-only, so that writing is an error."""


@contextmanager
def closed_streams_replaced() -> Iterator[None]:
    """Replace standard streams that the caller closed (None in Python) by the null device."""
    closed = [name for name in _MODES if getattr(sys, name) is None]
    with ExitStack() as stack:
        for name in closed:
            replacement = stack.enter_context(open(os.devnull, _MODES[name]))
            setattr(sys, name, replacement)
            stack.callback(setattr, sys, name, None)
        yield


@contextmanager
def text_output(path: str) -> Iterator[TextIO]:
    """A UTF-8 text stream for writing, with ``\\n`` line ends on every system.

    Lone surrogates, as in file names that are not UTF-8, are written as backslash escapes.
    """
    if path != "-":
        with (
            whole_output(path) as binary,
            io.TextIOWrapper(binary, "utf-8", errors=_ERRORS, newline="\n") as file,
        ):
            yield file
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors=_ERRORS, newline="\n")
    yield sys.stdout


@contextmanager
def text_input(path: str) -> Iterator[TextIO]:
    """A UTF-8 text stream for reading, with any line ends, with or without a byte order mark."""
    if path != "-":
        with io.TextIOWrapper(open_input(path), "utf-8-sig") as file:
            yield file
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig")
    yield sys.stdin


@contextmanager
def byte_output(path: str) -> Iterator[BinaryIO]:
    """A binary stream for writing."""
    with replacing_output(path) as file:
        yield file


def read_bytes(path: str, limit: int) -> bytes:
    """The content of a file.  Raises UsageError for more than ``limit`` bytes."""
    return read_whole(sys.stdin.buffer, path, limit) if path == "-" else read_file(path, limit)
