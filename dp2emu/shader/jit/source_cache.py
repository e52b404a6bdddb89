"""Which sources write texts: an object is found again by what its text is written for as long as
they are the same, so that nobody has to write the text to find out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITERS = ("d3d", "gpu", "shader")
"""Packages of whose modules texts are made."""


@lru_cache(maxsize=1)
def sources() -> str | None:
    """Names, sizes and times of all modules that write texts; None if they are no files.

    Python goes by the same when it decides whether to compile a module again.
    """
    try:
        return "\n".join(line for name in WRITERS for line in sorted(stamps(ROOT / name)))
    except OSError:
        return None


def stamps(folder: Path | str) -> Iterator[str]:
    """A line for each module in a folder.  Raises OSError for what is no folder."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir():
                yield from stamps(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
