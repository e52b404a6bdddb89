"""Resolution of raw state to the frozen pipeline records of a draw, and the cache of the results.

State that the emulator does not support is refused here by name, so that a draw is either exact or
an error.  Source: Direct3D documentation of D3DRENDERSTATETYPE.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

import msgspec

from dp2emu.d3d.enums import (
    Blend,
    BlendOp,
    CmpFunc,
    Cull,
    DeclMethod,
    FillMode,
    RenderState,
    ShadeMode,
    StencilOp,
    ZBufferType,
)
from dp2emu.d3d.formats import DEPTH
from dp2emu.d3d.fvf import POSITION, fvf_layout
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.d3d.vertices import MESH_METHODS, VertexLayout
from dp2emu.dp2.resolve.fixed_function import clip_planes, enum_state, fixed_state
from dp2emu.dp2.resolve.patches import may_divide
from dp2emu.dp2.resolve.programs import (
    PixelStage,
    Source,
    VertexStage,
    constant_uniforms,
    pixel_stage,
    vertex_stage,
    wraps,
)
from dp2emu.dp2.resolve.raster7 import checked_only, perspective, plane_mask, raster_op, stipple
from dp2emu.dp2.resolve.samplers import BoundTextures
from dp2emu.dp2.resolve.surface_caches import SurfaceCaches
from dp2emu.dp2.shaders import Format, Function
from dp2emu.dp2.states.constants import Constants
from dp2emu.dp2.states.raw_state import TARGETS, State, bits_float
from dp2emu.dp2.states.setting_kinds import Kind
from dp2emu.dp2.textures import Textures
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import Rect, Uniforms
from dp2emu.gpu.command.packets import (
    SOLID,
    LinePattern,
    MergeNumbers,
    OutputBindings,
    PointSize,
    RasterBindings,
    ShaderBindings,
)
from dp2emu.gpu.command.pipeline import (
    DepthState,
    Pipeline,
    RasterState,
    StencilFace,
    StencilState,
)
from dp2emu.gpu.resource.heap import Heap, Surface
from dp2emu.shader.fixed.blend import BlendEquation, BlendState
from dp2emu.shader.fixed.uniforms import vertex_uniforms

ZBIAS_UNIT = 1.0 / 65536.0
"""Depth range by which one unit of D3DRS_ZBIAS (before DirectX 9) moves pixels to the viewer.  The
documents give no number; this is one step of a 16-bit depth buffer."""

MAX_PATTERN_REPEAT = 255

_COLOR_WRITES = (
    RenderState.COLORWRITEENABLE,
    RenderState.COLORWRITEENABLE1,
    RenderState.COLORWRITEENABLE2,
    RenderState.COLORWRITEENABLE3,
)


class Targets(msgspec.Struct, frozen=True, dict=True):
    """Bound colour surfaces by render target index, and the depth-stencil surface or None."""

    colors: tuple[Surface | None, ...] = (None,) * TARGETS
    depth: Surface | None = None

    @cached_property
    def extent(self) -> Rect | None:
        """The area common to all colour targets, else of the depth surface; None without both."""
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


class Resolved(msgspec.Struct, frozen=True, eq=False):
    """The resolved state of draws: their pipeline and the uniforms of their programs.

    ``fixed_pixel`` are the bindings of a pixel program without constant registers.  ``raster`` and
    ``output`` are one object for all draws under this state, so that caches by identity hit.
    ``managed`` are the textures to upload before a draw; ``n_patches`` says whether triangles may
    be N-patches.
    """

    pipeline: Pipeline
    vertex: VertexStage
    pixel: PixelStage
    raster: RasterBindings
    output: OutputBindings
    fixed_pixel: ShaderBindings
    managed: tuple[Surface, ...]
    n_patches: bool

    def vertex_uniforms(self, state: State, constants: Constants) -> Uniforms:
        """The uniforms of the vertex program from the current state and constants."""
        if self.vertex.shader is not None:
            return constant_uniforms(constants, self.vertex.shader)
        if self.vertex.fixed is None:
            return {}
        return vertex_uniforms(self.vertex.fixed, fixed_state(state))

    def pixel_uniforms(self, constants: Constants) -> Uniforms:
        """The uniforms of the pixel program from the current constants."""
        if self.pixel.shader is None:
            return self.pixel.uniforms
        return {**self.pixel.uniforms, **constant_uniforms(constants, self.pixel.shader)}


def resolve(
    state: State, source: Source, targets: Targets, interface: int, bound: BoundTextures
) -> Resolved:
    """The pipeline and uniforms of draws under a state.  Raises Fault for invalid values."""
    states, depth, layout = state.render_states, targets.depth, source.layout
    planes = clip_planes(state)
    pixel = pixel_stage(state, source, interface, bound)
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
            # D3DRS_CLIPPING is a hint to software vertex processing.
            clip=test.enable or not layout.transformed,
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
    textures = (*pixel.textures.values(), *vertex.textures.values())
    return Resolved(
        checked_only(pipeline, states, interface),
        vertex,
        pixel,
        RasterBindings(
            viewport=state.viewport,
            point=point_size(state),
            clip_planes=planes,
            w_range=state.plain[Kind.W_RANGE],
            line_pattern=line_pattern(state, interface),
            stipple=stipple(states, interface),
        ),
        OutputBindings(targets.colors, depth, merge_numbers(states, interface)),
        ShaderBindings(pixel.uniforms, pixel.textures),
        managed=tuple(t.surface for t in textures if t.surface.system is not None),
        n_patches=may_divide(states, interface, layout),
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


def point_size(state: State) -> PointSize:
    """The point size states, as float32 values."""
    names = RenderState.POINTSIZE, RenderState.POINTSIZE_MIN, RenderState.POINTSIZE_MAX
    return PointSize(*(bits_float(state.render_states[name]) for name in names))


def line_pattern(state: State, interface: int) -> LinePattern:
    """D3DRENDERSTATE_LINEPATTERN, up to DirectX 8: repeat factor, then pattern.

    Raises Fault for a repeat factor above the documented 255.
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


