"""Operand tokens to operands, checked against the tables (SM4-5 tokens, "Operands")."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.shader.cursor import Cursor
from dp2emu.shader.sm4.enums import Precision
from dp2emu.shader.sm4.fields import (
    AT_ONCE,
    BY_MASK,
    BY_SELECT,
    BY_SWIZZLE,
    COUNT,
    EXTENDED,
    EXTENSION,
    FILE,
    FOUR_COMPONENTS,
    INDICES,
    MASK,
    MODE,
    MODIFIER,
    NO_COMPONENTS,
    ONE_COMPONENT,
    OPERAND_MODIFIER,
    PRECISION,
    RELATIVE,
    REPRESENTATIONS,
    SELECT,
    SUM,
    SWIZZLE,
)
from dp2emu.shader.sm4.opcodes import OPCODES, Opcode, files
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Index, Operand, Selection
from dp2emu.shader.sm4.registers import BY_TYPE, Bank, File, bank_of
from dp2emu.shader.sm4.versions import Version

_IMMEDIATES = {File.IMMEDIATE: 1, File.IMMEDIATE64: 2}
"""DWORDs of an immediate of one component."""
_WORDS_OF_FOUR = 4

_NONE = frozenset({Selection.NONE})
_SCALAR = frozenset({Selection.ONE, Selection.SELECT})
_SOURCE = _SCALAR | {Selection.SWIZZLE}
_MEMORY = frozenset({Selection.NONE, Selection.MASK})
_DESTINATION = _MEMORY | {Selection.ONE}
_SELECTIONS = {
    "d": _DESTINATION,
    "D": frozenset(Selection),
    "u": _MEMORY,
    "U": _MEMORY,
    "p": _NONE | {Selection.SELECT},
    "l": _NONE,
    "m": _NONE,
    "F": _NONE,
    **dict.fromkeys("fisc", _SOURCE),
    **dict.fromkeys("taRyw", _SOURCE | _NONE),
}
"""How operands may name their components, by letter."""
_MASKED = frozenset({File.TEMP, File.OUTPUT, File.INDEXABLE_TEMP})
"""What is written by a mask."""
_INDEXES = files(OPCODES[Op.MOV], "s") - {File.IMMEDIATE, File.IMMEDIATE64, File.THIS}
"""What may be added to an index."""
_NEGATE, _ABSOLUTE = 1, 2


def read_operand(cursor: Cursor[Version], row: Opcode, letter: str) -> Operand:
    """The next operand of an instruction.  Raises ShaderError."""
    token = cursor.take()
    bank = _bank(cursor, token)
    if bank.file not in files(row, letter):
        raise cursor.error(f"{row.op.name.lower()} has no {bank.file.value} here")
    selection, components = _components(cursor, token, bank.file)
    if letter == "d" and selection is Selection.MASK and not components:
        raise cursor.error(f"nothing of {bank.file.value} is written: its mask is empty")
    if not _fits(letter, bank.file, selection):
        raise cursor.error(f"{bank.file.value} cannot name its components like this here")
    modifiers, precision = _modifiers(cursor, token)
    indices = tuple(_indices(cursor, token, bank, declared=letter == "D"))
    return Operand(
        bank.file,
        indices,
        selection,
        components,
        negate=bool(modifiers & _NEGATE),
        absolute=bool(modifiers & _ABSOLUTE),
        precision=precision,
        words=_immediate(cursor, token, bank.file),
    )


def _bank(cursor: Cursor[Version], token: int) -> Bank:
    bank = BY_TYPE.get(FILE.of(token))
    if bank is None or not bank.exists(cursor.version):
        raise cursor.error(f"{cursor.version.name} has no registers of type {FILE.of(token)}")
    bank = bank_of(bank.file, cursor.version.stage)
    if INDICES.of(token) != len(bank.limits):
        what = f"{bank.file.value} has {len(bank.limits)} indices, not {INDICES.of(token)}"
        raise cursor.error(what)
    return bank


def _components(
    cursor: Cursor[Version], token: int, file: File
) -> tuple[Selection, tuple[int, ...]]:
    """How the components are named, and which; four-component immediates are read in order."""
    count, mode = COUNT.of(token), MODE.of(token)
    if count == NO_COMPONENTS:
        return Selection.NONE, ()
    if count == ONE_COMPONENT:
        return Selection.ONE, ()
    if count != FOUR_COMPONENTS:
        raise cursor.error("operands of more than four components are not in use")
    if file in _IMMEDIATES:
        return Selection.SWIZZLE, (0, 1, 2, 3)
    if mode == BY_MASK:
        return Selection.MASK, tuple(i for i in range(4) if MASK.of(token) >> i & 1)
    if mode == BY_SWIZZLE:
        return Selection.SWIZZLE, tuple(bits.of(token) for bits in SWIZZLE)
    if mode == BY_SELECT:
        return Selection.SELECT, (SELECT.of(token),)
    raise cursor.error("components are named by mask, by swizzle or one by one")


def _fits(letter: str, file: File, selection: Selection) -> bool:
    if letter == "d" and (selection is Selection.MASK) != (file in _MASKED):
        return False
    if letter in "fisc" and file in _IMMEDIATES:
        return selection is not Selection.NONE
    return selection in _SELECTIONS[letter]


def _modifiers(cursor: Cursor[Version], token: int) -> tuple[int, Precision]:
    """Negation and absolute value as bits, and the precision, of all extended tokens."""
    modifiers, precision = 0, Precision.DEFAULT
    while EXTENDED.of(token):
        token = cursor.take()
        if EXTENSION.of(token) != OPERAND_MODIFIER:
            continue
        if MODIFIER.of(token) > _NEGATE | _ABSOLUTE:
            raise cursor.error(f"{MODIFIER.of(token)} is no operand modifier")
        modifiers = MODIFIER.of(token)
        try:
            precision = Precision(PRECISION.of(token))
        except ValueError:
            raise cursor.error(f"{PRECISION.of(token)} is no precision") from None
    return modifiers, precision


def _indices(
    cursor: Cursor[Version], token: int, bank: Bank, *, declared: bool
) -> Iterator[Index]:
    """The indices; in declarations the first of two may be a size, and the second too."""
    for place, limit in enumerate(bank.limits):
        representation = REPRESENTATIONS[place].of(token)
        if representation == AT_ONCE:
            offset = cursor.take()
            if offset >= limit + (declared and len(bank.limits) > 1):
                raise cursor.error(f"{bank.file.value} has no index {offset}")
            yield Index(offset)
            continue
        if representation not in (RELATIVE, SUM):
            raise cursor.error(f"{representation} is no representation of an index in use")
        if declared or place not in bank.relative:
            raise cursor.error(f"{bank.file.value} cannot be indexed")
        offset = cursor.take() if representation == SUM else 0
        yield Index(offset, _relative(cursor))


def _relative(cursor: Cursor[Version]) -> Operand:
    """The scalar added to an index.  It has no such index itself, so nothing nests deeper."""
    token = cursor.take()
    bank = _bank(cursor, token)
    selection, components = _components(cursor, token, bank.file)
    if bank.file not in _INDEXES or selection not in _SCALAR or EXTENDED.of(token):
        raise cursor.error(f"nothing can be indexed by this {bank.file.value}")
    indices = tuple(_indices(cursor, token, bank, declared=False))
    if any(index.relative for index in indices):
        raise cursor.error("an index is indexed")
    return Operand(bank.file, indices, selection, components)


def _immediate(cursor: Cursor[Version], token: int, file: File) -> tuple[int, ...]:
    if file not in _IMMEDIATES:
        return ()
    alone = COUNT.of(token) == ONE_COMPONENT
    return cursor.raw(_IMMEDIATES[file] if alone else _WORDS_OF_FOUR)
