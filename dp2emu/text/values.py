"""Values of the Direct3D 10/11 interface as text.

In text a value is ``null``, a number (floats have a point, an exponent or ``inf``), the name of a
number of an enumeration, a quoted string, ``{hex="00 ff"}``, ``{resource=3}`` for the object in
block 3 of memory, ``[value ...]`` for a list, or ``{CreateQuery={Query=D3D10DDI_QUERY_EVENT}}``
for a structure.  Members that have no names are a list: ``{CreateQuery=[0 0]}``.  A block of
memory without an object is ``{memory=3 size=40}``.  Long bytes are ``{blob=0}``, a reference to a
separate part ``blob0:``.  A NaN is ``{bits=0x7ff8000000000000}``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dp2emu.capture.values import NAME, NESTING, Memory, Structure
from dp2emu.capture.values import Value as Known
from dp2emu.d3d.sdk import named_number, number_name
from dp2emu.number_text import grouped_hex
from dp2emu.text.handles import MEMORY, Handles
from dp2emu.text.memory import LINE_BYTES, bytes_of, hex_lines
from dp2emu.text.shape import Leaf, scalar
from dp2emu.text.syntax import Fields, Parts, Quoted, Row, TextError, Value, Word, quote

if TYPE_CHECKING:
    from dp2emu.ddi10.declarations import Declared

NOTHING = "null"
BLOB = "blob"
_WIDTH = 95
"""Number of characters of a line below which a value is written as one, its indentation aside."""
_FIRSTS = tuple(".0" * depth for depth in range(NESTING + 1))
"""Paths from a list to the first element of a list in it that is written as a value."""
_WHOLE = Leaf("Q", "", None, alone=False)
_NEGATIVE = Leaf("q", "", None, alone=False)
_F64, _U64 = struct.Struct("<d"), struct.Struct("<Q")


def members_of(structure: str) -> Mapping[str, Declared]:
    """The declared members of a structure by name, in order; empty for an unknown structure."""
    # Captures of older interfaces should not import the Direct3D 10/11 driver.
    from dp2emu.ddi10.declarations import members

    return members(structure)


def named_members(value: Structure) -> Mapping[str, Declared]:
    """The declared members of a structure, empty unless each of its values is one of them."""
    declared = members_of(value.name)
    return declared if len(value.members) <= len(declared) else {}


def enumerated_name(value: Known, hint: Any) -> str | None:
    """The SDK name of a number of the declared type ``hint``, None if it has none."""
    if hint is Any or type(value) is not int:
        return None
    from dp2emu.ddi10.declarations import kinds_of

    names = (number_name(kind, value) for kind in kinds_of(hint))
    return next(filter(None, names), None)


def element_type(hint: Any) -> Any:
    """The declared type of the elements of a list; Any if it is unknown."""
    if hint is Any:
        return Any
    from dp2emu.ddi10.declarations import element_of

    return element_of(hint)


class ValueText:
    """A formatter of values.  Mutable: it collects bytes that are too long for a line.

    ``handles`` are the objects that exist before the call, ``made`` is the kind that it creates.
    """

    def __init__(self, handles: Handles | None = None, made: str | None = None) -> None:
        self._handles = handles or Handles()
        self._made = made or MEMORY
        self._blobs: list[bytes] = []

    def show(self, value: Known, hint: Any = Any) -> str:
        """Format a value of the declared type ``hint`` as text: a word, string or bracket."""
        return enumerated_name(value, hint) or _SHOWN[type(value)](self, value, hint)

    def lines(self, part: str, value: Known, hint: Any = Any) -> Iterator[str]:
        """The lines of a value as ``part: value``, or if that is too long, of its members or
        elements: ``part.MEMBER: value`` or ``part.NUMBER: value``.
        """
        blobs = len(self._blobs)
        line = f"{part}: {self.show(value, hint)}"
        pieces = self._pieces(value, hint) if len(line) > _WIDTH else []
        if not pieces:
            yield line
            return
        del self._blobs[blobs:]
        if isinstance(value, Structure):
            yield f"{part}: {value.name}"
        for name, each, kind in pieces:
            yield from self.lines(f"{part}.{name}", each, kind)

    def _pieces(self, value: Known, hint: Any) -> list[tuple[str, Known, Any]]:
        """(name, value, declared type) of the members of a structure that have names, or of the
        elements of a list of structures; empty for a value that is not split.
        """
        if isinstance(value, Structure):
            pairs = zip(named_members(value).items(), value.members, strict=False)
            return [(name, each, declared.type) for (name, declared), each in pairs]
        if isinstance(value, tuple) and any(isinstance(each, Structure) for each in value):
            element = element_type(hint)
            return [(str(number), each, element) for number, each in enumerate(value)]
        return []

    def list_lines(self, part: str, values: tuple[Known, ...]) -> Iterator[str]:
        """The line of a list as ``part: value value ...``, or if that is too long, the lines of
        each value as ``part.NUMBER``.
        """
        blobs = len(self._blobs)
        line = f"{part}: {' '.join(map(self.show, values))}"
        if len(line) <= _WIDTH:
            yield line
            return
        del self._blobs[blobs:]
        for number, each in enumerate(values):
            yield from self.lines(f"{part}.{number}", each)

    def blobs(self) -> Iterator[str]:
        """Lines ``blobN: ...`` with the bytes that were too long for a value's line."""
        for number, data in enumerate(self._blobs):
            yield from hex_lines(f"{BLOB}{number}", data)

    def _bytes(self, value: bytes, hint: Any) -> str:
        if len(value) <= LINE_BYTES:
            return f'{{hex="{grouped_hex(value)}"}}'
        self._blobs.append(value)
        return f"{{{BLOB}={len(self._blobs) - 1}}}"

    def _memory(self, value: Memory, hint: Any) -> str:
        kind = self._handles.kind(value.number) or self._made
        same = self._handles.size(value.number) == value.size
        return f"{{{kind}={value.number}{'' if same else f' size={value.size}'}}}"

    def _list(self, value: tuple[Known, ...], hint: Any) -> str:
        element = element_type(hint)
        return f"[{' '.join(self.show(each, element) for each in value)}]"

    def _structure(self, value: Structure, hint: Any) -> str:
        named = named_members(value)
        if not named:
            return f"{{{value.name}={self._list(value.members, Any)}}}"
        pairs = zip(named.items(), value.members, strict=False)
        shown = (f"{name}={self.show(each, declared.type)}" for (name, declared), each in pairs)
        return f"{{{value.name}={{{' '.join(shown)}}}}}"


