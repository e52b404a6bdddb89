"""From raw state to the frozen records a draw carries.

What this state asks for and the emulator does not have yet is refused here, by name, so that a
draw either means what the stream says or says what is missing.

Source: Direct3D documentation of D3DRENDERSTATETYPE.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any

from dp2emu.d3d.enums import (
    CmpFunc,
    Cull,
    FillMode,
    RenderState,
    ShadeMode,
    ZBufferType,
)
from dp2emu.d3d.formats import DEPTH
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.constants import Constants
from dp2emu.dp2.fixed import clip_planes, enum_state, fixed_state
from dp2emu.dp2.output import (
    alpha_test,
    alpha_to_coverage,
    blend_state,
    merge_numbers,
    stencil_state,
)
from dp2emu.dp2.programs import (
    PixelStage,
    Source,
    VertexStage,
    constant_uniforms,
    pixel_stage,
    vertex_stage,
    wraps,
)
from dp2emu.dp2.raster7 import checked_only, perspective, raster_op, stipple
from dp2emu.dp2.samplers import BoundTextures
from dp2emu.dp2.state import TARGETS, State, bits_float
from dp2emu.errors import Fault
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.packets import SOLID, LinePattern, MergeNumbers, Plane, PointSize, Rect, Uniforms
from dp2emu.gpu.state import (
    DepthState,
    Pipeline,
    RasterState,
)
from dp2emu.records import dataclass
from dp2emu.shader.fixed import vertex_uniforms

ZBIAS_UNIT = 1.0 / 65536.0
"""Depth range one unit of D3DRS_ZBIAS (before DirectX 9) moves towards the viewer; the documents
give no number, this is one step of a 16-bit depth buffer."""

MAX_PATTERN_REPEAT = 255

_COLOR_WRITES = (
    RenderState.COLORWRITEENABLE,
    RenderState.COLORWRITEENABLE1,
    RenderState.COLORWRITEENABLE2,
    RenderState.COLORWRITEENABLE3,
)


@dataclass(frozen=True, slots=True)
class Targets:
    """Bound colour surfaces by index, and the depth-stencil surface.

    ``extent``: the pixels all colours have, or without any the depth surface; None without both.
    """

    colors: tuple[Surface | None, ...] = (None,) * TARGETS
    depth: Surface | None = None
    extent: Rect | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", self._extent())

    def _extent(self) -> Rect | None:
        bound = self._bound or ([self.depth] if self.depth else [])
        if not bound:
            return None
        return Rect(0, 0, min(s.width for s in bound), min(s.height for s in bound))

    def samples(self, *, depth: bool) -> int:
        """Samples per pixel of the colours, and of the depth surface if it is used or alone.

        Raises Fault if they differ, which Direct3D 9 does not allow.
        """
        used = [*self._bound, self.depth] if depth or not self._bound else self._bound
        counts = sorted({surface.samples for surface in used if surface is not None})
        if len(counts) > 1:
            what = f"targets of {counts[0]} and {counts[-1]} samples"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return counts[0] if counts else 1

    @property
    def _bound(self) -> list[Surface]:
        return [surface for surface in self.colors if surface is not None]


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """What a draw carries of the state: its pipeline and the numbers the programs read.

    ``clip_planes`` are the user's, those that are on; the rest is as in ``Draw``, where ``known``
    is of all draws under this state.
    """

    pipeline: Pipeline
    vertex: VertexStage
    pixel: PixelStage
    clip_planes: tuple[Plane, ...]
    point: PointSize
    merge: MergeNumbers
    line_pattern: LinePattern
    stipple: tuple[int, ...]
    known: dict[Hashable, Any] = field(default_factory=dict)

    def vertex_uniforms(self, state: State, constants: Constants) -> Uniforms:
        """The numbers of the vertex program, state and constants as they are now."""
        if self.vertex.shader is not None:
            return constant_uniforms(constants, self.vertex.shader)
        if self.vertex.fixed is None:
            return {}
        return vertex_uniforms(self.vertex.fixed, fixed_state(state))

    def pixel_uniforms(self, constants: Constants) -> Uniforms:
        """The numbers of the pixel program, constants as they are now."""
        if self.pixel.shader is None:
            return self.pixel.uniforms
        return {**self.pixel.uniforms, **constant_uniforms(constants, self.pixel.shader)}


def resolve(
    state: State, source: Source, targets: Targets, interface: int, bound: BoundTextures
) -> Resolved:
    """What a draw under this state carries.  Raises Fault for values that mean nothing."""
    states, depth, layout = state.render_states, targets.depth, source.layout
    planes = clip_planes(state)
    pixel = pixel_stage(state, source.pixel, interface, bound)
    vertex = vertex_stage(state, source, pixel.program, interface, bound)
    test = _depth_state(states, interface) if depth else DepthState()
    stencil = stencil_state(states) if depth and DEPTH[depth.format].stencil else None
    samples = targets.samples(depth=test.enable or stencil is not None)
    pipeline = Pipeline(
        layout=layout,
        raster=_raster_state(
            states,
            interface,
            planes=0 if layout.transformed else len(planes),
            clip=_clips(states, interface, tested=test.enable or not layout.transformed),
            wrap=wraps(state, source, pixel.program),
        ),
        depth=test,
        pixel=pixel.program,
        write_masks=tuple(states[mask] & 0xF for mask in _COLOR_WRITES),
        color_formats=tuple(color.format if color else None for color in targets.colors),
        depth_format=depth.format if depth else None,
        samples=samples,
        vertex=vertex.program,
        attributes=vertex.attributes,
        samplers=pixel.samplers,
        vertex_samplers=vertex.samplers,
        blend=blend_state(states),
        alpha_test=alpha_test(states),
        stencil=stencil,
        alpha_to_coverage=samples > 1 and alpha_to_coverage(states),
        srgb_write=bool(states[RenderState.SRGBWRITEENABLE]),
        dither=bool(states[RenderState.DITHERENABLE]),
        raster_op=raster_op(states, interface),
    )
    return Resolved(
        checked_only(pipeline, states, interface),
        vertex,
        pixel,
        planes,
        point_size(state),
        merge_numbers(states, interface),
        line_pattern(state, interface),
        stipple(states, interface),
    )


def _raster_state(
    states: list[int], interface: int, *, planes: int, clip: bool, wrap: tuple[int, ...]
) -> RasterState:
    smooth_lines = (
        RenderState.ANTIALIASEDLINEENABLE if interface >= 9 else RenderState7.EDGEANTIALIAS
    )
    multisample = RenderState.MULTISAMPLEANTIALIAS if interface >= 8 else RenderState7.ANTIALIAS
    return RasterState(
        cull=enum_state(Cull, states, RenderState.CULLMODE),
        flat=enum_state(ShadeMode, states, RenderState.SHADEMODE) is ShadeMode.FLAT,
        clip=clip,
        last_pixel=bool(states[RenderState.LASTPIXEL]),
        clip_planes=(1 << planes) - 1 if states[RenderState.CLIPPING] else 0,
        fill=enum_state(FillMode, states, RenderState.FILLMODE),
        point_sprites=bool(states[RenderState.POINTSPRITEENABLE]),
        wrap=wrap,
        smooth_lines=bool(states[smooth_lines]),
        perspective=perspective(states, interface),
        multisample=bool(states[multisample]),
    )


def _clips(states: list[int], interface: int, *, tested: bool) -> bool:
    """Whether depth outside 0..1 is cut off.

    Vertices on the screen are not cut while depth is not ``tested``.  Before DirectX 8
    D3DRENDERSTATE_CLIPPING only says whether the runtime need look: drivers cut all the same.
    """
    return tested and (interface < 8 or bool(states[RenderState.CLIPPING]))


def point_size(state: State) -> PointSize:
    """The point size states, as float32 values."""
    names = RenderState.POINTSIZE, RenderState.POINTSIZE_MIN, RenderState.POINTSIZE_MAX
    return PointSize(*(bits_float(state.render_states[name]) for name in names))


def line_pattern(state: State, interface: int) -> LinePattern:
    """D3DRENDERSTATE_LINEPATTERN, which Direct3D 9 has no more: repeat factor, then pattern.

    Raises Fault for a repeat factor of more than the 255 that drivers are to accept.
    """
    word = state.render_states[RenderState7.LINEPATTERN]
    repeat = word & 0xFFFF
    if interface >= 9 or not repeat:
        return SOLID
    if repeat > MAX_PATTERN_REPEAT:
        what = f"line pattern repeated {repeat} times"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return LinePattern(repeat, word >> 16)


def _depth_state(states: list[int], interface: int) -> DepthState:
    if states[RenderState.ZENABLE] == ZBufferType.FALSE:
        return DepthState()
    if interface >= 9:
        bias = bits_float(states[RenderState.DEPTHBIAS])
        slope = bits_float(states[RenderState.SLOPESCALEDEPTHBIAS])
    else:
        bias, slope = -min(states[RenderState7.ZBIAS], 16) * ZBIAS_UNIT, 0.0
    return DepthState(
        enable=True,
        write=bool(states[RenderState.ZWRITEENABLE]),
        func=enum_state(CmpFunc, states, RenderState.ZFUNC),
        bias=bias,
        bias_all=interface < 9,
        slope=slope,
        w_buffer=states[RenderState.ZENABLE] == ZBufferType.USEW,
    )
