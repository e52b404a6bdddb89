"""The work budget: limits on vertices, pixels and instructions of calls and captures.

Only work that both engines count alike is counted, so that an input ends at the same packet on
either.  The maximum work of a packet is checked before it executes; primitives are examined one
by one only if the budget is not enough for each to cover all of the target.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from dp2emu.d3d.dxgi import ROWS
from dp2emu.d3d.enums import FillMode
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.code.kernel_key import reason
from dp2emu.gpu.command.bindings import Rect, Uniforms
from dp2emu.gpu.command.packets import Clear, Dispatch, Draw, Packet
from dp2emu.gpu.command.pipeline import Pipeline, Samplers
from dp2emu.gpu.command.post_vertex_stages import StageProgram
from dp2emu.gpu.command.topology import CORNERS, TOPOLOGIES
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.gpu.rasterizer.lines_and_points import point_sizes
from dp2emu.gpu.rasterizer.primitive_setup import POINT_SIZE
from dp2emu.gpu.rasterizer.spans import ONE
from dp2emu.gpu.resource.heap import Surface, reach
from dp2emu.gpu.transfer.transfer_units import UNITS
from dp2emu.identity_cache import identity_cached
from dp2emu.limits import Limits
from dp2emu.shader import executed
from dp2emu.shader.ir import Access, Lod, Program, Sample, Stage
from dp2emu.shader.texture.records import SamplerKey

NO_UNIFORMS: Uniforms = {}
INTERPRETED = 64
"""Weight of a pixel program's statements where the compiling engine has no kernel for a draw."""


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


