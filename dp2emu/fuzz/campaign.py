"""A fuzzing campaign in supervised workers: a crash or a hang of a worker is a finding."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from dp2emu import __version__
from dp2emu.errors import Dp2Error, UsageError
from dp2emu.fuzz import TARGET_MODULES, target_named
from dp2emu.fuzz.findings import Finding, Findings
from dp2emu.fuzz.worker import GIVEN_UP, Board, Vitals, reached
from dp2emu.guard_code import REPORT
from dp2emu.guard_pages import check_supported
from dp2emu.inputs import read_file
from dp2emu.outputs import temporary_folder, write_file
from dp2emu.places import working_at
from dp2emu.process.child import Child
from dp2emu.process.forking import ForkServer
from dp2emu.process.worker import call_of

_POLL_SECONDS = 0.1
_START_SECONDS = 60.0
"""Seconds that a worker may take until its first input: it imports its target."""
_PATIENCE = 6
"""An input that takes this many times the timeout in wall time is a hang, even if its process used
less processor time than the timeout."""
_MOST_IDLE = 3
"""Workers in succession that may be lost while they try no input."""
_REPORT_BYTES = 4000
"""Bytes at the end of a crashed worker's output that its finding quotes."""
_GUARD_REPORT = re.compile(f"dp2emu: ({REPORT}): .* bytes: (.*?) *$", re.MULTILINE)
"""Regular expression of such a report: its first words, and how an array was left."""
_STATUS_BYTES = 1 << 16
"""Bytes at the end of a worker's printed output in which libFuzzer's status line is looked for."""


class Plan(msgspec.Struct, frozen=True):
    """Settings of a campaign: ``jobs`` processes try ``execs`` inputs or stop after ``seconds``.

    None is no end.  ``timeout`` bounds an input in seconds of processor time where the system
    reports that (Linux), and in wall time elsewhere.  ``guided``: atheris chooses inputs by
    coverage.  ``seed`` determines the inputs; ``resume`` continues behind those of an earlier run.
    ``seconds_per_kib`` of processor time and ``mib_per_kib`` of memory are what a KiB of input may
    take; None: as the target's ``Bound``.
    ``guard``: memory has guard pages (``dp2emu.guard_pages``).
    """

    folder: Path
    execs: int | None = None
    seconds: float | None = None
    jobs: int = 1
    seed: int = 0
    timeout: float = 10.0
    guided: bool = False
    resume: bool = False
    seconds_per_kib: float | None = None
    mib_per_kib: float | None = None
    guard: bool = False


class Progress(msgspec.Struct, frozen=True):
    """Progress of a campaign.

    ``execs`` counts the inputs tried by all processes, and in earlier runs if resumed.
    ``features`` (distinct results) and ``lines`` (lines covered; in a guided campaign branches)
    are the largest counts of any process.  ``corpus`` counts the inputs kept, ``findings`` are
    names.  ``longer`` of these inputs were grown by the current processes, together of
    ``longer_bytes``, in ``longer_seconds`` of processor time.  ``cases`` counts those of all
    inputs, in earlier runs too if resumed, of a target that counts them.  ``inputs`` has for each
    finding how many inputs led to it, as far as workers have told; 0 for one of an earlier run.
    ``stopped`` says why a worker ended early, such as a driver that hangs at each input; it is
    empty if none did.
    """

    target: str
    execs: int
    seconds: float
    features: int
    lines: int
    corpus: int
    findings: tuple[str, ...] = ()
    longer: int = 0
    longer_bytes: int = 0
    longer_seconds: float = 0.0
    cases: int = 0
    inputs: tuple[int, ...] = ()
    stopped: str = ""

    @property
    def rate(self) -> float:
        """Return the inputs tried per second."""
        return self.execs / self.seconds if self.seconds else 0.0


