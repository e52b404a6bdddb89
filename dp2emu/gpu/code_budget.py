"""The code budget: limits on the compile work of the kernels and programs that packets need.

Each pipeline state needs a kernel of its own, so a few bytes of commands may cost seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dp2emu.gpu.command.packets import Dispatch, Draw, IndirectDraw, Packet, Predicated
from dp2emu.gpu.command.pipeline import Pipeline
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.limits import Limits, Source
from dp2emu.shader.compile_work import KERNEL, SAMPLER, CompileBudget, compile_work
from dp2emu.shader.ir import Program

if TYPE_CHECKING:
    # Imported for types only: draws without such shaders must not load these modules.
    from dp2emu.gpu.command.post_vertex_stages import PostVertexStages


class CodeBudget(CompileBudget):
    """The compile work of shaders and of submitted packets.  Mutable: it grows.

    ``like`` are the pipeline, the topology and the later stages of the draw that was counted last:
    draws with the same objects need no other code.
    """

    def __init__(self, limits: Limits, source: Source | None = None) -> None:
        super().__init__(limits, source)
        self.like: tuple[object, object, object] = None, None, None

    def draw(self, draw: Draw) -> None:
        """Count the code of a draw.  Raises Exceeded for too much."""
        pipeline = draw.pipeline
        self.code((pipeline, CORNERS[draw.input.topology]), lambda: _kernel_work(pipeline))
        self.program(pipeline.vertex)
        for program in _later_programs(draw.post_vertex):
            self.program(program)
        self.like = pipeline, draw.input.topology, draw.post_vertex

    def packet(self, packet: Packet) -> None:
        """Count the code of any packet.  Raises Exceeded for too much."""
        while isinstance(packet, Predicated):
            packet = packet.packet
        if isinstance(packet, Dispatch):
            self.program(packet.stage.program)
        elif isinstance(packet, Draw | IndirectDraw):
            self.draws += 1
            self.draw(packet if isinstance(packet, Draw) else packet.draw)


def _kernel_work(pipeline: Pipeline) -> int:
    """Units of a kernel, with the pixel program and the samplers in it."""
    textures = len(pipeline.samplers) + len(pipeline.units)
    return KERNEL + SAMPLER * textures + compile_work(pipeline.pixel)


def _later_programs(stages: PostVertexStages | None) -> Iterator[Program]:
    """The programs of the stages between vertices and clipping."""
    if stages is not None and stages.tessellation is not None:
        hull = stages.tessellation.hull
        yield from (each.bound.program for each in hull.constants)
        yield from () if hull.points is None else (hull.points.program,)
        yield stages.tessellation.domain.program
    if stages is not None and stages.geometry is not None:
        yield stages.geometry.bound.program
