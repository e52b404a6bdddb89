"""A Direct3D 9 device in Python: method calls become command bytes on a rig.

It does what a runtime does between interface and driver: handles, default targets, clipping of
Clear rectangles, user-pointer draws, validation.  State is sent as it is set and nothing is
filtered, so a program always gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from dp2emu.argument_check import checked
from dp2emu.capture.records import Record
from dp2emu.d3d.dp2structs import D3DRECTPATCH_INFO, D3DTRIPATCH_INFO, D3DVERTEXELEMENT9, Op
from dp2emu.d3d.enums import (
    Format,
    PrimitiveType,
    QueryType,
    RenderState,
    SamplerState,
    TextureFilter,
    ZBufferType,
)
from dp2emu.d3d.flags import DP2BLT_LINEAR, DP2BLT_POINT, Frequency, PatchFlags, Usage
from dp2emu.d3d.formats import COLOR, DEPTH
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState8
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireRenderState
from dp2emu.dp2.queries import KINDS
from dp2emu.dp2.transfers import MAX_RECTS
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.command.topology import vertex_count
from dp2emu.gpu.resource.heap import SAMPLE_COUNTS, SurfaceDesc, SurfaceKind
from dp2emu.layout import dtype_of
from dp2emu.rig.interface import Rig
from dp2emu.runtime.arguments import (
    Box,
    box_inside,
    dword,
    handle_of,
    index_bytes,
    needed,
    packed,
    words,
)
from dp2emu.runtime.commands import pack
from dp2emu.runtime.objects import (
    Declaration,
    IndexBuffer,
    PixelShader,
    RectPatchInfo,
    Rects,
    Texture,
    TriPatchInfo,
    VertexElement,
    VertexShader,
)
from dp2emu.runtime.query import Query
from dp2emu.runtime.session import COMMAND_BYTES, Refused, Session, UserMemory
from dp2emu.runtime.states import DeviceStates
from dp2emu.runtime.textures import TextureShape, check_format
from dp2emu.shader.texture.bindings import MAX_KERNEL

_SCENE_CAPTURE = sdk_value(WireRenderState, "D3DRENDERSTATE_SCENECAPTURE") or 0
"""Number of the render state by which the driver learns of BeginScene and EndScene (wire format,
"Render states")."""
_DELETE_PATCH = sdk_value(WireRenderState, "D3DRS_DELETERTPATCH") or 0
_PATCH_INFOS = {
    Op.DRAWRECTPATCH: dtype_of(D3DRECTPATCH_INFO),
    Op.DRAWTRIPATCH: dtype_of(D3DTRIPATCH_INFO),
}
SAMPLERS = 16
"""Number of samplers of a pixel shader."""
BLT_FILTERS = {
    TextureFilter.NONE: 0,
    TextureFilter.POINT: DP2BLT_POINT,
    TextureFilter.LINEAR: DP2BLT_LINEAR,
}
"""DP2BLT_* flags of the BLT token, by the filter that StretchRect was given."""
_DEPTH_STATES = RenderState.ZENABLE, RenderState.ZWRITEENABLE, RenderState.STENCILENABLE
_CONSTANTS_A_TOKEN = 1024
"""Largest number of shader constant registers that one token sets; larger sets are split."""
_USER_DRAW_BYTES = 64
"""Bytes reserved for the tokens of a user-pointer draw, which must share a call with its
vertices."""


@checked
class Device9(DeviceStates):
    """IDirect3DDevice9 over a rig, with a first target and depth surface.

    Of several formats of ``depth`` the depth surface has the first that the rig creates; with None
    there is no depth surface.  ``command_bytes`` is the size of the command buffer in bytes.
    ``record`` receives every event (``Session``).  A ``session`` that is given must not be
    open; with its ``interface`` 8 the tokens are a Direct3D 8 runtime's.  ``textures`` has the
    methods of textures and palettes.  Calls that return an error code to an application raise
    ``Refused``; a call that the driver fails raises Fault, an unimplemented feature Unsupported.

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
        depth: Format | Sequence[Format] | None = (Format.D24S8, Format.D16),
        samples: int = 1,
        command_bytes: int = COMMAND_BYTES,
        record: Callable[[Record], None] | None = None,
        session: Session | None = None,
    ) -> None:
        super().__init__(session or Session(rig, command_bytes=command_bytes, record=record))
        self.back_buffer = self.create_render_target(width, height, format, samples)
        self.depth_buffer = self._first_depth(width, height, depth, samples)
        self._streams: set[int] = set()
        self._has_indices = self._has_format = False
        self._vertex_shader: VertexShader | None = None
        self._patches: set[int] = set()
        self._objects = self._vertex_function = 0
        self.session.open(self.back_buffer.handle, handle_of(self.depth_buffer))
        self._begin()

    def _first_depth(
        self, width: int, height: int, depth: Format | Sequence[Format] | None, samples: int
    ) -> SurfaceDesc | None:
        """A depth surface of the first of several formats that the rig creates."""
        formats = [depth] if isinstance(depth, Format) else list(depth or ())
        for format in formats[:-1]:
            with suppress(Fault):
                return self.create_depth_stencil(width, height, format, samples)
        return self.create_depth_stencil(width, height, formats[-1], samples) if formats else None

    def _begin(self) -> None:
        self.in_scene = False
        self.set_targets(self.back_buffer, self.depth_buffer)
        z_enable = ZBufferType.TRUE if self.depth_buffer else ZBufferType.FALSE
        self.set_render_state(RenderState.ZENABLE, z_enable)

    def reset(self, back_buffer: SurfaceDesc, depth_buffer: SurfaceDesc | None) -> None:
        """Reset: bind a new target 0 and depth surface, and unbind all other colour targets."""
        for index in sorted(self.targets.keys() - {0}):
            self.set_render_target(index, None)
        self.back_buffer, self.depth_buffer = back_buffer, depth_buffer
        self._begin()

    # Resources

    def create_render_target(
        self, width: int, height: int, format: Format, samples: int = 1
    ) -> SurfaceDesc:
        """CreateRenderTarget of ``width`` x ``height`` pixels with 1, 2, 4 or 8 ``samples``.

        Raises Refused for other counts, Unsupported or Fault as the rig does.
        """
        return self._create_target(width, height, format, samples, Usage.RENDERTARGET)

    def create_depth_stencil(
        self, width: int, height: int, format: Format, samples: int = 1
    ) -> SurfaceDesc:
        """CreateDepthStencilSurface of ``width`` x ``height`` pixels with the ``samples`` of its
        targets.  Raises as ``create_render_target``.
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
        """CreateVertexBuffer, filled with ``data``.  Raises Refused without any."""
        return self._create_buffer(SurfaceKind.VERTEXBUFFER, data)

    def create_index_buffer(self, data: bytes, format: Format = Format.INDEX16) -> IndexBuffer:
        """CreateIndexBuffer, filled with ``data``; ``format`` is INDEX16 or INDEX32.

        Raises Refused for other formats and without data.
        """
        size = index_bytes(format)
        return IndexBuffer(self._create_buffer(SurfaceKind.INDEXBUFFER, data), size)

    def _create_buffer(self, kind: SurfaceKind, data: bytes) -> SurfaceDesc:
        if not data:
            raise Refused(HResult.D3DERR_INVALIDCALL, "a buffer of 0 bytes")
        desc = self.session.create_surface(kind, len(data))
        self.session.write(desc.handle, 0, data)
        return desc

    def create_texture(
        self, width: int, height: int, format: Format, data: Sequence[bytes] = (), *,
        levels: int = 1, usage: int = 0, managed: bool = False,
    ) -> Texture:  # fmt: skip
        """CreateTexture of ``width`` x ``height`` texels; ``data`` has packed rows (of blocks) for
        each level.

        ``levels`` 0 is the whole chain, ``usage`` D3DUSAGE_*, ``managed`` leaves its memory to the
        driver.  Raises Refused for invalid arguments, UsageError for data of another size,
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
        level.  ``levels``, ``usage``, ``managed`` and errors as for ``create_texture``.
        """
        kind = SurfaceKind.CUBETEXTURE
        shape = TextureShape(kind, edge, edge, format, 1, levels, usage, managed)
        return self.textures.create(shape, data)

    def create_volume_texture(
        self, width: int, height: int, depth: int, format: Format, data: Sequence[bytes] = (), *,
        levels: int = 1, usage: int = 0, managed: bool = False,
    ) -> Texture:  # fmt: skip
        """CreateVolumeTexture of ``width`` x ``height`` x ``depth`` texels.

        ``data`` has the bytes of each level, packed, slices from front to back.  ``levels``,
        ``usage``, ``managed`` and exceptions are as in ``create_texture``.
        """
        kind = SurfaceKind.VOLUMETEXTURE
        shape = TextureShape(kind, width, height, format, depth, levels, usage, managed)
        return self.textures.create(shape, [data])

    def write(self, buffer: SurfaceDesc | IndexBuffer, offset: int, data: bytes) -> None:
        """Write ``data`` at byte ``offset`` of a buffer, as Lock with NOOVERWRITE: draws in
        progress may see it.
        """
        desc = buffer.desc if isinstance(buffer, IndexBuffer) else buffer
        self.session.write(desc.handle, offset, data)

    def query_types(self) -> tuple[int, ...]:
        """The D3DQUERYTYPE values that the driver announces, or all if it announces none."""
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

    # Shaders

    def create_vertex_declaration(self, elements: Sequence[VertexElement]) -> Declaration:
        """CreateVertexDeclaration; ``elements`` do not include D3DDECL_END.

        Raises the driver's Fault if it refuses the declaration, which it gets immediately.
        """
        op, records = Op.CREATEVERTEXSHADERDECL, [astuple(element) for element in elements]
        data = pack(dtype_of(D3DVERTEXELEMENT9), records, op)
        return Declaration(self._create_object(op, data, len(elements)))

    def create_vertex_shader(self, code: Sequence[int]) -> VertexShader:
        """CreateVertexShader of ``code``, DWORDs with the end token."""
        data = words(code)
        return VertexShader(self._create_object(Op.CREATEVERTEXSHADERFUNC, data, len(data)), data)

    def create_pixel_shader(self, code: Sequence[int]) -> PixelShader:
        """CreatePixelShader of ``code``, DWORDs with the end token."""
        data = words(code)
        return PixelShader(self._create_object(Op.CREATEPIXELSHADER, data, len(data)))

    def create_vertex_program(
        self, declaration: Sequence[int], code: Sequence[int]
    ) -> VertexShader:
        """CreateVertexShader of Direct3D 8: ``declaration`` and ``code`` are DWORDs; without code
        vertex processing is fixed-function.
        """
        parts = words(declaration), words(code)
        op, sizes = Op.CREATEVERTEXSHADER, map(len, parts)
        return VertexShader(self._create_object(op, b"".join(parts), *sizes))

    def _create_object(self, op: Op, data: bytes, *sizes: int) -> int:
        """Create an object in a separate call, so that its failure means a failed creation.

        Returns its handle, which is odd; even ones are vertex formats (wire format, "Shaders and
        constants").
        """
        self._objects += 1
        handle = 2 * self._objects - 1
        self.session.flush()
        self.session.commands.emit_tailed(op, (handle, *sizes), data)
        self.session.flush()
        return handle

    def set_fvf(self, fvf: int) -> None:
        """SetFVF (wire format, "Shaders and constants"); the vertex shader stays bound.

        Raises Refused for an FVF with bit 0, which means a declaration.
        """
        if fvf & 1:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"FVF {fvf:#x}")
        self._set_format(fvf)

    def set_vertex_declaration(self, declaration: Declaration | None) -> None:
        """SetVertexDeclaration; None unbinds, and draws are refused without one."""
        self._set_format(declaration.handle if declaration else 0)

    def _set_format(self, handle: int) -> None:
        self._has_format = handle != 0
        self.session.emit(Op.SETVERTEXSHADERDECL, [(handle,)])
        self._set_vertex_function(self._vertex_function)

    def set_vertex_shader(self, shader: VertexShader | None) -> None:
        """SetVertexShader; None for fixed-function vertex processing."""
        self._vertex_shader = shader
        self._set_vertex_function(shader.handle if shader else 0)

    def _set_vertex_function(self, handle: int) -> None:
        self._vertex_function = handle
        self.session.emit(Op.SETVERTEXSHADERFUNC, [(handle,)])

    def set_vertex_handle(self, handle: int) -> None:
        """SetVertexShader of Direct3D 8: ``handle`` is a shader with its declaration, or a vertex
        format.
        """
        self._has_format = handle != 0
        self.session.emit(Op.SETVERTEXSHADER, [(handle,)])

    def set_pixel_shader(self, shader: PixelShader | None) -> None:
        """SetPixelShader; None for the fixed-function texture stages."""
        self.session.emit(Op.SETPIXELSHADER, [(shader.handle if shader else 0,)])

    def set_vertex_constants(self, first: int, rows: Sequence[Sequence[float]]) -> None:
        """SetVertexShaderConstantF: ``rows`` of four floats, for registers from ``first`` on."""
        self._set_constants(Op.SETVERTEXSHADERCONST, first, rows, np.float32)

    def set_vertex_integers(self, first: int, rows: Sequence[Sequence[int]]) -> None:
        """SetVertexShaderConstantI: ``rows`` of four integers, for registers from ``first`` on."""
        self._set_constants(Op.SETVERTEXSHADERCONSTI, first, rows, np.int32)

    def set_vertex_booleans(self, first: int, values: Sequence[bool]) -> None:
        """SetVertexShaderConstantB: ``values`` of registers from ``first`` on."""
        self._set_constants(Op.SETVERTEXSHADERCONSTB, first, values, np.uint32)

    def set_pixel_constants(self, first: int, rows: Sequence[Sequence[float]]) -> None:
        """SetPixelShaderConstantF: ``rows`` of four floats, for registers from ``first`` on."""
        self._set_constants(Op.SETPIXELSHADERCONST, first, rows, np.float32)

    def set_pixel_integers(self, first: int, rows: Sequence[Sequence[int]]) -> None:
        """SetPixelShaderConstantI: ``rows`` of four integers, for registers from ``first`` on."""
        self._set_constants(Op.SETPIXELSHADERCONSTI, first, rows, np.int32)

    def set_pixel_booleans(self, first: int, values: Sequence[bool]) -> None:
        """SetPixelShaderConstantB: ``values`` of registers from ``first`` on."""
        self._set_constants(Op.SETPIXELSHADERCONSTB, first, values, np.uint32)

    def _set_constants(self, op: Op, first: int, rows: Sequence[Any], dtype: type[Any]) -> None:
        for start in range(0, len(rows), _CONSTANTS_A_TOKEN):
            part = rows[start : start + _CONSTANTS_A_TOKEN]
            data = packed(part, dtype)
            self.session.commands.emit_tailed(op, (first + start, len(part)), data)

    # Transfers

    def stretch_rect(
        self,
        source: SurfaceDesc,
        target: SurfaceDesc,
        source_rect: Box | None = None,
        target_rect: Box | None = None,
        filter: TextureFilter = TextureFilter.NONE,
    ) -> None:
        """StretchRect; ``source_rect`` and ``target_rect`` default to the whole surfaces.

        Raises Refused for what Direct3D 9 does not allow.
        """
        if filter not in BLT_FILTERS or source == target:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"StretchRect with {filter.sdk}")
        boxes = box_inside(source, source_rect), box_inside(target, target_rect)
        if (source.usage | target.usage) & Usage.DEPTHSTENCIL:
            # Depth is copied outside of scenes, whole, between surfaces of one size and format.
            alike = len({(each.width, each.height, each.format) for each in (source, target)}) == 1
            whole = (0, 0, source.width, source.height)
            if self.in_scene or not alike or boxes != (whole, whole):
                raise Refused(HResult.D3DERR_INVALIDCALL, "StretchRect of depth")
        elif not target.usage & Usage.RENDERTARGET:
            what = "StretchRect to a surface without D3DUSAGE_RENDERTARGET"
            raise Refused(HResult.D3DERR_INVALIDCALL, what)
        item = (source.handle, boxes[0], 0, target.handle, boxes[1], 0, BLT_FILTERS[filter])
        self.session.emit(Op.BLT, [item])
        self.textures.changed([target])

    def color_fill(self, surface: SurfaceDesc, rect: Box | None = None, color: int = 0) -> None:
        """ColorFill of ``rect``, by default all, with ``color``, an A8R8G8B8.

        Raises Refused for surfaces that are not render targets.
        """
        if not surface.usage & Usage.RENDERTARGET:
            what = "ColorFill of a surface without D3DUSAGE_RENDERTARGET"
            raise Refused(HResult.D3DERR_INVALIDCALL, what)
        box = box_inside(surface, rect)
        self.session.emit(Op.COLORFILL, [(surface.handle, box, color & 0xFFFFFFFF)])
        self.textures.changed([surface])

    def compose_rects(self, source: SurfaceDesc, target: SurfaceDesc, rects: Rects) -> None:
        """ComposeRects.  Raises Refused for what Direct3D 9 does not allow."""
        if source == target or {source.format, target.format} != {Format.A1}:
            what = "ComposeRects takes two surfaces of D3DFMT_A1"
            raise Refused(HResult.D3DERR_INVALIDCALL, what)
        if not 0 <= rects.count <= MAX_RECTS:
            what = f"ComposeRects of {rects.count} rectangles"
            raise Refused(HResult.D3DERR_INVALIDCALL, what)
        item = (
            source.handle, target.handle, rects.sources.handle, rects.count, rects.places.handle,
            rects.operation, *rects.offset,
        )  # fmt: skip
        self.session.emit(Op.COMPOSERECTS, [item])

    def set_convolution_mono_kernel(self, width: int, height: int) -> None:
        """SetConvolutionMonoKernel of ``width`` x ``height`` texels, which has no weights in
        Direct3D 9.  Raises Refused for more than 7 x 7.
        """
        if not (0 < width <= MAX_KERNEL and 0 < height <= MAX_KERNEL):
            raise Refused(HResult.D3DERR_INVALIDCALL, f"a kernel of {width} x {height}")
        op = Op.SETCONVOLUTIONKERNELMONO
        self.session.commands.emit_tailed(op, (width, height, 0), b"")

    # Drawing

    def set_stream_source(
        self, stream: int, buffer: SurfaceDesc | None, offset: int = 0, stride: int = 0
    ) -> None:
        """SetStreamSource number ``stream``; ``offset`` and ``stride`` in bytes, None unbinds."""
        (self._streams.discard if buffer is None else self._streams.add)(stream)
        handle = handle_of(buffer)
        if self.session.interface < 9:
            self.session.emit(Op.SETSTREAMSOURCE, [(stream, handle, stride)])
        else:
            self.session.emit(Op.SETSTREAMSOURCE2, [(stream, handle, offset, stride)])

    def set_stream_frequency(self, stream: int, value: int) -> None:
        """SetStreamSourceFreq of ``stream``; ``value`` is a divider, or D3DSTREAMSOURCE flags and
        a number.  Raises Refused for combinations that the runtime does not allow.
        """
        if not Frequency.of(value).allowed(stream):
            raise Refused(HResult.D3DERR_INVALIDCALL, f"stream {stream}: frequency {value:#x}")
        self.session.emit(Op.SETSTREAMSOURCEFREQ, [(stream, value)])

    def set_indices(self, buffer: IndexBuffer | None) -> None:
        """SetIndices; None unbinds."""
        self._has_indices = buffer is not None
        item = (buffer.desc.handle, buffer.size) if buffer else (0, 2)
        self.session.emit(Op.SETINDICES, [item])

    def draw_primitive(self, primitive: PrimitiveType, start: int, count: int) -> None:
        """DrawPrimitive: ``count`` primitives of the bound streams from vertex ``start`` on.

        This and the other draws raise Refused without a vertex format, indices or, unless the
        vertex shader has no inputs, streams.
        """
        self._require(self._can_fetch, "streams")
        if count:
            self._before_draw()
            self.session.emit(Op.DRAWPRIMITIVE, [(primitive, start, count)])

    def draw_indexed_primitive(
        self, primitive: PrimitiveType, base: int, minimum: int, vertices: int, start: int,
        count: int,
    ) -> None:  # fmt: skip
        """DrawIndexedPrimitive: ``count`` primitives from index ``start`` on; indices count from
        vertex ``base``, ``minimum`` and ``vertices`` are a hint.
        """
        self._require(self._can_fetch, "streams")
        self._require(self._has_indices, "index buffer")
        if count:
            self._before_draw()
            item = (primitive, base, minimum, vertices, start, count)
            self.session.emit(Op.DRAWINDEXEDPRIMITIVE, [item])

    def draw_primitive_up(
        self, primitive: PrimitiveType, count: int, vertices: bytes, stride: int
    ) -> None:
        """DrawPrimitiveUP: ``count`` primitives of ``vertices``, ``stride`` bytes each, which are
        sent with the call.  Unbinds stream 0.
        """
        self._require(stride > 0, "stride")
        if count == 0:
            return
        used = needed(vertices, vertex_count(primitive, count) * stride, "vertices")
        self._read_user_memory(stride)
        self.session.emit(Op.DRAWPRIMITIVE, [(primitive, 0, count)])
        self._submit(UserMemory(used, stride))

    def draw_indexed_primitive_up(
        self, primitive: PrimitiveType, minimum: int, vertex_total: int, count: int,
        indices: bytes, index_format: Format, vertices: bytes, stride: int,
    ) -> None:  # fmt: skip
        """DrawIndexedPrimitiveUP of ``count`` primitives: ``vertices`` has ``minimum`` +
        ``vertex_total`` vertices of ``stride`` bytes, and ``indices`` go through a temporary
        buffer of ``index_format``.  Unbinds stream 0 and the index buffer.
        """
        self._require(stride > 0, "stride")
        if count == 0:
            return
        size = vertex_count(primitive, count) * index_bytes(index_format)
        used = needed(indices, size, "indices")
        data = needed(vertices, (minimum + vertex_total) * stride, "vertices")
        buffer = self.create_index_buffer(used, index_format)
        self._read_user_memory(stride)
        self.set_indices(buffer)
        item = (primitive, 0, minimum, vertex_total, 0, count)
        self.session.emit(Op.DRAWINDEXEDPRIMITIVE, [item])
        self.set_indices(None)
        self._submit(UserMemory(data, stride))
        self.session.destroy_surface(buffer.desc.handle)

    def _before_draw(self) -> None:
        """Prepare the bound textures for a draw: generate their out-of-date levels, attach
        palettes.

        Levels that are generated from the render targets become out of date.
        """
        self.textures.prepare()
        self.textures.changed(self.targets.values())

    def _read_user_memory(self, stride: int) -> None:
        """Have stream 0 read the call's lpVertices (SETSTREAMSOURCEUM), with ``stride`` in bytes.

        Reserves bytes in the command buffer, so that the draw's tokens are in that call.
        """
        self._before_draw()
        self.session.commands.reserve(_USER_DRAW_BYTES)
        self.session.emit(Op.SETSTREAMSOURCEUM, [(0, stride)])

    def _submit(self, vertices: UserMemory) -> None:
        self.session.submit_with(vertices)
        self._streams.discard(0)

    @property
    def _can_fetch(self) -> bool:
        """Whether a draw has the streams that it needs: at least one, if it reads vertices."""
        shader = self._vertex_shader
        return bool(self._streams) or (shader is not None and not shader.reads_vertices)

    def _require(self, bound: bool, what: str) -> None:
        if not bound:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"draw without {what}")
        if not self._has_format:
            raise Refused(HResult.D3DERR_INVALIDCALL, "draw without a vertex format")

    def draw_rect_patch(
        self, handle: int, segments: Sequence[float] | None, info: RectPatchInfo | None = None
    ) -> None:
        """DrawRectPatch, which stores the patch under ``handle`` unless that is 0.

        ``info`` None draws the stored patch; ``segments`` are four numbers, None for the stored
        ones.  Raises Refused for a handle without a patch.
        """
        self._draw_patch(Op.DRAWRECTPATCH, handle, segments, info)

    def draw_tri_patch(
        self, handle: int, segments: Sequence[float] | None, info: TriPatchInfo | None = None
    ) -> None:
        """DrawTriPatch, which stores the patch under ``handle`` unless that is 0.

        ``info`` None draws the stored patch; ``segments`` are three numbers, None for the stored
        ones.  Raises Refused for a handle without a patch.
        """
        self._draw_patch(Op.DRAWTRIPATCH, handle, segments, info)

    def _draw_patch(
        self,
        op: Op,
        handle: int,
        segments: Sequence[float] | None,
        info: RectPatchInfo | TriPatchInfo | None,
    ) -> None:
        if info is None and handle not in self._patches:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"no patch {handle}")
        self._require(bool(self._streams) or info is None, "streams")
        self._before_draw()
        flags, data = PatchFlags(0), b""
        if segments is not None:
            flags, data = PatchFlags.HASSEGS, pack(np.dtype("<f4"), segments, op)
        if info is not None:
            flags |= PatchFlags.HASINFO
            data += pack(_PATCH_INFOS[op], [astuple(info)], op)
            self._patches |= {handle} - {0}
        self.session.commands.emit_tailed(op, (handle, flags), data)

    def delete_patch(self, handle: int) -> None:
        """DeletePatch.  Raises Refused for a ``handle`` without a patch."""
        if handle not in self._patches:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"no patch {handle}")
        self._patches.remove(handle)
        self.session.emit(Op.RENDERSTATE, [(_DELETE_PATCH, handle)])

    def set_npatch_mode(self, segments: float) -> None:
        """SetNPatchMode: draw triangles as N-patches, if ``segments`` per edge is at least 1."""
        self.session.emit(Op.RENDERSTATE, [(RenderState8.PATCHSEGMENTS, dword(float(segments)))])

    def validate_device(self) -> int:
        """ValidateDevice: the number of passes, which is 1.

        Raises Refused for a sampler without filters, and for depth or stencil tests with a depth
        surface smaller than the target.
        """
        filters = SamplerState.MINFILTER, SamplerState.MAGFILTER
        if not all(self.sampler_state(i, f) for i in range(SAMPLERS) for f in filters):
            raise Refused(HResult.D3DERR_UNSUPPORTEDTEXTUREFILTER, "a sampler without a filter")
        if any(map(self.render_state, _DEPTH_STATES)) and self._depth_is_smaller:
            raise Refused(HResult.D3DERR_CONFLICTINGRENDERSTATE, "the depth surface is too small")
        return 1

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
        """Present the first target: submit the command buffer and mark the end of a frame."""
        self.session.mark_frame(self.back_buffer.handle)

    def read_back(self, surface: SurfaceDesc | None = None) -> NDArray[Any]:
        """Wait for the GPU and copy a surface (default: the first target).

        Returns its pixel words, whose dtype is the format's (uint8, uint16 or uint32), in the
        shape (height, width * samples), and (height, width * samples, words) if a pixel has
        several.  Raises Unsupported for formats of neither colour nor depth.
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
        """Submit the command buffer and destroy the context."""
        self.session.close()
