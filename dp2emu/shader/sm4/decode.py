"""Operand tokens to operands, checked against the tables (SM4-5 tokens, "Operands")."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader.cursor import Cursor
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.declarations import declaration_of, words_after
from dp2emu.shader.sm4.enums import Precision, ReturnType, Sizes, Sync
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
    LENGTH,
    MASK,
    MODE,
    MODIFIER,
    NO_COMPONENTS,
    NONZERO,
    ONE_COMPONENT,
    OPCODE,
    OPERAND_MODIFIER,
    PRECISE,
    PRECISION,
    RELATIVE,
    REPRESENTATIONS,
    RESOURCE_DIMENSION,
    RESOURCE_RETURNS,
    SAMPLE_CONTROLS,
    SATURATE,
    SELECT,
    SIZES,
    SUM,
    SWIZZLE,
    SYNC,
    TEXEL,
    VIEW_DIMENSION,
    VIEW_RETURNS,
    VIEW_STRIDE,
)
from dp2emu.shader.sm4.opcodes import OPCODES, SIZED, WITH_DATA, Opcode, files
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import (
    Declaration,
    Index,
    Instruction,
    Operand,
    Program,
    Selection,
    View,
)
from dp2emu.shader.sm4.registers import BY_TYPE, Bank, File, bank_of
from dp2emu.shader.sm4.validate import validate
from dp2emu.shader.sm4.versions import BY_TOKEN, Version

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


# Tokens to decoded form (SM4-5 tokens, "Program tokens" and "Operands").

_OPS = frozenset(Op)


_INSTRUCTIONS = 1 << 16
"""Of a program, declarations among them: no hardware has to take more."""


_EXTENSIONS = 3
"""Extended opcode tokens of an instruction at most."""


def decode(code: bytes) -> Program:
    """The program in ``code``, which begins with its version token; what follows it is kept.

    Raises ShaderError with the byte offset: for what breaks the tables, as it is read, and then
    for what breaks the rules of ``validate``.
    """
    cursor = Cursor(code, BY_TOKEN)
    cursor.stop_at(cursor.take())
    instructions = tuple(_instructions(cursor))
    program = Program(cursor.version, instructions, bytes(code[cursor.offset :]))
    validate(program)
    return program


def _instructions(cursor: Cursor[Version]) -> Iterator[Instruction]:
    for _ in range(_INSTRUCTIONS):
        if not cursor.more():
            return
        yield _instruction(cursor)
    if cursor.more():
        raise ShaderError(f"more than {_INSTRUCTIONS} instructions", offset=cursor.offset)


def _instruction(cursor: Cursor[Version]) -> Instruction:
    offset = cursor.offset
    token = cursor.take()
    row = _row(cursor, token)
    _enter(cursor, row, token, offset)
    texel, view = _extensions(cursor, token)
    data: tuple[int, ...] = (cursor.take(),) if row.op is Op.FCALL else ()
    operands = tuple(read_operand(cursor, row, letter) for letter in row.operands)
    declaration = _declaration(cursor, row, token)
    if row.declares is None or row.op in WITH_DATA:
        data += cursor.rest()
    return Instruction(
        op=row.op,
        operands=operands,
        saturate=row.saturates and bool(SATURATE.of(token)),
        nonzero=row.tests and bool(NONZERO.of(token)),
        precise=PRECISE.of(token) if "d" in row.operands else 0,
        sizes=_sizes(cursor, row, token, offset),
        sync=Sync(SYNC.of(token)) if row.op is Op.SYNC else Sync(0),
        texel=texel,
        view=view,
        declaration=declaration,
        data=data,
        offset=offset,
        tokens=cursor.leave(offset, exact=True),
    )


def _row(cursor: Cursor[Version], token: int) -> Opcode:
    number = OPCODE.of(token)
    if number not in _OPS:
        raise cursor.error(f"unknown opcode {number}")
    row = OPCODES[Op(number)]
    if not row.exists(cursor.version):
        raise cursor.error(f"{cursor.version.name} has no {row.op.name.lower()}")
    return row


def _enter(cursor: Cursor[Version], row: Opcode, token: int, offset: int) -> None:
    """Begin the instruction; custom data and long tables tell their length in the next word."""
    length = 0 if row.op is Op.CUSTOMDATA else LENGTH.of(token)
    if not length:
        length = cursor.take()
    done = (cursor.offset - offset) // 4
    if length < done:
        raise cursor.error(f"{length} DWORDs are no length of an instruction")
    cursor.enter(length - done)


def _extensions(cursor: Cursor[Version], token: int) -> tuple[tuple[int, int, int], View | None]:
    """What extended opcode tokens say: texel offsets, and the resource once more."""
    texel, view = (0, 0, 0), None
    if OPCODE.of(token) == Op.CUSTOMDATA:
        return texel, view
    for _ in range(_EXTENSIONS):
        if not EXTENDED.of(token):
            return texel, view
        token = cursor.take()
        kind = EXTENSION.of(token)
        if kind == SAMPLE_CONTROLS:
            u, v, w = ((bits.of(token) ^ 8) - 8 for bits in TEXEL)
            texel = u, v, w
        elif kind in (RESOURCE_DIMENSION, RESOURCE_RETURNS):
            view = _view(cursor, token, view or View())
        elif kind:
            raise cursor.error(f"{kind} is no type of an extended opcode token")
    if EXTENDED.of(token):
        raise cursor.error(f"more than {_EXTENSIONS} extended opcode tokens")
    return texel, view


def _view(cursor: Cursor[Version], token: int, view: View) -> View:
    try:
        if EXTENSION.of(token) == RESOURCE_DIMENSION:
            dimension = Dimension(VIEW_DIMENSION.of(token))
            return View(dimension, VIEW_STRIDE.of(token), view.returns)
        x, y, z, w = (ReturnType(bits.of(token)) for bits in VIEW_RETURNS)
        return View(view.dimension, view.stride, (x, y, z, w))
    except ValueError as error:
        raise cursor.error(str(error)) from None


def _declaration(cursor: Cursor[Version], row: Opcode, token: int) -> Declaration | None:
    if row.declares is None:
        return None
    words = cursor.raw(words_after(row.op))
    try:
        return declaration_of(row.op, token, words)
    except ValueError as error:
        raise cursor.error(f"{row.op.name.lower()}: {error}") from None


def _sizes(cursor: Cursor[Version], row: Opcode, token: int, offset: int) -> Sizes:
    if row.op not in SIZED:
        return Sizes.FLOAT
    try:
        return Sizes(SIZES.of(token))
    except ValueError:
        what = f"{row.op.name.lower()} cannot answer in type {SIZES.of(token)}"
        raise ShaderError(what, offset=offset) from None
