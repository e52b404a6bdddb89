"""``dp2emu batch``."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from dp2emu.batch import Limits, Results, batch, batch_on, parse_shard, shard_of
from dp2emu.cli.captures import PATH
from dp2emu.cli.limiting import with_limits
from dp2emu.cli.outcome import DIFFERS, FAULTS, FINE, UNUSABLE, complain, say, worst
from dp2emu.cli.ranges import FloatRange
from dp2emu.cli.readings import with_readings
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import parse_timing

CODES = {"fine": FINE, "differs": DIFFERS, "faults": FAULTS}
"""Exit codes by outcome; any other is unusable."""


@click.command("batch")
@click.argument("files", metavar="FILES...", type=PATH, nargs=-1, required=True)
@click.option("--jobs", metavar="N", type=click.IntRange(1, 1024), help="Files at a time.")
@click.option("--dask", metavar="ADDRESS", help="Use the cluster with that scheduler instead.")
@click.option("--shard", metavar="K/N", default="1/1", help="Only the K-th of N parts.")
@click.option("--out", metavar="FILE", type=PATH, default="-", help="Results, a line a file.")
@click.option("--resume", is_flag=True, help="Go on where --out ends: what it has is not redone.")
@click.option("--timing", metavar="MODEL", help="Timing model (see replay).")
@click.option(
    "--seconds", type=FloatRange(0.1, 86400), default=600.0, show_default=True,
    help="Time a file may take.",
)  # fmt: skip
@click.option(
    "--memory", metavar="MIB", type=click.IntRange(0), default=0,
    help="Memory a file may take; 0, the default: any.",
)  # fmt: skip
@with_limits
@with_readings
def command(
    files: tuple[str, ...],
    jobs: int | None,
    dask: str | None,
    shard: str,
    out: str,
    resume: bool,
    timing: str | None,
    seconds: float,
    memory: int,
    options: Options,
) -> int:
    """Replay many captures, each in a process that is watched.

    A line of JSON for each, in the order of the files, whatever comes of it.
    """
    if resume and out == "-":
        raise click.UsageError("--resume needs --out")
    if dask and jobs:
        raise click.UsageError("--jobs are for this machine, --dask for another")
    if timing:
        parse_timing(timing)
    limits = Limits(seconds, memory << 20, timing, options)
    chosen = shard_of(list(dict.fromkeys(files)), *parse_shard(shard))
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        write, done = _sink(out, resume, stack)
        left = [path for path in chosen if path not in done]
        advance = stack.enter_context(_progress(len(left)))
        rows = batch_on(dask, left, limits) if dask else batch(left, limits, jobs=jobs or _cores())
        for row in rows:
            write(row)
            advance()
            counts[row["outcome"]] += 1
            if row["error"]:
                complain(f"{row['file']}: {row['error']}")
    say(_summary(counts, len(chosen) - len(left)))
    return worst(*(CODES.get(outcome, UNUSABLE) for outcome in counts))


def _cores() -> int:
    return os.cpu_count() or 1


def _sink(
    out: str, resume: bool, stack: ExitStack
) -> tuple[Callable[[dict[str, Any]], None], set[str]]:
    """Where rows go, and the files that are there."""
    if out == "-":
        return lambda row: print(json.dumps(row), flush=True), set()
    results = stack.enter_context(Results(out, resume=resume))
    return results.write, set(results.done)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """A bar over files, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("batch", total=total)
        yield lambda: bar.advance(task)


def _summary(counts: Counter[str], kept: int) -> str:
    parts = [f"{number} {outcome}" for outcome, number in sorted(counts.items())]
    parts += [f"{kept} done before"] if kept else []
    return f"{sum(counts.values())} files: {', '.join(parts) or 'nothing to do'}"
