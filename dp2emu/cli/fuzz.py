"""The verb ``dp2emu fuzz``: search for inputs that break an invariant."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dp2emu.cli.junit import with_junit, write_junit
from dp2emu.cli.number_range import FloatRange, IntRange
from dp2emu.cli.outcome import DIFFERS, FINE, say
from dp2emu.cli.paths import verb_command
from dp2emu.errors import UsageError
from dp2emu.fuzz import target_named, targets
from dp2emu.fuzz.afl import export as write_corpus
from dp2emu.fuzz.campaign import Plan, Progress, campaign, summary
from dp2emu.fuzz.rigs import TIMEOUT, RigSetting, check_driver
from dp2emu.fuzz.worker import available
from dp2emu.inputs import read_file
from dp2emu.junit import CaseResult, Result

_INPUT_SECONDS = 10.0
"""Default of --timeout, unless an input of the target may cost more."""
_WORKER_SECONDS = 30.0
"""Seconds that a worker may take for an input of a driver, beside what the driver may take."""


@verb_command("fuzz")
@click.option("--target", metavar="NAME", default="device", show_default=True, help="See --list.")
@click.option("--rig", metavar="SPEC", help="Fuzz a driver: native:LIBRARY or pipe:COMMAND.")
@click.option(
    "--ddi", type=IntRange(6, 9), default=9, show_default=True,
    help="DirectX version of the driver of --rig, whose tokens it gets.",
)  # fmt: skip
@click.option(
    "--tolerance",
    type=IntRange(0, 255),
    default=0,
    show_default=True,
    help="Difference of colour channels from the emulator's that --rig allows; 255: any.",
)
@click.option("--list", "listed", is_flag=True, help="List the targets.")
@click.option("--seconds", type=FloatRange(0.1), help="Duration of the campaign.")
@click.option("--execs", type=IntRange(1), help="Number of inputs to try.")
@click.option(
    "--corpus", metavar="DIR", type=click.Path(file_okay=False), default="fuzz",
    show_default=True, help="Folder of the corpus, and of DIR/findings; campaigns may share it.",
)  # fmt: skip
@click.option("--jobs", metavar="N", type=IntRange(1, 1024), default=1, help="Processes.")
@click.option("--seed", type=IntRange(0), default=0, help="Seed of the random inputs.")
@click.option(
    "--timeout", type=FloatRange(0.1),
    help="CPU seconds that an input may take, 10 or more by default; of --rig seconds, 2.",
)  # fmt: skip
@click.option(
    "--cost", metavar="SECONDS", type=FloatRange(1e-6),
    help="CPU seconds that a KiB of input may take, instead of the target's.",
)  # fmt: skip
@click.option(
    "--memory", metavar="MIB", type=FloatRange(1e-6),
    help="MiB of memory that a KiB of input may take, instead of the target's.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue after the inputs of the last campaign.")
@click.option("--plain", is_flag=True, help="Do not use atheris, even if it is installed.")
@click.option("--guard", is_flag=True, help="End or begin arrays at inaccessible pages (Linux).")
@click.option(
    "--export", metavar="DIR", type=click.Path(file_okay=False),
    help="Only write a corpus and a dictionary for fuzzers of other drivers.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@with_junit
def command(
    target: str, rig: str | None, ddi: int, tolerance: int, listed: bool, seconds: float | None,
    execs: int | None, corpus: str, jobs: int, seed: int, timeout: float | None,
    cost: float | None, memory: float | None, resume: bool, plain: bool,
    guard: bool, export: str | None, as_json: bool, junit_path: str | None,
) -> int:  # fmt: skip
    """Search for inputs that break an invariant.

    Ends with 1 if there are findings.  Each is saved as a capture for replay, or as the input
    file, beside the error.  Without --seconds and --execs the campaign runs until Ctrl-C.
    """
    if listed:
        for each in targets().values():
            print(f"{each.name:12}{each.what}")
        return FINE
    if export is not None:
        say(f"{write_corpus(Path(export), seed)} inputs in {export}")
        return FINE
    if jobs > 1 and execs is not None and execs < jobs:
        raise UsageError(f"{execs} inputs are too few for {jobs} processes")
    if rig is not None:
        lasting = TIMEOUT if timeout is None else timeout
        setting = RigSetting(rig, ddi, None if tolerance == 255 else tolerance, lasting)
        check_driver(setting)
        target = setting.target
        timeout = _WORKER_SECONDS + 8 * lasting
    guided = available() and not plain and rig is None
    plan = Plan(
        Path(corpus),
        execs,
        seconds,
        jobs,
        seed,
        timeout or max(_INPUT_SECONDS, target_named(target).cost.seconds),
        guided,
        resume,
        cost,
        memory,
        guard,
    )
    if as_json and junit_path == "-":
        raise click.UsageError("--json and --junit cannot both go to standard output")
    return _fuzzed(target, plan, as_json, junit_path)


def _fuzzed(target: str, plan: Plan, as_json: bool, junit_path: str | None) -> int:
    """Run a campaign and return the exit code; findings count even if Ctrl-C ends it."""
    last: deque[Progress] = deque(maxlen=1)
    try:
        with _shown(last) as watch:
            campaign(target, plan, watch)
    except KeyboardInterrupt:
        if not (last and last[0].findings):
            raise
    finally:
        for ended in last:
            _report(ended, plan, as_json)
            _write_results(ended, plan, junit_path)
    return DIFFERS if last[0].findings else FINE


def _report(ended: Progress, plan: Plan, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary(ended, plan)), flush=True)
    say(_line(ended))
    for name, inputs in zip(ended.findings, ended.inputs, strict=True):
        say(f"  {plan.folder / 'findings' / name}{_by(inputs)}")
    if ended.stopped:
        say(f"  stopped: {ended.stopped}")


def _by(inputs: int) -> str:
    """Return how many inputs led to a finding, in words; nothing if that is unknown."""
    return f" ({inputs:,} input{'s' * (inputs > 1)})" if inputs else ""


def _write_results(ended: Progress, plan: Plan, junit_path: str | None) -> None:
    """Write the campaign as a test case, and one for each input that broke an invariant."""
    cases = [CaseResult(ended.target, "campaign")]
    for name, inputs in zip(ended.findings, ended.inputs, strict=True):
        report = read_file(plan.folder / "findings" / f"{name}.txt").decode("utf-8", "replace")
        site = report.partition("\n")[0]
        what = f"{site}{_by(inputs)}"
        cases.append(CaseResult(ended.target, name, Result.FAILURE, what, report))
    counts = {"execs": ended.execs, "seed": plan.seed, "corpus": ended.corpus}
    write_junit(junit_path, f"dp2emu fuzz {ended.target}", cases, **counts)


@contextmanager
def _shown(last: deque[Progress]) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that appends progress to ``last``, and shows it on a terminal."""
    if not sys.stderr.isatty():
        yield last.append
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True) as live:

        def show(progress: Progress) -> None:
            last.append(progress)
            live.update(_line(progress))

        yield show


def _line(progress: Progress) -> str:
    covered = f", {progress.lines:,} lines" if progress.lines else ""
    kinds = f", {progress.features:,} kinds" if progress.features else ""
    cases = f" ({progress.cases:,} cases)" if progress.cases else ""
    return (
        f"{progress.target}: {progress.execs:,} inputs{cases} in {progress.seconds:,.0f} s, "
        f"{progress.rate:,.0f}/s{kinds}{covered}, corpus {progress.corpus:,}, "
        f"{len(progress.findings)} findings"
    )
