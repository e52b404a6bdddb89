"""Values and variables of the builder, which combine by Python's operators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import msgspec

from dp2emu.shader.ir import Operand, Statement
from dp2emu.shader.types import Type


class Block(msgspec.Struct, eq=False):
    """A block of statements that is being recorded.  Mutable: statements are added, it is closed.

    ``depth`` is the number of blocks around it, ``number`` how many began before it.
    """

    loop: bool = False
    depth: int = 0
    number: int = 0
    open: bool = True
    statements: list[Statement] = msgspec.field(default_factory=list)


def _operator(name: str) -> Callable[[Value, Number], Value]:
    return lambda self, other: self.builder.operator(name, self, other)


def _reflected(name: str) -> Callable[[Value, Number], Value]:
    """Make the operator method of a right operand, which swaps the operands."""
    return lambda self, other: self.builder.operator(name, other, self)


class Value(msgspec.Struct, frozen=True, eq=False):
    """An operand for later operations: a slot or a constant, with its type, builder and block.

    The block is that in which it was computed.  ``version`` is how often the slot had been
    assigned then; a later assignment makes the value unusable.
    """

    builder: Arithmetic
    operand: Operand
    type: Type
    block: Block
    version: int = 0

    __add__, __radd__ = _operator("add"), _reflected("add")
    __sub__, __rsub__ = _operator("sub"), _reflected("sub")
    __mul__, __rmul__ = _operator("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _operator("div"), _reflected("div")
    __and__, __or__, __xor__ = _operator("and"), _operator("or"), _operator("xor")
    __lshift__, __rshift__ = _operator("shl"), _operator("shr")
    # The op table has only < and >=; the others swap the operands.
    __lt__, __gt__ = _operator("lt"), _reflected("lt")
    __ge__, __le__ = _operator("ge"), _reflected("ge")

    def __neg__(self) -> Value:
        return self.builder.operator("neg", self)

    def __invert__(self) -> Value:
        return self.builder.operator("not", self)

    def __bool__(self) -> bool:
        raise TypeError("a value is known only when the program runs: use if_ or select")

    def eq(self, other: Number) -> Value:
        """Equality as an operation; ``==`` compares the Python objects."""
        return self.builder.operator("eq", self, other)

    def ne(self, other: Number) -> Value:
        """Inequality as an operation; true for a NaN."""
        return self.builder.operator("ne", self, other)


Number = Value | float
"""Type of operands: a value, or a Python number or bool that becomes a constant."""


class Variable(msgspec.Struct, eq=False):
    """A mutable slot: ``v.value`` reads it, ``v.value = x`` assigns it in the active lanes.

    Not frozen, since that would forbid the assignment to ``value``.
    """

    builder: Arithmetic
    slot: int
    type: Type

    @property
    def value(self) -> Value:
        """The current value.  ``Builder.copy`` keeps it across an assignment."""
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
"""Name of the operation in the op table that a Python operator records, by name of the operator
and type of the operands."""


_Unary = Callable[["Arithmetic", Number], Value]
_Binary = Callable[["Arithmetic", Number, Number], Value]
_Ternary = Callable[["Arithmetic", Number, Number, Number], Value]


def _recorded(op: str) -> Callable[..., Value]:
    """Return a method that records the operation ``op`` of the op table."""
    return lambda self, *operands: self.apply(op, *operands)


class Arithmetic(ABC):
    """Interface to record the operations of the op table; ``Builder`` implements it.

    ``Value`` and ``Variable`` depend on it alone, since the builder imports them.
    """

    @abstractmethod
    def constant(self, type: Type, number: float) -> Value:
        """A constant of a type."""

    @abstractmethod
    def apply(self, op: str, *operands: Number) -> Value:
        """The result of applying the operation ``op`` of the op table."""

    @abstractmethod
    def read(self, variable: Variable) -> Value:
        """The current value of a variable."""

    @abstractmethod
    def assign(self, variable: Variable, value: Number) -> None:
        """Assign a variable in the active lanes."""

    def operator(self, name: str, *operands: Number) -> Value:
        """Apply Python operator ``name``: the op table's operation for its operands' type."""
        type = next(each.type for each in operands if isinstance(each, Value))
        if type not in OPERATORS[name]:
            raise TypeError(f"no {name} on {type.value}")
        return self.apply(OPERATORS[name][type], *operands)

    def select(self, condition: Number, x: Number, y: Number) -> Value:
        """condition ? x : y, per lane.  If x and y are Python numbers the result is an F32."""
        types = [each.type for each in (x, y) if isinstance(each, Value)]
        return self.apply(OPERATORS["select"][types[0] if types else Type.F32], condition, x, y)

    fma: ClassVar[_Ternary] = _recorded("fma")
    """x * y + z with a single rounding.  ``x * y + z`` itself rounds twice."""
    mulz: ClassVar[_Binary] = _recorded("mulz")
    """x * y where 0 times anything is 0."""
    sqrt: ClassVar[_Unary] = _recorded("sqrt")
    """Square root, correctly rounded; a NaN below 0."""
    floor: ClassVar[_Unary] = _recorded("floor")
    """Round toward minus infinity."""
    ceil: ClassVar[_Unary] = _recorded("ceil")
    """Round toward plus infinity."""
    round: ClassVar[_Unary] = _recorded("round")
    """Round to nearest, ties to even."""
    trunc: ClassVar[_Unary] = _recorded("trunc")
    """Round toward zero."""
    fract: ClassVar[_Unary] = _recorded("fract")
    """Fractional part, x - floor(x)."""
    abs: ClassVar[_Unary] = _recorded("abs")
    """Absolute value: the sign bit cleared."""
    min: ClassVar[_Binary] = _recorded("min")
    """x < y ? x : y; if one operand is a NaN, the other."""
    max: ClassVar[_Binary] = _recorded("max")
    """x >= y ? x : y; if one operand is a NaN, the other."""
    saturate: ClassVar[_Unary] = _recorded("saturate")
    """Clamp to 0..1; a NaN becomes 0."""
    ftoi: ClassVar[_Unary] = _recorded("ftoi")
    """F32 to signed I32, rounded toward zero and saturated; a NaN becomes 0."""
    itof: ClassVar[_Unary] = _recorded("itof")
    """Signed I32 to the nearest F32."""
    asint: ClassVar[_Unary] = _recorded("asint")
    """The bits of an F32 as an I32."""
    asfloat: ClassVar[_Unary] = _recorded("asfloat")
    """The bits of an I32 as an F32."""
