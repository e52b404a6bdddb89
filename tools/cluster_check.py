"""A batch over a local cluster whose workers are killed, beside a serial run of the same files.

python tools/cluster_check.py [CAPTURE...] [--files N] [--workers N] [--kills N] [--as-it-is]

Needs the extra ``cluster`` and ``psutil``.  Exits with 1 if a row is missing, is there twice or
differs.  Without captures it takes those of ``streams/``, round and round.

First ``dp2emu batch --jobs 1``, then ``dp2emu batch --dask`` on a cluster that is there.  The
serial sum is all that the first takes, from the start of its process to the end; what the second
takes is counted from its start until the cluster is whole again: scheduler, nannies, client,
workers and their children, and those started in the place of the killed.  Both are said of the
seconds of processors and of those that pass, times workers.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

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
    with tempfile.TemporaryDirectory() as folder:
        batch(captures, Path(folder, "warm"))  # what is compiled once is there for both
        files = linked(Path(folder), captures, given.files)
        return compare(files, Path(folder), given)


def compare(files: list[str], folder: Path, given: argparse.Namespace) -> int:
    """Do the files both ways and say what came of it; the exit code."""
    alone, spread = folder / "serial.jsonl", folder / "cluster.jsonl"
    serial = taking(lambda: batch(files, alone, "--jobs", "1"))
    print(f"serial: {serial}")
    with local_cluster(given.workers) as cluster:
        idle = taking(lambda: time.sleep(5))
        print(f"the cluster without a task: {idle.processors / 5:.3f} s of processors a second")
        gap = serial.passed / given.workers / (given.kills + 1)
        with_kills = taking(lambda: on_cluster(cluster, files, spread, given, gap))
    print(f"cluster: {with_kills}")
    expected, found = (path.read_text("utf-8").splitlines() for path in (alone, spread))
    wrong = sum(one != other for one, other in zip(expected, found, strict=False))
    print(f"{len(expected)} files, {len(found)} rows, {wrong} wrong")
    over = with_kills.processors / serial.processors
    longer = with_kills.passed * given.workers / serial.passed
    print(f"overhead {100 * (over - 1):.1f} % of processors' time")
    print(f"overhead {100 * (longer - 1):.1f} % of time that passes, times workers")
    return int(expected != found)


class Taken(NamedTuple):
    """Seconds of processors, of all processes here, and those that passed."""

    processors: float
    passed: float

    def __str__(self) -> str:
        return f"{self.processors:.2f} s of processors, {self.passed:.2f} s pass"


def taking(work: Callable[[], None]) -> Taken:
    """What work takes."""
    before, began = taken(), time.monotonic()
    work()
    return Taken(taken() - before, time.monotonic() - began)


def batch(files: Sequence[str], out: Path, *options: str) -> None:
    """``dp2emu batch``, whatever comes of the files."""
    command = [sys.executable, "-m", "dp2emu", "batch", *files, "--out", str(out), *options]
    subprocess.run(command, stderr=subprocess.DEVNULL)


def on_cluster(
    cluster: Any, files: Sequence[str], out: Path, given: argparse.Namespace, gap: float
) -> None:
    """The same by the cluster, of whose workers some are killed meanwhile."""
    with killed(cluster, given.kills, gap):
        batch(files, out, "--dask", cluster.scheduler_address)
    whole(cluster, given.workers)


_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""


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


@contextlib.contextmanager
def killed(cluster: Any, kills: int, gap: float) -> Iterator[None]:
    """So many workers, by chance, are killed about ``gap`` seconds apart."""
    over = threading.Event()

    def kill() -> None:
        random = Random(kills)
        for _ in range(kills):
            if over.wait(gap * (0.5 + 0.6 * random.random())):
                return
            process = random.choice(list(cluster.workers.values())).process
            if process is not None and process.pid:  # or it is being started
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
