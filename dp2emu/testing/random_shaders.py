"""Random valid shaders of Direct3D 8 and 9, derived from the opcode and register tables.

Property tests and fuzzing use them.  Every opcode, operand, modifier and block of a version can
appear.  Loops run at most three times, by constants of the shader, so it can be executed.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from random import Random

import msgspec
from msgspec.structs import replace

from dp2emu.d3d.enums import DeclUsage
from dp2emu.shader.sm.decode import has_usage, index_files
from dp2emu.shader.sm.encode import comment_words, instruction_words
from dp2emu.shader.sm.fields import END, LENGTH
from dp2emu.shader.sm.modifiers import (
    MODIFIERS,
    SHIFT_SUFFIXES,
    Comparison,
    ResultModifier,
    Sampling,
    SourceModifier,
    TextureType,
)
from dp2emu.shader.sm.opcodes import Control, Form, Group, Op, destination_files, source_files
from dp2emu.shader.sm.program import (
    FULL_MASK,
    IDENTITY,
    Comment,
    Declaration,
    Destination,
    Instruction,
    Relative,
    Source,
    Swizzle,
)
from dp2emu.shader.sm.registers import BY_FILE, File, Register
from dp2emu.shader.sm.versions import V1_4, V2_0, V2_X, V3_0, VERSIONS, Stage, Version

RGB, ALPHA = 0b0111, 0b1000
_MASKS = {Op.CRS: 0b0111, Op.SINCOS: 0b0011, Op.M4x3: 0b0111, Op.M3x3: 0b0111, Op.M3x2: 0b0011}
"""Largest write mask of an instruction by opcode, for opcodes that compute fewer than four
components."""

_COORDINATE_MASKS = {
    Op.TEXCOORD: (0b0011, 0b0111, FULL_MASK),
    Op.TEXKILL: (0b0001, 0b0111, FULL_MASK),
}

_DIVISIONS = {File.TEXTURE: SourceModifier.DW, File.TEMP: SourceModifier.DZ}
_COORDINATES: tuple[Swizzle, ...] = (IDENTITY, (0, 1, 2, 2), (0, 1, 3, 3))

_NO_VALUES = (SourceModifier.NOT, SourceModifier.DZ, SourceModifier.DW)
_VALUES = [modifier for modifier in SourceModifier if modifier not in _NO_VALUES]


class Chance:
    """A random number generator with weighted coin tosses."""

    rng: Random

    def chance(self, one_in: int) -> bool:
        """True with a probability of 1 / ``one_in``."""
        return self.rng.randrange(one_in) == 0


@cache
def _possible(version: Version, usable: frozenset[File]) -> tuple[Op, ...]:
    return tuple(op for op in Op if _is_possible(op, version, usable))


def _is_possible(op: Op, version: Version, usable: frozenset[File]) -> bool:
    """Whether the version has the opcode, and usable files for all its operands."""
    form = op.row.form(version)
    if form is None:
        return False
    wanted = [source_files(letter) for letter in form.sources]
    if form.destination:
        wanted.append(destination_files(form.destination, version))
    return all(files & usable for files in wanted)


@cache
def _in_order(files: frozenset[File]) -> tuple[File, ...]:
    return tuple(file for file in File if file in files)


class RandomOperands(msgspec.Struct, Chance):
    """Makes random operands and instructions that are valid in a shader of one version.

    Mutable: ``known`` has, for files whose registers must be declared, defined or be labels, those
    that may be used here; ``blocks`` has the opcodes that opened the enclosing blocks.
    """

    rng: Random
    version: Version
    known: dict[File, Sequence[Register]] = msgspec.field(default_factory=dict)
    blocks: list[Op] = msgspec.field(default_factory=list)
    _counts: dict[File, int] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Look up how many registers the version has of each file."""
        self._counts = {file: BY_FILE[file].count(self.version) for file in File}

    def count(self, file: File) -> int:
        """Number of registers of ``file`` that may be used: all of the version, or if the file
        needs declarations, those declared so far.
        """
        known = self.known.get(file)
        return self._counts[file] if known is None else len(known)

    def can(self, op: Op) -> bool:
        """Whether the version has the opcode and registers for all its operands."""
        return op in self.possible()

    def possible(self) -> tuple[Op, ...]:
        """The opcodes that the version has, and registers for all their operands, in order."""
        return _possible(self.version, frozenset(file for file in File if self.count(file)))

    def instruction(
        self, op: Op, *, mask: int | None = None, coissue: bool = False
    ) -> Instruction:
        """A random instruction; ``mask`` overrides its random write mask."""
        row = op.row
        form = row.form(self.version)
        assert form is not None
        compared = row.control is Control.COMPARISON
        sampled = row.control is Control.SAMPLING and self.version.has_lengths
        return Instruction(
            op,
            self.destination(op, form.destination, mask) if form.destination else None,
            self._sources(form, row.rows),
            self._predicate(row.group),
            self.rng.choice(list(Comparison)) if compared else None,
            self.rng.choice(list(Sampling)) if sampled else Sampling.PLAIN,
            coissue,
        )

    def register(self, files: Collection[File], rows: int = 1) -> Register:
        """A random register of one of the files, the first of ``rows`` consecutive ones."""
        fit = [file for file in _in_order(frozenset(files)) if self._fits(file, rows)]
        file = self.rng.choice(fit)
        known = self.known.get(file)
        if known is not None:
            return self.rng.choice(known)
        return Register(file, self.rng.randrange(self.count(file) - rows + 1))

    def destination(self, op: Op, letter: str, mask: int | None = None) -> Destination:
        """A random destination operand of kind ``letter``; ``mask`` replaces its random mask."""
        register = self.register(destination_files(letter, self.version))
        if register.file is File.ADDR:
            return Destination(register, self._address_mask())
        if letter not in "dmp":
            return Destination(register, self._coordinate_mask(op))
        return Destination(
            register,
            mask or self.mask(op),
            self._flags(letter),
            self._shift(),
            self._relative(register, written=True),
        )

    def _address_mask(self) -> int:
        """A random write mask of a0, which has a single component before version 2.0."""
        return self.rng.randrange(1, 1 << 4) if self.version.level >= V2_0 else 0b0001

    def _coordinate_mask(self, op: Op) -> int:
        """A random write mask of a texture coordinate instruction; full before ps_1_4."""
        choices = _COORDINATE_MASKS.get(op, ()) if self.version.level >= V1_4 else ()
        return self.rng.choice(choices) if choices else FULL_MASK

    def mask(self, op: Op) -> int:
        """A random write mask, within the components that ``op`` can write."""
        if self.version.is_ps_1_x and self.version.level < V1_4:
            return self.rng.choice((RGB, ALPHA, FULL_MASK))
        allowed = _MASKS.get(op, FULL_MASK)
        return self.rng.randrange(1 << 4) & allowed or allowed

    def source(self, letter: str, rows: int = 1) -> Source:
        """A random source operand of kind ``letter``: the first of ``rows`` registers to read."""
        register = self.register(source_files(letter), rows)
        return Source(
            register,
            self._swizzle(letter, register.file),
            self._modifier(letter, register.file),
            self._relative(register, written=False),
        )

    def _sources(self, form: Form, rows: int) -> tuple[Source, ...]:
        letters = form.sources + (form.optional if self.chance(2) else "")
        last = len(form.sources) - 1
        return tuple(
            self.source(letter, rows if place == last else 1)
            for place, letter in enumerate(letters)
        )

    def _predicate(self, group: Group) -> Source | None:
        possible = group in (Group.ARITHMETIC, Group.TEXTURE) and self.count(File.PREDICATE)
        if not possible or not self.chance(8):
            return None
        source = self.source("p")
        return replace(source, swizzle=IDENTITY) if self.chance(2) else source

    def _fits(self, file: File, rows: int) -> bool:
        return self.count(file) >= rows and (rows == 1 or file not in self.known)

    def declared_flags(self, file: File) -> ResultModifier:
        """Random flags of a dcl: partial precision and centroid sampling."""
        flags = ResultModifier(0)
        if self.version.stage is Stage.PIXEL and file in (File.INPUT, File.TEXTURE):
            for flag in (ResultModifier.PARTIALPRECISION, ResultModifier.MSAMPCENTROID):
                if self.chance(8):
                    flags |= flag
        return flags

    def _flags(self, letter: str) -> ResultModifier:
        flags = ResultModifier(0)
        if letter == "p":
            return flags
        saturates = self.version.stage is Stage.PIXEL or self.version.level >= V3_0
        if saturates and self.chance(4):
            flags |= ResultModifier.SATURATE
        if self.version.stage is Stage.PIXEL and self.version.has_lengths and self.chance(8):
            flags |= ResultModifier.PARTIALPRECISION
        return flags

    def _shift(self) -> int:
        shifted = self.version.is_ps_1_x and self.chance(4)
        return self.rng.choice(list(SHIFT_SUFFIXES.values())) if shifted else 0

    def _swizzle(self, letter: str, file: File) -> Swizzle:
        if letter in "tx" and self.version.level == V1_4:
            return self.rng.choice(_COORDINATES)
        if file is File.PREDICATE or (letter == "v" and self.chance(3)):
            component = self.rng.randrange(4)
            return component, component, component, component
        mixed = letter == "s" and self.version.level >= V2_X
        if (mixed or (letter == "v" and not self.version.is_ps_1_x)) and self.chance(2):
            x, y, z, w = self.rng.choices(range(4), k=4)
            return x, y, z, w
        return IDENTITY

    def _modifier(self, letter: str, file: File) -> SourceModifier:
        choices: Sequence[SourceModifier] = ()
        if file in (File.CONSTBOOL, File.PREDICATE):
            choices = (SourceModifier.NOT,)
        elif letter in "tx":
            divided = self.version.level == V1_4
            choices = (_DIVISIONS[file],) if divided else (SourceModifier.SIGN,)
        elif letter == "v":
            choices = [each for each in _VALUES if MODIFIERS[each].exists(self.version)]
        return self.rng.choice(choices) if choices and self.chance(2) else SourceModifier.NONE

    def _relative(self, register: Register, *, written: bool) -> Relative | None:
        files = index_files(self.version, register.file, written=written)
        usable = [
            file for file in (File.ADDR, File.LOOP) if file in files and self._has_value(file)
        ]
        if not usable or not self.chance(4):
            return None
        file = self.rng.choice(usable)
        every = file is File.ADDR and self.version.level >= V2_0
        return Relative(Register(file), self.rng.randrange(4) if every else 0)

    def _has_value(self, file: File) -> bool:
        return Op.LOOP in self.blocks if file is File.LOOP else self.count(file) > 0


