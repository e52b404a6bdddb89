"""Viewports and scissor rectangles as rectangles of pixels.

Source: Direct3D 10 and 11 documentation of the rasterizer stage.
"""

from __future__ import annotations

import math

from dp2emu.ddi10.bindings import Bindings, Scissor, Viewport
from dp2emu.gpu.packets import Rect


def scissor(at: Bindings, view: Viewport, number: int = 0) -> Rect:
    """Pixels whose centres are in the viewport and, if that counts, in the scissor rectangle
    of its number.

    Of targets that are not multisampled the sample mask has a bit too.
    """
    edges = (view.TopLeftX, view.TopLeftY)
    far = (view.TopLeftX + view.Width, view.TopLeftY + view.Height)
    inside = Rect(*(math.ceil(edge - 0.5) for edge in (*edges, *far)))
    if at.rasterizer.desc.ScissorEnable:
        rect = at.scissors[number] if number < len(at.scissors) else Scissor(0, 0, 0, 0)
        inside = inside.intersect(Rect(*rect))
    bound = [found.resource for found in (*at.targets, at.depth) if found is not None]
    single = not bound or bound[0].desc.SampleDesc.Count == 1
    return Rect(0, 0, 0, 0) if single and not at.sample_mask & 1 else inside
