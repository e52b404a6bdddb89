"""Kernels at work: a draw prepared, and the primitives of its chunks drawn."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.gpu.code.kernel_key import (
    Key,
    Samplers,
    draws_lines,
    fills_triangles,
    is_triangles,
    reason,
)
from dp2emu.gpu.code.kernel_layout import RESULTS, SETUP_RESULTS, counts_of
from dp2emu.gpu.command.bindings import Rect, Uniforms
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile.band_workers import Items, crew, everything
from dp2emu.gpu.compile.kernel_arguments import (
    Arguments,
    Made,
    of_draw,
    records,
    with_programs,
    with_spans,
    with_targets,
    with_triangles,
)
from dp2emu.gpu.compile.kernel_plan import (
    Plan,
    Writes,
    common_key,
    planned,
    samplers_of,
    triangle_plan,
)
from dp2emu.gpu.compile.thread_pool import WORTH, Bands
from dp2emu.gpu.input_assembler.vertex_fetch import Vertices
from dp2emu.gpu.output_merger.color_target import ColorTarget
from dp2emu.gpu.output_merger.depth_test import DepthPlanes, DepthTarget, depth_planes
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.pixel_shader.pixel_stage import Shading, shading, varyings_of
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.primitive_setup import set_up
from dp2emu.gpu.vertex_shader.vertex_frame import plan_of
from dp2emu.gpu.vertex_shader.vertex_kernel import vertices
from dp2emu.gpu.vertex_shader.vertex_stage import geometry
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.jit.code import Effort
from dp2emu.shader.reference import Fetcher, Sampler

HEAVY = 1 << 20
"""Samples of a second draw for which good code is compiled, however few draws there were."""
MANY = 1 << 9
"""Primitives that take some time to be set up."""
TEMPLATES = 8
"""Kept with a drawing: programs of a state are given other numbers now and then."""


def drawing(
    draw: Draw,
    targets: Targets,
    sampler: Sampler,
    fetcher: Fetcher | None,
    threads: int,
    names: tuple[str, ...],
) -> Drawing | None:
    """A draw prepared; None if no kernel is compiled for its pipeline (``key.reason``).

    ``names`` are the varyings that its primitives may have.
    """
    if reason(draw.pipeline) is not None:
        return None
    writes = Writes.of(targets.colors, targets.depth)
    made = Drawing(
        targets.region, targets.colors, targets.depth, sampler, fetcher, threads, writes
    )
    if not vertices().has_code:
        made.begin(draw, names)
    return made


class Drawing(msgspec.Struct, frozen=True):
    """How a kernel draws primitives: what draws of a state have in common.

    That is one pipeline's.  ``templates`` are arguments by plan and uniforms, one for each thread,
    ``plans`` those of triangles, ``span_plans`` those of what is covered by spans.  ``levels``
    says whether triangles with varyings of these names had no perspective lately.
    """

    region: Rect
    colors: tuple[ColorTarget, ...]
    depth: DepthTarget | None
    sampler: Sampler
    fetcher: Fetcher | None
    threads: int
    writes: Writes
    templates: dict[tuple[int, int], list[Arguments]] = msgspec.field(default_factory=dict)
    plans: dict[tuple[tuple[str, ...], bool, bool], Plan] = msgspec.field(default_factory=dict)
    span_plans: dict[tuple[Any, ...], Plan] = msgspec.field(default_factory=dict)
    levels: dict[tuple[str, ...], bool] = msgspec.field(default_factory=dict)

    def chunk(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw primitives of a part; all work but what reading vertices is."""
        if not len(assembled.numbers):
            return Work(clip_triangles=assembled.extra)
        found = self._triangles(draw, assembled) if fills_triangles(draw) else None
        return self._spans(draw, assembled) if found is None else found

    def begin(self, draw: Draw, names: tuple[str, ...]) -> None:
        """Have the kernel of a draw compiled while this thread compiles what makes vertices.

        Which kernel it is to be is not quite known before there are vertices.
        """
        pipeline = draw.pipeline
        seen = fills_triangles(draw) and draw.input.count and pipeline.raster.enabled
        if not seen or draw.post_vertex is not None or draw.input.patch is not None:
            return
        found = plan_of(pipeline, names).names
        plan = self.triangle_plan(draw, found, self.seems_level(draw, names))
        plan.kernel.compile_ahead(Effort.FAIR)
        if pipeline.vertex is not None:
            vertices().compile_ahead()
        plan.setup.compile_ahead()

    def seems_level(self, draw: Draw, names: tuple[str, ...]) -> bool:
        """Whether triangles have no perspective, as far as earlier ones or the first one tell."""
        if draw.pipeline.vertex is not None:
            return False
        found = self.levels.get(names)
        if found is None:
            found = _is_level(draw, geometry(draw, 0, 1, names).vertices)
        return found

    def compile_ahead(self, plan: Plan, draw: Draw) -> None:
        """Have a kernel compiled by another thread, if this one has something to do until it is
        wanted: otherwise it is known by then how much there is to draw.
        """
        if draw.input.count >= MANY or not plan.setup.has_code:
            plan.kernel.compile_ahead(Effort.FAIR)

    def _triangles(self, draw: Draw, assembled: Geometry) -> Work | None:
        """Set up, cover and draw triangles; None if some are too large for that."""
        vertices = assembled.vertices
        plan = self.triangle_plan(draw, vertices.names, _is_level(draw, vertices))
        self.compile_ahead(plan, draw)
        made = Made.of(assembled, plan.layout)
        template = self.template(plan, draw.pixel.uniforms)
        given = of_draw(draw, template, self.region, draw.pipeline.depth.bias, made)
        given.array("list", everything(len(made.numbers)))
        results = np.zeros(len(SETUP_RESULTS), np.int64)
        plan.setup.run(address(given.words), address(results))
        triangles, large, area, seen = results.tolist()
        if large:
            return None
        given.number("count", seen)
        return self._run(plan, draw, given, area // 2, _of_geometry(assembled, triangles))

    def _spans(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw what primitives cover, as the stages find it."""
        primitives = set_up(draw, assembled, self.region)
        depth = depth_planes(draw, primitives)
        shader = shading(draw, primitives, depth.plane)
        plan = self._span_plan(draw, depth, shader)
        template = self.template(plan, draw.pixel.uniforms)
        given = of_draw(draw, template, self.region, depth.bias)
        # Whoever is given spans looks at these only, but nobody is called for nothing.
        given.number("count", 1)
        given.array("records", records(plan.layout, primitives, depth, shader))
        work = _of_geometry(assembled, primitives.triangles)
        for spans in primitives.spans:
            if len(spans):
                with_spans(given, spans)
                pixels = int(np.sum(spans.right - spans.left))
                work = self._run(plan, draw, given, pixels, work)
        return work

    def triangle_plan(self, draw: Draw, names: tuple[str, ...], level: bool) -> Plan:
        """That of triangles with ``names`` of varyings, without perspective if ``level``."""
        key = names, level, bool(draw.raster.stipple)
        found = self.plans.get(key)
        if found is None:
            found = triangle_plan(draw.pipeline, self.writes, self._samplers(draw), *key)
            self.plans[key] = found
        return found

    def some_triangle_plan(self, draw: Draw, names: tuple[str, ...]) -> Plan | None:
        """One that there is already, with or without perspective."""
        keys = ((names, level, bool(draw.raster.stipple)) for level in (False, True))
        return next((self.plans[key] for key in keys if key in self.plans), None)

    def point_plan(self, draw: Draw, names: tuple[str, ...]) -> Plan:
        """That of points with ``names`` of varyings, none of which says where in a point it is."""
        biased = bool(draw.pipeline.depth.bias_all and draw.pipeline.depth.bias)
        return self._planned_spans(draw, False, False, names, (), biased, False)

    def _samplers(self, draw: Draw) -> Samplers:
        return samplers_of(draw.pipeline.pixel, self.sampler)

    def _span_plan(self, draw: Draw, depth: DepthPlanes, shader: Shading) -> Plan:
        stippled = bool(draw.raster.stipple) and is_triangles(draw)
        asked = (
            draws_lines(draw), stippled, tuple(shader.plain), tuple(shader.divided),
            bool(depth.bias), depth.slope is not None,
        )  # fmt: skip
        found = self.span_plans.get(asked)
        if found is None:
            found = self.span_plans[asked] = self._planned_spans(draw, *asked)
        return found

    def _planned_spans(
        self,
        draw: Draw,
        lines: bool,
        stippled: bool,
        plain: Container[str],
        divided: Container[str],
        biased: bool,
        sloped: bool,
    ) -> Plan:
        pipeline = draw.pipeline
        key = common_key(pipeline, self.writes, self._samplers(draw), stippled)
        read = varyings_of(pipeline.pixel)
        return planned(replace(
            key,
            plain=tuple(name for name in read if name in plain),
            perspective=tuple(name for name in read if name in divided),
            by_sample=key.by_sample and not lines,
            smooth=pipeline.samples == 1 and pipeline.raster.smooth_lines and lines,
            biased=biased,
            sloped=sloped,
        ))  # fmt: skip

    def _run(self, plan: Plan, draw: Draw, given: Arguments, pixels: int, before: Work) -> Work:
        """Draw about so many pixels of primitives, after what was done ``before``."""
        top, bottom = self.region.top, self.region.bottom
        if top >= bottom:
            return before
        samples = pixels * plan.key.samples
        if samples >= WORTH:
            # While the kernel is compiled.
            crew().poll()
        self.prepare(plan, samples)
        if samples >= WORTH and crew().poll():
            items = Items.whole(given, Bands.of(top, bottom))
            return self.paint(plan, draw, given, items, (0, 1, pixels), before)
        results = np.zeros(len(RESULTS), np.int64)
        plan.kernel.run(address(given.words), address(results), top, bottom)
        if given.bindings is not None:
            given.bindings.raise_errors()
        return self.counted(plan.key, draw, results.tolist(), before)

    def prepare(self, plan: Plan, samples: int) -> None:
        """Have a kernel for so many samples: if it was there, good code before long of all that
        draws them.
        """
        if samples >= HEAVY and plan.kernel.has_code:
            for function in (plan.kernel, plan.setup, crew(), vertices()):
                function.promote()
        plan.kernel.ready(Effort.FAIR if samples >= WORTH else Effort.QUICK)

    def paint(
        self,
        plan: Plan,
        draw: Draw,
        given: Arguments,
        items: Items,
        part: tuple[int, int, int],
        before: Work,
    ) -> Work:
        """Draw the items of a part: the first one, the end, and about how many pixels they have.

        One thread draws bands as well: a band of all targets stays in its cache.
        """
        first, end, pixels = part
        samples = pixels * plan.key.samples
        threads = min(self.threads, items.bands.count) if samples >= WORTH else 1
        each = [given, *(self.own(plan, draw, given, n) for n in range(1, threads))]
        return self.counted(plan.key, draw, items.paint(plan, each, first, end), before)

    def own(self, plan: Plan, draw: Draw, given: Arguments, hand: int) -> Arguments:
        """The same arguments for another thread, whose programs have memory of their own."""
        template = self.template(plan, draw.pixel.uniforms, hand)
        return given.with_programs_of(template)

    def template(self, plan: Plan, uniforms: Uniforms, hand: int = 0) -> Arguments:
        """Arguments with targets and programs, for one thread at a time."""
        key = id(plan), id(uniforms)
        found = self.templates.get(key, [])
        if not found:
            if len(self.templates) >= TEMPLATES:
                self.templates.clear()
            self.templates[key] = found
        while len(found) <= hand:
            found.append(self._template(plan, uniforms))
        return found[hand]

    def _template(self, plan: Plan, uniforms: Uniforms) -> Arguments:
        words = np.zeros(len(plan.layout.arguments), np.uint64)
        made = Arguments(plan.layout, words, [plan, uniforms])
        with_targets(made, self.colors, self.depth)
        with_programs(made, plan.key, uniforms, self.colors, self.sampler, self.fetcher)
        if plan.key.triangles:
            with_triangles(made, plan.key, plan.front())
        return made

    def counted(self, key: Key, draw: Draw, counts: list[int], before: Work) -> Work:
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


def _is_level(draw: Draw, vertices: Vertices) -> bool:
    """Whether nothing has perspective; what a vertex program made has, without looking."""
    rhw = vertices.position[3]
    return draw.pipeline.vertex is None and bool((rhw == rhw[0]).all())


def _of_geometry(assembled: Geometry, triangles: int) -> Work:
    """What came before coverage."""
    return Work(
        triangles=triangles, clip_triangles=assembled.extra, clipped=len(assembled.numbers)
    )
