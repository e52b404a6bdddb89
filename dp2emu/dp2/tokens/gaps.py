"""Opcodes that mean nothing in a command stream, and why (wire format, "Unassigned opcodes")."""

from __future__ import annotations

_NOTES = {
    4: "reserved name only (RESERVED0)",
    11: "execute-buffer exit from before DirectX 6",
    68: "skipped between DirectX 8.1 and 9",
    69: "skipped between DirectX 8.1 and 9",
    70: "skipped between DirectX 8.1 and 9",
    78: "unassigned, float vertex constants kept opcode 48",
    87: "RESPONSECONTINUE goes from driver to runtime only",
    88: "RESPONSEQUERY goes from driver to runtime only",
    92: "unassigned, float pixel constants kept opcode 57",
}

GAPS: dict[int, str] = {
    op: _NOTES.get(op, "unassigned")
    for op in (0, 4, 5, 6, 7, *range(9, 15), 68, 69, 70, 78, 87, 88, 92, *range(99, 256))
}
"""Opcode -> status of every number a walk stops at."""
