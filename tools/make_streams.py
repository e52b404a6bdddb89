#!/usr/bin/env python3
"""Makes the example captures in ``streams/``, the same bytes every time.

Each stream is a function, below or in ``token_streams.py``; its docstring is its line in
``streams/README.rst``.

    python tools/make_streams.py [FOLDER]
"""

from __future__ import annotations

import io
import math
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap

from filming import (
    COLORED,
    ONE_SET,
    STREAMS,
    STRIDE,
    Model,
    Studio,
    Vertex,
    box,
    finish,
    hue,
    stream,
    vertex_bytes,
)

from dp2emu.capture import CaptureWriter
from dp2emu.capture.records import Annotation
from dp2emu.d3d import fvf
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    Cull,
    Degree,
    Format,
    PrimitiveType,
    QueryType,
    RenderState,
    StateBlockType,
)
from dp2emu.d3d.flags import ColorWrite, Dp2Flags
from dp2emu.d3d.legacy import Opcode
from dp2emu.d3d.legacy import RenderState7 as R
from dp2emu.dp2.call import Call
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime import Device9, RectPatchInfo, TriPatchInfo

HEADING = "The streams here"
"""Section of ``streams/README.rst`` that this script writes; it is the last one."""


def around(turn: float, radius: float) -> tuple[float, float]:
    """A point of a circle about the middle of 320 x 240, on a grid of 1/16 pixel.

    The grid makes the bytes independent of the last bits of sine and cosine.
    """
    angle = 2 * math.pi * turn
    x, y = 160 + radius * math.cos(angle), 120 + radius * math.sin(angle)
    return round(16 * x) / 16, round(16 * y) / 16


def petal(turn: float) -> list[Vertex]:
    """A triangle that starts near the eye and ends far from it: each covers the next."""
    tip, left, right = around(turn, 112), around(turn + 0.19, 62), around(turn - 0.11, 26)
    return [
        (*tip, 0.75, hue(turn)),
        (*left, 0.9375, hue(turn + 0.3, 0.25)),
        (*right, 0.125, hue(turn + 0.12)),
    ]


@stream()
def first_light(studio: Studio) -> None:
    """A ring of Gouraud triangles, each of which covers the next, sorted by the depth buffer
    alone. An occlusion query counts the visible pixels of the last triangle, and an event query
    signals the end of all work."""
    device = studio.device(320, 240)
    model = Model()
    model.add([(x, y, 1.0, color) for x, y, _, color in sky()])
    for index in range(9):
        model.add(petal(index / 9))
    model.bind(device)
    visible = device.create_query(QueryType.OCCLUSION)
    done = device.create_query(QueryType.EVENT)
    device.begin_scene()
    device.clear(color=0xFF000000)
    for piece in range(9):
        model.draw(device, piece)
    visible.begin()
    model.draw(device, 9)
    visible.end()
    device.end_scene()
    done.end()
    finish(device, [visible, done])


def sky() -> list[Vertex]:
    """Dusk behind everything."""
    shades = {0.0: 0xFF0B1026, 240.0: 0xFF4A3B5C}
    return [(x, y, 1.0, shades[y + 0.5]) for x, y, _, _ in box(0, 0, 320, 240, 1.0, 0)]


NEAR, MIDDLE, FAR = 0.25, 0.5, 0.75
BOXES = {
    NEAR: box(8, 8, 40, 40, NEAR, 0xFFE04040),
    MIDDLE: box(24, 16, 56, 40, MIDDLE, 0xFF40C040),
    FAR: box(16, 20, 60, 44, FAR, 0xFF4060E0),
}


def occlusion(studio: Studio, order: list[float]) -> None:
    """Three boxes at three depths in some order, each inside a query of its own."""
    device = studio.device(64, 48)
    model = Model()
    for z in order:
        model.add(BOXES[z])
    model.bind(device)
    queries = [device.create_query(QueryType.OCCLUSION) for _ in order]
    device.clear(color=0xFF202020)
    for piece, query in enumerate(queries):
        query.begin()
        model.draw(device, piece)
        query.end()
    finish(device, queries)


