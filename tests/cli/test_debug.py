"""``dp2emu debug``: stepping by standard input, and the forms of a trace."""

from __future__ import annotations

import json
import re

import pytest

from dp2emu.explain import shader_trace
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


def test_a_capture_from_standard_input_needs_a_form_without_commands() -> None:
    ran = dp2emu("debug", "-", *PIXEL[2:], stdin=STREAM.read_bytes())
    assert (ran.code, ran.out) == (2, b"")
    assert "commands come from standard input" in ran.err


def test_commands_that_are_no_text_are_one_error() -> None:
    ran = dp2emu(*PIXEL, stdin=b"\xff\xfe\n")
    assert (ran.code, ran.err) == (2, "dp2emu: -: the commands are not UTF-8 text\n")


def test_a_register_that_the_shader_lacks_is_an_error_that_names_some() -> None:
    for option in (("--break", "zz > 1"), ("--watch", "zz")):
        ran = dp2emu(*PIXEL, *option, stdin=b"")
        assert (ran.code, ran.out) == (2, b"")
        assert f"{STREAM}: the shader has no register zz; it has f0" in ran.err
    ran = dp2emu(*PIXEL, stdin=b"watch zz\nbreak zz > 1\n")
    assert ran.code == 0 and ran.out.count(b"the shader has no register zz") == 2


def test_an_event_without_a_shader_is_an_error() -> None:
    ran = dp2emu("debug", STREAM, "E1", "pixel", "1", "1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "E1 is a clear" in ran.err


def test_a_draw_that_a_limit_ends_is_told_by_the_limit_and_no_disagreement() -> None:
    cleared = 2 * 320 * 240  # colour and depth: nothing is left for the draw
    limit = ("--limit", f"capture_pixels={cleared}")
    ran = dp2emu("debug", STREAM, "E2", "pixel", 186, 121, "--json", *limit)
    assert (ran.code, ran.out) == (3, b"")
    assert ran.err.startswith(f"dp2emu: {STREAM}: call 1: limit capture_pixels: ")
    assert ran.err.count("\n") == 1


def test_a_trace_that_is_too_long_names_file_call_and_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shader_trace, "MOST_STEPS", 3)
    ran = dp2emu(*PIXEL, "--all")
    assert (ran.code, ran.out) == (3, b"")
    wanted = rf"dp2emu: {re.escape(str(STREAM))}: call 1, \w+: traces of more than 3 steps\n"
    assert re.fullmatch(wanted, ran.err)


def test_what_the_fixed_function_loads_has_the_name_of_its_state() -> None:
    trace = ROOT / "streams" / "real" / "d3d7_tri.trace"
    ran = dp2emu("debug", trace, "E3", "vertex", 0, "--json")
    steps = json.loads(ran.out)["traces"][0]["steps"]
    loads = [step for step in steps if "= load f[" in step["instruction"]]
    names = [step["reads"][0]["name"] for step in loads]
    assert names == [f"clip_matrix[{row}][{column}]" for row in range(4) for column in range(4)]