def _float(value: float) -> str:
    if math.isnan(value):
        return f"{{bits={_U64.unpack(_F64.pack(value))[0]:#x}}}"
    return repr(value)


_SHOWN: dict[type[Any], Callable[[ValueText, Any, Any], str]] = {
    type(None): lambda text, value, hint: NOTHING,
    int: lambda text, value, hint: str(value),
    float: lambda text, value, hint: _float(value),
    str: lambda text, value, hint: quote(value),
    bytes: ValueText._bytes,
    Memory: ValueText._memory,
    tuple: ValueText._list,
    Structure: ValueText._structure,
}


# Reading


class ValueReader:
    """A parser of values.  Mutable: it removes from ``parts`` what it reads.

    ``parts`` are the parts of a statement, long bytes among them; ``handles`` are the objects
    that exist before the call.  Methods raise TextError.
    """

    def __init__(self, parts: Parts, handles: Handles) -> None:
        self._parts = parts
        self._handles = handles

    def has(self, part: str) -> bool:
        """Whether the statement has a value ``part``, or elements of a list of this name."""
        return any(part + nested in self._parts for nested in _FIRSTS)

    def part(self, part: str, line: int, hint: Any = Any) -> Known:
        """The value that a part, or the parts of its members or elements, give."""
        if part not in self._parts:
            return self.elements(part, line, element_type(hint))
        values = self._parts.pop(part)
        if len(values) != 1:
            raise TextError(values[0].line if values else line, f"{part} has one value")
        (value,) = values
        if not (isinstance(value, Word) and NAME.fullmatch(value.text)):
            return self.value(value, hint)
        declared = members_of(value.text)
        if not declared:
            return self.value(value, hint)
        read = {
            name: self.part(f"{part}.{name}", value.line, each.type)
            for name, each in declared.items()
            if self.has(f"{part}.{name}")
        }
        return Structure(value.text, in_order(declared, read, value.text, value.line))

    def elements(self, part: str, line: int, hint: Any = Any) -> tuple[Known, ...]:
        """The values of the parts ``part.0``, ``part.1`` and so on, up to the first that lacks."""
        found: list[Known] = []
        while self.has(f"{part}.{len(found)}"):
            found.append(self.part(f"{part}.{len(found)}", line, hint))
        return tuple(found)

    def values(self, part: str, hint: Any = Any) -> tuple[Known, ...]:
        """The values of a part of the statement; none if it is missing."""
        return tuple(self.value(each, hint) for each in self._parts.pop(part, []))

    def value(self, value: Value, hint: Any = Any) -> Known:
        """A parsed value, whose number may be a name of the declared type ``hint``."""
        if isinstance(value, Quoted):
            return value.text
        if isinstance(value, Row):
            element = element_type(hint)
            return tuple(self.value(each, element) for each in value.values)
        return _number(value, hint) if isinstance(value, Word) else self._bracket(value)

    def _bracket(self, fields: Fields) -> Known:
        given = fields.values
        name = next(iter(given), "")
        if len(given) == 1 and name in _BRACKETS:
            return _BRACKETS[name](fields, self._parts)
        if NAME.fullmatch(name) and len(given) == 1:
            return self._structure(name, given[name])
        if not name or given.keys() - {name, "size"} or not name.islower():
            raise TextError(fields.line, f"{name[:40]!a} begins no value")
        return self._memory(name, fields)

    def _structure(self, name: str, members: Value) -> Known:
        if isinstance(members, Row):
            return Structure(name, tuple(self.value(each) for each in members.values))
        if not isinstance(members, Fields):
            raise TextError(members.line, f"{name[:40]!a} begins no value")
        declared = members_of(name)
        if not declared:
            raise TextError(members.line, f"no structure {name} is known; its members are a list")
        read = {
            each: self.value(value, declared[each].type if each in declared else Any)
            for each, value in members.values.items()
        }
        return Structure(name, in_order(declared, read, name, members.line))

    def _memory(self, kind: str, fields: Fields) -> Known:
        number = scalar(_WHOLE, fields.values[kind])
        if "size" in fields.values:
            return Memory(number, scalar(_WHOLE, fields.values["size"]))
        size = self._handles.size(number)
        if size is None or self._handles.kind(number) != kind:
            raise TextError(fields.line, f"{kind[:40]} {number} does not exist, or needs a size")
        return Memory(number, size)


