"""Reads of source operands: a function for each register file, typed by the operand's letter
(SM4-5 tokens, "Operands").

Registers are untyped.  Float operands flush subnormals to zeros of the same sign; abs and negation
change the sign bit only.  Negation of integer operands is two's complement.  Doubles keep
subnormals.

The registers of all patches of a draw are in the uniform files ``vicp``, ``vocp`` and ``vpc``, in
the order patch, control point, register, component.  The I32 input ``patch.x`` is the number of a
lane's patch.  Reads out of range are 0.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

from dp2emu.errors import Unsupported
from dp2emu.shader.doubles import from_words
from dp2emu.shader.ports import CENTROID, CONSTANTS, NOPERSPECTIVE, POINTS_IN, POINTS_OUT, SAMPLE
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import Interpolation, SystemValue
from dp2emu.shader.sm4.lower.lowering import (
    REGISTERS,
    ROWS,
    Lowering,
    by_vertex,
    file_address,
    place_of,
)
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Index, Instruction, Operand
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import Type
from dp2emu.shader.values import Value

PATCH = "patch.x"
_WORDS = 1 << 28
"""Size in words with which programs declare the uniform files of patch registers, whose real size
depends on the draw."""

_FILES = {
    File.INPUT: POINTS_IN,
    File.INPUT_CONTROL_POINT: POINTS_IN,
    File.OUTPUT_CONTROL_POINT: POINTS_OUT,
    File.PATCH_CONSTANT: CONSTANTS,
}

Number = int | Value
"""Type of a control point's or register's number: a constant, or a value at run time."""


def is_of_patch(stage: Stage, operand: Operand) -> bool:
    """Whether an operand's register belongs to a patch; so does v# in hull programs."""
    own = operand.file in _FILES and operand.file is not File.INPUT
    return own or (operand.file is File.INPUT and stage is Stage.HULL)


def registers_of(instructions: Iterable[Instruction], stage: Stage) -> int:
    """Number of registers that a control point has in the patch files, from the declarations.

    It is the highest number declared, plus one.  Outputs of a hull program count too.
    """
    made = {File.OUTPUT} if stage is Stage.HULL else set()
    named = [
        operand.indices[-1].offset + _count(each)
        for each in instructions
        if each.declaration is not None
        for operand in each.operands
        if is_of_patch(stage, operand) or operand.file in made
    ]
    return max(named, default=1)


def _count(instruction: Instruction) -> int:
    """Number of consecutive registers that a declaration names: 1 unless it is an index range."""
    ranged = instruction.op is Op.DCL_INDEXRANGE
    return instruction.declaration.count if ranged and instruction.declaration else 1


def patch_word(
    low: Lowering, file: File, point: Number, register: Number, component: int
) -> Value:
    """Read a component of a control point's register, or of a patch constant (``point`` 0).

    0 if the point or the register is out of range.
    """
    name, declared = _FILES[file], low.declared
    points = {POINTS_IN: declared.points_in, POINTS_OUT: declared.points_out}.get(name, 1)
    patch = low.b.input(PATCH, Type.I32)
    words = low.b.uniform(name, Type.I32, _WORDS)
    if isinstance(point, int) and isinstance(register, int):
        if point >= points or register >= low.registers:
            return low.word(0)
        at = 4 * (point * low.registers + register) + component
        return low.b.load(words, at, patch, 4 * points * low.registers)
    there = _below(low, point, points) & _below(low, register, low.registers)
    row = (patch * points + point) * low.registers + register
    return low.b.load(words, component, low.b.select(there, row, -1), 4)


def _below(low: Lowering, number: Number, limit: int) -> Value:
    """Whether ``number`` is below ``limit``, compared as unsigned integers."""
    number = low.word(number) if isinstance(number, int) else number
    return low.b.apply("ult", number, limit)


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
"""System values that hardware generates as inputs, by stage; an earlier stage writes all
others."""


