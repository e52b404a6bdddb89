"""A D3D context: the state its tokens set, its queries, and the packets of its draws."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.d3d.enums import DeclMethod, PrimitiveType, RenderState
from dp2emu.d3d.formats import COLOR, DEPTH, AnyFormat
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.d3d.vertices import MESH_METHODS
from dp2emu.dp2.capabilities import MAX_PRIMITIVES
from dp2emu.dp2.managed import Managed
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import Queries
from dp2emu.dp2.resolve.patches import RECTANGLE, TRIANGLE, Patches, Shape, n_patch
from dp2emu.dp2.resolve.pipeline import Resolutions, Targets
from dp2emu.dp2.resolve.programs import Source
from dp2emu.dp2.resolve.samplers import is_texture
from dp2emu.dp2.resolve.surface_caches import SurfaceCaches
from dp2emu.dp2.resolve.vertices import MAX_INSTANCED, NO_CALL, NO_STREAMS, Streams, VertexStreams
from dp2emu.dp2.shaders import Shaders
from dp2emu.dp2.states.constants import PIXEL_FILES, VERTEX_FILES, Constants
from dp2emu.dp2.states.raw_state import (
    RENDER_STATES,
    STAGE_ROWS,
    TARGETS,
    TEXTURE_BIND,
    State,
    transform_number,
    transform_product,
)
from dp2emu.dp2.states.setting_kinds import DELETE_PATCH, EVICT_MANAGED, Kind
from dp2emu.dp2.states.settings import Blocks, parts, read, write
from dp2emu.dp2.states.stage7 import WRAPS, stage_states, wrapped
from dp2emu.dp2.textures import Textures
from dp2emu.dp2.transfers import Fill, Moves, clear_packet, rect_of
from dp2emu.errors import Fault
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.command.packets import Draw, Indices, InputAssembly
from dp2emu.gpu.command.patches import NPatch, Patch
from dp2emu.gpu.command.topology import fan_edges, list_edges, vertex_count
from dp2emu.gpu.device.gpu import Gpu
from dp2emu.gpu.resource.heap import VOLUMES, Heap, Surface
from dp2emu.gpu.resource.subresources import Box


class Context:
    """State, bindings and queries of one context.  Mutable: tokens act on it.

    ``call`` and ``shadow`` belong to the call that is being executed: its vertices, and its
    lpdwRStates memory if it has any.  The methods named after tokens are called by ``dp2.tokens``;
    they raise Fault for calls that the driver must refuse and Unsupported for missing features.
    ``resolutions`` are the cache of an earlier context of the same interface and targets, which
    ``Resolutions.restart`` has prepared.
    """

    def __init__(
        self,
        number: int,
        interface: int,
        gpu: Gpu,
        options: Options,
        managed: Managed,
        caches: SurfaceCaches,
        *,
        has_depth: bool,
        resolutions: Resolutions | None = None,
    ) -> None:
        self.number = number
        self.interface = interface
        self.gpu = gpu
        self.options = options
        self.state: State = State(has_depth=has_depth, limits=gpu.heap.limits)
        self.vertex_constants: Constants = Constants(VERTEX_FILES, options)
        self.pixel_constants: Constants = Constants(PIXEL_FILES, options)
        self.targets = Targets()
        self.recent = RecentTargets()
        self.textures = Textures(gpu.heap.limits)
        self.managed = managed
        self.moves = Moves(gpu, managed)
        self.queries = Queries(gpu, options, interface)
        self.streams = VertexStreams(caches)
        self.indices: Indices | None = None
        self.shaders: Shaders = Shaders(self.vertex_constants, gpu.heap.limits, gpu.code_budget)
        self.blocks: Blocks = Blocks(gpu.heap.limits, lambda count: gpu.budget.operate(count))
        self.patches = Patches(gpu.heap.limits)
        self.resolutions = resolutions or Resolutions(interface, gpu.heap)
        self.resolutions.use(caches)
        self.call = NO_CALL
        self.shadow: Surface | None = None
        self._shadowed: dict[int, int] = {}
        self._viewed: tuple[Rect | None, Viewport | None, Rect] = None, None, Rect(0, 0, 0, 0)

    def write_shadow(self) -> None:
        """Copy the render states that the call has set to lpdwRStates, at the end of the call.

        Not earlier: lpdwRStates may lie over the commands.
        """
        assert self.shadow is not None
        words = self.shadow.data[: self.shadow.data.nbytes // 4 * 4].view("<u4")
        for state, value in self._shadowed.items():
            if state < len(words):
                words[state] = value
        self._shadowed.clear()

    def destroy(self) -> None:
        """Delete the queries of the context, before it is dropped."""
        self.queries.destroy()

    # State tokens

    def put(self, kind: Kind, index: int, value: Any) -> None:
        """Write a setting, or record it while a state block is being recorded."""
        if self.blocks.recording is None:
            write(self, (kind, index), value)
            return
        for key, part in parts(self, (kind, index), value):
            self.blocks.record(key, part)

    def multiply_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """MULTIPLYTRANSFORM: set payload x the recorded matrix, if any, else x the current."""
        number = transform_number(kind)
        if number is not None:
            key = Kind.TRANSFORM, number
            current = self.blocks.recorded(key) or read(self, key)
            self.put(*key, transform_product(matrix, current))

    def set_render_state(self, state: int, value: int) -> None:
        """RENDERSTATE: set a state; the call's lpdwRStates, if any, receives it after the call."""
        self.state.set_render_state(state, value)
        if self.interface < 8:
            self._set_stage_0(state, value)
        if state == DELETE_PATCH:
            self.patches.delete(value)
        if state == EVICT_MANAGED and value:
            self.managed.evict()
        if self.shadow is not None and state < RENDER_STATES:
            self._shadowed[state] = value

    def repeats_map_blend(self, mode: int) -> bool:
        """Whether D3DRENDERSTATE_TEXTUREMAPBLEND has the value ``mode`` already, so that setting
        it is no operation.
        """
        writes = self.interface < 8 and self.blocks.recording is None
        return writes and self.state.repeats_map_blend(mode)

    def _set_stage_0(self, state: int, value: int) -> None:
        """Set the states of texture stage 0 that correspond to a render state of DirectX 5."""
        for number, setting in stage_states(state, value):
            self.set_texture_stage_state(0, number, setting)
        if state in WRAPS:
            wrap0 = self.state.render_states[RenderState.WRAP0]
            self.state.set_render_state(RenderState.WRAP0, wrapped(state, value, wrap0))
        if state == RenderState7.TEXTUREMAPBLEND:
            self.state.set_map_blend(value)

    def set_texture_stage_state(self, stage: int, state: int, value: int) -> None:
        """TEXTURESTAGESTATE; state 0 binds a texture, or unbinds if the handle is no texture."""
        self.state.set_texture_stage_state(stage, state, value)
        if state == TEXTURE_BIND and stage in STAGE_ROWS:
            self._bind_texture(stage, value)

    def _bind_texture(self, stage: int, handle: int) -> None:
        """Bind a texture.  With ``Options.strict`` raises Fault for a handle that is none."""
        surface = self.gpu.heap.get(handle)
        if surface is not None and not is_texture(surface):
            surface = None
        if handle and surface is None and self.options.strict:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"no texture {handle}")
        self.textures.bind(stage, surface)

    def set_render_target(self, index: int, handle: int) -> None:
        """SETRENDERTARGET(2): bind a colour target; target 0 resets viewport and scissor."""
        if index >= TARGETS:
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"render target {index}")
        surface = self._target(handle, COLOR, "render target")
        colors = list(self.targets.colors)
        colors[index] = surface
        self.targets = Targets(tuple(colors), self.targets.depth)
        self.recent.note(surface)
        if index == 0:
            self._reset_target_rects()

    def set_depth_stencil(self, handle: int) -> None:
        """SETDEPTHSTENCIL: bind the depth-stencil surface; 0 unbinds."""
        depth = self._target(handle, DEPTH, "depth-stencil surface")
        self.targets = Targets(self.targets.colors, depth)
        self.recent.note(depth)

    def set_stream(self, stream: int, handle: int, offset: int, stride: int) -> None:
        """SETSTREAMSOURCE and SETSTREAMSOURCE2: bind a vertex buffer; handle 0 unbinds."""
        self.streams.bind(stream, self.gpu.heap.find(handle) if handle else None, offset, stride)

    def set_stream_um(self, stream: int, stride: int) -> None:
        """SETSTREAMSOURCEUM: a stream reads the user memory of the drawing call."""
        self.streams.bind_user_memory(stream, stride)

    def set_stream_frequency(self, stream: int, value: int) -> None:
        """SETSTREAMSOURCEFREQ: set the advance rate of a stream."""
        self.streams.set_frequency(stream, value)

    def set_indices(self, handle: int, size: int) -> None:
        """SETINDICES: bind the index buffer; handle 0 unbinds."""
        if handle == 0:
            self.indices = None
            return
        if size not in (2, 4):
            raise Fault(HResult.DDERR_INVALIDPARAMS, f"index size {size}")
        self.indices = Indices(self.gpu.heap.find(handle), size)

    # Textures

    def set_palette(self, palette: int, flags: int, handle: int) -> None:
        """SETPALETTE: attach a palette to a surface; palette 0 detaches."""
        self.textures.attach(self.gpu.heap.find(handle), palette, flags)
        self.state.version += 1

    def update_palette(self, palette: int, first: int, entries: NDArray[np.uint32]) -> None:
        """UPDATEPALETTE: set entries from ``first`` on; earlier draws keep the old ones."""
        self.textures.update(palette, first, entries)
        self.state.version += 1

    def set_texture_lod(self, handle: int, level: int) -> None:
        """SETTEXLOD: set the finest level to sample."""
        self.textures.set_most_detailed(self.gpu.heap.find(handle), level)
        self.state.version += 1

    def set_texture_priority(self, handle: int, priority: int) -> None:
        """SETPRIORITY: set the eviction priority of a managed texture."""
        self.textures.set_priority(self.gpu.heap.find(handle), priority)

    def mark_dirty(self, handle: int, texels: Sequence[int]) -> None:
        """ADDDIRTYRECT and ADDDIRTYBOX; a rectangle of a volume means all its slices.

        A texture that is not managed has one copy only, and is ignored.
        """
        surface = self.gpu.heap.find(handle)
        if surface.system is not None:
            slices = () if len(texels) > 4 else (0, surface.desc.depth)
            self.managed.mark(surface, Box(*texels, *slices))

    # Drawing

    def clear(
        self, flags: int, color: int, z: float, stencil: int, rects: NDArray[np.int32]
    ) -> None:
        """CLEAR (wire format, "Clearing"): with COMPUTERECTS the viewport clips the rectangles,
        and no rectangles mean the whole viewport."""
        srgb = bool(self.state.render_states[RenderState.SRGBWRITEENABLE])
        fill = Fill(flags, color, z, stencil, srgb)
        packet = clear_packet(self.targets, self.state.viewport, fill, rects)
        if packet is not None:
            self.gpu.submit(packet)

    def draw_call(self, topology: PrimitiveType, first: int, count: int) -> None:
        """Draw consecutive vertices of the call's vertex buffer (DirectX 6 and 7)."""
        if count == 0:
            return
        stream = self.call.stream(first + vertex_count(topology, count))
        self._draw(self._call_source(), topology, first, count, [(stream,)], None)

    def draw_call_indexed(
        self,
        topology: PrimitiveType,
        indices: NDArray[np.uint32],
        count: int,
        edge_flags: NDArray[np.uint16] | None = None,
    ) -> None:
        """Draw indexed vertices of the call's vertex buffer (DirectX 6 and 7).

        ``indices`` are absolute vertex numbers, ``edge_flags`` the wFlags of each triangle.
        """
        if count == 0:
            return
        stream = self.call.stream(int(indices.max()) + 1)
        edges = None if edge_flags is None else list_edges(edge_flags.astype(np.int64))
        self._draw(self._call_source(), topology, 0, count, [(stream,)], Indices(indices), edges)

    def draw_immediate(
        self, topology: PrimitiveType, vertices: bytes, count: int, edge_flags: int
    ) -> None:
        """Draw the vertices of an _IMM token, copied out of the command buffer.

        ``edge_flags`` count for fans only.
        """
        stream = self.call.immediate(vertices)
        edges = fan_edges(edge_flags, count) if topology is PrimitiveType.TRIANGLEFAN else None
        self._draw(self._call_source(), topology, 0, count, [(stream,)], None, edges)

    def draw_streams(self, topology: int, first: int, count: int, byte_offset: int = 0) -> None:
        """DRAWPRIMITIVE (draw from vertex ``first``), DRAWPRIMITIVE2 (from ``byte_offset``)."""
        shape, source = _topology(topology), self._stream_source()
        streams = self.streams.instances(
            self.call,
            byte_offset,
            first=first,
            dividers=self.shaders.has_dividers,
            read=bool(self.streams.bound) or source.reads_vertices,
        )
        self._draw(source, shape, first, count, streams, None)

    def draw_clipped_fan(self, count: int, byte_offset: int, edge_flags: int) -> None:
        """CLIPPEDTRIANGLEFAN: a fan that the runtime clipped, from stream 0."""
        shape, streams = PrimitiveType.TRIANGLEFAN, self.streams.of_call(self.call, byte_offset)
        _check_count(count)
        edges = fan_edges(edge_flags, count)
        self._draw(self._stream_source(), shape, 0, count, [streams], None, edges)

    def draw_streams_indexed(
        self,
        topology: int,
        base: int,
        start: int,
        count: int,
        base_bytes: int = 0,
        start_bytes: int = 0,
    ) -> None:
        """DRAWINDEXEDPRIMITIVE; also DRAWINDEXEDPRIMITIVE2, with ``base_bytes`` and
        ``start_bytes`` as offsets into vertices and indices.
        """
        if self.indices is None:
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, "indexed draw without an index buffer")
        bound = self.indices
        indices = Indices(bound.data, bound.size, start_bytes, base)
        shape, source = _topology(topology), self._stream_source()
        read = bool(self.streams.bound) or source.reads_vertices
        streams = self.streams.instances(self.call, base_bytes, first=None, read=read)
        self._draw(source, shape, start, count, streams, indices)

    def draw_rectangle_patch(
        self, handle: int, segments: tuple[float, ...] | None, info: tuple[int, ...] | None
    ) -> None:
        """DRAWRECTPATCH: draw a patch, the one stored under ``handle`` if ``info`` is None."""
        self._draw_patch(RECTANGLE, handle, segments, info)

    def draw_triangle_patch(
        self, handle: int, segments: tuple[float, ...] | None, info: tuple[int, ...] | None
    ) -> None:
        """DRAWTRIPATCH: draw a patch, the one stored under ``handle`` if ``info`` is None."""
        self._draw_patch(TRIANGLE, handle, segments, info)

    def _draw_patch(
        self,
        shape: Shape,
        handle: int,
        segments: tuple[float, ...] | None,
        info: tuple[int, ...] | None,
    ) -> None:
        if info is None:
            self._draw_stored_patch(shape, handle, segments)
            return
        source = self._stream_source(shape.methods)
        definition = self.patches.defined(handle, shape.points(info), segments, source.layout)
        streams = self.streams.instances(self.call, 0, first=0)
        patch = definition.patch(self.state.render_states, segments, brought=True)
        self._draw(source, PrimitiveType.TRIANGLELIST, 0, 1, streams, None, patch=patch)
        self.patches.keep(handle, definition)

    def _draw_stored_patch(
        self, shape: Shape, handle: int, segments: tuple[float, ...] | None
    ) -> None:
        definition = self.patches.find(handle, shape)
        if definition is not None:
            source = self._stream_source(shape.methods)
            patch = definition.patch(self.state.render_states, segments, brought=False)
            self._draw(source, PrimitiveType.TRIANGLELIST, 0, 1, [NO_STREAMS], None, patch=patch)
        elif self.options.strict:
            raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"no patch {handle} to draw")

    def _draw(
        self,
        source: Source,
        topology: PrimitiveType,
        first: int,
        count: int,
        streams: Sequence[Streams],
        indices: Indices | None,
        edges: NDArray[np.bool_] | None = None,
        patch: Patch | None = None,
    ) -> None:
        """Submit a draw packet for each instance; ``streams`` are vertex streams by instance."""
        if count == 0:
            return
        _check_count(count, len(streams))
        extent = self.targets.extent
        if extent is None:
            raise Fault(HResult.DDERR_GENERIC, "draw without a render target")
        resolved = self.resolutions.of(self.state, source, self.targets, self.textures)
        divided: Patch | NPatch | None = patch
        if divided is None and resolved.n_patches:
            divided = n_patch(self.state, count * len(streams))
        packet = Draw(
            resolved.pipeline,
            InputAssembly(topology, first, count, streams[0], indices, edges, divided),
            resolved.output,
            self._scissor(extent),
            resolved.raster,
            self.resolutions.vertex_bindings(resolved, self.state, self.vertex_constants),
            self.resolutions.pixel_bindings(resolved, self.pixel_constants),
        )
        for surface in resolved.managed:
            self.managed.upload(surface)
        self.gpu.submit(packet)
        for instance in streams[1:]:
            self.gpu.submit(replace(packet, input=replace(packet.input, streams=instance)))

    def _call_source(self) -> Source:
        """The ``Source`` of draws of the call's vertices: FVF, no shaders (DirectX 6 and 7)."""
        return self.resolutions.source(self.call.format)

    def _stream_source(self, methods: Container[DeclMethod] = MESH_METHODS) -> Source:
        shaders = self.shaders
        format = shaders.format or shaders.vertex_format
        return self.resolutions.source(format, shaders.function, shaders.pixel, methods)

    def _scissor(self, extent: Rect) -> Rect:
        state = self.state
        seen, viewport, rect = self._viewed
        if seen is not extent or viewport is not state.viewport:
            rect = extent.intersect(rect_of(state.viewport))
            self._viewed = extent, state.viewport, rect
        enabled = state.render_states[RenderState.SCISSORTESTENABLE]
        return rect.intersect(state.scissor) if enabled else rect

    # Handles

    def _reset_target_rects(self) -> None:
        color = self.targets.colors[0]
        if color is not None:
            self.state.set_viewport(0, 0, color.width, color.height)
            self.state.set_scissor(0, 0, color.width, color.height)

    def _target(self, handle: int, formats: Container[AnyFormat], what: str) -> Surface | None:
        if handle == 0:
            return None
        surface = self.gpu.heap.find(handle)
        if surface.format not in formats or surface.desc.kind in VOLUMES or surface.system:
            raise Fault(
                HResult.DDERR_GENERIC, f"surface {handle} ({surface.format.sdk}) is no {what}"
            )
        return surface


