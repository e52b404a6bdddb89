"""Kernels at work: a draw prepared, and the primitives of its chunks drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.color import ColorTarget
from dp2emu.gpu.depth import DepthPlanes, depth_planes
from dp2emu.gpu.geometry import Geometry
from dp2emu.gpu.kernel.arguments import (
    Arguments,
    Made,
    of_draw,
    records,
    with_programs,
    with_spans,
    with_targets,
)
from dp2emu.gpu.kernel.code import Kernel
from dp2emu.gpu.kernel.key import Key, draws_lines, fills_triangles, is_triangles, reason
from dp2emu.gpu.kernel.layout import RESULTS, SET_UP, SETUP_RESULTS, counts_of
from dp2emu.gpu.kernel.plan import Plan, Writes, common_key, planned, triangle_plan
from dp2emu.gpu.kernel.threads import WORTH, bands, share
from dp2emu.gpu.merge import DepthTarget
from dp2emu.gpu.packets import Draw, Rect
from dp2emu.gpu.setup import set_up
from dp2emu.gpu.shade import Shading, shading, varyings_of
from dp2emu.gpu.targets import Targets
from dp2emu.gpu.work import Work
from dp2emu.shader.jit.bindings import Bindings, address
from dp2emu.shader.reference import Fetcher, Sampler


def drawing(
    draw: Draw, targets: Targets, sampler: Sampler, fetcher: Fetcher | None, threads: int
) -> Drawing | None:
    """A draw prepared; None if no kernel is compiled for its pipeline (``key.reason``)."""
    if reason(draw.pipeline) is not None:
        return None
    return Drawing(targets.region, targets.colors, targets.depth, sampler, fetcher, threads)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A draw whose primitives a kernel draws: what its parts have in common."""

    region: Rect
    colors: tuple[ColorTarget, ...]
    depth: DepthTarget | None
    sampler: Sampler
    fetcher: Fetcher | None
    threads: int

    def chunk(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw primitives of a part; all work but what reading vertices is."""
        count = len(assembled.numbers)
        found: Work | None = Work()
        if count:
            found = self._triangles(draw, assembled) if fills_triangles(draw) else None
        found = self._spans(draw, assembled) if found is None else found
        return replace(found, clip_triangles=assembled.extra, clipped=count)

    def _triangles(self, draw: Draw, assembled: Geometry) -> Work | None:
        """Set up, cover and draw triangles; None if some are too large for that."""
        vertices = assembled.vertices
        rhw = vertices.position[3]
        # What a vertex program made is taken to have perspective, without looking.
        level = draw.pipeline.vertex is None and bool((rhw == rhw[0]).all())
        plan = triangle_plan(
            draw.pipeline, self._writes, vertices.names, level, bool(draw.stipple)
        )
        made = Made.of(assembled, plan.layout)
        given = of_draw(draw, plan.layout, self.region, draw.pipeline.depth.bias, made)
        results = np.zeros(len(SETUP_RESULTS), np.int64)
        plan.kernel(address(given.words), address(results), SET_UP, SET_UP)
        triangles, large, area = results.tolist()
        if large:
            return None
        return self._run(plan, draw, given, area // 2, Work(triangles=triangles))

    def _spans(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw what primitives cover, as the stages find it."""
        primitives = set_up(draw, assembled, self.region)
        depth = depth_planes(draw, primitives)
        shader = shading(draw, primitives, depth.plane)
        plan = self._span_plan(draw, depth, shader)
        given = of_draw(draw, plan.layout, self.region, depth.bias)
        given.array("records", records(plan.layout, primitives, depth, shader))
        work = Work(triangles=primitives.triangles)
        for spans in primitives.spans:
            if len(spans):
                with_spans(given, spans)
                pixels = int(np.sum(spans.right - spans.left))
                work = self._run(plan, draw, given, pixels, work)
        return work

    @property
    def _writes(self) -> Writes:
        return Writes.of(self.colors, self.depth)

    def _span_plan(self, draw: Draw, depth: DepthPlanes, shader: Shading) -> Plan:
        pipeline = draw.pipeline
        lines = draws_lines(draw)
        key = common_key(pipeline, self._writes, bool(draw.stipple) and is_triangles(draw))
        read = varyings_of(pipeline.pixel)
        return planned(replace(
            key,
            plain=tuple(name for name in read if name in shader.plain),
            perspective=tuple(name for name in read if name in shader.divided),
            by_sample=key.by_sample and not lines,
            smooth=pipeline.samples == 1 and pipeline.raster.smooth_lines and lines,
            biased=bool(depth.bias),
            sloped=depth.slope is not None,
        ))  # fmt: skip

    def _run(self, plan: Plan, draw: Draw, given: Arguments, pixels: int, before: Work) -> Work:
        """Draw about so many pixels of primitives, after what was done ``before``."""
        top, bottom = self.region.top, self.region.bottom
        if top >= bottom:
            return before
        with_targets(given, self.colors, self.depth)
        threads = self.threads if pixels * plan.key.samples >= WORTH else 1
        workers = [self._worker(plan, draw, given) for _ in range(1, threads)]
        workers.append(self._worker(plan, draw, given, own=False))
        if threads == 1:
            workers[0].run(top, bottom)
        else:
            share(bands(top, bottom), [worker.run for worker in workers])
        for worker in workers:
            worker.bindings.complain()
        counts = [
            sum(column) for column in zip(*(w.results.tolist() for w in workers), strict=True)
        ]
        return self._counted(plan.key, draw, counts, before)

    def _worker(self, plan: Plan, draw: Draw, given: Arguments, own: bool = True) -> _Worker:
        """What a thread runs; with arguments of its ``own`` unless it may have the ones given."""
        words = given.copy() if own else given
        bindings = with_programs(
            words, plan.key, draw.pixel_uniforms, self.colors, self.sampler, self.fetcher
        )
        return _Worker(plan.kernel, words, bindings, np.zeros(len(RESULTS), np.int64))

    def _counted(self, key: Key, draw: Draw, counts: list[int], before: Work) -> Work:
        """What counts mean, in bytes as well."""
        fragments, tested, passed, invocations = counts_of(key, counts)
        moved = passed * sum(color.pixel_bytes for color in self.colors)
        if self.depth is not None:
            moved += self.depth.bytes_moved(tested, passed)
        return before + Work(
            fragments=fragments,
            pixels=passed,
            pixel_bytes=moved,
            shaded=fragments if key.late else passed,
            invocations=invocations if draw.pipeline.counts_pixels else 0,
        )


@dataclass(frozen=True, slots=True)
class _Worker:
    """What a thread runs, with memory of its own for what programs write, and what it counts."""

    kernel: Kernel
    given: Arguments
    bindings: Bindings
    results: I64

    def run(self, first: int, end: int) -> None:
        """Draw some rows."""
        self.kernel(address(self.given.words), address(self.results), first, end)
