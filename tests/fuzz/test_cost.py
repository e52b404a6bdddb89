"""Inputs that take more time or memory than their size allows are findings; others are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from dp2emu.fuzz import targets
from dp2emu.fuzz.campaign import Plan, campaign
from dp2emu.fuzz.cost import MEMORY, TIME, Bench, Bound, Calls, Cost, Count, Gauge
from dp2emu.fuzz.growth import Heaviest
from dp2emu.fuzz.target import Target
from tests.fuzz import planted

PLANTED = "tests.fuzz.planted"


def report(folder: Path) -> str:
    (path,) = (folder / "findings").glob("*.txt")
    return path.read_text("utf-8")


def test_a_quadratic_pass_is_climbed_to_and_is_a_finding(tmp_path: Path) -> None:
    plan = Plan(tmp_path, execs=20)
    assert len(campaign(f"{PLANTED}:SQUARED", plan).findings) == 1
    site, text = report(tmp_path).split("\n\n", 1)
    assert site == f"Costly: processor time in {PLANTED}"
    told = re.search(
        r"([\d,]+) bytes of input take ([\d.]+) s of processor time, bound ([\d.]+) s; "
        r"of [\d,]+ lines: [\d,]+ in tests\.fuzz\.planted\._squared", text
    )  # fmt: skip
    assert told is not None
    size, seconds, bound = (float(each.replace(",", "")) for each in told.groups())
    (path,) = (tmp_path / "findings").glob("*.input")
    assert len(path.read_bytes()) == size <= 1 << 10
    assert seconds >= bound


def test_a_parser_that_hoards_memory_is_a_finding_made_small(tmp_path: Path) -> None:
    assert len(campaign(f"{PLANTED}:HOARD", Plan(tmp_path, execs=40)).findings) == 1
    assert report(tmp_path).startswith(f"Costly: memory in {PLANTED}\n")
    told = (
        r"[\d,]+ bytes of input take \d+ MiB of memory, bound 8 MiB; of [\d,]+ bytes: [\d,]+ in "
    )
    assert re.search(rf"{told}{re.escape(PLANTED)}\._hoard", report(tmp_path))
    (path,) = (tmp_path / "findings").glob("*.input")
    assert len(path.read_bytes()) <= 12


def test_rates_of_the_plan_replace_those_of_the_target(tmp_path: Path) -> None:
    plan = Plan(tmp_path, execs=40, mib_per_kib=2048.0)
    assert campaign(f"{PLANTED}:HOARD", plan).findings == ()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    bench = Bench(f"{PLANTED}:FINE", (PLANTED,))
    yield bench
    bench.close()


def test_an_input_within_its_bound_is_none(bench: Bench) -> None:
    assert bench.error(b"12345678", Bound().of(8)) is None
    cost = bench.cost(b"12345678")
    assert cost is not None and not cost.excess(Bound().of(8))


def test_a_process_that_dies_measures_nothing() -> None:
    bench = Bench(f"{PLANTED}:CRASHES", (PLANTED,))
    assert bench.error(planted.BAD, Bound(0.0, 0.0, 0.0, 0.0).of(1)) is None
    bench.close()


def test_every_target_has_a_bound() -> None:
    assert all(target.cost != Bound() for target in targets().values())


GROWING = [target for target in targets().values() if target.name not in ("draws", "draws10")]
"""The other targets take the numbers of their draws from a few bytes."""


@pytest.mark.parametrize("target", GROWING, ids=lambda target: target.name)
def test_targets_grow_valid_inputs(target: Target) -> None:
    assert target.longest > target.most
    rng = Random(5)
    data = target.seed(rng)[: target.most]
    for _ in range(4):
        grown = target.grow(rng, data)[: target.longest]
        assert len(grown) > 0
        data = max(data, grown[: target.most * 2], key=len)
    assert len(data) > target.most // 2


@pytest.mark.parametrize(("cost", "kind"), [
    (Cost(0.9, 1 << 20), ""), (Cost(1.1, 1 << 20), TIME), (Cost(0.9, 3 << 20), MEMORY),
])  # fmt: skip
def test_a_bound_has_a_constant_and_a_rate(cost: Cost, kind: str) -> None:
    assert cost.excess(Bound(0.5, 0.25, 1.0, 0.5).of(2048)) == kind


def test_counts_are_the_same_each_time() -> None:
    def work() -> None:
        sorted([3, 1, 2], key=lambda n: -n)
        raise ValueError

    counts = [Count().run(work) for _ in range(3)]
    assert counts[0] == counts[1] == counts[2] > 0
    calls = [Calls() for _ in range(2)]
    for each in calls:
        with pytest.raises(ValueError):
            each.run(lambda data: work(), b"")
    assert calls[0].number == calls[1].number > 3


def test_calls_are_counted_without_a_second_try() -> None:
    tried, calls = [], Calls()

    def trial(data: bytes) -> str:
        tried.append(sorted(data, key=lambda n: -n))
        return "done"

    assert calls.run(trial, b"123") == "done"
    assert len(tried) == 1 and calls.number > 3


@pytest.mark.parametrize("bound", [target.cost for target in targets().values()])
def test_no_input_exceeds_a_bound_before_the_clocks_are_read(bound: Bound) -> None:
    quick = Gauge(bound).quick
    assert quick >= Gauge.QUICK and 4 * quick <= bound.seconds
    assert quick * (32 << 30) <= bound.mib * (1 << 20)


def test_suspicions_that_lead_to_nothing_make_others_rarer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = iter((0.0, 1.5, 3.0, 6.0, 100.0))
    monkeypatch.setattr("dp2emu.fuzz.cost._used", lambda: Cost(next(used), 0))
    gauge = Gauge(Bound(1.0, 0.0))
    assert gauge.suspects(b"7")
    gauge.vain()
    assert not gauge.suspects(b"7")
    assert gauge.suspects(b"7")
    for _ in range(9):
        gauge.vain()
    assert gauge.suspects(b"7")


def test_the_heaviest_of_each_size_is_kept_in_a_folder(tmp_path: Path) -> None:
    heaviest = Heaviest(tmp_path)
    assert heaviest.offer(b"1234", 8) and heaviest.offer(b"12345678", 9)
    assert not heaviest.offer(b"5678", 7)
    assert heaviest.offer(b"5678", 9)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "3-9": b"5678", "4-9": b"12345678",
    }  # fmt: skip
    again = Heaviest(tmp_path)
    assert not again.offer(b"5679", 9) and again.offer(b"5679", 10)
    assert again.offer(b"5678", 11)
    assert {again.pick(Random(n)) for n in range(9)} == {b"5678", b"12345678"}


def test_the_documents_have_the_bounds() -> None:
    lines = (Path(__file__).parents[2] / "docs" / "fuzzing.rst").read_text("utf-8").splitlines()
    for target in targets().values():
        cost = target.cost
        rates = cost.seconds, cost.seconds_per_kib, cost.mib, cost.mib_per_kib
        row = [f"``{target.name}``", *(f"{rate:g}" for rate in rates), f"{target.longest:,}"]
        assert row in [line.split() for line in lines]
