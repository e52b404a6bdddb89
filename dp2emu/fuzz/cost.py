"""The cost oracle: the processor time and memory that an input may take, by its size.

A worker suspects an input that takes more than its target's bound.  It is a finding if it does so
in new processes too, which have tried no other input.  Times vary, and are used as yes or no
alone; what identifies a finding are counts of executed lines and allocated bytes.
"""

from __future__ import annotations

import gc
import json
import math
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from cProfile import Profile
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from dp2emu.process.forking import ForkServer
from dp2emu.process.worker import call_of, ending_after

TIMES = 3
"""Number of new processes in all of which an input must exceed a bound."""
MOST_SECONDS = 600.0
"""Wall time in seconds after which a measurement is given up."""
MOST_LINES = 10_000_000
"""Executed lines after which counting ends."""
_WARM_UP = 3
"""Number of seeds that a new process tries first, so that imports are not measured."""
_SHOWN = 3
"""Number of functions that a report names."""
_KIB, _MIB = 1 << 10, 1 << 20
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1 << 10
"""Bytes of a unit of ``ru_maxrss``."""
_RESET = Path("/proc/self/clear_refs")
TIME, MEMORY = "processor time", "memory"


Rates = Sequence[float | None]
"""Seconds of processor time and MiB of memory for each KiB of an input; None: the target's own."""


Size = Callable[[bytes], int]
"""Function that returns the size of an input, at least its length, by which it may cost."""


class Bound(msgspec.Struct, frozen=True):
    """What an input may take: ``seconds`` of processor time and ``mib`` of memory, and for each
    KiB of the input ``seconds_per_kib`` and ``mib_per_kib`` more.
    """

    seconds: float = 1.0
    seconds_per_kib: float = 1.0
    mib: float = 64.0
    mib_per_kib: float = 8.0

    def at(self, seconds_per_kib: float | None, mib_per_kib: float | None) -> Bound:
        """Return the bound with other rates for each KiB; None keeps its own."""
        rates = {"seconds_per_kib": seconds_per_kib, "mib_per_kib": mib_per_kib}
        return replace(self, **{name: rate for name, rate in rates.items() if rate is not None})

    def of(self, size: int) -> Cost:
        """Return the most that an input of ``size`` bytes may cost."""
        kib = size / _KIB
        memory = (self.mib + self.mib_per_kib * kib) * _MIB
        return Cost(self.seconds + self.seconds_per_kib * kib, int(memory))


class Cost(msgspec.Struct, frozen=True):
    """Processor time in seconds, and memory in bytes by which the most in use grew."""

    seconds: float
    memory: int

    def excess(self, bound: Cost) -> str:
        """Return which of the two exceeds a bound, empty if neither does."""
        if self.seconds > bound.seconds:
            return TIME
        return MEMORY if self.memory > bound.memory else ""


class Costly(Exception):
    """An input takes more than the bound of its target; ``site`` identifies the mistake."""

    def __init__(self, what: str, site: str) -> None:
        super().__init__(what)
        self.site = site


class Gauge:
    """Suspects inputs: it reads clocks after an input that took a while.  Mutable.

    Wall time is read for each input, which is fast; the processor time and memory of the process
    since the last reading only after inputs of more than ``quick`` seconds of wall time.  No input
    exceeds the bound in less: neither do ``THREADS`` take so much processor time, nor are so many
    pages touched.
    """

    QUICK = 100e-6
    """The least ``quick``."""
    THREADS = 4
    """More threads than a worker has: its own, and those that compile."""
    FILLED = 32 << 30
    """Bytes a second: more than a processor fills, which the pages of an input are with zeros."""
    VAIN = 8.0
    """Largest multiple of a bound below which inputs are not suspected, after others turned out
    to be innocent or known."""

    def __init__(self, bound: Bound, size: Size = len) -> None:
        self._bound = bound
        self._size = size
        self._factor = 1.0
        self.quick = max(
            self.QUICK, min(bound.seconds / self.THREADS, bound.mib * _MIB / self.FILLED)
        )
        self.reset()

    def reset(self) -> None:
        """Read the clocks; nothing that was done before counts for an input."""
        self._last = _used()

    def suspects(self, data: bytes) -> bool:
        """Return whether the input that was just tried may exceed the bound."""
        last, self._last = self._last, _used()
        taken = Cost(self._last.seconds - last.seconds, self._last.memory - last.memory)
        # Its length is a lower bound of its size, which takes longer to find.
        return all(taken.excess(self._allowed(size(data))) for size in (len, self._size))

    def _allowed(self, size: int) -> Cost:
        most, factor = self._bound.of(size), self._factor
        return Cost(most.seconds * factor, int(most.memory * factor))

    def vain(self) -> None:
        """Suspect less: the last suspicion led to nothing new."""
        self._factor = min(2.0 * self._factor, self.VAIN)


