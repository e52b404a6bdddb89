"""Results that are found again by the objects they were made of."""

from __future__ import annotations

import gc
from weakref import ReferenceType, ref

from dp2emu.recall import ROOM, ROOM_EACH, Together, by_identity, while_it_lives


def test_the_same_object_gives_the_same_result() -> None:
    calls: list[object] = []

    @by_identity()
    def told(one: list[int], name: str) -> list[object]:
        calls.append(one)
        return [name, *one]

    first, equal = [1], [1]
    assert told(first, "a") is told(first, "a")
    assert told(first, "a") is not told(equal, "a")
    assert told(first, "b") == ["b", 1]
    assert len(calls) == 3


def test_only_so_many_are_kept() -> None:
    made = 0

    @by_identity()
    def counted(item: list[int]) -> int:
        nonlocal made
        made += 1
        return made

    items = [[n] for n in range(ROOM + 1)]
    for item in items:
        counted(item)
    assert counted(items[-1]) == ROOM + 1
    assert counted(items[0]) == ROOM + 2


class Thing:
    """What can go away."""


def test_results_go_with_what_they_are_about() -> None:
    made: list[ReferenceType[list[str]]] = []

    class Results(list[str]):
        """A list that can be referred to."""

    @while_it_lives
    def told(thing: Thing, name: str) -> list[str]:
        result = Results([name])
        made.append(ref(result))
        return result

    one, other = Thing(), Thing()
    assert told(one, "a") is told(one, "a")
    assert told(one, "a") is not told(other, "a")
    assert told(one, "b") == ["b"]
    del one
    gc.collect()
    assert [each() is None for each in made] == [True, False, True]


def test_an_object_has_room_for_so_many_results() -> None:
    calls = 0

    @while_it_lives
    def counted(thing: Thing, number: int) -> int:
        nonlocal calls
        calls += 1
        return number

    thing = Thing()
    assert [counted(thing, n) for n in range(ROOM_EACH + 1)] == list(range(ROOM_EACH + 1))
    assert counted(thing, ROOM_EACH) == ROOM_EACH and calls == ROOM_EACH + 1
    assert counted(thing, 0) == 0 and calls == ROOM_EACH + 2


def test_a_result_about_several_goes_with_the_first_that_does() -> None:
    results: Together[str] = Together()
    one, other, third = Thing(), Thing(), Thing()
    results.put("a", (one, other), "of two")
    results.put("b", (other, third), "of others")
    assert (results.get("a"), results.get("b"), results.get("c")) == ("of two", "of others", None)
    del one
    gc.collect()
    assert (results.get("a"), results.get("b")) == (None, "of others")


def test_results_about_several_have_their_room() -> None:
    results: Together[int] = Together()
    thing = Thing()
    for number in range(ROOM + 1):
        results.put(number, (thing,), number)
    assert (results.get(0), results.get(1), results.get(ROOM)) == (None, 1, ROOM)
