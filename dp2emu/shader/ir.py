"""The intermediate representation: straight-line statements over numbered slots.

Each slot holds one float32 for every lane and is assigned once.  Nothing of a vector unit
survives in here: whoever lowers a shader resolves swizzles and write masks first.
"""

from __future__ import annotations

from dataclasses import dataclass

from dp2emu.shader.ops import OPS


@dataclass(frozen=True, slots=True)
class Constant:
    """slot <- the same float32 in every lane."""

    slot: int
    value: float


@dataclass(frozen=True, slots=True)
class Input:
    """slot <- an input by name, such as ``diffuse.r``."""

    slot: int
    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """slot <- an operation of the table on earlier slots."""

    slot: int
    op: str
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """An output by name <- slot."""

    name: str
    slot: int


Statement = Constant | Input | Apply | Output


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in order.  Hashable, and equal programs do the same."""

    statements: tuple[Statement, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs, in order of use."""
        return tuple(s.name for s in self.statements if isinstance(s, Input))


@dataclass(frozen=True, slots=True)
class Value:
    """What the builder hands out: the slot an expression was computed into."""

    slot: int


class Builder:
    """Records statements.  Slots are assigned once, and an input is read once."""

    def __init__(self) -> None:
        self._statements: list[Statement] = []
        self._inputs: dict[str, Value] = {}
        self._slots = 0

    def constant(self, value: float) -> Value:
        slot = self._new_slot()
        self._statements.append(Constant(slot, value))
        return Value(slot)

    def input(self, name: str) -> Value:
        if name not in self._inputs:
            slot = self._new_slot()
            self._statements.append(Input(slot, name))
            self._inputs[name] = Value(slot)
        return self._inputs[name]

    def apply(self, op: str, *operands: Value) -> Value:
        """Raises TypeError for the wrong number of operands, KeyError for no such operation."""
        if len(operands) != OPS[op].arity:
            raise TypeError(f"{op} takes {OPS[op].arity} operands, not {len(operands)}")
        slot = self._new_slot()
        self._statements.append(Apply(slot, op, tuple(value.slot for value in operands)))
        return Value(slot)

    def add(self, x: Value, y: Value) -> Value:
        return self.apply("add", x, y)

    def saturate(self, x: Value) -> Value:
        return self.apply("saturate", x)

    def output(self, name: str, value: Value) -> None:
        self._statements.append(Output(name, value.slot))

    def program(self) -> Program:
        """What was recorded so far."""
        return Program(tuple(self._statements))

    def _new_slot(self) -> int:
        self._slots += 1
        return self._slots - 1
