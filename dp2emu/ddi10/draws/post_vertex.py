"""The post-vertex stages of a draw: hull, domain and geometry shaders, and stream output.

Source: Direct3D 10/11 DDI, "Device functions"; SM4-5 tokens, "Hull shaders", "Domain shaders",
"Tessellation", "System values" and "Stages" (arrays of targets and viewports); Direct3D 10 and 11
documentation of the geometry shader stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Topology10, patch_list
from dp2emu.ddi10.shaders.shader import HullShader, Shader
from dp2emu.ddi10.shaders.stage_resources import StageResources, phase_program
from dp2emu.ddi10.shaders.stages import Stage, Stages
from dp2emu.ddi10.states.bindings import VIEWPORTS, Bindings, Viewport, scissor_rect
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import FloatViewport, Topology
from dp2emu.gpu.command.post_vertex_stages import (
    ConstantsProgram,
    EmittedStream,
    GeometryStage,
    HullStage,
    Layer,
    PostVertexStages,
    StageProgram,
    TessellationStage,
    View,
)
from dp2emu.gpu.command.stream_targets import NOTHING_STORED, StreamOutput, StreamTarget
from dp2emu.gpu.command.topology import PATCHES
from dp2emu.gpu.geometry_shader.geometry_stage import MOST_EMITTED, too_much
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.tessellation.tessellate import Tessellator
from dp2emu.gpu.vertex_shader.mesh import PRIMITIVE_ID
from dp2emu.identity_cache import IdentityCache, identity_cached
from dp2emu.shader.ir import Port, Program
from dp2emu.shader.ports import CONSTANT, LAYER, VIEWPORT
from dp2emu.shader.sampling import COMPONENTS
from dp2emu.shader.sm4.enums import Primitive, SystemValue
from dp2emu.shader.sm4.lower import Emission, Lowered4
from dp2emu.shader.types import Type

_TAKES = {
    Primitive.POINT: Topology10.POINTLIST,
    Primitive.LINE: Topology10.LINELIST,
    Primitive.TRIANGLE: Topology10.TRIANGLELIST,
    Primitive.LINEADJ: Topology10.LINELIST_ADJ,
    Primitive.TRIANGLEADJ: Topology10.TRIANGLELIST_ADJ,
    **{Primitive(Primitive.PATCH1 - 1 + points): patch_list(points) for points in range(1, 33)},
}

_DISTANCES = {SystemValue.CLIP_DISTANCE: "clip", SystemValue.CULL_DISTANCE: "cull"}

_INTEGERS = {
    SystemValue.PRIMITIVE_ID: PRIMITIVE_ID,
    SystemValue.RENDERTARGET_ARRAY_INDEX: LAYER,
    SystemValue.VIEWPORT_ARRAY_INDEX: VIEWPORT,
}
"""Name of the program output for each integer system value that the rasterizer reads."""


def geometry_stage(shader: Shader, bound: StageProgram) -> GeometryStage:
    """The GPU's geometry stage for a shader; ``bound`` is its program with its resources."""
    emission = shader.lowered.emission
    assert emission is not None
    return GeometryStage(
        bound,
        _TAKES[emission.primitive],
        emission.instances,
        emission.limit,
        streams_of(shader.lowered),
    )


def streams_of(lowered: Lowered4) -> tuple[EmittedStream, ...]:
    """The streams of a geometry shader, by number; empty for other shaders."""
    emission = lowered.emission
    if emission is None:
        return ()
    return tuple(
        EmittedStream(number, Topology10(topology), tuple(_ports(lowered, emission, number)))
        for number, topology in emission.topologies
    )


def _ports(lowered: Lowered4, emission: Emission, stream: int) -> Iterator[tuple[Port, int]]:
    """The output ports of a stream of a geometry shader, each with the emitted word that it reads.

    An output o# becomes the varying v#, once as bits and once as a float; position, distances and
    integer system values have a port of their own as well.
    """
    counts = dict.fromkeys(_DISTANCES, 0)
    names = {
        (register.number, component): register.name
        for register in lowered.outputs
        for component in range(len(COMPONENTS))
        if register.stream == stream and register.mask >> component & 1
    }
    for word, (number, component) in enumerate(emission.words):
        name = names.get((number, component))
        if name is None:
            continue
        varying = f"v{number}.{COMPONENTS[component]}"
        yield Port(CONSTANT + varying, Type.I32), word
        yield Port(varying, Type.F32), word
        if name is SystemValue.POSITION:
            yield Port(f"position0.{COMPONENTS[component]}", Type.F32), word
        elif name in _INTEGERS:
            yield Port(_INTEGERS[name], Type.I32), word
        elif name in counts:
            yield Port(f"{_DISTANCES[name]}{counts[name]}.x", Type.F32), word
            counts[name] += 1


