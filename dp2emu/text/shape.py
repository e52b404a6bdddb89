"""Conversion of structures of fixed layout to text and JSON, and from text.

The converters are compiled from dtypes.  A structure is unpacked at once into its flat scalars;
each output form is a format string, with functions that convert the scalars which need it.  Floats
are unpacked as their bits (``number_text``)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dp2emu.d3d.names import sdk_constant
from dp2emu.d3d.sdk import SdkEnum, sdk_value
from dp2emu.layout import dtype_of
from dp2emu.number_text import DECIMAL_BELOW, float_bits, float_text, integer, unsigned_text
from dp2emu.text.syntax import Fields, Quoted, Row, TextError, Value, Word

Converter = Callable[[int], str | int]
Enums = Mapping[str, type[SdkEnum]]

_LETTERS = {
    "<u1": "B", "|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q",
    "|i1": "b", "<i2": "h", "<i4": "i", "<i8": "q", "<f4": "f",
}  # fmt: skip


class Leaf(NamedTuple):
    """Layout of a scalar: ``struct`` letter, name of its field or array, enumeration or None."""

    letter: str
    name: str
    enum: type[SdkEnum] | None
    alone: bool
    """Whether the scalar is a member of a structure, not an element of an array; JSON then adds
    FIELD_raw for it."""


class Group(NamedTuple):
    """The layout of a structure: (name, layout) of each member in order."""

    members: tuple[tuple[str, Node], ...]


class Array(NamedTuple):
    """The layout of an array: the layout of each element in order."""

    elements: tuple[Node, ...]


Node = Leaf | Group | Array


class Template:
    """A formatter: called with the scalars of a structure, it returns text.

    It consists of a format string, and of a function for each scalar that converts it, or None.
    """

    __slots__ = ("_converters", "_format")

    def __init__(self, text: str, converters: Sequence[Converter | None]) -> None:
        self._format = text
        self._converters = [(i, c) for i, c in enumerate(converters) if c is not None]

    def __call__(self, values: tuple[int, ...]) -> str:
        """The text of a record whose scalars are ``values``."""
        if not self._converters:
            return self._format % values
        shown: list[int | str] = list(values)
        for index, convert in self._converters:
            shown[index] = convert(values[index])
        return self._format % tuple(shown)


class Shape:
    """A converter of a fixed-size structure to text, JSON and bytes.  ``size`` is in bytes."""

    def __init__(self, declaration: Any, enums: Enums | None = None) -> None:
        """``enums`` are enumerations by field name.  Raises TypeError if the size is not fixed."""
        dtype = dtype_of(declaration)
        if dtype is None:
            raise TypeError(f"{declaration!r} has no fixed size")
        self.node = _node(dtype, enums or {}, "", alone=False)
        self.leaves = tuple(_leaves(self.node))
        letters = "".join(leaf.letter for leaf in self.leaves)
        layout = struct.Struct("<" + letters.replace("f", "I"))
        self.dtype, self.size = dtype, layout.size
        self.unpack: Callable[[Any, int], tuple[int, ...]] = layout.unpack_from
        self.unpack_all: Callable[[Any], Iterator[tuple[int, ...]]] = layout.iter_unpack
        self._pack = layout.pack
        self._fields = _scalar_fields(self.node)
        self.sizes = tuple(struct.calcsize("<" + letter) for letter in letters)
        text = _format(self.node, " ", "{}={}")
        converters = [_text_converter(leaf) for leaf in self.leaves]
        self.value_text = Template(text, converters)
        """Formatter of a structure's scalars as one value in text, ``{name=value ...}`` or a
        number."""
        self.text = Template(text[1:-1] if isinstance(self.node, Group) else text, converters)
        """Formatter of a structure's scalars as ``name=value ...``, for statements and items."""
        json = _format(self.node, ",", '"{}":{}')
        self.json = Template(json, [_json_converter(leaf) for leaf in self.leaves])
        """Formatter of a structure's scalars as JSON text."""

    def list_text(self, records: Sequence[tuple[int, ...]]) -> str:
        """Text of a list of structures; unsigned integers are all decimal or all hexadecimal."""
        unsigned = isinstance(self.node, Leaf) and self.node.letter in "BHIQ"
        if unsigned and any(value >= DECIMAL_BELOW for (value,) in records):
            return " ".join(f"{value:#010x}" for (value,) in records)
        return " ".join(map(self.value_text, records))

    def build(self, value: Value) -> bytes:
        """The bytes of a value, omitted fields as zero.  Raises TextError for an invalid one."""
        if self._fields is not None and type(value) is Fields:
            given = value.values
            scalars = [
                _cached_scalar(leaf, given[name]) if name in given else 0
                for name, leaf in self._fields.items()
            ]
            if given.keys() <= self._fields.keys():
                return self._pack(*scalars)
        return self._pack(*_flat(self.node, value))


