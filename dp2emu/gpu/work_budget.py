"""The work budget: limits on vertices, pixels and instructions of calls and captures.

Only work that both engines count alike is counted, so that an input ends at the same packet on
either.  The maximum work of a packet is checked before it executes; primitives are examined one
by one only if the budget is not enough for each to cover all of the target.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import FillMode
from dp2emu.errors import Exceeded, Unsupported
from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.code.kernel_key import reason
from dp2emu.gpu.command.bindings import Rect, Uniforms
from dp2emu.gpu.command.packets import Clear, Dispatch, Draw, Packet, UnorderedViews
from dp2emu.gpu.command.pipeline import Pipeline, Samplers
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.command.topology import CORNERS, TOPOLOGIES
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.lines_and_points import point_sizes
from dp2emu.gpu.rasterizer.primitive_setup import POINT_SIZE
from dp2emu.gpu.rasterizer.spans import BATCH, ONE
from dp2emu.gpu.resource.heap import Surface, reach
from dp2emu.gpu.transfer.transfer_units import UNITS
from dp2emu.identity_cache import identity_cached
from dp2emu.limits import Limits, Source, raising_draws
from dp2emu.shader import executed
from dp2emu.shader.ir import (
    Access,
    Assign,
    Break,
    Derivative,
    Fetch,
    If,
    Load,
    Lod,
    Loop,
    Program,
    Sample,
    Stage,
    Statement,
    written,
)
from dp2emu.shader.texture.records import SamplerKey
from dp2emu.shader.uniformity import uniformity

if TYPE_CHECKING:
    from dp2emu.shader.resources import MemoryOperation, Unit
    from dp2emu.shader.types import I32

    Operations = tuple[MemoryOperation, ...]

NO_UNIFORMS: Uniforms = {}
NOTHING_BOUND: UnorderedViews = MappingProxyType({})
INTERPRETED = 64
"""Weight of a pixel program's statements where the compiling engine has no kernel for a draw."""
RUN, RUN_STATEMENT, RUN_READ, RUN_ACCESS = 3 << 21, 1 << 13, 1 << 19, 7 << 15
"""Weight of a run of a pixel program that accesses memory, for up to ``pixel_stage.LANES``
fragments, and of its statements, of its samples and fetches, and of its accesses in it: the
engines interpret each, however few the fragments are.
"""


class Costs(NamedTuple):
    """Amounts of limited work: vertices, pixels and instructions."""

    vertices: int = 0
    pixels: int = 0
    instructions: int = 0

    def within(self, room: Costs) -> bool:
        """Whether no amount is more than the amount of its kind in ``room``."""
        return self[0] <= room[0] and self[1] <= room[1] and self[2] <= room[2]


NOTHING_SPENT, NOTHING_LEFT = Costs(), Costs(-1, -1, -1)
DRAWS = 1 << 14
"""Number of draws that double the limits of a capture: a long one needs more work."""
BATCHED_PIXELS = 1 << 15
"""Samples up to which the area of a draw that is executed in a batch adds up."""


def added(one: Costs, other: Costs) -> Costs:
    """The sums of two amounts of each kind."""
    return Costs(one[0] + other[0], one[1] + other[1], one[2] + other[2])


PICTURED = 192
"""Bytes that a pixel of a picture counts as among those that a verb observes: it is encoded."""


