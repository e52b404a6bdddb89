"""The scaling test's own test: it passes linear work, and fails what grows faster."""

import numpy as np
import pytest

from tests import scaling
from tests.scaling import SIZES, Work, assert_linear, measured, superlinear, work

pytest.importorskip("llvmlite", reason="allocated bytes are counted by machine code of llvmlite")


def numbers(size: int) -> list[int]:
    return list(range(size))


def test_work_counts_the_bytecodes_of_a_function():
    """A loop executes its bytecodes each time; both counters agree."""

    def loop(count):
        total = 0
        for number in range(count):
            total += number
        return total

    empty, ten, twenty = (work(lambda count=count: loop(count)) for count in (0, 10, 20))
    assert twenty - ten == ten - empty > 0
    assert work(lambda: loop(20)) == twenty == scaling.traced(lambda: loop(20))


def test_copies_count_though_they_are_one_bytecode():
    data = bytes(10_000)
    assert measured(lambda: data[1:]).allocated >= 9_999
    assert measured(lambda: np.zeros(10_000, np.uint8)).allocated >= 10_000


def test_what_ran_before_does_not_change_the_count_of_allocated_bytes():
    """Python keeps tuples that are released, and makes the next ones of them."""

    def pairs():
        return [(number, number) for number in range(1000)]

    measured(pairs)
    held = [pairs() for _ in range(3)]
    counted = measured(pairs)
    del held
    assert measured(pairs) == counted


@pytest.mark.parametrize(
    "run",
    [
        lambda given: [number + 1 for number in given],
        lambda given: sorted(given, key=lambda number: -number),
        lambda given: {number: str(number) for number in given},
        lambda given: b"".join(bytes(100) for _ in given),
    ],
)
def test_linear_work_passes(run):
    assert_linear(numbers, run)


def rescanned(given):
    """Work of a pass over what came before, for each element."""
    return [sum(1 for other in given if other < number) for number in given]


def sliced(given):
    """Work of a copy of the rest, for each element."""
    rest, total = bytes(100 * len(given)), 0
    while rest:
        rest = rest[100:]
        total += 1
    return total


def concatenated(given):
    """Work of an array that grows by a copy for each element."""
    array = np.zeros(0)
    for _ in given:
        array = np.concatenate((array, np.ones(20)))
    return array


@pytest.mark.parametrize("run", [rescanned, sliced, concatenated])
def test_quadratic_work_fails(run):
    with pytest.raises(AssertionError, match="more than linear"):
        assert_linear(numbers, run)


def test_one_bytecode_for_each_pair_is_noticed_beside_a_thousand_for_each_element():
    counts = [Work(1000 * size + size * size, 0) for size in SIZES]
    assert superlinear(SIZES, counts).startswith("bytecodes")


def test_a_sort_in_python_passes():
    """Work of n log n is allowed where it sorts."""

    def merged(given):
        if len(given) < 2:
            return given
        half = len(given) // 2
        left, right = merged(given[:half]), merged(given[half:])
        out = []
        while left and right:
            out.append((left if left[-1] > right[-1] else right).pop())
        return [*left, *right, *reversed(out)]

    assert_linear(numbers, merged, sorts=True)
    with pytest.raises(AssertionError, match="more than linear"):
        assert_linear(numbers, merged)
