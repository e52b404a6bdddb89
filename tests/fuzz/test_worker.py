"""Which inputs a process keeps."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from random import Random

import pytest

from dp2emu.dp2.walk import scan
from dp2emu.fuzz import targets
from dp2emu.fuzz.grammar import sample
from dp2emu.fuzz.stage import CALL
from dp2emu.fuzz.target import Target, Trial
from dp2emu.fuzz.worker import Board, Worker, _functions
from tests.dp2.rigging import clear


@pytest.mark.parametrize(
    ("like", "kept"),
    [
        (lambda data: data[:1], [b"a", b"ba"]),
        (lambda data: tuple(data), [b"a", b"ab", b"ba", b"abab"]),
        (lambda data: frozenset(data), [b"a", b"ab"]),
    ],
)
def test_an_input_is_kept_if_anything_of_it_is_new(
    like: Trial, kept: list[bytes], tmp_path: Path
) -> None:
    target = Target("new", "", lambda: like, lambda rng: b"a", lambda rng, *data: data[0], 8, ())
    worker = Worker(target, tmp_path, Board(tmp_path / "board", target.most))
    for data in (b"a", b"ab", b"ba", b"abab"):
        worker.try_input(data)
    found = {path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert found == {*kept, b"a"}


@pytest.mark.parametrize(("pace", "least", "most"), [(1.0, 2, 10), (math.inf, 50, 1000)])
def test_longer_inputs_have_a_share_of_the_function_calls(
    pace: float, least: int, most: int, tmp_path: Path
) -> None:
    sizes: list[int] = []

    def trial(data: bytes) -> int:
        sizes.append(len(data))
        return sum(abs(0) for _ in range(10_000 if len(data) > 8 else 10))

    target = Target(
        "heavy", "", lambda: trial, lambda rng: b"8 bytes.", lambda rng, *data: data[0], 8, (),
        longest=64, pace_of_calls=pace,
    )  # fmt: skip
    Worker(target, tmp_path, Board(tmp_path / "board", target.room)).run(4096, None)
    assert least <= sum(size > 8 for size in sizes) <= most


def test_calls_that_are_known_are_nothing_new_in_another_order() -> None:
    good, bad = sample(Random(1), 84), b"\xff\0\0\0"
    one, other = (b"\0" + CALL.join(calls) for calls in ((good, bad, good), (bad, good, bad)))
    execute = targets()["device"].make()
    assert execute(one) == execute(other) != execute(b"\0" + good)


def test_streams_that_draw_more_than_others_are_told_apart() -> None:
    def painted(side: int) -> bytes:
        return b"\0" + clear(rect=(0, 0, side, side))

    execute = targets()["device"].make()
    assert execute(painted(8)) == execute(painted(9)) != execute(painted(16))


def test_coverage_measures_functions_and_not_the_checks_that_wrap_them() -> None:
    codes = {function.__code__ for function in _functions(("dp2emu.dp2.walk",))}
    assert inspect.unwrap(scan).__code__ in codes
    assert scan.__code__ not in codes
