"""``dp2emu replay``."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest

from dp2emu.capture.records import IMPORTED, Annotation, Observed, Record
from dp2emu.d3d.dp2structs import Op
from dp2emu.ddi10.resources.resource import Usage
from dp2emu.dp2.options import Options
from dp2emu.replay import Tally
from dp2emu.shader.engines import ENGINES
from tests.cli.running import dp2emu
from tests.replay.authoring import (
    END,
    EVENT,
    FRAME,
    SETTING,
    answered,
    called,
    clear,
    create,
    issue,
    response_of,
    sealed,
    token,
    with_timing,
)
from tests.replay.test_resources import Program
from tests.tools.loading import ROOT

GOOD = (*SETTING, called(create(5, EVENT), issue(5, END)), FRAME)
SAID = answered(0, 20, response_of((5, b"\1\0\0\0")))
OTHER = answered(0, 20, response_of((5, b"\2\0\0\0")))
FAULTY = (*SETTING, called(issue(9, END)))
SEEN = (Annotation(IMPORTED, "a.trace"), *GOOD, Observed(30, 1, 5, 0, b"\1\0\0\0"))
NOT_SEEN = (*SEEN[:-1], Observed(30, 1, 5, 0, bytes(4)))
CLEARED = called(clear(9))
EXTENSION = (*SETTING, called(token(Op.EXT)))


def write(folder: Path, *records: Record) -> Path:
    path = folder / "a.dp2"
    path.write_bytes(sealed(*records))
    return path


def cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-40])
    return path


def test_summary_goes_to_stderr_and_nothing_to_stdout(tmp_path: Path) -> None:
    path = write(tmp_path, *SETTING, called(create(5, EVENT), issue(5, END)), SAID, FRAME)
    ran = dp2emu("replay", path)
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err == (
        f"{path}: 1 call, 1 of 1 answers as recorded, 1 of 1 queries answered, 0 faults, "
        "0 ticks (instant)\n"
    )


def test_json_does_not_overwrite_the_capture(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD)
    before = path.read_bytes()
    ran = dp2emu("replay", path, "--json", tmp_path / "." / path.name)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert path.read_bytes() == before


def test_json_goes_to_stdout_or_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD)
    out = dp2emu("replay", path, "--json", "-").out
    dp2emu("replay", path, "--json", tmp_path / "a.json")
    assert (tmp_path / "a.json").read_bytes() == out
    assert json.loads(out)["schema"] == 1 and b"\r" not in out


def test_capture_may_come_from_stdin(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD)
    ran = dp2emu("replay", "-", "--json", "-", stdin=path.read_bytes())
    assert ran.out == dp2emu("replay", path, "--json", "-").out
    assert ran.err.startswith("-: 1 call")


def test_pictures_go_to_a_folder_that_is_made(tmp_path: Path) -> None:
    ran = dp2emu("replay", write(tmp_path, *GOOD), "--png", tmp_path / "a" / "b")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["call000000_surface2.png"]
    assert "1 picture," in ran.err


def test_pictures_of_some_frames_of_all_targets_on_a_sheet(tmp_path: Path) -> None:
    path = write(tmp_path, *SETTING, *[called(clear(9)), FRAME] * 4)
    ran = dp2emu(
        "replay", path, "--png", tmp_path / "p", "--sheet", tmp_path / "s.png",
        "--frames", "1-2", "--targets", "all",
    )  # fmt: skip
    assert ran.code == 0 and "2 pictures," in ran.err
    assert sorted(file.name[:10] for file in (tmp_path / "p").iterdir()) == [
        "call000001", "call000002",
    ]  # fmt: skip
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")


def test_raw_frames_alone_go_to_stdout(tmp_path: Path) -> None:
    path = write(tmp_path, *SETTING, *[called(clear(0x010203)), FRAME] * 2)
    ran = dp2emu("replay", path, "--raw", "-", "--json", tmp_path / "a.json")
    assert (ran.code, ran.out) == (0, bytes((1, 2, 3)) * 64)
    assert ran.err.startswith("2 raw frames, rgb24, 8x4\n")
    dp2emu("replay", path, "--raw", tmp_path / "a.rgb", "--frames", "1")
    assert (tmp_path / "a.rgb").read_bytes() == bytes((1, 2, 3)) * 32


@pytest.mark.parametrize(
    "options",
    [
        ["--frames", "1"],
        ["--targets", "all"],
        ["--png", "p", "--frames", "2-1"],
        ["--png", "p", "--targets", "none"],
        ["--raw", "-", "--json", "-"],
        ["--sheet", "a.dp2"],
        ["--raw", "a.dp2"],
    ],
)
def test_picture_options_that_cannot_be_meant_are_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = write(tmp_path, *GOOD).read_bytes()
    ran = dp2emu("replay", "a.dp2", *options)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert (tmp_path / "a.dp2").read_bytes() == before


def test_a_reader_of_raw_frames_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    class Gone(io.BytesIO):
        def write(self, data: object) -> int:
            raise BrokenPipeError

    path = write(tmp_path, *GOOD)
    with patch("dp2emu.cli.replay.byte_output", lambda path: nullcontext(Gone())):
        ran = dp2emu("replay", path, "--raw", "-")
    assert (ran.code, ran.out, ran.err) == (141, b"", "")


def test_timing_is_chosen(tmp_path: Path) -> None:
    ran = dp2emu("replay", write(tmp_path, *GOOD), "--timing", "fixed:call=5,packet=0")
    assert "5 ticks (fixed:call=5,packet=0,delivery=0)" in ran.err


def test_timing_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    assert dp2emu("replay", write(tmp_path, *GOOD), "--timing", "fast").code == 2


@pytest.mark.parametrize(
    ("records", "options", "code"),
    [
        ((*GOOD[:-1], SAID), ["--verify"], 0),
        ((*GOOD[:-1], OTHER), ["--verify"], 1),
        ((*GOOD[:-1], OTHER), [], 0),
        (FAULTY, [], 3),
        ((*FAULTY, answered(0x80070057, 0)), [], 0),
        ((*FAULTY, answered(0x80070057, 0)), ["--verify"], 0),
        ((*FAULTY, answered(0, 0)), [], 3),
        ((*FAULTY, answered(0, 0)), ["--verify"], 3),
        (EXTENSION, [], 3),
        (SEEN, ["--verify"], 0),
        (NOT_SEEN, ["--verify"], 1),
        (NOT_SEEN, [], 0),
    ],
)
def test_exit_codes(
    tmp_path: Path, records: tuple[Record, ...], options: list[str], code: int
) -> None:
    assert dp2emu("replay", write(tmp_path, *records), *options).code == code


def test_differences_are_told_even_when_nobody_asks(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD[:-1], OTHER)
    assert (
        f"dp2emu: {path}: call 0: response 0, query 5: recorded 02 00 00 00, "
        "replayed 01 00 00 00\n"
    ) in dp2emu("replay", path).err


def test_what_the_program_saw_otherwise_is_told_with_its_frame_and_call(tmp_path: Path) -> None:
    path = write(tmp_path, *NOT_SEEN)
    assert (
        f"dp2emu: {path}: frame 1, @30: query 5 (D3DQUERYTYPE_EVENT): recorded False, "
        "replayed True\n"
    ) in dp2emu("replay", path).err
    assert "1 of 1 observations as recorded" in dp2emu("replay", write(tmp_path, *SEEN)).err


def test_damage_is_code_2_over_faults_over_differences(tmp_path: Path) -> None:
    path = cut(write(tmp_path, *FAULTY, answered(0, 0)))
    ran = dp2emu("replay", path, "--verify", "--json", "-")
    assert ran.code == 2
    assert len(json.loads(ran.out)["calls"]) == 1


def test_fault_line_says_file_call_offset_token_and_reason(tmp_path: Path) -> None:
    path = write(tmp_path, *SETTING, called(create(5, EVENT), issue(9, END)))
    assert f"dp2emu: {path}: call 0, offset 0xc, ISSUEQUERY: no query 9\n" in (
        dp2emu("replay", path).err
    )


def test_many_faults_are_counted_rather_than_told(tmp_path: Path) -> None:
    ran = dp2emu("replay", write(tmp_path, *SETTING, *[called(issue(9, END))] * 50))
    assert ran.err.count("no query 9") == 20
    assert "dp2emu: and 30 more faults\n" in ran.err


def test_bare_buffer_needs_only_options(tmp_path: Path) -> None:
    path = tmp_path / "buffer.bin"
    path.write_bytes(create(1, EVENT) + issue(1, END) + clear(0xFF0000FF))
    ran = dp2emu(
        "replay", path, "--bare", "--size", "8x4", "--format", "r5g6b5", "--depth", "D16",
        "--json", "-", "--png", tmp_path,
    )  # fmt: skip
    assert ran.code == 0
    document = json.loads(ran.out)
    assert document["queries"][0]["value"] is True
    assert document["pictures"][0]["format"] == "D3DFMT_R5G6B5"


@pytest.mark.parametrize(
    "options",
    [
        ["--size", "8"],
        ["--fvf", "-1"],
        ["--fvf", "0x100000000"],
        ["--format", "nice"],
        ["--interface", "5"],
        ["--vertices", "nowhere.bin"],
    ],
)
def test_bare_options_that_cannot_be_meant_are_code_2(tmp_path: Path, options: list[str]) -> None:
    path = tmp_path / "buffer.bin"
    path.write_bytes(b"")
    ran = dp2emu("replay", path, "--bare", *options)
    assert ran.code == 2 and ran.err.count("\n") == 1


def test_output_that_cannot_be_written_is_code_2(tmp_path: Path) -> None:
    ran = dp2emu("replay", write(tmp_path, *GOOD), "--json", tmp_path)
    assert ran.code == 2 and ran.err.count("\n") == 1


def test_a_disk_that_is_full_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    """Linux has a device that always is."""
    capture = write(tmp_path, *GOOD)
    picture = tmp_path / "call000000_surface2.png"
    if (full := Path("/dev/full")).exists():
        picture.symlink_to(full)
        for command, file in ((("--json", full), full), (("--png", tmp_path), picture)):
            ran = dp2emu("replay", capture, *command)
            assert ran.code == 2
            assert ran.err == f"dp2emu: {file}: No space left on device\n"


def test_strict_fails_calls_that_are_let_pass_otherwise(tmp_path: Path) -> None:
    path = write(tmp_path, *SETTING, called(create(5, EVENT), issue(5, 0)))
    assert dp2emu("replay", path).code == 0
    ran = dp2emu("replay", path, "--strict", "--json", "-")
    assert ran.code == 3
    assert f"{path}: call 0, offset 0xc, ISSUEQUERY: query 5: issue flags 0x0" in ran.err
    assert json.loads(ran.out)["calls"][0]["ddrval_name"] == "DDERR_INVALIDPARAMS"


def test_strict_responses_start_where_the_commands_did(tmp_path: Path) -> None:
    """With 20 bytes left behind dwCommandOffset the answer fits, with 19 it does not."""
    for offset, size in ((4096 - 20, 20), (4096 - 19, 0)):
        tail = (called(create(5, EVENT), issue(5, END)), called(offset=offset))
        path = write(tmp_path, *with_timing("fixed:call=1,packet=0,delivery=2", (*SETTING, *tail)))
        ran = dp2emu("replay", path, "--strict", "--json", "-")
        assert ran.code == 0
        assert json.loads(ran.out)["calls"][1]["dwErrorOffset"] == size


def test_occlusion_wraps_when_asked(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD)
    with patch("dp2emu.cli.replay.replay", return_value=Tally()) as played:
        dp2emu("replay", path, "--wrap-occlusion")
        dp2emu("replay", path)
    given = [call.kwargs["options"] for call in played.call_args_list]
    assert given == [Options(wrap_occlusion=True), Options()]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_is_chosen_by_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, *GOOD)
    with patch("dp2emu.cli.replay.replay", return_value=Tally()) as played:
        assert dp2emu("replay", path, "--engine", name).code == 0
    assert played.call_args.kwargs["options"] == Options(engine=name)


def test_an_llvm_that_is_damaged_costs_a_line(tmp_path: Path) -> None:
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text("raise OSError('no shared library')")
    arguments = ["-m", "dp2emu", "replay", str(ROOT / "streams" / "first_light.dp2")]
    ran = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))},
    )  # fmt: skip
    first, summary = ran.stderr.splitlines()
    assert ran.returncode == 0 and "2 of 2 answers as recorded" in summary
    assert (
        first
        == "llvmlite cannot be used (no shared library): falling back to the reference engine"
    )


def test_without_llvm_a_line_says_which_engine_serves(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD)
    with (
        patch("dp2emu.cli.options.can_compile", return_value=False),
        patch("dp2emu.shader.engines.can_compile", return_value=False),
    ):
        ran, other = (dp2emu("replay", path, "--engine", name) for name in ("jit", "reference"))
        checked = dp2emu("replay", path, "--engine", "checked")
    assert ran.code == other.code == 0
    notice = "llvmlite is not installed: the reference engine draws\n"
    assert ran.err == notice + other.err
    assert checked.code == 2
    assert "llvmlite" in checked.err


def test_verify_without_a_recorded_answer_is_code_2(tmp_path: Path) -> None:
    path = write(tmp_path, *GOOD)
    assert dp2emu("replay", path).code == 0
    ran = dp2emu("replay", path, "--verify")
    assert ran.code == 2
    assert f"dp2emu: {path}: nothing to verify: no answer is recorded\n" in ran.err


@pytest.mark.parametrize(
    ("records", "there"),
    [
        ((*SETTING, *[called(clear(9)), FRAME] * 4), "there are 4, frames 0 to 3"),
        (
            (*SETTING, *[called(clear(9)), FRAME] * 3, called(clear(9))),
            "there are 4, frames 0 to 3",
        ),
        (SETTING, "there are 0, no frame"),
    ],
)
def test_frames_beyond_the_end_are_code_2(
    tmp_path: Path, records: tuple[Record, ...], there: str
) -> None:
    path = write(tmp_path, *records)
    first = there.split()[2].rstrip(",")
    ran = dp2emu("replay", path, "--png", tmp_path / "p", "--frames", f"{first}-9")
    assert (ran.code, ran.err) == (2, f"dp2emu: frames from {first} on: {there}\n")
    if first != "0":
        assert dp2emu("replay", path, "--png", tmp_path / "p", "--frames", "3-9").code == 0


def test_frames_behind_the_damage_of_a_capture_are_lost_with_its_reason(tmp_path: Path) -> None:
    path = cut(write(tmp_path, *SETTING, *[called(clear(9)), FRAME] * 4))
    ran = dp2emu("replay", path, "--png", tmp_path / "p", "--frames", "8-")
    assert ran.code == 2 and "the file ends" in ran.err


def test_data_of_resources_is_written_and_counted(tmp_path: Path) -> None:
    program = Program()
    buffer = program.device.create_buffer(4, 0, b"data", Usage.STAGING, access=0x20000)
    program.reads(7, buffer)
    path = write(tmp_path, *program.records)
    ran = dp2emu("replay", path, "--data", tmp_path / "a" / "b", "--frames", "0")
    assert ran.code == 0 and "1 file of data" in ran.err and "picture" not in ran.err
    assert (tmp_path / "a" / "b" / "call_00000007.bin").read_bytes() == b"data"
