"""IDirect3D2 and 3, their devices, viewports, lights, materials and textures."""

from __future__ import annotations

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.legacy import RenderState7
from dp2emu.gpu.command.bindings import Viewport
from dp2emu.retrace.arguments import Arguments, integer, members, real
from dp2emu.retrace.ddraw.drawing import indices_of
from dp2emu.retrace.ddraw.lifetimes import bind_argument
from dp2emu.retrace.ddraw.records import light, material, rectangles
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, inert, lost, method
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import LIGHT_STATES, Device3
from dp2emu.runtime.texturecopies import copy_levels
from dp2emu.runtime.viewports import ClipVolume, EarlyLight, EarlyMaterial, EarlyViewport

_ASKED = "Only asks; nothing for the driver."
_VIEWPORTS = "IDirect3DViewport", "IDirect3DViewport2", "IDirect3DViewport3"
_MATERIALS = "IDirect3DMaterial", "IDirect3DMaterial2", "IDirect3DMaterial3"
_TEXTURES = "IDirect3DTexture", "IDirect3DTexture2"
_DEVICES = "IDirect3DDevice2", "IDirect3DDevice3"
_IMMEDIATE = "vertices between Begin and End are not recorded"
_EXECUTED = "execute buffers are not recorded"
TEXTURE, MATERIAL = "texture", "material"
"""Kinds of handles that a program knows things by."""

for _interface in ("IDirect3D", "IDirect3D2", "IDirect3D3"):
    inert(_interface, "AddRef Initialize EnumDevices FindDevice EnumZBufferFormats", _ASKED)
inert("IDirect3D3", "EvictManagedTextures", "All textures have room.")
for _interface in _DEVICES:
    inert(
        _interface,
        "AddRef GetCaps GetStats NextViewport EnumTextureFormats GetCurrentViewport "
        "GetRenderState GetLightState GetTransform SetClipStatus GetClipStatus "
        "ComputeSphereVisibility GetTextureStageState ValidateDevice",
        _ASKED,
    )
    lost(_interface, "Begin BeginIndexed Vertex Index End", _IMMEDIATE)
inert(
    "IDirect3DDevice",
    "AddRef Initialize GetCaps GetStats NextViewport Pick GetPickRecords EnumTextureFormats "
    "GetMatrix BeginScene EndScene GetDirect3D AddViewport DeleteViewport",
    _ASKED,
)
lost("IDirect3DDevice", "SwapTextureHandles CreateExecuteBuffer Execute CreateMatrix SetMatrix "
     "DeleteMatrix", _EXECUTED)  # fmt: skip
inert("IDirect3DExecuteBuffer", "AddRef Initialize GetExecuteData Validate Optimize", _ASKED)
lost("IDirect3DExecuteBuffer", "Lock Unlock SetExecuteData", _EXECUTED)
for _interface in _VIEWPORTS:
    inert(
        _interface,
        "AddRef Initialize GetViewport GetViewport2 TransformVertices LightElements "
        "GetBackground GetBackgroundDepth GetBackgroundDepth2 NextLight",
        _ASKED,
    )
    lost(_interface, "SetBackgroundDepth SetBackgroundDepth2", "backgrounds have no depth here")
for _interface in _MATERIALS:
    inert(_interface, "AddRef Initialize GetMaterial Reserve Unreserve", _ASKED)
inert("IDirect3DLight", "AddRef Initialize GetLight", _ASKED)
for _interface in _TEXTURES:
    inert(_interface, "AddRef Initialize PaletteChanged Unload", "Changes nothing that is drawn.")


