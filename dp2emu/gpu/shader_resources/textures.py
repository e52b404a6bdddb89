"""Textures and samplers of a draw, bound to the programs that sample them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.bindings import TextureBinding, Textures, Uniforms
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import Samplers
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.resource.pixel_format import floats_of
from dp2emu.gpu.shader_resources.texture_cache import TextureCache
from dp2emu.identity_cache import identity_cached
from dp2emu.shader.builder import Builder
from dp2emu.shader.ir import Lod, Stage, TextureKind
from dp2emu.shader.reference import Run
from dp2emu.shader.reference import run as run_reference
from dp2emu.shader.sampling import COMPONENTS, BoundProgram, ports
from dp2emu.shader.texture.bindings import (
    level_rows,
    limits_of,
    sampler_numbers,
    srgb_to_linear_table,
    weights_of,
)
from dp2emu.shader.texture.block_decoder import BLOCK_TABLES
from dp2emu.shader.texture.fields import row_of
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.texture.sampler import sampler_program
from dp2emu.shader.types import F32, I32, Mask

if TYPE_CHECKING:
    from dp2emu.shader.resources import Unit

_ZERO, _ONE = np.zeros(1, np.float32), np.ones(1, np.float32)

_ABSENT = (_ZERO, _ZERO, _ZERO, _ONE)
"""Opaque black: what a sampler returns before Direct3D 10 without a texture, or with a texture of
another kind than the shader declares."""
_UNBOUND = (_ZERO, _ZERO, _ZERO, _ZERO)
"""Four zeros: what a sampler returns in Direct3D 10 without a texture, or with a texture of
another kind than the shader declares."""

_NO_PALETTE = np.zeros(256, np.int32)
_NO_TABLE = np.zeros(0, np.float32)


class TextureUnit(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """A sampler with its texture: the key of the sampler program, the program's uniform files, and
    the serial number of the texture.
    """

    key: SamplerKey
    files: Uniforms
    texture: int

    @classmethod
    def of(cls, key: SamplerKey, binding: TextureBinding, words: I32) -> TextureUnit:
        """Return the sampler of a bound texture; ``words`` are the texture's, or a copy of them.

        Raises Unsupported for formats that cannot be sampled.
        """
        row_of(key)
        surface = binding.surface
        if surface.samples > 1 and surface.desc.dxgi is None:
            raise Unsupported("textures of several samples")
        rows = [
            (at.offset, at.pitch, at.slice_pitch, at.width, at.height, at.depth)
            for at in surface.subresources
        ]
        first, desc = max(binding.max_level, binding.most_detailed), surface.desc
        return cls(key, {
            "texels": words,
            "levels": level_rows(rows),
            "numbers": sampler_numbers(binding.lod_bias, floats_of(binding.border), binding.lods),
            "limits": limits_of(
                desc.levels, first, binding.color_key, desc.layers, surface.samples
            ),
            "palette": _palette(key, binding),
            "linear": srgb_to_linear_table() if key.srgb else _NO_TABLE,
            "weights": weights_of() if binding.weights is None else binding.weights,
        }, surface.serial)  # fmt: skip


def _palette(key: SamplerKey, binding: TextureBinding) -> I32:
    """Return uniform file ``palette``: the palette, or the tables of a block format."""
    if key.format in BLOCK_TABLES:
        return BLOCK_TABLES[key.format]()
    return _NO_PALETTE if binding.palette is None else binding.palette.view(np.int32)


class Texturing(msgspec.Struct, frozen=True):
    """The textures of a draw or stage: stage -> sampler number -> sampler with its texture.

    ``cache``, if set, counts each texel read; ``run`` is the engine of sampler programs.
    ``read_units`` are the resource reads of Direct3D 10 shaders, whose missing textures read as 0.
    """

    units: Mapping[Stage, Mapping[int, TextureUnit]]
    cache: TextureCache | None = None
    run: Run = run_reference
    read_units: Mapping[Stage, tuple[Unit, ...]] = msgspec.field(default_factory=dict)

    @classmethod
    def of(
        cls, draw: Draw, cache: TextureCache | None = None, run: Run = run_reference
    ) -> Texturing:
        """Return the textures of a draw; a texture that is also drawn to is sampled as it was
        before the draw.  Raises Unsupported for formats that cannot be sampled.
        """
        pipeline = draw.pipeline
        reads = {Stage.VERTEX: pipeline.vertex_units, Stage.PIXEL: pipeline.units}
        read_units = {stage: units for stage, units in reads.items() if units}
        if not (read_units or draw.pixel.textures or draw.vertex.textures):
            return cls(_NOTHING_BOUND, cache, run)
        before = texels_before(draw)
        units = {
            Stage.VERTEX: _units(pipeline.vertex_samplers, draw.vertex.textures, before),
            Stage.PIXEL: _units(pipeline.samplers, draw.pixel.textures, before),
        }
        return cls(units, cache, run, read_units)

    @classmethod
    def alone(cls, bound: StageProgram, stage: Stage, run: Run) -> Texturing:
        """Return the textures of a program that runs outside a draw, such as a compute shader.

        Raises Unsupported for formats that cannot be sampled.
        """
        units = _units(bound.samplers, bound.textures, {})
        return cls({stage: units}, None, run, {stage: bound.units})


class StageSampler(msgspec.Struct, frozen=True):
    """The sampling callback of a shader stage's programs, by the textures of ``texturing``."""

    texturing: Texturing
    stage: Stage

    def bound(self, sampler: int, kind: TextureKind, lod: Lod) -> BoundProgram:
        """Return the program that reads a sampler's texture; it is constant without a texture."""
        unit = self._unit(sampler, kind)
        if unit is None:
            return _nothing(tuple(float(value[0]) for value in self._absent))
        return _sampled(unit, lod, self.stage)

    def __call__(
        self,
        sampler: int,
        kind: TextureKind,
        coordinates: tuple[F32, ...],
        lod: Lod,
        arguments: tuple[F32, ...],
        active: Mask | None,
    ) -> tuple[F32, F32, F32, F32]:
        """Sample all lanes, inactive ones included, since derivatives need whole quads."""
        unit, cache = self._unit(sampler, kind), self.texturing.cache
        if unit is None:
            return self._absent
        bound, lanes = self.bound(sampler, kind, lod), len(coordinates[0])
        inputs = dict(zip(ports(kind, lod), coordinates + arguments, strict=True))
        reads = None if cache is None else Reads(lanes, active)
        outputs = self.texturing.run(
            bound.program, inputs, bound.uniforms, lanes, watch=reads
        ).outputs
        if cache is not None and reads is not None:
            cache.look_up(unit.texture, reads.words(len(unit.files["texels"])))
        red, green, blue, alpha = (outputs[f"texel.{component}"] for component in COMPONENTS)
        return red, green, blue, alpha

    @property
    def _absent(self) -> tuple[F32, F32, F32, F32]:
        return _UNBOUND if self.texturing.read_units.get(self.stage) else _ABSENT

    def _unit(self, sampler: int, kind: TextureKind) -> TextureUnit | None:
        unit = self.texturing.units[self.stage].get(sampler)
        return unit if unit is not None and unit.key.kind is kind else None


