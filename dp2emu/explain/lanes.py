"""Traces of lanes of draws and dispatches: of a pixel, a vertex, a primitive or a thread.

The reference engine runs the stages of the draw again, narrowed to what the lane needs, and all
memory that it writes is restored afterwards.  A pixel's primitives are drawn one after the other,
so that the value stored by each is known, unless the pixel program accesses memory: then the
whole draw runs as it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from dp2emu.errors import Absent, Disagreement, Unsupported, UsageError
from dp2emu.explain.engine import Engine, Run
from dp2emu.explain.rehearsal import MOST_FRAGMENTS, resolved, restored
from dp2emu.explain.shader_trace import ShaderTrace, Stored, trace
from dp2emu.gpu.arrays import Mask
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Dispatch, Draw
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.compute_shader import dispatch as dispatches
from dp2emu.gpu.draw.draw_stages import CHUNK, assembled_chunk, draw_chunk, geometry_names
from dp2emu.gpu.input_assembler.indirect_arguments import direct_dispatch
from dp2emu.gpu.input_assembler.vertex_fetch import instanced, strips, uncut, vertex_numbers
from dp2emu.gpu.output_merger.depth_test import depth_planes
from dp2emu.gpu.output_merger.draw_targets import Targets
from dp2emu.gpu.patches.patch_draws import tessellated
from dp2emu.gpu.pixel_shader.pixel_stage import Shading, shade, shading
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.planes import Sites, sites
from dp2emu.gpu.rasterizer.primitive_setup import set_up
from dp2emu.gpu.rasterizer.spans import batches
from dp2emu.gpu.shader_resources.textures import StageSampler, Texturing
from dp2emu.gpu.vertex_shader.vertex_stage import StageRun, fetcher
from dp2emu.shader import ir, reference
from dp2emu.shader.reference import Result

WRITTEN, KILLED, FAILED = "written", "killed", "tests failed"
"""Verdicts of a fragment: it passed all tests; the shader discarded it; or a depth, stencil, alpha
or coverage test dropped it."""


_NAMED = 8
"""Most primitives that an error names."""

# Engines that trace a lane


class _OfLane(Engine):
    """Traces one lane of the next run.  Mutable."""

    def __init__(self, found: list[ShaderTrace], lane: int, named: str, stage: str) -> None:
        self._found, self._lane, self._named, self._stage = found, lane, named, stage

    def run(self, run: Run) -> Result:
        """Run the program and trace the lane."""
        made, result = trace(run, self._lane, self._named, self._stage)
        self._found.append(made)
        return result


class _OfPixel(Engine):
    """Traces a pixel of a primitive, or a sample of it.  Mutable."""

    def __init__(self, pixel: Pixel, primitive: int, sample: int | None, named: str) -> None:
        self._pixel, self._primitive, self._sample = pixel, primitive, sample
        self._named = named
        self.found: list[ShaderTrace] = []

    def at(self, shading: Shading, sites: Sites, real: Mask | None) -> reference.Run:
        """The engine of a run: one that traces if the lane is among its own."""
        draw = shading.draw
        by_sample = draw.pipeline.samples > 1 and draw.pipeline.by_sample
        if by_sample and self._sample is not None and shading.sample != self._sample:
            return self
        chosen = _there(shading, sites, real, self._pixel)
        chosen &= shading.numbers[sites.spans.primitive][sites.span] == self._primitive
        lanes = np.flatnonzero(chosen)
        if not len(lanes):
            return self
        name = f"{self._named}, sample {shading.sample}" if by_sample else self._named
        return _OfLane(self.found, int(lanes[-1]), name, "pixel")


def _there(shading: Shading, sites: Sites, real: Mask | None, pixel: Pixel) -> Mask:
    """The mask of the lanes that shade a pixel."""
    found: Mask = (sites.x == pixel.x) & (sites.y == pixel.y)
    return found if real is None else found & real


class _Shaded(Engine):
    """Notes the primitives that shade a pixel, in order.  Mutable."""

    def __init__(self, pixel: Pixel) -> None:
        self._pixel = pixel
        self.primitives: list[int] = []

    def at(self, shading: Shading, sites: Sites, real: Mask | None) -> reference.Run:
        """Note the primitives of a run."""
        there = _there(shading, sites, real, self._pixel)
        numbers = shading.numbers[sites.spans.primitive][sites.span]
        self.primitives += [int(number) for number in numbers[there]]
        return self


# Pixels


class Pixel(msgspec.Struct, frozen=True):
    """A pixel of the targets of a draw: column and row."""

    x: int
    y: int

    @property
    def rect(self) -> Rect:
        """The rectangle of the pixel alone."""
        return Rect(self.x, self.y, self.x + 1, self.y + 1)


class Chosen(msgspec.Struct, frozen=True):
    """Which fragment of a pixel is meant; None leaves the choice open, and the last that was
    written is taken.
    """

    sample: int | None = None
    primitive: int | None = None
    instance: int | None = None


class _Part(NamedTuple):
    """Primitives of an instance of a draw, assembled on the screen."""

    instance: int
    draw: Draw
    geometry: Geometry


class _Fragment(NamedTuple):
    """A primitive that covers a pixel: the number of its part and its own; whether it passed."""

    part: int
    instance: int
    primitive: int
    passed: bool = False


def _parts(draw: Draw, run: reference.Run) -> Iterator[_Part]:
    """The primitives of a draw on the screen, in order."""
    if not draw.pipeline.raster.enabled:
        return
    texturing = Texturing.of(draw, None, run)
    for number, one in enumerate(instanced(draw)):
        if draw.post_vertex is not None:
            yield from (_Part(number, *each) for each in _after_stages(one, texturing))
            continue
        for part in tessellated(uncut(one)):
            for start in range(0, part.input.count, CHUNK):
                stop = min(start + CHUNK, part.input.count)
                yield _Part(number, part, assembled_chunk(part, texturing, start, stop))


def _after_stages(draw: Draw, texturing: Texturing) -> Iterator[tuple[Draw, Geometry]]:
    """The primitives of a draw with stages after its vertex program."""
    # Imported here: Direct3D 9 has no such stages.
    from dp2emu.gpu.draw.post_vertex import meshes, on_screen

    names = geometry_names(draw.pipeline.pixel)
    for mesh, _ in meshes(draw, StageRun(texturing.run, texturing.cache)):
        yield from on_screen(draw, mesh, names)


class _Pixels:
    """Draws the primitives of a draw that cover a pixel.  Mutable memory is the draw's."""

    def __init__(self, draw: Draw, pixel: Pixel) -> None:
        self.draw, self.pixel = draw, pixel
        self.whole = bool(draw.pipeline.memory_operations)
        self.parts = [*_parts(draw, reference.run)]
        self.texturing = Texturing.of(draw, None, reference.run)

    def fragments(self) -> Iterator[_Fragment]:
        """The primitives that cover the pixel, in order.

        Raises Unsupported for more than ``MOST_FRAGMENTS``.
        """
        count = 0
        for number, part in enumerate(self.parts):
            region = self._targets(part.draw, narrow=True).region
            primitives = set_up(part.draw, part.geometry, region)
            found: set[int] = set()
            for spans in primitives.spans:
                inside = (spans.right > spans.left) & (spans.y == self.pixel.y)
                found |= {int(n) for n in primitives.numbers[spans.primitive[inside]]}
            count += len(found)
            if count > MOST_FRAGMENTS:
                raise Unsupported(f"traces of pixels with more than {MOST_FRAGMENTS} fragments")
            for primitive in sorted(found):
                yield _Fragment(number, part.instance, primitive)

    def draw_one(self, fragment: _Fragment, run: reference.Run) -> bool:
        """Draw a primitive at the pixel; returns whether a sample passed all tests."""
        part, geometry = self._alone(fragment)
        return self._drawn(part, geometry, self._targets(part.draw, narrow=True), run)

    def shade_one(self, fragment: _Fragment, run: reference.Run, sample: int) -> None:
        """Run the pixel program for a primitive at the pixel, without tests and writes."""
        part, geometry = self._alone(fragment)
        draw, texturing = part.draw, replace(self.texturing, run=run)
        primitives = set_up(draw, geometry, self._targets(draw, narrow=True).region)
        plane = depth_planes(draw, primitives).plane
        reads = fetcher(draw, texturing, ir.Stage.PIXEL)
        sampler = StageSampler(texturing, ir.Stage.PIXEL)
        shader = replace(shading(draw, primitives, plane, sampler, run, reads), sample=sample)
        for spans in primitives.spans:
            for batch in batches(spans, draw.pipeline.samples):
                shade(shader, sites(primitives.frame, batch))

    def _alone(self, fragment: _Fragment) -> tuple[_Part, Geometry]:
        part = self.parts[fragment.part]
        chosen = np.flatnonzero(part.geometry.numbers == fragment.primitive)
        return part, part.geometry.part(chosen)

    def draw_all(self, run: reference.Run) -> None:
        """Draw all primitives everywhere."""
        for part in self.parts:
            self._drawn(part, part.geometry, self._targets(part.draw, narrow=False), run)

    def _drawn(
        self, part: _Part, geometry: Geometry, targets: Targets, run: reference.Run
    ) -> bool:
        texturing = replace(self.texturing, run=run)
        return bool(draw_chunk(targets, texturing, None, part.draw, geometry).pixels)

    def _targets(self, draw: Draw, *, narrow: bool) -> Targets:
        targets = Targets.of(draw, reference.run)
        if not narrow:
            return targets
        return replace(targets, region=targets.region.intersect(self.pixel.rect))


