"""Replay JSON (``docs/replay.schema.json``), written during the replay.

Calls are written at once; the shorter lists that follow them are spooled, to temporary files when
they grow.  One row a line, so that two replays diff well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Self, TextIO

SCHEMA = 1
"""Version of replay JSON; keys may be added without a new version."""
_LISTS = ("pictures", "data", "queries", "get_data", "entries", "disturbances")
"""Keys of the lists that follow ``calls`` in replay JSON, in order."""

_SPOOL = 1 << 20
_COPY = 1 << 16


class Document:
    """A writer of replay JSON to ``out``; without one (None) it discards everything.

    Mutable: rows are added until it is finished.  The end of the ``with`` block closes its
    temporary files; ``out`` stays open.
    """

    def __init__(self, out: TextIO | None) -> None:
        self._out = out
        self._rows = 0
        self._opening = f'{{"schema": {SCHEMA},\n"calls": ['
        self._spools: dict[str, IO[str]] = {
            name: SpooledTemporaryFile(_SPOOL, "w+", encoding="ascii", newline="\n")  # noqa: SIM115
            for name in (_LISTS if out is not None else ())
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for spool in self._spools.values():
            spool.close()

    def call(self, row: Mapping[str, Any]) -> None:
        """Append a row to ``calls``, the first list of the document; it is written at once."""
        if self._out is None:
            return
        self._write(("," if self._rows else self._opening) + "\n" + json.dumps(row))
        self._rows += 1

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        """Add a row to a list after ``calls``, such as pictures or queries."""
        if self._out is not None:
            self._spools[name].write(",\n" + json.dumps(row))

    def finish(self, rest: Mapping[str, Any]) -> None:
        """Write the lists after ``calls``, then the members of ``rest``, and end the document."""
        self._write("\n]" if self._rows else self._opening + "]")
        for name, spool in self._spools.items():
            self._write(f',\n"{name}": [')
            if self._out is not None:
                spool.seek(0)
                spool.read(1)  # the comma before the first row
                copyfileobj(spool, self._out, _COPY)
            self._write("\n]")
        for key, value in rest.items():
            self._write(f",\n{json.dumps(key)}: {json.dumps(value)}")
        self._write("}\n")

    def _write(self, text: str) -> None:
        if self._out is not None:
            self._out.write(text)
