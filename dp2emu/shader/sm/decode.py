"""Decoder of shader code of Direct3D 8 and 9 (SM1-3 tokens, "Instruction tokens", "Parameter
tokens" and "Registers").

``validate`` refuses what no driver could interpret: unbalanced flow control, recursive calls, two
declarations of one register.  It accepts what a driver can ignore: exceeded read port limits,
registers read before they are written or declared, results that are never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from dp2emu.argument_check import checked
from dp2emu.d3d.enums import DeclUsage
from dp2emu.errors import ShaderError
from dp2emu.shader import cursor
from dp2emu.shader.sm import fields
from dp2emu.shader.sm.flow import INSTRUCTIONS, check_flow
from dp2emu.shader.sm.modifiers import (
    MODIFIERS,
    SHIFT_SUFFIXES,
    Comparison,
    Sampling,
    SourceModifier,
    TextureType,
)
from dp2emu.shader.sm.opcodes import Control, Form, Group, Op, destination_files, source_files
from dp2emu.shader.sm.program import (
    FULL_MASK,
    Comment,
    Declaration,
    Destination,
    Instruction,
    Relative,
    Shader,
    Source,
)
from dp2emu.shader.sm.registers import BY_FILE, File, Register, exists, register
from dp2emu.shader.sm.versions import (
    BY_TOKEN,
    V1_1,
    V1_4,
    V2_0,
    V3_0,
    Level,
    Stage,
    Version,
    entry,
)

Cursor = cursor.Cursor[Version]


def parameter(cursor: Cursor) -> int:
    """Read a parameter token.  Raises ShaderError if bit 31 of the next DWORD is clear."""
    token = cursor.take()
    if not token & fields.PARAMETER:
        raise cursor.error(f"{token:#010x} is no parameter token: bit 31 is clear")
    return token


_Indexes = Mapping[tuple[Stage, File], Mapping[Level, frozenset[File]]]
_A0, _AL = frozenset({File.ADDR}), frozenset({File.LOOP})

_READ_BY: _Indexes = {
    (Stage.VERTEX, File.CONST): {V1_1: _A0, V2_0: _A0 | _AL},
    (Stage.VERTEX, File.INPUT): {V3_0: _A0 | _AL},
    (Stage.PIXEL, File.INPUT): {V3_0: _AL},
}

_WRITTEN_BY: _Indexes = {(Stage.VERTEX, File.OUTPUT): {V3_0: _AL}}
"""Register files that may index a destination: by (stage, indexed file), then by the version from
which on they may."""
_LOGIC = frozenset({File.CONSTBOOL, File.PREDICATE})
_SHIFTS = frozenset({0, *SHIFT_SUFFIXES.values()})
_LOGICAL = frozenset({SourceModifier.NOT})
_NUMERIC = frozenset(SourceModifier) - _LOGICAL
_TEXTURES = frozenset(TextureType)
_USAGES = frozenset(DeclUsage)
_MASKLESS = frozenset({"k", "D"})
"""Letters (of the opcode table) of destination operands whose write mask may be empty."""


def read_source(cursor: Cursor, letter: str, rows: int = 1) -> Source:
    """Read the next source operand of an instruction; it covers ``rows`` consecutive registers."""
    token = parameter(cursor)
    found = _register(cursor, token)
    if found.file not in source_files(letter):
        raise cursor.error(f"{found} cannot be read here")
    if not exists(cursor.version, found, rows):
        what = f"{found}" if rows == 1 else f"{rows} registers from {found}"
        raise cursor.error(f"{cursor.version.name} has no {what}")
    modifier = _modifier(cursor, token, found.file)
    relative = _relative(cursor, token, found, written=False)
    return Source(found, fields.swizzle_of(token), modifier, relative)


def read_destination(cursor: Cursor, letter: str) -> Destination:
    """Read the next destination operand of an instruction."""
    token = parameter(cursor)
    found = _register(cursor, token)
    if found.file not in destination_files(letter, cursor.version):
        raise cursor.error(f"{found} cannot be written here")
    if not exists(cursor.version, found):
        raise cursor.error(f"{cursor.version.name} has no {found}")
    mask, shift = fields.MASK.of(token), fields.shift_of(token)
    if mask == 0 and letter not in _MASKLESS:
        raise cursor.error(f"nothing of {found} is written: its mask is empty")
    if shift not in _SHIFTS or (shift and not cursor.version.is_ps_1_x):
        raise cursor.error(f"{cursor.version.name} has no result shift {shift}")
    relative = _relative(cursor, token, found, written=True)
    return Destination(found, mask, fields.result_of(token), shift, relative)


def read_declaration(cursor: Cursor) -> tuple[Declaration, Destination]:
    """Read the usage token of a dcl and its register (SM1-3 tokens, "Shader declarations")."""
    offset = cursor.offset
    token = parameter(cursor)
    destination = read_destination(cursor, "D")
    return _declaration(cursor.version, destination.register, token, offset), destination


def has_usage(version: Version, register: Register) -> bool:
    """Whether the dcl of a register names a usage."""
    if version.stage is Stage.PIXEL and version.level < V3_0:
        return False
    return register.file in (File.INPUT, File.OUTPUT)


def _declaration(version: Version, register: Register, token: int, offset: int) -> Declaration:
    if register.file is File.SAMPLER:
        if fields.TEXTURE.of(token) not in _TEXTURES:
            raise ShaderError(f"{fields.TEXTURE.of(token)} is no texture type", offset=offset)
        return Declaration(texture=TextureType(fields.TEXTURE.of(token)))
    if not has_usage(version, register):
        return Declaration()
    if fields.USAGE.of(token) not in _USAGES:
        raise ShaderError(f"{fields.USAGE.of(token)} is no usage", offset=offset)
    return Declaration(DeclUsage(fields.USAGE.of(token)), fields.USAGE_INDEX.of(token))


def _register(cursor: Cursor, token: int) -> Register:
    type = fields.TYPE_HIGH.of(token) << 3 | fields.TYPE_LOW.of(token)
    found = register(cursor.version, type, fields.NUMBER.of(token))
    if found is None:
        raise cursor.error(f"{cursor.version.name} has no registers of type {type}")
    return found


def _modifier(cursor: Cursor, token: int, file: File) -> SourceModifier:
    bits = fields.MODIFIER.of(token)
    if bits == SourceModifier.NONE:
        return SourceModifier.NONE
    wanted = _LOGICAL if file in _LOGIC else _NUMERIC if file in source_files("v") else ()
    if bits not in wanted or not MODIFIERS[SourceModifier(bits)].exists(cursor.version):
        raise cursor.error(f"{file.value} registers have no source modifier {bits} here")
    return SourceModifier(bits)


def index_files(version: Version, file: File, *, written: bool) -> frozenset[File]:
    """Register files that may index ``file`` in a source, or in a destination if ``written``."""
    indexes = _WRITTEN_BY if written else _READ_BY
    return entry(indexes.get((version.stage, file), {}), version.level) or frozenset()


def _relative(cursor: Cursor, token: int, register: Register, *, written: bool) -> Relative | None:
    """Read the token of an operand's index register; before 2.0 it is a0.x, without token."""
    if not fields.RELATIVE.of(token):
        return None
    version = cursor.version
    allowed = index_files(version, register.file, written=written)
    if not allowed:
        raise cursor.error(f"{register} cannot be indexed in {version.name}")
    if not version.has_lengths:
        return Relative(Register(File.ADDR))
    index = parameter(cursor)
    found = _register(cursor, index)
    if found.file not in allowed or not exists(version, found) or fields.RELATIVE.of(index):
        raise cursor.error(f"{register} cannot be indexed by this")
    return Relative(found, fields.swizzle_of(index)[0] if found.file is File.ADDR else 0)


