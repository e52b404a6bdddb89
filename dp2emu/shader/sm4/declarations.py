"""Layout of declarations: attributes in the opcode token and in words (SM4-5 tokens,
"Declarations").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.shader.cursor import Bits
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import enums
from dp2emu.shader.sm4.fields import CUSTOM_CLASS, RETURNS
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Declaration, Returns

FIELD = re.compile(r"\{(\w+)\}")
"""Pattern of a field ``{name}`` in the assembly phrase of a declaration; group 1 is an attribute
of Declaration, or ``operand``."""


class Part(NamedTuple):
    """How an attribute of Declaration is encoded: in the opcode token, or in later words."""

    name: str
    bits: Bits | None = None
    words: int = 1
    """Number of DWORDs after the operand that hold the attribute, if ``bits`` is None."""
    read: Callable[..., Any] = int
    """Function from the encoded number, or from as many numbers as there are words, to the
    attribute; raises ValueError for undefined numbers."""
    write: Callable[[Any], int | tuple[int, ...]] = int


def returns_of(word: int) -> Returns:
    """Unpack the types of a resource's four components.  Raises ValueError."""
    x, y, z, w = (enums.ReturnType(bits.of(word)) for bits in RETURNS)
    return x, y, z, w


def returns_word(returns: Returns) -> int:
    """Pack the types of a resource's four components into a word."""
    return sum(bits.put(type) for bits, type in zip(RETURNS, returns, strict=True))


def _triple(x: int, y: int, z: int) -> tuple[int, int, int]:
    return x, y, z


def _bits(name: str, width: int, read: Callable[[int], Any] = int) -> Part:
    """Return the Part of an attribute in the control bits, which begin at bit 11 of a token."""
    return Part(name, Bits(11, width), read=read)


PARTS = {
    "rows": Part("custom", CUSTOM_CLASS),
    "dimension": _bits("dimension", 5, Dimension),
    "samples": Part("samples", Bits(16, 7)),
    "uav": Part("uav", Bits(16, 8), read=enums.UavFlags),
    "returns": Part("returns", read=returns_of, write=returns_word),
    "access": _bits("access", 1, enums.Access),
    "mode": _bits("mode", 4, enums.SamplerMode),
    "topology": _bits("topology", 7, enums.Topology),
    "primitive": _bits("primitive", 6, enums.Primitive),
    "interpolation": _bits("interpolation", 4, enums.Interpolation),
    "constant": _bits("interpolation", 4, enums.Interpolation),
    "name": Part("name", read=enums.SystemValue),
    "flags": _bits("flags", 9, enums.GlobalFlags),
    "domain": _bits("domain", 2, Domain),
    "partitioning": _bits("partitioning", 3, Partitioning),
    "output": _bits("output", 3, OutputPrimitive),
    "factor": Part("factor"),
    "points": _bits("count", 6),
    "number": Part("number"),
    "count": Part("count"),
    "components": Part("components"),
    "stride": Part("stride"),
    "threads": Part("threads", words=3, read=_triple, write=tuple),
}
"""How each attribute of Declaration is encoded, by its name in ``Opcode.phrase``."""


@cache
def parts_of(op: Op) -> tuple[Part, ...]:
    """How the attributes of a declaration are encoded, in the order of the words in its tokens."""
    return tuple(PARTS[name] for name in FIELD.findall(op.row.phrase) if name in PARTS)


def words_after(op: Op) -> int:
    """Number of words after the operand of a declaration, not counting its ``data``."""
    return sum(part.words for part in parts_of(op) if part.bits is None)


def declaration_of(op: Op, token: int, words: Sequence[int]) -> Declaration:
    """Decode a declaration.  Raises ValueError for undefined enumeration values."""
    found: dict[str, Any] = {}
    at = 0
    for part in parts_of(op):
        if part.bits is not None:
            found[part.name] = part.read(part.bits.of(token))
        else:
            found[part.name] = part.read(*words[at : at + part.words])
            at += part.words
    return Declaration(**found)


def fits(op: Op, declaration: Declaration) -> bool:
    """Whether the attributes that are encoded in the opcode token fit into their bit fields."""
    parts = ((getattr(declaration, part.name), part.bits) for part in parts_of(op))
    return all(bits is None or bits.of(bits.put(value)) == value for value, bits in parts)


def control_bits(op: Op, declaration: Declaration) -> int:
    """The attributes that are stored in the opcode token, as bits of that token."""
    parts = (part for part in parts_of(op) if part.bits is not None)
    return sum(part.bits.put(int(getattr(declaration, part.name))) for part in parts if part.bits)


def declaration_words(op: Op, declaration: Declaration) -> Iterator[int]:
    """The DWORDs after the operand of a declaration, which encode some of its attributes."""
    for part in parts_of(op):
        if part.bits is None:
            value = part.write(getattr(declaration, part.name))
            yield from value if isinstance(value, tuple) else (value,)
