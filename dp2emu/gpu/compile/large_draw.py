"""Large draws: several threads set up many triangles, then draw them band by band.

A batch is divided into items.  Threads claim items and set them up; after the last one they claim
bands and draw all items in each, in order.  So threads wait for each other only twice a batch, and
a band stays in the cache of the processor that draws it.
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
    Bands,
    BandWorker,
    Items,
    band_function,
    band_workers,
)
from dp2emu.gpu.compile.kernel_arguments import Arguments, draw_arguments
from dp2emu.gpu.compile.kernel_draw import Drawing
from dp2emu.gpu.compile.kernel_plan import Plan
from dp2emu.gpu.rasterizer.clip import planes_used
from dp2emu.gpu.vertex_shader.vertex_frame import Frame, VertexPlan, plan_of
from dp2emu.gpu.vertex_shader.vertex_kernel import bound_uniforms, set_draw, vertices
from dp2emu.gpu.work_budget import Meter
from dp2emu.shader.jit.bindings import Bindings, address
from dp2emu.shader.jit.layout import layout_of
from dp2emu.shader.jit.machine import target

EACH, MOST_EACH = 1 << 10, 1 << 12
"""Number of triangles in an item of an unindexed draw, and the maximum for an indexed one: larger
items shade fewer shared vertices twice."""
BLOCK = 1 << 10
"""Maximum number of triangles assembled and set up at once, a multiple of 8."""
SHARES = 4
"""Number of items for each thread that large indexed draws are divided into, as far as the limits
of item size allow."""
BATCH_BYTES = 32 << 20
"""Size limit, in bytes, of the triangle records that threads make before they draw them
together."""
SETTING_UP = 8
"""Cost of starting a triangle in a band, as the number of pixels whose drawing takes as long."""

Alone = Callable[[int, int], Work]
"""Function that draws primitives from one number to below another, chunk by chunk -> their
work."""


class LargeDraw(msgspec.Struct, frozen=True):
    """A draw of many triangles, executed in batches, which are divided into items for several
    threads.

    ``alone`` draws a range of primitives without a batch: those of an item that must be clipped or
    are too large, and the last ones if the work budget is too small for a batch.
    """

    drawing: Drawing
    draw: Draw
    plan: VertexPlan
    alone: Alone

    @classmethod
    def of(
        cls, drawing: Drawing, draw: Draw, names: tuple[str, ...], alone: Alone
    ) -> LargeDraw | None:
        """Prepare ``draw`` for execution as a large draw, with those varyings of ``names`` that it
        has.

        None if it has no triangles or no rows, if a vertex program calls back, or while code for
        large draws is still being compiled.
        """
        region = drawing.region
        if not fills_triangles(draw) or region.top >= region.bottom:
            return None
        plan = plan_of(draw.pipeline, names)
        called = plan.program is not None and layout_of(plan.program).callees
        # Do not block: a first draw must not wait for code that only many triangles need.
        there = not called and vertices().poll() and band_function().poll()
        return cls(drawing, draw, plan, alone) if there else None

    def whole(self, meter: Meter) -> Work:
        """Draw all primitives in batches, and by ``alone`` those that might exceed the work
        budget.
        """
        work, start = Work(), 0
        while start < self.draw.input.count:
            start, done = self._batch(start, meter)
            work += done
        return work

    def _batch(self, start: int, meter: Meter) -> tuple[int, Work]:
        """Draw a batch of primitives from ``start`` on -> one past its last, and its work."""
        level = self.drawing.seems_level(self.draw, self.plan.names)
        batch = self._set_up(start, level=level)
        results = batch.items.each("what")
        if TILTED in results:
            batch = self._set_up(start, level=False)
            results = batch.items.each("what")
        if self.draw.pipeline.vertex is None and ALONE not in results:
            self.drawing.levels[self.plan.names] = all(batch.items.each("level"))
        work = Work()
        for ready, part in groupby(enumerate(results), lambda each: each[1] == READY):
            numbers = [number for number, _ in part]
            first, end = numbers[0], numbers[-1] + 1
            area, count = (batch.items.total(what, first, end) for what in ("area", "taken"))
            if ready and meter.fits(area // 2, count):
                work += meter.spent(batch.painted(first, end))
                continue
            for number in numbers:
                at = start + number * batch.each
                work += self.alone(at, min(at + batch.each, start + batch.count))
        return start + batch.count, work

    def _set_up(self, start: int, *, level: bool) -> _Batch:
        """Set up a batch of primitives from ``start`` on, by code for triangles without
        perspective if ``level``.
        """
        drawing, draw = self.drawing, self.draw
        plan = drawing.triangle_plan(draw, self.plan.names, level)
        drawing.compile_ahead(plan, draw)
        each = self._each()
        bands = Bands.of(drawing.region.top, drawing.region.bottom)
        room = max(BATCH_BYTES // (8 * plan.layout.size * each), 1)
        count = min(draw.input.count - start, room * each)
        items = Items.set_up(-(-count // each), each, bands, plan.layout)
        template = drawing.argument_template(plan, draw.pixel.uniforms)
        given = draw_arguments(draw, template, drawing.region, draw.pipeline.depth.bias)
        working = self._workers(plan, given, each, len(items.words))
        # The words of the frames refer to these.
        kept = [self._begin(frame, each) for _, frame, _ in working]
        looks = int(level) if draw.pipeline.vertex is None else -1
        items.prepare(plan, looks, (each, min(each, BLOCK), start, count), working)
        del kept
        return _Batch(drawing, draw, plan, given, items, count, each)

    def _each(self) -> int:
        """The number of triangles of an item, the unit of work of a thread."""
        if self.draw.input.indices is None:
            return EACH
        share = self.draw.input.count // (SHARES * self.drawing.threads) + 1
        return min(max(1 << share.bit_length(), EACH), MOST_EACH)

    def _workers(
        self, plan: Plan, given: Arguments, each: int, items: int
    ) -> list[tuple[BandWorker, Frame, Arguments]]:
        """The band workers that set up a batch, each with its vertex-stage frame and its kernel
        arguments.
        """
        planes, found = planes_used(self.draw), []
        for number, worker in enumerate(band_workers(min(self.drawing.threads, items))):
            frame = worker.frames.of(self.plan, self.draw.input.topology, each, planes)
            own = (
                self.drawing.thread_arguments(plan, self.draw, given, number) if number else given
            )
            own.set_up_from(worker.setup_input(min(each, BLOCK), len(self.plan.names)))
            found.append((worker, frame, own))
        return found

    def _begin(self, frame: Frame, each: int) -> list[Any]:
        """Set the words of a vertex-stage frame that differ from draw to draw -> the objects to
        keep alive because the words point to them.
        """
        program, uniforms = self.plan.program, self.draw.vertex.uniforms
        bound: tuple[Bindings | None, int] = None, 0
        if program is not None and layout_of(program).local:
            # Each thread has its own local files.
            bindings = Bindings(target(), None, None)
            bound = bindings, address(bindings.of(program, uniforms))
        elif program is not None:
            bound = bound_uniforms(uniforms, program)
        return [bound, *set_draw(frame, self.draw, 0, each, bound[1])]


class _Batch(msgspec.Struct, frozen=True):
    """A batch of a large draw that is set up: ``count`` primitives in items of ``each``."""

    drawing: Drawing
    draw: Draw
    plan: Plan
    given: Arguments
    items: Items
    count: int
    each: int

    def painted(self, first: int, end: int) -> Work:
        """Draw items ``first`` to below ``end`` of the batch -> their work."""
        total = self.items.total
        before = Work(triangles=total("triangles", first, end), clipped=total("taken", first, end))
        pixels = total("area", first, end) // 2 + SETTING_UP * total("made", first, end)
        self.drawing.prepare(self.plan, pixels * self.plan.key.samples)
        return self.drawing.paint(
            self.plan, self.draw, self.given, self.items, (first, end, pixels), before
        )