def validate(shader: Shader) -> None:
    """Check the rules that concern a shader as a whole.

    Raises ShaderError at the offending instruction.
    """
    check_declarations(shader)
    check_ps_1_x(shader)
    check_flow(shader)


def check_declarations(shader: Shader) -> None:
    """Check that no register component is declared twice; several dcl may share a register."""
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
    """The components that a dcl declares; the mask of a sampler is ignored."""
    is_sampler = instruction.target.register.file is File.SAMPLER
    return FULL_MASK if is_sampler else instruction.target.mask


_PREDICABLE = frozenset({Group.ARITHMETIC, Group.TEXTURE})
_OPS = frozenset(Op)
_COMPARISONS, _SAMPLINGS = frozenset(Comparison), frozenset(Sampling)


@checked
def decode(code: bytes) -> Shader:
    """Decode a shader; bytes after its end token are stored uninterpreted.

    Raises ShaderError with the byte offset for tokens that the tables do not allow, then for
    violations of ``validate``.
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
        if token == fields.END:
            return
        if token & fields.PARAMETER:
            raise cursor.error(f"{token:#010x} is no instruction token: bit 31 is set")
        kind = "comments" if fields.OPCODE.of(token) == fields.COMMENT_OPCODE else "instructions"
        left[kind] -= 1
        if left[kind] < 0:
            raise cursor.error(f"more than {INSTRUCTIONS} {kind}")
        if kind == "comments":
            yield Comment(cursor.raw(fields.COMMENT_LENGTH.of(token)), offset)
        else:
            yield _instruction(cursor, token, offset)


def _instruction(cursor: Cursor, token: int, offset: int) -> Instruction:
    op, form = _form(cursor, token)
    row = op.row
    comparison, sampling = _control(cursor, row.control, token)
    predicated, coissue = _predicated(cursor, op, token), _coissue(cursor, token)
    if cursor.version.has_lengths:
        cursor.enter(fields.LENGTH.of(token))
    declaration = destination = None
    if row.group is Group.DECLARATION:
        declaration, destination = read_declaration(cursor)
    elif form.destination:
        destination = read_destination(cursor, form.destination)
    predicate = read_source(cursor, "p") if predicated else None
    sources = tuple(_sources(cursor, row.rows, form))
    constant = cursor.raw(row.raw)
    return Instruction(
        op=op,
        destination=destination,
        sources=sources,
        predicate=predicate,
        comparison=comparison,
        sampling=sampling,
        coissue=coissue,
        constant=constant,
        declaration=declaration,
        offset=offset,
        words=cursor.leave(offset, exact=cursor.version.has_lengths),
    )


def _form(cursor: Cursor, token: int) -> tuple[Op, Form]:
    number = fields.OPCODE.of(token)
    if number not in _OPS:
        raise cursor.error(f"unknown opcode {number}")
    op = Op(number)
    form = op.row.form(cursor.version)
    if form is None:
        raise cursor.error(f"{cursor.version.name} has no {op.sdk}")
    return op, form


def _control(cursor: Cursor, control: Control, token: int) -> tuple[Comparison | None, Sampling]:
    bits = fields.CONTROL.of(token)
    if control is Control.COMPARISON:
        if bits not in _COMPARISONS:
            raise cursor.error(f"{bits} is no comparison")
        return Comparison(bits), Sampling.PLAIN
    if control is Control.SAMPLING and cursor.version.has_lengths:
        if bits not in _SAMPLINGS:
            raise cursor.error(f"{bits} is no way of sampling")
        return None, Sampling(bits)
    return None, Sampling.PLAIN


def _predicated(cursor: Cursor, op: Op, token: int) -> bool:
    if not fields.PREDICATED.of(token):
        return False
    if not BY_FILE[File.PREDICATE].count(cursor.version):
        raise cursor.error(f"{cursor.version.name} has no predicate")
    if op.row.group not in _PREDICABLE:
        raise cursor.error(f"{op.sdk} cannot be predicated")
    return True


def _coissue(cursor: Cursor, token: int) -> bool:
    if fields.COISSUE.of(token) and not cursor.version.is_ps_1_x:
        raise cursor.error(f"{cursor.version.name} has no co-issue")
    return bool(fields.COISSUE.of(token))


def _sources(cursor: Cursor, rows: int, form: Form) -> Iterator[Source]:
    for letter in form.sources[:-1]:
        yield read_source(cursor, letter)
    if form.sources:
        yield read_source(cursor, form.sources[-1], rows)
    if form.optional and cursor.more():
        for letter in form.optional:
            yield read_source(cursor, letter)


# Rules of ps_1_x: texture operations first and in order, phases, pairs (SM1-3 tokens, "Pixel
# shaders 1.x").

_ROWS_BEFORE = {
    Op.TEXM3x2TEX: (Op.TEXM3x2PAD,),
    Op.TEXM3x2DEPTH: (Op.TEXM3x2PAD,),
    Op.TEXM3x3TEX: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
    Op.TEXM3x3SPEC: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
    Op.TEXM3x3VSPEC: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
    Op.TEXM3x3: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
}
"""Opcodes of the instructions for the earlier rows of a ps_1_x texture matrix, by the opcode of
the last row's instruction."""

