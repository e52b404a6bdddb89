"""``python -m tests.golden [WORD...]``: play golden scenes, print how they came out."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory

from dp2emu.shader.engines import ENGINES, JIT

from .comparing import FAIL, PASS, SCENES, Verdict, name_of
from .listed import placed
from .playing import chosen, played, table
from .steadiness import unsteady


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.golden", description=__doc__)
    parser.add_argument("words", nargs="*", help="play only scenes with one in FAMILY/NAME")
    parser.add_argument("--out", type=Path, help="keep pictures and results in this folder")
    parser.add_argument("--jobs", type=int, help="processes; default: one for each processor")
    parser.add_argument(
        "--engine", default=JIT, choices=ENGINES, help="as of dp2emu scene (default: jit)"
    )
    parser.add_argument(
        "--steady",
        action="store_true",
        help="play each in other ways too, all of which must give the same files",
    )
    return parser.parse_args()


def main() -> int:
    """Play, print, and return 1 if a scene is not as it should be."""
    arguments = _arguments()
    paths = chosen(SCENES, arguments.words)
    with ExitStack() as stack:
        out = arguments.out or Path(stack.enter_context(TemporaryDirectory()))
        pool = stack.enter_context(Pool(arguments.jobs))
        play = partial(_played, arguments.engine, out=out, steady=arguments.steady)
        found = pool.map(play, paths, chunksize=1)
    names = [name_of(path) for path in paths]
    outcomes = dict(zip(names, map(_outcome, names, found), strict=True))
    for name, outcome in outcomes.items():
        if outcome.kind != PASS:
            print(f"{outcome.kind:<8} {name}: {'; '.join(outcome.notes)}")
    print("\n".join(table((name, outcome.kind) for name, outcome in outcomes.items())))
    return int(any(outcome.kind == FAIL for outcome in outcomes.values()))


def _outcome(name: str, found: tuple[Verdict, list[str]]) -> Verdict:
    verdict, differing = found
    return Verdict(FAIL, differing) if differing else placed(name, verdict)


def _played(engine: str, path: Path, out: Path, steady: bool) -> tuple[Verdict, list[str]]:
    """The verdict on a scene, and what differs when it is played in other ways."""
    if not steady:
        return played(path, out, engine), []
    with TemporaryDirectory() as folder:
        return played(path, out, engine), unsteady(path, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
