"""Whatever system call or allocation fails: one line, an exit code, and no file half written."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from dp2emu.cli import VERBS
from dp2emu.cli.outcome import DIFFERS, FAULTS, UNUSABLE
from tests.cli.injected import CALLS, Injected, Injector, Outcome, injector
from tests.cli.running import dp2emu
from tests.native.building import sample, served_sample
from tests.tools.loading import ROOT

STREAMS = ROOT / "streams"
SCENES = ROOT / "tests" / "golden" / "scenes"
OLD = b"what was there"
DRIVER = ("out of memory", "no memory", "crash: ")
"""What messages have of a driver that fails."""
ON_PAGE = ", faults "
"""What the summary of a report has whose page tells of a driver that fails."""


class Case(NamedTuple):
    """Arguments of a verb.  ``old`` are outputs that exist before; of ``grows`` a beginning may
    be written, up to the end of a line.  ``process``: the driver is another one.  ``costly``: it
    starts interpreters.
    """

    arguments: str
    old: tuple[str, ...] = ()
    grows: tuple[str, ...] = ()
    process: bool = False
    costly: bool = False


CASES = {
    "replay": Case("replay small.dp2 --engine reference --json o.json --sheet o.png --raw o.rgb "
                   "--png pictures", ("o.json", "o.png")),
    "replay, compiled": Case("replay a.dp2 --threads 1 --json o.json --verify --junit o.xml",
                             ("o.json", "o.xml")),
    "replay, compared": Case("replay a.dp2 --engine reference --against seen --differences apart"),
    "replay, a library": Case("replay a.dp2 --rig native:driver.so --json o.json", ("o.json",),
                              process=True, costly=True),
    "replay, a pipe": Case("replay a.dp2 --rig pipe:./driver --json o.json", ("o.json",),
                           process=True, costly=True),
    "batch": Case("batch a.dp2 a.dp2 --engine reference --out rows", grows=("rows",), costly=True),
    "import": Case("import a.trace -o o.dp2", ("o.dp2",)),
    "info": Case("info a.dp2 --tokens"),
    "state": Case("state a.dp2 --at 1 --engine reference"),
    "events": Case("events a.dp2 --engine reference"),
    "why": Case("why a.dp2 1 --engine reference"),
    "last-writer": Case("last-writer a.dp2 2 0-99 --engine reference"),
    "readers": Case("readers a.dp2 4 --engine reference"),
    "graph": Case("graph a.dp2 -o o.dot --engine reference", ("o.dot",)),
    "timeline": Case("timeline a.dp2 -o o.pftrace --engine reference", ("o.pftrace",)),
    "report": Case("report a.dp2 -o o.html --engine reference", ("o.html",)),
    "pixel": Case("pixel a.dp2 186 121 --engine reference"),
    "debug": Case("debug a.dp2 E2 pixel 186 121 --json --engine reference"),
    "mesh": Case("mesh a.dp2 E3 --engine reference"),
    "overlay": Case("overlay a.dp2 E3 --quads --engine reference -o o.png", ("o.png",)),
    "dump": Case("dump a.dp2 --hex"),
    "dump, JSON lines": Case("dump a.dp2 --jsonl"),
    "assemble": Case("assemble a.txt -o o.dp2", ("o.dp2",)),
    "convert to a log": Case("convert a.dp2 o.log --to log", ("o.log",)),
    "convert to text": Case("convert a.dp2 o.txt", ("o.txt",)),
    "convert to C": Case("convert a.dp2 o.c", ("o.c",)),
    "shader": Case("shader a.vs -o o.bin", ("o.bin",)),
    "conform": Case(
        "conform walk --json o.json --junit o.xml --html o.html", ("o.json", "o.xml", "o.html")
    ),
    "init-driver": Case("init-driver made"),
    "fuzz": Case("fuzz --plain --target walk --execs 100 --corpus kept --jobs 1", costly=True),
    "fuzz, export": Case("fuzz --export kept"),
    "minimize": Case("minimize small.dp2 --tries 9 --check ./check -o o.dp2", ("o.dp2",),
                     costly=True),
    "scene": Case("scene scene.json --engine reference --out made --capture o.dp2", ("o.dp2",)),
    "diff-images": Case("diff-images one.png two.png --out o.png", ("o.png",)),
}  # fmt: skip

SURVIVED = (errno.EINTR, 0)
"""Errors that are no failure: Python repeats the call, and goes on behind a part."""
FAILING = {
    "open": (errno.EMFILE, errno.EACCES, errno.EINTR),
    "read": (errno.EIO, errno.EINTR, 0),
    "write": (errno.ENOSPC, errno.EIO, errno.EINTR, 0),
    "rename": (errno.EACCES, errno.EROFS),
    "sync": (errno.EIO,),
    "map": (errno.ENOMEM,),
    "allocate": (errno.ENOMEM,),
    "fork": (errno.EAGAIN,),
    "close": (errno.EIO,),
    "remove": (errno.EACCES,),
    "make": (errno.EROFS,),
    "mode": (errno.EPERM,),
}
CRASHING = "diff-images", "report"
"""Cases with arrays of three dimensions, whose iterators NumPy makes without looking whether it
got the memory.  For arrays of two they are smaller than what is made to fail."""
LEFT_OF_TEMPORARIES = ("remove",)
"""Calls whose failure leaves a temporary file: it cannot be removed.  A folder of temporary files
is opened before it is removed, and stays too if that fails."""


class Trial:
    """A verb in a folder, and what becomes of it when nothing fails.  Mutable: it runs."""

    def __init__(self, name: str, folder: Path, injector: Injector) -> None:
        self.case, self.folder, self.injector = CASES[name], folder / "run", injector
        for path in (self.folder, self.folder / "tmp", self.folder / "cache"):
            path.mkdir()
        self._given = fill(self.folder, driver=self.case.process)
        self.whole = self.run(Injected())
        fine = (0, DIFFERS, *([FAULTS] if self.case.process else []))  # the sample driver's limits
        assert self.whole.code in fine, self.whole
        self.results = self.found()

    def run(self, injected: Injected) -> Outcome:
        """Run the verb where its outputs of before are."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            name = path.relative_to(self.folder).as_posix()
            if name not in self._given and name not in ("tmp", "cache"):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for name in self.case.old:
            (self.folder / name).write_bytes(OLD)
        self.last = self.injector.run(self.folder, self.case.arguments.split(), injected)
        return self.last

    def found(self) -> dict[str, bytes]:
        """The files in the folder, but for the cache, whose content depends on time."""
        found = contents(self.folder)
        return {name: data for name, data in found.items() if not name.startswith("cache/")}

    def check(self, injected: Injected) -> int:
        """Run the verb with a fault and check what it leaves; returns how many calls failed."""
        ended = self.run(injected)
        try:
            self._check(ended, injected)
        except AssertionError as error:
            error.add_note(f"{injected}\n{ended.code}: {ended.err}")
            raise
        return ended.failed

    def _check(self, ended: Outcome, injected: Injected) -> None:
        files = self.found()
        assert "Traceback" not in ended.err and "Exception ignored" not in ended.err
        if (injected.call == "allocate" or self.case.process) and drives(ended):
            # The driver had no memory or its process ended: results tell of it, and are whole.
            for name in files:
                known = name in self.results or name in self.case.old
                assert known or name.startswith("apart/"), name
                assert not name.endswith(".json") or json.loads(files[name])
            if ON_PAGE in ended.err:
                assert any(words.encode() in files["o.html"] for words in DRIVER)
            return
        crashed = injected.call == "allocate" and ended.code == -signal.SIGSEGV
        if crashed and self.case in [CASES[name] for name in CRASHING]:
            kept = {*self._given, *self.case.old}
            for name in kept & files.keys():
                self._check_file(name, files[name], injected)
            return
        if ended.code == self.whole.code:
            assert told(ended.err) == told(self.whole.err)
            assert (ended.out, named(files)) == (self.whole.out, named(self.results))
        else:
            assert injected.error not in SURVIVED
            assert ended.code == UNUSABLE
            assert len(set(told(ended.err)) - set(told(self.whole.err))) == 1
            assert self.whole.out.startswith(ended.out)
        for name, data in files.items():
            self._check_file(name, data, injected)

    def _check_file(self, name: str, data: bytes, injected: Injected) -> None:
        case = self.case
        if name in self._given:
            assert data == self._given[name], name
        elif name.startswith("kept/"):  # inputs by content, and a summary that has times
            assert not Path(name).name.startswith("."), name
        elif name in case.grows:
            assert data.endswith(b"\n") or not data, name
        elif name in case.old and data == OLD:
            pass
        elif name in self.results:
            assert data == self.results[name], name
        else:
            opened = injected.call == "open" and name.startswith("tmp/")
            assert injected.call in LEFT_OF_TEMPORARIES or opened, name


