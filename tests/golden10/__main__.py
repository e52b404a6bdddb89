"""``python -m tests.golden10 [WORD...]``: play golden scenes, print how they came out."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from dp2emu.shader.engines import ENGINES, JIT
from tests.golden.comparing import FAIL, PASS, name_of
from tests.golden.playing import chosen, table

from .comparing import SCENES
from .listed import KINDS, placed
from .playing import played, write_shaders


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.golden10", description=__doc__)
    parser.add_argument("words", nargs="*", help="play only scenes with one in FAMILY/NAME")
    parser.add_argument("--out", type=Path, help="keep pictures and results in this folder")
    parser.add_argument("--engine", default=JIT, choices=ENGINES, help="default: jit")
    return parser.parse_args()


def main() -> int:
    """Play, print, and return 1 if a scene is not as it should be."""
    arguments = _arguments()
    kinds = {}
    with ExitStack() as stack:
        spare = Path(stack.enter_context(TemporaryDirectory()))
        shaders = write_shaders(spare / "shaders")
        for path in chosen(SCENES, arguments.words):
            name = name_of(path)
            found = played(path, arguments.out or spare, shaders, arguments.engine)
            outcome = placed(name, found)
            kinds[name] = outcome.kind
            if outcome.kind != PASS:
                print(f"{outcome.kind:<8} {name}: {'; '.join(outcome.notes)}")
    print("\n".join(table(kinds.items(), KINDS)))
    return int(FAIL in kinds.values())


if __name__ == "__main__":
    sys.exit(main())
