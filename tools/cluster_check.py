"""A batch over a local cluster whose workers are killed, against serial runs side by side.

python tools/cluster_check.py [CAPTURE...] [--files N] [--workers N] [--kills N] [--as-it-is]

Needs the extra ``cluster`` and ``psutil``.  Exits with 1 if a row is missing, is there twice or
differs.  Without captures it takes those of ``streams/``, round and round.

Plain processes and the cluster do the files at the same time: what else the machine does meets
both alike.  A plain process replays file after file and does nothing else; there are as many as
workers, so that a worker needs two processors.  Of the first half of the files no worker is
killed, and all kills are in the second.  The serial sum is the time of processors of the plain
processes, without their start; overhead is what all processes of the cluster take beyond it:
scheduler, client, workers and children, those started again included, until the cluster is whole
again.  The same is said of time that passes.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # the cluster's processes import this file, and need nothing of it
    from multiprocessing.connection import Connection

Rows = list[dict[str, Any]]

STREAMS = Path(__file__).resolve().parents[1] / "streams"
QUIET = {
    "distributed.worker.memory.monitor-interval": "5s",
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""A worker of dask is asked a hundred times a second what it does, unless told otherwise."""


def main() -> int:
    """Compare; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captures", nargs="*")
    parser.add_argument("--files", type=int, default=10_000, help="links to the captures")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--as-it-is", action="store_true", help="a cluster with dask's defaults")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as if installed
    import dask

    # A local cluster closes what watches a lost worker a little later, though it has a new one.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    dask.config.set({} if given.as_it_is else QUIET)
    adopt_orphans()
    captures = given.captures or sorted(
        str(path) for kind in ("*.dp2", "real/*.trace") for path in STREAMS.glob(kind)
    )
    with tempfile.TemporaryDirectory() as folder, plain(given.workers, captures) as processes:
        files = linked(Path(folder), captures, given.files)
        return compare(files, processes, given)


def compare(files: list[str], processes: list[Plain], given: argparse.Namespace) -> int:
    """Do the files both ways and say what came of it; the exit code."""
    before = Watch()
    serial: Rows = []
    spread: Rows = []
    halves: list[Half] = []
    with local_cluster(given.workers) as cluster:
        print(f"starting the cluster: {before.spent():.2f} s of processors")
        idle = Watch()
        time.sleep(5)
        print(f"the cluster without a task: {idle.spent() / 5:.3f} s of processors a second")
        half = len(files) // 2
        for kills, part in ((0, files[:half]), (given.kills, files[half:])):
            watch = Watch()
            ask(processes, part)
            there, passed = on_cluster(cluster, part, kills, given.workers)
            rows, plainly, waited = answers(processes, len(part))
            serial += rows
            spread += there
            halves.append(Half(kills, plainly, waited, watch.spent() - plainly, passed))
            say(halves[-1:])
    wrong = sum(one != other for one, other in zip(serial, spread, strict=False))
    print(f"{len(serial)} files, {len(spread)} rows, {wrong} wrong")
    say(halves)
    return int(serial != spread)


class Half(NamedTuple):
    """What half of the files took: seconds of processors, and those that passed times workers, of
    the plain processes and of the cluster.
    """

    kills: int
    serial: float
    serial_passed: float
    cluster: float
    cluster_passed: float


def say(halves: Sequence[Half]) -> None:
    """Print sums, and the overhead."""
    kills, serial, passed, spent, longer = map(sum, zip(*halves, strict=True))
    print(f"{kills} kills: serial sum {serial:.2f} s, cluster {spent:.2f} s of processors")
    print(f"    overhead {100 * (spent / serial - 1):.1f} % of processors' time")
    print(f"    overhead {100 * (longer / passed - 1):.1f} % of time that passes")


_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""


class Watch:
    """Of the time of processors that this process and all below it take."""

    def __init__(self) -> None:
        self._before = taken()

    def spent(self) -> float:
        """Seconds since it was made."""
        return taken() - self._before


def taken() -> float:
    """Seconds of processors of this process, of all below it, and of those that have ended."""
    import psutil

    here = psutil.Process()
    found = 0.0
    for process in (here, *here.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            found += sum(process.cpu_times()[:4])  # its own and those of what it waited for
    return found


def adopt_orphans() -> None:
    """Be the parent of those whose parent was killed, where there is such a thing: what they took
    is counted.  Nobody waits for them, which ends with this process.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)


