"""Random valid shaders of Direct3D 10 and 11, derived from the opcode and register tables.

Property tests and fuzzing use them.  Every opcode, operand and block of a version can appear.
Loops run at most three times, so the shader can be executed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

import msgspec

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.shader.resources import Dimension
from dp2emu.shader.sm4.declarations import parts_of
from dp2emu.shader.sm4.encode import instruction_words
from dp2emu.shader.sm4.enums import (
    Access,
    CustomClass,
    GlobalFlags,
    Interpolation,
    Precision,
    Primitive,
    ReturnType,
    SamplerMode,
    Sizes,
    Sync,
    SystemValue,
    Topology,
    UavFlags,
)
from dp2emu.shader.sm4.flow import OPENERS
from dp2emu.shader.sm4.lower.doubles import DOUBLES, TO_DOUBLES, double_flags, double_masks
from dp2emu.shader.sm4.opcodes import BINDINGS, SIZE_TYPES, Op, files
from dp2emu.shader.sm4.program import Declaration, Index, Instruction, Operand, Selection, View
from dp2emu.shader.sm4.registers import BY_FILE, File, bank_of
from dp2emu.shader.sm4.spelling import DECLARED_WITHOUT, SCALARS
from dp2emu.shader.sm4.versions import V4_1, V5_0, VERSIONS, Stage, Version
from dp2emu.testing.random_shaders import FLOATS, RARE_FLOATS, Chance

TEMPS = 12
"""Number of temporary registers for random operands; loop counters have numbers from this on."""

ARRAYS = 2
ROWS = 4
"""Size, in four-component rows, of each register array and constant buffer of a program."""

SLOTS = 3
PORTS = 4
"""Number of input registers, of output registers and of vertices per input primitive that random
programs use."""

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
_DOUBLES = tuple(
    high << 48 | low
    for high in (0x0000, 0x0010, 0x3FE0, 0x3FF0, 0x4008, 0x41DF, 0x41F0, 0x7FE0, 0x7FF0, 0xBFF0)
    for low in (0, 1, (1 << 48) - 1)
)
"""Bits of doubles: zeros and ones, and the limits of subnormals, integers, overflow and NaN."""
_DOUBLE_SWIZZLES = ((0, 1, 2, 3), (0, 1, 0, 1), (2, 3, 0, 1), (2, 3, 2, 3))


class RandomOperands(msgspec.Struct, Chance):
    """Makes random operands and instructions that are valid in a program of one version.

    Mutable: ``memory`` records the resources, views and shared memory that operands use, for
    declarations: their dimensions, by file, in order of register number.  ``flags`` records the
    global flags that instructions need.  ``avoid`` has opcodes that are never used.
    """

    rng: Random
    version: Version
    avoid: frozenset[Op] = frozenset()
    memory: dict[File, list[Dimension]] = msgspec.field(
        default_factory=lambda: {file: [] for file in _MEMORY}
    )
    flags: GlobalFlags = msgspec.field(default_factory=lambda: GlobalFlags(0))

    def can(self, op: Op) -> bool:
        """Whether the version has the opcode and registers for all its operands."""
        row = op.row
        known = row.exists(self.version) and op not in self.avoid
        return known and all(_fitting(op, letter, self.version) for letter in row.operands)

    def instruction(self, op: Op) -> Instruction:
        """A random instruction that is no declaration."""
        row, rng = op.row, self.rng
        newest = self.version.level >= V5_0
        reads_memory = any(letter in "taRyw" for letter in row.operands)
        instruction = Instruction(
            op,
            tuple(self.operand(op, letter) for letter in row.operands),
            saturate=row.saturates and self.chance(4),
            nonzero=row.tests and self.chance(2),
            precise=rng.randrange(16) if newest and "d" in row.operands and self.chance(6) else 0,
            sizes=rng.choice(self._sizes(op)),
            sync=Sync(rng.randrange(16)) if op is Op.SYNC else Sync(0),
            texel=self._texel() if reads_memory and self.chance(4) else (0, 0, 0),
            view=self._view() if newest and reads_memory and self.chance(3) else None,
            data=(rng.randrange(4),) if op is Op.FCALL else (),
        )
        self.flags |= double_flags(instruction)
        return instruction

    def _sizes(self, op: Op) -> Sequence[Sizes]:
        return SIZE_TYPES.get(op, (Sizes.FLOAT,))

    def _texel(self) -> tuple[int, int, int]:
        u, v, w = (self.rng.randrange(-8, 8) for _ in range(3))
        return u, v, w

    def _view(self) -> View:
        dimension = self.rng.choice(list(Dimension))
        stride = 16 if dimension is Dimension.STRUCTURED_BUFFER else 0
        return View(dimension, stride, (self.rng.choice(list(ReturnType)),) * 4)

    def operand(self, op: Op, letter: str) -> Operand:
        """A random operand of ``op``; ``letter``, from the opcode table, gives its kind."""
        fit = _fitting(op, letter, self.version)
        if letter in _MEMORY_LETTERS:
            return self._memory_operand(op, letter, fit)
        if letter == "d":
            if op.row.operands.count("d") > 1 and self.chance(4):
                return Operand(File.NULL)
            usual = [file for file in fit if file in _MASKED]
            rare = [file for file in fit if file is not File.NULL]
            wide = op in TO_DOUBLES
            return self._destination(
                op, self.rng.choice(rare if self.chance(8) and not wide else usual)
            )
        file = File.LABEL if letter == "l" else self.rng.choice(fit)
        if file in _IMMEDIATES:
            return self.immediate(file, letter)
        return self._source(op, letter, file)

    def _destination(self, op: Op, file: File) -> Operand:
        if file not in _MASKED:
            return Operand(file, selection=Selection.ONE)
        components = tuple(i for i in range(4) if self.chance(2)) or (self.rng.randrange(4),)
        if op in DOUBLES:
            components = self.rng.choice(sorted(double_masks(op)))
        return Operand(file, self._indices(file), Selection.MASK, components)

    def _source(self, op: Op, letter: str, file: File) -> Operand:
        indices = self._indices(file)
        if letter in "lmF":
            return Operand(file, indices)
        if letter == "p":
            gathers = self.version.level >= V5_0 and op.name.startswith("GATHER4")
            if gathers and self.chance(2):
                return Operand(file, indices, Selection.SELECT, (self.rng.randrange(4),))
            return Operand(file, indices)
        selection, components = self._components(file, letter)
        precise = self.version.level >= V5_0 and self.chance(12)
        return Operand(
            file,
            indices,
            selection,
            components,
            negate=self.chance(4),
            absolute=letter in "fq" and self.chance(6),
            precision=self.rng.choice(list(Precision)) if precise else Precision.DEFAULT,
        )

    def _components(self, file: File, letter: str) -> tuple[Selection, tuple[int, ...]]:
        if file in SCALARS:
            return Selection.ONE, ()
        if letter == "q" and not self.chance(6):
            return Selection.SWIZZLE, self.rng.choice(_DOUBLE_SWIZZLES)
        if self.chance(2):
            return Selection.SELECT, (self.rng.randrange(4),)
        return Selection.SWIZZLE, tuple(self.rng.randrange(4) for _ in range(4))

    def _indices(self, file: File, *, plain: bool = False) -> tuple[Index, ...]:
        """Random indices of a register of ``file``, inside its declared size; some also have a
        relative part unless ``plain``.
        """
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
        """A random immediate operand of 1 or 4 components, or of 1 or 2 doubles.

        ``letter`` f or i gives the type of 32-bit components.
        """
        alone = self.chance(2)
        if file is File.IMMEDIATE64:
            words = tuple(word for _ in range(1 if alone else 2) for word in self.double())
        else:
            words = tuple(self.word(letter) for _ in range(1 if alone else 4))
        if alone:
            return Operand(file, (), Selection.ONE, (), words=words)
        return Operand(file, (), Selection.SWIZZLE, (0, 1, 2, 3), words=words)

    def word(self, letter: str = "s") -> int:
        """A random 32-bit word: float bits for letter ``f``, an integer for ``i``, else any."""
        numbers = {"f": FLOATS, "i": _WORDS}.get(letter, FLOATS + _WORDS)
        return self.rng.choice(numbers * 4 + RARE_FLOATS + (self.rng.getrandbits(32),))

    def double(self) -> tuple[int, int]:
        """The low and high word of a random double."""
        bits = self.rng.choice((*_DOUBLES, self.rng.getrandbits(64)))
        return bits & 0xFFFFFFFF, bits >> 32

    def _memory_operand(self, op: Op, letter: str, fit: Sequence[File]) -> Operand:
        dimensions = op.row.dimensions or frozenset(Dimension)
        wanted = [file for file in fit if any(self._can_be(file, each) for each in dimensions)]
        file = self.rng.choice(wanted)
        if file is File.RASTERIZER:
            return Operand(file)
        number = self._memory(file, [each for each in Dimension if each in dimensions])
        if letter in "Uu":
            stores = op.name.startswith("STORE")
            components = tuple(range(self.rng.randrange(1, 5) if stores else 0))
            selection = Selection.MASK if stores else Selection.NONE
            return Operand(file, (Index(number),), selection, components)
        swizzle = tuple(self.rng.randrange(4) for _ in range(4))
        return Operand(file, (Index(number),), Selection.SWIZZLE, swizzle)

    def _can_be(self, file: File, dimension: Dimension) -> bool:
        """Whether a register of ``file`` may be declared with resource dimension ``dimension``."""
        if file is File.RASTERIZER:
            return dimension in _MULTISAMPLED
        if file is File.SHARED_MEMORY:
            return dimension in _SHARED
        if file is File.UAV:
            typed = self.version.level >= V5_0 and dimension not in _MULTISAMPLED
            return typed or dimension in _SHARED
        return dimension is not Dimension.TEXTURECUBEARRAY or self.version.level >= V4_1

    def _memory(self, file: File, dimensions: list[Dimension]) -> int:
        """A random register number of ``file``, one in use with one of ``dimensions`` or a new
        one, which is recorded in ``memory``.
        """
        known = self.memory[file]
        old = [number for number, each in enumerate(known) if each in dimensions]
        limit = BY_FILE[file].limits[0]
        if old and (self.chance(2) or len(known) == limit):
            return self.rng.choice(old)
        known.append(self.rng.choice([each for each in dimensions if self._can_be(file, each)]))
        return len(known) - 1

    def scalar(self) -> Operand:
        """An operand that reads one random component of a random temporary register."""
        return Operand(
            File.TEMP,
            (Index(self.rng.randrange(TEMPS)),),
            Selection.SELECT,
            (self.rng.randrange(4),),
        )


@cache
def _fitting(op: Op, letter: str, version: Version) -> tuple[File, ...]:
    """The register files of a version that an operand of ``op`` of kind ``letter`` may be in."""
    allowed = files(op, letter)
    return tuple(file for file in File if file in allowed and BY_FILE[file].exists(version))


def declared_memory(chooser: RandomOperands) -> Iterator[tuple[File, int, Dimension]]:
    """Yield (file, register number, dimension) of resources, views and shared memory in use."""
    for file in (File.RESOURCE, File.UAV, File.SHARED_MEMORY):
        for number, dimension in enumerate(chooser.memory[file]):
            yield file, number, dimension


# Whole programs

_DEPTH = 3
_TURNS = 3

_PHASES = (Op.HS_CONTROL_POINT_PHASE, Op.HS_FORK_PHASE, Op.HS_JOIN_PHASE)
_PLACED = OPENERS | {
    Op.ELSE, Op.ENDIF, Op.ENDLOOP, Op.ENDSWITCH, Op.CASE, Op.DEFAULT, Op.BREAK, Op.BREAKC,
    Op.CONTINUE, Op.CONTINUEC, Op.CALL, Op.CALLC, Op.LABEL, Op.RET, Op.HS_DECLS, *_PHASES,
}  # fmt: skip
"""Opcodes of flow control and phases, such as ELSE and RET, which are valid only in certain
positions."""

_XYZW = (0, 1, 2, 3)
_SPECIAL = frozenset({File.INPUT, File.OUTPUT})
_BINDINGS = {op for op in Op if op.row.declares and op.row.declares <= BINDINGS}
_MADE = _BINDINGS | {Op.CUSTOMDATA, Op.DCL_TEMPS, Op.DCL_INDEXABLETEMP}
"""Opcodes of declarations that follow from the instructions: bindings, temporaries, constants."""

_NAMES = {
    (Stage.VERTEX, Op.DCL_INPUT_SGV): (SystemValue.VERTEX_ID, SystemValue.INSTANCE_ID),
    (Stage.VERTEX, Op.DCL_OUTPUT_SIV): (SystemValue.POSITION, SystemValue.CLIP_DISTANCE),
    (Stage.PIXEL, Op.DCL_INPUT_PS_SGV): (SystemValue.PRIMITIVE_ID, SystemValue.IS_FRONT_FACE),
    (Stage.PIXEL, Op.DCL_INPUT_PS_SIV): (SystemValue.POSITION, SystemValue.CLIP_DISTANCE),
    (Stage.GEOMETRY, Op.DCL_INPUT_SIV): (SystemValue.POSITION,),
    (Stage.GEOMETRY, Op.DCL_OUTPUT_SGV): (SystemValue.PRIMITIVE_ID,),
    (Stage.GEOMETRY, Op.DCL_OUTPUT_SIV): (SystemValue.POSITION,),
    (Stage.HULL, Op.DCL_OUTPUT_SIV): tuple(SystemValue)[11:],
    (Stage.DOMAIN, Op.DCL_INPUT_SIV): tuple(SystemValue)[11:],
    (Stage.DOMAIN, Op.DCL_OUTPUT_SIV): (SystemValue.POSITION,),
}


def generate(
    rng: Random,
    version: Version | None = None,
    *,
    length: int = 16,
    avoid: frozenset[Op] = frozenset(),
) -> bytes:
    """Code of a valid program of about ``length`` instructions, of a random version by default.

    Opcodes in ``avoid`` are not used, except declarations and flow control.
    """
    chooser = RandomOperands(rng, version or rng.choice(VERSIONS), avoid)
    version = chooser.version
    made = _hull if version.stage is Stage.HULL else _program
    instructions = made(chooser, length)
    words = [word for each in instructions for word in instruction_words(each)]
    return struct.pack(f"<{len(words) + 2}I", version.token, len(words) + 2, *words)


def _program(chooser: RandomOperands, length: int) -> list[Instruction]:
    """A random shader without phases, of about ``length`` instructions after its declarations."""
    body = list(_routines(chooser, length))
    return [*_shared(chooser), *_declarations(chooser), *_temporaries(chooser), *body]


def _hull(chooser: RandomOperands, length: int) -> list[Instruction]:
    """A random hull shader: declarations for all phases, then each phase with its own."""
    bodies: list[Instruction] = []
    for marker in _PHASES:
        body = list(_routines(chooser, length // len(_PHASES)))
        bodies += [Instruction(marker), *_declarations(chooser), *_temporaries(chooser), *body]
    return [Instruction(Op.HS_DECLS), *_shared(chooser), *bodies]


def _routines(chooser: RandomOperands, length: int) -> Iterator[Instruction]:
    yield from _block(chooser, length, 0, calls=True)
    yield Instruction(Op.RET)
    for number in range(LABELS):
        yield Instruction(Op.LABEL, (Operand(File.LABEL, (Index(number),)),))
        yield from _block(chooser, 2, _DEPTH - 1, calls=False)
        yield Instruction(Op.RET)


def _block(
    chooser: RandomOperands, length: int, depth: int, *, calls: bool
) -> Iterator[Instruction]:
    plain = _drawn(chooser.version, chooser.avoid)
    for _ in range(length):
        if depth < _DEPTH and chooser.chance(5):
            yield from chooser.rng.choice(_NESTED)(chooser, depth, calls)
        elif calls and chooser.chance(10):
            yield chooser.instruction(chooser.rng.choice((Op.CALL, Op.CALLC)))
        else:
            yield chooser.instruction(chooser.rng.choice(plain))


@cache
def _drawn(version: Version, avoid: frozenset[Op]) -> tuple[Op, ...]:
    """Opcodes of a version, except ``avoid``, that are valid anywhere behind declarations."""
    chooser = RandomOperands(Random(0), version, avoid)
    return tuple(
        op for op in Op if op.row.declares is None and op not in _PLACED and chooser.can(op)
    )


def _if(chooser: RandomOperands, depth: int, calls: bool) -> Iterator[Instruction]:
    yield chooser.instruction(Op.IF)
    yield from _block(chooser, 2, depth + 1, calls=calls)
    if chooser.chance(2):
        yield Instruction(Op.ELSE)
        yield from _block(chooser, 2, depth + 1, calls=calls)
    yield Instruction(Op.ENDIF)


def _loop(chooser: RandomOperands, depth: int, calls: bool) -> Iterator[Instruction]:
    """A random loop of a few turns; nothing in its body writes its counter, a temporary register.
    ``depth`` is the number of enclosing loops.
    """
    counter = (Index(TEMPS + depth),)
    written = Operand(File.TEMP, counter, Selection.MASK, (0,))
    read = Operand(File.TEMP, counter, Selection.SELECT, (0,))
    flag = Operand(File.TEMP, counter, Selection.MASK, (1,))
    tested = Operand(File.TEMP, counter, Selection.SELECT, (1,))
    yield Instruction(Op.MOV, (written, _number(0)))
    yield Instruction(Op.LOOP)
    yield Instruction(Op.IGE, (flag, read, _number(_TURNS)))
    yield Instruction(Op.BREAKC, (tested,), nonzero=True)
    yield Instruction(Op.IADD, (written, read, _number(1)))
    yield from _block(chooser, 2, depth + 1, calls=calls)
    if chooser.chance(2):
        leap = chooser.rng.choice((Op.BREAK, Op.BREAKC, Op.CONTINUE, Op.CONTINUEC))
        yield chooser.instruction(Op.IF)
        yield chooser.instruction(leap)
        yield Instruction(Op.ENDIF)
    yield Instruction(Op.ENDLOOP)


def _switch(chooser: RandomOperands, depth: int, calls: bool) -> Iterator[Instruction]:
    yield chooser.instruction(Op.SWITCH)
    for number in range(chooser.rng.randrange(1, 4)):
        yield Instruction(Op.CASE, (_number(number),))
        yield from _block(chooser, chooser.rng.randrange(2), depth + 1, calls=calls)
        yield Instruction(Op.BREAK)
    if chooser.chance(2):
        yield Instruction(Op.DEFAULT)
        yield from _block(chooser, 1, depth + 1, calls=calls)
        yield Instruction(Op.BREAK)
    yield Instruction(Op.ENDSWITCH)


_NESTED = (_if, _loop, _switch)


def _number(value: int) -> Operand:
    return Operand(File.IMMEDIATE, selection=Selection.ONE, words=(value,))


def _shared(chooser: RandomOperands) -> Iterator[Instruction]:
    """Declarations of constants, samplers and the resources, views and shared memory in use."""
    rng = chooser.rng
    constants = tuple(chooser.word() for _ in range(4 * ROWS))
    immediate = Declaration(custom=CustomClass.IMMEDIATE_CONSTANT_BUFFER)
    yield Instruction(Op.CUSTOMDATA, declaration=immediate, data=constants)
    for slot in range(SLOTS):
        rows = Index(slot), Index(ROWS)
        operand = Operand(File.CONSTANT_BUFFER, rows, Selection.SWIZZLE, _XYZW)
        yield _declared(chooser, Op.DCL_CONSTANTBUFFER, (operand,))
        sampler = Operand(File.SAMPLER, (Index(slot),))
        yield _declared(chooser, Op.DCL_SAMPLER, (sampler,))
    for file, number, dimension in declared_memory(chooser):
        operand = Operand(file, (Index(number),))
        op = _MEMORY_DECLARATIONS.get((file, dimension)) or _TYPED_DECLARATIONS[file]
        yield _declared(chooser, op, (operand,), dimension=dimension)
    flags = chooser.flags | GlobalFlags(rng.getrandbits(9) if chooser.chance(2) else 0)
    if flags:
        yield Instruction(Op.DCL_GLOBALFLAGS, declaration=Declaration(flags=flags))


_TYPED_DECLARATIONS = {File.RESOURCE: Op.DCL_RESOURCE, File.UAV: Op.DCL_UAV_TYPED}

_MEMORY_DECLARATIONS = {
    (File.RESOURCE, Dimension.RAW_BUFFER): Op.DCL_RESOURCE_RAW,
    (File.RESOURCE, Dimension.STRUCTURED_BUFFER): Op.DCL_RESOURCE_STRUCTURED,
    (File.UAV, Dimension.RAW_BUFFER): Op.DCL_UAV_RAW,
    (File.UAV, Dimension.STRUCTURED_BUFFER): Op.DCL_UAV_STRUCTURED,
    (File.SHARED_MEMORY, Dimension.RAW_BUFFER): Op.DCL_TGSM_RAW,
    (File.SHARED_MEMORY, Dimension.STRUCTURED_BUFFER): Op.DCL_TGSM_STRUCTURED,
}


def _temporaries(chooser: RandomOperands) -> Iterator[Instruction]:
    yield Instruction(Op.DCL_TEMPS, declaration=Declaration(count=TEMPS + _DEPTH))
    for number in range(ARRAYS):
        declaration = Declaration(
            number=number, count=ROWS, components=chooser.rng.randrange(1, 5)
        )
        yield Instruction(Op.DCL_INDEXABLETEMP, declaration=declaration)


def _declarations(chooser: RandomOperands) -> Iterator[Instruction]:
    """Random declarations of inputs, outputs and other registers and properties: every opcode of
    the version that declares, except those in ``_MADE``.
    """
    for op in Op:
        if op.row.declares is None or op in _MADE or not op.row.exists(chooser.version):
            continue
        for number in range(PORTS):
            if chooser.chance(3):
                yield _declared(chooser, op, tuple(_register(chooser, op, number)))


def _register(chooser: RandomOperands, op: Op, number: int) -> Iterator[Operand]:
    """Yield the operand of declaration ``op``: register ``number`` of a random file; yields
    nothing for a declaration without operands.
    """
    if not op.row.operands:
        return
    known = [file for file in File if file in files(op, "D")]
    file = chooser.rng.choice([file for file in known if BY_FILE[file].exists(chooser.version)])
    limits = bank_of(file, chooser.version.stage).limits
    indices = tuple(Index(PORTS) for _ in limits[1:]) + tuple(Index(number) for _ in limits[:1])
    if limits and file is not File.STREAM:
        components = tuple(i for i in range(4) if chooser.chance(2)) or (0,)
        yield Operand(file, indices, Selection.MASK, components)
    else:
        scalar = file in SCALARS - DECLARED_WITHOUT
        yield Operand(file, indices, Selection.ONE if scalar else Selection.NONE)


def _declared(
    chooser: RandomOperands, op: Op, operands: tuple[Operand, ...], **known: Any
) -> Instruction:
    """Declaration ``op`` of ``operands`` with attributes ``known``; random ones for others."""
    wanted = {part.name for part in parts_of(op)}
    values = {name: value for name, value in known.items() if name in wanted}
    for name in sorted(wanted - values.keys()):
        values[name] = _value(chooser, op, name)
    data = tuple(range(2)) if op is Op.DCL_FUNCTION_TABLE else ()
    return Instruction(op, operands, declaration=Declaration(**values), data=data)


def _value(chooser: RandomOperands, op: Op, name: str) -> Any:
    """A random value for the attribute ``name`` of declaration ``op``."""
    if name == "name":
        return chooser.rng.choice(
            _NAMES.get((chooser.version.stage, op), (SystemValue.UNDEFINED,))
        )
    return chooser.rng.choice(_VALUES[name])


_VALUES: dict[str, tuple[Any, ...]] = {
    "interpolation": tuple(Interpolation),
    "samples": (0, 4),
    "returns": tuple((kind, kind, kind, kind) for kind in ReturnType),
    "access": tuple(Access),
    "mode": tuple(SamplerMode),
    "topology": tuple(Topology),
    "primitive": tuple(Primitive),
    "domain": tuple(Domain),
    "partitioning": tuple(Partitioning),
    "output": tuple(OutputPrimitive),
    "flags": (GlobalFlags(0),),
    "uav": (UavFlags(0), *UavFlags),
    "number": (0, 1, 2),
    "count": (2,),
    "stride": (4, 16, 2048),
    "factor": (0x3F800000, 0x42800000, 0x41F00000),
    "threads": ((1, 1, 1), (8, 4, 1), (4, 4, 64)),
}
