"""Random programs, and what to run them on."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import (
    Address,
    Assign,
    Axis,
    Break,
    Constant,
    Derivative,
    File,
    If,
    Input,
    Kill,
    Load,
    Lod,
    Loop,
    Operand,
    Output,
    Port,
    Program,
    Sample,
    Slot,
    Stage,
    Statement,
    Store,
    TextureKind,
)
from dp2emu.shader.ops import OPS
from dp2emu.shader.types import F32, Lanes, Mask, Type
from dp2emu.shader.values import Value, Variable

PATTERNS = (0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000,
            0x3F000000, 0x40490FDB, 0x4F000000, 0xCF000000, 0x4F800000, 0x7F7FFFFF, 0x7F800000,
            0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0x7FFFFFFF, 0x00000002, 0xFFFFFFFF,
            0x0000001F, 0x00000020, 0x4B000001)  # fmt: skip
"""Bits at the edges of some type."""

FILES = (
    File("c", Type.F32, 12, uniform=True),
    File("i", Type.I32, 4, uniform=True),
    File("b", Type.BOOL, 3, uniform=True),
    File("r", Type.F32, 5, uniform=False),
    File("n", Type.I32, 2, uniform=False),
    File("p", Type.BOOL, 2, uniform=False),
)
INPUTS = (
    Port("v0.x", Type.F32),
    Port("v0.y", Type.F32),
    Port("n", Type.I32),
    Port("f", Type.BOOL),
    Port("d", Type.F64),
    Port("l", Type.I64),
)
OUTPUTS = (
    Port("o.x", Type.F32),
    Port("o.n", Type.I32),
    Port("o.d", Type.F64),
    Port("o.b", Type.BOOL),
    Port("o.l", Type.I64),
)


def bits(random: Random) -> int:
    """32 bits: an edge, a small number or anything."""
    kind = random.randrange(3)
    if kind == 0:
        return random.choice(PATTERNS)
    return random.randrange(-4, 8) & 0xFFFFFFFF if kind == 1 else random.getrandbits(32)


def lanes_of(random: Random, type: Type, count: int) -> Lanes:
    """Values of a type from random bits, shape (count,)."""
    words = np.array([pattern(random, type) for _ in range(count)], f"u{type.dtype.itemsize}")
    return words == 1 if type is Type.BOOL else words.view(type.dtype)


def pattern(random: Random, type: Type) -> int:
    """Bits of a type: 64 are a float's and what follows, or a small number."""
    found = bits(random)
    if type.bits == 64:
        return signed_extended(found) if random.randrange(2) else found << 32 | bits(random)
    return found & ((1 << type.bits) - 1)


def signed_extended(word: int) -> int:
    """A signed word as one of 64 bits."""
    return word | (word >> 31) * 0xFFFFFFFF00000000


@dataclass(frozen=True)
class Environment:
    """What a program reads."""

    inputs: dict[str, Lanes]
    uniforms: dict[str, Lanes]


def environment(random: Random, lanes: int) -> Environment:
    """Inputs and uniforms of every program made here; a uniform may be short."""
    return Environment(
        {port.name: lanes_of(random, port.type, lanes) for port in INPUTS},
        {
            file.name: lanes_of(random, file.type, random.randrange(file.size + 2))
            for file in FILES
            if file.uniform
        },
    )


def sampler(
    number: int,
    kind: TextureKind,
    coordinates: tuple[F32, ...],
    lod: Lod,
    arguments: tuple[F32, ...],
    active: Mask | None,
) -> tuple[F32, F32, F32, F32]:
    """Something that depends on all it is given, lane by lane."""
    red = coordinates[0] + np.float32(number)
    green = coordinates[1] * np.float32(kind.coordinates)
    blue = arguments[-1] if arguments else coordinates[-1]
    return red, green, blue, np.full(1, len(lod.value), np.float32)


class Maker:
    """Makes the statements of one program; ``derivatives`` allows ddx and ddy."""

    def __init__(self, random: Random, stage: Stage, *, derivatives: bool = True) -> None:
        self.random = random
        self.stage = stage
        self.derivatives = derivatives and stage is Stage.PIXEL
        self.slots = [random.choice(list(Type)) for _ in range(random.randrange(2, 9))]
        self.slots += [Type.F32] * 4 + [Type.I32, Type.BOOL, Type.F64, Type.I64]

    def program(self) -> Program:
        statements = self.block(0, loop=False)
        return Program(self.stage, tuple(self.slots), FILES, INPUTS, OUTPUTS, statements)

    def block(self, depth: int, *, loop: bool) -> tuple[Statement, ...]:
        count = self.random.randrange(0 if depth else 6, 5 if depth else 20)
        return tuple(self.statement(depth, loop=loop) for _ in range(count))

    def statement(self, depth: int, *, loop: bool) -> Statement:
        choice = self.random.randrange(24)
        if choice < 10:
            return self.assign()
        if choice < 12 and depth < 3:
            return If(self.operand(Type.BOOL), self.block(depth + 1, loop=loop),
                      self.block(depth + 1, loop=loop))  # fmt: skip
        if choice == 12 and depth < 3:
            return Loop(self.block(depth + 1, loop=True), self.random.randrange(1, 4))
        if choice == 13 and loop:
            return Break(self.operand(Type.BOOL))
        if choice == 14 and self.stage is Stage.PIXEL:
            return Kill(self.operand(Type.BOOL))
        if choice == 15 and self.derivatives:
            return Derivative(self.slot(Type.F32), self.random.choice(list(Axis)),
                              self.operand(Type.F32))  # fmt: skip
        return self.access(choice)

    def access(self, choice: int) -> Statement:
        if choice < 18:
            port = self.random.choice(INPUTS)
            return Input(self.slot(port.type), port.name)
        if choice == 18:
            port = self.random.choice(OUTPUTS)
            return Output(port.name, self.operand(port.type))
        if choice == 19:
            return self.sample()
        file = self.random.choice(FILES[3:] if choice < 22 else FILES)
        if choice < 22:
            return Store(file.name, self.address(), self.operand(file.type))
        return Load(self.slot(file.type), file.name, self.address())

    def assign(self) -> Assign:
        name = self.random.choice(list(OPS))
        row = OPS[name]
        return Assign(self.slot(row.result), name, tuple(map(self.operand, row.operands)))

    def sample(self) -> Sample:
        kind = self.random.choice(list(TextureKind))
        lods = list(Lod) if self.derivatives else [Lod.EXPLICIT, Lod.GRADIENT]
        lod = self.random.choice(lods)
        first = len(self.slots) - 8
        return Sample(
            (first, first + 1, first + 2, first + 3),
            self.random.randrange(16),
            kind,
            tuple(self.operand(Type.F32) for _ in range(kind.coordinates)),
            lod,
            tuple(self.operand(Type.F32) for _ in range(lod.arguments(kind))),
        )

    def address(self) -> Address:
        offset = self.random.choice([0, 1, 2, 3, 5, 11, 12, -1, 2**31 - 1, -(2**31)])
        if self.random.random() < 0.4:
            return Address(offset)
        return Address(offset, self.operand(Type.I32), self.random.choice([1, 2, 4]))

    def slot(self, type: Type) -> int:
        return self.random.choice([n for n, each in enumerate(self.slots) if each is type])

    def operand(self, type: Type) -> Operand:
        if self.random.random() < 0.7:
            return Slot(self.slot(type))
        return Constant(type, pattern(self.random, type))


