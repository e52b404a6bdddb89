"""A file of a kind that a verb does not read: its kind, and what does read it, is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dp2emu.cli.file_kinds import kind_of
from dp2emu.cli.verbs import (
    CAPTURE,
    CAPTURE_TEXT,
    JSON,
    PICTURE,
    SHADER_CODE,
    SHADER_TEXT,
    TEXT,
    TRACE,
    VERBS,
    readers,
)
from tests.cli.running import dp2emu
from tests.tools.loading import ROOT

STREAMS = ROOT / "streams"
SCENE = next((ROOT / "tests" / "golden" / "scenes" / "query").glob("*.json"))
MORE = {
    "import": ["-o", "made"], "state": ["--at", "0"], "pixel": ["1", "1"],
    "debug": ["E2", "pixel", "1", "1", "--nan"],
    "report": ["-o", "made"], "mesh": ["E0"], "overlay": ["E0", "--quads", "-o", "made"],
    "convert": ["made.dp2"], "minimize": ["--check", "sh -c 'test $(wc -c < {}) -lt 900'",
    "--tries", "1", "-o", "made"], "assemble": ["-o", "made"], "shader": ["-o", "made"],
    "scene": ["--out", "made"], "diff-images": ["again"], "why": ["1"], "last-writer": ["2"],
    "readers": ["2"], "timeline": ["-o", "made"],
}  # fmt: skip
"""What verbs need besides FILE."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A file of each kind, made as a user makes it; the folder is the current one."""
    monkeypatch.chdir(tmp_path)
    found = {kind: tmp_path / kind.replace(" ", "_") for kind in (
        CAPTURE, CAPTURE_TEXT, TRACE, SHADER_CODE, SHADER_TEXT, JSON, PICTURE, TEXT,
    )}  # fmt: skip
    shutil.copy(STREAMS / "first_light.dp2", found[CAPTURE])
    shutil.copy(STREAMS / "real" / "d3d9_tri.trace", found[TRACE])
    shutil.copy(ROOT / "docs" / "toon.vs", found[SHADER_TEXT])
    shutil.copy(ROOT / "docs" / "first_light.png", found[PICTURE])
    shutil.copy(SCENE, found[JSON])
    found[TEXT].write_text("08 00 01 00 07 00 00 00\n")
    found[CAPTURE_TEXT].write_bytes(dp2emu("dump", found[CAPTURE]).out)
    assert dp2emu("shader", found[SHADER_TEXT], "-o", found[SHADER_CODE]).code == 0
    return found


@pytest.mark.parametrize("verb", [name for name, row in VERBS.items() if row.reads])
def test_a_file_of_a_kind_that_a_verb_does_not_read_is_named(
    verb: str, files: dict[str, Path]
) -> None:
    for kind, path in files.items():
        shutil.copy(path, "again")
        ran = dp2emu(verb, path, *MORE.get(verb, []))
        if kind in VERBS[verb].reads:
            assert ran.code in (0, 2, 3) and f"{path} is no " not in ran.err
        elif not (verb == "assemble" and kind == TEXT):  # it has better words: the line
            named = () if kind == TEXT else readers(kind)
            if verb != "batch":
                assert (ran.code, ran.err.count("\n")) == (2, 1)
                assert f"{path} is no {VERBS[verb].reads[0]} but " in ran.err
                assert kind in ran.err and all(name in ran.err for name in named)


@pytest.mark.parametrize(
    "verb", ["replay", "info", "events", "graph", "state", "pixel", "debug", "dump", "convert"]
)
def test_text_that_is_no_capture_says_how_raw_commands_are_opened(
    verb: str, files: dict[str, Path]
) -> None:
    ran = dp2emu(verb, files[TEXT], *MORE.get(verb, []))
    assert ran.code == 2
    assert f"{files[TEXT]} is no capture but text" in ran.err
    assert "--bare reads a file as the bytes of one command buffer" in ran.err


@pytest.mark.parametrize("kind", [PICTURE, JSON, TEXT, TRACE, SHADER_CODE])
def test_a_bare_buffer_may_begin_with_any_bytes(kind: str, files: dict[str, Path]) -> None:
    assert "is no capture" not in dp2emu("dump", files[kind], "--bare").err


def test_standard_input_is_examined_too(files: dict[str, Path]) -> None:
    ran = dp2emu("replay", "-", stdin=files[PICTURE].read_bytes())
    assert ran == (2, b"", "dp2emu: - is no capture but a PNG picture; verbs that read it: "
                           "diff-images\n")  # fmt: skip


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"", None),
        (b"\0" * 64, None),
        (b"\xff\xfe" * 64, None),
        (b"[section]\nkey = 1\n", TEXT),
        (b" [1, 2]", JSON),
        (b'# a\n\n{"b": 1}', JSON),
        (b"\xef\xbb\xbf# a\ndp2emu-text version=1\n", CAPTURE_TEXT),
        (b"dp2emu-textual", TEXT),
        (b"; a\nps_3_0\n", SHADER_TEXT),
        (b"\x00\x03\xff\xff\x51\0\0\5", SHADER_CODE),
        (b"\x50\0\1\0\x10\0\0\0", SHADER_CODE),
        (b"a" * 4095 + "é".encode()[:1], TEXT),
        (b"a" * 9 + "é".encode()[:1], None),
    ],
)
def test_the_first_bytes_decide(start: bytes, kind: str | None) -> None:
    assert kind_of(start) == kind
