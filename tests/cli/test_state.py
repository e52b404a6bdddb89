"""``dp2emu state``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import dp2emu
from tests.replay.authoring import EVENT, SETTING, called, create, issue, sealed


def stream(tmp_path: Path) -> Path:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(create(1, EVENT)), called(issue(7, 1))))
    return path


def test_state_is_text_or_json(tmp_path: Path) -> None:
    path = stream(tmp_path)
    ran = dp2emu("state", path, "--at", "0")
    assert (ran.code, ran.err) == (0, "")
    assert "  D3DRS_ZENABLE: 0\n" in ran.out.decode()
    facts = json.loads(dp2emu("state", path, "--at", "0:0", "--json").out)
    assert (facts["schema"], facts["next"], facts["queries"]) == (1, "CREATEQUERY", {})


def test_a_fault_on_the_way_is_code_3(tmp_path: Path) -> None:
    ran = dp2emu("state", stream(tmp_path), "--at", "1")
    assert ran.code == 3
    assert "call 1, offset 0x0, ISSUEQUERY: no query 7" in ran.err
    assert ran.out


def test_a_moment_that_cannot_be_meant_is_code_2(tmp_path: Path) -> None:
    path = stream(tmp_path)
    for at, what in (("x", "expected CALL or CALL:TOKEN"), ("9", "no call 9")):
        ran = dp2emu("state", path, "--at", at)
        assert (ran.code, ran.out) == (2, b"")
        assert what in ran.err
    assert dp2emu("state", path).code == 2
