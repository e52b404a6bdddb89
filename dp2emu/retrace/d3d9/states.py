"""States of all kinds, and state blocks."""

from __future__ import annotations

import numpy as np

from dp2emu.capture.apitrace.values import Struct
from dp2emu.d3d.enums import LightType, SamplerState, StateBlockType
from dp2emu.retrace.arguments import Arguments, flattened, integer, member, members, real
from dp2emu.retrace.d3d9.held import (
    application,
    enumerator,
    hand_out,
    held,
    on,
    optional,
    rect_of,
    silent,
)
from dp2emu.retrace.d3d9.root import DEVICES, EVERY_DEVICE
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime.mirror import StateBlock
from dp2emu.runtime.objects import Light, Material
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.settings9 import block_keys
from dp2emu.runtime.textures import PALETTE_ENTRIES

_GETTERS = (
    "GetRenderState GetTextureStageState GetTransform GetViewport GetMaterial GetLight "
    "GetLightEnable GetClipPlane GetClipStatus GetPaletteEntries GetCurrentTexturePalette "
    "ValidateDevice"
)
_COLORS = ("r", "g", "b", "a")
_AXES = ("x", "y", "z")

silent(EVERY_DEVICE, _GETTERS, "A question; the driver is not told.")
silent(DEVICES, "GetSamplerState GetScissorRect GetNPatchMode", "A question.")
silent(DEVICES, "GetSoftwareVertexProcessing GetStreamSourceFreq", "A question.")
silent(EVERY_DEVICE, "SetClipStatus", "What the program noted for itself.")
silent(DEVICES, "SetSoftwareVertexProcessing", "The driver processes all vertices.")


@on(EVERY_DEVICE, "SetRenderState")
def set_render_state(program: Program, call: Arguments) -> None:
    """A render state, floats by their bits."""
    application(call).mirror.put("render", call.integer("State"), call.dword("Value"))


@on(DEVICES, "SetTextureStageState")
def set_texture_stage_state(program: Program, call: Arguments) -> None:
    """A texture stage state, floats by their bits."""
    key = call.integer("Stage"), call.integer("Type")
    application(call).mirror.put("stage", *key, call.dword("Value"))


@on(DEVICES, "SetSamplerState")
def set_sampler_state(program: Program, call: Arguments) -> None:
    """A sampler state, floats by their bits; on the wire it is a texture stage state."""
    state = enumerator(SamplerState, call.integer("Type"))
    application(call).mirror.put("sampler", call.integer("Sampler"), state, call.dword("Value"))


@on(EVERY_DEVICE, "SetTexture")
def set_texture(program: Program, call: Arguments) -> None:
    """A texture or none."""
    texture = optional(call, Resource, "pTexture")
    stage = "Stage" if "Stage" in call.call.function.arguments else "Sampler"
    bound = texture.texture if texture else None
    if texture is not None and bound is None:
        raise Inexpressible("a texture without memory at the driver")
    application(call).mirror.put("texture", call.integer(stage), bound)


@on(EVERY_DEVICE, "GetTexture")
def get_texture(program: Program, call: Arguments) -> None:
    """The address of a bound texture."""
    app = application(call)
    stage = "Stage" if "Stage" in call.call.function.arguments else "Sampler"
    bound = app.mirror.get("texture", call.integer(stage))
    hand_out(program, call, "ppTexture", app, app.resource(bound.desc if bound else None))


@on(EVERY_DEVICE, "SetTransform")
def set_transform(program: Program, call: Arguments) -> None:
    """A matrix."""
    application(call).mirror.put("transform", call.integer("State"), matrix(call, "pMatrix"))


@on(EVERY_DEVICE, "MultiplyTransform")
def multiply_transform(program: Program, call: Arguments) -> None:
    """The given matrix times the one there is, in float32 and by rows from the left."""
    app, state = application(call), call.integer("State")
    now = np.array(app.mirror.get("transform", state), np.float32).reshape(4, 4)
    given = np.array(matrix(call, "pMatrix"), np.float32).reshape(4, 4)
    total = given[:, :1] * now[0]
    for k in (1, 2, 3):
        total = total + given[:, k : k + 1] * now[k]
    app.mirror.put("transform", state, tuple(map(float, total.reshape(-1))))


def matrix(call: Arguments, name: str) -> tuple[float, ...]:
    """The 16 floats of a D3DMATRIX, however its members are called."""
    found = tuple(call.reals(name))
    if len(found) != 16:
        raise Inexpressible(f"a matrix of {len(found)} numbers")
    return found


def _reals(found: Struct, name: str, of: tuple[str, ...]) -> tuple[float, ...]:
    value = member(found, name)
    if not isinstance(value, Struct):
        raise Inexpressible(f"{name} is no structure")
    return members(value, of, real)


