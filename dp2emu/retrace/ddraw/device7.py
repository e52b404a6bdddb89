"""IDirect3D7 and IDirect3DDevice7."""

from __future__ import annotations

from dp2emu.d3d.legacy import StateBlockType7
from dp2emu.retrace.arguments import Arguments, integer, pointee
from dp2emu.retrace.ddraw.lifetimes import bind_argument
from dp2emu.retrace.ddraw.records import light7, material, matrix, rectangle, rectangles, viewport7
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program, inert, method
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice

_ASKED = "Only asks; nothing for the driver."
_DEVICE = "IDirect3DDevice7"

inert("IDirect3D7", "AddRef EnumDevices EnumZBufferFormats", _ASKED)
inert("IDirect3D7", "EvictManagedTextures", "All textures have room.")
inert(
    _DEVICE,
    "AddRef GetCaps EnumTextureFormats GetTransform GetViewport GetMaterial GetLight "
    "GetRenderState GetClipStatus ComputeSphereVisibility GetTextureStageState "
    "ValidateDevice GetLightEnable GetClipPlane GetInfo",
    _ASKED,
)
inert(_DEVICE, "PreLoad SetClipStatus", "Changes nothing that is drawn.")


@method("IDirect3D7::CreateDevice")
def create_device(program: Program, call: Arguments) -> None:
    """A context of DirectX 7 on a surface and the depth buffer attached to it."""
    target = call.thing("lpDDS", DrawSurface)
    bind_argument(program, call, "lplpD3DDevice", EarlyDevice(program.ddraw, target, 7))


@method(
    f"{_DEVICE}::GetDirect3D", "IDirect3DDevice3::GetDirect3D", "IDirect3DDevice2::GetDirect3D"
)
def get_direct3d(program: Program, call: Arguments) -> None:
    """The Direct3D object."""
    names = [name for name in call.call.function.arguments if name.startswith("lplpDirect3D")]
    bind_argument(program, call, names[0] if names else "lplpDirect3D", program.ddraw)


def _device(call: Arguments) -> EarlyDevice:
    return call.thing("this", EarlyDevice)


@method(*(f"IDirect3DDevice{version}::BeginScene" for version in (2, 3, 7)))
def begin_scene(program: Program, call: Arguments) -> None:
    """The driver's scene capture begins."""
    _device(call).begin_scene()


@method(*(f"IDirect3DDevice{version}::EndScene" for version in (2, 3, 7)))
def end_scene(program: Program, call: Arguments) -> None:
    """The driver's scene capture ends, and what waits is submitted."""
    _device(call).end_scene()


@method(*(f"IDirect3DDevice{version}::SetRenderTarget" for version in (2, 3, 7)))
def set_target(program: Program, call: Arguments) -> None:
    """Another target with its own depth buffer; the viewport stays."""
    _device(call).set_target(call.thing("lpNewRenderTarget", DrawSurface))


@method(*(f"IDirect3DDevice{version}::GetRenderTarget" for version in (2, 3, 7)))
def get_target(program: Program, call: Arguments) -> None:
    """The target, perhaps by an address that is new."""
    bind_argument(program, call, "lplpRenderTarget", _device(call).target)


@method(f"{_DEVICE}::Clear")
def clear(program: Program, call: Arguments) -> None:
    """What of the rectangles lies in the viewport."""
    boxes = rectangles(call, "dwCount", "lpRects")
    _device(call).clear(
        call.integer("dwFlags"), call.integer("dwColor"), call.real("dvZ"),
        call.integer("dwStencil"), boxes,
    )  # fmt: skip


@method(*(f"IDirect3DDevice{version}::SetTransform" for version in (2, 3, 7)))
def set_transform(program: Program, call: Arguments) -> None:
    """A matrix by the version's number."""
    kind = call.integer("dtstTransformStateType")
    _device(call).set_transform(kind, matrix(call.struct("lpD3DMatrix")))


@method(*(f"IDirect3DDevice{version}::MultiplyTransform" for version in (2, 3, 7)))
def multiply_transform(program: Program, call: Arguments) -> None:
    """The product, which is what drivers of that time get."""
    kind = call.integer("dtstTransformStateType")
    _device(call).multiply_transform(kind, matrix(call.struct("lpD3DMatrix")))


@method(f"{_DEVICE}::SetViewport")
def set_viewport(program: Program, call: Arguments) -> None:
    """Rectangle and depth range."""
    _device(call).set_viewport(viewport7(call.struct("lpData")))