class WorkBudget:
    """The work of the current call and of all calls, with its limits.  Mutable: it grows.

    ``Gpu.begin_call`` resets ``call`` and ``draws``, the work and the queued draws of a call, and
    sets ``begun``, the ``operations`` before it.  ``source`` bounds the draws that raise the
    limits of the capture.
    """

    def __init__(self, limits: Limits, source: Source | None = None) -> None:
        self._limits = limits
        self.source = source
        self.call = self._capture = Costs()
        self.draws = self._all_draws = 0
        self.operations = self.begun = self._observed = 0
        self._enough = min(limits.call_operations, limits.capture_operations)

    def begin_draw(self, operations: int = 0) -> None:
        """Count a queued draw, which raises the limits of the capture (``DRAWS``), and its
        ``operations``.

        Raises Exceeded for too many draws of a call, or operations: each takes time that no vertex
        or pixel accounts for.
        """
        self.draws += 1
        self._all_draws += 1
        self.operations += operations
        if self.operations > self._enough:
            self._check_operations()
        if self.draws > self._limits.call_draws:
            self._limits.check("call_draws", self.draws)

    def begin_transfer(self) -> None:
        """Count a queued blit, copy or dispatch, which raises the limits of the capture too."""
        self._all_draws += 1

    def operate(self, operations: int) -> None:
        """Count operations (``operation_costs``) that are queued or about to be executed.

        Raises Exceeded for too many.
        """
        self.operations += operations
        if self.operations > self._enough:
            self._check_operations()

    def _check_operations(self) -> None:
        """Check the operations, and set ``_enough``, up to which no check is needed."""
        limits, raised = self._limits, self._raised(self._limits.capture_operations)
        limits.check("call_operations", self.operations - self.begun)
        limits.check("capture_operations", max(self.operations - raised, 0))
        most = limits.capture_operations + raised
        self._enough = min(self.begun + limits.call_operations, most)

    def observe(self, size: int) -> None:
        """Count bytes that a verb copies, compares or encodes besides what the GPU executes.

        Raises Exceeded for too many.
        """
        self._observed += size
        most = self._limits.observed_bytes
        if self._observed > most:
            beyond = max(self._observed - self._raised(most), 0)
            self._limits.check("observed_bytes", beyond)

    def observes(self, size: int) -> bool:
        """Whether there is room for bytes that a verb copies, compares or encodes; counts them."""
        try:
            self.observe(size)
        except Exceeded:
            return False
        return True

    def _raised(self, limit: int) -> int:
        """By how much the draws so far raise a limit of the capture."""
        return self._raising() * (limit // DRAWS)

    def _raising(self) -> int:
        """The number of draws that raise the limits of the capture."""
        draws, source = self._all_draws, self.source
        return draws if source is None else raising_draws(draws, source)

    def spend(self, vertices: int = 0, pixels: int = 0, instructions: int = 0) -> None:
        """Count vertices, pixels and instructions that were processed."""
        more = Costs(vertices, pixels, instructions)
        self.call = added(self.call, more)
        self._capture = added(self._capture, more)

    def left(self) -> Costs:
        """The remaining budget of vertices, pixels and instructions."""
        one, all_ = self.call, self._beyond_earned()
        limits = self._limits
        return Costs(
            min(limits.call_vertices - one[0], limits.capture_vertices - all_[0]),
            min(limits.call_pixels - one[1], limits.capture_pixels - all_[1]),
            min(limits.call_instructions - one[2], limits.capture_instructions - all_[2]),
        )

    def _beyond_earned(self) -> Costs:
        """The work of all calls beyond that by which their draws raised the limits."""
        draws, spent, limits = self._raising(), self._capture, self._limits
        return Costs(
            max(spent[0] - draws * (limits.capture_vertices // DRAWS), 0),
            max(spent[1] - draws * (limits.capture_pixels // DRAWS), 0),
            max(spent[2] - draws * (limits.capture_instructions // DRAWS), 0),
        )

    def allow(self, vertices: int = 0, pixels: int = 0, instructions: int = 0) -> None:
        """Check that the budget has this much left.  Raises Exceeded, which names the limit."""
        for kind, amount in zip(Costs._fields, (vertices, pixels, instructions), strict=True):
            for scope, spent in (("call", self.call), ("capture", self._beyond_earned())):
                self._limits.check(f"{scope}_{kind}", getattr(spent, kind), amount)

    def admit(self, packet: Packet) -> None:
        """Check the maximum work of a packet.  Raises Exceeded if it is more than is left."""
        if isinstance(packet, Clear):
            targets = [each for each in (*packet.colors, packet.depth) if each is not None]
            self.allow(pixels=sum(_cleared(each, packet.rects) for each in targets))
        elif type(packet) in UNITS:
            self.allow(pixels=UNITS[type(packet)](packet))
        elif min(self.left()) < 0:
            self.allow()

    def admit_draw(self, draw: Draw) -> None:
        """Check and count the vertices of a draw.  Raises Exceeded if too few are left."""
        row = TOPOLOGIES[draw.input.topology]
        often = 1 if draw.input.instances is None else draw.input.instances.count
        vertices = max(row.step * draw.input.count + row.extra, 0) * often
        instructions = vertices * vertex_cost(draw)
        room = self.left()
        if vertices > room.vertices or instructions > room.instructions or room.pixels < 0:
            self.allow(vertices=vertices, instructions=instructions)
        self.spend(vertices=vertices, instructions=instructions)

    def admit_dispatch(self, dispatch: Dispatch) -> None:
        """Check and count the threads of a dispatch.  Raises Exceeded if too few are left."""
        threads = prod(dispatch.threads) * prod(dispatch.groups)
        sizes = _sizes(dispatch.stage, 1, dispatch.memory_operations, dispatch.unordered)
        cost = _stage_cost(dispatch.stage, dispatch.memory_operations, sizes)
        instructions = threads * cost
        self.allow(instructions=instructions)
        self.spend(instructions=instructions)

    def admit_post_vertex(self, draw: Draw, work: Work) -> None:
        """Check and count work of the stages between vertices and clipping: domain points and
        primitives of a geometry program count as vertices.  Raises Exceeded if too few are left.
        """
        vertices = work.domain_runs + work.geometry_primitives
        instructions = _later_instructions(draw, work)
        self.allow(vertices=vertices, instructions=instructions)
        self.spend(vertices=vertices, instructions=instructions)

    def moved(self, packet: Packet, work: Work) -> None:
        """Count the work of a clear or copy."""
        units = UNITS[type(packet)](packet) if type(packet) in UNITS else 0
        self.spend(pixels=max(work.pixels, work.pixel_bytes // 4, units))

    def shaded(self, draw: Draw, work: Work) -> None:
        """Count the fragments of a draw whose vertices are counted already."""
        self.spend(pixels=work.fragments, instructions=work.fragments * pixel_cost(draw))

    def drawn(self, like: Draw, work: Work) -> None:
        """Count the work of draws that have the same state as ``like``."""
        instructions = work.vertices * vertex_cost(like) + work.fragments * pixel_cost(like)
        self.spend(work.vertices, work.fragments, instructions)


PART = 1 << 15
"""Least number of rows of the spans that are made together."""
_LINES = 3
"""Most lines or points that a primitive is drawn as."""
Rest = Callable[[Draw, Geometry], Work]
"""Function that draws assembled primitives in screen space -> their work."""


class Meter(msgspec.Struct, frozen=True):
    """Checks and counts the pixels of a draw on a region of its targets."""

    draw: Draw
    region: Rect
    budget: WorkBudget | None

    def most(self) -> int:
        """The number of primitives that fit the budget even if each covers the whole region;
        negative if the budget is overdrawn.
        """
        if self.budget is None:
            return sys.maxsize
        room, pipeline = self.budget.left(), self.draw.pipeline
        each = max(_area(self.region) * pipeline.samples, 1)
        once, more = self.beyond
        return min(room.pixels // each, (room.instructions - once) // (each * self.cost + more))

    @property
    def cost(self) -> int:
        """The cost of a fragment, at least 1, with its share of a full run of the program."""
        width = self.region.right - self.region.left
        return max(pixel_cost(self.draw) + _share(self.draw, width), 1)

    @property
    def beyond(self) -> tuple[int, int]:
        """The cost of runs that are not full: once, and for each primitive.

        Spans of a chunk of primitives are made in parts, each of about ``PART`` rows; each part
        may end with a run for few fragments, of each sample if the program runs by sample.
        """
        run, samples = run_cost(self.draw), self.draw.pipeline.samples
        sides = self.region.right - self.region.left, self.region.bottom - self.region.top
        rows = 2 * _LINES * max(*sides, 0) * samples
        return run * samples, -(-run * samples * rows // PART)

    def bounds(self, assembled: Geometry) -> I64:
        """For each primitive, an upper bound of the samples that it and those before it cover."""
        samples = self.draw.pipeline.samples
        return (_covered_at_most(self.draw, assembled, self.region) * samples).cumsum()

    def fitting(self, bounds: I64, start: int, budget: WorkBudget) -> int:
        """One past the last of the primitives from ``start`` on that fit the budget, whatever they
        cover.  Raises Exceeded if the first may not fit.
        """
        room, before = budget.left(), int(bounds[start - 1]) if start else 0
        pixels, (once, more) = bounds[start:] - before, self.beyond
        instructions = room.instructions - once - more * np.arange(1, len(pixels) + 1)
        most = np.minimum(room.pixels, instructions // self.cost)
        # The more primitives, the more pixels and the less room: those that fit are the first.
        fit = int(np.count_nonzero(pixels <= most))
        if not fit:
            first = int(pixels[0])
            budget.allow(pixels=first, instructions=first * self.cost + once + more)
        return start + max(fit, 1)

    def fits(self, area: int, count: int) -> bool:
        """Whether the budget has room for ``count`` primitives of this area in pixels."""
        if self.budget is None:
            return True
        left, top, right, bottom = astuple(self.region)
        most = area + count * reach(right - left, bottom - top)
        room, samples = self.budget.left(), most * self.draw.pipeline.samples
        return samples <= min(room.pixels, room.instructions // self.cost)

    def spent(self, work: Work, primitives: int = 0) -> Work:
        """Count work that was done for so many primitives together, and return it."""
        if self.budget is not None and work.fragments:
            once, more = self.beyond
            instructions = work.fragments * self.cost + once + more * primitives
            self.budget.spend(pixels=work.fragments, instructions=instructions)
        return work


def metered(rest: Rest, region: Rect, budget: WorkBudget | None) -> Rest:
    """Wrap the function ``rest``, which draws primitives, so that its pixels are counted.

    The wrapper draws primitives while the budget is enough for the most that each may cover, and
    then raises Exceeded.  Where it ends does not depend on how many ``rest`` draws at once.
    """
    if budget is None:
        return rest

    def draw_within(draw: Draw, assembled: Geometry) -> Work:
        meter, count = Meter(draw, region, budget), len(assembled.numbers)
        if count <= meter.most():
            return meter.spent(rest(draw, assembled), count)
        bounds, work, start = meter.bounds(assembled), Work(), 0
        while start < count:
            stop = meter.fitting(bounds, start, budget)
            part = assembled
            if stop - start < count:
                part = assembled.part(np.arange(start, stop))
                part = replace(part, extra=0 if start else assembled.extra)
            work += meter.spent(rest(draw, part), stop - start)
            start = stop
        return work

    return draw_within


def _cleared(surface: Surface, rects: Sequence[Rect]) -> int:
    """Units of four bytes of a surface in rectangles."""
    whole = Rect(0, 0, surface.width, surface.height)
    unit = max(surface.samples * ROWS[surface.format].size // 4, 1)
    return sum(_area(rect.intersect(whole)) for rect in rects) * unit


def _area(rect: Rect) -> int:
    return max(rect.right - rect.left, 0) * max(rect.bottom - rect.top, 0)


def _covered_at_most(draw: Draw, assembled: Geometry, region: Rect) -> I64:
    """For each primitive, an upper bound of the pixels that it covers."""
    x, y = assembled.vertices.position[:2].astype(np.float64)
    columns = _extent(x, region.left, region.right)
    rows = _extent(y, region.top, region.bottom)
    corners, fill = CORNERS[draw.input.topology], draw.pipeline.raster.fill
    with np.errstate(all="ignore"):
        if corners == 1 or (corners == 3 and fill is FillMode.POINT):
            own = assembled.vertices.varying(POINT_SIZE)
            return corners * _squares(None if own is None else own[0], draw, len(x[0]), region)
        if corners == 2 or fill is FillMode.WIREFRAME:
            edges = 3 if corners == 3 else 1
            most = 4 * (np.maximum(np.ptp(x, axis=0), np.ptp(y, axis=0)) + 4)
            return edges * _least(columns * rows, most)
        return _least(columns * rows, _triangles_at_most(x, y))


def _triangles_at_most(x: F64, y: F64) -> F64:
    """Upper bounds of the pixels of triangles by area and perimeter, with room for snapping."""
    along, down = x - np.roll(x, 1, axis=0), y - np.roll(y, 1, axis=0)
    area = np.abs(along[1] * down[2] - along[2] * down[1]) / 2
    around: F64 = np.hypot(along, down).sum(axis=0)
    most: F64 = area + around * (0.5 + 1 / 64) + 2
    return most


def _squares(own: F32 | F64 | None, draw: Draw, count: int, region: Rect) -> I64:
    """Upper bounds of the pixels of points, squares of the points' sizes."""
    side = point_sizes(own, draw.raster.point, count) / ONE + 2
    width, height = max(region.right - region.left, 0), max(region.bottom - region.top, 0)
    squares = np.minimum(side, width) * np.minimum(side, height)
    return _least(np.full(count, width * height, np.int64), squares)


def _least(most: I64, other: F64) -> I64:
    """The lesser of two bounds; ``other``, rounded up, does not count where it is not finite."""
    wide = np.where(np.isfinite(other), np.minimum(other, most), most)
    least: I64 = np.ceil(wide).astype(np.int64)
    return least


def _extent(lanes: F32 | F64, low: int, high: int) -> I64:
    """For each primitive, pixels from the least to the greatest of three coordinates on one axis,
    with one more at each end, within ``low`` to ``high``.
    """
    wide = np.where(np.isnan(lanes), np.float64(low), lanes.astype(np.float64))
    first = np.clip(np.floor(wide.min(axis=0)) - 1, low, high).astype(np.int64)
    last = np.clip(np.ceil(wide.max(axis=0)) + 1, low, high).astype(np.int64)
    extent: I64 = last - first
    return extent


def _later_instructions(draw: Draw, work: Work) -> int:
    """The most statements that hull, domain and geometry programs execute for their runs."""
    later, total = draw.post_vertex, 0
    if later is not None and later.tessellation is not None:
        hull, domain = later.tessellation.hull, later.tessellation.domain
        patch = sum(each.instances * _stage_cost(each.bound) for each in hull.constants)
        if hull.points is not None:
            patch += hull.makes * _stage_cost(hull.points)
        total = work.hull_runs * patch + work.domain_runs * _stage_cost(domain)
    if later is not None and later.geometry is not None:
        total += work.geometry_runs * _stage_cost(later.geometry.bound)
    return total


def _stage_cost(
    stage: StageProgram, operations: Operations = (), sizes: executed.Sizes | None = None
) -> int:
    work = _work(stage.program, stage.samplers, stage.units, operations)
    return _bound(work, stage.program, stage.uniforms, sizes or _sizes(stage, 1))


def cost(
    program: Program | None, samplers: Samplers = (), uniforms: Uniforms = NO_UNIFORMS
) -> int:
    """An upper bound on the weighted statements that a lane of a program executes, iterations of
    loops and statements of sampler programs included.
    """
    return 0 if program is None else _bound(_work(program, samplers, (), ()), program, uniforms)


def _bound(
    work: executed.Work,
    program: Program,
    uniforms: Uniforms,
    sizes: executed.Sizes = lambda unit: None,
) -> int:
    """The most that a lane of a program executes; loops that are short need no evaluation."""
    return work.most if work.loops is None else work.evaluated(program, uniforms, sizes)


def _sizes(
    stage: StageProgram,
    samples: int,
    operations: Operations = (),
    unordered: UnorderedViews = NOTHING_BOUND,
) -> executed.Sizes:
    """The function that returns the sizes of what is bound to a stage."""

    def rows(unit: executed.UnitOf) -> I32 | None:
        # Imported here: few programs have loops that end by a size.
        from dp2emu.gpu.shader_resources.resource_sizes import size_rows

        return size_rows(unit, stage, operations, unordered, samples)

    return rows


def pixel_cost(draw: Draw) -> int:
    """The cost of a fragment of a draw: its program's, and 1 for each byte of its targets' pixels.

    The default engine interprets pipelines without kernel.
    """
    pipeline, works = draw.pipeline, _works(draw.pipeline)
    return works.fragment(_bound_of_pixels(works.pixel, draw), reason(pipeline) is None)


def run_cost(draw: Draw) -> int:
    """The cost of a run of a pixel program that accesses memory, beyond those of its fragments; 0
    for other programs.
    """
    run = _works(draw.pipeline).run
    return 0 if run is None else RUN + _bound_of_pixels(run, draw)


def _share(draw: Draw, width: int) -> int:
    """The share of a fragment in the cost of runs for full batches of fragments, where spans are
    at most ``width`` pixels wide.
    """
    run = run_cost(draw)
    if not run:
        return 0
    # Imported here: what draws nothing must not load it.
    from dp2emu.gpu.pixel_shader.pixel_stage import LANES

    # A batch ends before the first span that is too much for it; of two batches in succession one
    # has at least half of the samples that a batch can have.
    samples = draw.pipeline.samples
    least = max(BATCH // 2, BATCH - samples * (width + 1))
    return -(-run // LANES) + -(-run * samples // least)


def _bound_of_pixels(work: executed.Work, draw: Draw) -> int:
    pipeline, bound = draw.pipeline, draw.pixel
    if work.loops is None:
        return work.most
    stage = StageProgram(
        pipeline.pixel, bound.uniforms, {}, bound.textures, pipeline.samplers, pipeline.units
    )
    operations = pipeline.memory_operations
    unordered = draw.output.unordered if operations else NOTHING_BOUND
    sizes = _sizes(stage, pipeline.samples, operations, unordered)
    return work.evaluated(pipeline.pixel, bound.uniforms, sizes)


def vertex_cost(draw: Draw) -> int:
    """The cost of a vertex of a draw."""
    pipeline, bound, work = draw.pipeline, draw.vertex, _works(draw.pipeline).vertex
    program = pipeline.vertex
    if program is None or work.loops is None:
        return work.most
    stage = StageProgram(
        program, bound.uniforms, {}, bound.textures,
        pipeline.vertex_samplers, pipeline.vertex_units,
    )  # fmt: skip
    return work.evaluated(program, bound.uniforms, _sizes(stage, pipeline.samples))


def most_of_batched(draw: Draw, reach: int) -> Costs | None:
    """An upper bound on the work of a draw that compiled code executes in a batch; ``reach`` is
    ``Heap.reach``.  None if the work depends on bound resources or uniforms.
    """
    costs = _fixed_costs(draw.pipeline)
    if costs is None:
        return None
    row, count = TOPOLOGIES[draw.input.topology], draw.input.count
    vertices = max(row.step * count + row.extra, 0)
    pixels = BATCHED_PIXELS + count * reach
    return Costs(vertices, pixels, vertices * costs[0] + pixels * costs[1])


@identity_cached()
def _fixed_costs(pipeline: Pipeline) -> tuple[int, int] | None:
    """The costs of a vertex and of a fragment, None if they depend on what is bound."""
    works = _works(pipeline)
    if not (works.vertex.fixed and works.pixel.fixed):
        return None
    pixel = _bound(works.pixel, pipeline.pixel, NO_UNIFORMS)
    vertex = pipeline.vertex
    return (
        0 if vertex is None else _bound(works.vertex, vertex, NO_UNIFORMS),
        works.fragment(pixel, reason(pipeline) is None),
    )


class _Works(NamedTuple):
    """The work of the programs of a pipeline, and the bytes of a pixel of all its targets.

    ``run`` is the work of a run of a pixel program that accesses memory, for any number of
    fragments; ``pixel`` is then what it executes for each.
    """

    vertex: executed.Work
    pixel: executed.Work
    written: int
    run: executed.Work | None

    def fragment(self, executed: int, compiled: bool) -> int:
        """The cost of a fragment for which the pixel program executes so much."""
        if self.run is not None:
            return executed + self.written * INTERPRETED
        return (executed + self.written) * (1 if compiled else INTERPRETED)


@identity_cached()
def _works(pipeline: Pipeline) -> _Works:
    vertex, program = executed.Work(0), pipeline.pixel
    if pipeline.vertex is not None:
        vertex = _work(pipeline.vertex, pipeline.vertex_samplers, pipeline.vertex_units, ())
    written = sum(ROWS[each].size for each in pipeline.color_formats if each is not None)
    operations, units = pipeline.memory_operations, pipeline.units
    if not operations:
        return _Works(vertex, _work(program, pipeline.samplers, units, ()), written, None)
    sized = partial(_is_size, units, operations)
    pixel, run = (
        executed.work_of(program, weigh, sized, executed.widest_of(program, weigh, unit))
        for weigh, unit in ((_lane_weigher(pipeline), INTERPRETED), (_run_weight, RUN_STATEMENT))
    )
    return _Works(vertex, pixel, written, run)


def _lane_weigher(pipeline: Pipeline) -> executed.Weigh:
    """The function that weighs statements of an interpreted program that accesses memory, for a
    fragment: nothing where all fragments of a run execute a statement as one.
    """
    # Imported here: few programs access memory.
    from dp2emu.gpu.shader_resources.unordered_access import ALIKE

    operations, program = pipeline.memory_operations, pipeline.pixel

    def alike(access: Access) -> bool:
        return operations[access.unit].opcode in ALIKE

    found = uniformity(program, alike)
    weigh = _weigher(program, pipeline.samplers)

    def weigh_lane(statement: Statement) -> int:
        together = id(statement) not in found.apart
        if isinstance(statement, Access):
            return 0 if together and alike(statement) else executed.ACCESS
        once = type(statement) in _ONCE and found.slots.isdisjoint(written(statement))
        return 0 if together and once else weigh(statement) * INTERPRETED

    return weigh_lane


_ONCE = {Assign, Load, Derivative, If, Loop, Break}
"""Types of statements that an interpreter executes once for all lanes if operands and results are
uniform."""


def _run_weight(statement: Statement) -> int:
    """The weight of a statement in a run of an interpreted program, for any number of lanes."""
    return _RUN_WEIGHTS.get(type(statement), RUN_STATEMENT)


_RUN_WEIGHTS: dict[type, int] = {Sample: RUN_READ, Fetch: RUN_READ, Access: RUN_ACCESS}


@identity_cached()
def _work(
    program: Program, samplers: Samplers, units: tuple[Unit, ...], operations: Operations
) -> executed.Work:
    sized = partial(_is_size, units, operations)
    return executed.work_of(program, _weigher(program, samplers), sized)


def _is_size(units: tuple[Unit, ...], operations: Operations, unit: executed.UnitOf) -> bool:
    # Imported here: few programs have loops that end by a size.
    from dp2emu.gpu.shader_resources.resource_sizes import is_size

    return is_size(unit, units, operations)


def _weigher(program: Program, samplers: Samplers) -> executed.Weigh:
    """The function that weighs statements of compiled code for a lane."""
    keys = dict(samplers)

    def weigh(statement: Statement) -> int:
        key = keys.get(statement.sampler) if isinstance(statement, Sample) else None
        if key is None or not isinstance(statement, Sample):
            return executed.weight_of(statement)
        return _sampler_cost(key, statement.lod, program.stage)

    return weigh


@lru_cache(maxsize=1 << 8)
def _sampler_cost(key: SamplerKey, lod: Lod, stage: Stage) -> int:
    """The cost of a sample; 1 if it cannot be read, which the draw finds out."""
    # Imported here: what draws nothing must not load it.
    from dp2emu.shader.texture.sampler import sampler_program

    try:
        return cost(sampler_program(key, lod, stage))
    except Unsupported:
        return 1
