"""What records say of themselves, for those whose ``repr`` names objects on disk."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def told(record: Any) -> Any:
    """What a record says of itself, field by field, without ``repr`` of anything that has fields.

    Fails for what has no order or no words of its own.
    """
    assert not isinstance(record, set | frozenset | dict)
    if isinstance(record, tuple):
        return tuple(map(told, record))
    if isinstance(record, Enum) or not is_dataclass(record):
        assert " at 0x" not in repr(record)
        return repr(record)
    hidden = [f.name for f in fields(record) if f.compare and not f.repr]
    assert not hidden
    return tuple(told(getattr(record, field.name)) for field in fields(record) if field.compare)
