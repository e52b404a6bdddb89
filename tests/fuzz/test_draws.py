"""Hostile draws of every interface end under guard pages; what leaves its memory is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dp2emu.capture.records import Called
from dp2emu.fuzz import draws, hostile, targets
from dp2emu.fuzz.campaign import Plan, campaign
from dp2emu.shader.engines import can_compile

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not can_compile(), reason="needs guard pages"
)

INPUTS = 2000 // hostile.DRAWS
OVERRUNNING = "tests.fuzz.overrunning"


@pytest.mark.parametrize("name", ["FEW_DRAWS", "FEW_DRAWS10"])
def test_hostile_draws_stay_in_their_memory(name: str, tmp_path: Path) -> None:
    ended = campaign(f"{OVERRUNNING}:{name}", Plan(tmp_path, INPUTS, timeout=60.0, guard=True))
    assert ended.findings == ()
    assert ended.execs == INPUTS
    assert ended.features > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["draws", "draws10"])
def test_many_hostile_draws_stay_in_their_memory(name: str, tmp_path: Path) -> None:
    plan = Plan(tmp_path, 200_000 // hostile.DRAWS, timeout=60.0, guard=True)
    assert campaign(name, plan).findings == ()


@pytest.mark.parametrize(("name", "how"), [
    ("READS_PAST", "SIGSEGV: guard page, past its end"),
    ("WRITES_PAST", "SIGSEGV: guard page, past its end"),
    ("PAST_A_LARGE_ONE", "SIGSEGV: guard page, past its end"),
    ("FREED", "SIGABRT: guard page, written while free"),
    ("FREED_LARGE", "SIGSEGV: guard page, after it was freed"),
])  # fmt: skip
def test_a_kernel_that_leaves_an_array_by_an_element_is_found(
    name: str, how: str, tmp_path: Path
) -> None:
    ended = campaign(f"{OVERRUNNING}:{name}", Plan(tmp_path, 1, timeout=60.0, guard=True))
    (found,) = ended.findings
    report = (tmp_path / "findings" / f"{found}.txt").read_text()
    assert report.startswith(f"the process ended with {how}\n")


def test_a_kernel_that_begins_before_an_array_is_found_by_every_other_input(
    tmp_path: Path,
) -> None:
    ended = campaign(f"{OVERRUNNING}:BEFORE", Plan(tmp_path, 2, timeout=60.0, guard=True))
    (found,) = ended.findings
    report = (tmp_path / "findings" / f"{found}.txt").read_text()
    assert "SIGSEGV: guard page, before its start" in report


def test_kernels_that_stay_in_their_arrays_are_not_findings(tmp_path: Path) -> None:
    ended = campaign(f"{OVERRUNNING}:WITHIN", Plan(tmp_path, 20, timeout=60.0, guard=True))
    assert (ended.findings, ended.execs) == ((), 20)


def test_an_input_is_a_capture_of_one_call_for_each_draw() -> None:
    target = targets()["draws"]
    records = target.records(bytes(10))
    assert records is not None and records == target.records(bytes(10))
    assert sum(isinstance(record, Called) for record in records) > hostile.DRAWS


def test_variants_are_few_and_numbers_many() -> None:
    first, _ = hostile.parts(b"\1\0ab", 6)
    again, other = hostile.parts(b"\7\0ac", 6)
    assert draws.Variant.of(first) == draws.Variant.of(again)
    assert other.random() != hostile.parts(b"\1\0ab", 6)[1].random()