# The cache.  Applications alternate between a few states, and resolving one costs more than the
# rest of a small draw.

ROOM = 256
"""Maximum number of resolved states, and of vertex sources, that a context caches; one more
replaces the oldest."""

_Key = tuple[Source, Targets, tuple[tuple[int, Surface], ...], tuple[bytes, ...]]
"""The parts of a state that select its resolution: source, targets, textures by stage, and
``State.settings``."""
_SourceKey = tuple[int | Format, Function | None, Function | None, Container[DeclMethod]]
"""The parameters of ``Resolutions.source``."""
_NO_BINDINGS = -1, ShaderBindings()
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class Resolutions:
    """The cache of a context's resolved states and vertex sources, by ``_Key`` and
    ``_SourceKey``.  Mutable.

    It must not keep memory alive that nothing binds: ``caches`` call ``forget`` when a surface
    loses its handle.
    """

    def __init__(self, interface: int, heap: Heap) -> None:
        self._caches = SurfaceCaches()
        self._interface = interface
        self._heap = heap
        self._version = -1
        self._resolved: dict[_Key, Resolved] = {}
        self._first: dict[_Key, Resolved] = {}
        self._first_version = -1
        self._bindings: dict[VertexStage | PixelStage, tuple[int, ShaderBindings]] = {}
        self._sources: dict[_SourceKey, Source] = {}

    def of(self, state: State, source: Source, targets: Targets, textures: Textures) -> Resolved:
        """The resolved state of a draw.  Raises Fault and Unsupported as ``resolve`` does."""
        # Neither number ever decreases, so neither changed if their sum did not.
        version = state.version + self._heap.color_keys
        if version != self._version:
            self._change(version)
        bound = tuple(textures.bound.items())
        settings = state.refresh() if state.stale else state.settings
        key = source, targets, bound, settings
        found = self._resolved.get(key)
        if found is None:
            self._caches.add_textures(self)
            found = resolve(state, source, targets, self._interface, textures.at_stages())
            if self._live((*targets.colors, targets.depth, *textures.bound.values())):
                _keep(self._resolved, key, found)
        return found

    def vertex_bindings(
        self, resolved: Resolved, state: State, constants: Constants
    ) -> ShaderBindings:
        """The vertex program's bindings, recomputed when state or constants have changed."""
        stage = resolved.vertex
        now = state.numbers if stage.shader is None else constants.version
        then, found = self._bindings.get(stage, _NO_BINDINGS)
        if then != now:
            found = ShaderBindings(resolved.vertex_uniforms(state, constants), stage.textures)
            _keep(self._bindings, stage, (now, found))
        return found

    def pixel_bindings(self, resolved: Resolved, constants: Constants) -> ShaderBindings:
        """The pixel program's bindings, recomputed when constants have changed."""
        stage = resolved.pixel
        if stage.shader is None:
            return resolved.fixed_pixel
        then, found = self._bindings.get(stage, _NO_BINDINGS)
        if then != constants.version:
            found = ShaderBindings(resolved.pixel_uniforms(constants), stage.textures)
            _keep(self._bindings, stage, (constants.version, found))
        return found

    def use(self, caches: SurfaceCaches) -> None:
        """Let ``caches`` call ``forget`` from now on."""
        self._caches = caches
        if self._first:
            caches.add_textures(self)

    def begin(self, state: State) -> None:
        """Keep, for contexts after ``restart``, what is resolved until ``state``, the state
        of a new context, changes its version or a colour key is set.
        """
        self._first_version = state.version

    def restart(self) -> None:
        """Prepare for a new context, of the same interface and targets, whose state begins as
        that of this one began.
        """
        self._change(-1)
        kept = {key: each for key, each in self._sources.items() if _is_fixed(*key)}
        if len(kept) < len(self._sources):
            self._sources, sources = kept, frozenset(kept.values())
            self._first = {key: r for key, r in self._first.items() if key[0] in sources}

    def _change(self, version: int) -> None:
        """Drop what depends on a state of another version."""
        self._version = version
        self._resolved = self._first if version == self._first_version else {}
        self._bindings.clear()

    def forget(self) -> None:
        """Drop all cached resolved states and program bindings."""
        self._first.clear()
        self._resolved.clear()
        self._bindings.clear()

    def source(
        self,
        format: int | Format,
        function: Function | None = None,
        pixel: Function | None = None,
        methods: Container[DeclMethod] = MESH_METHODS,
    ) -> Source:
        """The vertex source of a format and shaders; equal ones are one object, so that caches by
        identity hit.  Raises Fault for a format without a position.
        """
        key = format, function, pixel, methods
        found = self._sources.get(key)
        if found is None:
            if isinstance(format, int):
                found = Source(self._fvf(format), function, pixel, None, methods)
            else:
                found = Source(format.layout, function, pixel, format.tokens, methods)
            _keep(self._sources, key, found)
        return found

    def _fvf(self, code: int) -> VertexLayout:
        if not code & POSITION:
            what = f"vertex format {code:#x} has no position"
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
        return fvf_layout(code, self._interface)

    def _live(self, surfaces: Iterable[Surface | None]) -> bool:
        """Whether no surface in ``surfaces`` has been destroyed; None counts as live."""
        get = self._heap.get
        return all(surface is None or get(surface.handle) is surface for surface in surfaces)


