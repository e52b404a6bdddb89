"""Programs of vertices and of the stages after them, run with what is bound to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.shader_resources.texture_cache import TextureCache
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing
from dp2emu.gpu.vertex_shader.vertex_stage import shaded
from dp2emu.shader.ir import Stage
from dp2emu.shader.reference import Result, Run
from dp2emu.shader.types import Lanes

if TYPE_CHECKING:
    from dp2emu.gpu.shader_resources.resource_reads import StageFetcher


class StageRun(msgspec.Struct, frozen=True):
    """Runs the programs of stages: ``run`` is the engine, ``cache`` is asked for texels."""

    run: Run
    cache: TextureCache | None = None

    def __call__(
        self, draw: Draw, bound: StageProgram, inputs: Mapping[str, Lanes], lanes: int
    ) -> Result:
        """Run a stage's program, reading what is bound to it."""
        given = standing(draw, bound)
        texturing = Texturing.of(given, self.cache, self.run)
        return self.run(
            bound.program,
            inputs,
            given.vertex.uniforms,
            lanes,
            sampler=StageSampler(texturing, Stage.VERTEX),
            fetcher=fetcher(given, texturing, Stage.VERTEX),
        )

    def vertices(self, draw: Draw, numbers: I64) -> tuple[Mapping[str, Lanes], I64]:
        """Run the vertex program, as ``geometry.shaded`` does."""
        assert draw.pipeline.vertex is not None
        texturing = Texturing.of(draw, self.cache, self.run)
        sampler = StageSampler(texturing, Stage.VERTEX)
        reads = fetcher(draw, texturing, Stage.VERTEX)
        return shaded(draw, draw.pipeline.vertex, numbers, sampler, self.run, reads)


def standing(draw: Draw, bound: StageProgram) -> Draw:
    """A draw whose vertex program is that of another stage, with what is bound to it."""
    pipeline = replace(
        draw.pipeline,
        vertex=bound.program,
        vertex_samplers=bound.samplers,
        vertex_units=bound.units,
    )
    return replace(
        draw,
        pipeline=pipeline,
        vertex=replace(draw.vertex, uniforms=bound.uniforms, textures=bound.textures),
    )


def fetcher(draw: Draw, texturing: Texturing, stage: Stage) -> StageFetcher | None:
    """The resource reads of a stage's program; None if it has none, as before Direct3D 10."""
    if not texturing.asked.get(stage):
        return None
    # Imported here: earlier shaders need none of it.
    from dp2emu.gpu.shader_resources.resource_reads import StageFetcher

    bindings = draw.pixel.textures if stage is Stage.PIXEL else draw.vertex.textures
    return StageFetcher(texturing, stage, bindings, draw.pipeline.samples)
