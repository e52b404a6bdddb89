"""What is left is small, in order, and still does it."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dp2emu.fuzz.minimize import Budget, shrink, shrink_bytes


@given(st.sets(st.integers(0, 60), max_size=6))
def test_only_what_is_needed_is_left(needed: set[int]) -> None:
    assert shrink(range(61), lambda some: needed <= set(some), Budget(10_000)) == sorted(needed)


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_whatever_is_left_still_does_it(seed: int, tries: int) -> None:
    rng = Random(seed)
    answers: dict[tuple[int, ...], bool] = {tuple(range(20)): True}

    def still(some: object) -> bool:
        return answers.setdefault(tuple(some), rng.random() < 0.3)  # type: ignore[arg-type]

    assert answers[tuple(shrink(range(20), still, Budget(tries)))]


def test_no_more_is_tried_than_the_budget_has() -> None:
    tried = []
    shrink_bytes(bytes(range(100)), lambda some: tried.append(some) is not None, Budget(17))
    assert len(tried) == 17


def test_bytes_that_do_not_matter_become_zero() -> None:
    assert shrink_bytes(b"x12y", lambda some: some[::3] == b"xy", Budget(100)) == b"x\0\0y"
