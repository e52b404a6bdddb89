"""Monotonic counters, and queries as the difference of two snapshots of them.

Any number of queries may overlap, nothing is reset, and a query costs the same whatever happens
inside of it.  The front end encodes a difference as response bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from operator import attrgetter
from typing import NamedTuple, Protocol

import msgspec

from dp2emu.errors import ArgumentError
from dp2emu.gpu.resource.heap import HeapUse

Passed = dict[tuple[int, int], int]
"""Number of samples that passed, by target: (surface serial number, samples per pixel)."""


class Epoch:
    """Samples of multisampled targets that passed between two snapshots of the counters.

    ``passed`` is by target.  ``after`` is the next epoch, so an interval is a linked list that
    lives as long as its first epoch is referenced.  Mutable: the latest epoch is a counter.
    """

    __slots__ = ("_leap", "after", "number", "passed")

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.passed: Passed = {}
        self.after: Epoch | None = None
        self._leap: tuple[Epoch, Passed] | None = None

    def add(self, serial: int, samples: int, passed: int) -> None:
        """Count ``passed`` samples of a target with a serial number and ``samples`` per pixel."""
        key = serial, samples
        self.passed[key] = self.passed.get(key, 0) + passed

    def close(self) -> Epoch:
        """Begin the next epoch and return it; this one does not change any more."""
        self.after = Epoch(self.number + 1)
        return self.after

    def until(self, end: Epoch) -> Passed:
        """Number of samples that passed, by target, from the start of this epoch to the
        start of ``end``.

        Each walk halves the steps of later walks over the same epochs (path halving), so many
        overlapping intervals do not cost the product of their number and length.
        """
        totals: Passed = {}
        epoch = self
        while epoch.number < end.number:
            following, passed = epoch._step(end)
            if following.number < end.number:
                following, more = following._step(end)
                passed = _sum(passed, more)
                epoch._leap = following, passed
            for target, count in passed.items():
                totals[target] = totals.get(target, 0) + count
            epoch = following
        return totals

    def _step(self, end: Epoch) -> tuple[Epoch, Passed]:
        """A later epoch, not after ``end``, and the samples that passed until it."""
        if self._leap is not None and self._leap[0].number <= end.number:
            return self._leap
        assert self.after is not None
        return self.after, self.passed


def _sum(one: Passed, other: Passed) -> Passed:
    totals = dict(one)
    for target, count in other.items():
        totals[target] = totals.get(target, 0) + count
    return totals


class Counters(msgspec.Struct):
    """Counts of all work since the GPU was created.  Mutable: values grow.

    ``vertex_memory_ticks`` to ``other_ticks`` are ticks in which that unit was busy,
    ``busy_ticks`` those in which any was; ``fragments`` went through a pixel program, even if
    dropped then or later; ``samples`` passed all tests on targets with one sample per pixel;
    multisampled targets are counted separately, so that their samples can be converted to pixels
    per target (wire format, "Query types").  ``entered`` primitives enter clipping, ``clipped``
    leave it; ``invocations`` are pixels that a pixel program ran for, ``threads`` those of compute
    programs.  ``vertex_cache_misses`` are the runs of vertex programs; the model of the vertex
    cache runs for draws of a context, and while a query observes the cache.  ``hull_runs`` are
    patches, ``domain_runs`` their domain points; ``geometry_runs`` are runs of geometry programs,
    ``geometry_primitives`` their output.  ``stream0_written`` and so on are primitives written to
    buffers by a stream of a geometry shader, ``stream0_needed`` those that would have been with
    enough room.
    """

    samples: int = 0
    fragments: int = 0
    vertices: int = 0
    primitives: int = 0
    triangles: int = 0
    clip_triangles: int = 0
    entered: int = 0
    clipped: int = 0
    invocations: int = 0
    hull_runs: int = 0
    domain_runs: int = 0
    geometry_runs: int = 0
    geometry_primitives: int = 0
    threads: int = 0
    vertex_bytes: int = 0
    pixel_bytes: int = 0
    unordered_bytes: int = 0
    stream_bytes: int = 0
    upload_bytes: int = 0
    vertex_cache_hits: int = 0
    vertex_cache_misses: int = 0
    texture_cache_lookups: int = 0
    texture_cache_hits: int = 0
    vertex_memory_ticks: int = 0
    vertex_compute_ticks: int = 0
    geometry_memory_ticks: int = 0
    geometry_compute_ticks: int = 0
    pixel_memory_ticks: int = 0
    pixel_compute_ticks: int = 0
    other_ticks: int = 0
    busy_ticks: int = 0
    wait_resource_ticks: int = 0
    wait_queue_ticks: int = 0
    clock_changes: int = 0
    stream0_written: int = 0
    stream1_written: int = 0
    stream2_written: int = 0
    stream3_written: int = 0
    stream0_needed: int = 0
    stream1_needed: int = 0
    stream2_needed: int = 0
    stream3_needed: int = 0
    multisamples: Epoch = msgspec.field(default_factory=Epoch)
    """Samples of multisampled targets that passed since the last snapshot."""

    def __eq__(self, other: object) -> bool:
        return type(other) is Counters and _values(self) == _values(other)

    def add(self, other: Counters) -> None:
        """Add all counts of ``other``, of which no snapshot has been taken."""
        for name in COUNTER_NAMES:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for (serial, samples), passed in other.multisamples.passed.items():
            self.multisamples.add(serial, samples, passed)


class Snapshot(NamedTuple):
    """The counters at one moment of GPU time, in the order of ``COUNTER_NAMES``.

    ``multisamples`` is the epoch that begins here.
    """

    time: int
    counters: tuple[int, ...]
    multisamples: Epoch

    def counter(self, name: str) -> int:
        """The value of the counter ``name`` of ``Counters``."""
        return self.counters[_COUNTER_INDEX[name]]


COUNTER_NAMES = tuple(f for f in Counters.__struct_fields__ if f != "multisamples")

_COUNTER_INDEX = {name: index for index, name in enumerate(COUNTER_NAMES)}

_values = attrgetter(*COUNTER_NAMES)


def snapshot(counters: Counters, time: int) -> Snapshot:
    """Take a snapshot of the counters, in constant time."""
    if counters.multisamples.passed:
        counters.multisamples = counters.multisamples.close()
    return Snapshot(time, _values(counters), counters.multisamples)


class Observes(IntFlag):
    """Flags for what a query observes besides counters: the vertex cache, the heap.  The model of
    each costs much, and runs only while a query observes it.
    """

    NOTHING = 0
    VERTEX_CACHE = 1
    HEAP = 2


class Receiver(Protocol):
    """The front end that receives the reports of its queries."""

    def receive(self, report: Report) -> None:
        """Accept a report that the host can see now; the query may have been reissued since."""


class Outcome(NamedTuple):
    """The result of a predicate, and the tick from which it is visible."""

    holds: bool
    visible: int


class QuerySlot:
    """A query of the GPU: its begin snapshot and its report FIFO.  Mutable: queries change it.

    ``kind`` is the FIFO: reports of one kind become visible in the order they were issued.
    ``owner`` receives the reports; ``key`` tells it which query it is.  ``counters`` are those of
    the context whose draws are observed; None observes all.  The front end raises ``generation``
    to discard older issues; ``begin`` is valid only for its own generation.  With a ``verdict``
    the query is a predicate, whose last ``outcome`` is None before its first end.
    """

    __slots__ = (
        "begin", "begin_generation", "counters", "generation", "key",
        "kind", "observes", "outcome", "owner", "verdict",
    )  # fmt: skip

    def __init__(
        self,
        kind: int,
        owner: Receiver | None,
        key: int,
        observes: Observes = Observes.NOTHING,
        verdict: Callable[[Report], bool] | None = None,
        counters: Counters | None = None,
    ) -> None:
        self.verdict = verdict
        self.counters = counters
        self.outcome: Outcome | None = None
        self.kind = kind
        self.owner = owner
        self.key = key
        self.observes = int(observes)
        self.generation = 0
        self.begin: Snapshot | None = None
        self.begin_generation = -1


class Report(NamedTuple):
    """A finished query: the snapshots at both ends, and the tick at which the host can see it.

    ``heap`` has a ``HeapUse`` for each ``SurfaceKind`` if the query observes the heap.
    """

    slot: QuerySlot
    generation: int
    begin: Snapshot
    end: Snapshot
    visible: int
    heap: tuple[HeapUse, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether the query has not been issued again, or discarded, since the issue that the
        report answers.
        """
        return self.slot.generation == self.generation

    def change(self, counter: str) -> int:
        """The difference of a counter of ``Counters`` between begin and end.

        Raises ArgumentError for an unknown counter.
        """
        try:
            return self.end.counter(counter) - self.begin.counter(counter)
        except (AttributeError, KeyError, TypeError):
            raise ArgumentError(f"{counter!r:.60} is no counter") from None

    @property
    def ticks(self) -> int:
        """Number of ticks between the begin and the end of the query."""
        return self.end.time - self.begin.time

    def samples(self) -> int:
        """The number of samples that passed the depth test, on all targets."""
        passed = self.begin.multisamples.until(self.end.multisamples)
        return self.change("samples") + sum(passed.values())

    def pixels(self) -> int:
        """The number of pixels that passed the depth test: for each target the passed samples
        divided by its samples per pixel, rounded up.
        """
        passed = self.begin.multisamples.until(self.end.multisamples)
        multi = sum(-(-count // samples) for (_, samples), count in passed.items())
        return self.change("samples") + multi
