"""One process that fuzzes: it makes inputs, tries them, and keeps what is new.

What it is doing is in a small file that its parent maps too, so that a crash or a hang of this
process costs nothing but the input that caused it.
"""

from __future__ import annotations

import gc
import mmap
import os
import select
import struct
import sys
import time
from collections.abc import Hashable
from pathlib import Path
from random import Random
from threading import Thread

from dp2emu.errors import Dp2Error
from dp2emu.fuzz import target_named
from dp2emu.fuzz.corpus import Corpus
from dp2emu.fuzz.coverage import Coverage
from dp2emu.fuzz.findings import Finding, Findings, finding_of, site_of
from dp2emu.fuzz.shrinking import Budget, shrink_bytes
from dp2emu.fuzz.target import Target, Trial
from dp2emu.records import dataclass

_SEEDS = 64
_REFRESH = 5.0
"""Seconds between looks at what others found."""
_TRIES = 2000
"""To make a finding smaller."""
_FRESH = 0.02
"""Share of inputs that are made and not changed."""
_COUNTS = struct.Struct("<3Q")
_BEGUN = "<2Q{}s"
"""Behind the counts: inputs tried, bytes of the one under way and room for them."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """What a worker has done: inputs tried, different kinds of them, lines covered, inputs kept;
    ``data`` is the input under way.
    """

    execs: int
    features: int
    lines: int
    corpus: int
    data: bytes


class Board:
    """The vitals of a worker in a mapped file.  Mutable: one writes, another reads."""

    def __init__(self, path: Path, most: int) -> None:
        """Opens the file, or makes it for inputs of ``most`` bytes."""
        self._begun = struct.Struct(_BEGUN.format(most))
        size = _COUNTS.size + self._begun.size
        if not path.exists() or path.stat().st_size < size:
            path.write_bytes(bytes(size))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)

    def begin(self, execs: int, data: bytes) -> None:
        """An input is about to be tried."""
        self._begun.pack_into(self._map, _COUNTS.size, execs, len(data), data)

    def count(self, features: int, lines: int, corpus: int) -> None:
        """What was found so far."""
        _COUNTS.pack_into(self._map, 0, features, lines, corpus)

    def read(self) -> Vitals:
        """What the other side wrote."""
        execs, length, data = self._begun.unpack_from(self._map, _COUNTS.size)
        features, lines, corpus = _COUNTS.unpack_from(self._map)
        return Vitals(execs, features, lines, corpus, data[:length])


class Worker:
    """A target, a corpus and where findings go.  Mutable: it goes on.

    ``seed`` and the number of inputs tried before, ``execs``, decide all inputs of a worker that
    is alone with its corpus.
    """

    def __init__(
        self, target: Target, folder: Path, board: Board, seed: int = 0, execs: int = 0
    ) -> None:
        self.target = target
        self.execs = execs
        self._rng = Random(f"{seed} {execs}")
        self._board = board
        self._features: set[Hashable] = set()
        self._coverage = Coverage(target.cover)
        self._findings = Findings(folder / "findings")
        self._known: set[str] = set()
        self._trial: Trial = target.make()
        seeds = (target.seed(self._rng)[: target.most] for _ in range(_SEEDS))
        self.corpus = Corpus(folder / target.name, target.most, seeds)
        self._look = time.monotonic() + _REFRESH

    def run(self, execs: int | None, seconds: float | None) -> None:
        """Try inputs until so many are tried in all, or so much time is over."""
        end = None if seconds is None else time.monotonic() + seconds
        while execs is None or self.execs < execs:
            if self.execs % 64 == 0:
                now = time.monotonic()
                if end is not None and now >= end:
                    break
                if now >= self._look:
                    self._refresh(now)
            self.try_input(self._input())
        self._tell()

    def try_input(self, data: bytes) -> None:
        """One input: it is told of, tried, and kept if it is new in any way."""
        self._board.begin(self.execs, data)
        self.execs += 1
        try:
            feature = self._trial(data)
        except Dp2Error as error:
            feature = type(error).__name__, error.token, error.what[:12]
        except Exception as error:
            self._found(finding_of(self.target.name, error, data))
            return
        features = feature if isinstance(feature, frozenset) else {feature}
        if self._coverage.grew() | (not features <= self._features):
            self._features |= features
            self.corpus.add(data)

    def try_guided(self, data: bytes) -> None:
        """One input of somebody who watches coverage."""
        self._board.begin(self.execs, data)
        self.execs += 1
        try:
            self._trial(data)
        except Dp2Error:
            return
        except Exception as error:
            self._found(finding_of(self.target.name, error, data))

    def _input(self) -> bytes:
        rng, target = self._rng, self.target
        if rng.random() < _FRESH:
            return target.seed(rng)[: target.most]
        return target.mutate(rng, self.corpus.pick(rng), self.corpus.pick(rng))[: target.most]

    def _found(self, finding: Finding) -> None:
        if finding.site in self._known or self._findings.has(finding):
            return
        self._known.add(finding.site)
        self._findings.save(self._smaller(finding), self.target)
        # What failed may have left anything behind.
        self._trial = self.target.make()

    def _smaller(self, finding: Finding) -> Finding:
        """The same finding, of as small an input as can be found."""
        data = shrink_bytes(
            finding.data, lambda some: self._ends_at(some) == finding.site, Budget(_TRIES)
        )
        try:
            self.target.make()(data)
        except Exception as error:
            return finding_of(finding.target, error, data)
        return finding

    def _ends_at(self, data: bytes) -> str:
        try:
            self.target.make()(data)
        except Dp2Error:
            return ""
        except Exception as error:
            return site_of(error)
        return ""

    def _refresh(self, now: float) -> None:
        self.corpus.refresh()
        self._look = now + _REFRESH
        self._tell()

    def _tell(self) -> None:
        self._board.count(len(self._features), self._coverage.lines, len(self.corpus))
        self._board.begin(self.execs, b"")


def end_with_parent() -> None:
    """End this process when nobody holds the other end of its standard input, a pipe: a parent
    that is killed cannot end those it started.  Where pipes cannot be watched it goes on.
    """
    if not hasattr(select, "poll"):
        return
    watched = select.poll()
    watched.register(sys.stdin.fileno(), 0)  # that the other end is gone is told unasked

    def wait() -> None:
        watched.poll()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def main(arguments: list[str]) -> None:
    """python -m dp2emu.fuzz.worker TARGET FOLDER BOARD SEED EXECS-BEFORE EXECS SECONDS"""
    end_with_parent()
    name, folder, board, seed, before, execs, seconds = arguments
    target = target_named(name)
    worker = Worker(target, Path(folder), Board(Path(board), target.most), int(seed), int(before))
    # All that is there now stays, and going through it again and again takes a tenth of the time.
    gc.freeze()
    worker.run(int(execs) if execs else None, float(seconds) if seconds else None)


if __name__ == "__main__":
    main(sys.argv[1:])
