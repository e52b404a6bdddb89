"""The child that replays captures: files in, a line of JSON for each out.

python -m dp2emu.batch.child SETTINGS

``SETTINGS`` is a JSON object: ``memory`` in bytes (0: no bound), ``seconds`` a file may take,
``timing`` and ``options``.  A
line of input is a JSON array: the name of a task, which counts only for a nursery's children, and
an array of paths of captures; the answers are their rows, in that order.  Before all of them a
line says that it is ready.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from io import BufferedReader
from time import monotonic
from typing import Any, BinaryIO, cast

from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.inputs import open_input
from dp2emu.limits import Limits
from dp2emu.records import dataclass
from dp2emu.replay import Recording, Tally, replay

PATIENCE = 10.0
"""Seconds beyond those of a file after which a child ends by itself: who watches it is faster,
unless it is lost."""

KEPT_SECONDS = 0.05
"""How long answers may be kept back: each that is written wakes whoever waits for it."""


def row_of(path: str, options: Options | None = None, timing: str | None = None) -> dict[str, Any]:
    """Replay a capture, a text of one or a trace of API calls; what came of it.

    ``outcome`` is ``fine``, ``differs``, ``faults``, ``unusable`` or ``memory``, of which the
    later goes before the earlier; ``error`` says why in words.  The rest are the numbers of
    ``replay.Tally``, which a file that cannot be opened has not.  Nothing in it depends on the
    machine or the time.
    """
    model = parse_timing(timing) if timing else None
    try:
        with open_input(path) as file:
            options = options or Options()
            tally = replay(_opened(file, options.limits), timing=model, options=options)
    except MemoryError:
        return {"file": path, "outcome": "memory", "error": "out of memory"}
    except OSError as error:
        return {"file": path, "outcome": "unusable", "error": error.strerror or str(error)}
    except Dp2Error as error:
        return {"file": path, "outcome": "unusable", "error": str(error)}
    damage = str(tally.damage) if tally.damage else None
    numbers = asdict(tally) | {"damage": damage}
    return {"file": path, "outcome": _outcome(tally), "error": damage, **numbers}


def _outcome(tally: Tally) -> str:
    if tally.damage:
        return "unusable"
    if tally.faults:
        return "faults"
    return "differs" if tally.different or tally.observed_different else "fine"


def _opened(file: BinaryIO, limits: Limits) -> Recording:
    from dp2emu.capture.apitrace import begins_as_trace, open_trace
    from dp2emu.text import open_any

    stream = cast(BufferedReader, file)
    if not begins_as_trace(stream, str(stream.name)):
        return open_any(stream, limits=limits)
    from dp2emu.retrace import Import

    return Import(open_trace(stream, limits=limits))


@dataclass(frozen=True, slots=True)
class Manner:
    """How captures are replayed: with ``options``, and by a timing model of that name, if any.

    ``seconds`` is what each may take.
    """

    options: Options
    timing: str | None
    seconds: float


def held_to(settings: str) -> Manner:
    """Hold this process to the bounds of ``settings``; the manner that they tell."""
    given = json.loads(settings)
    _bound(given["memory"])
    limits = Limits(**given["options"]["limits"])
    options = Options(**given["options"] | {"limits": limits})
    return Manner(options, given["timing"], given["seconds"])


def lines_of(files: Sequence[str], manner: Manner) -> Iterator[bytes]:
    """Replay captures; their rows as lines of JSON, several at a time."""
    kept, since = [], monotonic()
    for path in files:
        with _ending_after(manner.seconds + PATIENCE):
            row = row_of(path, manner.options, manner.timing)
        kept.append(json.dumps(row) + "\n")
        if monotonic() - since > KEPT_SECONDS:
            yield "".join(kept).encode()
            kept, since = [], monotonic()
    yield "".join(kept).encode()


@contextlib.contextmanager
def _ending_after(seconds: float) -> Iterator[None]:
    """Have the system end this process if the block takes longer, where it can do so."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def main(settings: str) -> None:
    """Answer lines of standard input until it ends."""
    manner = held_to(settings)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _say(answers, b"\n")
    for line in sys.stdin:
        _, files = json.loads(line)
        for lines in lines_of(files, manner):
            _say(answers, lines)


def _say(answers: BinaryIO, lines: bytes) -> None:
    answers.write(lines)
    answers.flush()


def _bound(memory: int) -> None:
    """Allocations beyond fail; where there is no such bound, none is set."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main(sys.argv[1])