@stream()
def occlusion_near_first(studio: Studio) -> None:
    """Three overlapping boxes, the nearest first: the later boxes lose their covered pixels."""
    occlusion(studio, [NEAR, MIDDLE, FAR])


@stream()
def occlusion_far_first(studio: Studio) -> None:
    """The same boxes, the farthest first: all pixels pass the depth test, and the picture is the
    same."""
    occlusion(studio, [FAR, MIDDLE, NEAR])


@stream()
def occlusion_middle_first(studio: Studio) -> None:
    """The same boxes, the middle one first: only the farthest loses pixels."""
    occlusion(studio, [MIDDLE, NEAR, FAR])


@stream("seeded:38")
def event_overtakes_occlusion(studio: Studio) -> None:
    """An event query that is issued after an occlusion query is answered before it: only answers
    of one type keep their order."""
    device = studio.device(64, 48)
    model = Model()
    model.add(BOXES[NEAR])
    model.bind(device)
    device.set_render_state(RenderState.ZENABLE, 0)
    count, event = device.create_query(QueryType.OCCLUSION), device.create_query(QueryType.EVENT)
    count.begin()
    model.draw(device, 0)
    count.end()
    event.end()
    finish(device, [count, event])


@stream("fixed:call=1000,packet=4000,delivery=500")
def event_latency(studio: Studio) -> None:
    """Empty command buffers poll an event query, which is signalled only when the clear and the
    draws before it have finished."""
    device = studio.device(64, 48)
    model = Model()
    model.add(BOXES[FAR])
    model.add(BOXES[NEAR])
    model.bind(device)
    event = device.create_query(QueryType.EVENT)
    device.clear(color=0xFF202020)
    model.draw(device, 0)
    model.draw(device, 1)
    event.end()
    finish(device, [event])


@stream("fixed:call=1000,packet=6000,delivery=0")
def response_continue(studio: Studio) -> None:
    """Ten answers are ready at once, and the command buffer has room for four: the driver writes
    RESPONSECONTINUE, and empty command buffers fetch the other answers."""
    device = studio.device(16, 16, command_bytes=72)
    events = [device.create_query(QueryType.EVENT) for _ in range(10)]
    device.clear(color=0xFF202020)
    for event in events:
        event.end()
    finish(device, events)


@stream("fixed:call=1000,packet=2000,delivery=1000")
def overlapping_queries(studio: Studio) -> None:
    """Three occlusion queries over three draws: one interval covers all draws, the other two
    overlap, and each query counts the pixels between its own BEGIN and END."""
    device = studio.device(64, 48)
    model = Model()
    for z in (FAR, MIDDLE, NEAR):
        model.add(BOXES[z])
    model.bind(device)
    whole, first, second = (device.create_query(QueryType.OCCLUSION) for _ in range(3))
    device.clear(color=0xFF202020)
    whole.begin()
    first.begin()
    model.draw(device, 0)
    second.begin()
    model.draw(device, 1)
    first.end()
    model.draw(device, 2)
    second.end()
    whole.end()
    finish(device, [whole, first, second])


def lattice(
    left: float, top: float, right: float, bottom: float, *, triangle: bool = False
) -> list[Vertex]:
    """Control points of a flat cubic patch, evenly between its corners, row by row."""
    return [
        (
            left + (right - left) * column / 3,
            top + (bottom - top) * (row - column if triangle else row) / 3,
            0.5,
            hue(column / 6 + row / 9),
        )
        for row in range(4)
        for column in range(row + 1 if triangle else 4)
    ]


def n_patch(device: Device9) -> None:
    """A triangle with corners at 8, 30 and 20, 30 and 8, 42, and normals that lean."""
    device.set_fvf(fvf.XYZ | fvf.NORMAL | fvf.DIFFUSE)
    device.set_render_state(RenderState.LIGHTING, 0)
    device.set_render_state(RenderState.POSITIONDEGREE, Degree.LINEAR)
    device.set_npatch_mode(3)
    places = [(-0.75, -0.25), (-0.375, -0.25), (-0.75, -0.75)]
    normals = [(0, 0, -1), (0.5, 0, -1), (0, -0.5, -1)]
    data = b"".join(
        struct.pack("<6fI", x, y, 0.5, *normal, hue(x))
        for (x, y), normal in zip(places, normals, strict=True)
    )
    device.draw_primitive_up(PrimitiveType.TRIANGLELIST, 1, data, 28)


