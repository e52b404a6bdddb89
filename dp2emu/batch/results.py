"""Files of results: a JSON object per line, which a later run goes on with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dp2emu.errors import UsageError


def rows_of(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """The rows of a file of results; a last line that was cut off is left out.

    Raises UsageError for lines that are none, and OSError.
    """
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith("\n"):
                return
            yield _row(line, f"{path}: line {number}")


def _row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not isinstance(row.get("file"), str):
        raise UsageError(f"{where} is no row of results")
    return row


class Results:
    """A file of results that is written row by row.  Mutable: ``done`` grows.

    With ``resume`` what is there stays and ``done`` names the files it has.
    """

    def __init__(self, path: str | PathLike[str], *, resume: bool = False) -> None:
        """Raises UsageError for a file that has something else in it, and OSError."""
        self.done: set[str] = set()
        place = Path(path)
        if resume and place.exists():
            self.done = {row["file"] for row in rows_of(place)}
            _cut(place)
        self._out = place.open("a" if resume else "w", encoding="utf-8", newline="\n")

    def write(self, row: dict[str, Any]) -> None:
        """Append a row, which is in the file when this returns."""
        self._out.write(json.dumps(row) + "\n")
        self._out.flush()
        self.done.add(row["file"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._out.close()


def _cut(path: Path) -> None:
    """Drop what stands behind the last whole line."""
    with path.open("rb+") as file:
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)
