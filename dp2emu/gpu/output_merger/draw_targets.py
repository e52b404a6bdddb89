"""What a draw writes."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.output_merger.color_target import ColorTarget, color_targets
from dp2emu.gpu.output_merger.depth_test import DepthTarget, depth_target
from dp2emu.gpu.pixel_shader.pixel_stage import targets_of
from dp2emu.shader.reference import Run


class Targets(msgspec.Struct, frozen=True):
    """Colour targets that change and the depth-stencil buffer, if it is tested; ``region`` is
    inside all that is bound.
    """

    region: Rect
    colors: tuple[ColorTarget, ...]
    depth: DepthTarget | None

    @classmethod
    def of(cls, draw: Draw, run: Run) -> Targets:
        """Those of a draw, whose output programs ``run`` runs.

        Raises Unsupported for what is not built.
        """
        pipeline = draw.pipeline
        tested = pipeline.depth.enable or pipeline.stencil is not None
        depth = draw.output.depth if tested else None
        sizes = tuple(
            (surface.width, surface.height)
            for surface in (*draw.output.colors, depth)
            if surface is not None
        )
        somewhere = sizes or pipeline.raster.targetless
        return cls(
            _inside(draw.scissor, sizes) if somewhere else _NOWHERE,
            color_targets(draw, targets_of(pipeline.pixel), run),
            depth_target(draw),
        )


_NOWHERE = Rect(0, 0, 0, 0)


@lru_cache(maxsize=256)
def _inside(scissor: Rect, sizes: tuple[tuple[int, int], ...]) -> Rect:
    """The part of a rectangle that is inside all sizes."""
    for width, height in sizes:
        scissor = scissor.intersect(Rect(0, 0, width, height))
    return scissor
