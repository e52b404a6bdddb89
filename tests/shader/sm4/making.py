"""Programs from numbers and lines, and the recorded ones."""

from __future__ import annotations

import json
import struct
from functools import cache
from typing import Any

from dp2emu.shader.sm4.versions import BY_NAME
from tests.tools.loading import ROOT


def packed(*words: int) -> bytes:
    """DWORDs as bytes."""
    return struct.pack(f"<{len(words)}I", *words)


def words_of(text: str) -> tuple[int, ...]:
    """Hexadecimal DWORDs."""
    return tuple(int(word, 16) for word in text.split())


def code_of(version: str, *words: int) -> bytes:
    """A program around some tokens."""
    return packed(BY_NAME[version].token, 2 + len(words), *words)


@cache
def recorded() -> list[dict[str, Any]]:
    """Shaders as Microsoft's compiler made them.

    ``shader``, ``hlsl``; ``dxbc``, the container, and its ``tokens`` in hexadecimal; ``chunks``,
    ``inputs``, ``outputs`` and ``patch_constants`` as its reflection reads them; ``asm``, the
    disassembly without remarks.
    """
    rows: list[dict[str, Any]] = json.loads((ROOT / "tests/data/dxbc.json").read_text("utf-8"))
    return rows


def container(shader: str) -> bytes:
    """The container of a recorded shader."""
    (row,) = (row for row in recorded() if row["shader"] == shader)
    return bytes.fromhex(row["dxbc"])
