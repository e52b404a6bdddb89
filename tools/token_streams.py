"""Example captures of tokens that move memory, and of those that say something of textures."""

from __future__ import annotations

import struct
from collections.abc import Callable

from filming import COLORED, ONE_SET, STRIDE, Studio, finish, hue, stream, vertex_bytes

from dp2emu.d3d import fvf
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Cull,
    DeclMethod,
    DeclType,
    DeclUsage,
    Format,
    PrimitiveType,
    QueryType,
    RenderState,
    SamplerState,
    TextureFilter,
    TextureOp,
    TextureStageState,
)
from dp2emu.d3d.flags import Dp2Flags
from dp2emu.dp2.call import Call
from dp2emu.dp2.states.setting_kinds import EVICT_MANAGED
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime import Device9, Session, VertexElement
from dp2emu.runtime.arguments import Box
from dp2emu.shader.sm.assemble import assemble

SHADES = {"red": 0xFFE03030, "green": 0xFF30C040, "blue": 0xFF3050E0, "white": 0xFFF0F0F0}
TEXTURED = fvf.XYZRHW | ONE_SET
THREE_COORDINATES = 0x10000
POINT_BLT, LINEAR_BLT = 1, 2


def square(device: Device9, left: int, top: int, size: int, *, depth: float | None = None) -> None:
    """A textured square of pixels; with ``depth`` the texture has that third coordinate."""
    beyond = () if depth is None else (depth,)
    device.set_fvf(TEXTURED | (0 if depth is None else THREE_COORDINATES))
    data = b"".join(
        struct.pack(
            f"<{6 + len(beyond)}f", left + size * u - 0.5, top + size * v - 0.5, 0.5, 1.0, u, v,
            *beyond,
        )
        for v in (0, 1) for u in (0, 1)
    )  # fmt: skip
    device.draw_primitive_up(PrimitiveType.TRIANGLESTRIP, 2, data, 24 + 4 * len(beyond))


def blit(
    device: Device9, source: int, source_box: Box, target: int, target_box: Box,
    *, op: Op = Op.BLT, level: int = 0, flags: int = 0,
) -> None:  # fmt: skip
    """BLT or SURFACEBLT, from a level of the source."""
    device.session.emit(op, [(source, source_box, level, target, target_box, 0, flags)])


def quarters(device: Device9, handle: int) -> None:
    """Four colours in the corners of 16 x 16."""
    boxes = [(0, 0, 8, 8), (8, 0, 16, 8), (0, 8, 8, 16), (8, 8, 16, 16)]
    fills = zip(boxes, SHADES.values(), strict=True)
    device.session.emit(Op.COLORFILL, [(handle, box, color) for box, color in fills])


@stream()
def moves(studio: Studio) -> None:
    """Every token that moves memory: fills, blits that stretch and convert, generated mip levels,
    a mip chain copied to a smaller texture, a volume copy and a vertex copy. An occlusion query
    around all tokens counts the two squares and the triangle that are drawn, 548 pixels."""
    device = studio.device(64, 48)
    send, back = device.session.emit, device.back_buffer.handle
    texture = device.create_texture(16, 16, Format.A8R8G8B8, levels=5).desc.handle
    small = device.create_texture(8, 8, Format.A8R8G8B8, levels=4)
    coarse = device.create_render_target(16, 16, Format.R5G6B5).handle
    plain = device.create_render_target(16, 16, Format.X8R8G8B8).handle
    slices = [struct.pack("<I", SHADES[name]) * 16 for name in ("green", "white")]
    volumes = [
        device.create_volume_texture(4, 4, 2, Format.A8R8G8B8, data)
        for data in ([b"".join(slices)], [bytes(128)])
    ]
    corner = [(8.0, 32.0, 0.5, SHADES["red"]), (16.0, 32.0, 0.5, SHADES["red"]),
              (8.0, 40.0, 0.5, SHADES["red"])]  # fmt: skip
    loaded = device.create_vertex_buffer(vertex_bytes(corner))
    drawn = device.create_vertex_buffer(bytes(3 * STRIDE))
    visible = device.create_query(QueryType.OCCLUSION)
    whole = (0, 0, 16, 16)
    device.clear(color=0xFF202020)
    visible.begin()
    quarters(device, texture)
    send(Op.ADDDIRTYRECT, [(texture, whole)])
    send(Op.GENERATEMIPSUBLEVELS, [(texture, 2)])
    send(Op.TEXBLT, [(small.desc.handle, texture, (0, 0), whole, 0)])
    blit(device, texture, whole, back, whole)
    blit(device, texture, whole, back, (16, 0, 48, 32), flags=POINT_BLT)
    blit(device, texture, (0, 0, 2, 2), back, (48, 0, 64, 16), level=3, flags=LINEAR_BLT)
    blit(device, texture, whole, coarse, whole)
    blit(device, coarse, whole, back, (48, 16, 64, 32))
    send(Op.COLORFILL, [(plain, whole, 0xFF808080)])
    blit(device, plain, whole, back, (0, 16, 16, 32), op=Op.SURFACEBLT)
    first, second = (volume.desc.handle for volume in volumes)
    send(Op.ADDDIRTYBOX, [(first, (0, 0, 4, 4, 0, 2))])
    send(Op.VOLUMEBLT, [(second, first, 0, 0, 0, (0, 0, 4, 4, 1, 2), 0)])
    send(Op.BUFFERBLT, [(drawn.handle, loaded.handle, 0, (0, 3 * STRIDE), 0)])
    device.set_texture(0, small)
    square(device, 16, 32, 16)
    device.set_texture(0, volumes[1])
    square(device, 32, 32, 16, depth=0.25)
    device.set_texture(0, None)
    device.set_fvf(COLORED)
    device.set_stream_source(0, drawn, 0, STRIDE)
    device.draw_primitive(PrimitiveType.TRIANGLELIST, 0, 1)
    visible.end()
    finish(device, [visible])