class Source:
    """A source operand of an instruction; ``s[c]`` computes component c when it is first used.

    ``letter`` is the operand's letter in the opcode table: f reads floats, i integers, any other
    letter bits.  ``pair`` and ``double`` read the components as two doubles.
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
        """A component of the register as bits, without modifiers."""
        if place not in self._bits:
            self._bits[place] = _READ[self.operand.file](
                self.low, self.operand, place, self._index
            )
        return self._bits[place]

    def raw(self, place: int) -> Value:
        """Component ``place`` of the register as bits, abs and negate applied to the sign bit."""
        return signed(self.operand, self._plain(place))

    def pair(self, number: int) -> tuple[Value, Value]:
        """The low and high word of double 0 or 1, with abs and negate applied to its sign bit."""
        low, high = self.operand.swizzle[2 * number : 2 * number + 2]
        return self._plain(low), signed(self.operand, self._plain(high))

    def double(self, number: int) -> Value:
        """Double 0 or 1 as an F64: swizzled components x and y, or z and w."""
        return from_words(*self.pair(number))

    def integer(self, place: int) -> Value:
        """A component as an integer; two's complement negation if the operand has a negate
        modifier.
        """
        value = self._plain(place)
        return -value if self.operand.negate else value

    def float(self, place: int) -> Value:
        """Component ``place`` as an F32: subnormals flushed, abs and negate applied."""
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


_READ_AS: dict[str, Callable[[Source, int], Value]] = {"f": Source.float, "i": Source.integer}


def signed(operand: Operand, bits: Value) -> Value:
    """Return ``bits`` with the operand's abs and negate modifiers applied to the sign bit."""
    bits = bits & SIZE if operand.absolute else bits
    return bits ^ SIGN if operand.negate else bits


def sources(low: Lowering, instruction: Instruction) -> tuple[Source, ...]:
    """The source operands that are read as values, so no resources and samplers."""
    return tuple(
        Source(low, operand, letter)
        for letter, operand in zip(instruction.op.row.operands, instruction.operands, strict=True)
        if letter in "fiqsc"
    )


def condition(low: Lowering, instruction: Instruction) -> Value:
    """Whether an instruction's first operand is nonzero, or zero if ``nonzero`` is not set."""
    tested = Source(low, instruction.operands[0], "s")[0]
    return tested.ne(0) if instruction.nonzero else tested.eq(0)


def index_of(low: Lowering, operand: Operand) -> Value | None:
    """The run-time part of the register row of an operand; None for a constant row.

    For v[vertex][register] it is the whole row.  Also None for patch registers, which
    ``patch_word`` addresses.
    """
    if is_of_patch(low.version.stage, operand):
        return None
    if by_vertex(operand):
        return _row_of_vertex(low, operand)
    relative = next((each.relative for each in operand.indices if each.relative), None)
    return None if relative is None else Source(low, relative, "i")[0]


def _row_of_vertex(low: Lowering, operand: Operand) -> Value | None:
    """The row of v[vertex][register] in the local file of v#; -1 if an index is out of range.

    None if neither index has a run-time part.
    """
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
    """Copy the declared inputs v# into their local file, if the program has one for indexing."""
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
    """A component of v[vertex][number], as bits; 0 if it is not declared."""
    known = vertex < low.declared.vertices_in and (number, component) in low.declared.input_of
    if not known:
        return low.word(0)
    return low.b.input(f"vertex{vertex}.v{number}.{COMPONENTS[component]}", Type.I32)


def input_of(low: Lowering, number: int, component: int, prefix: str | None = None) -> Value:
    """Read a component of v#: F32 if it is interpolated, else I32.

    0 if it is not declared, or in a compute shader.  ``prefix``, unless None, replaces the
    declared interpolation, such as at the centroid.
    """
    register = low.declared.input_of.get((number, component))
    if register is None or low.version.stage is Stage.COMPUTE:
        return low.word(0)
    if register.name in _GENERATED[low.version.stage]:
        return low.b.input(f"{register.name.name.lower()}.x", Type.I32)
    name = f"v{number}.{COMPONENTS[component]}"
    if low.version.stage is Stage.VERTEX or register.interpolation is Interpolation.CONSTANT:
        return low.b.input(name, Type.I32)
    prefix = _PREFIXES.get(register.interpolation, "") if prefix is None else prefix
    if register.name is SystemValue.POSITION:
        # A position is never divided by w.
        prefix = prefix.removesuffix(NOPERSPECTIVE)
        return low.b.input(f"{prefix}position.{COMPONENTS[component]}")
    return low.b.input(prefix + name)


