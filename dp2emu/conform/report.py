"""Outcomes as a table, JSON and test cases; the kit as raw driver logs with an index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from dp2emu.capture.rawlog import LogWriter
from dp2emu.capture.records import Annotation, Answered, Called, ContextDestroyed, Record
from dp2emu.conform.case import Case
from dp2emu.conform.running import Outcome, Verdict, run_case
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Dp2Error
from dp2emu.junit import CaseResult, Result
from dp2emu.outputs import whole_output, write_file

INDEX = "cases.json"


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """The number of cases by verdict, in the order of ``Verdict``."""
    found = Counter(outcome.verdict for outcome in outcomes)
    return {verdict.value: found[verdict] for verdict in Verdict}


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """Lines of text: for each family of cases the number by verdict; then each failure, each
    warning, and the capabilities for want of which cases were skipped.
    """
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
    for outcome in outcomes:
        if outcome.verdict is Verdict.WARNED:
            case = outcome.case
            lines += ["", f"warning: {case.name}: {outcome.why}",
                      f"  {case.rule} ({case.source}), but {case.disputed}"]  # fmt: skip
    lacking = Counter(name for outcome in outcomes for name in outcome.lacks)
    if lacking:
        lines += ["", "not announced, with the number of cases that need it:"]
        lines += [f"  {name}: {number}" for name, number in sorted(lacking.items())]
    return lines


def document(rig: str, outcomes: Sequence[Outcome], ddi: int = 9) -> dict[str, Any]:
    """A JSON object with the numbers of cases by verdict, and the outcome of each case.

    ``ddi`` is the version of the interface that the cases are for.
    """
    rows = [
        {
            "name": outcome.case.name,
            "rule": outcome.case.rule,
            "source": outcome.case.source,
            "disputed": outcome.case.disputed,
            "since": int(outcome.case.since),
            "verdict": outcome.verdict.value,
            "why": outcome.why,
            "lacks": list(outcome.lacks),
        }
        for outcome in outcomes
    ]
    return {"rig": rig, "ddi": ddi, **counts(outcomes), "cases": rows}


_RESULTS = {
    Verdict.PASSED: Result.PASSED,
    Verdict.FAILED: Result.FAILURE,
    Verdict.SKIPPED: Result.SKIPPED,
    Verdict.WARNED: Result.SKIPPED,
}
"""By verdict, results of JUnit XML, which has no warnings: these are skipped, with a message."""


def case_results(outcomes: Iterable[Outcome]) -> list[CaseResult]:
    """The outcomes as test cases for JUnit XML."""
    return list(map(_case_result, outcomes))


def _case_result(outcome: Outcome) -> CaseResult:
    family, _, name = outcome.case.name.partition(".")
    source = f"{outcome.case.rule} ({outcome.case.source})"
    why = outcome.why
    if outcome.verdict is Verdict.WARNED:
        why = f"warning: {why}; {outcome.case.disputed}"
    return CaseResult(family, name, _RESULTS[outcome.verdict], why, source)


def export(cases: Iterable[Case], folder: Path) -> int:
    """Write ``NAME.dp2log``, a raw driver log, for each case, and ``cases.json``; returns the
    number of cases.

    The logs hold the emulator's answers, the index the expected results, answers and rules: a
    program in any language can replay and compare them.  Raises OSError, and Dp2Error if the
    emulator fails a case.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for case in cases:
        with whole_output(folder / f"{case.name}.dp2log") as file, LogWriter(file) as log:
            for record in recorded(case):
                log.write(record)
        rows.append(_row(case))
    write_file(folder / INDEX, json.dumps({"cases": rows}, indent=1).encode() + b"\n")
    return len(rows)


def recorded(case: Case) -> list[Record]:
    """The records of a case with the emulator's answers, and the empty calls after it.

    Raises Dp2Error if the emulator fails the case.
    """
    heard: list[tuple[Call, Answer]] = []
    outcome = run_case(case, Driver(), lambda call, answer: heard.append((call, answer)))
    if outcome.verdict is not Verdict.PASSED:
        raise Dp2Error(f"{case.name}: {outcome.why}")
    answers = iter(heard)
    end = next(at for at, each in enumerate(case.records) if isinstance(each, ContextDestroyed))
    records: list[Record] = [
        Annotation("title", case.name),
        Annotation("rule", case.rule),
        Annotation("source", case.source),
    ]
    for record in case.records[:end]:
        records.append(record)
        if isinstance(record, Called):
            records.append(Answered(next(answers)[1]))
    for call, answer in answers:
        records += [Called(call), Answered(answer)]
    return [*records, *case.records[end:]]


def _row(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "rule": case.rule,
        "source": case.source,
        "disputed": case.disputed,
        "since": int(case.since),
        "optional": case.optional,
        "expected": [asdict(expect) for expect in case.expected],
        "owed": [asdict(owed) | {"begins": owed.begins.hex()} for owed in case.owed],
        "shown": [asdict(shown) | {"data": shown.data.hex()} for shown in case.shown],
    }
