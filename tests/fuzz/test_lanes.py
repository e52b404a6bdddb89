"""The slow lane: a minute of every target."""

from __future__ import annotations

from pathlib import Path

import pytest

from dp2emu.fuzz import targets
from dp2emu.fuzz.campaign import Plan, campaign


@pytest.mark.slow
@pytest.mark.parametrize("name", targets())
def test_a_minute_finds_nothing(name: str, tmp_path: Path) -> None:
    ended = campaign(name, Plan(tmp_path, seconds=60))
    assert ended.findings == ()
    assert ended.execs > 0