def _is_fixed(
    format: int | Format, function: Function | None, pixel: Function | None, *_: object
) -> bool:
    """Whether the parameters of a source name no object that tokens created."""
    return isinstance(format, int) and function is None and pixel is None


def _keep(known: dict[_K, _V], key: _K, value: _V) -> None:
    """Add an entry to a cache of at most ``ROOM`` entries; one more replaces the oldest."""
    if len(known) >= ROOM:
        del known[next(iter(known))]
    known[key] = value


# Output merger: blending, alpha test and stencil.  Sources: the Direct3D 9 documentation of the
# states.

_BOTH = {
    Blend.BOTHSRCALPHA: (Blend.SRCALPHA, Blend.INVSRCALPHA),
    Blend.BOTHINVSRCALPHA: (Blend.INVSRCALPHA, Blend.SRCALPHA),
}
"""D3DRS_SRCBLEND value that overrides D3DRS_DESTBLEND -> (source, destination) blend factors."""
_FRONT = (
    RenderState.STENCILFUNC,
    RenderState.STENCILFAIL,
    RenderState.STENCILZFAIL,
    RenderState.STENCILPASS,
)
_BACK = (
    RenderState.CCW_STENCILFUNC,
    RenderState.CCW_STENCILFAIL,
    RenderState.CCW_STENCILZFAIL,
    RenderState.CCW_STENCILPASS,
)
"""Render states of the back-face stencil comparison and operations, in the order of the members of
``StencilFace``."""
_ALPHA_TO_COVERAGE = {
    RenderState.POINTSIZE: int.from_bytes(b"A2M1", "little"),
    RenderState.ADAPTIVETESS_Y: int.from_bytes(b"ATOC", "little"),
}


