"""Readers of the arguments of traced calls, and a map from traced addresses to objects.

Traces are not trusted: every reader raises Inexpressible for an argument that is missing or of
another type.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from dp2emu.capture.apitrace import TraceCall, Value
from dp2emu.capture.apitrace.values import MISSING, Bitmask, Enum, Pointer, Repr, Struct
from dp2emu.retrace.losses import Inexpressible

T = TypeVar("T")

_FAILED = 0x8000_0000
"""The severity bit of an HRESULT, which is set if a call failed."""
_DWORD = 0xFFFF_FFFF
_NUMBERED = Enum, Pointer, Bitmask
_INTEGERS = frozenset({int})


def integer(value: object) -> int:
    """The value of an integer, enumeration, bitmask, boolean or pointer as an int; NULL is 0."""
    if type(value) is int:
        return value
    if isinstance(value, _NUMBERED):
        return value.value
    if value is None:
        return 0
    if isinstance(value, int):
        return int(value)
    raise Inexpressible(f"{_kind(value)} instead of a number")


def real(value: object) -> float:
    """The value of a floating-point number; traces may write it as an integer."""
    if isinstance(value, (float, int)):
        return float(value)
    raise Inexpressible(f"{_kind(value)} instead of a float")


def state_word(value: object) -> int:
    """The DWORD that a recorded state value stands for: floats by their bits, booleans as 0 and
    1.
    """
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
    """The single element that a pointer points to."""
    found = array(value)
    if len(found) != 1:
        raise Inexpressible(f"{len(found)} elements instead of one")
    return found[0]


def structure(value: object) -> Struct:
    """``value`` if it is a structure, else the structure that the pointer ``value`` points to."""
    found = pointee(value) if isinstance(value, tuple) else value
    if isinstance(found, Struct):
        return found
    raise Inexpressible(f"{_kind(found)} instead of a structure")


def member(of: Struct, name: str) -> Value:
    """The value of a structure's member."""
    try:
        return of[name]
    except (KeyError, IndexError):
        raise Inexpressible(f"{of.signature.name} has no {name}") from None


def members(of: Struct, names: Sequence[str], read: Callable[[object], T]) -> tuple[T, ...]:
    """The values of several members, each read by ``read``."""
    return tuple(read(member(of, name)) for name in names)


def flattened(value: object) -> list[Value]:
    """The leaves of nested arrays and structures, in order."""
    leaves: list[Value] = []
    _gather((value,), leaves)  # type: ignore[arg-type]
    return leaves


def _gather(found: tuple[Value, ...], leaves: list[Value]) -> None:
    for each in found:
        if type(each) is float:
            leaves.append(each)
        elif isinstance(each, tuple):
            _gather(each, leaves)
        elif isinstance(each, Struct):
            _gather(each.members, leaves)
        else:
            leaves.append(each)


def _kind(value: object) -> str:
    return "nothing" if value is None or value is MISSING else type(value).__name__


class Objects:
    """The objects of the traced program by address (apitrace traces, "Traced objects").  Mutable.

    An object may have an address for each interface.  A call that returns an address binds it
    again, since addresses are reused.  Iteration yields (address, object) pairs.
    """

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}
        self._addresses: dict[int, dict[int, None]] = {}
        self._since: dict[int, int] = {}

    def bind(self, address: int, thing: object, call: int = 0) -> None:
        """Bind ``address`` to ``thing`` since a numbered call; address 0 is ignored."""
        if address:
            self.forget(address)
            self._objects[address] = thing
            self._addresses.setdefault(id(thing), {})[address] = None
            self._since[address] = call

    def since(self, address: int) -> int:
        """The number of the last call that bound an address, even if it was unbound since; 0 if it
        is unknown.
        """
        return self._since.get(address, 0)

    def forget(self, address: int) -> None:
        """Unbind an address, whose last reference was released."""
        if address in self._objects:
            key = id(self._objects.pop(address))
            del self._addresses[key][address]
            if not self._addresses[key]:
                del self._addresses[key]

    def forget_all(self, thing: object) -> None:
        """Unbind every address of an object."""
        for address in self.addresses(thing):
            self.forget(address)

    def get(self, address: int) -> Any:
        """The object at an address, None if it is unknown."""
        return self._objects.get(address)

    def find(self, address: int, kind: type[T]) -> T:
        """The object at an address.  Raises Inexpressible if it is not of type ``kind``."""
        thing = self._objects.get(address)
        if not isinstance(thing, kind):
            what = "nothing known" if thing is None else f"a {type(thing).__name__}"
            raise Inexpressible(f"{address:#x} is {what}, not a {kind.__name__}")
        return thing

    def __iter__(self) -> Iterator[tuple[int, object]]:
        return iter(list(self._objects.items()))

    def addresses(self, thing: object) -> list[int]:
        """Every address that is bound to ``thing``."""
        return list(self._addresses.get(id(thing), ()))


