"""``dp2emu info``."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import dp2emu
from tests.replay.authoring import EVENT, SETTING, called, create, sealed


def test_facts_are_for_reading_or_json(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(create(1, EVENT))))
    text = dp2emu("info", path)
    assert (text.code, text.err) == (0, "")
    assert text.out.decode().startswith(f"{path}: sealed capture of DirectX 9\n")
    facts = json.loads(dp2emu("info", path, "--json").out)
    assert (facts["schema"], facts["calls"]) == (1, 1)


def test_tokens_are_counted_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(create(1, EVENT))))
    facts = json.loads(dp2emu("info", path, "--json", "--tokens").out)
    assert facts["tokens"] == {"CREATEQUERY": 1}


def test_damage_is_told_and_is_code_2(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(create(1, EVENT)))[:-100])
    ran = dp2emu("info", path, "--json")
    assert ran.code == 2
    assert json.loads(ran.out)["damage"] in ran.err
