"""Triangles against the exact model: a hundredth of the documented run."""

from __future__ import annotations

import pytest

from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.rasterizer.triangles import triangle_spans
from tests.tools.loading import load_tool

raster_check = load_tool("raster_check")


def run(monkeypatch: pytest.MonkeyPatch, triangles: int) -> int:
    monkeypatch.setattr("sys.argv", ["raster_check.py", "--triangles", str(triangles)])
    return int(raster_check.main())


def test_ten_thousand_random_triangles_are_as_the_models_have_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, 10_000) == 0
    _, *kinds, order = (line.split() for line in capsys.readouterr().out.splitlines())
    assert sum(int(triangles) for _, triangles, *_ in kinds) == 10_000
    assert order[:2] == ["order", "10000"]
    assert all(int(pixels) for *_, pixels, _ in kinds)


def test_a_pixel_too_few_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = Rect(0, 0, raster_check.SIZE, raster_check.SIZE - 1)
    monkeypatch.setattr(
        raster_check,
        "triangle_spans",
        lambda x, y, area, region: triangle_spans(x, y, area, narrow),
    )
    assert run(monkeypatch, 100) == 1
