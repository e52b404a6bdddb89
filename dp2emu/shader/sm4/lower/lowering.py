"""State of a lowering: registers as untyped I32 variables, local files, units, open frames.

Frames are blocks that lanes can leave early: routines, loops, iterations and switches.  The
intermediate representation can only break out of the innermost loop.  So every frame is a loop,
most of a single iteration.  To leave an outer frame, lanes set its flag and break out of the inner
one; after the inner one, lanes with the flag set break again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from enum import Enum
from itertools import chain
from typing import NamedTuple

import msgspec

from dp2emu.shader import ir
from dp2emu.shader.budget import EXECUTED, Budget, Loops, Step, loops_of
from dp2emu.shader.origins import new_builder
from dp2emu.shader.resources import MemoryOperation, Unit
from dp2emu.shader.sm4.flow import CALLS, Phase, label_of, phases
from dp2emu.shader.sm4.lower.declared import Declared, declared
from dp2emu.shader.sm4.lower.geometry import Emitter
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value, Variable


class FrameKind(Enum):
    """Kinds of open blocks (frames)."""

    ROUTINE = "routine"
    LOOP = "loop"
    ITERATION = "iteration"
    """One iteration of a loop, the target of continue."""
    SWITCH = "switch"
    BRANCH = "branch"
    """An if, or the body of a case; lanes cannot leave it early."""


class Frame(msgspec.Struct, eq=False):
    """An open block of the program being lowered.  Mutable: it collects the jumps out of it.

    ``flag`` is set in lanes that leave the block from inside inner frames.  ``outer_exits`` are
    the outer frames that lanes inside this block leave.  ``exit`` closes the blocks of the
    builder.
    """

    kind: FrameKind
    exit: ExitStack
    flag: Variable | None = None
    outer_exits: list[Frame] = msgspec.field(default_factory=list)
    switch: Switch | None = None


class Switch(msgspec.Struct, eq=False):
    """An open switch: tested value, labels, and a BOOL of the lanes that reached their case."""

    value: Value
    words: tuple[int, ...]
    """32-bit labels of all cases; default applies to every other value."""
    running: Variable


def measure_loops(parts: Phase) -> Loops:
    """Measure the loops of a program, with calls expanded, for its work budget.

    Any loop is assumed to run as long as the budget permits.
    """
    return loops_of(
        Step(EXECUTED if each.op is Op.LOOP else None, each.op is Op.ENDLOOP)
        for each in _expanded(parts.main, parts)
    )


def _expanded(body: Iterable[Instruction], parts: Phase) -> Iterator[Instruction]:
    for instruction in body:
        yield instruction
        if instruction.op in CALLS:
            yield from _expanded(parts.subroutines[label_of(instruction)], parts)


ROWS = 4096
"""Maximum size of a constant buffer in rows of four 32-bit words."""
_FAR = 1 << 16
"""A row number beyond the last row of every register array and constant buffer."""

_STAGES = {
    Stage.VERTEX: ir.Stage.VERTEX,
    Stage.HULL: ir.Stage.VERTEX,
    Stage.DOMAIN: ir.Stage.VERTEX,
    Stage.GEOMETRY: ir.Stage.VERTEX,
    Stage.PIXEL: ir.Stage.PIXEL,
    Stage.COMPUTE: ir.Stage.COMPUTE,
}

REGISTERS = 32
"""Number of registers that local files for v# and o# have room for; v[vertex][register] has as
many for each vertex."""


class Place(NamedTuple):
    """Key of the variable that holds a register component: register file, number, component."""

    file: File
    number: int
    component: int


class Write(msgspec.Struct, frozen=True):
    """A pending write of a register component, executed after all reads of the instruction.

    ``bits`` is the value as an I32; ``number`` is the same value as an F32, None if the result is
    no float.
    """

    operand: Operand
    component: int
    bits: Value
    number: Value | None = None


class Lowering:
    """The state of lowering one program or phase.  A register that was never written holds 0.

    A register component is an I32 variable of the builder; x# are local files, as are v# and o# if
    some instruction indexes them.  ``known`` caches the flushed F32 value of variables that were
    written from floats; flow control clears it.  ``dropped`` marks discarded pixels if the program
    has both discards and memory operations, else it is None.
    """

    def __init__(
        self,
        program: Program,
        phase: Phase | None = None,
        registers: int = 1,
        before: Declared | None = None,
    ) -> None:
        """Begin the lowering of a program of one phase, or of one ``phase`` of a hull program,
        where the declarations ``before`` it apply too.

        ``registers`` is the number of registers of a point in patch files.  Raises ShaderError for
        invalid declarations of a geometry program (``emission_of``).
        """
        self.version = program.version
        self.parts = phase or phases(program)[0]
        self.registers = registers
        self.declared = declared(self.parts.declarations, before)
        self.b = new_builder(_STAGES[program.version.stage])
        self.variables: dict[Place, Variable] = {}
        self.known: dict[Place, Value] = {}
        self.arrays = {
            number: self.b.local(f"x{number}", Type.I32, rows * components)
            for number, (rows, components) in self.declared.arrays.items()
        }
        self.indexed = {
            file: self.b.local(file.value, Type.I32, self._size(file))
            for file in sorted(self._indexed(), key=lambda file: file.value)
        }
        self.units: dict[Unit, int] = {}
        self.frames: list[Frame] = []
        self.kills = False
        self.operations: dict[MemoryOperation, int] = {}
        self.dropped = self._drops()
        self.budget = Budget(self.b, measure_loops(self.parts))
        geometry = program.version.stage is Stage.GEOMETRY
        self.emitter = Emitter(self.b, self.declared, self.output) if geometry else None

    def _indexed(self) -> set[File]:
        """Those of the files v# and o# that some instruction indexes; not patch registers."""
        of_patch = self.version.stage in (Stage.HULL, Stage.DOMAIN)
        files = {File.OUTPUT} if of_patch else {File.INPUT, File.OUTPUT}
        return {
            operand.file
            for instruction in chain(self.parts.main, *self.parts.subroutines.values())
            for operand in instruction.operands
            if operand.file in files and any(each.relative for each in operand.indices)
        }

    def _size(self, file: File) -> int:
        """Size in words of the local file for v# or o#, all vertices of a primitive together."""
        vertices = self.declared.vertices_in if file is File.INPUT else 1
        return 4 * REGISTERS * vertices

    def word(self, bits: int) -> Value:
        """An I32 constant."""
        return self.b.constant(Type.I32, bits)

    def number(self, value: float) -> Value:
        """An F32 constant."""
        return self.b.constant(Type.F32, value)

    def unit(self, unit: Unit) -> int:
        """The number of ``unit`` in the program; equal units have one number."""
        return self.units.setdefault(unit, len(self.units))

    def fetch(self, unit: Unit, *operands: Value) -> tuple[Value, Value, Value, Value]:
        """Record a Fetch and return its words; F32 operands are passed as their bits."""
        words = [self.b.asint(each) if each.type is Type.F32 else each for each in operands]
        return self.b.fetch(self.unit(unit), words)

    def access(
        self, operation: MemoryOperation, operands: list[Value]
    ) -> tuple[Value, Value, Value, Value]:
        """Record an Access that performs a memory operation; returns its four result words."""
        return self.b.access(self.operations.setdefault(operation, len(self.operations)), operands)

    def _drops(self) -> Variable | None:
        executed = chain(self.parts.main, *self.parts.subroutines.values())
        discards = any(each.op is Op.DISCARD for each in executed)
        if not (discards and self.declared.unordered):
            return None
        return self.b.variable(Type.BOOL, False)

    def variable(self, place: Place) -> Variable:
        """The variable that holds the register component ``place``."""
        if place not in self.variables:
            self.variables[place] = self.b.variable(Type.I32)
        return self.variables[place]

    def output(self, number: int, component: int) -> Value:
        """The current value of a component of o#."""
        if File.OUTPUT in self.indexed:
            return self.b.load(self.indexed[File.OUTPUT], 4 * number + component)
        return self.variable(Place(File.OUTPUT, number, component)).value

    def commit(self, writes: Iterable[Write], indices: dict[Operand, Value | None]) -> None:
        """Execute the writes of an instruction, as if all at the same moment.

        ``indices`` has the run-time part of the row, or None, for each destination operand that is
        stored in a local file.
        """
        direct = []
        for write in writes:
            if self.in_file(write.operand):
                self._store(write, indices[write.operand])
            elif write.operand.file is not File.NULL:
                direct.append(write)
        places = [place_of(write.operand, write.component) for write in direct]
        variables = [self.variable(place) for place in places]
        written = {ir.Slot(variable.slot) for variable in variables}
        values = [self.b.copy(w.bits) if w.bits.operand in written else w.bits for w in direct]
        for variable, value in zip(variables, values, strict=True):
            variable.value = value
        for place, write in zip(places, direct, strict=True):
            self.known.pop(place, None)
            if write.number is not None:
                self.known[place] = write.number

    def in_file(self, operand: Operand) -> bool:
        """Whether the registers of an operand are stored in a local file."""
        return operand.file is File.INDEXABLE_TEMP or operand.file in self.indexed

    def file_of(self, operand: Operand) -> tuple[ir.File, int, Index]:
        """The local file that holds a register, its number of components per row, and the row."""
        if by_vertex(operand):
            return self.indexed[operand.file], 4, Index()
        if operand.file is File.INDEXABLE_TEMP:
            _, components = self.declared.arrays[operand.number]
            return self.arrays[operand.number], components, operand.indices[1]
        return self.indexed[operand.file], 4, operand.indices[0]

    def _store(self, write: Write, index: Value | None) -> None:
        """Execute a write to a local file; a component that the file's rows lack is dropped."""
        file, components, row = self.file_of(write.operand)
        if write.component < components:
            self.b.store(file, write.bits, *file_address(row, index, components, write.component))


def file_address(
    row: Index, index: Value | None, components: int, place: int
) -> tuple[int, Value | None, int]:
    """The address of component ``place`` of a row of a file: offset, index and stride in scalars.

    Row numbers wrap at 32 bits, but addresses in a file do not.  So a large row offset is added to
    the run-time ``index`` here; without one it is out of range, and the offset is -1.
    """
    if row.offset < _FAR:
        return row.offset * components + place, index, 1 if index is None else components
    return (-1, None, 1) if index is None else (place, index + row.offset, components)


def by_vertex(operand: Operand) -> bool:
    """Whether an operand is written as v[vertex][register], with two indices."""
    return operand.file is File.INPUT and len(operand.indices) > 1


def place_of(operand: Operand, component: int) -> Place:
    """The key of the variable for a component of an operand; scalar registers have number 0."""
    return Place(operand.file, operand.number if operand.indices else 0, component)
