"""The draw and dispatch functions: turn the current bindings into packets of the GPU.

Source: Direct3D 10/11 DDI, "Device functions"; d3d10umddi.h for compute shaders.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import is_
from typing import Any

from msgspec.structs import replace

from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.enums import FillMode
from dp2emu.d3d.enums10 import Topology10
from dp2emu.d3d.formats import Coding
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
from dp2emu.ddi10.draws.post_vertex import ClipperInput, PostVertexBindings
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.ddi10.resources.unordered_access import UnorderedSlots, UnorderedViews
from dp2emu.ddi10.resources.views import DepthStencilFlag, TargetView
from dp2emu.ddi10.shaders.shader import INSTANCE_FILE, Shader
from dp2emu.ddi10.shaders.stage_resources import StageResources, UnitBindings
from dp2emu.ddi10.shaders.stages import Stages
from dp2emu.ddi10.states.bindings import Bindings, Viewport, scissor_rect
from dp2emu.ddi10.states.state_objects import RasterizerDesc
from dp2emu.gpu.command.bindings import FloatViewport, Topology
from dp2emu.gpu.command.packets import (
    Dispatch,
    Draw,
    Indices,
    IndirectDraw,
    InputAssembly,
    Instances,
    MergeNumbers,
    OutputBindings,
    RasterBindings,
    Stream,
)
from dp2emu.gpu.command.pipeline import DepthState, Pipeline, RasterState
from dp2emu.gpu.command.post_vertex_stages import PostVertexStages
from dp2emu.gpu.command.stream_targets import Filled
from dp2emu.gpu.command.topology import CORNERS, PATCHES, primitive_count
from dp2emu.gpu.input_assembler.indirect_arguments import ARGUMENTS, INDEXED_ARGUMENTS, check_size
from dp2emu.gpu.resource.heap import Surface
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import BlendState
from dp2emu.shader.ir import Program
from dp2emu.shader.ir import Stage as Kind

_TOPOLOGIES: dict[int, Topology] = {int(topology): topology for topology in Topology10}
"""Primitive topology for each D3D10_DDI_PRIMITIVE_TOPOLOGY number."""

_STRIPS = (Topology10.LINESTRIP, Topology10.TRIANGLESTRIP, Topology10.LINESTRIP_ADJ,
           Topology10.TRIANGLESTRIP_ADJ)  # fmt: skip
"""Topologies in which an index of all ones restarts the strip."""

_FOUR_FLOATS, _FOUR_WORDS = struct.Struct("<4f"), struct.Struct("<4I")
_NO_VIEWPORT = Viewport(0, 0, 0, 0)
"""The viewport of draws before the first SetViewports."""

_BASE = 1 << 31
"""Offset that maps the range of an INT (a draw's BaseVertex) to the range of a UINT."""


_Parts = tuple[
    Pipeline,
    PostVertexStages | None,
    tuple[UnitBindings, UnitBindings],
    tuple[Surface | None, ...],
    Surface | None,
]
"""A draw's pipeline, stages between the vertex shader and the rasterizer, units of the vertex and
the pixel shader, and targets."""


class Draws:
    """The draw functions of a device.  Mutable: it keeps what the last draw was made of."""

    def __init__(
        self, context: Context, resources: Resources, stages: Stages, bindings: Bindings
    ) -> None:
        self._contract = context.contract
        self._interface = context.interface
        self._resources = resources
        self._stages = stages
        self._bindings = bindings
        self._post_vertex = PostVertexBindings(stages, bindings)
        self._kept_colors: IdentityCache[tuple[Surface | None, ...]] = IdentityCache(1)
        self._kept_depth: IdentityCache[tuple[Surface | None, ...]] = IdentityCache(1)
        self._kept_pipeline: IdentityCache[Pipeline] = IdentityCache(1)
        self._kept_output: IdentityCache[OutputBindings] = IdentityCache(1)
        self._kept_raster: IdentityCache[RasterBindings] = IdentityCache(1)
        self._gpu = context.gpu
        self._last: tuple[object, ...] = ()
        self._vertex_resources = StageResources(stages.vertex)
        self._pixel_resources = StageResources(stages.pixel)

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            "Draw": self.draw,
            "DrawIndexed": self.draw_indexed,
            "DrawInstanced": self.draw_instanced,
            "DrawIndexedInstanced": self.draw_indexed_instanced,
            "DrawAuto": self.draw_auto,
            "DrawInstancedIndirect": partial(self.draw_indirect, False),
            "DrawIndexedInstancedIndirect": partial(self.draw_indirect, True),
        }

    def draw(self, vertices: int, start: int) -> None:
        """Draw."""
        self._draw(vertices, start, None, Instances(1))

    def draw_indexed(self, indices: int, start: int, base: int) -> None:
        """DrawIndexed."""
        self._draw(indices, start, base, Instances(1))

    def draw_instanced(
        self, vertices: int, instances: int, start: int, start_instance: int
    ) -> None:
        """DrawInstanced."""
        self._draw(vertices, start, None, Instances(instances, start_instance))

    def draw_indexed_instanced(
        self, indices: int, instances: int, start: int, base: int, start_instance: int
    ) -> None:
        """DrawIndexedInstanced."""
        self._draw(indices, start, base, Instances(instances, start_instance))

    def draw_indirect(self, indexed: bool, buffer: bytearray, offset: int) -> None:
        """DrawInstancedIndirect, or DrawIndexedInstancedIndirect if ``indexed``.

        The draw arguments are in ``buffer`` at byte ``offset``.
        """
        entry = "DrawIndexedInstancedIndirect" if indexed else "DrawInstancedIndirect"
        arguments = self._resources.objects.open(buffer, entry)
        self._contract.check(is_uint(offset) and offset % 4 == 0, Rule.NUMBERS, entry)
        size = 4 * (INDEXED_ARGUMENTS if indexed else ARGUMENTS)
        inside = arguments.is_buffer and offset + size <= arguments.surface.width
        self._contract.check(inside, Rule.INSIDE, entry)
        drawn = self._drawable(indexed)
        if drawn is not None:
            topology, vertex = drawn
            base = 0 if indexed else None
            parts = self._parts(topology, 0, vertex)
            draw = self._packet(topology, 0, 0, base, Instances(0), vertex, parts)
            packet = IndirectDraw(draw, arguments.surface, offset)
            self._resources.record(packet, arguments, *self._used(indexed))

    def draw_auto(self) -> None:
        """DrawAuto: draw the vertices that stream output wrote to the vertex buffer in slot 0.

        Only whole vertices count.  Without a buffer there, or with a stride of 0, it draws
        nothing.
        """
        source = self._bindings.vertex_buffers.get(0)
        if source is not None and source.stride:
            most = source.resource.desc.pMipInfoList[0].TexelWidth // source.stride
            self._draw(most, 0, None, Instances(1), source.resource.filled)

    def _draw(
        self,
        count: int,
        start: int,
        base: int | None,
        instances: Instances,
        filled: Filled | None = None,
    ) -> None:
        """Record a draw of ``count`` vertices, or of ``count`` indices if ``base`` is not None.

        With ``filled`` the GPU takes the number of vertices from there when it executes the draw,
        and ``count`` is the maximum.  Nothing is drawn without a topology, a vertex shader or a
        required index buffer, or if the bound shaders do not accept the topology.  Raises
        Unsupported.
        """
        numbers = count, start, instances.count, instances.first
        self._contract.check(all(map(is_uint, numbers)), Rule.NUMBERS, "Draw")
        self._contract.check(base is None or is_uint(base + _BASE), Rule.NUMBERS, "Draw")
        drawn = self._drawable(base is not None)
        if drawn is None:
            return
        topology, vertex = drawn
        primitives = primitive_count(topology, count)
        check_size(primitives, instances.count)
        if not primitives or not instances.count:
            return
        self._check_hazards()
        parts = self._parts(topology, primitives * instances.count, vertex)
        if filled is None and self._repeats(topology, parts):
            return
        packet = self._packet(topology, count, start, base, instances, vertex, parts)
        if filled is not None:
            packet = replace(packet, input=replace(packet.input, filled=filled))
        self._resources.record(packet, *self._used(base is not None))

    def _check_hazards(self) -> None:
        """Check in checking mode that no stream output target is a vertex or index buffer too."""
        at = self._bindings
        if self._stages.geometry.stream_output is not None:
            written = {id(resource.surface) for resource in at.stream_targets.values()}
            read = [buffer.resource for buffer in at.vertex_buffers.values()]
            read += [at.index_buffer.resource] if at.index_buffer is not None else []
            disjoint = written.isdisjoint(id(resource.surface) for resource in read)
            self._contract.check(disjoint, Rule.STREAMED_AND_READ, "Draw")

    def lacking(self, indexed: bool) -> str:
        """Return what is missing for a draw, so that it draws nothing; empty if nothing is."""
        at = self._bindings
        topology = _TOPOLOGIES.get(at.topology)
        if topology is None:
            return "no primitive topology is set"
        if self._stages.vertex.shader is None:
            return "no vertex shader is set"
        if indexed and at.index_buffer is None:
            return "no index buffer is set"
        if not self._post_vertex.accepts(topology):
            return "the shaders do not accept the primitive topology"
        return ""

    def bound_surfaces(self) -> tuple[Surface, ...]:
        """Return the surfaces of the bound targets, the depth surface last."""
        at = self._bindings
        colors, (depth,) = (_surfaces(each)[1]() for each in (at.targets, [at.depth]))
        return tuple(surface for surface in (*colors, depth) if surface is not None)

    def _drawable(self, indexed: bool) -> tuple[Topology, Shader] | None:
        """The topology and vertex shader of a draw, None if its bindings are incomplete."""
        vertex = self._stages.vertex.shader
        if self.lacking(indexed) or vertex is None:
            return None
        return _TOPOLOGIES[self._bindings.topology], vertex

    def _parts(self, topology: Topology, primitives: int, vertex: Shader) -> _Parts:
        """The parts of a draw's packet that depend on what is bound, besides its input; raises
        as ``_draw`` does.  ``primitives`` counts those of all instances.
        """
        at, pixel = self._bindings, self._stages.pixel.shader
        colors = self._kept_colors.of(*_surfaces(at.targets))
        (depth,) = self._kept_depth.of(*_surfaces([at.depth]))
        units = self._vertex_resources.units(), self._pixel_resources.units()
        post_vertex = self._post_vertex.stages(vertex, topology, primitives)
        pipeline = self._kept_pipeline.of(
            (vertex, *self._post_vertex.shaders, pixel, *colors, *units, at.layout, at.depth,
             at.depth_stencil, at.rasterizer, at.blending, topology),
            lambda: self._pipeline(vertex, pixel, colors, units, topology),
        )  # fmt: skip
        return pipeline, post_vertex, units, colors, depth

    def _repeats(self, topology: Topology, parts: _Parts) -> bool:
        """Whether the GPU skips draws, and had one of this pipeline and topology last: what it
        could refuse of a further one, it has accepted, so that no packet is needed.
        """
        if Draw not in self._gpu.skipped or self._contract.checking:
            return False
        pipeline, post_vertex, *_ = parts
        before, self._last = self._last, (pipeline, post_vertex, topology)
        return bool(before) and all(map(is_, before, self._last))

    def _packet(
        self,
        topology: Topology,
        vertices: int,
        start: int,
        base: int | None,
        instances: Instances,
        vertex: Shader,
        parts: _Parts,
    ) -> Draw:
        at, pixel = self._bindings, self._stages.pixel.shader
        pipeline, post_vertex, units, colors, depth = parts
        cuts = base is not None and topology in _STRIPS
        view = at.viewports[0] if at.viewports else _NO_VIEWPORT
        return Draw(
            pipeline=pipeline,
            input=InputAssembly(
                topology=topology,
                first=start,
                count=primitive_count(topology, vertices),
                streams=tuple(_streams(at)),
                indices=_indices(at, base),
                instances=_instances(at, vertex, instances),
                cuts=cuts,
                vertices=vertices if cuts else None,
            ),
            output=self._output(colors, depth, pixel),
            scissor=scissor_rect(at, view),
            raster=self._kept_raster.of(
                (view,), lambda: RasterBindings(viewport=FloatViewport(*view))
            ),
            vertex=self._vertex_resources.bindings(units[0]),
            pixel=self._pixel_resources.bindings(units[1]),
            post_vertex=post_vertex,
        )

    def _output(
        self, colors: tuple[Surface | None, ...], depth: Surface | None, pixel: Shader | None
    ) -> OutputBindings:
        """The output merger's surfaces and values; the record of the last draw if it is equal, so
        that the GPU finds what it keeps for it.
        """
        at = self._bindings
        merge = MergeNumbers(
            blend_factor=_FOUR_WORDS.unpack(_FOUR_FLOATS.pack(*at.blend_factor)),
            sample_mask=at.sample_mask,
            stencil_reference=at.stencil_reference,
            stencil_mask=at.depth_stencil.read_mask,
            stencil_write_mask=_stencil_write_mask(at),
        )
        if pixel and pixel.lowered.memory_operations:
            return OutputBindings(colors, depth, merge, at.unordered.bound())
        try:
            return self._kept_output.find((colors, depth), merge)
        except KeyError:
            made = OutputBindings(colors, depth, merge)
        self._kept_output.put((colors, depth), merge, made)
        return made

    def _used(self, indexed: bool) -> Iterator[Resource]:
        """The resources that a draw, with the current bindings, may read or write on the GPU."""
        at = self._bindings
        yield from (buffer.resource for buffer in at.vertex_buffers.values())
        if indexed and at.index_buffer is not None:
            yield at.index_buffer.resource
        for stage in (self._stages.vertex, *self._post_vertex.active(), self._stages.pixel):
            yield from stage.used()
        yield from (view.resource for view in at.unordered.views.values())
        yield from (view.resource for view in (*at.targets, at.depth) if view is not None)
        if self._stages.geometry.stream_output is not None:
            yield from at.stream_targets.values()

    def _pipeline(
        self,
        vertex: Shader,
        pixel: Shader | None,
        colors: tuple[Surface | None, ...],
        units: tuple[UnitBindings, UnitBindings],
        topology: Topology,
    ) -> Pipeline:
        at, depth = self._bindings, self._bindings.depth
        layout, state = at.layout, at.depth_stencil
        bound = [view.resource for view in (*at.targets, depth) if view is not None]
        samples = bound[0].desc.SampleDesc.Count if bound else 1
        blends = _blends(at)
        return Pipeline(
            layout=layout.layout,
            raster=self._raster(self._post_vertex.clipper_input(vertex, topology)),
            depth=_depth(at),
            pixel=pixel.program if pixel else _no_pixel_shader(),
            write_masks=at.blending.write_masks,
            color_formats=tuple(surface.format if surface else None for surface in colors),
            depth_format=depth.format if depth else None,
            samples=samples,
            vertex=vertex.program,
            attributes=layout.attributes,
            blend=blends[0] if len(set(blends)) == 1 else None,
            blends=blends if len(set(blends)) > 1 else (),
            stencil=state.stencil if depth else None,
            alpha_to_coverage=at.blending.alpha_to_coverage and samples > 1,
            counts_pixels=pixel is not None,
            vertex_samplers=units[0].samplers,
            samplers=units[1].samplers,
            vertex_units=vertex.lowered.units,
            units=pixel.lowered.units if pixel else (),
            early=pixel is not None and pixel.lowered.forces_early,
            by_sample=pixel is not None and pixel.lowered.per_sample,
            memory_operations=pixel.lowered.memory_operations if pixel else (),
        )

    def _raster(self, clipped: ClipperInput) -> RasterState:
        state = self._bindings.rasterizer
        desc = state.desc
        names = [port.name for port in clipped.ports]
        return RasterState(
            cull=state.cull,
            clip=bool(desc.DepthClipEnable),
            last_pixel=False,
            fill=state.fill,
            smooth_lines=bool(desc.AntialiasedLineEnable),
            multisample=self._multisamples(desc, clipped.topology),
            half_centres=True,
            targetless=True,
            turned=bool(desc.FrontCounterClockwise),
            clip_distances=sum(name.startswith("clip") for name in names),
            cull_distances=sum(name.startswith("cull") for name in names),
            enabled=self._rasterizes() and clipped.topology not in PATCHES,
        )

    def _rasterizes(self) -> bool:
        """Whether rasterization is on: stream output without a pixel shader, a depth test and a
        stencil test turns it off.

        Otherwise disabled tests are tests that pass.  Source: Direct3D 10/11 DDI, "Query results".
        """
        state, streams = self._bindings.depth_stencil, self._stages.geometry.stream_output
        return bool(self._stages.pixel.shader or state.depth or state.stencil or streams is None)

    def _multisamples(self, desc: RasterizerDesc, topology: Topology) -> bool:
        """Whether coverage is per sample; from Direct3D 10.1 on MultisampleEnable affects lines
        only.
        """
        lines = CORNERS[topology] == 2 or desc.FillMode == FillMode.WIREFRAME
        only_lines = self._interface >= Interface.D3D10_1
        return bool(desc.MultisampleEnable) or (only_lines and not lines)