def _check_count(count: int, instances: int = 1) -> None:
    if count > MAX_PRIMITIVES or count * instances > MAX_INSTANCED:
        often = f"{instances} instances of " if instances > 1 else ""
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"{often}{count} primitives in one draw")


_TOPOLOGIES = {int(topology): topology for topology in PrimitiveType}


def _topology(value: int) -> PrimitiveType:
    found = _TOPOLOGIES.get(value)
    if found is None:
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, f"primitive type {value}")
    return found


RECENT = 64
"""Maximum number of surfaces that ``RecentTargets`` remembers; one more replaces the oldest."""


class RecentTargets:
    """Surfaces that became targets since the last ``take``, for replay observers.  Mutable.

    It stores serial numbers only, so that it keeps no memory alive.
    """

    def __init__(self) -> None:
        self._serials: dict[int, int] = {}

    def note(self, surface: Surface | None) -> None:
        """Remember a surface that has become a target."""
        if surface is None:
            return
        self._serials.pop(surface.handle, None)
        self._serials[surface.handle] = surface.serial
        if len(self._serials) > RECENT:
            del self._serials[next(iter(self._serials))]

    def take(self, heap: Heap) -> list[int]:
        """Forget the remembered surfaces, and return the handles of those that still exist, in the
        order in which they last became targets.
        """
        serials, self._serials = self._serials, {}
        found = ((heap.get(handle), serial) for handle, serial in serials.items())
        return [
            surface.handle
            for surface, serial in found
            if surface is not None and surface.serial == serial
        ]
