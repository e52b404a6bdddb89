"""The worker of a campaign: it makes inputs, tries them, and keeps those that do something new.

Its counts and current input are in a small file that its parent maps too, so that a crash or a
hang loses nothing but the input that caused it.  In a guided campaign atheris, whose engine is
libFuzzer, chooses inputs by coverage; atheris is in the extra ``fuzz``.
"""

from __future__ import annotations

import faulthandler
import gc
import inspect
import json
import math
import mmap
import os
import re
import struct
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import Random
from time import perf_counter
from types import CodeType, FunctionType
from typing import Any, BinaryIO, cast

import msgspec
from msgspec.structs import replace

from dp2emu.errors import Dp2Error
from dp2emu.fuzz import TARGET_MODULES, target_named
from dp2emu.fuzz.corpus import Corpus
from dp2emu.fuzz.cost import Bench, Calls, Gauge, Rates
from dp2emu.fuzz.findings import Finding, Findings, finding_of, site_of
from dp2emu.fuzz.growth import Heaviest
from dp2emu.fuzz.minimize import Budget, shrink_bytes
from dp2emu.fuzz.target import Expecting, GivenUp, Target, Trial
from dp2emu.guard_pages import Edge, GuardPages
from dp2emu.inputs import read_file
from dp2emu.outputs import write_file
from dp2emu.process.worker import end_with_parent

_STRUCTURED = 16
"""In a guided campaign one of this many mutations is the target's, which is slow; the others are
libFuzzer's."""
_NEVER = 1 << 30
"""Value in seconds of libFuzzer's option report_slow_units: practically never, since the campaign
itself times inputs."""
_STATUS = re.compile(rb"cov: (\d+) ft: (\d+) corp: (\d+)")
"""Regular expression of the counts in a status line of libFuzzer: branches, features, corpus."""
_SEEDS = 64
"""Number of random inputs with which a worker's corpus begins."""
_REFRESH = 5.0
"""Seconds between reads of the corpus that workers share."""
_TRIES = 2000
"""Maximum number of attempts to make the input of a finding smaller."""
_FRESH = 0.02
"""Share of inputs that are random seeds of the target instead of mutations."""
_COUNTS = struct.Struct("<3Q")
GIVEN_UP = 3
"""Exit code of a worker whose trial has raised GivenUp; the reason is its last printed line."""
_FOUND = object()
"""Value that ``Worker._tried`` returns for an input that is a finding."""
_CURRENT = struct.Struct("<2Q")
"""Layout of a ``Board`` file between counts and input: inputs tried, bytes of the input."""
_LONGER = struct.Struct("<3Q")
"""Layout after that: longer inputs tried, their bytes, and nanoseconds of processor time."""
_CASES = struct.Struct("<Q")
"""Layout after that: cases of all inputs."""
_INPUT = _COUNTS.size + _CURRENT.size + _LONGER.size + _CASES.size
_COSTLY_TRIES = 24
"""Maximum number of attempts to make a costly input smaller, each of which takes a process."""
_READ = 64
"""Number of inputs after which the clocks are read."""
_SAMPLED = 64
"""Of this many inputs the function calls of one are counted, if they pace longer inputs."""


class Vitals(msgspec.Struct, frozen=True):
    """What a worker has done: inputs tried, distinct features, lines covered, inputs kept;
    ``data`` is the current input.

    ``longer``: longer inputs tried, their bytes, and nanoseconds of processor time.
    ``cases`` of inputs that ended, of a target that counts them.
    """

    execs: int
    features: int
    lines: int
    corpus: int
    data: bytes
    longer: tuple[int, int, int] = (0, 0, 0)
    cases: int = 0


