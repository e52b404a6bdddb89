"""Textures, buffers and samplers of a stage, resolved for the units of its shader.

Source: D3D10_FILTER documentation; SM4-5 tokens, "Reading resources".  A view of another kind than
the shader declares counts as unbound, and reads 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.enums import CmpFunc, TextureAddress, TextureFilter
from dp2emu.ddi10.resources.resource import ResourceType
from dp2emu.ddi10.resources.views import BufferExFlag, ShaderView
from dp2emu.ddi10.shaders.shader import Shader
from dp2emu.ddi10.shaders.stages import Stage
from dp2emu.ddi10.states.state_objects import SamplerDesc
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import ConstantRange, TextureBinding, Uniforms
from dp2emu.gpu.command.packets import ShaderBindings
from dp2emu.gpu.command.pipeline import Samplers
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.resource.heap import Surface
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader.ir import TextureKind
from dp2emu.shader.resources import ADDRESS_SHAPES, Dimension, Unit
from dp2emu.shader.texture.bindings import MAX_LEVELS
from dp2emu.shader.texture.records import MAX_ANISOTROPY, SamplerKey

_MIP_LINEAR, _MAG_LINEAR, _MIN_LINEAR, _ANISOTROPIC, _COMPARISON = 0x01, 0x04, 0x10, 0x40, 0x80

_EVERY_LINEAR = _MIP_LINEAR | _MAG_LINEAR | _MIN_LINEAR
"""Bits of D3D10_FILTER for linear minification, magnification and mip filters.

