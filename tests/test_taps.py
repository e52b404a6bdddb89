"""Taps tell which pixels made a count, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.options import Options
from dp2emu.errors import UsageError
from dp2emu.taps import Taps
from tests.dp2.rigging import (
    BEGIN,
    END,
    Bench,
    create,
    dword,
    issue,
    rectangle,
    render_state,
    triangle_list,
)

Z_ENABLE = 7
FIRST, SECOND, HIDDEN = rectangle(3, 4, 5, 2), rectangle(4, 5, 2, 6, 0.25), rectangle(4, 5, 1, 1)
BEFORE = create(9, QueryType.OCCLUSION) + render_state(Z_ENABLE, 1)


def drawn(bench: Bench) -> int:
    """Three rectangles, the first and the last outside of the query; what it counts."""
    commands = (
        BEFORE + triangle_list(0, 2) + issue(9, BEGIN) + triangle_list(6, 2)
        + triangle_list(12, 2) + issue(9, END) + triangle_list(0, 2)
    )  # fmt: skip
    return dword(bench.settle(commands, FIRST + SECOND + HIDDEN)[9])


@pytest.mark.parametrize("engine", ["reference", "jit"])
def test_a_count_is_explained_by_draws_and_pixels(engine: str) -> None:
    bench = Bench(options=Options(engine=engine))
    taps = Taps(bench.driver.gpu)
    count = drawn(bench)
    why = taps.why(9)
    expected = np.zeros((11, 6), np.int64)
    expected[5:11, 4:6] = 1
    assert (count, why.samples, [each.number for each in why.draws]) == (12, 12, [1])
    assert np.array_equal(why.mask, expected)


def test_the_history_of_a_pixel_names_the_draws_that_made_it() -> None:
    bench = Bench()
    taps = Taps(bench.driver.gpu)
    drawn(bench)
    assert [each.number for each in taps.history(4, 5)] == [0, 1]
    assert [each.number for each in taps.history(3, 4)] == [0, 3]
    assert taps.history(0, 0) == []


def test_watching_changes_nothing() -> None:
    plain, watched = Bench(), Bench()
    taps = Taps(watched.driver.gpu)
    assert drawn(plain) == drawn(watched)
    assert plain.driver.read(1, 0, 4 * 64 * 64) == watched.driver.read(1, 0, 4 * 64 * 64)
    assert plain.driver.gpu.counters == watched.driver.gpu.counters
    taps.close()
    seen = len(taps.draws)
    watched.ok(triangle_list(0, 2), FIRST)
    assert (len(taps.draws), watched.driver.gpu.pixel_taps) == (seen, [])


def test_an_end_without_begin_counts_nothing() -> None:
    bench = Bench()
    taps = Taps(bench.driver.gpu)
    commands = create(9, QueryType.OCCLUSION) + triangle_list(0, 2) + issue(9, END)
    assert dword(bench.settle(commands, FIRST)[9]) == 0
    assert (taps.why(9).samples, taps.why(9).draws) == (0, ())


def test_a_query_that_was_not_seen_is_refused() -> None:
    with pytest.raises(UsageError, match="query 9 has not ended"):
        Taps(Bench().driver.gpu).why(9)
