"""The results log of a batch: a JSON object per line; an interrupted batch can be continued."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Self

from dp2emu.errors import UsageError


def rows_of(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a results log, without a last line that is incomplete.

    Raises UsageError for a line that is not a row, and OSError.
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
        raise UsageError(f"{where} is not a row of results")
    return row


class Results:
    """A results log of a batch, to which rows are appended.  Mutable: ``done``, a set of the paths
    that have a row, grows.

    With ``resume`` the rows of an existing log are kept, otherwise it is overwritten.
    """

    def __init__(self, path: str | PathLike[str], *, resume: bool = False) -> None:
        """Raises UsageError if the file is not a results log, and OSError."""
        self.done: set[str] = set()
        place = Path(path)
        if resume and place.exists():
            self.done = {row["file"] for row in rows_of(place)}
            _cut(place)
        self._out = place.open("a" if resume else "w", encoding="utf-8", newline="\n")

    def write(self, row: dict[str, Any]) -> None:
        """Append a row and flush it to the file."""
        self._out.write(json.dumps(row) + "\n")
        self._out.flush()
        self.done.add(row["file"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._out.close()


def _cut(path: Path) -> None:
    """Remove the last line of a file if the line is incomplete."""
    with path.open("rb+") as file:
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)