def _surfaces(
    views: Sequence[TargetView | None],
) -> tuple[list[object], Callable[[], tuple[Surface | None, ...]]]:
    """Cache key of the surfaces of ``views``, and a function that returns the surfaces.

    The key includes the memory of each resource, since a discard replaces it.
    """
    memory = [view and view.resource.surface for view in views]
    return [*views, *memory], lambda: tuple(view.surface() if view else None for view in views)


def _streams(at: Bindings) -> Iterator[Stream | None]:
    for slot in range(max(at.vertex_buffers, default=-1) + 1):
        buffer = at.vertex_buffers.get(slot)
        yield buffer and Stream(buffer.resource.surface, buffer.offset, buffer.stride)


def _indices(at: Bindings, base: int | None) -> Indices | None:
    buffer = at.index_buffer
    if base is None or buffer is None:
        return None
    return Indices(buffer.resource.surface, buffer.size, buffer.offset, base)


def _instances(at: Bindings, vertex: Shader, given: Instances) -> Instances | None:
    """Return ``given`` completed with the vertex buffers that advance per instance.

    Its ``file`` becomes INSTANCE_FILE if the vertex shader reads the instance number.  None for a
    single instance without such buffers.
    """
    bound = (row for row in at.layout.rates.items() if row[0] in at.vertex_buffers)
    streams = tuple(sorted(bound))
    if given.count == 1 and not streams:
        return None
    reads = any(file.name == INSTANCE_FILE for file in vertex.program.files)
    return replace(given, streams=streams, file=INSTANCE_FILE if reads else "")


