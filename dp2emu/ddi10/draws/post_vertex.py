"""Geometry shaders as stages of the GPU: which words of their vertices each port is.

What a geometry shader writes to o# is the varying v#, as with vertex shaders.

Source: Direct3D 10 and 11 documentation of the geometry shader stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dp2emu.d3d.enums10 import Domain, OutputPrimitive, Topology10, patch_list
from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.shaders.shader import HullShader, Shader
from dp2emu.ddi10.shaders.stage_resources import Reading, constants, read
from dp2emu.ddi10.shaders.stages import Stage, Stages
from dp2emu.ddi10.states.bindings import VIEWPORTS, Bindings, Viewport, scissor
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
from dp2emu.gpu.tessellation import Tessellator
from dp2emu.gpu.vertex_shader.mesh import LAYER, PRIMITIVE_ID, VIEWPORT
from dp2emu.shader.ir import Port
from dp2emu.shader.ports import CONSTANT
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


_WHOLE = {
    SystemValue.PRIMITIVE_ID: PRIMITIVE_ID,
    SystemValue.RENDERTARGET_ARRAY_INDEX: LAYER,
    SystemValue.VIEWPORT_ARRAY_INDEX: VIEWPORT,
}
"""Ports that are integers with a meaning for what comes next."""


def geometry_stage(shader: Shader, bound: StageProgram) -> GeometryStage:
    """The stage of a geometry shader."""
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
    """The streams of a geometry shader, by number; none of others."""
    emission = lowered.emission
    if emission is None:
        return ()
    return tuple(
        EmittedStream(number, Topology10(topology), tuple(_ports(lowered, emission, number)))
        for number, topology in emission.topologies
    )


def _ports(lowered: Lowered4, emission: Emission, stream: int) -> Iterator[tuple[Port, int]]:
    """Every component as bits and as a float, and what those with names are as well."""
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
        elif name in _WHOLE:
            yield Port(_WHOLE[name], Type.I32), word
        elif name in counts:
            yield Port(f"{_DISTANCES[name]}{counts[name]}.x", Type.F32), word
            counts[name] += 1


# Hull and domain shaders as a stage of the GPU.
#
# Source: SM4-5 tokens, "Hull shaders", "Domain shaders" and "Tessellation".

MOST_PATCHES = 1 << 18
"""Of all instances of a draw that hull shaders divide, together."""

_TOPOLOGIES: dict[OutputPrimitive, Topology] = {
    OutputPrimitive.OUTPUT_POINT: Topology10.POINTLIST,
    OutputPrimitive.OUTPUT_LINE: Topology10.LINELIST,
    OutputPrimitive.OUTPUT_TRIANGLE_CW: Topology10.TRIANGLELIST,
    OutputPrimitive.OUTPUT_TRIANGLE_CCW: Topology10.TRIANGLELIST,
}


class Tessellating:
    """What is bound to the hull and domain stages.  Mutable: it remembers what was made last."""

    def __init__(self, hull: Stage, domain: Stage) -> None:
        self._hull = hull
        self._domain = domain
        self._made: Kept[TessellationStage] = Kept()

    @property
    def made_of(self) -> tuple[object, ...]:
        """What pipelines depend on."""
        return self._hull.hull, self._domain.shader

    @property
    def shaders(self) -> tuple[HullShader, Shader] | None:
        """Both shaders; None if there are not both."""
        hull, domain = self._hull.hull, self._domain.shader
        return None if hull is None or domain is None else (hull, domain)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Stages that read something."""
        return (self._hull, self._domain) if self.shaders else ()

    @property
    def topology(self) -> Topology | None:
        """The primitives that patches are divided into; None if they are not."""
        if self.shaders is None:
            return None
        lowered = self.shaders[0].lowered
        if lowered.domain is Domain.DOMAIN_ISOLINE:
            pointed = lowered.output is OutputPrimitive.OUTPUT_POINT
            return Topology10.POINTLIST if pointed else Topology10.LINELIST
        return _TOPOLOGIES[lowered.output]

    def stage(self, patches: int) -> TessellationStage | None:
        """The stage, for so many patches; None without both shaders.  Raises Unsupported."""
        shaders = self.shaders
        if shaders is None:
            return None
        if patches > MOST_PATCHES:
            raise Unsupported(f"draws of more than {MOST_PATCHES:,} patches")
        bound = (*_bound_to(self._hull), *_bound_to(self._domain))
        return self._made.of((*shaders, *bound), lambda: self._make(*shaders))

    def _make(self, hull: HullShader, domain: Shader) -> TessellationStage:
        says = hull.lowered
        runs = (each.instances for each in says.constants)
        return TessellationStage(
            hull=HullStage(
                points=None if hull.points is None else program(self._hull, hull.points),
                constants=tuple(
                    ConstantsProgram(program(self._hull, each), instances)
                    for each, instances in zip(hull.constants, runs, strict=True)
                ),
                takes=says.takes,
                makes=says.makes,
                registers=says.registers,
                edges=says.edges,
                inside=says.inside,
                most=says.most,
            ),
            tessellator=Tessellator(says.domain, says.partitioning, says.output),
            domain=program(self._domain, domain),
            takes=domain.lowered.points_in,
            registers=domain.lowered.registers,
        )


