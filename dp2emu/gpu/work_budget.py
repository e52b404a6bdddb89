"""The work budget: limits on vertices, pixels and instructions of calls and captures.

Only work that both engines count alike is counted, so that an input ends at the same packet on
either.  The maximum work of a packet is checked before it executes; primitives are examined one
by one only if the budget is not enough for each to cover all of the target.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import NamedTuple

import msgspec
import numpy as np

from dp2emu.gpu.arrays import F32, F64, I64
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Clear, Dispatch, Draw, Packet
from dp2emu.gpu.command.topology import CORNERS, TOPOLOGIES
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.rasterizer.clip import Geometry
from dp2emu.identity_cache import identity_cached
from dp2emu.limits import Limits
from dp2emu.shader.budget import EXECUTED
from dp2emu.shader.ir import Loop, Program, Statement, blocks

_WIDEST_INSTRUCTION = 16
"""Maximum number of statements that one shader instruction in a loop is translated to."""
_USUAL_COST = 1 << 12
"""Number of statements that a program is assumed to execute while its cost is not known."""


class Costs(NamedTuple):
    """Amounts of limited work: vertices, pixels and instructions."""

    vertices: int = 0
    pixels: int = 0
    instructions: int = 0


NOTHING_SPENT = Costs()


class WorkBudget:
    """The work of the current call and of all calls, with its limits.  Mutable: it grows.

    ``Gpu.begin_call`` resets ``call`` and ``draws``, the work and the queued draws of a call.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.call = self._capture = Costs()
        self.draws = 0

    def begin_draw(self) -> None:
        """Count a queued draw.  Raises Exceeded for too many of a call: each takes time that no
        vertex or pixel accounts for.
        """
        self.draws += 1
        if self.draws > self._limits.call_draws:
            self._limits.check("call_draws", self.draws)

    def spend(self, vertices: int = 0, pixels: int = 0, instructions: int = 0) -> None:
        """Count vertices, pixels and instructions that were processed."""
        more = vertices, pixels, instructions
        self.call = Costs(*map(int.__add__, self.call, more))
        self._capture = Costs(*map(int.__add__, self._capture, more))

    def left(self) -> Costs:
        """The remaining budget of vertices, pixels and instructions."""
        one, all_ = self.call, self._capture
        limits = self._limits
        return Costs(
            min(limits.call_vertices - one[0], limits.capture_vertices - all_[0]),
            min(limits.call_pixels - one[1], limits.capture_pixels - all_[1]),
            min(limits.call_instructions - one[2], limits.capture_instructions - all_[2]),
        )

    def allow(self, vertices: int = 0, pixels: int = 0, instructions: int = 0) -> None:
        """Check that the budget has this much left.  Raises Exceeded, which names the limit."""
        for kind, amount in zip(Costs._fields, (vertices, pixels, instructions), strict=True):
            for scope, spent in (("call", self.call), ("capture", self._capture)):
                self._limits.check(f"{scope}_{kind}", getattr(spent, kind), amount)

    def admit(self, packet: Packet) -> None:
        """Check the maximum work of a packet.  Raises Exceeded if it is more than is left."""
        if isinstance(packet, Clear):
            areas = sum(_area(rect) for rect in packet.rects)
            targets = [each for each in (*packet.colors, packet.depth) if each is not None]
            self.allow(pixels=areas * sum(each.samples for each in targets))
        elif min(self.left()) < 0:
            self.allow()

    def admit_draw(self, draw: Draw) -> None:
        """Check and count the vertices of a draw.  Raises Exceeded if too few are left."""
        row = TOPOLOGIES[draw.input.topology]
        often = 1 if draw.input.instances is None else draw.input.instances.count
        vertices = max(row.step * draw.input.count + row.extra, 0) * often
        instructions = vertices * cost(draw.pipeline.vertex)
        room = self.left()
        if vertices > room.vertices or instructions > room.instructions or room.pixels < 0:
            self.allow(vertices=vertices, instructions=instructions)
        self.spend(vertices=vertices, instructions=instructions)

    def admit_dispatch(self, dispatch: Dispatch) -> None:
        """Check and count the threads of a dispatch.  Raises Exceeded if too few are left."""
        threads = prod(dispatch.threads) * prod(dispatch.groups)
        instructions = threads * cost(dispatch.stage.program)
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

    def moved(self, work: Work) -> None:
        """Count the work of a clear or copy."""
        self.spend(pixels=max(work.pixels, work.pixel_bytes // 4))

    def drawn(self, like: Draw, work: Work) -> None:
        """Count the work of draws that have the same state as ``like``."""
        vertex, pixel = cost(like.pipeline.vertex), cost(like.pipeline.pixel)
        instructions = work.vertices * vertex + work.fragments * pixel
        self.spend(work.vertices, work.fragments, instructions)

    def primitives(self, area: int) -> int:
        """The number of primitives that fit the budget even if each covers a target of ``area``
        samples.
        """
        room, area = self.left(), max(area, 1)
        return min(
            room.vertices // 3, room.pixels // area, room.instructions // (area * _USUAL_COST)
        )


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
        return min(room.pixels // each, room.instructions // (each * max(cost(pipeline.pixel), 1)))

    def check(self, assembled: Geometry) -> None:
        """Check that primitives fit the budget.  Raises Exceeded if they may not."""
        if self.budget is not None and len(assembled.numbers) > self.most():
            pipeline = self.draw.pipeline
            most = _covered_at_most(self.draw, assembled, self.region) * pipeline.samples
            self.budget.allow(pixels=most, instructions=most * cost(pipeline.pixel))

    def spent(self, work: Work) -> Work:
        """Count work that was done, and return it."""
        if self.budget is not None:
            executed = work.fragments * cost(self.draw.pipeline.pixel)
            self.budget.spend(pixels=work.fragments, instructions=executed)
        return work


def metered(rest: Rest, region: Rect, budget: WorkBudget | None) -> Rest:
    """Wrap the function ``rest``, which draws primitives, so that its pixels are counted; the
    wrapper raises Exceeded, before it draws, if the budget may not be enough.
    """
    if budget is None:
        return rest

    def draw_within(draw: Draw, assembled: Geometry) -> Work:
        meter = Meter(draw, region, budget)
        meter.check(assembled)
        return meter.spent(rest(draw, assembled))

    return draw_within


def _area(rect: Rect) -> int:
    return max(rect.right - rect.left, 0) * max(rect.bottom - rect.top, 0)


def _covered_at_most(draw: Draw, assembled: Geometry, region: Rect) -> int:
    """Pixels in the bounding boxes of primitives; a point counts as the whole region, since it has
    a size.
    """
    if CORNERS[draw.input.topology] == 1:
        return len(assembled.numbers) * _area(region)
    x, y = assembled.vertices.position[:2]
    columns = _extent(x, region.left, region.right)
    rows = _extent(y, region.top, region.bottom)
    return int((columns * rows).sum())


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
    later, executed = draw.post_vertex, 0
    if later is not None and later.tessellation is not None:
        hull, domain = later.tessellation.hull, later.tessellation.domain
        patch = sum(each.instances * cost(each.bound.program) for each in hull.constants)
        if hull.points is not None:
            patch += hull.makes * cost(hull.points.program)
        executed = work.hull_runs * patch + work.domain_runs * cost(domain.program)
    if later is not None and later.geometry is not None:
        executed += work.geometry_runs * cost(later.geometry.bound.program)
    return executed


def cost(program: Program | None) -> int:
    """The most statements that a lane of a program executes, iterations of loops included."""
    return 0 if program is None else _cost(program)


@identity_cached()
def _cost(program: Program) -> int:
    plain, rounds = _sizes(program.statements)
    return min(rounds, plain + EXECUTED * _WIDEST_INSTRUCTION)


def _sizes(statements: tuple[Statement, ...]) -> tuple[int, int]:
    """The number of statements, and how many are executed if all loops run to their limits;
    nesting depth is limited beforehand.
    """
    plain = rounds = 0
    for statement in statements:
        inside = [_sizes(block) for block in blocks(statement)]
        times = statement.limit if isinstance(statement, Loop) else 1
        plain += 1 + sum(each[0] for each in inside)
        rounds += 1 + times * sum(each[1] for each in inside)
    return plain, rounds