def stored_values(draw: Draw, pixel: Pixel) -> dict[tuple[str, int], bytes]:
    """The bytes that the targets of a draw have at a pixel, by target and sample.

    Targets are ``target0`` and so on, which the draw writes, and ``depth``, which it tests.
    """
    targets = Targets.of(draw, reference.run)
    bound = [(f"target{t.number}", t.words, t.pitch, t.row) for t in targets.colors]
    if targets.depth is not None:
        depth = targets.depth
        bound.append(("depth", depth.words, depth.pitch, depth.row))
    samples, found = draw.pipeline.samples, {}
    for name, words, pitch, row in bound:
        first, size = pixel.y * pitch + pixel.x * samples, row.words
        for sample in range(samples):
            at = (first + sample) * size
            found[name, sample] = words.reshape(-1)[at : at + size].tobytes()
    return found


def trace_pixel(draw: Draw, pixel: Pixel, chosen: Chosen | None = None) -> ShaderTrace:
    """Trace the pixel program of a draw at a pixel, with what it stored.

    Memory has to be as before the draw, and is so afterwards.  Without a ``chosen`` primitive the
    last that was written is traced, or the last that covers the pixel.  Raises UsageError if no
    primitive covers the pixel, Disagreement if the recorded run differs from the program's,
    Unsupported as the draw does.
    """
    return traced_pixel(draw, pixel, chosen)[0]


