"""Captures as text: readable dumps that assemble back to the same bytes, and JSON lines."""

from dp2emu.text.conversion import (
    KINDS,
    AnyCapture,
    assemble,
    convert,
    dump_containers,
    dump_jsonl,
    dump_text,
    open_any,
)
from dp2emu.text.syntax import TextError
from dp2emu.text.textfile import TextCapture

__all__ = [
    "KINDS",
    "AnyCapture",
    "TextCapture",
    "TextError",
    "assemble",
    "convert",
    "dump_containers",
    "dump_jsonl",
    "dump_text",
    "open_any",
]
