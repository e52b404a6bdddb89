#!/usr/bin/env python3
"""Break a sample of what hostile input meets first, and see that the tests near it notice.

    python tools/mutate_hostile.py [PART ...] [--seed N]

The parts, and how many changes of each are tried, are those of ``hostile.py``; changes and how
they are tried are those of ``mutate.py``.  Prints what was not noticed, and a tally for each part;
exits with 1 if anything was not.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from typing import NamedTuple

from hostile import PARTS, Part
from mutate import UNCHANGED, Change, changes_of, noticed, prepare


class Trial(NamedTuple):
    """A change by its number in a module of the package."""

    module: str
    number: int
    change: Change


def sample(part: Part, seed: int) -> list[Trial]:
    """Changes of a part, every one of its modules' equally likely, in their order."""
    names = ["dp2emu." + module.replace("/", ".") for module in part.modules]
    every = [Trial(name, *numbered) for name in names for numbered in changes_of(name)]
    chosen = random.Random(seed).sample(range(len(every)), min(part.sample, len(every)))
    return [every[place] for place in sorted(chosen)]


def tried(part: Part, seed: int) -> Iterator[tuple[Trial, bool]]:
    """The sample of a part, and whether its tests notice each.

    Raises SystemExit if they do not pass without a change.
    """
    trials = sample(part, seed)
    if noticed(trials[0].module, UNCHANGED, part.tests):
        sys.exit("tests fail without a change")
    for trial in trials:
        yield trial, noticed(trial.module, trial.number, part.tests)


def try_part(name: str, seed: int) -> int:
    """Print what is not noticed in a part, and a tally; how many there are."""
    number = missed = 0
    for trial, seen in tried(PARTS[name], seed):
        number += 1
        missed += not seen
        if not seen:
            what = trial.change.what
            print(f"not noticed: {trial.module}:{trial.change.line}: {what}", flush=True)
    print(f"{name:<10} {number - missed} of {number}", flush=True)
    return missed


def main() -> int:
    """Try the samples of the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Break what hostile input meets first.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=9, help="which changes (9)")
    chosen = parser.parse_args()
    prepare()
    return int(sum(try_part(name, chosen.seed) for name in chosen.parts or PARTS) > 0)


if __name__ == "__main__":
    sys.exit(main())