def _used() -> Cost:
    """Return the processor time of this process, and the most memory it had in use."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # Windows: processor time alone is bounded there
        return Cost(time.process_time(), 0)
    usage = getrusage(RUSAGE_SELF)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _PEAK_UNIT)


# Measurements in new processes


class Bench:
    """Starts processes that measure inputs of a target.  Mutable: it owns a fork server."""

    def __init__(self, name: str, modules: tuple[str, ...]) -> None:
        """``name`` is the target's as in ``target_named``; ``modules`` are imported once."""
        self._name = name
        self._server = ForkServer(__name__, *modules)

    def cost(self, data: bytes) -> Cost | None:
        """Return what an input costs a new process, None if that does not end."""
        told = self._told("measured", data)
        return None if told is None else Cost(told["seconds"], told["memory"])

    def exceeds(self, data: bytes, most: Cost) -> str:
        """Return what of the allowed cost an input exceeds in a new process, else empty."""
        cost = self.cost(data)
        return cost.excess(most) if cost is not None else ""

    def error(self, data: bytes, most: Cost) -> Costly | None:
        """Return the error of an input that costs more than allowed, with cost, length and bound;
        None of one that does not, in any of ``TIMES`` processes.
        """
        least = Cost(math.inf, 1 << 62)
        for _ in range(TIMES):
            cost = self.cost(data)
            if cost is None or not cost.excess(most):
                return None
            least = Cost(min(cost.seconds, least.seconds), min(cost.memory, least.memory))
        kind = least.excess(most)
        counted = self._told("counted", data, kind) if kind else None
        return None if counted is None else _costly(kind, least, most, len(data), counted)

    def close(self) -> None:
        """End the processes."""
        self._server.close()

    def _told(self, function: str, data: bytes, *more: str) -> dict[str, Any] | None:
        """Return what a new process prints, None if it ends without."""
        call = call_of(f"{__name__}:{function}", self._name, len(data), *more)
        child = self._server.start(call)
        try:
            with suppress(OSError, ValueError):
                child.stdin.write(data)
                child.stdin.flush()
                told: dict[str, Any] = json.loads(child.stdout.readline())
                return told
            return None
        finally:
            child.close()


def _costly(kind: str, cost: Cost, bound: Cost, size: int, places: dict[str, int]) -> Costly:
    """Return the error; ``places`` has the executed lines or allocated bytes by function."""
    total = sum(places.values())
    most = sorted(places, key=lambda place: (-places[place], place))[:_SHOWN]
    unit = "lines" if kind == TIME else "bytes"
    where = ", ".join(f"{places[place]:,} in {place}" for place in most)
    if kind == TIME:
        taken = f"{cost.seconds:.3f} s of processor time, bound {bound.seconds:.3f} s"
    else:
        taken = f"{cost.memory / _MIB:,.0f} MiB of memory, bound {bound.memory / _MIB:,.0f} MiB"
    module = most[0].rpartition(".")[0] if most else "?"
    what = f"{size:,} bytes of input take {taken}; of {total:,} {unit}: {where}"
    return Costly(what, f"Costly: {kind} in {module}")


def measured(reader: BinaryIO, writer: BinaryIO, name: str, size: int) -> int:
    """Write the cost of an input of ``size`` bytes, which is read, as a line of JSON."""
    data = reader.read(size)
    trial = _warm(name)
    with ending_after(MOST_SECONDS):
        with suppress(OSError):
            _RESET.write_text("5")  # the peak of memory begins anew (proc(5))
        before = _used()
        with suppress(Exception):
            trial(data)
        after = _used()
    cost = Cost(after.seconds - before.seconds, after.memory - before.memory)
    writer.write(msgspec.json.encode(cost) + b"\n")
    writer.flush()
    return 0


