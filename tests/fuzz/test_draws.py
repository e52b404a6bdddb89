"""Hostile draws of every interface end under guard pages; what leaves its memory is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from dp2emu.capture.records import Called
from dp2emu.fuzz import draws, hostile
from dp2emu.fuzz.campaign import Plan, campaign
from dp2emu.shader.engines import can_compile

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not can_compile(), reason="needs guard pages"
)

DRAWS = 2000
INPUTS = 24
"""Inputs of a scene each, which execute so many draws."""
OVERRUNNING = "tests.fuzz.overrunning"
WAYS = 40
"""Inputs, with which each way of leaving an array is met."""


@pytest.mark.parametrize("name", ["few_draws", "few_draws10"])
def test_hostile_draws_stay_in_their_memory(name: str, tmp_path: Path) -> None:
    ended = campaign(f"tests.fuzz.{name}:FEW", Plan(tmp_path, INPUTS, timeout=60.0, guard=True))
    assert ended.findings == ()
    assert ended.execs == INPUTS
    assert ended.cases >= DRAWS
    assert ended.features > 12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["draws", "draws10"])
def test_many_hostile_draws_stay_in_their_memory(name: str, tmp_path: Path) -> None:
    plan = Plan(tmp_path, seconds=60.0, timeout=60.0, guard=True)
    ended = campaign(name, plan)
    while ended.cases < 200_000:
        plan = replace(plan, resume=True)
        ended = campaign(name, plan)
    assert ended.findings == ()


def sites(name: str, folder: Path, inputs: int) -> set[str]:
    """The first lines of the reports of a campaign of kernels."""
    ended = campaign(f"{OVERRUNNING}:{name}", Plan(folder, inputs, timeout=60.0, guard=True))
    assert ended.execs == inputs
    paths = (folder / "findings" / f"{found}.txt" for found in ended.findings)
    return {path.read_text().splitlines()[0] for path in paths}


def test_a_kernel_that_reads_one_index_too_many_is_found(tmp_path: Path) -> None:
    assert sites("READING", tmp_path, 1) == {
        "the process ended with SIGSEGV: guard page, past its end"
    }


def test_every_way_of_leaving_an_array_by_one_element_is_found(tmp_path: Path) -> None:
    assert sites("LEAVING", tmp_path, WAYS) == {
        f"the process ended with {how}"
        for how in (
            "SIGSEGV: guard page, past its end",
            "SIGSEGV: guard page, before its start",
            "SIGSEGV: guard page, after it was freed",
            "SIGABRT: guard page, written beside it",
            "SIGABRT: guard page, written while free",
        )
    }


def test_kernels_that_stay_in_their_arrays_are_not_findings(tmp_path: Path) -> None:
    assert sites("WITHIN", tmp_path, 20) == set()


def test_an_input_is_a_capture_of_calls_that_draw() -> None:
    records = draws.records_of(bytes(10), scenes=1)
    assert records == draws.records_of(bytes(10), scenes=1)
    assert sum(isinstance(record, Called) for record in records) > hostile.CALLS


def test_variants_are_few_and_numbers_many() -> None:
    first, _ = hostile.parts(b"\1\0ab", 6)
    again, other = hostile.parts(b"\7\0ac", 6)
    assert draws.Variant.of(first) == draws.Variant.of(again)
    assert other.random() != hostile.parts(b"\1\0ab", 6)[1].random()
