"""Coverage of opcodes: the page in the documents is up to date, and complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.table import TABLE
from tests.tools.loading import ROOT, load_tool


@pytest.fixture(scope="module")
def tool() -> Any:
    return load_tool("coverage_table")


def test_page_is_up_to_date(tool: Any) -> None:
    assert (ROOT / "docs" / "coverage.rst").read_text("utf-8") == tool.page()


def test_every_opcode_is_decoded_executed_and_tested(tool: Any) -> None:
    found = tool.coverage()
    assert found.keys() == set(Op) == TABLE.keys() | set(tool.ANSWERS)
    assert len(found) == 83
    for column in ("decoded", "executed", "tested"):
        assert [op.name for op, row in found.items() if not getattr(row, column)] == []
    assert "83 of 83 opcodes are decoded, 83 of 83 executed, 83 of 83 tested." in tool.page()


def test_streams_are_those_that_have_the_opcode(tool: Any) -> None:
    found = tool.coverage()
    assert "glyphs" in found[Op.COMPOSERECTS].streams
    assert "response_continue" in found[Op.RESPONSECONTINUE].streams
    assert "moves" not in found[Op.COMPOSERECTS].streams


def test_page_is_written(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "PAGE", tmp_path / "coverage.rst")
    tool.main()
    assert (tmp_path / "coverage.rst").read_text("utf-8") == tool.page()
