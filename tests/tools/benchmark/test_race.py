"""Races: who takes part, what is made of their times, and that they draw the same."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmark import race as module
from benchmark.place import Place
from benchmark.race import Settings, Sides, close_counts, far_share, race
from benchmark.workloads import WORKLOADS


def side(walls: list[float], **more: Any) -> Any:
    """A side that has run."""
    hello = {"name": "somebody"}
    return SimpleNamespace(walls=walls, cpus=[wall / 2 for wall in walls], hello=hello, **more)


def test_a_peer_that_cannot_draw_is_left_out_with_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "moderngl.py").write_text("raise ImportError('none here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    row, notices = race("blend", Place(tmp_path, 1e-6), Settings(runs=2))
    assert row["runs"] == 2 and "peer_ms" not in row
    assert any("none here" in notice for notice in notices)


def test_columns_are_medians_and_ratios_of_them() -> None:
    sides = Sides(side([8.0, 2.0, 4.0]), side([1.0, 9.0, 2.0]), side([2.0]), side([4.0]))
    row = module._times(sides)
    assert (row["ms"], row["peer_ms"], row["ratio"]) == (4.0, 2.0, 2.0)
    assert (row["ms2"], row["peer_ms2"], row["ratio2"], row["speedup2"]) == (2.0, 4.0, 0.5, 2.0)
    assert (row["cpu_ms"], row["peer_cpu_ms"], row["cpu_ratio"]) == (2.0, 1.0, 2.0)


def test_columns_of_sides_that_are_missing_are_left_out() -> None:
    row = module._times(Sides(side([1.0])))
    assert row.keys() == {"runs", "ms", "cpu_ms"}
    row = module._times(Sides(side([1.0]), side([1.0]), None, side([1.0])))
    assert "ratio" in row and "ratio2" not in row and "speedup2" not in row


def test_sides_take_turns_and_each_begins_every_other_round() -> None:
    order: list[str] = []
    sides = Sides(
        SimpleNamespace(frame=lambda: order.append("ours")),
        SimpleNamespace(frame=lambda: order.append("peer")),
    )
    module._rounds(sides, Settings(runs=3))
    assert order == ["ours", "peer", "peer", "ours", "ours", "peer"]


def test_rounds_end_with_their_time() -> None:
    order: list[str] = []
    sides = Sides(SimpleNamespace(frame=lambda: order.append("ours")))
    module._rounds(sides, Settings(runs=100, seconds=0))
    assert order == ["ours"]


def drawn(pixels: int, samples: int | None) -> Any:
    """A side that has drawn 100 pixels, so many of them white."""
    words = np.zeros((10, 10), np.uint32)
    words.ravel()[:pixels] = 0xFFFFFFFF
    return side([1.0], picture=lambda file: (words, samples))


@pytest.mark.parametrize(
    ("theirs", "same"), [(drawn(50, 9_000), True), (drawn(51, 9_001), True),
                         (drawn(52, 9_000), False), (drawn(50, 9_003), False)],
)  # fmt: skip
def test_sides_that_draw_something_else_end_it(tmp_path: Path, theirs: Any, same: bool) -> None:
    sides = Sides(drawn(50, 9_000), theirs)
    if same:
        row = module._agreement("zonly", sides, tmp_path)
        assert row["samples"] == 9_000 and row["pixels_apart"] <= 0.01
        return
    with pytest.raises(SystemExit, match="zonly: the sides do not draw the same"):
        module._agreement("zonly", sides, tmp_path)


def test_pixels_are_apart_if_any_channel_is() -> None:
    first = np.array([[0x10203040, 0x10203040, 0x10203040, 0x10203040]], np.uint32)
    second = np.array([[0x10203040, 0x18283848, 0x10293040, 0x07203040]], np.uint32)
    assert far_share(first, second) == 0.5


def test_counts_are_close_within_a_sample_or_a_ten_thousandth() -> None:
    assert close_counts(None, None) and not close_counts(1, None)
    assert close_counts(9, 10) and not close_counts(8, 10)
    assert close_counts(1_000_101, 1_000_000) and not close_counts(1_000_102, 1_000_000)


def test_limits_are_those_of_every_workload() -> None:
    assert module.RATIOS.keys() == WORKLOADS.keys()
