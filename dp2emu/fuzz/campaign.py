"""Fuzzing in processes that are watched: a crash or a hang of one is a finding, not the end."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from dp2emu import __version__
from dp2emu.errors import UsageError
from dp2emu.fuzz import target_named
from dp2emu.fuzz.findings import Finding, Findings
from dp2emu.fuzz.guided import reached
from dp2emu.fuzz.worker import Board, Vitals
from dp2emu.inputs import read_file
from dp2emu.outputs import write_file
from dp2emu.records import dataclass

_GLANCE = 0.1
"""Seconds between looks at the workers."""
_START = 60.0
"""Seconds a worker may take for its first input: it imports what it tries."""
_PATIENCE = 6
"""Timeouts that an input may last whose process works less: other processes have the processor."""
_LAST_WORDS = 4000
"""Characters of what a worker that died had said."""
_STATUS = 1 << 16
"""Bytes of what a worker says that are looked at for how far it is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do: ``execs`` inputs in all or ``seconds``, None for no end, by ``jobs`` processes.

    ``timeout`` is how many seconds of a processor an input may take, where the system tells it
    (Linux), and how many seconds elsewhere.  ``guided``: atheris chooses inputs by
    coverage.  ``seed`` decides which inputs there are, ``resume`` whether to go on behind those of
    the last time.
    """

    folder: Path
    execs: int | None = None
    seconds: float | None = None
    jobs: int = 1
    seed: int = 0
    timeout: float = 10.0
    guided: bool = False
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is: inputs tried, by all processes and, resumed, those before; kinds of
    inputs and lines covered by the process that has most, or branches where inputs are chosen by
    coverage; inputs kept; findings by name.
    """

    target: str
    execs: int
    seconds: float
    features: int
    lines: int
    corpus: int
    findings: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Inputs a second."""
        return self.execs / self.seconds if self.seconds else 0.0


def summary(progress: Progress, plan: Plan) -> dict[str, Any]:
    """How it ended, for JSON, with what it takes to try the same again: the plan and versions."""
    return asdict(progress) | {
        "rate": round(progress.rate),
        "seed": plan.seed,
        "jobs": plan.jobs,
        "guided": plan.guided,
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    """Ours, that of Python, and those of what is installed and has a say in inputs or results."""
    known = {"dp2emu": __version__, "python": python_version()}
    for name in ("numpy", "construct", "llvmlite", "atheris"):
        with suppress(PackageNotFoundError):
            known[name] = version(name)
    return known


def campaign(
    name: str, plan: Plan, watch: Callable[[Progress], None] = lambda progress: None
) -> Progress:
    """Fuzz the target of that name (``target_named``).  ``watch`` is told about once a second how
    it goes, and at the end how it went.

    Findings and corpus are in ``plan.folder``; ends early at KeyboardInterrupt, which is passed on
    when all that is told and kept.  Raises UsageError for a name that is none and, resumed, for a
    summary that is none, and OSError.
    """
    with tempfile.TemporaryDirectory(prefix="dp2emu-fuzz-") as boards:
        crew = _Crew(name, plan, Path(boards))
        try:
            crew.work(watch)
        finally:
            crew.stop()
            ended = crew.closed()
            watch(ended)
        return ended


@dataclass
class _Member:
    """A worker.  Mutable: processes come and go, ``execs`` only grows."""

    number: int
    board: Board
    path: Path
    execs: int
    process: subprocess.Popen[bytes] | None = None
    words: Path = field(default_factory=Path)
    changed: float = 0.0
    worked: float = 0.0
    done: bool = False


class _Crew:
    """All workers of a campaign.  Mutable."""

    def __init__(self, name: str, plan: Plan, boards: Path) -> None:
        self._name = name
        self._target = target = target_named(name)
        plan.folder.mkdir(parents=True, exist_ok=True)
        self._plan = plan
        self._findings = Findings(plan.folder / "findings")
        self._before = self._remembered()
        self._started = time.monotonic()
        each = self._before.execs // plan.jobs
        self._members = [
            _Member(number, Board(path, target.most), path, each)
            for number in range(plan.jobs)
            for path in (boards / f"{number}",)
        ]
        self._stdin, self._life = os.pipe()  # workers end when nobody can write to theirs

    # What went before, and what comes after

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
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            execs, seconds = -1, 0.0
        if execs < 0 or not 0 <= seconds < math.inf:
            raise UsageError("no summary of a campaign", stream=str(self._state))
        return replace(nothing, execs=execs, seconds=seconds)

    def closed(self) -> Progress:
        """How it ended, which the folder remembers."""
        progress = self.progress()
        text = json.dumps(summary(progress, self._plan), indent=1)
        write_file(self._state, text.encode() + b"\n")
        return progress

    def progress(self) -> Progress:
        """How far it is."""
        seen = [self._vitals(member) for member in self._members]
        execs = sum(max(v.execs, m.execs) for v, m in zip(seen, self._members, strict=True))
        names = [n for n in self._findings.names() if n.startswith(f"{self._target.name}-")]
        return Progress(
            self._target.name,
            execs,
            self._before.seconds + time.monotonic() - self._started,
            max(vitals.features for vitals in seen),
            max(vitals.lines for vitals in seen),
            max(vitals.corpus for vitals in seen),
            tuple(names),
        )

    def _vitals(self, member: _Member) -> Vitals:
        """What a worker has done; of coverage libFuzzer tells where it is what chooses inputs."""
        vitals = member.board.read()
        if not self._plan.guided or member.process is None:
            return vitals
        features, lines, corpus = reached(_end_of(member.words, _STATUS))
        return replace(vitals, features=features, lines=lines, corpus=corpus)

    # Work

    def work(self, watch: Callable[[Progress], None]) -> None:
        """Until every worker is done."""
        told = 0.0
        while not all(member.done for member in self._members):
            for member in self._members:
                self._look_after(member)
            time.sleep(_GLANCE)
            if time.monotonic() - told > 1.0:
                told = time.monotonic()
                watch(self.progress())

    def _look_after(self, member: _Member) -> None:
        now = time.monotonic()
        if member.done:
            return
        if member.process is None:
            self._start(member)
            return
        vitals, code = member.board.read(), member.process.poll()
        if vitals.execs != member.execs:
            member.execs, member.changed = vitals.execs, now
            member.worked = _worked(member.process.pid, now)
        elif not vitals.data:
            member.changed = now + _START
        if code == 0:
            member.done = True
            member.execs = vitals.execs + bool(vitals.data)  # libFuzzer says no last word
        elif code is not None:
            self._lost(member, f"the process ended with {_ending(code)}")
        elif vitals.data and self._overdue(member, now):
            member.process.kill()
            member.process.wait()
            self._lost(member, f"no end after {self._plan.timeout:g} seconds")

    def _overdue(self, member: _Member, now: float) -> bool:
        assert member.process is not None
        lasted, most = now - member.changed, self._plan.timeout
        if lasted <= most:
            return False
        worked = _worked(member.process.pid, now) - member.worked
        return worked > most or lasted > _PATIENCE * most

    def _lost(self, member: _Member, how: str) -> None:
        """A worker is gone, and the input it had is why."""
        vitals = member.board.read()
        words = _end_of(member.words, _LAST_WORDS).decode("utf-8", "replace")
        member.process = None
        member.execs = vitals.execs + 1
        finding = Finding(self._target.name, how, f"{how}\n\n{words}", vitals.data)
        if not self._findings.has(finding):
            self._findings.save(finding, self._target)

    def _start(self, member: _Member) -> None:
        left = self._seconds_left()
        if left is not None and left <= 0:
            member.done = True
            return
        plan = self._plan
        execs = None if plan.execs is None else self._share(member)
        member.words = member.path.with_suffix(".txt")
        member.changed = time.monotonic() + _START
        arguments = (
            self._name, plan.folder, member.path, plan.seed * 1009 + member.number,
            member.execs, "" if execs is None else execs, "" if left is None else left,
        )  # fmt: skip
        module = "dp2emu.fuzz.guided" if plan.guided else "dp2emu.fuzz.worker"
        command = [sys.executable, "-m", module, *map(str, arguments)]
        with open(member.words, "wb") as words:
            member.process = subprocess.Popen(
                command, stdin=self._stdin, stdout=words, stderr=words
            )

    def _share(self, member: _Member) -> int:
        """Where a worker stops: it counts from what was tried before."""
        assert self._plan.execs is not None
        jobs = self._plan.jobs
        share = self._plan.execs // jobs + (member.number < self._plan.execs % jobs)
        return self._before.execs // jobs + share

    def _seconds_left(self) -> float | None:
        if self._plan.seconds is None:
            return None
        return self._plan.seconds - (time.monotonic() - self._started)

    def stop(self) -> None:
        """End all processes."""
        os.close(self._life)
        os.close(self._stdin)
        for member in self._members:
            if member.process is not None and member.process.poll() is None:
                member.process.kill()
                member.process.wait()


def _end_of(path: Path, most: int) -> bytes:
    """The last bytes of a file."""
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - most, 0))
        return file.read(most)


def _worked(process: int, now: float) -> float:
    """Seconds of a processor that a process has had, or the time where the system does not say."""
    try:
        told = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return now
    user, system = told.rpartition(b")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
