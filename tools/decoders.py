#!/usr/bin/env python3
"""Time the replay of captures by the construct decoder, against the default.

    python tools/decoders.py [CAPTURE ...] [--engine jit] [--runs 5] [--most 40]

Each capture, by default every one in ``streams/``, is replayed ``--runs`` times by each decoder in
turn, with the same engine, after a first replay that is not counted and compiles code.  The table
has the median milliseconds of processor time of a replay, and of finding and reading all tokens of
the calls without executing them.  Exits with 1 if the replays of all captures together take more
than ``--most`` times as long by construct.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu import Options, open_capture
from dp2emu.capture.records import Called, Record
from dp2emu.dp2.parsers import CONSTRUCT, WALK, Parser, parser_of
from dp2emu.errors import CaptureError
from dp2emu.replay import replay
from dp2emu.shader.engines import ENGINES, JIT
from dp2emu.text.contexts import Contexts

ROOT = Path(__file__).resolve().parents[1]
COMPARED = CONSTRUCT, WALK


class Times(NamedTuple):
    """Milliseconds of a capture, by construct and by the walk: replay, and decoding alone."""

    name: str
    replay: tuple[float, float]
    decoding: tuple[float, float]


class Stored:
    """The records of a capture in memory, as a recording that ``replay`` plays again."""

    damage: CaptureError | None = None

    def __init__(self, path: Path) -> None:
        self.name = path.name
        with open_capture(path) as capture:
            self._records = [*capture.records()]

    def records(self) -> Iterator[Record]:
        """Every record, in order."""
        return iter(self._records)


def measure(path: Path, engine: str, runs: int) -> Times:
    """The times of a capture, medians of ``runs``."""
    capture = Stored(path)
    options = [Options(engine=engine, parser=parser, threads=1) for parser in COMPARED]
    parsers = [parser_of(each) for each in options]
    return Times(
        path.stem,
        _medians([partial(replay, capture, options=each) for each in options], runs),
        _medians([partial(decode, capture, each) for each in parsers], runs),
    )


def decode(capture: Stored, parser: Parser) -> int:
    """Find and read all tokens of a capture's calls; returns their number."""
    contexts, number = Contexts(), 0
    for record in capture.records():
        contexts.see(record)
        if isinstance(record, Called) and record.call.commands:
            data, size = record.call.commands, contexts.vertex_format(record.call).size
            for _, token, *place in parser.scan(data, 0, len(data), size).commands:
                parser.body_of(token, data, *place, size)
                number += 1
    return number


def _medians(actions: Sequence[Callable[[], object]], runs: int) -> tuple[float, float]:
    """Median milliseconds of each of two actions, which run in turn."""
    spent: list[list[float]] = [[] for _ in actions]
    for run in range(runs + 1):
        for action, times in zip(actions, spent, strict=True):
            start = process_time()
            action()
            if run:
                times.append(1000 * (process_time() - start))
    one, other = map(median, spent)
    return one, other


def table(rows: Sequence[Times]) -> list[str]:
    """Lines of the table, the sums of all captures last."""
    total = Times("all", _sum([row.replay for row in rows]), _sum([row.decoding for row in rows]))
    titles = ("construct", "walk", "ratio") * 2
    lines = [f"{'capture':<28}{'replay':>15}{'decoding':>30}"]
    lines.append(f"{'':<28}" + "".join(f"{title:>10}" for title in titles))
    return [*lines, *map(_line, rows), _line(total)]


def ratio(times: tuple[float, float]) -> float:
    """The first time in terms of the second."""
    return times[0] / times[1] if times[1] else 1.0


def _sum(times: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(one for one, _ in times), sum(other for _, other in times)


def _line(row: Times) -> str:
    figures = (*row.replay, ratio(row.replay), *row.decoding, ratio(row.decoding))
    return f"{row.name:<28}" + "".join(f"{figure:10.2f}" for figure in figures)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 if construct is too slow."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("captures", nargs="*", type=Path, metavar="CAPTURE")
    parser.add_argument("--engine", choices=ENGINES, default=JIT)
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--most", type=float, default=40.0, metavar="RATIO")
    asked = parser.parse_args(arguments)
    paths = asked.captures or sorted((ROOT / "streams").glob("*.dp2"))
    rows = [measure(path, asked.engine, asked.runs) for path in paths]
    print("\n".join(table(rows)))
    slower = ratio(_sum([row.replay for row in rows]))
    if slower > asked.most:
        print(f"construct takes {slower:.1f} times as long, expected at most {asked.most:g} times")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
