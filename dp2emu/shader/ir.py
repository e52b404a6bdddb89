"""The intermediate representation of shaders: typed scalar slots and structured control flow.

A program runs many lanes in lockstep; each lane has its own scalar in every slot.  Slots are
typed, mutable and start as 0 or false.  The representation is scalar: lowering resolves swizzles
and write masks.

A statement acts on the active lanes and leaves the others unchanged.  ``If`` and ``Break`` narrow
the active lanes; the end of the ``If`` or ``Loop`` widens them again.

Everything is frozen and hashable, constants are stored as bits, and equal programs behave alike,
so that a program is the cache key of the code compiled from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, TypeVar

import msgspec
import numpy as np

from dp2emu.identity_cache import identity_cached
from dp2emu.shader.types import FLOATS, Type

_T = TypeVar("_T")


class ProgramError(ValueError):
    """Raised for a malformed program or program text."""


class Stage(Enum):
    """Kind of shader that a program is; only pixel programs run in quads and can kill lanes."""

    VERTEX = "vertex"
    PIXEL = "pixel"
    COMPUTE = "compute"

    __hash__ = object.__hash__


class Slot(msgspec.Struct, frozen=True):
    """A virtual register, by number, with a value per lane; ``Program.slots`` has its type."""

    number: int


class Constant(msgspec.Struct, frozen=True):
    """An operand with the same bits in every lane, as many as its type has; a BOOL is 0 or 1."""

    type: Type
    bits: int

    @classmethod
    def of(cls, type: Type, value: float) -> Constant:
        """Make a constant of a number rounded to the float type, an integer, signed or unsigned,
        or a BOOL.
        """
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
    """Return the NumPy dtype of unsigned integers as wide as values of a type."""
    return np.dtype(f"u{type.dtype.itemsize}")


Operand = Slot | Constant


class Port(msgspec.Struct, frozen=True):
    """A named input or output, such as ``v0.x``."""

    name: str
    type: Type


class File(msgspec.Struct, frozen=True):
    """An array of ``size`` scalars of 32 bits or BOOL with computed addresses.

    A uniform file is read only and shared by all lanes; a local file has a copy per lane,
    initially 0 or false.
    """

    name: str
    type: Type
    size: int
    uniform: bool


class Address(msgspec.Struct, frozen=True):
    """Scalar ``offset + index * stride`` of a file, computed without wrapping around.

    ``index`` is a signed I32 operand and may differ between lanes.  Out of range reads 0 and
    stores nothing.
    """

    offset: int
    index: Operand | None = None
    stride: int = 1


class Axis(Enum):
    """Screen direction of a derivative, and whether it is coarse."""

    X = "ddx"
    Y = "ddy"
    X_COARSE = "ddx_coarse"
    Y_COARSE = "ddy_coarse"


class TextureKind(Enum):
    """Dimension of a texture."""

    TEX2D = "2d"
    CUBE = "cube"
    VOLUME = "volume"
    SHADOW = "shadow"
    """A two-dimensional depth texture; the third coordinate is the comparison reference."""

    @property
    def coordinates(self) -> int:
        """Number of texture coordinates."""
        return 2 if self is TextureKind.TEX2D else 3

    @property
    def axes(self) -> int:
        """Number of axes of a mip level, or of a mip level of a cube face."""
        return 3 if self is TextureKind.VOLUME else 2


class Lod(Enum):
    """How a Sample statement gets the level of detail."""

    IMPLICIT = "implicit"
    """The level is computed from the derivatives of the coordinates in the quad; no operands."""
    BIAS = "bias"
    """Computed as for IMPLICIT, plus a bias, which is the only operand."""
    EXPLICIT = "explicit"
    """The level is the only operand."""
    GRADIENT = "gradient"
    """Computed from operands: ddx of every coordinate, then ddy of every coordinate."""

    def arguments(self, kind: TextureKind) -> int:
        """Number of operands that compute the level of detail, for a texture of a kind."""
        return {Lod.IMPLICIT: 0, Lod.GRADIENT: 2 * kind.coordinates}.get(self, 1)


class Input(msgspec.Struct, frozen=True):
    """slot <- input port."""

    slot: int
    port: str


class Output(msgspec.Struct, frozen=True):
    """Output port <- value.  The last write wins; an output never written is 0 or false."""

    port: str
    value: Operand


class Assign(msgspec.Struct, frozen=True):
    """slot <- operation of the op table on operands."""

    slot: int
    op: str
    operands: tuple[Operand, ...]


class Load(msgspec.Struct, frozen=True):
    """slot <- scalar of a file."""

    slot: int
    file: str
    address: Address


class Store(msgspec.Struct, frozen=True):
    """Scalar of a local file <- value."""

    file: str
    address: Address
    value: Operand


class Derivative(msgspec.Struct, frozen=True):
    """slot <- difference of a value within the lane's quad.

    Lanes 4q to 4q + 3 are two by two pixels: left top, right top, left bottom, right bottom.  X is
    right minus left in the lane's own row, Y bottom minus top in its own column.  The coarse axes
    give all four lanes the difference of the left top one.  An inactive lane contributes the value
    that its slot last held.
    """

    slot: int
    axis: Axis
    value: Operand


class Sample(msgspec.Struct, frozen=True):
    """slots <- red, green, blue and alpha of a texture at coordinates."""

    slots: tuple[int, int, int, int]
    sampler: int
    kind: TextureKind
    coordinates: tuple[Operand, ...]
    lod: Lod
    arguments: tuple[Operand, ...] = ()


class Fetch(msgspec.Struct, frozen=True):
    """slots <- four I32 words that the environment of the program returns for I32 operands.

    A fetch has no side effects.  The environment defines the meaning of ``unit``: texels by
    number, sizes of textures, sample positions.
    """

    slots: tuple[int, int, int, int]
    unit: int
    operands: tuple[Operand, ...] = ()


class Access(msgspec.Struct, frozen=True):
    """slots <- four I32 words returned by a memory operation with I32 operands.

    The environment defines the operation of ``unit``, which may write.  The active lanes act in
    order from the lowest on, and all lanes finish before the next statement begins, so that a lane
    sees the earlier accesses of all lanes.
    """

    slots: tuple[int, int, int, int]
    unit: int
    operands: tuple[Operand, ...] = ()


class If(msgspec.Struct, frozen=True):
    """Execute ``then`` for the active lanes in which the condition is true, ``otherwise`` for the
    active lanes in which it is false.
    """

    condition: Operand
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


class Loop(msgspec.Struct, frozen=True):
    """A loop until every lane has left it by a ``Break``, with at most ``limit`` iterations.

    The limit guarantees that every program terminates.
    """

    body: tuple[Statement, ...]
    limit: int


class Break(msgspec.Struct, frozen=True):
    """Leave the innermost loop in the lanes in which the condition is true."""

    condition: Operand


class Kill(msgspec.Struct, frozen=True):
    """Discard the pixels in which the condition is true.

    Their lanes stay active, since the derivatives of neighbouring lanes need them.
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


