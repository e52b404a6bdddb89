"""A builder that records programs of the intermediate representation from Python arithmetic.

    b = Builder(Stage.PIXEL)
    x, scale = b.input("v0.x"), b.load(b.uniform("c", Type.F32, 32), 4)
    total = b.variable(Type.F32, 0.0)
    with b.if_(x < 1.0):
        total.value = x * scale + 0.5
    with b.else_():
        total.value = b.sqrt(x)
    b.output("color0.r", b.saturate(total.value))
    program = b.program()

A ``Value`` is immutable; a ``Variable`` can be reassigned.  Misuse raises where it happens:
TypeError for operands of the wrong type, ProgramError for a value used outside its block or after
its variable was reassigned.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import NamedTuple, TypeVar

from dp2emu.shader import ir
from dp2emu.shader.ops import OPS
from dp2emu.shader.passes import coalesce_copies
from dp2emu.shader.types import Type
from dp2emu.shader.values import OPERATORS, Arithmetic, Block, Number, Value, Variable
from dp2emu.shader.verify import verify

Declared = TypeVar("Declared", ir.File, ir.Port)

_number = attrgetter("number")


class _Loan(NamedTuple):
    """A use of a variable's value: how many blocks had begun, and the depth of the value's."""

    begun: int
    depth: int


LOOP_LIMIT = 255
"""Default iteration limit of a loop: the most that Direct3D 9 allows (SM1-3 tokens, "Flow
control").
"""


class Builder(Arithmetic):
    """Records a program.

    Inputs, and uniforms at a constant address, are read once, at its start.
    """

    def __init__(self, stage: ir.Stage) -> None:
        self._stage = stage
        self._slots: list[Type] = []
        self._versions: list[int] = []
        self._files: dict[str, ir.File] = {}
        self._inputs: dict[str, ir.Port] = {}
        self._outputs: dict[str, ir.Port] = {}
        self._prologue: list[ir.Statement] = []
        self._fetched: dict[tuple[str, int | None], Value] = {}
        self._open = [Block()]
        self._begun = 1
        self._recorded = 0
        self._loops: list[Block] = []
        self._variables: set[int] = set()
        self._lent: dict[int, list[_Loan]] = {}

    @property
    def size(self) -> int:
        """Number of slots or of recorded statements so far, whichever is greater."""
        return max(len(self._slots), self._recorded)

    def at(self, lowering: object, *instructions: object) -> None:
        """Note that the following statements come from ``instructions`` of the shader that
        ``lowering`` translates, or from none.

        This builder notes nothing (``origins.RecordingBuilder``).
        """

    # Values

    def constant(self, type: Type, number: float) -> Value:
        """Return a constant.  Raises TypeError for a number that the type cannot hold."""
        if isinstance(number, bool) is not (type is Type.BOOL):
            raise TypeError(f"{number!r} is no {type.value}")
        if type in (Type.I32, Type.I64) and not isinstance(number, int):
            raise TypeError(f"{number!r} is no {type.value}")
        return Value(self, ir.Constant.of(type, number), type, self._open[0])

    def variable(self, type: Type, start: Number | None = None) -> Variable:
        """Declare a variable; without ``start`` it begins as 0 or false."""
        variable = Variable(self, self._new_slot(type), type)
        self._variables.add(variable.slot)
        if start is not None:
            self.assign(variable, start)
        return variable

    def read(self, variable: Variable) -> Value:
        """Return the current value of a variable."""
        slot = variable.slot
        version = self._versions[slot]
        return Value(self, ir.Slot(slot), variable.type, self._open[-1], version)

    def assign(self, variable: Variable, value: Number) -> None:
        """Assign a variable in the active lanes."""
        self._check_loans(variable.slot)
        operand = self._operand(value, variable.type)
        self._versions[variable.slot] += 1
        self._emit(ir.Assign(variable.slot, OPERATORS["mov"][variable.type], (operand,)))

    def copy(self, value: Value) -> Value:
        """Copy a value to a new slot, so that later assignments do not change it."""
        return self.apply(OPERATORS["mov"][value.type], value)

    def apply(self, op: str, *operands: Number) -> Value:
        """Record any operation of the op table and return its result.

        Raises KeyError for an unknown operation, TypeError for wrong operands.
        """
        row = OPS[op]
        if len(operands) != len(row.operands):
            raise TypeError(f"{op} takes {len(row.operands)} operands, not {len(operands)}")
        typed = tuple(map(self._operand, operands, row.operands))
        result = self._new_value(row.result)
        self._emit(ir.Assign(_slot(result), op, typed))
        return result

    # Ports and files

    def input(self, name: str, type: Type = Type.F32) -> Value:
        """Declare and read an input; repeated calls return the same value."""
        _declare(self._inputs, ir.Port(name, type))
        if (name, None) not in self._fetched:
            value = self._fetched[name, None] = self._new_value(type, self._open[0])
            self._prologue.append(ir.Input(_slot(value), name))
        return self._fetched[name, None]

    def output(self, name: str, value: Number, type: Type = Type.F32) -> None:
        """Write an output in the active lanes; a ``Value`` determines the port's type."""
        type = value.type if isinstance(value, Value) else type
        _declare(self._outputs, ir.Port(name, type))
        self._emit(ir.Output(name, self._operand(value, type)))

    def uniform(self, name: str, type: Type, size: int) -> ir.File:
        """Declare a read-only file of ``size`` scalars that all lanes share."""
        return _declare(self._files, ir.File(name, type, size, uniform=True))

    def local(self, name: str, type: Type, size: int) -> ir.File:
        """Declare a writable file of ``size`` scalars, of which each lane has a copy."""
        return _declare(self._files, ir.File(name, type, size, uniform=False))

    def load(
        self, file: ir.File, offset: int, index: Number | None = None, stride: int = 1
    ) -> Value:
        """Load scalar ``offset + index * stride`` of a file; out of range reads 0."""
        if file.uniform and index is None:
            return self._fixed_uniform(file, offset)
        result = self._new_value(file.type)
        self._emit(ir.Load(_slot(result), file.name, self._address(offset, index, stride)))
        return result

    def store(
        self,
        file: ir.File,
        value: Number,
        offset: int,
        index: Number | None = None,
        stride: int = 1,
    ) -> None:
        """Store scalar ``offset + index * stride`` of a local file in the active lanes.

        Out of range it stores nothing.
        """
        address = self._address(offset, index, stride)
        self._emit(ir.Store(file.name, address, self._operand(value, file.type)))

    # Pixels

    def ddx(self, x: Number) -> Value:
        """Horizontal derivative: right minus left in the quad."""
        return self.derivative(ir.Axis.X, x)

    def ddy(self, x: Number) -> Value:
        """Vertical derivative: bottom minus top in the quad."""
        return self.derivative(ir.Axis.Y, x)

    def derivative(self, axis: ir.Axis, x: Number) -> Value:
        """Derivative of a value along an axis of the quad."""
        operand = self._operand(x, Type.F32)
        result = self._new_value(Type.F32)
        self._emit(ir.Derivative(_slot(result), axis, operand))
        return result

    def sample(
        self,
        kind: ir.TextureKind,
        sampler: int,
        coordinates: Sequence[Number],
        lod: ir.Lod = ir.Lod.IMPLICIT,
        arguments: Sequence[Number] = (),
    ) -> tuple[Value, Value, Value, Value]:
        """Sample a texture: red, green, blue and alpha.  ``lod`` determines the number of
        ``arguments``.
        """
        places = tuple(self._operand(each, Type.F32) for each in coordinates)
        extra = tuple(self._operand(each, Type.F32) for each in arguments)
        results = tuple(self._new_value(Type.F32) for _ in range(4))
        red, green, blue, alpha = results
        slots = (_slot(red), _slot(green), _slot(blue), _slot(alpha))
        self._emit(ir.Sample(slots, sampler, kind, places, lod, extra))
        return red, green, blue, alpha

    def fetch(self, unit: int, operands: Sequence[Number]) -> tuple[Value, Value, Value, Value]:
        """Emit a read of four I32 at I32 ``operands``, such as of a texture; ``unit`` says of
        what.  No side effects.
        """
        return self._asked(ir.Fetch, unit, operands)

    def access(self, unit: int, operands: Sequence[Number]) -> tuple[Value, Value, Value, Value]:
        """Emit a memory access with I32 ``operands``; ``unit`` says to which memory and how.

        Returns four I32.
        """
        return self._asked(ir.Access, unit, operands)

    def _asked(
        self, kind: type[ir.Fetch | ir.Access], unit: int, operands: Sequence[Number]
    ) -> tuple[Value, Value, Value, Value]:
        given = tuple(self._operand(each, Type.I32) for each in operands)
        x, y, z, w = (self._new_value(Type.I32) for _ in range(4))
        self._emit(kind((_slot(x), _slot(y), _slot(z), _slot(w)), unit, given))
        return x, y, z, w

    def kill(self, condition: Number) -> None:
        """Discard the pixels in which the condition is true."""
        self._emit(ir.Kill(self._operand(condition, Type.BOOL)))

    # Control flow

    @contextmanager
    def if_(self, condition: Number) -> Iterator[None]:
        """Record the body for the lanes in which the condition is true."""
        operand = self._operand(condition, Type.BOOL)
        with self._block() as block:
            yield
        self._emit(ir.If(operand, tuple(block.statements)))

    @contextmanager
    def else_(self) -> Iterator[None]:
        """Record the body for lanes in which the condition of the preceding ``if_`` is false."""
        before = self._open[-1].statements
        if not before or not isinstance(before[-1], ir.If) or before[-1].otherwise:
            raise ir.ProgramError("else without an if")
        last = before[-1]
        with self._block() as block:
            yield
        before[-1] = ir.If(last.condition, last.then, tuple(block.statements))

    @contextmanager
    def loop(self, limit: int = LOOP_LIMIT) -> Iterator[None]:
        """Record the body of a loop with at most ``limit`` iterations."""
        with self._block(loop=True) as block:
            yield
        self._emit(ir.Loop(tuple(block.statements), limit))

    def break_(self, condition: Number = True) -> None:
        """Leave the innermost loop in the lanes in which the condition is true."""
        self._emit(ir.Break(self._operand(condition, Type.BOOL)))

    # The end

    def program(self) -> ir.Program:
        """Finish recording; returns the program, verified and without redundant copies."""
        if len(self._open) > 1:
            raise ir.ProgramError("a block is still open")
        program = ir.Program(
            self._stage,
            tuple(self._slots),
            tuple(self._files.values()),
            tuple(self._inputs.values()),
            tuple(self._outputs.values()),
            self._finished((*self._prologue, *self._open[0].statements)),
        )
        verify(program)
        return program

    def _finished(self, statements: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
        """The statements of the program, made from those that were recorded."""
        return coalesce_copies(statements)

    def _emit(self, statement: ir.Statement) -> None:
        self._recorded += 1
        self._open[-1].statements.append(statement)

    @contextmanager
    def _block(self, loop: bool = False) -> Iterator[Block]:
        block = Block(loop, len(self._open), self._begun)
        self._begun += 1
        stacks = [self._open, self._loops] if loop else [self._open]
        for stack in stacks:
            stack.append(block)
        try:
            yield block
        finally:
            block.open = False
            for stack in stacks:
                stack.pop()

    def _new_slot(self, type: Type) -> int:
        self._slots.append(type)
        self._versions.append(0)
        return len(self._slots) - 1

    def _new_value(self, type: Type, block: Block | None = None) -> Value:
        return Value(self, ir.Slot(self._new_slot(type)), type, block or self._open[-1])

    def _operand(self, value: Number, type: Type) -> ir.Operand:
        """Convert a number or value to an operand; raises if it cannot be used at this point."""
        if not isinstance(value, Value):
            value = self.constant(type, value)
        if value.builder is not self:
            raise ir.ProgramError("a value of another builder")
        if value.type is not type:
            raise TypeError(f"{value.type.value} where {type.value} is wanted")
        if isinstance(value.operand, ir.Slot):
            self._check_use(value, value.operand.number)
        return value.operand

    def _check_use(self, value: Value, slot: int) -> None:
        if not value.block.open:
            raise ir.ProgramError("a value outside the block that computes it")
        if value.version != self._versions[slot]:
            raise ir.ProgramError("a variable's value after the variable was assigned")
        if self._loops and slot in self._variables:
            self._lend(slot, value.block.depth)

    # A loop that uses a variable's value of before it must not assign the variable, whose value
    # would change in the next iteration.  Uses are kept until the next assignment: loops that are
    # open then without an error have begun after them, or around the block of the value.

    def _lend(self, slot: int, depth: int) -> None:
        """Remember that a value of a variable, computed at ``depth``, is used now."""
        loans = self._lent.setdefault(slot, [])
        while loans and loans[-1].depth >= depth:
            loans.pop()
        loans.append(_Loan(self._begun, depth))

    def _check_loans(self, slot: int) -> None:
        """Check that a variable may be assigned in the open loops.  Raises ProgramError."""
        for loan in self._lent.get(slot, ()) if self._loops else ():
            around = bisect_left(self._loops, loan.begun, key=_number)
            if around and self._loops[around - 1].depth > loan.depth:
                what = "a loop assigns a variable whose value of before it also uses"
                raise ir.ProgramError(what)
        self._lent.pop(slot, None)

    def _fixed_uniform(self, file: ir.File, offset: int) -> Value:
        key = (file.name, offset)
        if key not in self._fetched:
            value = self._fetched[key] = self._new_value(file.type, self._open[0])
            self._prologue.append(ir.Load(_slot(value), file.name, ir.Address(offset)))
        return self._fetched[key]

    def _address(self, offset: int, index: Number | None, stride: int) -> ir.Address:
        if index is None:
            return ir.Address(offset)
        return ir.Address(offset, self._operand(index, Type.I32), stride)


def _declare(table: dict[str, Declared], wanted: Declared) -> Declared:
    declared = table.setdefault(wanted.name, wanted)
    if declared != wanted:
        raise ir.ProgramError(f"{wanted.name} is already declared as {declared}")
    return declared


def _slot(value: Value) -> int:
    """Return the number of the slot that holds a freshly computed value."""
    assert isinstance(value.operand, ir.Slot)
    return value.operand.number
