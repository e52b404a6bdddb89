"""Programs of vertices and of the stages after them, run with what is bound to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.geometry import shaded
from dp2emu.gpu.packets import Draw, StageProgram
from dp2emu.gpu.texture_cache import TextureCache
from dp2emu.gpu.texturing import Texturing, fetcher
from dp2emu.records import dataclass
from dp2emu.shader.ir import Stage
from dp2emu.shader.reference import Result, Run
from dp2emu.shader.types import Lanes


@dataclass(frozen=True, slots=True)
class Running:
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
            given.vertex_uniforms,
            lanes,
            sampler=texturing.sampler(Stage.VERTEX),
            fetcher=fetcher(given, texturing, Stage.VERTEX),
        )

    def vertices(self, draw: Draw, numbers: I64) -> tuple[Mapping[str, Lanes], I64]:
        """Run the vertex program, as ``geometry.shaded`` does."""
        assert draw.pipeline.vertex is not None
        texturing = Texturing.of(draw, self.cache, self.run)
        sampler, reads = texturing.sampler(Stage.VERTEX), fetcher(draw, texturing, Stage.VERTEX)
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
        vertex_uniforms=bound.uniforms,
        vertex_textures=bound.textures,
    )
