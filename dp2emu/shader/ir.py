"""The intermediate representation: typed scalar slots and structured control flow.

A program works on many lanes at once, and each lane has its own scalar in every slot.
Slots are typed, mutable and start as 0 or false.  Nothing of a vector unit survives in here:
whoever lowers a shader resolves swizzles and write masks first.

A statement acts on the active lanes and leaves the others as they are.  ``If`` and ``Break``
narrow the active lanes; the end of the ``If`` or ``Loop`` widens them again.

Everything is frozen and hashable, constants are held by their bits, and equal programs do the
same, so that a program is the key of what is compiled from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from enum import Enum
from functools import wraps
from typing import Any, TypeVar, TypeVarTuple

import numpy as np

from dp2emu.records import dataclass
from dp2emu.shader.types import FLOATS, Type

_Others = TypeVarTuple("_Others")
_T = TypeVar("_T")
_KEPT = 64
"""Results that a function keeps of a program; more than these, and it begins anew."""


class ProgramError(ValueError):
    """A program, or the text of one, that cannot be meant."""


class Stage(Enum):
    """Where a program runs.  Only pixels come in quads and can be killed."""

    VERTEX = "vertex"
    PIXEL = "pixel"
    COMPUTE = "compute"

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Slot:
    """A register of each lane, by number; ``Program.slots`` has its type."""

    number: int


@dataclass(frozen=True, slots=True)
class Constant:
    """The same bits in every lane, as many as the type has; a BOOL is 0 or 1."""

    type: Type
    bits: int

    @classmethod
    def of(cls, type: Type, value: float) -> Constant:
        """A number rounded to a float, an integer, signed or unsigned, or a BOOL."""
        if type in FLOATS:
            with np.errstate(over="ignore"):
                return cls(type, int(type.dtype.type(value).view(_words(type))))
        return cls(type, int(value) & ((1 << type.bits) - 1))

    @property
    def scalar(self) -> Any:
        """The constant as a NumPy scalar of its type."""
        if self.type is Type.BOOL:
            return np.bool_(self.bits)
        return np.array(self.bits, _words(self.type)).view(self.type.dtype)[()]


def _words(type: Type) -> np.dtype[Any]:
    """Unsigned integers of the size of a type."""
    return np.dtype(f"u{type.dtype.itemsize}")


Operand = Slot | Constant


@dataclass(frozen=True, slots=True)
class Port:
    """An input or an output by name, such as ``v0.x``."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class File:
    """``size`` scalars of 32 bits or BOOL, addressed by number.

    A uniform file is read only and shared by all lanes; otherwise each lane has its own, which
    starts as 0 or false.
    """

    name: str
    type: Type
    size: int
    uniform: bool


@dataclass(frozen=True, slots=True)
class Address:
    """Scalar ``offset + index * stride`` of a file, computed without wrapping around.

    ``index`` is an I32 operand, signed, and may differ from lane to lane.  Out of range reads 0
    and stores nothing.
    """

    offset: int
    index: Operand | None = None
    stride: int = 1


class Axis(Enum):
    """Direction of a derivative on the screen."""

    X = "ddx"
    Y = "ddy"
    X_COARSE = "ddx_coarse"
    Y_COARSE = "ddy_coarse"


class TextureKind(Enum):
    """Shape of a texture."""

    TEX2D = "2d"
    CUBE = "cube"
    VOLUME = "volume"
    SHADOW = "shadow"
    """Two-dimensional depths, with which the third coordinate is compared."""

    @property
    def coordinates(self) -> int:
        """How many coordinates it takes."""
        return 2 if self is TextureKind.TEX2D else 3

    @property
    def axes(self) -> int:
        """How many a level, or a level of a face, has."""
        return 3 if self is TextureKind.VOLUME else 2


class Lod(Enum):
    """How the level of detail is found."""

    IMPLICIT = "implicit"
    """From the differences of the coordinates in the quad."""
    BIAS = "bias"
    """The same, plus an operand."""
    EXPLICIT = "explicit"
    """An operand."""
    GRADIENT = "gradient"
    """From operands: ddx of every coordinate, then ddy of every coordinate."""

    def arguments(self, kind: TextureKind) -> int:
        """How many operands it takes."""
        return {Lod.IMPLICIT: 0, Lod.GRADIENT: 2 * kind.coordinates}.get(self, 1)


@dataclass(frozen=True, slots=True)
class Input:
    """slot <- an input."""

    slot: int
    port: str


@dataclass(frozen=True, slots=True)
class Output:
    """An output <- value.  The last write wins; an output never written is 0 or false."""

    port: str
    value: Operand


@dataclass(frozen=True, slots=True)
class Assign:
    """slot <- an operation of the table on operands."""

    slot: int
    op: str
    operands: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """slot <- a scalar of a file."""

    slot: int
    file: str
    address: Address


@dataclass(frozen=True, slots=True)
class Store:
    """A scalar of a file that is not uniform <- value."""

    file: str
    address: Address
    value: Operand


@dataclass(frozen=True, slots=True)
class Derivative:
    """slot <- difference of value within the quad of the lane.

    The coarse axes give all four lanes what the left top one has.

    Lanes 4q to 4q + 3 are two by two pixels: left top, right top, left bottom, right bottom.
    X is right minus left in the lane's own row, Y bottom minus top in its own column.  A lane
    that is not active contributes what the slot held when it last was.
    """

    slot: int
    axis: Axis
    value: Operand


