"""``dp2emu import``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.records import IMPORTED, Annotation, Called, FrameMarker, Pictured
from tests.capture.apitrace.encoder import Encoder, header, snappy
from tests.capture.apitrace.samples import REAL, call
from tests.cli.running import dp2emu

GEOMETRY = next(path for path in REAL if path.stem == "sdl_testgeometry")


def write(folder: Path, *names: str) -> Path:
    encoder = Encoder()
    calls = b"".join(encoder.both(call(n, name)) for n, name in enumerate(names))
    path = folder / "a.trace"
    path.write_bytes(snappy(header() + calls))
    return path


def records(path: Path) -> list[object]:
    with open_capture(path) as capture:
        return list(capture.records())


def test_an_import_replays_with_a_picture_for_each_present(tmp_path: Path) -> None:
    out = tmp_path / "game.dp2"
    ran = dp2emu("import", GEOMETRY, "-o", out)
    assert (ran.code, ran.out, ran.err) == (0, b"", f"{GEOMETRY}: every call read is expressed\n")
    assert records(out)[0] == Annotation(IMPORTED, "sdl_testgeometry.trace")
    for file in (out, GEOMETRY):
        ran = dp2emu("replay", file, "--png", tmp_path / "png", "--json", "-")
        assert ran.code == 0
        pictures = json.loads(ran.out)["pictures"]
        assert [row["call"] for row in pictures] == list(range(56, 129, 12))
        assert {row["how"] for row in pictures} == {"present"}
    assert len(list((tmp_path / "png").iterdir())) == 7


def test_frames_are_chosen_and_look_as_in_the_whole(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole.dp2", tmp_path / "part.dp2"
    dp2emu("import", GEOMETRY, "-o", whole)
    assert dp2emu("import", GEOMETRY, "-o", part, "--frames", "2-3").code == 0
    seen = [r.call for r in records(part) if isinstance(r, Pictured)]
    assert seen == [80, 92]
    assert sum(isinstance(r, FrameMarker) for r in records(part)) == 2
    sums = {}
    for path in (whole, part):
        ran = dp2emu("replay", path, "--png", tmp_path / "png", "--json", "-")
        sums[path] = {row["call"]: row["crc32"] for row in json.loads(ran.out)["pictures"]}
    assert sums[part].items() <= sums[whole].items()


def test_same_trace_gives_same_bytes_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    moved = tmp_path / "other" / GEOMETRY.name
    moved.write_bytes(GEOMETRY.read_bytes())
    for path, out in ((GEOMETRY, "a.dp2"), (moved, "b.dp2")):
        dp2emu("import", path, "-o", tmp_path / out)
    assert (tmp_path / "a.dp2").read_bytes() == (tmp_path / "b.dp2").read_bytes()


def test_what_is_lost_is_told_by_call_and_is_code_3(tmp_path: Path) -> None:
    path = write(tmp_path, "Levitate", "malloc", "Levitate", "Fly")
    ran = dp2emu("import", path, "-o", tmp_path / "a.dp2")
    assert ran.code == 3
    assert ran.err.splitlines() == [
        f"dp2emu: {path}: calls 0, 2: Levitate: not a function that is known",
        f"dp2emu: {path}: call 3: Fly: not a function that is known",
        f"{path}: 3 calls not expressed",
    ]
    assert len(records(tmp_path / "a.dp2")) == 1


def test_a_trace_that_is_cut_is_imported_up_to_there_and_is_code_2(tmp_path: Path) -> None:
    path = tmp_path / "cut.trace"
    path.write_bytes(GEOMETRY.read_bytes()[:-1500])
    ran = dp2emu("import", path, "-o", tmp_path / "a.dp2")
    assert ran.code == 2 and "are lost" in ran.err
    assert any(isinstance(record, Called) for record in records(tmp_path / "a.dp2"))
    assert dp2emu("replay", tmp_path / "a.dp2").code == 0


def test_what_is_no_trace_is_code_2(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"nothing")
    ran = dp2emu("import", tmp_path / "a", "-o", tmp_path / "b")
    assert ran.code == 2 and "is no trace of API calls but text" in ran.err
    assert not (tmp_path / "b").exists()


def test_a_capture_comes_out_of_standard_output_and_a_trace_in(tmp_path: Path) -> None:
    ran = dp2emu("import", "-", "-o", "-", stdin=GEOMETRY.read_bytes())
    assert ran.code == 0 and ran.out.startswith(b"\x89MCAP")


@pytest.mark.parametrize("frames", ["3-1", "x"])
def test_frames_that_are_none_are_code_2(tmp_path: Path, frames: str) -> None:
    ran = dp2emu("import", GEOMETRY, "-o", tmp_path / "a", "--frames", frames)
    assert ran.code == 2 and not (tmp_path / "a").exists()


def test_frames_beyond_the_end_are_code_2(tmp_path: Path) -> None:
    ran = dp2emu("import", GEOMETRY, "-o", tmp_path / "a", "--frames", "7-")
    assert ran.code == 2
    assert ran.err.endswith("dp2emu: frames from 7 on: there are 7, frames 0 to 6\n")
    assert not (tmp_path / "a").exists()
