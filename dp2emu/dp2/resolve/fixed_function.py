"""Keys and uniforms of the fixed-function vertex stage and of fog, from raw state.

Sources: the Direct3D 9 documentation of the states.  A state out of range is clamped to the
nearest meaning, as drivers do; an unknown enumeration member is a Fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from dp2emu.d3d.enums import (
    DeclType,
    DeclUsage,
    FogMode,
    LightType,
    MaterialColorSource,
    RenderState,
    TexGen,
    TextureStageState,
    TransformState,
    VertexBlend,
)
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import SdkEnum
from dp2emu.d3d.vertices import ElementType, VertexLayout
from dp2emu.dp2.states.raw_state import State, bits_float
from dp2emu.errors import Fault
from dp2emu.shader.fixed.fog import Fog, FogSource, fog_uniforms
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
from dp2emu.shader.types import F32

_E = TypeVar("_E", bound=SdkEnum)
_Usages = frozenset[tuple[DeclUsage, int]]
_Quad = tuple[float, float, float, float]
_Triple = tuple[float, float, float]

_BLACK: _Quad = (0.0, 0.0, 0.0, 0.0)
_MATERIAL = Material((1.0, 1.0, 1.0, 1.0), _BLACK, _BLACK, _BLACK, 0.0)
"""The default material: it reflects all diffuse light and nothing else."""
_AFFINE = (0.0, 0.0, 0.0, 1.0)
_SET_MASK, _GENERATOR_MASK, _COUNT_MASK = 0xFFFF, 0xFFFF0000, 0xFF
_SIZES: dict[ElementType, int] = {
    DeclType.FLOAT1: 1,
    DeclType.FLOAT2: 2,
    DeclType.FLOAT3: 3,
    DeclType.SHORT2: 2,
    DeclType.SHORT2N: 2,
    DeclType.USHORT2N: 2,
    DeclType.FLOAT16_2: 2,
}
"""Vertex element type -> number of its components, for types with fewer than four."""


def enum_state(enum: type[_E], states: Sequence[int], state: RenderState) -> _E:
    """The enumeration member in a render state.  Raises Fault for an unknown value."""
    try:
        return enum(states[state])
    except ValueError:
        what = f"{state.sdk} is {states[state]}, which is no {enum.__name__}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what) from None


def float_state(state: State, number: RenderState) -> float:
    """The float32 value of a render state."""
    return bits_float(state.render_states[number])


# The key of the vertex program


def fixed_vertex(state: State, layout: VertexLayout, textures: int) -> FixedVertex:
    """The key of the vertex program for vertices of ``layout``.

    ``textures`` is the number of texture coordinate sets that the pixel program reads.
    """
    states = state.render_states
    usages = frozenset((element.usage, element.index) for element in layout.elements)
    blend = states[RenderState.VERTEXBLEND]
    tween = blend == VertexBlend.D3DVBF_TWEENING
    return FixedVertex(
        normal=(DeclUsage.NORMAL, 0) in usages,
        diffuse=(DeclUsage.COLOR, 0) in usages,
        specular=(DeclUsage.COLOR, 1) in usages,
        point_size=(DeclUsage.PSIZE, 0) in usages,
        lighting=_lighting(state, usages) if states[RenderState.LIGHTING] else None,
        normalize=bool(states[RenderState.NORMALIZENORMALS]),
        weights=0 if tween else min(blend & 0xFF, 3),
        indices=_index_form(state, layout),
        tween=tween,
        fog=_vertex_fog(state),
        range_fog=bool(states[RenderState.RANGEFOGENABLE]),
        textures=tuple(_texture(state, layout, stage) for stage in range(textures)),
        point_scale=bool(states[RenderState.POINTSCALEENABLE]),
        clip_planes=len(clip_planes(state)),
    )


def _lighting(state: State, usages: _Usages) -> Lighting:
    states = state.render_states
    kinds = [light.type for light in _lights(state)]
    count = {kind: kinds.count(kind) for kind in LightType}

    def source(number: RenderState) -> MaterialColorSource:
        return material_source(
            enum_state(MaterialColorSource, states, number),
            color_vertex=bool(states[RenderState.COLORVERTEX]),
            diffuse=(DeclUsage.COLOR, 0) in usages,
            specular=(DeclUsage.COLOR, 1) in usages,
        )

    return Lighting(
        points=count[LightType.POINT],
        spots=count[LightType.SPOT],
        directionals=count[LightType.DIRECTIONAL],
        specular=bool(states[RenderState.SPECULARENABLE]),
        local_viewer=bool(states[RenderState.LOCALVIEWER]),
        diffuse_source=source(RenderState.DIFFUSEMATERIALSOURCE),
        ambient_source=source(RenderState.AMBIENTMATERIALSOURCE),
        specular_source=source(RenderState.SPECULARMATERIALSOURCE),
        emissive_source=source(RenderState.EMISSIVEMATERIALSOURCE),
    )


def _index_form(state: State, layout: VertexLayout) -> IndexForm:
    enabled = state.render_states[RenderState.INDEXEDVERTEXBLENDENABLE]
    if not enabled or not state.render_states[RenderState.VERTEXBLEND]:
        return IndexForm.NONE
    types = {e.delivered for e in layout.elements if e.usage is DeclUsage.BLENDINDICES}
    if not types:
        return IndexForm.NONE
    return IndexForm.COLOR if DeclType.D3DCOLOR in types else IndexForm.BYTES


def _texture(state: State, layout: VertexLayout, stage: int) -> TextureOutput:
    row = state.stages[stage]
    index, flags = (
        row[TextureStageState.TEXCOORDINDEX],
        row[TextureStageState.TEXTURETRANSFORMFLAGS],
    )
    number = min(index & _SET_MASK, 7)
    wanted = (DeclUsage.TEXCOORD, number)
    found = [e.delivered for e in layout.elements if (e.usage, e.index) == wanted]
    try:
        generator = TexGen(index & _GENERATOR_MASK)
    except ValueError:
        what = f"D3DTSS_TEXCOORDINDEX of stage {stage} is {index:#x}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what) from None
    components = _SIZES.get(found[0], 4) if found else 0
    count = min(flags & _COUNT_MASK, 4)
    # D3DTTFF_COUNT1 leaves coordinates alone, as public tests of the runtimes have found.
    return TextureOutput(generator, number, components, count if count > 1 else 0)


def coordinates_given(state: State, layout: VertexLayout, stage: int) -> int:
    """Number of coordinates that vertices have for a texture stage; 4 if they are generated or
    missing.
    """
    index = state.stages[stage][TextureStageState.TEXCOORDINDEX]
    wanted = (DeclUsage.TEXCOORD, min(index & _SET_MASK, 7))
    found = [e.delivered for e in layout.elements if (e.usage, e.index) == wanted]
    if not found or index & _GENERATOR_MASK:
        return 4
    return _SIZES.get(found[0], 4)


# The uniforms of the vertex program


def fixed_state(state: State) -> FixedState:
    """The state from which the uniforms of the vertex program are computed."""
    scale = (
        float_state(state, RenderState.POINTSCALE_A),
        float_state(state, RenderState.POINTSCALE_B),
        float_state(state, RenderState.POINTSCALE_C),
    )
    return FixedState(
        transforms=dict(state.transforms),
        lights=_lights(state),
        material=_MATERIAL if state.material is None else _material(state.material),
        ambient=color(state.render_states[RenderState.AMBIENT]),
        fog=_fog_numbers(state),
        tween=float_state(state, RenderState.TWEENFACTOR),
        point_size=float_state(state, RenderState.POINTSIZE),
        point_scale=scale,
        viewport_height=float(state.viewport.height),
        clip_planes=clip_planes(state),
    )


def color(word: int) -> _Quad:
    """Red, green, blue and alpha of a D3DCOLOR, as float32 values."""
    parts = np.array([word >> shift & 0xFF for shift in (16, 8, 0, 24)], np.float32)
    red, green, blue, alpha = (parts / np.float32(255)).tolist()
    return red, green, blue, alpha


def clip_planes(state: State) -> tuple[_Quad, ...]:
    """The planes that D3DRS_CLIPPLANEENABLE enables, in order; unset planes clip nothing."""
    mask = state.render_states[RenderState.CLIPPLANEENABLE]
    enabled = [index for index in range(32) if mask >> index & 1]
    return tuple(_quad(state.clip_planes.get(index, _BLACK)) for index in enabled)


def _quad(numbers: Sequence[float]) -> _Quad:
    a, b, c, d = numbers
    return a, b, c, d


def _lights(state: State) -> tuple[Light, ...]:
    """The enabled lights that have data, in the order of their indices."""
    described = (state.lights.get(index) for index in sorted(state.lights_enabled))
    return tuple(_light(record) for record in described if record is not None)


def _light(record: Any) -> Light:
    """The light of a D3DLIGHT7 record.  Raises Fault for an unknown type."""
    values = record.tolist()
    kind, diffuse, specular, ambient, position, direction, reach, falloff, *rest = values
    try:
        type_ = LightType(kind)
    except ValueError:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"light type {kind}") from None
    near, linear, square, theta, phi = rest
    return Light(
        type_, diffuse, specular, ambient, position, direction, reach, falloff,
        (near, linear, square), theta, phi,
    )  # fmt: skip


def _material(record: Any) -> Material:
    return Material(*record.tolist())


# Fog


def _vertex_fog(state: State) -> FogMode | None:
    states = state.render_states
    if not states[RenderState.FOGENABLE] or states[RenderState.FOGTABLEMODE]:
        return None
    return enum_state(FogMode, states, RenderState.FOGVERTEXMODE)


def pixel_fog(state: State) -> Fog | None:
    """The fog that pixel programs apply, or None.  Table fog has precedence over vertex fog.

    Table fog depends on z if the projection is affine, and on eye-space w otherwise.
    """
    states = state.render_states
    if not states[RenderState.FOGENABLE]:
        return None
    table = enum_state(FogMode, states, RenderState.FOGTABLEMODE)
    if table is FogMode.NONE:
        return Fog(FogSource.VERTEX)
    projection = state.transforms.get(TransformState.PROJECTION)
    affine = projection is None or projection[3::4] == _AFFINE
    return Fog(FogSource.TABLE_Z if affine else FogSource.TABLE_W, table)


def pixel_fog_uniforms(state: State) -> dict[str, F32]:
    """The uniforms of fog in pixel programs."""
    word = state.render_states[RenderState.FOGCOLOR]
    return fog_uniforms(color(word), *_fog_numbers(state))


def _fog_numbers(state: State) -> _Triple:
    return (
        float_state(state, RenderState.FOGSTART),
        float_state(state, RenderState.FOGEND),
        float_state(state, RenderState.FOGDENSITY),
    )