class Board:
    """Mapped file of a worker's counts and current input, read by its parent.  Mutable."""

    def __init__(self, path: Path, most: int) -> None:
        """Map the file ``path``, made if absent, with room for an input of ``most`` bytes."""
        size = _INPUT + most
        self._found = path.with_suffix(".json")
        if not path.exists() or path.stat().st_size < size:
            path.write_bytes(bytes(size))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)

    def begin(self, execs: int, data: bytes) -> None:
        """Store the input that is tried next, and the number of inputs tried before, ``execs``."""
        self._map[_INPUT : _INPUT + len(data)] = data
        _CURRENT.pack_into(self._map, _COUNTS.size, execs, len(data))

    def count(self, features: int, lines: int, corpus: int) -> None:
        """Store the numbers of features and covered lines, and of inputs in the corpus."""
        _COUNTS.pack_into(self._map, 0, features, lines, corpus)

    def count_longer(self, inputs: int, size: int, nanoseconds: int) -> None:
        """Store the number of longer inputs, their bytes and their processor time."""
        _LONGER.pack_into(self._map, _COUNTS.size + _CURRENT.size, inputs, size, nanoseconds)

    def count_cases(self, more: int) -> None:
        """Add cases to those of all workers that have had this board."""
        (cases,) = _CASES.unpack_from(self._map, _INPUT - _CASES.size)
        _CASES.pack_into(self._map, _INPUT - _CASES.size, cases + more)

    def tell(self, found: Mapping[str, int]) -> None:
        """Store how many inputs led to each finding, by its name."""
        write_file(self._found, json.dumps(found).encode())

    def told(self) -> dict[str, int]:
        """Return how many inputs led to each finding, by its name."""
        if not self._found.exists():
            return {}
        return dict(json.loads(read_file(self._found)))

    def read(self) -> Vitals:
        """Return the counts and the current input that the worker stored last."""
        execs, length = _CURRENT.unpack_from(self._map, _COUNTS.size)
        features, lines, corpus = _COUNTS.unpack_from(self._map)
        longer = _LONGER.unpack_from(self._map, _COUNTS.size + _CURRENT.size)
        (cases,) = _CASES.unpack_from(self._map, _INPUT - _CASES.size)
        data = self._map[_INPUT : _INPUT + length]
        return Vitals(execs, features, lines, corpus, data, longer, cases)


class Coverage:
    """The lines that have run, in modules whose names begin with one of ``modules``.  Mutable.

    Python reports each line once and at no further cost from 3.12 on; before that there is no
    coverage, and inputs are told apart by their features alone.
    """

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._parts = tuple(module.replace(".", "/") for module in modules)
        self._lines: set[tuple[CodeType, int]] = set()
        self._seen = 0
        if sys.version_info >= (3, 12):
            self._watch(sys.monitoring)

    @property
    def lines(self) -> int:
        """Return the number of lines that have run."""
        return len(self._lines)

    def grew(self) -> bool:
        """Return whether lines have run for the first time since this method was last called."""
        before, self._seen = self._seen, len(self._lines)
        return self._seen > before

    def _watch(self, monitoring: Any) -> None:
        tool = monitoring.COVERAGE_ID
        if monitoring.get_tool(tool) is not None:
            return
        monitoring.use_tool_id(tool, "dp2emu fuzz")
        monitoring.register_callback(tool, monitoring.events.LINE, self._line)
        monitoring.set_events(tool, monitoring.events.LINE)
        self._disable = monitoring.DISABLE

    def _line(self, code: CodeType, line: int) -> Any:
        if any(part in code.co_filename for part in self._parts):
            self._lines.add((code, line))
        return self._disable


