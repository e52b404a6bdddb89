"""Methods of IDirect3D to IDirect3D3, their devices, viewports, lights, materials and textures."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.legacy import RenderState7
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.retrace.arguments import Arguments, integer, members, real
from dp2emu.retrace.ddraw.drawing import indices_of
from dp2emu.retrace.ddraw.lifetimes import MATERIALS, TEXTURES, VIEWPORTS, bind_argument
from dp2emu.retrace.ddraw.records import light, material, rectangles
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, UNCHANGED, Program, inert, lost, method
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import LIGHT_STATES, Device3
from dp2emu.runtime.texturecopies import copy_levels
from dp2emu.runtime.viewports import ClipVolume, EarlyLight, EarlyMaterial, EarlyViewport

_ROOTS = "IDirect3D IDirect3D2 IDirect3D3"
_DEVICES = "IDirect3DDevice2 IDirect3DDevice3"
_EXECUTED = "execute buffers are not recorded"
TEXTURE, MATERIAL = "texture", "material"
"""First parts of keys of ``Program.handles``, for objects that the program names by a number."""
_FORMATS = {1: 0x112, 2: 0x1E2, 3: 0x1C4}
"""Flexible vertex format (FVF) by D3DVERTEXTYPE number: of D3DVERTEX, D3DLVERTEX and
D3DTLVERTEX."""

inert(_ROOTS, "AddRef Initialize EnumDevices FindDevice EnumZBufferFormats", NO_EFFECT)
inert("IDirect3D3", "EvictManagedTextures", "All textures have room.")
inert(
    _DEVICES,
    "AddRef GetCaps GetStats NextViewport EnumTextureFormats GetCurrentViewport GetRenderState "
    "GetLightState GetTransform SetClipStatus GetClipStatus ComputeSphereVisibility "
    "GetTextureStageState ValidateDevice",
    NO_EFFECT,
)
lost(_DEVICES, "Begin BeginIndexed Vertex Index End",
     "vertices between Begin and End are not recorded")  # fmt: skip
inert(
    "IDirect3DDevice",
    "AddRef Initialize GetCaps GetStats NextViewport Pick GetPickRecords EnumTextureFormats "
    "GetMatrix BeginScene EndScene GetDirect3D AddViewport DeleteViewport",
    NO_EFFECT,
)
lost("IDirect3DDevice",
     "SwapTextureHandles CreateExecuteBuffer Execute CreateMatrix SetMatrix DeleteMatrix",
     _EXECUTED)  # fmt: skip
inert("IDirect3DExecuteBuffer", "AddRef Initialize GetExecuteData Validate Optimize", NO_EFFECT)
lost("IDirect3DExecuteBuffer", "Lock Unlock SetExecuteData", _EXECUTED)
inert(
    VIEWPORTS,
    "AddRef Initialize GetViewport GetViewport2 TransformVertices LightElements GetBackground "
    "GetBackgroundDepth GetBackgroundDepth2 NextLight",
    NO_EFFECT,
)
lost(VIEWPORTS, "SetBackgroundDepth SetBackgroundDepth2", "backgrounds have no depth here")
inert(MATERIALS, "AddRef Initialize GetMaterial Reserve Unreserve", NO_EFFECT)
inert("IDirect3DLight", "AddRef Initialize GetLight", NO_EFFECT)
inert(TEXTURES, "AddRef Initialize PaletteChanged Unload", UNCHANGED)


def _device(call: Arguments) -> Device3:
    return call.thing("this", Device3)


def _viewport(call: Arguments) -> EarlyViewport:
    return call.thing("this", EarlyViewport)


def _devices(program: Program) -> list[Device3]:
    return [device for device in program.ddraw.devices if isinstance(device, Device3)]


# Creation


@method("IDirect3D2 IDirect3D3", "CreateDevice")
def create_device(program: Program, call: Arguments) -> None:
    """Creates a context of DirectX 6 on a surface and its attached depth buffer."""
    target = call.thing("lpDDS", DrawSurface)
    name = call.starting("lplpD3DDevice")
    bind_argument(program, call, name, Device3(program.ddraw, target))


@method(_ROOTS, "CreateViewport")
def create_viewport(program: Program, call: Arguments) -> None:
    """Creates a viewport, which has no device yet."""
    bind_argument(program, call, call.starting("lplpD3DViewport"), EarlyViewport())


@method(_ROOTS, "CreateLight")
def create_light(program: Program, call: Arguments) -> None:
    """Creates a light, which has no viewport yet."""
    bind_argument(program, call, call.starting("lplpDirect3DLight"), EarlyLight())


@method(_ROOTS, "CreateMaterial")
def create_material(program: Program, call: Arguments) -> None:
    """Creates a material."""
    bind_argument(program, call, call.starting("lplpDirect3DMaterial"), EarlyMaterial())


# Viewports


def _named_viewport(call: Arguments) -> EarlyViewport:
    return call.thing(call.starting("lpDirect3DViewport"), EarlyViewport)


@method(_DEVICES, "AddViewport")
def add_viewport(program: Program, call: Arguments) -> None:
    """Adds a viewport to a device."""
    _device(call).viewports.append(_named_viewport(call))


@method(_DEVICES, "DeleteViewport")
def delete_viewport(program: Program, call: Arguments) -> None:
    """Removes a viewport from a device, which no longer uses it."""
    _device(call).drop(_named_viewport(call))


@method(_DEVICES, "SetCurrentViewport")
def set_current_viewport(program: Program, call: Arguments) -> None:
    """Sets the rectangle, clip volume and lights of a viewport."""
    viewport = call.optional(call.starting("lpDirect3DViewport"), EarlyViewport)
    _device(call).select(viewport)


@method(VIEWPORTS, "SetViewport")
def set_viewport(program: Program, call: Arguments) -> None:
    """Sets a viewport's rectangle, and scales around its centre."""
    of = call.struct("lpData")
    view = _view(of)
    names = "dvScaleX", "dvScaleY", "dvMinZ", "dvMaxZ"
    _place(program, call, view, ClipVolume.scaled(view, *members(of, names, real)))


