"""Processes are watched: whatever an input does to one becomes a finding, and the rest goes on."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest

from dp2emu.errors import Dp2Error, UsageError
from dp2emu.fuzz.campaign import Plan, campaign
from tests.fuzz.planted import BAD

PLANTED = "tests.fuzz.planted"


def ended(name: str, folder: Path, **more: object) -> tuple[str, ...]:
    """Names of the findings of a short campaign."""
    plan = Plan(folder, **{"execs": 300, **more})  # type: ignore[arg-type]
    return campaign(f"{PLANTED}:{name}", plan).findings


def only(folder: Path, suffix: str) -> bytes:
    (path,) = (folder / "findings").glob(f"*{suffix}")
    return path.read_bytes()


def test_what_keeps_its_promises_has_no_findings(tmp_path: Path) -> None:
    assert ended("FINE", tmp_path) == ()
    told = json.loads((tmp_path / "fine.json").read_text())
    assert (told["execs"], told["seed"], told["jobs"], told["guided"]) == (300, 0, 1, False)
    assert told["versions"].keys() >= {"dp2emu", "python", "numpy", "construct"}


@pytest.mark.parametrize(("name", "site"), [
    ("RAISES", b"ValueError < tests.fuzz.planted._raise < tests.fuzz.planted.trial\n"),
    ("BREAKS", b"Broken: no # is here, nor #\n"),
])  # fmt: skip
def test_an_exception_is_found_once_and_made_small(tmp_path: Path, name: str, site: bytes) -> None:
    assert len(ended(name, tmp_path)) == 1
    assert only(tmp_path, ".input") == BAD
    assert only(tmp_path, ".txt").startswith(site)


def test_a_crash_is_a_finding_with_its_input(tmp_path: Path) -> None:
    assert len(ended("CRASHES", tmp_path)) == 1
    assert BAD in only(tmp_path, ".input")
    assert b"SIGSEGV" in only(tmp_path, ".txt")


@pytest.mark.parametrize("name", ["HANGS", "SPINS"])
def test_a_hang_is_a_finding_with_its_input(tmp_path: Path, name: str) -> None:
    assert len(ended(name, tmp_path, timeout=0.3, seconds=6.0)) == 1
    assert BAD in only(tmp_path, ".input")


def test_a_worker_that_follows_a_lost_one_may_start_slowly(tmp_path: Path) -> None:
    plan = Plan(tmp_path, timeout=0.2, execs=24, seconds=60.0)
    told = campaign(f"{PLANTED}:STARTS_SLOWLY", plan)
    assert (len(told.findings), told.execs) == (1, 24)
    assert BAD in only(tmp_path, ".input")


def test_a_longer_input_may_take_as_long_as_its_bound(tmp_path: Path) -> None:
    assert ended("LONG_WAITS", tmp_path, timeout=0.05, execs=9) == ()


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux reports the processor time of another process"
)
def test_an_input_may_last_while_its_process_has_no_processor(tmp_path: Path) -> None:
    assert ended("WAITS", tmp_path, timeout=0.5, execs=100) == ()


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    plan = Plan(tmp_path, execs=200, jobs=2)
    assert campaign(f"{PLANTED}:FINE", plan).execs == 200
    assert campaign(f"{PLANTED}:FINE", Plan(tmp_path, execs=200, jobs=2, resume=True)).execs == 400
    assert campaign(f"{PLANTED}:FINE", Plan(tmp_path, execs=200)).execs == 200


@pytest.mark.parametrize("told", [
    b"", b"[]", b"[" * 100_000, b'{"execs": 1e999, "seconds": 1}', b'{"execs": -7, "seconds": -1}',
    b'{"execs": [], "seconds": 1}', b'{"execs": 1, "seconds": -1}', b"\xff", b'{"execs": 0}',
    b'{"execs": 1, "seconds": 1e999}', b'{"execs": 1, "seconds": NaN}',
])  # fmt: skip
def test_what_is_no_summary_is_refused_by_name(tmp_path: Path, told: bytes) -> None:
    (tmp_path / "fine.json").write_bytes(told)
    with pytest.raises(UsageError, match=r"fine\.json: not the summary of a campaign"):
        campaign(f"{PLANTED}:FINE", Plan(tmp_path, execs=10, resume=True))
    assert (tmp_path / "fine.json").read_bytes() == told
    assert campaign(f"{PLANTED}:FINE", Plan(tmp_path, execs=10)).execs == 10


def test_the_same_seed_makes_the_same_inputs(tmp_path: Path) -> None:
    corpora = []
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        campaign(f"{PLANTED}:FINE", Plan(tmp_path / name, execs=300, seed=seed))
        corpora.append({path.name for path in (tmp_path / name / "fine").iterdir()})
    assert corpora[0] == corpora[1] != corpora[2]


needs_atheris = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or sys.version_info >= (3, 14),
    reason="the extra test brings atheris for Linux on x86-64 alone, up to Python 3.13",
)


@needs_atheris
def test_inputs_chosen_by_coverage_are_counted_to_the_last(tmp_path: Path) -> None:
    assert ended("FINE", tmp_path, guided=True) == ()
    assert json.loads((tmp_path / "fine.json").read_text())["execs"] == 300


@needs_atheris
def test_inputs_chosen_by_coverage_tell_what_they_cover(tmp_path: Path) -> None:
    told = campaign(f"{PLANTED}:WATCHED", Plan(tmp_path, execs=300, guided=True))
    assert min(told.features, told.lines, told.corpus) > 0
    assert {path.name for path in tmp_path.iterdir()} == {"watched", "watched.json", "findings"}


@needs_atheris
def test_inputs_chosen_by_coverage_find_what_is_planted(tmp_path: Path) -> None:
    assert len(ended("RAISES", tmp_path, guided=True, execs=20_000)) == 1
    assert only(tmp_path, ".input") == BAD


@pytest.mark.parametrize("name", ["nothing", "no.module:X", f"{PLANTED}:nothing"])
def test_a_target_that_is_none_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="one of walk, construct"):
        campaign(name, Plan(tmp_path))


def test_a_campaign_ends_whose_workers_cannot_try_an_input(tmp_path: Path) -> None:
    with pytest.raises(
        Dp2Error, match="exit code 1, 3 times before an input; see unstarted-"
    ) as e:
        campaign(f"{PLANTED}:UNSTARTED", Plan(tmp_path))
    (report,) = (tmp_path / "findings").glob("*.txt")
    assert report.name in str(e.value) and "ValueError: no trial" in report.read_text()


def test_a_campaign_says_why_a_trial_gave_up(tmp_path: Path) -> None:
    told = campaign(f"{PLANTED}:GIVES_UP", Plan(tmp_path, execs=100_000))
    assert told.stopped == "no further input can be tried"
    assert 0 < told.execs < 100_000 and not told.findings
