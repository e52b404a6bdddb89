"""Outcomes as a table, JSON and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

from dp2emu.conform.running import Outcome, Verdict
from dp2emu.escaping import plain


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many cases there are of each verdict, in the order of ``Verdict``."""
    found = Counter(outcome.verdict for outcome in outcomes)
    return {verdict.value: found[verdict] for verdict in Verdict}


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """A line per family: its cases, and of those that failed the rule, its source and why."""
    outcomes = list(outcomes)
    families: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        families.setdefault(outcome.case.name.partition(".")[0], []).append(outcome)
    lines = ["family    " + "".join(f"{verdict.value:>9}" for verdict in Verdict)]
    for family, members in families.items():
        cells = counts(members).values()
        lines.append(f"{family:<10}" + "".join(f"{number:>9}" for number in cells))
    for outcome in outcomes:
        if outcome.verdict is Verdict.FAILED:
            case = outcome.case
            lines += ["", f"{case.name}: {outcome.why}", f"  {case.rule} ({case.source})"]
    return lines


def document(rig: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The same as an object for JSON."""
    rows = [
        {
            "name": outcome.case.name,
            "rule": outcome.case.rule,
            "source": outcome.case.source,
            "verdict": outcome.verdict.value,
            "why": outcome.why,
        }
        for outcome in outcomes
    ]
    return {"rig": rig, **counts(outcomes), "cases": rows}


def junit(rig: str, outcomes: Sequence[Outcome]) -> bytes:
    """The same as JUnit XML, as programs that collect test results read it."""
    found = counts(outcomes)
    suite = ElementTree.Element(
        "testsuite",
        name=plain(f"dp2emu conform {rig}"),
        tests=str(len(outcomes)),
        failures=str(found[Verdict.FAILED.value]),
        skipped=str(found[Verdict.SKIPPED.value]),
        errors="0",
    )
    for outcome in outcomes:
        _add_case(suite, outcome)
    ElementTree.indent(suite)
    written: bytes = ElementTree.tostring(suite, "utf-8", xml_declaration=True)
    return written + b"\n"


_TAGS = {Verdict.FAILED: "failure", Verdict.SKIPPED: "skipped"}


def _add_case(suite: ElementTree.Element, outcome: Outcome) -> None:
    family, _, name = outcome.case.name.partition(".")
    row = ElementTree.SubElement(suite, "testcase", classname=family, name=name)
    tag = _TAGS.get(outcome.verdict)
    if tag is not None:
        what = ElementTree.SubElement(row, tag, message=plain(outcome.why))
        what.text = f"{outcome.case.rule} ({outcome.case.source})"
