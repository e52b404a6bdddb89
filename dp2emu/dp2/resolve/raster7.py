"""Render states that only DirectX 6 and 7 have, as far as they change what is drawn and written.

Source: the DirectX 6 and 7 documentation of D3DRENDERSTATETYPE.  DirectX 7 made raster operations,
stipple patterns and what else is about bits and planes obsolete; only DirectX 6 has them here.
What is said of texture stage 0 is in ``stage7``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.errors import Fault
from dp2emu.gpu.command.pipeline import Pipeline, StencilFace, StencilState
from dp2emu.gpu.command.raster_operations import COPY, RASTER_OPS

ALL_PLANES = 0xFFFFFFFF

WITHOUT_EFFECT: Mapping[RenderState7, str] = {
    RenderState7.SUBPIXEL: "positions always have sub-pixel bits",
    RenderState7.SUBPIXELX: "positions always have sub-pixel bits",
    RenderState7.STIPPLEDALPHA: "alpha is blended, which stippling stands in for",
    RenderState7.FLUSHBATCH: "asks for drawing soon, not for drawing otherwise",
    RenderState7.TRANSLUCENTSORTINDEPENDENT: "for boards that sort, which this does not",
    RenderState7.EXTENTS: "asks for the extents of what was drawn, which no token returns",
}
"""Why a state changes nothing."""

_STIPPLE_ROWS = range(RenderState7.STIPPLEPATTERN00, RenderState7.STIPPLEPATTERN31 + 1)


def perspective(states: Sequence[int], interface: int) -> bool:
    """D3DRENDERSTATE_TEXTUREPERSPECTIVE: without it texture coordinates are linear on the
    screen."""
    return interface >= 8 or bool(states[RenderState7.TEXTUREPERSPECTIVE])


def monochrome(states: Sequence[int], interface: int) -> bool:
    """D3DRENDERSTATE_MONOENABLE: blue of vertex colours stands for red and green as well."""
    return interface < 7 and bool(states[RenderState7.MONOENABLE])


def raster_op(states: Sequence[int], interface: int) -> int:
    """D3DRENDERSTATE_ROP2.  Raises Fault for one there is not."""
    if interface >= 7:
        return COPY
    found = states[RenderState7.ROP2]
    if found not in RASTER_OPS:
        what = f"{RenderState7.ROP2.sdk} is {found}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return found


def plane_mask(states: Sequence[int], interface: int) -> int:
    """D3DRENDERSTATE_PLANEMASK: bits of pixels that are written."""
    return states[RenderState7.PLANEMASK] if interface < 7 else ALL_PLANES


def stipple(states: Sequence[int], interface: int) -> tuple[int, ...]:
    """The 32 rows of D3DRENDERSTATE_STIPPLEPATTERN while STIPPLEENABLE is TRUE, otherwise none."""
    if interface >= 7 or not states[RenderState7.STIPPLEENABLE]:
        return ()
    return tuple(states[row] for row in _STIPPLE_ROWS)


def checked_only(pipeline: Pipeline, states: Sequence[int], interface: int) -> Pipeline:
    """D3DRENDERSTATE_ZVISIBLE: primitives are tested and counted, and nothing is written.

    Applications of DirectX 7 set it and expect to see what they draw, as its drivers let them.
    """
    if interface >= 7 or not states[RenderState7.ZVISIBLE]:
        return pipeline
    return replace(
        pipeline,
        write_masks=(0,) * len(pipeline.write_masks),
        depth=replace(pipeline.depth, write=False),
        stencil=pipeline.stencil and _kept(pipeline.stencil),
    )


def _kept(stencil: StencilState) -> StencilState:
    """The same tests, which leave all values as they are."""
    back = stencil.back and StencilFace(stencil.back.func)
    return StencilState(StencilFace(stencil.front.func), back)
