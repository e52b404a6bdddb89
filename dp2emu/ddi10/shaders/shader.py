"""Shaders of models 4.0 to 5.0 as GPU programs: tokens in, a program with the ports of a draw out.

The lowering uses registers and their bits; a draw uses varyings, targets and positions.  An output
o# of a vertex shader becomes the varying v#, since the runtime numbers the matching pixel shader
input v# alike, and outputs leave a shader as the floats of their bits.

Source: Direct3D 10 and 11 documentation of shader registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Uniforms
from dp2emu.gpu.command.pipeline import COVERAGE_PORT, LANE_PORT
from dp2emu.gpu.shader_resources.resource_reads import ELSEWHERE
from dp2emu.shader.ir import (
    Address,
    Assign,
    Constant,
    Fetch,
    File,
    If,
    Input,
    Load,
    Loop,
    Output,
    Port,
    Program,
    Slot,
    Statement,
)
from dp2emu.shader.origins import carried
from dp2emu.shader.ports import CONSTANT, LAYER, NOPERSPECTIVE, VIEWPORT, varying
from dp2emu.shader.program_cache import programs_cached
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4 import decode
from dp2emu.shader.sm4.enums import Interpolation
from dp2emu.shader.sm4.linkage import Instance, first_instances, linked
from dp2emu.shader.sm4.lower import Lowered4, LoweredHull, lower, lower_hull
from dp2emu.shader.sm4.lower.lowered import check_group
from dp2emu.shader.sm4.program import Program as Decoded
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import I32, Type
from dp2emu.shader.verify import verify

# Inputs of pixel shaders that eval_snapped and eval_sample_index evaluate at other places.
#
# Their fetches take the lane as first operand, and the program declares the registers as inputs
# so that set-up computes their planes (Direct3D 11 documentation of these instructions).

_NOPERSPECTIVE = frozenset(
    {
        Interpolation.LINEAR_NOPERSPECTIVE,
        Interpolation.LINEAR_NOPERSPECTIVE_CENTROID,
        Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE,
    }
)


def with_evaluated_inputs(program: Program, lowered: Lowered4) -> Program:
    """Add to a pixel program the inputs that its eval_snapped and eval_sample instructions need.

    They are the lane number, and the registers that are evaluated, as floats.  Returns the program
    unchanged if it has neither instruction.
    """
    units = {n: unit.register for n, unit in enumerate(lowered.units) if unit.opcode in ELSEWHERE}
    if not units:
        return program
    lane = len(program.slots)
    ports = (Port(LANE_PORT, Type.I32), *_evaluated_ports(lowered, set(units.values())))
    slots = (*program.slots, *(port.type for port in ports))
    inputs = {port.name: port for port in (*program.inputs, *ports)}
    reads = tuple(Input(lane + number, port.name) for number, port in enumerate(ports))
    statements = (*reads, *_with_lane(program.statements, frozenset(units), Slot(lane)))
    result = replace(program, slots=slots, inputs=tuple(inputs.values()), statements=statements)
    verify(result)
    return result


def _evaluated_ports(lowered: Lowered4, registers: set[int]) -> Iterator[Port]:
    """Float input ports for the declared components of the pixel inputs v# in ``registers``."""
    for register in lowered.inputs:
        if register.number in registers:
            prefix = NOPERSPECTIVE if register.interpolation in _NOPERSPECTIVE else ""
            for place, component in enumerate(COMPONENTS):
                if register.mask >> place & 1:
                    yield Port(f"{prefix}v{register.number}.{component}", Type.F32)