class WorkBudget:
    """The work of the current call and of all calls, with its limits.  Mutable: it grows.

    ``Gpu.begin_call`` resets ``call`` and ``draws``, the work and the queued draws of a call.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.call = self._capture = Costs()
        self.draws = self._all_draws = 0

    def begin_draw(self) -> None:
        """Count a queued draw, which raises the limits of the capture (``DRAWS``).

        Raises Exceeded for too many of a call: each takes time that no vertex or pixel accounts
        for.
        """
        self.draws += 1
        self._all_draws += 1
        if self.draws > self._limits.call_draws:
            self._limits.check("call_draws", self.draws)

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
        draws, spent, limits = self._all_draws, self._capture, self._limits
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
        instructions = threads * _stage_cost(dispatch.stage)
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

    def drawn(self, like: Draw, work: Work) -> None:
        """Count the work of draws that have the same state as ``like``."""
        instructions = work.vertices * vertex_cost(like) + work.fragments * pixel_cost(like)
        self.spend(work.vertices, work.fragments, instructions)


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
        return min(room.pixels, room.instructions // self.cost) // each

    @property
    def cost(self) -> int:
        """The cost of a fragment, at least 1."""
        return max(pixel_cost(self.draw), 1)

    def bounds(self, assembled: Geometry) -> I64:
        """For each primitive, an upper bound of the samples that it and those before it cover."""
        samples = self.draw.pipeline.samples
        return (_covered_at_most(self.draw, assembled, self.region) * samples).cumsum()

    def fitting(self, bounds: I64, start: int, budget: WorkBudget) -> int:
        """One past the last of the primitives from ``start`` on that fit the budget, whatever they
        cover.  Raises Exceeded if the first may not fit.
        """
        room, before = budget.left(), int(bounds[start - 1]) if start else 0
        most = before + min(room.pixels, room.instructions // self.cost)
        stop = int(np.searchsorted(bounds, most, side="right"))
        if stop <= start:
            pixels = int(bounds[start]) - before
            budget.allow(pixels=pixels, instructions=pixels * self.cost)
        return stop

    def fits(self, area: int, count: int) -> bool:
        """Whether the budget has room for ``count`` primitives of this area in pixels."""
        if self.budget is None:
            return True
        left, top, right, bottom = astuple(self.region)
        most = area + count * reach(right - left, bottom - top)
        room, samples = self.budget.left(), most * self.draw.pipeline.samples
        return samples <= min(room.pixels, room.instructions // self.cost)

    def spent(self, work: Work) -> Work:
        """Count work that was done, and return it."""
        if self.budget is not None:
            self.budget.spend(pixels=work.fragments, instructions=work.fragments * self.cost)
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
            return meter.spent(rest(draw, assembled))
        bounds, work, start = meter.bounds(assembled), Work(), 0
        while start < count:
            stop = meter.fitting(bounds, start, budget)
            part = assembled
            if stop - start < count:
                part = assembled.part(np.arange(start, stop))
                part = replace(part, extra=0 if start else assembled.extra)
            work += meter.spent(rest(draw, part))
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


def _stage_cost(stage: StageProgram) -> int:
    return cost(stage.program, stage.samplers, stage.uniforms)


def cost(
    program: Program | None, samplers: Samplers = (), uniforms: Uniforms = NO_UNIFORMS
) -> int:
    """An upper bound on the weighted statements that a lane of a program executes, iterations of
    loops and statements of sampler programs included.
    """
    return 0 if program is None else _bound(_work(program, samplers), program, uniforms)


def _bound(work: executed.Work, program: Program, uniforms: Uniforms) -> int:
    """The most that a lane of a program executes; loops that are short need no evaluation."""
    return work.most if work.loops is None else work.evaluated(program, uniforms)


def pixel_cost(draw: Draw) -> int:
    """The cost of a fragment of a draw: its program's, and 1 for each byte of its targets' pixels.

    The default engine interprets pipelines without kernel.
    """
    pipeline, works = draw.pipeline, _works(draw.pipeline)
    found = _bound(works.pixel, pipeline.pixel, draw.pixel.uniforms) + works.written
    return found if reason(pipeline) is None else found * INTERPRETED


def vertex_cost(draw: Draw) -> int:
    """The cost of a vertex of a draw."""
    program, work = draw.pipeline.vertex, _works(draw.pipeline).vertex
    return 0 if program is None else _bound(work, program, draw.vertex.uniforms)


def most_of_batched(draw: Draw, reach: int) -> Costs | None:
    """An upper bound on the work of a draw that compiled code executes in a batch; ``reach`` is
    that of the heap.  None if it depends on uniforms.
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
    """The costs of a vertex and of a fragment, None if they depend on uniforms."""
    works = _works(pipeline)
    if works.vertex.reads or works.pixel.reads:
        return None
    pixel = _bound(works.pixel, pipeline.pixel, NO_UNIFORMS) + works.written
    vertex = pipeline.vertex
    return (
        0 if vertex is None else _bound(works.vertex, vertex, NO_UNIFORMS),
        pixel if reason(pipeline) is None else pixel * INTERPRETED,
    )


class _Works(NamedTuple):
    """The work of the programs of a pipeline, and the bytes of a pixel of all its targets."""

    vertex: executed.Work
    pixel: executed.Work
    written: int


@identity_cached()
def _works(pipeline: Pipeline) -> _Works:
    vertex = executed.Work(0)
    if pipeline.vertex is not None:
        vertex = _work(pipeline.vertex, pipeline.vertex_samplers)
    written = sum(ROWS[each].size for each in pipeline.color_formats if each is not None)
    return _Works(vertex, _work(pipeline.pixel, pipeline.samplers), written)


@identity_cached()
def _work(program: Program, samplers: Samplers) -> executed.Work:
    keys = dict(samplers)

    def weigh(statement: Sample | Access) -> int:
        if isinstance(statement, Access):
            return access
        key = keys.get(statement.sampler)
        return 1 if key is None else _sampler_cost(key, statement.lod, program.stage)

    # Pixel programs with memory operations have no kernel, which weighs all their statements.
    access = executed.ACCESS // (INTERPRETED if program.stage is Stage.PIXEL else 1)

    return executed.work_of(program, weigh)


@lru_cache(maxsize=1 << 8)
def _sampler_cost(key: SamplerKey, lod: Lod, stage: Stage) -> int:
    """The cost of a sample; 1 if it cannot be read, which the draw finds out."""
    # Imported here: what draws nothing must not load it.
    from dp2emu.shader.texture.sampler import sampler_program

    try:
        return cost(sampler_program(key, lod, stage))
    except Unsupported:
        return 1
