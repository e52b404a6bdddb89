"""Citations: each names a section of ``docs/reference``, or a page of Microsoft's by its title."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dp2emu.conform import kit
from tests.statements import plain_statements
from tests.tools.loading import ROOT

REFERENCE = ROOT / "docs" / "reference"
FOLDERS = ("dp2emu", "tools", "tests", "docs", "streams")
KINDS = (".py", ".rst", ".c", ".h", ".md", ".txt")
GENERATED = ROOT / "docs" / "api"

MICROSOFT = {
    "10Level9 ID3D11Device Methods",
    "10Level9 ID3D11DeviceContext Methods",
    "BC6H Format",
    "BC7 Format",
    "BC7 Format Mode Reference",
    "Compressed Texture Resources",
    "D3D10DDI_QUERY enumeration",
    "Direct3D 11.3 Functional Specification",
    "Direct3D Driver Shader Codes",
    "Format support for Direct3D Feature Level 11.0 hardware",
    "Handling Asynchronous Queries",
    "Obtaining and Converting Counter Information",
    "QueryResourceResidencyDXGI callback function",
    "Querying for Information from the GPU",
    "Recommended 8-Bit YUV Formats for Video Rendering",
}
"""Titles of Microsoft's pages that are cited in quotation marks."""

OUTSIDE = re.compile(
    r"\breference (?:sections? )?\d|\bshader reference\b|\bFORMAT\d*\.md|\bseed 00\d|\bshared/"
    r"|\b[\w-]+\.md\b",
    re.IGNORECASE,
)
"""How documents outside of the repository were cited."""
BARE = re.compile(r"\bsections? \d|\(\d\.\d\)")
"""A number of a section without the title of a page."""

_HEADING = re.compile(r"^(?P<title>\S.*)\n(?P<rule>=+|-+|~+)$", re.MULTILINE)
_MICROSOFT_ITEM = re.compile(r"documentation|\b\w+\.h\b|\bD3D\w+|\bDirect3D 9 rasterization rules")
_QUOTED = re.compile(r'"([^"]+)"')


def headings(page: Path) -> list[tuple[str, str]]:
    """The title and the sections of a page, each with the character it is underlined with."""
    found = _HEADING.finditer(page.read_text("utf-8"))
    return [(each["title"], each["rule"][0]) for each in found
            if len(each["rule"]) == len(each["title"])]  # fmt: skip


def sections() -> dict[str, set[str]]:
    """The sections of each page of the reference, by the page's title in lower case."""
    pages = {}
    for path in REFERENCE.glob("*.rst"):
        (title, _), *others = headings(path)
        pages[title.lower()] = {name for name, _ in others}
    return pages


def citation(pages: dict[str, set[str]]) -> re.Pattern[str]:
    """A page, maybe as a link, and one or more of its sections in quotation marks."""
    titles = "|".join(map(re.escape, pages))
    return re.compile(
        rf'`?(?P<page>{titles})(?: <[^>]+>`_)?, (?P<sections>"[^"]+"(?:(?:, | and )"[^"]+")*)',
        re.IGNORECASE,
    )


def cited_in(text: str, pages: dict[str, set[str]]) -> list[re.Match[str]]:
    """Citations in a text; the pattern tries all titles at each place, so first see for any."""
    lower = text.lower()
    return [*citation(pages).finditer(text)] if any(title in lower for title in pages) else []


def joined(text: str) -> str:
    """Text with its lines joined, those of comments too."""
    return re.sub(r"\s*\n\s*(?:#:? )?", " ", text)


def unknown(text: str, pages: dict[str, set[str]]) -> list[str]:
    """The sections cited in a text that their page does not have."""
    return [
        f"{cited['page']}, {section}"
        for cited in cited_in(joined(text), pages)
        for section in _QUOTED.findall(cited["sections"])
        if section not in pages[cited["page"].lower()]
    ]


@cache
def files() -> tuple[tuple[Path, str], ...]:
    """Files in which something may be cited, and their joined texts, this one left out."""
    return tuple((path, joined(path.read_text("utf-8"))) for path in _files())


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            here = path == Path(__file__) or GENERATED in path.parents
            if path.suffix in KINDS and not here:
                yield path
    yield from (ROOT / "README.rst", ROOT / "CHANGELOG.rst")


@cache
def docstrings() -> tuple[tuple[str, str], ...]:
    """Place and joined text of every docstring of the package, those behind names too."""
    return tuple(_docstrings())


def _docstrings() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "dp2emu").rglob("*.py")):
        for node in plain_statements(path):
            match node:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", joined(text)


def outside(source: str, pages: dict[str, set[str]]) -> str | None:
    """What of the source that is given for something cannot be found, None if all can."""
    others = citation(pages).sub("", source)
    wrong = unknown(source, pages) + [
        title for title in _QUOTED.findall(others) if title not in MICROSOFT
    ]
    if wrong:
        return ", ".join(wrong)
    known = others != source or _QUOTED.search(others) or _MICROSOFT_ITEM.search(source)
    return None if known or source in MICROSOFT or "``dp2emu." in source else source


def test_citations_name_sections_of_the_reference() -> None:
    pages, cited = sections(), 0
    for path, text in files():
        cited += len(cited_in(text, pages))
        assert not unknown(text, pages), path
    assert cited > 150


def test_a_section_that_is_renamed_is_noticed() -> None:
    page = {"wire format": {"Queries", "The call"}}
    text = '"""As Microsoft has it (wire format, "Queries",\n    "The call" and "Answers")."""'
    assert unknown(text, page) == ["wire format, Answers"]
    assert unknown('`Wire format <x.rst>`_, "Query"', page) == ["Wire format, Query"]


@pytest.mark.parametrize("name", sorted(path.stem for path in REFERENCE.glob("*.rst")))
def test_pages_have_one_title_and_sections_of_different_names(name: str) -> None:
    (_, rule), *others = headings(REFERENCE / f"{name}.rst")
    names = [title for title, _ in others]
    assert rule == "=" and "=" not in {rule for _, rule in others}
    assert len(names) == len(set(names))


def test_nothing_outside_of_the_repository_is_cited() -> None:
    found = []
    for path, text in files():
        found += [f"{path.relative_to(ROOT)}: {each[0]}" for each in OUTSIDE.finditer(text)]
    assert not found


def test_sections_are_cited_by_their_titles() -> None:
    found = [f"{place}: {each[0]}" for place, text in docstrings()
             for each in BARE.finditer(text)]  # fmt: skip
    assert not found


def test_sources_are_pages_of_the_reference_or_of_microsoft() -> None:
    pages, found = sections(), []
    for place, text in docstrings():
        for given in re.findall(r"\bSources?: (.*?)(?:\.(?:  |$)|$)", text):
            found += [f"{place}: {wrong}"] if (wrong := outside(given, pages)) else []
    assert not found


def test_conformance_cases_cite_pages_of_the_reference_or_of_microsoft() -> None:
    pages = sections()
    sources = {part.strip() for case in kit() for part in case.source.split(";")}
    assert not [source for source in sources if outside(source, pages)]


def test_pages_of_the_reference_name_what_they_rest_on() -> None:
    for path in REFERENCE.glob("*.rst"):
        intro = joined(path.read_text("utf-8").split("\n\n\n")[0])
        titles = set(_QUOTED.findall(intro))
        assert {title for title in titles if title[0].isupper()} <= MICROSOFT, path
