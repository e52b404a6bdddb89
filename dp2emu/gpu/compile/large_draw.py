"""Draws of many triangles: set up by several threads, and then drawn by several, band by band.

A batch of them is divided into items.  Threads take items and set them up; when all are, threads
take bands and draw all items in each of them, in order.  So nobody waits for anybody but twice a
batch, and a band stays in the cache of the thread that draws it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import msgspec

from dp2emu.gpu.code.kernel_key import fills_triangles
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.compile.band_workers import (
    ALONE,
    READY,
    TILTED,
    BandWorker,
    Items,
    band_workers,
    crew,
)
from dp2emu.gpu.compile.kernel_arguments import Arguments, of_draw
from dp2emu.gpu.compile.kernel_draw import Drawing
from dp2emu.gpu.compile.kernel_plan import Plan
from dp2emu.gpu.compile.thread_pool import Bands
from dp2emu.gpu.rasterizer.clip import planes_used
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, plan_of
from dp2emu.gpu.vertex_shader.vertex_frame import VertexPlan as VertexPlan
from dp2emu.gpu.vertex_shader.vertex_kernel import bound_uniforms, set_draw, vertices
from dp2emu.gpu.work_budget import Meter
from dp2emu.shader.jit.bindings import Bindings, address
from dp2emu.shader.jit.layout import layout_of
from dp2emu.shader.jit.machine import target

EACH, MOST_EACH = 1 << 10, 1 << 12
"""Triangles of an item, and of one whose vertices other triangles have too: the more there are,
the fewer vertices are shaded twice."""
BLOCK = 1 << 10
"""Triangles that are gathered and set up at once, a multiple of 8: their corners stay in the cache
of a processor."""
SHARES = 4
"""Items for each thread, so that none has to wait long for the last one."""
BATCH_BYTES = 32 << 20
"""Of records of a batch, if all of its triangles have some: between two of them threads wait."""
SETTING_UP = 8
"""Pixels that take about as long as what a band does for a triangle before its first one."""

Alone = Callable[[int, int], Work]
"""Draws primitives from one number to below another, whatever they are."""


class Large(msgspec.Struct, frozen=True):
    """A draw of many triangles; ``alone`` draws items that have to be cut, or are too large."""

    drawing: Drawing
    draw: Draw
    plan: VertexPlan
    alone: Alone

    @classmethod
    def of(
        cls, drawing: Drawing, draw: Draw, names: tuple[str, ...], alone: Alone
    ) -> Large | None:
        """For primitives with those varyings of ``names`` that they have; None if they are no
        triangles, nowhere, or made by a program that calls back, or if code for
        that is still being compiled.
        """
        region = drawing.region
        if not fills_triangles(draw) or region.top >= region.bottom:
            return None
        plan = plan_of(draw.pipeline, names)
        called = plan.program is not None and layout_of(plan.program).callees
        # A first draw does not wait for what only many need.
        there = not called and vertices().poll() and crew().poll()
        return cls(drawing, draw, plan, alone) if there else None

    def whole(self, meter: Meter) -> Work:
        """Draw all primitives; if too few may be drawn together, all that are left alone."""
        work, start = Work(), 0
        while start < self.draw.input.count:
            if meter.most() < EACH:
                return work + self.alone(start, self.draw.input.count)
            start, done = self._batch(start, meter)
            work += done
        return work

    def _batch(self, start: int, meter: Meter) -> tuple[int, Work]:
        """Draw some primitives from ``start`` on -> where they end, and what was done."""
        level = self.drawing.seems_level(self.draw, self.plan.names)
        made = self._made(start, meter.most(), level=level)
        if TILTED in made.items.each("what"):
            made = self._made(start, meter.most(), level=False)
        self._learn(made.items)
        work = Work()
        parts = groupby(enumerate(made.items.each("what")), lambda each: each[1] == READY)
        for ready, part in parts:
            numbers = [number for number, _ in part]
            first, end = numbers[0], numbers[-1] + 1
            if ready:
                work += meter.spent(made.painted(first, end))
            else:
                work += self._alone(made, first, end)
        return made.start + made.count, work

    def _learn(self, items: Items) -> None:
        """Remember whether there is perspective, for the next draw."""
        if self.draw.pipeline.vertex is None and ALONE not in items.each("what"):
            self.drawing.levels[self.plan.names] = all(items.each("level"))

    def _alone(self, made: _Made, first: int, end: int) -> Work:
        work = Work()
        for number in range(first, end):
            start = made.start + number * made.each
            work += self.alone(start, min(start + made.each, made.start + made.count))
        return work

    def _made(self, start: int, most: int, *, level: bool) -> _Made:
        """A batch, set up."""
        drawing, draw = self.drawing, self.draw
        plan = drawing.triangle_plan(draw, self.plan.names, level)
        drawing.compile_ahead(plan, draw)
        each = self._each()
        bands = Bands.of(drawing.region.top, drawing.region.bottom)
        room = max(BATCH_BYTES // (8 * plan.layout.size * each), 1)
        count = min(draw.input.count - start, room * each, most)
        items = Items.set_up(-(-count // each), each, bands, plan.layout)
        template = drawing.template(plan, draw.pixel.uniforms)
        given = of_draw(draw, template, drawing.region, draw.pipeline.depth.bias)
        working = self._crew(plan, given, each, len(items.words))
        kept = [self._begin(frame, each) for _, frame, _ in working]
        looks = int(level) if draw.pipeline.vertex is None else -1
        items.prepare(plan, looks, (each, min(each, BLOCK), start, count), working)
        # Until here what the frames' words point at had to be there.
        del kept
        return _Made(drawing, draw, plan, given, items, start, count, each)

    def _each(self) -> int:
        """Triangles of an item."""
        if self.draw.input.indices is None:
            return EACH
        share = self.draw.input.count // (SHARES * self.drawing.threads) + 1
        return min(max(1 << share.bit_length(), EACH), MOST_EACH)

    def _crew(
        self, plan: Plan, given: Arguments, each: int, items: int
    ) -> list[tuple[BandWorker, Frame, Arguments]]:
        """Those who set up, with frames and arguments of their own."""
        planes, found = planes_used(self.draw), []
        for number, hand in enumerate(band_workers(min(self.drawing.threads, items))):
            frame = hand.frames.of(self.plan, self.draw.input.topology, each, planes)
            own = self.drawing.own(plan, self.draw, given, number) if number else given
            own.make(hand.made(min(each, BLOCK), len(self.plan.names)))
            found.append((hand, frame, own))
        return found

    def _begin(self, frame: Frame, each: int) -> list[Any]:
        """Fill in what is the draw's own in the words of a frame."""
        program, uniforms = self.plan.program, self.draw.vertex.uniforms
        bound: tuple[Bindings | None, int] = None, 0
        if program is not None and layout_of(program).local:
            # What it writes is each thread's own.
            bindings = Bindings(target(), None, None)
            bound = bindings, address(bindings.of(program, uniforms))
        elif program is not None:
            bound = bound_uniforms(uniforms, program)
        return [bound, *set_draw(frame, self.draw, 0, each, bound[1])]


class _Made(msgspec.Struct, frozen=True):
    """A batch that was set up: ``count`` primitives from ``start`` on, ``each`` of an item."""

    drawing: Drawing
    draw: Draw
    plan: Plan
    given: Arguments
    items: Items
    start: int
    count: int
    each: int

    def painted(self, first: int, end: int) -> Work:
        """Draw some of the items."""
        total = self.items.total
        before = Work(triangles=total("triangles", first, end), clipped=total("taken", first, end))
        pixels = total("area", first, end) // 2 + SETTING_UP * total("made", first, end)
        self.drawing.prepare(self.plan, pixels * self.plan.key.samples)
        return self.drawing.paint(
            self.plan, self.draw, self.given, self.items, (first, end, pixels), before
        )
