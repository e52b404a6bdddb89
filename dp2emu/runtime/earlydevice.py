"""A Direct3D device of DirectX 6 or 7: what IDirect3DDevice3 and IDirect3DDevice7 share.

The device transforms and lights, for applications of DirectX 6 too, so that every vertex goes to
the driver as the application had it.  State numbers and filters are those of the version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import astuple, replace

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import RenderState
from dp2emu.d3d.flags import Clear
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import StateBlockType7
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireRenderState
from dp2emu.dp2.states.raw_state import IDENTITY, TEXTURE_BIND, State, transform_product
from dp2emu.dp2.states.setting_kinds import ONLY, Kind, stage_index
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.runtime.arguments import Box, clip_boxes, depth_range, unit
from dp2emu.runtime.calldraws import CallDraws, VertexBuffer
from dp2emu.runtime.directdraw import DirectDraw
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.lights import DEFAULT_LIGHT, Lights
from dp2emu.runtime.objects import Light, Material
from dp2emu.runtime.palettes import DevicePalettes
from dp2emu.runtime.processing import Span, process, state_of
from dp2emu.runtime.session import Refused
from dp2emu.runtime.settings7 import Settings7
from dp2emu.runtime.texturecopies import copy_levels, one_token

_SCENE_CAPTURE = sdk_value(WireRenderState, "D3DRENDERSTATE_SCENECAPTURE") or 0
_INITIAL = {
    6: {RenderState.SPECULARENABLE: 1, RenderState.NORMALIZENORMALS: 1},
    7: dict[RenderState, int](),
}
"""Defaults of a version that are not those of the driver."""


class EarlyDevice:
    """IDirect3DDevice3 (``interface`` 6) or IDirect3DDevice7 (7) on a surface.

    The depth buffer is the one attached to the target.  ``blocks`` are state blocks by the handles
    that the application knows them by, ``flags`` the D3DDP_* of the next draw.  Mutable: it is a
    device.
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
        self._open()

    def _open(self) -> None:
        depth = self._depth
        self.session.open(self.target.handle, depth.handle if depth else 0)
        self.target.drawn = True
        for state, value in _INITIAL[self.interface].items():
            self.set_render_state(state, value)
        bounds = self.target.bounds
        self.set_viewport(Viewport(0, 0, bounds.right, bounds.bottom))

    def close(self) -> None:
        """The last reference to the device is gone."""
        self.session.close()
        self.ddraw.devices.remove(self)

    # State

    def set_render_state(self, state: int, value: int) -> None:
        """SetRenderState; floats are their bits."""
        self.settings.put(Kind.RENDER_STATE, state, value)
        self.session.emit(Op.RENDERSTATE, [(state, value)])

    def set_stage_state(self, stage: int, state: int, value: int) -> None:
        """SetTextureStageState."""
        self.settings.put(Kind.STAGE_STATE, stage_index(stage, state), value)
        self.session.emit(Op.TEXTURESTAGESTATE, [(stage, state, value)])

    def set_texture(self, stage: int, texture: DrawSurface | None) -> None:
        """SetTexture; None unbinds."""
        if texture is None:
            self.textures.pop(stage, None)
        else:
            self.textures[stage] = texture
        self.set_stage_state(stage, TEXTURE_BIND, texture.handle if texture else 0)

    def set_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """SetTransform: 16 floats, row-major."""
        self.settings.put(Kind.TRANSFORM, kind, tuple(matrix))
        self.session.emit(Op.SETTRANSFORM, [(kind, tuple(matrix))])

    def transform(self, kind: int) -> tuple[float, ...]:
        """GetTransform."""
        found: tuple[float, ...] = self.settings.pending(Kind.TRANSFORM, kind, IDENTITY)
        return found

    def multiply_transform(self, kind: int, matrix: Sequence[float]) -> None:
        """MultiplyTransform: the matrix times the current one; drivers get the product."""
        self.set_transform(kind, transform_product(matrix, self.transform(kind)))

    def set_material(self, material: Material) -> None:
        """SetMaterial."""
        self.settings.put(Kind.MATERIAL, ONLY, material)
        self.session.emit(Op.SETMATERIAL, [astuple(material)])

    def set_light(self, index: int, light: Light) -> None:
        """SetLight; the light is created with its first description."""
        self.settings.put(Kind.LIGHT, index, light)
        self._lights.set(index, light)

    def light_enable(self, index: int, enable: bool) -> None:
        """LightEnable; a light nobody described is then a white directional one along z."""
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
        """SetRenderTarget; the viewport stays as it is."""
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
        """EndStateBlock: the handle of what was recorded."""
        self.settings.end(self._last_block)
        self._block(StateSetOperation.END, self._last_block)
        return self._last_block

    def create_block(self, type: StateBlockType7) -> int:
        """CreateStateBlock: its handle."""
        self._last_block += 1
        self.settings.create(self._last_block, type)
        self._block(StateSetOperation.CREATE, self._last_block, type)
        return self._last_block

    def apply_block(self, handle: int) -> None:
        """ApplyStateBlock."""
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
        """EndScene: what is waiting is submitted."""
        self.session.emit(Op.RENDERSTATE, [(_SCENE_CAPTURE, 0)])
        self.session.flush()

    def clear(
        self, flags: int, color: int, z: float, stencil: int,
        rects: Iterable[Box] | None = None, view: Viewport | None = None,
    ) -> None:  # fmt: skip
        """Clear: what of the rectangles, by default everything, lies in a viewport, by default
        the current one, and in the target.  Raises Refused for depth without a depth buffer.
        """
        self._refresh()
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
        """ProcessVertices, under the states there are."""
        memory, state = self.ddraw.settle(), self.processing_state()
        process(memory, made, given, operation, flags, state, self._sent_viewport)

    def processing_state(self) -> State:
        """The driver's registers, as far as they matter to vertices."""
        return state_of(self.settings.all())

    @property
    def _sent_viewport(self) -> Viewport:
        near, far = depth_range(self.viewport.min_z, self.viewport.max_z)
        return replace(self.viewport, min_z=near, max_z=far)

    def load(
        self, target: DrawSurface, point: tuple[int, int], source: DrawSurface, rect: Rect,
        faces: int = 0,
    ) -> None:  # fmt: skip
        """Load: a rectangle of a texture, on every level that both have, with palette and keys.

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
        """The target may have got another depth buffer, and textures other palettes."""
        self._refresh()
        self._mark_drawn()
        for texture in self.textures.values():
            self._palettes.attach(texture)

    def _refresh(self) -> None:
        if self.target.depth is not self._depth:
            self._bind_target()

    def _mark_drawn(self) -> None:
        self.target.drawn = True
        if self._depth is not None:
            self._depth.drawn = True
