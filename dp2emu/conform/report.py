"""Outcomes and causes as text, JSON and test cases; the kit as raw driver logs with an index."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from msgspec.structs import asdict

from dp2emu.capture.rawlog import LogWriter
from dp2emu.capture.records import Annotation, Answered, Called, ContextDestroyed, Record
from dp2emu.conform.case import Case
from dp2emu.conform.causes import RULES, Cause, causes
from dp2emu.conform.running import Outcome, Verdict, run_case
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Dp2Error
from dp2emu.escaping import plain
from dp2emu.junit import CaseResult, Result
from dp2emu.outputs import whole_output, write_file

INDEX = "cases.json"
_WIDTH = 99
"""Number of columns in which causes and the names of their cases are written."""


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """The number of cases by verdict, in the order of ``Verdict``."""
    found = Counter(outcome.verdict for outcome in outcomes)
    return {verdict.value: found[verdict] for verdict in Verdict}


def summary(outcomes: Sequence[Outcome]) -> str:
    """The number of cases by verdict, in words, and how many failures are consequences of others.

    >>> summary(())
    '0 passed, 0 failed, 0 warned, 0 skipped'
    """
    words = {name: f"{number} {name}" for name, number in counts(outcomes).items()}
    consequences = sum(len(cause.consequences) for cause in causes(outcomes))
    if consequences:
        words[Verdict.FAILED.value] += f" ({consequences} of them as a consequence)"
    return ", ".join(words.values())


def families(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes by family, the first part of a case's name."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.case.name.partition(".")[0], []).append(outcome)
    return found


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Lines of text: each cause of failures with its cases; numbers by family and verdict;
    each warning; the capabilities for want of which cases were skipped.
    """
    found = causes(outcomes)
    rules = {outcome.case.name: outcome.case for outcome in outcomes}
    lines = []
    for number, cause in enumerate(found, 1):
        lines += wrap(f"{number}. {cause.what}", _WIDTH, subsequent_indent="   ",
                      break_long_words=False, break_on_hyphens=False)  # fmt: skip
        lines += [*_cause_lines(cause, rules[cause.cases[0]]), ""]
    lines.append("family    " + "".join(f"{verdict.value:>9}" for verdict in Verdict))
    for family, members in families(outcomes).items():
        cells = counts(members).values()
        lines.append(f"{family:<10}" + "".join(f"{number:>9}" for number in cells))
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


def _cause_lines(cause: Cause, case: Case) -> Iterator[str]:
    """The names of a cause's cases, and the first of them with its rule."""
    for names, what in ((cause.cases, "failed"), (cause.consequences, "consequences")):
        if names:
            text = f"{len(names)} {what}: {', '.join(names)}"
            yield from wrap(text, _WIDTH, initial_indent="   ", subsequent_indent="     ",
                            break_on_hyphens=False)  # fmt: skip
    yield f"   {cause.cases[0]}: {cause.example}"
    yield f"   {case.rule} ({case.source})"


def document(rig: str, outcomes: Sequence[Outcome], ddi: int = 9) -> dict[str, Any]:
    """A JSON object with the numbers of cases by verdict, the causes of failures, and the outcome
    of each case with its cause, None unless it failed.

    ``ddi`` is the version of the interface that the cases are for.
    """
    found = causes(outcomes)
    named = _causes_by_name(found)
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
            "cause": named[outcome.case.name].what if outcome.case.name in named else None,
        }
        for outcome in outcomes
    ]
    rules = [{"name": rule.name, "says": rule.says} for rule in RULES]
    shown: dict[str, Any] = {"causes": [asdict(cause) for cause in found]}
    shown |= {"rules": rules, "cases": rows}
    return {"rig": rig, "ddi": ddi, **counts(outcomes), **shown}


def _causes_by_name(found: Iterable[Cause]) -> dict[str, Cause]:
    return {name: cause for cause in found for name in cause.names}


_RESULTS = {
    Verdict.PASSED: Result.PASSED,
    Verdict.FAILED: Result.FAILURE,
    Verdict.SKIPPED: Result.SKIPPED,
    Verdict.WARNED: Result.SKIPPED,
}
"""By verdict, results of JUnit XML, which has no warnings: these are skipped, with a message."""


def case_results(outcomes: Sequence[Outcome]) -> list[CaseResult]:
    """The outcomes as test cases for JUnit XML; the text of a failure ends with its cause."""
    named = _causes_by_name(causes(outcomes))
    return [_case_result(outcome, named.get(outcome.case.name)) for outcome in outcomes]


def _case_result(outcome: Outcome, cause: Cause | None) -> CaseResult:
    family, _, name = outcome.case.name.partition(".")
    text = f"{outcome.case.rule} ({outcome.case.source})"
    if cause is not None:
        text += f"\ncause of {len(cause.names)} failures: {plain(cause.what)}"
    why = outcome.why
    if outcome.verdict is Verdict.WARNED:
        why = f"warning: {why}; {outcome.case.disputed}"
    return CaseResult(family, name, _RESULTS[outcome.verdict], why, text)


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
        "wild": case.wild,
        "expected": [asdict(expect) for expect in case.expected],
        "owed": [asdict(owed) | {"begins": owed.begins.hex()} for owed in case.owed],
        "shown": [asdict(shown) | {"data": shown.data.hex()} for shown in case.shown],
    }
