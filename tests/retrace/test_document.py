"""docs/import.rst says what the tables say."""

from __future__ import annotations

from tests.tools.loading import load_tool

tool = load_tool("method_table")


def test_lists_of_methods_are_up_to_date() -> None:
    text = tool.DOCUMENT.read_text("utf-8")
    assert tool.with_lists(text) == text, "python tools/method_table.py brings them up to date"
