"""Shader code from numbers and lines."""

from __future__ import annotations

import struct

from dp2emu.shader.sm.versions import BY_NAME

END = 0x0000FFFF


def packed(*words: int) -> bytes:
    """DWORDs as bytes."""
    return struct.pack(f"<{len(words)}I", *words)


def code_of(version: str, *words: int) -> bytes:
    """A shader around some tokens."""
    return packed(BY_NAME[version].token, *words, END)


def words_of(text: str) -> tuple[int, ...]:
    """Hexadecimal DWORDs."""
    return tuple(int(word, 16) for word in text.split())


def source_of(version: str, *lines: str) -> str:
    """Assembly text."""
    return "\n".join((version, *lines)) + "\n"
