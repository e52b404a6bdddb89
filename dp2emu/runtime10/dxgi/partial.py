"""Presentation of parts of a frame: dirty rectangles, and a scrolled rectangle.

Source: the DXGI documentation of DXGI_PRESENT_PARAMETERS.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dp2emu.runtime10.codes import Refused, Result
from dp2emu.runtime10.context import Context
from dp2emu.runtime10.descriptions import Box, Rect, Texture2DDesc
from dp2emu.runtime10.device import Device
from dp2emu.runtime10.dxgi.descriptions import Point, PresentParameters
from dp2emu.runtime10.objects import Texture2D


def check_partial(parameters: PresentParameters, size: tuple[int, int], keeps: bool) -> None:
    """Raise Refused (DXGI_ERROR_INVALID_CALL) for rectangles that are empty or outside of a buffer
    of ``size``, for scrolling without dirty rectangles, and for rectangles of a swap chain that
    does not keep the frame before.
    """
    scrolled, offset = parameters.ScrollRect, parameters.ScrollOffset or Point()
    rects = [*parameters.DirtyRects]
    if scrolled is not None:
        rects += [scrolled, _moved(scrolled, offset)]
    if not keeps or not parameters.DirtyRects or not all(_inside(each, size) for each in rects):
        raise Refused(Result.DXGI_ERROR_INVALID_CALL, f"Present1 with {parameters}")


def complete(
    device: Device, parameters: PresentParameters, drawn: Texture2D, before: Texture2D
) -> None:
    """Complete the buffer ``drawn``, in which only the dirty rectangles are drawn, by the frame
    ``before``.
    """
    desc: Texture2DDesc = drawn.desc
    scratch = device.create_texture2d(
        Texture2DDesc(desc.Width, desc.Height, 1, 1, desc.Format, BindFlags=_TARGET)
    )
    with _unpredicated(device.context) as context:
        context.copy_resource(scratch, before)
        if parameters.ScrollRect is not None:
            source = _moved(parameters.ScrollRect, parameters.ScrollOffset or Point())
            place = parameters.ScrollRect[:2]
            context.copy_subresource_region(scratch, 0, *place, 0, before, 0, _box(source))
        for rect in parameters.DirtyRects:
            context.copy_subresource_region(scratch, 0, *rect[:2], 0, drawn, 0, _box(rect))
        context.copy_resource(drawn, scratch)
    scratch.release()


_TARGET = 0x20
"""D3D11_BIND_RENDER_TARGET."""


def _moved(rect: Rect, offset: Point) -> Rect:
    """The rectangle that scrolling by ``offset`` moves to ``rect``."""
    left, top, right, bottom = rect
    return Rect(left - offset.x, top - offset.y, right - offset.x, bottom - offset.y)


def _inside(rect: Rect, size: tuple[int, int]) -> bool:
    left, top, right, bottom = rect
    return 0 <= left < right <= size[0] and 0 <= top < bottom <= size[1]


def _box(rect: Rect) -> Box:
    return Box(rect.left, rect.top, 0, rect.right, rect.bottom, 1)


@contextmanager
def _unpredicated(context: Context) -> Iterator[Context]:
    """A context whose copies do not depend on its predicate, which is set again afterwards."""
    entry = "SetPredication"
    before = context.state.whole(entry)
    if before[0] is not None:
        context.call(entry, None, 0)
    yield context
    if before[0] is not None:
        context.call(entry, *before)
