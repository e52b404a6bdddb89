"""Decoder of shader programs of Direct3D 10 and 11 (SM4-5 tokens, "Program tokens" and
"Operands").

"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, MutableMapping
from itertools import chain
from math import prod

import msgspec

from dp2emu.argument_check import checked
from dp2emu.errors import ShaderError
from dp2emu.shader.cursor import Cursor
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4 import fields
from dp2emu.shader.sm4.declarations import declaration_of, words_after
from dp2emu.shader.sm4.enums import CustomClass, Precision, ReturnType, Sizes, Sync
from dp2emu.shader.sm4.flow import check_flow, phases
from dp2emu.shader.sm4.opcodes import BINDINGS, SIZE_TYPES, WITH_DATA, Op, files
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
from dp2emu.shader.sm4.versions import BY_TOKEN, Stage, Version

_IMMEDIATES = {File.IMMEDIATE: 1, File.IMMEDIATE64: 2}
"""Number of DWORDs that a component of an immediate operand has, by register file."""
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
    **dict.fromkeys("fiqsc", _SOURCE),
    **dict.fromkeys("taRyw", _SOURCE | _NONE),
}
"""Component selection modes that an operand may have, by its letter in the opcode table."""

_MASKED = frozenset({File.TEMP, File.OUTPUT, File.INDEXABLE_TEMP})
"""Register files whose registers are written under a component mask."""
_INDEXES = files(Op.MOV, "s") - {File.IMMEDIATE, File.IMMEDIATE64}
"""Register files whose registers can be the run-time part of an index, like r# in cb0[r0.x]."""
_NEGATE, _ABSOLUTE = 1, 2


def read_operand(cursor: Cursor[Version], op: Op, letter: str) -> Operand:
    """Read the next operand of an instruction.  Raises ShaderError."""
    token = cursor.take()
    bank = _bank(cursor, token)
    if bank.file not in files(op, letter):
        raise cursor.error(f"{op.text} has no {bank.file.value} here")
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
    bank = BY_TYPE.get(fields.FILE.of(token))
    if bank is None or not bank.exists(cursor.version):
        type = fields.FILE.of(token)
        raise cursor.error(f"{cursor.version.name} has no registers of type {type}")
    bank = bank_of(bank.file, cursor.version.stage)
    if fields.INDICES.of(token) != len(bank.limits):
        what = f"{bank.file.value} has {len(bank.limits)} indices, not {fields.INDICES.of(token)}"
        raise cursor.error(what)
    return bank


def _components(
    cursor: Cursor[Version], token: int, file: File
) -> tuple[Selection, tuple[int, ...]]:
    """The component selection mode and the components that operand token ``token`` selects.

    A four-component immediate has the identity swizzle.
    """
    count, mode = fields.COUNT.of(token), fields.MODE.of(token)
    if count == fields.NO_COMPONENTS:
        return Selection.NONE, ()
    if count == fields.ONE_COMPONENT:
        return Selection.ONE, ()
    if count != fields.FOUR_COMPONENTS:
        raise cursor.error("operands of more than four components are not in use")
    if file in _IMMEDIATES:
        return Selection.SWIZZLE, (0, 1, 2, 3)
    if mode == fields.BY_MASK:
        return Selection.MASK, tuple(i for i in range(4) if fields.MASK.of(token) >> i & 1)
    if mode == fields.BY_SWIZZLE:
        return Selection.SWIZZLE, tuple(bits.of(token) for bits in fields.SWIZZLE)
    if mode == fields.BY_SELECT:
        return Selection.SELECT, (fields.SELECT.of(token),)
    raise cursor.error("components are named by mask, by swizzle or one by one")


def _fits(letter: str, file: File, selection: Selection) -> bool:
    if letter == "d" and (selection is Selection.MASK) != (file in _MASKED):
        return False
    if letter in "fiqsc" and file in _IMMEDIATES:
        return selection is not Selection.NONE
    return selection in _SELECTIONS[letter]


