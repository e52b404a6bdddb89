"""What each event adds to the counters that a query observes.

The GPU's counters are read before and after each event.  Their changes between BEGIN and END are
added up and put into the query's own formula: the result is the answer, or the emulator is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from struct import Struct
from typing import Any, NamedTuple, overload

import msgspec

from dp2emu.errors import Disagreement
from dp2emu.explain.events import Event
from dp2emu.gpu.command.queries import (
    COUNTER_NAMES,
    Counters,
    Epoch,
    Passed,
    QuerySlot,
    Report,
    Snapshot,
)

SAMPLES = "samples"
"""Name of the counter of samples; its changes here include samples of multisampled targets."""

_values = attrgetter(*COUNTER_NAMES)


class Reading(NamedTuple):
    """The counters at one moment, read without a snapshot: their values in the order of
    ``COUNTER_NAMES``, and the samples of multisampled targets that passed in the current epoch.
    """

    values: tuple[int, ...]
    epoch: Epoch
    passed: Passed


def read(counters: Counters) -> Reading:
    """Read the counters; changes nothing."""
    epoch = counters.multisamples
    return Reading(_values(counters), epoch, dict(epoch.passed))


class Change(NamedTuple):
    """Changes of counters, without those that are 0: by name, and the samples of multisampled
    targets by (serial number, samples per pixel).
    """

    counts: dict[str, int]
    passed: Passed

    def count(self, name: str) -> int:
        """The change of a counter; samples include multisampled targets."""
        more = sum(self.passed.values()) if name == SAMPLES else 0
        return self.counts.get(name, 0) + more


def change(before: Reading, after: Reading) -> Change:
    """The change of the counters between two readings."""
    pairs = zip(COUNTER_NAMES, before.values, after.values, strict=True)
    passed = before.epoch.until(after.epoch)
    for sign, found in ((1, after.passed), (-1, before.passed)):
        for target, count in found.items():
            passed[target] = passed.get(target, 0) + sign * count
    counts = {name: new - old for name, old, new in pairs if new != old}
    return Change(counts, {target: count for target, count in passed.items() if count})


class Contribution(msgspec.Struct, frozen=True):
    """A change of counters by an event; with ``before`` between the previous event and this one,
    by an upload or a wait of the host.
    """

    event: Event
    change: Change
    before: bool = False


class CounterLog:
    """The changes of counters from event to event, once for all queries that observe them.

    ``users`` is the number of queries that are open.  Mutable: it grows.
    """

    def __init__(self, counters: Counters) -> None:
        self.contributions: list[Contribution] = []
        self.last = read(counters)
        self.users = 0
        self._counters = counters

    def enter(self, event: Event, *, before: bool) -> None:
        """Add what changed since the last call, by an event or, with ``before``, before it."""
        now = read(self._counters)
        found = change(self.last, now)
        self.last = now
        if found.counts or found.passed:
            self.contributions.append(Contribution(event, found, before))

    def begin(self) -> None:
        """Count a query that begins now; what changed while none was open belongs to none."""
        if not self.users:
            self.last = read(self._counters)
        self.users += 1


class Parts(Sequence[Contribution]):
    """The contributions of a log from one on, up to another.  They are not copied: many queries
    may be open for many events.
    """

    def __init__(self, log: Sequence[Contribution] = (), start: int = 0, stop: int = 0) -> None:
        self._log, self._places = log, range(start, stop)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> Contribution: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Contribution]: ...
    def __getitem__(self, at: int | slice) -> Contribution | Sequence[Contribution]:
        if isinstance(at, slice):
            return [self._log[place] for place in self._places[at]]
        return self._log[self._places[at]]


class Interval:
    """The events since the BEGIN of a query, as a part of a log."""

    def __init__(self, slot: QuerySlot, generation: int, log: CounterLog, event: Event) -> None:
        log.begin()
        self.slot = slot
        self.generation = generation
        self.begin = event
        self._log, self._start, self._before = log, len(log.contributions), log.last

    def end(self) -> tuple[Parts, Change]:
        """The contributions up to now, and their sum."""
        log = self._log
        log.users -= 1
        parts = Parts(log.contributions, self._start, len(log.contributions))
        return parts, change(self._before, log.last)


NO_PARTS, NO_CHANGE = Parts(), Change({}, {})


class Formula(NamedTuple):
    """A query type: its name, and how its payload follows from a report."""

    name: str
    values: Callable[[Report], tuple[int | float, ...]]
    layout: Struct

    def payload(self, report: Report) -> bytes:
        """The bytes of the answer that a report gives."""
        return self.layout.pack(*self.values(report))


class _Noting(Report):
    """A report that notes which counters are read, in ``names``."""

    names: list[str]

    def change(self, counter: str) -> int:
        if counter not in self.names:
            self.names.append(counter)
        return super().change(counter)


def counters_of(formula: Formula, report: Report) -> list[str]:
    """Names of the counters from which the answer is computed, in the order of their use."""
    noting = _Noting(*report)
    noting.names = []
    formula.values(noting)
    return noting.names


def summed(report: Report, found: Change) -> Report:
    """The report of a query over counters that are 0 at its begin and grow by ``found``; times
    are the ones of ``report``.
    """
    totals = dict.fromkeys(COUNTER_NAMES, 0) | found.counts
    epoch = Epoch()
    for (serial, samples), passed in found.passed.items():
        epoch.add(serial, samples, passed)
    nothing = Snapshot(report.begin.time, (0,) * len(COUNTER_NAMES), epoch)
    end = Snapshot(report.end.time, tuple(totals.values()), epoch.close())
    return report._replace(begin=nothing, end=end)


def difference_of(formula: Formula, report: Report, found: Change) -> Disagreement | None:
    """The error that an answer does not follow from ``found``, the sum of the contributions of
    the events; None if it does.
    """
    total = summed(report, found)
    if formula.payload(report) == formula.payload(total):
        return None
    what = f"events account for {_shown(formula, total)}, the answer is"
    return Disagreement(f"{formula.name}: {what} {_shown(formula, report)}", "", 0)


def _shown(formula: Formula, report: Report) -> Any:
    values = formula.values(report)
    return values[0] if len(values) == 1 else values