GLYPHS = {
    "D": "#### ,#   #,#   #,#   #,#   #,#   #,#### ",
    "P": "#### ,#   #,#   #,#### ,#    ,#    ,#    ",
    "2": " ### ,#   #,    #,   # ,  #  , #   ,#####",
}


def sheet() -> bytes:
    """The glyphs side by side, one byte a row each, the leftmost pixel in the highest bit."""
    rows = zip(*(glyph.split(",") for glyph in GLYPHS.values()), strict=True)
    return bytes(
        sum(0x80 >> x for x, mark in enumerate(row) if mark == "#")
        for line in rows
        for row in line
    )


@stream()
def glyphs(studio: Studio) -> None:
    """A word composed from monochrome glyphs, on a bar in whose lower half the glyphs are
    subtracted. The result is drawn with convolution kernels of 1 x 1 and of 3 x 3 texels."""
    device = studio.device(64, 48)
    send = device.session.emit
    font = device.create_texture(24, 7, Format.A1, [sheet()]).desc.handle
    word = device.create_texture(32, 32, Format.A1)
    boxes = [(8 * number, 0, 5, 7) for number in range(3)]
    places = [(number, 0, 4 + 8 * number, 2) for number in range(3)]
    full = device.create_vertex_buffer(struct.pack("<4H", 0, 0, 24, 7))
    sources = device.create_vertex_buffer(b"".join(struct.pack("<4H", *box) for box in boxes))
    targets = device.create_vertex_buffer(b"".join(struct.pack("<4H", *at) for at in places))
    bar = device.create_texture(24, 7, Format.A1, [b"\xff" * 21]).desc.handle
    origin = device.create_vertex_buffer(struct.pack("<2H2h", 0, 0, 0, 0))
    copy, negate, target = 1, 4, word.desc.handle
    composed = [
        (font, target, sources.handle, 3, targets.handle, copy, 0, 0),
        (bar, target, full.handle, 1, origin.handle, copy, 4, 13),
        (font, target, sources.handle, 3, targets.handle, negate, 0, 11),
    ]
    device.clear(color=0xFF182030)
    send(Op.COMPOSERECTS, composed)
    device.set_texture(0, word)
    device.set_texture_stage_state(0, TextureStageState.COLOROP, TextureOp.SELECTARG1)
    device.set_texture_stage_state(0, TextureStageState.COLORARG1, TEXTURE_ALPHA)
    device.set_sampler_state(0, SamplerState.MAGFILTER, TextureFilter.CONVOLUTIONMONO)
    square(device, 0, 0, 32)
    device.set_convolution_mono_kernel(3, 3)
    square(device, 32, 16, 32)
    finish(device, [])


TEXTURE_ALPHA = 0x22
"""D3DTA_TEXTURE | D3DTA_ALPHAREPLICATE."""