@method("IDirect3DViewport2 IDirect3DViewport3", "SetViewport2")
def set_viewport_2(program: Program, call: Arguments) -> None:
    """Sets a viewport's rectangle and clip volume."""
    of = call.struct("lpData")
    names = "dvClipX", "dvClipY", "dvClipWidth", "dvClipHeight", "dvMinZ", "dvMaxZ"
    _place(program, call, _view(of), ClipVolume(*members(of, names, real)))


def _view(of: Struct) -> Viewport:
    return Viewport(*members(of, ("dwX", "dwY", "dwWidth", "dwHeight"), integer))


def _place(program: Program, call: Arguments, view: Viewport, volume: ClipVolume) -> None:
    viewport = _viewport(call)
    viewport.view, viewport.volume = view, volume
    for device in _devices(program):
        if device.current is viewport:
            device.refresh_viewport()


@method(VIEWPORTS, "Clear")
def clear(program: Program, call: Arguments) -> None:
    """Clears rectangles of the viewport to the background's colour and the greatest depth."""
    _clear(program, call, _viewport(call).background_color, 1.0, 0)


@method("IDirect3DViewport3", "Clear2")
def clear_2(program: Program, call: Arguments) -> None:
    """Clears colour, depth and stencil in rectangles of the viewport."""
    color, stencil = call.integer("dwColor"), call.integer("dwStencil")
    _clear(program, call, color, call.real("dvZ"), stencil)


def _clear(program: Program, call: Arguments, color: int, z: float, stencil: int) -> None:
    viewport, boxes = _viewport(call), rectangles(call, "dwCount", "lpRects")
    if not boxes:
        return
    owners = [device for device in _devices(program) if viewport in device.viewports]
    if not owners:
        raise Inexpressible("a viewport of no device")
    owners[0].clear(call.integer("dwFlags"), color, z, stencil, boxes, viewport.view)


@method(VIEWPORTS, "SetBackground")
def set_background(program: Program, call: Arguments) -> None:
    """Sets the background material, whose diffuse colour Clear uses."""
    found = program.handles.get((MATERIAL, call.integer("hMat")))
    _viewport(call).background = found if isinstance(found, EarlyMaterial) else None


# Lights and materials


@method(VIEWPORTS, "AddLight")
def add_light(program: Program, call: Arguments) -> None:
    """Adds a light, which is enabled while its viewport is current."""
    viewport, given = _viewport(call), call.thing("lpDirect3DLight", EarlyLight)
    if given not in viewport.lights:
        viewport.lights.append(given)
    for device in _devices(program):
        device.light_changed(given)


