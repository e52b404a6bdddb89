"""Caches that are bounded by the slots of programs."""

from __future__ import annotations

from collections.abc import Callable

from dp2emu.shader.program_cache import _SLOT_BYTES, programs_cached


def remembering(room: int) -> tuple[Callable[..., int], list[int]]:
    """Numbers with as many slots as they say, and those that had to be computed."""
    computed: list[int] = []

    @programs_cached(lambda result: result, lambda _: 0, room)
    def same(number: int, factor: int = 1) -> int:
        computed.append(number)
        return number * factor

    return same, computed


def test_results_are_computed_once_while_there_is_room() -> None:
    same, computed = remembering(10)
    assert [same(4), same(6), same(4), same(6)] == [4, 6, 4, 6]
    assert computed == [4, 6]
    assert same(1) == 1
    assert [same(1), same(4), same(6, factor=0)] == [1, 4, 0]
    assert computed == [4, 6, 1, 4, 6]


def test_a_result_larger_than_the_room_is_kept_until_another_comes() -> None:
    same, computed = remembering(10)
    assert [same(50), same(50), same(1), same(2), same(1), same(50)] == [50, 50, 1, 2, 1, 50]
    assert computed == [50, 1, 2, 50]


def test_results_of_no_size_and_what_they_are_made_of_take_room_too() -> None:
    computed: list[bytes] = []

    @programs_cached(lambda _: 0, room=10)
    def nothing(code: bytes) -> int:
        computed.append(code)
        return 0

    long = bytes(9 * _SLOT_BYTES)
    assert [nothing(long), nothing(b"a"), nothing(long)] == [0, 0, 0]
    assert computed == [long, b"a"]
    nothing(b"")
    nothing(long)
    assert computed == [long, b"a", b"", long]
