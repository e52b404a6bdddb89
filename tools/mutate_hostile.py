#!/usr/bin/env python3
"""Break a sample of what hostile input meets first, and see that the tests near it notice.

    python tools/mutate_hostile.py [PART ...] [--seed N]

The parts, and how many changes of each are tried, are those of ``hostile.py``.  Changes and how
they are tried are those of ``mutate.py``; what ``mutate_inplace.py`` sees noticed is not tried
again.  Prints what was not noticed, and a tally for each part; exits with 1 if anything was not.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence

from hostile import PARTS, Part, selection
from mutate import changes_of, noticed, prepare
from mutate_inplace import Trial, is_near, survivors


def sample(part: Part, seed: int) -> list[Trial]:
    """Changes of a part, every one of its modules' equally likely, in their order."""
    names = ["dp2emu." + module.replace("/", ".") for module in part.modules]
    every = [Trial(name, *numbered) for name in names for numbered in changes_of(name)]
    chosen = random.Random(seed).sample(range(len(every)), min(part.sample, len(every)))
    return [every[place] for place in sorted(chosen)]


def unnoticed(part: Part, trials: Sequence[Trial]) -> Iterator[Trial]:
    """Those of a sample that the part's tests do not notice.

    Raises SystemExit if the tests fail without a change.
    """
    tests = selection([part])
    left = survivors(trials, tests)
    if left is None:
        sys.exit("tests fail without a change")
    return (
        trial
        for trial in left
        if not noticed(trial.module, trial.number, nearest_first(trial.module, tests))
    )


def nearest_first(module: str, tests: Sequence[str]) -> list[str]:
    """What pytest is given: the tests called like the module lead."""
    return sorted(tests, key=lambda test: not is_near(test, module))


def try_part(name: str, seed: int) -> int:
    """Print what is not noticed in a part, and a tally; how many there are."""
    trials, missed = sample(PARTS[name], seed), 0
    for module, _, change in unnoticed(PARTS[name], trials):
        missed += 1
        print(f"not noticed: {module}:{change.line}: {change.what}", flush=True)
    print(f"{name:<10} {len(trials) - missed} of {len(trials)}", flush=True)
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
