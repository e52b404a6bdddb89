"""The grammar, before meaning."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.text import syntax
from dp2emu.text.syntax import (
    LINE_LIMIT,
    Block,
    Fields,
    Quoted,
    Row,
    TextError,
    Word,
    lines_of,
    paragraphs,
    quote,
)


def read(text: str) -> list[Block]:
    return [each.placed() for each in paragraphs(lines_of(StringIO(text)))]


def test_a_statement_collects_its_items_and_parts() -> None:
    (block,) = read("CODE n=1\n - handle=3\n   code: 1 2\n   code: 3\n")
    assert (block.name, block.line) == ("CODE", 1)
    assert block.fields.values == {"n": Word("1", 1)}
    (item,) = block.items
    assert item.fields.values == {"handle": Word("3", 2)}
    assert item.parts == {"code": [Word("1", 3), Word("2", 3), Word("3", 4)]}


def test_a_part_before_any_item_belongs_to_the_statement() -> None:
    (block,) = read('memory\n data: "00" 1.0\n')
    assert block.parts == {"data": [Quoted("00", 2), Word("1.0", 2)]}


def test_values_nest() -> None:
    (block,) = read("T m={a=1 b=[2 3]}")
    expected = Fields({"a": Word("1", 1), "b": Row((Word("2", 1), Word("3", 1)), 1)}, 1)
    assert block.fields.values == {"m": expected}


def test_comments_and_empty_lines_mean_nothing() -> None:
    assert read("# all\n\n   \n") == []
    (block,) = read("frame a=1 # b=2")
    assert list(block.fields.values) == ["a"]


@pytest.mark.parametrize("items", [1, 100])
def test_empty_lines_within_a_statement_mean_nothing(items: int) -> None:
    lines = ["a", *(f" - n={n}" for n in range(items)), " "]
    (block,) = read("\n   \n# b\n".join(lines))
    found = [item.fields.values for item in block.items]
    assert found == [{"n": Word(str(n), 4 + 3 * n)} for n in range(items)]


def test_a_statement_has_as_many_items_as_a_token_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(syntax, "_MOST_ITEMS", 3)
    (block,) = read("a" + "\n -" * 3)
    assert len(block.items) == 3
    with pytest.raises(TextError, match="more than 3 items"):
        read("a" + "\n -" * 4)


def test_a_number_sign_inside_a_string_is_no_comment() -> None:
    (block,) = read('a\n text: "x # y"')
    assert block.parts == {"text": [Quoted("x # y", 2)]}


@given(st.text())
def test_a_quoted_string_reads_back(text: str) -> None:
    assert "\n" not in quote(text)
    (block,) = read(f"a\n text: {quote(text)}")
    assert block.parts == {"text": [Quoted(text, 2)]}


def test_a_quoted_string_shows_no_control_characters() -> None:
    assert quote("\x1b[2J\x9b\u202e") == '"\\u001b[2J\\u009b\\u202e"'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("- a=1", "line 1: this line belongs to no statement"),
        ("a\nb=1", "line 2: = where a name belongs"),
        ("a b", "line 1: the line ends too early"),
        ("a b=", "line 1: the line ends too early"),
        ("a b=1 b=2", "line 1: b is given twice"),
        ("a b=[1", "line 1: ] is missing"),
        ("a b={c=1", "line 1: } is missing"),
        ("a b=]", "line 1: ] where a value belongs"),
        ("a =1", "line 1: = where a name belongs"),
        ("a\n[1]", "line 2: [ where a name belongs"),
        ('a b="x', "line 1: nothing starts with '\"x'"),
        ('a b="x\\"', "line 1: nothing starts with '\"x\\\\\"'"),
        ('a b="x" c="', "line 1: nothing starts with '\"'"),
        ('a b="\\x"', "line 1: '\"\\\\x\"' is no string"),
        ('a b="\\ud800"', "line 1: '\"\\\\ud800\"' is no string"),
        ("a b=" + 40 * "[", "line 1: brackets nest too deep"),
    ],
)
def test_broken_lines_are_named(text: str, what: str) -> None:
    with pytest.raises(TextError) as caught:
        read(text)
    assert str(caught.value) == what


def test_what_stands_in_a_comment_is_not_read_and_a_string_has_none() -> None:
    (block,) = read('a b="# \\"" # c="\n# "\n x: 1#2')
    assert block.fields.values == {"b": Quoted('# "', 1)}
    assert block.parts == {"x": [Word("1", 3)]}


def test_a_line_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(TextError, match="line 2: longer than"):
        read("a\n" + "x" * (LINE_LIMIT + 1))


def test_bytes_that_are_no_text_are_named() -> None:
    stream = TextIOWrapper(BytesIO(b"a\nb \xff\n" + bytes(20000)), encoding="utf-8")
    with pytest.raises(TextError, match="not utf-8 text"):
        list(paragraphs(lines_of(stream)))


@given(st.lists(st.sampled_from(["a", "-", "b:", "=", "[", "]", "{", "}", '"x"', "#", "1", "\n"])))
def test_any_line_is_a_block_or_an_error(words: list[str]) -> None:
    def tried() -> Iterator[Block]:
        try:
            yield from read(" ".join(words))
        except TextError as error:
            assert error.what.startswith("line ")

    for block in tried():
        assert block.line >= 1