@stream()
def palettes(studio: Studio) -> None:
    """A texture of palette indexes with two palettes, and a texture that SETTEXLOD limits to its
    second level. Later changes of palette entries do not affect earlier draws."""
    device = studio.device(48, 16)
    send, tailed = device.session.emit, device.session.commands.emit_tailed
    indexed = device.create_texture(4, 4, Format.P8, [bytes(range(16))])
    leveled = device.create_texture(
        2, 2, Format.A8R8G8B8, [struct.pack("<I", SHADES[name]) * count
                                for name, count in (("red", 4), ("blue", 1))], levels=2,
    )  # fmt: skip
    entries = b"".join(bytes((17 * i, 255 - 17 * i, 64, 0)) for i in range(16))
    device.clear(color=0xFF202020)
    tailed(Op.UPDATEPALETTE, (1, 0, 16), entries)
    send(Op.SETPALETTE, [(1, 0, indexed.desc.handle)])
    device.set_texture(0, indexed)
    square(device, 0, 0, 16)
    tailed(Op.UPDATEPALETTE, (1, 5, 1), bytes((255, 255, 255, 0)))
    square(device, 16, 0, 16)
    send(Op.SETPRIORITY, [(leveled.desc.handle, 7)])
    send(Op.SETTEXLOD, [(leveled.desc.handle, 1)])
    device.set_texture(0, leveled)
    square(device, 32, 0, 16)
    finish(device, [])


@stream()
def managed(studio: Studio) -> None:
    """A driver-managed texture, drawn three times: after the upload of the whole texture; after
    the host wrote another colour and marked the left half dirty; and after the texture was
    evicted."""
    device = studio.device(48, 16)
    send = device.session.emit
    texture = device.create_texture(
        4, 4, Format.X8R8G8B8, [struct.pack("<I", SHADES["red"]) * 16], managed=True
    )
    handle = texture.desc.handle
    device.clear(color=0xFF202020)
    device.set_texture(0, texture)
    send(Op.SETPRIORITY, [(handle, 7)])
    send(Op.TEXBLT, [(0, handle, (0, 0), (0, 0, 4, 4), 0)])
    square(device, 0, 0, 16)
    device.session.write(handle, 0, struct.pack("<I", SHADES["green"]) * 16)
    send(Op.ADDDIRTYRECT, [(handle, (0, 0, 2, 4))])
    square(device, 16, 0, 16)
    send(Op.RENDERSTATE, [(EVICT_MANAGED, 1)])
    square(device, 32, 0, 16)
    finish(device, [])


@stream("fixed:call=1000,packet=3000,delivery=100")
def host_race(studio: Studio) -> None:
    """Two blits of a texture are queued when the host overwrites the texture: the first blit has
    already read it, and the second reads the host's data."""
    device = studio.device(32, 16)
    texture = device.create_texture(16, 16, Format.X8R8G8B8).desc.handle
    back, whole = device.back_buffer.handle, (0, 0, 16, 16)
    done = device.create_query(QueryType.EVENT)
    device.session.emit(Op.COLORFILL, [(texture, whole, SHADES["green"])])
    device.session.finish()
    blit(device, texture, whole, back, whole)
    blit(device, texture, whole, back, (16, 0, 32, 16))
    white = struct.pack("<I", SHADES["white"]) * 16
    for row in range(16):
        device.session.write(texture, 64 * row, white)
    done.end()
    finish(device, [done])