def summary(progress: Progress, plan: Plan) -> dict[str, Any]:
    """Return the progress as a JSON object, with rate, plan and versions to repeat it."""
    return asdict(progress) | {
        "rate": round(progress.rate),
        "seed": plan.seed,
        "jobs": plan.jobs,
        "guided": plan.guided,
        "guard": plan.guard,
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    """Return the versions of dp2emu, Python and the libraries that inputs or results depend on."""
    known = {"dp2emu": __version__, "python": python_version()}
    for name in ("numpy", "construct", "llvmlite", "atheris"):
        with suppress(PackageNotFoundError):
            known[name] = version(name)
    return known


def campaign(
    name: str, plan: Plan, watch: Callable[[Progress], None] = lambda progress: None
) -> Progress:
    """Fuzz the target ``name`` (``target_named``).  ``watch`` is called about once a second, and
    at the end.

    Findings and corpus are in ``plan.folder``.  A KeyboardInterrupt ends the campaign and is
    raised again when its result is saved.  Raises UsageError if there is no such target or, if
    resumed, the earlier summary is damaged, Dp2Error if no worker can try an input, and OSError.
    """
    with ExitStack() as stack:
        boards = stack.enter_context(temporary_folder("dp2emu-fuzz-"))
        running = _Campaign(name, plan, boards)
        stack.enter_context(working_at(lambda: {"stream": f"target {name}"}))
        try:
            running.work(watch)
        finally:
            running.stop()
            ended = running.closed()
            watch(ended)
        return ended


class _Job(msgspec.Struct):
    """A worker of a campaign, and its successors if it crashes or hangs.  Mutable.

    When the current input began: ``changed`` by the monotonic clock, ``worked`` in processor time
    of the process, both in seconds.  ``execs`` counts the inputs tried, and ``idle`` the workers
    in succession that were lost while they tried none.
    """

    number: int
    path: Path
    board: Board
    execs: int
    worker: Child | None = None
    changed: float = 0.0
    worked: float = 0.0
    idle: int = 0
    done: bool = False

    @property
    def output(self) -> Path:
        """Return the path of the file with what the worker prints."""
        return self.path.with_suffix(".txt")


class _Campaign:
    """The workers of a campaign.  Mutable."""

    def __init__(self, name: str, plan: Plan, boards: Path) -> None:
        self._name = name
        self._target = target = target_named(name)
        plan.folder.mkdir(parents=True, exist_ok=True)
        self._plan = plan
        if plan.guard:
            check_supported()
        self._findings = Findings(plan.folder / "findings")
        self._failed: Counter[str] = Counter()
        self._stopped = ""
        self._before = self._remembered()
        self._started = time.monotonic()
        self._jobs = [
            _Job(number, path, Board(path, target.room), self._before.execs // plan.jobs)
            for number in range(plan.jobs)
            for path in (boards / f"{number}",)
        ]
        module = "dp2emu.fuzz.worker"
        self._function = f"{module}:main_guided" if plan.guided else f"{module}:main"
        self._server = ForkServer(module, *(() if ":" in name else TARGET_MODULES))

    # Progress, and the summary that a later campaign continues

    @property
    def _state(self) -> Path:
        return self._plan.folder / f"{self._target.name}.json"

    def _remembered(self) -> Progress:
        nothing = Progress(self._target.name, 0, 0.0, 0, 0, 0)
        if not self._plan.resume or not self._state.exists():
            return nothing
        try:
            told = json.loads(read_file(self._state))
            execs, seconds = int(told["execs"]), float(told["seconds"])
            cases = int(told.get("cases", 0))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            execs, seconds, cases = -1, 0.0, 0
        if min(execs, cases) < 0 or not 0 <= seconds < math.inf:
            raise UsageError("not the summary of a campaign", stream=str(self._state))
        return replace(nothing, execs=execs, seconds=seconds, cases=cases)

    def closed(self) -> Progress:
        """Save the summary and return the final progress."""
        progress = self.progress()
        text = json.dumps(summary(progress, self._plan), indent=1)
        write_file(self._state, text.encode() + b"\n")
        return progress

    def progress(self) -> Progress:
        """Return the current progress."""
        seen = [self._vitals(job) for job in self._jobs]
        execs = sum(max(v.execs, job.execs) for v, job in zip(seen, self._jobs, strict=True))
        longer = [sum(column) for column in zip(*(v.longer for v in seen), strict=True)]
        names = [n for n in self._findings.names() if n.startswith(f"{self._target.name}-")]
        return Progress(
            self._target.name,
            execs,
            self._before.seconds + time.monotonic() - self._started,
            max(vitals.features for vitals in seen),
            max(vitals.lines for vitals in seen),
            max(vitals.corpus for vitals in seen),
            tuple(names),
            longer[0],
            longer[1],
            longer[2] / 1e9,
            self._before.cases + sum(vitals.cases for vitals in seen),
            tuple(self._inputs_of(name) for name in names),
            self._stopped,
        )

    def _inputs_of(self, name: str) -> int:
        """Return how many inputs led to the finding with a name."""
        return self._failed[name] + sum(job.board.told().get(name, 0) for job in self._jobs)

    def _vitals(self, job: _Job) -> Vitals:
        """Return the counts of a worker; if guided, all but the inputs tried are libFuzzer's."""
        vitals = job.board.read()
        if not self._plan.guided or job.worker is None:
            return vitals
        features, lines, corpus = reached(_end_of(job.output, _STATUS_BYTES))
        return replace(vitals, features=features, lines=lines, corpus=corpus)

    # Supervision

    def work(self, watch: Callable[[Progress], None]) -> None:
        """Supervise the workers until all are done."""
        told = 0.0
        while not all(job.done for job in self._jobs):
            for job in self._jobs:
                if not job.done:
                    self._supervise(job)
            time.sleep(_POLL_SECONDS)
            if time.monotonic() - told > 1.0:
                told = time.monotonic()
                watch(self.progress())

    def _supervise(self, job: _Job) -> None:
        now = time.monotonic()
        if job.worker is None:
            self._start(job)
            return
        vitals, code = job.board.read(), job.worker.poll()
        if vitals.execs != job.execs:
            job.execs, job.changed = vitals.execs, now
            job.worked = _worked(job.worker.pid, now)
        elif not vitals.data:
            job.changed = now + _START_SECONDS
            job.worked = _worked(job.worker.pid, now)
        if code == 0:
            job.done = True
            job.execs = vitals.execs + bool(vitals.data)  # libFuzzer ends without a last count
        elif code == GIVEN_UP:
            job.done, job.execs = True, vitals.execs
            output = _end_of(job.output, _REPORT_BYTES).decode("utf-8", "replace")
            self._stopped = output.strip().rpartition("\n")[2]
        elif code is not None:
            self._lost(job, f"the process ended with {_ending(code)}")
        elif vitals.data and self._overdue(job, job.worker.pid, now, self._most(vitals.data)):
            self._lost(job, f"no end after {self._most(vitals.data):g} seconds")

    def _overdue(self, job: _Job, process: int, now: float, most: float) -> bool:
        lasted = now - job.changed
        if lasted <= most:
            return False
        return _worked(process, now) - job.worked > most or lasted > _PATIENCE * most

    def _most(self, data: bytes) -> float:
        """Return the seconds that an input may take: a longer one no fewer than its bound."""
        target, most = self._target, self._plan.timeout
        return most if len(data) <= target.most else max(most, target.allowed(data).seconds)

    def _lost(self, job: _Job, how: str) -> None:
        """End a worker that crashed or hangs (``how``), and save its input as a finding.

        Raises Dp2Error if several workers in succession were lost without an input.
        """
        assert job.worker is not None
        job.worker.close()
        job.worker = None
        vitals = job.board.read()
        output = _end_of(job.output, _REPORT_BYTES).decode("utf-8", "replace")
        how += _guard_report(output)
        job.execs = vitals.execs + 1
        finding = Finding(self._target.name, how, f"{how}\n\n{output}", vitals.data)
        self._failed[finding.name] += 1
        if not self._findings.has(finding):
            self._findings.save(finding, self._target)
        job.idle = 0 if vitals.data else job.idle + 1
        if job.idle == _MOST_IDLE:
            raise Dp2Error(f"{how}, {job.idle} times before an input; see {finding.name}.txt")

    def _start(self, job: _Job) -> None:
        plan, left = self._plan, None
        if plan.seconds is not None:
            left = plan.seconds - (time.monotonic() - self._started)
            if left <= 0:
                job.done = True
                return
        job.output.write_bytes(b"")
        job.board.begin(job.execs, b"")  # a lost worker leaves its input there
        job.changed = time.monotonic() + _START_SECONDS
        paths = map(str, (plan.folder, job.path, job.output))
        seed = plan.seed * 1009 + job.number
        cost = plan.seconds_per_kib, plan.mib_per_kib
        last = self._last(job)
        call = call_of(
            self._function, self._name, *paths, cost, seed, job.execs, last, left, plan.guard
        )
        job.worker = self._server.start(call)

    def _last(self, job: _Job) -> int | None:
        """Return the number of inputs, resumed ones too, at which a worker ends; None: no end."""
        execs, jobs = self._plan.execs, self._plan.jobs
        if execs is None:
            return None
        return self._before.execs // jobs + execs // jobs + (job.number < execs % jobs)

    def stop(self) -> None:
        """End all processes."""
        for job in self._jobs:
            if job.worker is not None:
                job.worker.close()
        self._server.close()


def _guard_report(output: str) -> str:
    """Return the report of an access to a guard page in a worker's output, without its numbers."""
    found = _GUARD_REPORT.search(output)
    return f": {found[1]}, {found[2]}" if found else ""


def _end_of(path: Path, most: int) -> bytes:
    """Return the last ``most`` bytes of a file."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - most, 0))
        return file.read(most)


def _worked(process: int, now: float) -> float:
    """Return a process's processor time in seconds; ``now`` where the system has no report."""
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return now
    user, system = stat.rpartition(b")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