@on(EVERY_DEVICE, "SetMaterial")
def set_material(program: Program, call: Arguments) -> None:
    """The material of lighting."""
    found = call.struct("pMaterial")
    colors = [_reals(found, n, _COLORS) for n in ("Diffuse", "Ambient", "Specular", "Emissive")]
    material = Material(*colors, real(member(found, "Power")))  # type: ignore[arg-type, call-arg]
    application(call).mirror.put("material", material)


@on(EVERY_DEVICE, "SetLight")
def set_light(program: Program, call: Arguments) -> None:
    """A light."""
    found = call.struct("pLight")
    colors = [_reals(found, name, _COLORS) for name in ("Diffuse", "Specular", "Ambient")]
    places = [_reals(found, name, _AXES) for name in ("Position", "Direction")]
    names = ["Range", "Falloff", "Attenuation0", "Attenuation1", "Attenuation2", "Theta", "Phi"]
    kind = enumerator(LightType, integer(member(found, "Type")))
    light = Light(kind, *colors, *places, *members(found, names, real))  # type: ignore[arg-type]
    application(call).mirror.put("light", call.integer("Index"), light)


@on(EVERY_DEVICE, "LightEnable")
def light_enable(program: Program, call: Arguments) -> None:
    """A light is on or off."""
    index = "Index" if call.has("Index") else "LightIndex"
    application(call).mirror.put("lit", call.integer(index), bool(call.integer("Enable")))


@on(EVERY_DEVICE, "SetClipPlane")
def set_clip_plane(program: Program, call: Arguments) -> None:
    """A plane vertices are clipped at."""
    plane = tuple(call.reals("pPlane"))
    if len(plane) != 4:
        raise Inexpressible(f"a plane of {len(plane)} numbers")
    application(call).mirror.put("plane", call.integer("Index"), plane)


@on(EVERY_DEVICE, "SetViewport")
def set_viewport(program: Program, call: Arguments) -> None:
    """Where on the target is drawn, and the range of depth."""
    found = call.struct("pViewport")
    x, y, width, height = members(found, ("X", "Y", "Width", "Height"), integer)
    depths = members(found, ("MinZ", "MaxZ"), real)
    application(call).mirror.put("viewport", (x, y, width, height, *depths))


@on(DEVICES, "SetScissorRect")
def set_scissor_rect(program: Program, call: Arguments) -> None:
    """The scissor rectangle."""
    application(call).mirror.put("scissor", rect_of(call.struct("pRect")))


@on(DEVICES, "SetNPatchMode")
def set_npatch_mode(program: Program, call: Arguments) -> None:
    """Triangles as N-patches."""
    application(call).mirror.put("npatches", call.real("nSegments"))


# Palettes


@on(EVERY_DEVICE, "SetPaletteEntries")
def set_palette_entries(program: Program, call: Arguments) -> None:
    """All entries of a palette."""
    found = [integer(leaf) & 0xFF for leaf in flattened(call.value("pEntries"))]
    if len(found) != 4 * PALETTE_ENTRIES:
        raise Inexpressible(f"a palette of {len(found)} bytes")
    entries = [(r, g, b, a) for r, g, b, a in zip(*(found[i::4] for i in range(4)), strict=True)]
    application(call).device.textures.set_palette(call.integer("PaletteNumber"), entries)


@on(EVERY_DEVICE, "SetCurrentTexturePalette")
def set_current_texture_palette(program: Program, call: Arguments) -> None:
    """The palette of palettised textures."""
    application(call).mirror.put("palette", call.integer("PaletteNumber"))


# State blocks


@on(DEVICES, "BeginStateBlock")
def begin_state_block(program: Program, call: Arguments) -> None:
    """What is set from here on goes into a block, and not to the driver."""
    application(call).mirror.begin()


@on(DEVICES, "EndStateBlock")
def end_state_block(program: Program, call: Arguments) -> None:
    """The block is made of what was set."""
    app = application(call)
    if app.mirror.recording:
        keep_block(program, call, "ppSB", app.mirror.end())


@on(DEVICES, "CreateStateBlock")
def create_state_block(program: Program, call: Arguments) -> None:
    """A block of a predefined kind, with what is set now."""
    app = application(call)
    kind = enumerator(StateBlockType, call.integer("Type"))
    block = app.mirror.create(block_keys(app.mirror, kind, 9))
    keep_block(program, call, "ppSB", block)


def keep_block(program: Program, call: Arguments, name: str, block: StateBlock) -> None:
    """A block under the address the call gave."""
    app = application(call)
    app.blocks.append(block)
    hand_out(program, call, name, app, block)


@on("IDirect3DStateBlock9", "Capture")
def capture(program: Program, call: Arguments) -> None:
    """The block gets what is set now."""
    app, block = held(call, StateBlock)
    app.mirror.capture(block)


@on("IDirect3DStateBlock9", "Apply")
def apply(program: Program, call: Arguments) -> None:
    """What the block has is set, as far as it differs."""
    app, block = held(call, StateBlock)
    app.mirror.apply(block)
