"""How many inputs a second of a processor the fuzzer tries."""

from __future__ import annotations

import resource
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from benchmark.place import Place
from benchmark.promises import BENCHMARKS as BENCHMARKS
from benchmark.promises import benchmark
from dp2emu.fuzz.campaign import Plan, campaign
from dp2emu.fuzz.worker import available

START = 100
"""Inputs of a campaign that does little but start."""

ROWS = (
    ("fuzz walk, guided", "walk", True, ">= 100,000 inputs/s", 16_000),
    ("fuzz walk", "walk", False, ">= 20,000 inputs/s", 5_000),
    ("fuzz construct", "construct", False, ">= 4,000 inputs/s", 30_000),
    ("fuzz reassembly", "reassembly", False, ">= 4,000 inputs/s", 600),
    ("fuzz device", "device", False, ">= 3,000 inputs/s", 20_000),
    ("fuzz engines", "engines", False, ">= 200 inputs/s", 2_000),
)
"""Benchmark, target, whether atheris guides it, required rate, and inputs at scale 1.  Rates are
of cases if an input is many."""


class Spent(NamedTuple):
    """Inputs of a campaign, and seconds of the processor, all and the longer ones of growth."""

    inputs: int
    seconds: float
    longer: int
    longer_bytes: int
    longer_seconds: float


def _measure(target: str, guided: bool, execs: int, place: Place) -> str:
    """The rate between a short and a long campaign, in processor time of who tries: inputs of
    ordinary length by number, and longer ones by bytes.
    """
    if guided and not available():
        return "no atheris"
    short, long = (
        _spent(target, guided, number, place) for number in (START, START + place.size(execs))
    )
    return _told(_between(short, long))


def _between(short: Spent, long: Spent) -> Spent:
    return Spent(
        long.inputs - short.inputs,
        long.seconds - short.seconds,
        long.longer - short.longer,
        long.longer_bytes - short.longer_bytes,
        long.longer_seconds - short.longer_seconds,
    )


def _told(spent: Spent) -> str:
    seconds = spent.seconds - spent.longer_seconds
    if seconds <= 0:
        return "too few inputs to measure"
    told = f"{(spent.inputs - spent.longer) / seconds:,.0f} inputs/s"
    if spent.longer_bytes <= 0 or spent.longer_seconds <= 0:
        return told
    return f"{told}, longer ones {spent.longer_bytes / spent.longer_seconds / 1024:,.0f} KiB/s"


def _spent(target: str, guided: bool, execs: int, place: Place) -> Spent:
    """What a campaign tried and took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    folder = Path(mkdtemp(dir=place.folder))
    ended = campaign(target, Plan(folder, execs=execs, guided=guided))
    if ended.findings:
        raise RuntimeError(f"{target} has findings: {', '.join(ended.findings)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # libFuzzer does not count longer inputs, which are tried between its own; cases are all.
    inputs = ended.cases or ended.execs + (ended.longer if guided else 0)
    return Spent(inputs, seconds, ended.longer, ended.longer_bytes, ended.longer_seconds)


for _name, _target, _guided, _asked, _execs in ROWS:
    benchmark(_name, _asked)(partial(_measure, _target, _guided, _execs))
