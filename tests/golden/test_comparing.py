"""The comparison itself: what passes, what is edge, what fails."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from .comparing import EDGE, FAIL, PASS, Verdict, verdict
from .listed import DEPARTS, DEPARTURES, placed
from .playing import table

OK = {"hr": "0x00000000"}


class Sides:
    """A scene's golden results and ours, changed by tests.  Mutable."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scene: dict[str, Any] = {
            "category": "c", "name": "n", "device": {}, "compare": {"tol": 1},
            "resources": [{"type": "query", "id": "q", "query": "OCCLUSION"}], "commands": [],
        }  # fmt: skip
        empty = {"images": {}, "queries": {}, "values": {}, "issues": {}, "failed_calls": []}
        self.golden: dict[str, Any] = json.loads(json.dumps(empty))
        self.found: dict[str, Any] = json.loads(json.dumps(empty))

    def picture(self, golden: Any, found: Any, mask: Any = None) -> None:
        """Pictures of both sides, as nested lists of 0..255 (grey) or of channels."""
        for side, content, pixels in (
            ("golden", self.golden, golden),
            ("found", self.found, found),
        ):
            content["images"]["final"] = {"file": "n.png"}
            self._save(side, "n.png", pixels)
        if mask is not None:
            self.golden["images"]["final"]["mask"] = "n.mask.png"
            self._save("golden", "n.mask.png", mask)

    def _save(self, side: str, name: str, pixels: Any) -> None:
        (self.folder / side / "c").mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.array(pixels, np.uint8)).save(self.folder / side / "c" / name)

    def judged(self) -> str:
        for side, content in (("golden", self.golden), ("found", self.found)):
            path = self.folder / side / "c" / "n.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))
        return verdict(self.scene, self.folder / "found", self.folder / "golden").kind


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


@pytest.mark.parametrize(
    ("off", "kind"), [(0, PASS), (1, PASS), (2, FAIL), (-1, PASS), (-2, FAIL)]
)
def test_every_channel_may_be_off_by_the_tolerance(sides: Sides, off: int, kind: str) -> None:
    sides.picture([[[9, 9, 9]]], [[[9, 9 + off, 9]]])
    assert sides.judged() == kind


def test_mismatches_in_the_mask_alone_are_edge(sides: Sides) -> None:
    sides.picture([[0, 0, 0]], [[0, 9, 0]], [[0, 255, 0]])
    assert sides.judged() == EDGE
    sides.picture([[0, 0, 0]], [[9, 9, 0]], [[0, 255, 0]])
    assert sides.judged() == FAIL


def test_a_neighbour_counts_only_where_the_scene_says_so(sides: Sides) -> None:
    sides.picture([[0, 0, 90], [0, 0, 0]], [[0, 0, 0], [0, 90, 90]])
    assert sides.judged() == FAIL
    sides.scene["compare"]["neighbour"] = True
    assert sides.judged() == PASS
    sides.picture([[0, 0, 0, 90]], [[0, 90, 0, 0]])
    assert sides.judged() == FAIL


def test_a_share_of_pixels_may_mismatch(sides: Sides) -> None:
    sides.scene["compare"]["max_outlier_frac"] = 0.25
    sides.picture([[0, 0, 0, 0]], [[0, 9, 0, 0]])
    assert sides.judged() == PASS
    sides.picture([[0, 0, 0, 0]], [[0, 9, 9, 0]])
    assert sides.judged() == FAIL


def test_other_sizes_channels_and_no_picture_fail(sides: Sides) -> None:
    sides.picture([[0, 0]], [[0]])
    assert sides.judged() == FAIL
    sides.picture([[[0, 0, 0, 0]]], [[[0, 0, 0]]])
    assert sides.judged() == FAIL
    sides.picture([[[0, 0, 0]]], [[[0, 0, 0, 9]]])
    assert sides.judged() == PASS
    del sides.found["images"]["final"]
    assert sides.judged() == FAIL


@pytest.mark.parametrize(
    ("golden", "found", "kind"),
    [(0.5, 0.503, PASS), (0.5, 0.505, FAIL), (np.inf, np.inf, PASS), (np.nan, np.nan, PASS),
     (np.inf, 1e30, FAIL), (np.nan, 0.0, FAIL)],
)  # fmt: skip
def test_float_targets_are_compared_as_numbers(
    sides: Sides, golden: float, found: float, kind: str
) -> None:
    shape = {"width": 1, "height": 1, "d3dformat": 114}
    packed = base64.b64encode(zlib.compress(np.float32(golden).tobytes())).decode()
    sides.golden["images"]["final"] = {**shape, "raw_b64z": packed}
    sides.found["images"]["final"] = {**shape, "file": "n.raw"}
    (sides.folder / "found" / "c").mkdir(parents=True)
    (sides.folder / "found" / "c" / "n.raw").write_bytes(np.float32(found).tobytes())
    assert sides.judged() == kind


