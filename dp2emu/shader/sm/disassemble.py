"""Disassembler: shader code to assembly text that assembles back to the same bytes.

Tokens with bits that have no syntax (reserved bits, lengths before 2.0) become ``dword`` lines,
with the instruction in a remark.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from dp2emu.argument_check import checked
from dp2emu.errors import ShaderError
from dp2emu.number_text import float_text
from dp2emu.shader.assembly import raw_lines, words_line
from dp2emu.shader.sm.assemble import (
    COLORS,
    COMMENT,
    COMPONENTS,
    Mnemonic,
    instruction_of,
    spellings,
)
from dp2emu.shader.sm.decode import decode
from dp2emu.shader.sm.encode import instruction_words
from dp2emu.shader.sm.modifiers import MODIFIERS, RESULT_SUFFIXES, SHIFT_SUFFIXES, TextureType
from dp2emu.shader.sm.opcodes import Group, Op
from dp2emu.shader.sm.program import (
    FULL_MASK,
    IDENTITY,
    Comment,
    Declaration,
    Destination,
    Instruction,
    Relative,
    Shader,
    Source,
)
from dp2emu.shader.sm.registers import File, Register
from dp2emu.shader.sm.versions import Version

_PER_LINE = 8
"""Number of DWORDs in each line of text that shows the content of a comment."""
_INWARD = frozenset({Op.IF, Op.IFC, Op.ELSE, Op.LOOP, Op.REP, Op.LABEL})
_OUTWARD = frozenset({Op.ELSE, Op.ENDIF, Op.ENDLOOP, Op.ENDREP, Op.RET})
_SHIFTS = {shift: suffix for suffix, shift in SHIFT_SUFFIXES.items()}


@checked
def disassemble(code: bytes) -> str:
    """Return the assembly text of a shader.  Raises ShaderError where ``decode`` does."""
    return "".join(line + "\n" for line in lines_of(decode(code)))


def lines_of(shader: Shader) -> Iterator[str]:
    """The lines of a decoded shader's text."""
    yield shader.version.name
    depth = 0
    parts: list[Instruction | Comment] = [*shader.instructions, *shader.comments]
    for part in sorted(parts, key=lambda part: part.offset):
        if isinstance(part, Comment):
            yield from _comment_lines(part)
            continue
        depth -= part.op in _OUTWARD and depth > 0
        yield "    " * depth + _line(part, shader.version)
        depth += part.op in _INWARD
    yield from raw_lines(shader.trailing)


def text_of(instruction: Instruction, version: Version) -> str:
    """An instruction as text, without bits that have no syntax."""
    operands = ", ".join(_operands(instruction, version))
    pair = "+ " if instruction.coissue else ""
    predicate = _predicate(instruction.predicate)
    return f"{pair}{predicate}{_mnemonic(instruction, version)} {operands}".rstrip()


def _line(instruction: Instruction, version: Version) -> str:
    text = text_of(instruction, version)
    if _round_trips(text, instruction, version):
        return text
    return f"{words_line(instruction.words)}  // {text}"


def _round_trips(text: str, instruction: Instruction, version: Version) -> bool:
    try:
        read = instruction_of(text, version)
    except ShaderError:
        return False
    return instruction_words(read, version) == instruction.words


def _comment_lines(comment: Comment) -> Iterator[str]:
    yield f"{COMMENT} {len(comment.words)}"
    for start in range(0, len(comment.words), _PER_LINE):
        words = comment.words[start : start + _PER_LINE]
        data = struct.pack(f"<{len(words)}I", *words)
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in data)
        yield f"    {words_line(words)}  // {shown}"


def _mnemonic(instruction: Instruction, version: Version) -> str:
    named = Mnemonic(instruction.op, instruction.comparison, instruction.sampling)
    parts = [spellings(version)[named]]
    if instruction.declaration is not None:
        parts += _declared(instruction.declaration)
    if instruction.destination is not None:
        shift = instruction.destination.shift
        parts += [_SHIFTS[shift]] if shift else []
        flags = instruction.destination.modifiers
        parts += [suffix for suffix, flag in RESULT_SUFFIXES.items() if flag in flags]
    return "_".join(parts)


def _declared(declaration: Declaration) -> list[str]:
    if declaration.texture is not None:
        known = declaration.texture is not TextureType.D3DSTT_UNKNOWN
        return [declaration.texture.suffix] if known else []
    if declaration.usage is None:
        return []
    return [f"{declaration.usage.name.lower()}{declaration.index or ''}"]


def _operands(instruction: Instruction, version: Version) -> Iterator[str]:
    letters = COLORS if version.is_ps_1_x else COMPONENTS
    if instruction.destination is not None:
        yield _destination(instruction.destination, letters)
    for source in instruction.sources:
        yield _source(source, letters)
    if instruction.op.row.group is Group.CONSTANT:
        yield from map(_CONSTANTS[instruction.op], instruction.constant)


def _destination(destination: Destination, letters: str) -> str:
    mask = "".join(letters[i] for i in destination.components)
    shown = "" if destination.mask == FULL_MASK else f".{mask}"
    return _indexed(destination.register, destination.relative) + shown


def _source(source: Source, letters: str) -> str:
    row = MODIFIERS[source.modifier]
    name = _indexed(source.register, source.relative)
    return f"{row.before}{name}{row.after}{_swizzle(source, letters)}"


def _predicate(predicate: Source | None) -> str:
    return "" if predicate is None else f"({_source(predicate, COMPONENTS)}) "


def _swizzle(source: Source, letters: str) -> str:
    if source.swizzle == IDENTITY:
        return ""
    shown = "".join(letters[component] for component in source.swizzle)
    return f".{shown[0]}" if len(set(shown)) == 1 else f".{shown}"


def _indexed(register: Register, relative: Relative | None) -> str:
    if relative is None:
        return str(register)
    index = str(relative.register)
    if relative.register.file is File.ADDR:
        index += "." + COMPONENTS[relative.component]
    base = f" + {register.number}" if register.number else ""
    return f"{register.file.value}[{index}{base}]"


def _signed(word: int) -> str:
    return str(word - (word >> 31 << 32))


def _truth(word: int) -> str:
    return {0: "false", 1: "true"}.get(word, f"{word:#x}")


_CONSTANTS: dict[Op, Callable[[int], str]] = {
    Op.DEF: float_text,
    Op.DEFI: _signed,
    Op.DEFB: _truth,
}
"""Function that formats one DWORD of the constant that an instruction defines, by opcode: def,
defi or defb."""
