"""Records of the host that are events: writes, markers, presents."""

from __future__ import annotations

from typing import Any

from dp2emu.capture import entry_values as entries
from dp2emu.capture import records
from dp2emu.capture.records import Record
from dp2emu.explain.events import EventKind

_PRESENT = f"{entries.DXGI}Present"
_MARKS = {records.MARKER, records.MARKER_BEGIN}


def host_event(record: Record, *, imported: bool) -> tuple[EventKind | None, str]:
    """Return the kind of event that a record of the host is, None for another, and a marker's
    name.
    """
    if isinstance(record, records.Annotation) and record.key in _MARKS:
        return EventKind.MARKER, record.text
    if isinstance(record, records.EntryCalled):
        if record.entry == entries.WRITE:
            return EventKind.WRITE, ""
        return (EventKind.PRESENT if record.entry == _PRESENT and not imported else None), ""
    return _HOST_EVENTS.get(type(record)), ""


_HOST_EVENTS: dict[type[Any], EventKind] = {
    records.FrameMarker: EventKind.PRESENT,
    records.MemoryWritten: EventKind.WRITE,
}


def bytes_written(record: Record) -> int:
    """Return the number of bytes that a write of the host has."""
    if isinstance(record, records.EntryCalled):
        return sum(len(each) for each in record.arguments if isinstance(each, bytes))
    return len(record.data) if isinstance(record, records.MemoryWritten) else 0
