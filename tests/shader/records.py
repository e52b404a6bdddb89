"""What records say of themselves, for those whose ``repr`` names objects on disk."""

from __future__ import annotations

from enum import Enum
from typing import Any


def told(record: Any) -> Any:
    """What a record says of itself, field by field, without ``repr`` of anything that has fields.

    Fails for what has no order or no words of its own.
    """
    assert not isinstance(record, set | frozenset | dict)
    if isinstance(record, tuple):
        return tuple(map(told, record))
    if isinstance(record, Enum) or not hasattr(record, "__match_args__"):
        assert " at 0x" not in repr(record)
        return repr(record)
    return tuple(told(getattr(record, name)) for name in record.__match_args__)
