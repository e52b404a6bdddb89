"""Draws in states made by chance: none differs, and one that does is told."""

from __future__ import annotations

import sys
from unittest.mock import patch

import pytest

from dp2emu.errors import Disagreement
from tests.tools.loading import load_tool


def _ended(capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    tool = load_tool("random_draws")
    arguments = ["random_draws.py", "--states", "2", "--draws", "6", "--first", "7"]
    with patch.object(sys, "argv", arguments):
        code = tool.main()
    return code, capsys.readouterr().out.splitlines()


def test_no_draw_differs(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ended(capsys) == (0, ["12 draws, 0 differ"])


def test_draws_that_differ_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Disagreement("target 0", "program", 0)
    with patch("dp2emu.gpu.compile.kernel_draw.compared", side_effect=wrong):
        code, said = _ended(capsys)
    assert code == 1 and said[-1] == "12 draws, 12 differ"
    told = [line.partition(": ") for line in said if "target 0" in line]
    assert [seed for seed, _, _ in told] == ["7"] * 6 + ["8"] * 6
