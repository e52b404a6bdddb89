"""Arguments of the token, or of the call of the DDI, at the place of a state."""

from __future__ import annotations

import json
from pathlib import Path

from dp2emu.explain.address import parse_address
from dp2emu.explain.arguments import arguments_of
from dp2emu.explain.state import state_at
from tests.cli.running import dp2emu
from tests.explain.opening import FIRST_LIGHT, REAL, opened


def arguments_at(path: Path, address: str) -> dict[str, str]:
    with opened(path) as capture:
        return arguments_of(capture, state_at(capture, parse_address(address)))


def test_a_token_that_executes_next_has_its_items() -> None:
    assert arguments_at(FIRST_LIGHT, "E3") == {
        "name": "DRAWPRIMITIVE", "1": "primType=D3DPT_TRIANGLELIST VStart=6 PrimitiveCount=1",
    }  # fmt: skip
    assert arguments_at(FIRST_LIGHT, "1:6") == arguments_at(FIRST_LIGHT, "E3")
    assert arguments_at(FIRST_LIGHT, "1") == {}


def test_a_call_of_the_ddi_has_its_parameters() -> None:
    (path,) = (path for path in REAL if path.stem == "sokol_texcube")
    assert arguments_at(path, "E3") == {
        "name": "DrawIndexed", "indices": "36", "start": "0", "base": "0",
    }  # fmt: skip


def test_long_bytes_are_one_argument() -> None:
    (path,) = (path for path in REAL if path.stem == "sokol_texcube")
    (write, *_) = dp2emu(
        "events", path, "--filter", "name=ResourceUpdateSubresourceUP", "--jsonl"
    ).out.splitlines()
    found = arguments_at(path, json.loads(write)["event"])
    assert found["data"] == "{blob=0}"
    assert len(found["blob0"].replace('"', "").split()) * 4 == json.loads(write)["pixels"]


def test_places_of_two_captures_differ_by_their_arguments() -> None:
    ran = dp2emu(
        "state", FIRST_LIGHT, "--at", "E3", "--against-file", FIRST_LIGHT, "--against", "E4",
        "--json",
    )  # fmt: skip
    (change,) = json.loads(ran.out)["changes"]
    assert change["path"] == ["arguments", "1"]
    assert change["after"].endswith("VStart=9 PrimitiveCount=1")
