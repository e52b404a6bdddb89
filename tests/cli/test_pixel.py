"""``dp2emu pixel``: the history of a pixel as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dp2emu.capture.records import Blitted, SurfaceCreated
from dp2emu.d3d.ddraw import BltEffects, BltFlags
from dp2emu.d3d.enums import Format
from dp2emu.dp2.blt import Blt
from dp2emu.explain import Pixel, history_of, pixel_history
from dp2emu.explain.pixel_text import lines_of
from dp2emu.gpu.operation_costs import DRAW
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.cli.running import dp2emu
from tests.replay.authoring import capture_of
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"
KEYS = {
    "event", "call", "token", "api_call", "kind", "primitive", "sample", "verdict", "output",
    "before", "after", "depth", "stencil",
}  # fmt: skip


def document(*arguments: object) -> dict[str, Any]:
    ran = dp2emu("pixel", STREAM, *arguments, "--json")
    assert (ran.code, ran.err) == (0, "")
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_each_fragment_of_a_pixel_has_a_verdict() -> None:
    ran = dp2emu("pixel", STREAM, 186, 121)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.decode().splitlines()
    assert lines[0] == "surface 2, D3DFMT_X8R8G8B8, 320 x 240: pixel 186, 121"
    assert "    primitive 0: coverage (the sample is not inside)" in lines
    assert lines[-1] == "value: 0.666667 0.992157 0.14902 1"


def test_the_last_written_value_is_the_pixel() -> None:
    found = document(186, 121)
    assert (found["target"], found["x"], found["y"]) == (2, 186, 121)
    assert (found["width"], found["height"]) == (320, 240)
    assert all(set(entry) >= KEYS for entry in found["history"])
    written = [entry for entry in found["history"] if entry["verdict"] == "written"]
    assert written[-1]["after"] == found["value"] == [0.6666667, 0.99215686, 0.14901961, 1.0]
    last = written[-2]
    assert (last["event"], last["call"], last["token"], last["kind"]) == ("E4", 1, 7, "draw")
    assert last["depth"]["passed"] and last["overwritten"] is None


def test_a_history_ends_at_an_event() -> None:
    found = document(186, 121, "--at", "1:6")
    assert found["history"][-1]["event"] == "E3"
    assert found["history"][-1]["after"] == found["value"] != document(186, 121)["value"]


def test_a_depth_surface_has_a_history() -> None:
    found = document(186, 121, "--target", 3)
    written = [entry for entry in found["history"] if entry["verdict"] == "written"]
    assert written[-1]["after"] == found["value"] == [0.1342385, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((320, 0), "pixel 320, 0 is outside of surface 2: 320 x 240 pixels"),
        ((1, 1, "--target", 99), "no surface 99 at this point"),
        ((1, 1, "--target", 4), "surface 4 is a buffer, which has no pixels"),
        ((1, 1, "--sample", 1), "no sample 1: surface 2 has only sample 0"),
        ((1, 1, "--subresource", 7), "no subresource 7: surface 2 has only subresource 0"),
        ((1, 1, "--at", "E99"), "no event at E99: there are events E0 to E15"),
    ],
)
def test_what_is_not_there_is_named(arguments: tuple[object, ...], message: str) -> None:
    ran = dp2emu("pixel", STREAM, *arguments)
    assert (ran.code, ran.out, ran.err) == (2, b"", f"dp2emu: {STREAM}: {message}\n")


def test_a_history_of_more_draws_than_its_limit_ends_with_the_limit() -> None:
    limited = dp2emu("pixel", STREAM, 186, 121, "--limit", "history_draws=1")
    assert (limited.code, limited.out) == (3, b"")
    told = limited.err.removeprefix(f"dp2emu: {STREAM}: call ")
    assert told.endswith(
        ": limit history_draws: 2 draws, at most 1; raise it with --limit history_draws=N\n"
    )
    draws = json.loads(dp2emu("info", STREAM, "--tokens", "--json").out)["tokens"]["DRAWPRIMITIVE"]
    enough = dp2emu("pixel", STREAM, 186, 121, "--limit", f"history_draws={draws}")
    assert enough.out == dp2emu("pixel", STREAM, 186, 121).out


def test_a_draw_that_takes_long_counts_as_several(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = json.loads(dp2emu("info", STREAM, "--tokens", "--json").out)["tokens"]["DRAWPRIMITIVE"]
    limited = ("pixel", STREAM, 186, 121, "--limit", f"history_draws={draws}")
    assert dp2emu(*limited).code == 0
    monkeypatch.setattr(pixel_history, "HEAVY", DRAW)
    assert f" draws, at most {draws}; raise it with" in dp2emu(*limited).err


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_engines_print_the_same(form: tuple[str, ...]) -> None:
    arguments = ["pixel", STREAM, 150, 100, *form]
    outputs = {dp2emu(*arguments, "--engine", name).out for name in ("reference", "jit")}
    assert len(outputs) == 1


@pytest.mark.parametrize("form", ["binary", "text"])
def test_a_capture_from_a_pipe_or_of_text_has_a_history(form: str) -> None:
    given = STREAM.read_bytes()
    if form == "text":
        given = dp2emu("dump", STREAM).out
    ran = dp2emu("pixel", "-", 186, 121, "--at", "E4", stdin=given)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == dp2emu("pixel", STREAM, 186, 121, "--at", "E4").out


def test_a_copy_names_what_it_read_and_where_it_wrote() -> None:
    stream = ROOT / "streams" / "moves.dp2"
    rows = dp2emu("events", stream, "--filter", "kind=copy", "--jsonl").out.splitlines()
    copy = json.loads(rows[0])
    target = copy["targets"][0]
    arguments = ("pixel", stream, 0, 0, "--target", target, "--at", copy["event"])
    found = json.loads(dp2emu(*arguments, "--json").out)["history"]
    (row,) = [row for row in found if row["kind"] == "copy"]
    assert (row["source"], row["source_rectangle"]) == (4, [0, 0, 8, 8])
    assert row["target_rectangle"] == [0, 0, 8, 8]
    text = "BLT from surface 4, 0,0-8,8 to 0,0-8,8\n"
    assert text in dp2emu(*arguments).out.decode()


@pytest.mark.parametrize(
    ("name", "event", "pixel"),
    [("moves.dp2", "E11", (3, 2)), ("real/d3d7_tri.trace", "E4", (102, 140))],
)
def test_the_command_of_a_copied_pixel_prints_its_history(
    name: str, event: str, pixel: tuple[int, int]
) -> None:
    stream = ROOT / "streams" / name
    rows = map(json.loads, dp2emu("events", stream, "--jsonl").out.splitlines())
    target = next(row["targets"][0] for row in rows if row["event"] == event)
    asked = ("pixel", stream, *pixel, "--target", target, "--at", event)
    lines = dp2emu(*asked).out.decode().splitlines()
    command = lines[-2].partition(": dp2emu ")[2].split()
    source = dp2emu(*command)
    assert (source.code, source.out.decode().splitlines()[-1]) == (0, lines[-1])
    origin = json.loads(dp2emu(*asked, "--json").out)["history"][-1]["origin"]
    assert [str(origin["x"]), str(origin["y"])] == command[2:4]


def test_a_pixel_of_a_stretched_copy_comes_from_its_part_of_the_source() -> None:
    target = SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 8, 8, Format.X8R8G8B8))
    capture = capture_of(target, Blitted(Blt(1, 4, 4, 8, 8, 1, 0, 1, 2, 2)))
    found = history_of(capture, Pixel(6, 5, target=1)).entries[-1]
    assert found.origin == (1, 0, 1, 1)
    assert history_of(capture_of(target, Blitted(Blt(1, 4, 4, 8, 8, 1, 0, 1, 2, 2))),
                      Pixel(3, 3, target=1)).entries == []  # fmt: skip


def test_a_fill_and_a_mirrored_blit_tell_their_rectangles() -> None:
    target = SurfaceCreated(SurfaceDesc(1, SurfaceKind.SURFACE, 8, 8, Format.X8R8G8B8))
    effects = {"flags": int(BltFlags.DDFX), "fx": int(BltEffects.MIRRORLEFTRIGHT)}
    fill = Blt(1, 0, 0, 4, 4, flags=int(BltFlags.COLORFILL), fill=0xFF)
    mirrored = Blt(1, 2, 1, 6, 5, 1, 0, 0, 4, 4, **effects)
    capture = capture_of(target, Blitted(fill), Blitted(mirrored))
    history = history_of(capture, Pixel(3, 3, target=1))
    texts = [*lines_of(history)]
    assert texts[0] == "surface 1, D3DFMT_X8R8G8B8, 8 x 8: pixel 3, 3"
    assert texts[1].endswith("  blit  Blitted to 0,0-4,4")
    assert texts[3].endswith("  blit  Blitted from surface 1, 0,0-4,4 to 2,1-6,5")
    assert [entry.origin for entry in history.entries] == [None, None]
    assert texts[4].startswith("    written (mirrored left to right); 0 0 1 1 ")
