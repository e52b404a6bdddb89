"""Last writers and readers of a resource as text for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dp2emu.explain.accesses import Span
from dp2emu.explain.events import Event
from dp2emu.explain.listing import row_of
from dp2emu.explain.writers import Answer, Reader

SCHEMA = 1
"""Number of the JSON documents' form."""

_SPANS = 3
"""Maximum number of ranges of bytes in a line of text."""


def writers_document(answer: Answer) -> dict[str, Any]:
    """The last writers as a JSON object; ranges are half-open pairs of bytes."""
    return {
        **_head(answer),
        "writers": [
            {"event": _event(each.event), "bytes": each.count, "ranges": each.runs}
            for each in answer.writers
        ],
        "unwritten": answer.unwritten,
        "overwritten": [_event(each) for each in answer.bound],
    }


def readers_document(answer: Answer) -> dict[str, Any]:
    """The readers as a JSON object."""
    rows = [
        {
            "event": _event(each.event),
            "use": each.use,
            "ranges": each.spans,
            "api_call": each.api_call,
        }
        for each in answer.readers
    ]
    return {**_head(answer), "readers": rows}


def _head(answer: Answer) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "object" if answer.resource.is_object else "surface": answer.resource.number,
        "size": answer.size,
        "range": answer.span,
    }


def _event(event: Event | None) -> dict[str, Any] | None:
    return None if event is None else row_of(event)


# Text


def writers_lines(answer: Answer) -> Iterator[str]:
    """The last writers as lines of text, in the order of the events."""
    yield _title(answer)
    for each in answer.writers:
        yield f"  {_named(each.event)}: {_bytes(each.count)} at {_spans(each.runs)}"
    if answer.unwritten:
        count = sum(end - start for start, end in answer.unwritten)
        yield f"  never written: {_bytes(count)} at {_spans(answer.unwritten)}"
    if answer.bound:
        places = " ".join(each.address for each in answer.bound[:20])
        more = f" and {len(answer.bound) - 20} more" if len(answer.bound) > 20 else ""
        yield f"  could write it, and wrote none of these bytes last: {places}{more}"


def readers_lines(answer: Answer) -> Iterator[str]:
    """The readers as lines of text, in the order of the events."""
    yield _title(answer)
    if not answer.readers:
        yield "  nothing reads it"
    for each in answer.readers:
        yield f"  {_reader(each)}: {each.use}, bytes {_spans(each.spans)}"


def _reader(reader: Reader) -> str:
    return f"API call {reader.api_call}" if reader.event is None else _named(reader.event)


def _title(answer: Answer) -> str:
    start, end = answer.span
    return f"{answer.resource}, bytes {start}-{end - 1} of {answer.size}"


def _named(event: Event | None) -> str:
    return "the host, between events" if event is None else event.title


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _spans(spans: Sequence[Span]) -> str:
    shown = ", ".join(f"{start}-{end - 1}" for start, end in spans[:_SPANS])
    return shown + (f" and {len(spans) - _SPANS} more ranges" if len(spans) > _SPANS else "")
