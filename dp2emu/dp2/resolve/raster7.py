"""Render states of DirectX 6 and 7 only that change how primitives are drawn.

Source: the DirectX 6 and 7 documentation of D3DRENDERSTATETYPE.  DirectX 7 made raster operations,
stipple patterns and plane masks obsolete; only DirectX 6 has them here.  States of texture stage 0
are in ``stage7``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

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
"""Render state of DirectX 6 and 7 that has no effect in the emulator -> the reason, as text."""

_STIPPLE_ROWS = range(RenderState7.STIPPLEPATTERN00, RenderState7.STIPPLEPATTERN31 + 1)


def perspective(states: Sequence[int], interface: int) -> bool:
    """D3DRENDERSTATE_TEXTUREPERSPECTIVE: without it texture coordinates are linear on the
    screen."""
    return interface >= 8 or bool(states[RenderState7.TEXTUREPERSPECTIVE])


def monochrome(states: Sequence[int], interface: int) -> bool:
    """D3DRENDERSTATE_MONOENABLE: red and green of vertex colours are replaced by blue."""
    return interface < 7 and bool(states[RenderState7.MONOENABLE])


def raster_op(states: Sequence[int], interface: int) -> int:
    """The raster operation (D3DRENDERSTATE_ROP2).  Raises Fault for an unknown one."""
    if interface >= 7:
        return COPY
    found = states[RenderState7.ROP2]
    if found not in RASTER_OPS:
        what = f"{RenderState7.ROP2.sdk} is {found}"
        raise Fault(HResult.D3DERR_DRIVERINVALIDCALL, what)
    return found


def plane_mask(states: Sequence[int], interface: int) -> int:
    """D3DRENDERSTATE_PLANEMASK: the mask of pixel bits that are written."""
    return states[RenderState7.PLANEMASK] if interface < 7 else ALL_PLANES


def stipple(states: Sequence[int], interface: int) -> tuple[int, ...]:
    """The 32 rows of D3DRENDERSTATE_STIPPLEPATTERN; empty unless STIPPLEENABLE is TRUE."""
    if interface >= 7 or not states[RenderState7.STIPPLEENABLE]:
        return ()
    return tuple(states[row] for row in _STIPPLE_ROWS)


def checked_only(pipeline: Pipeline, states: Sequence[int], interface: int) -> Pipeline:
    """The pipeline with D3DRENDERSTATE_ZVISIBLE applied: if it is set, DirectX 6 tests and counts
    pixels and writes none.  From DirectX 7 on the state is ignored, as drivers of DirectX 7 did.
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
    """The stencil state with the same comparisons, but operations that keep the stored value."""
    back = stencil.back and StencilFace(stencil.back.func)
    return StencilState(StencilFace(stencil.front.func), back)