@method(VIEWPORTS, "DeleteLight")
def delete_light(program: Program, call: Arguments) -> None:
    """Removes and disables a light."""
    viewport, given = _viewport(call), call.thing("lpDirect3DLight", EarlyLight)
    if given in viewport.lights:
        viewport.lights.remove(given)
    for device in _devices(program):
        if device.current is viewport:
            device.disable_light(given)


@method("IDirect3DLight", "SetLight")
def set_light(program: Program, call: Arguments) -> None:
    """Sets a light's properties; traces lack its flags, so it counts as active."""
    given = call.thing("this", EarlyLight)
    given.light = light(call.struct("lpLight"))
    for device in _devices(program):
        device.light_changed(given)


@method(MATERIALS, "SetMaterial")
def set_material(program: Program, call: Arguments) -> None:
    """Sets the colours of a material."""
    given = call.thing("this", EarlyMaterial)
    given.material = material(call.struct("lpMat"))
    for device in _devices(program):
        device.refresh_material(given)


@method(MATERIALS, "GetHandle")
def get_material_handle(program: Program, call: Arguments) -> None:
    """Returns the material's handle."""
    handle = call.address("lpHandle")
    program.handles[MATERIAL, handle] = call.thing("this", EarlyMaterial)


@method(_DEVICES, "SetLightState")
def set_light_state(program: Program, call: Arguments) -> None:
    """Sets the material, or the render state of a light state; the colour model has no effect."""
    number, value = call.integer("dwLightStateType"), call.dword("dwLightState")
    device = _device(call)
    if number in LIGHT_STATES:
        device.set_render_state(LIGHT_STATES[number], value)
    elif number == 1:
        found = program.handles.get((MATERIAL, value))
        device.choose_material(found if isinstance(found, EarlyMaterial) else None)


# States and textures


@method(_DEVICES, "SetRenderState")
def set_render_state(program: Program, call: Arguments) -> None:
    """Sets a render state; D3DRENDERSTATE_TEXTUREHANDLE sets the texture of that handle."""
    number, value = call.integer("dwRenderStateType"), call.dword("dwRenderState")
    if number != RenderState7.TEXTUREHANDLE:
        _device(call).set_render_state(number, value)
        return
    found = program.handles.get((TEXTURE, value))
    if value and not isinstance(found, DrawSurface):
        raise Inexpressible(f"no texture handle {value:#x}")
    _device(call).choose_texture(found if isinstance(found, DrawSurface) else None)


@method(TEXTURES, "GetHandle")
def get_texture_handle(program: Program, call: Arguments) -> None:
    """Returns the texture's handle for D3DRENDERSTATE_TEXTUREHANDLE."""
    program.handles[TEXTURE, call.address("lpHandle")] = call.thing("this", DrawSurface)


@method("IDirect3DDevice2", "SwapTextureHandles")
def swap_texture_handles(program: Program, call: Arguments) -> None:
    """Exchanges the handles of two textures."""
    one, other = (call.thing(name, DrawSurface) for name in ("lpD3DTex1", "lpD3DTex2"))
    swapped = {one: other, other: one}
    for key, thing in program.handles.items():
        if key[0] == TEXTURE and thing in swapped:
            program.handles[key] = swapped[thing]


@method(TEXTURES, "Load")
def load(program: Program, call: Arguments) -> None:
    """Copies all levels of another texture, with its colour keys and palette."""
    source = call.thing(call.starting("lpD3DTexture"), DrawSurface)
    target = call.thing("this", DrawSurface)
    program.ddraw.take_over(target, source)
    copy_levels(program.ddraw, target, source)


@method("IDirect3DDevice2", "DrawPrimitive DrawIndexedPrimitive")
def draw_primitive(program: Program, call: Arguments) -> None:
    """Draws vertices of three types, 32 bytes each; a loss if fewer bytes were recorded."""
    device, count = _device(call), call.integer("dwVertexCount")
    kind = call.integer("d3dvtVertexType")
    if kind not in _FORMATS:
        raise Inexpressible(f"vertices of kind {kind}")
    vertices = call.blob("lpvVertices") if count else b""
    if len(vertices) < 32 * count:
        raise Inexpressible(f"{len(vertices)} bytes of {count} vertices were recorded")
    indices = indices_of(call, "lpwIndices") if "Indexed" in call.call.name else None
    device.flags = call.integer("dwFlags")
    primitive = call.integer("d3dptPrimitiveType")
    if count:
        device.draw(primitive, _FORMATS[kind], vertices, count, indices)