def program(stage: Stage, shader: Shader) -> StageProgram:
    """A shader with what is bound to its stage."""
    units = shader.lowered.units
    given = read(units, stage.resources, stage.samplers)
    return StageProgram(
        shader.program,
        shader.uniforms({}),
        constants(stage),
        given.textures,
        given.samplers,
        units,
    )


def _bound_to(stage: Stage) -> list[object]:
    """All that is in slots of a stage, and which these are."""
    found: list[object] = []
    for slot, buffer in stage.constants.items():
        found += (slot, buffer, buffer.surface)
    for slot, view in stage.resources.items():
        found += (slot, view, view.resource.surface)
    for slot, sampler in stage.samplers.items():
        found += (slot, sampler)
    return found


# The stages between the vertex shader and clipping, as draws have them.
#
# Source: Direct3D 10/11 DDI, "Device functions"; SM4-5 tokens, "System values" and "Stages" for
# arrays of targets and viewports.


class Shown(NamedTuple):
    """What clipping gets: the ports of vertices, and the primitives these make."""

    ports: Sequence[Port]
    topology: Topology


class LaterStages:
    """What is bound to the later stages of a device.  Mutable: it remembers what was last made."""

    def __init__(self, stages: Stages, bindings: Bindings) -> None:
        self._geometry = stages.geometry
        self._tessellating = Tessellating(stages.hull, stages.domain)
        self._bindings = bindings
        self._reading = Reading(stages.geometry)
        self._layers: Kept[tuple[Layer, ...]] = Kept()

    @property
    def made_of(self) -> tuple[object, ...]:
        """What pipelines depend on."""
        own = self._geometry.shader, self._geometry.streaming
        return *self._tessellating.made_of, *own

    def takes(self, topology: Topology) -> bool:
        """Whether the stages can be given primitives: patches alone if there are hull and domain
        shaders, and nothing if there is only one of these.
        """
        hull, domain = self._tessellating.made_of
        if hull is None and domain is None:
            return True
        return self._tessellating.topology is not None and topology in PATCHES

    def shown(self, vertex: Shader, topology: Topology) -> Shown:
        """What the last stage makes of primitives of a vertex shader."""
        shader, rasterized = self._geometry.shader, self._output().rasterized
        if shader is None:
            divided = self._tessellating.shaders
            last = vertex if divided is None else divided[1]
            return Shown(last.program.outputs, self._tessellating.topology or topology)
        for stream in streams_of(shader.lowered):
            if stream.number == rasterized:
                return Shown([port for port, _ in stream.ports], stream.topology)
        return Shown((), topology)

    def later(
        self, vertex: Shader, topology: Topology, primitives: int
    ) -> PostVertexStages | None:
        """The stages, for so many primitives; None if there are none.  Raises Unsupported."""
        shader, tessellation = self._geometry.shader, self._tessellating.stage(primitives)
        if shader is None and self._geometry.streaming is None and tessellation is None:
            return None
        ports = {port.name for port in self.shown(vertex, topology).ports}
        return PostVertexStages(
            tessellation=tessellation,
            geometry=None if shader is None else self._emitting(shader, primitives),
            output=self._output(),
            views=self._views() if VIEWPORT in ports else (),
            layers=self._slices() if LAYER in ports else (),
        )

    def _emitting(self, shader: Shader, primitives: int) -> GeometryStage:
        stage = geometry_stage(shader, self._bound(self._geometry, self._reading, shader))
        if primitives * stage.instances * max(stage.limit, 1) > MOST_EMITTED:
            raise too_much()
        return stage

    def _output(self) -> StreamOutput:
        streams = self._geometry.streaming
        if streams is None:
            return NOTHING_STORED
        targets = {
            slot: StreamTarget(resource.surface, resource.filled)
            for slot, resource in self._bindings.stream_targets.items()
        }
        return StreamOutput(streams.layouts, targets, streams.rasterized)

    def stages(self) -> Iterator[Stage]:
        """Stages that read something."""
        yield from self._tessellating.stages
        if self._geometry.shader is not None:
            yield self._geometry

    def _bound(self, stage: Stage, reading: Reading, shader: Shader) -> StageProgram:
        given = reading.read()
        return StageProgram(
            shader.program,
            reading.uniforms(),
            constants(stage),
            given.textures,
            given.samplers,
            shader.lowered.units,
        )

    def _views(self) -> tuple[View, ...]:
        """All there can be; those that are not set have nothing in them."""
        at = self._bindings
        views = [*at.viewports, *[Viewport(0, 0, 0, 0)] * (VIEWPORTS - len(at.viewports))]
        return tuple(
            View(FloatViewport(*view), scissor(at, view, n)) for n, view in enumerate(views)
        )

    def _slices(self) -> tuple[Layer, ...]:
        """A layer for each slice that any target has; one that has fewer gives its first."""
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


def _nth(surfaces: Sequence[Surface], number: int) -> Surface | None:
    if not surfaces:
        return None
    return surfaces[number] if number < len(surfaces) else surfaces[0]
