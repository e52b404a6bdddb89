"""The render targets and the depth-stencil buffer of a draw."""

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
    """The colour targets that a draw writes and its depth-stencil buffer, if tested; ``region``
    is the scissor rectangle clipped to every bound surface.
    """

    region: Rect
    colors: tuple[ColorTarget, ...]
    depth: DepthTarget | None

    @classmethod
    def of(cls, draw: Draw, run: Run) -> Targets:
        """Return the targets of a draw; ``run`` is the engine of their output programs.

        Raises Unsupported for formats that cannot be drawn to.
        """
        pipeline = draw.pipeline
        tested = pipeline.depth.enable or pipeline.stencil is not None
        surfaces = (*draw.output.colors, draw.output.depth if tested else None)
        sizes = tuple((each.width, each.height) for each in surfaces if each is not None)
        somewhere = sizes or pipeline.raster.targetless
        return cls(
            _inside(draw.scissor, sizes) if somewhere else _NOWHERE,
            color_targets(draw, targets_of(pipeline.pixel), run),
            depth_target(draw),
        )


_NOWHERE = Rect(0, 0, 0, 0)


@lru_cache(maxsize=256)
def _inside(scissor: Rect, sizes: tuple[tuple[int, int], ...]) -> Rect:
    """Intersect the scissor rectangle with the areas of all targets."""
    for width, height in sizes:
        scissor = scissor.intersect(Rect(0, 0, width, height))
    return scissor