def traced_pixel(
    draw: Draw, pixel: Pixel, chosen: Chosen | None = None
) -> tuple[ShaderTrace, Draw]:
    """Trace as ``trace_pixel`` does; returns also the draw with the targets that were written,
    which a geometry program may choose.
    """
    chosen, draw = chosen or Chosen(), resolved(draw)
    with np.errstate(all="ignore"):
        with restored(draw):
            stages = _Pixels(draw, pixel)
            fragments = _survey(stages)
        fragment = _choose(fragments, chosen, pixel)
        with restored(draw):
            return _traced(stages, fragments, fragment, chosen)


def _survey(stages: _Pixels) -> list[_Fragment]:
    """Draw all primitives at the pixel; returns which there are, and whether they passed."""
    if not stages.whole:
        return [each._replace(passed=stages.draw_one(each, reference.run))
                for each in [*stages.fragments()]]  # fmt: skip
    engine = _Shaded(stages.pixel)
    stages.draw_all(engine)
    return [each._replace(passed=each.primitive in engine.primitives)
            for each in stages.fragments()]  # fmt: skip


_WHY = "dp2emu pixel says why"
"""A primitive may be culled or clipped there, or cover no sample."""


def _uncovered(fragments: Sequence[_Fragment], chosen: Chosen, pixel: Pixel) -> str:
    """The message that no fragment of a pixel is the chosen one."""
    place = f"pixel {pixel.x}, {pixel.y}"
    if not fragments:
        return f"no primitive of the draw has a fragment at {place} ({_WHY})"
    names = ("primitive", chosen.primitive), ("instance", chosen.instance)
    wanted = " of ".join(f"{name} {number}" for name, number in names if number is not None)
    there = dict.fromkeys((each.primitive, each.instance) for each in fragments[-_NAMED:])
    instances = chosen.instance is not None
    known = [f"{one} of instance {other}" if instances else f"{one}" for one, other in there]
    return f"{wanted} has no fragment at {place} ({_WHY}); primitive {', '.join(known)} has"