@stream()
def patches(studio: Studio) -> None:
    """A rectangular and a triangular cubic Bezier patch; the rectangular patch again from its
    handle, after its vertex buffer was cleared; and a triangle as an N-patch. Each draw has its
    own query."""
    device = studio.device(64, 48)
    control = lattice(7.5, 7.5, 31.5, 23.5) + lattice(39.5, 7.5, 55.5, 23.5, triangle=True)
    buffer = device.create_vertex_buffer(vertex_bytes(control))
    device.set_stream_source(0, buffer, 0, STRIDE)
    queries = [device.create_query(QueryType.OCCLUSION) for _ in range(4)]
    rectangle, triangle, again, curved = queries
    device.clear(color=0xFF202020)
    rectangle.begin()
    device.draw_rect_patch(5, (4, 3, 2, 5), RectPatchInfo(0, 0, 4, 4, 4))
    rectangle.end()
    triangle.begin()
    device.draw_tri_patch(0, (4, 3, 2), TriPatchInfo(16, 10))
    triangle.end()
    rectangle.wait()
    device.write(buffer, 0, bytes(16 * STRIDE))
    again.begin()
    device.draw_rect_patch(5, (1, 1, 1, 1))
    again.end()
    device.delete_patch(5)
    curved.begin()
    n_patch(device)
    curved.end()
    finish(device, queries)


@stream("fixed:call=1000,packet=1500,delivery=200")
def bad_token(studio: Studio) -> None:
    """A call with an invalid opcode fails at that token and returns no answers, but loses none:
    the next call returns the answer that was ready."""
    device = studio.device(16, 16)
    event = device.create_query(QueryType.EVENT)
    device.clear(color=0xFF206020)
    event.end()
    device.session.flush()
    buffer = device.session.create_surface(SurfaceKind.MEMORY, 256)
    good = struct.pack("<BBHII", Op.RENDERSTATE, 0, 1, RenderState.ZWRITEENABLE, 0)
    commands = good + struct.pack("<BBHI", NO_SUCH_OPCODE, 0, 1, 0) + good
    studio.call(
        Call(
            device.session.context,
            lpDDCommands=buffer.handle,
            dwCommandLength=len(commands),
            commands=commands,
        )
    )
    finish(device, [event])


NO_SUCH_OPCODE = 200


@stream("fixed:call=1000,packet=4000,delivery=500", keep=0.4)
def truncated_file(studio: Studio) -> None:
    """A capture whose writer was killed: the records before the cut are replayed, and the
    truncation is reported."""
    event_latency(studio)


@stream()
def execute_buffer(studio: Studio) -> None:
    """A DirectX 7 execute buffer: render states are mirrored into lpdwRStates, vertices are read
    from the call's vertex buffer, and the exit opcode (11) of execute buffers ends the call with
    success."""
    session = studio.session(7)
    target = session.create_surface(SurfaceKind.SURFACE, 64, 48, Format.R5G6B5)
    states = session.create_surface(SurfaceKind.MEMORY, 4 * 256)
    commands = session.create_surface(SurfaceKind.MEMORY, 256)
    vertices = session.create_surface(SurfaceKind.VERTEXBUFFER, 3 * STRIDE)
    corners = [
        (4.0, 4.0, 0.5, 0xFFFF4020),
        (60.0, 8.0, 0.5, 0xFF20FF40),
        (12.0, 44.0, 0.5, 0xFF2040FF),
    ]
    session.write(vertices.handle, 0, vertex_bytes(corners))
    session.open(target.handle)
    data = b"".join(
        (
            struct.pack("<BBH", Op.CLEAR, 0, 1),
            struct.pack("<IIfI4i", 1, 0xFF101820, 1.0, 0, 0, 0, 64, 48),
            struct.pack("<BBH", Op.RENDERSTATE, 0, 2),
            struct.pack("<4I", RenderState.CULLMODE, Cull.NONE, RenderState.SHADEMODE, 2),
            struct.pack("<BBHH", Op.TRIANGLELIST, 0, 1, 0),
            struct.pack("<BBH", Opcode.EXIT, 0, 0),
        )
    )
    studio.call(
        Call(
            session.context,
            lpDDCommands=commands.handle,
            dwCommandLength=len(data),
            dwFlags=Dp2Flags.EXECUTEBUFFER,
            dwVertexType=COLORED,
            lpDDVertex=vertices.handle,
            dwVertexLength=3,
            dwVertexSize=STRIDE,
            lpdwRStates=states.handle,
            commands=data,
        )
    )
    session.mark_frame(target.handle)
    session.close()


