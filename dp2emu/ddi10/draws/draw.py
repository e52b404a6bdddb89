"""Draws: what is set becomes packets of the GPU.

Source: Direct3D 10/11 DDI, "Device functions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.enums import FillMode
from dp2emu.d3d.enums10 import Topology10
from dp2emu.d3d.formats import Coding
from dp2emu.ddi10.codes import Interface
from dp2emu.ddi10.context import Context
from dp2emu.ddi10.contract import Rule, float32, is_uint
from dp2emu.ddi10.draws.post_vertex import LaterStages, Shown
from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.resources.resource import Resource, Resources
from dp2emu.ddi10.resources.views import DepthStencilFlag, TargetView
from dp2emu.ddi10.shaders.shader import INSTANCE_FILE, Shader
from dp2emu.ddi10.shaders.stage_resources import Read, Reading, constants
from dp2emu.ddi10.shaders.stages import Stages
from dp2emu.ddi10.states.bindings import Bindings, Viewport, scissor
from dp2emu.ddi10.states.state_objects import RasterizerDesc
from dp2emu.gpu.command.bindings import FloatViewport, Topology
from dp2emu.gpu.command.packets import (
    Draw,
    Indices,
    IndirectDraw,
    InputAssembly,
    Instances,
    MergeNumbers,
    OutputBindings,
    RasterBindings,
    ShaderBindings,
    Stream,
)
from dp2emu.gpu.command.pipeline import DepthState, Pipeline, RasterState
from dp2emu.gpu.command.stream_targets import Filled
from dp2emu.gpu.command.topology import CORNERS, PATCHES, primitive_count
from dp2emu.gpu.input_assembler.indirect_arguments import ARGUMENTS, INDEXED_ARGUMENTS, check_size
from dp2emu.gpu.resource.heap import Surface
from dp2emu.shader.builder import Builder
from dp2emu.shader.fixed.blend import BlendState
from dp2emu.shader.ir import Program
from dp2emu.shader.ir import Stage as Kind

_TOPOLOGIES: dict[int, Topology] = {int(topology): topology for topology in Topology10}
"""By D3D10_DDI_PRIMITIVE_TOPOLOGY."""
_STRIPS = (
    Topology10.LINESTRIP,
    Topology10.TRIANGLESTRIP,
    Topology10.LINESTRIP_ADJ,
    Topology10.TRIANGLESTRIP_ADJ,
)
_BASE = 1 << 31
"""What is added to a BaseVertex becomes a UINT."""


class Draws:
    """The draw entries of a device."""

    def __init__(
        self, context: Context, resources: Resources, stages: Stages, bindings: Bindings
    ) -> None:
        self._contract = context.contract
        self._interface = context.interface
        self._resources = resources
        self._stages = stages
        self._bindings = bindings
        self._later = LaterStages(stages, bindings)
        self._kept_colors: Kept[tuple[Surface | None, ...]] = Kept()
        self._kept_depth: Kept[tuple[Surface | None, ...]] = Kept()
        self._kept_pipeline: Kept[Pipeline] = Kept()
        self._readings = tuple(map(Reading, (stages.vertex, stages.pixel)))

    def entries(self) -> Mapping[str, Callable[..., Any]]:
        """The entries, by name."""
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
        """DrawInstancedIndirect, or DrawIndexedInstancedIndirect: its numbers are in a buffer."""
        entry = "DrawIndexedInstancedIndirect" if indexed else "DrawInstancedIndirect"
        arguments = self._resources.objects.open(buffer, entry)
        self._contract.hold(is_uint(offset) and offset % 4 == 0, Rule.NUMBERS, entry)
        size = 4 * (INDEXED_ARGUMENTS if indexed else ARGUMENTS)
        there = arguments.is_buffer and offset + size <= arguments.surface.width
        self._contract.hold(there, Rule.INSIDE, entry)
        what = self._drawn(indexed)
        if what is not None:
            topology, vertex = what
            base = 0 if indexed else None
            draw = self._packet(topology, 0, 0, base, Instances(0), vertex)
            packet = IndirectDraw(draw, arguments.surface, offset)
            self._resources.record(packet, arguments, *self._used(indexed))

    def draw_auto(self) -> None:
        """DrawAuto: as many vertices as the first vertex buffer was streamed full of.

        Without such a buffer, or bytes from vertex to vertex, nothing is drawn.
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
        """Record a draw of so many vertices, or, with a ``base``, of indices; as many as are
        ``filled``, if that is given, and so many at most.

        Without a topology, a vertex shader, or an index buffer where there should be, nothing is
        drawn, nor what hull and domain shaders cannot be given.  Raises Unsupported for what is
        not built.
        """
        numbers = count, start, instances.count, instances.first
        self._contract.hold(all(map(is_uint, numbers)), Rule.NUMBERS, "Draw")
        self._contract.hold(base is None or is_uint(base + _BASE), Rule.NUMBERS, "Draw")
        what = self._drawn(base is not None)
        if what is None:
            return
        topology, vertex = what
        primitives = primitive_count(topology, count)
        check_size(primitives, instances.count)
        if not primitives or not instances.count:
            return
        self._check_hazards()
        packet = self._packet(topology, count, start, base, instances, vertex)
        if filled is not None:
            packet = replace(packet, input=replace(packet.input, filled=filled))
        self._resources.record(packet, *self._used(base is not None))

    def _check_hazards(self) -> None:
        """Raises ContractError, if all promises are watched, for input that is output too."""
        at = self._bindings
        if self._stages.geometry.streaming is not None:
            written = {id(resource.surface) for resource in at.stream_targets.values()}
            read = [buffer.resource for buffer in at.vertex_buffers.values()]
            read += [at.index_buffer.resource] if at.index_buffer is not None else []
            apart = written.isdisjoint(id(resource.surface) for resource in read)
            self._contract.hold(apart, Rule.STREAMED_AND_READ, "Draw")

    def _drawn(self, indexed: bool) -> tuple[Topology, Shader] | None:
        """What primitives are drawn, and by which shader, if there is all that it takes."""
        at, vertex = self._bindings, self._stages.vertex.shader
        topology = _topology(at.topology)
        if topology is None or vertex is None or (indexed and at.index_buffer is None):
            return None
        return (topology, vertex) if self._later.takes(topology) else None

    def _packet(
        self,
        topology: Topology,
        vertices: int,
        start: int,
        base: int | None,
        instances: Instances,
        vertex: Shader,
    ) -> Draw:
        at, pixel = self._bindings, self._stages.pixel.shader
        cuts = base is not None and topology in _STRIPS
        view = at.viewports[0] if at.viewports else Viewport(0, 0, 0, 0)
        colors = self._kept_colors.of(*_surfaces(at.targets))
        (depth,) = self._kept_depth.of(*_surfaces([at.depth]))
        given = self._readings[0].read(), self._readings[1].read()
        count = primitive_count(topology, vertices)
        later = self._later.later(vertex, topology, count * instances.count)
        pipeline = self._kept_pipeline.of(
            (vertex, *self._later.made_of, pixel, *colors, *given, at.layout, at.depth,
             at.depth_stencil, at.rasterizer, at.blending, topology),
            lambda: self._pipeline(vertex, pixel, colors, given, topology),
        )  # fmt: skip
        return Draw(
            pipeline=pipeline,
            input=InputAssembly(
                topology=topology,
                first=start,
                count=count,
                streams=tuple(_streams(at)),
                indices=_indices(at, base),
                instances=_instances(at, vertex, instances),
                cuts=cuts,
                vertices=vertices if cuts else None,
            ),
            output=OutputBindings(
                colors=colors,
                depth=depth,
                merge=MergeNumbers(
                    blend_factor=at.blend_factor,
                    sample_mask=at.sample_mask,
                    stencil_reference=at.stencil_reference,
                    stencil_mask=at.depth_stencil.read_mask,
                    stencil_write_mask=_stencil_write_mask(at),
                ),
                unordered=at.unordered.bound() if pixel and pixel.lowered.deeds else {},
            ),
            scissor=scissor(at, view),
            raster=RasterBindings(viewport=FloatViewport(*view)),
            vertex=ShaderBindings(
                self._readings[0].uniforms(), given[0].textures, constants(self._stages.vertex)
            ),
            pixel=ShaderBindings(
                self._readings[1].uniforms(), given[1].textures, constants(self._stages.pixel)
            ),
            post_vertex=later,
        )

    def _used(self, indexed: bool) -> Iterator[Resource]:
        """What the GPU reads and writes for a draw."""
        at = self._bindings
        yield from (buffer.resource for buffer in at.vertex_buffers.values())
        if indexed and at.index_buffer is not None:
            yield at.index_buffer.resource
        for stage in (self._stages.vertex, *self._later.stages(), self._stages.pixel):
            yield from stage.constants.values()
            yield from (view.resource for view in stage.resources.values())
        yield from (view.resource for view in at.unordered.views.values())
        yield from (view.resource for view in (*at.targets, at.depth) if view is not None)
        if self._stages.geometry.streaming is not None:
            yield from at.stream_targets.values()

    def _pipeline(
        self,
        vertex: Shader,
        pixel: Shader | None,
        colors: tuple[Surface | None, ...],
        given: tuple[Read, Read],
        topology: Topology,
    ) -> Pipeline:
        at, depth = self._bindings, self._bindings.depth
        layout, state = at.layout, at.depth_stencil
        bound = [view.resource for view in (*at.targets, depth) if view is not None]
        samples = bound[0].desc.SampleDesc.Count if bound else 1
        blends = _blends(at)
        return Pipeline(
            layout=layout.layout,
            raster=self._raster(self._later.shown(vertex, topology)),
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
            vertex_samplers=given[0].samplers,
            samplers=given[1].samplers,
            vertex_units=vertex.lowered.units,
            units=pixel.lowered.units if pixel else (),
            early=pixel is not None and pixel.lowered.forces_early,
            by_sample=pixel is not None and pixel.lowered.per_sample,
            deeds=pixel.lowered.deeds if pixel else (),
        )

    def _raster(self, shown: Shown) -> RasterState:
        state = self._bindings.rasterizer
        desc = state.desc
        names = [port.name for port in shown.ports]
        return RasterState(
            cull=state.cull,
            clip=bool(desc.DepthClipEnable),
            last_pixel=False,
            fill=state.fill,
            smooth_lines=bool(desc.AntialiasedLineEnable),
            multisample=self._multisamples(desc, shown.topology),
            half_centres=True,
            targetless=True,
            turned=bool(desc.FrontCounterClockwise),
            clip_distances=sum(name.startswith("clip") for name in names),
            cull_distances=sum(name.startswith("cull") for name in names),
            enabled=self._rasterizes() and shown.topology not in PATCHES,
        )

    def _rasterizes(self) -> bool:
        """Whether there is anything to be found out: without a pixel shader and tests there is
        not, which is how rasterization is turned off.
        """
        state = self._bindings.depth_stencil
        return bool(self._stages.pixel.shader or state.depth or state.stencil)

    def _multisamples(self, desc: RasterizerDesc, topology: Topology) -> bool:
        """Whether samples are covered one by one: what MultisampleEnable says, from Direct3D 10.1
        on of lines alone.
        """
        lines = CORNERS[topology] == 2 or desc.FillMode == FillMode.WIREFRAME
        only_lines = self._interface >= Interface.D3D10_1
        return bool(desc.MultisampleEnable) or (only_lines and not lines)


