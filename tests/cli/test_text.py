"""``dp2emu dump``, ``assemble`` and ``convert``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import dp2emu
from tests.replay.authoring import EVENT, FRAME, SETTING, answered, called, clear, create, sealed
from tests.tools.loading import ROOT

CAPTURE = sealed(*SETTING, called(create(1, EVENT), clear(5)), answered(), FRAME)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.dp2"
    path.write_bytes(CAPTURE)
    return path


@pytest.mark.parametrize("options", [[], ["--hex"]])
def test_dump_assembles_back_to_the_same_bytes(
    path: Path, tmp_path: Path, options: list[str]
) -> None:
    text = dp2emu("dump", path, *options)
    assert (text.code, text.err) == (0, "")
    (tmp_path / "a.txt").write_bytes(text.out)
    assert dp2emu("assemble", tmp_path / "a.txt", "-o", tmp_path / "b.dp2") == (0, b"", "")
    assert (tmp_path / "b.dp2").read_bytes() == CAPTURE


def test_assemble_goes_from_stdin_to_stdout(path: Path) -> None:
    text = dp2emu("dump", path).out
    assert dp2emu("assemble", "-", "-o", "-", stdin=text) == (0, CAPTURE, "")


def test_byte_order_mark_and_foreign_line_ends_are_no_errors(path: Path) -> None:
    text = b"\xef\xbb\xbf" + dp2emu("dump", path).out.replace(b"\n", b"\r\n")
    assert dp2emu("assemble", "-", "-o", "-", stdin=text).out == CAPTURE


@pytest.mark.parametrize(
    "text",
    [b"", b"hello", b"dp2emu-text version=1\nnonsense here", b"dp2emu-text \xff\xfe", b"\0"],
)
def test_text_that_is_none_is_one_line(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(text)
    ran = dp2emu("assemble", tmp_path / "a.txt", "-o", tmp_path / "b.dp2")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith(f"dp2emu: {tmp_path / 'a.txt'}: ") and ran.err.count("\n") == 1
    assert not (tmp_path / "b.dp2").exists()


def test_json_lines_name_every_token(path: Path) -> None:
    lines = [json.loads(line) for line in dp2emu("dump", path, "--jsonl").out.splitlines()]
    assert [line["token"] for line in lines if line["record"] == "token"] == [
        "CREATEQUERY", "CLEAR",
    ]  # fmt: skip


@pytest.mark.parametrize("form", [[], ["--jsonl"]])
def test_construct_shows_the_fields_of_a_call(path: Path, form: list[str]) -> None:
    ran = dp2emu("dump", path, "--parser", "construct", *form)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.decode().splitlines()
    if form:
        tokens = [json.loads(line) for line in lines]
        assert [row["token"] for row in tokens] == ["CREATEQUERY", "CLEAR"]
        assert tokens[0]["fields"]["items"] == [{"dwQueryID": 1, "QueryType": EVENT}]
    else:
        assert lines[0] == "token of call 0, offset 0x0000, CREATEQUERY"
        assert lines[3] == f"    0: dwQueryID=1 QueryType={int(EVENT)}"


def test_hex_belongs_to_the_text_of_the_walk(path: Path) -> None:
    ran = dp2emu("dump", path, "--hex", "--parser", "construct")
    assert ran.code == 2 and "--hex belongs to text of the walk" in ran.err


def test_hex_and_json_lines_exclude_each_other(path: Path) -> None:
    assert dp2emu("dump", path, "--hex", "--jsonl").code == 2


@pytest.mark.parametrize("options", [[], ["--jsonl"], ["--parser", "construct"]], ids=" ".join)
def test_a_dump_to_a_file_is_that_of_standard_output(
    path: Path, tmp_path: Path, options: list[str]
) -> None:
    made = tmp_path / "made.txt"
    ran = dp2emu("dump", path, *options, "-o", made)
    assert (ran.code, ran.out) == (0, b"")
    assert made.read_bytes() == dp2emu("dump", path, *options).out


def test_calls_of_a_trace_are_dumped_to_a_file(tmp_path: Path) -> None:
    trace, made = ROOT / "streams" / "real" / "d3d9_tri.trace", tmp_path / "made.txt"
    assert dp2emu("dump", trace, "-o", made).code == 0
    assert made.read_bytes() == dp2emu("dump", trace).out


def test_dump_of_a_damaged_capture_shows_what_is_there(path: Path) -> None:
    whole = sealed(*SETTING, called(create(1, EVENT)), called(clear(5)))
    path.write_bytes(whole[: whole.index(clear(5))])
    ran = dp2emu("dump", path)
    assert ran.code == 2 and b"CREATEQUERY" in ran.out and "lost" in ran.err


@pytest.mark.parametrize("name", ["b.mcap", "b.log", "b.txt"])
def test_form_follows_the_name_and_converts_back(path: Path, tmp_path: Path, name: str) -> None:
    assert dp2emu("convert", path, tmp_path / name).code == 0
    back = ["--compression", "none"]
    assert dp2emu("convert", tmp_path / name, tmp_path / "c.dp2", *back).code == 0
    assert (tmp_path / "c.dp2").read_bytes() == CAPTURE


def test_form_may_be_said(path: Path) -> None:
    ran = dp2emu("convert", path, "-", "--to", "bare")
    assert ran.out == create(1, EVENT) + clear(5)


def test_bare_buffer_becomes_a_capture(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(clear(5))
    out = tmp_path / "b.dp2"
    assert dp2emu("convert", tmp_path / "a.bin", out, "--bare", "--size", "8x4").code == 0
    assert dp2emu("replay", out).code == 0


def test_name_without_a_form_is_a_usage_error(path: Path, tmp_path: Path) -> None:
    ran = dp2emu("convert", path, tmp_path / "b.xyz")
    assert ran.code == 2 and "--to" in ran.err


def test_form_that_cannot_hold_it_is_an_error_and_writes_nothing(
    path: Path, tmp_path: Path
) -> None:
    path.write_bytes(sealed(*SETTING, called(), called()))
    ran = dp2emu("convert", path, tmp_path / "b.bin")
    assert ran.code == 2 and not (tmp_path / "b.bin").exists()


def test_damage_is_told_after_the_rest_is_converted(path: Path, tmp_path: Path) -> None:
    path.write_bytes(CAPTURE[:-30])
    ran = dp2emu("convert", path, tmp_path / "b.txt")
    assert ran.code == 2 and (tmp_path / "b.txt").exists()


def test_text_replays_like_what_it_was_made_from(path: Path, tmp_path: Path) -> None:
    dp2emu("convert", path, tmp_path / "b.txt")
    json_of = [dp2emu("replay", file, "--json", "-").out for file in (path, tmp_path / "b.txt")]
    assert json_of[0] == json_of[1]