def drives(ended: Outcome) -> bool:
    """Whether a driver failed, not the command."""
    lines = [line for line in told(ended.err) if line != "dp2emu: out of memory"]
    failed = any(words in line for line in lines for words in DRIVER)
    conforms = ended.code == DIFFERS and "1 failed" in ended.err  # a case without memory
    reports = ended.code == FAULTS and ON_PAGE in ended.err
    return conforms or reports or (ended.code in (FAULTS, UNUSABLE) and failed)


def told(err: str) -> list[str]:
    """Messages, without those that count or measure."""
    return [line for line in err.splitlines() if line.startswith("dp2emu: ")]


def named(files: dict[str, bytes]) -> set[str]:
    """Names of files, but for those that are named by content or time."""
    return {name for name in files if not name.startswith(("kept/", "tmp/"))}


def fill(folder: Path, *, driver: bool) -> dict[str, bytes]:
    """Put inputs of every kind into a folder, drivers if there is need of one; returns them."""
    shutil.copy(STREAMS / "first_light.dp2", folder / "a.dp2")
    shutil.copy(STREAMS / "real" / "d3d9_tri.trace", folder / "a.trace")
    shutil.copy(ROOT / "docs" / "toon.vs", folder / "a.vs")
    shutil.copy(SCENES / "query" / "occ_nested.json", folder / "scene.json")
    (folder / "a.txt").write_bytes(text())
    (folder / "small.dp2").write_bytes(small())
    (folder / "seen").mkdir()
    for name in ("one.png", "two.png", "seen/call000001_surface2.png"):
        shutil.copy(ROOT / "docs" / "first_light.png", folder / name)
    (folder / "check").write_text("#!/bin/sh\ntest $(wc -c < $1) -lt 2000\n")
    (folder / "check").chmod(0o755)
    if driver:
        shutil.copy(served_sample(), folder / "driver")
        shutil.copy(sample(), folder / "driver.so")
    return contents(folder) | {"seen": b""}