# Whole shaders

_DEPTH = 3
_LOOP_DEPTH = 2
_TURNS = 3
_SUBROUTINES = 3
_PHASE_TEXTURES = 4
_BLOCKS = {Op.IF: Op.ENDIF, Op.IFC: Op.ENDIF, Op.REP: Op.ENDREP, Op.LOOP: Op.ENDLOOP}
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
FLOATS = (0x00000000, 0x80000000, 0x3F000000, 0x3F800000, 0xBF800000, 0x40490FDB, 0x00000001)
RARE_FLOATS = (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x7F7FFFFF)


def generate(
    rng: Random, version: Version | None = None, *, length: int = 16, odd: bool = False
) -> bytes:
    """Code of a valid shader of about ``length`` instructions, of a random version by default.

    ``odd`` adds random reserved bits, comments between instructions, and bytes after the end
    token.
    """
    chooser = RandomOperands(rng, version or rng.choice(VERSIONS))
    instructions = [*_setup(chooser), *_body(chooser, length)]
    groups = [(each, instruction_words(each, chooser.version)) for each in instructions]
    if odd:
        words = [word for group in _oddly(groups, chooser) for word in group]
    else:
        words = [word for _, group in groups for word in group]
    code = struct.pack(f"<{len(words) + 2}I", chooser.version.token, *words, END)
    return code + rng.randbytes(rng.randrange(12)) if odd else code