_PADS = frozenset({Op.TEXM3x2PAD, Op.TEXM3x3PAD})
_DEPTH_REGISTER = 5


def check_ps_1_x(shader: Shader) -> None:
    """Check the instruction order of a ps_1_x shader.  Raises ShaderError; other versions pass."""
    if not shader.version.is_ps_1_x:
        return
    _check_pairs(shader.instructions)
    if shader.version.level < V1_4:
        _check_textures_first(shader.instructions)
        textures = [i for i in _textures(shader.instructions) if i.op is not Op.TEXKILL]
        _check_order(textures)
        _check_matrices(textures)
    else:
        _check_phases(shader.instructions)


def _check_pairs(instructions: tuple[Instruction, ...]) -> None:
    """Check co-issued pairs: two arithmetic instructions that write different components."""
    last: Instruction | None = None
    for instruction in instructions:
        if instruction.coissue:
            pair = (last, instruction)
            if any(i is None or i.op.row.group is not Group.ARITHMETIC for i in pair):
                raise instruction.error("only arithmetic instructions pair")
            assert last is not None
            if last.coissue:
                raise instruction.error("the instruction before is in a pair already")
            if last.target.mask & instruction.target.mask:
                raise instruction.error("both of a pair write the same component")
        last = instruction


def _check_textures_first(instructions: tuple[Instruction, ...]) -> None:
    arithmetic = False
    for instruction in instructions:
        arithmetic |= instruction.op.row.group is Group.ARITHMETIC
        if arithmetic and instruction.op.row.group is Group.TEXTURE:
            raise instruction.error("texture operations come before arithmetic")


