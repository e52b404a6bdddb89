"""The worker that replays captures: lists of files in, a line of JSON for each file out."""

from __future__ import annotations

import contextlib
import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, cast

from msgspec.structs import asdict

from dp2emu.dp2.options import Options
from dp2emu.errors import Dp2Error
from dp2emu.gpu.device.timing import parse_timing
from dp2emu.inputs import open_input
from dp2emu.limits import Limits
from dp2emu.process import worker
from dp2emu.process.worker import ending_after, limit_memory
from dp2emu.replay import Recording, Tally, replay

PATIENCE = 10.0
"""Seconds after a file's time limit at which a worker ends itself; its supervisor should end it at
the limit."""

KEPT_SECONDS = 0.05
"""Seconds for which a worker collects result rows before it writes them to its supervisor."""

LEFT_TASKS = 2
"""Number of its latest tasks whose result rows a worker saves when its connection ends, for a
worker that gets one of these tasks again."""


def row_of(path: str, options: Options | None = None, timing: str | None = None) -> dict[str, Any]:
    """Replay a capture, the text of one or a trace of API calls, and return its results.

    ``outcome`` is ``fine``, ``differs``, ``faults``, ``unusable`` or ``memory``; if several apply
    it is the last of them.  ``error`` says why in words.  Other keys are the numbers of
    ``replay.Tally``; a file that cannot be opened has none.  A row does not depend on the machine
    or the time.
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


def serve(reader: BinaryIO, writer: BinaryIO, settings: str) -> None:
    """Answer each line of ``reader`` with the rows of the files that it lists, a line of JSON
    each.

    ``settings`` is the text of ``dp2emu.batch.Limits``.  A line of ``reader`` is a JSON array: the
    name of a task, which may be empty, and an array of paths.  An empty line is written first,
    when the worker is ready.  When the connection ends, the rows of the last tasks are saved in
    the directory of a shared server, so that a worker that gets one of these tasks again continues
    it.
    """
    given = json.loads(settings)
    limit_memory(given["memory"])
    limits = Limits(**given["options"]["limits"])
    options = Options(**given["options"] | {"limits": limits})
    last: deque[tuple[Path, list[bytes]]] = deque(maxlen=LEFT_TASKS)
    try:
        _send(writer, b"\n")
        for line in reader:
            if not line.endswith(b"\n"):
                return
            task, files = json.loads(line)
            rows: list[bytes] = []
            if task and worker.shared_directory:
                left = Path(worker.shared_directory, f"{task}.rows")
                rows = _load_rows(left)
                last.append((left, rows))
                _send(writer, b"".join(rows))
            todo = files[len(rows) :]
            for lines in _lines_of(todo, options, given["timing"], given["seconds"]):
                rows += lines.splitlines(keepends=True)
                _send(writer, lines)
    except OSError:  # the connection has ended
        pass
    finally:
        for left, rows in last:
            _save_rows(left, rows)


def _lines_of(
    files: Sequence[str], options: Options, timing: str | None, seconds: float
) -> Iterator[bytes]:
    """Replay captures; yields bytes with the rows of one or more files, each a line of JSON.

    A file that takes ``PATIENCE`` longer than ``seconds`` ends the process.
    """
    kept, since = [], monotonic()
    for path in files:
        with ending_after(seconds + PATIENCE):
            row = row_of(path, options, timing)
        kept.append(json.dumps(row) + "\n")
        if monotonic() - since > KEPT_SECONDS:
            yield "".join(kept).encode()
            kept, since = [], monotonic()
    yield "".join(kept).encode()


def _send(writer: BinaryIO, lines: bytes) -> None:
    writer.write(lines)
    writer.flush()


def _save_rows(left: Path, rows: list[bytes]) -> None:
    """Save rows, lines of JSON, in the file ``left``, by renaming a complete file to it."""
    unfinished = left.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        unfinished.write_bytes(b"".join(rows))
        unfinished.replace(left)


def _load_rows(left: Path) -> list[bytes]:
    """Return the rows (lines of JSON) saved in the file ``left``, and remove it; [] without it."""
    try:
        rows = left.read_bytes()
        left.unlink()
    except FileNotFoundError:
        return []
    return rows.splitlines(keepends=True)
