"""Inputs chosen by coverage: the same trials under atheris, whose engine is libFuzzer.

    python -m dp2emu.fuzz.guided TARGET FOLDER BOARD SEED EXECS-BEFORE EXECS SECONDS

atheris is in the extra ``fuzz``.  It ends its process when it is done, so this is one of its own.
"""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import FunctionType

from dp2emu.fuzz import target_named
from dp2emu.fuzz.target import Target
from dp2emu.fuzz.worker import Board, Worker, end_with_parent

_STRUCTURED = 16
"""One of so many mutations knows what it changes; the others cost nothing."""
_NEVER = 1 << 30
"""Seconds.  Whoever started this process watches how long inputs take, and by another clock."""
_STATUS = re.compile(rb"cov: (\d+) ft: (\d+) corp: (\d+)")
"""What libFuzzer says of how far it is, on each of its lines."""


def available() -> bool:
    """Whether atheris is installed."""
    return find_spec("atheris") is not None


def reached(words: bytes) -> tuple[int, int, int]:
    """Kinds of inputs, branches covered and inputs kept by what libFuzzer said last.

    >>> reached(b"#2 INITED cov: 9 ft: 12 corp: 3/40b exec/s: 0 rss: 75Mb")
    (12, 9, 3)
    """
    said = _STATUS.findall(words)
    covered, kinds, kept = map(int, said[-1]) if said else (0, 0, 0)
    return kinds, covered, kept


def main(arguments: list[str]) -> None:
    """Fuzz until libFuzzer ends the process."""
    import atheris
    from atheris.instrument_bytecode import patch_code

    end_with_parent()
    name, folder, board, seed, before, execs, seconds = arguments
    target = target_named(name)
    worker = Worker(target, Path(folder), Board(Path(board), target.most), int(seed), int(before))
    for function in _functions(target.cover):
        function.__code__ = patch_code(function.__code__, trace_dataflow=target.compares)
    options = [
        f"-max_len={target.most}",
        f"-seed={int(seed) % (1 << 31) + 1}",
        f"-runs={max(int(execs) - int(before), 0) if execs else -1}",
        f"-max_total_time={int(float(seconds)) + 1 if seconds else 0}",
        "-reload=5",
        "-print_funcs=0",
        f"-report_slow_units={_NEVER}",
        f"-artifact_prefix={folder}/",
    ]
    atheris.Setup(
        ["dp2emu", *options, str(Path(folder) / target.name)],
        worker.try_guided,
        custom_mutator=_mutator(target, Random(seed)),
    )
    gc.freeze()
    atheris.Fuzz()


def _functions(modules: tuple[str, ...]) -> Iterator[FunctionType]:
    """All functions and methods of modules, and of those below them, that are imported."""
    for name, module in sorted(sys.modules.items()):
        if any(name == each or name.startswith(f"{each}.") for each in modules):
            for value in vars(module).values():
                members = vars(value).values() if isinstance(value, type) else (value,)
                for member in members:
                    if isinstance(member, FunctionType) and member.__module__ == name:
                        yield member


def _mutator(target: Target, rng: Random) -> Callable[[bytes, int, int], bytes]:
    """libFuzzer's own mutations, and now and then one of the target's."""
    import atheris

    last = [b""]

    def change(data: bytes, most: int, seed: int) -> bytes:
        if seed % _STRUCTURED:
            any_other: bytes = atheris.Mutate(data, most)
            return any_other
        other, last[0] = last[0], data
        return target.mutate(rng, data, other)[:most]

    return change


if __name__ == "__main__":
    main(sys.argv[1:])
