"""Values and signatures out of the bytes of a trace."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

import msgspec

from dp2emu.capture.apitrace.cursor import Cursor
from dp2emu.capture.apitrace.limits import (
    MOST_ARGUMENTS,
    MOST_FLAGS,
    MOST_NAME,
    NAME_COST,
    VALUE_COST,
    Budget,
)
from dp2emu.capture.apitrace.values import (
    Bitmask,
    BitmaskSignature,
    Double,
    Enum,
    EnumSignature,
    FunctionSignature,
    Pointer,
    Repr,
    StackFrame,
    Struct,
    StructSignature,
    Value,
    WideString,
)
from dp2emu.capture.files import Source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits

ENUM_TABLES = 3
"""First trace version whose enumerations are recorded whole, not a name at a time."""

_NEGATIVE, _NATURAL = 3, 4

T = TypeVar("T")


class Decoder:
    """Reads values; signatures are interned, each kind by ids of its own.

    Mutable: it moves the cursor, collects signatures, and spends ``held`` on values, which the
    owner of the values gives back: more of them where ``source`` is larger.
    """

    def __init__(self, cursor: Cursor, limits: Limits, source: Source) -> None:
        self.version = 0
        self.held = Budget("calls that are not over", limits, "trace_bytes", source)
        self._cursor = cursor
        self._depth = limits.nesting
        self._kept = Budget("signatures", limits, "signature_bytes")
        self._functions: dict[int, FunctionSignature] = {}
        self._structs: dict[int, StructSignature] = {}
        self._enums: dict[int, EnumSignature] = {}
        self._bitmasks: dict[int, BitmaskSignature] = {}
        self._frames: dict[int, StackFrame] = {}

    def name(self, most: int | None = None) -> str:
        """A string that is kept for good, made printable.  Raises CaptureError if it is longer
        than ``most`` bytes.
        """
        size = self._cursor.uint()
        if most is not None and size > most:
            raise CaptureError(f"a name of {size} bytes, more than {most}")
        self._kept.spend(NAME_COST + size)
        text = self._cursor.take(size).decode("utf-8", "backslashreplace")
        return text if text.isprintable() else text.encode("unicode_escape").decode()

    def function(self) -> FunctionSignature:
        """A function's signature, of which all but the first are ids."""
        return self._interned(self._functions, self._function)

    def frame(self) -> StackFrame:
        """A line of a backtrace."""
        self.held.spend(VALUE_COST)
        return self._interned(self._frames, self._frame)

    def value(self, depth: int = 0) -> Value:
        """A value and all within it.  Raises CaptureError for a type there is none of."""
        if depth > self._depth:
            raise CaptureError(f"values are nested too deep, limit nesting {self._depth}")
        self.held.spend(VALUE_COST)
        kind = self._cursor.byte()
        if kind not in _READ:
            raise CaptureError(f"there is no type {kind} of value")
        return _READ[kind](self, depth + 1)

    def signed(self) -> int:
        """A number that says whether it is negative."""
        kind = self._cursor.byte()
        if kind not in (_NEGATIVE, _NATURAL):
            raise CaptureError(f"a value of type {kind} where a number belongs")
        number = self._cursor.uint()
        return -number if kind == _NEGATIVE else number

    def _interned(self, known: dict[int, T], read: Callable[[], T]) -> T:
        number = self._cursor.uint()
        if number not in known:
            self._kept.spend(NAME_COST)
            known[number] = read()
        return known[number]

    def _several(self, read: Callable[[], T]) -> tuple[T, ...]:
        """A count and so many; each costs something, so the count is never believed."""
        return tuple([read() for _ in range(self._cursor.uint())])

    def _few(self, read: Callable[[], T], most: int, what: str) -> tuple[T, ...]:
        """The same of what every use of a signature takes time for."""
        count = self._cursor.uint()
        if count > most:
            raise CaptureError(f"{count} {what}, more than {most}")
        return tuple([read() for _ in range(count)])

    def _label(self) -> str:
        """A name that is shown wherever its signature is used."""
        return self.name(MOST_NAME)

    def _function(self) -> FunctionSignature:
        name = self._label()
        return FunctionSignature(name, self._few(self._label, MOST_ARGUMENTS, "arguments"))

    def _struct(self) -> StructSignature:
        return StructSignature(self._label(), self._several(self._label))

    def _enum(self) -> EnumSignature:
        if self.version < ENUM_TABLES:
            return EnumSignature(((self._label(), self.signed()),))
        return EnumSignature(self._several(lambda: (self._label(), self.signed())))

    def _bitmask(self) -> BitmaskSignature:
        flags = self._few(lambda: (self._label(), self._cursor.uint()), MOST_FLAGS, "flags")
        return BitmaskSignature(flags)

    def _frame(self) -> StackFrame:
        found: dict[str, str | int] = {}
        while kind := self._cursor.byte():
            if kind not in _FRAME:
                raise CaptureError(f"there is no detail {kind} of a stack frame")
            field = _FRAME[kind]
            found[field] = self._cursor.uint() if field in ("line", "offset") else self.name()
        return StackFrame(**found)  # type: ignore[arg-type]

    def _blob(self, depth: int) -> bytes:
        size = self._cursor.uint()
        self.held.spend(size)
        return self._cursor.take(size)

    def _string(self, depth: int) -> str:
        return self._blob(depth).decode("utf-8", "surrogateescape")

    def _wide_string(self, depth: int) -> WideString:
        units = self._several(self._unit)
        data = struct.pack(f"<{len(units)}H", *units)
        return WideString(data.decode("utf-16-le", "surrogatepass"))

    def _unit(self) -> int:
        self.held.spend(VALUE_COST)
        unit = self._cursor.uint()
        if unit > 0xFFFF:
            raise CaptureError(f"{unit:#x} is no unit of a wide string")
        return unit

    def _enumerated(self, depth: int) -> Enum:
        signature = self._interned(self._enums, self._enum)
        if self.version < ENUM_TABLES:
            return Enum(signature, signature.names[0][1])
        return Enum(signature, self.signed())

    def _flags(self, depth: int) -> Bitmask:
        return Bitmask(self._interned(self._bitmasks, self._bitmask), self._cursor.uint())

    def _array(self, depth: int) -> tuple[Value, ...]:
        return self._several(lambda: self.value(depth))

    def _structure(self, depth: int) -> Struct:
        signature = self._interned(self._structs, self._struct)
        return Struct(signature, tuple([self.value(depth) for _ in signature.members]))

    def _number(self, form: _Number) -> Value:
        (number,) = form.layout.unpack(self._cursor.take(form.layout.size))
        return form.kind(number)

    def _twice(self, depth: int) -> Repr:
        return Repr(self.value(depth), self.value(depth))


class _Number(msgspec.Struct, frozen=True):
    """A floating-point number: its bytes and its type here."""

    layout: struct.Struct
    kind: type[float]


_FLOAT = _Number(struct.Struct("<f"), float)
_DOUBLE = _Number(struct.Struct("<d"), Double)

_READ: dict[int, Callable[[Decoder, int], Value]] = {
    0: lambda decoder, depth: None,
    1: lambda decoder, depth: False,
    2: lambda decoder, depth: True,
    _NEGATIVE: lambda decoder, depth: -decoder._cursor.uint(),
    _NATURAL: lambda decoder, depth: decoder._cursor.uint(),
    5: lambda decoder, depth: decoder._number(_FLOAT),
    6: lambda decoder, depth: decoder._number(_DOUBLE),
    7: Decoder._string,
    8: Decoder._blob,
    9: Decoder._enumerated,
    10: Decoder._flags,
    11: Decoder._array,
    12: Decoder._structure,
    13: lambda decoder, depth: Pointer(decoder._cursor.uint()),
    14: Decoder._twice,
    15: Decoder._wide_string,
}
"""How to read each type of value, by its type byte."""

_FRAME = {1: "module", 2: "function", 3: "file", 4: "line", 5: "offset"}
"""Details of a stack frame."""
