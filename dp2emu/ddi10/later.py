"""The stages between the vertex shader and clipping, as draws have them.

Source: Direct3D 10/11 DDI, "Device functions"; SM4-5 tokens, "System values" and "Stages" for
arrays of targets and viewports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dp2emu.ddi10.amplifying import geometry_stage, streams_of
from dp2emu.ddi10.bindings import VIEWPORTS, Bindings, Viewport
from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.reading import Reading, constants
from dp2emu.ddi10.shader import Shader
from dp2emu.ddi10.stages import Stage, Stages
from dp2emu.ddi10.tessellating import Tessellating
from dp2emu.ddi10.viewing import scissor
from dp2emu.gpu.assembly import PATCHES
from dp2emu.gpu.emission import MOST_EMITTED, too_much
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.mesh import LAYER, VIEWPORT
from dp2emu.gpu.packets import (
    FloatViewport,
    GeometryStage,
    Later,
    Layer,
    StageProgram,
    Topology,
    View,
)
from dp2emu.gpu.streamout import NOTHING_STORED, StreamOutput, StreamTarget
from dp2emu.shader.ir import Port


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

    def later(self, vertex: Shader, topology: Topology, primitives: int) -> Later | None:
        """The stages, for so many primitives; None if there are none.  Raises Unsupported."""
        shader, tessellation = self._geometry.shader, self._tessellating.stage(primitives)
        if shader is None and self._geometry.streaming is None and tessellation is None:
            return None
        ports = {port.name for port in self.shown(vertex, topology).ports}
        return Later(
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