def in_order(
    declared: Mapping[str, Declared], given: Mapping[str, Known], what: str, line: int
) -> tuple[Known, ...]:
    """The values of members or parameters in their declared order, up to the last one given.

    A missing one before it has its default.  Raises TextError for an unknown name, and for a
    missing member without a default.
    """
    for name in given:
        if name not in declared:
            raise TextError(line, f"{what} has no {name[:40]}; it has {' '.join(declared)}")
    names = list(declared)
    last = max((names.index(name) + 1 for name in given), default=0)
    return tuple(
        given[name] if name in given else _default(declared[name], f"{what} needs {name}", line)
        for name in names[:last]
    )


def _default(declared: Declared, what: str, line: int) -> Known:
    from dp2emu.capture.entry_values import unnumbered, value_of
    from dp2emu.ddi10.declarations import REQUIRED

    if declared.default is REQUIRED:
        raise TextError(line, what)
    return value_of(declared.default, unnumbered)


def _number(word: Word, hint: Any) -> Known:
    text = word.text
    if text == NOTHING:
        return None
    if text.lstrip("-+").isdecimal() or text.lower().startswith("0x"):
        return scalar(_NEGATIVE if text.startswith("-") else _WHOLE, word)
    named = _enumerated(text, hint)
    if named is not None:
        return named
    try:
        return float(text)
    except ValueError:
        raise TextError(word.line, f"{text[:40]!a} is no value") from None


def _enumerated(text: str, hint: Any) -> int | None:
    """The number of an SDK name of the declared type ``hint``, None for another word."""
    if hint is Any:
        return None
    from dp2emu.ddi10.declarations import kinds_of

    found = (named_number(kind, text) for kind in kinds_of(hint))
    return next((number for number in found if number is not None), None)


def _blob(fields: Fields, parts: Parts) -> Known:
    part = f"{BLOB}{scalar(_WHOLE, fields.values[BLOB])}"
    if part not in parts:
        raise TextError(fields.line, f"no part {part}, or it is named twice")
    return bytes_of(parts.pop(part))


def _bits(fields: Fields, parts: Parts) -> Known:
    value: float = _F64.unpack(_U64.pack(scalar(_WHOLE, fields.values["bits"])))[0]
    return value


_BRACKETS: dict[str, Callable[[Fields, Parts], Known]] = {
    "hex": lambda fields, parts: bytes_of(fields.values.values()),
    BLOB: _blob,
    "bits": _bits,
}
"""Functions that parse a value in braces, by the name of its only field; braces with another
field are a structure or a block of memory."""
