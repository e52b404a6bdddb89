"""The progress bar: on standard error, and only if that is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

_EVERY = 64
"""Records between two looks at the file's position."""


@contextmanager
def progress_through(file: BinaryIO | None) -> Iterator[Callable[[object], None]]:
    """A bar over a file being read; call what this gives once a record.

    Without a terminal nothing is shown.  Colours follow NO_COLOR (rich sees to that).
    """
    if not sys.stderr.isatty():
        yield lambda record: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        size = None if file is None else os.fstat(file.fileno()).st_size
        task = bar.add_task("replay", total=size)
        seen = 0

        def advance(record: object) -> None:
            nonlocal seen
            seen += 1
            if seen % _EVERY == 0:
                bar.update(task, completed=file.tell() if file else seen)

        yield advance