# Hull and domain shaders

MOST_PATCHES = 1 << 18
"""Maximum number of patches that a tessellating draw may have, all instances together."""

_TOPOLOGIES: dict[OutputPrimitive, Topology] = {
    OutputPrimitive.OUTPUT_POINT: Topology10.POINTLIST,
    OutputPrimitive.OUTPUT_LINE: Topology10.LINELIST,
    OutputPrimitive.OUTPUT_TRIANGLE_CW: Topology10.TRIANGLELIST,
    OutputPrimitive.OUTPUT_TRIANGLE_CCW: Topology10.TRIANGLELIST,
}


class HullDomainBindings:
    """The hull and domain stages of a device and the shaders bound to them.

    Mutable: it caches the tessellation stage that it made last.
    """

    def __init__(self, hull: Stage, domain: Stage) -> None:
        self._hull = hull
        self._domain = domain
        self._stage: IdentityCache[TessellationStage] = IdentityCache(1)

    @property
    def shaders(self) -> tuple[HullShader, Shader] | None:
        """The bound hull shader and domain shader; None unless both are bound."""
        hull, domain = self._hull.hull, self._domain.shader
        return None if hull is None or domain is None else (hull, domain)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The hull and the domain stage of the bindings; none unless both shaders are bound."""
        return (self._hull, self._domain) if self.shaders else ()

    @property
    def incomplete(self) -> bool:
        """Whether only one of the two shaders is bound."""
        return (self._hull.hull is None) is not (self._domain.shader is None)

    @property
    def topology(self) -> Topology | None:
        """The topology of the tessellator's output; None without tessellation."""
        if self.shaders is None:
            return None
        lowered = self.shaders[0].lowered
        if lowered.domain is Domain.DOMAIN_ISOLINE:
            points = lowered.output is OutputPrimitive.OUTPUT_POINT
            return Topology10.POINTLIST if points else Topology10.LINELIST
        return _TOPOLOGIES[lowered.output]

    def stage(self, patches: int) -> TessellationStage | None:
        """The tessellation stage for a draw of ``patches``; None unless both shaders are bound.

        Raises Unsupported.
        """
        shaders = self.shaders
        if shaders is None:
            return None
        if patches > MOST_PATCHES:
            raise Unsupported(f"draws of more than {MOST_PATCHES:,} patches")
        bound = (*_dependencies(self._hull), *_dependencies(self._domain))
        return self._stage.of((*shaders, *bound), lambda: self._make(*shaders))

    def _make(self, hull: HullShader, domain: Shader) -> TessellationStage:
        lowered = hull.lowered
        runs = (each.instances for each in lowered.constants)
        return TessellationStage(
            hull=HullStage(
                points=None if hull.points is None else phase_program(self._hull, hull.points),
                constants=tuple(
                    ConstantsProgram(phase_program(self._hull, each), instances)
                    for each, instances in zip(hull.constants, runs, strict=True)
                ),
                takes=lowered.takes,
                makes=lowered.makes,
                registers=lowered.registers,
                edges=lowered.edges,
                inside=lowered.inside,
                most=lowered.most,
            ),
            tessellator=Tessellator(lowered.domain, lowered.partitioning, lowered.output),
            domain=phase_program(self._domain, domain),
            takes=domain.lowered.points_in,
            registers=domain.lowered.registers,
        )


def _dependencies(stage: Stage) -> list[object]:
    """Cache key of a stage's resources: slots, bound objects, and their current memory."""
    found: list[object] = []
    for slot, buffer in stage.constants.items():
        found += (slot, buffer, buffer.surface, stage.ranges.get(slot))
    for slot, view in stage.resources.items():
        found += (slot, view, view.resource.surface)
    for slot, sampler in stage.samplers.items():
        found += (slot, sampler)
    return found


# All stages between the vertex shader and clipping


class ClipperInput(NamedTuple):
    """What reaches the clipper: the output ports of the last vertex stage, and their topology."""

    ports: Sequence[Port]
    topology: Topology