def _choose(fragments: list[_Fragment], chosen: Chosen, pixel: Pixel) -> _Fragment:
    """The fragment that is meant.  Raises Absent if there is none."""
    fit = [
        each
        for each in fragments
        if chosen.primitive in (None, each.primitive) and chosen.instance in (None, each.instance)
    ]
    if not fit:
        raise Absent(_uncovered(fragments, chosen, pixel))
    passed = [each for each in fit if each.passed]
    return (passed or fit)[-1]


def _traced(
    stages: _Pixels, fragments: list[_Fragment], fragment: _Fragment, chosen: Chosen
) -> tuple[ShaderTrace, Draw]:
    pixel = stages.pixel
    named = f"pixel {pixel.x}, {pixel.y} of primitive {fragment.primitive}"
    if stages.draw.input.instances is not None:
        named += f" of instance {fragment.instance}"
    engine = _OfPixel(pixel, fragment.primitive, chosen.sample, named)
    shown = stages.parts[fragment.part].draw
    if stages.whole:
        before = stored_values(shown, pixel)
        stages.draw_all(engine)
    else:
        for each in fragments[: fragments.index(fragment)]:
            stages.draw_one(each, reference.run)
        before = stored_values(shown, pixel)
        stages.draw_one(fragment, engine)
    after = stored_values(shown, pixel)
    if not engine.found:
        # Fragments that are hidden, or that write nothing, are not shaded: this one is.
        stages.shade_one(fragment, engine, chosen.sample or 0)
    for each in () if stages.whole else fragments[fragments.index(fragment) + 1 :]:
        stages.draw_one(each, reference.run)
    end = stored_values(shown, pixel)
    stored = tuple(
        Stored(*key, *(values[key].hex() for values in (before, after, end)))
        for key in after
        if chosen.sample in (None, key[1])
    )
    made = engine.found[-1]
    verdict = WRITTEN if fragment.passed else KILLED if made.final.killed else FAILED
    final = replace(made.final, verdict=verdict, stored=stored)
    return replace(made, final=final), shown


def check_stored(made: ShaderTrace, drawn: Draw, pixel: Pixel) -> None:
    """Check that memory after a draw has, at a pixel, what its trace says.

    ``drawn`` is the draw that ``traced_pixel`` returned.  Raises Disagreement.
    """
    found = stored_values(drawn, pixel)
    for each in made.final.stored:
        bits = found.get((each.target, each.sample), b"").hex()
        if bits != each.end:
            what = f"{made.lane}: {each.target} is {bits}, by the reference engine {each.end}"
            raise Disagreement(what, "\n".join(made.disassembly), 0)


# Vertices and primitives


def trace_vertex(draw: Draw, vertex: int, instance: int = 0) -> ShaderTrace:
    """Trace the vertex program of a draw for a vertex number of an instance.

    Numbers are those that vertices have in their buffers: indices plus the base.  Vertices of a
    Direct3D 8 or 9 patch are those of its tessellation, where a large one is several draws: it is
    the first that has the number.  Raises UsageError if the draw has no vertex program, or does
    not have the instance or read the vertex.
    """
    draw = _instance(resolved(draw), instance)
    if draw.pipeline.vertex is None:
        raise UsageError("the draw has no vertex program: its vertices are transformed already")
    found: list[ShaderTrace] = []
    engine = _OfLane(found, 0, f"vertex {vertex} of instance {instance}", "vertex")
    own = _Only(engine, draw.pipeline.vertex)
    with np.errstate(all="ignore"):
        StageRun(own).vertices(_reader(draw, vertex), np.array([vertex], np.int64))
    return found[-1]


