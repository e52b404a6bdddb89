"""The rules of a shader as a whole.

Whatever no driver could give a meaning to is refused: broken flow control, endless calls, two
declarations of one register.  What a driver can shrug off is not looked at: read port limits,
registers read without being written or declared, results never written.
"""

from __future__ import annotations

from collections.abc import Iterator

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.cursor import Cursor
from dp2emu.shader.sm.early import check_early_pixel
from dp2emu.shader.sm.fields import (
    COISSUE,
    COMMENT_LENGTH,
    COMMENT_OPCODE,
    CONTROL,
    END,
    LENGTH,
    OPCODE,
    PARAMETER,
    PREDICATED,
)
from dp2emu.shader.sm.flow import INSTRUCTIONS, check_flow
from dp2emu.shader.sm.modifiers import Comparison, Sampling
from dp2emu.shader.sm.opcodes import OPCODES, Control, Form, Group, Op, Opcode
from dp2emu.shader.sm.operands import read_declaration, read_destination, read_source
from dp2emu.shader.sm.program import FULL_MASK, Comment, Instruction, Shader, Source
from dp2emu.shader.sm.registers import BY_FILE, File, Register
from dp2emu.shader.sm.versions import BY_TOKEN


def validate(shader: Shader) -> None:
    """Raises ShaderError, at the instruction that breaks a rule."""
    check_declarations(shader)
    check_early_pixel(shader)
    check_flow(shader)


def check_declarations(shader: Shader) -> None:
    """Every component is declared once; several declarations may share a register."""
    declared: dict[Register, int] = {}
    for instruction in shader.instructions:
        if instruction.declaration is None:
            continue
        register, mask = instruction.target.register, _declared_mask(instruction)
        if not mask:
            raise ShaderError(f"no component of {register} is declared", offset=instruction.offset)
        if declared.get(register, 0) & mask:
            raise ShaderError(f"{register} is declared twice", offset=instruction.offset)
        declared[register] = declared.get(register, 0) | mask


def _declared_mask(instruction: Instruction) -> int:
    """A sampler is declared whole, whatever its mask says."""
    is_sampler = instruction.target.register.file is File.SAMPLER
    return FULL_MASK if is_sampler else instruction.target.mask


# Tokens to decoded form (SM1-3 tokens, "Instruction tokens" and "Opcodes").

_PREDICABLE = frozenset({Group.ARITHMETIC, Group.TEXTURE})


_OPS = frozenset(Op)


_COMPARISONS, _SAMPLINGS = frozenset(Comparison), frozenset(Sampling)


def decode(code: bytes) -> Shader:
    """The shader in ``code``; what follows its end token is kept and not looked at.

    Raises ShaderError with the byte offset: for what breaks the tables, as it is read, and then
    for what breaks the rules of ``validate``.
    """
    cursor = Cursor(code, BY_TOKEN)
    parts = list(_parts(cursor))
    shader = Shader(
        cursor.version,
        tuple(part for part in parts if isinstance(part, Instruction)),
        tuple(part for part in parts if isinstance(part, Comment)),
        bytes(code[cursor.offset :]),
    )
    validate(shader)
    return shader


def _parts(cursor: Cursor) -> Iterator[Instruction | Comment]:
    left = {"comments": INSTRUCTIONS, "instructions": INSTRUCTIONS}
    while True:
        offset = cursor.offset
        token = cursor.take()
        if token == END:
            return
        if token & PARAMETER:
            raise cursor.error(f"{token:#010x} is no instruction: its bit 31 is set")
        kind = "comments" if OPCODE.of(token) == COMMENT_OPCODE else "instructions"
        left[kind] -= 1
        if left[kind] < 0:
            raise cursor.error(f"more than {INSTRUCTIONS} {kind}")
        if kind == "comments":
            yield Comment(cursor.raw(COMMENT_LENGTH.of(token)), offset)
        else:
            yield _instruction(cursor, token, offset)


def _instruction(cursor: Cursor, token: int, offset: int) -> Instruction:
    row, form = _form(cursor, token)
    comparison, sampling = _control(cursor, row, token)
    predicated, coissue = _predicated(cursor, row, token), _coissue(cursor, token)
    if cursor.version.sized:
        cursor.enter(LENGTH.of(token))
    declaration = destination = None
    if row.group is Group.DECLARATION:
        declaration, destination = read_declaration(cursor)
    elif form.destination:
        destination = read_destination(cursor, form.destination)
    predicate = read_source(cursor, "p") if predicated else None
    sources = tuple(_sources(cursor, row, form))
    constant = cursor.raw(row.raw)
    return Instruction(
        op=row.op,
        destination=destination,
        sources=sources,
        predicate=predicate,
        comparison=comparison,
        sampling=sampling,
        coissue=coissue,
        constant=constant,
        declaration=declaration,
        offset=offset,
        words=cursor.leave(offset, exact=cursor.version.sized),
    )


def _form(cursor: Cursor, token: int) -> tuple[Opcode, Form]:
    number = OPCODE.of(token)
    if number not in _OPS:
        raise cursor.error(f"unknown opcode {number}")
    row = OPCODES[Op(number)]
    form = row.form(cursor.version)
    if form is None:
        raise cursor.error(f"{cursor.version.name} has no {row.op.sdk}")
    return row, form


def _control(cursor: Cursor, row: Opcode, token: int) -> tuple[Comparison | None, Sampling]:
    bits = CONTROL.of(token)
    if row.control is Control.COMPARISON:
        if bits not in _COMPARISONS:
            raise cursor.error(f"{bits} is no comparison")
        return Comparison(bits), Sampling.PLAIN
    if row.control is Control.SAMPLING and cursor.version.sized:
        if bits not in _SAMPLINGS:
            raise cursor.error(f"{bits} is no way of sampling")
        return None, Sampling(bits)
    return None, Sampling.PLAIN


def _predicated(cursor: Cursor, row: Opcode, token: int) -> bool:
    if not PREDICATED.of(token):
        return False
    if not BY_FILE[File.PREDICATE].count(cursor.version):
        raise cursor.error(f"{cursor.version.name} has no predicate")
    if row.group not in _PREDICABLE:
        raise cursor.error(f"{row.op.sdk} cannot be predicated")
    return True


def _coissue(cursor: Cursor, token: int) -> bool:
    if COISSUE.of(token) and not cursor.version.early_pixel:
        raise cursor.error(f"{cursor.version.name} has no co-issue")
    return bool(COISSUE.of(token))


def _sources(cursor: Cursor, row: Opcode, form: Form) -> Iterator[Source]:
    for letter in form.sources[:-1]:
        yield read_source(cursor, letter)
    if form.sources:
        yield read_source(cursor, form.sources[-1], row.rows)
    if form.optional and cursor.more():
        for letter in form.optional:
            yield read_source(cursor, letter)
