"""Parameter tokens to operands, checked against the tables (SM1-3 tokens, "Parameter tokens" and
"Registers")."""

from __future__ import annotations

from collections.abc import Mapping

from dp2emu.d3d.enums import DeclUsage
from dp2emu.errors import ShaderError
from dp2emu.shader.sm.cursor import Cursor, parameter
from dp2emu.shader.sm.fields import (
    MASK,
    MODIFIER,
    NUMBER,
    RELATIVE,
    TEXTURE,
    TYPE_HIGH,
    TYPE_LOW,
    USAGE,
    USAGE_INDEX,
    result_of,
    shift_of,
    swizzle_of,
)
from dp2emu.shader.sm.modifiers import MODIFIERS, SHIFT_SUFFIXES, SourceModifier, TextureType
from dp2emu.shader.sm.opcodes import destination_files, source_files
from dp2emu.shader.sm.program import Declaration, Destination, Relative, Source
from dp2emu.shader.sm.registers import File, Register, exists, register
from dp2emu.shader.sm.versions import V1_1, V2_0, V3_0, Level, Stage, Version, entry

_Indexes = Mapping[tuple[Stage, File], Mapping[Level, frozenset[File]]]

_A0, _AL = frozenset({File.ADDR}), frozenset({File.LOOP})
_READ_BY: _Indexes = {
    (Stage.VERTEX, File.CONST): {V1_1: _A0, V2_0: _A0 | _AL},
    (Stage.VERTEX, File.INPUT): {V3_0: _A0 | _AL},
    (Stage.PIXEL, File.INPUT): {V3_0: _AL},
}
_WRITTEN_BY: _Indexes = {(Stage.VERTEX, File.OUTPUT): {V3_0: _AL}}
"""What may be added to the numbers of registers."""

_LOGIC = frozenset({File.CONSTBOOL, File.PREDICATE})
_SHIFTS = frozenset({0, *SHIFT_SUFFIXES.values()})
_LOGICAL = frozenset({SourceModifier.NOT})
_NUMERIC = frozenset(SourceModifier) - _LOGICAL
_TEXTURES = frozenset(TextureType)
_USAGES = frozenset(DeclUsage)
_MASKLESS = frozenset({"k", "D"})
"""Destinations that nothing is written to."""


def read_source(cursor: Cursor, letter: str, rows: int = 1) -> Source:
    """The next source, of which ``rows`` registers are read."""
    token = parameter(cursor)
    found = _register(cursor, token)
    if found.file not in source_files(letter):
        raise cursor.error(f"{found} cannot be read here")
    if not exists(cursor.version, found, rows):
        what = f"{found}" if rows == 1 else f"{rows} registers from {found}"
        raise cursor.error(f"{cursor.version.name} has no {what}")
    modifier = _modifier(cursor, token, found.file)
    relative = _relative(cursor, token, found, written=False)
    return Source(found, swizzle_of(token), modifier, relative)


def read_destination(cursor: Cursor, letter: str) -> Destination:
    """The next destination."""
    token = parameter(cursor)
    found = _register(cursor, token)
    if found.file not in destination_files(letter, cursor.version):
        raise cursor.error(f"{found} cannot be written here")
    if not exists(cursor.version, found):
        raise cursor.error(f"{cursor.version.name} has no {found}")
    mask, shift = MASK.of(token), shift_of(token)
    if mask == 0 and letter not in _MASKLESS:
        raise cursor.error(f"nothing of {found} is written: its mask is empty")
    if shift not in _SHIFTS or (shift and not cursor.version.early_pixel):
        raise cursor.error(f"{cursor.version.name} has no result shift {shift}")
    relative = _relative(cursor, token, found, written=True)
    return Destination(found, mask, result_of(token), shift, relative)


def read_declaration(cursor: Cursor) -> tuple[Declaration, Destination]:
    """The usage token of a dcl and the register after it (SM1-3 tokens, "Shader declarations")."""
    offset = cursor.offset
    token = parameter(cursor)
    destination = read_destination(cursor, "D")
    return _declaration(cursor.version, destination.register, token, offset), destination


def has_usage(version: Version, register: Register) -> bool:
    """Whether a register is declared with a usage."""
    if version.stage is Stage.PIXEL and version.level < V3_0:
        return False
    return register.file in (File.INPUT, File.OUTPUT)


def _declaration(version: Version, register: Register, token: int, offset: int) -> Declaration:
    if register.file is File.SAMPLER:
        if TEXTURE.of(token) not in _TEXTURES:
            raise ShaderError(f"{TEXTURE.of(token)} is no texture type", offset=offset)
        return Declaration(texture=TextureType(TEXTURE.of(token)))
    if not has_usage(version, register):
        return Declaration()
    if USAGE.of(token) not in _USAGES:
        raise ShaderError(f"{USAGE.of(token)} is no usage", offset=offset)
    return Declaration(DeclUsage(USAGE.of(token)), USAGE_INDEX.of(token))


def _register(cursor: Cursor, token: int) -> Register:
    type = TYPE_HIGH.of(token) << 3 | TYPE_LOW.of(token)
    found = register(cursor.version, type, NUMBER.of(token))
    if found is None:
        raise cursor.error(f"{cursor.version.name} has no registers of type {type}")
    return found


def _modifier(cursor: Cursor, token: int, file: File) -> SourceModifier:
    bits = MODIFIER.of(token)
    if bits == SourceModifier.NONE:
        return SourceModifier.NONE
    wanted = _LOGICAL if file in _LOGIC else _NUMERIC if file in source_files("v") else ()
    if bits not in wanted or not MODIFIERS[SourceModifier(bits)].exists(cursor.version):
        raise cursor.error(f"{file.value} registers have no source modifier {bits} here")
    return SourceModifier(bits)


def index_files(version: Version, file: File, *, written: bool) -> frozenset[File]:
    """The register files whose values may be added to the numbers of a file's registers."""
    indexes = _WRITTEN_BY if written else _READ_BY
    return entry(indexes.get((version.stage, file), {}), version.level) or frozenset()


def _relative(cursor: Cursor, token: int, register: Register, *, written: bool) -> Relative | None:
    """The index of a relative operand: in a token of its own, but always a0.x before 2.0."""
    if not RELATIVE.of(token):
        return None
    version = cursor.version
    allowed = index_files(version, register.file, written=written)
    if not allowed:
        raise cursor.error(f"{register} cannot be indexed in {version.name}")
    if not version.sized:
        return Relative(Register(File.ADDR))
    index = parameter(cursor)
    found = _register(cursor, index)
    if found.file not in allowed or not exists(version, found) or RELATIVE.of(index):
        raise cursor.error(f"{register} cannot be indexed by this")
    return Relative(found, swizzle_of(index)[0] if found.file is File.ADDR else 0)
