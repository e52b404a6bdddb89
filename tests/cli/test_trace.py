"""``info`` and ``dump`` of traces of API calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.apitrace.encoder import CONTAINERS, Encoder, header
from tests.capture.apitrace.samples import REAL, call
from tests.cli.running import dp2emu

TRACE = header() + Encoder().both(call(0, "Direct3DCreate9", 32, result=1))


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_is_told_from_other_captures(tmp_path: Path, container: str) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(CONTAINERS[container](TRACE))
    assert dp2emu("dump", path) == (0, b"0 Direct3DCreate9(a0 = 32) = 1\n", "")
    text = dp2emu("info", path).out.decode()
    assert text.startswith(f"{path}: apitrace trace of Direct3D 9, version 6, {container}\n")


def test_trace_may_come_from_standard_input() -> None:
    ran = dp2emu("info", "-", "--json", stdin=CONTAINERS["snappy"](TRACE))
    facts = json.loads(ran.out)
    assert (facts["form"], facts["calls"], facts["functions"]) == (
        "apitrace",
        1,
        {"Direct3DCreate9": 1},
    )


@pytest.mark.parametrize("verb", ["info", "dump"])
def test_damage_is_told_and_is_code_2(tmp_path: Path, verb: str) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(REAL[0].read_bytes()[:-100])
    ran = dp2emu(verb, path)
    assert ran.code == 2
    assert "file ends inside a chunk" in ran.err and ran.err.count("\n") == 1
    assert ran.out


@pytest.mark.parametrize(
    "arguments",
    [["info", "--tokens"], ["dump", "--hex"], ["dump", "--jsonl"], ["dump", "--parser=construct"]],
)
def test_trace_has_no_tokens(arguments: list[str]) -> None:
    verb, option = arguments
    ran = dp2emu(verb, REAL[0], option)
    assert (ran.code, ran.out) == (2, b"")
    assert "trace of API calls has none" in ran.err


def test_dump_shows_the_calls_of_a_real_program() -> None:
    (trace,) = (path for path in REAL if path.stem == "d3d9_tri")
    lines = dp2emu("dump", trace).out.decode().splitlines()
    assert lines[2] == "0 Direct3DCreate9(SDKVersion = 32) = 0x36e1b0"
    assert lines[-1] == "16 IDirect3D9::Release(this = 0x36e1b0) = 1"


def test_a_trace_is_not_converted_but_imported(tmp_path: Path) -> None:
    ran = dp2emu("convert", REAL[0], tmp_path / "out.dp2")
    assert ran.code == 2
    assert (
        "is no capture but a trace of API calls; verbs that read it: replay, batch, import,"
        in ran.err
    )
    assert not (tmp_path / "out.dp2").exists()


def test_a_trace_is_replayed_as_what_it_would_be_imported_as(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(CONTAINERS["snappy"](header() + Encoder().both(call(0, "Levitate", 1))))
    ran = dp2emu("replay", path, "--json", "-")
    assert ran.code == 3
    assert "call 0: Levitate: not a function that is known" in ran.err
    assert json.loads(ran.out)["calls"] == []


def test_the_state_of_a_trace_is_that_of_its_driver_calls(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_bytes(CONTAINERS["snappy"](TRACE))
    ran = dp2emu("state", path, "--at", "5")
    assert ran.code == 2 and "no call 5: the capture has 0 calls" in ran.err
