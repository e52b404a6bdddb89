"""Valid shaders by chance, derived from the tables: for property tests and fuzzing.

All opcodes, operands, modifiers and blocks of a version come out.  Loops count by constants that
the shader defines itself, at most three times each, so that what comes out can also be run.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

from dp2emu.d3d.enums import DeclUsage
from dp2emu.shader.sm.encode import comment_words, instruction_words
from dp2emu.shader.sm.fields import END, LENGTH
from dp2emu.shader.sm.modifiers import TextureType
from dp2emu.shader.sm.opcodes import TABLE, Group, Op
from dp2emu.shader.sm.operands import has_usage
from dp2emu.shader.sm.picking import ALPHA, RGB, Picker
from dp2emu.shader.sm.program import (
    FULL_MASK,
    Comment,
    Declaration,
    Destination,
    Instruction,
    Source,
)
from dp2emu.shader.sm.registers import BY_FILE, File, Register
from dp2emu.shader.sm.versions import V1_4, V2_0, VERSIONS, Version

_DEPTH = 3
_LOOP_DEPTH = 2
_TURNS = 3
_SUBROUTINES = 3
_PHASE_TEXTURES = 4

_BLOCKS = {
    Op.IF: Op.ENDIF,
    Op.IFC: Op.ENDIF,
    Op.REP: Op.ENDREP,
    Op.LOOP: Op.ENDLOOP,
}
_LOOPS = frozenset({Op.REP, Op.LOOP})
_BREAKS = (Op.BREAK, Op.BREAKC, Op.BREAKP)
_CALLS = (Op.CALL, Op.CALLNZ)
_DECLARED = (File.INPUT, File.TEXTURE, File.OUTPUT, File.SAMPLER, File.MISCTYPE)

_MATRICES = (
    (Op.TEXM3x2PAD, Op.TEXM3x2TEX),
    (Op.TEXM3x2PAD, Op.TEXM3x2DEPTH),
    (Op.TEXM3x3PAD, Op.TEXM3x3PAD, Op.TEXM3x3TEX),
    (Op.TEXM3x3PAD, Op.TEXM3x3PAD, Op.TEXM3x3SPEC),
    (Op.TEXM3x3PAD, Op.TEXM3x3PAD, Op.TEXM3x3VSPEC),
    (Op.TEXM3x3PAD, Op.TEXM3x3PAD, Op.TEXM3x3),
)
_IN_MATRICES = {op for rows in _MATRICES for op in rows}

_RESERVED_IN_INSTRUCTION = 1 << 29
_RESERVED_IN_PARAMETER = (1 << 14, 1 << 15)

_FLOATS = (0x00000000, 0x80000000, 0x3F000000, 0x3F800000, 0xBF800000, 0x40490FDB, 0x00000001)
_RARE_FLOATS = (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x7F7FFFFF)


def generate(
    rng: Random, version: Version | None = None, *, length: int = 16, odd: bool = False
) -> bytes:
    """Code of a valid shader of about ``length`` instructions; of any version if None is given.

    ``odd``: reserved bits are set here and there, comments stand between instructions, and bytes
    follow the end token.
    """
    picker = Picker(rng, version or rng.choice(VERSIONS))
    instructions = [*_setup(picker), *_body(picker, length)]
    groups = [(each, instruction_words(each, picker.version)) for each in instructions]
    if odd:
        words = [word for group in _oddly(groups, picker) for word in group]
    else:
        words = [word for _, group in groups for word in group]
    code = struct.pack(f"<{len(words) + 2}I", picker.version.token, *words, END)
    return code + rng.randbytes(rng.randrange(12)) if odd else code


def _setup(picker: Picker) -> Iterator[Instruction]:
    """Constants and declarations; what is not among them is not used, floats excepted."""
    yield from _constants(picker)
    for file in _DECLARED:
        if picker.can(Op.DCL) and picker.count(file):
            declared = list(_declarations(picker, file))
            picker.known[file] = [each.target.register for each in declared]
            yield from declared


def _constants(picker: Picker) -> Iterator[Instruction]:
    rng = picker.rng
    for _ in range(rng.randrange(4)):
        floats = rng.choices(_FLOATS * 4 + _RARE_FLOATS + (rng.getrandbits(32),), k=4)
        yield _constant(picker, Op.DEF, File.CONST, floats)
    if not picker.can(Op.DEFI):
        return
    for _ in range(rng.randrange(2)):
        yield _constant(picker, Op.DEFB, File.CONSTBOOL, [rng.choice((0, 1, 1, 0x80000000))])
    integers = []
    for _ in range(1 + rng.randrange(3)):
        numbers = rng.randrange(_TURNS + 1), rng.randrange(-2, 4), rng.randrange(-1, 3), 0
        words = [number & 0xFFFFFFFF for number in numbers]
        integers.append(_constant(picker, Op.DEFI, File.CONSTINT, words))
    picker.known[File.CONSTINT] = [each.target.register for each in integers]
    yield from integers


def _constant(picker: Picker, op: Op, file: File, words: list[int]) -> Instruction:
    destination = Destination(picker.register({file}))
    return Instruction(op, destination, constant=tuple(words))


def _declarations(picker: Picker, file: File) -> Iterator[Instruction]:
    count = BY_FILE[file].count(picker.version)
    least = 1 if file is File.OUTPUT or picker.version.sized else 0
    numbers = picker.rng.sample(range(count), picker.rng.randint(least, min(count, 4)))
    for number in sorted(numbers):
        for mask in _packed(picker, file):
            declaration = _declaration(picker, Register(file, number))
            flags = picker.declared_flags(file)
            destination = Destination(Register(file, number), mask, flags)
            yield Instruction(Op.DCL, destination, declaration=declaration)


def _packed(picker: Picker, file: File) -> tuple[int, ...]:
    """Masks that share a register."""
    choices = [(FULL_MASK,), (0b0011,), (0b0011, 0b0100), (0b0111, 0b1000)]
    return picker.rng.choice(choices if file in (File.OUTPUT, File.INPUT) else choices[:1])


def _declaration(picker: Picker, register: Register) -> Declaration:
    if register.file is File.SAMPLER:
        return Declaration(texture=picker.rng.choice(list(TextureType)))
    if has_usage(picker.version, register):
        return Declaration(picker.rng.choice(list(DeclUsage)), picker.rng.randrange(16))
    return Declaration()


def _body(picker: Picker, length: int) -> Iterator[Instruction]:
    version = picker.version
    if version.early_pixel:
        write = _early if version.level < V1_4 else _phases
        yield from write(picker, length)
    elif picker.can(Op.CALL):
        yield from _routines(picker, length)
    else:
        yield from _block(picker, length, _LOOP_DEPTH)
        yield _result(picker)


def _routines(picker: Picker, length: int) -> Iterator[Instruction]:
    labels = [Register(File.LABEL, number) for number in range(picker.rng.randrange(_SUBROUTINES))]
    picker.known[File.LABEL] = labels
    yield from _block(picker, length, _LOOP_DEPTH)
    yield _result(picker)
    if labels or picker.chance(2):
        yield Instruction(Op.RET)
    for number, label in enumerate(labels):
        nested = picker.version.level > V2_0
        picker.known[File.LABEL] = labels[number + 1 :] if nested else ()
        yield Instruction(Op.LABEL, sources=(Source(label),))
        yield from _block(picker, length // 4, 1)
        yield Instruction(Op.RET)


def _result(picker: Picker) -> Instruction:
    """Write what a shader has to write."""
    results = (File.RASTOUT, File.OUTPUT, File.COLOROUT, File.TEMP)
    file = next(file for file in results if picker.count(file))
    known = picker.known.get(file, (Register(file),))
    return Instruction(Op.MOV, Destination(known[0]), (Source(Register(File.TEMP)),))


def _block(picker: Picker, length: int, loops: int) -> Iterator[Instruction]:
    """Instructions with blocks among them, of which ``loops`` loops may nest."""
    plain = [*_ops(picker, Group.ARITHMETIC), *_ops(picker, Group.TEXTURE), Op.NOP]
    around = sum(op in _LOOPS for op in picker.blocks)
    openers = [op for op in _BLOCKS if op not in _LOOPS or around < loops]
    leaps = _CALLS + _BREAKS if around else _CALLS
    for _ in range(length):
        opener, leap = picker.rng.choice(openers), picker.rng.choice(leaps)
        if len(picker.blocks) < _DEPTH and picker.chance(8) and picker.can(opener):
            yield from _nested(picker, opener, loops)
        elif picker.chance(12) and picker.can(leap):
            yield picker.instruction(leap)
        else:
            yield picker.instruction(picker.rng.choice(plain))


def _nested(picker: Picker, opener: Op, loops: int) -> Iterator[Instruction]:
    """A block with its opener and closer, and perhaps an else."""
    yield picker.instruction(opener)
    picker.blocks.append(opener)
    yield from _block(picker, 1 + picker.rng.randrange(4), loops)
    if opener not in _LOOPS and picker.chance(2):
        yield Instruction(Op.ELSE)
        yield from _block(picker, 1 + picker.rng.randrange(4), loops)
    picker.blocks.pop()
    yield Instruction(_BLOCKS[opener])


def _ops(picker: Picker, group: Group) -> list[Op]:
    return [row.op for row in TABLE if row.group is group and picker.can(row.op)]


def _early(picker: Picker, length: int) -> Iterator[Instruction]:
    """ps_1_0 to ps_1_3: up to four texture operations, then arithmetic."""
    singles = [(op,) for op in _ops(picker, Group.TEXTURE) if op not in _IN_MATRICES]
    matrices = [rows for rows in _MATRICES if all(picker.can(op) for op in rows)]
    stages, stage = picker.count(File.TEXTURE), 0
    while stage < stages:
        rows = picker.rng.choice(matrices if picker.chance(3) else singles)
        if stage + len(rows) <= stages and not picker.chance(3):
            for number, op in enumerate(rows, stage):
                yield _at(picker.instruction(op), Register(File.TEXTURE, number))
        stage += len(rows)
    yield from _pairs(picker, length)
    yield _result(picker)


def _phases(picker: Picker, length: int) -> Iterator[Instruction]:
    """ps_1_4: one phase or two, texture operations first in each."""
    if picker.chance(2):
        yield from _sampled(picker, (Op.TEX, Op.TEXCOORD), "t")
        yield from _pairs(picker, length // 2)
        yield Instruction(Op.PHASE)
    yield from _sampled(picker, tuple(_ops(picker, Group.TEXTURE)), "x")
    yield from _pairs(picker, length // 2)
    yield _result(picker)


def _sampled(picker: Picker, ops: tuple[Op, ...], coordinates: str) -> Iterator[Instruction]:
    """Texture operations of a phase, ``coordinates`` being the letter of what texld may read."""
    for _ in range(picker.rng.randrange(_PHASE_TEXTURES)):
        op = picker.rng.choice(ops)
        instruction = picker.instruction(op)
        if op is Op.TEX:
            instruction = replace(instruction, sources=(picker.source(coordinates),))
        yield _at(instruction, Register(File.TEMP, 5)) if op is Op.TEXDEPTH else instruction


def _at(instruction: Instruction, register: Register) -> Instruction:
    return replace(instruction, destination=replace(instruction.target, register=register))


def _pairs(picker: Picker, length: int) -> Iterator[Instruction]:
    """Arithmetic, some of it in pairs of a colour and an alpha instruction."""
    ops = _ops(picker, Group.ARITHMETIC)
    alone = [*ops, Op.NOP]
    for _ in range(length):
        if picker.chance(4):
            masks = picker.rng.sample((RGB, ALPHA), 2)
            yield picker.instruction(picker.rng.choice(ops), mask=masks[0])
            yield picker.instruction(picker.rng.choice(ops), mask=masks[1], coissue=True)
        else:
            yield picker.instruction(picker.rng.choice(alone))


def _oddly(
    groups: Iterable[tuple[Instruction, tuple[int, ...]]], picker: Picker
) -> Iterator[tuple[int, ...]]:
    """The tokens with what may be among them and in them and has no meaning."""
    rng = picker.rng
    for instruction, words in groups:
        if picker.chance(6):
            yield comment_words(Comment(tuple(rng.choices(range(1 << 32), k=rng.randrange(12)))))
        head = words[0] | (_RESERVED_IN_INSTRUCTION if picker.chance(6) else 0)
        if not picker.version.sized and picker.chance(6):
            head |= LENGTH.put(rng.getrandbits(4))
        raw = len(words) - len(instruction.constant)
        marks = [0] * 5 + list(_RESERVED_IN_PARAMETER)
        yield head, *(word | rng.choice(marks) for word in words[1:raw]), *words[raw:]
