"""Which members of each type of record its statement in a text has, and their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

import msgspec

from dp2emu.capture import records
from dp2emu.capture.records import PictureKind, Record
from dp2emu.d3d.enums import Format
from dp2emu.d3d.hresult import HResult, hr_name
from dp2emu.d3d.sdk import sdk_name
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.call import Answer, Call
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.text.shape import Leaf, scalar
from dp2emu.text.syntax import Block, TextError, Value, Word


class _Required:
    """Stands for the default of a member that has none."""


_REQUIRED = _Required()
_Numbers = dict[str, int | None]
_Default = int | None | _Required
_KIND = "kind"
"""Name of the record member whose value must be a SurfaceKind."""
_STATEMENTS = 1 << 8
"""Statements of each form that are cached."""
_NUMBER = Leaf("Q", "", None, alone=False)


class Form(msgspec.Struct, frozen=True, dict=True):
    """How a type of record is written as a statement: ``keyword``, then numbers as ``name=value``.

    The numbers are the members of the record and, if ``inner`` is not empty, those of its member
    ``inner``, which is of type ``of``; a number that is None is not written.  The members
    ``apart`` are no numbers, and are written and read by other code.
    """

    keyword: str
    record: type[Any]
    inner: str = ""
    of: type[Any] | None = None
    apart: tuple[str, ...] = ()

    @cached_property
    def _own(self) -> dict[str, _Default]:
        return _defaults(self.record, (self.inner, *self.apart))

    @cached_property
    def _inner(self) -> dict[str, _Default]:
        return _defaults(self.of, self.apart) if self.of else {}

    @cached_property
    def _defaults(self) -> dict[str, _Default]:
        return self._inner | self._own

    @cached_property
    def _values(self) -> Callable[[Any], tuple[int | None, ...]]:
        """Function that returns all members of a record that are numbers, as a tuple."""
        names = (*(f"{self.inner}.{name}" for name in self._inner), *self._own)
        if len(names) > 1:
            return attrgetter(*names)
        return lambda record: tuple(getattr(record, name) for name in names)

    def numbers(self, record: Any) -> Iterator[tuple[str, int]]:
        """(name, value) of every member of a record that is a number."""
        pairs = zip(self._defaults, self._values(record), strict=True)
        return ((name, value) for name, value in pairs if value is not None)

    def words(self, record: Any) -> list[str]:
        """The words of a record's statement: the keyword, then ``name=value`` of each number that
        is not at its default.
        """
        return [*self._words(*self._values(record))]

    @cached_property
    def _words(self) -> Callable[..., tuple[str, ...]]:
        """Function from the numbers of a record to the words of its statement."""
        defaults = self._defaults.items()

        def words(*values: int | None) -> tuple[str, ...]:
            pairs = zip(defaults, values, strict=True)
            said = ((name, value) for (name, default), value in pairs if value != default)
            return self.keyword, *(f"{n}={value_text(n, v)}" for n, v in said if v is not None)

        return lru_cache(_STATEMENTS, typed=True)(words)

    def make(self, block: Block, apart: Mapping[str, Any]) -> Record:
        """The record of a block; ``apart`` has the members that are not numbers.

        Raises TextError for unknown names and values.
        """
        inner, own = self.members(block)
        others = apart if self.of is None else {self.inner: self.of(**inner, **apart)}
        record: Record = self.record(**own, **others)
        return record

    def members(self, block: Block) -> tuple[_Numbers, _Numbers]:
        """The numbers in a block's statement, by name: those of member ``inner``, and the others.

        Raises TextError for unknown names and values.
        """
        given = dict(block.fields.values)
        inner, own = _pop(given, self._inner), _pop(given, self._own)
        if given:
            known = " ".join(self._defaults)
            raise block.error(f"no field {next(iter(given))}; the fields are {known}")
        return inner, own


def _pop(given: dict[str, Value], defaults: Mapping[str, _Default]) -> _Numbers:
    """Remove the members of ``defaults`` from ``given``; a missing one is its default or 0."""
    return {
        name: _number(name, given.pop(name, None))
        if name in given or isinstance(default, _Required)
        else default
        for name, default in defaults.items()
    }


def value_text(name: str, value: int) -> str:
    """The text of a value of member ``name``: the value's name if it has one, else a number."""
    named = _NAMES[name](value) if name in _NAMES else None
    return named or (f"{value:#x}" if name in _HEXADECIMAL and value else str(value))