def _with_lane(
    statements: tuple[Statement, ...], units: frozenset[int], lane: Slot
) -> tuple[Statement, ...]:
    """The statements, with ``lane`` inserted as first operand of every Fetch from ``units``."""

    def rewrite(statement: Statement) -> Statement:
        if isinstance(statement, Fetch) and statement.unit in units:
            return carried(statement, replace(statement, operands=(lane, *statement.operands)))
        if isinstance(statement, If):
            then = _with_lane(statement.then, units, lane)
            otherwise = _with_lane(statement.otherwise, units, lane)
            return carried(statement, replace(statement, then=then, otherwise=otherwise))
        if isinstance(statement, Loop):
            inside = _with_lane(statement.body, units, lane)
            return carried(statement, replace(statement, body=inside))
        return statement

    return tuple(map(rewrite, statements))


# Shaders

INSTANCE_FILE = "instance"
"""Name of the uniform file with the instance number, an I32, for vertex programs that read it."""

_CENTRE, _SIDE = Constant.of(Type.F32, 0.5), Constant.of(Type.F32, 0)
_TRUE, _FALSE = Constant.of(Type.I32, -1), Constant.of(Type.I32, 0)

_Inputs = Callable[["_PortRewriter", Input], Iterable[Statement]]


class Shader(msgspec.Struct, frozen=True):
    """A shader: ``program`` as a draw runs it, and ``lowered`` with its declarations and units.

    The ports of ``program`` have the names that ``gpu.command.pipeline.Pipeline`` and
    ``gpu.rasterizer.clip`` expect.
    """

    program: Program
    lowered: Lowered4

    def uniforms(self, buffers: Mapping[int, bytes], instance: int = 0) -> Uniforms:
        """The uniform files of the program by name, for constant ``buffers``, bytes by slot.

        Constants beyond the end of a buffer are 0.  The immediates and the number of the
        ``instance`` are included, the files of patch registers are not: the GPU fills them.
        """
        icb = np.array(self.lowered.immediates, np.uint32).view(np.int32)
        values = {"icb": icb, INSTANCE_FILE: np.array([instance], np.int32)}
        for file in self.program.files:
            if file.uniform and file.name.startswith("cb"):
                values[file.name] = _words(buffers.get(int(file.name[2:]), b""), file)
        return {file.name: values[file.name] for file in self.program.files if file.name in values}


class HullShader(msgspec.Struct, frozen=True):
    """A hull shader.

    ``points`` is its control point phase, None if the points pass unchanged; ``constants`` are its
    patch constant phases in order.
    """

    lowered: LoweredHull
    points: Shader | None
    constants: tuple[Shader, ...]


