"""Replay JSON (``docs/replay.schema.json``), written while the replay goes on.

Calls go out as they happen; the shorter lists that follow them wait in spools that move to a
temporary file when they grow.  One row a line, so that two replays diff well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Self, TextIO

SCHEMA = 1
"""Version of the document; keys are only ever added within it."""

_SPOOL = 1 << 20
_COPY = 1 << 16


class Document:
    """The document under way.  Mutable: rows are added until it is finished.

    ``out`` None throws everything away.  Leaving the ``with`` block lets go of the spools;
    ``out`` stays open.
    """

    def __init__(self, out: TextIO | None) -> None:
        self._out = out
        self._rows = 0
        self._opening = f'{{"schema": {SCHEMA},\n"calls": ['
        names = ("pictures", "queries", "entries", "disturbances")
        self._spools = {name: _Spool() for name in names}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for spool in self._spools.values():
            spool.close()

    def call(self, row: Mapping[str, Any]) -> None:
        """Add a row to ``calls``."""
        if self._out is None:
            return
        self._write(("," if self._rows else self._opening) + "\n" + json.dumps(row))
        self._rows += 1

    def picture(self, row: Mapping[str, Any]) -> None:
        """Add a row to ``pictures``."""
        self._spool("pictures", row)

    def query(self, row: Mapping[str, Any]) -> None:
        """Add a row to ``queries``."""
        self._spool("queries", row)

    def entry(self, row: Mapping[str, Any]) -> None:
        """Add a row to ``entries``."""
        self._spool("entries", row)

    def disturbance(self, row: Mapping[str, Any]) -> None:
        """Add a row to ``disturbances``."""
        self._spool("disturbances", row)

    def finish(self, rest: Mapping[str, Any]) -> None:
        """Write the lists that wait and ``rest``, key by key."""
        self._write("\n]" if self._rows else self._opening + "]")
        for name, spool in self._spools.items():
            self._write(f',\n"{name}": [')
            if self._out is not None:
                spool.copy_to(self._out)
            self._write("\n]")
        for key, value in rest.items():
            self._write(f",\n{json.dumps(key)}: {json.dumps(value)}")
        self._write("}\n")

    def _spool(self, name: str, row: Mapping[str, Any]) -> None:
        if self._out is not None:
            self._spools[name].add(json.dumps(row))

    def _write(self, text: str) -> None:
        if self._out is not None:
            self._out.write(text)


class _Spool:
    """JSON rows, in memory or a temporary file.  Mutable: it fills."""

    def __init__(self) -> None:
        self._file: IO[str] = SpooledTemporaryFile(  # noqa: SIM115  (closed by close)
            _SPOOL, "w+", encoding="ascii", newline="\n"
        )
        self._rows = 0

    def add(self, row: str) -> None:
        self._file.write(("," if self._rows else "") + "\n" + row)
        self._rows += 1

    def copy_to(self, out: TextIO) -> None:
        self._file.seek(0)
        while piece := self._file.read(_COPY):
            out.write(piece)

    def close(self) -> None:
        self._file.close()