@lru_cache(maxsize=2)
def _nothing(values: tuple[float, ...]) -> BoundProgram:
    """Return a sampler program whose result is the four constant ``values``."""
    b = Builder(Stage.PIXEL)
    for component, value in zip(COMPONENTS, values, strict=True):
        b.output(f"texel.{component}", value)
    return BoundProgram(b.program(), {})


_NOTHING_BOUND: Mapping[Stage, Mapping[int, TextureUnit]] = {Stage.VERTEX: {}, Stage.PIXEL: {}}


def texels_before(draw: Draw) -> dict[int, I32]:
    """Copy the memory that a draw both samples and writes.

    Keys are the ``id`` of the original arrays of words.
    """
    return {id(words): words.copy() for words in _shared(draw)}


def samples_targets(draw: Draw) -> bool:
    """Whether a draw samples memory that it also writes."""
    return bool(_shared(draw))


def _shared(draw: Draw) -> list[I32]:
    """Return the arrays of words that a draw both samples and writes, without duplicates."""
    targets = {id(s.words) for s in (*draw.output.colors, draw.output.depth) if s is not None}
    bound = (*draw.pixel.textures.values(), *draw.vertex.textures.values())
    read = {id(binding.surface.words): binding.surface.words for binding in bound}
    return [words for number, words in read.items() if number in targets]


def _units(
    samplers: Samplers, textures: Textures, before: dict[int, I32]
) -> dict[int, TextureUnit]:
    units = {}
    for number, key in samplers:
        binding = textures.get(number)
        if binding is not None:
            copy = before.get(id(binding.surface.words)) if before else None
            units[number] = (
                _bound(binding, key) if copy is None else TextureUnit.of(key, binding, copy)
            )
    return units


@identity_cached()
def _bound(binding: TextureBinding, key: SamplerKey) -> TextureUnit:
    """Return a sampler with its texture, not copied since the draw does not write to it."""
    return TextureUnit.of(key, binding, binding.surface.words)


@identity_cached()
def _sampled(unit: TextureUnit, lod: Lod, stage: Stage) -> BoundProgram:
    return BoundProgram(sampler_program(unit.key, lod, stage), unit.files)


class Reads:
    """Callback that records which 32-bit texture words each lane of a program reads.  Mutable."""

    def __init__(self, lanes: int, active: Mask | None) -> None:
        self._lanes = lanes
        self._active = active
        self._found: list[I64] = []

    def __call__(self, file: str, index: I64, active: Mask | None) -> None:
        if file == "texels":
            on = np.ones(1, np.bool_) if active is None else active
            if self._active is not None:
                on = on & self._active
            self._found.append(np.broadcast_to(np.where(on, index, -1), self._lanes))

    def words(self, count: int) -> I64:
        """Return the recorded word indices below ``count``: all reads of lane 0 in order, and so
        on.
        """
        if not self._found:
            return np.zeros(0, np.int64)
        words = np.stack(self._found, axis=1).ravel()
        return words[(words >= 0) & (words < count)]
