"""Totals of a capture (counts, sizes, times): computed while writing, stored in its index."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable

import msgspec

from dp2emu.capture.payloads import CREATED, LAYOUTS, Entry, Kind
from dp2emu.errors import CaptureError

_FORMATS = 256
"""Pairs of surface kind and format counted separately, at most; others are counted as (0, 0)."""


class Summary(msgspec.Struct, frozen=True):
    """The totals of a capture.

    ``contexts`` and ``surfaces`` count creations.  Members that end in ``_bytes`` are sizes of
    memory within calls, answers, memory writes, and pictures and observations together.
    ``first_time`` and ``last_time`` are the smallest and largest known time in ticks, or 0.
    ``formats`` is sorted and has (SurfaceKind, D3DFORMAT, count).  ``verified`` is False for
    numbers from an index or from record heads, which are not checked against the records.
    """

    records: int = 0
    calls: int = 0
    answers: int = 0
    frames: int = 0
    contexts: int = 0
    surfaces: int = 0
    memory_writes: int = 0
    annotations: int = 0
    entries: int = 0
    command_bytes: int = 0
    vertex_bytes: int = 0
    response_bytes: int = 0
    memory_bytes: int = 0
    pictures: int = 0
    observations: int = 0
    observed_bytes: int = 0
    first_time: int = 0
    last_time: int = 0
    formats: tuple[tuple[int, int, int], ...] = ()
    verified: bool = False


class Totals:
    """Accumulates the totals of records.  Mutable: ``add`` counts a record."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._formats: Counter[tuple[int, int]] = Counter()
        self._first = self._last = 0

    def add(self, entry: Entry, size: int | None = None) -> None:
        """Count a record; ``size`` is its payload's in bytes if ``entry`` has only its head."""
        kind, time, payload = entry
        layout = LAYOUTS[kind].head
        counts = self._counts
        if kind in _ALONE and len(payload) >= layout.size:
            counts["records"] += 1
            counts[_ALONE[kind]] += 1
        else:
            head = layout.unpack(payload)
            counts["records"] += 1
            rest = (len(payload) if size is None else size) - layout.size
            for name, number in _COUNTS[kind](head, rest):
                counts[name] += number
            if kind in _SORTED or (kind is Kind.SURFACE and head[0] == CREATED):
                sort = dict(zip(layout.names, head, strict=True))
                self._add_format((sort["kind"], sort["format"]))
        if time:
            self._first = min(self._first or time, time)
            self._last = max(self._last, time)

    def summary(self, *, verified: bool) -> Summary:
        """The totals of the records counted so far; ``verified`` becomes their member."""
        return Summary(
            **self._counts,
            first_time=self._first,
            last_time=self._last,
            formats=tuple((*sort, number) for sort, number in sorted(self._formats.items())),
            verified=verified,
        )

    def _add_format(self, sort: tuple[int, int]) -> None:
        known = sort in self._formats or len(self._formats) < _FORMATS
        self._formats[sort if known else (0, 0)] += 1


_ALONE = {Kind.FRAME: "frames", Kind.ANNOTATION: "annotations", Kind.ENTRY: "entries"}
"""Names of the totals of records of which only the number counts, by kind of record."""
_SORTED = frozenset({Kind.TEXTURE, Kind.MANAGED})
"""Kinds of records that create a surface; records of Kind.SURFACE may also destroy one."""

_Numbers = tuple[tuple[str, int], ...]

_COUNTS: dict[Kind, Callable[[tuple[int, ...], int], _Numbers]] = {
    Kind.CONTEXT: lambda head, rest: (("contexts", head[0]),),
    Kind.SURFACE: lambda head, rest: (("surfaces", head[0]),),
    Kind.MEMORY: lambda head, rest: (("memory_writes", 1), ("memory_bytes", rest)),
    Kind.CALL: lambda head, rest: (
        ("calls", 1), ("command_bytes", head[2]), ("vertex_bytes", head[3]),
    ),
    Kind.ANSWER: lambda head, rest: (("answers", 1), ("response_bytes", head[3])),
    Kind.TEXTURE: lambda head, rest: (("surfaces", 1),),
    Kind.COLORKEY: lambda head, rest: (),
    Kind.FLIP: lambda head, rest: (),
    Kind.LOCK: lambda head, rest: (),
    Kind.BLIT: lambda head, rest: (),
    Kind.MANAGED: lambda head, rest: (("surfaces", 1),),
    Kind.PICTURE: lambda head, rest: (("pictures", 1), ("observed_bytes", rest)),
    Kind.OBSERVATION: lambda head, rest: (("observations", 1), ("observed_bytes", rest)),
}  # fmt: skip
"""Functions that count a record of another kind, by kind.  Parameters: the values of its payload's
head, and the number of bytes after the head; they return (name of a total, increment) pairs."""


def to_metadata(summary: Summary) -> dict[str, str]:
    """The metadata of a sealed capture for a summary, with a checksum over the other keys."""
    numbers = {name: getattr(summary, name) for name in _NUMBERS}
    metadata = {name: str(n) for name, n in numbers.items() if n > 0 or name not in _LATER}
    metadata["formats"] = " ".join(":".join(map(str, sort)) for sort in summary.formats)
    return {**metadata, "crc32": _checksum(metadata)}


def from_metadata(metadata: dict[str, str]) -> Summary:
    """Parse the totals in a sealed capture's metadata; CaptureError for a wrong checksum."""
    rest = {key: text for key, text in metadata.items() if key != "crc32"}
    if metadata.get("crc32") != _checksum(rest):
        raise CaptureError("totals do not match their checksum")
    try:
        numbers = {
            name: int(rest[name]) for name in _NUMBERS if name in rest or name not in _LATER
        }
        formats = [tuple(map(int, sort.split(":"))) for sort in rest["formats"].split()]
        return Summary(**numbers, formats=tuple((a, b, c) for a, b, c in formats), verified=False)
    except (KeyError, ValueError) as error:
        raise CaptureError(f"totals are incomplete: {error}") from error


def _checksum(metadata: dict[str, str]) -> str:
    lines = "".join(f"{key}={text}\n" for key, text in sorted(metadata.items()))
    return f"{zlib.crc32(lines.encode()):08x}"


_NUMBERS = tuple(f for f in Summary.__struct_fields__ if f not in ("formats", "verified"))
_LATER = frozenset({"entries", "pictures", "observations", "observed_bytes"})
"""Names of members of ``Summary`` that a sealed capture stores only if they are not 0."""
