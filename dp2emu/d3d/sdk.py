"""The enumeration type that remembers its SDK spelling."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar


class SdkEnum(IntEnum):
    """An SDK enumeration: short member names in code, the header's spelling in dumps.

    ``QueryType.OCCLUSION.sdk`` is ``"D3DQUERYTYPE_OCCLUSION"``.
    """

    _prefix: ClassVar[str]

    def __init_subclass__(cls, prefix: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._prefix = prefix

    @property
    def sdk(self) -> str:
        """The name as the header spells it."""
        return type(self)._prefix + self.name


def sdk_name(enum: type[SdkEnum], value: int) -> str | None:
    """The header's name of a raw value, or None if the enumeration has none for it."""
    member = enum._value2member_map_.get(value)
    return member.sdk if isinstance(member, SdkEnum) else None


def sdk_value(enum: type[SdkEnum], name: str) -> int | None:
    """The value of a header name, or None if it is no name of this enumeration."""
    member = enum._member_map_.get(name.removeprefix(enum._prefix))
    return int(member) if isinstance(member, SdkEnum) and member.sdk == name else None


class Named(IntEnum):
    """Numbers that text spells like their names."""

    @property
    def text(self) -> str:
        """The word of assembly text."""
        return self.name.lower()
