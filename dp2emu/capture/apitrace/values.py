"""Calls and values of a trace.

What Python has a type for is that type: None, bool, int, float, str, bytes (a blob) and tuple (an
array; a pointer to one thing is an array of one).  The rest is declared here.
"""

from __future__ import annotations

from enum import Enum as PythonEnum
from functools import cached_property
from typing import Final, Literal

import msgspec

FAKE = 1
"""Flag of a call that the tracer put in: the program did not make it."""


class Missing(PythonEnum):
    """What stands for an argument or a result that was not recorded."""

    MISSING = "?"


MISSING: Final = Missing.MISSING


class Double(float):
    """A number of 64 bits, where a plain float has 32; both read the same."""

    __slots__ = ()


class WideString(str):
    """Text of 16-bit units, unpaired surrogates among them."""

    __slots__ = ()


class FunctionSignature(msgspec.Struct, frozen=True):
    """A function: ``Interface::Method`` or a plain name, and its arguments' names."""

    name: str
    arguments: tuple[str, ...]


class EnumSignature(msgspec.Struct, frozen=True, dict=True):
    """Names and values of an enumeration, in its order."""

    names: tuple[tuple[str, int], ...]

    @cached_property
    def _first(self) -> dict[int, str]:
        return {value: name for name, value in reversed(self.names)}

    def name_of(self, value: int) -> str | None:
        """The first name of a value."""
        return self._first.get(value)


class BitmaskSignature(msgspec.Struct, frozen=True):
    """Names and bits of a bitmask, in its order."""

    flags: tuple[tuple[str, int], ...]


class StructSignature(msgspec.Struct, frozen=True):
    """A structure's name and its members'."""

    name: str
    members: tuple[str, ...]


class Enum(msgspec.Struct, frozen=True):
    """A value of an enumeration, which need not have a name."""

    signature: EnumSignature
    value: int

    @property
    def name(self) -> str | None:
        """The first name of the value."""
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
    """One thing twice: for people (a shader's text) and as it was passed (its tokens)."""

    human: Value
    machine: Value


Value = (
    None
    | bool
    | int
    | float
    | str
    | bytes
    | tuple["Value", ...]
    | Enum
    | Bitmask
    | Struct
    | Pointer
    | Repr
)


class StackFrame(msgspec.Struct, frozen=True):
    """A line of a backtrace; what was not recorded is None."""

    module: str | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None
    offset: int | None = None


class TraceCall(msgspec.Struct, frozen=True):
    """A call, its entering and its leaving joined.

    ``number`` counts calls from 0 in the order they were entered.  ``arguments`` are as many as
    the function's; those that were not recorded are MISSING, and so is the ``result`` of a
    function that has none.  An unfinished call was never left.  ``offset`` is the place in the
    file of the chunk that the call was entered in.
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
        """Whether the tracer put it in."""
        return bool(self.flags & FAKE)

    def argument(self, name: str) -> Value | Literal[Missing.MISSING]:
        """The argument of that name; KeyError if the function has none."""
        if name not in self.function.arguments:
            raise KeyError(name)
        return self.arguments[self.function.arguments.index(name)]
