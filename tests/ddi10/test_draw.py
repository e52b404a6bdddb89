"""Draws through the entries: what is set becomes pixels and counts."""

from __future__ import annotations

from tests.ddi10.drawing import strip
from tests.ddi10.rendering import Rendering


def test_a_strip_fills_its_target_with_its_colour() -> None:
    driven = Rendering()
    resource = driven.texture()
    view = driven.target(resource)
    driven.prepare()
    driven.shaders()
    driven.vertices(strip((1, 0.5, 0.25, 1)))
    driven.call("SetRenderTargets", [view], 7, None)
    driven.call("Draw", 4, 0)
    assert (driven.pixels(resource) == 0xFF4080FF).all()
    assert driven.device.statistics()[:3] == (4, 2, 4)