def query(value: int | None, **more: Any) -> dict[str, Any]:
    return {"l": {"query": "q", "value": value, **OK, **more}}


@pytest.mark.parametrize(
    ("golden", "found", "kind"),
    [
        (query(5), query(5), PASS),
        (query(5), query(6), FAIL),
        (query(5), {}, FAIL),
        (query(5), query(5, hr="0x00000001"), FAIL),
        (query(5, varies=True), query(6), PASS),
        (query(5, informative=True), query(6), PASS),
        (query(5, hr=None), query(6), PASS),
        (query(5, hr="0x00000001"), query(6, hr="0x00000001"), PASS),
    ],
)
def test_query_results(sides: Sides, golden: Any, found: Any, kind: str) -> None:
    sides.golden["queries"], sides.found["queries"] = golden, found
    assert sides.judged() == kind


def test_a_count_has_the_tolerance_of_its_label(sides: Sides) -> None:
    sides.golden["queries"], sides.found["queries"] = query(5), query(7)
    sides.scene["compare"]["query_tol"] = {"l": 2, "m": 9}
    assert sides.judged() == PASS
    sides.scene["compare"]["query_tol"] = {"l": 1, "m": 9}
    assert sides.judged() == FAIL


@pytest.mark.parametrize(("kind", "answer"), [("OCCLUSION", 3), ("TIMESTAMP", 9)])
def test_samples_are_answered_as_pixels(sides: Sides, kind: str, answer: int) -> None:
    sides.scene["device"]["multisample"] = 4
    sides.scene["resources"][0]["query"] = kind
    sides.golden["queries"], sides.found["queries"] = query(9), query(answer)
    assert sides.judged() == PASS


@pytest.mark.parametrize(
    ("key", "golden", "found", "kind"),
    [
        ("values", {"l": {**OK, "value": 1}}, {"l": {**OK, "value": 1}}, PASS),
        ("values", {"l": {**OK, "value": 1}}, {"l": {**OK, "value": 2}}, FAIL),
        ("values", {"l": {**OK, "value": 1}}, {}, FAIL),
        ("values", {"open": {**OK, "value": 1}}, {"open": {**OK, "value": 2}}, PASS),
        ("values", {"l": {"hr": "0x8876086a", "value": 0}}, {"l": {**OK, "value": 9}}, PASS),
        ("issues", {"l": "0x00000000"}, {"l": "0x00000000"}, PASS),
        ("issues", {"l": "0x00000000"}, {"l": "0x8876086c"}, FAIL),
        ("issues", {"l": "0x00000000"}, {}, FAIL),
        ("issues", {"l": "0xdeadbeef"}, {"l": "0x00000000"}, PASS),
        ("failed_calls", [{"command": 1}], [{"command": 1}], PASS),
        ("failed_calls", [{"command": 1}], [], FAIL),
        ("failed_calls", [], [{"command": 1}], FAIL),
    ],
)
def test_answers_of_the_interface(
    sides: Sides, key: str, golden: Any, found: Any, kind: str
) -> None:
    sides.scene["commands"].append({"op": "caps", "label": "open", "informative": True})
    sides.golden[key], sides.found[key] = golden, found
    assert sides.judged() == kind


def test_a_listed_scene_that_matches_is_a_failure() -> None:
    departing = next(iter(DEPARTURES))
    wrong = Verdict(FAIL, ["why"])
    assert placed(departing, wrong) == Verdict(DEPARTS, ["why"])
    assert placed("a/b", wrong) is wrong
    for kind in (PASS, EDGE):
        assert placed(departing, Verdict(kind)).kind == FAIL
        assert placed("a/b", Verdict(kind)).kind == kind


def test_the_table_counts_families_and_all() -> None:
    lines = table([("b/x", PASS), ("b/y", FAIL), ("a/z", PASS), ("b/z", PASS)])
    assert [line.split() for line in lines] == [
        ["family", "scenes", "PASS", "EDGE", "DEPARTS", "FAIL"],
        ["a", "1", "1", "-", "-", "-"],
        ["b", "3", "2", "-", "-", "1"],
        ["all", "4", "3", "-", "-", "1"],
    ]