def blend_state(states: Sequence[int]) -> BlendState | None:
    """The blend equations, or None without D3DRS_ALPHABLENDENABLE.

    Raises Fault for an unknown factor or operation.
    """
    if not states[RenderState.ALPHABLENDENABLE]:
        return None
    color = _equation(states, RenderState.SRCBLEND, RenderState.DESTBLEND, RenderState.BLENDOP)
    if not states[RenderState.SEPARATEALPHABLENDENABLE]:
        return BlendState(color, color)
    alpha = _equation(
        states, RenderState.SRCBLENDALPHA, RenderState.DESTBLENDALPHA, RenderState.BLENDOPALPHA
    )
    return BlendState(color, alpha)


def _equation(
    states: Sequence[int], source: RenderState, destination: RenderState, operation: RenderState
) -> BlendEquation:
    op = enum_state(BlendOp, states, operation)
    first = enum_state(Blend, states, source)
    if first in _BOTH:
        return BlendEquation(*_BOTH[first], op)
    second = enum_state(Blend, states, destination)
    if second in _BOTH:
        what = f"{destination.sdk} is {second.sdk}, which is a source factor"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return BlendEquation(first, second, op)


def alpha_test(states: Sequence[int]) -> CmpFunc | None:
    """The alpha comparison; None if all fragments pass.  Raises Fault for an unknown one."""
    if not states[RenderState.ALPHATESTENABLE]:
        return None
    func = enum_state(CmpFunc, states, RenderState.ALPHAFUNC)
    return None if func is CmpFunc.ALWAYS else func


def alpha_to_coverage(states: Sequence[int]) -> bool:
    """Whether alpha to coverage is on, which Direct3D 9 has no state for: vendors agreed on the
    four-character codes A2M1 in D3DRS_POINTSIZE and ATOC in D3DRS_ADAPTIVETESS_Y.
    """
    return any(states[state] == code for state, code in _ALPHA_TO_COVERAGE.items())


def stencil_state(states: Sequence[int]) -> StencilState | None:
    """The stencil test, or None without D3DRS_STENCILENABLE.

    Raises Fault for an unknown comparison or operation.
    """
    if not states[RenderState.STENCILENABLE]:
        return None
    two_sided = bool(states[RenderState.TWOSIDEDSTENCILMODE])
    return StencilState(_face(states, _FRONT), _face(states, _BACK) if two_sided else None)


def _face(states: Sequence[int], names: Sequence[RenderState]) -> StencilFace:
    func, *operations = names
    return StencilFace(
        enum_state(CmpFunc, states, func),
        *(enum_state(StencilOp, states, operation) for operation in operations),
    )


def merge_numbers(states: Sequence[int], interface: int) -> MergeNumbers:
    """The uniforms of the output merger; only the low 8 bits of ALPHAREF count."""
    return MergeNumbers(
        blend_factor=states[RenderState.BLENDFACTOR],
        sample_mask=states[RenderState.MULTISAMPLEMASK],
        alpha_reference=states[RenderState.ALPHAREF] & 0xFF,
        stencil_reference=states[RenderState.STENCILREF],
        stencil_mask=states[RenderState.STENCILMASK],
        stencil_write_mask=states[RenderState.STENCILWRITEMASK],
        plane_mask=plane_mask(states, interface),
    )