def _words(data: bytes, file: File) -> I32:
    """Constant buffer bytes as int32 words, cut or zero-filled to the size of ``file``."""
    words = np.zeros(file.size, "<i4")
    whole = np.frombuffer(data[: len(data) // 4 * 4], "<i4")[: file.size]
    words[: len(whole)] = whole
    return words.astype(np.int32)


def _slots(shader: Shader) -> int:
    return len(shader.program.slots)


def _hull_slots(hull: HullShader) -> int:
    phases = hull.constants if hull.points is None else (hull.points, *hull.constants)
    return sum(map(_slots, phases))


Instances = tuple[Instance, ...] | None
"""Type of the class instances that a shader's interfaces refer to; None stands for an example of
them, of the first function tables."""

# Each of the following compiles the tokens of one stage, linked to class instances.  They raise
# ShaderError, with an offset, for invalid tokens, and Unsupported for a shader of another stage.


@programs_cached(_slots)
def vertex_shader(code: bytes, instances: Instances = None) -> Shader:
    """A vertex shader from its tokens.  Raises ShaderError and Unsupported."""
    lowered = _lowered(code, instances, Stage.VERTEX)
    return Shader(_PortRewriter.of(lowered, _VERTEX_INPUTS, "o", "v").program(), lowered)


@programs_cached(_slots)
def pixel_shader(code: bytes, instances: Instances = None) -> Shader:
    """A pixel shader from its tokens.  Raises ShaderError and Unsupported."""
    lowered = _lowered(code, instances, Stage.PIXEL)
    program = _PortRewriter.of(lowered, _PIXEL_INPUTS, "target", "target").program()
    return Shader(with_evaluated_inputs(program, lowered), lowered)


@programs_cached(_slots)
def domain_shader(code: bytes, instances: Instances = None) -> Shader:
    """A domain shader from its tokens.  Raises ShaderError and Unsupported."""
    lowered = _lowered(code, instances, Stage.DOMAIN)
    return Shader(_PortRewriter.of(lowered, _DOMAIN_INPUTS, "o", "v").program(), lowered)


@programs_cached(_hull_slots)
def hull_shader(code: bytes, instances: Instances = None) -> HullShader:
    """A hull shader from its tokens.  Raises ShaderError and Unsupported."""
    lowered = lower_hull(_decoded(code, instances, Stage.HULL))
    points = lowered.points
    return HullShader(
        lowered,
        None if points is None else Shader(points.program, points),
        tuple(Shader(each.shader.program, each.shader) for each in lowered.constants),
    )


@programs_cached(_slots)
def geometry_shader(code: bytes, instances: Instances = None) -> Shader:
    """A geometry shader from its tokens.  Raises ShaderError and Unsupported."""
    lowered = _lowered(code, instances, Stage.GEOMETRY)
    return Shader(lowered.program, lowered)


@programs_cached(_slots)
def compute_shader(code: bytes, instances: Instances = None) -> Shader:
    """A compute shader from its tokens.

    Raises ShaderError, also for groups beyond the limits of the shader model, and Unsupported.
    """
    program = _decoded(code, instances, Stage.COMPUTE)
    lowered = lower(program)
    check_group(lowered, program.version.level)
    return Shader(lowered.program, lowered)


def _lowered(code: bytes, instances: Instances, stage: Stage) -> Lowered4:
    return lower(_decoded(code, instances, stage))


def _decoded(code: bytes, instances: Instances, stage: Stage) -> Decoded:
    program = decode(code)
    if program.version.stage is not stage:
        given, expected = (each.name.lower() for each in (program.version.stage, stage))
        raise Unsupported(f"a {given} shader where a {expected} shader is expected")
    if instances is None:
        instances = first_instances(program)
    return linked(program, instances) if instances else program


class _PortRewriter(msgspec.Struct):
    """Rewrites the ports of the lowered program ``given`` to those that a draw expects.

    ``rules`` are functions that rewrite the reads of inputs, by prefix of the inputs' names.
    Outputs whose names begin with ``old`` get ``new`` instead.  Outputs of vertex programs exist
    both as bits (for constant interpolation) and as floats; outputs of pixel programs stay bits.
    Mutable: it collects slots, ports and files.
    """

    given: Program
    rules: dict[str, _Inputs]
    old: str
    new: str
    slots: list[Type]
    inputs: dict[str, Port] = msgspec.field(default_factory=dict)
    outputs: dict[str, Port] = msgspec.field(default_factory=dict)
    files: dict[str, File] = msgspec.field(default_factory=dict)

    @classmethod
    def of(cls, lowered: Lowered4, rules: dict[str, _Inputs], old: str, new: str) -> _PortRewriter:
        """Make a rewriter; ``rules`` rewrite the reads of inputs, by prefix of their names."""
        given = lowered.program
        files = {file.name: file for file in given.files}
        return cls(given, rules, old, new, list(given.slots), files=files)

    def program(self) -> Program:
        """Rewrite all statements; returns the program with its new ports and slots, verified."""
        statements = tuple(each for old in self.given.statements for each in self._rewritten(old))
        program = replace(
            self.given,
            slots=tuple(self.slots),
            files=tuple(self.files.values()),
            inputs=tuple(self.inputs.values()),
            outputs=tuple(self.outputs.values()),
            statements=statements,
        )
        verify(program)
        return program

    def slot(self, type: Type) -> int:
        """Add a slot of a type to the program; returns its number."""
        self.slots.append(type)
        return len(self.slots) - 1

    def read(self, name: str, slot: int) -> Input:
        """Declare an input port with the type of ``slot``; returns its read into the slot."""
        self.inputs[name] = Port(name, self.slots[slot])
        return Input(slot, name)

    def _rewritten(self, statement: Statement) -> Iterable[Statement]:
        if isinstance(statement, Output):
            return self._output(statement)
        if isinstance(statement, Input):
            return self._input(statement)
        return (statement,)

    def _input(self, statement: Input) -> Iterable[Statement]:
        register = varying(statement.port).split(".")[0].rstrip("0123456789")
        rule = self.rules.get(register)
        if rule is None:
            raise Unsupported(f"{statement.port} as an input of this shader stage")
        return rule(self, statement)

    def _output(self, statement: Output) -> Iterator[Statement]:
        name, value = statement.port, statement.value
        if name.startswith(self.old) and name[len(self.old)].isdigit():
            name, vertex = self.new + name.removeprefix(self.old), self.old == "o"
            bits = CONSTANT + name if vertex else name
            self.outputs[bits] = Port(bits, Type.I32)
            yield Output(bits, value)
            if not vertex:
                return
            slot = self.slot(Type.F32)
            yield Assign(slot, "asfloat", (value,))
            value = Slot(slot)
        self.outputs[name] = Port(name, Type.I32 if name in _INTEGERS else Type.F32)
        yield Output(name, value)


def _unchanged(writer: _PortRewriter, statement: Input) -> tuple[Statement, ...]:
    return (writer.read(statement.port, statement.slot),)


def _instance(writer: _PortRewriter, statement: Input) -> tuple[Statement, ...]:
    writer.files[INSTANCE_FILE] = File(INSTANCE_FILE, Type.I32, 1, uniform=True)
    return (Load(statement.slot, INSTANCE_FILE, Address(0)),)


def _interpolated(writer: _PortRewriter, statement: Input) -> tuple[Statement, ...]:
    if writer.slots[statement.slot] is Type.F32:
        return _unchanged(writer, statement)
    return (writer.read(CONSTANT + statement.port, statement.slot),)


_INTEGERS = frozenset({COVERAGE_PORT, LAYER, VIEWPORT})
"""Names of the outputs that are integers."""
_PLACES = {"position.x": "vpos.x", "position.y": "vpos.y", "position.z": "depth.x"}


def _position(writer: _PortRewriter, statement: Input) -> tuple[Statement, ...]:
    """Rewrite a read of SV_Position: the place that it is evaluated at, its depth and its w.

    The place is the pixel's centre unless the port has a prefix.
    """
    component = varying(statement.port)
    prefix = statement.port.removesuffix(component)
    name = _PLACES.get(component, "w.x")
    if not name.startswith("vpos"):
        return (writer.read(prefix + name, statement.slot),)
    corner = writer.slot(Type.F32)
    place = Assign(statement.slot, "add", (Slot(corner), _CENTRE))
    return writer.read(prefix + name, corner), place


def _facing(writer: _PortRewriter, statement: Input) -> tuple[Statement, ...]:
    side, front = writer.slot(Type.F32), writer.slot(Type.BOOL)
    return (
        writer.read("vface.x", side),
        Assign(front, "ge", (Slot(side), _SIDE)),
        Assign(statement.slot, "iselect", (Slot(front), _TRUE, _FALSE)),
    )


_VERTEX_INPUTS: dict[str, _Inputs] = {
    "v": _unchanged,
    "vertex_id": _unchanged,
    "instance_id": _instance,
}

_DOMAIN_INPUTS: dict[str, _Inputs] = {
    "patch": _unchanged,
    "domain": _unchanged,
    "primitive_id": _unchanged,
}

_PIXEL_INPUTS: dict[str, _Inputs] = {
    "v": _interpolated,
    "position": _position,
    "is_front_face": _facing,
    "primitive_id": _unchanged,
    "sample_index": _unchanged,
    "coverage": _unchanged,
}
