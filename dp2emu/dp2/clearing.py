"""CLEAR as a packet (wire format, "Clearing")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dp2emu.d3d.flags import Clear as ClearFlags
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.resolve import Targets
from dp2emu.errors import Fault
from dp2emu.gpu.memory import Surface
from dp2emu.gpu.packets import Clear, Rect, Viewport


class Fill(NamedTuple):
    """What the token says: D3DCLEAR flags, A8R8G8B8, depth from 0 to 1, and stencil."""

    flags: int
    color: int
    z: float
    stencil: int


def clear_packet(
    targets: Targets, view: Viewport, fill: Fill, rects: NDArray[np.int32]
) -> Clear | None:
    """What clears ``rects``, rows of left, top, right, bottom; None if there is nothing to do.

    With COMPUTERECTS the viewport clips them, and none means all of it.  Raises Fault without any
    target.
    """
    if targets.extent is None:
        raise Fault(HResult.DDERR_GENERIC, "nothing to clear: no target is bound")
    flags = fill.flags
    colors = targets.colors if flags & ClearFlags.TARGET else ()
    depth = targets.depth if flags & (ClearFlags.ZBUFFER | ClearFlags.STENCIL) else None
    wanted = _wanted((*colors, depth), view, flags, rects)
    if not wanted:
        return None
    return Clear(
        rects=wanted,
        colors=colors,
        color=fill.color if colors else None,
        depth=depth,
        z=fill.z if flags & ClearFlags.ZBUFFER else None,
        stencil=fill.stencil if flags & ClearFlags.STENCIL else None,
    )


def _wanted(
    cleared: Iterable[Surface | None], view: Viewport, flags: int, rects: NDArray[np.int32]
) -> tuple[Rect, ...]:
    """Each surface is filled as far as it goes, so the largest bounds the rectangles."""
    surfaces = [surface for surface in cleared if surface is not None]
    width = max((surface.width for surface in surfaces), default=0)
    extent = Rect(0, 0, width, max((surface.height for surface in surfaces), default=0))
    asked = [Rect(*rect) for rect in rects.tolist()]
    if flags & ClearFlags.COMPUTERECTS:
        extent = extent.intersect(rect_of(view))
        asked = asked or [extent]
    clipped = (rect.intersect(extent) for rect in asked)
    return tuple(rect for rect in clipped if not rect.empty)


def rect_of(view: Viewport) -> Rect:
    """The pixels of a viewport."""
    return Rect(view.x, view.y, view.x + view.width, view.y + view.height)
