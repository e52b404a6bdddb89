"""The samplers of a draw: its textures behind what the shading engine samples with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dp2emu.gpu.packets import TextureBinding, Textures, Uniforms
from dp2emu.gpu.state import Samplers
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.reference import run
from dp2emu.shader.texture.bindings import level_rows, limits_of, linear_light, numbers_of
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import COMPONENTS, sampler_program
from dp2emu.shader.types import F32, Mask

_ZERO, _ONE = np.zeros(1, np.float32), np.ones(1, np.float32)
_ABSENT = (_ZERO, _ZERO, _ZERO, _ONE)
"""What a sampler without a texture gives, or with one of another kind than the program says."""

_ARGUMENTS = {Lod.IMPLICIT: (), Lod.BIAS: ("lod",), Lod.EXPLICIT: ("lod",),
              Lod.GRADIENT: ("ddx", "ddy")}  # fmt: skip
_NO_PALETTE = np.zeros(256, np.int32)


@dataclass(frozen=True, slots=True)
class Unit:
    """One sampler: the key of its program, and what that reads."""

    key: SamplerKey
    files: Uniforms

    @classmethod
    def of(cls, key: SamplerKey, binding: TextureBinding) -> Unit:
        """The texture as it lies in memory now."""
        surface, palette = binding.surface, binding.palette
        rows = [
            (at.offset, at.pitch, at.slice_pitch, at.width, at.height, at.depth)
            for at in surface.subresources
        ]
        first = max(binding.max_level, binding.most_detailed)
        return cls(key, {
            "texels": surface.words,
            "levels": level_rows(rows),
            "numbers": numbers_of(binding.lod_bias, binding.border),
            "limits": limits_of(surface.desc.levels, first, binding.color_key),
            "palette": _NO_PALETTE if palette is None else palette.view(np.int32),
            "linear": linear_light(),
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Texturing:
    """What programs of one stage sample with: ``shader.reference.Sampler``."""

    stage: Stage
    units: Mapping[int, Unit]

    @classmethod
    def of(cls, stage: Stage, samplers: Samplers, textures: Textures) -> Texturing:
        """The samplers of a pipeline that have a texture."""
        found = {n: Unit.of(key, textures[n]) for n, key in samplers if n in textures}
        return cls(stage, found)

    def __call__(
        self,
        sampler: int,
        kind: TextureKind,
        coordinates: tuple[F32, ...],
        lod: Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        """All lanes are sampled, active or not: differences in a quad are of them all."""
        unit = self.units.get(sampler)
        if unit is None or unit.key.kind is not kind:
            return _ABSENT
        program = sampler_program(unit.key, lod, self.stage)
        inputs = _named("coordinate", coordinates)
        size = len(arguments) // max(len(_ARGUMENTS[lod]), 1)
        for place, name in enumerate(_ARGUMENTS[lod]):
            inputs |= _named(name, arguments[place * size : (place + 1) * size])
        outputs = run(program, inputs, unit.files, len(coordinates[0])).outputs
        red, green, blue, alpha = (outputs[f"texel.{component}"] for component in COMPONENTS)
        return red, green, blue, alpha


def _named(name: str, values: tuple[F32, ...]) -> dict[str, F32]:
    return {f"{name}.{COMPONENTS[place]}": value for place, value in enumerate(values)}
