"""The worker of a guided campaign: atheris, whose engine is libFuzzer, chooses inputs by coverage.

atheris is in the extra ``fuzz``.
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
from typing import BinaryIO

from dp2emu.fuzz.target import Target
from dp2emu.fuzz.worker import start

_STRUCTURED = 16
"""One in so many mutations is the target's, which costs time; the others are libFuzzer's."""
_NEVER = 1 << 30
"""Seconds: libFuzzer reports no slow inputs, since the campaign measures processor time."""
_STATUS = re.compile(rb"cov: (\d+) ft: (\d+) corp: (\d+)")
"""Counts in each line that libFuzzer prints."""


def available() -> bool:
    """Return whether atheris is installed."""
    return find_spec("atheris") is not None


def reached(output: bytes) -> tuple[int, int, int]:
    """Return kinds of inputs, branches covered and inputs kept by libFuzzer's last line.

    >>> reached(b"#2 INITED cov: 9 ft: 12 corp: 3/40b exec/s: 0 rss: 75Mb")
    (12, 9, 3)
    """
    lines = _STATUS.findall(output)
    covered, kinds, kept = map(int, lines[-1]) if lines else (0, 0, 0)
    return kinds, covered, kept


def main(
    reader: BinaryIO, writer: BinaryIO, name: str, folder: str, board: str, output: str,
    seed: int, before: int, execs: int | None, seconds: float | None,
) -> None:  # fmt: skip
    """Fuzz until libFuzzer ends the process."""
    import atheris
    from atheris.instrument_bytecode import patch_code

    worker = start(reader, name, folder, board, output, seed, before)
    target = worker.target
    for function in _functions(target.cover):
        function.__code__ = patch_code(function.__code__, trace_dataflow=target.compares)
    options = [
        f"-max_len={target.most}",
        f"-seed={seed % (1 << 31) + 1}",
        f"-runs={-1 if execs is None else max(execs - before, 0)}",
        f"-max_total_time={int(seconds) + 1 if seconds else 0}",
        "-reload=5",
        "-print_funcs=0",
        f"-report_slow_units={_NEVER}",
        f"-artifact_prefix={folder}/",
    ]
    atheris.Setup(
        ["dp2emu", *options, str(Path(folder) / target.name)],
        worker.try_guided,
        custom_mutator=_mutator(target, Random(str(seed))),
    )
    gc.freeze()
    atheris.Fuzz()


def _functions(modules: tuple[str, ...]) -> Iterator[FunctionType]:
    """Yield the functions and methods of imported modules and their submodules."""
    for name, module in sorted(sys.modules.items()):
        if any(name == each or name.startswith(f"{each}.") for each in modules):
            for value in vars(module).values():
                members = vars(value).values() if isinstance(value, type) else (value,)
                for member in members:
                    if isinstance(member, FunctionType) and member.__module__ == name:
                        yield member


def _mutator(target: Target, rng: Random) -> Callable[[bytes, int, int], bytes]:
    """Return a function that applies libFuzzer's mutations, and sometimes the target's."""
    import atheris

    last = [b""]

    def change(data: bytes, most: int, seed: int) -> bytes:
        if seed % _STRUCTURED:
            any_other: bytes = atheris.Mutate(data, most)
            return any_other
        other, last[0] = last[0], data
        return target.mutate(rng, data, other)[:most]

    return change
