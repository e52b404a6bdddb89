"""Opening a trace of API calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dp2emu.capture.apitrace.container import LONGEST_MAGIC, Packed, container_of, expand
from dp2emu.capture.apitrace.cursor import Cursor
from dp2emu.capture.apitrace.events import EventReader
from dp2emu.capture.apitrace.values import TraceCall
from dp2emu.capture.files import Closable, Place, Source, open_source
from dp2emu.errors import CaptureError
from dp2emu.limits import Limits


class Trace(Closable):
    """An open trace.  Mutable: reading moves it.

    ``name`` is the path or ``-``, ``container`` one of snappy, gzip, zstd and brotli.  ``damage``,
    after a pass, is None or the CaptureError that ended it, with the file offset of the chunk that
    could not be read.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        self.name = source.name
        self.damage: CaptureError | None = None
        self._source = source
        self._limits = limits
        self._fresh = True
        start = source.upto(LONGEST_MAGIC)
        self.container = container_of(start) or "brotli"
        self._reader = self._read(start)

    @property
    def version(self) -> int:
        """The version of the trace's encoding, 0 to 6."""
        return self._reader.version

    @property
    def semantic_version(self) -> int:
        """The version of the tracer's conventions; ``version`` in traces without one."""
        return self._reader.semantic_version

    @property
    def properties(self) -> Mapping[str, str]:
        """Properties of the traced process: ``process.name`` and ``process.commandLine``."""
        return self._reader.properties

    def calls(self) -> Iterator[TraceCall]:
        """Calls in the order of their leave events, up to the damage; then the unfinished ones.

        Starts a new pass; raises UsageError for the second pass over a pipe.
        """
        self._rewind()
        self.damage, reader = None, self._reader
        try:
            yield from reader.calls()
        except CaptureError as error:
            self.damage = self._placed(error)
            self.damage.what += f"; calls from {reader.entered} on are lost"
        yield from reader.unfinished()

    def close(self) -> None:
        """Close the file if ``open_trace`` opened it."""
        self._source.close()

    def _rewind(self) -> None:
        if self._fresh:
            self._fresh = False
            return
        self._source.rewind()
        self._reader = self._read(b"")

    def _read(self, start: bytes) -> EventReader:
        pieces = expand(self.container, Packed(self._source, start), self._limits)
        try:
            return EventReader(Cursor(pieces), self._limits, self._source)
        except CaptureError as error:
            raise self._placed(error) from None

    def _placed(self, error: CaptureError) -> CaptureError:
        return error.at(stream=self.name, offset=self._source.mark)


def open_trace(place: Place, *, limits: Limits | None = None) -> Trace:
    """A trace opened from a path, ``-`` (stdin) or a binary stream, which need not seek.

    Raises CaptureError if its header cannot be read, and OSError.
    """
    source = open_source(place)
    try:
        return Trace(source, limits or Limits())
    except (CaptureError, OSError):
        source.close()
        raise
