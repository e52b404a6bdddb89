"""Results that are found again by the objects they were made of."""

from __future__ import annotations

import gc
from collections.abc import Callable
from weakref import ReferenceType, ref

from dp2emu.identity_cache import ROOM, ROOM_EACH, Together, by_identity, kept, while_it_lives


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


def test_results_are_computed_once_while_there_is_room() -> None:
    computed: list[int] = []

    @kept(10, lambda result, *_: result)
    def double(number: int, factor: int = 2) -> int:
        computed.append(number)
        return number * factor

    assert [double(1), double(2), double(2), double(1), double(1, factor=3)] == [2, 4, 4, 2, 3]
    assert computed == [1, 2, 1]
    # 2 and 4 and 3 are kept; with 4 more the one that was not asked for longest goes: 4.
    assert double(2, 2) == 4
    assert double(1) == 2
    assert computed == [1, 2, 1, 2]
    double(2)
    assert computed == [1, 2, 1, 2, 2]


def remembering(room: int) -> tuple[Callable[[int], int], list[int]]:
    """Numbers as large as they say, and those that had to be computed."""
    computed: list[int] = []

    @kept(room, lambda result, number: result)
    def same(number: int) -> int:
        computed.append(number)
        return number

    return same, computed


def test_results_are_kept_up_to_the_last_bit_of_room() -> None:
    same, computed = remembering(10)
    assert [same(4), same(6), same(4), same(6)] == [4, 6, 4, 6]
    assert computed == [4, 6]
    same(1)
    same(4)
    assert computed == [4, 6, 1, 4]


def test_a_result_larger_than_the_room_is_kept_until_another_comes() -> None:
    same, computed = remembering(10)
    assert [same(50), same(50), same(1), same(2), same(1), same(50)] == [50, 50, 1, 2, 1, 50]
    assert computed == [50, 1, 2, 50]


def test_results_of_no_size_and_what_they_are_made_of_take_room_too() -> None:
    computed: list[bytes] = []

    @kept(10, lambda result, data: len(data))
    def nothing(data: bytes) -> int:
        computed.append(data)
        return 0

    long = bytes(9)
    assert [nothing(long), nothing(b"a"), nothing(long)] == [0, 0, 0]
    assert computed == [long, b"a"]
    nothing(b"")
    nothing(b"a")
    nothing(long)
    assert computed == [long, b"a", b"", b"a", long]
