"""Opening a capture file of any form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BufferedReader
from types import TracebackType
from typing import Protocol, Self

from dp2emu.capture import container, rawlog
from dp2emu.capture.bare import BareOptions, BareReader
from dp2emu.capture.files import Chunk, Place, Progress, Source, open_source
from dp2emu.capture.payloads import Entry, decode
from dp2emu.capture.reader import SealedReader, read_totals
from dp2emu.capture.records import Called, Record
from dp2emu.capture.totals import Summary, Totals
from dp2emu.errors import CaptureError, UsageError
from dp2emu.limits import Limits

MAGICS = {"sealed": container.MAGIC, "log": rawlog.MAGIC}
"""The forms that can be told by their first 8 bytes."""

KINDS = (*MAGICS, "bare")

_TEXT_STARTS = b"d# \t\r\n\xef"
"""How a capture as text may begin (``dp2emu.text``): its first statement, a comment, space, a byte
order mark."""

_CHECK_ALL = 4 << 20
"""Captures up to this many bytes are read whole for a summary: it takes no time and sees all."""


class _Pass(Protocol):
    progress: Progress

    def entries(self) -> Iterator[Entry]: ...


class Capture:
    """An open capture file.  Mutable: reading moves it.

    ``kind`` is "sealed", "log" or "bare", ``name`` the path or ``-``.  ``damage``, once a pass is
    over, is None or the CaptureError that ended it: where, why and which calls are lost.
    ``skipped`` counts, by name, records of kinds that this version does not know.  ``size`` is
    the file's in bytes, None for a pipe; ``position`` how far the pass has come.

    >>> from io import BytesIO
    >>> bare = open_capture(BytesIO(b""), kind="bare")
    >>> [type(record).__name__ for record in bare.records()][-2:]
    ['Called', 'FrameMarker']
    """

    def __init__(self, source: Source, kind: str, limits: Limits, bare: BareOptions) -> None:
        self.kind = kind
        self.name = source.name
        self.damage: CaptureError | None = None
        self.size = source.size
        self._source = source
        self._limits = limits
        self._bare = bare
        self._fresh = True
        self._reader: _Pass = self._read()

    @property
    def position(self) -> int:
        """Bytes of the file behind the pass."""
        return self._source.offset

    @property
    def skipped(self) -> Mapping[str, int]:
        """Records passed over by the current pass, by name of their kind."""
        return self._reader.progress.skipped

    @property
    def compression(self) -> str | None:
        """The ``compression`` of the chunks so far as ``CaptureWriter`` takes it, else None."""
        name = self._reader.progress.compression
        return "none" if name == "" else name

    @property
    def chunk(self) -> Chunk:
        """The chunk that the last record came in; number 0 for forms that have none."""
        return self._reader.progress.chunk

    def records(self) -> Iterator[Record]:
        """Every record up to the end or the damage, in order.

        A file can be passed again and again, a pipe once (UsageError).
        """
        return self._pass(None)

    def summary(self) -> Summary:
        """The numbers of the capture, from its index or its heads where it is large and has them.

        Otherwise this is a pass, and sets ``damage``.
        """
        size = self._source.size
        believed = None
        if size is not None and size > _CHECK_ALL:
            believed = self._believed()
        if believed is not None:
            return believed
        totals = Totals()
        for _ in self._pass(totals):
            pass
        return totals.summary(verified=self.damage is None)

    def close(self) -> None:
        """Close the file if ``open_capture`` opened it."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _pass(self, totals: Totals | None) -> Iterator[Record]:
        self._rewind()
        self.damage, reader, calls = None, self._reader, 0
        try:
            for entry in reader.entries():
                record = decode(*entry)
                calls += isinstance(record, Called)
                if totals is not None:
                    totals.add(entry)
                del entry  # it may keep a whole chunk alive
                yield record
                del record
        except CaptureError as error:
            error.at(stream=self.name, offset=self._source.mark)
            error.what = f"{error.what}; {self._lost(calls, whole=reader.progress.whole)}"
            self.damage = error

    def _rewind(self) -> None:
        if self._fresh:
            self._fresh = False
            return
        if self._source.size is None:
            raise UsageError(f"{self.name} can be read only once")
        self._source.jump(0)
        self._source.take(len(MAGICS.get(self.kind, b"")))
        self._reader = self._read()

    def _read(self) -> _Pass:
        if self.kind == "bare":
            return BareReader(self._source, self._limits, self._bare)
        read = SealedReader if self.kind == "sealed" else rawlog.LogReader
        return read(self._source, self._limits)

    def _lost(self, calls: int, *, whole: bool) -> str:
        """What is lost behind the damage, by call number."""
        if whole:
            return "no record is lost"
        believed = self._believed() if self.kind == "sealed" else None
        last = f"call {calls - 1} is the last whole one" if calls else "no call is whole"
        if believed is None or believed.calls < calls:
            return f"{last}; calls from {calls} on are lost"
        if believed.calls == calls:
            return f"{last}; no call is lost, records after it are"
        return f"{last}; calls {calls} to {believed.calls - 1} are lost"

    def _believed(self) -> Summary | None:
        """The totals an index or the heads tell, or None; the next pass starts over."""
        if self._source.size is None or self.kind == "bare":
            return None
        self._fresh = False
        read = read_totals if self.kind == "sealed" else rawlog.scan_heads
        return read(self._source)


def begins_as_text(stream: BufferedReader) -> bool:
    """Whether a stream holds a capture as text, told by its first byte, which stays in it."""
    start = stream.peek(1)[:1]
    return bool(start) and start in _TEXT_STARTS


def open_capture(
    place: Place,
    *,
    kind: str | None = None,
    bare: BareOptions | None = None,
    limits: Limits | None = None,
) -> Capture:
    """Open a path, ``-`` (stdin) or a binary stream, which need not seek.

    The form is told by the first bytes; a bare command buffer has none, so it is one only when
    ``kind`` says "bare", and ``bare`` then tells what is not in it.  Raises CaptureError if the
    file is none of the forms (or not the one asked for), UsageError for an unknown ``kind``, and
    OSError.
    """
    if kind is not None and kind not in KINDS:
        raise UsageError(f"capture form {kind!r} is none of {', '.join(KINDS)}")
    source = open_source(place)
    try:
        found = _detect(source, kind)
    except (CaptureError, OSError):
        source.close()
        raise
    return Capture(source, found, limits or Limits(), bare or BareOptions())


def _detect(source: Source, kind: str | None) -> str:
    if kind == "bare":
        return kind
    magic = source.upto(len(container.MAGIC))
    for form, expected in MAGICS.items():
        if magic == expected and kind in (None, form):
            return form
    wanted = " or ".join(
        f"{form} ({expected.hex(' ')})"
        for form, expected in MAGICS.items()
        if kind in (None, form)
    )
    found = magic.hex(" ") if magic else "nothing"
    raise source.error(
        f"the file starts with {found}, a capture with {wanted}; "
        "a bare command buffer is read only when asked for"
    )
