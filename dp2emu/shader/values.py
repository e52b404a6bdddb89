"""What a builder hands out: values that combine by Python's operators, and variables."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from dp2emu.records import dataclass
from dp2emu.shader.ir import Operand, Statement
from dp2emu.shader.types import Type

if TYPE_CHECKING:
    from dp2emu.shader.builder import Builder


@dataclass(eq=False, slots=True)
class Block:
    """Statements being recorded, hence mutable.

    ``borrowed`` are slots of variables that the body of a loop reads through a value made outside
    it: if the body assigned them too, the next round would read something else.
    """

    loop: bool = False
    statements: list[Statement] = field(default_factory=list)
    borrowed: set[int] = field(default_factory=set)


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """An operand with its type, the builder that made it, and the block it was made in.

    ``version`` counts assignments of the slot before that.
    """

    builder: Builder
    operand: Operand
    type: Type
    block: Block
    version: int = 0

    def __add__(self, other: Number) -> Value:
        return self.builder.operator("add", self, other)

    def __radd__(self, other: Number) -> Value:
        return self.builder.operator("add", other, self)

    def __sub__(self, other: Number) -> Value:
        return self.builder.operator("sub", self, other)

    def __rsub__(self, other: Number) -> Value:
        return self.builder.operator("sub", other, self)

    def __mul__(self, other: Number) -> Value:
        return self.builder.operator("mul", self, other)

    def __rmul__(self, other: Number) -> Value:
        return self.builder.operator("mul", other, self)

    def __truediv__(self, other: Number) -> Value:
        return self.builder.operator("div", self, other)

    def __rtruediv__(self, other: Number) -> Value:
        return self.builder.operator("div", other, self)

    def __neg__(self) -> Value:
        return self.builder.operator("neg", self)

    def __and__(self, other: Number) -> Value:
        return self.builder.operator("and", self, other)

    def __or__(self, other: Number) -> Value:
        return self.builder.operator("or", self, other)

    def __xor__(self, other: Number) -> Value:
        return self.builder.operator("xor", self, other)

    def __invert__(self) -> Value:
        return self.builder.operator("not", self)

    def __lshift__(self, other: Number) -> Value:
        return self.builder.operator("shl", self, other)

    def __rshift__(self, other: Number) -> Value:
        return self.builder.operator("shr", self, other)

    def __lt__(self, other: Number) -> Value:
        return self.builder.operator("lt", self, other)

    def __gt__(self, other: Number) -> Value:
        return self.builder.operator("lt", other, self)

    def __ge__(self, other: Number) -> Value:
        return self.builder.operator("ge", self, other)

    def __le__(self, other: Number) -> Value:
        return self.builder.operator("ge", other, self)

    def __bool__(self) -> bool:
        raise TypeError("a value is known only when the program runs: use if_ or select")

    def eq(self, other: Number) -> Value:
        """Equality as an operation; ``==`` compares the Python objects."""
        return self.builder.operator("eq", self, other)

    def ne(self, other: Number) -> Value:
        """Inequality as an operation; true for a NaN."""
        return self.builder.operator("ne", self, other)


Number = Value | float
"""A value, or a Python number or bool that becomes a constant of the type that is wanted."""


@dataclass(eq=False, slots=True)
class Variable:
    """A slot to assign: ``v.value`` reads it, ``v.value = x`` assigns it in the active lanes.

    Not frozen, since that would forbid the assignment to ``value``.
    """

    builder: Builder
    slot: int
    type: Type

    @property
    def value(self) -> Value:
        """What it is now.  To keep that over an assignment, ``Builder.copy`` it."""
        return self.builder.read(self)

    @value.setter
    def value(self, value: Number) -> None:
        self.builder.assign(self, value)


_TYPES = {type.letter: type for type in Type}
_PREFIXES = {"f": ""}

OPERATORS: dict[str, dict[Type, str]] = {
    name: {_TYPES[letter]: _PREFIXES.get(letter, letter) + name for letter in letters}
    for name, letters in (
        ("add", "fidl"),
        ("sub", "fidl"),
        ("mul", "fidl"),
        ("div", "fd"),
        ("neg", "fidl"),
        ("and", "ibl"),
        ("or", "ibl"),
        ("xor", "ibl"),
        ("not", "ibl"),
        ("shl", "il"),
        ("shr", "il"),
        ("lt", "fidl"),
        ("ge", "fidl"),
        ("eq", "fidl"),
        ("ne", "fidl"),
        ("mov", "fibdl"),
        ("select", "fibdl"),
    )
}
OPERATORS["ne"][Type.BOOL] = "bxor"
"""The operation for an operator on each type."""
