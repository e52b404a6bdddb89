"""Where verbs read and write: files by path, the standard streams by ``-``."""

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
_STAND_INS = {"stdin": "r", "stdout": "r", "stderr": "w"}
"""How the null device is opened in a standard stream's place.  Data written to a closed standard
output must not be lost in silence, so its stand-in cannot be written to."""


@contextmanager
def closed_streams_replaced() -> Iterator[None]:
    """Standard streams that the caller closed (None in Python) are there all the same."""
    closed = [name for name in _STAND_INS if getattr(sys, name) is None]
    with ExitStack() as stack:
        for name in closed:
            stand_in = stack.enter_context(open(os.devnull, _STAND_INS[name]))
            setattr(sys, name, stand_in)
            stack.callback(setattr, sys, name, None)
        yield


@contextmanager
def text_output(path: str) -> Iterator[TextIO]:
    """A UTF-8 text stream with plain newlines, the same bytes on every system.

    What UTF-8 cannot say, such as a file name that is none, is written with backslashes.
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
    """UTF-8 text to read, whatever its line ends and with or without a byte order mark."""
    if path != "-":
        with io.TextIOWrapper(open_input(path), "utf-8-sig") as file:
            yield file
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig")
    yield sys.stdin


@contextmanager
def byte_output(path: str) -> Iterator[BinaryIO]:
    """A binary stream to write."""
    with replacing_output(path) as file:
        yield file


def read_bytes(path: str, limit: int) -> bytes:
    """All bytes of a file.  Raises UsageError for one of more than ``limit``."""
    return read_whole(sys.stdin.buffer, path, limit) if path == "-" else read_file(path, limit)
