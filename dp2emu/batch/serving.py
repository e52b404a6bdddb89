"""What a nursery's child does for whoever is connected with it.

Rows of a task whose worker was lost are left in the nursery's folder, for who is given the task.
"""

from __future__ import annotations

import json
import os
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dp2emu.batch.child import Manner, held_to, lines_of

LEFT_TASKS = 2
"""Whose rows are left: a task that is done is the worker's until the scheduler has heard of it."""


def serving(place: str, settings: str) -> Callable[[socket.socket], None]:
    """A function that answers on a connection until it ends, in a child of a nursery."""
    manners: list[Manner] = []

    def serve(connection: socket.socket) -> None:
        if not manners:  # bounds are the child's, not the nursery's
            manners.append(held_to(settings))
        with suppress(OSError):
            _serve(connection, Path(place), manners[0])

    return serve


def _serve(connection: socket.socket, place: Path, manner: Manner) -> None:
    """Answer line after line; leave the rows of the last tasks, which a lost worker had still."""
    connection.sendall(b"%d\n\n" % os.getpid())
    last: deque[tuple[str, list[bytes]]] = deque(maxlen=LEFT_TASKS)
    try:
        with connection.makefile(encoding="utf-8") as asked:
            for line in asked:
                if not line.endswith("\n"):
                    return
                task, files = json.loads(line)
                said = _taken(place / f"{task}.rows") if task else []
                last.append((task, said))
                _answer(connection, files, said, manner)
    finally:
        for task, said in last:
            if task:
                _leave(place / f"{task}.rows", said)


def _answer(
    connection: socket.socket, files: list[str], said: list[bytes], manner: Manner
) -> None:
    """Say rows of ``files``, of which the first are there already; all are in ``said`` then."""
    connection.sendall(b"".join(said))
    for lines in lines_of(files[len(said) :], manner):
        said += lines.splitlines(keepends=True)
        connection.sendall(lines)


def _leave(left: Path, rows: list[bytes]) -> None:
    unfinished = left.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(b"".join(rows))
    unfinished.replace(left)


def _taken(left: Path) -> list[bytes]:
    """Rows that are left, which nobody else gets then."""
    try:
        rows = left.read_bytes()
        left.unlink()
    except FileNotFoundError:
        return []
    return rows.splitlines(keepends=True)
