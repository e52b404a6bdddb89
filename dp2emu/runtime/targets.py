"""Bound targets, the rectangles around drawing, and Clear."""

from __future__ import annotations

from collections.abc import Iterable

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState
from dp2emu.d3d.flags import Clear, Usage
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.arguments import Box, clip_boxes, handle_of, unit
from dp2emu.runtime.session import Refused, Session
from dp2emu.runtime.states import States


class Targets:
    """Mutable: ``colors`` by index, ``depth``, ``viewport`` and ``scissor`` as they are now."""

    def __init__(self, session: Session, states: States) -> None:
        self._session = session
        self._states = states
        self.colors: dict[int, SurfaceDesc] = {}
        self.depth: SurfaceDesc | None = None
        self._colorless = False
        self.viewport = Viewport(0, 0, 0, 0)
        self.scissor = Rect(0, 0, 0, 0)

    def set_all(self, color: SurfaceDesc, depth: SurfaceDesc | None) -> None:
        """Target 0 and the depth surface, in one token before Direct3D 9."""
        if self._session.interface >= 9:
            self.set_color(0, color)
            self.set_depth(depth)
            return
        head = color.handle, handle_of(depth)
        self._session.emit(Op.SETRENDERTARGET, head=head)
        self.colors[0], self.depth = color, depth
        self.set_viewport(Viewport(0, 0, color.width, color.height))

    def set_color(
        self, index: int, surface: SurfaceDesc | None, *, colorless: bool = False
    ) -> None:
        """SetRenderTarget; a new target 0 resets viewport and scissor to all of it.

        Of a ``colorless`` one, D3DFMT_NULL, the driver is told that there is none.
        """
        if surface is None and index == 0:
            raise Refused(HResult.D3DERR_INVALIDCALL, "target 0 must be a surface")
        if surface is not None and not surface.usage & Usage.RENDERTARGET:
            raise Refused(HResult.D3DERR_INVALIDCALL, "a surface not made as a target")
        handle = 0 if colorless else handle_of(surface)
        self._session.emit(Op.SETRENDERTARGET2, [(index, handle)])
        if index == 0:
            self._colorless = colorless
        if surface is None:
            self.colors.pop(index, None)
            return
        self.colors[index] = surface
        if index == 0:
            self.set_viewport(Viewport(0, 0, surface.width, surface.height))
            self.set_scissor(Rect(0, 0, surface.width, surface.height))

    def set_depth(self, surface: SurfaceDesc | None) -> None:
        """SetDepthStencilSurface; None for none."""
        if surface is not None and not surface.usage & Usage.DEPTHSTENCIL:
            raise Refused(HResult.D3DERR_INVALIDCALL, "a surface not made for depth")
        self.depth = surface
        self._session.emit(Op.SETDEPTHSTENCIL, [(handle_of(surface),)])

    def set_viewport(self, view: Viewport) -> None:
        """SetViewport."""
        self.viewport = view
        self._session.emit(Op.VIEWPORTINFO, [(view.x, view.y, view.width, view.height)])
        self._session.emit(Op.ZRANGE, [(view.min_z, view.max_z)])

    def set_scissor(self, rect: Rect) -> None:
        """SetScissorRect."""
        self.scissor = rect
        self._session.emit(Op.SETSCISSORRECT, [(rect.left, rect.top, rect.right, rect.bottom)])

    def clear(
        self, flags: int | None, color: int, z: float, stencil: int, rects: Iterable[Box] | None
    ) -> None:
        """Clear: what of the rectangles lies in viewport, target and enabled scissor."""
        deep = Clear.ZBUFFER | Clear.STENCIL
        if flags is None:
            flags = Clear.TARGET | (deep if self.depth else 0)
        if not flags or (flags & deep and self.depth is None):
            raise Refused(HResult.D3DERR_INVALIDCALL, f"Clear of {flags:#x}")
        if flags & Clear.TARGET and flags & deep and self.depth_is_smaller:
            return
        flags &= ~int(Clear.TARGET) if self._colorless else flags
        if not flags:
            return
        items = clip_boxes(rects, self._bounds(flags))
        if items:
            head = (flags, color & 0xFFFFFFFF, unit(z), stencil & 0xFFFFFFFF)
            self._session.emit(Op.CLEAR, items, head=head)

    def _bounds(self, flags: int) -> Rect:
        """What of the viewport lies on what is cleared: depth alone may be larger than targets."""
        alone = self.depth if not flags & Clear.TARGET else None
        target, view = alone or self.colors[0], self.viewport
        bounds = Rect(0, 0, target.width, target.height).intersect(
            Rect(view.x, view.y, view.x + view.width, view.y + view.height)
        )
        scissored = self._states.render(RenderState.SCISSORTESTENABLE)
        return bounds.intersect(self.scissor) if scissored else bounds

    @property
    def depth_is_smaller(self) -> bool:
        """The runtimes let a Clear of a target and a smaller depth surface do nothing."""
        depth, target = self.depth, self.colors[0]
        return depth is not None and (depth.width < target.width or depth.height < target.height)
