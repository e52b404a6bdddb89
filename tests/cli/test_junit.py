"""``--junit`` of ``replay``, ``batch`` and ``fuzz``."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.running import dp2emu
from tests.cli.test_replay import FAULTY, GOOD, NOT_SEEN, OTHER, SAID, write

Row = tuple[str, str, str]


def cases(data: bytes) -> list[Row]:
    """(name, result, message) of each test case."""
    found = []
    for case in ElementTree.fromstring(data).iter("testcase"):
        results = [(each.tag, each.attrib["message"]) for each in case] or [("passed", "")]
        found += [(case.attrib["name"], *result) for result in results]
    return found


def test_each_answer_of_a_replay_is_a_test_case(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD[:-1], SAID, GOOD[-2], OTHER, *FAULTY[-1:])
    ran = dp2emu("replay", path, "--verify", "--junit", "-")
    one, two, fault = cases(ran.out)
    assert one == ("call 0: answer", "passed", "")
    assert two[:2] == ("call 1: answer", "failure") and "recorded 02" in two[2]
    assert fault[:2] == ("fault 1", "error") and "no query 9" in fault[2]


def test_an_observation_of_an_import_is_a_test_case(tmp_path: Path) -> None:
    ran = dp2emu("replay", write(tmp_path, *NOT_SEEN), "--verify", "--junit", "-")
    ((name, result, message),) = cases(ran.out)
    assert (name, result) == ("frame 1, call 30: GetData of query 5", "failure")
    assert "recorded False, replayed True" in message


def test_each_picture_of_a_replay_is_a_test_case(tmp_path: Path) -> None:
    path, seen = write(tmp_path, *GOOD), tmp_path / "seen"
    dp2emu("replay", path, "--png", seen)
    (seen / "gone.png").write_bytes(next(seen.iterdir()).read_bytes())
    ran = dp2emu("replay", path, "--against", seen, "--junit", tmp_path / "out.xml")
    assert ran.code == 1
    assert cases((tmp_path / "out.xml").read_bytes()) == [
        ("picture call000000_surface2.png", "passed", ""),
        ("picture gone.png", "failure", "no picture for the reference gone.png"),
    ]


@pytest.mark.parametrize("options", [[], ["--verify", "--json", "-"]])
def test_results_of_a_replay_need_something_to_compare_and_an_own_place(
    tmp_path: Path, options: list[str]
) -> None:
    ran = dp2emu("replay", write(tmp_path, *GOOD), *options, "--junit", "-")
    assert (ran.code, ran.out) == (2, b"")


def test_each_file_of_a_batch_is_a_test_case(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD[:-1], OTHER)
    ran = dp2emu("batch", path, tmp_path / "none.dp2", "--out", tmp_path / "rows", "--junit", "-")
    assert cases(ran.out) == [
        ("replay", "failure", "1 answers are not as recorded"),
        ("replay", "error", "No such file or directory"),
    ]


def test_each_finding_of_a_campaign_is_a_test_case(tmp_path: Path) -> None:
    ran = dp2emu(
        "fuzz", "--plain", "--target", "tests.fuzz.planted:RAISES", "--execs", 40,
        "--corpus", tmp_path, "--junit", "-",
    )  # fmt: skip
    assert ran.code == 1
    campaign, finding = cases(ran.out)
    assert campaign == ("campaign", "passed", "")
    assert finding[1] == "failure" and finding[2]
