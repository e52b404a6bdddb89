"""Tokens to decoded form (SM4-5 tokens, "Program tokens" and "Operands")."""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader.cursor import Cursor
from dp2emu.shader.sm4.declarations import declaration_of, words_after
from dp2emu.shader.sm4.enums import Dimension, ReturnType, Sizes, Sync
from dp2emu.shader.sm4.fields import (
    EXTENDED,
    EXTENSION,
    LENGTH,
    NONZERO,
    OPCODE,
    PRECISE,
    RESOURCE_DIMENSION,
    RESOURCE_RETURNS,
    SAMPLE_CONTROLS,
    SATURATE,
    SIZES,
    SYNC,
    TEXEL,
    VIEW_DIMENSION,
    VIEW_RETURNS,
    VIEW_STRIDE,
)
from dp2emu.shader.sm4.opcodes import OPCODES, SIZED, WITH_DATA, Opcode
from dp2emu.shader.sm4.operands import read_operand
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Declaration, Instruction, Program, View
from dp2emu.shader.sm4.validate import validate
from dp2emu.shader.sm4.versions import BY_TOKEN, Version

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
