"""Declarations of a program, collected by kind (SM4-5 tokens, "Declarations")."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from copy import copy
from functools import cached_property

import msgspec
from msgspec.structs import replace

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Partitioning
from dp2emu.shader.resources import SharedMemory
from dp2emu.shader.sm4.enums import (
    CustomClass,
    GlobalFlags,
    Interpolation,
    Primitive,
    ReturnType,
    SystemValue,
    Topology,
)
from dp2emu.shader.sm4.lower.lowered import DeclaredSampler, Register, Resource
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Declaration, Instruction
from dp2emu.shader.sm4.registers import File

_SAMPLE_MODES = frozenset({Interpolation.LINEAR_SAMPLE, Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE})


class Declared(msgspec.Struct, dict=True):
    """All declarations of a program.  Mutable while they are read.

    ``arrays`` is (rows, components) of each x# by number.  Geometry programs: ``stream`` is the
    current output stream, ``vertices`` the maximum number of emitted vertices.  Hull and domain
    programs: ``points_in`` and ``points_out`` count control points; ``domain``, ``partitioning``
    and ``output`` configure the tessellator; ``most`` is the maximum tessellation factor.
    """

    inputs: list[Register] = msgspec.field(default_factory=list)
    outputs: list[Register] = msgspec.field(default_factory=list)
    scalars: set[File] = msgspec.field(default_factory=set)
    arrays: dict[int, tuple[int, int]] = msgspec.field(default_factory=dict)
    constant_buffers: list[int] = msgspec.field(default_factory=list)
    resources: dict[int, Resource] = msgspec.field(default_factory=dict)
    samplers: list[DeclaredSampler] = msgspec.field(default_factory=list)
    immediates: tuple[int, ...] = ()
    flags: GlobalFlags = msgspec.field(default_factory=lambda: GlobalFlags(0))
    unordered: dict[int, Resource] = msgspec.field(default_factory=dict)
    shared: dict[int, SharedMemory] = msgspec.field(default_factory=dict)
    threads: tuple[int, int, int] = (0, 0, 0)
    points_in: int = 0
    points_out: int = 0
    domain: Domain | None = None
    partitioning: Partitioning | None = None
    output: OutputPrimitive | None = None
    most: float = math.inf
    stream: int = 0
    topologies: dict[int, Topology] = msgspec.field(default_factory=dict)
    primitive: Primitive | None = None
    vertices: int = 0
    instances: int = 1

    @property
    def vertices_in(self) -> int:
        """Number of input vertices of a geometry program's primitive; 1 for other stages."""
        return 1 if self.primitive is None else vertices_of(self.primitive)

    @cached_property
    def input_of(self) -> dict[tuple[int, int], Register]:
        """The declared input register of a component, by (number of v#, component 0 to 3)."""
        return _by_component(self.inputs)

    @cached_property
    def output_of(self) -> dict[tuple[int, int], Register]:
        """The declared output register of a component, by (number of o#, component 0 to 3)."""
        return _by_component(self.outputs)

    @cached_property
    def modes_of(self) -> dict[int, set[Interpolation]]:
        """The interpolation modes of the declared components of each v#, by its number."""
        modes: dict[int, set[Interpolation]] = {}
        for each in self.inputs:
            modes.setdefault(each.number, set()).add(each.interpolation)
        return modes

    def copied(self) -> Declared:
        """Return a copy, to which the declarations of a phase are added."""
        own = {name: copy(getattr(self, name)) for name in self.__struct_fields__}
        return Declared(**own)

    @property
    def per_sample(self) -> bool:
        """Whether an input requires execution at sample frequency."""
        return any(
            each.interpolation in _SAMPLE_MODES or each.name is SystemValue.SAMPLE_INDEX
            for each in self.inputs
        )


_VERTICES = {
    Primitive.POINT: 1,
    Primitive.LINE: 2,
    Primitive.TRIANGLE: 3,
    Primitive.LINEADJ: 4,
    Primitive.TRIANGLEADJ: 6,
}


def vertices_of(primitive: Primitive) -> int:
    """Number of vertices of a primitive; PATCH1 has one, PATCH2 two, and so on."""
    return _VERTICES.get(primitive, primitive - Primitive.PATCH1 + 1)


def declared(instructions: tuple[Instruction, ...], before: Declared | None = None) -> Declared:
    """Collect the declarations of a program, or of a phase, to which those ``before`` it apply."""
    found = Declared() if before is None else before.copied()
    for each in instructions:
        assert each.declaration is not None
        if each.op in _DECLARE:
            _DECLARE[each.op](found, each, each.declaration)
    return found


def _by_component(registers: list[Register]) -> dict[tuple[int, int], Register]:
    return {
        (each.number, component): each
        for each in registers
        for component in range(4)
        if each.mask >> component & 1
    }


def _register(instruction: Instruction, declaration: Declaration) -> Register:
    operand = instruction.operands[0]
    name = declaration.name or SystemValue.UNDEFINED
    interpolation = declaration.interpolation or Interpolation.UNDEFINED
    if instruction.op is Op.DCL_INPUT_PS_SGV:
        # Compilers write any mode here (SM4-5 tokens, "Declarations").
        interpolation = Interpolation.CONSTANT
    number = operand.indices[-1].offset
    return Register(number, operand.mask, name, interpolation)


