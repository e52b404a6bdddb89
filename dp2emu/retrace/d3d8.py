"""What Direct3D 8 has of its own: shaders and state blocks by number, CopyRects, its surfaces.

Everything else of its interfaces has rows beside those of Direct3D 9 (``retrace.d3d9``).
"""

from __future__ import annotations

import struct

from dp2emu.capture.records import PictureKind
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Pool, StateBlockType
from dp2emu.d3d.legacy import TextureStageState8
from dp2emu.retrace.arguments import Arguments, integer
from dp2emu.retrace.d3d9.drawing import draw_indexed, get_stream_source
from dp2emu.retrace.d3d9.held import (
    application,
    enumerator,
    format_of,
    hand_out,
    held,
    on,
    optional,
    picture,
    point_of,
    rect_of,
    silent,
)
from dp2emu.retrace.d3d9.shaders import code_of, put_constants
from dp2emu.retrace.losses import Inexpressible
from dp2emu.retrace.program import Program
from dp2emu.runtime.application import Application
from dp2emu.runtime.mirror import StateBlock
from dp2emu.runtime.objects import PixelShader, VertexShader
from dp2emu.runtime.resources import Resource
from dp2emu.runtime.settings9 import SAMPLER_OF_WIRE, block_keys

DEVICE = "IDirect3DDevice8"
_ASK = "A question; the driver is not told."
_NO_STREAM = (None, 0, 0)

silent(DEVICE, "GetInfo GetVertexShader GetPixelShader", _ASK)
silent(DEVICE, "GetVertexShaderConstant GetVertexShaderDeclaration GetVertexShaderFunction", _ASK)
silent(DEVICE, "GetPixelShaderConstant GetPixelShaderFunction", _ASK)


# Surfaces


@on(DEVICE, "CreateImageSurface")
def create_image_surface(program: Program, call: Arguments) -> None:
    """A surface in system memory."""
    app = application(call)
    size = call.integer("Width"), call.integer("Height")
    made = app.create_surface(*size, format_of(call.integer("Format")), Pool.SYSTEMMEM)
    hand_out(program, call, "ppSurface", app, made)


@on(DEVICE, "CopyRects")
def copy_rects(program: Program, call: Arguments) -> None:
    """Rectangles of one surface go to points of another, each where it is without points."""
    app = application(call)
    names = ("pSourceSurface", "pDestinationSurface")
    source, target = (held(call, Resource, name)[1] for name in names)
    if not call.has("pSourceRectsArray"):
        app.copy(source, target)
        return
    rects = [rect_of(each) for each in call.structs("pSourceRectsArray")]
    given = call.structs("pDestPointsArray") if call.has("pDestPointsArray") else []
    points = [point_of(each) for each in given] or [(r[0], r[1]) for r in rects]
    for rect, point in zip(rects, points, strict=False):
        app.copy(source, target, rect, point)


@on(DEVICE, "GetFrontBuffer")
def get_front_buffer(program: Program, call: Arguments) -> None:
    """The front buffer at the corner of the screen, and a picture of the copy."""
    app = application(call)
    target = held(call, Resource, "pDestSurface")[1]
    if target.desc is None:
        raise Inexpressible("a surface without memory at the driver")
    app.chains[0].show(target.desc)
    picture(call, app, PictureKind.FRONT_BUFFER, target)


@on(DEVICE, "SetRenderTarget")
def set_render_target(program: Program, call: Arguments) -> None:
    """Both surfaces in one token; without a target the one there is stays, with its viewport."""
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


@on(DEVICE, "ResourceManagerDiscardBytes")
def discard_bytes(program: Program, call: Arguments) -> None:
    """Managed textures lose their place in video memory."""
    application(call).evict()


# States


@on(DEVICE, "SetTextureStageState")
def set_texture_stage_state(program: Program, call: Arguments) -> None:
    """A texture stage state; those that later are a sampler's are kept as such."""
    state = enumerator(TextureStageState8, call.integer("Type"))
    stage, value = call.integer("Stage"), call.dword("Value")
    sampler = SAMPLER_OF_WIRE.get(state)
    key = ("stage", stage, int(state)) if sampler is None else ("sampler", stage, sampler)
    application(call).mirror.put(*key, value)


def _keep(call: Arguments, app: Application, block: StateBlock) -> None:
    app.blocks.append(block)
    app.numbered["block", call.address("pToken")] = block


def _block(call: Arguments) -> tuple[Application, StateBlock]:
    app = application(call)
    return app, _numbered(app, "block", call.integer("Token"))


def _numbered(app: Application, kind: str, number: int) -> StateBlock:
    found = app.numbered.get((kind, number))
    if not isinstance(found, StateBlock):
        raise Inexpressible(f"no state block {number:#x}")
    return found


@on(DEVICE, "BeginStateBlock")
def begin_state_block(program: Program, call: Arguments) -> None:
    """What is set from here on goes into a block, and not to the driver."""
    application(call).mirror.begin()


@on(DEVICE, "EndStateBlock")
def end_state_block(program: Program, call: Arguments) -> None:
    """The block is made of what was set."""
    app = application(call)
    if app.mirror.recording:
        _keep(call, app, app.mirror.end())


@on(DEVICE, "CreateStateBlock")
def create_state_block(program: Program, call: Arguments) -> None:
    """A block of a predefined kind, with what is set now."""
    app = application(call)
    kind = enumerator(StateBlockType, call.integer("Type"))
    _keep(call, app, app.mirror.create(block_keys(app.mirror, kind, 8)))


