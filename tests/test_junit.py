"""JUnit XML of any results."""

from __future__ import annotations

from xml.etree import ElementTree

from dp2emu.junit import CaseResult, Result, junit

HOSTILE = (
    "<b>&\"'", "]]>", "\x00\x1b[31m", "\ud800", "\ufffe\uffff", "\u202egnp", "a\r\nb", "x" * 5000,
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>", "\u0085\u2028",
)  # fmt: skip


def test_results_are_counted_and_have_their_reason() -> None:
    rows = [
        CaseResult("a", "one"),
        CaseResult("a", "two", Result.FAILURE, "unlike", "line 1\nline 2"),
        CaseResult("b", "three", Result.ERROR, "damaged"),
        CaseResult("b", "four", Result.SKIPPED, "no reference"),
    ]
    suite = ElementTree.fromstring(junit("all", rows, {"seed": 5}))
    counts = [suite.get(key) for key in ("tests", "failures", "errors", "skipped")]
    assert (suite.tag, counts) == ("testsuite", ["4", "1", "1", "1"])
    assert suite.find("properties/property[@name='seed']").attrib["value"] == "5"  # type: ignore[union-attr]
    one, two, three, four = suite.findall("testcase")
    assert (one.attrib, len(one)) == ({"classname": "a", "name": "one"}, 0)
    assert (two[0].tag, two[0].get("message"), two[0].text) == ("failure", "unlike", rows[1].text)
    assert (three[0].tag, four[0].tag) == ("error", "skipped")


def test_hostile_names_are_text_of_a_well_formed_document() -> None:
    rows = [CaseResult(name, name, Result.FAILURE, name, name) for name in HOSTILE]
    page = junit(HOSTILE[2], rows, {name: name for name in HOSTILE})
    suite = ElementTree.fromstring(page)
    assert suite.get("tests") == str(len(HOSTILE))
    assert suite.findall("testcase")[0].get("name") == HOSTILE[0]
    assert all(character.isprintable() or character == "\n" for character in page.decode())


def test_the_same_results_give_the_same_bytes() -> None:
    assert junit("x", [CaseResult("a", "b")]) == junit("x", [CaseResult("a", "b")])