@stream()
def early_states(studio: Studio) -> None:
    """States that only DirectX 6 has: a floor with perspective-correct texture coordinates and,
    beside it, a floor with linear ones; below, a box that inverts the covered pixels (ROP2), and a
    box with a stipple pattern."""
    session = studio.session(6)
    target = session.create_surface(SurfaceKind.SURFACE, 128, 96, Format.X8R8G8B8)
    commands = session.create_surface(SurfaceKind.MEMORY, 1024)
    checks = session.create_surface(SurfaceKind.TEXTURE, 8, 8, Format.R5G6B5)
    texels = [0xFFE0 if (x ^ y) & 1 else 0x001F for y in range(8) for x in range(8)]
    session.write(checks.handle, 0, struct.pack("<64H", *texels))
    session.open(target.handle)
    floors = [floor(4, 60), floor(68, 124)]
    shapes = [plain(box(x, 52, x + 44, 92, 0.5, 0xFFFFFFFF)) for x in (10, 74)]
    data = b"".join(
        (
            struct.pack("<BBH", Op.CLEAR, 0, 1),
            struct.pack("<IIfI4i", 1, 0xFF205070, 1.0, 0, 0, 0, 128, 96),
            early(
                RenderState.CULLMODE,
                Cull.NONE,
                R.TEXTUREHANDLE,
                checks.handle,
                R.TEXTUREMAPBLEND,
                1,
            ),
            triangles(0),
            early(R.TEXTUREPERSPECTIVE, 0),
            triangles(6),
            early(R.TEXTUREHANDLE, 0, R.ROP2, 6),
            triangles(12),
            early(R.ROP2, 13, R.STIPPLEENABLE, 1),
            *(early(R.STIPPLEPATTERN00 + row, 0x0F0F0F0F << row % 5) for row in range(27)),
            triangles(18),
        )
    )
    studio.call(
        Call(
            session.context,
            lpDDCommands=commands.handle,
            dwCommandLength=len(data),
            dwFlags=Dp2Flags.USERMEMVERTICES,
            dwVertexType=COLORED | ONE_SET,
            dwVertexLength=24,
            commands=data,
            vertices=b"".join((*floors, *shapes)),
        )
    )
    session.mark_frame(target.handle)
    session.close()


