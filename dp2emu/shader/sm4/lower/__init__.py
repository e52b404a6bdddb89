"""Lowering of shaders of Direct3D 10 and 11 into programs of the intermediate representation
(SM4-5 tokens, "Floats", "Flow control" and "Stages").

Registers are I32 slots whatever their type.  Ports of vertex programs: inputs ``v<register>.<c>``,
and ``vertex_id.x`` and ``instance_id.x``, outputs ``o<register>.<c>``, all I32; as F32 outputs
``position0.<c>`` in clip space, ``clip<n>.x`` and ``cull<n>.x``.

Ports of pixel programs: inputs ``v<register>.<c>``, an I32 where interpolation is constant, else
an F32 whose name says how it is interpolated (``ports``); F32 ``position.<c>``; I32
``primitive_id.x``, ``is_front_face.x``, ``sample_index.x`` and ``coverage.x``.  Outputs
``target<n>.<c>`` and ``coverage.x``, I32, and ``depth.x``, F32.

Ports of geometry programs, all I32: inputs ``vertex<n>.v<register>.<c>``, ``primitive_id.x`` and
``gs_instance.x``; outputs as in ``geometry``.

Ports of compute programs: inputs ``vThreadID.<c>``, ``vThreadGroupID.<c>``,
``vThreadIDInGroup.<c>`` and ``vThreadIDInGroupFlattened.x``, I32.

Ports of domain programs: I32 inputs ``patch.x`` (``patches``) and ``primitive_id.x``, F32
``domain.<c>``; outputs as of vertex programs.  Hull shaders have several programs (``hull``).
"""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.errors import Unsupported
from dp2emu.shader.sm4.lower.flow import lower_routine
from dp2emu.shader.sm4.lower.hull import lower_hull
from dp2emu.shader.sm4.lower.lowered import (
    DeclaredSampler,
    Emission,
    Lowered4,
    LoweredHull,
    Register,
    Resource,
)
from dp2emu.shader.sm4.lower.lowering import Lowering
from dp2emu.shader.sm4.lower.outputs import (
    geometry_outputs,
    lowered,
    pixel_outputs,
    vertex_outputs,
)
from dp2emu.shader.sm4.lower.patches import registers_of
from dp2emu.shader.sm4.lower.reading import store_inputs
from dp2emu.shader.sm4.opcodes import Op
from dp2emu.shader.sm4.program import Program
from dp2emu.shader.sm4.versions import Stage

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

_OUTPUTS: dict[Stage, Callable[[Lowering], None]] = {
    Stage.VERTEX: vertex_outputs,
    Stage.GEOMETRY: geometry_outputs,
    Stage.DOMAIN: vertex_outputs,
    Stage.PIXEL: pixel_outputs,
    Stage.COMPUTE: lambda low: None,
}

_WRITING = (Stage.PIXEL, Stage.COMPUTE)
"""Stages with unordered access views."""
_UNORDERED = frozenset({Op.DCL_UAV_TYPED, Op.DCL_UAV_RAW, Op.DCL_UAV_STRUCTURED})


def lower(program: Program) -> Lowered4:
    """Lower a vertex, domain, geometry, pixel or compute program.

    Raises ShaderError if blocks, with calls expanded, nest too deep.  Raises Unsupported for hull
    programs, unordered access views outside pixel and compute programs, and double precision.
    """
    stage = program.version.stage
    if stage not in _OUTPUTS:
        raise Unsupported(f"{stage.name.lower()} shaders")
    if stage not in _WRITING and any(each.op in _UNORDERED for each in program.instructions):
        raise Unsupported(f"unordered access views of {stage.name.lower()} shaders")
    low = Lowering(program, registers=registers_of(program.instructions, stage))
    store_inputs(low)
    lower_routine(low, low.parts.main)
    _OUTPUTS[stage](low)
    return lowered(low)
