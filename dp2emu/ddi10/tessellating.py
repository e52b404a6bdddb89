"""Hull and domain shaders as a stage of the GPU.

Source: SM4-5 tokens, "Hull shaders", "Domain shaders" and "Tessellation".
"""

from __future__ import annotations

from dp2emu.d3d.enums10 import Topology10
from dp2emu.ddi10.kept import Kept
from dp2emu.ddi10.reading import constants
from dp2emu.ddi10.sampling import read
from dp2emu.ddi10.shader import HullShader, Shader
from dp2emu.ddi10.stages import Stage
from dp2emu.errors import Unsupported
from dp2emu.gpu.packets import (
    ConstantsProgram,
    HullStage,
    StageProgram,
    TessellationStage,
    Topology,
)
from dp2emu.gpu.tessellation import Tessellator
from dp2emu.shader.sm4.enums import Domain, OutputPrimitive

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
