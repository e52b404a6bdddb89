"""Calls and values of a trace.

What Python has a type for is that type: None, bool, int, float, str, bytes (a blob) and tuple (an
array; a pointer to one thing is an array of one).  The rest is declared here.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum as PythonEnum
from typing import Final, Literal

from dp2emu.records import dataclass

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


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """A function: ``Interface::Method`` or a plain name, and its arguments' names."""

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EnumSignature:
    """Names and values of an enumeration, in its order."""

    names: tuple[tuple[str, int], ...]
    _first: dict[int, str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.names:
            self._first.setdefault(value, name)

    def name_of(self, value: int) -> str | None:
        """The first name of a value."""
        return self._first.get(value)


@dataclass(frozen=True, slots=True)
class BitmaskSignature:
    """Names and bits of a bitmask, in its order."""

    flags: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class StructSignature:
    """A structure's name and its members'."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Enum:
    """A value of an enumeration, which need not have a name."""

    signature: EnumSignature
    value: int

    @property
    def name(self) -> str | None:
        """The first name of the value."""
        return self.signature.name_of(self.value)


@dataclass(frozen=True, slots=True)
class Bitmask:
    """Flags as one number, at most 64 bits."""

    signature: BitmaskSignature
    value: int


@dataclass(frozen=True, slots=True)
class Struct:
    """A structure: a value for each member of its signature."""

    signature: StructSignature
    members: tuple[Value, ...]

    def __getitem__(self, name: str) -> Value:
        """The member of that name; KeyError if there is none."""
        if name not in self.signature.members:
            raise KeyError(name)
        return self.members[self.signature.members.index(name)]


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address in the traced program."""

    value: int


@dataclass(frozen=True, slots=True)
class Repr:
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


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A line of a backtrace; what was not recorded is None."""

    module: str | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class TraceCall:
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
