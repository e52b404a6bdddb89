"""Shaders of Direct3D 8 and 9 lowered into programs (SM1-3 tokens, "Opcodes" and "Arithmetic").

Temporaries are not clamped: versions of 1.x allow for ranges of -1..1 or -8..8, and more.  What
is clamped are constants of ps_1_x to -1..1, its colour inputs to 0..1, and fog and colours that a
vertex shader before 3.0 writes.  0 times anything is 0 before 3.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from dp2emu.shader.ir import TextureKind
from dp2emu.shader.sm.lower.flow import lower_body
from dp2emu.shader.sm.lower.lowered import InputRegister, Lowered, OwnConstant, overlaid
from dp2emu.shader.sm.lower.lowering import (
    DEPTH,
    Bound,
    Lowering,
)
from dp2emu.shader.sm.lower.outputs import Epilogue, pixel_outputs, vertex_outputs
from dp2emu.shader.sm.lower.reading import store_inputs
from dp2emu.shader.sm.program import Shader

__all__ = [
    "Epilogue",
    "InputRegister",
    "Lowered",
    "OwnConstant",
    "lower_pixel",
    "lower_vertex",
    "overlaid",
]


def lower_vertex(shader: Shader) -> Lowered:
    """A vertex program of inputs ``v<register>.<c>`` (``InputRegister``) and varyings by name.

    Raises ShaderError if blocks nest too deep once calls are expanded.
    """
    low = Lowering(shader, Bound())
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
    """A pixel program of varyings by name, and of outputs ``target<n>.<c>`` and ``depth.x``.

    ``sampler_kinds`` tells what is bound to samplers that no dcl describes, two-dimensional if
    not told, and which of those declared so have depths to compare with.  ``projections`` has for
    stages with D3DTTFF_PROJECTED the component, 1 to 3, that
    coordinates are divided by, which ps_1_0 to ps_1_3 leave to the stage.  ``epilogue`` is
    applied to the colour of the first target before 3.0: fog.

    Raises ShaderError if blocks nest too deep once calls are expanded.
    """
    low = Lowering(shader, Bound(sampler_kinds or {}, projections or {}))
    store_inputs(low)
    lower_body(low, low.parts.main)
    return _lowered(low, pixel_outputs(low, epilogue))


def _lowered(low: Lowering, outputs: tuple[str, ...]) -> Lowered:
    own = (OwnConstant(r.file.value, r.number, words) for r, words in low.own.items())
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
    """Registers with the usage of each, or with each usage if its components have several."""
    found: set[InputRegister] = set()
    for register in low.read:
        declared = {c for r, c in low.usages if r == register}
        found.update(low.input_register(register, c) for c in declared or {0})
    return tuple(sorted(found, key=lambda each: (each.register, each.usage or 0, each.index)))
