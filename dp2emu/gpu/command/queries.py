"""Counters that only grow, and queries as the difference of two snapshots of them.

Snapshot and subtract: any number of queries may overlap, nothing is ever reset, and a query costs
the same whatever happens inside it.  The front end encodes a difference as response bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntFlag
from operator import attrgetter
from typing import NamedTuple, Protocol

import msgspec

from dp2emu.gpu.resource.heap import HeapUse


class Epoch:
    """Samples of multisampled targets that passed between two snapshots of the counters.

    ``passed`` is by target: (surface serial number, samples per pixel).  ``after`` is the next
    epoch, so an interval is a linked list that lives as long as its first epoch is referenced.
    Mutable: the latest epoch is a counter.
    """

    __slots__ = ("after", "passed")

    def __init__(self) -> None:
        self.passed: dict[tuple[int, int], int] = {}
        self.after: Epoch | None = None

    def add(self, serial: int, samples: int, passed: int) -> None:
        """Count samples of a target."""
        key = serial, samples
        self.passed[key] = self.passed.get(key, 0) + passed

    def until(self, end: Epoch) -> dict[tuple[int, int], int]:
        """Samples that passed by target, from the beginning of this epoch to that of another."""
        totals: dict[tuple[int, int], int] = {}
        epoch: Epoch | None = self
        while epoch is not None and epoch is not end:
            for target, passed in epoch.passed.items():
                totals[target] = totals.get(target, 0) + passed
            epoch = epoch.after
        return totals


class Counters(msgspec.Struct):
    """What the GPU has done since it was made.  Mutable by design; values only grow.

    Times are ticks of busy time of one unit, ``busy_ticks`` of any; ``fragments`` counts those
    that went through a pixel program, also if it or a later test dropped them; ``samples`` counts
    what passed all tests on targets with one sample per pixel; multisampled targets count apart,
    per target, so that samples can be turned into pixels per target (wire format, "Query types").
    ``entered`` counts the primitives that enter clipping and ``clipped`` those that leave it,
    ``invocations`` the pixels that a pixel program ran for, ``threads`` those of compute programs.
    ``hull_runs`` counts patches, ``domain_runs`` the points they are divided into.
    ``geometry_runs`` counts those of geometry programs, ``geometry_primitives`` what they put
    out.  ``stream0_written`` and so on count the primitives that a stream of a geometry shader put
    into buffers, ``stream0_needed`` those that it would have with room for all.
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
    vertex_cache_lookups: int = 0
    vertex_cache_hits: int = 0
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
    """Samples of multisampled targets since the last snapshot."""

    def __eq__(self, other: object) -> bool:
        return type(other) is Counters and _values(self) == _values(other)

    def add(self, other: Counters) -> None:
        """Add all counts of ``other``, which must be in its first epoch."""
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
        """A counter of ``Counters``, by name."""
        return self.counters[_COUNTER_INDEX[name]]


COUNTER_NAMES = tuple(f for f in Counters.__struct_fields__ if f != "multisamples")

_COUNTER_INDEX = {name: index for index, name in enumerate(COUNTER_NAMES)}

_values = attrgetter(*COUNTER_NAMES)


def snapshot(counters: Counters, time: int) -> Snapshot:
    """A snapshot of the counters, in constant time."""
    if counters.multisamples.passed:
        counters.multisamples.after = Epoch()
        counters.multisamples = counters.multisamples.after
    return Snapshot(time, _values(counters), counters.multisamples)


class Observes(IntFlag):
    """Models that run only while a query observes them, because they are expensive."""

    NOTHING = 0
    VERTEX_CACHE = 1
    HEAP = 2


class Receiver(Protocol):
    """A front end's half of its queries, where their reports go."""

    def receive(self, report: Report) -> None:
        """Accept a report that has become visible to the host; it may be superseded."""


class Outcome(NamedTuple):
    """The result of a predicate, and the time from which it is visible."""

    holds: bool
    visible: int


class QuerySlot:
    """A query as the core knows it: a place for the begin snapshot and a FIFO it reports to.

    ``kind`` names the FIFO: reports of one kind become visible in the order they were issued.
    ``owner`` is given the reports; ``key`` is the front end's and is handed back untouched.
    ``counters`` are those of the context whose draws it watches; None watches all there is.
    ``generation`` is raised by the front end whenever an older issue must no longer be answered;
    ``begin`` counts only for the generation it was taken in.  With a ``verdict`` the query is a
    predicate, and ``outcome`` is what it found when it ended last; None before.  Mutable: it is a
    register of the machine.
    """

    __slots__ = (
        "begin",
        "begin_generation",
        "counters",
        "generation",
        "key",
        "kind",
        "observes",
        "outcome",
        "owner",
        "verdict",
    )

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
    """A finished query: what the counters were at both ends, and when the host may see it.

    ``heap`` is filled for a slot that observes the heap: one row per ``SurfaceKind``.
    """

    slot: QuerySlot
    generation: int
    begin: Snapshot
    end: Snapshot
    visible: int
    heap: tuple[HeapUse, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether nothing has superseded the issue it answers."""
        return self.slot.generation == self.generation

    def change(self, counter: str) -> int:
        """How far a counter of ``Counters`` went between begin and end."""
        return self.end.counter(counter) - self.begin.counter(counter)

    @property
    def ticks(self) -> int:
        """How long the interval was."""
        return self.end.time - self.begin.time

    def samples(self) -> int:
        """Depth-test passes in samples, whatever the number of samples of their targets."""
        passed = self.begin.multisamples.until(self.end.multisamples)
        return self.change("samples") + sum(passed.values())

    def pixels(self) -> int:
        """Depth-test passes in pixels: per target, samples / samples per pixel, rounded up."""
        passed = self.begin.multisamples.until(self.end.multisamples)
        multi = sum(-(-count // samples) for (_, samples), count in passed.items())
        return self.change("samples") + multi
