"""``dp2emu fuzz``."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from dp2emu.cli.outcome import DIFFERS, FINE, say
from dp2emu.cli.ranges import FloatRange
from dp2emu.errors import UsageError
from dp2emu.fuzz import targets
from dp2emu.fuzz.afl import export as write_corpus
from dp2emu.fuzz.campaign import Plan, Progress, campaign, summary
from dp2emu.fuzz.worker import available


@click.command("fuzz")
@click.option("--target", metavar="NAME", default="device", show_default=True, help="See --list.")
@click.option("--list", "listed", is_flag=True, help="List the targets.")
@click.option("--seconds", type=FloatRange(0.1), help="Time to take.")
@click.option("--execs", type=click.IntRange(1), help="Inputs to try.")
@click.option(
    "--corpus", metavar="DIR", type=click.Path(file_okay=False), default="fuzz",
    show_default=True, help="Inputs worth keeping, and DIR/findings; may be shared.",
)  # fmt: skip
@click.option("--jobs", metavar="N", type=click.IntRange(1, 1024), default=1, help="Processes.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Which inputs there are.")
@click.option(
    "--timeout", type=FloatRange(0.1), default=10.0, help="Seconds of a processor an input has."
)
@click.option("--resume", is_flag=True, help="Go on behind the inputs of the last time.")
@click.option("--plain", is_flag=True, help="Without atheris, even where it is installed.")
@click.option(
    "--export", metavar="DIR", type=click.Path(file_okay=False),
    help="Only write a corpus and a dictionary for fuzzers of other drivers.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print how it ended as JSON.")
def command(
    target: str, listed: bool, seconds: float | None, execs: int | None, corpus: str, jobs: int,
    seed: int, timeout: float, resume: bool, plain: bool, export: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Look for inputs that break what is promised of all.

    Ends with 1 if there are findings.  Each is saved as a capture that replay opens, or as the
    file it is, beside what was raised.  Without --seconds and --execs it goes on until Ctrl-C.
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
    plan = Plan(
        Path(corpus), execs, seconds, jobs, seed, timeout, available() and not plain, resume
    )
    return _fuzzed(target, plan, as_json)


def _fuzzed(target: str, plan: Plan, as_json: bool) -> int:
    """Ctrl-C is how a campaign without end is ended, so what was found counts all the same."""
    told: deque[Progress] = deque(maxlen=1)
    try:
        with _shown(told) as watch:
            campaign(target, plan, watch)
    except KeyboardInterrupt:
        if not (told and told[0].findings):
            raise
    finally:
        for ended in told:
            _tell(ended, plan, as_json)
    return DIFFERS if told[0].findings else FINE


def _tell(ended: Progress, plan: Plan, as_json: bool) -> None:
    if as_json:
        print(json.dumps(summary(ended, plan)), flush=True)
    say(_line(ended))
    for name in ended.findings:
        say(f"  {plan.folder / 'findings' / name}")


@contextmanager
def _shown(told: deque[Progress]) -> Iterator[Callable[[Progress], None]]:
    """Remembers how it goes, and on a terminal shows it."""
    if not sys.stderr.isatty():
        yield told.append
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True) as live:

        def show(progress: Progress) -> None:
            told.append(progress)
            live.update(_line(progress))

        yield show


def _line(progress: Progress) -> str:
    covered = f", {progress.lines:,} lines" if progress.lines else ""
    kinds = f", {progress.features:,} kinds" if progress.features else ""
    return (
        f"{progress.target}: {progress.execs:,} inputs in {progress.seconds:,.0f} s, "
        f"{progress.rate:,.0f}/s{kinds}{covered}, corpus {progress.corpus:,}, "
        f"{len(progress.findings)} findings"
    )
