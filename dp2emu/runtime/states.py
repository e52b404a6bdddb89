"""States, lights and targets of a device, and Clear; every Set is sent immediately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import astuple

from dp2emu.argument_check import checked
from dp2emu.d3d import device_states
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import LightType, RenderState, SamplerState, TextureStageState
from dp2emu.d3d.flags import (
    D3DHAL_SETLIGHT_DATA,
    D3DHAL_SETLIGHT_DISABLE,
    D3DHAL_SETLIGHT_ENABLE,
    Clear,
    Usage,
)
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.sdk import sdk_value
from dp2emu.d3d.wirenames import WireTextureStageState
from dp2emu.dp2.tokens.lighting import LIGHT_DTYPE
from dp2emu.gpu.command.bindings import Rect, Viewport
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.runtime.arguments import Box, clip_boxes, dword, handle_of, unit
from dp2emu.runtime.commands import pack
from dp2emu.runtime.objects import Light, Material, Texture
from dp2emu.runtime.session import Refused, Session
from dp2emu.runtime.textures import Textures

WIRE_SAMPLER_STATES = {
    state: sdk_value(WireTextureStageState, f"D3DTSS_{state.name}") for state in SamplerState
}
"""Number of the texture stage state of DirectX 8 that is sent for a sampler state, by sampler
state (wire format, "Texture stages and samplers")."""
DEFAULT_LIGHT = Light(
    LightType.DIRECTIONAL, diffuse=(1.0, 1.0, 1.0, 0.0), direction=(0.0, 0.0, 1.0)
)
"""The light that LightEnable creates for a number without a light: white and directional along
z."""


@checked
class Lights:
    """Sets a device's lights; a light is created in the driver when it is first used.  Mutable."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._created: set[int] = set()

    def set(self, index: int, light: Light) -> None:
        """SetLight, creating the light if it is new."""
        if index not in self._created:
            self._created.add(index)
            self._session.emit(Op.CREATELIGHT, [(index,)])
        data = pack(LIGHT_DTYPE, astuple(light), Op.SETLIGHT)
        self._session.commands.emit_tailed(Op.SETLIGHT, (index, D3DHAL_SETLIGHT_DATA), data)

    def enable(self, index: int, enable: bool) -> None:
        """LightEnable, creating ``DEFAULT_LIGHT`` if the light is new."""
        if index not in self._created:
            self.set(index, DEFAULT_LIGHT)
        kind = D3DHAL_SETLIGHT_ENABLE if enable else D3DHAL_SETLIGHT_DISABLE
        self._session.commands.emit_tailed(Op.SETLIGHT, (index, kind), b"")


