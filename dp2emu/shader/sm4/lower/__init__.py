"""Lowering of shaders of Direct3D 10 and 11 into programs of the intermediate representation
(SM4-5 tokens, "Floats", "Flow control", "Stages" and "Tessellation").

Registers are I32 slots whatever their type.  Ports of vertex programs: inputs ``v<register>.<c>``,
and ``vertex_id.x`` and ``instance_id.x``, outputs ``o<register>.<c>``, all I32; as F32 outputs
``position0.<c>`` in clip space, ``clip<n>.x`` and ``cull<n>.x``.  Declared components that are
never written are 0.

Ports of pixel programs: inputs ``v<register>.<c>``, an I32 where interpolation is constant, else
an F32 whose name says how it is interpolated (``ports``); F32 ``position.<c>``; I32
``primitive_id.x``, ``is_front_face.x``, ``sample_index.x`` and ``coverage.x``.  Outputs
``target<n>.<c>`` and ``coverage.x``, I32, and ``depth.x``, F32.

Ports of geometry programs, all I32: inputs ``vertex<n>.v<register>.<c>``, ``primitive_id.x`` and
``gs_instance.x``; outputs as in ``geometry``.

Ports of compute programs: inputs ``vThreadID.<c>``, ``vThreadGroupID.<c>``,
``vThreadIDInGroup.<c>`` and ``vThreadIDInGroupFlattened.x``, I32.

Ports of domain programs: I32 inputs ``patch.x`` (``reading``) and ``primitive_id.x``, F32
``domain.<c>``; outputs as of vertex programs.

Hull shaders have a program for each phase, with I32 ports: inputs ``patch.x``, ``primitive_id.x``,
``output_control_point.x`` or ``phase_instance.x``; outputs ``o<register>.<c>``.  A phase of patch
constants starts with the constants of earlier phases and instances, so components that it does not
write keep their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dp2emu.d3d.enums10 import Domain
from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.ports import LAYER, VIEWPORT
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import GlobalFlags, SystemValue
from dp2emu.shader.sm4.flow import Phase, phases
from dp2emu.shader.sm4.linkage import check_linked
from dp2emu.shader.sm4.lower.declared import declared
from dp2emu.shader.sm4.lower.doubles import check_doubles
from dp2emu.shader.sm4.lower.flow import lower_routine
from dp2emu.shader.sm4.lower.lowered import (
    Component,
    Constants,
    DeclaredSampler,
    Emission,
    Lowered4,
    LoweredHull,
    Register,
    Resource,
)
from dp2emu.shader.sm4.lower.lowering import Lowering, Place
from dp2emu.shader.sm4.lower.reading import patch_word, registers_of, store_inputs
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage
from dp2emu.shader.values import Value

__all__ = [
    "DeclaredSampler",
    "Emission",
    "Lowered4",
    "LoweredHull",
    "Register",
    "Resource",
    "lower",
    "lower_hull",
]

_DEPTHS = {File.DEPTH: None, File.DEPTH_GREATER_EQUAL: "max", File.DEPTH_LESS_EQUAL: "min"}
"""From the register files of depth outputs, oDepth, oDepthGE and oDepthLE, to the operation that
bounds a depth by the interpolated one."""
_DISTANCES = {SystemValue.CLIP_DISTANCE: "clip", SystemValue.CULL_DISTANCE: "cull"}
_ARRAY_INDICES = {
    SystemValue.RENDERTARGET_ARRAY_INDEX: LAYER,
    SystemValue.VIEWPORT_ARRAY_INDEX: VIEWPORT,
}


def vertex_outputs(low: Lowering) -> None:
    """Write a vertex or domain program's outputs to its ports.

    All declared components of o# are written as bits, named by register.  The position and the
    clip and cull distances are written as floats too; distances are numbered in component order.
    The indices of the target slice and of the viewport have ports of their own as well.
    """
    counts = dict.fromkeys(_DISTANCES, 0)
    for number, component, value in _declared(low):
        name = low.declared.output_of[number, component].name
        low.b.output(f"o{number}.{COMPONENTS[component]}", value)
        if name is SystemValue.POSITION:
            low.b.output(f"position0.{COMPONENTS[component]}", low.b.asfloat(value))
        elif name in _ARRAY_INDICES:
            low.b.output(_ARRAY_INDICES[name], value)
        elif name in counts:
            low.b.output(f"{_DISTANCES[name]}{counts[name]}.x", low.b.asfloat(value))
            counts[name] += 1


def _geometry_outputs(low: Lowering) -> None:
    assert low.emitter is not None
    low.emitter.write_outputs()


def pixel_outputs(low: Lowering) -> None:
    """Write the targets as bits (the target's format gives the type), depth and coverage mask.

    A depth in oDepthGE or oDepthLE on the wrong side of the interpolated depth is replaced by it.
    """
    for number, component, value in _declared(low):
        low.b.output(f"target{number}.{COMPONENTS[component]}", value)
    for file, bound in _DEPTHS.items():
        if file in low.declared.scalars:
            depth = low.b.asfloat(_value(low, Place(file, 0, 0)))
            if bound is not None:
                depth = low.b.apply(bound, depth, low.b.input("position.z"))
            low.b.output("depth.x", depth)
    if File.COVERAGE_MASK in low.declared.scalars:
        low.b.output("coverage.x", _value(low, Place(File.COVERAGE_MASK, 0, 0)))


def _declared(low: Lowering) -> Iterator[tuple[int, int, Value]]:
    """(register number, component, current value) of each declared component of o#, in order."""
    for number, component in sorted(low.declared.output_of):
        if File.OUTPUT in low.indexed:
            yield number, component, low.output(number, component)
        else:
            yield number, component, _value(low, Place(File.OUTPUT, number, component))


def _value(low: Lowering, place: Place) -> Value:
    return low.variable(place).value if place in low.variables else low.word(0)


def lowered(low: Lowering) -> Lowered4:
    """Finish a lowering: its program, with the declarations that binding and running it need."""
    declared = low.declared
    return Lowered4(
        program=low.b.program(),
        inputs=tuple(declared.inputs),
        outputs=tuple(declared.outputs),
        constant_buffers=tuple(sorted(declared.constant_buffers)),
        immediates=declared.immediates,
        resources=tuple(each for _, each in sorted(declared.resources.items())),
        samplers=tuple(sorted(declared.samplers, key=lambda each: each.number)),
        units=tuple(low.units),
        kills=low.kills,
        forces_early=GlobalFlags.FORCE_EARLY_DEPTH_STENCIL in declared.flags,
        per_sample=declared.per_sample,
        emission=None if low.emitter is None else low.emitter.emission,
        memory_operations=tuple(low.operations),
        unordered=tuple(each for _, each in sorted(declared.unordered.items())),
        shared=tuple(each for _, each in sorted(declared.shared.items())),
        threads=declared.threads,
        points_in=declared.points_in,
        registers=low.registers,
    )


# Hull shaders: a program for each phase, and the tessellator's settings

MAX_RUNS = 1024
"""Maximum sum of the instance counts of a hull shader's patch constant phases."""

_EDGES: dict[Domain, tuple[SystemValue, ...]] = {
    Domain.DOMAIN_ISOLINE: (SystemValue.LINE_DENSITY, SystemValue.LINE_DETAIL),
    Domain.DOMAIN_TRI: (SystemValue.TRI_U0_EDGE, SystemValue.TRI_V0_EDGE, SystemValue.TRI_W0_EDGE),
    Domain.DOMAIN_QUAD: (
        SystemValue.QUAD_U0_EDGE,
        SystemValue.QUAD_V0_EDGE,
        SystemValue.QUAD_U1_EDGE,
        SystemValue.QUAD_V1_EDGE,
    ),
}
_INSIDES: dict[Domain, tuple[SystemValue, ...]] = {
    Domain.DOMAIN_ISOLINE: (),
    Domain.DOMAIN_TRI: (SystemValue.TRI_INSIDE,),
    Domain.DOMAIN_QUAD: (SystemValue.QUAD_U_INSIDE, SystemValue.QUAD_V_INSIDE),
}
_OF_CONSTANTS = frozenset({Op.HS_FORK_PHASE, Op.HS_JOIN_PHASE})


def lower_hull(program: Program) -> LoweredHull:
    """Lower a hull program.

    Raises ShaderError for missing declarations, for doubles without their global flag or with
    other masks than theirs, and for blocks that nest too deep; Unsupported for instructions that
    are not implemented and too many phase instances.
    """
    check_linked(program)
    check_doubles(program)
    first, *others = phases(program)
    head = declared(first.declarations)
    if head.domain is None or head.partitioning is None or head.output is None:
        raise ShaderError("a hull shader without its domain, partitioning or output primitive")
    registers = registers_of(program.instructions, program.version.stage)
    too_many = Unsupported(f"hull shaders of more than {MAX_RUNS:,} instances of phases")
    if sum(map(_of_constants, others)) > MAX_RUNS:
        raise too_many
    lows = [Lowering(program, phase, registers, head) for phase in others]
    constants = [low for low in lows if _of_constants(low.parts)]
    if sum(low.declared.instances for low in constants) > MAX_RUNS:
        raise too_many
    places = _named(constants)
    return LoweredHull(
        points=next((_lowered(low) for low in lows if not _of_constants(low.parts)), None),
        constants=tuple(Constants(_lowered(low), low.declared.instances) for low in constants),
        takes=head.points_in,
        makes=head.points_out,
        registers=registers,
        domain=head.domain,
        partitioning=head.partitioning,
        output=head.output,
        most=head.most,
        edges=tuple(map(places.get, _EDGES[head.domain])),
        inside=tuple(map(places.get, _INSIDES[head.domain])),
    )


def _of_constants(phase: Phase) -> bool:
    return phase.marker is not None and phase.marker.op in _OF_CONSTANTS


def _lowered(low: Lowering) -> Lowered4:
    if _of_constants(low.parts):
        _begin_with_constants(low)
    lower_routine(low, low.parts.main)
    low.b.at(low)
    for number, component, value in _declared(low):
        low.b.output(f"o{number}.{COMPONENTS[component]}", value)
    return lowered(low)


def _begin_with_constants(low: Lowering) -> None:
    """Set o# to the patch constants that earlier phases and instances of a hull shader wrote."""
    for number, component in low.declared.output_of:
        value = patch_word(low, File.PATCH_CONSTANT, 0, number, component)
        if File.OUTPUT in low.indexed:
            low.b.store(low.indexed[File.OUTPUT], value, 4 * number + component)
        else:
            low.variable(Place(File.OUTPUT, number, component)).value = value


def _named(lows: list[Lowering]) -> dict[SystemValue, Component]:
    """Register and lowest component of each output of a hull shader's phases, by system value."""
    outputs = [each for low in lows for each in low.declared.outputs]
    lowest = [(each.mask & -each.mask).bit_length() - 1 for each in outputs]
    return {each.name: (each.number, c) for each, c in zip(outputs, lowest, strict=True)}


# Shaders of one program

_OUTPUTS: dict[Stage, Callable[[Lowering], None]] = {
    Stage.VERTEX: vertex_outputs,
    Stage.GEOMETRY: _geometry_outputs,
    Stage.DOMAIN: vertex_outputs,
    Stage.PIXEL: pixel_outputs,
    Stage.COMPUTE: lambda low: None,
}

_WRITING = (Stage.PIXEL, Stage.COMPUTE)
"""Stages whose programs may use unordered access views."""
_UNORDERED = frozenset({Op.DCL_UAV_TYPED, Op.DCL_UAV_RAW, Op.DCL_UAV_STRUCTURED})


def lower(program: Program) -> Lowered4:
    """Lower a vertex, domain, geometry, pixel or compute program.

    Raises ShaderError if blocks, with calls expanded, nest too deep, and for doubles without their
    global flag or with other masks than theirs.  Raises Unsupported for hull programs and for
    unordered access views outside pixel and compute programs.
    """
    check_linked(program)
    check_doubles(program)
    stage = program.version.stage
    if stage not in _OUTPUTS:
        raise Unsupported(f"{stage.name.lower()} shaders")
    if stage not in _WRITING and any(each.op in _UNORDERED for each in program.instructions):
        raise Unsupported(f"unordered access views of {stage.name.lower()} shaders")
    low = Lowering(program, registers=registers_of(program.instructions, stage))
    store_inputs(low)
    lower_routine(low, low.parts.main)
    low.b.at(low)
    _OUTPUTS[stage](low)
    return lowered(low)
