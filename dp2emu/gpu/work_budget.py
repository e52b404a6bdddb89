"""What calls may still make the GPU do, of what ``Limits`` allow.

Counted is what both engines count alike, so that an input ends at the same packet on either.
What a packet may take at most is compared with what is left before it executes, without looking
at each of its primitives as long as there is room for all of them everywhere.
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
"""Statements that an instruction of a loop becomes, about."""
_USUAL_COST = 1 << 12
"""Statements of a program that nobody counts before it runs, if it runs for little."""


class Costs(NamedTuple):
    """An amount of each of what is limited."""

    vertices: int = 0
    pixels: int = 0
    instructions: int = 0


NOTHING_SPENT = Costs()


class WorkBudget:
    """What the call under way, and all calls, have spent.  Mutable: it grows.

    ``Gpu.begin_call`` resets ``call`` and ``draws``, the spending and the queued draws of a call.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.call = self._capture = Costs()
        self.draws = 0

    def begin_draw(self) -> None:
        """Count a draw that is queued, however small.  Raises Exceeded, which names the limit, if
        those of the call are too many: each takes time that no vertex or pixel accounts for.
        """
        self.draws += 1
        if self.draws > self._limits.call_draws:
            self._limits.check("call_draws", self.draws, "draws of a call are too many")

    def spend(self, vertices: int = 0, pixels: int = 0, instructions: int = 0) -> None:
        """Count what was done."""
        more = vertices, pixels, instructions
        self.call = Costs(*map(int.__add__, self.call, more))
        self._capture = Costs(*map(int.__add__, self._capture, more))

    def left(self) -> Costs:
        """What can still be spent, of each."""
        one, all_ = self.call, self._capture
        limits = self._limits
        return Costs(
            min(limits.call_vertices - one[0], limits.capture_vertices - all_[0]),
            min(limits.call_pixels - one[1], limits.capture_pixels - all_[1]),
            min(limits.call_instructions - one[2], limits.capture_instructions - all_[2]),
        )

    def allow(self, vertices: int = 0, pixels: int = 0, instructions: int = 0) -> None:
        """Raises Exceeded, which names the limit, if there is not as much left."""
        for kind, amount in zip(Costs._fields, (vertices, pixels, instructions), strict=True):
            for scope, spent in (("call", self.call), ("capture", self._capture)):
                self._limits.check(
                    f"{scope}_{kind}",
                    getattr(spent, kind) + amount,
                    f"{kind} of a {scope} are too many",
                )

    def admit(self, packet: Packet) -> None:
        """Raises Exceeded for a packet that may spend more than is left."""
        if isinstance(packet, Clear):
            areas = sum(_area(rect) for rect in packet.rects)
            targets = [each for each in (*packet.colors, packet.depth) if each is not None]
            self.allow(pixels=areas * sum(each.samples for each in targets))
        elif min(self.left()) < 0:
            self.allow()

    def admit_draw(self, draw: Draw) -> None:
        """The same for the vertices of a draw, which are spent with that."""
        row = TOPOLOGIES[draw.input.topology]
        often = 1 if draw.input.instances is None else draw.input.instances.count
        vertices = max(row.step * draw.input.count + row.extra, 0) * often
        instructions = vertices * cost(draw.pipeline.vertex)
        room = self.left()
        if vertices > room.vertices or instructions > room.instructions or room.pixels < 0:
            self.allow(vertices=vertices, instructions=instructions)
        self.spend(vertices=vertices, instructions=instructions)

    def admit_dispatch(self, dispatch: Dispatch) -> None:
        """The same for the threads of a dispatch."""
        threads = prod(dispatch.threads) * prod(dispatch.groups)
        instructions = threads * cost(dispatch.stage.program)
        self.allow(instructions=instructions)
        self.spend(instructions=instructions)

    def allow_later(self, draw: Draw, work: Work) -> None:
        """Count what the stages between a draw's vertices and clipping have done: points that
        patches became, and primitives that a geometry program put out, are vertices too.  Raises
        Exceeded before they are drawn if there is not as much left.
        """
        vertices = work.domain_runs + work.geometry_primitives
        instructions = _later_instructions(draw, work)
        self.allow(vertices=vertices, instructions=instructions)
        self.spend(vertices=vertices, instructions=instructions)

    def moved(self, work: Work) -> None:
        """Count what clearing or copying has done."""
        self.spend(pixels=max(work.pixels, work.pixel_bytes // 4))

    def drawn(self, like: Draw, work: Work) -> None:
        """Count what draws of one state have done."""
        pipeline = like.pipeline
        self.spend(
            work.vertices,
            work.fragments,
            work.vertices * cost(pipeline.vertex) + work.fragments * cost(pipeline.pixel),
        )

    def primitives(self, area: int) -> int:
        """How many primitives may be drawn without a closer look, on targets of ``area`` samples
        at most.
        """
        room, area = self.left(), max(area, 1)
        return min(
            room.vertices // 3, room.pixels // area, room.instructions // (area * _USUAL_COST)
        )


Rest = Callable[[Draw, Geometry], Work]
"""Draws primitives that are on the screen."""


class Meter(msgspec.Struct, frozen=True):
    """What pixels of a draw on a region of its targets spend."""

    draw: Draw
    region: Rect
    spending: WorkBudget | None

    def most(self) -> int:
        """How many primitives may be drawn without looking where they are; below 0 if none."""
        if self.spending is None:
            return sys.maxsize
        room = self.spending.left()
        each, instructions = max(_area(self.region) * self._samples, 1), cost(self._program)
        return min(room.pixels // each, room.instructions // (each * max(instructions, 1)))

    def look(self, assembled: Geometry) -> None:
        """Raises Exceeded if there is not enough left for primitives, wherever they are."""
        if self.spending is not None and len(assembled.numbers) > self.most():
            most = _covered_at_most(self.draw, assembled, self.region) * self._samples
            self.spending.allow(pixels=most, instructions=most * cost(self._program))

    def spent(self, work: Work) -> Work:
        """Count what was done, and give it back."""
        if self.spending is not None:
            executed = work.fragments * cost(self._program)
            self.spending.spend(pixels=work.fragments, instructions=executed)
        return work

    @property
    def _samples(self) -> int:
        return self.draw.pipeline.samples

    @property
    def _program(self) -> Program:
        return self.draw.pipeline.pixel


def metered(rest: Rest, region: Rect, spending: WorkBudget | None) -> Rest:
    """The same within what may be spent, and counted; raises Exceeded before it draws."""
    if spending is None:
        return rest

    def draw_within(draw: Draw, assembled: Geometry) -> Work:
        meter = Meter(draw, region, spending)
        meter.look(assembled)
        return meter.spent(rest(draw, assembled))

    return draw_within


def _area(rect: Rect) -> int:
    return max(rect.right - rect.left, 0) * max(rect.bottom - rect.top, 0)


def _covered_at_most(draw: Draw, assembled: Geometry, region: Rect) -> int:
    """Pixels in the rectangles around primitives; for points, which have a size, everywhere."""
    if CORNERS[draw.input.topology] == 1:
        return len(assembled.numbers) * _area(region)
    x, y = assembled.vertices.position[:2]
    columns = _extent(x, region.left, region.right)
    rows = _extent(y, region.top, region.bottom)
    return int((columns * rows).sum())


def _extent(lanes: F32 | F64, low: int, high: int) -> I64:
    """Pixels between the least and the greatest of three coordinates, and one beyond each."""
    wide = np.where(np.isnan(lanes), np.float64(low), lanes.astype(np.float64))
    first = np.clip(np.floor(wide.min(axis=0)) - 1, low, high).astype(np.int64)
    last = np.clip(np.ceil(wide.max(axis=0)) + 1, low, high).astype(np.int64)
    extent: I64 = last - first
    return extent


def _later_instructions(draw: Draw, work: Work) -> int:
    """What hull, domain and geometry programs execute at most for so much work."""
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
    """Statements that a lane of a program executes at most, all rounds of loops counted."""
    return 0 if program is None else _cost(program)


@identity_cached()
def _cost(program: Program) -> int:
    plain, rounds = _sizes(program.statements)
    return min(rounds, plain + EXECUTED * _WIDEST_INSTRUCTION)


def _sizes(statements: tuple[Statement, ...]) -> tuple[int, int]:
    """How many there are, and how many are executed; the depth of blocks is checked before."""
    plain = rounds = 0
    for statement in statements:
        inside = [_sizes(block) for block in blocks(statement)]
        times = statement.limit if isinstance(statement, Loop) else 1
        plain += 1 + sum(each[0] for each in inside)
        rounds += 1 + times * sum(each[1] for each in inside)
    return plain, rounds