@method(f"{_DEVICE}::SetMaterial")
def set_material(program: Program, call: Arguments) -> None:
    """The material of lighting."""
    _device(call).set_material(material(call.struct("lpMat")))


@method(f"{_DEVICE}::SetLight")
def set_light(program: Program, call: Arguments) -> None:
    """A light by its number."""
    _device(call).set_light(call.integer("dwLightIndex"), light7(call.struct("lpLight")))


@method(f"{_DEVICE}::LightEnable")
def light_enable(program: Program, call: Arguments) -> None:
    """A light on or off."""
    _device(call).light_enable(call.integer("dwLightIndex"), bool(call.integer("bEnable")))


@method(f"{_DEVICE}::SetClipPlane")
def set_clip_plane(program: Program, call: Arguments) -> None:
    """A plane of the application."""
    plane = call.reals("pPlaneEquation")
    if len(plane) != 4:
        raise Inexpressible(f"a plane of {len(plane)} numbers")
    _device(call).set_clip_plane(call.integer("dwIndex"), plane)


@method(f"{_DEVICE}::SetRenderState")
def set_render_state(program: Program, call: Arguments) -> None:
    """A render state by the version's number."""
    _device(call).set_render_state(call.integer("dwRenderStateType"), call.dword("dwRenderState"))


@method("IDirect3DDevice3::SetTextureStageState", f"{_DEVICE}::SetTextureStageState")
def set_stage_state(program: Program, call: Arguments) -> None:
    """A texture stage state by the version's number."""
    state = call.integer("d3dTexStageStateType")
    _device(call).set_stage_state(call.integer("dwStage"), state, call.dword("dwState"))


@method(f"{_DEVICE}::SetTexture")
def set_texture(program: Program, call: Arguments) -> None:
    """A texture, or none, for a stage."""
    _device(call).set_texture(call.integer("dwStage"), call.optional("lpTexture", DrawSurface))


@method(f"{_DEVICE}::GetTexture")
def get_texture(program: Program, call: Arguments) -> None:
    """The texture of a stage, perhaps by an address that is new."""
    found = _device(call).textures.get(call.integer("dwStage"))
    if found is not None:
        bind_argument(program, call, "lpTexture", found)


@method(f"{_DEVICE}::Load")
def load(program: Program, call: Arguments) -> None:
    """A texture's levels go into another's."""
    target, source = call.thing("lpDestTex", DrawSurface), call.thing("lpSrcTex", DrawSurface)
    point = (0, 0)
    if call.has("lpDestPoint"):
        place = call.struct("lpDestPoint")
        point = integer(place["x"]), integer(place["y"])
    rect = rectangle(call, "lprcSrcRect") or source.bounds
    _device(call).load(target, point, source, rect, call.integer("dwFlags"))


# State blocks


@method(f"{_DEVICE}::BeginStateBlock")
def begin_block(program: Program, call: Arguments) -> None:
    """States are recorded from here on."""
    _device(call).begin_block()


@method(f"{_DEVICE}::EndStateBlock")
def end_block(program: Program, call: Arguments) -> None:
    """The block gets a handle."""
    device = _device(call)
    device.blocks[integer(pointee(call.value("lpdwBlockHandle")))] = device.end_block()


@method(f"{_DEVICE}::CreateStateBlock")
def create_block(program: Program, call: Arguments) -> None:
    """A block of all, pixel or vertex state."""
    device, type = _device(call), call.integer("d3dsbType")
    if type not in StateBlockType7._value2member_map_:
        raise Inexpressible(f"state block type {type}")
    handle = integer(pointee(call.value("lpdwBlockHandle")))
    device.blocks[handle] = device.create_block(StateBlockType7(type))


def _block(call: Arguments) -> int:
    handle = call.integer("dwBlockHandle")
    found = _device(call).blocks.get(handle)
    if found is None:
        raise Inexpressible(f"no state block {handle}")
    return found


@method(f"{_DEVICE}::ApplyStateBlock")
def apply_block(program: Program, call: Arguments) -> None:
    """The driver executes the block."""
    _device(call).apply_block(_block(call))


@method(f"{_DEVICE}::CaptureStateBlock")
def capture_block(program: Program, call: Arguments) -> None:
    """The driver brings the block up to date."""
    _device(call).capture_block(_block(call))


@method(f"{_DEVICE}::DeleteStateBlock")
def delete_block(program: Program, call: Arguments) -> None:
    """The driver forgets the block."""
    _device(call).delete_block(_block(call))
    del _device(call).blocks[call.integer("dwBlockHandle")]
