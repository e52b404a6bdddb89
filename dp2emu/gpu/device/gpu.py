"""The GPU: a FIFO of packets and a clock that only the caller moves.

A packet executes when virtual time reaches it, not when it is submitted, so a host write that
races a queued draw behaves as on hardware.  Nothing here waits, sleeps or looks at a real clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from dp2emu.argument_check import FOREIGN, check_contents, checked_on_failure, unchecked
from dp2emu.cancellation import CURRENT, Cancellation, registered
from dp2emu.errors import ArgumentError, Disagreement, Dp2Error
from dp2emu.gpu.arrays import I64
from dp2emu.gpu.code_budget import CodeBudget
from dp2emu.gpu.command import packets
from dp2emu.gpu.command.packets import Draw, Packet, Predicated
from dp2emu.gpu.command.queries import (
    Counters,
    Observes,
    Outcome,
    QuerySlot,
    Report,
    Snapshot,
    snapshot,
)
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.device.draw_batch import DrawBatch
from dp2emu.gpu.device.timing import SERIAL, Overlap, Timing, instant
from dp2emu.gpu.draw.draw_stages import Caches, count_work, execute_draw, prepare
from dp2emu.gpu.draw.probe import Witness, WitnessProbe
from dp2emu.gpu.input_assembler.indirect_arguments import direct_dispatch, direct_draw
from dp2emu.gpu.input_assembler.vertex_fetch import measured
from dp2emu.gpu.operation_costs import draw_operations, operations_of
from dp2emu.gpu.resource.heap import Heap
from dp2emu.gpu.resource.memory_residency import Budgets, Residency
from dp2emu.gpu.shader_resources.constant_buffers import with_constants
from dp2emu.gpu.transfer import copy_resolve
from dp2emu.gpu.transfer.clear_blit import execute_blit, execute_clear
from dp2emu.gpu.work_budget import NOTHING_LEFT, NOTHING_SPENT, WorkBudget, added, most_of_batched
from dp2emu.limits import Limits, Source
from dp2emu.shader import reference
from dp2emu.shader.engines import usable
from dp2emu.shader.reference import Run

QUEUE_DEPTH = 4096
"""Maximum number of packets in the FIFO; a host that submits more waits for the GPU
(INTERFACETIMINGS)."""

QUEUE_BYTES = 64 << 20
"""Bytes of vertices, indices and rectangles that packets in the FIFO may have brought along
before the host waits as well."""

_SUPERSEDED_KEPT = 1 << 14
"""Maximum number of queued reports of queries that have been issued again since."""
DRAWING: frozenset[type[Packet]] = frozenset((
    Draw, packets.IndirectDraw, packets.Dispatch, packets.Clear, packets.ClearUnordered,
    packets.Copy, packets.Blit, packets.CopyBytes, packets.Compose, packets.GenerateLevels,
    packets.Swap,
))  # fmt: skip
"""Types of the packets that write memory; a GPU that skips them keeps order and answers queries
only."""

_QUERYING: frozenset[type[Packet]] = frozenset((packets.BeginQuery, packets.EndQuery))
"""Types of the packets that upload nothing, so that adjacent queries share a snapshot."""

_COMPILED: frozenset[type[Packet]] = frozenset(
    (packets.IndirectDraw, packets.Dispatch, Predicated)
)
"""Types of the packets besides ``Draw`` that may need compiled code."""

_RAISING: frozenset[type[Packet]] = frozenset(
    (packets.Blit, packets.Copy, packets.IndirectDraw, packets.Dispatch, Predicated)
)
"""Types of the packets besides ``Draw`` that raise the limits of a capture."""

_VERTEX_CACHE, _HEAP = int(Observes.VERTEX_CACHE), int(Observes.HEAP)
"""Flags of ``Observes`` as plain integers: an operation on flags costs more than a snapshot."""


@checked_on_failure
class Gpu:
    """Memory, counters, FIFO and clock.  ``now`` is host time in ticks and never goes back.

    Packet taps receive the executed packets; pixel taps receive the pixels of draws that pass, and
    disable compiled kernels.  ``run`` is the engine for programs; a compiling one draws on
    ``threads``; ``overlap`` is the parallelism of units.  Packets of the types in ``skipped`` have
    no effect and take no time.  ``budget`` limits work: beyond ``limits`` a packet raises
    Exceeded without effect, a draw after its earlier primitives.  ``handed_over`` are bytes that
    the next packet uploads, unless it begins or ends a query, and ``call_vertices`` those that the
    first draw of them uploads; both count when the packet is executed.  ``executed_draws`` is the
    number of draws and dispatches executed.  Once ``cancellation`` is
    cancelled, execution raises Cancelled, which may leave a packet half executed.
    """

    def __init__(
        self,
        timing: Timing | None = None,
        limits: Limits | None = None,
        run: Run = reference.run,
        overlap: Overlap = SERIAL,
        budgets: Budgets | None = None,
        threads: int = 1,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.cancellation = registered(cancellation or Cancellation())
        self._stopped = self.cancellation.word
        self.residency = Residency(budgets)
        self.overlap = overlap
        self.skipped: frozenset[type[Packet]] = frozenset()
        self._run_programs = run
        self._engine_checked = False
        prepare(run)
        self._threads = threads
        self.timing = timing or instant()
        self.heap = Heap(limits)
        self.packet_taps: list[Callable[[Packet, int], None]] = []
        self.report_taps: list[Callable[[Report], None]] = []
        self.pixel_taps: list[Witness] = []
        self._source: Source | None = None
        self._begin()

    def _begin(self) -> None:
        """Set everything that execution changes, except memory."""
        self._batch = DrawBatch(self._run_programs, self._threads)
        self.executed_draws = 0
        self.budget = WorkBudget(self.heap.limits, self._source)
        self._promised, self._room = NOTHING_SPENT, NOTHING_LEFT
        self.code_budget = CodeBudget(self.heap.limits, self._source)
        self._draw_operations = 0
        self.counters = Counters()
        self.now = 0
        self._free = 0
        self._fifo: deque[tuple[Packet, int, int, int, Counters | None]] = deque()
        self._context: Counters | None = None
        self._queued_bytes = 0
        self.handed_over = 0
        self.call_vertices: bytes | None = None
        self._copied: bytes | None = None
        self._vertices_of: Packet | None = None
        self._batched_bytes: list[int] = []
        self._bytes_behind = 0
        self._worked = 0
        self._reported: dict[int, int] = {}
        self._last_visible: dict[int, int] = {}
        self._reports: list[tuple[int, int, Report]] = []
        self._reports_kept = _SUPERSEDED_KEPT
        self._sequence = 0
        self._cache_watchers: set[QuerySlot] = set()
        self._seen: Snapshot | None = None

    def reset(self) -> None:
        """Return to time 0 with nothing queued and nothing counted; surfaces stay, as if they had
        just been created (``Heap.reset``).

        Queued packets are dropped.  Taps, timing, ``skipped``, the cancellation and the
        allocations of ``residency`` stay.
        """
        self._begin()
        self.heap.reset()

    def begin_call(self) -> None:
        """Reset the counts of work and of queued draws that limit a single call."""
        budget = self.budget
        budget.call, budget.draws, budget.begun = NOTHING_SPENT, 0, budget.operations
        self.code_budget.call = 0

    @unchecked
    def submit(self, packet: Packet, context: Counters | None = None) -> None:
        """Queue a packet behind all earlier ones; if the FIFO is full the host waits first.

        Its counts are added to ``context`` as well.  Raises Exceeded for more draws of a call than
        ``call_draws``, before they are queued, and ArgumentError for what is no packet.
        """
        if type(packet) not in _EXECUTE and type(packet) is not Predicated:
            raise ArgumentError(f"Gpu.submit: packet is a {type(packet).__name__}, not Packet")
        try:
            if type(packet) is Draw:
                self._count_code(packet)
                self.budget.begin_draw(self._draw_operations)
            elif type(packet) not in _QUERYING:
                self._count_other(packet)
        except Dp2Error:
            raise
        except FOREIGN:
            check_contents(Gpu.submit, self, packet, context)
            raise
        while len(self._fifo) >= QUEUE_DEPTH or self._queued_bytes > QUEUE_BYTES:
            self.counters.wait_queue_ticks += self._wait_until(self._next_start())
            self.run()
        size = self._size_of(packet)
        self._queued_bytes += size
        uploaded = 0
        if type(packet) not in _QUERYING:
            uploaded, self.handed_over = self.handed_over, 0
            if self.call_vertices is not None:
                uploaded += self._take_call_vertices(packet)
        self._fifo.append((packet, self.now, size, uploaded, context))

    def _count_code(self, draw: Draw) -> None:
        """Count the code of a draw unless the last one needs the same (``CodeBudget.like``)."""
        budget = self.code_budget
        budget.draws += 1
        pipeline, topology, later = budget.like
        if (
            draw.pipeline is not pipeline
            or draw.input.topology is not topology
            or draw.post_vertex is not later
        ):
            budget.draw(draw)
            self._draw_operations = 0 if Draw in self.skipped else draw_operations(draw)

    def _count_other(self, packet: Packet) -> None:
        if type(packet) in _COMPILED:
            self.code_budget.packet(packet)
        if type(packet) in _RAISING:
            self.budget.begin_transfer()
        if type(packet) not in self.skipped:
            self.budget.operate(operations_of(packet))

    @unchecked
    def play_from(self, source: Source) -> None:
        """Let no more draws raise the limits of a capture than the size of its file allows."""
        self._source = self.budget.source = self.code_budget.source = source

    @unchecked
    def advance(self, ticks: int) -> None:
        """Let ``ticks`` of host time pass, and execute the packets that start until then."""
        try:
            self.now += ticks
        except TypeError:
            check_contents(Gpu.advance, self, ticks)
            raise
        self.run()

    def run(self) -> None:
        """Execute every packet whose start is not in the future.

        Draws are batched in here and only in here: every batch is executed before this returns,
        so a caller never observes a draw that waits.
        """
        if self._stopped.value:
            self.cancellation.check()
        before, CURRENT.token = CURRENT.token, self.cancellation
        try:
            self._run()
        finally:
            try:
                if not self._stopped.value:
                    self._execute_batch()
            finally:
                CURRENT.token = before

    def _run(self) -> None:
        fifo = self._fifo
        while fifo:
            packet, _, size, uploaded, context = fifo[0]
            start = self._next_start()
            if start > self.now:
                return
            if self._stopped.value:
                self.cancellation.check()
            fifo.popleft()
            self._queued_bytes -= size
            if uploaded:
                self.counters.upload_bytes += uploaded
                self._seen = None
            self._free = start
            self._context = context
            if isinstance(packet, Predicated):
                if packet.skips(start):
                    continue
                packet = packet.packet
            for tap in self.packet_taps:
                tap(packet, start)
            if type(packet) in self.skipped:
                continue
            if type(packet) is Draw and self._batch_draw(packet, uploaded):
                continue
            self._execute_batch(uploaded)
            if type(packet) in DRAWING:
                self.budget.admit(packet)
            _EXECUTE[type(packet)](self, packet)

    def finish(self) -> None:
        """Move host time to when the GPU is idle and every report is visible."""
        while self._fifo:
            self._wait_until(self._next_start())
            self.run()
        visible = max(self._last_visible.values(), default=0)
        self.now = max(self.now, self._free, visible)

    @property
    def idle(self) -> bool:
        """Whether all submitted packets are done."""
        return not self._fifo and self._free <= self.now

    def wait_for_idle(self) -> None:
        """Move host time to when the FIFO has drained, counted as waiting for a resource.

        The ticks are counted packet by packet, so that a query that ends meanwhile sees its part.
        """
        while self._fifo:
            self.counters.wait_resource_ticks += self._wait_until(self._next_start())
            self.run()
        self.counters.wait_resource_ticks += self._wait_until(self._free)

    def _next_start(self) -> int:
        """The start time of the oldest queued packet."""
        packet, submitted, *_ = self._fifo[0]
        start = max(self._free, submitted)
        return packet.start(start) if isinstance(packet, Predicated) else start

    def _wait_until(self, time: int) -> int:
        """Move host time forward to ``time`` -> the ticks waited, 0 if that is past."""
        waited = max(0, time - self.now)
        self.now += waited
        self._seen = None
        return waited

    def _take_call_vertices(self, packet: Packet) -> int:
        """Size of the vertices of the call if a packet is their first draw, else 0."""
        vertices = self.call_vertices
        if vertices is None or type(packet) is not Draw or _read_vertices(packet) is not vertices:
            return 0
        self.call_vertices, self._vertices_of = None, packet
        return len(vertices)

    def end_call(self) -> None:
        """Drop the references to the vertices of a call and to the draw that uploads them."""
        self.call_vertices = self._vertices_of = None

    def bytes_behind(self, vertices: int) -> int:
        """Bytes handed over after the packet at which ``run`` was ended by an exception.

        The first draw of the call, if it waits, does not count its ``vertices`` bytes.
        """
        waiting = sum(uploaded for *_, uploaded, _ in self._fifo)
        if any(packet is self._vertices_of for packet, *_ in self._fifo):
            waiting -= vertices
        return self._bytes_behind + waiting + self.handed_over

    def collect(self) -> list[Report]:
        """Remove and return the reports that the host can see now, in the order they became
        visible.
        """
        visible = []
        while self._reports and self._reports[0][0] <= self.now:
            visible.append(heappop(self._reports)[2])
        return visible

    def distribute(self) -> None:
        """Pass the reports the host can see now to their front ends."""
        for report in self.collect():
            if report.slot.owner is not None:
                report.slot.owner.receive(report)

    def forget(self, slot: QuerySlot) -> None:
        """Stop the expensive models that run for a query, because its object was destroyed."""
        self._cache_watchers.discard(slot)

    def change_clock(self) -> None:
        """Count a clock change (power, heat), which makes intervals around it disjoint."""
        self.counters.clock_changes += 1
        self._seen = None

    def _size_of(self, packet: Packet) -> int:
        """The bytes that a packet keeps alive; a call's vertices count for its first draw only."""
        if isinstance(packet, Draw):
            held = self._copied if self._fifo else None
            self._copied = _read_vertices(packet)
            fresh = self._copied is not None and self._copied is not held
            return _own_bytes(packet) + (len(self._copied or b"") if fresh else 0)
        if isinstance(packet, Predicated):
            return self._size_of(packet.packet)
        if isinstance(packet, packets.Clear):
            return packets.RECT_BYTES * len(packet.rects)
        return len(packet.data) if isinstance(packet, packets.Write | packets.WriteBytes) else 0

    def _batch_draw(self, draw: Draw, uploaded: int) -> bool:
        """Add a draw, with which ``uploaded`` bytes came, to the batch if nothing observes it;
        False if it has to be executed now.
        """
        seen = self.packet_taps or self.pixel_taps or self._cache_watchers
        if seen or self._context is not None or not self.timing.free:
            return False
        most = most_of_batched(draw, self.heap.reach)
        if most is None:
            return False
        self._promised = added(self._promised, most)
        if self._batch.full or not self._promised.within(self._room):
            self._execute_batch(uploaded)
            self._promised, self._room = most, self.budget.left()
            if not most.within(self._room):
                return False
        if not self._batch.put(draw):
            return False
        self._batched_bytes.append(uploaded)
        return True

    def _execute_batch(self, behind: int = 0) -> None:
        """Execute the batch; after an error, draws that were not executed go back to the FIFO.

        ``behind`` bytes came with the packet that follows the batch.
        """
        if not self._batch.waiting:
            return
        context, self._context = self._context, None
        batched, self._batched_bytes = self._batched_bytes, []
        try:
            drawn = self._batch.settle(self._count_drawn, self._draw)
        finally:
            self._context = context
            left = self._batch.take_back()
            self._bytes_behind = behind + sum(batched[len(batched) - len(left) + 1 :])
            self._fifo.extendleft((draw, self._free, 0, 0, None) for draw in reversed(left))
        self._bytes_behind = 0
        self.executed_draws += drawn
        self._worked += drawn
        self._seen = None

    def _count_drawn(self, like: Draw, work: Work) -> None:
        """Count the work of batched draws of one state."""
        count_work(like, work, self.counters)
        self.budget.drawn(like, work)

    def _draw(self, packet: Draw) -> None:
        packet = measured(packet)
        if packet.vertex.buffers or packet.pixel.buffers or packet.post_vertex:
            packet = with_constants(packet)
        self.budget.admit_draw(packet)
        observes = Caches.ALL if self._cache_watchers else Caches.NONE
        if observes is Caches.NONE and self._context is not None:
            observes = Caches.VERTICES  # VSInvocations of the context
        number, self.executed_draws = self.executed_draws, self.executed_draws + 1
        counters = self.counters if self._context is None else Counters()
        try:
            work = execute_draw(
                packet,
                counters,
                observes,
                self._engine(),
                self._threads,
                WitnessProbe(self._witness) if self.pixel_taps else None,
                self.budget,
                self._draw_small if self._batch.compiles else None,
            )
        except Disagreement as error:
            raise error.within(f"draw {number}") from None
        if self._context is not None:
            self._context.add(counters)
            self.counters.add(counters)
        self._charge(work)

    def _draw_small(self, draw: Draw) -> Work | None:
        """Execute a small draw as a batch of its own, whatever observes it -> its work; None if it
        cannot be batched, or might need more than is left of the work budget.
        """
        most = most_of_batched(draw, self.heap.reach)
        if most is None or not most.within(self.budget.left()):
            return None
        work = self._batch.execute_one(draw)
        if work is not None:
            self.budget.shaded(draw, work)
        return work

    def _engine(self) -> Run:
        """The engine that runs programs; without a working LLVM the reference engine.

        Determined at the first draw, because that may import LLVM.
        """
        if not self._engine_checked:
            run = usable(self._run_programs)
            if run is not self._run_programs:
                self._run_programs, self._batch = run, DrawBatch(run, self._threads)
            self._engine_checked = True
        return self._run_programs

    def _draw_indirect(self, packet: packets.IndirectDraw) -> None:
        draw = direct_draw(packet)
        if draw is not None:
            self._draw(draw)

    def _dispatch(self, packet: packets.Dispatch) -> None:
        # Imported here: a device without compute shaders must not load this at start.
        from dp2emu.gpu.compute_shader.dispatch import execute_dispatch

        number, self.executed_draws = self.executed_draws, self.executed_draws + 1
        counters = Counters()
        try:
            direct = direct_dispatch(packet)
            self.budget.admit_dispatch(direct)
            work = execute_dispatch(direct, counters, self._engine())
        except Disagreement as error:
            raise error.within(f"dispatch {number}") from None
        self.counters.add(counters)
        if self._context is not None:
            self._context.add(counters)
        self._charge(work)

    def _clear_unordered(self, packet: packets.ClearUnordered) -> None:
        from dp2emu.gpu.shader_resources.unordered_access import clear

        moved = clear(packet.view, packet.values, bits=packet.bits)
        self.budget.spend(pixels=moved // 4)
        self.counters.unordered_bytes += moved
        self._charge(Work(unordered_bytes=moved))

    def _witness(self, x: I64, y: I64) -> None:
        for tap in self.pixel_taps:
            tap(x, y)

    def _transfer(self, packet: Packet) -> None:
        self._charge_moved(packet, _TRANSFERS[type(packet)](packet, self.counters))

    def _swap(self, packet: packets.Swap) -> None:
        self._charge_moved(packet, copy_resolve.execute_swap(packet))

    def _page_in(self, packet: packets.PageIn) -> None:
        paged = self.residency.use(packet.allocations)
        if paged.bytes:
            self._charge(Work(paged_bytes=paged.bytes, disk_bytes=paged.disk_bytes))

    def _charge_moved(self, packet: Packet, work: Work) -> None:
        """Make the units busy for a fill or copy, and count its bytes against the work budget."""
        self.budget.moved(packet, work)
        self._charge(work)

    def _charge(self, work: Work) -> None:
        """Make the units busy for a packet's work; the next packet starts after that."""
        cost = self.timing.cost(self._worked, work)
        self._worked += 1
        counters = self.counters
        counters.vertex_memory_ticks += cost.vertex_memory
        counters.vertex_compute_ticks += cost.vertex_compute
        counters.geometry_memory_ticks += cost.geometry_memory
        counters.geometry_compute_ticks += cost.geometry_compute
        counters.pixel_memory_ticks += cost.pixel_memory
        counters.pixel_compute_ticks += cost.pixel_compute
        counters.other_ticks += cost.other
        length = self.overlap.length(cost)
        counters.busy_ticks += length
        self._free += length
        self._seen = None

    def _snapshot_for(self, slot: QuerySlot) -> Snapshot:
        """A snapshot of the counters that a query observes, those of its context or of the whole
        GPU; the latter is reused until a count changes.
        """
        if slot.counters is not None:
            return snapshot(slot.counters, self._free)
        if self._seen is None or self._seen.time != self._free:
            self._seen = snapshot(self.counters, self._free)
        return self._seen

    def _begin_query(self, packet: packets.BeginQuery) -> None:
        slot = packet.slot
        slot.begin = self._snapshot_for(slot)
        slot.begin_generation = packet.generation
        if slot.observes & _VERTEX_CACHE and slot.generation == packet.generation:
            self._cache_watchers.add(slot)

    def _end_query(self, packet: packets.EndQuery) -> None:
        slot = packet.slot
        end = self._snapshot_for(slot)
        begin = (slot.begin if slot.begin_generation == packet.generation else None) or end
        number = self._reported.get(slot.kind, 0)
        self._reported[slot.kind] = number + 1
        # One kind is one FIFO: a report is never visible before an earlier one of its kind.
        visible = self._free + self.timing.delivery(slot.kind, number)
        visible = max(visible, self._last_visible.get(slot.kind, 0))
        self._last_visible[slot.kind] = visible
        heap = self.heap.use() if slot.observes & _HEAP else ()
        report = Report(slot, packet.generation, begin, end, visible, heap)
        if slot.verdict is not None:
            slot.outcome = Outcome(slot.verdict(report), visible)
        for tap in self.report_taps:
            tap(report)
        self._keep(report)
        self._cache_watchers.discard(slot)

    def _keep(self, report: Report) -> None:
        """Queue a report until it is visible; if many are queued, drop those not ``wanted``."""
        heappush(self._reports, (report.visible, self._sequence, report))
        self._sequence += 1
        if len(self._reports) > self._reports_kept:
            self._reports = [entry for entry in self._reports if entry[2].wanted]
            heapify(self._reports)
            self._reports_kept = 2 * len(self._reports) + _SUPERSEDED_KEPT

    def _observe(self, packet: packets.Observe) -> None:
        packet.sink(packet.surface)


def _read_vertices(draw: Draw) -> bytes | None:
    """The vertices that came with the draw's call, None if all streams are buffers."""
    for stream in draw.input.streams:
        if stream is not None and isinstance(stream.data, bytes):
            return stream.data
    return None


def _own_bytes(draw: Draw) -> int:
    """The bytes of the index array and the edge flags that the draw holds itself."""
    edges, indices = draw.input.edge_flags, draw.input.indices
    size = 0 if edges is None else edges.nbytes
    if indices is not None and isinstance(indices.data, np.ndarray):
        size += indices.data.nbytes
    return size


_TRANSFERS: dict[type[Any], Callable[[Any, Counters], Work]] = {
    packets.Clear: execute_clear,
    packets.Copy: copy_resolve.execute_copy,
    packets.Blit: execute_blit,
    packets.CopyBytes: copy_resolve.execute_copy_bytes,
    packets.Write: copy_resolve.execute_write,
    packets.WriteBytes: copy_resolve.execute_write_bytes,
    packets.Compose: copy_resolve.execute_compose,
    packets.GenerateLevels: copy_resolve.execute_generate_levels,
}
_EXECUTE: dict[type[Any], Callable[[Gpu, Any], None]] = {
    Draw: Gpu._draw,
    packets.ClearUnordered: Gpu._clear_unordered,
    packets.Dispatch: Gpu._dispatch,
    packets.IndirectDraw: Gpu._draw_indirect,
    **dict.fromkeys(_TRANSFERS, Gpu._transfer),
    packets.Swap: Gpu._swap,
    packets.PageIn: Gpu._page_in,
    packets.BeginQuery: Gpu._begin_query,
    packets.EndQuery: Gpu._end_query,
    packets.Observe: Gpu._observe,
}