class Worker:
    """Tries inputs of a target, keeps a corpus, saves findings.  Mutable.

    ``seed`` and the number of inputs tried before, ``execs``, determine all inputs of a worker
    that shares its corpus with no other.  Arrays of a ``guard`` in use end at guard pages for the
    first input, begin there for the second, and so on.
    """

    def __init__(
        self, target: Target, folder: Path, board: Board, seed: int = 0, execs: int = 0,
        bench: Bench | None = None, guard: GuardPages | None = None,
    ) -> None:  # fmt: skip
        """``bench`` measures suspected inputs; without one none is suspected."""
        self.target = target
        self._guard = guard
        self._cases = target.cases
        self.execs = execs
        self._rng = Random(f"{seed} {execs}")
        self._board = board
        self._features: set[Hashable] = set()
        self._coverage = Coverage(target.cover)
        self._findings = Findings(folder / "findings")
        self._known: set[str] = set()
        self._inputs = Counter(board.told())
        self._trial: Trial = target.make()
        self._ready: deque[bytes] = deque()
        seeds = (target.seed(self._rng)[: target.most] for _ in range(_SEEDS))
        self.corpus = Corpus(folder / target.name, target.most, seeds)
        self._look = time.monotonic() + _REFRESH
        self._bench = bench
        self._gauge = Gauge(target.cost, target.size)
        self._bytes = self._longer_inputs = self._longer_bytes = self._longer_time = 0
        self._calls = self._longer_calls = 0
        self._heaviest = Heaviest(folder / f"{target.name}.long") if target.longest else None

    def run(self, execs: int | None, seconds: float | None) -> None:
        """Try inputs until ``execs`` have been tried in all or ``seconds`` have passed.

        Raises GivenUp.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while execs is None or self.execs < execs:
            if self.execs % 64 == 0:
                now = time.monotonic()
                if end is not None and now >= end:
                    break
                if now >= self._look:
                    self._refresh(now)
            self.execs += 1
            try:
                if not self._climbs():
                    self._try(self._next())
            except GivenUp:
                self.execs -= 1
                self.report()
                raise
        self.report()

    def _next(self) -> bytes:
        """Return the next input, after making several if the trial wants to know them."""
        if not self._ready:
            number = max(self.target.ahead, 1)
            self._ready.extend(self._input() for _ in range(number))
            if self.target.ahead:
                cast(Expecting, self._trial).expect(self._ready)
        return self._ready.popleft()

    def try_input(self, data: bytes) -> None:
        """Try an input, and keep it if it has a new feature or covers a new line."""
        self.execs += 1
        self._try(data)

    def _try(self, data: bytes) -> None:
        feature = self._sampled(data)
        if feature is _FOUND:
            return
        features = feature if isinstance(feature, frozenset) else {feature}
        if self._coverage.grew() | (not features <= self._features):
            self._features |= features
            self.corpus.add(data)

    def try_guided(self, data: bytes) -> None:
        """Try an input that libFuzzer chose, and a longer one that it does not count if it is
        time for that.
        """
        self.execs += 1
        self._sampled(data)
        self._climbs()

    def _sampled(self, data: bytes) -> Hashable:
        """Try an input as ``_tried`` does, and count what paces longer inputs."""
        self._bytes += len(data)
        if self.target.pace_of_calls == math.inf or self.execs % _SAMPLED:
            return self._tried(data)
        calls = Calls()
        feature = self._tried(data, calls)
        self._calls += calls.number * _SAMPLED
        return feature

    def _tried(self, data: bytes, calls: Calls | None = None) -> Hashable:
        """Try an input, counting its ``calls`` if given; returns its features, or ``_FOUND``."""
        self._board.begin(self.execs - 1, data)
        if self._guard is not None:
            self._guard.edge = Edge.END if self.execs % 2 else Edge.BEGIN
        if self.execs % _READ == 0:
            self._gauge.reset()
        cases = self._cases
        before = 0 if cases is None else cases(self._trial)
        began = perf_counter()
        try:
            feature = self._trial(data) if calls is None else calls.run(self._trial, data)
        except GivenUp:
            raise
        except Dp2Error as error:
            feature = type(error).__name__, error.token, error.what[:12]
        except Exception as error:
            self._found(finding_of(self.target.name, error, data))
            self._gauge.reset()
            return _FOUND
        if cases is not None:
            self._board.count_cases(cases(self._trial) - before)
        if perf_counter() - began > self._gauge.quick and self._gauge.suspects(data):
            self._weigh(data)
        return feature

    # Growth

    def _climbs(self) -> bool:
        """Try a longer input; returns False if it is not time for that: longer inputs have had
        their share of bytes, or of calls if the target bounds these.
        """
        heaviest, target = self._heaviest, self.target
        if heaviest is None or self._longer_bytes > self._bytes * target.pace:
            return False
        if self._longer_calls > self._calls * target.pace_of_calls:
            return False
        self._climb(heaviest)
        return True

    def _climb(self, heaviest: Heaviest) -> None:
        """Try a longer input, and keep it if it is the heaviest of its size."""
        began = time.process_time_ns()
        data, calls = self._longer(heaviest), Calls()
        if self._tried(data, calls) is not _FOUND:
            heaviest.offer(data, calls.number)
        self._longer_calls += calls.number
        self._longer_inputs += 1
        self._longer_bytes += len(data)
        self._longer_time += time.process_time_ns() - began
        self._board.count_longer(self._longer_inputs, self._longer_bytes, self._longer_time)

    def _longer(self, heaviest: Heaviest) -> bytes:
        """Return an input that is longer than another or made of a heavy one."""
        rng, target = self._rng, self.target
        heavy = bool(len(heaviest)) and rng.random() < 0.75
        data = heaviest.pick(rng) if heavy else self.corpus.pick(rng)
        if not heavy or rng.random() < 0.5:
            return target.grow(rng, data)[: target.longest]
        return target.mutate(rng, data, self.corpus.pick(rng))[: target.longest]

    # Costs

    def _weigh(self, data: bytes) -> None:
        """Save an input as a finding if it exceeds the bound in other processes too."""
        if self._bench is None:
            return
        with self._paused():
            error = self._bench.error(data, self.target.allowed(data))
            finding = None if error is None else finding_of(self.target.name, error, data)
            if finding is None or finding.site in self._known or self._findings.has(finding):
                self._gauge.vain()
            else:
                self._known.add(finding.site)
                self._findings.save(self._cheaper(finding, self._bench), self.target)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """A context in which the current input has ended, so that its clock stands still."""
        self._board.begin(self.execs - 1, b"")
        try:
            yield
        finally:
            self._board.begin(self.execs, b"")
            self._gauge.reset()

    def _cheaper(self, finding: Finding, bench: Bench) -> Finding:
        """Return the finding with the smallest input found that still exceeds the bound."""
        allowed = self.target.allowed
        kind = bench.exceeds(finding.data, allowed(finding.data))
        data = shrink_bytes(
            finding.data,
            lambda some: bench.exceeds(some, allowed(some)) == kind,
            Budget(_COSTLY_TRIES),
        )
        error = bench.error(data, allowed(data))
        if error is None or error.site != finding.site:
            return finding
        return finding_of(finding.target, error, data)

    def _input(self) -> bytes:
        rng, target = self._rng, self.target
        if rng.random() < _FRESH:
            return target.seed(rng)[: target.most]
        return target.mutate(rng, self.corpus.pick(rng), self.corpus.pick(rng))[: target.most]

    def _found(self, finding: Finding) -> None:
        self._inputs[finding.name] += 1
        if finding.site in self._known or self._findings.has(finding):
            return
        self._known.add(finding.site)
        self._board.tell(self._inputs)
        if self.target.smaller is None:
            self._findings.save(self._smaller(finding), self.target)
        else:
            self._findings.save(finding, self.target)  # before what may take a while
            with self._paused():
                self._findings.save(self.target.smaller(finding), self.target)
            return
        self._trial = self.target.make()  # the failure may have damaged its state

    def _smaller(self, finding: Finding) -> Finding:
        """Return the finding with the smallest input found for its site."""
        data = shrink_bytes(
            finding.data, lambda some: self._ends_at(some) == finding.site, Budget(_TRIES)
        )
        try:
            self.target.make()(data)
        except Exception as error:
            return finding_of(finding.target, error, data)
        return finding

    def _ends_at(self, data: bytes) -> str:
        try:
            self.target.make()(data)
        except Dp2Error:
            return ""
        except Exception as error:
            return site_of(error)
        return ""

    def _refresh(self, now: float) -> None:
        self.corpus.refresh()
        self._look = now + _REFRESH
        self.report()

    def report(self) -> None:
        """Store the counts, and that no input is being tried, for the parent."""
        self._board.tell(self._inputs)
        self._board.count(len(self._features), self._coverage.lines, len(self.corpus))
        self._board.begin(self.execs, b"")


def start(
    reader: BinaryIO, name: str, folder: str, board: str, output: str, cost: Rates, seed: int,
    execs: int, guard: bool,
) -> Worker:  # fmt: skip
    """Return a worker of target ``name``; prints go to the file ``output`` from now on, and the
    process ends with its parent.  ``guard``: all its arrays have guard pages.
    """
    end_with_parent(reader)
    with open(output, "ab") as file:
        for standard in (1, 2):
            os.dup2(file.fileno(), standard)
    target, guarded = target_named(name), None
    if guard:
        faulthandler.enable()
        guarded = GuardPages()
        guarded.begin()
    target = replace(target, cost=target.cost.at(*cost))
    own, colon, _ = name.partition(":")
    bench = Bench(name, (own,) if colon else TARGET_MODULES)
    place = Board(Path(board), target.room)
    return Worker(target, Path(folder), place, seed, execs, bench, guarded)


def main(
    reader: BinaryIO, writer: BinaryIO, name: str, folder: str, board: str, output: str,
    cost: Rates, seed: int, before: int, execs: int | None, seconds: float | None,
    guard: bool = False,
) -> int:  # fmt: skip
    """Fuzz a target until ``execs`` inputs, ``before`` included, or ``seconds`` are over.

    Returns 0, or ``GIVEN_UP`` after the reason has been printed.
    """
    worker = start(reader, name, folder, board, output, cost, seed, before, guard)
    gc.freeze()  # collecting the objects of all modules again and again takes 10 % of the time
    try:
        worker.run(execs, seconds)
    except GivenUp as reason:
        print(reason, flush=True)
        return GIVEN_UP
    return 0


# Guided campaigns


def available() -> bool:
    """Return whether atheris is installed."""
    return find_spec("atheris") is not None


def reached(output: bytes) -> tuple[int, int, int]:
    """Return (features, branches covered, inputs kept) of libFuzzer's last status line.

    >>> reached(b"#2 INITED cov: 9 ft: 12 corp: 3/40b exec/s: 0 rss: 75Mb")
    (12, 9, 3)
    """
    lines = _STATUS.findall(output)
    covered, kinds, kept = map(int, lines[-1]) if lines else (0, 0, 0)
    return kinds, covered, kept


def main_guided(
    reader: BinaryIO, writer: BinaryIO, name: str, folder: str, board: str, output: str,
    cost: Rates, seed: int, before: int, execs: int | None, seconds: float | None,
    guard: bool = False,
) -> None:  # fmt: skip
    """Let libFuzzer fuzz a target, with the limits of ``main``, until it ends the process."""
    import atheris
    from atheris.instrument_bytecode import patch_code

    worker = start(reader, name, folder, board, output, cost, seed, before, guard)
    target = worker.target
    for function in _functions(target.cover):
        function.__code__ = patch_code(function.__code__, trace_dataflow=target.compares)
    options = [
        f"-max_len={target.most}",
        f"-seed={seed % (1 << 31) + 1}",
        f"-runs={-1 if execs is None else max(execs - before, 0)}",
        f"-max_total_time={int(seconds) + 1 if seconds else 0}",
        "-reload=5",
        "-print_funcs=0",
        f"-report_slow_units={_NEVER}",
        f"-artifact_prefix={folder}/",
    ]
    atheris.Setup(
        ["dp2emu", *options, str(Path(folder) / target.name)],
        worker.try_guided,
        custom_mutator=_mutator(target, Random(str(seed))),
    )
    gc.freeze()
    atheris.Fuzz()


def _functions(modules: tuple[str, ...]) -> Iterator[FunctionType]:
    """Yield the functions and methods of imported modules and their submodules, without the
    checks of arguments that wrap some.
    """
    for name, module in sorted(sys.modules.items()):
        if any(name == each or name.startswith(f"{each}.") for each in modules):
            for value in vars(module).values():
                members = vars(value).values() if isinstance(value, type) else (value,)
                for member in members:
                    if isinstance(member, FunctionType) and member.__module__ == name:
                        yield inspect.unwrap(member)


def _mutator(target: Target, rng: Random) -> Callable[[bytes, int, int], bytes]:
    """Return a function that applies libFuzzer's mutations, and sometimes the target's."""
    import atheris

    last = [b""]

    def change(data: bytes, most: int, seed: int) -> bytes:
        if seed % _STRUCTURED:
            any_other: bytes = atheris.Mutate(data, most)
            return any_other
        other, last[0] = last[0], data
        return target.mutate(rng, data, other)[:most]

    return change
