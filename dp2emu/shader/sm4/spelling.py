"""Spelling of mnemonics, registers and declarations, shared by assembler and disassembler.

Text is spelled as by Microsoft's disassembler, except that numbers are written exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from dp2emu.d3d.sdk import Named
from dp2emu.errors import ShaderError
from dp2emu.number_text import float_bits, float_text, integer, unsigned_text
from dp2emu.shader.assembly import shown
from dp2emu.shader.sm4 import enums
from dp2emu.shader.sm4.declarations import PARTS
from dp2emu.shader.sm4.opcodes import SCALAR_OUTPUTS, SIZE_TYPES, Op
from dp2emu.shader.sm4.program import Returns
from dp2emu.shader.sm4.registers import File

COMPONENTS = "xyzw"
TEXEL, VIEW, SATURATE = "_aoffimmi", "_indexable", "_sat"
"""Mnemonic suffixes: has texel offsets, has a copied resource declaration, saturates."""
BRACKETED = frozenset({File.IMMEDIATE_CONSTANT_BUFFER})
"""Register files whose only index is in brackets even if it is a constant, as in icb[3]."""
ATTACHED = frozenset({File.CONSTANT_BUFFER, File.INDEXABLE_TEMP, File.INTERFACE})
"""Register files whose first index of two is part of the name, as in cb2[3]."""
SCALARS = SCALAR_OUTPUTS | {
    File.PRIMITIVE_ID,
    File.OUTPUT_CONTROL_POINT_ID,
    File.COVERAGE,
    File.INNER_COVERAGE,
}
"""Register files of scalar registers, whose only component assembly text does not name."""
DECLARED_WITHOUT = frozenset({File.PRIMITIVE_ID, File.OUTPUT_CONTROL_POINT_ID, File.COVERAGE_MASK})
"""Register files of scalar registers that compilers declare without components."""
PRECISIONS = {each.text: each for each in enums.Precision if each is not enums.Precision.DEFAULT}
_Kind = TypeVar("_Kind", bound=Named)
_WORD = 0xFFFFFFFF
_SMALL = 0x10000
_FLOATS = range(0x35800000, 0x4F000000)
"""Bit patterns of floats from 2^-20 to 2^31; untyped words in this range print as floats."""


class Mnemonic(NamedTuple):
    """An opcode together with its control bits, which share one mnemonic."""

    op: Op
    nonzero: bool = False
    sizes: enums.Sizes = enums.Sizes.FLOAT
    sync: enums.Sync = enums.Sync(0)


@cache
def mnemonics() -> Mapping[str, Mnemonic]:
    """Every mnemonic of instructions in lower case: ``mad``, ``if_nz``, ``resinfo_uint``."""
    ops = (op for op in Op if op.row.declares is None)
    return MappingProxyType({name: each for op in ops for name, each in _of(op)})


@cache
def spellings() -> Mapping[Mnemonic, str]:
    """The mnemonic text of each opcode with control bits: the inverse of ``mnemonics``."""
    return MappingProxyType({each: name for name, each in mnemonics().items()})


def _of(op: Op) -> Iterator[tuple[str, Mnemonic]]:
    name = op.text
    if op.row.tests:
        yield f"{name}_z", Mnemonic(op)
        yield f"{name}_nz", Mnemonic(op, nonzero=True)
    elif op in SIZE_TYPES:
        for sizes in SIZE_TYPES[op]:
            suffix = "" if sizes is enums.Sizes.FLOAT else f"_{sizes.text}"
            yield name + suffix, Mnemonic(op, sizes=sizes)
    elif op is Op.SYNC:
        for bits in range(1 << len(_SYNC)):
            sync = enums.Sync(bits)
            suffixes = (suffix for suffix, flag in _SYNC.items() if flag in sync)
            yield name + "".join(suffixes), Mnemonic(op, sync=sync)
    else:
        yield name, Mnemonic(op)


_SYNC = {
    "_uglobal": enums.Sync.UAV_GLOBAL,
    "_ugroup": enums.Sync.UAV_GROUP,
    "_g": enums.Sync.GROUP_MEMORY,
    "_t": enums.Sync.THREADS,
}


class Spelled(NamedTuple):
    """How a field of a declaration's text is written and parsed.

    ``pattern`` is its regular expression; ``write`` is a function from the attribute to text,
    ``read`` from lower case text to the attribute.  ``read`` raises ShaderError or ValueError.
    """

    name: str
    """Name of the attribute of Declaration that the field shows; ``data`` is one of
    Instruction."""
    pattern: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def value_text(word: int, letter: str) -> str:
    """A word of an immediate as text: a float or an integer, as the operand's letter suggests."""
    if letter == "f" or (letter == "s" and word & ~(1 << 31) in _FLOATS):
        return float_text(word)
    signed = word - (word >> 31 << 32)
    return str(signed) if -_SMALL < signed < 0 else unsigned_text(word)


