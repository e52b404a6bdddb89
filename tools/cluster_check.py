"""A batch over a local cluster whose workers are killed, against a serial run.

python tools/cluster_check.py CAPTURE... [--copies N] [--workers N] [--kills N]

Needs the extra ``cluster``.  Exits with 1 if a row is missing, is there twice or differs.  The
serial sum is what replaying each file in one process takes, without starting that; overhead is
what the others take beyond it, with all of their processes' starts and restarts.  Both are time
of processors, which on Linux includes what orphans of killed workers took: a machine that has
other things to do makes it little longer.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from dp2emu.batch import Limits, batch, batch_on
from dp2emu.batch.child import row_of

Rows = list[dict[str, Any]]

ORPHANS = 20
"""Tenths of a second in which those whose worker is gone end."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""


def main() -> int:
    """Compare; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captures", nargs="+")
    parser.add_argument("--copies", type=int, default=100, help="links to each capture")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = linked(Path(folder), given.captures, given.copies)
        row_of(files[0])
        adopt_orphans()
        serial, before, _ = timed(lambda: [row_of(path) for path in files])
        watched, *children = timed(lambda: list(batch(files, Limits())))
        alone = (before + timed(lambda: [row_of(path) for path in files])[1]) / 2
        spread, *cluster = timed(lambda: on_cluster(files, given.workers, given.kills))
    print(
        f"{len(files)} files: serial sum {alone:.2f} s, {alone / len(files) * 1e3:.2f} ms a file"
    )
    for name, rows, (taken, passed) in (
        ("child", watched, children),
        ("cluster", spread, cluster),
    ):
        wrong = sum(one != other for one, other in zip(serial, rows, strict=False))
        over = f"overhead {(taken / alone - 1) * 100:.1f} %, {passed:.2f} s passed"
        print(f"{name}: {len(rows)} rows, {wrong} wrong, {taken:.2f} s, {over}")
    return int(serial != watched or serial != spread)


def timed(work: Callable[[], Rows]) -> tuple[Rows, float, float]:
    """What comes of it, the seconds it takes of processors, and those that pass."""
    started, before = time.monotonic(), spent()
    found = work()
    passed = time.monotonic() - started
    return found, spent() - before, passed


def spent() -> float:
    """Seconds of processors this process took, with all that it started and that has ended."""
    for _ in range(ORPHANS):
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.1)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def busy() -> float:
    """Seconds of processors that this process took, and all below it that there are."""
    import psutil

    here = psutil.Process()
    found = 0.0
    for process in (here, *here.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            found += times.user + times.system
    return found


def adopt_orphans() -> None:
    """Be the parent of those whose parent was killed, where there is such a thing."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)


def linked(folder: Path, captures: list[str], copies: int) -> list[str]:
    """Names of links to the captures, ``copies`` of each."""
    names = []
    for number in range(copies):
        for capture in captures:
            name = folder / f"{number:05}_{Path(capture).name}"
            name.symlink_to(Path(capture).resolve())
            names.append(str(name))
    return names


def on_cluster(files: list[str], workers: int, kills: int) -> Rows:
    """The rows of a local cluster, of whose workers ``kills`` are killed by and by."""
    import dask
    from distributed import Client, LocalCluster

    # A local cluster closes what watches a lost worker a little later, though it has a new one.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        over = threading.Event()

        def kill() -> None:
            random, left = Random(1), kills
            with Client(cluster.scheduler_address, set_as_default=False) as client:
                while left and not over.wait(1.0):
                    pids = sorted(client.run(os.getpid, on_error="ignore").values())
                    if pids:
                        os.kill(random.choice(pids), signal.SIGKILL)
                        left -= 1
            print(f"{kills - left} workers killed")

        killer = threading.Thread(target=kill)
        killer.start()
        before = busy()
        try:
            return list(batch_on(cluster.scheduler_address, files, Limits()))
        finally:
            print(f"{busy() - before:.2f} s of a cluster that was there, without what was killed")
            over.set()
            killer.join()


if __name__ == "__main__":
    sys.exit(main())
