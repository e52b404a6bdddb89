"""Addresses of events."""

from __future__ import annotations

import pytest

from dp2emu.errors import UsageError
from dp2emu.explain.address import Address, find, parse_address
from dp2emu.explain.events import Event, EventKind, Origin


def event(number: int, frame: int, call: int, token: int | None, api: int | None) -> Event:
    """A draw at a place."""
    return Event(number, EventKind.DRAW, Origin("DRAW", frame, call, token, api))


EVENTS = [
    event(0, 0, 3, 1, None),
    event(1, 0, 3, 5, 40),
    event(2, 1, 4, None, 41),
    event(3, 1, 4, 0, 41),
]


@pytest.mark.parametrize(
    ("text", "number"),
    [("E2", 2), ("e2", 2), ("3:5", 1), ("3:5.0", 1), ("3", 0), ("4", 2), ("@41", 2),
     ("frame 0", 1), ("f1", 3), ("frame1", 3), ("FRAME 0", 1), ("F1", 3)],
)  # fmt: skip
def test_every_form_finds_its_event(text: str, number: int) -> None:
    assert find(EVENTS, parse_address(text)).number == number


@pytest.mark.parametrize("text", ["", "E", "x", "3:", ":3", "-1", "E" + "9" * 41, "@", "E1 ", "٣"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected E12"):
        parse_address(text)


@pytest.mark.parametrize(
    ("text", "there"),
    [("E4", "events E0 to E3"), ("3:2", "call 3 has events at 3:1, 3:5"), ("9", "event is 4"),
     ("@50", "is E3 4:0 @41 DRAW"), ("@1", "the first API call with an event is @"),
     ("frame 2", "frames 0 to 1"), ("E" + "9" * 40, "events E0 to E3"),
     ("@" + "9" * 40, "no event at @9+: .* is E3 4:0 @41"), ("9" * 40, "event is 4")],
)  # fmt: skip
def test_a_place_without_an_event_names_the_nearest(text: str, there: str) -> None:
    with pytest.raises(UsageError, match=there):
        find(EVENTS, parse_address(text))


def test_an_address_of_no_events_is_refused() -> None:
    with pytest.raises(UsageError, match="no events"):
        find([], Address("E0", event=0))


def test_places_that_are_not_named_are_counted() -> None:
    events = [event(number, 0, 3, 2 * number, None) for number in range(11)]
    with pytest.raises(UsageError, match=r"at 3:0, 3:2, .*, 3:14 and 3 more$"):
        find(events, parse_address("3:1"))
