"""An HTML page of the outcomes of conformance cases: causes, and what each failed case shows."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from dp2emu.argument_check import checked
from dp2emu.conform.causes import RULES, Cause, causes
from dp2emu.conform.failures import answers_of, capture_of, images_of, program_of
from dp2emu.conform.report import counts, families
from dp2emu.conform.running import Outcome, Verdict
from dp2emu.escaping import plain
from dp2emu.explain.report.page import page_style, rendered
from dp2emu.picture import encode_png

_SCALE = 8
"""Size of a pixel of a picture on the page."""
_LONGEST = 64 << 10
"""Maximum number of characters of a C program on the page, which most are far below."""


@checked
def page(rig: str, outcomes: Sequence[Outcome]) -> str:
    """HTML text of a page that loads nothing else: the causes of failures, each with its cases.

    A failed case has its capture, its C program, and the picture or the answer expected and got.
    The text of a driver is escaped.
    """
    failed = {each.case.name: each for each in outcomes if each.verdict is Verdict.FAILED}
    found = causes(outcomes)
    headers = program_of(next(iter(failed.values())).case)[0] if failed else ""
    return rendered(
        _text("page.html.j2"),
        page_style() + _text("page.css"),
        title=plain(f"conform {rig}"),
        counts=counts(outcomes),
        families=[(name, counts(members)) for name, members in families(outcomes).items()],
        causes=[_cause(cause, failed) for cause in found],
        rules=[(rule.name, rule.says) for rule in RULES],
        headers=headers,
    )


def _cause(cause: Cause, failed: dict[str, Outcome]) -> dict[str, Any]:
    return {
        "what": plain(cause.what),
        "rule": cause.rule,
        "cases": [_case(failed[name]) for name in cause.cases],
        "consequences": [_case(failed[name]) for name in cause.consequences],
    }


def _case(outcome: Outcome) -> dict[str, Any]:
    case = outcome.case
    expected, got = answers_of(outcome)
    return {
        "name": case.name,
        "why": plain(outcome.why),
        "rule": case.rule,
        "source": case.source,
        "images": [
            {"title": name, "data": _base64(encode_png(image)),
             "width": _SCALE * image.shape[1], "height": _SCALE * image.shape[0]}
            for name, image in images_of(outcome)
        ],
        "expected": plain(expected),
        "got": plain(got),
        "capture": _base64(capture_of(case)),
        "program": _shortened(program_of(case)[1]),
    }  # fmt: skip


def _shortened(program: str) -> str:
    """A program, or the start of one that is too long for a page."""
    if len(program) <= _LONGEST:
        return program
    return f"{program[:_LONGEST]}\n/* and {len(program) - _LONGEST} more characters */\n"


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
