"""What is promised of traces: how fast their calls are read and imported, in how much memory.

Rates are calls a second of a processor.  Beside them is ``apitrace dump``, which decodes the same
file and prints it, if it is installed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from benchmark.large_traces import write_game_trace, write_large_trace
from benchmark.place import Place
from benchmark.promises import benchmark, command, run
from dp2emu.capture import CaptureWriter
from dp2emu.capture.apitrace import open_trace
from dp2emu.retrace import importing

CALLS = 50_000
"""Calls of the game's trace at scale 1."""
FRAMES = 1024
"""Frames of the large trace at scale 1, a MiB each."""
APITRACE = "apitrace"
"""The program that is compared."""


def game_trace(place: Place) -> tuple[Path, int]:
    """A trace of ``CALLS`` calls in the mix of a game, and their number at this scale."""
    return _made(place, "game", write_game_trace, place.size(CALLS))


def large_trace(place: Place) -> Path:
    """A trace whose program writes a MiB in each of ``FRAMES`` frames."""
    path, _ = _made(place, "large", write_large_trace, place.size(FRAMES))
    return path


def _made(
    place: Place, name: str, write: Callable[[Path, int], None], amount: int
) -> tuple[Path, int]:
    path = place.folder / f"{name}_{amount}.trace"
    if not path.exists():
        write(path, amount)
    return path, amount


def _rate(calls: int, measured: Callable[[], object]) -> str:
    """Calls a second of the processor in the fastest of several runs; the first one imports
    modules.
    """
    seconds = []
    for _ in range(4):
        start = time.process_time()
        measured()
        seconds.append(time.process_time() - start)
    return _told(calls, min(seconds))


def _told(calls: int, seconds: float) -> str:
    return f"{calls / max(seconds, 1e-6) / 1e3:.0f} k calls/s"


@benchmark("import of a game's trace", ">= 50 k calls/s")
def import_game(place: Place) -> str:
    """States, constants, draws and filled buffers of Direct3D 9, to a compressed capture."""
    path, calls = game_trace(place)

    def imported() -> None:
        out = place.folder / "game.dp2"
        with open_trace(path) as trace, CaptureWriter(out, durable=False) as writer:
            losses = importing(trace, writer)
        assert trace.damage is None and not losses.total

    return _rate(calls, imported)


@benchmark("decoding of a game's trace", "none")
def decode_game(place: Place) -> str:
    """The calls alone, without a runtime."""
    path, calls = game_trace(place)

    def decoded() -> None:
        with open_trace(path) as trace:
            assert sum(1 for _ in trace.calls()) == calls

    return _rate(calls, decoded)


@benchmark("apitrace dump of it, to compare", "none")
def dump_game(place: Place) -> str:
    """The calls decoded and printed."""
    path, calls = game_trace(place)
    if (program := shutil.which(APITRACE)) is None:
        return missing()
    return _told(calls, run([program, "dump", "--color=never", str(path)]).seconds)


@benchmark("import of a 1 GiB trace", "< 500 MiB")
def import_large(place: Place) -> str:
    """A vertex buffer filled with a MiB, a draw and an answer each frame; peak resident memory."""
    path, out = large_trace(place), place.folder / "large.dp2"
    used = command("import", str(path), "-o", str(out), "--compression", "none")
    out.unlink()
    return f"{used.mib} MiB, {used.seconds:.1f} s"


@benchmark("apitrace dump of it, 1 GiB", "none")
def dump_large(place: Place) -> str:
    """The calls decoded and printed, without the bytes of blobs; peak resident memory."""
    path = large_trace(place)
    if (program := shutil.which(APITRACE)) is None:
        return missing()
    used = run([program, "dump", "--color=never", str(path)])
    return f"{used.mib} MiB, {used.seconds:.1f} s"


def missing() -> str:
    """The figure of a row whose program is not installed."""
    return f"no {APITRACE}"