@cache
def text() -> bytes:
    """An example capture as text."""
    return dp2emu("dump", STREAMS / "first_light.dp2").out


@cache
def small() -> bytes:
    """A capture of few pixels."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "small.dp2")
        scene = SCENES / "query" / "occ_nested.json"
        ran = dp2emu("scene", scene, "--engine", "reference", "--out", folder, "--capture", place)
        assert ran.code == 0
        return place.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder, by name."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def injecting() -> Iterator[Injector]:
    with injector() as made:
        yield made


def faults_of(trial: Trial, most: int) -> Iterator[Injected]:
    """Each call of each kind with each error; of allocations ``most``, at equal distances."""
    for call, errors in FAILING.items():
        seen = trial.whole.seen[call]
        step = max(seen // most, 1) if call == "allocate" else 1
        for error in errors:
            yield from (Injected(call, number, error) for number in range(1, seen + 1, step))


def some_of(faults: list[Injected], at: int) -> list[Injected]:
    """One fault of each of two kinds of calls, which differ from verb to verb."""
    kinds = list(dict.fromkeys(fault.call for fault in faults))
    chosen = [kinds[(2 * at + each) % len(kinds)] for each in range(2)]
    found = [[fault for fault in faults if fault.call == kind] for kind in chosen]
    return [each[at * 7 % len(each)] for each in found]


def test_every_verb_has_a_case() -> None:
    assert {case.arguments.split()[0] for case in CASES.values()} == {*VERBS}
    assert FAILING.keys() == {*CALLS}


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if not case.costly and name in VERBS]
)
def test_a_call_that_fails_ends_a_verb_with_one_line_and_whole_files(
    name: str, tmp_path: Path, injecting: Injector
) -> None:
    trial = Trial(name, tmp_path, injecting)
    assert trial.whole.seen["open"] and trial.whole.seen["read"] and trial.whole.seen["write"]
    for fault in some_of(list(faults_of(trial, 10)), list(CASES).index(name)):
        assert trial.check(fault) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_whatever_call_fails_ends_a_verb_with_one_line_and_whole_files(
    name: str, tmp_path: Path, injecting: Injector
) -> None:
    trial = Trial(name, tmp_path, injecting)
    # Runs differ in when threads compile: the last calls of one may not come in another.
    failed = sum(trial.check(fault) for fault in faults_of(trial, 100))
    assert failed >= 0.9 * len(list(faults_of(trial, 100)))


@pytest.mark.parametrize("name", ["convert to text", "fuzz, export"])
def test_a_full_disk_ends_a_verb(name: str, tmp_path: Path, injecting: Injector) -> None:
    trial = Trial(name, tmp_path, injecting)
    under = str(trial.folder)
    total = trial.run(Injected("write", under=under)).seen["write"]
    for number in range(1, total + 1, total // 3 + 1):
        full = Injected("write", number, errno.ENOSPC, lasting=True, under=under)
        assert trial.check(full) > 0
        assert os.strerror(errno.ENOSPC) in trial.last.err


@pytest.mark.parametrize("name", ["convert to text", "fuzz, export"])
def test_a_read_only_disk_ends_a_verb(name: str, tmp_path: Path, injecting: Injector) -> None:
    trial = Trial(name, tmp_path, injecting)
    call = "open" if trial.case.old else "make"
    under = str(trial.folder)
    read_only = Injected(call, 1, errno.EROFS, lasting=True, changing=True, under=under)
    assert trial.check(read_only) > 0
    assert os.strerror(errno.EROFS) in trial.last.err
    assert any(name in trial.last.err for name in (*trial.case.old, "kept"))


NOBODY = 65534


@pytest.fixture
def others() -> Iterator[Path]:
    """A folder of this user's that all can read, beside those of pytest, which are private."""
    if not hasattr(os, "geteuid") or os.geteuid():
        pytest.skip("only root can run a command as another user")
    with TemporaryDirectory(prefix="dp2emu-others-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("name", ["convert to text", "fuzz, export"])
def test_a_user_who_owns_nothing_reads_and_is_told_what_cannot_be_written(
    name: str, others: Path, injecting: Injector
) -> None:
    trial = Trial(name, others, injecting)
    for path in (trial.folder, *trial.folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    trial.check(Injected(user=NOBODY))
    assert trial.last.code == UNUSABLE
    assert os.strerror(errno.EACCES) in trial.last.err
    assert any(word in trial.last.err for word in trial.case.arguments.split())


def test_a_cache_of_another_user_is_neither_read_nor_written(
    others: Path, injecting: Injector
) -> None:
    """The objects there would run with the rights of this user."""
    trial = Trial("replay, compiled", others, injecting)
    cache = trial.folder / "cache"
    objects = {path: path.read_bytes() for path in cache.rglob("*.object")}
    assert objects
    for path in (trial.folder, cache, *cache.rglob("*")):
        path.chmod(0o777)
    damaged = {path: bytes(len(data)) for path, data in objects.items()}
    for path, data in damaged.items():
        path.write_bytes(data)
    under = str(cache / "dp2emu")
    ended = injecting.run(
        trial.folder, trial.case.arguments.split(), Injected(user=NOBODY, under=under)
    )
    assert ended.code == 0, ended.err
    assert ended.seen["open"] == ended.seen["read"] == 0
    assert {path: path.read_bytes() for path in cache.rglob("*.*")} == damaged
