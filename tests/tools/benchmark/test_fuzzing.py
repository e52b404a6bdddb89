"""The rates of the fuzzer."""

from __future__ import annotations

import pytest
from benchmark.fuzzing import Spent, _told


@pytest.mark.parametrize(("spent", "told"), [
    (Spent(1_200, 3.0, 200, 20 << 10, 2.0), "1,000 inputs/s, longer ones 10 KiB/s"),
    (Spent(3_000, 2.0, 0, 0, 0.0), "1,500 inputs/s"),
    (Spent(100, 1.0, 10, 10, 1.0), "too few inputs to measure"),
])  # fmt: skip
def test_longer_inputs_are_told_apart_from_those_of_ordinary_length(
    spent: Spent, told: str
) -> None:
    assert _told(spent) == told
