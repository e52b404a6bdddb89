#!/usr/bin/env python3
"""Measure dp2emu against its required speeds and against llvmpipe, and print tables.

    python tools/bench.py [--only NAME] [--small] [--scale 0.01] [--json] [--scaling FILE.svg]

Without ``--only`` that takes some minutes and 3 GiB of temporary space at scale 1.  ``--small``
runs everything in about a minute, to see that it runs; its figures mean nothing.  What is
measured, and what the other side needs, is in docs/speed.rst.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import benchmark.fuzzing
import benchmark.imports  # noqa: F401  (both register their rows)
from benchmark.place import Place, machine, told
from benchmark.promises import BENCHMARKS, measure_apart
from benchmark.race import Settings, cost, race
from benchmark.report import Points, plot, scaling_table, table, workload_table
from benchmark.workloads import WORKLOADS

from dp2emu.shader.engines import ENGINES

AMOUNTS = {"triangles": (20, 200, 2_000, 20_000), "pixels": (1_024, 10_000, 102_400, 1_048_576)}
"""Three decades of each."""
TABLES = "workloads", "benchmarks"
SMALL = {"scale": 0.0005, "runs": 1, "seconds": 1.0}
"""Options that ``--small`` sets, unless they are given too."""


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line, read.  Raises SystemExit for what cannot be meant."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--only", choices=[*BENCHMARKS, *WORKLOADS, *TABLES], help="one row, or one table")
    add("--small", action="store_true", help="everything, at a scale that takes a minute")
    add("--scale", type=float, default=1.0, help="factor for all sizes")
    add("--runs", type=int, default=9, help="frames of each side of a workload, at most")
    add("--seconds", type=float, default=30.0, help="time for the frames of a workload")
    add("--engine", choices=ENGINES, help="what runs the programs of our side")
    add("--threads", type=int, default=2, help="threads of the second pair of columns")
    add("--no-peer", action="store_true", help="leave llvmpipe out")
    add("--json", action="store_true", help="print JSON instead of tables")
    add("--scaling", type=Path, metavar="FILE", help="measure cost over amounts; a plot as SVG")
    add("--dir", type=Path, help="where temporary files go")
    if parser.parse_args(arguments).small:
        parser.set_defaults(**SMALL)
    return parser.parse_args(arguments)


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        runs=max(1, options.runs),
        seconds=options.seconds,
        engine=options.engine,
        threads=options.threads,
        peer=not options.no_peer,
    )


def _chosen(names: dict[str, Any], only: str | None, table: str) -> list[str]:
    return [name for name in names if only in (None, name, table)]


def _run(options: argparse.Namespace, place: Place) -> dict[str, Any]:
    """Run the selected measurements; the result is what ``--json`` prints."""
    settings = _settings(options)
    names = [] if options.scaling else _chosen(WORKLOADS, options.only, TABLES[0])
    promised = [] if options.scaling else _chosen(BENCHMARKS, options.only, TABLES[1])
    rows: dict[str, Any] = {}
    notices: dict[str, None] = {}
    for name in names:
        rows[name], said = race(name, place, settings)
        notices |= dict.fromkeys(said)
    return {
        "machine": machine(),
        "workloads": rows,
        "benchmarks": {name: measure_apart(name, place) for name in promised},
        "notices": list(notices),
    }


def _print(found: dict[str, Any]) -> None:
    for notice in found["notices"]:
        print(notice, file=sys.stderr)
    print(f"{told(found['machine'])}:")
    if found["workloads"]:
        peers = {row["peer"] for row in found["workloads"].values() if "peer" in row}
        print(*(f"peer: {peer}" for peer in sorted(peers)), sep="\n", end="\n" if peers else "")
        print("", workload_table(found["workloads"]), sep="\n")
    if found["benchmarks"]:
        lines = [(n, BENCHMARKS[n].target, value) for n, value in found["benchmarks"].items()]
        print("", table(("benchmark", "required", "measured"), lines), sep="\n")


def _scale(options: argparse.Namespace, place: Place) -> dict[str, Points]:
    settings = _settings(options)
    return {
        series: [(n, cost(f"{series}={n}", place, settings)) for n in map(place.size, amounts)]
        for series, amounts in AMOUNTS.items()
    }


def main() -> None:
    """Measure and print."""
    options = options_of()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        place = Place(Path(folder), options.scale)
        if options.scaling:
            series = _scale(options, place)
            options.scaling.write_text(plot(series), "utf-8")
            print(scaling_table(series))
            return
        found = _run(options, place)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        _print(found)


if __name__ == "__main__":
    main()
