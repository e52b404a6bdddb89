"""What sources read: registers, by file, as the letter of the operand takes them (SM4-5 tokens,
"Operands").

Registers have no type.  A float operand has its subnormals flushed to zeros of the same sign; abs
and negation act on the sign bit alone, of an integer operand negation is two's complement.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from dp2emu.errors import Unsupported
from dp2emu.shader.ports import CENTROID, NOPERSPECTIVE, SAMPLE
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import Interpolation, SystemValue
from dp2emu.shader.sm4.lower.lowering import REGISTERS, ROWS, Lowering, by_vertex, place_of, spot
from dp2emu.shader.sm4.lower.patches import is_of_patch, word
from dp2emu.shader.sm4.program import Index, Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

SIGN, SIZE = 0x80000000, 0x7FFFFFFF
_EXPONENT = 0x7F800000

_PREFIXES: dict[Interpolation, str] = {
    Interpolation.LINEAR_CENTROID: CENTROID,
    Interpolation.LINEAR_NOPERSPECTIVE: NOPERSPECTIVE,
    Interpolation.LINEAR_NOPERSPECTIVE_CENTROID: CENTROID + NOPERSPECTIVE,
    Interpolation.LINEAR_SAMPLE: SAMPLE,
    Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE: SAMPLE + NOPERSPECTIVE,
}
_GENERATED = {
    Stage.VERTEX: frozenset({SystemValue.VERTEX_ID, SystemValue.INSTANCE_ID}),
    Stage.PIXEL: frozenset(
        {SystemValue.PRIMITIVE_ID, SystemValue.IS_FRONT_FACE, SystemValue.SAMPLE_INDEX}
    ),
    Stage.COMPUTE: frozenset(),
}
"""Names of integers that hardware makes for a stage; others an earlier stage passes on."""


class Source:
    """A source of the instruction being lowered.  ``s[c]`` computes component c when asked, once.

    ``letter`` is that of the opcode's row: f, i, or others for bits.
    """

    def __init__(self, low: Lowering, operand: Operand, letter: str) -> None:
        self.low = low
        self.operand = operand
        self._read = _READ_AS.get(letter, Source.raw)
        self._index = index_of(low, operand)
        self._bits: dict[int, Value] = {}
        self._values: dict[int, Value] = {}

    def __getitem__(self, component: int) -> Value:
        place = self.operand.swizzle[component]
        if place not in self._values:
            self._values[place] = self._read(self, place)
        return self._values[place]

    def bits(self, place: int) -> Value:
        """A component of the register as it is."""
        if place not in self._bits:
            self._bits[place] = _READ[self.operand.file](
                self.low, self.operand, place, self._index
            )
        return self._bits[place]

    def raw(self, place: int) -> Value:
        """With its sign bit changed."""
        return signed(self.operand, self._plain(place))

    def integer(self, place: int) -> Value:
        """Negated as two's complement."""
        value = self._plain(place)
        return -value if self.operand.negate else value

    def float(self, place: int) -> Value:
        """An F32 without subnormals."""
        value = self._known(place)
        if self.operand.absolute:
            value = self.low.b.abs(value)
        return -value if self.operand.negate else value

    def _plain(self, place: int) -> Value:
        value = self.bits(place)
        return self.low.b.asint(value) if value.type is Type.F32 else value

    def _known(self, place: int) -> Value:
        known = self.low.known.get(place_of(self.operand, place))
        if known is not None and not self.low.in_file(self.operand):
            return known
        if self.operand.file is File.IMMEDIATE:
            return self.low.number(_flushed(_word(self.operand, place)))
        value = self.bits(place)
        value = self.low.b.asfloat(value) if value.type is Type.I32 else value
        return self.low.b.apply("flush", value)


_READ_AS: dict[str, Callable[[Source, int], Value]] = {
    "f": Source.float,
    "i": Source.integer,
}


def signed(operand: Operand, bits: Value) -> Value:
    """Bits with the sign that a source asks for."""
    bits = bits & SIZE if operand.absolute else bits
    return bits ^ SIGN if operand.negate else bits


