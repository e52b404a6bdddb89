"""The reference engine with its runs as values, for engines that observe some of them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from dp2emu.gpu.pixel_shader.pixel_stage import Observing, Shading
from dp2emu.gpu.rasterizer.planes import Sites
from dp2emu.shader import ir, reference
from dp2emu.shader.reference import Environment, Fetcher, Memory, Result, Sampler, Watch
from dp2emu.shader.types import Lanes, Mask


class Run(msgspec.Struct, frozen=True):
    """The arguments of a run of a program, as ``reference.run`` takes them."""

    program: ir.Program
    inputs: Mapping[str, Lanes]
    uniforms: Mapping[str, Lanes]
    lanes: int
    environment: Environment
    mask: Mask | None = None

    def result(self) -> Result:
        """Run the program on the reference engine."""
        given = self.environment
        return reference.run(
            self.program, self.inputs, self.uniforms, self.lanes, self.mask,
            given.sampler, given.watch, given.fetcher, given.memory,
        )  # fmt: skip


class Engine(Observing):
    """The reference engine; subclasses observe runs by overriding its methods."""

    def __call__(
        self,
        program: ir.Program,
        inputs: Mapping[str, Lanes],
        uniforms: Mapping[str, Lanes],
        lanes: int,
        mask: Mask | None = None,
        sampler: Sampler | None = None,
        watch: Watch | None = None,
        fetcher: Fetcher | None = None,
        memory: Memory | None = None,
    ) -> Result:
        """Run a program as ``reference.run`` does."""
        environment = Environment(sampler, watch, fetcher, memory)
        run = Run(program, inputs, uniforms, lanes, environment, mask)
        return self.run(run) if mask is None else self.run_masked(run)

    def run(self, run: Run) -> Result:
        """Run a program in all lanes."""
        return run.result()

    def run_masked(self, run: Run) -> Result:
        """Run a program in the lanes of its mask."""
        return run.result()

    def at(self, shading: Shading, sites: Sites, real: Mask | None) -> reference.Run:
        """The engine of a run of a pixel program; this one is the same for all."""
        return self
