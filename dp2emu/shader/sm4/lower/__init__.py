"""Shaders of Direct3D 10 and 11 lowered into programs (shader reference 5 to 9).

Registers are I32 slots whatever they hold.  Ports of vertex programs: inputs ``v<register>.<c>``,
and ``vertex_id.x`` and ``instance_id.x``, outputs ``o<register>.<c>``, all I32; as F32 outputs
``position0.<c>`` in clip space, ``clip<n>.x`` and ``cull<n>.x``.

Ports of pixel programs: inputs ``v<register>.<c>``, an I32 where interpolation is constant, else
an F32 whose name says how it is interpolated (``ports``); F32 ``position.<c>``; I32
``primitive_id.x``, ``is_front_face.x``, ``sample_index.x`` and ``coverage.x``.  Outputs
``target<n>.<c>`` and ``coverage.x``, I32, and ``depth.x``, F32.

Ports of geometry programs, all I32: inputs ``vertex<n>.v<register>.<c>``, ``primitive_id.x`` and
``gs_instance.x``; outputs as ``emission`` has them.

Ports of compute programs: inputs ``vThreadID.<c>``, ``vThreadGroupID.<c>``,
``vThreadIDInGroup.<c>`` and ``vThreadIDInGroupFlattened.x``, I32.
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.errors import Unsupported
from dp2emu.shader.sm4.enums import GlobalFlags
from dp2emu.shader.sm4.lower.emission import Emitter
from dp2emu.shader.sm4.lower.flow import lower_routine
from dp2emu.shader.sm4.lower.lowered import (
    Act,
    Ask,
    DeclaredSampler,
    Deed,
    Emission,
    Lowered4,
    Register,
    Resource,
    SharedMemory,
    Unit,
)
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.outputs import DEPTHS, geometry_outputs, pixel_outputs, vertex_outputs
from dp2emu.shader.sm4.lower.reading import store_inputs
from dp2emu.shader.sm4.ops import Op
from dp2emu.shader.sm4.program import Program
from dp2emu.shader.sm4.registers import File
from dp2emu.shader.sm4.versions import Stage

__all__ = [
    "Act",
    "Ask",
    "DeclaredSampler",
    "Deed",
    "Emission",
    "Lowered4",
    "Register",
    "Resource",
    "SharedMemory",
    "Unit",
    "lower",
]

_OUTPUTS: dict[Stage, Callable[[Lowering], None]] = {
    Stage.VERTEX: vertex_outputs,
    Stage.GEOMETRY: geometry_outputs,
    Stage.PIXEL: pixel_outputs,
    Stage.COMPUTE: lambda low: None,
}

_WRITING = (Stage.PIXEL, Stage.COMPUTE)
"""Stages that have views for unordered access."""
_UNORDERED = frozenset({Op.DCL_UAV_TYPED, Op.DCL_UAV_RAW, Op.DCL_UAV_STRUCTURED})


def lower(program: Program) -> Lowered4:
    """A vertex, geometry, pixel or compute program.

    Raises ShaderError if blocks nest too deep once calls are expanded, and Unsupported for other
    stages, unordered access views of stages but two, and double precision.
    """
    stage = program.version.stage
    if stage not in _OUTPUTS:
        raise Unsupported(f"{stage.name.lower()} shaders")
    if stage not in _WRITING and any(each.op in _UNORDERED for each in program.instructions):
        raise Unsupported(f"unordered access views of {stage.name.lower()} shaders")
    low = Lowering(program)
    if stage is Stage.GEOMETRY:
        low.emitter = Emitter(low)
    store_inputs(low)
    lower_routine(low, low.parts.main)
    _OUTPUTS[stage](low)
    return _lowered(low)


def _lowered(low: Lowering) -> Lowered4:
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
        writes_depth=not declared.scalars.isdisjoint(DEPTHS),
        writes_coverage=File.COVERAGE_MASK in declared.scalars,
        kills=low.kills,
        forces_early=GlobalFlags.FORCE_EARLY_DEPTH_STENCIL in declared.flags,
        per_sample=declared.per_sample,
        emission=None if low.emitter is None else low.emitter.emission,
        deeds=tuple(low.deeds),
        unordered=tuple(each for _, each in sorted(declared.unordered.items())),
        shared=tuple(each for _, each in sorted(declared.shared.items())),
        threads=declared.threads,
    )