def _check_order(textures: list[Instruction]) -> None:
    for last, instruction in pairwise(textures):
        if _number(instruction) <= _number(last):
            raise instruction.error("texture registers are written in ascending order, once")


def _check_matrices(textures: list[Instruction]) -> None:
    complete: set[int] = set()
    for last, instruction in enumerate(textures):
        wanted = _ROWS_BEFORE.get(instruction.op, ())
        first = last - len(wanted)
        rows = textures[max(first, 0) : last]
        numbers = [_number(row) for row in textures[max(first, 0) : last + 1]]
        if tuple(row.op for row in rows) != wanted or numbers[-1] - numbers[0] != len(wanted):
            raise instruction.error("the rows before this one are missing")
        complete.update(range(first, last))
    for place, instruction in enumerate(textures):
        if instruction.op in _PADS and place not in complete:
            raise instruction.error("the rows after this one are missing")


def _check_phases(instructions: tuple[Instruction, ...]) -> None:
    marks = [place for place, i in enumerate(instructions) if i.op is Op.PHASE]
    if len(marks) > 1:
        raise instructions[marks[1]].error("there is a phase already")
    second = marks[0] if marks else 0
    _check_textures_first(instructions[:second])
    _check_textures_first(instructions[second:])
    for instruction in _textures(instructions[:second]):
        if any(source.register.file is File.TEMP for source in instruction.sources):
            raise instruction.error("only the second phase may sample at temporaries")
    for instruction in _textures(instructions):
        if instruction.op is Op.TEXDEPTH and _number(instruction) != _DEPTH_REGISTER:
            raise instruction.error(f"texdepth takes r{_DEPTH_REGISTER}")


def _textures(instructions: tuple[Instruction, ...]) -> list[Instruction]:
    return [i for i in instructions if i.op.row.group is Group.TEXTURE]


def _number(instruction: Instruction) -> int:
    return instruction.target.register.number
