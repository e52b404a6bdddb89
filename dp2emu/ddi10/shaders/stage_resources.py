"""Textures, buffers and samplers of a stage, as the units of its shader read them.

Source: D3D10_FILTER documentation; SM4-5 tokens, "Reading resources".  What a shader says to be of
another kind than what is bound counts as not bound, and so reads 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, TextureAddress, TextureFilter
from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.resources.resource import ResourceType
from dp2emu.ddi10.resources.views import BufferExFlag, ShaderView
from dp2emu.ddi10.shaders.stages import Stage
from dp2emu.ddi10.states.state_objects import SamplerDesc
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import TextureBinding, Uniforms
from dp2emu.gpu.command.pipeline import Samplers
from dp2emu.gpu.resource.heap import Surface
from dp2emu.records import dataclass
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.resources import SHAPES, Dimension, Unit
from dp2emu.shader.texture.bindings import MAX_LEVELS
from dp2emu.shader.texture.records import MAX_ANISOTROPY, SamplerKey

_MIP_LINEAR, _MAG_LINEAR, _MIN_LINEAR, _ANISOTROPIC, _COMPARISON = 0x01, 0x04, 0x10, 0x40, 0x80


_EVERY_LINEAR = _MIP_LINEAR | _MAG_LINEAR | _MIN_LINEAR
"""Bits of D3D10_FILTER; with ``_ANISOTROPIC`` all three are linear."""

_KINDS: dict[Dimension, tuple[ResourceType, TextureKind]] = {
    Dimension.BUFFER: (ResourceType.BUFFER, TextureKind.TEX2D),
    Dimension.RAW_BUFFER: (ResourceType.BUFFER, TextureKind.TEX2D),
    Dimension.STRUCTURED_BUFFER: (ResourceType.BUFFER, TextureKind.TEX2D),
    Dimension.TEXTURE1D: (ResourceType.TEXTURE1D, TextureKind.TEX2D),
    Dimension.TEXTURE1DARRAY: (ResourceType.TEXTURE1D, TextureKind.TEX2D),
    Dimension.TEXTURE2D: (ResourceType.TEXTURE2D, TextureKind.TEX2D),
    Dimension.TEXTURE2DARRAY: (ResourceType.TEXTURE2D, TextureKind.TEX2D),
    Dimension.TEXTURE2DMS: (ResourceType.TEXTURE2D, TextureKind.TEX2D),
    Dimension.TEXTURE2DMSARRAY: (ResourceType.TEXTURE2D, TextureKind.TEX2D),
    Dimension.TEXTURE3D: (ResourceType.TEXTURE3D, TextureKind.VOLUME),
    Dimension.TEXTURECUBE: (ResourceType.TEXTURECUBE, TextureKind.CUBE),
    Dimension.TEXTURECUBEARRAY: (ResourceType.TEXTURECUBE, TextureKind.CUBE),
}


_OF_SAMPLES = (Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY)


_UNTYPED = (Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER)


@dataclass(frozen=True)
class Read:
    """The samplers of a stage for the GPU, and their textures, by number of the unit."""

    samplers: Samplers
    textures: Mapping[int, TextureBinding]


NOTHING = Read((), {})


def read(
    units: Sequence[Unit],
    views: Mapping[int, ShaderView],
    samplers: Mapping[int, SamplerDesc],
) -> Read:
    """What is bound for the units.  Raises Unsupported for filters that are not built."""
    found = list(_read(units, views, samplers))
    if not found:
        return NOTHING
    return Read(
        tuple((number, key) for number, key, _ in found),
        {number: binding for number, _, binding in found},
    )


def _read(
    units: Sequence[Unit],
    views: Mapping[int, ShaderView],
    samplers: Mapping[int, SamplerDesc],
) -> Iterator[tuple[int, SamplerKey, TextureBinding]]:
    for number, unit in enumerate(units):
        view = views.get(unit.resource) if unit.resource is not None else None
        if view is None or unit.dimension is None or not _fits(unit.dimension, view):
            continue
        desc = samplers.get(unit.sampler) if unit.sampler is not None else None
        yield number, *_bound(unit, unit.dimension, view, desc or SamplerDesc())


def _fits(dimension: Dimension, view: ShaderView) -> bool:
    """Whether a view is what a shader declares; buffers may also be viewed as raw or structured
    ones.
    """
    if view.resource.is_buffer:
        raw = bool(view.flags & BufferExFlag.RAW)
        wanted = Dimension.RAW_BUFFER if raw else Dimension.BUFFER
        return dimension is (wanted if view.format else Dimension.STRUCTURED_BUFFER)
    several = view.resource.surface.samples > 1
    return _KINDS[dimension][0] == view.dimension and (not several or dimension in _OF_SAMPLES)


def _bound(
    unit: Unit, dimension: Dimension, view: ShaderView, desc: SamplerDesc
) -> tuple[SamplerKey, TextureBinding]:
    red, green, blue, alpha = desc.BorderColor
    least = _least_lod(view)
    binding = TextureBinding(
        view.surface(),
        lod_bias=desc.MipLODBias,
        border=(red, green, blue, alpha),
        lods=(max(desc.MinLOD, least), max(desc.MaxLOD, least)),
        most_detailed=int(least),
        stride=view.stride,
    )
    return _key(unit, dimension, view, desc), binding


def _least_lod(view: ShaderView) -> float:
    """What SetResourceMinLOD said, counted from the view's most detailed level."""
    return min(max(view.resource.min_lod - view.levels.start, 0.0), MAX_LEVELS)