@checked
class DeviceStates:
    """The states of a Direct3D 9 or 8 device.  Mutable.

    ``targets`` are the colour targets by index (GetRenderTarget), ``depth_stencil``, ``viewport``
    and ``scissor`` the current ones; ``textures`` has the methods of textures and palettes.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.textures = Textures(session)
        self.targets: dict[int, SurfaceDesc] = {}
        self.depth_stencil: SurfaceDesc | None = None
        self.viewport = Viewport(0, 0, 0, 0)
        self.scissor = Rect(0, 0, 0, 0)
        self._colorless = False
        self._lights = Lights(session)
        self._render = {
            int(key): int(value) for key, value in device_states.DEFAULT_RENDER_STATES.items()
        }
        self._stages: dict[tuple[int, int], int] = {}
        self._samplers: dict[tuple[int, int], int] = {}

    def set_render_state(self, state: RenderState, value: int | float) -> None:
        """SetRenderState; a Python float as ``value`` is sent as the bits of a float32."""
        word = self._render[state] = dword(value)
        self.session.commands.emit(Op.RENDERSTATE, [(state, word)])

    def render_state(self, state: RenderState) -> int:
        """GetRenderState."""
        return self._render.get(state, 0)

    def set_texture_stage_state(
        self, stage: int, state: TextureStageState, value: int | float
    ) -> None:
        """SetTextureStageState of ``stage`` (0 to 7); a Python float as ``value`` is sent as the
        bits of a float32.
        """
        word = self._stages[stage, state] = dword(value)
        self.session.commands.emit(Op.TEXTURESTAGESTATE, [(stage, state, word)])

    def texture_stage_state(self, stage: int, state: TextureStageState) -> int:
        """GetTextureStageState of ``stage``."""
        return self._stages.get((stage, state), device_states.default_stage_state(stage, state))

    def set_sampler_state(self, sampler: int, state: SamplerState, value: int | float) -> None:
        """SetSamplerState of ``sampler`` (0 to 15, of vertices 257 to 260); a Python float as
        ``value`` is sent as the bits of a float32.
        """
        word = self._samplers[sampler, state] = dword(value)
        self.session.commands.emit(
            Op.TEXTURESTAGESTATE, [(sampler, WIRE_SAMPLER_STATES[state], word)]
        )

    def sampler_state(self, sampler: int, state: SamplerState) -> int:
        """GetSamplerState of ``sampler``."""
        default = int(device_states.DEFAULT_SAMPLER_STATES.get(state, 0))
        return self._samplers.get((sampler, state), default)

    def set_texture(self, stage: int, texture: Texture | None) -> None:
        """SetTexture at ``stage`` (0 to 15, of vertices 257 to 260); None unbinds."""
        self.textures.bind(stage, texture)

    def set_transform(self, state: int, matrix: Sequence[float]) -> None:
        """SetTransform of ``state`` (D3DTS): 16 floats, row-major; world matrix i is 256 + i."""
        self.session.emit(Op.SETTRANSFORM, [(state, tuple(matrix))])

    def set_material(self, material: Material) -> None:
        """SetMaterial."""
        self.session.emit(Op.SETMATERIAL, [astuple(material)])

    def set_light(self, index: int, light: Light) -> None:
        """SetLight number ``index``, which creates the light if it is new."""
        self._lights.set(index, light)

    def light_enable(self, index: int, enable: bool) -> None:
        """LightEnable number ``index``, on or off; a light never set becomes ``DEFAULT_LIGHT``."""
        self._lights.enable(index, enable)

    def set_clip_plane(self, index: int, plane: Sequence[float]) -> None:
        """SetClipPlane number ``index``: ``plane`` is four floats."""
        self.session.emit(Op.SETCLIPPLANE, [(index, tuple(plane))])

    def set_viewport(
        self, x: int, y: int, width: int, height: int, min_z: float = 0.0, max_z: float = 1.0
    ) -> None:
        """SetViewport: ``width`` x ``height`` pixels from (``x``, ``y``), depths from ``min_z`` to
        ``max_z``.
        """
        self.viewport = Viewport(x, y, width, height, min_z, max_z)
        self.session.emit(Op.VIEWPORTINFO, [(x, y, width, height)])
        self.session.emit(Op.ZRANGE, [(min_z, max_z)])

    def set_scissor(self, left: int, top: int, right: int, bottom: int) -> None:
        """SetScissorRect in pixels, without the edges ``right`` and ``bottom``; ``left`` and
        ``top`` belong to it.  D3DRS_SCISSORTESTENABLE enables it.
        """
        self.scissor = Rect(left, top, right, bottom)
        self.session.emit(Op.SETSCISSORRECT, [(left, top, right, bottom)])

    # Targets

    def set_targets(self, color: SurfaceDesc, depth: SurfaceDesc | None) -> None:
        """Set target 0 and the depth surface; Direct3D 8 does so in one token.

        The viewport becomes all of the target.
        """
        if self.session.interface >= 9:
            self.set_render_target(0, color)
            self.set_depth_stencil(depth)
            return
        self.session.emit(Op.SETRENDERTARGET, head=(color.handle, handle_of(depth)))
        self.targets[0], self.depth_stencil = color, depth
        self.set_viewport(0, 0, color.width, color.height)

    def set_render_target(
        self, index: int, surface: SurfaceDesc | None, *, colorless: bool = False
    ) -> None:
        """SetRenderTarget number ``index``; a new target 0 resets viewport and scissor to all of
        it.

        A ``colorless`` surface (D3DFMT_NULL) gives its size only; the driver gets no target.
        Raises Refused for None as target 0 and for a surface without D3DUSAGE_RENDERTARGET.
        """
        if surface is None and index == 0:
            raise Refused(HResult.D3DERR_INVALIDCALL, "target 0 must be a surface")
        if surface is not None and not surface.usage & Usage.RENDERTARGET:
            raise Refused(HResult.D3DERR_INVALIDCALL, "the target lacks D3DUSAGE_RENDERTARGET")
        handle = 0 if colorless else handle_of(surface)
        self.session.emit(Op.SETRENDERTARGET2, [(index, handle)])
        if surface is None:
            self.targets.pop(index, None)
            return
        self.targets[index] = surface
        if index == 0:
            self._colorless = colorless
            self.set_viewport(0, 0, surface.width, surface.height)
            self.set_scissor(0, 0, surface.width, surface.height)

    def set_depth_stencil(self, surface: SurfaceDesc | None) -> None:
        """SetDepthStencilSurface; None unbinds.  Raises Refused without D3DUSAGE_DEPTHSTENCIL."""
        if surface is not None and not surface.usage & Usage.DEPTHSTENCIL:
            what = "the depth surface lacks D3DUSAGE_DEPTHSTENCIL"
            raise Refused(HResult.D3DERR_INVALIDCALL, what)
        self.depth_stencil = surface
        self.session.emit(Op.SETDEPTHSTENCIL, [(handle_of(surface),)])

    def clear(
        self,
        flags: int | None = None,
        color: int = 0,
        z: float = 1.0,
        stencil: int = 0,
        rects: Iterable[Box] | None = None,
    ) -> None:
        """Clear ``rects`` of the bound surfaces, or all of the viewport.

        ``flags`` are D3DCLEAR_*, by default for all bound surfaces; ``color`` is A8R8G8B8, ``z``
        from 0 to 1.  Rectangles are clipped to viewport, target and enabled scissor; empty ones
        are ignored.  Raises Refused for depth or ``stencil`` without a depth surface.
        """
        self._clear(flags, (color & 0xFFFFFFFF, unit(z), stencil & 0xFFFFFFFF), rects)
        self.textures.changed(self.targets.values())

    def _clear(
        self, flags: int | None, values: tuple[int, float, int], rects: Iterable[Box] | None
    ) -> None:
        deep = Clear.ZBUFFER | Clear.STENCIL
        if flags is None:
            flags = Clear.TARGET | (deep if self.depth_stencil else 0)
        if not flags or (flags & deep and self.depth_stencil is None):
            raise Refused(HResult.D3DERR_INVALIDCALL, f"Clear of {flags:#x}")
        # The runtimes skip a Clear of a target together with a smaller depth surface.
        if flags & Clear.TARGET and flags & deep and self._depth_is_smaller:
            return
        flags &= ~int(Clear.TARGET) if self._colorless else flags
        items = clip_boxes(rects, self._clear_bounds(flags)) if flags else []
        if items:
            self.session.emit(Op.CLEAR, items, head=(flags, *values))

    def _clear_bounds(self, flags: int) -> Rect:
        """The area that Clear may change: viewport and enabled scissor, inside target 0, or inside
        the depth surface if ``flags`` clear no colour.
        """
        alone = self.depth_stencil if not flags & Clear.TARGET else None
        target, view = alone or self.targets[0], self.viewport
        bounds = Rect(0, 0, target.width, target.height).intersect(
            Rect(view.x, view.y, view.x + view.width, view.y + view.height)
        )
        scissored = self.render_state(RenderState.SCISSORTESTENABLE)
        return bounds.intersect(self.scissor) if scissored else bounds

    @property
    def _depth_is_smaller(self) -> bool:
        depth, target = self.depth_stencil, self.targets[0]
        return depth is not None and (depth.width < target.width or depth.height < target.height)