def random_program(random: Random, *, derivatives: bool = True) -> Program:
    """A well-formed program of any stage."""
    return Maker(random, random.choice(list(Stage)), derivatives=derivatives).program()


class Author:
    """Writes a program with a builder, as a lowering does: values, variables, blocks."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.b = Builder(Stage.PIXEL)
        self.variables = [self.b.variable(type) for type in Type for _ in range(3)]
        self.files = [_declared(self.b, file) for file in FILES]

    def program(self) -> Program:
        self.block(12, loop=False, depth=0)
        for number, variable in enumerate(self.variables):
            self.b.output(f"o{number}", variable.value)
        return self.b.program()

    def block(self, most: int, *, loop: bool, depth: int) -> None:
        for _ in range(self.random.randrange(2, most)):
            self.random.choice((self.assign,) * 4 + (self.swap, self.sample, self.store))()
            if depth < 3:
                self.nest(self.random.randrange(8), loop=loop, depth=depth)
            if loop and self.random.random() < 0.3:
                self.b.break_(self.value(Type.BOOL))

    def nest(self, choice: int, *, loop: bool, depth: int) -> None:
        if choice == 0:
            with self.b.if_(self.value(Type.BOOL)):
                self.block(4, loop=loop, depth=depth + 1)
            with self.b.else_():
                self.block(4, loop=loop, depth=depth + 1)
        elif choice == 1:
            with self.b.loop(limit=3):
                self.block(4, loop=True, depth=depth + 1)

    def assign(self) -> None:
        """Values first, then variables, as an instruction with several components does."""
        chosen = self.random.sample(self.variables, self.random.randrange(1, 4))
        values = [self.value(variable.type) for variable in chosen]
        if len(values) > 1:
            values = [self.b.copy(value) for value in values]
        for variable, value in zip(chosen, values, strict=True):
            variable.value = value

    def swap(self) -> None:
        first, second = self.random.sample(self.of_type(self.random.choice(list(Type))), 2)
        kept = self.b.copy(first.value)
        first.value = second.value
        second.value = kept

    def sample(self) -> None:
        texel = self.b.sample(TextureKind.TEX2D, 1, (self.value(Type.F32), 0.5))
        for variable, value in zip(self.of_type(Type.F32), texel, strict=False):
            variable.value = value

    def store(self) -> None:
        file = self.random.choice([file for file in self.files if not file.uniform])
        self.b.store(file, self.value(file.type), 0, self.value(Type.I32) & 7)

    def value(self, type: Type, depth: int = 0) -> Value:
        """A new value, or now and then that of a variable itself."""
        choice = self.random.randrange(12)
        if choice < 2 or depth > 2:
            return self.random.choice(self.of_type(type)).value
        if choice == 2 and type.bits < 64:
            file = self.random.choice([file for file in self.files if file.type is type])
            return self.b.load(file, 1, self.value(Type.I32, depth + 1) & 3)
        if choice == 3:
            return self.b.input(*_fields(next(port for port in INPUTS if port.type is type)))
        if choice == 4 and type is Type.F32:
            return self.crossing(depth)
        name = self.random.choice([name for name, row in OPS.items() if row.result is type])
        operands = (self.value(each, depth + 1) for each in OPS[name].operands)
        return self.b.apply(name, *operands)

    def crossing(self, depth: int) -> Value:
        x, y = (self.value(Type.F32, depth + 1) for _ in range(2))
        if self.random.random() < 0.5:
            return self.b.ddx(x)
        return self.random.choice(self.b.sample(TextureKind.TEX2D, 0, (x, y)))

    def of_type(self, type: Type) -> list[Variable]:
        return [variable for variable in self.variables if variable.type is type]


def _declared(b: Builder, file: File) -> File:
    declare = b.uniform if file.uniform else b.local
    return declare(file.name, file.type, file.size)


def _fields(port: Port) -> tuple[str, Type]:
    return port.name, port.type


def random_build(random: Random) -> Program:
    """A pixel program made by a builder."""
    return Author(random).program()
