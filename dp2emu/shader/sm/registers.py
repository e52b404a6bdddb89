"""Register files: their numbers in tokens, their names, and how many each version has.

Source: SM1-3 tokens, "Registers".  Where the count is a device capability, as in 2_x, the table
has the maximum.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import NamedTuple

import msgspec

from dp2emu.shader.sm.versions import (
    V1_0,
    V1_1,
    V1_4,
    V2_0,
    V2_SW,
    V2_X,
    V3_0,
    V3_SW,
    Level,
    Stage,
    Version,
    entry,
)


class File(Enum):
    """Register files, named as D3DSPR_*; the value is the prefix of register names.

    Token types that mean two files (ADDR and TEXTURE, TEXCRDOUT and OUTPUT) are two members, and
    CONST2 to CONST4 are the upper part of CONST.
    """

    TEMP = "r"
    INPUT = "v"
    CONST = "c"
    ADDR = "a"
    TEXTURE = "t"
    RASTOUT = "oRast"
    ATTROUT = "oD"
    TEXCRDOUT = "oT"
    OUTPUT = "o"
    CONSTINT = "i"
    COLOROUT = "oC"
    DEPTHOUT = "oDepth"
    SAMPLER = "s"
    CONSTBOOL = "b"
    LOOP = "aL"
    MISCTYPE = "vMisc"
    LABEL = "l"
    PREDICATE = "p"


class Bank(NamedTuple):
    """A register file: the ``type`` field of tokens, and register counts by version."""

    file: File
    type: int
    vs: Mapping[Level, int] = {}
    ps: Mapping[Level, int] = {}
    names: tuple[str, ...] = ()
    """Names of the registers if they are named instead of numbered."""

    def count(self, version: Version) -> int:
        """The number of registers of this file in a version."""
        steps = self.vs if version.stage is Stage.VERTEX else self.ps
        return entry(steps, version.level) or 0


BANKS = (
    Bank(File.TEMP, 0, {V1_0: 12, V2_X: 32}, {V1_0: 2, V1_4: 6, V2_0: 12, V2_X: 32}),
    Bank(File.INPUT, 1, {V1_0: 16}, {V1_0: 2, V3_0: 10}),
    Bank(
        File.CONST,
        2,
        {V1_0: 256, V2_SW: 8192, V3_0: 256, V3_SW: 8192},
        {V1_0: 8, V2_0: 32, V3_0: 224},
    ),
    Bank(File.ADDR, 3, {V1_1: 1}),
    Bank(File.TEXTURE, 3, {}, {V1_0: 4, V1_4: 6, V2_0: 8, V3_0: 0}),
    Bank(File.RASTOUT, 4, {V1_0: 3, V3_0: 0}, {}, ("oPos", "oFog", "oPts")),
    Bank(File.ATTROUT, 5, {V1_0: 2, V3_0: 0}),
    Bank(File.TEXCRDOUT, 6, {V1_0: 8, V3_0: 0}),
    Bank(File.OUTPUT, 6, {V3_0: 12}),
    Bank(File.CONSTINT, 7, {V2_0: 16}, {V2_X: 16}),
    Bank(File.COLOROUT, 8, {}, {V2_0: 4}),
    Bank(File.DEPTHOUT, 9, {}, {V2_0: 1}, ("oDepth",)),
    Bank(File.SAMPLER, 10, {V3_0: 4}, {V2_0: 16}),
    Bank(File.CONSTBOOL, 14, {V2_0: 16}, {V2_X: 16}),
    Bank(File.LOOP, 15, {V2_0: 1}, {V3_0: 1}, ("aL",)),
    Bank(File.MISCTYPE, 17, {}, {V3_0: 2}, ("vPos", "vFace")),
    Bank(File.LABEL, 18, {V2_0: 16, V2_SW: 2048}, {V2_X: 16, V2_SW: 2048}),
    Bank(File.PREDICATE, 19, {V2_X: 1}, {V2_X: 1}),
)

BY_FILE = {bank.file: bank for bank in BANKS}
_CONST_TYPES = (2, 11, 12, 13)
"""Numbers, in parameter tokens, of the types of float constants: each stands for the next 2048
registers c#."""
_PER_TYPE = 2048
_NAMED = {
    name.lower(): (bank.file, number) for bank in BANKS for number, name in enumerate(bank.names)
}
_PREFIXES = {bank.file.value.lower(): bank.file for bank in BANKS if not bank.names}
_NUMBERED = re.compile(r"([a-z]+)([0-9]{1,5})\Z", re.ASCII)


class Register(msgspec.Struct, frozen=True):
    """A register; the name identifies it in all versions."""

    file: File
    number: int = 0

    @property
    def type_and_number(self) -> tuple[int, int]:
        """The type and number fields of a parameter token."""
        if self.file is File.CONST:
            return _CONST_TYPES[self.number // _PER_TYPE], self.number % _PER_TYPE
        return BY_FILE[self.file].type, self.number

    def __str__(self) -> str:
        names = BY_FILE[self.file].names
        if self.number < len(names):
            return names[self.number]
        return f"{self.file.value}{self.number}"


def register(version: Version, type: int, number: int) -> Register | None:
    """The register of a parameter token; None if the version has no such type.

    The number is not checked; ``exists`` does that.
    """
    if type in _CONST_TYPES:
        return Register(File.CONST, _CONST_TYPES.index(type) * _PER_TYPE + number)
    file = _files(version).get(type)
    return None if file is None else Register(file, number)


def exists(version: Version, register: Register, rows: int = 1) -> bool:
    """Whether a version has ``register`` and the ``rows`` - 1 registers after it."""
    return register.number + rows <= BY_FILE[register.file].count(version)


def named(text: str) -> Register | None:
    """Return the register with a name, in upper or lower case; None for an unknown name."""
    text = text.lower()
    if text in _NAMED:
        return Register(*_NAMED[text])
    match = _NUMBERED.match(text)
    if match is None or match[1] not in _PREFIXES:
        return None
    return Register(_PREFIXES[match[1]], int(match[2]))


@cache
def _files(version: Version) -> dict[int, File]:
    return {bank.type: bank.file for bank in BANKS if bank.count(version)}