def value_of(text: str) -> int:
    """Parse ``1.5``, ``-3`` or ``0x3f800000`` into a word.  Raises ShaderError."""
    found = integer(text)
    if found is None:
        try:
            found = float_bits(text)
        except OverflowError:
            found = None
        if found is not None:
            return found
    if found is None or not -(1 << 31) <= found <= _WORD:
        raise ShaderError(f"{shown(text)} is no 32-bit number")
    return found & _WORD


def returns_text(returns: Returns) -> str:
    """The types of a resource's components as text: ``(float,float,float,float)``."""
    return f"({','.join(type.text for type in returns)})"


def read_returns(text: str) -> Returns:
    """Parse the types of a resource's components.  Raises ValueError or ShaderError."""
    x, y, z, w = (member(enums.ReturnType, part) for part in text.strip("()").split(","))
    return x, y, z, w


def read_count(text: str) -> int:
    """Parse an unsigned 32-bit number.  Raises ShaderError."""
    found = integer(text)
    if found is None or not 0 <= found <= _WORD:
        raise ShaderError(f"{shown(text)} is no unsigned 32-bit number")
    return found


def member(kind: type[_Kind], text: str) -> _Kind:
    """Return the member of an enumeration that is spelled ``text``.  Raises ShaderError."""
    wanted = " ".join(text.split())
    for each in kind:
        if each.text.lower() == wanted:
            return each
    raise ShaderError(f"{shown(text)} is no {kind.__name__.lower()}")


def _named(name: str, kind: type[Named]) -> Spelled:
    known = sorted((each.text.lower() for each in kind), key=len, reverse=True)
    pattern = "|".join(re.escape(each).replace(r"\ ", r"\s+") for each in known)
    return Spelled(name, pattern, lambda value: value.text, lambda text: member(kind, text))


_THREADS = r"[0-9a-fx]+\s*,\s*[0-9a-fx]+\s*,\s*[0-9a-fx]+"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(read_count(part.strip()) for part in text.split(",")) if text.strip() else ()


_UAV = {
    "_glc": enums.UavFlags.GLOBALLY_COHERENT,
    "_rov": enums.UavFlags.RASTERIZER_ORDERED,
    "_opc": enums.UavFlags.COUNTER,
}


def _write_uav(flags: enums.UavFlags) -> str:
    return "".join(word for word, flag in _UAV.items() if flag & flags)


def _read_uav(text: str) -> enums.UavFlags:
    return enums.UavFlags(sum(flag for word, flag in _UAV.items() if word in text))


