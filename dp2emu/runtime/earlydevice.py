"""Direct3D devices of DirectX 5 to 7: IDirect3DDevice2, IDirect3DDevice3 and IDirect3DDevice7.

The device transforms and lights, for applications of DirectX 5 and 6 too, so that vertices reach
the driver unchanged; a viewport's clip volume becomes part of the projection.  State numbers and
filters are the interface version's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import astuple, replace

from dp2emu.argument_check import checked
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState, TransformState
from dp2emu.d3d.flags import DDRAWIPAL_ALPHA, Clear
from dp2emu.d3d.formats import FORMATS, Use
from dp2emu.d3d.fvf import NORMAL
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7, StateBlockType7
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireRenderState
from dp2emu.dp2.states.raw_state import IDENTITY, TEXTURE_BIND, State, transform_product
from dp2emu.dp2.states.setting_kinds import ONLY, Kind, stage_index
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.runtime.arguments import Box, clip_boxes, depth_range, floats, unit
from dp2emu.runtime.calldraws import CallDraws, VertexBuffer
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.objects import Light, Material
from dp2emu.runtime.processing import Span, process, state_of
from dp2emu.runtime.session import Refused, Session
from dp2emu.runtime.settings7 import Settings7
from dp2emu.runtime.states import DEFAULT_LIGHT, Lights
from dp2emu.runtime.texturecopies import copy_levels, one_token
from dp2emu.runtime.viewports import EarlyLight, EarlyMaterial, EarlyViewport

_SCENE_CAPTURE = sdk_value(WireRenderState, "D3DRENDERSTATE_SCENECAPTURE") or 0
_INITIAL = {
    6: {RenderState.SPECULARENABLE: 1, RenderState.NORMALIZENORMALS: 1},
    7: dict[RenderState, int](),
}
"""Values of render states that a new device sends since they differ from the driver's initial
ones, by interface version (6 or 7), then state."""
DONOTLIGHT = 0x10
"""D3DDP_DONOTLIGHT, the flag of a draw that is not to be lit."""
LIGHT_STATES = {
    2: RenderState.AMBIENT,
    4: RenderState.FOGVERTEXMODE,
    5: RenderState.FOGSTART,
    6: RenderState.FOGEND,
    7: RenderState.FOGDENSITY,
    8: RenderState.COLORVERTEX,
}
"""Render states of DirectX 7 by D3DLIGHTSTATE number; D3DLIGHTSTATE_MATERIAL (1) has none."""
_PROJECTION = int(TransformState.PROJECTION)


class DevicePalettes:
    """The texture palettes that a device sent to its driver, and the textures that they are
    attached to.  Mutable.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sent: dict[int, int] = {}
        self._attached: dict[int, int] = {}

    def attach(self, texture: DrawSurface) -> None:
        """Before a draw: send a texture's palette if it changed, and attach it if it is not."""
        palette = texture.palette
        if palette is None or Use.PALETTE not in FORMATS[texture.format].uses:
            return
        number, entries = palette.number, palette.entries
        if self._sent.get(number) != palette.version:
            self._sent[number] = palette.version
            tail = b"".join(map(bytes, entries))
            item = (number, 0, len(entries))
            self._session.commands.emit_tailed(Op.UPDATEPALETTE, item, tail)
        if self._attached.get(texture.desc.handle) != number:
            self._attached[texture.desc.handle] = number
            flags = int(DDRAWIPAL_ALPHA) if palette.alpha else 0
            self._session.emit(Op.SETPALETTE, [(number, flags, texture.desc.handle)])