def _blends(at: Bindings) -> tuple[BlendState | None, ...]:
    """Blend states of the target slots from 0 to the last bound one; None without blending."""
    last = max((n for n, target in enumerate(at.targets) if target is not None), default=0)
    return at.blending.equations[: last + 1]


def _stencil_write_mask(at: Bindings) -> int:
    read_only = at.depth is not None and at.depth.flags & DepthStencilFlag.READ_ONLY_STENCIL
    return 0 if read_only else at.depth_stencil.write_mask


def _depth(at: Bindings) -> DepthState:
    """The depth state of the bindings; without a depth buffer every fragment passes."""
    state, desc = at.depth_stencil, at.rasterizer.desc
    if at.depth is None:
        return DepthState(in_viewport=True)
    channel = DXGI[at.depth.format].texels.depth
    floating = channel is not None and channel.coding is Coding.FLOAT
    # DepthBias counts units of the format; of a float format the unit depends on the primitive.
    unit = 1.0 if floating or channel is None else 1.0 / channel.max
    read_only = bool(at.depth.flags & DepthStencilFlag.READ_ONLY_DEPTH)
    return DepthState(
        enable=state.depth,
        write=state.depth and state.write and not read_only,
        func=state.func,
        bias=float32(desc.DepthBias * unit)[0],
        slope=float32(desc.SlopeScaledDepthBias)[0],
        bias_of_float=floating and desc.DepthBias != 0,
        bias_clamp=float32(desc.DepthBiasClamp)[0],
        in_viewport=True,
    )


