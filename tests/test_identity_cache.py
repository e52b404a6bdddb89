"""Results are found by the objects they were computed from."""

from __future__ import annotations

import gc
import threading
from weakref import ReferenceType, ref

from dp2emu.identity_cache import ROOM, IdentityCache, identity_cached


class Thing:
    """What can be collected."""


class Results(list[str]):
    """A list with weak references."""


def test_the_same_object_gives_the_same_result() -> None:
    calls: list[object] = []

    @identity_cached()
    def told(one: list[int], name: str) -> list[object]:
        calls.append(one)
        return [name, *one]

    first, equal = [1], [1]
    assert told(first, "a") is told(first, "a")
    assert told(first, "a") is not told(equal, "a")
    assert told(first, "b") == ["b", 1]
    assert len(calls) == 3


def test_the_latest_results_are_kept() -> None:
    made = 0

    @identity_cached()
    def counted(item: list[int]) -> int:
        nonlocal made
        made += 1
        return made

    items = [[n] for n in range(1025)]
    for item in items:
        counted(item)
    assert ROOM == 1024
    assert counted(items[-1]) == 1025
    assert counted(items[0]) == 1026


def test_an_object_without_weak_references_keeps_its_identity() -> None:
    """No other object is taken for it while its result is there."""

    @identity_cached(room=2)
    def first(items: list[int]) -> int:
        return items[0]

    assert [first([n]) for n in range(100)] == [*range(100)]


def test_results_go_with_their_objects() -> None:
    made: list[ReferenceType[list[str]]] = []

    @identity_cached()
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


def test_a_result_of_several_objects_goes_with_the_first_that_does() -> None:
    cache: IdentityCache[str] = IdentityCache()
    one, other, third = Thing(), Thing(), Thing()
    cache.put((one, other), "a", "of two")
    cache.put((other, third), "a", "of others")
    assert cache.find((one, other), "a") == "of two"
    assert len(cache) == 2
    del one
    gc.collect()
    assert len(cache) == 1
    assert cache.find((other, third), "a") == "of others"


def test_a_cache_of_one_result_holds_the_last() -> None:
    cache: IdentityCache[list[int]] = IdentityCache(1)
    made: list[int] = []

    def make() -> list[int]:
        made.append(len(made))
        return [len(made)]

    one, other, equal = Thing(), Thing(), [1]
    first = cache.of((one, other), make)
    assert cache.of([one, other], make) is first
    assert cache.of((other, one), make) == [2]
    assert cache.of((one,), make) == [3]
    assert cache.of((one, None), make) == [4]
    assert cache.of((), make) == [5]
    assert cache.of((equal,), make) == [6]
    assert cache.of(([1],), make) == [7]
    assert len(cache) == 1


def test_a_cache_goes_without_the_collector() -> None:
    """Although its entries refer to it, so that memory is free when its owner is."""
    cache: IdentityCache[Results] = IdentityCache()
    thing, result = Thing(), Results()
    cache.put((thing,), (), result)
    gone = ref(result)
    gc.disable()
    try:
        del cache, result
        assert gone() is None
    finally:
        gc.enable()
    del thing


def test_threads_share_a_cache() -> None:
    """While objects are collected in all of them."""
    cache: IdentityCache[int] = IdentityCache(8)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(3000):
                thing = Thing()
                assert cache.of((thing,), lambda number=number: number) == number  # type: ignore[misc]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures
    assert len(cache) <= 8