_GLOBAL = {
    "refactoringAllowed": enums.GlobalFlags.REFACTORING_ALLOWED,
    "enableDoublePrecisionFloatOps": enums.GlobalFlags.DOUBLE_PRECISION,
    "forceEarlyDepthStencil": enums.GlobalFlags.FORCE_EARLY_DEPTH_STENCIL,
    "enableRawAndStructuredBuffers": enums.GlobalFlags.RAW_AND_STRUCTURED_BUFFERS,
    "skipOptimization": enums.GlobalFlags.SKIP_OPTIMIZATION,
    "enableMinimumPrecision": enums.GlobalFlags.MINIMUM_PRECISION,
    "enable11_1DoubleExtensions": enums.GlobalFlags.DOUBLE_EXTENSIONS,
    "enable11_1ShaderExtensions": enums.GlobalFlags.SHADER_EXTENSIONS,
    "allResourcesBound": enums.GlobalFlags.ALL_RESOURCES_BOUND,
}
_GLOBAL_READ = {word.lower(): flag for word, flag in _GLOBAL.items()}


def flags_text(flags: enums.GlobalFlags) -> str:
    """Global flags as text: ``refactoringAllowed | skipOptimization``."""
    return " | ".join(word for word, flag in _GLOBAL.items() if flag in flags)


def _read_flags(text: str) -> enums.GlobalFlags:
    found = enums.GlobalFlags(0)
    for word in (part.strip() for part in text.split("|") if text):
        if word not in _GLOBAL_READ:
            raise ShaderError(f"{shown(word)} is no global flag")
        found |= _GLOBAL_READ[word]
    return found


def _write_rows(words: tuple[int, ...]) -> str:
    """The immediate constant buffer as text, one row a line."""
    rows = [words[at : at + 4] for at in range(0, len(words), 4)]
    texts = (", ".join(value_text(word, "s") for word in row) for row in rows)
    return "{ " + ",\n  ".join(f"{{ {text} }}" for text in texts) + " }"


_ROW = re.compile(r"\s*\{([^{}]*)\}\s*(,|\Z)")


def _read_rows(text: str) -> tuple[int, ...]:
    words: list[int] = []
    inner, at = text[1:-1], 0
    while at < len(inner):
        row = _ROW.match(inner, at)
        if row is None:
            raise ShaderError(f"{shown(inner[at:].strip())} is no row of constants")
        words += (value_of(part.strip()) for part in row[1].split(","))
        at = row.end()
    return tuple(words)


def _write_data(words: tuple[int, ...]) -> str:
    return "{ " + ", ".join(map(str, words)) + " }"


FIELDS = {
    name: _named(part.name, part.read)
    if isinstance(part.read, type) and issubclass(part.read, Named)
    else Spelled(part.name, r"[0-9a-fx]+", str, read_count)
    for name, part in PARTS.items()
} | {
    "rows": Spelled("data", r"\{.*\}", _write_rows, _read_rows),
    "data": Spelled("data", r"\{[^{}]*\}", _write_data, lambda text: _numbers(text.strip("{}"))),
    "samples": Spelled(
        "samples",
        r"(?:\([0-9]+\))?",
        lambda value: f"({value})" if value else "",
        lambda text: read_count(text.strip("()") or "0"),
    ),
    "returns": Spelled("returns", r"\([a-z,\s]*\)", returns_text, read_returns),
    "constant": Spelled(
        "interpolation",
        f"(?:(?:{_named('', enums.Interpolation).pattern})\\s+)?",
        lambda value: "" if value is enums.Interpolation.CONSTANT else f"{value.text} ",
        lambda text: member(enums.Interpolation, text) if text else enums.Interpolation.CONSTANT,
    ),
    "flags": Spelled("flags", r"[\w|\s]*", flags_text, _read_flags),
    "factor": Spelled("factor", r"[^()]*(?:\([^()]*\))?", float_text, value_of),
    "threads": Spelled("threads", _THREADS, lambda value: ", ".join(map(str, value)), _numbers),
    "uav": Spelled("uav", "".join(f"(?:{word})?" for word in _UAV), _write_uav, _read_uav),
}
"""How the fields in the texts of declarations are written and parsed, by field name."""
