"""Our side: what it captures is what it draws, frame after frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmark.ours import Ours, has_option, record
from benchmark.workloads import SCREEN, WORKLOADS, Look, Size, Step, Workload

from dp2emu.capture import open_capture
from dp2emu.replay import replay
from dp2emu.shader.engines import JIT, REFERENCE

TINY = Size(0.01)


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_frame_is_the_same_picture(tmp_path: Path, name: str) -> None:
    side = Ours(WORKLOADS[name](TINY), tmp_path / "a.dp2", {})
    side.first()
    opening = side.picture()
    side.frame()
    later = side.picture()
    assert (opening.pixels == later.pixels).all() and opening.samples == later.samples
    assert (opening.samples is not None) == (name == "zonly")
    assert side.memory().surfaces > later.pixels.nbytes
    if name != "zonly":
        assert len(np.unique(later.pixels)) > 3


def test_a_capture_replays_as_any_other(tmp_path: Path) -> None:
    record(WORKLOADS["small_draws"](TINY), tmp_path / "a.dp2")
    with open_capture(tmp_path / "a.dp2") as capture:
        tally = replay(capture)
    assert (tally.faults, tally.unsupported, tally.damage) == (0, 0, None)
    assert tally.frames == 4


def one(look: Look, color: int, *, depths: tuple[float, ...] = (0.5,), alpha: int = 255) -> int:
    """The middle pixel behind triangles that cover it, at these depths, the last one in colour."""
    vertices = np.zeros((len(depths), 3), SCREEN)
    vertices["position"][..., :2] = [(-16, -16), (64, -16), (-16, 64)]
    vertices["position"][..., 2] = np.array(depths)[:, None]
    vertices["position"][..., 3] = 1
    vertices["color"] = 0xFF000000
    vertices["color"][-1] = color
    texture = np.full((4, 4), alpha << 24 | 0xFF8000, np.uint32)
    steps = (Step(look, 0, 3 * len(depths)),)
    workload = Workload(16, 16, vertices.ravel(), steps, textures=(texture,))
    side = Ours(workload, ONE, {})
    side.frame()
    return int(side.picture().pixels[8, 8])


ONE = Path("one.dp2")


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("look", "color", "depths", "alpha", "expected"),
    [
        (Look(), 0x40112233, (0.5,), 255, 0x40112233),
        (Look(color=False), 0x40112233, (0.5,), 255, 0xFF000000),
        (Look(), 0xFFFFFFFF, (0.2, 0.8), 255, 0xFFFFFFFF),
        (Look(depth=True), 0xFFFFFFFF, (0.2, 0.8), 255, 0xFF000000),
        (Look(blended=True), 0x80FF0000, (0.5,), 255, 0xBF800000),
        (Look(texture=0), 0xFFFFFFFF, (0.5,), 255, 0xFFFF8000),
        (Look(texture=0), 0xFF0000FF, (0.5,), 255, 0xFF000000),
        (Look(tested=True), 0x81445566, (0.5,), 255, 0x81445566),
        (Look(tested=True), 0x80445566, (0.5,), 255, 0xFF000000),
        (Look(tested=True, texture=0), 0xFFFFFFFF, (0.5,), 100, 0xFF000000),
    ],
)
def test_a_look_is_what_it_says(
    look: Look, color: int, depths: tuple[float, ...], alpha: int, expected: int
) -> None:
    assert one(look, color, depths=depths, alpha=alpha) == expected


def test_a_driver_says_what_it_does_not_have() -> None:
    assert has_option("engine") and not has_option("magic")


@pytest.mark.parametrize("name", ["textured", "mesh"])
def test_any_engine_draws_the_same(tmp_path: Path, name: str) -> None:
    pictures = []
    for engine in (REFERENCE, JIT):
        side = Ours(WORKLOADS[name](TINY), tmp_path / "a.dp2", {"engine": engine})
        side.frame()
        pictures.append(side.picture().pixels)
    assert (pictures[0] == pictures[1]).all()
