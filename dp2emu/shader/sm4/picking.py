"""Operands and instructions by chance, valid in one version wherever they are put."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cache
from random import Random

from dp2emu.records import dataclass
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.enums import Precision, ReturnType, Sizes, Sync
from dp2emu.shader.sm4.opcodes import OPCODES, SIZED, Opcode, files
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Selection, View
from dp2emu.shader.sm4.registers import BY_FILE, File, bank_of
from dp2emu.shader.sm4.spelling import SCALARS
from dp2emu.shader.sm4.takes import TAKES
from dp2emu.shader.sm4.versions import V4_1, V5_0, Version

TEMPS = 12
"""Temporaries that anything is written to; the loop counters are behind them."""
ARRAYS = 2
ROWS = 4
"""Of arrays, constant buffers and immediate constants."""
SLOTS = 3
PORTS = 4
"""Registers of inputs and outputs, and vertices."""
LABELS = 2

_MASKED = frozenset({File.TEMP, File.OUTPUT, File.INDEXABLE_TEMP})
_IMMEDIATES = frozenset({File.IMMEDIATE, File.IMMEDIATE64})
_SIZES = {
    File.TEMP: (TEMPS,),
    File.INDEXABLE_TEMP: (ARRAYS, ROWS),
    File.CONSTANT_BUFFER: (SLOTS, ROWS),
    File.IMMEDIATE_CONSTANT_BUFFER: (ROWS,),
    File.SAMPLER: (SLOTS,),
    File.LABEL: (LABELS,),
    File.FUNCTION_BODY: (SLOTS,),
    File.STREAM: (PORTS,),
}
_MEMORY = frozenset({File.RESOURCE, File.UAV, File.SHARED_MEMORY})
_SHARED = (Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER)
_MULTISAMPLED = frozenset({Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY})
_MEMORY_LETTERS = frozenset("taRywUu")

_WORDS = (0, 1, 2, 3, 31, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF)
_FLOATS = (0, 0x80000000, 0x3F000000, 0x3F800000, 0xBF800000, 0x40490FDB, 0x00000001)
_RARE_FLOATS = (0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFFFFFFF, 0x7F7FFFFF)


@dataclass
class Picker:
    """Where operands are drawn from.  Mutable: it remembers which memory has been drawn.

    ``memory`` are the dimensions of the resources, views and shared memory by register number,
    ``avoid`` the opcodes that are not drawn.
    """

    rng: Random
    version: Version
    avoid: frozenset[Op] = frozenset()
    memory: dict[File, list[Dimension]] = field(
        default_factory=lambda: {file: [] for file in _MEMORY}
    )

    def chance(self, one_in: int) -> bool:
        """True once in a while."""
        return self.rng.randrange(one_in) == 0

    def can(self, op: Op) -> bool:
        """Whether the version has the opcode, and registers for all of its operands."""
        row = OPCODES[op]
        known = row.exists(self.version) and op not in self.avoid
        return known and all(_fitting(op, letter, self.version) for letter in row.operands)

    def instruction(self, op: Op) -> Instruction:
        """An instruction that is no declaration."""
        row, rng = OPCODES[op], self.rng
        newest = self.version.level >= V5_0
        reads_memory = any(letter in "taRyw" for letter in row.operands)
        return Instruction(
            op,
            tuple(self.operand(row, letter) for letter in row.operands),
            saturate=row.saturates and self.chance(4),
            nonzero=row.tests and self.chance(2),
            precise=rng.randrange(16) if newest and "d" in row.operands and self.chance(6) else 0,
            sizes=rng.choice(self._sizes(op)),
            sync=Sync(rng.randrange(16)) if op is Op.SYNC else Sync(0),
            texel=self._texel() if reads_memory and self.chance(4) else (0, 0, 0),
            view=self._view() if newest and reads_memory and self.chance(3) else None,
            data=(rng.randrange(4),) if op is Op.FCALL else (),
        )

    def _sizes(self, op: Op) -> Sequence[Sizes]:
        return tuple(Sizes) if op in SIZED else (Sizes.FLOAT,)

    def _texel(self) -> tuple[int, int, int]:
        u, v, w = (self.rng.randrange(-8, 8) for _ in range(3))
        return u, v, w

    def _view(self) -> View:
        dimension = self.rng.choice(list(Dimension))
        stride = 16 if dimension is Dimension.STRUCTURED_BUFFER else 0
        return View(dimension, stride, (self.rng.choice(list(ReturnType)),) * 4)

    def operand(self, row: Opcode, letter: str) -> Operand:
        """An operand for a letter of an opcode's row."""
        fit = _fitting(row.op, letter, self.version)
        if letter in _MEMORY_LETTERS:
            return self._memory_operand(row, letter, fit)
        if letter == "d":
            if row.operands.count("d") > 1 and self.chance(4):
                return Operand(File.NULL)
            usual = [file for file in fit if file in _MASKED]
            rare = [file for file in fit if file is not File.NULL]
            return self._destination(self.rng.choice(rare if self.chance(8) else usual))
        file = File.LABEL if letter == "l" else self.rng.choice(fit)
        if file in _IMMEDIATES:
            return self.immediate(file, letter)
        return self._source(row, letter, file)

    def _destination(self, file: File) -> Operand:
        if file not in _MASKED:
            return Operand(file, selection=Selection.ONE)
        components = [i for i in range(4) if self.chance(2)] or [self.rng.randrange(4)]
        return Operand(file, self._indices(file), Selection.MASK, tuple(components))

    def _source(self, row: Opcode, letter: str, file: File) -> Operand:
        indices = self._indices(file)
        if letter in "lmF":
            return Operand(file, indices)
        if letter == "p":
            gathers = self.version.level >= V5_0 and row.op.name.startswith("GATHER4")
            if gathers and self.chance(2):
                return Operand(file, indices, Selection.SELECT, (self.rng.randrange(4),))
            return Operand(file, indices)
        selection, components = self._components(file)
        precise = self.version.level >= V5_0 and self.chance(12)
        return Operand(
            file,
            indices,
            selection,
            components,
            negate=self.chance(4),
            absolute=letter == "f" and self.chance(6),
            precision=self.rng.choice(list(Precision)) if precise else Precision.DEFAULT,
        )

    def _components(self, file: File) -> tuple[Selection, tuple[int, ...]]:
        if file in SCALARS:
            return Selection.ONE, ()
        if self.chance(2):
            return Selection.SELECT, (self.rng.randrange(4),)
        return Selection.SWIZZLE, tuple(self.rng.randrange(4) for _ in range(4))

    def _indices(self, file: File, *, plain: bool = False) -> tuple[Index, ...]:
        """Indices within what is declared, some of them with a scalar added; ``plain``: none."""
        bank = bank_of(file, self.version.stage)
        sizes = _SIZES.get(file, (PORTS,) * len(bank.limits))
        places = enumerate(sizes)
        return tuple(
            self._index(size, relative=place in bank.relative and not plain)
            for place, size in places
        )

    def _index(self, size: int, *, relative: bool) -> Index:
        number = self.rng.randrange(size)
        if not relative or not self.chance(4):
            return Index(number)
        file = self.rng.choice((File.TEMP, File.TEMP, File.INDEXABLE_TEMP))
        component = (self.rng.randrange(4),)
        scalar = Operand(file, self._indices(file, plain=True), Selection.SELECT, component)
        return Index(number, scalar)

    def immediate(self, file: File, letter: str) -> Operand:
        """An immediate of one component or four."""
        long = file is File.IMMEDIATE64
        alone = self.chance(2)
        count = (2 if long else 1) if alone else 4
        words = tuple(self.word(letter) for _ in range(count))
        if alone:
            return Operand(file, (), Selection.ONE, (), words=words)
        return Operand(file, (), Selection.SWIZZLE, (0, 1, 2, 3), words=words)

    def word(self, letter: str = "s") -> int:
        """A number of a kind: ``f``, ``i``, or either."""
        numbers = {"f": _FLOATS, "i": _WORDS}.get(letter, _FLOATS + _WORDS)
        return self.rng.choice(numbers * 4 + _RARE_FLOATS + (self.rng.getrandbits(32),))

    def _memory_operand(self, row: Opcode, letter: str, fit: Sequence[File]) -> Operand:
        dimensions = TAKES.get(row.op, frozenset(Dimension))
        wanted = [file for file in fit if any(self._can_be(file, each) for each in dimensions)]
        file = self.rng.choice(wanted)
        if file is File.RASTERIZER:
            return Operand(file)
        number = self._memory(file, [each for each in Dimension if each in dimensions])
        if letter in "Uu":
            stores = row.op.name.startswith("STORE")
            components = tuple(range(self.rng.randrange(1, 5) if stores else 0))
            selection = Selection.MASK if stores else Selection.NONE
            return Operand(file, (Index(number),), selection, components)
        swizzle = tuple(self.rng.randrange(4) for _ in range(4))
        return Operand(file, (Index(number),), Selection.SWIZZLE, swizzle)

    def _can_be(self, file: File, dimension: Dimension) -> bool:
        """Whether memory of a file may be declared with a dimension in this version."""
        if file is File.RASTERIZER:
            return dimension in _MULTISAMPLED
        if file is File.SHARED_MEMORY:
            return dimension in _SHARED
        if file is File.UAV:
            typed = self.version.level >= V5_0 and dimension not in _MULTISAMPLED
            return typed or dimension in _SHARED
        return dimension is not Dimension.TEXTURECUBEARRAY or self.version.level >= V4_1

    def _memory(self, file: File, dimensions: list[Dimension]) -> int:
        """A register of one of the dimensions, an old one or the next."""
        known = self.memory[file]
        old = [number for number, each in enumerate(known) if each in dimensions]
        limit = BY_FILE[file].limits[0]
        if old and (self.chance(2) or len(known) == limit):
            return self.rng.choice(old)
        known.append(self.rng.choice([each for each in dimensions if self._can_be(file, each)]))
        return len(known) - 1

    def scalar(self) -> Operand:
        """A component of a temporary."""
        return Operand(
            File.TEMP,
            (Index(self.rng.randrange(TEMPS)),),
            Selection.SELECT,
            (self.rng.randrange(4),),
        )


@cache
def _fitting(op: Op, letter: str, version: Version) -> tuple[File, ...]:
    """The files of a version that an operand may be in."""
    allowed = files(OPCODES[op], letter)
    return tuple(file for file in File if file in allowed and BY_FILE[file].exists(version))


def declared_memory(picker: Picker) -> Iterator[tuple[File, int, Dimension]]:
    """Everything that was drawn: file, register number and dimension."""
    for file in (File.RESOURCE, File.UAV, File.SHARED_MEMORY):
        for number, dimension in enumerate(picker.memory[file]):
            yield file, number, dimension