def _modifiers(cursor: Cursor[Version], token: int) -> tuple[int, Precision]:
    """Read an operand's extended tokens: its bits for negate and absolute, and its precision."""
    modifiers, precision = 0, Precision.DEFAULT
    while fields.EXTENDED.of(token):
        token = cursor.take()
        if fields.EXTENSION.of(token) != fields.OPERAND_MODIFIER:
            continue
        if fields.MODIFIER.of(token) > _NEGATE | _ABSOLUTE:
            raise cursor.error(f"{fields.MODIFIER.of(token)} is no operand modifier")
        modifiers = fields.MODIFIER.of(token)
        try:
            precision = Precision(fields.PRECISION.of(token))
        except ValueError:
            raise cursor.error(f"{fields.PRECISION.of(token)} is no precision") from None
    return modifiers, precision


def _indices(
    cursor: Cursor[Version], token: int, bank: Bank, *, declared: bool
) -> Iterator[Index]:
    """Read the indices of an operand of register file ``bank``; ``token`` is the operand token.

    ``declared`` says that it is the operand of a declaration.  Two indices of one may be sizes, so
    they may equal their exclusive upper bounds.
    """
    for place, limit in enumerate(bank.limits):
        representation = fields.REPRESENTATIONS[place].of(token)
        if representation == fields.AT_ONCE:
            offset = cursor.take()
            if offset >= limit + (declared and len(bank.limits) > 1):
                raise cursor.error(f"{bank.file.value} has no index {offset}")
            yield Index(offset)
            continue
        if representation not in (fields.RELATIVE, fields.SUM):
            raise cursor.error(f"{representation} is no representation of an index in use")
        if declared or place not in bank.relative | bank.linked:
            raise cursor.error(f"{bank.file.value} cannot be indexed")
        offset = cursor.take() if representation == fields.SUM else 0
        relative = _relative(cursor)
        if place not in (bank.linked if relative.file is File.THIS else bank.relative):
            raise cursor.error(f"{bank.file.value} cannot be indexed by {relative.file.value}")
        yield Index(offset, relative)


def _relative(cursor: Cursor[Version]) -> Operand:
    """Read the run-time part of an index; it must not be indexed itself, which bounds nesting."""
    token = cursor.take()
    bank = _bank(cursor, token)
    selection, components = _components(cursor, token, bank.file)
    if bank.file not in _INDEXES or selection not in _SCALAR or fields.EXTENDED.of(token):
        raise cursor.error(f"nothing can be indexed by this {bank.file.value}")
    indices = tuple(_indices(cursor, token, bank, declared=False))
    if any(index.relative for index in indices):
        raise cursor.error("an index is indexed")
    return Operand(bank.file, indices, selection, components)


def _immediate(cursor: Cursor[Version], token: int, file: File) -> tuple[int, ...]:
    if file not in _IMMEDIATES:
        return ()
    alone = fields.COUNT.of(token) == fields.ONE_COMPONENT
    return cursor.raw(_IMMEDIATES[file] if alone else _WORDS_OF_FOUR)


_OPS = frozenset(Op)
_INSTRUCTIONS = 1 << 16
"""Maximum number of instructions and declarations that hardware has to support."""
_EXTENSIONS = 3
"""Maximum number of extended opcode tokens that follow an instruction's opcode token."""


