"""``dp2emu debug``: stepping by standard input, and the forms of a trace."""

from __future__ import annotations

import json

from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"
PIXEL = ("debug", STREAM, "E2", "pixel", "100", "100")


def test_commands_come_from_standard_input() -> None:
    ran = dp2emu(*PIXEL, stdin=b"n 2\nb\nwatch f5\nc\nbogus\nq\nn\n")
    lines = ran.out.decode().splitlines()
    assert ran.code == 0
    assert lines[0].endswith("pixel 100, 100 of primitive 0: 12 steps")
    assert lines[1] == "   2 f2 = input color0.y"
    assert lines[3] == "   1 f0 = input color0.x"
    assert lines[6:8] == ["stopped: f5 was written", "   7 f5 = saturate f4"]
    assert lines[-1] == "no command bogus; help lists them"


def test_breaks_and_watches_are_options_too() -> None:
    lines = dp2emu(*PIXEL, "--break", "f1 > 0", stdin=b"").out.decode().splitlines()
    assert lines[1:3] == ["stopped: f1 > 0", "   5 f1 = saturate f0"]
    ran = dp2emu(*PIXEL, "--break", "f1 is large")
    assert ran.code == 2 and "expected a condition" in ran.err


def test_the_forms_tell_the_same_and_engines_do() -> None:
    ran = dp2emu(*PIXEL, "--json")
    found = json.loads(ran.out)
    (trace,) = found["traces"]
    assert found["schema"] == 1
    text = dp2emu(*PIXEL, "--all", "--engine", "reference").out.decode()
    for step in trace["steps"]:
        assert f"{step['number'] + 1:4} {step['instruction']}" in text
    assert trace["final"]["stored"][0]["after"] in text
    assert ran.out == dp2emu(*PIXEL, "--json", "--engine", "reference").out
    assert b"no instruction writes a NaN" in dp2emu(*PIXEL, "--nan").out


def test_an_event_without_a_shader_is_an_error() -> None:
    ran = dp2emu("debug", STREAM, "E1", "pixel", "1", "1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "E1 is a clear" in ran.err
