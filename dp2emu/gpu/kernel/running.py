"""Kernels at work: a draw prepared, and the primitives of its chunks drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dp2emu.gpu.arrays import I64
from dp2emu.gpu.color import ColorTarget
from dp2emu.gpu.depth import DepthPlanes, depth_planes
from dp2emu.gpu.geometry import Geometry, is_flat
from dp2emu.gpu.kernel.arguments import (
    Arguments,
    of_draw,
    records,
    with_programs,
    with_spans,
    with_triangles,
)
from dp2emu.gpu.kernel.code import Kernel, kernel
from dp2emu.gpu.kernel.key import (
    Key,
    color_key,
    depth_key,
    draws_lines,
    fills_triangles,
    is_triangles,
    reason,
)
from dp2emu.gpu.kernel.layout import RESULTS, SET_UP, SETUP_RESULTS, layout_of
from dp2emu.gpu.kernel.threads import WORTH, bands, share
from dp2emu.gpu.merge import DepthTarget
from dp2emu.gpu.packets import Draw, Rect
from dp2emu.gpu.setup import set_up
from dp2emu.gpu.shade import Shading, linear_varyings, shading, varyings_of
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
        work = Work(clip_triangles=assembled.extra, clipped=len(assembled.numbers))
        if not len(assembled.numbers):
            return work
        if fills_triangles(draw):
            found = self._triangles(draw, assembled)
            if found is not None:
                return work + found
        return work + self._spans(draw, assembled)

    def _triangles(self, draw: Draw, assembled: Geometry) -> Work | None:
        """Set up, cover and draw triangles; None if some are too large for that."""
        key = self._triangle_key(draw, assembled)
        given = self._given(key, draw, draw.pipeline.depth.bias)
        given.region(self.region)
        with_triangles(given, key, draw, assembled)
        results = np.zeros(len(SETUP_RESULTS), np.int64)
        kernel(key)(address(given.words), address(results), SET_UP, SET_UP)
        triangles, large, area = results.tolist()
        if large:
            return None
        return Work(triangles=triangles) + self._run(key, draw, given, area // 2)

    def _spans(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw what primitives cover, as the stages find it."""
        primitives = set_up(draw, assembled, self.region)
        depth = depth_planes(draw, primitives)
        shader = shading(draw, primitives, depth.plane)
        key = self._span_key(draw, depth, shader)
        given = self._given(key, draw, depth.bias)
        given.array("records", records(given.layout, key, primitives, depth, shader))
        work = Work(triangles=primitives.triangles)
        for spans in primitives.spans:
            if len(spans):
                pixels = int(np.sum(spans.right - spans.left))
                work += self._run(key, draw, with_spans(given, spans), pixels)
        return work

    def _given(self, key: Key, draw: Draw, bias: float) -> Arguments:
        """Arguments without primitives and without what programs read."""
        return of_draw(draw, key, layout_of(key), self.colors, self.depth, bias)

    def _triangle_key(self, draw: Draw, assembled: Geometry) -> Key:
        pipeline, vertices = draw.pipeline, assembled.vertices
        raster, state = pipeline.raster, pipeline.depth
        names = [name for name in varyings_of(pipeline.pixel) if name in vertices.names]
        flat = frozenset(name for name in names if is_flat(name, raster.flat))
        plain = flat | linear_varyings(pipeline)
        rhw = vertices.position[3]
        if (rhw == rhw[0]).all():
            plain |= set(names)
        key = self._key(draw, names, plain)
        offset = state.bias_of_float or bool(state.bias_clamp)
        return replace(
            key,
            triangles=True,
            flat=flat,
            biased=bool(state.bias) and not offset,
            sloped=bool(state.slope) or offset,
            tilted=bool(state.slope),
            bias_of_float=state.bias_of_float,
            clamp=(state.bias_clamp > 0) - (state.bias_clamp < 0),
        )

    def _span_key(self, draw: Draw, depth: DepthPlanes, shader: Shading) -> Key:
        pipeline = draw.pipeline
        lines = draws_lines(draw)
        key = self._key(draw, varyings_of(pipeline.pixel), frozenset(shader.plain))
        return replace(
            key,
            perspective=tuple(name for name in key.perspective if name in shader.divided),
            by_sample=key.by_sample and not lines,
            smooth=pipeline.samples == 1 and pipeline.raster.smooth_lines and lines,
            biased=bool(depth.bias),
            sloped=depth.slope is not None,
        )

    def _key(self, draw: Draw, names: Iterable[str], plain: frozenset[str]) -> Key:
        """What keys of either front have in common."""
        pipeline = draw.pipeline
        return Key(
            pipeline.pixel,
            tuple(map(color_key, self.colors)),
            depth_key(self.depth),
            tuple(name for name in names if name in plain),
            tuple(name for name in names if name not in plain),
            samples=pipeline.samples,
            by_sample=pipeline.samples > 1 and pipeline.raster.multisample,
            clipped=pipeline.raster.clip and pipeline.vertex is None,
            stippled=bool(draw.stipple) and is_triangles(draw),
            late=pipeline.tests_late,
            alpha_test=pipeline.alpha_test,
            alpha_to_coverage=pipeline.alpha_to_coverage,
            w_buffer=pipeline.depth.w_buffer,
            unclamped=pipeline.depth.in_viewport,
        )

    def _run(self, key: Key, draw: Draw, given: Arguments, pixels: int) -> Work:
        """Draw about so many pixels of primitives."""
        parts = bands(self.region.top, self.region.bottom)
        if not parts:
            return Work()
        wanted = self.threads if pixels * key.samples >= WORTH else 1
        workers = [self._worker(key, draw, given) for _ in range(min(wanted, len(parts)))]
        if len(workers) == 1:
            parts = [(self.region.top, self.region.bottom)]
        share(parts, [worker.run for worker in workers])
        counts = np.sum([worker.results for worker in workers], axis=0)
        return self._work(key, draw, counts.tolist())

    def _worker(self, key: Key, draw: Draw, given: Arguments) -> _Worker:
        own = with_programs(given, key, draw.pixel_uniforms, self.colors, self.sampler)
        return _Worker(kernel(key), own, np.zeros(len(RESULTS), np.int64))

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


@dataclass(frozen=True, slots=True)
class _Worker:
    """What a thread runs, with memory of its own for what programs write, and what it counts."""

    kernel: Kernel
    given: Arguments
    results: I64

    def run(self, first: int, end: int) -> None:
        """Draw some rows."""
        self.kernel(address(self.given.words), address(self.results), first, end)
