"""Token families.  Importing this package fills ``dp2emu.dp2.table.TABLE``."""

from __future__ import annotations

from dp2emu.dp2.tokens import (
    draw7,
    draw9,
    extension,
    lighting,
    patch,
    query,
    shader,
    state,
    stateset,
    stream,
    surface,
    target,
)
from dp2emu.dp2.tokens.gaps import GAPS

__all__ = [
    "GAPS",
    "draw7",
    "draw9",
    "extension",
    "lighting",
    "patch",
    "query",
    "shader",
    "state",
    "stateset",
    "stream",
    "surface",
    "target",
]
