"""The verb ``dp2emu batch``: replay many captures in supervised processes."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import click

from dp2emu.batch import Limits, Results, batch, batch_on, parse_shard, shard_of
from dp2emu.cli.captures import with_limits
from dp2emu.cli.junit import with_junit, write_junit
from dp2emu.cli.number_range import FloatRange, IntRange
from dp2emu.cli.options import TIMING, with_driver_options
from dp2emu.cli.outcome import DIFFERS, FAULTS, FINE, UNUSABLE, complain, progress_over, say, worst
from dp2emu.cli.paths import INPUT, OUTPUT, verb_command
from dp2emu.dp2.options import Options
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.junit import CaseResult, Result
from dp2emu.places import working_at

CODES = {"fine": FINE, "differs": DIFFERS, "faults": FAULTS}
"""Exit code by the ``outcome`` of a file; outcomes that are missing here mean UNUSABLE."""


@verb_command("batch")
@click.argument("files", metavar="FILES...", type=INPUT, nargs=-1, required=True)
@click.option("--jobs", metavar="N", type=IntRange(1, 1024), help="Files at a time.")
@click.option("--dask", metavar="ADDRESS", help="Use the dask cluster with this scheduler.")
@click.option("--shard", metavar="K/N", default="1/1", help="Only the K-th of N parts.")
@click.option(
    "--out", metavar="FILE", type=OUTPUT, default="-", help="Results, one line per file."
)
@click.option("--resume", is_flag=True, help="Append to --out, and skip the files that it lists.")
@click.option("--timing", metavar="MODEL", type=TIMING, help="Timing model (see replay).")
@click.option(
    "--seconds", type=FloatRange(0.1, 86400), default=600.0, show_default=True,
    help="Time a file may take.",
)  # fmt: skip
@click.option(
    "--memory", metavar="MIB", type=IntRange(0), default=0,
    help="Memory a file may take; 0, the default: any.",
)  # fmt: skip
@with_junit
@with_limits
@with_driver_options
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
    junit_path: str | None,
    options: Options,
) -> int:
    """Replay many captures in supervised processes.

    Writes a line of JSON for each file, in the order of the files, whatever its outcome.
    """
    if resume and out == "-":
        raise click.UsageError("--resume needs --out")
    if out == junit_path == "-":
        raise click.UsageError("--out and --junit cannot both go to standard output")
    if dask and jobs:
        raise click.UsageError("--jobs are for this machine, --dask for another")
    if timing:
        parse_timing(timing)
    limits = Limits(seconds, memory << 20, timing, options)
    chosen = shard_of(list(dict.fromkeys(files)), *parse_shard(shard))
    counts: Counter[str] = Counter()
    cases: list[CaseResult] = []
    with ExitStack() as stack:
        write, done = _sink(out, resume, stack)
        left = [path for path in chosen if path not in done]
        advance = stack.enter_context(progress_over(len(left)))
        jobs = jobs or os.cpu_count() or 1
        rows = batch_on(dask, left, limits) if dask else batch(left, limits, jobs=jobs)
        waiting = deque(left)
        stack.enter_context(working_at(lambda: {"stream": waiting[0] if waiting else None}))
        for row in rows:
            write(row)
            waiting.popleft()
            advance()
            counts[row["outcome"]] += 1
            cases.append(_case(row))
            if row["error"]:
                complain(f"{row['file']}: {row['error']}")
    write_junit(junit_path, "dp2emu batch", cases)
    say(_summary(counts, len(chosen) - len(left)))
    return worst(*(CODES.get(outcome, UNUSABLE) for outcome in counts))


_RESULTS = {"fine": Result.PASSED, "differs": Result.FAILURE}
"""Result of a test case by the ``outcome`` of a file; others are errors."""


def _case(row: dict[str, Any]) -> CaseResult:
    """The row of a file as a test case."""
    result = _RESULTS.get(row["outcome"], Result.ERROR)
    why = row["error"] or (f"{row['faults']} faults" if row.get("faults") else row["outcome"])
    if result is Result.FAILURE:
        why = f"{row['different'] + row['observed_different']} answers are not as recorded"
    return CaseResult(row["file"], "replay", result, why, json.dumps(row))


def _sink(
    out: str, resume: bool, stack: ExitStack
) -> tuple[Callable[[dict[str, Any]], None], set[str]]:
    """Open the results log: returns (function that writes a row, paths with a row already)."""
    if out == "-":
        return lambda row: print(json.dumps(row), flush=True), set()
    results = stack.enter_context(Results(out, resume=resume))
    return results.write, set(results.done)


def _summary(counts: Counter[str], kept: int) -> str:
    parts = [f"{number} {outcome}" for outcome, number in sorted(counts.items())]
    parts += [f"{kept} done before"] if kept else []
    return f"{sum(counts.values())} files: {', '.join(parts) or 'nothing to do'}"
