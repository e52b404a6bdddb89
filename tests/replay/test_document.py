"""The replay document on its way out."""

from __future__ import annotations

import io
import json

from dp2emu.replay.document import Document


def test_empty_document_is_whole() -> None:
    out = io.StringIO()
    with Document(out) as document:
        document.finish({"summary": {}})
    assert json.loads(out.getvalue()) == {
        "schema": 1, "calls": [], "pictures": [], "data": [], "queries": [], "get_data": [],
        "entries": [], "disturbances": [], "summary": {},
    }  # fmt: skip


def test_calls_go_out_at_once_and_the_rest_waits() -> None:
    out = io.StringIO()
    with Document(out) as document:
        document.add("queries", {"query": 1})
        assert out.getvalue() == ""
        document.call({"call": 0})
        assert '{"call": 0}' in out.getvalue() and "query" not in out.getvalue()


def test_every_row_has_a_line() -> None:
    out = io.StringIO()
    with Document(out) as document:
        for number in range(3):
            document.call({"call": number})
        document.add("pictures", {"call": 1})
        document.finish({})
    assert out.getvalue().splitlines()[1:6] == [
        '"calls": [', '{"call": 0},', '{"call": 1},', '{"call": 2}', "],",
    ]  # fmt: skip


def test_spools_move_to_a_file_and_back() -> None:
    out = io.StringIO()
    rows = [{"query": number, "value": "x" * 100} for number in range(20_000)]
    with Document(out) as document:
        for row in rows:
            document.add("queries", row)
        document.finish({})
    assert json.loads(out.getvalue())["queries"] == rows


def test_nobody_to_write_to_is_fine() -> None:
    with Document(None) as document:
        document.call({})
        document.add("queries", {})
        document.add("pictures", {})
        document.finish({})
