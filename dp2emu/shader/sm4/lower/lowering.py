"""The loops of a shader as its budget counts them: nothing tells how often they go round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dp2emu.records import dataclass
from dp2emu.shader import ir
from dp2emu.shader.budget import EXECUTED, Budget, Loops, Step, loops_of
from dp2emu.shader.builder import Builder
from dp2emu.shader.resources import MemoryOperation, Unit
from dp2emu.shader.sm4.flow import CALLS, Phase, label_of, phases
from dp2emu.shader.sm4.lower.declared import declared
from dp2emu.shader.sm4.lower.frames import Frame
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand, Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value, Variable

if TYPE_CHECKING:
    from dp2emu.shader.sm4.lower.emission import Emitter


def measure(parts: Phase) -> Loops:
    """The loops of a program, calls expanded; the decoder bounds what comes of that."""
    return loops_of(
        Step(EXECUTED if each.op is Op.LOOP else None, each.op is Op.ENDLOOP)
        for each in _expanded(parts.main, parts)
    )


def _expanded(body: Iterable[Instruction], parts: Phase) -> Iterator[Instruction]:
    for instruction in body:
        yield instruction
        if instruction.op in CALLS:
            yield from _expanded(parts.subroutines[label_of(instruction)], parts)


# A shader on its way into a program: its registers, which are 32 bits of no type.

ROWS = 4096
"""Rows of a constant buffer at most."""

_FAR = 1 << 16
"""Rows that no file has."""

_STAGES = {
    Stage.VERTEX: ir.Stage.VERTEX,
    Stage.HULL: ir.Stage.VERTEX,
    Stage.DOMAIN: ir.Stage.VERTEX,
    Stage.GEOMETRY: ir.Stage.VERTEX,
    Stage.PIXEL: ir.Stage.PIXEL,
    Stage.COMPUTE: ir.Stage.COMPUTE,
}


REGISTERS = 32
"""Of v# and o#, and of each vertex."""


_MAY_BE_INDEXED = frozenset({File.INPUT, File.OUTPUT})


class Place(NamedTuple):
    """A component of a register that is a variable; those of x# are in files."""

    file: File
    number: int
    component: int


@dataclass(frozen=True, slots=True)
class Write:
    """A component about to be written, once all that reads its old value is computed.

    ``number`` is the same as a float, if that is what was computed.
    """

    operand: Operand
    component: int
    bits: Value
    number: Value | None = None


class Lowering:
    """The state of a lowering.  A register that was never written holds 0.

    A component is an I32 variable of the builder, but those of x#, and of v# and o# if some
    instruction indexes them, are in a local file.  ``known`` are floats, without subnormals, that
    variables are the bits of; only where control flow does not come between.  ``dropped`` are the
    pixels that were discarded, if a program that acts on memory discards any.
    """

    def __init__(self, program: Program, phase: Phase | None = None, registers: int = 1) -> None:
        """For a program that is all of one phase, or for one ``phase`` of a hull program.

        ``registers`` is how many each point has in files of patches.  Raises Unsupported for
        stages that there are no programs of.
        """
        self.version = program.version
        self.parts = phase or phases(program)[0]
        self.registers = registers
        self.declared = declared(self.parts.declarations)
        self.b = Builder(_STAGES[program.version.stage])
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
        self.emitter: Emitter | None = None
        self.deeds: dict[MemoryOperation, int] = {}
        self.dropped = self._drops(program)
        self.budget = Budget(self.b, measure(self.parts))

    def _indexed(self) -> set[File]:
        """Files of inputs and outputs that some instruction indexes; those of patches are none."""
        return {
            operand.file
            for body in (self.parts.main, *self.parts.subroutines.values())
            for instruction in body
            for operand in instruction.operands
            if operand.file in self._may_be_indexed
            and any(each.relative for each in operand.indices)
        }

    @property
    def _may_be_indexed(self) -> frozenset[File]:
        own = {File.INPUT} if self.version.stage in (Stage.HULL, Stage.DOMAIN) else set()
        return _MAY_BE_INDEXED - own

    def _size(self, file: File) -> int:
        """Words of the registers of a file, of all vertices."""
        vertices = self.declared.vertices_in if file is File.INPUT else 1
        return 4 * REGISTERS * vertices

    def word(self, bits: int) -> Value:
        """An I32 constant."""
        return self.b.constant(Type.I32, bits)

    def number(self, value: float) -> Value:
        """An F32 constant."""
        return self.b.constant(Type.F32, value)

    def unit(self, unit: Unit) -> int:
        """The number of a unit, the same for equal ones."""
        return self.units.setdefault(unit, len(self.units))

    def fetch(self, unit: Unit, *operands: Value) -> tuple[Value, Value, Value, Value]:
        """What a unit answers; floats are given by their bits."""
        words = [self.b.asint(each) if each.type is Type.F32 else each for each in operands]
        return self.b.fetch(self.unit(unit), words)

    def access(
        self, deed: MemoryOperation, operands: list[Value]
    ) -> tuple[Value, Value, Value, Value]:
        """What memory gives when that is done to it."""
        return self.b.access(self.deeds.setdefault(deed, len(self.deeds)), operands)

    def _drops(self, program: Program) -> Variable | None:
        discards = any(each.op is Op.DISCARD for each in program.instructions)
        if not (discards and self.declared.unordered):
            return None
        return self.b.variable(Type.BOOL, False)

    def variable(self, place: Place) -> Variable:
        """The variable of a component."""
        if place not in self.variables:
            self.variables[place] = self.b.variable(Type.I32)
        return self.variables[place]

    def commit(self, writes: Iterable[Write], indices: dict[Operand, Value | None]) -> None:
        """Write what was computed, all at once; ``indices`` are those of what is in files."""
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
        """Whether a register is in a local file."""
        return operand.file is File.INDEXABLE_TEMP or operand.file in self.indexed

    def file_of(self, operand: Operand) -> tuple[ir.File, int, Index]:
        """The local file of a register, components of its rows, and the index of the row."""
        if by_vertex(operand):
            return self.indexed[operand.file], 4, Index()
        if operand.file is File.INDEXABLE_TEMP:
            _, components = self.declared.arrays[operand.number]
            return self.arrays[operand.number], components, operand.indices[1]
        return self.indexed[operand.file], 4, operand.indices[0]

    def _store(self, write: Write, index: Value | None) -> None:
        """What an array has no component for is lost."""
        file, components, row = self.file_of(write.operand)
        if write.component < components:
            self.b.store(file, write.bits, *spot(row, index, components, write.component))


def spot(
    row: Index, index: Value | None, components: int, place: int
) -> tuple[int, Value | None, int]:
    """Where a component of a row is in a file: scalar, index and stride.

    Rows are added with 32-bit wrap, scalars without: what is far off is added here, and without
    an index is nowhere.
    """
    if row.offset < _FAR:
        return row.offset * components + place, index, 1 if index is None else components
    return (-1, None, 1) if index is None else (place, index + row.offset, components)


def by_vertex(operand: Operand) -> bool:
    """Whether an operand is a register of one of several vertices."""
    return operand.file is File.INPUT and len(operand.indices) > 1


def place_of(operand: Operand, component: int) -> Place:
    """The place of a component; scalar registers have no number."""
    return Place(operand.file, operand.number if operand.indices else 0, component)