def _setup(chooser: RandomOperands) -> Iterator[Instruction]:
    """Random constant definitions and declarations; the registers that they declare are added to
    ``chooser.known``, so that instructions use no others.
    """
    yield from _constants(chooser)
    for file in _DECLARED:
        if chooser.can(Op.DCL) and chooser.count(file):
            declared = list(_declarations(chooser, file))
            chooser.known[file] = [each.target.register for each in declared]
            yield from declared


def _constants(chooser: RandomOperands) -> Iterator[Instruction]:
    rng = chooser.rng
    for _ in range(rng.randrange(4)):
        floats = rng.choices(FLOATS * 4 + RARE_FLOATS + (rng.getrandbits(32),), k=4)
        yield _constant(chooser, Op.DEF, File.CONST, floats)
    if not chooser.can(Op.DEFI):
        return
    for _ in range(rng.randrange(2)):
        yield _constant(chooser, Op.DEFB, File.CONSTBOOL, [rng.choice((0, 1, 1, 0x80000000))])
    integers = []
    for _ in range(1 + rng.randrange(3)):
        numbers = rng.randrange(_TURNS + 1), rng.randrange(-2, 4), rng.randrange(-1, 3), 0
        words = [number & 0xFFFFFFFF for number in numbers]
        integers.append(_constant(chooser, Op.DEFI, File.CONSTINT, words))
    chooser.known[File.CONSTINT] = [each.target.register for each in integers]
    yield from integers


