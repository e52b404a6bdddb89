"""Lowering of hull shaders: a program for each phase, and the tessellator's settings (SM4-5
tokens, "Hull shaders" and "Tessellation").

The phases of control points and of patch constants are programs like others.  Their ports, all
I32: inputs ``patch.x`` (``patches``), ``primitive_id.x``, ``output_control_point.x`` or
``phase_instance.x``; outputs ``o<register>.<c>``.  A phase of constants starts with the
constants of earlier phases and instances, so components that it does not write keep their values.
"""

from __future__ import annotations

from msgspec.structs import replace

from dp2emu.d3d.enums10 import Domain
from dp2emu.errors import ShaderError, Unsupported
from dp2emu.shader.sm4.enums import SystemValue
from dp2emu.shader.sm4.flow import Phase, phases
from dp2emu.shader.sm4.lower.declared import declared
from dp2emu.shader.sm4.lower.flow import lower_routine
from dp2emu.shader.sm4.lower.lowered import Component, Constants, Lowered4, LoweredHull
from dp2emu.shader.sm4.lower.lowering import Lowering, Place
from dp2emu.shader.sm4.lower.outputs import lowered, register_outputs
from dp2emu.shader.sm4.lower.patches import patch_word, registers_of
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Program
from dp2emu.shader.sm4.registers import File

MAX_RUNS = 1024
"""Maximum number of instances of all patch constant phases together."""

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

    Raises ShaderError for missing declarations and for blocks that nest too deep, Unsupported for
    instructions that are not implemented and too many phase instances.
    """
    first, *others = phases(program)
    head = declared(first.declarations)
    if head.domain is None or head.partitioning is None or head.output is None:
        raise ShaderError("a hull shader without its domain, partitioning or output primitive")
    registers = registers_of(program.instructions, program.version.stage)
    lows = [_lowering(program, first, phase, registers) for phase in others]
    constants = [low for low in lows if _of_constants(low.parts)]
    if sum(low.declared.instances for low in constants) > MAX_RUNS:
        raise Unsupported(f"hull shaders of more than {MAX_RUNS:,} instances of phases")
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


def _lowering(program: Program, first: Phase, phase: Phase, registers: int) -> Lowering:
    """The lowering of a phase; declarations of the first phase apply to all."""
    known = replace(phase, declarations=first.declarations + phase.declarations)
    return Lowering(program, known, registers)


def _lowered(low: Lowering) -> Lowered4:
    if _of_constants(low.parts):
        _begin_with_constants(low)
    lower_routine(low, low.parts.main)
    register_outputs(low)
    return lowered(low)


def _begin_with_constants(low: Lowering) -> None:
    """Initialize o# with the constants written by earlier phases and instances."""
    for number, component in low.declared.output_of:
        value = patch_word(low, File.PATCH_CONSTANT, 0, number, component)
        if File.OUTPUT in low.indexed:
            low.b.store(low.indexed[File.OUTPUT], value, 4 * number + component)
        else:
            low.variable(Place(File.OUTPUT, number, component)).value = value


def _named(lows: list[Lowering]) -> dict[SystemValue, Component]:
    """Registers and components of the tessellation factors, by system value."""
    outputs = [each for low in lows for each in low.declared.outputs]
    return {each.name: (each.number, _lowest(each.mask)) for each in outputs}


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