The anisotropic bit implies them."""

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

_MULTISAMPLED = (Dimension.TEXTURE2DMS, Dimension.TEXTURE2DMSARRAY)
_UNTYPED = (Dimension.RAW_BUFFER, Dimension.STRUCTURED_BUFFER)


class UnitBindings(msgspec.Struct, frozen=True):
    """Bindings of read units: (unit number, sampler key) pairs, and textures by unit number."""

    samplers: Samplers
    textures: Mapping[int, TextureBinding]


NO_UNITS = UnitBindings((), {})


def bind_units(
    units: Sequence[Unit], views: Mapping[int, ShaderView], samplers: Mapping[int, SamplerDesc]
) -> UnitBindings:
    """Bind read units to views and samplers, by slot; Unsupported for unknown filters."""
    keys: list[tuple[int, SamplerKey]] = []
    textures: dict[int, TextureBinding] = {}
    for number, unit in enumerate(units):
        view = views.get(unit.resource) if unit.resource is not None else None
        if view is None or unit.dimension is None or not _fits(unit.dimension, view):
            continue
        desc = samplers.get(unit.sampler) if unit.sampler is not None else None
        key, textures[number] = _bind(unit, unit.dimension, view, desc or SamplerDesc())
        keys.append((number, key))
    return UnitBindings(tuple(keys), textures) if keys else NO_UNITS


def _fits(dimension: Dimension, view: ShaderView) -> bool:
    """Whether a bound view has the ``dimension`` that the shader declares for its register."""
    if view.resource.is_buffer:
        raw = bool(view.flags & BufferExFlag.RAW)
        wanted = Dimension.RAW_BUFFER if raw else Dimension.BUFFER
        return dimension is (wanted if view.format else Dimension.STRUCTURED_BUFFER)
    several = view.resource.surface.samples > 1
    return _KINDS[dimension][0] == view.dimension and (not several or dimension in _MULTISAMPLED)


def _bind(
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
    """The resource's minimum LOD (SetResourceMinLOD) relative to the view's first level."""
    return min(max(view.resource.min_lod - view.levels.start, 0.0), MAX_LEVELS)


def _key(unit: Unit, dimension: Dimension, view: ShaderView, desc: SamplerDesc) -> SamplerKey:
    typed = view.format if dimension not in _UNTYPED else None
    format = typed or DxgiFormat.R32_UINT
    magnifying, minifying, mipmapping = _filters(desc.Filter)
    # MaxAnisotropy is part of the key for anisotropic filters only, so that others share code.
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
        layers=ADDRESS_SHAPES[dimension].slices,
        compare=CmpFunc(desc.ComparisonFunc) if unit.comparison else None,
        offset=unit.texel,
        ranged=max(desc.MinLOD, _least_lod(view)) > 0 or desc.MaxLOD < MAX_LEVELS,
        ties=TextureFilter.POINT in (magnifying, minifying),
        seams=_KINDS[dimension][1] is TextureKind.CUBE,
    )


def _filters(bits: int) -> tuple[TextureFilter, TextureFilter, TextureFilter]:
    """Magnification, minification and mip filters of a D3D10_FILTER.

    The comparison bit is ignored: the shader's instruction decides whether to compare.
    """
    filters = bits & ~_COMPARISON
    if filters & ~(_EVERY_LINEAR | _ANISOTROPIC):
        raise Unsupported(f"D3D10_FILTER {bits:#x}")
    if filters & _ANISOTROPIC:
        return TextureFilter.LINEAR, TextureFilter.ANISOTROPIC, TextureFilter.LINEAR
    magnifying, minifying, mipmapping = (
        TextureFilter.LINEAR if filters & bit else TextureFilter.POINT
        for bit in (_MAG_LINEAR, _MIN_LINEAR, _MIP_LINEAR)
    )
    return magnifying, minifying, mipmapping


class StageResources:
    """Finds the resources that the shader of ``stage`` uses, among those bound to the stage.

    Mutable: it caches the result for the last draw.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._units: IdentityCache[UnitBindings] = IdentityCache(1)
        self._uniforms: IdentityCache[Uniforms] = IdentityCache(1)

    def units(self) -> UnitBindings:
        """The textures, buffers and samplers of the shader's units."""
        stage, shader = self._stage, self._stage.shader
        if shader is None:
            return NO_UNITS
        units = shader.lowered.units
        views = [stage.resources.get(unit.resource or 0) for unit in units]
        memory = [view and view.resource.surface for view in views]
        least = [view and view.resource.min_lod for view in views]
        samplers = [stage.samplers.get(unit.sampler or 0) for unit in units]
        return self._units.of(
            (shader, *views, *memory, *least, *samplers),
            lambda: bind_units(units, stage.resources, stage.samplers),
        )

    def uniforms(self) -> Uniforms:
        """The uniform files that the shader itself defines, such as its immediate constants.

        Constant buffers are not included: the GPU reads them when it executes a draw.
        """
        shader = self._stage.shader
        if shader is None:
            return {}
        return self._uniforms.of((shader,), lambda: shader.uniforms({}))

    def bindings(self, units: UnitBindings) -> ShaderBindings:
        """The stage's uniforms, textures and constant buffers for a draw."""
        return ShaderBindings(self.uniforms(), units.textures, constant_buffers(self._stage))

    def program(self, shader: Shader) -> StageProgram:
        """``shader``, which is bound to the stage, together with the resources that it uses."""
        return _program(self._stage, shader, self.units(), self.uniforms())


def phase_program(stage: Stage, shader: Shader) -> StageProgram:
    """The program of a hull shader phase or domain shader, with the resources that it uses."""
    units = bind_units(shader.lowered.units, stage.resources, stage.samplers)
    return _program(stage, shader, units, shader.uniforms({}))


def _program(
    stage: Stage, shader: Shader, bound: UnitBindings, uniforms: Uniforms
) -> StageProgram:
    units = shader.lowered.units
    buffers = constant_buffers(stage)
    return StageProgram(shader.program, uniforms, buffers, bound.textures, bound.samplers, units)


def constant_buffers(stage: Stage) -> dict[str, Surface | ConstantRange]:
    """Memory of the constant buffers bound to a stage, by uniform file name: ``cb<slot>``."""
    found: dict[str, Surface | ConstantRange] = {
        f"cb{slot}": buffer.surface for slot, buffer in stage.constants.items()
    }
    for slot, (first, count) in stage.ranges.items():
        found[f"cb{slot}"] = ConstantRange(stage.constants[slot].surface, first, count)
    return found