def value_name(name: str, value: int) -> str | None:
    """The SDK name of a value of the enumerated member ``name``; None if it has none."""
    return _NAMES[name](value)


def enumerated(name: str) -> bool:
    """Whether the values of member ``name`` have names, like formats."""
    return name in _NAMES


def _number(name: str, value: Value | None) -> int:
    if value is None:
        number = 0
    elif name in _VALUES and isinstance(value, Word) and value.text in _VALUES[name]:
        number = _VALUES[name][value.text]
    else:
        number = scalar(_NUMBER, value)
    if name != _KIND:
        return number
    if number not in SurfaceKind._value2member_map_:
        raise TextError(value.line if value else 0, f"surface kind {number} is unknown")
    return SurfaceKind(number)


def _defaults(record: type[msgspec.Struct], without: tuple[str, ...]) -> dict[str, _Default]:
    """The default of each member by name; members ``without`` left out."""
    names, given = record.__struct_fields__, record.__struct_defaults__
    defaults = (*(_REQUIRED,) * (len(names) - len(given)), *given)
    return {name: each for name, each in zip(names, defaults, strict=True) if name not in without}


def _member_name(enum: type[IntEnum], value: int) -> str | None:
    return enum(value).name if value in enum._value2member_map_ else None


def _result_name(value: int) -> str | None:
    name = hr_name(value)
    return None if name.startswith("0x") else name


_NAMES: dict[str, Callable[[int], str | None]] = {
    "kind": lambda value: _member_name(SurfaceKind, value),
    "format": lambda value: sdk_name(Format, value),
    "ddrval": _result_name,
    "hr": _result_name,
    "how": lambda value: _member_name(PictureKind, value),
}
_VALUES: dict[str, Mapping[str, int]] = {
    "kind": SurfaceKind.__members__,
    "format": {member.sdk: member for member in Format},
    "ddrval": HResult.__members__,
    "hr": HResult.__members__,
    "how": PictureKind.__members__,
}
_HEXADECIMAL = ("dwFlags", "dwVertexType", "ddrval", "usage", "low", "high",
                "flags", "fx", "fill", "rop", "dest_low", "dest_high", "hr")  # fmt: skip

FORMS = (
    Form("context", records.ContextCreated),
    Form("context-destroyed", records.ContextDestroyed),
    Form("surface", records.SurfaceCreated, "desc", SurfaceDesc, ("dxgi", "layers")),
    Form("surface-destroyed", records.SurfaceDestroyed),
    Form("colorkey", records.ColorKeySet),
    Form("colorkey-removed", records.ColorKeyRemoved),
    Form("lock", records.Locked),
    Form("flip", records.Flipped),
    Form("blit", records.Blitted, "blt", Blt),
    Form("memory", records.MemoryWritten, apart=("data",)),
    Form("call", records.Called, "call", Call, ("commands", "vertices")),
    Form("answer", records.Answered, "answer", Answer, ("response", "fault")),
    Form("frame", records.FrameMarker),
    Form("annotation", records.Annotation, apart=("key", "text")),
    Form("picture", records.Pictured, apart=("data",)),
    Form("observation", records.Observed, apart=("data",)),
    Form("entry", records.EntryCalled, apart=("entry", "arguments", "result", "codes", "written")),
)
BY_KEYWORD = {form.keyword: form for form in FORMS}
BY_RECORD: dict[type[Any], Form] = {form.record: form for form in FORMS}