@checked
class EarlyDevice:
    """IDirect3DDevice3 (``interface`` 6) or IDirect3DDevice7 (7) on a surface.  Mutable.

    The depth buffer is attached to the target.  ``blocks`` has state blocks by the application's
    handles, ``flags`` the D3DDP_* of the next draw.
    """

    def __init__(self, ddraw: DirectDraw, target: DrawSurface, interface: int) -> None:
        self.ddraw = ddraw
        self.target = target
        self.interface = interface
        self.session = ddraw.session(interface)
        self.settings = Settings7()
        self.textures: dict[int, DrawSurface] = {}
        self.blocks: dict[int, int] = {}
        self.flags = 0
        self._draws = CallDraws(self.session)
        self._lights = Lights(self.session)
        self._palettes = DevicePalettes(self.session)
        self._depth = target.depth
        self._last_block = 0
        self.viewport = Viewport(0, 0, 0, 0)
        ddraw.devices.append(self)
        self.session.open(target.handle, self._depth.handle if self._depth else 0)
        target.drawn = True
        for state, value in _INITIAL[interface].items():
            self.set_render_state(state, value)
        self.set_viewport(Viewport(0, 0, target.bounds.right, target.bounds.bottom))

    def close(self) -> None:
        """Destroy the device, whose last reference was released."""
        self.session.close()
        self.ddraw.devices.remove(self)

    # State

    def set_render_state(self, state: int, value: int) -> None:
        """SetRenderState; a float ``value`` is passed as its bits."""
        self.settings.put(Kind.RENDER_STATE, state, value)
        self.session.emit(Op.RENDERSTATE, [(state, value)])

    def set_stage_state(self, stage: int, state: int, value: int) -> None:
        """SetTextureStageState."""
        self.settings.put(Kind.STAGE_STATE, stage_index(stage, state), value)
        self.session.emit(Op.TEXTURESTAGESTATE, [(stage, state, value)])

    def set_texture(self, stage: int, texture: DrawSurface | None) -> None:
        """SetTexture; None unbinds."""
        self._keep_texture(stage, texture)
        self.set_stage_state(stage, TEXTURE_BIND, texture.handle if texture else 0)

    def _keep_texture(self, stage: int, texture: DrawSurface | None) -> None:
        if texture is None:
            self.textures.pop(stage, None)
        else:
            self.textures[stage] = texture

    def set_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """SetTransform: 16 floats, row-major."""
        self.settings.put(Kind.TRANSFORM, kind, tuple(matrix))
        self.session.emit(Op.SETTRANSFORM, [(kind, tuple(matrix))])

    def transform(self, kind: int) -> tuple[float, ...]:
        """GetTransform."""
        found: tuple[float, ...] = self.settings.pending(Kind.TRANSFORM, kind, IDENTITY)
        return found

    def multiply_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """MultiplyTransform: set the matrix, 16 floats, times the current one."""
        rows = floats(matrix, 16)
        self.set_transform(kind, transform_product(rows, self.transform(kind)))

    def set_material(self, material: Material) -> None:
        """SetMaterial."""
        self.settings.put(Kind.MATERIAL, ONLY, material)
        self.session.emit(Op.SETMATERIAL, [astuple(material)])

    def set_light(self, index: int, light: Light) -> None:
        """SetLight, creating the light if it is new."""
        self.settings.put(Kind.LIGHT, index, light)
        self._lights.set(index, light)

    def light_enable(self, index: int, enable: bool) -> None:
        """LightEnable, creating ``DEFAULT_LIGHT`` if the light is new."""
        if self.settings.pending(Kind.LIGHT, index, None) is None:
            self.settings.put(Kind.LIGHT, index, DEFAULT_LIGHT)
        self.settings.put(Kind.LIGHT_ENABLE, index, enable)
        self._lights.enable(index, enable)

    def set_clip_plane(self, index: int, plane: Sequence[float]) -> None:
        """SetClipPlane: four floats."""
        self.settings.put(Kind.CLIP_PLANE, index, tuple(plane))
        self.session.emit(Op.SETCLIPPLANE, [(index, tuple(plane))])

    def set_viewport(self, view: Viewport) -> None:
        """SetViewport."""
        if not self.settings.recording:
            self.viewport = view
        self.settings.put(Kind.VIEWPORT, ONLY, view)
        self._send_viewport(view)

    def _send_viewport(self, view: Viewport) -> None:
        self.session.emit(Op.VIEWPORTINFO, [(view.x, view.y, view.width, view.height)])
        self.session.emit(Op.ZRANGE, [depth_range(view.min_z, view.max_z)])

    def set_target(self, target: DrawSurface) -> None:
        """SetRenderTarget; the viewport does not change."""
        self.target = target
        self._bind_target()

    def _bind_target(self) -> None:
        self._depth = self.target.depth
        depth = self._depth.handle if self._depth else 0
        self.session.emit(Op.SETRENDERTARGET, head=(self.target.handle, depth))
        self._send_viewport(self.viewport)

    # State blocks

    def begin_block(self) -> None:
        """BeginStateBlock."""
        self.settings.begin()
        self._last_block += 1
        self._block(StateSetOperation.BEGIN, self._last_block)

    def end_block(self) -> int:
        """EndStateBlock; returns the handle of the recorded block."""
        self.settings.end(self._last_block)
        self._block(StateSetOperation.END, self._last_block)
        return self._last_block

    def create_block(self, type: StateBlockType7) -> int:
        """CreateStateBlock; returns the handle."""
        self._last_block += 1
        self.settings.create(self._last_block, type)
        self._block(StateSetOperation.CREATE, self._last_block, type)
        return self._last_block

    def apply_block(self, handle: int) -> None:
        """ApplyStateBlock of the block with the application's ``handle``."""
        self.settings.apply(handle)
        self.viewport = self.settings.get(Kind.VIEWPORT, ONLY, self.viewport)
        self._block(StateSetOperation.EXECUTE, handle)

    def capture_block(self, handle: int) -> None:
        """CaptureStateBlock."""
        self.settings.capture(handle)
        self._block(StateSetOperation.CAPTURE, handle)

    def delete_block(self, handle: int) -> None:
        """DeleteStateBlock."""
        self.settings.delete(handle)
        self._block(StateSetOperation.DELETE, handle)

    def _block(self, operation: StateSetOperation, handle: int, type: int = 0) -> None:
        self.session.emit(Op.STATESET, [(operation, handle, type)])

    # Drawing

    def begin_scene(self) -> None:
        """BeginScene."""
        self.session.emit(Op.RENDERSTATE, [(_SCENE_CAPTURE, 1)])

    def end_scene(self) -> None:
        """EndScene, which submits the command buffer."""
        self.session.emit(Op.RENDERSTATE, [(_SCENE_CAPTURE, 0)])
        self.session.flush()

    def clear(
        self, flags: int, color: int, z: float, stencil: int,
        rects: Iterable[Box] | None = None, view: Viewport | None = None,
    ) -> None:  # fmt: skip
        """Clear rectangles, by default all, clipped to the target and a viewport, by default the
        current one.  Raises Refused for depth without a depth buffer.
        """
        self._update_depth()
        deep = flags & (Clear.ZBUFFER | Clear.STENCIL)
        if deep and self._depth is None:
            raise Refused(HResult.D3DERR_ZBUFFER_NOTPRESENT, "Clear of depth without a buffer")
        view = view or self.viewport
        inside = Rect(view.x, view.y, view.x + view.width, view.y + view.height)
        items = clip_boxes(rects, inside.intersect(self.target.bounds))
        if items:
            head = (flags, color & 0xFFFFFFFF, unit(z), stencil & 0xFFFFFFFF)
            self.session.emit(Op.CLEAR, items, head=head)
            self._mark_drawn()

    def draw(
        self, primitive: int, format: int, vertices: bytes, count: int,
        indices: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """DrawPrimitive and DrawIndexedPrimitive."""
        self._before_draw()
        self._draws.user(primitive, format, vertices, count, indices)

    def draw_buffer(
        self, primitive: int, buffer: VertexBuffer, start: int, count: int,
        indices: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        """DrawPrimitiveVB and DrawIndexedPrimitiveVB; ``indices`` count from ``start``."""
        self._before_draw()
        self._draws.buffer(primitive, buffer, start, count, indices)

    def process(self, made: Span, given: Span, operation: int, flags: int) -> None:
        """ProcessVertices from ``given`` into ``made``, under the device's current states."""
        near, far = depth_range(self.viewport.min_z, self.viewport.max_z)
        view = replace(self.viewport, min_z=near, max_z=far)
        memory, state = self.ddraw.settle(), self.processing_state()
        process(memory, made, given, operation, flags, state, view)

    def processing_state(self) -> State:
        """A copy of the driver's state, as far as it affects vertices."""
        return state_of(self.settings.all())

    def load(
        self, target: DrawSurface, point: tuple[int, int], source: DrawSurface, rect: Rect,
        faces: int = 0,
    ) -> None:  # fmt: skip
        """Load: copy ``rect`` of a texture to ``point`` of another on every common level, with
        palette and colour keys.

        ``faces`` are DDSCAPS2_CUBEMAP_* flags, 0 for all.  Raises as ``copy_levels``.
        """
        self.ddraw.take_over(target, source)
        if not one_token(target, source, faces):
            copy_levels(self.ddraw, target, source, point, rect, faces)
            return
        corners = rect.left, rect.top, rect.right, rect.bottom
        self.session.emit(Op.TEXBLT, [(target.desc.handle, source.desc.handle, point, corners, 0)])
        for level in (*target.levels(), *(low for top in target.attached for low in top.levels())):
            level.drawn = True

    def set_lod(self, texture: DrawSurface, level: int) -> None:
        """SetLOD of a managed texture."""
        self.session.emit(Op.SETTEXLOD, [(texture.desc.handle, level)])

    def _before_draw(self) -> None:
        self._update_depth()
        self._mark_drawn()
        for texture in self.textures.values():
            self._palettes.attach(texture)

    def _update_depth(self) -> None:
        """Bind the render target again if another depth buffer was attached to it since."""
        if self.target.depth is not self._depth:
            self._bind_target()

    def _mark_drawn(self) -> None:
        self.target.drawn = True
        if self._depth is not None:
            self._depth.drawn = True


@checked
class Device3(EarlyDevice):
    """IDirect3DDevice2 and IDirect3DDevice3, whose viewports, lights and materials are objects.

    Vertices with a normal are lit if a material is selected and the draw lacks D3DDP_DONOTLIGHT.
    Mutable.
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
                self.disable_light(light)
        for light in after:
            self._enable_light(light)
        self.refresh_viewport()

    def refresh_viewport(self) -> None:
        """Send the current viewport and its projection."""
        if self.current is None or self.current.view is None:
            return
        view = self.current.view
        self._clip = self.current.volume.matrix()
        self.set_viewport(Viewport(view.x, view.y, view.width, view.height))
        self._send_projection(self.transform(_PROJECTION))

    def drop(self, viewport: EarlyViewport) -> None:
        """DeleteViewport."""
        if viewport in self.viewports:
            self.viewports.remove(viewport)
        if viewport is self.current:
            self.select(None)

    def light_changed(self, light: EarlyLight) -> None:
        """Send a new or changed light if its viewport is current."""
        if self.current is not None and light in self.current.lights:
            self._enable_light(light)

    def disable_light(self, light: EarlyLight) -> None:
        """Disable a light, if the driver has it."""
        if light.index is not None:
            self.light_enable(light.index, False)

    def _enable_light(self, light: EarlyLight) -> None:
        if light.light is None:
            return
        if light.index is None:
            light.index = self._light_count
            self._light_count += 1
        self.set_light(light.index, light.light)
        self.light_enable(light.index, True)

    # State

    def set_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """SetTransform; a projection is sent combined with the viewport's clip volume."""
        if kind != _PROJECTION or self._clip == IDENTITY:
            super().set_transform(kind, matrix)
            return
        self.settings.put(Kind.TRANSFORM, kind, tuple(matrix))
        self._send_projection(tuple(matrix))

    def _send_projection(self, matrix: tuple[float, ...]) -> None:
        product = transform_product(matrix, self._clip)
        self.session.emit(Op.SETTRANSFORM, [(_PROJECTION, product)])

    def choose_material(self, material: EarlyMaterial | None) -> None:
        """D3DLIGHTSTATE_MATERIAL; None turns lighting off."""
        self._material = material
        if material is not None:
            self.set_material(material.material)

    def refresh_material(self, material: EarlyMaterial) -> None:
        """Send a material, whose colours have changed, if it is the current one."""
        if material is self._material:
            self.set_material(material.material)

    def choose_texture(self, texture: DrawSurface | None) -> None:
        """D3DRENDERSTATE_TEXTUREHANDLE: the texture of stage 0."""
        self._keep_texture(0, texture)
        self.set_render_state(RenderState7.TEXTUREHANDLE, texture.handle if texture else 0)

    # Drawing

    def processing_state(self) -> State:
        """A copy of the driver's state, as far as it affects vertices; the projection includes the
        viewport's clip volume.
        """
        state = super().processing_state()
        product = transform_product(self.transform(_PROJECTION), self._clip)
        state.set_transform(_PROJECTION, product)
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
        """DrawPrimitiveVB and DrawIndexedPrimitiveVB; ``indices`` count from ``start``."""
        self._set_lighting(buffer.format)
        super().draw_buffer(primitive, buffer, start, count, indices)

    def _set_lighting(self, format: int) -> None:
        lit = bool(format & NORMAL) and not self.flags & DONOTLIGHT and self._material is not None
        if lit is not self._lit:
            self._lit = lit
            self.set_render_state(RenderState.LIGHTING, int(lit))