def counted(reader: BinaryIO, writer: BinaryIO, name: str, size: int, kind: str) -> int:
    """Write lines executed or bytes allocated (``kind``), by function, for an input."""
    data = reader.read(size)
    trial = _warm(name)
    count = Count(memory=kind == MEMORY)
    with ending_after(MOST_SECONDS):
        count.run(lambda: trial(data))
    writer.write(json.dumps(count.by_function()).encode() + b"\n")
    writer.flush()
    return 0


def _warm(name: str) -> Callable[[bytes], object]:
    """Return a target's trial, used a few times."""
    from dp2emu.fuzz import target_named

    target = target_named(name)
    trial, rng = target.make(), Random(0)
    for _ in range(_WARM_UP):
        with suppress(Exception):
            trial(target.seed(rng)[: target.most])
    gc.collect()
    gc.freeze()
    return trial


# Counts


class _Enough(BaseException):
    """So many lines were counted that counting ends."""


class Count:
    """Number of lines that a function executes, by code: the same for the same input, however
    loaded the machine.  Mutable.

    With ``memory`` it is instead the bytes by which each code raised the most that Python and
    NumPy had allocated.
    """

    def __init__(self, *, memory: bool = False, most: int = MOST_LINES) -> None:
        self._counts: Counter[CodeType] = Counter()
        self._memory = memory
        self._left = most
        self._last: CodeType | None = None
        self._peak = 0

    def run(self, function: Callable[[], object]) -> int:
        """Call a function, whatever it raises, and return the number of lines or bytes."""
        before = sys.gettrace()
        if self._memory:
            tracemalloc.start()
        try:
            line = self._allocating if self._memory else self._executing
            sys.settrace(lambda frame, event, argument: line)
            with suppress(Exception, _Enough):
                function()
        finally:
            sys.settrace(before)
            if self._memory:
                self._charge(None)
                tracemalloc.stop()
        return self._counts.total()

    def by_function(self) -> dict[str, int]:
        """Return counts by qualified name of a function; nested functions are part of theirs."""
        named: Counter[str] = Counter()
        for code, number in self._counts.items():
            named[_name_of(code)] += number
        return dict(named)

    def _executing(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self._counts[frame.f_code] += 1
            self._left -= 1
            if self._left < 0:
                raise _Enough
        return self._executing

    def _allocating(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            self._charge(frame.f_code)
            self._left -= 1
            if self._left < 0:
                raise _Enough
        return self._allocating

    def _charge(self, code: CodeType | None) -> None:
        """Charge the code whose line ran last for what was allocated since."""
        peak = tracemalloc.get_traced_memory()[1]
        if self._last is not None and peak > self._peak:
            self._counts[self._last] += peak - self._peak
        self._peak, self._last = peak, code


class Calls:
    """Number of calls that a function makes: the same for the same input, and counted faster than
    lines.  Mutable.
    """

    def __init__(self) -> None:
        self._profile = Profile(subcalls=False)

    def run(self, function: Callable[[bytes], Hashable], data: bytes) -> Hashable:
        """Call a function with ``data`` and return its result.  Raises what it raises."""
        result: Hashable = self._profile.runcall(function, data)
        return result

    @property
    def number(self) -> int:
        """Return the calls that the functions have made."""
        return sum(entry.callcount for entry in self._profile.getstats())


def _name_of(code: CodeType) -> str:
    """Return module and function of code, as ``dp2emu.dp2.walk.scan``."""
    path = Path(code.co_filename).with_suffix("")
    parts = path.parts
    at = max((n for n, part in enumerate(parts) if part in _TOPS), default=len(parts) - 1)
    return ".".join((*parts[at:], code.co_qualname.partition(".<locals>")[0]))


_TOPS = ("dp2emu", "tests", "numpy")
"""Folders whose modules are named by their path below; others by their file."""
