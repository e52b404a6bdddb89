"""Results that are kept while there is room: the latest ones, by size."""

from __future__ import annotations

from dp2emu.dp2.memo import kept


def test_results_are_computed_once_while_there_is_room() -> None:
    computed: list[int] = []

    @kept(10, lambda result: result)
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


def test_results_are_kept_up_to_the_last_bit_of_room() -> None:
    computed: list[int] = []

    @kept(10, lambda result: result)
    def same(number: int) -> int:
        computed.append(number)
        return number

    assert [same(4), same(6), same(4), same(6)] == [4, 6, 4, 6]
    assert computed == [4, 6]
    same(1)
    same(4)
    assert computed == [4, 6, 1, 4]


def test_a_result_larger_than_the_room_is_kept_until_another_comes() -> None:
    computed: list[int] = []

    @kept(10, lambda result: result)
    def same(number: int) -> int:
        computed.append(number)
        return number

    assert [same(50), same(50), same(1), same(2), same(1), same(50)] == [50, 50, 1, 2, 1, 50]
    assert computed == [50, 1, 2, 50]
