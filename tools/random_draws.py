#!/usr/bin/env python3
"""Draw in states made by chance, by the stages and by kernels, and compare all that comes of it.

    python tools/random_draws.py [--states N] [--draws N] [--first SEED]

Each seed is a state, which takes up to a second to compile, and pairs of draws with other numbers:
one of small targets, and one of targets of any shape and corners anywhere, by 1, 2, 3 or 7 threads
in bands of few rows.  Each is drawn by the stages, by what is compiled first and by good code.
Prints what differs first and exits with 1 if anything does.  The default, 1,000 states, takes
some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path
from random import Random
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.errors import Disagreement
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.compile import band_workers, kernel_draw
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.engines import CHECKED, engine
from tests.gpu.kernel_states import of_any_shape, random_draws

THREADS = 1, 2, 3, 7
ROWS = 4
"""Of a band, for every other seed."""
PAIRS = 512
"""Pairs of draws of a state in long runs: four times as long as its compilation takes."""


_checking = cache(partial(engine, CHECKED))


def difference(draw: Draw, count: int = 1) -> str | None:
    """What differs when a draw is drawn by so many threads, None if nothing does."""
    try:
        execute_draw(draw, Counters(), run=_checking(), threads=count)
    except Disagreement as error:
        return str(error)
    return None


def differences(seed: int, pairs: int = PAIRS) -> Iterator[str]:
    """What differs in so many pairs of draws of a seed's state."""
    count, rows = THREADS[seed % len(THREADS)], ROWS if seed % 2 else band_workers.ROWS
    pick = Random(seed)
    for number, draw in enumerate(islice(random_draws(seed), pairs)):
        found = [difference(draw)]
        with patch.object(kernel_draw, "WORTH", 0), patch.object(band_workers, "ROWS", rows):
            found.append(difference(of_any_shape(draw, pick), count))
        yield from (f"pair {number}: {each}" for each in found if each is not None)


def main() -> int:
    """Draw, print and say whether all is well."""
    parser = argparse.ArgumentParser(description="Draw in states made by chance.")
    parser.add_argument("--states", type=int, default=1000, help="number of seeds")
    parser.add_argument("--draws", type=int, default=32, help="of a state, half of either kind")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    asked = parser.parse_args()
    bad = 0
    pairs = max(asked.draws // 2, 1)
    for seed in range(asked.first, asked.first + asked.states):
        for told in differences(seed, pairs):
            print(f"{seed}: {told}", flush=True)
            bad += 1
    print(f"{2 * pairs * asked.states} draws, {bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
