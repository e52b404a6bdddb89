"""A batch over a local cluster whose workers are killed, against a serial run.

python tools/cluster_check.py CAPTURE... [--copies N] [--workers N] [--kills N]

Needs the extra ``cluster``.  Exits with 1 if a row is missing, is there twice or differs.  The
serial sum is what replaying each file in one process takes, without starting that; overhead is
what the others take beyond it, all of their processes' starts and restarts included, on one
processor or on as many as there are workers.
"""

from __future__ import annotations

import argparse
import os
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
        serial, alone = timed(lambda: [row_of(path) for path in files])
        watched, children = timed(lambda: list(batch(files, Limits())))
        spread, cluster = timed(lambda: on_cluster(files, given.workers, given.kills))
    print(
        f"{len(files)} files: serial sum {alone:.2f} s, {alone / len(files) * 1e3:.2f} ms a file"
    )
    for name, rows, taken, processors in (
        ("child", watched, children, 1),
        ("cluster", spread, cluster, min(given.workers, os.cpu_count() or 1)),
    ):
        wrong = sum(one != other for one, other in zip(serial, rows, strict=False))
        over = f"{taken:.2f} s, overhead {(taken * processors / alone - 1) * 100:.1f} %"
        print(f"{name}: {len(rows)} rows, {wrong} wrong, {over}")
    return int(serial != watched or serial != spread)


def timed(work: Callable[[], Rows]) -> tuple[Rows, float]:
    """What comes of it, and the seconds it takes."""
    started = time.monotonic()
    found = work()
    return found, time.monotonic() - started


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
    from distributed import Client, LocalCluster

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
        try:
            return list(batch_on(cluster.scheduler_address, files, Limits()))
        finally:
            over.set()
            killer.join()


if __name__ == "__main__":
    sys.exit(main())
