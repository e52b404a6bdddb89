"""Functions that execute tokens.  Importing this package fills ``dp2emu.dp2.table.TABLE``."""

from __future__ import annotations

from dp2emu.dp2.table import TABLE
from dp2emu.dp2.tokens import draw7, draw9, lighting, query, shader, state, surface

__all__ = [
    "GAPS", "draw7", "draw9", "extension", "lighting", "query", "shader", "state", "stateset",
    "surface",
]  # fmt: skip

_NOTES = {
    4: "reserved name only (RESERVED0)",
    11: "execute-buffer exit from before DirectX 6",
    **dict.fromkeys((68, 69, 70), "skipped between DirectX 8.1 and 9"),
    78: "unassigned, float vertex constants kept opcode 48",
    87: "RESPONSECONTINUE goes from driver to runtime only",
    88: "RESPONSEQUERY goes from driver to runtime only",
    92: "unassigned, float pixel constants kept opcode 57",
}

GAPS: dict[int, str] = {op: _NOTES.get(op, "unassigned") for op in range(256) if op not in TABLE}
"""Opcode -> why a walk stops at it, of every opcode without a token (wire format, "Unassigned
opcodes")."""
