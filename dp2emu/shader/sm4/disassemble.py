"""Disassembler: programs to assembly text that assembles back to the same bytes.

Tokens with bits that have no syntax become ``dword`` lines, with the instruction in a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from dp2emu.argument_check import checked
from dp2emu.errors import ShaderError
from dp2emu.number_text import double_text
from dp2emu.shader.assembly import raw_lines, words_line
from dp2emu.shader.sm4 import spelling
from dp2emu.shader.sm4.assemble import instruction_of
from dp2emu.shader.sm4.declarations import FIELD
from dp2emu.shader.sm4.decode import decode
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.enums import CustomClass, Precision
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Program, Selection
from dp2emu.shader.sm4.registers import File

_PER_LINE = 8
"""Number of DWORDs in a ``dword`` line."""
_INWARD = frozenset({Op.IF, Op.ELSE, Op.LOOP, Op.SWITCH, Op.CASE, Op.DEFAULT})
_OUTWARD = frozenset({Op.ELSE, Op.ENDIF, Op.ENDLOOP, Op.ENDSWITCH, Op.CASE, Op.DEFAULT})
_CUSTOM = {each.value: each.name.lower() for each in CustomClass}


@checked
def disassemble(code: bytes) -> str:
    """Return the assembly text of a program.  Raises ShaderError where ``decode`` does."""
    return "".join(line + "\n" for line in lines_of(decode(code)))


def lines_of(program: Program) -> Iterator[str]:
    """The lines of a decoded program's text."""
    yield program.version.name
    blocks: list[Op] = []
    for instruction in program.instructions:
        _leave(blocks, instruction.op)
        for line in _lines(instruction):
            yield "    " * len(blocks) + line
        if instruction.op in _INWARD:
            blocks.append(instruction.op)
    yield from raw_lines(program.trailing)


def _leave(blocks: list[Op], op: Op) -> None:
    """Pop the blocks that instruction ``op`` ends from the stack of open blocks.

    endswitch also ends the last case.
    """
    if op in _OUTWARD and blocks and not (blocks[-1] is Op.SWITCH and op is not Op.ENDSWITCH):
        blocks.pop()
    if op is Op.ENDSWITCH and blocks and blocks[-1] is Op.SWITCH:
        blocks.pop()


def text_of(instruction: Instruction) -> str:
    """An instruction as text, without bits that have no syntax."""
    if instruction.declaration is not None:
        return _declaration(instruction)
    operands = ", ".join(_operands(instruction))
    return f"{_mnemonic(instruction)} {operands}".rstrip()


def _lines(instruction: Instruction) -> Iterator[str]:
    text = text_of(instruction)
    if _round_trips(text, instruction):
        yield from text.split("\n")
        return
    words = instruction.words
    remark = "  // " + text.partition("\n")[0]
    for start in range(0, len(words), _PER_LINE):
        yield words_line(words[start : start + _PER_LINE]) + remark
        remark = ""


def _round_trips(text: str, instruction: Instruction) -> bool:
    try:
        return instruction_words(instruction_of(text)) == instruction.words
    except ShaderError:
        return False


def _declaration(instruction: Instruction) -> str:
    declaration = instruction.declaration
    assert declaration is not None
    if declaration.custom not in (None, CustomClass.IMMEDIATE_CONSTANT_BUFFER):
        return f"customdata {_CUSTOM.get(declaration.custom or 0, declaration.custom)}"

    def field(match: re.Match[str]) -> str:
        if match[1] == "operand":
            return _declared(instruction.operands[0])
        spelled = spelling.FIELDS[match[1]]
        source = instruction if spelled.name == "data" else declaration
        return spelled.write(getattr(source, spelled.name))

    return FIELD.sub(field, instruction.op.phrase).rstrip()


def _declared(operand: Operand) -> str:
    """Format the operand of a declaration; a constant buffer with all components names none."""
    whole = operand.file is File.CONSTANT_BUFFER and operand.selection is Selection.SWIZZLE
    if whole and operand.components == (0, 1, 2, 3):
        operand = replace(operand, selection=Selection.NONE, components=())
    return _operand(operand, "D")


def _mnemonic(instruction: Instruction) -> str:
    name = spelling.Mnemonic(
        instruction.op, instruction.nonzero, instruction.sizes, instruction.sync
    )
    text = spelling.spellings()[name] + (spelling.SATURATE if instruction.saturate else "")
    groups = ""
    if any(instruction.texel):
        text += spelling.TEXEL
        groups += f"({','.join(map(str, instruction.texel))})"
    view = instruction.view
    if view is not None:
        text += spelling.VIEW
        stride = f", stride={view.stride}" if view.stride else ""
        groups += f"({view.dimension.text if view.dimension else ''}{stride})"
        groups += spelling.returns_text(view.returns) if view.returns else ""
    if instruction.precise:
        chosen = (
            letter for i, letter in enumerate(spelling.COMPONENTS) if instruction.precise >> i & 1
        )
        groups += f" [precise({''.join(chosen)})]"
    return text + groups


def _operands(instruction: Instruction) -> Iterator[str]:
    if instruction.op is Op.FCALL:
        yield from map(str, instruction.data)
    yield from map(_operand, instruction.operands, instruction.op.row.operands)


def _operand(operand: Operand, letter: str) -> str:
    text = _immediate(operand, letter) if operand.words else _register(operand)
    text = f"|{text}|" if operand.absolute else text
    text = f"-{text}" if operand.negate else text
    if operand.precision is not Precision.DEFAULT:
        text += f" {{{operand.precision.text}}}"
    return text


def _immediate(operand: Operand, letter: str) -> str:
    words = operand.words
    if operand.file is File.IMMEDIATE64:
        pairs = zip(words[::2], words[1::2], strict=True)
        return f"d({', '.join(double_text(high << 32 | low) for low, high in pairs)})"
    return f"l({', '.join(spelling.value_text(word, letter) for word in words)})"


def _register(operand: Operand) -> str:
    """Format a register: name, indices and components."""
    chosen = "".join(spelling.COMPONENTS[component] for component in operand.components)
    suffix = f".{chosen}" if operand.selection not in (Selection.NONE, Selection.ONE) else ""
    return _indexed(operand.file, operand.indices) + suffix


def _indexed(file: File, indices: tuple[Index, ...]) -> str:
    attached = file in spelling.ATTACHED or (len(indices) == 1 and file not in spelling.BRACKETED)
    text = file.value
    if indices and attached and indices[0].relative is None:
        text += str(indices[0].offset)
        indices = indices[1:]
    return text + "".join(f"[{_index(index)}]" for index in indices)


def _index(index: Index) -> str:
    if index.relative is None:
        return str(index.offset)
    return f"{_register(index.relative)} + {index.offset}"
