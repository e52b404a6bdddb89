"""Results that are found again by the objects they were made of."""

from __future__ import annotations

from dp2emu.gpu.kernel.identity import ROOM, by_identity


def test_the_same_object_gives_the_same_result() -> None:
    calls: list[object] = []

    @by_identity
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

    @by_identity
    def counted(item: list[int]) -> int:
        nonlocal made
        made += 1
        return made

    items = [[n] for n in range(ROOM + 1)]
    for item in items:
        counted(item)
    assert counted(items[-1]) == ROOM + 1
    assert counted(items[0]) == ROOM + 2