class Plain:
    """A process that replays captures and does nothing else."""

    def __init__(self, captures: Sequence[str]) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._here, there = spawning.Pipe()
        self._process = spawning.Process(target=replaying, args=(there,), daemon=True)
        self._process.start()
        self.ask(captures)
        self.answer()

    def ask(self, files: Sequence[str]) -> None:
        """Have it replay files."""
        self._here.send(list(files))

    def answer(self) -> tuple[Rows, float, float]:
        """Rows of what was asked; the seconds of processors, and those that passed."""
        rows, spent, passed = self._here.recv()
        return rows, spent, passed

    def close(self) -> None:
        """End it."""
        self._here.close()
        self._process.join()


def replaying(asked: Connection) -> None:
    """Of a plain process: what it does."""
    from dp2emu.batch.child import row_of

    with contextlib.suppress(EOFError):
        while True:
            files = asked.recv()
            spent, passed = time.process_time(), time.monotonic()
            rows = [row_of(path) for path in files]
            asked.send((rows, time.process_time() - spent, time.monotonic() - passed))


@contextlib.contextmanager
def plain(count: int, captures: Sequence[str]) -> Iterator[list[Plain]]:
    """Plain processes, which have replayed each capture once."""
    processes = [Plain(captures) for _ in range(count)]
    yield processes
    for process in processes:
        process.close()


def ask(processes: Sequence[Plain], files: Sequence[str]) -> None:
    """Have each process replay its part of the files."""
    for number, process in enumerate(processes):
        process.ask(files[number :: len(processes)])


def answers(processes: Sequence[Plain], files: int) -> tuple[Rows, float, float]:
    """What comes of so many files that were asked for: rows, and the sums of what they took."""
    rows: Rows = [{}] * files
    spent = passed = 0.0
    for number, process in enumerate(processes):
        rows[number :: len(processes)], took, waited = process.answer()
        spent += took
        passed += waited
    return rows, spent, passed


def linked(folder: Path, captures: Sequence[str], count: int) -> list[str]:
    """Names of ``count`` links to the captures, which come round and round."""
    names = []
    for number, capture in enumerate(islice(cycle(captures), count)):
        name = folder / f"{number:06}_{Path(capture).name}"
        name.symlink_to(Path(capture).resolve())
        names.append(str(name))
    return names


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """A cluster on this machine: workers of one thread."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def on_cluster(cluster: Any, files: Sequence[str], kills: int, workers: int) -> tuple[Rows, float]:
    """Rows by the cluster, of whose workers ``kills`` are killed meanwhile, and the seconds that
    pass, times workers.
    """
    from dp2emu.batch import Limits, batch_on

    began = time.monotonic()
    with killed(cluster, kills):
        rows = list(batch_on(cluster.scheduler_address, files, Limits()))
    whole(cluster, workers)
    return rows, (time.monotonic() - began) * workers


@contextlib.contextmanager
def killed(cluster: Any, kills: int) -> Iterator[None]:
    """So many workers, by chance, are killed half a second apart."""
    over = threading.Event()

    def kill() -> None:
        random = Random(kills)
        for _ in range(kills):
            over.wait(0.5 + random.random())
            process = random.choice(list(cluster.workers.values())).process
            os.kill(process.pid, signal.SIGKILL)
            print("a worker is killed")

    killer = threading.Thread(target=kill)
    killer.start()
    yield
    over.set()
    killer.join()


def whole(cluster: Any, workers: int) -> None:
    """Wait until all workers are there."""
    from distributed import Client

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
