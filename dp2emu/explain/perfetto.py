"""Perfetto traces: tracks, slices, instants and counters as protobuf bytes.

Only the few messages that a timeline needs are written, by the field numbers below, so that no
protobuf library is needed.  The format is the one that Perfetto publishes as
``perfetto_trace.proto``, and explains in its documentation of synthetic track events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from dp2emu.escaping import plain

_VARINT, _BYTES = 0, 2
_LONGEST = 1000
"""Maximum number of characters of a string."""
_SEQUENCE = 1
"""Number of the only writer of a trace (trusted_packet_sequence_id)."""
_CLEARED = 1
"""SEQ_INCREMENTAL_STATE_CLEARED, which the first packet of a writer has."""


class _Packet(IntEnum):
    """Field numbers of TracePacket; a Trace has its packets in field 1."""

    TIMESTAMP = 8
    SEQUENCE_ID = 10
    TRACK_EVENT = 11
    SEQUENCE_FLAGS = 13
    TRACK_DESCRIPTOR = 60


class _Track(IntEnum):
    """Field numbers of TrackDescriptor."""

    UUID = 1
    NAME = 2
    PROCESS = 3
    PARENT = 5
    COUNTER = 8
    CHILD_ORDERING = 11
    RANK = 12


class _Event(IntEnum):
    """Field numbers of TrackEvent."""

    ANNOTATION = 4
    TYPE = 9
    TRACK = 11
    CATEGORY = 22
    NAME = 23
    COUNTER_VALUE = 30


class EventType(IntEnum):
    """TrackEvent.Type."""

    SLICE_BEGIN = 1
    SLICE_END = 2
    INSTANT = 3
    COUNTER = 4


_PID, _PROCESS_NAME = 1, 6
"""Field numbers of ProcessDescriptor."""
_ANNOTATION_NAME, _ANNOTATION_INT, _ANNOTATION_STRING = 10, 4, 6
"""Field numbers of DebugAnnotation."""
_EXPLICIT = 3
"""TrackDescriptor.ChildTracksOrdering: by rank."""

Annotations = Mapping[str, int | str]
"""Named values of a slice or instant."""


def varint(value: int) -> bytes:
    """A number below 2**64 in base 128, the low digits first.

    >>> varint(300).hex()
    'ac02'
    """
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return varint(field << 3 | _VARINT) + varint(value)


def _bytes(field: int, data: bytes) -> bytes:
    return varint(field << 3 | _BYTES) + varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, plain(text[:_LONGEST]).encode())


class TraceWriter:
    """Collects the packets of a trace.  Mutable: methods add to it.

    Times are in nanoseconds.  Slices of a track nest: they end in the reverse order of their
    begins.
    """

    def __init__(self, process: str) -> None:
        self._tracks: list[bytes] = []
        self._events: list[tuple[int, bytes]] = []
        body = _number(_PID, 1) + _text(_PROCESS_NAME, process)
        self._root = self._add_track(
            _bytes(_Track.PROCESS, body) + _number(_Track.CHILD_ORDERING, _EXPLICIT)
        )

    def track(self, name: str, parent: int | None = None) -> int:
        """A new track of slices and instants; returns its number."""
        return self._add_track(self._named(name, parent))

    def counter(self, name: str, parent: int | None = None) -> int:
        """A new track of a counter; returns its number."""
        return self._add_track(self._named(name, parent) + _bytes(_Track.COUNTER, b""))

    def _named(self, name: str, parent: int | None) -> bytes:
        above = self._root if parent is None else parent
        ordered = _number(_Track.CHILD_ORDERING, _EXPLICIT)
        rank = _number(_Track.RANK, len(self._tracks))
        return _text(_Track.NAME, name) + _number(_Track.PARENT, above) + ordered + rank

    def _add_track(self, body: bytes) -> int:
        number = len(self._tracks) + 1
        self._tracks.append(_number(_Track.UUID, number) + body)
        return number

    def slice(
        self, track: int, name: str, start: int, end: int, notes: Annotations | None = None,
        category: str = "",
    ) -> None:  # fmt: skip
        """Add a slice."""
        self._event(EventType.SLICE_BEGIN, track, start, self._told(name, notes, category))
        self._event(EventType.SLICE_END, track, max(start, end), b"")

    def instant(self, track: int, name: str, time: int, notes: Annotations | None = None) -> None:
        """Add an instant."""
        self._event(EventType.INSTANT, track, time, self._told(name, notes, ""))

    def count(self, track: int, time: int, value: int) -> None:
        """Add a value of a counter, which lasts until its next value."""
        self._event(EventType.COUNTER, track, time, _number(_Event.COUNTER_VALUE, value))

    def _told(self, name: str, notes: Annotations | None, category: str) -> bytes:
        parts = [_text(_Event.NAME, name)]
        if category:
            parts.append(_text(_Event.CATEGORY, category))
        for key, value in (notes or {}).items():
            is_number = isinstance(value, int)
            body = (
                _number(_ANNOTATION_INT, int(value))
                if is_number
                else _text(_ANNOTATION_STRING, str(value))
            )
            parts.append(_bytes(_Event.ANNOTATION, _text(_ANNOTATION_NAME, key) + body))
        return b"".join(parts)

    def _event(self, kind: EventType, track: int, time: int, more: bytes) -> None:
        body = _number(_Event.TYPE, kind) + _number(_Event.TRACK, track) + more
        self._events.append((time, body))

    def packets(self) -> Iterator[bytes]:
        """The bytes of the trace, packet by packet, events in the order of their times."""
        yield _packet(_number(_Packet.SEQUENCE_FLAGS, _CLEARED))
        for track in self._tracks:
            yield _packet(_bytes(_Packet.TRACK_DESCRIPTOR, track))
        for time, body in sorted(self._events, key=lambda event: event[0]):
            stamp = _number(_Packet.TIMESTAMP, time)
            yield _packet(stamp + _bytes(_Packet.TRACK_EVENT, body))


def _packet(body: bytes) -> bytes:
    return _bytes(1, _number(_Packet.SEQUENCE_ID, _SEQUENCE) + body)
