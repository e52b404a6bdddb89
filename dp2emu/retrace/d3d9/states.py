"""States, bindings and state blocks of Direct3D 9 and 8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.enums import LightType, SamplerState, StateBlockType
from dp2emu.gpu.resource.heap import SurfaceDesc
from dp2emu.retrace.arguments import Arguments, flattened, integer, member, members, plane, real
from dp2emu.retrace.d3d9.objects import (
    DEVICES,
    EVERY_DEVICE,
    Box,
    application,
    enumerator,
    hand_out,
    object_of,
    optional,
    rect_of,
)
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, Program, Reader, add, inert, method
from dp2emu.runtime.application import Application
from dp2emu.runtime.mirror import StateBlock
from dp2emu.runtime.objects import Declaration, Light, Material, PixelShader, VertexShader
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.settings9 import block_keys
from dp2emu.runtime.textures import PALETTE_ENTRIES

_GETTERS = (
    "GetRenderState GetTextureStageState GetTransform GetViewport GetMaterial GetLight "
    "GetLightEnable GetClipPlane GetClipStatus GetPaletteEntries GetCurrentTexturePalette "
    "ValidateDevice"
)
_GETTERS9 = (
    "GetSamplerState GetScissorRect GetNPatchMode GetSoftwareVertexProcessing GetStreamSourceFreq"
)
_COLORS = ("r", "g", "b", "a")
_AXES = ("x", "y", "z")

inert(EVERY_DEVICE, _GETTERS, NO_EFFECT)
inert(DEVICES, _GETTERS9, NO_EFFECT)
inert(EVERY_DEVICE, "SetClipStatus", "The program's own note.")
inert(DEVICES, "SetSoftwareVertexProcessing", "The driver processes all vertices.")


# Readers of arguments


def sampler_state(call: Arguments, name: str) -> SamplerState:
    """An argument as a D3DSAMPLERSTATETYPE."""
    return enumerator(SamplerState, call.integer(name))


def matrix(call: Arguments, name: str) -> tuple[float, ...]:
    """The 16 floats of a D3DMATRIX argument; its members are taken by position, not by name."""
    found = tuple(call.reals(name))
    if len(found) != 16:
        raise Inexpressible(f"a matrix of {len(found)} numbers")
    return found


def _reals(found: Struct, name: str, of: tuple[str, ...]) -> tuple[float, ...]:
    value = member(found, name)
    if not isinstance(value, Struct):
        raise Inexpressible(f"{name} is no structure")
    return members(value, of, real)


def material(call: Arguments, name: str) -> Material:
    """A D3DMATERIAL9 argument."""
    found = call.struct(name)
    colors = [_reals(found, n, _COLORS) for n in ("Diffuse", "Ambient", "Specular", "Emissive")]
    return Material(*colors, real(member(found, "Power")))  # type: ignore[arg-type, call-arg]


def light(call: Arguments, name: str) -> Light:
    """A D3DLIGHT9 argument."""
    found = call.struct(name)
    colors = [_reals(found, each, _COLORS) for each in ("Diffuse", "Specular", "Ambient")]
    places = [_reals(found, each, _AXES) for each in ("Position", "Direction")]
    names = ["Range", "Falloff", "Attenuation0", "Attenuation1", "Attenuation2", "Theta", "Phi"]
    kind = enumerator(LightType, integer(member(found, "Type")))
    return Light(kind, *colors, *places, *members(found, names, real))  # type: ignore[arg-type]


def viewport(call: Arguments, name: str) -> tuple[float, ...]:
    """A D3DVIEWPORT9 argument: x, y, width, height, minimum and maximum depth."""
    found = call.struct(name)
    sides = members(found, ("X", "Y", "Width", "Height"), integer)
    return (*sides, *members(found, ("MinZ", "MaxZ"), real))


def scissor(call: Arguments, name: str) -> Box:
    """A RECT argument; its members are taken by position, not by name."""
    return rect_of(call.struct(name))


def of_kind(kind: type[Any]) -> Callable[[Arguments, str], Any]:
    """A function that takes a traced call and an argument's name, and returns the object of type
    ``kind`` that the argument points to, None for NULL.
    """

    def read(call: Arguments, name: str) -> Any:
        return optional(call, kind, name)

    return read


def _index_buffer(call: Arguments, name: str) -> Any:
    buffer = optional(call, Resource, name)
    return application(call).index_buffer(buffer, buffer.format) if buffer else None


# Settings


def setting(interfaces: str, name: str, key: str, says: str, *readers: Reader) -> None:
    """Register the traced method ``name`` that changes the device setting ``key``: ``readers``
    read the setting's numbers (such as a stage), if any, then its value.
    """

    def act(program: Program, call: Arguments) -> None:
        application(call).mirror.put(key, *[read(call, name) for read, name in readers])

    add(interfaces, name, act, says)


_INTEGER, _DWORD = Arguments.integer, Arguments.dword

setting(EVERY_DEVICE, "SetRenderState", "render", "Sets a render state, floats as bits.",
        (_INTEGER, "State"), (_DWORD, "Value"))  # fmt: skip
setting(DEVICES, "SetTextureStageState", "stage", "Sets a texture stage state, floats as bits.",
        (_INTEGER, "Stage"), (_INTEGER, "Type"), (_DWORD, "Value"))  # fmt: skip
setting(DEVICES, "SetSamplerState", "sampler",
        "Sets a sampler state, which is a texture stage state on the wire.",
        (_INTEGER, "Sampler"), (sampler_state, "Type"), (_DWORD, "Value"))  # fmt: skip
setting(EVERY_DEVICE, "SetTransform", "transform", "Sets a matrix.",
        (_INTEGER, "State"), (matrix, "pMatrix"))  # fmt: skip
setting(EVERY_DEVICE, "SetMaterial", "material", "Sets the material.", (material, "pMaterial"))
setting(EVERY_DEVICE, "SetLight", "light", "Sets a light.", (_INTEGER, "Index"), (light, "pLight"))
setting(EVERY_DEVICE, "SetClipPlane", "plane", "Sets a user clip plane.",
        (_INTEGER, "Index"), (plane, "pPlane"))  # fmt: skip
setting(EVERY_DEVICE, "SetViewport", "viewport", "Sets the viewport and depth range.",
        (viewport, "pViewport"))  # fmt: skip
setting(DEVICES, "SetScissorRect", "scissor", "Sets the scissor rectangle.", (scissor, "pRect"))
setting(DEVICES, "SetNPatchMode", "npatches", "Draws triangles as N-patches.",
        (Arguments.real, "nSegments"))  # fmt: skip
setting(EVERY_DEVICE, "SetCurrentTexturePalette", "palette", "Sets the palette of textures.",
        (_INTEGER, "PaletteNumber"))  # fmt: skip
setting(DEVICES, "SetVertexDeclaration", "format", "Sets a vertex declaration, or none.",
        (of_kind(Declaration), "pDecl"))  # fmt: skip
setting(DEVICES, "SetVertexShader", "vertex_shader",
        "Sets a vertex shader, or fixed-function processing.",
        (of_kind(VertexShader), "pShader"))  # fmt: skip
setting(DEVICES, "SetPixelShader", "pixel_shader", "Sets a pixel shader, or the texture stages.",
        (of_kind(PixelShader), "pShader"))  # fmt: skip
setting(DEVICES, "SetIndices", "indices", "Sets the index buffer, or none.",
        (_index_buffer, "pIndexData"))  # fmt: skip


@method(EVERY_DEVICE, "SetTexture")
def set_texture(program: Program, call: Arguments) -> None:
    """Sets a texture, or none."""
    texture = optional(call, Resource, "pTexture")
    bound = texture.texture if texture else None
    if texture is not None and bound is None:
        raise Inexpressible("a texture without memory at the driver")
    stage = call.integer(call.spelled("Stage", "Sampler"))
    application(call).mirror.put("texture", stage, bound)


@method(EVERY_DEVICE, "MultiplyTransform")
def multiply_transform(program: Program, call: Arguments) -> None:
    """Sets the given matrix times the current one, in float32, summed from left to right."""
    app, state = application(call), call.integer("State")
    now = np.array(app.mirror.get("transform", state), np.float32).reshape(4, 4)
    given = np.array(matrix(call, "pMatrix"), np.float32).reshape(4, 4)
    total = given[:, :1] * now[0]
    for k in (1, 2, 3):
        total = total + given[:, k : k + 1] * now[k]
    app.mirror.put("transform", state, tuple(map(float, total.reshape(-1))))


@method(EVERY_DEVICE, "LightEnable")
def light_enable(program: Program, call: Arguments) -> None:
    """Enables or disables a light."""
    index = call.integer(call.spelled("Index", "LightIndex"))
    application(call).mirror.put("lit", index, bool(call.integer("Enable")))


@method(DEVICES, "SetStreamSourceFreq")
def set_stream_source_freq(program: Program, call: Arguments) -> None:
    """Sets the step rate of a stream."""
    value = call.dword(call.spelled("Setting", "Divider"))
    application(call).mirror.put("frequency", call.integer("StreamNumber"), value)


@method(EVERY_DEVICE, "SetStreamSource")
def set_stream_source(program: Program, call: Arguments) -> None:
    """Sets the vertex buffer of a stream with offset and stride, or none."""
    buffer = optional(call, Resource, "pStreamData")
    offset = call.integer("OffsetInBytes") if call.declares("OffsetInBytes") else 0
    source = (buffer.desc, offset, call.integer("Stride")) if buffer else (None, 0, 0)
    application(call).mirror.put("stream", call.integer("StreamNumber"), source)


@method(EVERY_DEVICE, "SetPaletteEntries")
def set_palette_entries(program: Program, call: Arguments) -> None:
    """Sets all entries of a palette."""
    found = [integer(leaf) & 0xFF for leaf in flattened(call.value("pEntries"))]
    if len(found) != 4 * PALETTE_ENTRIES:
        raise Inexpressible(f"a palette of {len(found)} bytes")
    entries = [(r, g, b, a) for r, g, b, a in zip(*(found[i::4] for i in range(4)), strict=True)]
    application(call).device.textures.set_palette(call.integer("PaletteNumber"), entries)


# Getters of bound objects


def getter(
    interfaces: str, name: str, out: str, find: Callable[[Application, Arguments], Any]
) -> None:
    """Register the traced method ``name`` that returns an object: the one that ``find`` returns is
    bound to the address in the argument ``out``.
    """

    @method(interfaces, name)
    def get(program: Program, call: Arguments) -> None:
        """Returns the bound object."""
        app = application(call)
        found = find(app, call)
        if found is None or isinstance(found, SurfaceDesc):
            found = app.resource(found)
        hand_out(program, call, out, app, found)


def _texture(app: Application, call: Arguments) -> SurfaceDesc | None:
    bound = app.mirror.get("texture", call.integer(call.spelled("Stage", "Sampler")))
    return bound.desc if bound else None


def _stream(app: Application, call: Arguments) -> Any:
    return app.mirror.get("stream", call.integer("StreamNumber"))[0]


def _indices(app: Application, call: Arguments) -> SurfaceDesc | None:
    bound = app.mirror.get("indices")
    return bound.desc if bound else None


def _target(app: Application, call: Arguments) -> SurfaceDesc | None:
    name = "RenderTargetIndex"
    return app.device.targets.get(call.integer(name) if call.declares(name) else 0)


getter(EVERY_DEVICE, "GetTexture", "ppTexture", _texture)
getter(EVERY_DEVICE, "GetStreamSource", "ppStreamData", _stream)
getter(EVERY_DEVICE, "GetIndices", "ppIndexData", _indices)
getter(EVERY_DEVICE, "GetRenderTarget", "ppRenderTarget", _target)
getter(EVERY_DEVICE, "GetDepthStencilSurface", "ppZStencilSurface",
       lambda app, call: app.device.depth_stencil)  # fmt: skip
getter(DEVICES, "GetVertexDeclaration", "ppDecl", lambda app, call: app.mirror.get("format"))
getter(DEVICES, "GetVertexShader", "ppShader", lambda app, call: app.mirror.get("vertex_shader"))
getter(DEVICES, "GetPixelShader", "ppShader", lambda app, call: app.mirror.get("pixel_shader"))


# State blocks


def _add_block(program: Program, call: Arguments, app: Application, block: StateBlock) -> None:
    """Bind a state block to the address, or in Direct3D 8 the number, that the call returned."""
    if call.declares("pToken"):
        app.numbered["block", call.address("pToken")] = block
    else:
        hand_out(program, call, "ppSB", app, block)


def _block_of(call: Arguments) -> tuple[Application, StateBlock]:
    """(device, state block) of a call: the block whose method it is, or in Direct3D 8 the block
    whose number is the argument Token.
    """
    if not call.declares("Token"):
        return object_of(call, StateBlock)
    app, number = application(call), call.integer("Token")
    found = app.numbered.get(("block", number))
    if not isinstance(found, StateBlock):
        raise Inexpressible(f"no state block {number:#x}")
    return app, found


@method(EVERY_DEVICE, "BeginStateBlock")
def begin_state_block(program: Program, call: Arguments) -> None:
    """Records the following settings in a block instead of sending them."""
    application(call).mirror.begin()


@method(EVERY_DEVICE, "EndStateBlock")
def end_state_block(program: Program, call: Arguments) -> None:
    """Creates a block of the recorded settings."""
    app = application(call)
    if app.mirror.recording:
        _add_block(program, call, app, app.mirror.end())


@method(EVERY_DEVICE, "CreateStateBlock")
def create_state_block(program: Program, call: Arguments) -> None:
    """Creates a predefined block of the current settings."""
    app = application(call)
    kind = enumerator(StateBlockType, call.integer("Type"))
    keys = block_keys(app.mirror, kind, app.session.interface)
    _add_block(program, call, app, app.mirror.create(keys))


@method("IDirect3DStateBlock9", "Capture")
@method("IDirect3DDevice8", "CaptureStateBlock")
def capture(program: Program, call: Arguments) -> None:
    """Updates the block to the current settings."""
    app, block = _block_of(call)
    app.mirror.capture(block)


@method("IDirect3DStateBlock9", "Apply")
@method("IDirect3DDevice8", "ApplyStateBlock")
def apply(program: Program, call: Arguments) -> None:
    """Sets the states of the block that differ from the current ones."""
    app, block = _block_of(call)
    app.mirror.apply(block)


@method("IDirect3DDevice8", "DeleteStateBlock")
def delete(program: Program, call: Arguments) -> None:
    """Deletes the block."""
    app, block = _block_of(call)
    app.mirror.delete(block)
    del app.numbered["block", call.integer("Token")]
