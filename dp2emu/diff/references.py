"""Reference pictures, found by the name of a picture or by the call that it shows.

A folder of references may have files of the same names as our pictures; files whose names end in
``call_N``, of which N is the number of a call; and beside the folder, or in its place, a JSON
document of its name that says which of its files show which call, in lists of objects with
``call`` and ``file`` or ``png``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dp2emu.errors import UsageError
from dp2emu.inputs import read_file

_CALL = re.compile(r"call_(\d{1,18})$", re.ASCII)


class References:
    """The pictures of a folder.  Mutable: ``unused`` shrinks as they are found."""

    def __init__(self, place: Path) -> None:
        """``place`` is the folder, or the JSON document that tells its files.

        Raises UsageError if there is no such folder, or the document cannot be read.
        """
        told = place.suffix == ".json"
        self.folder = place.with_suffix("") if told else place
        document = place if told else place.parent / f"{place.name}.json"
        if not told and not self.folder.is_dir():
            raise UsageError(f"{place} is no folder of pictures")
        files = sorted(self.folder.glob("*.png"))
        self._by_name = {path.name: path for path in files}
        self._by_call = dict(self._numbered(files))
        if document.is_file():
            self._by_call |= self._told(document)
        self.unused = {*files, *self._by_call.values()}

    def find(self, name: str, call: int | None) -> Path | None:
        """The reference for a picture of that file name, or else of that call."""
        path = self._by_name.get(name) or (None if call is None else self._by_call.get(call))
        if path is not None:
            self.unused.discard(path)
        return path

    @staticmethod
    def _numbered(files: list[Path]) -> Iterator[tuple[int, Path]]:
        for path in files:
            found = call_of(path)
            if found is not None:
                yield found, path

    def _told(self, document: Path) -> dict[int, Path]:
        return {
            row["call"]: self._by_name[file]
            for row in _rows(_read(document))
            for file in (row.get("file"), row.get("png"))
            if isinstance(file, str) and isinstance(row.get("call"), int) and file in self._by_name
        }


def call_of(path: Path) -> int | None:
    """The call that a picture shows by its name, None if that does not say."""
    found = _CALL.search(path.stem)
    return int(found[1]) if found else None


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    """Every object below a value."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _read(path: Path) -> Any:
    try:
        return json.loads(read_file(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no JSON: {error}") from error
