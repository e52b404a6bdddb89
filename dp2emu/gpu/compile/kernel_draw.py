"""Draws by compiled kernels: chunk by chunk, or checked against the stages."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from dp2emu.cancellation import Cancellation, current
from dp2emu.d3d.dxgi import ROWS
from dp2emu.errors import Disagreement
from dp2emu.gpu.code import kernel_key
from dp2emu.gpu.code.kernel_key import Key, fills_triangles
from dp2emu.gpu.code.kernel_layout import RESULTS, SETUP_RESULTS, counts_of
from dp2emu.gpu.command.bindings import Rect, Uniforms
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile import kernel_arguments, kernel_plan
from dp2emu.gpu.compile.band_workers import WORTH, Bands, Items, band_function
from dp2emu.gpu.compile.kernel_arguments import Arguments, SetupInput, draw_arguments
from dp2emu.gpu.compile.kernel_plan import Plan, Writes
from dp2emu.gpu.input_assembler.vertex_fetch import Vertices
from dp2emu.gpu.output_merger.color_target import ColorTarget
from dp2emu.gpu.output_merger.depth_test import DepthPlanes, DepthTarget, depth_planes
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.pixel_shader.pixel_stage import Shading, shading, varyings_of
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.primitive_setup import set_up
from dp2emu.gpu.resource.heap import Surface
from dp2emu.gpu.vertex_shader.vertex_frame import plan_of
from dp2emu.gpu.vertex_shader.vertex_kernel import vertices
from dp2emu.gpu.vertex_shader.vertex_stage import geometry
from dp2emu.shader.jit.bindings import address
from dp2emu.shader.jit.code import Effort
from dp2emu.shader.jit.tiering import tiers
from dp2emu.shader.reference import Fetcher, Sampler
from dp2emu.shader.text import dump

HEAVY = 1 << 20
"""Minimum number of samples of a draw for which the compiled code of its state is optimised, if
the state's kernel has code already."""
MANY = 1 << 9
"""Minimum number of primitives of a draw for which its kernel is compiled in the background during
triangle setup."""
TEMPLATES = 8
"""Maximum number of pairs of plan and uniforms whose argument templates are kept for a draw
state."""


def drawing(
    draw: Draw,
    targets: Targets,
    sampler: Sampler,
    fetcher: Fetcher | None,
    threads: int,
    names: tuple[str, ...],
) -> Drawing | None:
    """The object that draws with compiled kernels in a draw's state; None if no kernel is compiled
    for its pipeline.

    ``names`` are the varyings that its primitives may have.
    """
    if kernel_key.reason(draw.pipeline) is not None:
        return None
    writes = Writes.of(targets.colors, targets.depth)
    made = Drawing(
        targets.region, targets.colors, targets.depth, sampler, fetcher, threads, writes
    )
    if not vertices().has_code:
        made.begin(draw, names)
    return made


