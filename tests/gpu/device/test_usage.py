"""How much of the GPU an interval used."""

from __future__ import annotations

from dp2emu.d3d.enums import QueryType
from dp2emu.dp2.options import Options
from dp2emu.dp2.queries import KINDS
from dp2emu.gpu.command.queries import Counters, QuerySlot, Report, snapshot
from dp2emu.gpu.device.usage import VERTEX, busy, idle, part, used


def interval(ticks: int, **changes: int) -> Report:
    begin, end = snapshot(Counters(), 0), snapshot(Counters(**changes), ticks)
    return Report(QuerySlot(0, None, 0), 0, begin, end, ticks)


def test_units_are_busy_for_the_sum_of_their_counters() -> None:
    report = interval(100, vertex_memory_ticks=7, vertex_compute_ticks=5)
    assert busy(report, *VERTEX) == (12, 100)
    assert part(report, VERTEX[0], *VERTEX) == (7, 12)


def test_rates_are_held_against_what_the_interval_allows() -> None:
    assert used(interval(10, vertices=6), (3, 2), "vertices") == (12, 30)


def test_an_interval_of_no_length_is_idle() -> None:
    assert idle(interval(0)) == (1, 1)
    assert idle(interval(10, busy_ticks=4)) == (6, 10)


def test_units_that_overlap_leave_no_less_than_nothing_idle() -> None:
    report = interval(100, busy_ticks=60, vertex_compute_ticks=60, pixel_compute_ticks=60)
    timings = KINDS[QueryType.PIPELINETIMINGS].values(report, Options())
    assert timings == (60.0, 60.0, 0.0, 40.0)
