"""Arguments of a traced call by name, as what they must be.

Every reader raises Inexpressible for an argument that is missing or is something else: the values
of a trace are whatever its file says.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

from dp2emu.capture.apitrace import TraceCall, Value
from dp2emu.capture.apitrace.values import MISSING, Bitmask, Enum, Pointer, Repr, Struct
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.objects import Objects

T = TypeVar("T")

_FAILED = 0x8000_0000
"""The severity bit of an HRESULT."""
_DWORD = 0xFFFF_FFFF


def integer(value: object) -> int:
    """A number: of an enumeration, a bitmask, a boolean or itself; NULL is 0."""
    if isinstance(value, Enum | Bitmask | Pointer):
        return value.value
    if value is None:
        return 0
    if isinstance(value, int):
        return int(value)
    raise Inexpressible(f"{_kind(value)} instead of a number")


def real(value: object) -> float:
    """A floating-point number, which may be written as an integer."""
    if isinstance(value, int | float):
        return float(value)
    raise Inexpressible(f"{_kind(value)} instead of a float")


def state_word(value: object) -> int:
    """The value of a state as its DWORD: floats by their bits, booleans as 0 and 1."""
    if isinstance(value, float):
        return int.from_bytes(_single(value), "little")
    return integer(value) & _DWORD


def _single(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def array(value: object) -> tuple[Value, ...]:
    """The elements of an array."""
    if isinstance(value, tuple):
        return value
    raise Inexpressible(f"{_kind(value)} instead of an array")


def pointee(value: object) -> Value:
    """What a pointer to one thing points to."""
    found = array(value)
    if len(found) != 1:
        raise Inexpressible(f"{len(found)} elements instead of one")
    return found[0]


def structure(value: object) -> Struct:
    """A structure, or the one a pointer points to."""
    found = pointee(value) if isinstance(value, tuple) else value
    if isinstance(found, Struct):
        return found
    raise Inexpressible(f"{_kind(found)} instead of a structure")


def member(of: Struct, name: str) -> Value:
    """A member of a structure."""
    try:
        return of[name]
    except (KeyError, IndexError):
        raise Inexpressible(f"{of.signature.name} has no {name}") from None


def members(of: Struct, names: Sequence[str], read: Callable[[object], T]) -> tuple[T, ...]:
    """Several members, each through ``read``."""
    return tuple(read(member(of, name)) for name in names)


def flattened(value: object) -> list[Value]:
    """The leaves of nested arrays and structures, in order."""
    if isinstance(value, tuple):
        return [leaf for each in value for leaf in flattened(each)]
    if isinstance(value, Struct):
        return [leaf for each in value.members for leaf in flattened(each)]
    return [value]  # type: ignore[list-item]


def _kind(value: object) -> str:
    return "nothing" if value is None or value is MISSING else type(value).__name__


class Arguments:
    """A call of the trace, read by the names of its arguments."""

    def __init__(self, call: TraceCall, objects: Objects) -> None:
        self.call = call
        self._objects = objects

    @property
    def number(self) -> int:
        """The call's number in the trace."""
        return self.call.number

    @property
    def failed(self) -> bool:
        """Whether the call has an HRESULT and it is a failure."""
        result = self.call.result
        return isinstance(result, Enum) and bool(result.value & _FAILED)

    @property
    def result(self) -> int:
        """What the call returned, as a number."""
        return integer(self._told(self.call.result, "the result"))

    def has(self, name: str) -> bool:
        """Whether an argument was recorded, and not as NULL."""
        known = name in self.call.function.arguments
        return known and self.call.argument(name) not in (None, MISSING)

    def value(self, name: str) -> Value:
        """An argument as it is."""
        try:
            found = self.call.argument(name)
        except KeyError:
            raise Inexpressible(f"no argument {name}") from None
        return self._told(found, name)

    def _told(self, value: object, what: str) -> Value:
        if value is MISSING:
            raise Inexpressible(f"{what} was not recorded")
        return value  # type: ignore[return-value]

    def integer(self, name: str) -> int:
        """An integer."""
        return integer(self.value(name))

    def dword(self, name: str) -> int:
        """The DWORD of a state's value."""
        return state_word(self.value(name))

    def real(self, name: str) -> float:
        """A float."""
        return real(self.value(name))

    def reals(self, name: str) -> list[float]:
        """Floats of an array or a structure of floats, nested or not."""
        return [real(leaf) for leaf in flattened(self.value(name))]

    def integers(self, name: str) -> list[int]:
        """Integers of an array."""
        return [integer(leaf) for leaf in flattened(self.value(name))]

    def blob(self, name: str) -> bytes:
        """Bytes; of a text with bytes behind it, the bytes."""
        value = self.value(name)
        found = value.machine if isinstance(value, Repr) else value
        if isinstance(found, bytes):
            return found
        raise Inexpressible(f"{name} is {_kind(found)} instead of bytes")

    def struct(self, name: str) -> Struct:
        """A structure, or what a pointer to one points to."""
        return structure(self.value(name))

    def structs(self, name: str) -> list[Struct]:
        """The structures of an array."""
        return [structure(each) for each in array(self.value(name))]

    def address(self, name: str) -> int:
        """A pointer's number, 0 for NULL; of a pointer to a pointer what it points to."""
        value = self.value(name)
        return integer(pointee(value) if isinstance(value, tuple) else value)

    def thing(self, name: str, kind: type[T]) -> T:
        """The object an address means."""
        return self._objects.find(self.address(name), kind)

    def optional(self, name: str, kind: type[T]) -> T | None:
        """The same, None for NULL."""
        return self.thing(name, kind) if self.address(name) else None

    def bind(self, name: str, thing: object) -> None:
        """The object that the call handed out through an argument."""
        self._objects.bind(self.address(name), thing)