# From a dtype


def _scalar_fields(node: Node) -> dict[str, Leaf] | None:
    """The scalars of a structure by name; None of a layout with other members."""
    if not isinstance(node, Group):
        return None
    fields = {name: each for name, each in node.members if isinstance(each, Leaf)}
    return fields if len(fields) == len(node.members) else None


def _node(dtype: np.dtype[Any], enums: Enums, name: str, *, alone: bool) -> Node:
    if dtype.subdtype is not None:
        element, (count,) = dtype.subdtype
        return Array((_node(element, enums, name, alone=False),) * count)
    if dtype.names is not None:
        names = dtype.names
        return Group(tuple((each, _node(dtype[each], enums, each, alone=True)) for each in names))
    return Leaf(_LETTERS[dtype.str], name, enums.get(name) if alone else None, alone)


def _leaves(node: Node) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
        return
    for child in _children(node):
        yield from _leaves(child)


def _children(node: Group | Array) -> Sequence[Node]:
    return [child for _, child in node.members] if isinstance(node, Group) else node.elements


def _format(node: Node, separator: str, member: str) -> str:
    """A ``%`` format string for the text of layout ``node``, with ``%s`` for each scalar.

    ``separator`` goes between members; ``member`` is a ``str.format`` template of a member's name
    and its format string.
    """
    if isinstance(node, Leaf):
        return "%s"
    if isinstance(node, Group):
        pairs = ((name, _format(child, separator, member)) for name, child in node.members)
        return "{" + separator.join(member.format(*pair) for pair in pairs) + "}"
    return "[" + separator.join(_format(each, separator, member) for each in node.elements) + "]"


# Scalars to text and JSON


def _text_converter(leaf: Leaf) -> Converter | None:
    if leaf.letter.islower():
        return float_text if leaf.letter == "f" else None
    if leaf.enum is None:
        return unsigned_text
    names = {int(member): member.sdk for member in leaf.enum}
    return lambda value: names.get(value) or unsigned_text(value)


def _json_converter(leaf: Leaf) -> Converter | None:
    if leaf.letter == "f":
        return _float_json(leaf)
    return None if leaf.enum is None or leaf.letter.islower() else _named_json(leaf, leaf.enum)


def _named_json(leaf: Leaf, enum: type[SdkEnum]) -> Converter:
    """Return a function from a number to JSON: its name or null, then itself as ``FIELD_raw``."""
    unnamed = f'null,"{leaf.name}_raw":'
    names = {int(member): f'"{member.sdk}","{leaf.name}_raw":{int(member)}' for member in enum}
    return lambda value: names.get(value) or f"{unnamed}{value}"


def _float_json(leaf: Leaf) -> Converter:
    """Return a function from a float's bits to JSON: a number, or text and bits if not finite."""
    raw = f',"{leaf.name}_raw":%d' if leaf.alone else ""

    def number(bits: int) -> str:
        if bits & 0x7F800000 != 0x7F800000:
            return float_text(bits)
        return f'"{float_text(bits)}"' + (raw % bits if raw else "")

    return number


# Text to scalars

_SHORT = 40
"""Largest length in characters of a word whose scalar is cached."""