def _constant(chooser: RandomOperands, op: Op, file: File, words: list[int]) -> Instruction:
    destination = Destination(chooser.register({file}))
    return Instruction(op, destination, constant=tuple(words))


def _declarations(chooser: RandomOperands, file: File) -> Iterator[Instruction]:
    count = BY_FILE[file].count(chooser.version)
    least = 1 if file is File.OUTPUT or chooser.version.has_lengths else 0
    numbers = chooser.rng.sample(range(count), chooser.rng.randint(least, min(count, 4)))
    for number in sorted(numbers):
        for mask in _packed(chooser, file):
            declaration = _declaration(chooser, Register(file, number))
            flags = chooser.declared_flags(file)
            destination = Destination(Register(file, number), mask, flags)
            yield Instruction(Op.DCL, destination, declaration=declaration)


def _packed(chooser: RandomOperands, file: File) -> tuple[int, ...]:
    """Random write masks for the declarations of one register: one, or two that share it."""
    choices = [(FULL_MASK,), (0b0011,), (0b0011, 0b0100), (0b0111, 0b1000)]
    return chooser.rng.choice(choices if file in (File.OUTPUT, File.INPUT) else choices[:1])


def _declaration(chooser: RandomOperands, register: Register) -> Declaration:
    if register.file is File.SAMPLER:
        return Declaration(texture=chooser.rng.choice(list(TextureType)))
    if has_usage(chooser.version, register):
        return Declaration(chooser.rng.choice(list(DeclUsage)), chooser.rng.randrange(16))
    return Declaration()


def _body(chooser: RandomOperands, length: int) -> Iterator[Instruction]:
    version = chooser.version
    if version.is_ps_1_x:
        write = _early if version.level < V1_4 else _phases
        yield from write(chooser, length)
    elif chooser.can(Op.CALL):
        yield from _routines(chooser, length)
    else:
        yield from _block(chooser, length, _LOOP_DEPTH)
        yield _result(chooser)