_Read = Callable[[Lowering, Operand, int, Value | None], Value]


def _variable(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    return low.variable(place_of(operand, place)).value


def _array(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """Read a component of an indexable register x#; 0 if its rows do not have the component."""
    file, components, row = low.file_of(operand)
    if place >= components:
        return low.word(0)
    return low.b.load(file, *file_address(row, index, components, place))


def _of_patch(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """Read a register of a control point, or a patch constant."""
    *points, register = (_known_or_sum(low, each) for each in operand.indices)
    return patch_word(low, operand.file, points[0] if points else 0, register, place)


def _known_or_sum(low: Lowering, index: Index) -> int | Value:
    return index.offset if index.relative is None else _sum(low, index)


def _domain(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """Read vDomain, which has three components."""
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
    """Read a constant buffer, even beyond the declared rows; 0 beyond the bound buffer."""
    slot, row = operand.indices
    file = low.b.uniform(f"cb{slot.offset}", Type.I32, 4 * ROWS)
    return _row(low, file.name, 4 * ROWS, row, place, index)


def _own_constant(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """Read component ``place`` of a row of the immediate constant buffer; 0 out of bounds."""
    words, (row,) = low.declared.immediates, operand.indices
    at = 4 * row.offset + place
    if index is None:
        return low.word(words[at] if at < len(words) else 0)
    return _row(low, "icb", len(words), row, place, index)


def _row(
    low: Lowering, name: str, size: int, row: Index, place: int, index: Value | None
) -> Value:
    file = low.b.uniform(name, Type.I32, size)
    return low.b.load(file, *file_address(row, index, 4, place))


_SCALARS = {
    File.COVERAGE: "coverage.x",
    File.PRIMITIVE_ID: "primitive_id.x",
    File.GS_INSTANCE_ID: "gs_instance.x",
    File.THREAD_ID_IN_GROUP_FLATTENED: "vThreadIDInGroupFlattened.x",
    File.OUTPUT_CONTROL_POINT_ID: "output_control_point.x",
    File.FORK_INSTANCE_ID: "phase_instance.x",
    File.JOIN_INSTANCE_ID: "phase_instance.x",
}
"""Name of the program input with the value of a register, by register file, for files that have
one register only."""


def _scalar(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    return low.b.input(_SCALARS[operand.file], Type.I32)


def _thread(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    """Read a component of a thread or group ID, such as ``vThreadID.x``; w is 0."""
    if place == 3:
        return low.word(0)
    return low.b.input(f"{operand.file.value}.{COMPONENTS[place]}", Type.I32)


def _refused(low: Lowering, operand: Operand, place: int, index: Value | None) -> Value:
    raise Unsupported(f"{_REFUSED[operand.file]}: {operand.file.value}")


_REFUSED = {
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
    File.IMMEDIATE64: _immediate,
    File.CONSTANT_BUFFER: _constant,
    File.IMMEDIATE_CONSTANT_BUFFER: _own_constant,
    **dict.fromkeys(_SCALARS, _scalar),
    File.THREAD_ID: _thread,
    File.THREAD_GROUP_ID: _thread,
    File.THREAD_ID_IN_GROUP: _thread,
    **dict.fromkeys(_REFUSED, _refused),
}


def _word(operand: Operand, place: int) -> int:
    """The DWORD of an immediate operand for component ``place``; a single one serves all four."""
    return operand.words[place % len(operand.words)]


def _flushed(word: int) -> float:
    """The float with the bits ``word``, flushed to zero if subnormal."""
    word = word if word & _EXPONENT else word & SIGN
    (number,) = struct.unpack("<f", struct.pack("<I", word))
    return float(number)