@stream()
def instances(studio: Studio) -> None:
    """One square, and a second stream with twelve positions: an indexed draw of twelve instances,
    whose colour stream advances every third instance."""
    device = studio.device(64, 48)
    corners = [(0.0, 0.0), (12.0, 0.0), (0.0, 12.0), (12.0, 12.0)]
    shape = device.create_vertex_buffer(
        b"".join(struct.pack("<2f", *corner) for corner in corners)
    )
    spots = [(2.0 + 16 * (n % 4), 2.0 + 16 * (n // 4)) for n in range(12)]
    places = device.create_vertex_buffer(b"".join(struct.pack("<2f", *spot) for spot in spots))
    colors = [hue(n / 4) for n in range(4)]
    tints = device.create_vertex_buffer(struct.pack("<4I", *colors))
    device.set_indices(device.create_index_buffer(struct.pack("<6H", 0, 1, 2, 2, 1, 3)))
    device.set_vertex_declaration(device.create_vertex_declaration(INSTANCED))
    device.set_vertex_shader(device.create_vertex_shader(PLACING))
    device.set_vertex_constants(0, [(2 / 64, -2 / 48, -1 - 1 / 64, 1 + 1 / 48)])
    for number, (buffer, stride) in enumerate(((shape, 8), (places, 8), (tints, 4))):
        device.set_stream_source(number, buffer, 0, stride)
    device.set_stream_frequency(0, 0x40000000 | 12)
    device.set_stream_frequency(1, 0x80000000 | 1)
    device.set_stream_frequency(2, 0x80000000 | 3)
    device.clear(color=0xFF202020)
    device.draw_indexed_primitive(PrimitiveType.TRIANGLELIST, 0, 0, 4, 0, 2)
    finish(device, [])


INSTANCED = [
    VertexElement(0, 0, DeclType.FLOAT2, DeclMethod.DEFAULT, DeclUsage.POSITION, 0),
    VertexElement(1, 0, DeclType.FLOAT2, DeclMethod.DEFAULT, DeclUsage.TEXCOORD, 0),
    VertexElement(2, 0, DeclType.D3DCOLOR, DeclMethod.DEFAULT, DeclUsage.COLOR, 0),
]
_PLACING = assemble(
    "vs_3_0\ndcl_position v0\ndcl_texcoord v1\ndcl_color v2\ndcl_position o0\ndcl_color o1\n"
    "def c1, 0, 1, 0, 0\nadd r0.xy, v0, v1\nmad r0.xy, r0, c0, c0.zwzw\n"
    "mov r0.z, c1.x\nmov r0.w, c1.y\nmov o0, r0\nmov o1, v2\n"
)
PLACING = list(struct.unpack(f"<{len(_PLACING) // 4}I", _PLACING))
"""Adds the place, and goes from pixels to clip space."""


CELL = 16
"""Pixels of a side of the cell in which each token of ``early_draws`` draws."""
_SHORT, _PLAIN = struct.Struct("<H"), struct.Struct("<BBH")


def words(op: Op, count: int, *numbers: int) -> bytes:
    """A token of 16-bit numbers."""
    return _PLAIN.pack(op, 0, count) + b"".join(map(_SHORT.pack, numbers))


def strip(left: float, top: float) -> list[tuple[float, float]]:
    """Corners of 8 x 8, row by row."""
    return [(left + x, top + y) for y in (0, 8) for x in (0, 8)]


def fan(left: float, top: float) -> list[tuple[float, float]]:
    """The same corners, round about."""
    first, second, third, fourth = strip(left, top)
    return [first, second, fourth, third]


def in_cell(
    number: int, corners: Callable[[float, float], list[tuple[float, float]]], edge: float
) -> bytes:
    """Vertices in a cell of four a row, ``edge`` before the centre of a pixel."""
    left, top = CELL * (number % 4) + 4 - edge, CELL * (number // 4) + 4 - edge
    color = hue(number / 15)
    return vertex_bytes((x, y, 0.5, color) for x, y in corners(left, top))


POINTS_AND_LINES: list[tuple[Op, int, tuple[int, ...]]] = [
    (Op.POINTS, 1, (4, 0)),
    (Op.LINELIST, 2, (4,)),
    (Op.LINESTRIP, 3, (8,)),
    (Op.INDEXEDLINELIST, 2, (12, 13, 14, 15)),
    (Op.INDEXEDLINELIST2, 2, (16, 0, 1, 2, 3)),
    (Op.INDEXEDLINESTRIP, 3, (20, 0, 1, 3, 2)),
]
"""Token, count and numbers; the vertices of each are four from four times its place on."""

TRIANGLES: list[tuple[Op, int, tuple[int, ...]]] = [
    (Op.TRIANGLESTRIP, 2, (24,)),
    (Op.INDEXEDTRIANGLESTRIP, 2, (28, 0, 1, 2, 3)),
    (Op.INDEXEDTRIANGLELIST, 2, (32, 33, 34, 0x700, 34, 33, 35, 0x700)),
    (Op.INDEXEDTRIANGLELIST2, 2, (36, 0, 1, 2, 2, 1, 3)),
    (Op.INDEXEDTRIANGLEFAN, 2, (40, 0, 1, 3, 2)),
    (Op.TRIANGLELIST, 1, (44,)),
]


@stream()
def early_draws(studio: Studio) -> None:
    """Every drawing token of DirectX 6, each in its own cell: points and lines above, first with
    vertices of the call and then with vertices in the command buffer; triangles below."""
    session = studio.session(6)
    target = session.create_surface(SurfaceKind.SURFACE, 4 * CELL, 4 * CELL, Format.X8R8G8B8)
    commands = session.create_surface(SurfaceKind.MEMORY, 1024)
    session.open(target.handle)
    vertices = [in_cell(number, strip, 0.0) for number in range(6)]
    vertices += [in_cell(number, strip, 0.5) for number in range(6, 12)]
    vertices += [in_cell(12, fan, 0.5)]
    data = _PLAIN.pack(Op.CLEAR, 0, 1)
    data += struct.pack("<IIfI4i", 1, 0xFF202020, 1.0, 0, 0, 0, 4 * CELL, 4 * CELL)
    data += _PLAIN.pack(Op.RENDERSTATE, 0, 1) + struct.pack("<2I", RenderState.CULLMODE, Cull.NONE)
    for op, count, numbers in (*POINTS_AND_LINES, *TRIANGLES, (Op.TRIANGLEFAN, 2, (48,))):
        data += words(op, count, *numbers)
    data += words(Op.LINELIST_IMM, 2)
    data += bytes(-len(data) % 4) + in_cell(13, strip, 0.0)
    data += words(Op.TRIANGLEFAN_IMM, 2) + struct.pack("<I", 0x7) + in_cell(14, fan, 0.5)
    studio.call(
        Call(
            session.context,
            lpDDCommands=commands.handle,
            dwCommandLength=len(data),
            dwFlags=Dp2Flags.USERMEMVERTICES,
            dwVertexType=COLORED,
            dwVertexLength=4 * len(vertices),
            commands=data,
            vertices=b"".join(vertices),
        )
    )
    session.mark_frame(target.handle)
    session.close()


def scaled(x: float) -> tuple[float, ...]:
    """The matrix that makes everything half as wide and moves it by ``x``."""
    return (0.5, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1)


LIGHT = struct.pack(
    "<I25f", 3, 1.0, 0.5, 0.25, 1.0, *(0.0,) * 11, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
)
"""A D3DLIGHT7: directional, along z, of the diffuse colour 1, 1/2, 1/4."""
MATERIAL = (0.5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.25, 0, 0)
"""A D3DMATERIAL7: diffuse, ambient, specular, emissive and power."""
PUT_DATA, SWITCH_ON, SWITCH_OFF = 2, 0, 1


@stream()
def early_light(studio: Studio) -> None:
    """DirectX 7's transform and lighting: a square on the left, lit from the front by light 3; and
    the square on the right, moved by the world matrix, without the light and clipped by a clip
    plane."""
    session = studio.session(7)
    send, tailed = session.emit, session.commands.emit_tailed
    target = session.create_surface(SurfaceKind.SURFACE, 64, 32, Format.X8R8G8B8)
    vertices = session.create_surface(SurfaceKind.VERTEXBUFFER, 6 * 24)
    corners = [(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (-1.0, -1.0), (1.0, 1.0), (1.0, -1.0)]
    data = b"".join(struct.pack("<6f", x, y, 0.5, 0.0, 0.0, -1.0) for x, y in corners)
    session.write(vertices.handle, 0, data)
    session.open(target.handle)
    send(Op.SETRENDERTARGET, head=(target.handle, 0))
    send(Op.CLEAR, [(0, 0, 64, 32)], head=(1, 0xFF202020, 1.0, 0))
    send(Op.VIEWPORTINFO, [(0, 0, 64, 32)])
    send(Op.ZRANGE, [(0.0, 1.0)])
    send(Op.WINFO, [(0.0, 1.0)])
    send(Op.RENDERSTATE, [(RenderState.CULLMODE, Cull.NONE)])
    send(Op.SETMATERIAL, [tuple(MATERIAL[n : n + 4] for n in (0, 4, 8, 12)) + MATERIAL[16:]])
    send(Op.CREATELIGHT, [(3,)])
    tailed(Op.SETLIGHT, (3, PUT_DATA), LIGHT)
    tailed(Op.SETLIGHT, (3, SWITCH_ON), b"")
    send(Op.SETTRANSFORM, [(1, scaled(-0.5))])
    early_square(studio, session, vertices.handle)
    tailed(Op.SETLIGHT, (3, SWITCH_OFF), b"")
    send(Op.SETTRANSFORM, [(1, scaled(0.5))])
    send(Op.SETCLIPPLANE, [(0, (-1.0, 0.0, 0.0, 0.5))])
    send(Op.RENDERSTATE, [(RenderState.CLIPPLANEENABLE, 1)])
    early_square(studio, session, vertices.handle)
    session.mark_frame(target.handle)
    session.close()


def early_square(studio: Studio, session: Session, vertices: int) -> None:
    """What waits in the command buffer and two triangles, with the vertices of a buffer."""
    commands = session.commands.take() + words(Op.TRIANGLELIST, 2, 0)
    buffer = session.create_surface(SurfaceKind.MEMORY, 1024)
    studio.call(
        Call(
            session.context,
            lpDDCommands=buffer.handle,
            dwCommandLength=len(commands),
            dwVertexType=fvf.XYZ | fvf.NORMAL,
            lpDDVertex=vertices,
            dwVertexLength=6,
            commands=commands,
        )
    )