class Drawing(msgspec.Struct, frozen=True):
    """Draws of one state by compiled kernels.

    ``templates`` are prepared arguments by plan and uniforms, one for each thread; ``plans`` are
    the kernels that set up triangles themselves, ``span_plans`` those for spans that the reference
    computes.  Kernels end early once ``cancellation`` is cancelled.  ``levels``: by names of
    varyings, whether the last triangles had no perspective.
    """

    region: Rect
    colors: tuple[ColorTarget, ...]
    depth: DepthTarget | None
    sampler: Sampler
    fetcher: Fetcher | None
    threads: int
    writes: Writes
    cancellation: Cancellation = msgspec.field(default_factory=current)
    templates: dict[tuple[int, int], list[Arguments]] = msgspec.field(default_factory=dict)
    plans: dict[tuple[tuple[str, ...], bool, bool], Plan] = msgspec.field(default_factory=dict)
    span_plans: dict[tuple[Any, ...], Plan] = msgspec.field(default_factory=dict)
    levels: dict[tuple[str, ...], bool] = msgspec.field(default_factory=dict)

    def chunk(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw assembled primitives -> their work except reading vertices."""
        if not len(assembled.numbers):
            return Work(clip_triangles=assembled.extra)
        found = self._triangles(draw, assembled) if fills_triangles(draw) else None
        return self._spans(draw, assembled) if found is None else found

    def begin(self, draw: Draw, names: tuple[str, ...]) -> None:
        """Compile the likely kernel of a draw in the background.

        Which kernel it needs is certain only when there are vertices.
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
        """Whether triangles probably have no perspective: those of the last large draw with these
        varyings had none or, without such a draw, the first triangle has none.
        """
        if draw.pipeline.vertex is not None:
            return False
        found = self.levels.get(names)
        if found is None:
            found = _is_level(draw, geometry(draw, 0, 1, names).vertices)
        return found

    def compile_ahead(self, plan: Plan, draw: Draw) -> None:
        """Begin to compile a kernel in the background if the draw has ``MANY`` primitives or setup
        is not compiled yet; otherwise do nothing until the amount of work is known.
        """
        if draw.input.count >= MANY or not plan.setup.has_code:
            plan.kernel.compile_ahead(Effort.FAIR)

    def _triangles(self, draw: Draw, assembled: Geometry) -> Work | None:
        """Set up and draw triangles; None if some are too large for compiled setup."""
        vertices = assembled.vertices
        plan = self.triangle_plan(draw, vertices.names, _is_level(draw, vertices))
        self.compile_ahead(plan, draw)
        corners = SetupInput.of(assembled, plan.layout)
        template = self.argument_template(plan, draw.pixel.uniforms)
        given = draw_arguments(draw, template, self.region, draw.pipeline.depth.bias, corners)
        given.set_array("list", kernel_arguments.all_triangles(len(corners.numbers)))
        results = np.zeros(len(SETUP_RESULTS), np.int64)
        plan.setup.run(address(given.words), address(results))
        triangles, large, area, seen = results.tolist()
        if large:
            return None
        given.set_number("count", seen)
        return self._run(plan, draw, given, area // 2, _of_geometry(assembled, triangles))

    def _spans(self, draw: Draw, assembled: Geometry) -> Work:
        """Draw primitives whose spans the reference stages compute."""
        primitives = set_up(draw, assembled, self.region)
        depth = depth_planes(draw, primitives)
        shader = shading(draw, primitives, depth.plane)
        plan = self._span_plan(draw, depth, shader)
        template = self.argument_template(plan, draw.pixel.uniforms)
        given = draw_arguments(draw, template, self.region, depth.bias)
        # The kernel reads the spans only, but bands without primitives are skipped.
        given.set_number("count", 1)
        given.set_array(
            "records", kernel_arguments.records(plan.layout, primitives, depth, shader)
        )
        work = _of_geometry(assembled, primitives.triangles)
        for spans in primitives.spans:
            if len(spans):
                kernel_arguments.set_spans(given, spans)
                pixels = int(np.sum(spans.right - spans.left))
                work = self._run(plan, draw, given, pixels, work)
        return work

    def triangle_plan(self, draw: Draw, names: tuple[str, ...], level: bool) -> Plan:
        """The cached kernel plan for triangles with varyings ``names``, without perspective if
        ``level``.
        """
        key = names, level, bool(draw.raster.stipple)
        found = self.plans.get(key)
        if found is None:
            samplers = kernel_plan.samplers_of(draw.pipeline.pixel, self.sampler)
            found = kernel_plan.triangle_plan(draw.pipeline, self.writes, samplers, *key)
            self.plans[key] = found
        return found

    def some_triangle_plan(self, draw: Draw, names: tuple[str, ...]) -> Plan | None:
        """A cached kernel plan for triangles with varyings ``names``, whether for perspective or
        not; None if there is no such plan yet.
        """
        keys = ((names, level, bool(draw.raster.stipple)) for level in (False, True))
        return next((self.plans[key] for key in keys if key in self.plans), None)

    def point_plan(self, draw: Draw, names: tuple[str, ...]) -> Plan:
        """The kernel plan for points with varyings ``names``, which are constant over a point."""
        biased = bool(draw.pipeline.depth.bias_all and draw.pipeline.depth.bias)
        return self._new_span_plan(draw, False, False, names, (), biased, False)

    def _span_plan(self, draw: Draw, depth: DepthPlanes, shader: Shading) -> Plan:
        stippled = bool(draw.raster.stipple) and kernel_key.is_triangles(draw)
        asked = (
            kernel_key.draws_lines(draw), stippled, tuple(shader.plain), tuple(shader.divided),
            bool(depth.bias), depth.slope is not None,
        )  # fmt: skip
        found = self.span_plans.get(asked)
        if found is None:
            found = self.span_plans[asked] = self._new_span_plan(draw, *asked)
        return found

    def _new_span_plan(
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
        samplers = kernel_plan.samplers_of(pipeline.pixel, self.sampler)
        key = kernel_plan.common_key(pipeline, self.writes, samplers, stippled)
        read = varyings_of(pipeline.pixel)
        return kernel_plan.cached_plan(replace(
            key,
            plain=tuple(name for name in read if name in plain),
            perspective=tuple(name for name in read if name in divided),
            by_sample=key.by_sample and not lines,
            smooth=pipeline.samples == 1 and pipeline.raster.smooth_lines and lines,
            biased=biased,
            sloped=sloped,
        ))  # fmt: skip

    def _run(self, plan: Plan, draw: Draw, given: Arguments, pixels: int, before: Work) -> Work:
        """Draw set-up primitives of about ``pixels`` pixels; ``before`` is the work so far."""
        top, bottom = self.region.top, self.region.bottom
        if top >= bottom:
            return before
        samples = pixels * plan.key.samples
        if samples >= WORTH:
            # The workers' code is compiled in the background while the kernel is compiled here.
            band_function().poll()
        self.prepare(plan, samples)
        if samples >= WORTH and band_function().poll():
            items = Items.whole(given, Bands.of(top, bottom))
            return self.paint(plan, draw, given, items, (0, 1, pixels), before)
        results = np.zeros(len(RESULTS), np.int64)
        plan.kernel.run(address(given.words), address(results), top, bottom)
        if self.cancellation.word.value:
            self.cancellation.check()
        if given.bindings is not None:
            given.bindings.raise_errors()
        return self.counted(plan.key, draw, results.tolist(), before)

    def prepare(self, plan: Plan, samples: int) -> None:
        """Ensure that a kernel has code, compiled with more effort for many ``samples``; for a
        second large draw also optimise all code that it runs.
        """
        if samples >= HEAVY and plan.kernel.has_code:
            for function in (plan.kernel, plan.setup, band_function(), vertices()):
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
        """Draw items; ``part`` is the number of the first one, one past the last, and about how
        many pixels they have.

        A single thread draws bands too: the part of all targets in a band stays in its cache.
        """
        first, end, pixels = part
        samples = pixels * plan.key.samples
        threads = min(self.threads, items.bands.count) if samples >= WORTH else 1
        each = [given, *(self.thread_arguments(plan, draw, given, n) for n in range(1, threads))]
        return self.counted(plan.key, draw, items.paint(plan, each, first, end), before)

    def thread_arguments(self, plan: Plan, draw: Draw, given: Arguments, worker: int) -> Arguments:
        """A copy of the arguments for thread ``worker``, with program bindings that only it
        uses.
        """
        return given.with_programs_of(self.argument_template(plan, draw.pixel.uniforms, worker))

    def argument_template(self, plan: Plan, uniforms: Uniforms, worker: int = 0) -> Arguments:
        """Kernel arguments with targets and programs set, from which those of a draw are copied;
        the thread with number ``worker`` has its own.
        """
        key = id(plan), id(uniforms)
        found = self.templates.get(key, [])
        if not found:
            if len(self.templates) >= TEMPLATES:
                self.templates.clear()
            self.templates[key] = found
        while len(found) <= worker:
            found.append(self._new_template(plan, uniforms))
        return found[worker]

    def _new_template(self, plan: Plan, uniforms: Uniforms) -> Arguments:
        template = Arguments(
            plan.layout, np.zeros(len(plan.layout.arguments), np.uint64), [plan, uniforms]
        )
        template.words[plan.layout.arguments["stop"]] = self.cancellation.address
        kernel_arguments.set_targets(template, self.colors, self.depth)
        kernel_arguments.set_programs(
            template, plan.key, uniforms, self.colors, self.sampler, self.fetcher
        )
        if plan.key.triangles:
            kernel_arguments.set_triangles(template, plan.key, plan.front())
        return template

    def counted(self, key: Key, draw: Draw, counts: list[int], before: Work) -> Work:
        """Convert a kernel's counts to work, and add it to ``before``."""
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
    """Whether no primitive has perspective: 1 / w is the same at all vertices.  The output of a
    vertex program is assumed to have perspective.
    """
    rhw = vertices.position[3]
    return draw.pipeline.vertex is None and bool((rhw == rhw[0]).all())


def _of_geometry(assembled: Geometry, triangles: int) -> Work:
    """The work of clipping and culling, before coverage."""
    return Work(
        triangles=triangles, clip_triangles=assembled.extra, clipped=len(assembled.numbers)
    )


# Comparison of kernels with the stages that they replace: memory and counts must be equal.

Bytes = NDArray[np.uint8]


def compared(draw: Draw, stages: Callable[[], Work], kernel: Callable[[], Work]) -> Work:
    """Draw by the stages and by every tier of kernel code -> the work, if all results are equal.

    Raises Disagreement for the first pixel of the first target that differs, or for the counts.
    """
    surfaces = list(
        {id(s): s for s in (*draw.output.colors, draw.output.depth) if s is not None}.values()
    )
    before = [surface.data.copy() for surface in surfaces]
    work = stages()
    wanted = [surface.data.copy() for surface in surfaces]

    def drawn() -> Work:
        for surface, data in zip(surfaces, before, strict=True):
            surface.data[:] = data
        return kernel()

    for other in tiers(drawn):
        _check_equal(draw, list(zip(surfaces, wanted, strict=True)), work, other)
    return work


def _check_equal(draw: Draw, wanted: list[tuple[Surface, Bytes]], work: Work, other: Work) -> None:
    """Raise Disagreement unless surfaces have the wanted bytes and the other work is equal."""
    told = [difference for surface, data in wanted
            if (difference := _memory(draw, surface, data))]  # fmt: skip
    told += [f"{name} are {count} and {found}"
             for name, count, found in zip(work._fields, work, other, strict=True)
             if found != count]  # fmt: skip
    if told:
        raise Disagreement(f"kernel: {'; '.join(told)}", dump(draw.pipeline.pixel), 0)


def _memory(draw: Draw, surface: Surface, wanted: Bytes) -> str | None:
    """The first pixel that differs and the number of differing bytes, as text; None if equal."""
    differing = np.flatnonzero(surface.data != wanted)
    if not len(differing):
        return None
    row = ROWS[surface.format]
    y, column = divmod(int(differing[0]), surface.pitch)
    sample = column // row.size
    start = y * surface.pitch + sample * row.size
    values = " and ".join(
        "0x" + each[start : start + row.size][::-1].tobytes().hex()
        for each in (wanted, surface.data)
    )
    target = (
        "depth" if surface is draw.output.depth else f"target {draw.output.colors.index(surface)}"
    )
    place = f"pixel {sample // surface.samples}, {y} sample {sample % surface.samples}"
    return f"{target} {place} is {values}, {len(differing)} bytes differ"