@on(DEVICE, "CaptureStateBlock")
def capture_state_block(program: Program, call: Arguments) -> None:
    """The block gets what is set now."""
    app, block = _block(call)
    app.mirror.capture(block)


@on(DEVICE, "ApplyStateBlock")
def apply_state_block(program: Program, call: Arguments) -> None:
    """What the block has is set, as far as it differs."""
    app, block = _block(call)
    app.mirror.apply(block)


@on(DEVICE, "DeleteStateBlock")
def delete_state_block(program: Program, call: Arguments) -> None:
    """The block is forgotten."""
    app, block = _block(call)
    app.blocks.remove(block)
    del app.numbered["block", call.integer("Token")]


# Shaders


@on(DEVICE, "CreateVertexShader")
def create_vertex_shader(program: Program, call: Arguments) -> None:
    """Declaration and function in one object; without a function vertices are processed fixed."""
    app = application(call)
    declaration = [word & 0xFFFFFFFF for word in call.integers("pDeclaration")]
    code = code_of(call) if call.has("pFunction") else []
    made = app.device.create_vertex_program(declaration, code)
    app.numbered["vertex", call.address("pHandle")] = made


@on(DEVICE, "CreatePixelShader")
def create_pixel_shader(program: Program, call: Arguments) -> None:
    """A pixel shader."""
    app = application(call)
    made = app.device.create_pixel_shader(code_of(call))
    app.numbered["pixel", call.address("pHandle")] = made


@on(DEVICE, "SetVertexShader")
def set_vertex_shader(program: Program, call: Arguments) -> None:
    """A vertex shader by its number, or a vertex format."""
    app, number = application(call), call.integer("Handle")
    made = app.numbered.get(("vertex", number))
    if not isinstance(made, VertexShader) and number & 1:
        raise Inexpressible(f"no vertex shader {number:#x}")
    app.mirror.put("vertex_shader", made.handle if isinstance(made, VertexShader) else number)


@on(DEVICE, "SetPixelShader")
def set_pixel_shader(program: Program, call: Arguments) -> None:
    """A pixel shader by its number, or the texture stages."""
    app, number = application(call), call.integer("Handle")
    made = app.numbered.get(("pixel", number))
    if number and not isinstance(made, PixelShader):
        raise Inexpressible(f"no pixel shader {number:#x}")
    app.mirror.put("pixel_shader", made)


@on(DEVICE, "DeleteVertexShader")
def delete_vertex_shader(program: Program, call: Arguments) -> None:
    """The shader goes; if it is set none is set any more."""
    app = application(call)
    made = app.numbered.pop(("vertex", call.integer("Handle")), None)
    if isinstance(made, VertexShader):
        if app.mirror.get("vertex_shader") == made.handle:
            app.mirror.put("vertex_shader", 0)
        app.session.emit(Op.DELETEVERTEXSHADER, [(made.handle,)])


@on(DEVICE, "DeletePixelShader")
def delete_pixel_shader(program: Program, call: Arguments) -> None:
    """The shader goes; if it is set the texture stages are again."""
    app = application(call)
    made = app.numbered.pop(("pixel", call.integer("Handle")), None)
    if isinstance(made, PixelShader):
        if app.mirror.get("pixel_shader") == made:
            app.mirror.put("pixel_shader", None)
        app.session.emit(Op.DELETEPIXELSHADER, [(made.handle,)])


def _constants(call: Arguments, setting: str) -> None:
    if isinstance(call.value("pConstantData"), bytes):
        data = call.blob("pConstantData")
        flat = list(struct.unpack(f"<{len(data) // 4}f", data[: len(data) // 4 * 4]))
    else:
        flat = call.reals("pConstantData")
    flat = flat[: 4 * call.integer("ConstantCount")]
    rows = [tuple(flat[i : i + 4]) for i in range(0, len(flat) // 4 * 4, 4)]
    put_constants(application(call), setting, call.integer("Register"), rows)


@on(DEVICE, "SetVertexShaderConstant")
def set_vertex_constants(program: Program, call: Arguments) -> None:
    """Float constants of vertices."""
    _constants(call, "vertex_floats")


@on(DEVICE, "SetPixelShaderConstant")
def set_pixel_constants(program: Program, call: Arguments) -> None:
    """Float constants of pixels."""
    _constants(call, "pixel_floats")


# Streams and draws


@on(DEVICE, "SetStreamSource")
def set_stream_source(program: Program, call: Arguments) -> None:
    """A vertex buffer with its stride, or none."""
    buffer = optional(call, Resource, "pStreamData")
    source = (buffer.desc, 0, call.integer("Stride")) if buffer else _NO_STREAM
    application(call).mirror.put("stream", call.integer("StreamNumber"), source)


on(DEVICE, "GetStreamSource")(get_stream_source)


@on(DEVICE, "SetIndices")
def set_indices(program: Program, call: Arguments) -> None:
    """An index buffer or none, and what is added to every index."""
    app, buffer = application(call), optional(call, Resource, "pIndexData")
    app.mirror.put("indices", app.index_buffer(buffer, buffer.format) if buffer else None)
    app.mirror.put("base", call.integer("BaseVertexIndex"))


@on(DEVICE, "GetIndices")
def get_indices(program: Program, call: Arguments) -> None:
    """The address of the bound buffer."""
    app = application(call)
    bound = app.mirror.get("indices")
    hand_out(program, call, "ppIndexData", app, app.resource(bound.desc if bound else None))


@on(DEVICE, "DrawIndexedPrimitive")
def draw_indexed_primitive(program: Program, call: Arguments) -> None:
    """An indexed draw from the bound streams."""
    app = application(call)
    draw_indexed(app, call, integer(app.mirror.get("base")))
