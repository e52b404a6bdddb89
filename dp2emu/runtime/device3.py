"""IDirect3DDevice2 and IDirect3DDevice3 over a device that transforms.

Drivers of that time got vertices on the screen; here the runtime's transformation and lighting are
the driver's, with the projection and lights that a viewport stands for.
"""

from __future__ import annotations

from collections.abc import Sequence

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState, TransformState
from dp2emu.d3d.fvf import NORMAL
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.states.raw_state import IDENTITY, State, transform_product
from dp2emu.dp2.states.setting_kinds import Kind
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.runtime.arguments import Box
from dp2emu.runtime.calldraws import VertexBuffer
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice
from dp2emu.runtime.viewports import EarlyLight, EarlyMaterial, EarlyViewport

DONOTLIGHT = 0x10
"""D3DDP_DONOTLIGHT."""

LIGHT_STATES = {
    2: RenderState.AMBIENT,
    4: RenderState.FOGVERTEXMODE,
    5: RenderState.FOGSTART,
    6: RenderState.FOGEND,
    7: RenderState.FOGDENSITY,
    8: RenderState.COLORVERTEX,
}
"""D3DLIGHTSTATE numbers that are render states of DirectX 7; 1 is the material."""


class Device3(EarlyDevice):
    """A device whose viewports, lights and materials are objects.  Mutable: it is a device.

    Vertices are lit if they have a normal, a material is chosen and the draw does not object.
    """

    def __init__(self, ddraw: DirectDraw, target: DrawSurface) -> None:
        self.current: EarlyViewport | None = None
        self.viewports: list[EarlyViewport] = []
        self._clip: tuple[float, ...] = IDENTITY
        self._lit: bool | None = None
        self._light_count = 0
        self._material: EarlyMaterial | None = None
        super().__init__(ddraw, target, 6)

    # Viewports and their lights

    def select(self, viewport: EarlyViewport | None) -> None:
        """SetCurrentViewport."""
        before = self.current.lights if self.current else []
        after = viewport.lights if viewport else []
        self.current = viewport
        for light in before:
            if light not in after:
                self.put_out(light)
        for light in after:
            self.refresh_light(light)
        self.refresh_viewport()

    def refresh_viewport(self) -> None:
        """The current viewport was chosen or has changed."""
        if self.current is None or self.current.view is None:
            return
        view = self.current.view
        self._clip = self.current.volume.matrix()
        self.set_viewport(Viewport(view.x, view.y, view.width, view.height))
        projection = int(TransformState.PROJECTION)
        self._send_projection(self.transform(projection))

    def drop(self, viewport: EarlyViewport) -> None:
        """DeleteViewport."""
        if viewport in self.viewports:
            self.viewports.remove(viewport)
        if viewport is self.current:
            self.select(None)

    def light_changed(self, light: EarlyLight) -> None:
        """A light was added to a viewport, or is described otherwise."""
        if self.current is not None and light in self.current.lights:
            self.refresh_light(light)

    def put_out(self, light: EarlyLight) -> None:
        """The light shines no more."""
        if light.index is not None:
            self.light_enable(light.index, False)

    def refresh_light(self, light: EarlyLight) -> None:
        """Let a light shine as it is described."""
        if light.light is None:
            return
        if light.index is None:
            light.index = self._light_count
            self._light_count += 1
        self.set_light(light.index, light.light)
        self.light_enable(light.index, True)

    def clear_viewport(
        self, viewport: EarlyViewport, flags: int, color: int, z: float, stencil: int,
        rects: list[Box] | None,
    ) -> None:  # fmt: skip
        """Clear and Clear2: what of the rectangles lies in that viewport."""
        self.clear(flags, color, z, stencil, rects, viewport.view)

    # State

    def set_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """SetTransform; the driver's projection ends in the viewport's clip volume."""
        if kind != TransformState.PROJECTION or self._clip == IDENTITY:
            super().set_transform(kind, matrix)
            return
        self.settings.put(Kind.TRANSFORM, kind, tuple(matrix))
        self._send_projection(tuple(matrix))

    def _send_projection(self, matrix: tuple[float, ...]) -> None:
        product = transform_product(matrix, self._clip)
        self.session.emit(Op.SETTRANSFORM, [(int(TransformState.PROJECTION), product)])

    def choose_material(self, material: EarlyMaterial | None) -> None:
        """D3DLIGHTSTATE_MATERIAL; None takes lighting away."""
        self._material = material
        if material is not None:
            self.set_material(material.material)

    def refresh_material(self, material: EarlyMaterial) -> None:
        """The data of a material has changed."""
        if material is self._material:
            self.set_material(material.material)

    def choose_texture(self, texture: DrawSurface | None) -> None:
        """D3DRENDERSTATE_TEXTUREHANDLE: the texture of stage 0."""
        if texture is None:
            self.textures.pop(0, None)
        else:
            self.textures[0] = texture
        handle = texture.handle if texture else 0
        self.set_render_state(RenderState7.TEXTUREHANDLE, handle)

    # Drawing

    def processing_state(self) -> State:
        """The driver's registers, its projection among them."""
        state, projection = super().processing_state(), int(TransformState.PROJECTION)
        product = transform_product(self.transform(projection), self._clip)
        state.set_transform(projection, product)
        return state

    def draw(
        self, primitive: int, format: int, vertices: bytes, count: int,
        indices: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """DrawPrimitive and DrawIndexedPrimitive."""
        self._set_lighting(format)
        super().draw(primitive, format, vertices, count, indices)

    def draw_buffer(
        self, primitive: int, buffer: VertexBuffer, start: int, count: int,
        indices: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """DrawPrimitiveVB and DrawIndexedPrimitiveVB."""
        self._set_lighting(buffer.format)
        super().draw_buffer(primitive, buffer, start, count, indices)

    def _set_lighting(self, format: int) -> None:
        lit = bool(format & NORMAL) and not self.flags & DONOTLIGHT and self._material is not None
        if lit is not self._lit:
            self._lit = lit
            self.set_render_state(RenderState.LIGHTING, int(lit))