def _surfaces(
    views: Sequence[TargetView | None],
) -> tuple[list[object], Callable[[], tuple[Surface | None, ...]]]:
    """What the surfaces of views are made of, and what makes them."""
    memory = [view and view.resource.surface for view in views]
    return [*views, *memory], lambda: tuple(view.surface() if view else None for view in views)


def _topology(number: int) -> Topology | None:
    """The primitives of a topology, None for none."""
    return _TOPOLOGIES.get(number)


def _streams(at: Bindings) -> Iterator[Stream | None]:
    for slot in range(max(at.vertex_buffers, default=-1) + 1):
        found = at.vertex_buffers.get(slot)
        yield found and Stream(found.resource.surface, found.offset, found.stride)


def _indices(at: Bindings, base: int | None) -> Indices | None:
    found = at.index_buffer
    if base is None or found is None:
        return None
    return Indices(found.resource.surface, found.size, found.offset, base)


def _instances(at: Bindings, vertex: Shader, given: Instances) -> Instances | None:
    """None for a single instance that is like no instance."""
    bound = (row for row in at.layout.rates.items() if row[0] in at.vertex_buffers)
    streams = tuple(sorted(bound))
    if given.count == 1 and not streams:
        return None
    reads = any(file.name == INSTANCE_FILE for file in vertex.program.files)
    return replace(given, streams=streams, file=INSTANCE_FILE if reads else "")


def _blends(at: Bindings) -> tuple[BlendState | None, ...]:
    """What the targets that are bound do."""
    last = max((n for n, target in enumerate(at.targets) if target is not None), default=0)
    return at.blending.equations[: last + 1]


def _stencil_write_mask(at: Bindings) -> int:
    read_only = at.depth is not None and at.depth.flags & DepthStencilFlag.READ_ONLY_STENCIL
    return 0 if read_only else at.depth_stencil.write_mask


def _depth(at: Bindings) -> DepthState:
    """The depth test, which all pass where there is no depth."""
    state, desc = at.depth_stencil, at.rasterizer.desc
    if at.depth is None:
        return DepthState(in_viewport=True)
    channel = DXGI[at.depth.format].texels.depth
    floating = channel is not None and channel.coding is Coding.FLOAT
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
    """What runs where there is no pixel shader: nothing."""
    return Builder(Kind.PIXEL).program()
