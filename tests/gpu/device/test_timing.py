"""Timing models: integers in, integers out, and the text that names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.enums10 import Counter, Query
from dp2emu.errors import UsageError
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.device.timing import (
    FIFO_BASE,
    LONGEST,
    Cost,
    Overlap,
    by_work,
    fixed,
    instant,
    parse_timing,
    seeded,
)

DRAW = Work(vertices=6, vertex_bytes=120, primitives=2, triangles=2, shaded=100, pixel_bytes=800)


def test_instant_takes_no_time() -> None:
    timing = instant()
    assert timing.call(0, 4096) == sum(timing.cost(0, DRAW)) == timing.delivery(9, 0) == 0


def test_fixed_charges_every_packet_the_same() -> None:
    timing = fixed(call=3, packet=7, delivery=11)
    assert (timing.call(5, 99), timing.delivery(8, 2)) == (3, 11)
    assert sum(timing.cost(0, DRAW)) == sum(timing.cost(1, Work())) == 7


def test_work_charges_what_was_done() -> None:
    assert by_work().cost(0, DRAW) == Cost(
        vertex_memory=8, vertex_compute=24, pixel_memory=50, pixel_compute=25, other=16
    )
    amplified = DRAW._replace(geometry_runs=3, geometry_bytes=33)
    geometry = by_work().cost(0, amplified)
    assert (geometry.geometry_memory, geometry.geometry_compute) == (3, 24)
    divided = by_work().cost(0, DRAW._replace(hull_runs=2, domain_runs=5))
    assert divided.other == 16 + 16 + 20
    streamed = by_work().cost(0, amplified._replace(stream_bytes=32))
    assert (streamed.geometry_memory, streamed.geometry_compute) == (5, 24)


def test_seeded_repeats_itself_and_differs_by_seed() -> None:
    def times(seed: int) -> list[int]:
        timing = seeded(seed)
        return [
            timing.call(n, 0) + timing.delivery(9, n) + sum(timing.cost(n, DRAW)) for n in range(9)
        ]

    assert times(5) == times(5) != times(6)


def test_scripted_reads_lists_whose_last_entry_repeats(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"call": [1, 2], "packet": [5], "delivery": {"EVENT": [9, 4]}}))
    timing = parse_timing(f"scripted:{path}")
    assert [timing.call(n, 0) for n in range(4)] == [1, 2, 2, 2]
    assert sum(timing.cost(3, DRAW)) == 5
    assert [timing.delivery(QueryType.EVENT, n) for n in range(3)] == [9, 4, 4]
    assert timing.delivery(QueryType.OCCLUSION, 0) == 0


def test_scripted_names_query_types_and_counters_of_every_interface(tmp_path: Path) -> None:
    names = {kind.name for kind in (*QueryType, *Query, *Counter)}
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"delivery": {n: [len(n)] for n in names}}))
    delivery = parse_timing(f"scripted:{path}").delivery
    for kind in QueryType:
        assert delivery(kind, 0) == len(kind.name)
    for other in (*Query, *Counter):
        assert delivery(FIFO_BASE + other, 0) == len(other.name)


@pytest.mark.parametrize("text", ["instant", "fixed", "fixed:call=1,packet=2,delivery=3", "work",
                                  "work:delivery=7", "seeded:0", "seeded:123456789"])  # fmt: skip
def test_a_model_is_named_by_text(text: str) -> None:
    assert parse_timing(text).name.startswith(text.partition(":")[0])


@pytest.mark.parametrize(
    "text",
    [
        "", "never", "fixed:packet", "fixed:packet=-1", "fixed:packet=x", "fixed:size=1",
        "instant:call=1", "seeded", "seeded:", "seeded:-1", "seeded:1.5", "scripted", "scripted:",
        "scripted:/no/such/file", f"fixed:call={LONGEST + 1}", "fixed:call=1,", "work:x=1",
    ],
)  # fmt: skip
def test_a_name_that_means_nothing_is_one_clear_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_timing(text)


@pytest.mark.parametrize(
    "script",
    [
        "[]", "{", '{"call": 5}', '{"call": []}', '{"call": [-1]}', '{"call": [1.5]}',
        '{"call": [true]}', '{"extra": [1]}', '{"delivery": []}', '{"delivery": {"NOPE": [1]}}',
        '{"delivery": {"EVENT": 1}}', '{"call": [281474976710657]}', "\x00", "[" * 100000,
    ],
)  # fmt: skip
def test_a_bad_script_is_one_clear_error(tmp_path: Path, script: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(script)
    with pytest.raises(UsageError):
        parse_timing(f"scripted:{path}")


@pytest.mark.parametrize(
    ("units", "percent", "ticks"),
    [(1, 0, 100), (1, 100, 100), (2, 100, 50), (3, 100, 40), (4, 100, 40), (4, 50, 70)],
)
def test_units_overlap_as_far_as_there_are_some_and_a_part_of_that(
    units: int, percent: int, ticks: int
) -> None:
    assert Overlap(units, percent).length(Cost(10, 25, 20, 20, 25)) == ticks


@pytest.mark.parametrize(("units", "ticks"), [(1, 100), (2, 50), (3, 40), (4, 40)])
def test_geometry_programs_are_one_more_unit(units: int, ticks: int) -> None:
    cost = Cost(5, 5, 10, 10, 30, geometry_memory=25, geometry_compute=15)
    assert Overlap(units, 100).length(cost) == ticks


@pytest.mark.parametrize(("units", "percent"), [(0, 0), (5, 0), (1, -1), (1, 101)])
def test_other_numbers_of_units_and_percent_are_refused(units: int, percent: int) -> None:
    with pytest.raises(UsageError, match="parallel units"):
        Overlap(units, percent)