_Declare = Callable[[Declared, Instruction, Declaration], None]
"""Type of a function that adds one declaration to those collected in a ``Declared``."""


def _input(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    file = instruction.operands[0].file
    if file is File.INPUT:
        found.inputs.append(_register(instruction, declaration))
    else:
        found.scalars.add(file)


def _output(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    file = instruction.operands[0].file
    if file is File.OUTPUT:
        register = _register(instruction, declaration)
        found.outputs.append(replace(register, stream=found.stream))
    else:
        found.scalars.add(file)


def _constant_buffer(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    found.constant_buffers.append(instruction.operands[0].number)


def _array(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    found.arrays[declaration.number] = declaration.count, declaration.components


def _resource(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    operand = instruction.operands[0]
    (dimension,) = instruction.op.row.dimensions or {declaration.dimension}
    assert dimension is not None
    returns = declaration.returns or (ReturnType.UINT,) * 4
    resources = found.unordered if operand.file is File.UAV else found.resources
    resources[operand.number] = Resource(operand.number, dimension, returns, declaration.stride)


def _shared(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    number, (dimension,) = instruction.operands[0].number, instruction.op.row.dimensions
    sizes = declaration.stride, declaration.count
    if instruction.op is Op.DCL_TGSM_RAW:
        sizes = 1, declaration.stride
    found.shared[number] = SharedMemory(number, dimension, *sizes)


def _sampler(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    assert declaration.mode is not None
    found.samplers.append(DeclaredSampler(instruction.operands[0].number, declaration.mode))


def _flags(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    found.flags |= declaration.flags


def _stream(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    found.stream = instruction.operands[0].number


def _topology(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    assert declaration.topology is not None
    found.topologies[found.stream] = declaration.topology


def _stored(name: str, source: str = "") -> _Declare:
    """Return a function that copies attribute ``source`` of a declaration to ``Declared``.

    The attribute is called ``name`` there, and in the declaration too if ``source`` is empty.
    """

    def store(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
        setattr(found, name, getattr(declaration, source or name))

    return store


def _most(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    """Set ``found.most`` to the factor of dcl_hs_max_tessfactor; NaN means no limit."""
    (most,) = struct.unpack("<f", struct.pack("<I", declaration.factor))
    found.most = math.inf if math.isnan(most) else most


def _custom(found: Declared, instruction: Instruction, declaration: Declaration) -> None:
    if declaration.custom == CustomClass.IMMEDIATE_CONSTANT_BUFFER:
        found.immediates = instruction.data


_INPUTS = (
    Op.DCL_INPUT,
    Op.DCL_INPUT_SGV,
    Op.DCL_INPUT_SIV,
    Op.DCL_INPUT_PS,
    Op.DCL_INPUT_PS_SGV,
    Op.DCL_INPUT_PS_SIV,
)
_OUTPUTS = (Op.DCL_OUTPUT, Op.DCL_OUTPUT_SGV, Op.DCL_OUTPUT_SIV)
_DECLARE: dict[Op, _Declare] = {
    **dict.fromkeys(_INPUTS, _input),
    **dict.fromkeys(_OUTPUTS, _output),
    Op.DCL_CONSTANTBUFFER: _constant_buffer,
    Op.DCL_INDEXABLETEMP: _array,
    Op.DCL_RESOURCE: _resource,
    Op.DCL_RESOURCE_RAW: _resource,
    Op.DCL_RESOURCE_STRUCTURED: _resource,
    Op.DCL_UAV_TYPED: _resource,
    Op.DCL_UAV_RAW: _resource,
    Op.DCL_UAV_STRUCTURED: _resource,
    Op.DCL_TGSM_RAW: _shared,
    Op.DCL_TGSM_STRUCTURED: _shared,
    Op.DCL_THREAD_GROUP: _stored("threads"),
    Op.DCL_SAMPLER: _sampler,
    Op.DCL_INPUT_CONTROL_POINT_COUNT: _stored("points_in", "count"),
    Op.DCL_OUTPUT_CONTROL_POINT_COUNT: _stored("points_out", "count"),
    Op.DCL_TESSELLATOR_DOMAIN: _stored("domain"),
    Op.DCL_TESSELLATOR_PARTITIONING: _stored("partitioning"),
    Op.DCL_TESSELLATOR_OUTPUT_PRIMITIVE: _stored("output"),
    Op.DCL_HS_MAX_TESSFACTOR: _most,
    Op.DCL_GLOBALFLAGS: _flags,
    Op.DCL_STREAM: _stream,
    Op.DCL_OUTPUTTOPOLOGY: _topology,
    Op.DCL_INPUTPRIMITIVE: _stored("primitive"),
    Op.DCL_MAXOUT: _stored("vertices", "count"),
    Op.DCL_GSINSTANCES: _stored("instances", "count"),
    Op.DCL_HS_FORK_PHASE_INSTANCE_COUNT: _stored("instances", "count"),
    Op.DCL_HS_JOIN_PHASE_INSTANCE_COUNT: _stored("instances", "count"),
    Op.CUSTOMDATA: _custom,
}
"""Functions that store a declaration in a ``Declared``, by opcode.  Declarations by other opcodes
(counts, index ranges, comments) do not affect the lowering."""