@checked
def decode(code: bytes) -> Program:
    """Decode a program, which begins with its version token; bytes after it are stored.

    Raises ShaderError with the byte offset for tokens that the tables do not allow, then for
    violations of ``validate``.
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
    op = _op(cursor, token)
    row = op.row
    _enter(cursor, op, token, offset)
    texel, view = _extensions(cursor, token)
    data: tuple[int, ...] = (cursor.take(),) if op is Op.FCALL else ()
    operands = tuple(read_operand(cursor, op, letter) for letter in row.operands)
    declaration = _declaration(cursor, op, token)
    if row.declares is None or op in WITH_DATA:
        data += cursor.rest()
    return Instruction(
        op=op,
        operands=operands,
        saturate=row.saturates and bool(fields.SATURATE.of(token)),
        nonzero=row.tests and bool(fields.NONZERO.of(token)),
        precise=fields.PRECISE.of(token) if "d" in row.operands else 0,
        sizes=_sizes(cursor, op, token, offset),
        sync=Sync(fields.SYNC.of(token)) if op is Op.SYNC else Sync(0),
        texel=texel,
        view=view,
        declaration=declaration,
        data=data,
        offset=offset,
        words=cursor.leave(offset, exact=True),
    )


def _op(cursor: Cursor[Version], token: int) -> Op:
    number = fields.OPCODE.of(token)
    if number not in _OPS:
        raise cursor.error(f"unknown opcode {number}")
    op = Op(number)
    if not op.row.exists(cursor.version):
        raise cursor.error(f"{cursor.version.name} has no {op.text}")
    return op


def _enter(cursor: Cursor[Version], op: Op, token: int, offset: int) -> None:
    """Read the length of an instruction and restrict reading to it.

    ``token`` is its opcode token, at byte ``offset``.  The length of custom data and of long
    tables is in the word after that.
    """
    length = 0 if op is Op.CUSTOMDATA else fields.LENGTH.of(token)
    if not length:
        length = cursor.take()
    done = (cursor.offset - offset) // 4
    if length < done:
        raise cursor.error(f"{length} DWORDs are no length of an instruction")
    cursor.enter(length - done)


def _extensions(cursor: Cursor[Version], token: int) -> tuple[tuple[int, int, int], View | None]:
    """Read the extended opcode tokens: texel offsets, and copied resource declaration or None."""
    texel, view = (0, 0, 0), None
    if fields.OPCODE.of(token) == Op.CUSTOMDATA:
        return texel, view
    for _ in range(_EXTENSIONS):
        if not fields.EXTENDED.of(token):
            return texel, view
        token = cursor.take()
        kind = fields.EXTENSION.of(token)
        if kind == fields.SAMPLE_CONTROLS:
            u, v, w = ((bits.of(token) ^ 8) - 8 for bits in fields.TEXEL)
            texel = u, v, w
        elif kind in (fields.RESOURCE_DIMENSION, fields.RESOURCE_RETURNS):
            view = _view(cursor, token, view or View())
        elif kind:
            raise cursor.error(f"{kind} is no type of an extended opcode token")
    if fields.EXTENDED.of(token):
        raise cursor.error(f"more than {_EXTENSIONS} extended opcode tokens")
    return texel, view


def _view(cursor: Cursor[Version], token: int, view: View) -> View:
    try:
        if fields.EXTENSION.of(token) == fields.RESOURCE_DIMENSION:
            dimension = Dimension(fields.VIEW_DIMENSION.of(token))
            return View(dimension, fields.VIEW_STRIDE.of(token), view.returns)
        x, y, z, w = (ReturnType(bits.of(token)) for bits in fields.VIEW_RETURNS)
        return View(view.dimension, view.stride, (x, y, z, w))
    except ValueError as error:
        raise cursor.error(str(error)) from None


def _declaration(cursor: Cursor[Version], op: Op, token: int) -> Declaration | None:
    if op.row.declares is None:
        return None
    words = cursor.raw(words_after(op))
    try:
        return declaration_of(op, token, words)
    except ValueError as error:
        raise cursor.error(f"{op.text}: {error}") from None


def _sizes(cursor: Cursor[Version], op: Op, token: int, offset: int) -> Sizes:
    if op not in SIZE_TYPES:
        return Sizes.FLOAT
    try:
        return SIZE_TYPES[op][fields.SIZES.of(token)]
    except IndexError:
        what = f"{op.text} cannot answer in type {fields.SIZES.of(token)}"
        raise ShaderError(what, offset=offset) from None


# Rules for a whole program.  Refused is what no driver could interpret: unbalanced flow control,
# recursive calls, sizes out of bounds, undeclared resources and temporaries.  Accepted is what
# still has a meaning: undeclared inputs and outputs, results that are never written.

_ROWS = 4096
"""Maximum number of temporaries plus rows of all arrays, and of immediate constant buffer rows."""
_SHARED_BYTES = 1 << 15
_GROUP_THREADS = 1024
_STRIDE = 2048
_COMPONENTS = 4

_COUNTS = {
    Op.DCL_INDEXABLETEMP: (1, _ROWS),
    Op.DCL_TEMPS: (0, _ROWS),
    Op.DCL_MAXOUT: (0, 1024),
    Op.DCL_GSINSTANCES: (1, 32),
    Op.DCL_INPUT_CONTROL_POINT_COUNT: (0, 32),
    Op.DCL_OUTPUT_CONTROL_POINT_COUNT: (0, 32),
    Op.DCL_HS_FORK_PHASE_INSTANCE_COUNT: (1, 128),
    Op.DCL_HS_JOIN_PHASE_INSTANCE_COUNT: (1, 128),
    Op.DCL_TGSM_STRUCTURED: (1, _SHARED_BYTES),
}
"""Smallest and largest valid count of a declaration, by opcode."""

_STRIDED = frozenset({Op.DCL_UAV_STRUCTURED, Op.DCL_RESOURCE_STRUCTURED, Op.DCL_TGSM_STRUCTURED})


class _Scope(msgspec.Struct):
    """Numbers and dimensions of the registers declared so far.  Mutable while decoding."""

    temps: int | None = None
    rows: int = 0
    """Temporaries plus rows of all arrays."""
    arrays: dict[int, Declaration] = msgspec.field(default_factory=dict)
    known: MutableMapping[tuple[File, int], Dimension | None] = msgspec.field(default_factory=dict)
    constants: bool = False
    """Whether an immediate constant buffer is declared."""


def validate(program: Program) -> None:
    """Check the rules that concern a program as a whole.

    Raises ShaderError at the offending instruction.
    """
    check_flow(program)
    shared = _Scope()
    for phase in phases(program):
        first = phase.marker is not None and phase.marker.op is Op.HS_DECLS
        scope = (
            shared
            if first
            else _Scope(known=ChainMap({}, shared.known), constants=shared.constants)
        )
        for instruction in phase.declarations:
            _check_numbers(instruction)
            _declare(scope, instruction)
            _check_range(instruction, program.version.stage)
        for instruction in chain(phase.main, *phase.subroutines.values()):
            _check_operands(scope, instruction)
            _check_resource(scope.known, instruction)


def _check_numbers(instruction: Instruction) -> None:
    """Check that the counts and other numbers of a declaration are valid.  Raises ShaderError."""
    declaration, op = instruction.declaration, instruction.op
    assert declaration is not None
    least, most = _COUNTS.get(op, (0, declaration.count))
    if not least <= declaration.count <= most:
        raise instruction.error(f"{instruction.op.text} of {declaration.count}")
    if op in _STRIDED and not (0 < declaration.stride <= _STRIDE and declaration.stride % 4 == 0):
        raise instruction.error(f"a stride of {declaration.stride} bytes")
    if op is Op.DCL_INDEXABLETEMP and not 1 <= declaration.components <= _COMPONENTS:
        raise instruction.error(f"rows of {declaration.components} components")
    if op is Op.DCL_THREAD_GROUP and not 1 <= prod(declaration.threads) <= _GROUP_THREADS:
        raise instruction.error(f"{prod(declaration.threads)} threads in a group")
    if op is Op.DCL_FUNCTION_TABLE and declaration.count != len(instruction.data):
        raise instruction.error(f"{len(instruction.data)} functions, not {declaration.count}")
    if _shared_bytes(instruction) > _SHARED_BYTES:
        raise instruction.error(f"more than {_SHARED_BYTES} bytes of shared memory")


def _shared_bytes(instruction: Instruction) -> int:
    declaration = instruction.declaration
    assert declaration is not None
    if instruction.op is Op.DCL_TGSM_STRUCTURED:
        return declaration.stride * declaration.count
    return declaration.stride if instruction.op is Op.DCL_TGSM_RAW else 0


def _declare(scope: _Scope, instruction: Instruction) -> None:
    declaration, row = instruction.declaration, instruction.op.row
    assert declaration is not None
    if instruction.op is Op.DCL_TEMPS:
        if scope.temps is not None:
            raise instruction.error("temporaries are declared twice")
        scope.temps = declaration.count
        scope.rows += declaration.count
    elif instruction.op is Op.DCL_INDEXABLETEMP:
        if declaration.number in scope.arrays:
            raise instruction.error(f"x{declaration.number} is declared twice")
        scope.arrays[declaration.number] = declaration
        scope.rows += declaration.count
    elif declaration.custom == CustomClass.IMMEDIATE_CONSTANT_BUFFER:
        _declare_constants(scope, instruction)
    elif row.declares and row.declares <= BINDINGS:
        operand = instruction.operands[0]
        register = operand.file, operand.number
        if register in scope.known:
            raise instruction.error(f"{operand.file.value}{operand.number} is declared twice")
        scope.known[register] = declaration.dimension or next(iter(row.dimensions), None)
    if scope.rows > _ROWS:
        raise instruction.error(f"more than {_ROWS} temporaries")


def _declare_constants(scope: _Scope, instruction: Instruction) -> None:
    words = len(instruction.data)
    if scope.constants:
        raise instruction.error("a second immediate constant buffer")
    if words % _COMPONENTS or not 0 < words <= _ROWS * _COMPONENTS:
        raise instruction.error(f"{words} DWORDs of immediate constants")
    scope.constants = True


def _check_range(instruction: Instruction, stage: Stage) -> None:
    """Check that the registers of an index range declaration exist.

    In an operand with two indices the second is the register number.
    """
    if instruction.op is not Op.DCL_INDEXRANGE:
        return
    (operand,), declaration = instruction.operands, instruction.declaration
    assert declaration is not None
    limit = bank_of(operand.file, stage).limits[-1]
    if not 0 < declaration.count <= limit - operand.indices[-1].offset:
        raise instruction.error(f"a range of {declaration.count} registers")


def _check_operands(scope: _Scope, instruction: Instruction) -> None:
    for operand in instruction.operands:
        inner = (index.relative for index in operand.indices)
        for each in (operand, *(one for one in inner if one is not None)):
            if not _is_declared(scope, each):
                numbers = "".join(f"[{index.offset}]" for index in each.indices)
                raise instruction.error(f"{each.file.value}{numbers} is not declared")


def _is_declared(scope: _Scope, operand: Operand) -> bool:
    file = operand.file
    if file is File.TEMP:
        return operand.number < (scope.temps or 0)
    if file is File.INDEXABLE_TEMP:
        array, element = scope.arrays.get(operand.number), operand.indices[1]
        return array is not None and (bool(element.relative) or element.offset < array.count)
    if file is File.IMMEDIATE_CONSTANT_BUFFER:
        return scope.constants
    if file not in BINDINGS or operand.indices[0].relative is not None:
        return True
    return (file, operand.number) in scope.known


def _check_resource(
    known: Mapping[tuple[File, int], Dimension | None], instruction: Instruction
) -> None:
    """Check that an instruction accepts the declared dimension of its resource.

    ``known`` has the dimension of each declared register by (file, number).  Raises ShaderError.
    """
    accepted = instruction.op.row.dimensions
    for operand in instruction.operands if accepted else ():
        named = bool(operand.indices) and operand.indices[0].relative is None
        dimension = known.get((operand.file, operand.number)) if named else None
        if dimension is not None and dimension not in accepted:
            register = f"{operand.file.value}{operand.number}"
            raise instruction.error(f"{instruction.op.text} of {dimension.text} {register}")
