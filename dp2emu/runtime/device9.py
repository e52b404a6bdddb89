"""A Direct3D 9 device in Python: the application's calls become command bytes on a rig.

What a runtime does between the interface and the driver happens here: handles, default targets,
clipping of Clear rectangles, user-pointer draws, validation that costs no call.  State is sent
as it is set, nothing is filtered, so the same program always gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from dp2emu.capture.records import Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Format,
    PrimitiveType,
    QueryType,
    RenderState,
    SamplerState,
    TextureFilter,
    TextureStageState,
    ZBufferType,
)
from dp2emu.d3d.flags import Frequency, Usage
from dp2emu.d3d.formats import COLOR, DEPTH
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState8
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireRenderState
from dp2emu.dp2.queries import KINDS
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS, SurfaceDesc, SurfaceKind
from dp2emu.rig.interface import Rig
from dp2emu.runtime.arguments import Box, dword, handle_of
from dp2emu.runtime.availability import check_format
from dp2emu.runtime.buffers import create_index_buffer, create_vertex_buffer
from dp2emu.runtime.drawing import Drawing
from dp2emu.runtime.lights import Lights
from dp2emu.runtime.moves import Area, Rects, compose, convolve, fill, stretch
from dp2emu.runtime.objects import (
    Declaration,
    IndexBuffer,
    Light,
    Material,
    PixelShader,
    RectPatchInfo,
    Texture,
    TriPatchInfo,
    VertexElement,
    VertexShader,
)
from dp2emu.runtime.query import Query
from dp2emu.runtime.session import COMMAND_BYTES, Refused, Session
from dp2emu.runtime.shaders import Shaders
from dp2emu.runtime.states import States
from dp2emu.runtime.targets import Targets
from dp2emu.runtime.textures import Textures, TextureShape

_SCENE_CAPTURE = sdk_value(WireRenderState, "D3DRENDERSTATE_SCENECAPTURE") or 0
"""The DDI's render state for BeginScene and EndScene (wire format, "Render states")."""
SAMPLERS = 16
"""Samplers a pixel shader has."""
_DEPTH_STATES = RenderState.ZENABLE, RenderState.ZWRITEENABLE, RenderState.STENCILENABLE


