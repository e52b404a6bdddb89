"""Fixed-function work as generators of programs, keyed by frozen records."""

from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.fixed.cascade import (
    CURRENT,
    Argument,
    Combination,
    FixedPixel,
    TextureStage,
)
from dp2emu.shader.fixed.fog import Fog, FogSource, blend_fog, fog_uniforms
from dp2emu.shader.fixed.operations import arguments_of, reads_texture
from dp2emu.shader.fixed.pixel import pixel_program, stage_uniforms
from dp2emu.shader.fixed.records import (
    FixedState,
    FixedVertex,
    IndexForm,
    Light,
    Lighting,
    Material,
    TextureOutput,
    material_source,
)
from dp2emu.shader.fixed.uniforms import vertex_uniforms
from dp2emu.shader.fixed.vertex import vertex_program

__all__ = [
    "CURRENT",
    "Argument",
    "BlendEquation",
    "BlendState",
    "Combination",
    "FixedPixel",
    "FixedState",
    "FixedVertex",
    "Fog",
    "FogSource",
    "IndexForm",
    "Light",
    "Lighting",
    "Material",
    "TextureOutput",
    "TextureStage",
    "arguments_of",
    "blend_fog",
    "fog_uniforms",
    "material_source",
    "pixel_program",
    "reads_texture",
    "stage_uniforms",
    "vertex_program",
    "vertex_uniforms",
]
