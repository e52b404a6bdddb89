"""Methods of IDirect3D7 and IDirect3DDevice7, and those that earlier devices share with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dp2emu.d3d.legacy import StateBlockType7
from dp2emu.retrace.arguments import Arguments, integer, plane, pointee
from dp2emu.retrace.ddraw.lifetimes import bind_argument
from dp2emu.retrace.ddraw.records import light7, material, matrix, rectangle, rectangles, viewport7
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import (
    NO_EFFECT,
    UNCHANGED,
    Program,
    Reader,
    forward,
    inert,
    method,
    method_of,
)
from dp2emu.runtime.drawsurfaces import DrawSurface
from dp2emu.runtime.earlydevice import EarlyDevice

_DEVICE = "IDirect3DDevice7"
_DEVICES = "IDirect3DDevice2 IDirect3DDevice3 IDirect3DDevice7"

inert("IDirect3D7", "AddRef EnumDevices EnumZBufferFormats", NO_EFFECT)
inert("IDirect3D7", "EvictManagedTextures", "All textures have room.")
inert(
    _DEVICE,
    "AddRef GetCaps EnumTextureFormats GetTransform GetViewport GetMaterial GetLight "
    "GetRenderState GetClipStatus ComputeSphereVisibility GetTextureStageState "
    "ValidateDevice GetLightEnable GetClipPlane GetInfo",
    NO_EFFECT,
)
inert(_DEVICE, "PreLoad SetClipStatus", UNCHANGED)


def _device(call: Arguments) -> EarlyDevice:
    return call.thing("this", EarlyDevice)


def _calls(interfaces: str, name: str, act: str, says: str, *readers: Reader) -> None:
    """Register a traced method that calls the device's method named ``act`` with the arguments
    that ``readers`` read.
    """
    forward(interfaces, name, says, method_of(_device, act), *readers)


def _struct(read: Callable[..., Any], name: str) -> Reader:
    """(function, ``name``), where the function takes a traced call and that name, and converts by
    ``read`` the structure that the argument ``name`` points to.
    """

    def found(call: Arguments, name: str) -> Any:
        return read(call.struct(name))

    return found, name


def _enabled(call: Arguments, name: str) -> bool:
    return bool(call.integer(name))


def _surface(call: Arguments, name: str) -> DrawSurface:
    return call.thing(name, DrawSurface)


def _texture(call: Arguments, name: str) -> DrawSurface | None:
    return call.optional(name, DrawSurface)


def _block(call: Arguments, name: str) -> int:
    handle = call.integer(name)
    found = _device(call).blocks.get(handle)
    if found is None:
        raise Inexpressible(f"no state block {handle}")
    return found


_INTEGER, _DWORD = Arguments.integer, Arguments.dword
_KIND = _INTEGER, "dtstTransformStateType"
_MATRIX = _struct(matrix, "lpD3DMatrix")

_calls(_DEVICES, "BeginScene", "begin_scene", "Begins the driver's scene capture.")
_calls(_DEVICES, "EndScene", "end_scene",
       "Ends the driver's scene capture, and submits the command buffer.")  # fmt: skip
_calls(_DEVICES, "SetRenderTarget", "set_target",
       "Sets the target with its attached depth buffer; the viewport does not change.",
       (_surface, "lpNewRenderTarget"))  # fmt: skip
_calls(_DEVICES, "SetTransform", "set_transform", "Sets a matrix by the version's number.",
       _KIND, _MATRIX)  # fmt: skip
_calls(_DEVICES, "MultiplyTransform", "multiply_transform",
       "Sets the product of the matrices, as drivers of that time receive it.",
       _KIND, _MATRIX)  # fmt: skip
_calls(_DEVICE, "SetViewport", "set_viewport", "Sets rectangle and depth range.",
       _struct(viewport7, "lpData"))  # fmt: skip
_calls(_DEVICE, "SetMaterial", "set_material", "Sets the material.", _struct(material, "lpMat"))
_calls(_DEVICE, "SetLight", "set_light", "Sets a light by its number.",
       (_INTEGER, "dwLightIndex"), _struct(light7, "lpLight"))  # fmt: skip
_calls(_DEVICE, "LightEnable", "light_enable", "Enables or disables a light.",
       (_INTEGER, "dwLightIndex"), (_enabled, "bEnable"))  # fmt: skip
_calls(_DEVICE, "SetClipPlane", "set_clip_plane", "Sets a user clip plane.",
       (_INTEGER, "dwIndex"), (plane, "pPlaneEquation"))  # fmt: skip
_calls(_DEVICE, "SetRenderState", "set_render_state",
       "Sets a render state by the version's number.",
       (_INTEGER, "dwRenderStateType"), (_DWORD, "dwRenderState"))  # fmt: skip
_calls(f"IDirect3DDevice3 {_DEVICE}", "SetTextureStageState", "set_stage_state",
       "Sets a texture stage state by the version's number.",
       (_INTEGER, "dwStage"), (_INTEGER, "d3dTexStageStateType"), (_DWORD, "dwState"))  # fmt: skip
_calls(_DEVICE, "SetTexture", "set_texture", "Sets the texture of a stage, or none.",
       (_INTEGER, "dwStage"), (_texture, "lpTexture"))  # fmt: skip
_calls("IDirect3DDevice3", "SetTexture", "set_texture", "Sets the texture of a stage, or none.",
       (_INTEGER, "dwStage"), (_texture, "lpTexture2"))  # fmt: skip
_calls(_DEVICE, "BeginStateBlock", "begin_block", "Records the following states in a block.")
_calls(_DEVICE, "ApplyStateBlock", "apply_block", "The driver executes the block.",
       (_block, "dwBlockHandle"))  # fmt: skip
_calls(_DEVICE, "CaptureStateBlock", "capture_block", "The driver updates the block.",
       (_block, "dwBlockHandle"))  # fmt: skip


@method("IDirect3D7", "CreateDevice")
def create_device(program: Program, call: Arguments) -> None:
    """Creates a context of DirectX 7 on a surface and its attached depth buffer."""
    target = call.thing("lpDDS", DrawSurface)
    bind_argument(program, call, "lplpD3DDevice", EarlyDevice(program.ddraw, target, 7))


@method(_DEVICES, "GetDirect3D")
def get_direct3d(program: Program, call: Arguments) -> None:
    """Returns the Direct3D object."""
    bind_argument(program, call, call.starting("lplpDirect3D"), program.ddraw)


@method(_DEVICES, "GetRenderTarget")
def get_target(program: Program, call: Arguments) -> None:
    """Returns the target, perhaps at a new address."""
    bind_argument(program, call, "lplpRenderTarget", _device(call).target)


@method(_DEVICE, "Clear")
def clear(program: Program, call: Arguments) -> None:
    """Clears rectangles, clipped to the viewport; nothing of 0 rectangles unless lpRects is NULL,
    which means all.
    """
    boxes = rectangles(call, "dwCount", "lpRects")
    flags, color, z = call.integer("dwFlags"), call.integer("dwColor"), call.real("dvZ")
    _device(call).clear(flags, color, z, call.integer("dwStencil"), boxes)


@method(f"IDirect3DDevice3 {_DEVICE}", "GetTexture")
def get_texture(program: Program, call: Arguments) -> None:
    """Returns the texture of a stage, perhaps at a new address."""
    found = _device(call).textures.get(call.integer("dwStage"))
    if found is not None:
        bind_argument(program, call, call.spelled("lpTexture", "lplpTexture2"), found)


@method(_DEVICE, "Load")
def load(program: Program, call: Arguments) -> None:
    """Copies a texture's levels to another."""
    target, source = call.thing("lpDestTex", DrawSurface), call.thing("lpSrcTex", DrawSurface)
    point = (0, 0)
    if call.has("lpDestPoint"):
        place = call.struct("lpDestPoint")
        point = integer(place["x"]), integer(place["y"])
    rect = rectangle(call, "lprcSrcRect") or source.bounds
    _device(call).load(target, point, source, rect, call.integer("dwFlags"))


# State blocks


@method(_DEVICE, "EndStateBlock")
def end_block(program: Program, call: Arguments) -> None:
    """Ends the recording; the block gets a handle."""
    device = _device(call)
    device.blocks[integer(pointee(call.value("lpdwBlockHandle")))] = device.end_block()


@method(_DEVICE, "CreateStateBlock")
def create_block(program: Program, call: Arguments) -> None:
    """Creates a block of all, pixel or vertex states."""
    device, type = _device(call), call.integer("d3dsbType")
    if type not in StateBlockType7._value2member_map_:
        raise Inexpressible(f"state block type {type}")
    handle = integer(pointee(call.value("lpdwBlockHandle")))
    device.blocks[handle] = device.create_block(StateBlockType7(type))


@method(_DEVICE, "DeleteStateBlock")
def delete_block(program: Program, call: Arguments) -> None:
    """The driver deletes the block."""
    _device(call).delete_block(_block(call, "dwBlockHandle"))
    del _device(call).blocks[call.integer("dwBlockHandle")]