def _reader(draw: Draw, vertex: int) -> Draw:
    """The draw, or the part of a tessellated one, that reads a vertex.  Raises UsageError if none
    does.
    """
    from dp2emu.gpu.draw.post_vertex import placed_primitives

    ranges = []
    for part in [draw] if draw.post_vertex is not None else tessellated(uncut(draw)):
        for _, places in placed_primitives(part, strips(part)):
            numbers = vertex_numbers(part.input.indices, places.ravel())
            if (numbers == vertex).any():
                return part
            ranges.append((int(numbers.min()), int(numbers.max())))
    if not ranges:
        raise UsageError("the draw reads no vertex")
    least, most = min(ranges)[0], max(most for _, most in ranges)
    raise UsageError(
        f"the draw does not read vertex {vertex}; "
        f"those that it reads are between {least} and {most}"
    )


def _instance(draw: Draw, number: int) -> Draw:
    for at, one in enumerate(instanced(draw)):
        if at == number:
            return one
    raise UsageError(f"the draw has no instance {number}")


class _Only(Engine):
    """Runs one program on another engine, and all others as they are."""

    def __init__(self, engine: Engine, program: ir.Program) -> None:
        self._engine, self._program = engine, program

    def run(self, run: Run) -> Result:
        """Run a program."""
        return self._engine.run(run) if run.program is self._program else run.result()


class _Plan(NamedTuple):
    """A program to trace: how many lanes belong to each primitive, and which of them to take."""

    program: ir.Program
    stage: str
    lanes: int
    wanted: tuple[int, ...]


class _OfPrimitive(Engine):
    """Traces the programs of stages after the vertex stage for one primitive.  Mutable."""

    def __init__(self, plans: list[_Plan], primitive: int) -> None:
        self._plans = {id(plan.program): plan for plan in plans}
        self._primitive = primitive
        self._seen: dict[int, int] = {}
        self._runs: dict[int, int] = {}
        self.found: list[ShaderTrace] = []

    def run(self, run: Run) -> Result:
        """Run a program, and trace the lanes of the primitive among its lanes."""
        plan = self._plans.get(id(run.program))
        if plan is None:
            return run.result()
        seen = self._seen.get(id(run.program), 0)
        count = run.lanes // plan.lanes
        self._seen[id(run.program)] = seen + count
        if not seen <= self._primitive < seen + count:
            return run.result()
        first = (self._primitive - seen) * plan.lanes
        result = None
        for wanted in plan.wanted:
            named = f"primitive {self._primitive}, {plan.stage} {wanted}"
            made, result = trace(run, first + wanted, named, plan.stage)
            self.found.append(made)
        return result or run.result()


def trace_primitive(draw: Draw, primitive: int, instance: int = 0) -> tuple[ShaderTrace, ...]:
    """Trace the hull, domain and geometry programs of a draw for a primitive of an instance.

    ``primitive`` is the number of the patch for hull and domain programs, whose control point
    phase is traced for each point and whose domain program for the first; of the primitive that
    arrives for geometry programs.  Raises UsageError if the draw has none of these programs or
    does not have the primitive.
    """
    draw = _instance(resolved(draw), instance)
    plans = [*_plans(draw)]
    if not plans:
        raise UsageError("the draw has no hull, domain or geometry program")
    from dp2emu.gpu.draw.post_vertex import meshes

    engine = _OfPrimitive(plans, primitive)
    with np.errstate(all="ignore"):
        domain = _domain(draw, primitive, engine)
        for _ in meshes(draw, StageRun(domain or engine)):
            pass
    found = (*engine.found, *(domain.found if domain else ()))
    if not found:
        raise UsageError(f"the draw has no primitive {primitive}")
    return found


