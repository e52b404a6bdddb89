"""Calls that workers execute."""

from __future__ import annotations

import os
from typing import BinaryIO

from dp2emu.process.worker import end_with_parent, ending_after


def echo(reader: BinaryIO, writer: BinaryIO, prefix: str = "") -> None:
    """Answer lines."""
    for line in reader:
        writer.write(prefix.encode() + line)
        writer.flush()


def where(reader: BinaryIO, writer: BinaryIO) -> None:
    """Tell the directory, then print."""
    print("this is no answer", flush=True)
    writer.write(os.getcwd().encode() + b"\n")
    writer.flush()
    reader.read()


def leave(reader: BinaryIO, writer: BinaryIO, code: int) -> int:
    """End the process with an exit code."""
    return code


def fail(reader: BinaryIO, writer: BinaryIO) -> None:
    """Raise."""
    raise ValueError("planted")


def hang(reader: BinaryIO, writer: BinaryIO, seconds: float) -> None:
    """Exceed a time."""
    with ending_after(seconds):
        reader.read()


def follow(reader: BinaryIO, writer: BinaryIO) -> None:
    """End with the parent, in the middle of work."""
    end_with_parent(reader)
    writer.write(b"\n")
    writer.flush()
    while True:
        pass