def _routines(chooser: RandomOperands, length: int) -> Iterator[Instruction]:
    labels = [
        Register(File.LABEL, number) for number in range(chooser.rng.randrange(_SUBROUTINES))
    ]
    chooser.known[File.LABEL] = labels
    yield from _block(chooser, length, _LOOP_DEPTH)
    yield _result(chooser)
    if labels or chooser.chance(2):
        yield Instruction(Op.RET)
    for number, label in enumerate(labels):
        nested = chooser.version.level > V2_0
        chooser.known[File.LABEL] = labels[number + 1 :] if nested else ()
        yield Instruction(Op.LABEL, sources=(Source(label),))
        yield from _block(chooser, length // 4, 1)
        yield Instruction(Op.RET)


def _result(chooser: RandomOperands) -> Instruction:
    """An instruction that writes the output which every shader must write."""
    results = (File.RASTOUT, File.OUTPUT, File.COLOROUT, File.TEMP)
    file = next(file for file in results if chooser.count(file))
    known = chooser.known.get(file, (Register(file),))
    return Instruction(Op.MOV, Destination(known[0]), (Source(Register(File.TEMP)),))


def _block(chooser: RandomOperands, length: int, loops: int) -> Iterator[Instruction]:
    """``length`` random instructions or nested blocks; loops nest at most ``loops`` deep."""
    plain = [*_ops(chooser, Group.ARITHMETIC), *_ops(chooser, Group.TEXTURE), Op.NOP]
    around = sum(op in _LOOPS for op in chooser.blocks)
    openers = [op for op in _BLOCKS if op not in _LOOPS or around < loops]
    leaps = _CALLS + _BREAKS if around else _CALLS
    for _ in range(length):
        opener, leap = chooser.rng.choice(openers), chooser.rng.choice(leaps)
        if len(chooser.blocks) < _DEPTH and chooser.chance(8) and chooser.can(opener):
            yield from _nested(chooser, opener, loops)
        elif chooser.chance(12) and chooser.can(leap):
            yield chooser.instruction(leap)
        else:
            yield chooser.instruction(chooser.rng.choice(plain))


def _nested(chooser: RandomOperands, opener: Op, loops: int) -> Iterator[Instruction]:
    """A random block: instruction ``opener``, content, for an if sometimes else, the closing
    opcode.  Loops nest at most ``loops`` deep.
    """
    yield chooser.instruction(opener)
    chooser.blocks.append(opener)
    yield from _block(chooser, 1 + chooser.rng.randrange(4), loops)
    if opener not in _LOOPS and chooser.chance(2):
        yield Instruction(Op.ELSE)
        yield from _block(chooser, 1 + chooser.rng.randrange(4), loops)
    chooser.blocks.pop()
    yield Instruction(_BLOCKS[opener])


def _ops(chooser: RandomOperands, group: Group) -> list[Op]:
    return [op for op in chooser.possible() if op.row.group is group]


def _early(chooser: RandomOperands, length: int) -> Iterator[Instruction]:
    """A ps_1_0 to ps_1_3 shader: up to four texture operations, ``length`` arithmetic steps."""
    singles = [(op,) for op in _ops(chooser, Group.TEXTURE) if op not in _IN_MATRICES]
    matrices = [rows for rows in _MATRICES if all(chooser.can(op) for op in rows)]
    stages, stage = chooser.count(File.TEXTURE), 0
    while stage < stages:
        rows = chooser.rng.choice(matrices if chooser.chance(3) else singles)
        if stage + len(rows) <= stages and not chooser.chance(3):
            for number, op in enumerate(rows, stage):
                yield _at(chooser.instruction(op), Register(File.TEXTURE, number))
        stage += len(rows)
    yield from _pairs(chooser, length)
    yield _result(chooser)


def _phases(chooser: RandomOperands, length: int) -> Iterator[Instruction]:
    """A ps_1_4 shader of one or two phases, each with texture operations first."""
    if chooser.chance(2):
        yield from _sampled(chooser, (Op.TEX, Op.TEXCOORD), "t")
        yield from _pairs(chooser, length // 2)
        yield Instruction(Op.PHASE)
    yield from _sampled(chooser, tuple(_ops(chooser, Group.TEXTURE)), "x")
    yield from _pairs(chooser, length // 2)
    yield _result(chooser)


def _sampled(
    chooser: RandomOperands, ops: tuple[Op, ...], coordinates: str
) -> Iterator[Instruction]:
    """Random texture operations out of ``ops``, at the start of a ps_1_4 phase.

    ``coordinates`` is the operand letter (kind of register) of the source of texld.
    """
    for _ in range(chooser.rng.randrange(_PHASE_TEXTURES)):
        op = chooser.rng.choice(ops)
        instruction = chooser.instruction(op)
        if op is Op.TEX:
            instruction = replace(instruction, sources=(chooser.source(coordinates),))
        yield _at(instruction, Register(File.TEMP, 5)) if op is Op.TEXDEPTH else instruction


def _at(instruction: Instruction, register: Register) -> Instruction:
    return replace(instruction, destination=replace(instruction.target, register=register))


def _pairs(chooser: RandomOperands, length: int) -> Iterator[Instruction]:
    """``length`` random arithmetic steps: single instructions, or pairs in which one writes the
    colour and a co-issued one the alpha.
    """
    ops = _ops(chooser, Group.ARITHMETIC)
    alone = [*ops, Op.NOP]
    for _ in range(length):
        if chooser.chance(4):
            masks = chooser.rng.sample((RGB, ALPHA), 2)
            yield chooser.instruction(chooser.rng.choice(ops), mask=masks[0])
            yield chooser.instruction(chooser.rng.choice(ops), mask=masks[1], coissue=True)
        else:
            yield chooser.instruction(chooser.rng.choice(alone))


def _oddly(
    groups: Iterable[tuple[Instruction, tuple[int, ...]]], chooser: RandomOperands
) -> Iterator[tuple[int, ...]]:
    """The DWORDs of each instruction, with random reserved bits, and of comments between them."""
    rng = chooser.rng
    for instruction, words in groups:
        if chooser.chance(6):
            yield comment_words(Comment(tuple(rng.choices(range(1 << 32), k=rng.randrange(12)))))
        head = words[0] | (_RESERVED_IN_INSTRUCTION if chooser.chance(6) else 0)
        if not chooser.version.has_lengths and chooser.chance(6):
            head |= LENGTH.put(rng.getrandbits(4))
        raw = len(words) - len(instruction.constant)
        marks = [0] * 5 + list(_RESERVED_IN_PARAMETER)
        yield head, *(word | rng.choice(marks) for word in words[1:raw]), *words[raw:]
