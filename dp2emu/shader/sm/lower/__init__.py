"""Lowering of shaders of Direct3D 8 and 9 into programs of the intermediate representation (SM1-3
tokens, "Opcodes" and "Arithmetic").

Temporaries are not clamped: 1.x guarantees a range of -1..1 or -8..8 and permits more.  Clamped
are constants of ps_1_x to -1..1, its colour inputs to 0..1, and fog and colours written by vertex
shaders before 3.0.  0 times anything is 0 before 3.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from dp2emu.shader.ir import TextureKind
from dp2emu.shader.sm.lower.flow import lower_body
from dp2emu.shader.sm.lower.lowered import (
    DefinedConstant,
    InputRegister,
    Lowered,
    overlay_constants,
)
from dp2emu.shader.sm.lower.lowering import DEPTH, Lowering, SamplerBindings
from dp2emu.shader.sm.lower.outputs import Epilogue, pixel_outputs, vertex_outputs
from dp2emu.shader.sm.lower.reading import store_inputs
from dp2emu.shader.sm.program import Shader

__all__ = [
    "DefinedConstant",
    "Epilogue",
    "InputRegister",
    "Lowered",
    "lower_pixel",
    "lower_vertex",
    "overlay_constants",
]


def lower_vertex(shader: Shader) -> Lowered:
    """Lower a vertex shader: inputs ``v<register>.<c>`` (``InputRegister``), varyings by name.

    Raises ShaderError if blocks nest too deep once calls are expanded.
    """
    low = Lowering(shader, SamplerBindings())
    store_inputs(low)
    lower_body(low, low.parts.main)
    return _lowered(low, vertex_outputs(low))


def lower_pixel(
    shader: Shader,
    *,
    sampler_kinds: Mapping[int, TextureKind] | None = None,
    projections: Mapping[int, int] | None = None,
    epilogue: Epilogue | None = None,
) -> Lowered:
    """Lower a pixel shader: varyings by name, outputs ``target<n>.<c>`` and ``depth.x``.

    ``sampler_kinds`` has the texture kinds of samplers without a dcl, by default two-dimensional,
    and marks those declared 2D that compare depths.  ``projections`` maps stages with
    D3DTTFF_PROJECTED to the component, 1 to 3, that divides their coordinates; ps_1_0 to ps_1_3
    apply it.  ``epilogue`` computes fog: before 3.0 it is applied to the first target's colour.

    Raises ShaderError if blocks nest too deep once calls are expanded.
    """
    low = Lowering(shader, SamplerBindings(sampler_kinds or {}, projections or {}))
    store_inputs(low)
    lower_body(low, low.parts.main)
    return _lowered(low, pixel_outputs(low, epilogue))


def _lowered(low: Lowering, outputs: tuple[str, ...]) -> Lowered:
    own = (DefinedConstant(r.file.value, r.number, words) for r, words in low.own.items())
    return Lowered(
        program=low.b.program(),
        inputs=_inputs(low),
        outputs=outputs,
        samplers=tuple(sorted(low.samplers.items())),
        constants=tuple(sorted(own)),
        writes_depth=(DEPTH, 0) in low.variables,
        kills=low.kills,
    )


def _inputs(low: Lowering) -> tuple[InputRegister, ...]:
    """The input registers read, one entry for each usage."""
    found: set[InputRegister] = set()
    for register in low.read:
        declared = {c for r, c in low.usages if r == register}
        found.update(low.input_register(register, c) for c in declared or {0})
    return tuple(sorted(found, key=lambda each: (each.register, each.usage or 0, each.index)))