def early(*pairs: int) -> bytes:
    """Render states, each a number and a value of 32 bits."""
    words = [number & 0xFFFFFFFF for number in pairs]
    head = struct.pack("<BBH", Op.RENDERSTATE, 0, len(words) // 2)
    return head + struct.pack(f"<{len(words)}I", *words)


def triangles(first: int) -> bytes:
    """Two triangles of the call's vertices."""
    return struct.pack("<BBHH", Op.TRIANGLELIST, 0, 2, first)


def plain(vertices: Iterable[Vertex]) -> bytes:
    """Vertices with texture coordinates that mean nothing."""
    return b"".join(struct.pack("<4fI2f", x, y, z, 1, color, 0, 0) for x, y, z, color in vertices)


def floor(left: float, right: float) -> bytes:
    """A square that goes away from the eye: its far edge, above, is four times as far."""
    middle, data = (left + right - 1) / 2, b""
    for x, y, z, color in box(left, 4, right, 44, 0.5, 0xFFFFFFFF):
        rhw = 0.25 if y < 20 else 1.0
        at = middle + (x - middle) * rhw
        data += struct.pack("<4fI2f", at, y, z, rhw, color, x > middle, y < 20)
    return data


@stream()
def state_blocks(studio: Studio) -> None:
    """Four boxes: with the initial state; with a recorded block whose write mask is red; with the
    same block after it captured a green write mask; and in white again, after a block of all state
    restored the initial state."""
    device = studio.device(64, 16)
    model = Model()
    for number in range(4):
        model.add(box(16 * number + 2, 2, 16 * number + 14, 14, 0.5, 0xFFFFFFFF))
    model.bind(device)
    emit = device.session.emit
    device.clear(color=0xFF000000)
    emit(Op.STATESET, [(CREATE, 1, StateBlockType.ALL)])
    model.draw(device, 0)
    emit(Op.STATESET, [(BEGIN, 2, 0)])
    device.set_render_state(RenderState.COLORWRITEENABLE, ColorWrite.RED)
    emit(Op.STATESET, [(END, 0, 0), (EXECUTE, 2, 0)])
    model.draw(device, 1)
    device.set_render_state(RenderState.COLORWRITEENABLE, ColorWrite.GREEN)
    emit(Op.STATESET, [(CAPTURE, 2, 0)])
    device.set_render_state(RenderState.COLORWRITEENABLE, ColorWrite.BLUE)
    emit(Op.STATESET, [(EXECUTE, 2, 0)])
    model.draw(device, 2)
    emit(Op.STATESET, [(EXECUTE, 1, 0), (DELETE, 2, 0)])
    model.draw(device, 3)
    finish(device, [])


BEGIN, END, DELETE, EXECUTE, CAPTURE, CREATE = range(6)
"""Operations of STATESET."""


@stream("fixed:call=10,packet=100")
def flip_chain(studio: Studio) -> None:
    """A flipping chain of three buffers: each frame fills another fourth of its buffer, which
    still has the content of three frames before. A lock orders the host's pixels after the last
    fill."""
    session = studio.session(9)
    front, *backs = (
        session.create_surface(SurfaceKind.SURFACE, 32, 8, Format.X8R8G8B8) for _ in range(3)
    )
    session.open(backs[0].handle)
    for frame in range(6):
        rect = (8 * (frame // 3), 0, 8 * (frame // 3) + 8, 8)
        session.emit(Op.COLORFILL, [(backs[0].handle, rect, hue(frame / 6))])
        session.flip(front.handle, backs[0].handle)
        session.flip(backs[0].handle, backs[1].handle)
        session.mark_frame(front.handle)
    session.lock(front.handle)
    session.write(front.handle, 0, b"\xff" * 4 * 8)
    session.mark_frame(front.handle)
    session.close()


import token_streams  # noqa: E402, F401  (its streams come behind these)


def make(name: str) -> bytes:
    """The bytes of ``streams/NAME.dp2``."""
    recipe, file = STREAMS[name], io.BytesIO()
    with CaptureWriter(file, compression="none") as capture:
        capture.write(Annotation("title", name))
        recipe.play(Studio(capture, recipe.timing))
    return file.getvalue()[: int(len(file.getvalue()) * recipe.keep)]


def listing() -> str:
    """The section of ``streams/README.rst`` about the streams."""
    lines = [HEADING, "-" * len(HEADING), "", "Made by ``tools/make_streams.py``.", ""]
    for name, recipe in STREAMS.items():
        lines += [
            f"``{name}.dp2``",
            *wrap(recipe.says, 95, initial_indent="    ", subsequent_indent="    "),
            "",
        ]
    return "\n".join(lines)


def with_listing(text: str) -> str:
    """The text of ``streams/README.rst`` with its last section brought up to date."""
    before, _, _ = text.partition(HEADING + "\n---")
    return before.rstrip("\n") + "\n\n" + listing()


def main() -> None:
    """Write all streams and their list."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "streams")
    for name in STREAMS:
        data = make(name)
        (folder / f"{name}.dp2").write_bytes(data)
        print(f"{len(data):6}  {name}")
    readme = folder / "README.rst"
    readme.write_text(with_listing(readme.read_text("utf-8")), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
