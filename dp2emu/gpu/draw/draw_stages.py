"""Execution of draws: the stages in order, and the set-up that draws of one state share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.cancellation import CURRENT
from dp2emu.gpu.arrays import F32, I64, Mask
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.pipeline import decides_coverage
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.raster_operations import COPY
from dp2emu.gpu.command.topology import CORNERS
from dp2emu.gpu.command.work import Streams, Work
from dp2emu.gpu.draw.probe import Probe, Test
from dp2emu.gpu.input_assembler import vertex_fetch
from dp2emu.gpu.input_assembler.vertex_cache import cache_lookups
from dp2emu.gpu.output_merger import depth_test
from dp2emu.gpu.output_merger.alpha_test import (
    REFERENCE_STEP,
    AlphaTest,
    alpha_covers,
    alpha_passes,
)
from dp2emu.gpu.output_merger.depth_test import DepthPlanes, PixelGroups
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.patches.patch_draws import tessellated
from dp2emu.gpu.pixel_shader.pixel_stage import (
    Shaded,
    Shading,
    covered,
    joined,
    shade,
    shading,
    varyings_of,
)
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.multisample import at_samples, pixel_count, pixels_of
from dp2emu.gpu.rasterizer.planes import Sites, sites
from dp2emu.gpu.rasterizer.primitive_setup import POINT_SIZE, set_up
from dp2emu.gpu.rasterizer.spans import Fragments, batches
from dp2emu.gpu.resource.pixel_format import as_floats
from dp2emu.gpu.shader_resources.texture_cache import TextureCache
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing, samples_targets
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun, fetcher, geometry
from dp2emu.gpu.work_budget import Meter, Rest, WorkBudget, metered
from dp2emu.identity_cache import IdentityCache
from dp2emu.shader import reference
from dp2emu.shader.engines import CHECKED, REFERENCE, name_of
from dp2emu.shader.formulas import computed
from dp2emu.shader.ir import Program, Stage
from dp2emu.shader.reference import Run

if TYPE_CHECKING:
    from dp2emu.gpu.compile.kernel_draw import Drawing


class DrawSetup(msgspec.Struct, frozen=True):
    """Targets, textures and compiled kernel that draws of a state share; ``kernel`` is None on the
    reference engine and for state without kernels.
    """

    targets: Targets
    texturing: Texturing
    kernel: Drawing | None

    @classmethod
    def of(cls, draw: Draw, cache: TextureCache | None, run: Run, threads: int) -> DrawSetup:
        """Targets, textures and kernel of a draw.  Raises Unsupported for unimplemented state."""
        targets, texturing = Targets.of(draw, run), Texturing.of(draw, cache, run)
        if name_of(run) == REFERENCE:
            return cls(targets, texturing, None)
        from dp2emu.gpu.compile import kernel_draw

        sampler = StageSampler(texturing, Stage.PIXEL)
        reads = fetcher(draw, texturing, Stage.PIXEL)
        names = geometry_names(draw.pipeline.pixel)
        kernel = kernel_draw.drawing(draw, targets, sampler, reads, threads, names)
        return cls(targets, texturing, kernel)


_setups: IdentityCache[DrawSetup] = IdentityCache()


def draw_setup(draw: Draw, cache: TextureCache | None, run: Run, threads: int) -> DrawSetup:
    """The targets, textures and kernel of a draw, cached by the identity of its state unless it
    models a texture cache, samples its own targets or fetches by ``units``.
    """
    if cache is not None:
        return DrawSetup.of(draw, cache, run, threads)
    pipeline, surfaces = draw.pipeline, (*draw.output.colors, draw.output.depth)
    bindings = (*draw.pixel.textures.values(), *draw.vertex.textures.values())
    objects = pipeline, *surfaces, *bindings
    # A set-up holds the address of the token's word.
    token = CURRENT.token
    values = *draw.pixel.textures, draw.scissor, draw.output.merge, run, threads, token
    try:
        return _setups.find(objects, values)
    except KeyError:
        found = DrawSetup.of(draw, cache, run, threads)
    # Fetchers refer to the bindings of their draw, so such set-ups are not cached.
    if not (samples_targets(draw) or pipeline.units or pipeline.vertex_units):
        _setups.put(objects, values, found)
    return found


@lru_cache(maxsize=1 << 10)
def geometry_names(pixel: Program) -> tuple[str, ...]:
    """Names of the varyings that a pixel program reads, and of the point size."""
    return *varyings_of(pixel), POINT_SIZE


# The stages, in chunks of primitives that bound memory:
#
# (tessellator ->) fetch (or vertex program -> clip -> viewport) -> snap, cull -> spans
# -> fragments -> z clip -> depth and stencil test -> pixel program -> blend, write; a program that
# affects coverage, and any program before an alpha test, runs before the depth test

CHUNK = 1 << 13
"""Maximum number of primitives that are assembled together."""
FEW = 1 << 10
"""The most primitives that one thread draws chunk by chunk; more are drawn by all threads."""


def prepare(run: Run) -> None:
    """Import the modules of an engine ahead of the first draw, except LLVM."""
    if name_of(run) != REFERENCE:
        for name in _COMPILED:
            import_module(name)
        import_module("dp2emu.shader.jit.code").prepare()


_COMPILED = (
    "dp2emu.gpu.compile.batch_template",
    "dp2emu.gpu.compile.kernel_draw",
    "dp2emu.gpu.compile.large_draw",
    "dp2emu.gpu.vertex_shader.vertex_kernel",
)  # fmt: skip
"""Names of the modules of the compiled engine that are imported before the first draw."""


class Caches(Enum):
    """The models of caches that run during a draw."""

    NONE = auto()
    VERTICES = auto()
    ALL = auto()
    """The models of the vertex cache and of the texture cache."""


def execute_draw(
    draw: Draw,
    counters: Counters,
    observes: Caches = Caches.NONE,
    run: Run = reference.run,
    threads: int = 1,
    probe: Probe | None = None,
    budget: WorkBudget | None = None,
    small: Callable[[Draw], Work | None] | None = None,
) -> Work:
    """Draw all primitives in order, write the targets, and raise the counters.

    ``observes`` are the cache models that run; with the texture cache's the reference engine
    draws, whose order of texel reads it models.  Otherwise ``run`` is the engine; a compiling one
    draws on ``threads``.  A ``probe`` observes the stages, and disables kernels.  Without either
    the function ``small`` may execute the draw: it returns the work, or None if it did nothing.
    Raises Unsupported for state that is not implemented, before anything is written; Disagreement
    if engines are compared and differ; Exceeded at the end of the work ``budget``, when earlier
    primitives are drawn.
    """
    cache = TextureCache() if observes is Caches.ALL else None
    used = run if cache is None else reference.run
    setting = partial(draw_setup, cache=cache, run=used, threads=threads)
    lookups = []
    # NaN and infinity are legal; each stage defines their results.
    with np.errstate(all="ignore"):
        if observes is not Caches.NONE:
            lookups = [cache_lookups(part, run) for part in tessellated(draw)]
        done = None
        if small is not None and cache is None and probe is None:
            done = small(draw)
        work = _executed(draw, setting, _Observers(probe, budget)) if done is None else done
    if cache is not None:
        cache.count(counters)
    for hits, misses in lookups:
        counters.vertex_cache_hits += hits
        counters.vertex_cache_misses += misses
    count_work(draw, work, counters)
    return work


_Find = Callable[[Draw], DrawSetup]


class _Executors(NamedTuple):
    """Ways to draw primitives: the function ``rest`` draws an assembled chunk, if the ``probe``
    wants it; ``kernel``, unless None, draws many triangles on all threads within the work
    ``budget``.
    """

    rest: Rest
    kernel: Drawing | None = None
    budget: WorkBudget | None = None
    probe: Probe | None = None


class _Observers(NamedTuple):
    """What accompanies a draw: the ``probe``, which observes its stages, and the work ``budget``;
    None if there is none.
    """

    probe: Probe | None
    budget: WorkBudget | None


def _executed(draw: Draw, setting: _Find, observers: _Observers) -> Work:
    """Execute a draw with the set-up that the function ``setting`` returns for it."""
    found = setting(draw)
    if draw.post_vertex is not None:
        return _staged(
            draw, StageRun(found.texturing.run, found.texturing.cache), setting, observers
        )
    return _by_engine(draw, found, observers, partial(_drawn, draw, found.texturing))


def _by_engine(
    draw: Draw, setting: DrawSetup, observers: _Observers, doing: Callable[[_Executors], Work]
) -> Work:
    """Execute a draw by the stages, by a compiled kernel, or by both to compare them."""
    texturing, kernel = setting.texturing, setting.kernel
    probe, budget = observers
    metering = partial(metered, region=setting.targets.region, budget=budget)
    drawing = metering(partial(draw_chunk, setting.targets, texturing, probe))
    stages = _Executors(drawing, probe=probe)
    if kernel is None or probe is not None:
        return doing(stages)
    if name_of(texturing.run) == CHECKED:
        from dp2emu.gpu.compile.kernel_draw import compared

        return compared(
            draw, partial(doing, stages), partial(doing, _Executors(kernel.chunk, kernel))
        )
    return doing(_Executors(metering(kernel.chunk), kernel, budget))


def _staged(draw: Draw, running: StageRun, setting: _Find, observers: _Observers) -> Work:
    """Execute a draw that has stages between its vertex program and clipping."""
    # Imported here: Direct3D 9 has no such stages and must not load them.
    from dp2emu.gpu.draw.post_vertex import meshes, on_screen

    names, enabled = geometry_names(draw.pipeline.pixel), draw.pipeline.raster.enabled
    work = Work()
    for instance in vertex_fetch.instanced(draw):
        for mesh, done in meshes(instance, running):
            work += done
            if observers.budget is not None:
                observers.budget.admit_post_vertex(instance, done)
            if not enabled:
                continue
            work += Work(entered=mesh.count)
            for shown, primitives in on_screen(instance, mesh, names):
                drawing = partial(_rest_of, shown, primitives)
                work += _by_engine(shown, setting(shown), observers, drawing)
    return work


def _rest_of(draw: Draw, assembled: Geometry, executors: _Executors) -> Work:
    return executors.rest(draw, assembled)


def _drawn(draw: Draw, texturing: Texturing, executors: _Executors) -> Work:
    """Execute a draw, one instance after the other, without stages that follow its vertex
    program.
    """
    work: Work | None = None
    for part in _parts(draw):
        done = _draw_part(part, texturing, executors)
        work = done if work is None else work + done
    return work or Work()


def _parts(draw: Draw) -> Iterable[Draw]:
    """The draw split into draws of one instance each, without strip cuts and patches."""
    if draw.input.instances is None and draw.input.patch is None and not draw.input.cuts:
        return (draw,)
    instances = vertex_fetch.instanced(draw)
    return (part for one in instances for part in tessellated(vertex_fetch.uncut(one)))


def _draw_part(draw: Draw, texturing: Texturing, executors: _Executors) -> Work:
    """Execute a draw that has no patches, instances or cuts."""
    vertices = vertex_fetch.vertices_read(draw)
    work = Work(
        vertices=vertices,
        vertex_bytes=vertices * vertex_fetch.vertex_bytes(draw.pipeline.layout),
        primitives=draw.input.count,
        entered=draw.input.count if draw.pipeline.raster.enabled else 0,
    )
    if not draw.pipeline.raster.enabled:
        return work
    chunks = partial(_chunks, draw, texturing, executors)
    many = executors.kernel is not None and draw.input.count > FEW
    together = _together(draw, executors, chunks) if many else None
    return work + (chunks(0, draw.input.count) if together is None else together)


def _chunks(
    draw: Draw, texturing: Texturing, executors: _Executors, first: int, end: int
) -> Work:  # fmt: skip
    """Assemble and draw primitives ``first`` to ``end``, chunk by chunk."""
    token, rest, probe = CURRENT.token, executors.rest, executors.probe
    if probe is None and first < end <= first + CHUNK:
        if token.word.value:
            token.check()
        return rest(draw, assembled_chunk(draw, texturing, first, end))
    work = Work()
    for start in range(first, end, CHUNK):
        if token.word.value:
            token.check()
        if probe is not None and not probe.wants_chunk():
            continue
        stop = min(start + CHUNK, end)
        work += rest(draw, assembled_chunk(draw, texturing, start, stop))
    return work


def _together(draw: Draw, executors: _Executors, alone: Callable[[int, int], Work]) -> Work | None:
    """Execute a draw of many triangles on all threads; None if it cannot be executed that way."""
    from dp2emu.gpu.compile.large_draw import LargeDraw

    kernel = executors.kernel
    assert kernel is not None
    found = LargeDraw.of(kernel, draw, geometry_names(draw.pipeline.pixel), alone)
    return None if found is None else found.whole(Meter(draw, kernel.region, executors.budget))


def count_work(draw: Draw, work: Work, counters: Counters) -> None:
    """Add the work of a draw, or of several of one state, to the counters."""
    _count_samples(draw, work.pixels, counters)
    counters.fragments += work.shaded
    counters.vertices += work.vertices
    counters.primitives += work.primitives
    counters.triangles += work.triangles
    counters.clip_triangles += work.clip_triangles
    counters.entered += work.entered
    counters.clipped += work.clipped
    counters.invocations += work.invocations
    counters.hull_runs += work.hull_runs
    counters.domain_runs += work.domain_runs
    counters.geometry_runs += work.geometry_runs
    counters.geometry_primitives += work.geometry_primitives
    counters.vertex_bytes += work.vertex_bytes
    counters.unordered_bytes += work.unordered_bytes
    counters.pixel_bytes += work.pixel_bytes
    if any(work.streams.needed):
        _count_streams(work.streams, counters)
        counters.stream_bytes += work.stream_bytes


def _count_streams(streams: Streams, counters: Counters) -> None:
    for what, counts in streams._asdict().items():
        for stream, count in enumerate(counts):
            name = f"stream{stream}_{what}"
            setattr(counters, name, getattr(counters, name) + count)


def _count_samples(draw: Draw, passed: int, counters: Counters) -> None:
    """Count samples that passed; of multisampled targets by target: first colour, else depth."""
    samples = draw.pipeline.samples
    if samples == 1:
        counters.samples += passed
        return
    target = next(
        surface for surface in (*draw.output.colors, draw.output.depth) if surface is not None
    )
    counters.multisamples.add(target.serial, samples, passed)


def draw_chunk(
    targets: Targets, texturing: Texturing, probe: Probe | None, draw: Draw, assembled: Geometry
) -> Work:
    """Draw primitives by the reference stages that follow clipping -> their work."""
    token = CURRENT.token
    primitives = set_up(draw, assembled, targets.region)
    if probe is not None and not probe.chunk(draw, assembled, primitives):
        return Work()
    depth = depth_test.depth_planes(draw, primitives)
    sampler = StageSampler(texturing, Stage.PIXEL)
    reads = fetcher(draw, texturing, Stage.PIXEL) if texturing.read_units else None
    shader = shading(draw, primitives, depth.plane, sampler, texturing.run, reads)
    stages = _Stages(draw, targets, depth, shader, probe)
    work = Work(
        triangles=primitives.triangles,
        clip_triangles=assembled.extra,
        clipped=len(assembled.numbers),
    )
    for spans in primitives.spans:
        for batch in batches(spans, draw.pipeline.samples):
            if token.word.value:
                token.check()
            work += stages.merge(batch)
    return work + Work(unordered_bytes=sum(shader.moved_bytes))


def assembled_chunk(draw: Draw, texturing: Texturing, start: int, stop: int) -> Geometry:
    """Assemble primitives in screen space, by compiled code if the engine compiles."""
    names = geometry_names(draw.pipeline.pixel)
    sampler, run = StageSampler(texturing, Stage.VERTEX), texturing.run
    reads = fetcher(draw, texturing, Stage.VERTEX) if texturing.read_units else None
    engine = name_of(run)
    if engine == REFERENCE:
        return geometry(draw, start, stop, names, sampler, run, reads)
    from dp2emu.gpu.vertex_shader import vertex_kernel

    if engine == CHECKED:
        return vertex_kernel.checked(draw, start, stop, names, sampler, run, reads)
    return vertex_kernel.geometry(draw, start, stop, names, sampler, reads)


class _Stages(msgspec.Struct, frozen=True):
    """The stages after coverage, for the primitives of one chunk."""

    draw: Draw
    targets: Targets
    depth: DepthPlanes
    shading: Shading
    probe: Probe | None

    @property
    def samples(self) -> int:
        """Samples per pixel of the targets."""
        return self.draw.pipeline.samples

    def merge(self, fragments: Fragments) -> Work:
        """Clip, test, shade and write a batch of fragments, in order."""
        here = sites(self.shading.frame, fragments)
        if self.samples > 1:
            here = at_samples(here, self.samples, self.draw.output.merge.sample_mask)
        if self.probe is not None:
            self.probe.batch(self.draw, here, self.shading)
        kept = depth_test.kept_by_clipping(self.depth, here)
        if kept is not None:
            here = here.part(np.flatnonzero(self._seen(Test.DEPTH_CLIP, here, kept)))
        if self.draw.raster.stipple and CORNERS[self.draw.input.topology] == 3:
            stippled = self._stippled(here)
            here = here.part(np.flatnonzero(self._seen(Test.STIPPLE, here, stippled)))
        count = len(here.x)
        if not self.draw.pipeline.tests_late or not count:
            work = self._write(here, None) if count else Work()
            return work + Work(fragments=count, shaded=work.pixels)
        shaded = self._shade(here)
        alive = np.flatnonzero(self._alive(here, shaded))
        work = self._write(here.part(alive), shaded.part(alive)) if len(alive) else Work()
        runs = self._invocations(here, None)
        moved = self._read_ahead(count - len(alive))
        return work + Work(fragments=count, shaded=count, invocations=runs, pixel_bytes=moved)

    def _seen(self, test: Test, here: Sites, kept: Mask) -> Mask:
        """Show the probe which of the fragments ``here`` a test keeps; returns ``kept``."""
        if self.probe is not None:
            self.probe.decided(test, here, np.broadcast_to(kept, here.x.shape))
        return kept

    def _read_ahead(self, dropped: int) -> int:
        """Bytes of depth that are read for fragments that the program drops, ``dropped`` in
        number; 0 unless depth is read before the program to skip hidden fragments.
        """
        target = self.targets.depth
        if target is None or not self.draw.pipeline.hides_early:
            return 0
        return target.bytes_moved(dropped, 0)

    def _stippled(self, here: Sites) -> Mask:
        """The mask of fragments where the stipple pattern is 1; the highest bit is leftmost."""
        rows = np.array(self.draw.raster.stipple, np.uint32)
        shift = 31 - here.x // self.samples % 32
        found: Mask = rows[here.y % len(rows)] >> shift.astype(np.uint32) & 1 != 0
        return found

    def _alive(self, here: Sites, shaded: Shaded) -> Mask:
        """The mask of fragments that neither the program nor an alpha test drops."""
        pipeline, alive = self.draw.pipeline, self._seen(Test.KILL, here, shaded.alive)
        alpha = as_floats(shaded.colors[0][3]) if 0 in shaded.colors else np.zeros(1, np.float32)
        if pipeline.alpha_test is not None:
            reference = self.draw.output.merge.alpha_reference
            wanted = np.full(1, reference * REFERENCE_STEP, np.int32)
            test = AlphaTest(pipeline.alpha_test, pipeline.alpha_unclamped)
            passed = computed(alpha_passes, test, alpha, wanted)[0]
            alive = alive & self._seen(Test.ALPHA, here, passed)
        if shaded.drawn is not None:
            drawn = (shaded.drawn >> here.x % self.samples & 1).astype(np.bool_)
            return alive & self._seen(Test.COVERAGE_OUTPUT, here, drawn)
        if pipeline.alpha_to_coverage:
            covers = alpha_covers(alpha, here.x % self.samples, self.samples)
            alive = alive & self._seen(Test.ALPHA_TO_COVERAGE, here, covers)
        return alive

    def _write(self, here: Sites, shaded: Shaded | None) -> Work:
        """Test at least one fragment, run the program for those that pass unless they are
        ``shaded`` already, and write them.
        """
        stacks, target = self._stacks(here), self.targets.depth
        passed, pixels, moved = None, len(here.x), 0
        if target is not None:
            written = None if shaded is None else shaded.depth
            z = depth_test.fragment_depth(self.depth, here, written)
            faces = self._front(here) if target.two_sided else None
            seen = None if self.probe is None else self.probe.tested(target, here, faces)
            passed = target.test(z, faces, here.y * target.pitch + here.x, stacks, seen)
            pixels = int(np.count_nonzero(passed))
            moved += target.bytes_moved(len(here.x), pixels)
        if self.probe is not None:
            chosen = slice(None) if passed is None else passed
            self.probe.passed(here.x[chosen] // self.samples, here.y[chosen])
        runs = self._invocations(here, passed) if shaded is None else 0
        if self.draw.pipeline.memory_operations and shaded is None and pixels:
            self._act(here, passed)
        elif self.targets.colors and pixels:
            if self._drops_after_tests:
                shaded = self._shade(here)
                alive = self._alive(here, shaded)
                passed = alive if passed is None else passed & alive
            self._color(here, shaded, stacks, passed)
            moved += pixels * sum(color.pixel_bytes for color in self.targets.colors)
        return Work(pixels=pixels, pixel_bytes=moved, invocations=runs)

    def _act(self, here: Sites, passed: Mask | None) -> None:
        """Run a program that writes to memory for fragments that passed, and write those that it
        keeps.
        """
        here = here if passed is None else here.part(np.flatnonzero(passed))
        shaded = self._shade(here)
        alive = np.flatnonzero(self._alive(here, shaded))
        if self.targets.colors and len(alive):
            left = here.part(alive)
            self._color(left, shaded.part(alive), self._stacks(left), None)

    @property
    def _drops_after_tests(self) -> bool:
        """Whether the program runs after the tests (``early``) and may drop fragments that passed
        them.
        """
        pipeline = self.draw.pipeline
        says = decides_coverage(pipeline.pixel) or pipeline.alpha_to_coverage
        return pipeline.early and says

    def _invocations(self, here: Sites, passed: Mask | None) -> int:
        """The number of program runs: one for each pixel of a primitive with a fragment that
        passed or, if the program runs by sample, one for each such fragment.
        """
        if not self.draw.pipeline.counts_pixels:
            return 0
        if self.samples > 1 and not self.draw.pipeline.by_sample:
            return pixel_count(here, self.samples, passed)
        return len(here.x) if passed is None else int(np.count_nonzero(passed))

    def _front(self, here: Sites) -> F32:
        """+1 for each fragment of a front face, -1 for each of a back face."""
        return self.shading.front[here.spans.primitive][here.span]

    def _color(
        self, here: Sites, shaded: Shaded | None, stacks: PixelGroups, passed: Mask | None
    ) -> None:
        """Write the colours of one or more fragments that passed.

        Without blending and raster operations only the last fragment of a pixel is written, unless
        a probe observes every fragment.
        """
        every = self.probe is not None and self.probe.every_fragment
        plain = not self.draw.pipeline.blending and self.draw.pipeline.raster_op == COPY
        if plain and not every:
            chosen = depth_test.last_of_each(stacks, passed)
            layers: Iterable[I64 | slice] = [slice(None)]
        else:
            chosen = np.arange(len(here.x)) if passed is None else np.flatnonzero(passed)
            layers = (stacks if passed is None else stacks.part(passed)).layers()
        final = shaded.part(chosen) if shaded else self._shade(here.part(chosen))
        x, y = here.x[chosen], here.y[chosen]
        for layer in layers:
            colors = {n: [lane[layer] for lane in rgba] for n, rgba in final.colors.items()}
            for target in self.targets.colors:
                rgba, second = colors[target.number], colors.get(1)
                write = partial(target.write, rgba, x[layer], y[layer], second)
                if self.probe is None:
                    write()
                else:
                    self.probe.writes(target, here.part(chosen[layer]), write)

    def _shade(self, here: Sites) -> Shaded:
        """Run the pixel program for fragments, and show the probe its outputs."""
        shaded = self._outputs(here)
        if self.probe is not None:
            self.probe.shaded(here, shaded)
        return shaded

    def _outputs(self, here: Sites) -> Shaded:
        """Run the pixel program: once for all samples of a pixel or, if it runs by sample, for
        each.
        """
        if self.samples == 1:
            shaded, coverage = shade(self.shading, here), here.spans.coverage
            return shaded if coverage is None else covered(shaded, coverage[here.span])
        if self.draw.pipeline.by_sample:
            return self._shade_samples(here)
        pixels, pixel = pixels_of(self.shading.frame, here, self.samples)
        return shade(self.shading, pixels).part(pixel)

    def _shade_samples(self, here: Sites) -> Shaded:
        """Run the program for each sample: sample 0 of all pixels at once, then sample 1."""
        of_sample = [np.flatnonzero(here.x % self.samples == n) for n in range(self.samples)]
        parts = []
        for sample, chosen in enumerate(of_sample):
            if len(chosen):
                pixels, pixel = pixels_of(self.shading.frame, here.part(chosen), self.samples)
                shading = replace(self.shading, sample=sample)
                parts.append(shade(shading, pixels).part(pixel))
        order = np.concatenate(of_sample)
        return joined(parts).part(np.argsort(order, kind="stable"))

    def _stacks(self, here: Sites) -> PixelGroups:
        """Group the fragments by the pixel or sample that they write, so that those of one group
        are processed in order; fragments of a single primitive are all in groups of one.
        """
        if here.one_primitive:
            return depth_test.single_fragment_groups(len(here.x))
        region = self.targets.region
        columns = (region.right - region.left) * self.samples
        return depth_test.pixel_groups(here.y * columns + here.x)