class PostVertexBindings:
    """The hull, domain and geometry shaders and the stream output bound to a device.

    Mutable: it caches the stages made for the last draw.
    """

    def __init__(self, stages: Stages, bindings: Bindings) -> None:
        self._geometry = stages.geometry
        self._hull_domain = HullDomainBindings(stages.hull, stages.domain)
        self._bindings = bindings
        self._geometry_resources = StageResources(stages.geometry)
        self._layers: IdentityCache[tuple[Layer, ...]] = IdentityCache(1)

    @property
    def shaders(self) -> tuple[object, ...]:
        """Bound hull, domain and geometry shaders and stream output layouts, for cache keys."""
        tessellation = self._hull_domain.shaders or (None, None)
        return *tessellation, self._geometry.shader, self._geometry.stream_output

    def accepts(self, topology: Topology) -> bool:
        """Whether the bound shaders can process a topology.

        With hull and domain shader only patches are accepted, with just one of the two nothing.
        """
        if self._hull_domain.shaders is not None:
            return topology in PATCHES
        return not self._hull_domain.incomplete

    def clipper_input(self, vertex: Shader, topology: Topology) -> ClipperInput:
        """The outputs of the last shader before the clipper, and the topology that it puts out.

        That shader is the geometry shader, else the domain shader, else ``vertex``; ``topology``
        is the draw's input topology.
        """
        shader, rasterized = self._geometry.shader, self._output().rasterized
        if shader is None:
            tessellation = self._hull_domain.shaders
            last = vertex if tessellation is None else tessellation[1]
            return ClipperInput(last.program.outputs, self._hull_domain.topology or topology)
        for stream in streams_of(shader.lowered):
            if stream.number == rasterized:
                return ClipperInput([port for port, _ in stream.ports], stream.topology)
        return ClipperInput((), topology)

    def stages(
        self, vertex: Shader, topology: Topology, primitives: int
    ) -> PostVertexStages | None:
        """The post-vertex stages for a draw of ``primitives``, None if no such stage is active and
        the vertex shader selects neither target slices nor viewports.

        Raises Unsupported.
        """
        shader, tessellation = self._geometry.shader, self._hull_domain.stage(primitives)
        absent = shader is None and self._geometry.stream_output is None and tessellation is None
        if absent and not _selects(vertex.program):
            return None
        ports = {port.name for port in self.clipper_input(vertex, topology).ports}
        return PostVertexStages(
            tessellation=tessellation,
            geometry=None if shader is None else self._geometry_stage(shader, primitives),
            output=self._output(),
            views=self._views() if VIEWPORT in ports else (),
            layers=self._slices() if LAYER in ports else (),
        )

    def _geometry_stage(self, shader: Shader, primitives: int) -> GeometryStage:
        stage = geometry_stage(shader, self._geometry_resources.program(shader))
        if primitives * stage.instances * max(stage.limit, 1) > MOST_EMITTED:
            raise too_much()
        return stage

    def _output(self) -> StreamOutput:
        streams = self._geometry.stream_output
        if streams is None:
            return NOTHING_STORED
        targets = {
            slot: StreamTarget(resource.surface, resource.filled)
            for slot, resource in self._bindings.stream_targets.items()
        }
        overflow = self._bindings.stream_overflow
        return StreamOutput(streams.layouts, targets, streams.rasterized, overflow)

    def active(self) -> Iterator[Stage]:
        """Those of the hull, domain and geometry stages that have a shader bound."""
        yield from self._hull_domain.stages
        if self._geometry.shader is not None:
            yield self._geometry

    def _views(self) -> tuple[View, ...]:
        """Viewport and its pixel rectangle, after scissor, of each slot; empty for unset slots."""
        at = self._bindings
        views = [*at.viewports, *[Viewport(0, 0, 0, 0)] * (VIEWPORTS - len(at.viewports))]
        return tuple(
            View(FloatViewport(*view), scissor_rect(at, view, n)) for n, view in enumerate(views)
        )

    def _slices(self) -> tuple[Layer, ...]:
        """The targets and depth buffer of each array slice, up to the slices of the largest.

        A target with fewer slices stands in with its first.
        """
        at = self._bindings
        bound = [*at.targets, at.depth]
        memory = [view and view.resource.surface for view in bound]
        return self._layers.of([*bound, *memory], self._make_layers)

    def _make_layers(self) -> tuple[Layer, ...]:
        at = self._bindings
        bound = [view for view in (*at.targets, at.depth) if view is not None]
        count = max((view.slices for view in bound), default=0)
        *colors, depth = (view.surfaces() if view else () for view in (*at.targets, at.depth))
        return tuple(
            Layer(tuple(_nth(each, n) for each in colors), _nth(depth, n)) for n in range(count)
        )


@identity_cached()
def _selects(program: Program) -> bool:
    """Whether a vertex program writes the index of a target slice or of a viewport."""
    return any(port.name in (LAYER, VIEWPORT) for port in program.outputs)


def _nth(surfaces: Sequence[Surface], number: int) -> Surface | None:
    if not surfaces:
        return None
    return surfaces[number] if number < len(surfaces) else surfaces[0]