# Programs are cache keys looked up for every draw: hash once.
class Program(msgspec.Struct, frozen=True, cache_hash=True, weakref=True):
    """A complete program.  The builder and the parser make only verified ones."""

    stage: Stage
    slots: tuple[Type, ...]
    files: tuple[File, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    statements: tuple[Statement, ...]


def blocks(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the bodies of a statement: two of an If, one of a Loop, none of others."""
    kind = type(statement)
    if kind is If:
        return statement.then, statement.otherwise  # type: ignore[union-attr]
    return (statement.body,) if kind is Loop else ()  # type: ignore[union-attr]


def walk(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Yield statements in program order, each followed by the statements nested in it."""
    # A stack: of generators in each other, each would pass on what the innermost yields.
    pending = [iter(statements)]
    while pending:
        for statement in pending[-1]:
            yield statement
            if type(statement) in _NESTING:
                pending += map(iter, reversed(blocks(statement)))
                break
        else:
            pending.pop()


_NESTING = {If, Loop}


def nested(statements: tuple[Statement, ...]) -> list[tuple[Statement, ...]]:
    """Return the blocks of all statements, those in other blocks included."""
    return [block for each in walk(statements) for block in blocks(each)]


@identity_cached()
def accesses(program: Program) -> bool:
    """Whether a program accesses memory, so that the order of its lanes matters."""
    return any(isinstance(statement, Access) for statement in walk(program.statements))


# Tables by type, not isinstance tests: passes call these for every statement.


def written(statement: Statement) -> tuple[int, ...]:
    """Return the slots that a statement itself assigns, not those of nested statements."""
    return _WRITTEN[type(statement)](statement)


def operands(statement: Statement) -> tuple[Operand, ...]:
    """Return the operands that a statement itself reads, not those of nested statements."""
    return _OPERANDS[type(statement)](statement)


def reads(statement: Statement) -> set[int]:
    """Return the slots that a statement itself reads, not those of nested statements."""
    return {each.number for each in operands(statement) if isinstance(each, Slot)}


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