_RANGES = {
    letter: range(-(1 << bits - 1), 1 << bits - 1) if letter.islower() else range(1 << bits)
    for letter in "BHIQbhiq"
    for bits in (8 * struct.calcsize("<" + letter),)
}
"""``range`` of the integers that a scalar can hold, by its ``struct`` letter."""


def _flat(node: Node, value: Value | None) -> Iterator[int]:
    """Yield the scalars of a parsed value in the order of layout ``node``, 0 for omitted ones."""
    if isinstance(node, Leaf):
        yield 0 if value is None else scalar(node, value)
    elif isinstance(node, Group):
        yield from _flat_members(node, value)
    else:
        yield from _flat_elements(node, value)


def _flat_members(node: Group, value: Value | None) -> Iterator[int]:
    if value is not None and not isinstance(value, Fields):
        raise TextError(value.line, "a record is written {name=value ...}")
    given = dict(value.values) if value is not None else {}
    for name, member in node.members:
        each = given.pop(name, None)
        if isinstance(member, Leaf):
            yield 0 if each is None else scalar(member, each)
        else:
            yield from _flat(member, each)
    if given and value is not None:
        known = " ".join(name for name, _ in node.members) or "none"
        raise TextError(value.line, f"no field {next(iter(given))}; the fields are {known}")


def _flat_elements(node: Array, value: Value | None) -> Iterator[int]:
    if value is None:
        values: Sequence[Value | None] = [None] * len(node.elements)
    elif isinstance(value, Row) and len(value.values) == len(node.elements):
        values = value.values
    else:
        raise TextError(value.line, f"{len(node.elements)} values in brackets belong here")
    for element, each in zip(node.elements, values, strict=True):
        yield from _flat(element, each)


def scalar(leaf: Leaf, value: Value) -> int:
    """Parse a word as a scalar of layout ``leaf``, a float as its bits.  Raises TextError."""
    if not isinstance(value, Word):
        what = f'"{value.text}"' if isinstance(value, Quoted) else "a list"
        raise TextError(value.line, f"{what} where a number or name belongs")
    if leaf.letter == "f":
        return _float_scalar(value)
    text = value.text
    number = int(text) if text.isdecimal() and text.isascii() and len(text) < 5 else integer(text)
    if number is None:
        number = _constant(leaf.enum, value)
    if number not in _RANGES[leaf.letter]:
        bits = 8 * struct.calcsize("<" + leaf.letter)
        raise TextError(value.line, f"{value.text} does not fit {bits} bits")
    return number


def _cached_scalar(leaf: Leaf, value: Value) -> int:
    """As ``scalar``, for short words from a cache."""
    if type(value) is Word and len(value.text) <= _SHORT:
        number = _known_scalar(leaf.letter, leaf.enum, value.text)
        if number is not None:
            return number
    return scalar(leaf, value)


@lru_cache(1 << 12)
def _known_scalar(letter: str, enum: type[SdkEnum] | None, text: str) -> int | None:
    """The scalar of a word; None for an invalid one."""
    try:
        return scalar(Leaf(letter, "", enum, alone=False), Word(text, 0))
    except TextError:
        return None


def _float_scalar(value: Word) -> int:
    try:
        bits = float_bits(value.text)
        whole = integer(value.text) if bits is None else None
        bits = float_bits(f"{whole}.0") if whole is not None else bits
    except OverflowError:
        raise TextError(value.line, f"{value.text} is beyond a 32-bit float") from None
    if bits is None:
        raise TextError(value.line, f"{value.text} is no number")
    return bits


def _constant(enum: type[SdkEnum] | None, value: Word) -> int:
    """The value of an SDK name, or of several joined by ``|``, in ``enum``.  Raises TextError."""
    total = 0
    for name in value.text.split("|"):
        number = sdk_value(enum, name) if enum is not None else None
        number = sdk_constant(name) if number is None else number
        if number is None:
            raise TextError(value.line, f"{value.text} is neither a number nor an SDK name")
        total |= number
    return total