@dataclass(frozen=True, slots=True)
class Sample:
    """slots <- red, green, blue and alpha of a texture at coordinates."""

    slots: tuple[int, int, int, int]
    sampler: int
    kind: TextureKind
    coordinates: tuple[Operand, ...]
    lod: Lod
    arguments: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """slots <- the four words with which the surroundings of the program answer to operands.

    All are I32.  What ``unit`` asks for is known to whoever runs the program: texels by their
    numbers, sizes of textures, the places of samples.
    """

    slots: tuple[int, int, int, int]
    unit: int
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """slots <- the four words that memory gives when something is done to it with operands.

    All are I32.  What ``unit`` does is known to whoever runs the program, and it may write.  The
    active lanes act one after the other, from the lowest on, and the statement is done before the
    next one begins, so that a program sees what all of its lanes did before.
    """

    slots: tuple[int, int, int, int]
    unit: int
    operands: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """``then`` for the active lanes in which the condition is true, ``otherwise`` for the rest."""

    condition: Operand
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """The body again and again, until every lane has left it.

    After ``limit`` rounds the lanes still inside leave as well: no program runs for ever.
    """

    body: tuple[Statement, ...]
    limit: int


@dataclass(frozen=True, slots=True)
class Break:
    """Lanes in which the condition is true leave the innermost loop."""

    condition: Operand


@dataclass(frozen=True, slots=True)
class Kill:
    """Pixels in which the condition is true are not drawn.

    Their lanes stay active, since the derivatives of their neighbours need them.
    """

    condition: Operand


Statement = (
    Input
    | Output
    | Assign
    | Load
    | Store
    | Derivative
    | Sample
    | Fetch
    | Access
    | If
    | Loop
    | Break
    | Kill
)


@dataclass(frozen=True)
class Program:
    """What runs, and all that it refers to.  Made by the builder or the parser, who verify it."""

    stage: Stage
    slots: tuple[Type, ...]
    files: tuple[File, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    statements: tuple[Statement, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A program is the key of caches asked for every draw, so it is hashed once.
        object.__setattr__(self, "_hash", hash(self._parts()))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # The hash is of this process alone, and is computed anew in another.
        return Program, self._parts()

    def _parts(self) -> tuple[Any, ...]:
        return (self.stage, self.slots, self.files, self.inputs, self.outputs, self.statements)


def of_program(compute: Callable[[Program, *_Others], _T]) -> Callable[[Program, *_Others], _T]:
    """A function of a program, and of what can be hashed, whose latest results go with the
    program: a cache beside it would keep programs of any size.
    """
    name = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def look_up(program: Program, /, *others: *_Others) -> _T:
        known: dict[tuple[Any, ...], _T] = program.__dict__.setdefault(name, {})
        try:
            return known[others]
        except KeyError:
            result = compute(program, *others)
        if len(known) >= _KEPT:
            known.clear()
        known[others] = result
        return result

    return look_up


def blocks(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The blocks inside a statement."""
    kind = type(statement)
    if kind is If:
        return statement.then, statement.otherwise  # type: ignore[union-attr]
    return (statement.body,) if kind is Loop else ()  # type: ignore[union-attr]


def walk(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement in the order of the text, with those inside it after it."""
    for statement in statements:
        yield statement
        if type(statement) in _NESTING:
            for block in blocks(statement):
                yield from walk(block)


_NESTING = {If, Loop}


@of_program
def accesses(program: Program) -> bool:
    """Whether a program acts on memory, so that the order of its lanes matters."""
    return any(isinstance(statement, Access) for statement in walk(program.statements))


# Programs are gone through again and again when they are made: looking kinds up takes a fraction
# of what asking for one after the other does.


def written(statement: Statement) -> tuple[int, ...]:
    """Slots a statement itself assigns, not those that statements inside it do."""
    return _WRITTEN[type(statement)](statement)


def operands(statement: Statement) -> tuple[Operand, ...]:
    """What a statement itself reads."""
    return _OPERANDS[type(statement)](statement)


def _index(address: Address) -> tuple[Operand, ...]:
    return () if address.index is None else (address.index,)


_WRITTEN: dict[type[Statement], Callable[[Any], tuple[int, ...]]] = {
    **dict.fromkeys((Sample, Fetch, Access), lambda s: s.slots),
    **dict.fromkeys((Input, Assign, Load, Derivative), lambda s: (s.slot,)),
    **dict.fromkeys((Output, Store, If, Loop, Break, Kill), lambda _: ()),
}
_OPERANDS: dict[type[Statement], Callable[[Any], tuple[Operand, ...]]] = {
    **dict.fromkeys((Assign, Fetch, Access), lambda s: s.operands),
    Sample: lambda s: s.coordinates + s.arguments,
    **dict.fromkeys((If, Break, Kill), lambda s: (s.condition,)),
    **dict.fromkeys((Output, Derivative), lambda s: (s.value,)),
    Load: lambda s: _index(s.address),
    Store: lambda s: (*_index(s.address), s.value),
    **dict.fromkeys((Input, Loop), lambda _: ()),
}
