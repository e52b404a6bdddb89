#!/usr/bin/env python3
"""Draw in states made by chance, by the stages and by kernels, and compare all that comes of it.

    python tools/random_draws.py [--draws N] [--first SEED]

Each seed is two draws: one of any state, and one of targets of any shape and corners anywhere, by
1, 2, 3 or 7 threads in bands of few rows.  Each is drawn by the stages, by what is compiled first
and by good code.  Prints what differs first and exits with 1 if anything does.  The default, 1,000
of each, takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.errors import Disagreement
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.compile import band_workers, kernel_draw
from dp2emu.gpu.draw.draw_stages import execute_draw
from dp2emu.shader.engines import CHECKED, engine
from tests.gpu.kernel_states import random_draw, random_draw_of_any_shape

THREADS = 1, 2, 3, 7
ROWS = 4
"""Of a band, for every other seed."""


def difference(draw: Draw, count: int = 1) -> str | None:
    """What differs when a draw is drawn by so many threads, None if nothing does."""
    try:
        execute_draw(draw, Counters(), run=engine(CHECKED), threads=count)
    except Disagreement as error:
        return str(error)
    return None


def differences(seed: int) -> Iterator[str]:
    """What differs in the draws of a seed."""
    found = [difference(random_draw(seed))]
    rows = ROWS if seed % 2 else band_workers.ROWS
    with patch.object(kernel_draw, "WORTH", 0), patch.object(band_workers, "ROWS", rows):
        found.append(difference(random_draw_of_any_shape(seed), THREADS[seed % len(THREADS)]))
    yield from (each for each in found if each is not None)


def main() -> int:
    """Draw, print and say whether all is well."""
    parser = argparse.ArgumentParser(description="Draw in states made by chance.")
    parser.add_argument("--draws", type=int, default=1000, help="of either kind")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    asked = parser.parse_args()
    bad = 0
    for seed in range(asked.first, asked.first + asked.draws):
        for told in differences(seed):
            print(f"{seed}: {told}", flush=True)
            bad += 1
    print(f"{2 * asked.draws} draws, {bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
