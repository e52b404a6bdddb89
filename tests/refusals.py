"""Patterns of the errors about limits."""

from __future__ import annotations

import re


def refused(name: str, most: int | None = None) -> str:
    """Pattern of the error about the limit ``name`` of value ``most``, None for any value."""
    value = "[0-9,]+" if most is None else f"{most:,}"
    return f"limit {name}: [^;]+, at most {value}; (raise it with --limit {name}=N|it cannot)"


def refuses(text: object, name: str, most: int | None = None) -> bool:
    """Whether a text has the error about the limit ``name`` of value ``most``."""
    return re.search(refused(name, most), str(text)) is not None
