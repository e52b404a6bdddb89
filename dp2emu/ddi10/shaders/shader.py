"""Inputs of pixel shaders evaluated elsewhere than their declarations say (eval_snapped and
eval_sample_index of shader model 5.0).

Fetches of such units get the lane they are of as their first operand, and the program reads the
registers, so that there are planes of them.

Source: Direct3D 11 documentation of these instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace

import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Uniforms
from dp2emu.gpu.command.pipeline import COVERAGE_PORT, LANE_PORT
from dp2emu.gpu.shader_resources.resource_reads import ELSEWHERE
from dp2emu.identity_cache import kept
from dp2emu.records import dataclass
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
from dp2emu.shader.ports import CONSTANT, NOPERSPECTIVE
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4 import decode
from dp2emu.shader.sm4.enums import Interpolation
from dp2emu.shader.sm4.lower import Lowered4, LoweredHull, lower, lower_hull
from dp2emu.shader.sm4.lower.groups import check_group
from dp2emu.shader.sm4.program import Program as Decoded
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.types import I32, Type
from dp2emu.shader.verify import verify

_FLAT = frozenset(
    {
        Interpolation.LINEAR_NOPERSPECTIVE,
        Interpolation.LINEAR_NOPERSPECTIVE_CENTROID,
        Interpolation.LINEAR_NOPERSPECTIVE_SAMPLE,
    }
)


def looking(program: Program, lowered: Lowered4) -> Program:
    """The program, which can look at its inputs elsewhere if it asks to."""
    asking = {n: unit.register for n, unit in enumerate(lowered.units) if unit.ask in ELSEWHERE}
    if not asking:
        return program
    lane = len(program.slots)
    ports = (Port(LANE_PORT, Type.I32), *_read(lowered, set(asking.values())))
    slots = (*program.slots, *(port.type for port in ports))
    inputs = {port.name: port for port in (*program.inputs, *ports)}
    taken = tuple(Input(lane + number, port.name) for number, port in enumerate(ports))
    statements = _told(program.statements, frozenset(asking), Slot(lane))
    found = replace(
        program, slots=slots, inputs=tuple(inputs.values()), statements=(*taken, *statements)
    )
    verify(found)
    return found


def _read(lowered: Lowered4, registers: set[int]) -> Iterator[Port]:
    """What is interpolated of some registers."""
    for register in lowered.inputs:
        if register.number in registers:
            prefix = NOPERSPECTIVE if register.interpolation in _FLAT else ""
            for place, component in enumerate(COMPONENTS):
                if register.mask >> place & 1:
                    yield Port(f"{prefix}v{register.number}.{component}", Type.F32)


def _told(
    statements: tuple[Statement, ...], units: frozenset[int], lane: Slot
) -> tuple[Statement, ...]:
    """Statements whose fetches of ``units`` are told the lane."""
    return tuple(_one(statement, units, lane) for statement in statements)


def _one(statement: Statement, units: frozenset[int], lane: Slot) -> Statement:
    if isinstance(statement, Fetch) and statement.unit in units:
        return replace(statement, operands=(lane, *statement.operands))
    if isinstance(statement, If):
        then = _told(statement.then, units, lane)
        return replace(statement, then=then, otherwise=_told(statement.otherwise, units, lane))
    if isinstance(statement, Loop):
        return replace(statement, body=_told(statement.body, units, lane))
    return statement


# Shaders as programs of the GPU: tokens in, the ports of a draw out.
#
# The lowering speaks of registers and their bits; a draw speaks of varyings, targets and places.
# What a vertex shader writes to o# is therefore the varying v#, since the runtime gives what a
# pixel shader reads as v# the same number, and what leaves a shader leaves it as the float of
# its bits.
#
# Source: Direct3D 10 and 11 documentation of shader registers.

INSTANCE_FILE = "instance"
"""The uniform file with the number of the instance, an I32, of a vertex program that reads it."""

PROGRAM_SLOTS = 1 << 19
"""Slots of the programs that are kept of each stage, with the code they are made from."""


_SLOT_BYTES = 512
"""What a slot of a program takes, about, with the statements that write it."""

_CENTRE, _SIDE = Constant.of(Type.F32, 0.5), Constant.of(Type.F32, 0)


_TRUE, _FALSE = Constant.of(Type.I32, -1), Constant.of(Type.I32, 0)

_Inputs = Callable[["_Writer", Input], Iterable[Statement]]


@dataclass(frozen=True)
class Shader:
    """``program`` has the ports of ``gpu.command.pipeline.Pipeline`` and
    ``gpu.rasterizer.clip``, ``lowered`` says what is to be bound to it.
    """

    program: Program
    lowered: Lowered4

    def uniforms(self, buffers: Mapping[int, bytes], instance: int = 0) -> Uniforms:
        """The files of the program: constant ``buffers`` by slot, and the number of the instance.

        Behind the end of a buffer, and where there is none, constants are 0.  What is of patches
        only the GPU knows.
        """
        icb = np.array(self.lowered.immediates, np.uint32).view(np.int32)
        known = {"icb": icb, INSTANCE_FILE: np.array([instance], np.int32)}
        files = self.program.files
        read = (file for file in files if file.uniform and file.name.startswith("cb"))
        constants = {
            file.name: _words(buffers.get(int(file.name[2:]), b""), file) for file in read
        }
        found = known | constants
        return {file.name: found[file.name] for file in files if file.name in found}


@dataclass(frozen=True)
class HullShader:
    """A hull shader, whose phases are programs: ``points`` of control points, None to pass these
    on, and ``constants`` in their order.
    """

    lowered: LoweredHull
    points: Shader | None
    constants: tuple[Shader, ...]


def _words(data: bytes, file: File) -> I32:
    """As many words as a file has, of which the data are the first."""
    words = np.zeros(file.size, "<i4")
    whole = np.frombuffer(data[: len(data) // 4 * 4], "<i4")[: file.size]
    words[: len(whole)] = whole
    return words.astype(np.int32)


def _slots(shader: Shader, code: bytes) -> int:
    return len(shader.program.slots) + len(code) // _SLOT_BYTES


def _hull_slots(hull: HullShader, code: bytes) -> int:
    phases = hull.constants if hull.points is None else (hull.points, *hull.constants)
    return sum([len(each.program.slots) for each in phases]) + len(code) // _SLOT_BYTES


@kept(PROGRAM_SLOTS, _slots)
def vertex_shader(code: bytes) -> Shader:
    """A vertex shader from its tokens.

    Raises ShaderError, with an offset, for tokens that cannot be meant, and Unsupported for other
    stages.
    """
    lowered = _lowered(code, Stage.VERTEX)
    return Shader(_Writer.of(lowered, _VERTEX_INPUTS, "o", "v").program(), lowered)


@kept(PROGRAM_SLOTS, _slots)
def pixel_shader(code: bytes) -> Shader:
    """A pixel shader from its tokens.

    Raises ShaderError, with an offset, for tokens that cannot be meant, and Unsupported for other
    stages.
    """
    lowered = _lowered(code, Stage.PIXEL)
    program = _Writer.of(lowered, _PIXEL_INPUTS, "target", "target").program()
    return Shader(looking(program, lowered), lowered)


@kept(PROGRAM_SLOTS, _slots)
def domain_shader(code: bytes) -> Shader:
    """A domain shader from its tokens.

    Raises ShaderError, with an offset, for tokens that cannot be meant, and Unsupported for other
    stages.
    """
    lowered = _lowered(code, Stage.DOMAIN)
    return Shader(_Writer.of(lowered, _DOMAIN_INPUTS, "o", "v").program(), lowered)


@kept(PROGRAM_SLOTS, _hull_slots)
def hull_shader(code: bytes) -> HullShader:
    """A hull shader from its tokens.

    Raises ShaderError, with an offset, for tokens that cannot be meant, and Unsupported for other
    stages.
    """
    lowered = lower_hull(_decoded(code, Stage.HULL))
    points = lowered.points
    return HullShader(
        lowered,
        None if points is None else Shader(points.program, points),
        tuple(Shader(each.shader.program, each.shader) for each in lowered.constants),
    )


@kept(PROGRAM_SLOTS, _slots)
def geometry_shader(code: bytes) -> Shader:
    """A geometry shader from its tokens.

    Raises ShaderError, with an offset, for tokens that cannot be meant, and Unsupported for other
    stages.
    """
    lowered = _lowered(code, Stage.GEOMETRY)
    return Shader(lowered.program, lowered)


@kept(PROGRAM_SLOTS, _slots)
def compute_shader(code: bytes) -> Shader:
    """A compute shader from its tokens.

    Raises ShaderError, with an offset, for tokens that cannot be meant or ask for more than their
    shader model has, and Unsupported for other stages.
    """
    program = _decoded(code, Stage.COMPUTE)
    lowered = lower(program)
    check_group(lowered, program.version.level)
    return Shader(lowered.program, lowered)


def _lowered(code: bytes, stage: Stage) -> Lowered4:
    return lower(_decoded(code, stage))


def _decoded(code: bytes, stage: Stage) -> Decoded:
    program = decode(code)
    if program.version.stage is not stage:
        raise Unsupported(f"a {program.version.stage.name.lower()} shader in another's place")
    return program


@dataclass(slots=True)
class _Writer:
    """A program being rewritten.  Mutable: it collects slots, ports and files.

    Outputs whose names begin with ``old`` are called ``new`` instead.  Those of vertices are both
    constants and floats, and what the pixel shader reads is taken; those of pixels stay bits.
    """

    given: Program
    rules: dict[str, _Inputs]
    old: str
    new: str
    slots: list[Type]
    inputs: dict[str, Port] = field(default_factory=dict)
    outputs: dict[str, Port] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)

    @property
    def constant(self) -> bool:
        return self.old == "o"

    @classmethod
    def of(cls, lowered: Lowered4, rules: dict[str, _Inputs], old: str, new: str) -> _Writer:
        """For a lowered shader; ``rules`` are by what the names of its inputs begin with."""
        given = lowered.program
        files = {file.name: file for file in given.files}
        return cls(given, rules, old, new, list(given.slots), files=files)

    def program(self) -> Program:
        """The program, verified."""
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
        """A new slot."""
        self.slots.append(type)
        return len(self.slots) - 1

    def read(self, name: str, slot: int) -> Input:
        """An input, declared with the type of the slot it is put into."""
        self.inputs[name] = Port(name, self.slots[slot])
        return Input(slot, name)

    def _rewritten(self, statement: Statement) -> Iterable[Statement]:
        if isinstance(statement, Output):
            return self._output(statement)
        if isinstance(statement, Input):
            return self._input(statement)
        return (statement,)

    def _input(self, statement: Input) -> Iterable[Statement]:
        register = statement.port.split(".")[0].rstrip("0123456789")
        rule = self.rules.get(register)
        if rule is None:
            raise Unsupported(f"{statement.port} as an input of a shader")
        return rule(self, statement)

    def _output(self, statement: Output) -> Iterator[Statement]:
        name, value = statement.port, statement.value
        if name.startswith(self.old) and name[len(self.old)].isdigit():
            name = self.new + name.removeprefix(self.old)
            bits = CONSTANT + name if self.constant else name
            self.outputs[bits] = Port(bits, Type.I32)
            yield Output(bits, value)
            if not self.constant:
                return
            slot = self.slot(Type.F32)
            yield Assign(slot, "asfloat", (value,))
            value = Slot(slot)
        self.outputs[name] = Port(name, Type.I32 if name == COVERAGE_PORT else Type.F32)
        yield Output(name, value)


def _as_it_is(writer: _Writer, statement: Input) -> tuple[Statement, ...]:
    return (writer.read(statement.port, statement.slot),)


def _instance(writer: _Writer, statement: Input) -> tuple[Statement, ...]:
    writer.files[INSTANCE_FILE] = File(INSTANCE_FILE, Type.I32, 1, uniform=True)
    return (Load(statement.slot, INSTANCE_FILE, Address(0)),)


def _interpolated(writer: _Writer, statement: Input) -> tuple[Statement, ...]:
    if writer.slots[statement.slot] is Type.F32:
        return _as_it_is(writer, statement)
    return (writer.read(CONSTANT + statement.port, statement.slot),)


_PLACES = {"position.x": "vpos.x", "position.y": "vpos.y", "position.z": "depth.x"}


def _place(writer: _Writer, statement: Input) -> tuple[Statement, ...]:
    """SV_Position: the centre of the pixel, its depth, and w of the eye."""
    name = _PLACES.get(statement.port, "w.x")
    if not name.startswith("vpos"):
        return (writer.read(name, statement.slot),)
    corner = writer.slot(Type.F32)
    centre = Assign(statement.slot, "add", (Slot(corner), _CENTRE))
    return writer.read(name, corner), centre


def _facing(writer: _Writer, statement: Input) -> tuple[Statement, ...]:
    side, front = writer.slot(Type.F32), writer.slot(Type.BOOL)
    return (
        writer.read("vface.x", side),
        Assign(front, "ge", (Slot(side), _SIDE)),
        Assign(statement.slot, "iselect", (Slot(front), _TRUE, _FALSE)),
    )


_VERTEX_INPUTS: dict[str, _Inputs] = {
    "v": _as_it_is,
    "vertex_id": _as_it_is,
    "instance_id": _instance,
}


_DOMAIN_INPUTS: dict[str, _Inputs] = {
    "patch": _as_it_is,
    "domain": _as_it_is,
    "primitive_id": _as_it_is,
}


_PIXEL_INPUTS: dict[str, _Inputs] = {
    "v": _interpolated,
    "centroid": _interpolated,
    "noperspective": _interpolated,
    "position": _place,
    "is_front_face": _facing,
    "primitive_id": _as_it_is,
    "sample": _interpolated,
    "sample_index": _as_it_is,
    "coverage": _as_it_is,
}
