"""Calls and values of a trace.

A value is a Python None, bool, int, float, str, bytes (a blob) or tuple (an array; a pointer to
one value is an array of one), or of a type that this module declares.
"""

from __future__ import annotations

from enum import Enum as PythonEnum
from functools import cached_property
from typing import Final, Literal

import msgspec

from dp2emu.argument_check import checked_on_failure
from dp2emu.errors import ArgumentError

FAKE = 1
"""Bit of a traced call's flags: the tracer inserted the call, the program did not make it."""


class Missing(PythonEnum):
    """Type of MISSING, which stands for an argument or result that the trace does not contain."""

    MISSING = "?"


MISSING: Final = Missing.MISSING


class Double(float):
    """A 64-bit float, while a plain ``float`` was recorded with 32 bits."""

    __slots__ = ()


class WideString(str):
    """UTF-16 text, which may have unpaired surrogates."""

    __slots__ = ()


class FunctionSignature(msgspec.Struct, frozen=True, dict=True):
    """A function: ``Interface::Method`` or a plain name, and the names of its arguments."""

    name: str
    arguments: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each argument by its name; of equal names the first."""
        last = len(self.arguments) - 1
        return {name: last - back for back, name in enumerate(reversed(self.arguments))}


class EnumSignature(msgspec.Struct, frozen=True, dict=True):
    """Names and values of an enumeration, in the order of its declaration."""

    names: tuple[tuple[str, int], ...]

    @cached_property
    def _first(self) -> dict[int, str]:
        return {value: name for name, value in reversed(self.names)}

    def name_of(self, value: int) -> str | None:
        """The first declared name of ``value``, None without one."""
        return self._first.get(value)


class BitmaskSignature(msgspec.Struct, frozen=True):
    """Names and bits of a bitmask's flags, in the order of its declaration."""

    flags: tuple[tuple[str, int], ...]


class StructSignature(msgspec.Struct, frozen=True):
    """Name of a structure, and the names of its members in order."""

    name: str
    members: tuple[str, ...]


class Enum(msgspec.Struct, frozen=True):
    """A value of an enumeration, which need not have a name."""

    signature: EnumSignature
    value: int

    @property
    def name(self) -> str | None:
        """The first declared name of the value, None without one."""
        return self.signature.name_of(self.value)


class Bitmask(msgspec.Struct, frozen=True):
    """Flags as one number, at most 64 bits."""

    signature: BitmaskSignature
    value: int


class Struct(msgspec.Struct, frozen=True):
    """A structure: a value for each member of its signature."""

    signature: StructSignature
    members: tuple[Value, ...]

    def __getitem__(self, name: str) -> Value:
        """The member of that name; KeyError if there is none."""
        if name not in self.signature.members:
            raise KeyError(name)
        return self.members[self.signature.members.index(name)]


class Pointer(msgspec.Struct, frozen=True):
    """An address in the traced program."""

    value: int


class Repr(msgspec.Struct, frozen=True):
    """A value in two forms: ``human`` for reading, ``machine`` as the program passed it."""

    human: Value
    machine: Value


Value = (
    None | bool | int | float | str | bytes | tuple["Value", ...]
    | Enum | Bitmask | Struct | Pointer | Repr
)  # fmt: skip


class StackFrame(msgspec.Struct, frozen=True):
    """One stack frame of a backtrace; members that were not recorded are None."""

    module: str | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None
    offset: int | None = None


class TraceCall(msgspec.Struct, frozen=True):
    """A call, joined from its enter and leave events.

    ``number`` counts calls from 0 in the order of entry.  ``arguments`` has a value for each name
    in the function's signature.  An argument or result that was not recorded is MISSING.  A call
    without a leave event is not ``finished``.  ``offset`` is the file offset of the chunk with the
    enter event.
    """

    number: int
    thread: int
    function: FunctionSignature
    arguments: tuple[Value | Literal[Missing.MISSING], ...]
    result: Value | Literal[Missing.MISSING]
    flags: int
    backtrace: tuple[StackFrame, ...]
    finished: bool
    offset: int

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.name

    @property
    def fake(self) -> bool:
        """Whether the tracer inserted the call."""
        return bool(self.flags & FAKE)

    @checked_on_failure
    def argument(self, name: str) -> Value | Literal[Missing.MISSING]:
        """The argument of that name.  Raises ArgumentError if the function has none."""
        place = self.function.places.get(name)
        if place is None:
            raise ArgumentError(f"{self.name} has no argument {name!r:.60}")
        return self.arguments[place]
