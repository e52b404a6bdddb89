#!/usr/bin/env python3
"""Replay captures again and again in one process, and print what the process holds.

    python tools/soak.py [--replays N] [--rows N] [--engine NAME] [--caches] [FILE ...]

All example streams and one recorded scene of Direct3D 10 are replayed in turn, by default 20,000
replays in all; with FILE those captures alone.  A row of the table has, after that many replays:

    objects       objects that the garbage collector tracks, after a collection
    a replay      growth of the objects since the row above, divided by the replays
    MiB           resident memory (Linux)
    descriptors   open file descriptors (Linux)
    threads       threads of the process, native ones included (Linux)

``--caches`` prints below each row the caches of functions and of identities that have grown since
the row above.  Exits with 1 if any column grew in the second half of the rows: objects by more
than one in a hundred replays, memory by more than 1 %, descriptors or threads at all.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import _lru_cache_wrapper
from itertools import cycle
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dp2emu.capture import open_capture
from dp2emu.dp2.options import Options
from dp2emu.identity_cache import IdentityCache
from dp2emu.replay import replay
from dp2emu.scene.play import play_scene10
from tests.golden10.playing import write_shaders

ROOT = Path(__file__).resolve().parents[1]
SCENE = ROOT / "tests" / "golden10" / "scenes" / "gs" / "gs_amplify_2.json"
OBJECTS_A_REPLAY = 0.01
"""Growth of objects, for each replay, that counts as none."""
MEMORY = 0.01
"""Growth of memory, relative to all of it, that counts as none."""


class Row(NamedTuple):
    """What the process holds after ``replays`` replays; memory in bytes, -1 where unknown."""

    replays: int
    objects: int
    memory: int
    descriptors: int
    threads: int


def measured(replays: int) -> Row:
    """The row of now, after a collection of garbage."""
    gc.collect()
    memory = descriptors = threads = -1
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        memory = pages * os.sysconf("SC_PAGE_SIZE")
        descriptors = len(os.listdir("/proc/self/fd"))
        threads = len(os.listdir("/proc/self/task"))
    return Row(replays, len(gc.get_objects()), memory, descriptors, threads)


def captures(folder: Path) -> list[Path]:
    """The example streams, and a scene of Direct3D 10 that is recorded into ``folder``."""
    recorded = folder / "scene10.dp2"
    shaders = write_shaders(folder / "shaders")
    play_scene10(SCENE, folder / "results", shaders=shaders, capture=recorded)
    return [*sorted((ROOT / "streams").glob("*.dp2")), recorded]


def soak(paths: Sequence[Path], replays: int, rows: int, engine: str) -> Iterator[Row]:
    """Replay captures in turn; yield a row after the first turn, and ``rows`` rows after it.

    Rows are between turns, so that each comes after the same capture.
    """
    options, turns, size = Options(engine=engine), cycle(paths), len(paths)
    marks = {-(-replays * row // rows // size) * size for row in range(1, rows + 1)} | {size}
    for done, path in zip(range(1, max(marks) + 1), turns, strict=False):
        with open_capture(path) as capture:
            replay(capture, options=options)
        if done in marks:
            yield measured(done)


def grown(rows: Sequence[Row]) -> list[str]:
    """The columns that grew in the second half of the rows."""
    first, last = rows[len(rows) // 2], rows[-1]
    played, kept = last.replays - first.replays, len(rows) - 1 - len(rows) // 2  # the rows
    found = {
        "objects": last.objects - first.objects - kept > played * OBJECTS_A_REPLAY,
        "memory": last.memory - first.memory > first.memory * MEMORY,
        "descriptors": last.descriptors > first.descriptors,
        "threads": last.threads > first.threads,
    }
    return [name for name, grew in found.items() if grew]


def cache_sizes() -> dict[str, int]:
    """Number of entries of each cache of the process, by name and address."""
    sizes, names = {}, {}
    for each in gc.get_objects():
        if isinstance(each, IdentityCache):
            sizes[f"IdentityCache at {id(each):#x}"] = len(each)
        elif isinstance(each, _lru_cache_wrapper):
            sizes[f"{each.__module__}.{each.__qualname__}"] = each.cache_info().currsize
        elif isinstance(each, FunctionType):
            for cell in each.__closure__ or ():
                with suppress(ValueError):  # an empty cell
                    if isinstance(cell.cell_contents, IdentityCache):
                        old = f"IdentityCache at {id(cell.cell_contents):#x}"
                        names[old] = f"{each.__module__}.{each.__qualname__}"
    return {names.get(name, name): size for name, size in sizes.items()}


def print_row(row: Row, before: Row | None) -> None:
    """Print a row of the table."""
    rate = ""
    if before is not None:
        rate = f"{(row.objects - before.objects) / (row.replays - before.replays):.3f}"
    print(f"{row.replays:8,} {row.objects:10,} {rate:>10} {row.memory / (1 << 20):8.1f} "
          f"{row.descriptors:12} {row.threads:8}", flush=True)  # fmt: skip


def main() -> int:
    """Run the soak; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--replays", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--caches", action="store_true")
    given = parser.parse_args()
    print(" replays    objects   a replay      MiB  descriptors  threads")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="dp2emu-soak-") as folder:
        paths = given.files or captures(Path(folder))
        sizes = cache_sizes() if given.caches else {}
        for row in soak(paths, given.replays, given.rows, given.engine):
            print_row(row, rows[-1] if rows else None)
            rows.append(row)
            if given.caches:
                before, sizes = sizes, cache_sizes()
                for name, size in sorted(sizes.items()):
                    if size > before.get(name, 0):
                        print(f"    {name}: {before.get(name, 0)} to {size}")
    found = grown(rows)
    print(f"grew: {', '.join(found)}" if found else "levelled off")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
