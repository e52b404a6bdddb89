"""JUnit XML: results as test cases, which continuous integration collects.

The format is the common subset that build servers read: a ``testsuite`` with counts and
properties, and in it ``testcase`` elements with a ``failure``, ``error`` or ``skipped`` if they
did not pass.
There are no times and no host names, so that the same results give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from dp2emu.escaping import plain

_LONGEST = 4000
"""Maximum number of characters of a name, and of a message in an attribute."""
_LONGEST_TEXT = 1 << 20
"""Maximum number of characters of the text of a failure."""


class Result(StrEnum):
    """The result of a test case: the name of its XML element, or "passed"."""

    PASSED = "passed"
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


class CaseResult(NamedTuple):
    """A test case of ``group``: a file, target or family.

    ``message`` says in one line why it did not pass; ``text`` is a longer report.
    """

    group: str
    name: str
    result: Result = Result.PASSED
    message: str = ""
    text: str = ""


def junit(
    name: str, cases: Iterable[CaseResult], properties: Mapping[str, object] | None = None
) -> bytes:
    """The XML document of test cases; characters that XML or a terminal must not get are escaped.

    >>> page = junit("x", [CaseResult("a.dp2", "call 1")])
    >>> b'<testcase classname="a.dp2" name="call 1" />' in page
    True
    """
    rows = list(cases)
    found = Counter(case.result for case in rows)
    suite = Element(
        "testsuite",
        name=_line(name),
        tests=str(len(rows)),
        failures=str(found[Result.FAILURE]),
        errors=str(found[Result.ERROR]),
        skipped=str(found[Result.SKIPPED]),
    )
    if properties:
        group = SubElement(suite, "properties")
        for key, value in properties.items():
            SubElement(group, "property", name=_line(key), value=_line(str(value)))
    for case in rows:
        _add(suite, case)
    ElementTree.indent(suite)
    document: bytes = ElementTree.tostring(suite, "utf-8", xml_declaration=True)
    return document + b"\n"


def _add(suite: Element, case: CaseResult) -> None:
    row = SubElement(suite, "testcase", classname=_line(case.group), name=_line(case.name))
    if case.result is not Result.PASSED:
        what = SubElement(row, case.result.value, message=_line(case.message))
        if case.text:
            what.text = plain(case.text[:_LONGEST_TEXT], kept="\n")


def _line(text: str) -> str:
    return plain(text[:_LONGEST])