def sources(low: Lowering, instruction: Instruction) -> tuple[Source, ...]:
    """The values an instruction reads, without its resources and samplers."""
    return tuple(
        Source(low, operand, letter)
        for letter, operand in zip(instruction.row.operands, instruction.operands, strict=True)
        if letter in "fisc"
    )


def condition(low: Lowering, instruction: Instruction) -> Value:
    """Whether what an instruction tests has a bit set, or has none: the value stands first."""
    tested = Source(low, instruction.operands[0], "s")[0]
    return tested.ne(0) if instruction.nonzero else tested.eq(0)


def index_of(low: Lowering, operand: Operand) -> Value | None:
    """What is added to the row of a register; of registers of vertices, the row itself.

    Registers of patches are found when they are read.
    """
    if is_of_patch(low.version.stage, operand):
        return None
    if by_vertex(operand):
        return _row_of_vertex(low, operand)
    relative = next((each.relative for each in operand.indices if each.relative), None)
    return None if relative is None else Source(low, relative, "i")[0]


def _row_of_vertex(low: Lowering, operand: Operand) -> Value | None:
    """None without anything to add at run time; a row that there is none of out of range."""
    if all(index.relative is None for index in operand.indices):
        return None
    vertex, register = (_sum(low, index) for index in operand.indices)
    there = low.b.apply("ult", vertex, low.declared.vertices_in)
    known = there & low.b.apply("ult", register, REGISTERS)
    return low.b.select(known, vertex * REGISTERS + register, -1)


def _sum(low: Lowering, index: Index) -> Value:
    if index.relative is None:
        return low.word(index.offset)
    return Source(low, index.relative, "i")[0] + index.offset


def store_inputs(low: Lowering) -> None:
    """Fill the file of inputs, if there is one."""
    if File.INPUT not in low.indexed:
        return
    file, geometry = low.indexed[File.INPUT], low.version.stage is Stage.GEOMETRY
    for vertex in range(low.declared.vertices_in):
        for number, component in low.declared.input_of:
            at = 4 * (REGISTERS * vertex + number) + component
            if geometry:
                low.b.store(file, vertex_input(low, vertex, number, component), at)
                continue
            value = input_of(low, number, component)
            bits = low.b.asint(value) if value.type is Type.F32 else value
            low.b.store(file, bits, at)


def vertex_input(low: Lowering, vertex: int, number: int, component: int) -> Value:
    """A component of v# of one of the vertices, as bits; 0 if it is not declared."""
    known = vertex < low.declared.vertices_in and (number, component) in low.declared.input_of
    if not known:
        return low.word(0)
    return low.b.input(f"vertex{vertex}.v{number}.{COMPONENTS[component]}", Type.I32)


def input_of(low: Lowering, number: int, component: int, prefix: str | None = None) -> Value:
    """A component of v#, an F32 where it is interpolated; 0 if it is not declared, or if nothing
    comes before the stage.

    ``prefix`` takes the place of what its declaration says about where it is read.
    """
    register = low.declared.input_of.get((number, component))
    if register is None or low.version.stage is Stage.COMPUTE:
        return low.word(0)
    if register.name in _GENERATED[low.version.stage]:
        return low.b.input(f"{register.name.name.lower()}.x", Type.I32)
    name = f"v{number}.{COMPONENTS[component]}"
    if low.version.stage is Stage.VERTEX or register.interpolation is Interpolation.CONSTANT:
        return low.b.input(name, Type.I32)
    if register.name is SystemValue.POSITION:
        return low.b.input(f"position.{COMPONENTS[component]}")
    return low.b.input(
        (_PREFIXES.get(register.interpolation, "") if prefix is None else prefix) + name
    )


_Read = Callable[[Lowering, Operand, int, Value | None], Value]