@lru_cache(maxsize=1)
def _no_pixel_shader() -> Program:
    """The empty pixel program that stands in when no pixel shader is bound."""
    return Builder(Kind.PIXEL).program()


# Dispatches

MOST_GROUPS = 65535
"""Maximum number of thread groups that a dispatch has along each of x, y and z."""

ARGUMENT_BYTES = 12
"""Size in bytes of the group counts that an indirect dispatch reads from its buffer."""


class Compute:
    """The compute functions of a device.  Mutable: ``unordered`` has the views bound to slots."""

    def __init__(
        self, context: Context, resources: Resources, stages: Stages, views: UnorderedViews
    ) -> None:
        self._contract = context.contract
        self._resources = resources
        self._stage = stages.compute
        self._views = views
        self._stage_resources = StageResources(self._stage)
        self.unordered = UnorderedSlots()

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The DDI functions implemented here, by name without ``pfn``."""
        return {
            "CsSetUnorderedAccessViews": self.set_views,
            "Dispatch": self.dispatch,
            "DispatchIndirect": self.dispatch_indirect,
        }

    def set_views(
        self, start: int, views: Sequence[bytearray | None], counts: Sequence[int] = ()
    ) -> None:
        """CsSetUnorderedAccessViews: bind to slots from ``start`` on."""
        self._views.set(self.unordered, start, views, counts, "CsSetUnorderedAccessViews")

    def dispatch(self, x: int, y: int, z: int) -> None:
        """Dispatch ``x`` * ``y`` * ``z`` groups."""
        fits = all(0 <= each <= MOST_GROUPS for each in (x, y, z))
        self._contract.check(fits, Rule.NUMBERS, "Dispatch")
        if x and y and z:
            self._dispatch((x, y, z), None)

    def dispatch_indirect(self, buffer: bytearray, offset: int) -> None:
        """DispatchIndirect: the group counts are in ``buffer`` at byte ``offset``."""
        entry = "DispatchIndirect"
        resource = self._resources.objects.open(buffer, entry)
        self._contract.check(is_uint(offset) and offset % 4 == 0, Rule.NUMBERS, entry)
        inside = resource.is_buffer and offset + ARGUMENT_BYTES <= resource.surface.width
        self._contract.check(inside, Rule.INSIDE, entry)
        self._dispatch((0, 0, 0), (resource.surface, offset), resource)

    def _dispatch(
        self, groups: tuple[int, int, int], arguments: tuple[Surface, int] | None, *used: Resource
    ) -> None:
        """Record a dispatch of ``groups``, or of the group counts in ``arguments``.

        ``arguments`` are a buffer and an offset, ``used`` the other resources that it accesses.
        Without a compute shader nothing is dispatched.
        """
        shader = self._stage.shader
        if shader is None or not all(shader.lowered.threads):
            return
        lowered = shader.lowered
        packet = Dispatch(
            self._stage_resources.program(shader),
            lowered.memory_operations,
            lowered.shared,
            lowered.threads,
            groups,
            self.unordered.bound(),
            arguments,
        )
        written = (view.resource for view in self.unordered.views.values())
        self._resources.record(packet, *used, *self._stage.used(), *written)
