"""Rules of ps_1_x: texture operations first and in order, phases, pairs (SM1-3 tokens, "Pixel
shaders 1.x")."""

from __future__ import annotations

from itertools import pairwise

from dp2emu.errors import ShaderError
from dp2emu.shader.sm.opcodes import Group, Op
from dp2emu.shader.sm.program import Instruction, Shader
from dp2emu.shader.sm.registers import File
from dp2emu.shader.sm.versions import V1_4

_ROWS_BEFORE = {
    Op.TEXM3x2TEX: (Op.TEXM3x2PAD,),
    Op.TEXM3x2DEPTH: (Op.TEXM3x2PAD,),
    Op.TEXM3x3TEX: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
    Op.TEXM3x3SPEC: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
    Op.TEXM3x3VSPEC: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
    Op.TEXM3x3: (Op.TEXM3x3PAD, Op.TEXM3x3PAD),
}
"""What has to come before the last row of a matrix, in the texture registers just before it."""

_PADS = frozenset({Op.TEXM3x2PAD, Op.TEXM3x3PAD})
_DEPTH_REGISTER = 5


def check_early_pixel(shader: Shader) -> None:
    """Raises ShaderError for what is out of order in a ps_1_x shader; others pass."""
    if not shader.version.early_pixel:
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
    """The second of a pair follows an arithmetic instruction that writes other components."""
    last: Instruction | None = None
    for instruction in instructions:
        if instruction.coissue:
            pair = (last, instruction)
            if any(i is None or i.row.group is not Group.ARITHMETIC for i in pair):
                raise _error(instruction, "only arithmetic instructions pair")
            assert last is not None
            if last.coissue:
                raise _error(instruction, "the instruction before is in a pair already")
            if last.target.mask & instruction.target.mask:
                raise _error(instruction, "both of a pair write the same component")
        last = instruction


def _check_textures_first(instructions: tuple[Instruction, ...]) -> None:
    arithmetic = False
    for instruction in instructions:
        arithmetic |= instruction.row.group is Group.ARITHMETIC
        if arithmetic and instruction.row.group is Group.TEXTURE:
            raise _error(instruction, "texture operations come before arithmetic")


def _check_order(textures: list[Instruction]) -> None:
    for last, instruction in pairwise(textures):
        if _number(instruction) <= _number(last):
            raise _error(instruction, "texture registers are written in ascending order, once")


def _check_matrices(textures: list[Instruction]) -> None:
    complete: set[int] = set()
    for last, instruction in enumerate(textures):
        wanted = _ROWS_BEFORE.get(instruction.op, ())
        first = last - len(wanted)
        rows = textures[max(first, 0) : last]
        numbers = [_number(row) for row in textures[max(first, 0) : last + 1]]
        if tuple(row.op for row in rows) != wanted or numbers[-1] - numbers[0] != len(wanted):
            raise _error(instruction, "the rows before this one are missing")
        complete.update(range(first, last))
    for place, instruction in enumerate(textures):
        if instruction.op in _PADS and place not in complete:
            raise _error(instruction, "the rows after this one are missing")


def _check_phases(instructions: tuple[Instruction, ...]) -> None:
    marks = [place for place, i in enumerate(instructions) if i.op is Op.PHASE]
    if len(marks) > 1:
        raise _error(instructions[marks[1]], "there is a phase already")
    second = marks[0] if marks else 0
    _check_textures_first(instructions[:second])
    _check_textures_first(instructions[second:])
    for instruction in _textures(instructions[:second]):
        if any(source.register.file is File.TEMP for source in instruction.sources):
            raise _error(instruction, "only the second phase may sample at temporaries")
    for instruction in _textures(instructions):
        if instruction.op is Op.TEXDEPTH and _number(instruction) != _DEPTH_REGISTER:
            raise _error(instruction, f"texdepth takes r{_DEPTH_REGISTER}")


def _textures(instructions: tuple[Instruction, ...]) -> list[Instruction]:
    return [i for i in instructions if i.row.group is Group.TEXTURE]


def _number(instruction: Instruction) -> int:
    return instruction.target.register.number


def _error(instruction: Instruction, what: str) -> ShaderError:
    return ShaderError(what, offset=instruction.offset)
