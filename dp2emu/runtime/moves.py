"""StretchRect, ColorFill and ComposeRects: what Direct3D 9 allows, and the tokens it becomes."""

from __future__ import annotations

import msgspec

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import ComposeRectsOp, Format, TextureFilter
from dp2emu.d3d.flags import DP2BLT_LINEAR, DP2BLT_POINT, Usage
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.transfers import MAX_RECTS
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.arguments import Box
from dp2emu.runtime.session import Refused, Session
from dp2emu.shader.texture.bindings import MAX_KERNEL

_FLAGS = {
    TextureFilter.NONE: 0,
    TextureFilter.POINT: DP2BLT_POINT,
    TextureFilter.LINEAR: DP2BLT_LINEAR,
}


class Area(msgspec.Struct, frozen=True):
    """A rectangle of a surface; None is all of it."""

    surface: SurfaceDesc
    rect: Box | None = None

    @property
    def box(self) -> Box:
        """The rectangle.  Raises Refused for one that is not inside or has no inside."""
        whole = Rect(0, 0, self.surface.width, self.surface.height)
        rect = Rect(*self.rect) if self.rect is not None else whole
        if rect.empty or rect.intersect(whole) != rect:
            raise Refused(HResult.D3DERR_INVALIDCALL, f"rectangle {self.rect}")
        return rect.left, rect.top, rect.right, rect.bottom

    @property
    def whole(self) -> bool:
        """Whether it is all of the surface."""
        return self.box == (0, 0, self.surface.width, self.surface.height)


def stretch(
    session: Session, source: Area, target: Area, filter: TextureFilter, *, in_scene: bool
) -> None:
    """StretchRect.  Raises Refused for what Direct3D 9 does not allow."""
    if filter not in _FLAGS or source.surface == target.surface:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"StretchRect with {filter.sdk}")
    if (source.surface.usage | target.surface.usage) & Usage.DEPTHSTENCIL:
        _check_depth(source, target, in_scene=in_scene)
    elif not target.surface.usage & Usage.RENDERTARGET:
        raise Refused(HResult.D3DERR_INVALIDCALL, "StretchRect to what is no target")
    item = (
        source.surface.handle, source.box, 0, target.surface.handle, target.box, 0, _FLAGS[filter],
    )  # fmt: skip
    session.emit(Op.BLT, [item])


def _check_depth(source: Area, target: Area, *, in_scene: bool) -> None:
    """Depth is copied outside of scenes, whole, between surfaces that are alike."""
    first, second = source.surface, target.surface
    alike = (first.width, first.height, first.format) == (
        second.width, second.height, second.format,
    )  # fmt: skip
    if in_scene or not (alike and source.whole and target.whole):
        raise Refused(HResult.D3DERR_INVALIDCALL, "StretchRect of depth")


def fill(session: Session, target: Area, color: int) -> None:
    """ColorFill with an A8R8G8B8 colour.  Raises Refused for what is no render target."""
    if not target.surface.usage & Usage.RENDERTARGET:
        raise Refused(HResult.D3DERR_INVALIDCALL, "ColorFill of what is no target")
    session.emit(Op.COLORFILL, [(target.surface.handle, target.box, color & 0xFFFFFFFF)])


class Rects(msgspec.Struct, frozen=True):
    """What ComposeRects does: ``count`` of the places in one buffer take rectangles of the other.

    ``sources`` has D3DCOMPOSERECTDESC, ``places`` D3DCOMPOSERECTDESTINATION.
    """

    sources: SurfaceDesc
    places: SurfaceDesc
    count: int
    operation: ComposeRectsOp = ComposeRectsOp.COPY
    offset: tuple[int, int] = (0, 0)


def compose(session: Session, source: SurfaceDesc, target: SurfaceDesc, rects: Rects) -> None:
    """ComposeRects.  Raises Refused for what Direct3D 9 does not allow."""
    if source == target or {source.format, target.format} != {Format.A1}:
        raise Refused(HResult.D3DERR_INVALIDCALL, "ComposeRects takes two surfaces of D3DFMT_A1")
    if not 0 <= rects.count <= MAX_RECTS:
        raise Refused(HResult.D3DERR_INVALIDCALL, f"ComposeRects of {rects.count} rectangles")
    item = (
        source.handle, target.handle, rects.sources.handle, rects.count, rects.places.handle,
        rects.operation, *rects.offset,
    )  # fmt: skip
    session.emit(Op.COMPOSERECTS, [item])


def convolve(session: Session, width: int, height: int) -> None:
    """SetConvolutionMonoKernel, which takes no weights in Direct3D 9.  Raises Refused for sizes
    beyond ``MAX_KERNEL``.
    """
    if not (0 < width <= MAX_KERNEL and 0 < height <= MAX_KERNEL):
        raise Refused(HResult.D3DERR_INVALIDCALL, f"a kernel of {width} x {height}")
    session.commands.emit_tailed(Op.SETCONVOLUTIONKERNELMONO, (width, height, 0), b"")
