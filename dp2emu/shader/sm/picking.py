"""Operands and instructions by chance, valid in one version wherever they are put."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field, replace
from random import Random

from dp2emu.records import dataclass
from dp2emu.shader.sm.modifiers import (
    MODIFIERS,
    SHIFT_SUFFIXES,
    Comparison,
    ResultModifier,
    Sampling,
    SourceModifier,
)
from dp2emu.shader.sm.opcodes import (
    OPCODES,
    Control,
    Form,
    Group,
    Op,
    destination_files,
    source_files,
)
from dp2emu.shader.sm.operands import index_files
from dp2emu.shader.sm.program import (
    FULL_MASK,
    IDENTITY,
    Destination,
    Instruction,
    Relative,
    Source,
    Swizzle,
)
from dp2emu.shader.sm.registers import BY_FILE, File, Register
from dp2emu.shader.sm.versions import V1_4, V2_0, V2_X, V3_0, Stage, Version

RGB, ALPHA = 0b0111, 0b1000

_MASKS = {
    Op.CRS: 0b0111,
    Op.SINCOS: 0b0011,
    Op.M4x3: 0b0111,
    Op.M3x3: 0b0111,
    Op.M3x2: 0b0011,
}
"""What instructions may write that do not make four components."""

_COORDINATE_MASKS = {
    Op.TEXCOORD: (0b0011, 0b0111, FULL_MASK),
    Op.TEXKILL: (0b0001, 0b0111, FULL_MASK),
}

_DIVISIONS = {File.TEXTURE: SourceModifier.DW, File.TEMP: SourceModifier.DZ}
_COORDINATES: tuple[Swizzle, ...] = (IDENTITY, (0, 1, 2, 2), (0, 1, 3, 3))
_VALUES = [
    modifier
    for modifier in SourceModifier
    if modifier not in (SourceModifier.NOT, SourceModifier.DZ, SourceModifier.DW)
]


@dataclass
class Picker:
    """Where operands are drawn from.  Mutable, because what can be used depends on the place.

    ``known`` are the registers of the files that have to be declared, defined or labelled first;
    ``blocks`` are the openers of the blocks around it.
    """

    rng: Random
    version: Version
    known: dict[File, Sequence[Register]] = field(default_factory=dict)
    blocks: list[Op] = field(default_factory=list)

    def chance(self, one_in: int) -> bool:
        """True once in a while."""
        return self.rng.randrange(one_in) == 0

    def count(self, file: File) -> int:
        """How many registers of a file can be used here."""
        known = self.known.get(file)
        return BY_FILE[file].count(self.version) if known is None else len(known)

    def can(self, op: Op) -> bool:
        """Whether the version has the opcode, and registers for all of its operands."""
        form = OPCODES[op].form(self.version)
        if form is None:
            return False
        wanted = [source_files(letter) for letter in form.sources]
        if form.destination:
            wanted.append(destination_files(form.destination, self.version))
        return all(any(self.count(file) for file in files) for files in wanted)

    def instruction(
        self, op: Op, *, mask: int | None = None, coissue: bool = False
    ) -> Instruction:
        """An instruction; ``mask`` is that of its result if not drawn."""
        row = OPCODES[op]
        form = row.form(self.version)
        assert form is not None
        compared = row.control is Control.COMPARISON
        sampled = row.control is Control.SAMPLING and self.version.sized
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
        """A register of one of the files, with enough registers behind it."""
        fit = [file for file in File if file in files and self._fits(file, rows)]
        file = self.rng.choice(fit)
        known = self.known.get(file)
        if known is not None:
            return self.rng.choice(known)
        return Register(file, self.rng.randrange(self.count(file) - rows + 1))

    def destination(self, op: Op, letter: str, mask: int | None = None) -> Destination:
        """A destination; those of most texture operations are written whole."""
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
        """a0 has a single component before 2.0."""
        return self.rng.randrange(1, 1 << 4) if self.version.level >= V2_0 else 0b0001

    def _coordinate_mask(self, op: Op) -> int:
        """texcrd also copies two or three coordinates, texkill may name any."""
        choices = _COORDINATE_MASKS.get(op, ()) if self.version.level >= V1_4 else ()
        return self.rng.choice(choices) if choices else FULL_MASK

    def mask(self, op: Op) -> int:
        """What an instruction writes."""
        if self.version.early_pixel and self.version.level < V1_4:
            return self.rng.choice((RGB, ALPHA, FULL_MASK))
        allowed = _MASKS.get(op, FULL_MASK)
        return self.rng.randrange(1 << 4) & allowed or allowed

    def source(self, letter: str, rows: int = 1) -> Source:
        """A source."""
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
        """What dcl may say of an interpolated register: less precision, or centroid sampling."""
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
        if self.version.stage is Stage.PIXEL and self.version.sized and self.chance(8):
            flags |= ResultModifier.PARTIALPRECISION
        return flags

    def _shift(self) -> int:
        shifted = self.version.early_pixel and self.chance(4)
        return self.rng.choice(list(SHIFT_SUFFIXES.values())) if shifted else 0

    def _swizzle(self, letter: str, file: File) -> Swizzle:
        if letter in "tx" and self.version.level == V1_4:
            return self.rng.choice(_COORDINATES)
        if file is File.PREDICATE or (letter == "v" and self.chance(3)):
            component = self.rng.randrange(4)
            return component, component, component, component
        mixed = letter == "s" and self.version.level >= V2_X
        if (mixed or (letter == "v" and not self.version.early_pixel)) and self.chance(2):
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
