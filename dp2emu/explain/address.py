"""Addresses: the places of a capture as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from dp2emu.argument_check import checked
from dp2emu.errors import Absent, UsageError
from dp2emu.explain.events import Event

FORMS = "E12, 7:3 (call:token), 7, @456 (API call) or frame 2"
"""The forms of an address, for error messages and help."""

MEANING = "EVENT is an address such as E12, 7:3, @456 or 'frame 2'."
"""Sentence about the forms of an address, for the help of verbs."""

_NUMBER = r"([0-9]{1,40})"
_FORMS = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("event", rf"e{_NUMBER}"),
        ("place", rf"{_NUMBER}:{_NUMBER}(?:\.{_NUMBER})?"),
        ("call", rf"{_NUMBER}(?:\.{_NUMBER})?"),
        ("api_call", rf"@{_NUMBER}"),
        ("frame", rf"(?:f|frame ?){_NUMBER}"),
    )
)

_PLACES = 8
"""Most places of a call that an error names."""


class Address(msgspec.Struct, frozen=True):
    """A place in a capture: an event, a call with or without a token, an API call or a frame.

    Events and frames count from 0, as calls and tokens do.  ``item`` counts the events of a token
    or of a call of the DDI from 0; without it the first is meant.  A frame means the event that
    ends it.
    """

    text: str
    event: int | None = None
    call: int | None = None
    token: int | None = None
    item: int | None = None
    api_call: int | None = None
    frame: int | None = None


@checked
def parse_address(text: str) -> Address:
    """The address that a text such as ``E12``, ``7:3``, ``7:3.1``, ``7``, ``@456`` or ``frame 2``
    means.  Raises UsageError for another text.
    """
    for form, pattern in _FORMS:
        found = pattern.fullmatch(text)
        if found is None:
            continue
        numbers = [None if part is None else int(part) for part in found.groups()]
        if form == "place":
            return Address(text, call=numbers[0], token=numbers[1], item=numbers[2])
        if form == "call":
            return Address(text, call=numbers[0], item=numbers[1])
        return msgspec.structs.replace(Address(text), **{form: numbers[0]})
    raise UsageError(f"expected {FORMS}, got {text!r:.60}")


def matches(event: Event, address: Address) -> bool:
    """Whether an event is at an address; for a frame each event of it is."""
    pairs = (
        (address.event, event.number),
        (address.call, event.call),
        (address.token, event.token),
        (address.item, event.item),
        (address.api_call, event.api_call),
        (address.frame, event.frame),
    )
    return all(wanted is None or wanted == found for wanted, found in pairs)


def find(events: Sequence[Event], address: Address) -> Event:
    """The event at an address: the first, or for a frame the last.

    Raises Absent that names the nearest events if there is none.
    """
    found = [event for event in events if matches(event, address)]
    if not found:
        raise Absent(f"no event at {address.text}: {_there(events, address)}")
    return found[-1] if address.frame is not None else found[0]


def _there(events: Sequence[Event], address: Address) -> str:
    """What a capture has in place of an address."""
    if not events:
        return "the capture has no events"
    last = events[-1]
    if address.frame is not None:
        frames = max(event.frame for event in events)
        return f"there are frames 0 to {frames}" if frames else "the only frame is 0"
    if address.event is not None:
        return f"there are events E0 to {last.address}" if last.number else "the only event is E0"
    if address.api_call is not None:
        numbered = [event for event in events if event.api_call is not None]
        if not numbered:
            return "the events have no API call numbers"
        before = [event for event in numbered if (event.api_call or 0) < address.api_call]
        if before:
            return f"the last event before it is {before[-1].title}"
        return f"the first API call with an event is @{numbered[0].api_call}"
    calls = {event.call for event in events if event.call is not None}
    if address.call in calls:
        places = [*dict.fromkeys(event.place for event in events if event.call == address.call)]
        more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        return f"call {address.call} has events at {', '.join(places[:_PLACES])}{more}"
    if not calls:
        return "no call has events"
    nearest = min(calls, key=lambda number: abs(number - (address.call or 0)))
    return f"the nearest call with an event is {nearest}"
