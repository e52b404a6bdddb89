"""Where each thread works is told by those who play an input."""

from __future__ import annotations

import threading

import pytest

from dp2emu import places
from dp2emu.places import place_of, working_at


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """No place is known at first: a test that lets any line of a verb fail may leave one."""
    monkeypatch.setattr(places, "_told", {})


def test_inner_places_precede_outer_ones_and_unknown_parts_are_missing() -> None:
    with (
        working_at(lambda: {"stream": "outer", "call": 3, "token": None}),
        working_at(lambda: {"stream": "inner", "call": None}),
    ):
        assert place_of() == {"stream": "inner", "call": 3}
    assert place_of() == {}


def test_a_place_is_asked_for_when_it_is_wanted() -> None:
    calls = [0]
    with working_at(lambda: {"call": calls[0]}):
        calls[0] = 7
        assert place_of() == {"call": 7}


def test_threads_have_places_of_their_own() -> None:
    found = []
    with working_at(lambda: {"call": 1}):
        thread = threading.Thread(
            target=lambda main: found.extend([place_of(), place_of(main)]),
            args=(threading.get_ident(),),
        )
        thread.start()
        thread.join()
    assert found == [{}, {"call": 1}]


def test_blocks_may_end_in_any_order() -> None:
    one, other = working_at(lambda: {"call": 1}), working_at(lambda: {"call": 2})
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert place_of() == {"call": 2}
    other.__exit__(None, None, None)
    assert place_of() == {}
