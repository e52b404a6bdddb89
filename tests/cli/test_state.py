"""``dp2emu state``."""

from __future__ import annotations

import json
from pathlib import Path

from dp2emu.capture import CaptureWriter
from dp2emu.capture.recorder import Recorder
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState
from dp2emu.ddi10.adapter import Adapter
from dp2emu.ddi10.states.bindings import Scissor
from tests.cli.running import dp2emu
from tests.replay.authoring import EVENT, SETTING, called, clear, create, issue, sealed, token


def stream(tmp_path: Path) -> Path:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(create(1, EVENT)), called(issue(7, 1))))
    return path


def test_state_is_text_or_json(tmp_path: Path) -> None:
    path = stream(tmp_path)
    ran = dp2emu("state", path, "--at", "0")
    assert (ran.code, ran.err) == (0, "")
    assert "  D3DRS_ZENABLE: 0 (D3DZB_FALSE)\n" in ran.out.decode()
    facts = json.loads(dp2emu("state", path, "--at", "0:0", "--json").out)
    assert (facts["schema"], facts["next"], facts["queries"]) == (1, "CREATEQUERY", {})


def test_a_fault_on_the_way_is_code_3(tmp_path: Path) -> None:
    ran = dp2emu("state", stream(tmp_path), "--at", "1")
    assert ran.code == 3
    assert "call 1, offset 0x0, ISSUEQUERY: no query 7" in ran.err
    assert ran.out


def test_a_moment_that_cannot_be_meant_is_code_2(tmp_path: Path) -> None:
    path = stream(tmp_path)
    for at, what in (
        ("x", "expected E12, 7:3 (call:token)"),
        ("9", f"{path}: no call 9"),
        ("1:999", f"{path}: no token 999: call 1 executes token 0"),
        ("@99999999999999999999", f"{path}: no event at @99999999999999999999: "),
    ):
        ran = dp2emu("state", path, "--at", at)
        assert (ran.code, ran.out) == (2, b"")
        assert what in ran.err
    assert dp2emu("state", path).code == 2


def fog(value: int) -> bytes:
    return token(Op.RENDERSTATE, (RenderState.FOGCOLOR, value))


def recorded(path: Path) -> Path:
    """A capture of a device that a program uses and destroys, and then of a second one."""
    with path.open("wb") as file, CaptureWriter(file) as capture:
        recorder = Recorder(Adapter(), capture.write)
        for interface in (100, 110):
            functions = recorder.create_device(interface, lambda layer, code: None).functions
            functions["IaSetTopology"](4)
            functions["SetScissorRects"](15, [Scissor(1, 2, 3, 4)])
            functions["DestroyDevice"]()
        recorder.advance(5)
        recorder.create_device(110, lambda layer, code: None)
        recorder.finish()
    return path