class Arguments:
    """Reads the arguments of a traced call by name, and looks up the objects they point to."""

    __slots__ = ("_given", "_places", "call", "objects")

    def __init__(self, call: TraceCall, objects: Objects) -> None:
        self.call = call
        self.objects = objects
        self._given = call.arguments
        self._places = call.function.places

    @property
    def number(self) -> int:
        """The call's number in the trace."""
        return self.call.number

    @property
    def failed(self) -> bool:
        """Whether the call returned a failing HRESULT."""
        result = self.call.result
        return type(result) is Enum and result.value & _FAILED != 0

    @property
    def result(self) -> int:
        """The call's return value as a number."""
        result = self.call.result
        if result is MISSING:
            raise Inexpressible("the result was not recorded")
        return integer(result)

    def declares(self, name: str) -> bool:
        """Whether the function has an argument of that name."""
        return name in self._places

    def spelled(self, *names: str) -> str:
        """The first of ``names`` that is an argument's name in the traced function, else the last
        one: header versions name some arguments differently.
        """
        for name in names:
            if name in self._places:
                return name
        return names[-1]

    def starting(self, start: str) -> str:
        """The name of the function's first argument that begins with ``start``, else ``start``.

        For arguments whose name ends differently in versions of an interface.
        """
        names = self.call.function.arguments
        return next((name for name in names if name.startswith(start)), start)

    def placed(self, position: int) -> str:
        """The name of the argument at ``position``; 0 is the object.

        For arguments whose whole name differs in versions of an interface.  Raises Inexpressible
        if there is none.
        """
        names = self.call.function.arguments
        if position >= len(names):
            raise Inexpressible(f"no argument {position} of {len(names)}")
        return names[position]

    def has(self, name: str) -> bool:
        """Whether the function has this argument and the trace a value for it that is not NULL."""
        place = self._places.get(name)
        if place is None:
            return False
        value = self._given[place]
        return value is not None and value is not MISSING

    def value(self, name: str) -> Value:
        """The value of an argument as recorded."""
        try:
            value = self._given[self._places[name]]
        except KeyError:
            raise Inexpressible(f"no argument {name}") from None
        if value is MISSING:
            raise Inexpressible(f"{name} was not recorded")
        return value

    def integer(self, name: str) -> int:
        """An argument as an integer."""
        place = self._places.get(name)
        value = self.value(name) if place is None else self._given[place]
        if type(value) is int:
            return value
        return value.value if type(value) is Enum else integer(self.value(name))

    def dword(self, name: str) -> int:
        """An argument as a DWORD: a float by its bits, an integer by its low 32 bits."""
        place = self._places.get(name)
        value = self.value(name) if place is None else self._given[place]
        return value & _DWORD if type(value) is int else state_word(self.value(name))

    def real(self, name: str) -> float:
        """The value of argument ``name`` as a float."""
        return real(self.value(name))

    def reals(self, name: str) -> list[float]:
        """The floats in an argument that is an array or structure, nested or not, in order."""
        leaves = flattened(self.value(name))
        return [leaf if type(leaf) is float else real(leaf) for leaf in leaves]

    def integers(self, name: str) -> list[int]:
        """The integers in an argument that is an array or structure, nested or not, in order."""
        value = self.value(name)
        if type(value) is tuple and _INTEGERS.issuperset(map(type, value)):
            return list(value)  # type: ignore[arg-type]
        return [integer(leaf) for leaf in flattened(value)]

    def blob(self, name: str) -> bytes:
        """An argument as bytes; if the trace has it also in readable form, its machine form."""
        value = self.value(name)
        found = value.machine if isinstance(value, Repr) else value
        if isinstance(found, bytes):
            return found
        raise Inexpressible(f"{name} is {_kind(found)} instead of bytes")

    def struct(self, name: str) -> Struct:
        """An argument as a structure, or the structure that it points to."""
        return structure(self.value(name))

    def structs(self, name: str) -> list[Struct]:
        """An argument as the structures of an array."""
        return [structure(each) for each in array(self.value(name))]

    def address(self, name: str) -> int:
        """A pointer's address, 0 for NULL; of a pointer to a pointer, the inner one's."""
        place = self._places.get(name)
        value = self.value(name) if place is None else self._given[place]
        if type(value) is Pointer:
            return value.value
        value = self.value(name)
        return integer(pointee(value) if isinstance(value, tuple) else value)

    def thing(self, name: str, kind: type[T]) -> T:
        """The object that an argument points to."""
        place = self._places.get(name)
        value = self.value(name) if place is None else self._given[place]
        address = value.value if type(value) is Pointer else self.address(name)
        return self.objects.find(address, kind)

    def optional(self, name: str, kind: type[T]) -> T | None:
        """The object that an argument points to, None for NULL."""
        address = self.address(name)
        return self.objects.find(address, kind) if address else None

    def bind(self, name: str, thing: object) -> None:
        """Bind ``thing`` to the address that the call returned through an argument."""
        self.objects.bind(self.address(name), thing, self.number)


def plane(call: Arguments, name: str) -> list[float]:
    """The four floats of a clip plane argument."""
    found = call.reals(name)
    if len(found) != 4:
        raise Inexpressible(f"a plane of {len(found)} numbers")
    return found
