"""Enumeration types whose members know their names in the SDK headers."""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import Enum, EnumMeta, IntEnum, IntFlag
from types import MappingProxyType
from typing import Any, ClassVar, Self


class _SdkEnumMeta(EnumMeta):
    """Metaclass that copies members of a later DirectX version's enumeration."""

    @classmethod
    def __prepare__(  # type: ignore[override]
        metacls, cls: str, bases: tuple[type, ...], **keywords: Any
    ) -> Any:
        members = super().__prepare__(cls, bases)
        last, without = keywords.get("last"), keywords.get("without", ())
        for member in keywords.get("later") or ():
            if (last is None or member <= last) and member.name not in without:
                members[member.name] = int(member)
        return members


_REGULAR: Mapping[str, str] = MappingProxyType({})


class SdkEnum(IntEnum, metaclass=_SdkEnumMeta):
    """An SDK enumeration: short member names in code, full SDK names in dumps.

    ``QueryType.OCCLUSION.sdk`` is ``"D3DQUERYTYPE_OCCLUSION"``; ``irregular`` has the full names
    of members that do not begin with ``prefix``.  An enumeration of an earlier DirectX copies the
    members of a ``later`` one up to the value ``last``, except those in ``without``.  Type
    checkers know copied members only under the later type.
    """

    _prefix: ClassVar[str]
    _irregular: ClassVar[Mapping[str, str]]

    def __init_subclass__(
        cls,
        prefix: str = "",
        later: type[SdkEnum] | None = None,
        last: int | None = None,
        without: Container[str] = (),
        irregular: Mapping[str, str] = _REGULAR,
        **keywords: Any,
    ) -> None:
        super().__init_subclass__(**keywords)
        cls._prefix, cls._irregular = prefix, irregular

    @property
    def sdk(self) -> str:
        """The member's full name in the SDK headers."""
        return _full_name(self)


class SdkFlag(IntFlag):
    """SDK flags, with full names, as ``SdkEnum`` has them."""

    _prefix: ClassVar[str]
    _irregular: ClassVar[Mapping[str, str]]

    def __init_subclass__(
        cls, prefix: str = "", irregular: Mapping[str, str] = _REGULAR, **keywords: Any
    ) -> None:
        super().__init_subclass__(**keywords)
        cls._prefix, cls._irregular = prefix, irregular

    @property
    def sdk(self) -> str:
        """The full name in the SDK headers of a member, which is one flag."""
        return _full_name(self)


def _full_name(member: SdkEnum | SdkFlag) -> str:
    kind, name = type(member), str(member.name)
    return kind._irregular.get(name, kind._prefix + name)


def number_name(kind: type[Enum], value: int) -> str | None:
    """The header's name of a number of type ``kind``, whose members have ``sdk``; for flags their
    names joined by ``|``.  None if the number is unknown, and for no flags.

    >>> number_name(SdkEnum("Shape", {"ROUND": 1}), 2)
    """
    if not issubclass(kind, IntFlag):
        member: Any = kind._value2member_map_.get(value)
        return None if member is None else str(member.sdk)
    flags: list[Any] = [flag for flag in kind if flag & value]
    return "|".join(flag.sdk for flag in flags) if value and sum(flags) == value else None


def named_number(kind: type[Enum], text: str) -> int | None:
    """The number of type ``kind`` whose name ``number_name`` gives, None for an unknown name."""
    members: Any = kind
    numbers = {member.sdk: int(member.value) for member in members}
    words = text.split("|") if issubclass(kind, IntFlag) else [text]
    return None if set(words) - numbers.keys() else sum(numbers[word] for word in set(words))


def sdk_name(enum: type[SdkEnum], value: int) -> str | None:
    """The header's name of a raw value, None for an unknown one."""
    member = enum._value2member_map_.get(value)
    return member.sdk if isinstance(member, SdkEnum) else None


def sdk_value(enum: type[SdkEnum], name: str) -> int | None:
    """The value of a header name, None for an unknown one."""
    member = enum._member_map_.get(name.removeprefix(enum._prefix))
    return int(member) if isinstance(member, SdkEnum) and member.sdk == name else None


class Named(IntEnum):
    """An enumeration whose members have a word in assembly text: the name in lower case, unless a
    member is defined as (value, word).
    """

    _text: str

    def __new__(cls, value: int, text: str = "") -> Self:
        """Make a member; without ``text`` its word is the name in lower case."""
        member = int.__new__(cls, value)
        member._value_, member._text = value, text
        return member

    @property
    def text(self) -> str:
        """The member's word in assembly text, such as a lower-case name."""
        return self._text or self.name.lower()