class Device9:
    """IDirect3DDevice9 over a rig, with a first target and depth surface.

    ``depth`` None makes no depth surface.  ``record`` is told everything (``Session``).  A
    ``session`` that is given and not opened is used; with its ``interface`` 8 the tokens are those
    a Direct3D 8 runtime has.
    ``textures`` has the methods of textures and palettes.  Calls an application gets an error
    code for raise ``Refused``; a call the driver fails raises Fault, one that needs a part not
    built yet Unsupported.

    >>> import struct
    >>> from dp2emu.d3d import fvf
    >>> from dp2emu.dp2.driver import Driver
    >>> device = Device9(Driver(), 4, 4)
    >>> device.clear(color=0xFF000000)
    >>> device.set_fvf(fvf.XYZRHW | fvf.DIFFUSE)
    >>> corners = [(-0.5, -0.5), (3.5, -0.5), (-0.5, 3.5)]
    >>> triangle = b"".join(struct.pack("<4fI", x, y, 0, 1, 0xFFFF0000) for x, y in corners)
    >>> device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, triangle, 20)
    >>> hex(device.read_back()[0, 0])
    '0xffff0000'
    """

    def __init__(
        self,
        rig: Rig,
        width: int,
        height: int,
        *,
        format: Format = Format.X8R8G8B8,
        depth: Format | None = Format.D24S8,
        samples: int = 1,
        command_bytes: int = COMMAND_BYTES,
        record: Callable[[Record], None] | None = None,
        session: Session | None = None,
    ) -> None:
        self.session = session or Session(rig, command_bytes=command_bytes, record=record)
        self._states = States(self.session)
        self.textures = Textures(self.session)
        self.back_buffer = self.create_render_target(width, height, format, samples)
        self.depth_buffer = (
            self.create_depth_stencil(width, height, depth, samples) if depth else None
        )
        self.in_scene = False
        self._targets = Targets(self.session, self._states)
        self._shaders = Shaders(self.session)
        self._lights = Lights(self.session)
        self._drawing = Drawing(self.session, self._before_draw)
        self.session.open(self.back_buffer.handle, handle_of(self.depth_buffer))
        self._begin()

    def _begin(self) -> None:
        depth = self.depth_buffer
        self._targets.set_all(self.back_buffer, depth)
        z_enable = ZBufferType.TRUE if depth else ZBufferType.FALSE
        self.set_render_state(RenderState.ZENABLE, z_enable)

    def reset(self, back_buffer: SurfaceDesc, depth_buffer: SurfaceDesc | None) -> None:
        """Reset, as far as it is about the first targets; other colour targets are unbound."""
        for index in sorted(self._targets.colors.keys() - {0}):
            self.set_render_target(index, None)
        self.back_buffer, self.depth_buffer = back_buffer, depth_buffer
        self.in_scene = False
        self._begin()

    # Resources

    def create_render_target(
        self, width: int, height: int, format: Format, samples: int = 1
    ) -> SurfaceDesc:
        """CreateRenderTarget of ``width`` x ``height`` pixels with 1, 2, 4 or 8 samples.

        Raises Refused for another number of them, Unsupported or Fault as the rig does.
        """
        return self._create_target(width, height, format, samples, Usage.RENDERTARGET)

    def create_depth_stencil(
        self, width: int, height: int, format: Format, samples: int = 1
    ) -> SurfaceDesc:
        """CreateDepthStencilSurface of ``width`` x ``height`` pixels, of samples as its targets.

        Raises as ``create_render_target`` does.
        """
        return self._create_target(width, height, format, samples, Usage.DEPTHSTENCIL)

    def _create_target(
        self, width: int, height: int, format: Format, samples: int, usage: Usage
    ) -> SurfaceDesc:
        if samples not in SAMPLE_COUNTS:
            raise Refused(HResult.D3DERR_NOTAVAILABLE, f"{samples} samples")
        if check_format(usage, SurfaceKind.SURFACE, format) is not HResult.D3D_OK:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"{usage.name} of {format.sdk}")
        return self.session.create_surface(
            SurfaceKind.SURFACE, width, height, format, samples=samples, usage=usage
        )

    def create_vertex_buffer(self, data: bytes) -> SurfaceDesc:
        """CreateVertexBuffer, filled with ``data``."""
        return create_vertex_buffer(self.session, data)

    def create_index_buffer(self, data: bytes, format: Format = Format.INDEX16) -> IndexBuffer:
        """CreateIndexBuffer, filled with ``data``; ``format`` is INDEX16 or INDEX32."""
        return create_index_buffer(self.session, data, format)

    def create_texture(
        self, width: int, height: int, format: Format, data: Sequence[bytes] = (), *,
        levels: int = 1, usage: int = 0, managed: bool = False,
    ) -> Texture:  # fmt: skip
        """CreateTexture of ``width`` x ``height`` texels, filled with ``data``: a level each, rows
        (of blocks) without holes.

        ``levels`` 0 is the whole chain, ``usage`` D3DUSAGE_*.  With ``managed`` the driver manages
        it. Raises Refused for what no device makes, UsageError for data that does not fit,
        Unsupported or Fault as the rig does.
        """
        kind = SurfaceKind.TEXTURE
        shape = TextureShape(kind, width, height, format, 1, levels, usage, managed)
        return self.textures.create(shape, [data])

    def create_cube_texture(
        self, edge: int, format: Format, data: Sequence[Sequence[bytes]] = (), *,
        levels: int = 1, usage: int = 0, managed: bool = False,
    ) -> Texture:  # fmt: skip
        """CreateCubeTexture; ``edge`` in texels, ``data`` by face (+X, -X, +Y, -Y, +Z, -Z), then
        level.

        ``levels``, ``usage``, ``managed`` and errors are those of ``create_texture``.
        """
        kind = SurfaceKind.CUBETEXTURE
        shape = TextureShape(kind, edge, edge, format, 1, levels, usage, managed)
        return self.textures.create(shape, data)

    def create_volume_texture(
        self, width: int, height: int, depth: int, format: Format, data: Sequence[bytes] = (), *,
        levels: int = 1, usage: int = 0, managed: bool = False,
    ) -> Texture:  # fmt: skip
        """CreateVolumeTexture of ``width`` x ``height`` x ``depth`` texels; ``data`` by level,
        slices from front to back.

        ``levels``, ``usage``, ``managed`` and errors are those of ``create_texture``.
        """
        kind = SurfaceKind.VOLUMETEXTURE
        shape = TextureShape(kind, width, height, format, depth, levels, usage, managed)
        return self.textures.create(shape, [data])

    def write(self, buffer: SurfaceDesc | IndexBuffer, offset: int, data: bytes) -> None:
        """Store ``data`` at byte ``offset`` of a buffer as through Lock with NOOVERWRITE: draws
        under way may see it.
        """
        desc = buffer.desc if isinstance(buffer, IndexBuffer) else buffer
        self.session.write(desc.handle, offset, data)

    def query_types(self) -> tuple[int, ...]:
        """D3DQUERYTYPE values this device can make: what the driver announces, if it can."""
        announced: Callable[[], Iterable[int]] | None = getattr(
            self.session.rig, "query_types", None
        )
        known = announced() if announced is not None else KINDS
        return tuple(kind for kind in known if kind in KINDS)

    def create_query(self, kind: QueryType) -> Query:
        """CreateQuery.  Raises Refused (D3DERR_NOTAVAILABLE) for types the driver lacks."""
        if kind not in self.query_types():
            raise Refused(HResult.D3DERR_NOTAVAILABLE, f"{kind.sdk} queries")
        return Query(self.session, kind)

    def create_vertex_declaration(self, elements: Sequence[VertexElement]) -> Declaration:
        """CreateVertexDeclaration; ``elements`` come without the end.

        As with shaders, the driver sees it at once, and a bad one raises its Fault.
        """
        return Declaration(self._shaders.declaration(elements))

    def create_vertex_shader(self, code: Sequence[int]) -> VertexShader:
        """CreateVertexShader of DWORDs, the end token included."""
        return VertexShader(self._shaders.shader(Op.CREATEVERTEXSHADERFUNC, code))

    def create_pixel_shader(self, code: Sequence[int]) -> PixelShader:
        """CreatePixelShader of DWORDs, the end token included."""
        return PixelShader(self._shaders.shader(Op.CREATEPIXELSHADER, code))

    # State

    def set_render_state(self, state: RenderState, value: int | float) -> None:
        """SetRenderState; a Python float as ``value`` is sent as the bits of a float32."""
        self._states.set_render(state, value)

    def render_state(self, state: RenderState) -> int:
        """GetRenderState."""
        return self._states.render(state)

    def set_texture_stage_state(
        self, stage: int, state: TextureStageState, value: int | float
    ) -> None:
        """SetTextureStageState of ``stage`` (0 to 7); ``value`` as for render states."""
        self._states.set_stage(stage, state, value)

    def texture_stage_state(self, stage: int, state: TextureStageState) -> int:
        """GetTextureStageState of ``stage``."""
        return self._states.stage(stage, state)

    def set_sampler_state(self, sampler: int, state: SamplerState, value: int | float) -> None:
        """SetSamplerState of ``sampler`` (0 to 15, of vertices 257 to 260); ``value`` as for
        render states.
        """
        self._states.set_sampler(sampler, state, value)

    def sampler_state(self, sampler: int, state: SamplerState) -> int:
        """GetSamplerState of ``sampler``."""
        return self._states.sampler(sampler, state)

    def set_texture(self, stage: int, texture: Texture | None) -> None:
        """SetTexture at ``stage``; None unbinds.  Vertex samplers are 257 to 260, the pixels' 0 to
        15.
        """
        self.textures.bind(stage, texture)

    def set_transform(self, state: int, matrix: Sequence[float]) -> None:
        """SetTransform of ``state`` (D3DTS): 16 floats, row-major; world matrix i is 256 + i."""
        self.session.emit(Op.SETTRANSFORM, [(state, tuple(matrix))])

    def set_material(self, material: Material) -> None:
        """SetMaterial."""
        self.session.emit(Op.SETMATERIAL, [astuple(material)])

    def set_light(self, index: int, light: Light) -> None:
        """SetLight number ``index``; the light is created with its first description."""
        self._lights.set(index, light)

    def light_enable(self, index: int, enable: bool) -> None:
        """LightEnable number ``index``, or disable it unless ``enable``; a light nobody described
        is then a white directional one along z.
        """
        self._lights.enable(index, enable)

    def set_clip_plane(self, index: int, plane: Sequence[float]) -> None:
        """SetClipPlane number ``index``: ``plane`` is four floats."""
        self.session.emit(Op.SETCLIPPLANE, [(index, tuple(plane))])

    def set_viewport(
        self, x: int, y: int, width: int, height: int, min_z: float = 0.0, max_z: float = 1.0
    ) -> None:
        """SetViewport: ``width`` x ``height`` pixels from (``x``, ``y``), depths from ``min_z`` to
        ``max_z``.
        """
        self._targets.set_viewport(Viewport(x, y, width, height, min_z, max_z))

    def set_scissor(self, left: int, top: int, right: int, bottom: int) -> None:
        """SetScissorRect, in pixels: ``left`` and ``top`` are inside, ``right`` and ``bottom``
        not.

        It counts while D3DRS_SCISSORTESTENABLE is TRUE.
        """
        self._targets.set_scissor(Rect(left, top, right, bottom))

    def set_render_target(
        self, index: int, surface: SurfaceDesc | None, *, colorless: bool = False
    ) -> None:
        """SetRenderTarget number ``index``; a new target 0 resets viewport and scissor to all of
        it.

        A ``colorless`` surface is one of D3DFMT_NULL: only its size counts, and that not for
        drawing.
        """
        self._targets.set_color(index, surface, colorless=colorless)

    def set_depth_stencil(self, surface: SurfaceDesc | None) -> None:
        """SetDepthStencilSurface; None for none."""
        self._targets.set_depth(surface)

    @property
    def viewport(self) -> Viewport:
        """GetViewport."""
        return self._targets.viewport

    @property
    def scissor(self) -> Rect:
        """GetScissorRect."""
        return self._targets.scissor

    def set_fvf(self, fvf: int) -> None:
        """SetFVF: vertices of that format (wire format, "Shaders and constants"); a vertex shader
        stays."""
        if fvf & 1:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"FVF {fvf:#x}")
        self._set_format(fvf)

    def set_vertex_declaration(self, declaration: Declaration | None) -> None:
        """SetVertexDeclaration; None for none, which no draw can do without."""
        self._set_format(declaration.handle if declaration else 0)

    def _set_format(self, handle: int) -> None:
        self._drawing.has_format = handle != 0
        self._shaders.set_format(handle)

    def set_vertex_shader(self, shader: VertexShader | None) -> None:
        """SetVertexShader; None for fixed-function vertex processing."""
        self._shaders.set_function(shader.handle if shader else 0)

    def set_pixel_shader(self, shader: PixelShader | None) -> None:
        """SetPixelShader; None for the fixed-function texture stages."""
        self.session.emit(Op.SETPIXELSHADER, [(shader.handle if shader else 0,)])

    def set_vertex_constants(self, first: int, rows: Sequence[Sequence[float]]) -> None:
        """SetVertexShaderConstantF: ``rows`` of four floats, for registers from ``first`` on."""
        self._shaders.set_constants(Op.SETVERTEXSHADERCONST, first, rows, np.float32)

    def set_vertex_integers(self, first: int, rows: Sequence[Sequence[int]]) -> None:
        """SetVertexShaderConstantI: ``rows`` of four integers, for registers from ``first`` on."""
        self._shaders.set_constants(Op.SETVERTEXSHADERCONSTI, first, rows, np.int32)

    def set_vertex_booleans(self, first: int, values: Sequence[bool]) -> None:
        """SetVertexShaderConstantB: ``values`` of registers from ``first`` on."""
        self._shaders.set_constants(Op.SETVERTEXSHADERCONSTB, first, values, np.uint32)

    def set_pixel_constants(self, first: int, rows: Sequence[Sequence[float]]) -> None:
        """SetPixelShaderConstantF: ``rows`` of four floats, for registers from ``first`` on."""
        self._shaders.set_constants(Op.SETPIXELSHADERCONST, first, rows, np.float32)

    def set_pixel_integers(self, first: int, rows: Sequence[Sequence[int]]) -> None:
        """SetPixelShaderConstantI: ``rows`` of four integers, for registers from ``first`` on."""
        self._shaders.set_constants(Op.SETPIXELSHADERCONSTI, first, rows, np.int32)

    def set_pixel_booleans(self, first: int, values: Sequence[bool]) -> None:
        """SetPixelShaderConstantB: ``values`` of registers from ``first`` on."""
        self._shaders.set_constants(Op.SETPIXELSHADERCONSTB, first, values, np.uint32)

    def set_stream_source(
        self, stream: int, buffer: SurfaceDesc | None, offset: int = 0, stride: int = 0
    ) -> None:
        """SetStreamSource number ``stream``; ``offset`` and ``stride`` in bytes, None unbinds."""
        self._drawing.bind_stream(stream, bound=buffer is not None)
        if self.session.interface < 9:
            self.session.emit(Op.SETSTREAMSOURCE, [(stream, handle_of(buffer), stride)])
            return
        self.session.emit(Op.SETSTREAMSOURCE2, [(stream, handle_of(buffer), offset, stride)])

    def set_stream_frequency(self, stream: int, value: int) -> None:
        """SetStreamSourceFreq of ``stream``; ``value`` is a divider, or D3DSTREAMSOURCE flags and
        a number.
        """
        if not Frequency.of(value).allowed(stream):
            raise Refused(HResult.D3DERR_INVALIDCALL, f"stream {stream}: frequency {value:#x}")
        self.session.emit(Op.SETSTREAMSOURCEFREQ, [(stream, value)])

    def set_indices(self, buffer: IndexBuffer | None) -> None:
        """SetIndices; None unbinds."""
        self._drawing.bind_indices(buffer)

    # Drawing

    def clear(
        self,
        flags: int | None = None,
        color: int = 0,
        z: float = 1.0,
        stencil: int = 0,
        rects: Iterable[Box] | None = None,
    ) -> None:
        """Clear ``rects`` of the bound surfaces, or all of the viewport.

        ``flags`` are D3DCLEAR_*, by default everything that is bound; ``color`` is A8R8G8B8, ``z``
        from 0 to 1.  Rectangles are clipped here to viewport, target and enabled scissor; those
        with no inside are ignored.  Raises Refused for depth or stencil without a depth surface.
        """
        self._targets.clear(flags, color, z, stencil, rects)
        self.textures.changed(self._targets.colors.values())

    def stretch_rect(
        self,
        source: SurfaceDesc,
        target: SurfaceDesc,
        source_rect: Box | None = None,
        target_rect: Box | None = None,
        filter: TextureFilter = TextureFilter.NONE,
    ) -> None:
        """StretchRect; rectangles are the whole surface by default.  Raises Refused for what
        Direct3D 9 does not allow.
        """
        areas = Area(source, source_rect), Area(target, target_rect)
        stretch(self.session, *areas, filter, in_scene=self.in_scene)
        self.textures.changed([target])

    def color_fill(self, surface: SurfaceDesc, rect: Box | None = None, color: int = 0) -> None:
        """ColorFill of an A8R8G8B8 colour.  Raises Refused for what is no render target."""
        fill(self.session, Area(surface, rect), color)
        self.textures.changed([surface])

    def compose_rects(self, source: SurfaceDesc, target: SurfaceDesc, rects: Rects) -> None:
        """ComposeRects.  Raises Refused for what Direct3D 9 does not allow."""
        compose(self.session, source, target, rects)

    def set_convolution_mono_kernel(self, width: int, height: int) -> None:
        """SetConvolutionMonoKernel of ``width`` x ``height`` texels.  Raises Refused for more than
        7 x 7.
        """
        convolve(self.session, width, height)

    def draw_primitive(self, primitive: PrimitiveType, start: int, count: int) -> None:
        """DrawPrimitive: ``count`` primitives from vertex ``start`` of the bound streams on."""
        self._drawing.primitive(primitive, start, count)

    def draw_indexed_primitive(
        self, primitive: PrimitiveType, base: int, minimum: int, vertices: int, start: int,
        count: int,
    ) -> None:  # fmt: skip
        """DrawIndexedPrimitive: ``count`` primitives from index ``start`` on; indices count from
        vertex ``base``, ``minimum`` and ``vertices`` are only a hint.
        """
        self._drawing.indexed(primitive, base, minimum, vertices, start, count)

    def draw_primitive_up(
        self, primitive: PrimitiveType, count: int, vertices: bytes, stride: int
    ) -> None:
        """DrawPrimitiveUP: ``count`` primitives of ``vertices`` that travel with the call,
        ``stride`` bytes each; stream 0 is unbound afterwards.
        """
        self._drawing.user(primitive, count, vertices, stride)

    def draw_indexed_primitive_up(
        self, primitive: PrimitiveType, minimum: int, vertex_total: int, count: int,
        indices: bytes, index_format: Format, vertices: bytes, stride: int,
    ) -> None:  # fmt: skip
        """DrawIndexedPrimitiveUP of ``count`` primitives: ``vertices``, ``stride`` bytes each, are
        numbered from 0 and hold ``minimum`` + ``vertex_total`` of them.

        Stream 0 and indices are unbound afterwards.
        """
        self._drawing.indexed_user(
            primitive, minimum, vertex_total, count, indices, index_format, vertices, stride
        )

    def draw_rect_patch(
        self, handle: int, segments: Sequence[float] | None, info: RectPatchInfo | None = None
    ) -> None:
        """DrawRectPatch, kept under ``handle`` unless that is 0; without ``info`` the one that is
        kept, whose four ``segments`` are those it was kept with if there are none.  Raises Refused
        for a handle nothing is kept under.
        """
        self._drawing.patch(Op.DRAWRECTPATCH, handle, segments, info)

    def draw_tri_patch(
        self, handle: int, segments: Sequence[float] | None, info: TriPatchInfo | None = None
    ) -> None:
        """DrawTriPatch ``handle``: as ``draw_rect_patch``, with three segments."""
        self._drawing.patch(Op.DRAWTRIPATCH, handle, segments, info)

    def delete_patch(self, handle: int) -> None:
        """DeletePatch.  Raises Refused for a handle nothing is kept under."""
        self._drawing.delete_patch(handle)

    def set_npatch_mode(self, segments: float) -> None:
        """SetNPatchMode: triangles are drawn as N-patches, from 1 of ``segments`` an edge on."""
        self.session.emit(Op.RENDERSTATE, [(RenderState8.PATCHSEGMENTS, dword(float(segments)))])

    def validate_device(self) -> int:
        """ValidateDevice: how many passes the state takes, which is 1.

        Raises Refused for a sampler without filters, and for a depth surface that is smaller
        than the target while it is in use.
        """
        filters = SamplerState.MINFILTER, SamplerState.MAGFILTER
        if not all(self.sampler_state(i, f) for i in range(SAMPLERS) for f in filters):
            raise Refused(HResult.D3DERR_UNSUPPORTEDTEXTUREFILTER, "a sampler without a filter")
        used = any(self.render_state(state) for state in _DEPTH_STATES)
        if used and self._targets.depth_is_smaller:
            raise Refused(HResult.D3DERR_CONFLICTINGRENDERSTATE, "the depth surface is too small")
        return 1

    @property
    def targets(self) -> dict[int, SurfaceDesc]:
        """GetRenderTarget: the colour targets by index."""
        return dict(self._targets.colors)

    @property
    def depth_stencil(self) -> SurfaceDesc | None:
        """GetDepthStencilSurface."""
        return self._targets.depth

    def set_targets(self, color: SurfaceDesc, depth: SurfaceDesc | None) -> None:
        """SetRenderTarget of Direct3D 8: both surfaces, and the viewport is all of the target."""
        self._targets.set_all(color, depth)

    def set_vertex_handle(self, handle: int) -> None:
        """SetVertexShader of Direct3D 8: ``handle`` is a shader with its declaration, or a vertex
        format.
        """
        self._drawing.has_format = handle != 0
        self._shaders.set_handle(handle)

    def create_vertex_program(
        self, declaration: Sequence[int], code: Sequence[int]
    ) -> VertexShader:
        """CreateVertexShader of Direct3D 8: ``declaration`` and ``code`` are DWORDs; without code
        vertices are processed by the fixed functions.
        """
        return VertexShader(self._shaders.program(declaration, code))

    def _before_draw(self) -> None:
        """Textures are brought up to date; what the draw writes is stale from then on."""
        self.textures.prepare()
        self.textures.changed(self._targets.colors.values())

    # Frames

    def begin_scene(self) -> None:
        """BeginScene.  Raises Refused inside a scene."""
        if self.in_scene:
            raise Refused(HResult.D3DERR_INVALIDCALL, "BeginScene inside a scene")
        self._mark_scene(True)

    def end_scene(self) -> None:
        """EndScene.  Raises Refused outside a scene."""
        if not self.in_scene:
            raise Refused(HResult.D3DERR_INVALIDCALL, "EndScene outside a scene")
        self._mark_scene(False)

    def _mark_scene(self, inside: bool) -> None:
        self.in_scene = inside
        self.session.emit(Op.RENDERSTATE, [(_SCENE_CAPTURE, int(inside))])

    def present(self) -> None:
        """Present the first target: submit everything and mark the end of a frame."""
        self.session.mark_frame(self.back_buffer.handle)

    def read_back(self, surface: SurfaceDesc | None = None) -> NDArray[Any]:
        """Wait for the GPU and copy a surface (default: the first target).

        Returns its pixel words, whose dtype is the format's (uint8, uint16 or uint32), in the
        shape (height, width * samples), and (height, width * samples, words) if a pixel has
        several.
        """
        desc = surface or self.back_buffer
        row = COLOR.get(Format(desc.format)) or DEPTH.get(Format(desc.format))
        if row is None:
            raise Unsupported(f"read-back of {Format(desc.format).sdk}")
        self.session.finish()
        size = desc.width * desc.samples * desc.height * row.size
        data = self.session.read(desc.handle, 0, size)
        shape = (-1,) if row.words == 1 else (-1, row.words)
        return np.frombuffer(data, row.word).reshape(desc.height, *shape)

    def close(self) -> None:
        """Submit what is left and destroy the context."""
        self.session.close()
