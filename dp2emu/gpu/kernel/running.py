"""Kernels at work: a draw prepared, and the primitives of its chunks drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dp2emu.gpu.color import ColorTarget
from dp2emu.gpu.depth import DepthPlanes, depth_planes
from dp2emu.gpu.geometry import Geometry
from dp2emu.gpu.kernel.arguments import Arguments, of_draw, records, with_programs
from dp2emu.gpu.kernel.code import kernel
from dp2emu.gpu.kernel.key import Key, color_key, depth_key, draws_lines, is_triangles, reason
from dp2emu.gpu.kernel.layout import RESULTS, layout_of
from dp2emu.gpu.merge import DepthTarget
from dp2emu.gpu.packets import Draw, Rect
from dp2emu.gpu.setup import set_up
from dp2emu.gpu.shade import Shading, shading, varyings_of
from dp2emu.gpu.spans import Spans
from dp2emu.gpu.targets import Targets
from dp2emu.gpu.work import Work
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.reference import Sampler


def drawing(draw: Draw, targets: Targets, sampler: Sampler, threads: int) -> Drawing | None:
    """A draw prepared; None if no kernel is compiled for its pipeline (``key.reason``)."""
    if reason(draw.pipeline) is not None:
        return None
    return Drawing(targets.region, targets.colors, targets.depth, sampler, threads)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A draw whose primitives a kernel draws: what its parts have in common."""

    region: Rect
    colors: tuple[ColorTarget, ...]
    depth: DepthTarget | None
    sampler: Sampler
    threads: int

    def chunk(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw primitives of a part; all work but what reading vertices is."""
        primitives = set_up(draw, assembled, self.region)
        depth = depth_planes(draw, primitives)
        shader = shading(draw, primitives, depth.plane)
        key = self._key(draw, depth, shader)
        layout = layout_of(key)
        given = of_draw(draw, key, layout, self.colors, self.depth, depth)
        given = with_programs(given, key, draw.pixel_uniforms, self.colors, self.sampler)
        given.array("records", records(layout, key, primitives, depth, shader))
        work = Work(
            triangles=primitives.triangles,
            clip_triangles=assembled.extra,
            clipped=len(assembled.numbers),
        )
        for spans in primitives.spans:
            if len(spans):
                work += self._work(key, draw, self._run(key, given, spans))
        return work

    def _key(self, draw: Draw, depth: DepthPlanes, shader: Shading) -> Key:
        pipeline = draw.pipeline
        raster, state = pipeline.raster, pipeline.depth
        read = varyings_of(pipeline.pixel)
        samples, lines = pipeline.samples, draws_lines(draw)
        return Key(
            pipeline.pixel,
            tuple(map(color_key, self.colors)),
            depth_key(self.depth),
            tuple(name for name in read if name in shader.plain),
            tuple(name for name in read if name in shader.divided),
            samples=samples,
            by_sample=samples > 1 and raster.multisample and not lines,
            smooth=samples == 1 and raster.smooth_lines and lines,
            clipped=raster.clip and pipeline.vertex is None,
            stippled=bool(draw.stipple) and is_triangles(draw),
            late=pipeline.tests_late,
            alpha_test=pipeline.alpha_test,
            alpha_to_coverage=pipeline.alpha_to_coverage,
            w_buffer=state.w_buffer,
            biased=bool(depth.bias),
            sloped=depth.slope is not None,
            unclamped=state.in_viewport,
        )

    def _run(self, key: Key, given: Arguments, spans: Spans) -> list[int]:
        """Counts of ``RESULTS``."""
        given = given.copy()
        given.array("span.owner", np.ascontiguousarray(spans.primitive))
        given.array("span.y", np.ascontiguousarray(spans.y))
        runs = spans if spans.runs is None else spans.runs
        given.array("span.left", np.ascontiguousarray(runs.left))
        given.array("span.right", np.ascontiguousarray(runs.right))
        if spans.coverage is not None:
            given.array("span.coverage", spans.coverage)
        given.number("span.spans", len(spans))
        results = np.zeros(len(RESULTS), np.int64)
        kernel(key)(address(given.words), address(results), 0, self.region.bottom)
        return [int(count) for count in results]

    def _work(self, key: Key, draw: Draw, counts: list[int]) -> Work:
        """What counts mean, in bytes as well."""
        fragments, tested, passed, invocations = counts
        moved = passed * sum(color.pixel_bytes for color in self.colors)
        if self.depth is not None:
            moved += self.depth.bytes_moved(tested, passed)
        return Work(
            fragments=fragments,
            pixels=passed,
            pixel_bytes=moved,
            shaded=fragments if key.late else passed,
            invocations=invocations if draw.pipeline.counts_pixels else 0,
        )