def _key(unit: Unit, dimension: Dimension, view: ShaderView, desc: SamplerDesc) -> SamplerKey:
    known = view.format if dimension not in _UNTYPED else None
    format = known or DxgiFormat.R32_UINT
    magnifying, minifying, mipmapping = _filters(desc.Filter)
    # Of other filters the most probes must not make a sampler of its own.
    probes = desc.MaxAnisotropy if minifying is TextureFilter.ANISOTROPIC else 1
    u, v, w = map(TextureAddress, (desc.AddressU, desc.AddressV, desc.AddressW))
    return SamplerKey(
        _KINDS[dimension][1],
        format,
        (u, v, w),
        magnifying,
        minifying,
        mipmapping,
        anisotropy=min(max(probes, 1), MAX_ANISOTROPY),
        srgb=ROWS[format].srgb,
        levels=len(view.levels) > 1,
        layers=SHAPES[dimension].slices,
        compare=CmpFunc(desc.ComparisonFunc) if unit.comparison else None,
        offset=unit.texel,
        ranged=max(desc.MinLOD, _least_lod(view)) > 0 or desc.MaxLOD < MAX_LEVELS,
        ties=TextureFilter.POINT in (magnifying, minifying),
        seams=_KINDS[dimension][1] is TextureKind.CUBE,
    )


def _filters(bits: int) -> tuple[TextureFilter, TextureFilter, TextureFilter]:
    """To magnify, to minify and between levels; that it compares is what the shader says."""
    plain = bits & ~_COMPARISON
    if plain & ~(_EVERY_LINEAR | _ANISOTROPIC):
        raise Unsupported(f"D3D10_FILTER {bits:#x}")
    if plain & _ANISOTROPIC:
        return TextureFilter.LINEAR, TextureFilter.ANISOTROPIC, TextureFilter.LINEAR
    magnifying, minifying, mipmapping = (
        TextureFilter.LINEAR if plain & bit else TextureFilter.POINT
        for bit in (_MAG_LINEAR, _MIN_LINEAR, _MIP_LINEAR)
    )
    return magnifying, minifying, mipmapping


# What the shaders of stages read: units with their textures, uniforms, constant buffers.
#
# Source: Direct3D 10 and 11 documentation of shader resources and constant buffers.


class Reading:
    """What the shader of a stage reads.  Mutable: it remembers what that was last."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._read: Kept[Read] = Kept()
        self._uniforms: Kept[Uniforms] = Kept()

    def read(self) -> Read:
        """Its textures, buffers and samplers."""
        stage, shader = self._stage, self._stage.shader
        if shader is None:
            return NOTHING
        units = shader.lowered.units
        views = [stage.resources.get(unit.resource or 0) for unit in units]
        memory = [view and view.resource.surface for view in views]
        least = [view and view.resource.min_lod for view in views]
        samplers = [stage.samplers.get(unit.sampler or 0) for unit in units]
        return self._read.of(
            (shader, *views, *memory, *least, *samplers),
            lambda: read(units, stage.resources, stage.samplers),
        )

    def uniforms(self) -> Uniforms:
        """What it has of its own; constant buffers are read when the GPU gets to a draw."""
        shader = self._stage.shader
        if shader is None:
            return {}
        return self._uniforms.of((shader,), lambda: shader.uniforms({}))


def constants(stage: Stage) -> dict[str, Surface]:
    """The constant buffers of a stage, by the file that they are."""
    return {f"cb{slot}": found.surface for slot, found in stage.constants.items()}
