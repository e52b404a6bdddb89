"""What is told of a kit's outcomes, and the kit as files."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dp2emu.capture import open_capture
from dp2emu.conform import Outcome, Verdict, kit, run_kit
from dp2emu.conform.report import case_results, document, export, table
from dp2emu.dp2.driver import Driver
from dp2emu.dp2.options import Options
from dp2emu.junit import junit
from dp2emu.replay import replay
from tests.cli.running import dp2emu
from tests.native.building import sample

ORDER = kit("query.order")
OUTCOMES = [
    Outcome(ORDER[0], Verdict.FAILED, "query 5 is late \x1b[0m"),
    Outcome(ORDER[1], Verdict.SKIPPED, "the driver refuses it"),
    Outcome(kit("error.header")[0], Verdict.PASSED),
    Outcome(kit("draw.viewport")[0], Verdict.WARNED, "query 1 is answered 20"),
]


def test_the_table_has_causes_with_their_cases_first_and_then_counts_by_family() -> None:
    lines = table(OUTCOMES)
    assert lines[0] == f"1. query 5 is late \x1b[0m, against the rule: {OUTCOMES[0].case.rule}"
    assert lines[1] == "   1 failed: query.order.event"
    assert lines[2].startswith("   query.order.event: query 5 is late")
    assert 'answered in issue order (wire format, "Responses")' in lines[3]
    assert lines[5].split() == ["family", "passed", "failed", "warned", "skipped"]
    assert lines[6].split() == ["query", "0", "1", "0", "1"]
    assert lines[7].split() == ["error", "1", "0", "0", "0"]
    assert lines[8].split() == ["draw", "0", "0", "1", "0"]
    assert lines[10] == "warning: draw.viewport: query 1 is answered 20"
    assert lines[11].endswith(f"but {OUTCOMES[3].case.disputed}")


def test_the_document_has_every_case_and_every_cause() -> None:
    made = document("emulator", OUTCOMES)
    assert (made["rig"], made["passed"], made["failed"], made["skipped"]) == ("emulator", 1, 1, 1)
    verdicts = ["failed", "skipped", "passed", "warned"]
    assert [row["verdict"] for row in made["cases"]] == verdicts
    assert [bool(row["disputed"]) for row in made["cases"]] == [False, False, False, True]
    (cause,) = made["causes"]
    assert (cause["rule"], cause["cases"]) == ("error", ("query.order.event",))
    assert [row["cause"] for row in made["cases"]] == [cause["what"], None, None, None]
    assert "error" in {rule["name"] for rule in made["rules"]}


def test_junit_xml_reads_back() -> None:
    suite = ElementTree.fromstring(junit("emulator", case_results(OUTCOMES)))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "2")
    failed, skipped, passed, warned = suite
    assert (failed.get("classname"), failed.get("name")) == ("query", "order.event")
    assert failed[0].get("message") == "query 5 is late \\x1b[0m"
    assert (failed[0].text or "").endswith(
        f"cause of 1 failures: query 5 is late \\x1b[0m, against the rule: {OUTCOMES[0].case.rule}"
    )
    assert skipped[0].tag == "skipped" and len(passed) == 0
    assert (warned[0].get("message") or "").startswith("warning: query 1 is answered 20; only a")


def test_the_kit_as_files_replays_as_recorded(tmp_path: Path) -> None:
    cases = kit("query.order", "response", "error.offset")
    assert export(cases, tmp_path / "kit") == len(cases)
    index = json.loads((tmp_path / "kit" / "cases.json").read_text("utf-8"))
    assert [row["name"] for row in index["cases"]] == [case.name for case in cases]
    for row in index["cases"]:
        with open_capture(tmp_path / "kit" / f"{row['name']}.dp2log") as capture:
            tally = replay(capture)
            assert capture.damage is None
        assert (tally.different, tally.faults) == (0, 0)
        assert tally.compared == tally.calls >= len(row["expected"])


def test_the_command_runs_the_kit_on_a_rig(tmp_path: Path) -> None:
    ran = dp2emu("conform", "query.order", "--junit", tmp_path / "conform.xml")
    assert (ran.code, ran.err) == (0, "2 passed, 0 failed, 0 warned, 0 skipped\n")
    assert (tmp_path / "conform.xml").read_bytes().startswith(b"<?xml")
    planted = dp2emu("conform", "query", "--rig", f"native:{sample('RESTART_ADDS')}")
    assert planted.code == 1
    assert b"query.begin_restarts: " in planted.out


def test_the_command_lists_and_exports(tmp_path: Path) -> None:
    listed = dp2emu("conform", "query.order", "--list")
    assert listed.out.count(b"\n") == 2
    exported = dp2emu("conform", "query.order", "--export", tmp_path / "kit")
    assert (exported.code, len(list((tmp_path / "kit").iterdir()))) == (0, 3)
    as_json = dp2emu("conform", "query.order", "--json", "-")
    assert json.loads(as_json.out)["passed"] == 2


@pytest.mark.parametrize("arguments", [("nothing",), ("--rig", "nothing")])
def test_the_command_refuses_what_is_not_there(arguments: tuple[str, ...]) -> None:
    assert dp2emu("conform", *arguments).code == 2


def test_a_strict_emulator_follows_the_rules_of_queries_but_those_it_is_strict_about() -> None:
    outcomes = list(run_kit(kit("query"), Driver(options=Options(strict=True))))
    found = {o.case.name: o.verdict for o in outcomes if o.verdict is not Verdict.PASSED}
    assert found == dict.fromkeys(("query.event_begin", "query.no_flags"), Verdict.WARNED)
