"""The kit as files: a raw driver log of each case, with the emulator's answers, and an index.

Whoever has no Python replays the logs and compares with ``cases.json``: the results that calls
must have, the answers that must come, and the rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from dp2emu.capture.rawlog import LogWriter
from dp2emu.capture.records import Annotation, Answered, Called, ContextDestroyed, Record
from dp2emu.conform.case import Case, Owed
from dp2emu.conform.running import Outcome, Verdict, run_case
from dp2emu.dp2.call import Answer, Call
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Dp2Error
from dp2emu.outputs import whole_output, write_file

INDEX = "cases.json"


def export(cases: Iterable[Case], folder: Path) -> int:
    """Write ``NAME.dp2log`` for each case and ``cases.json``; returns how many cases.

    Raises OSError, and Dp2Error should the emulator not follow a rule of its own kit.
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
    """The records of a case with the emulator's answers, the empty calls behind it included."""
    heard: list[tuple[Call, Answer]] = []
    outcome = run_case(case, Driver(), lambda call, answer: heard.append((call, answer)))
    _check(outcome)
    told = [
        Annotation("title", case.name),
        Annotation("rule", case.rule),
        Annotation("source", case.source),
    ]
    answers = iter(heard)
    ended = next(at for at, record in enumerate(case.records) if _ends(record))
    records: list[Record] = [*told]
    for record in case.records[:ended]:
        records.append(record)
        if isinstance(record, Called):
            records.append(Answered(next(answers)[1]))
    for call, answer in answers:
        records += [Called(call), Answered(answer)]
    return [*records, *case.records[ended:]]


def _ends(record: Record) -> bool:
    return isinstance(record, ContextDestroyed)


def _check(outcome: Outcome) -> None:
    if outcome.verdict is not Verdict.PASSED:
        raise Dp2Error(f"{outcome.case.name}: {outcome.why}")


def _row(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "rule": case.rule,
        "source": case.source,
        "optional": case.optional,
        "expected": [asdict(expect) for expect in case.expected],
        "owed": [_owed(owed) for owed in case.owed],
        "shown": [asdict(shown) | {"data": shown.data.hex()} for shown in case.shown],
    }


def _owed(owed: Owed) -> dict[str, Any]:
    return asdict(owed) | {"begins": owed.begins.hex()}
