"""Methods of Direct3D 8 only: shaders by number, targets, indices with a base vertex.

The other methods of its interfaces are registered with those of Direct3D 9 (``retrace.d3d9``).
"""

from __future__ import annotations

import struct
from functools import partial

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.retrace.arguments import Arguments
from dp2emu.retrace.d3d9.drawing import code_of, put_constants
from dp2emu.retrace.d3d9.objects import application, enumerator, optional
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import NO_EFFECT, Program, inert, method
from dp2emu.runtime.objects import PixelShader, VertexShader
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.settings9 import SAMPLER_OF_WIRE

DEVICE = "IDirect3DDevice8"

inert(
    DEVICE,
    "GetInfo GetVertexShader GetPixelShader GetVertexShaderConstant GetVertexShaderDeclaration "
    "GetVertexShaderFunction GetPixelShaderConstant GetPixelShaderFunction",
    NO_EFFECT,
)


@method(DEVICE, "SetRenderTarget")
def set_render_target(program: Program, call: Arguments) -> None:
    """Sets target and depth surface in one token; without a target the current one stays."""
    app = application(call)
    color = optional(call, Resource, "pRenderTarget")
    depth = optional(call, Resource, "pNewZStencil")
    view = app.mirror.get("viewport")
    target = color.desc if color else app.device.targets[0]
    if target is None:
        raise Inexpressible("a target without memory at the driver")
    app.device.set_targets(target, depth.desc if depth else None)
    if color is None:
        app.mirror.put("viewport", view)
    else:
        app.mirror.know("viewport", (0, 0, target.width, target.height, 0.0, 1.0))


@method(DEVICE, "SetTextureStageState")
def set_texture_stage_state(program: Program, call: Arguments) -> None:
    """Sets a texture stage state, or a sampler state if it is one in Direct3D 9."""
    state = enumerator(TextureStageState8, call.integer("Type"))
    stage, value = call.integer("Stage"), call.dword("Value")
    sampler = SAMPLER_OF_WIRE.get(state)
    key = ("stage", stage, int(state)) if sampler is None else ("sampler", stage, sampler)
    application(call).mirror.put(*key, value)


# Shaders


@method(DEVICE, "CreateVertexShader")
def create_vertex_shader(program: Program, call: Arguments) -> None:
    """Creates a vertex shader with its declaration; without code it is fixed-function."""
    app = application(call)
    declaration = [word & 0xFFFFFFFF for word in call.integers("pDeclaration")]
    code = code_of(call) if call.has("pFunction") else []
    made = app.device.create_vertex_program(declaration, code)
    app.numbered["vertex", call.address("pHandle")] = made


@method(DEVICE, "CreatePixelShader")
def create_pixel_shader(program: Program, call: Arguments) -> None:
    """Creates a pixel shader."""
    app = application(call)
    made = app.device.create_pixel_shader(code_of(call))
    app.numbered["pixel", call.address("pHandle")] = made


@method(DEVICE, "SetVertexShader")
def set_vertex_shader(program: Program, call: Arguments) -> None:
    """Sets a vertex shader by its number, or a vertex format."""
    app, number = application(call), call.integer("Handle")
    made = app.numbered.get(("vertex", number))
    if not isinstance(made, VertexShader) and number & 1:
        raise Inexpressible(f"no vertex shader {number:#x}")
    app.mirror.put("vertex_shader", made.handle if isinstance(made, VertexShader) else number)


@method(DEVICE, "SetPixelShader")
def set_pixel_shader(program: Program, call: Arguments) -> None:
    """Sets a pixel shader by its number; 0 means the texture stages."""
    app, number = application(call), call.integer("Handle")
    made = app.numbered.get(("pixel", number))
    if number and not isinstance(made, PixelShader):
        raise Inexpressible(f"no pixel shader {number:#x}")
    app.mirror.put("pixel_shader", made)


@method(DEVICE, "DeleteVertexShader")
def delete_vertex_shader(program: Program, call: Arguments) -> None:
    """Deletes the shader, and unbinds it if it is bound."""
    app = application(call)
    made = app.numbered.pop(("vertex", call.integer("Handle")), None)
    if isinstance(made, VertexShader):
        if app.mirror.get("vertex_shader") == made.handle:
            app.mirror.put("vertex_shader", 0)
        app.session.emit(Op.DELETEVERTEXSHADER, [(made.handle,)])


@method(DEVICE, "DeletePixelShader")
def delete_pixel_shader(program: Program, call: Arguments) -> None:
    """Deletes the shader, and unbinds it if it is bound."""
    app = application(call)
    made = app.numbered.pop(("pixel", call.integer("Handle")), None)
    if isinstance(made, PixelShader):
        if app.mirror.get("pixel_shader") == made:
            app.mirror.put("pixel_shader", None)
        app.session.emit(Op.DELETEPIXELSHADER, [(made.handle,)])


def _set_constants(setting: str, program: Program, call: Arguments) -> None:
    if isinstance(call.value("pConstantData"), bytes):
        data = call.blob("pConstantData")
        flat = list(struct.unpack(f"<{len(data) // 4}f", data[: len(data) // 4 * 4]))
    else:
        flat = call.reals("pConstantData")
    flat = flat[: 4 * call.integer("ConstantCount")]
    rows = [tuple(flat[i : i + 4]) for i in range(0, len(flat) // 4 * 4, 4)]
    put_constants(application(call), setting, call.integer("Register"), rows)


for _stage in ("vertex", "pixel"):
    _act = partial(_set_constants, f"{_stage}_floats")
    _act.__doc__ = f"Sets constant floats of the {_stage} shader."
    method(DEVICE, f"Set{_stage.title()}ShaderConstant")(_act)


@method(DEVICE, "SetIndices")
def set_indices(program: Program, call: Arguments) -> None:
    """Sets the index buffer, or none, and the base vertex of indexed draws."""
    app, buffer = application(call), optional(call, Resource, "pIndexData")
    app.mirror.put("indices", app.index_buffer(buffer, buffer.format) if buffer else None)
    app.mirror.put("base", call.integer("BaseVertexIndex"))