def test_state_of_a_direct3d_11_device_has_the_names_of_the_api(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.dp2")
    ran = dp2emu("state", path, "--at", "1")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.decode().splitlines()
    assert lines[:9] == [
        "schema: 1", "call: 1", "token: none", "entry: IaSetTopology", "address: 1", "arguments",
        "  name: IaSetTopology", "  topology: D3D10_PRIMITIVE_TOPOLOGY_TRIANGLELIST", "device: 1",
    ]  # fmt: skip
    assert lines[9] == "interface: D3D10_0"
    assert "IASetPrimitiveTopology: D3D10_PRIMITIVE_TOPOLOGY_TRIANGLELIST" in lines
    assert "RSSetScissorRects: none" in lines
    facts = json.loads(dp2emu("state", path, "--at", "6", "--json").out)
    assert (facts["device"], facts["interface"]) == (2, "D3D11_0")
    rect = {"left": 1, "top": 2, "right": 3, "bottom": 4}
    assert facts["RSSetScissorRects"] == {"0": rect}


def test_a_function_of_the_adapter_shows_the_device_used_last(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.dp2")
    for at in (9, 10):
        facts = json.loads(dp2emu("state", path, "--at", at, "--json").out)
        assert (facts["call"], facts["device"], facts["RSSetViewports"]) == (at, 3, {})


def test_a_device_that_does_not_exist_has_no_state(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.dp2")
    for at, what in (
        ("3", "call 3: device 1 does not exist"),
        ("8", "call 8: device 2 does not exist"),
        ("1:0", "call 1 is IaSetTopology, a function of the Direct3D 10/11 interface"),
        ("11", "no call 11: the capture has 11 calls"),
    ):
        ran = dp2emu("state", path, "--at", at)
        assert (ran.code, ran.out) == (2, b"")
        assert what in ran.err


def test_changes_end_with_the_token_that_set_them(tmp_path: Path) -> None:
    path = stream(tmp_path)
    ran = dp2emu("state", path, "--at", "0:0", "--against", "0")
    assert ran.out.decode() == (
        "queries.1: none -> type=D3DQUERYTYPE_EVENT state=idle, set by 0:0 CREATEQUERY\n"
    )
    (row,) = json.loads(dp2emu("state", path, "--at", "0:0", "--against", "0", "--json").out)[
        "changes"
    ]
    assert (row["set_by"], row["set_by_name"]) == ("0:0", "CREATEQUERY")


def test_changes_of_a_direct3d_11_device_end_with_the_function_that_set_them(
    tmp_path: Path,
) -> None:
    path = recorded(tmp_path / "a.dp2")
    ran = dp2emu("state", path, "--at", "0", "--against", "2")
    assert ", set by 1 IaSetTopology\n" in ran.out.decode()
    assert "bottom=4, set by 2 SetScissorRects\n" in ran.out.decode()
    ran = dp2emu("state", path, "--at", "1", "--against", "5")
    assert "device: 1 -> 2\n" in ran.out.decode()
    assert "set by" not in ran.out.decode()


def test_set_shows_also_what_was_set_to_the_value_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a.dp2"
    path.write_bytes(sealed(*SETTING, called(fog(7)), called(fog(7))))
    assert dp2emu("state", path, "--at", "0", "--against", "1").out == b"no difference\n"
    ran = dp2emu("state", path, "--at", "0", "--against", "1", "--set")
    line = b"render_states.D3DRS_FOGCOLOR: 7 again, set by 1:0 RENDERSTATE\n"
    assert (ran.code, ran.out) == (0, line)
    document = json.loads(
        dp2emu("state", path, "--at", "0", "--against", "1", "--set", "--json").out
    )
    assert (document["changes"], len(document["set"])) == ([], 1)
    for more in ((), ("--against-file", path)):
        ran = dp2emu("state", path, "--at", "0", *more, "--set")
        assert (ran.code, ran.out) == (2, b"")
        assert "--set needs --against" in ran.err


def test_a_state_is_compared_with_that_of_another_capture(tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.dp2", tmp_path / "right.dp2"
    wrong.write_bytes(sealed(*SETTING, called(fog(7), clear(1)), called(clear(2))))
    right.write_bytes(sealed(*SETTING, called(clear(1)), called(fog(9), clear(2))))
    ran = dp2emu("state", wrong, "--at", "E1", "--against-file", right)
    assert (ran.code, ran.err) == (0, "")
    setters = "set by 0:0 RENDERSTATE, there by 1:0 RENDERSTATE"
    assert ran.out.decode() == f"render_states.D3DRS_FOGCOLOR: 7 -> 9, {setters}\n"
    there = "--against-file", right, "--against", "E0"
    ran = dp2emu("state", wrong, "--at", "E1", *there)
    assert ran.out == b"render_states.D3DRS_FOGCOLOR: 7 -> 0, set by 0:0 RENDERSTATE\n"
    (row,) = json.loads(dp2emu("state", wrong, "--at", "E1", *there, "--json").out)["changes"]
    assert (row["before"], row["after"]) == (7, 0)
    assert (row["set_by"], row["against_set_by"]) == ("0:0", None)
    assert dp2emu("state", wrong, "--at", "E0", "--against-file", wrong).out == b"no difference\n"


def test_errors_of_the_other_capture_name_it(tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.dp2", tmp_path / "right.dp2"
    wrong.write_bytes(sealed(*SETTING, called(clear(1), clear(2))))
    right.write_bytes(sealed(*SETTING, called(clear(1))))
    ran = dp2emu("state", wrong, "--at", "E1", "--against-file", right)
    assert (ran.code, ran.out) == (2, b"")
    assert f"{right}: no event at E1: the only event is E0" in ran.err
    right.write_bytes(sealed(*SETTING, called(issue(9, 1), clear(1)), called(clear(2))))
    ran = dp2emu("state", wrong, "--at", "E0", "--against-file", right, "--against", "1")
    assert ran.code == 3
    assert f"{right}: call 0, offset 0x0, ISSUEQUERY: no query 9" in ran.err
    whole = sealed(*SETTING, called(clear(1)), called(clear(2)))
    right.write_bytes(whole[:-20])
    ran = dp2emu("state", wrong, "--at", "E0", "--against-file", right)
    assert (ran.code, ran.out) == (2, b"no difference\n")
    assert str(right) in ran.err


def test_two_equal_states_have_no_difference(tmp_path: Path) -> None:
    ran = dp2emu("state", stream(tmp_path), "--at", "0", "--against", "0")
    assert (ran.code, ran.out) == (0, b"no difference\n")


def test_help_has_the_forms_of_addresses() -> None:
    for verb in ("pixel", "debug", "state", "mesh", "overlay"):
        text = " ".join(dp2emu(verb, "--help").out.decode().split())
        assert "EVENT is an address such as E12, 7:3, @456 or 'frame 2'." in text
