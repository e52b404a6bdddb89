"""The judgement of captures of Direct3D 10 and 11 programs (``tests.captures10``)."""

from __future__ import annotations

import gzip
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dp2emu.d3d.dxgi import DXGI
from dp2emu.d3d.dxgiformat import DxgiFormat
from tests.captures10 import (
    LISTED,
    Outcome,
    answer,
    compare,
    judged,
    texels_differ,
    too_many,
    words_differ,
)
from tests.tools.loading import ROOT

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("size", "wrong", "said"),
    [
        ((10, 10), [], ""),
        ((10, 10), [(y, 2 * x) for y in (0, 2, 4, 6) for x in range(4)], ""),
        ((10, 10), [(y, 2 * x) for y in (0, 2, 4, 6) for x in range(5)], "20 of 100 differ"),
        ((100, 100), [(n // 10 * 2, n % 10 * 2) for n in range(50)], ""),
        ((100, 100), [(n // 10 * 2, n % 10 * 2) for n in range(51)], "51 of 10000 differ"),
        ((100, 100), [(n, n) for n in range(16)], ""),
        ((100, 100), [(n, n) for n in range(17)], "a region of 17 differs"),
    ],
)
def test_few_pixels_may_differ_but_no_region(
    size: tuple[int, int], wrong: list[tuple[int, int]], said: str
) -> None:
    far = np.zeros(size, np.bool_)
    for place in wrong:
        far[place] = True
    assert too_many(far) == said


@pytest.mark.parametrize(
    ("format", "code", "one", "near", "far"),
    [
        ("R8G8_UNORM", "<2B", (0, 9), (4, 5), (0, 14)),
        ("R8_SNORM", "<b", (-1,), (1,), (2,)),
        ("R16G16_UNORM", "<2H", (0, 9), (1028, 9), (1029, 9)),
        ("R16_SNORM", "<h", (-500,), (14,), (15,)),
        ("R10G10B10A2_UNORM", "<I", (0,), (16 << 20,), (17 << 10,)),
        ("R10G10B10A2_UNORM", "<I", (0,), (0,), (1 << 30,)),
        ("R32_FLOAT", "<f", (2000.0,), (2001.9,), (2002.1,)),
        ("R32_FLOAT", "<f", (0.0,), (0.0009,), (0.0011,)),
        ("R32G32_FLOAT", "<2f", (NAN, INFINITE), (-NAN, INFINITE), (NAN, -INFINITE)),
        ("R32_FLOAT", "<f", (1.0,), (1.0,), (NAN,)),
        ("R16_FLOAT", "<e", (1000.0,), (1002.0,), (1003.0,)),
        ("R11G11B10_FLOAT", "<I", (5,), (5,), (6,)),
        ("R32_UINT", "<I", (5,), (5,), (6,)),
        ("R8G8B8A8_SINT", "<I", (5,), (5,), (6,)),
        ("R32G32_TYPELESS", "<2I", (5, 5), (5, 5), (5, 6)),
        ("D16_UNORM", "<H", (9,), (15,), (16,)),
        ("D32_FLOAT", "<f", (0.5,), (0.50009,), (0.50011,)),
        ("D24_UNORM_S8_UINT", "<I", (0x01000000,), (0x01000000 + 1677,), (0x02000000,)),
        ("D24_UNORM_S8_UINT", "<I", (0x01000000,), (0x01000000,), (0x01000000 + 1679,)),
    ],
)
def test_texels_are_compared_by_channel(
    format: str, code: str, one: tuple[Any, ...], near: tuple[Any, ...], far: tuple[Any, ...]
) -> None:
    row = DXGI[DxgiFormat[format]].texels
    expected, close, apart = (struct.pack(code, *each) for each in (one, near, far))
    assert texels_differ(row, expected * 3, expected + close + apart).tolist() == [
        False, False, True
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (b"12345", b"12345", ""),
        (b"12345", b"12346", "the bytes behind the last word differ"),
        (struct.pack("<2f", 1.0, 5.0), struct.pack("<2f", 1.00009, 5.0), ""),
        (struct.pack("<2f", 5.0, 1.0), struct.pack("<2f", 5.0, 1.0002), "word 1 is 3f80068e"),
        (struct.pack("<f", NAN), struct.pack("<f", 1.0), "word 0"),
        (struct.pack("<I", 3), struct.pack("<I", 4), "word 0 is 00000004 instead of 00000003"),
    ],
)
def test_words_of_buffers_are_equal_or_close_floats(one: bytes, other: bytes, said: str) -> None:
    found = words_differ(one, other)
    assert found.startswith(said) and bool(found) is bool(said)


def asked(rule: Any, hex: str, hr: int = 0, type: str = "OCCLUSION") -> dict[str, Any]:
    return {"compare": rule, "hex": hex, "hr": hr, "type": type}


SO = "SO_STATISTICS"
WRITTEN = ["NumPrimitivesWritten"]


@pytest.mark.parametrize(
    ("expected", "hr", "hex", "said"),
    [
        (asked("exact", "0500000000000000"), 0, "0500000000000000", ""),
        (asked("exact", "0500000000000000"), 0, "05000000", ""),
        (asked("exact", "0500000000000000"), 0, "0500", "0500 instead of 0500000000000000"),
        (asked("exact", "05"), 0, "06", "06 instead of 05"),
        (asked("exact", ""), 0, "", ""),
        (asked("exact", "", 0x887A0001), -0x7785FFFF, "", ""),
        (asked("exact", "", 0x887A0001), 0, "", "hr 0x00000000 instead of 0x887a0001"),
        (asked("hr", "0500000000000000"), 0, "", ""),
        (asked(WRITTEN, "01" + "00" * 15, 0, SO), 0, "01" + "00" * 7 + "09" + "00" * 7, ""),
        (asked(WRITTEN, "01" + "00" * 15, 0, SO), 0, "02" + "00" * 15,
         "NumPrimitivesWritten 2 instead of 1"),
        (asked(["CSInvocations"], "00" * 88, 0, "PIPELINE_STATISTICS"), 0, "00" * 64,
         "CSInvocations None instead of 0"),
    ],
)  # fmt: skip
def test_answers_are_compared_as_the_truth_says(
    expected: dict[str, Any], hr: int, hex: str, said: str
) -> None:
    assert answer(expected, {"hr": hr, "hex": hex}) == said


def truth(folder: Path, name: str = "game") -> dict[str, Any]:
    """A truth with a picture, data and an answer, written to a folder."""
    row = {"format_name": "B8G8R8X8_UNORM", "kind": "tex2d", "w": 4, "h": 2, "d": 1}
    found = {
        "frames": {"list": [{"call": 7, "png": "seven.png", **row}]},
        "readbacks": {"list": [{"call": 8, "bin": "8.gz", **row, "kind": "buffer"}]},
        "queries": {"list": [{"call": 9, "compare": "exact", "hr": 0, "hex": "01000000",
                              "type": "EVENT"}]},
        "compare": {"pictures": [7], "data": [8], "queries": [9]},
    }  # fmt: skip
    files = folder / "truth" / name
    files.mkdir(parents=True)
    files.with_suffix(".json").write_text(json.dumps(found))
    Image.new("RGBA", (4, 2), (1, 2, 3, 4)).save(files / "seven.png")
    (files / "8.gz").write_bytes(gzip.compress(b"data"))
    return found


def emit(folder: Path, *, size: tuple[int, int] = (4, 2), data: bytes = b"data") -> None:
    (folder / "game").mkdir(parents=True)
    Image.new("RGBA", size, (1, 6, 3, 255)).save(folder / "game" / "call_00000007.png")
    (folder / "game" / "call_00000008.bin").write_bytes(data)
    rows = [{"call": 9, "hr": 0, "hex": "01000000"}]
    (folder / "game.json").write_text(json.dumps({"queries": rows}))


@pytest.mark.parametrize(
    ("more", "strict", "verdict", "told"),
    [
        ({}, True, "PASS", []),
        ({"size": (2, 4)}, True, "FAIL", ["call 7: 2 x 4 pixels instead of 4 x 2"]),
        ({"data": b"dat"}, True, "FAIL", ["call 8: 3 bytes instead of 4"]),
        ({"data": b"DATA"}, False, "DIFF",
         ["call 8: word 0 is 41544144 instead of 61746164, 1 differ"]),
    ],
)  # fmt: skip
def test_what_was_emitted_is_compared_with_the_truth(
    more: dict[str, Any], strict: bool, verdict: str, told: list[str], tmp_path: Path
) -> None:
    truth(tmp_path)
    emit(tmp_path / "out", **more)
    outcome = Outcome(strict)
    compare(tmp_path, tmp_path / "out", "game", outcome)
    assert (outcome.verdict, outcome.told, outcome.wanted) == (verdict, told, 3)
    assert outcome.fine is (verdict != "FAIL")


def test_what_was_not_emitted_is_missing(tmp_path: Path) -> None:
    truth(tmp_path)
    outcome = Outcome()
    compare(tmp_path, tmp_path / "out", "game", outcome)
    assert (outcome.verdict, outcome.missing) == ("MISSING", 3)
    emit(tmp_path / "out")
    (tmp_path / "out" / "game" / "call_00000007.png").unlink()
    outcome = Outcome()
    compare(tmp_path, tmp_path / "out", "game", outcome)
    assert (outcome.verdict, outcome.told) == ("FAIL", ["call 7: no picture"])


def test_a_capture_with_a_loss_is_not_fine() -> None:
    assert Outcome().verdict == "NOTHING" and Outcome().fine
    assert not Outcome(problems=["loss: call 3"]).fine


def test_a_trace_is_imported_replayed_and_emitted(tmp_path: Path) -> None:
    truth(tmp_path)
    (tmp_path / "traces").mkdir()
    trace = ROOT / "streams" / "real" / "d3d9_tri.trace"
    shutil.copy(trace, tmp_path / "traces" / "game.trace")
    outcome = judged(tmp_path, tmp_path / "out", "reference", frozenset({"game"}), "game")
    assert (outcome.verdict, outcome.strict, outcome.problems) == ("MISSING", False, [])
    assert json.loads((tmp_path / "out" / "game.json").read_text()) == {"queries": []}
    assert list((tmp_path / "out" / "game").glob("call_*.png"))


@pytest.mark.parametrize(
    ("told", "problems", "said"),
    [
        (["call 7: 3 of 4 differ"], [], "LISTED"),
        (["call 7: 4 of 4 differ"], [], "FAIL"),
        ([], [], "PASS"),
        (["call 7: 3 of 4 differ"], ["loss: call 3"], "FAIL"),
    ],
)
def test_a_listed_capture_has_the_listed_differences_and_no_others(
    told: list[str], problems: list[str], said: str
) -> None:
    listed = {"why": "A reason", "told": ["call 7: 3 of 4 differ"], "problems": []}
    outcome = Outcome(wanted=2, told=told, problems=problems, listed=listed)
    assert (outcome.verdict, outcome.fine) == (said, said == "LISTED")


def test_every_listed_capture_has_a_reason_in_the_document() -> None:
    document = (ROOT / "docs" / "departures.rst").read_text("utf-8")
    for name, row in json.loads(LISTED.read_text("utf-8")).items():
        heading = document.index(f"\n{row['why']}\n{'-' * len(row['why'])}\n")
        assert f"``{name}``" in document[heading : heading + 500]