def _variable(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    return low.variable(place_of(operand, place)).value


def _array(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """x#; a component that its rows lack is 0."""
    file, components, row = low.file_of(operand)
    if place >= components:
        return low.word(0)
    return low.b.load(file, *spot(row, index, components, place))


def _of_patch(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """A register of a control point, or a patch constant."""
    *points, register = (_known_or_sum(low, each) for each in operand.indices)
    return word(low, operand.file, points[0] if points else 0, register, place)


def _known_or_sum(low: Lowering, index: Index) -> int | Value:
    return index.offset if index.relative is None else _sum(low, index)


def _domain(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """vDomain, which has three components."""
    return low.b.input(f"domain.{COMPONENTS[place]}") if place < 3 else low.word(0)


def _input(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    if low.version.stage is Stage.HULL:
        return _of_patch(low, operand, place, index)
    if low.version.stage is Stage.DOMAIN:
        return low.word(0)
    if index is not None:
        return _array(low, operand, place, index)
    if by_vertex(operand):
        vertex, register = operand.indices
        return vertex_input(low, vertex.offset, register.offset, place)
    return input_of(low, operand.number, place)


def _immediate(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    return low.word(_word(operand, place))


def _constant(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """cb#: real data beyond the declared rows; 0 beyond the buffer, wherever that ends."""
    slot, row = operand.indices
    file = low.b.uniform(f"cb{slot.offset}", Type.I32, 4 * ROWS)
    return _row(low, file.name, 4 * ROWS, row, place, index)


def _own_constant(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """icb; 0 out of its bounds."""
    words, (row,) = low.declared.immediates, operand.indices
    at = 4 * row.offset + place
    if index is None:
        return low.word(words[at] if at < len(words) else 0)
    return _row(low, "icb", len(words), row, place, index)


def _row(
    low: Lowering, name: str, size: int, row: Index, place: int, index: Value | None
) -> Value:
    file = low.b.uniform(name, Type.I32, size)
    return low.b.load(file, *spot(row, index, 4, place))


_SCALARS = {
    File.COVERAGE: "coverage.x",
    File.PRIMITIVE_ID: "primitive_id.x",
    File.GS_INSTANCE_ID: "gs_instance.x",
    File.THREAD_ID_IN_GROUP_FLATTENED: "vThreadIDInGroupFlattened.x",
    File.OUTPUT_CONTROL_POINT_ID: "output_control_point.x",
    File.FORK_INSTANCE_ID: "phase_instance.x",
    File.JOIN_INSTANCE_ID: "phase_instance.x",
}
"""Ports of registers that have a single component."""


def _scalar(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    return low.b.input(_SCALARS[operand.file], Type.I32)


def _thread(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """Where a thread is: ``vThreadID.x`` and so on."""
    if place == 3:
        return low.word(0)
    return low.b.input(f"{operand.file.value}.{COMPONENTS[place]}", Type.I32)


def _refused(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    raise Unsupported(f"{_REFUSED[operand.file]}: {operand.file.value}")


_REFUSED = {
    File.IMMEDIATE64: "double precision",
    File.THIS: "shader interfaces",
    File.CYCLE_COUNTER: "shader debugging",
    File.INNER_COVERAGE: "inner coverage",
}
_READ: dict[File, _Read] = {
    File.TEMP: _variable,
    File.INDEXABLE_TEMP: _array,
    File.INPUT: _input,
    File.INPUT_CONTROL_POINT: _of_patch,
    File.OUTPUT_CONTROL_POINT: _of_patch,
    File.PATCH_CONSTANT: _of_patch,
    File.DOMAIN_POINT: _domain,
    File.IMMEDIATE: _immediate,
    File.CONSTANT_BUFFER: _constant,
    File.IMMEDIATE_CONSTANT_BUFFER: _own_constant,
    **dict.fromkeys(_SCALARS, _scalar),
    File.THREAD_ID: _thread,
    File.THREAD_GROUP_ID: _thread,
    File.THREAD_ID_IN_GROUP: _thread,
    **dict.fromkeys(_REFUSED, _refused),
}


def _word(operand: Operand, place: int) -> int:
    """The word of an immediate for a component."""
    return operand.words[place if len(operand.words) > 1 else 0]


def _flushed(word: int) -> float:
    """The float that a word stands for, a zero if it is subnormal."""
    word = word if word & _EXPONENT else word & SIGN
    (number,) = struct.unpack("<f", struct.pack("<I", word))
    return float(number)
