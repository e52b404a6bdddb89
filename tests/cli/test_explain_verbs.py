"""``dp2emu mesh``, ``overlay`` and the pictures after events of ``replay``: engines and usage."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from runpy import run_path

import pytest

from dp2emu.shader.sm4.container import Chunk, pack
from tests.cli.running import dp2emu
from tests.replay.authoring import END, SETTING, called, issue, sealed
from tests.tools.loading import ROOT

STREAM = ROOT / "streams" / "first_light.dp2"
TRIANGLE = ROOT / "streams" / "real" / "d3d9_tri.trace"


def both(*arguments: object) -> bytes:
    """Output of a command, equal by both engines."""
    reference, jit = (dp2emu(*arguments, "--engine", each) for each in ("reference", "jit"))
    assert reference.code == jit.code == 0
    assert reference.out == jit.out
    return jit.out


def test_mesh_shows_a_draw_in_every_form_and_by_every_engine() -> None:
    text = both("mesh", STREAM, "E3").decode()
    assert text.splitlines()[:2] == [
        "E3 1:6 DRAWPRIMITIVE: 1 primitive, TRIANGLELIST",
        "input: 3 vertices, 1 primitive as TRIANGLELIST",
    ]
    assert "  1 drawn; 3,385 pixels covered\n" in text
    document = json.loads(dp2emu("mesh", STREAM, "1:6", "--json").out)
    assert (document["schema"], document["event"]["event"]) == (1, "E3")
    rows = dp2emu("mesh", STREAM, "E3", "--csv").out
    assert rows.startswith(b"instance,vertex,index,POSITIONT0.x")
    assert both("mesh", TRIANGLE, "E1", "--obj", "--stage", "clip").count(b"\nf ") == 1


def test_mesh_names_the_topology_of_a_strip_whose_triangles_it_lists() -> None:
    early = STREAM.with_name("early_draws.dp2")
    lines = both("mesh", early, "E7").decode().splitlines()
    assert lines[0] == "E7 0:8 TRIANGLESTRIP: 2 primitives, TRIANGLESTRIP"
    assert lines[1] == "input: 4 vertices, 2 primitives as TRIANGLELIST"
    document = json.loads(dp2emu("mesh", early, "E7", "--json").out)
    assert document["event"]["topology"] == "TRIANGLESTRIP"
    assert document["pieces"][0]["topology"] == "TRIANGLELIST"


def test_state_against_an_earlier_place_names_the_last_setter_of_either() -> None:
    ran = dp2emu("state", STREAM, "--at", "1", "--against", "E2")
    assert ran.out.decode() == (
        "render_states.D3DRENDERSTATE_SCENECAPTURE: 0 -> 1, set by 1:17 RENDERSTATE, "
        "there by 1:3 RENDERSTATE\n"
    )
    refused = dp2emu("state", STREAM, "--at", "1", "--against", "E2", "--set")
    assert (refused.code, refused.err) == (
        2, "dp2emu: --set: --against is not later in the same context or device\n"
    )  # fmt: skip


def test_mesh_writes_a_file(tmp_path: Path) -> None:
    ran = dp2emu("mesh", STREAM, "E3", "--obj", "-o", tmp_path / "a.obj")
    assert (ran.code, ran.out) == (0, b"")
    assert (tmp_path / "a.obj").read_text().splitlines()[-1] == "f 1 2 3"


@pytest.mark.parametrize("kind", ["overdraw", "mips", "cost"])
def test_an_overlay_is_the_same_by_every_engine(kind: str, tmp_path: Path) -> None:
    pictures = []
    for engine in ("reference", "jit", "checked"):
        path = tmp_path / f"{engine}.png"
        ran = dp2emu("overlay", STREAM, "E4", f"--{kind}", "-o", path, "--engine", engine)
        assert ran.code == 0
        pictures.append(path.read_bytes())
    assert pictures[0] == pictures[1] == pictures[2]


def test_overlay_prints_its_legend(tmp_path: Path) -> None:
    ran = dp2emu("overlay", STREAM, "E12", "--overdraw", "-o", tmp_path / "o.png")
    assert ran.err.splitlines() == [
        "E12: 1 fragment: 3391 pixels",
        "E12: half as bright: none passed, 1053 pixels",
        "E12: fragments: 3391, passed 2338, rejected 1053",
    ]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["mesh", STREAM, "E1"], r"E1 is a clear (CLEAR), not a draw"),
        (["mesh", STREAM, "E99"], "no event at E99: there are events E0 to E15"),
        (["mesh", STREAM, "frame 0"], "frame 0 is a frame, not a draw"),
        (["mesh", STREAM, "x"], "expected E12, 7:3 (call:token)"),
        (["mesh", STREAM, "E3", "--stage", "hull"], "no stage hull; it has input, clip"),
        (["overlay", STREAM, "E3", "-o", "x.png"], "exactly one of --overdraw, --depth"),
        (["mesh", STREAM, "E3", "--csv", "--obj"], "--csv and --obj exclude each other"),
        (["overlay", STREAM, "E3", "--nan", "--depth"], "--nan and --depth exclude each other"),
        (["replay", STREAM, "--at", "E3", "--at", "E4"], "--at is given more than once"),
        (["mesh", STREAM, "E99"], f"dp2emu: {STREAM}: no event at E99"),
        (["replay", STREAM, "--at", "", "--png", "x"], "expected E12, 7:3 (call:token)"),
        (["pixel", STREAM, "1", "1", "--at", ""], "expected E12, 7:3 (call:token)"),
        (["replay", STREAM, "--draws"], "--draws, --at and --every need --png or --strip"),
        (["replay", STREAM, "--strip", "x.png"], "--strip needs --draws, --at or --every"),
        (["replay", STREAM, "--draws", "--png", "x", "--verify"], "go with --png, --frames"),
    ],
)
def test_what_cannot_be_shown_is_code_2(
    arguments: list[object], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = dp2emu(*arguments)
    assert (ran.code, ran.out) == (2, b"")
    assert what in ran.err
    assert not list(tmp_path.iterdir())


def test_replay_writes_pictures_after_events(tmp_path: Path) -> None:
    ran = dp2emu("replay", STREAM, "--at", "E3", "--png", tmp_path / "p")
    assert ran.code == 0
    assert "16 events\n" in ran.err and ", 3 pictures, 0 faults" in ran.err
    assert len(list((tmp_path / "p").iterdir())) == 3


def test_a_film_without_a_picture_is_code_2(tmp_path: Path) -> None:
    ran = dp2emu("replay", STREAM, "--every", 99, "--png", tmp_path)
    assert ran.code == 2 and "no picture: no chosen event" in ran.err


def test_graph_and_timeline_have_the_long_name_output(tmp_path: Path) -> None:
    for verb in ("graph", "timeline"):
        for option in ("--output", "--out"):
            assert dp2emu(verb, STREAM, option, tmp_path / f"{verb}{option}").code == 0
    assert len(list(tmp_path.iterdir())) == 4


def test_state_shows_changes_and_resources(tmp_path: Path) -> None:
    """Two passes over a pipe are fine."""
    given = STREAM.read_bytes()
    ran = dp2emu("state", "-", "--at", "E1", "--against", "1", "--json", stdin=given)
    changes = json.loads(ran.out)
    assert (ran.code, changes["at"], changes["against"]) == (0, "E1", "1")
    names = ["D3DRENDERSTATE_SCENECAPTURE"]
    assert [each["path"] for each in changes["changes"]] == [["render_states", *names]]
    ran = dp2emu("state", STREAM, "--at", "1", "--png", tmp_path)
    assert "    file: target0_surface2.png\n" in ran.out.decode()


def signed(code: bytes, semantic: bytes) -> bytes:
    """A container of a vertex shader that reads ``semantic`` 3 in register v0."""
    element = struct.pack("<6I", 32, 3, 0, 3, 0, 0x0F0F)
    signature = struct.pack("<2I", 1, 8) + element + semantic + b"\0"
    return pack([Chunk("ISGN", signature + bytes(-len(signature) % 4)), Chunk("SHDR", code)])


def test_inputs_have_the_semantic_names_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = run_path(str(ROOT / "docs" / "ddi10_example.py"))
    assembled = names["assemble"]

    def assemble(text: str) -> bytes:
        code = assembled(text)
        return signed(code, b"PLACE") if "vs_4_0" in text else code

    monkeypatch.setitem(names["main"].__globals__, "assemble", assemble)
    names["main"](str(tmp_path / "a.dp2"))
    events = dp2emu("events", tmp_path / "a.dp2", "--filter", "kind=draw", "--jsonl").out
    place = json.loads(events.splitlines()[0])["event"]
    ran = dp2emu("mesh", tmp_path / "a.dp2", place, "--csv")
    assert ran.out.startswith(b"instance,vertex,index,PLACE3.x,PLACE3.y,PLACE3.z,PLACE3.w\n")


DAMAGED_VERBS = [
    ("pixel", 1, 1), ("mesh", "E0"), ("why", 1), ("state", "--at", "E0"),
    ("debug", "E0", "pixel", 1, 1, "--all"), ("overlay", "E0", "--depth", "-o", "x.png"),
    ("last-writer", 2), ("readers", 2),
]  # fmt: skip
"""Verbs that end with an error if nothing of a capture can be read."""


@pytest.mark.parametrize("case", DAMAGED_VERBS, ids=lambda case: case[0])
@pytest.mark.parametrize(
    ("source", "damage"),
    [
        (STREAM, "offset 0x25: chunk checksum is wrong; no call is whole"),
        (TRIANGLE, "offset 0x2: a chunk does not expand"),
    ],
    ids=["dp2", "trace"],
)
def test_an_error_about_a_damaged_capture_is_followed_by_its_damage(
    case: tuple[object, ...], source: Path, damage: str, tmp_path: Path
) -> None:
    content = bytearray(source.read_bytes())
    content[900] ^= 0xFF
    path = tmp_path / source.name
    path.write_bytes(content)
    verb, *arguments = case
    ran = dp2emu(verb, path, *arguments)
    error, told = ran.err.splitlines()
    assert (ran.code, ran.out) == (2, b"")
    assert error.startswith(f"dp2emu: {path}: no ") or "issues no query" in error
    assert told.startswith(f"dp2emu: {path}: {damage}")
    assert told == dp2emu("events", path).err.strip()


@pytest.mark.parametrize("case", [
    ("pixel", 1, 1, "--at", "E99"), ("mesh", "E99"), ("why", 1), ("state", "--at", "E99"),
    ("debug", "E99", "pixel", 1, 1, "--all"), ("overlay", "E99", "--depth", "-o", "x.png"),
    ("last-writer", 2, "--at", "E99"), ("readers", 2, "--at", "E99"),
], ids=lambda case: case[0])  # fmt: skip
def test_an_error_is_followed_by_the_faults_before_it(
    case: tuple[object, ...], tmp_path: Path
) -> None:
    path = tmp_path / "faulty.dp2"
    path.write_bytes(sealed(*SETTING, called(issue(9, END))))
    verb, *arguments = case
    ran = dp2emu(verb, path, *arguments)
    error, fault = ran.err.splitlines()
    assert ran.code == 2
    assert "E99" in error or "issues no query" in error
    assert fault == f"dp2emu: {path}: call 0, offset 0x0, ISSUEQUERY: no query 9"