def _plans(draw: Draw) -> Iterator[_Plan]:
    stages = draw.post_vertex
    if stages is None:
        return
    if stages.tessellation is not None:
        hull = stages.tessellation.hull
        if hull.points is not None:
            points = tuple(range(hull.makes))
            yield _Plan(hull.points.program, "hull control point", hull.makes, points)
        for each in hull.constants:
            yield _Plan(each.bound.program, "hull constants", 1, (0,))
    if stages.geometry is not None:
        geometry = stages.geometry
        instances = tuple(range(geometry.instances))
        yield _Plan(geometry.bound.program, "geometry", geometry.instances, instances)


class _OfDomain(Engine):
    """Traces a lane of one run of the domain program.  Mutable: it counts ``runs``."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._inner: Engine = Engine()
        self._wanted: tuple[int, int, str] | None = None
        self.runs = 0
        self.found: list[ShaderTrace] = []

    def over(self, inner: Engine, wanted: tuple[int, int, str]) -> _OfDomain:
        """Run all other programs on ``inner``; trace the run and lane of ``wanted``."""
        self._inner, self._wanted, self.runs = inner, wanted, 0
        return self

    def run(self, run: Run) -> Result:
        """Run a program, and trace the lane if this is its run."""
        if run.program is not self._program:
            return self._inner.run(run)
        number, self.runs = self.runs, self.runs + 1
        if self._wanted is None or self._wanted[0] != number:
            return run.result()
        made, result = trace(run, *self._wanted[1:], "domain")
        self.found.append(made)
        return result


def _domain(draw: Draw, patch: int, inner: Engine) -> _OfDomain | None:
    """The engine that traces the domain program for the first vertex of a patch; None if the draw
    has none, or the patch no vertex.
    """
    stages = draw.post_vertex
    if stages is None or stages.tessellation is None:
        return None
    from dp2emu.gpu.draw.post_vertex import assembled
    from dp2emu.gpu.patches.hull_domain import divided

    engine = _OfDomain(stages.tessellation.domain.program)
    running = StageRun(engine)
    for mesh, _ in divided(draw, running, assembled(draw, running)):
        own = mesh.corners[:, mesh.ids == patch]
        if own.size:
            named = f"primitive {patch}, first domain point"
            return engine.over(inner, (engine.runs - 1, int(own.min()), named))
    return None


# Threads


class _OfThread(Engine):
    """Traces a thread by its number among all threads of a dispatch.  Mutable."""

    def __init__(self, program: ir.Program, thread: int, named: str) -> None:
        self._program, self._thread, self._named = program, thread, named
        self._seen = 0
        self.found: list[ShaderTrace] = []

    def run(self, run: Run) -> Result:
        """Run a batch of groups, and trace the thread if it is among them."""
        if run.program is not self._program:
            return run.result()
        lane, self._seen = self._thread - self._seen, self._seen + run.lanes
        if not 0 <= lane < run.lanes:
            return run.result()
        made, result = trace(run, lane, self._named, "compute")
        self.found.append(made)
        return result


def trace_thread(dispatch: Dispatch, thread: tuple[int, int, int]) -> ShaderTrace:
    """Trace the thread of a dispatch with the SV_DispatchThreadID ``thread``.

    All groups run, since they may share memory; the contents of memory are restored.  Raises
    UsageError for a thread outside the dispatch.
    """
    dispatch = direct_dispatch(dispatch)
    sizes = [g * t for g, t in zip(dispatch.groups, dispatch.threads, strict=True)]
    if any(not 0 <= at < size for at, size in zip(thread, sizes, strict=True)):
        raise UsageError(
            f"thread {', '.join(map(str, thread))} of {' x '.join(map(str, sizes))} threads"
        )
    engine = _OfThread(dispatch.stage.program, _flat(dispatch, thread), f"thread {thread}")
    with restored(dispatch):
        dispatches.execute_dispatch(dispatch, Counters(), engine)
    return engine.found[-1]


def _flat(dispatch: Dispatch, thread: tuple[int, int, int]) -> int:
    """The number of a thread among all, group by group."""
    pairs = [divmod(at, side) for at, side in zip(thread, dispatch.threads, strict=True)]
    (gx, x), (gy, y), (gz, z) = pairs
    wide, high, _ = dispatch.groups
    group = (gz * high + gy) * wide + gx
    width, height, depth = dispatch.threads
    return group * width * height * depth + (z * height + y) * width + x