def _rows(interfaces: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(f"{interface}::{name}" for interface in interfaces)


def _device(call: Arguments) -> Device3:
    return call.thing("this", Device3)


def _first(call: Arguments, start: str) -> str:
    """The argument whose name begins so; versions spell its end differently."""
    names = [name for name in call.call.function.arguments if name.startswith(start)]
    return names[0] if names else start


# Objects


@method("IDirect3D2::CreateDevice", "IDirect3D3::CreateDevice")
def create_device(program: Program, call: Arguments) -> None:
    """A context of DirectX 6 on a surface and the depth buffer attached to it."""
    target = call.thing("lpDDS", DrawSurface)
    name = _first(call, "lplpD3DDevice")
    bind_argument(program, call, name, Device3(program.ddraw, target))


@method(*_rows(("IDirect3D", "IDirect3D2", "IDirect3D3"), "CreateViewport"))
def create_viewport(program: Program, call: Arguments) -> None:
    """A viewport, of no device yet."""
    bind_argument(program, call, _first(call, "lplpD3DViewport"), EarlyViewport())


@method(*_rows(("IDirect3D", "IDirect3D2", "IDirect3D3"), "CreateLight"))
def create_light(program: Program, call: Arguments) -> None:
    """A light, of no viewport yet."""
    bind_argument(program, call, _first(call, "lplpDirect3DLight"), EarlyLight())


@method(*_rows(("IDirect3D", "IDirect3D2", "IDirect3D3"), "CreateMaterial"))
def create_material(program: Program, call: Arguments) -> None:
    """A material."""
    bind_argument(program, call, _first(call, "lplpDirect3DMaterial"), EarlyMaterial())


# Viewports


@method(*_rows(_DEVICES, "AddViewport"), *_rows(_DEVICES, "DeleteViewport"))
def list_viewport(program: Program, call: Arguments) -> None:
    """Viewports of a device; one that is taken off is not current any more."""
    device, viewport = _device(call), call.thing(_first(call, "lpDirect3DViewport"), EarlyViewport)
    if call.call.name.endswith("AddViewport"):
        device.viewports.append(viewport)
        return
    device.drop(viewport)


@method(*_rows(_DEVICES, "SetCurrentViewport"))
def set_current_viewport(program: Program, call: Arguments) -> None:
    """Rectangle, clip volume and lights of a viewport."""
    viewport = call.optional(_first(call, "lpDirect3DViewport"), EarlyViewport)
    _device(call).select(viewport)


@method(*_rows(_VIEWPORTS, "SetViewport"))
def set_viewport(program: Program, call: Arguments) -> None:
    """Rectangle, and scales around its middle."""
    of = call.struct("lpData")
    view = _view(of)
    names = "dvScaleX", "dvScaleY", "dvMinZ", "dvMaxZ"
    _place(program, call, view, ClipVolume.scaled(view, *members(of, names, real)))


@method(*_rows(_VIEWPORTS[1:], "SetViewport2"))
def set_viewport_2(program: Program, call: Arguments) -> None:
    """Rectangle and clip volume."""
    of = call.struct("lpData")
    names = "dvClipX", "dvClipY", "dvClipWidth", "dvClipHeight", "dvMinZ", "dvMaxZ"
    _place(program, call, _view(of), ClipVolume(*members(of, names, real)))


def _view(of: Struct) -> Viewport:
    return Viewport(*members(of, ("dwX", "dwY", "dwWidth", "dwHeight"), integer))


def _place(program: Program, call: Arguments, view: Viewport, volume: ClipVolume) -> None:
    viewport = call.thing("this", EarlyViewport)
    viewport.view, viewport.volume = view, volume
    for device in _devices(program):
        if device.current is viewport:
            device.refresh_viewport()


def _devices(program: Program) -> list[Device3]:
    return [device for device in program.ddraw.devices if isinstance(device, Device3)]


def _device_of(program: Program, viewport: EarlyViewport) -> Device3:
    for device in _devices(program):
        if viewport in device.viewports:
            return device
    raise Inexpressible("a viewport of no device")


@method(*_rows(_VIEWPORTS, "Clear"))
def clear(program: Program, call: Arguments) -> None:
    """The background's colour and the greatest depth in rectangles of the viewport."""
    viewport = call.thing("this", EarlyViewport)
    color = viewport.background_color
    _clear(program, call, viewport, color, 1.0, 0)


@method("IDirect3DViewport3::Clear2")
def clear_2(program: Program, call: Arguments) -> None:
    """Colour, depth and stencil in rectangles of the viewport."""
    viewport = call.thing("this", EarlyViewport)
    color, stencil = call.integer("dwColor"), call.integer("dwStencil")
    _clear(program, call, viewport, color, call.real("dvZ"), stencil)


def _clear(
    program: Program, call: Arguments, viewport: EarlyViewport, color: int, z: float, stencil: int
) -> None:
    boxes = rectangles(call, "dwCount", "lpRects")
    if boxes:
        device, flags = _device_of(program, viewport), call.integer("dwFlags")
        device.clear(flags, color, z, stencil, boxes, viewport.view)


@method(*_rows(_VIEWPORTS, "SetBackground"))
def set_background(program: Program, call: Arguments) -> None:
    """The material whose colour Clear fills with."""
    found = program.handles.get((MATERIAL, call.integer("hMat")))
    viewport = call.thing("this", EarlyViewport)
    viewport.background = found if isinstance(found, EarlyMaterial) else None


# Lights and materials


@method(*_rows(_VIEWPORTS, "AddLight"))
def add_light(program: Program, call: Arguments) -> None:
    """A light shines while its viewport is current."""
    viewport = call.thing("this", EarlyViewport)
    given = call.thing("lpDirect3DLight", EarlyLight)
    if given not in viewport.lights:
        viewport.lights.append(given)
    for device in _devices(program):
        device.light_changed(given)


@method(*_rows(_VIEWPORTS, "DeleteLight"))
def delete_light(program: Program, call: Arguments) -> None:
    """The light is out."""
    viewport = call.thing("this", EarlyViewport)
    given = call.thing("lpDirect3DLight", EarlyLight)
    if given in viewport.lights:
        viewport.lights.remove(given)
    for device in _devices(program):
        if device.current is viewport:
            device.disable_light(given)


@method("IDirect3DLight::SetLight")
def set_light(program: Program, call: Arguments) -> None:
    """What the light is; that it is active is taken for granted, since flags are not recorded."""
    given = call.thing("this", EarlyLight)
    given.light = light(call.struct("lpLight"))
    for device in _devices(program):
        device.light_changed(given)


@method(*_rows(_MATERIALS, "SetMaterial"))
def set_material(program: Program, call: Arguments) -> None:
    """What the material is."""
    given = call.thing("this", EarlyMaterial)
    given.material = material(call.struct("lpMat"))
    for device in _devices(program):
        device.refresh_material(given)


@method(*_rows(_MATERIALS, "GetHandle"))
def get_material_handle(program: Program, call: Arguments) -> None:
    """The number that the material is chosen by."""
    handle = call.address("lpHandle")
    program.handles[MATERIAL, handle] = call.thing("this", EarlyMaterial)


@method(*_rows(_DEVICES, "SetLightState"))
def set_light_state(program: Program, call: Arguments) -> None:
    """The material, or a render state of later versions; the colour model has no effect."""
    number, value = call.integer("dwLightStateType"), call.dword("dwLightState")
    device = _device(call)
    if number in LIGHT_STATES:
        device.set_render_state(LIGHT_STATES[number], value)
    elif number == 1:
        found = program.handles.get((MATERIAL, value))
        device.choose_material(found if isinstance(found, EarlyMaterial) else None)


# States and textures


@method(*_rows(_DEVICES, "SetRenderState"))
def set_render_state(program: Program, call: Arguments) -> None:
    """A render state by the version's number; texture handles become the driver's."""
    number, value = call.integer("dwRenderStateType"), call.dword("dwRenderState")
    if number != RenderState7.TEXTUREHANDLE:
        _device(call).set_render_state(number, value)
        return
    found = program.handles.get((TEXTURE, value))
    if value and not isinstance(found, DrawSurface):
        raise Inexpressible(f"no texture handle {value:#x}")
    _device(call).choose_texture(found if isinstance(found, DrawSurface) else None)


@method("IDirect3DDevice3::SetTexture")
def set_texture(program: Program, call: Arguments) -> None:
    """A texture, or none, for a stage."""
    _device(call).set_texture(call.integer("dwStage"), call.optional("lpTexture2", DrawSurface))


@method("IDirect3DDevice3::GetTexture")
def get_texture(program: Program, call: Arguments) -> None:
    """The texture of a stage, perhaps by an address that is new."""
    found = _device(call).textures.get(call.integer("dwStage"))
    if found is not None:
        bind_argument(program, call, "lplpTexture2", found)


@method(*_rows(_TEXTURES, "GetHandle"))
def get_texture_handle(program: Program, call: Arguments) -> None:
    """The number that D3DRENDERSTATE_TEXTUREHANDLE takes."""
    program.handles[TEXTURE, call.address("lpHandle")] = call.thing("this", DrawSurface)


@method("IDirect3DDevice2::SwapTextureHandles")
def swap_texture_handles(program: Program, call: Arguments) -> None:
    """Two textures exchange their numbers."""
    one, other = (call.thing(name, DrawSurface) for name in ("lpD3DTex1", "lpD3DTex2"))
    swapped = {one: other, other: one}
    for key, thing in program.handles.items():
        if key[0] == TEXTURE and thing in swapped:
            program.handles[key] = swapped[thing]


@method(*_rows(_TEXTURES, "Load"))
def load(program: Program, call: Arguments) -> None:
    """All levels of another texture, with its colour keys and palette."""
    source = call.thing(_first(call, "lpD3DTexture"), DrawSurface)
    target = call.thing("this", DrawSurface)
    program.ddraw.take_over(target, source)
    copy_levels(program.ddraw, target, source)


# Drawing of DirectX 5

_FORMATS = {1: 0x112, 2: 0x1E2, 3: 0x1C4}
"""D3DVERTEX, D3DLVERTEX and D3DTLVERTEX as flexible vertex formats."""


@method("IDirect3DDevice2::DrawPrimitive", "IDirect3DDevice2::DrawIndexedPrimitive")
def draw_primitive(program: Program, call: Arguments) -> None:
    """Vertices of one of three kinds, 32 bytes each; a loss where fewer were recorded."""
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
