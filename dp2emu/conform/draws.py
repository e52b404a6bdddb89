"""Cases of drawing: which vertices each token takes, and which pixels a triangle covers.

All count with an occlusion query what is drawn with transformed vertices; how many pixels that
must be is what ``coverage`` says.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from dp2emu.conform.case import ANY_FAILURE, ANY_RESULT, Case, Expect
from dp2emu.conform.coverage import area
from dp2emu.conform.script import (
    FVF_XYZRHW,
    HEIGHT,
    INDICES,
    VERTEX_BYTES,
    VERTICES,
    WIDTH,
    Corner,
    Script,
    begin,
    create,
    dwords,
    end,
    render_state,
    token,
    vertices,
)
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, PrimitiveType, QueryType, RenderState
from dp2emu.gpu.resource.heap import SurfaceKind

BOX: tuple[Corner, ...] = ((0, 0), (8, 0), (0, 4), (8, 4))
"""A strip of two clockwise triangles."""
BOX_PIXELS = 32

_LIST, _STRIP, _FAN = (
    PrimitiveType.TRIANGLELIST, PrimitiveType.TRIANGLESTRIP, PrimitiveType.TRIANGLEFAN,
)  # fmt: skip
_TOKENS = 'wire format, "DirectX 6 opcodes" and "Primitive order"'
_STREAMS = 'wire format, "DirectX 8 opcodes" and "Vertex sources"'
_NUMBERS = 'wire format, "Vertex numbers"'
_VIEWPORT = 'wire format, "Viewport and ranges"'
_RULES = "Direct3D 9 rasterization rules"
_EXTRA = 3
"""Vertices in front of those that a start vertex or base means."""

_CORNERS: tuple[Corner, ...] = ((1, 1), (20, 2), (4, 9), (22, 12), (9, 15), (30, 14))
"""Corners no two triangles of which cover as many pixels."""
_AWAY: tuple[Corner, ...] = ((31, 15), (27, 15), (31, 9))


def box() -> bytes:
    """Draws ``BOX``, which are the call's vertices."""
    return token(Op.TRIANGLESTRIP, b"\0\0", 2)


def numbers(kind: PrimitiveType, count: int) -> tuple[tuple[int, int, int], ...]:
    """Which vertices the triangles of a primitive have, in the order that winds them alike."""
    if kind is _LIST:
        return tuple((3 * i, 3 * i + 1, 3 * i + 2) for i in range(count))
    if kind is _STRIP:
        return tuple((i, i + 1 + i % 2, i + 2 - i % 2) for i in range(count))
    return tuple((i + 1, i + 2, 0) for i in range(count))


def pixels_of(corners: Sequence[Corner], order: Sequence[Sequence[int]]) -> int:
    """Pixels of the triangles whose vertices have these numbers."""
    return area([[corners[i] for i in triangle] for triangle in order], WIDTH, HEIGHT)


def draw_cases() -> Iterator[Case]:
    """Every case of this family."""
    yield from _lists()
    yield from _indexed()
    yield from _others()
    yield from _streams()
    yield from _states()
    yield from _edges()


_UNCULLED = render_state(RenderState.CULLMODE, Cull.NONE)


def counted(
    name: str, rule: str, source: str, pixels: int, corners: Sequence[Corner], *tokens: bytes
) -> Case:
    """A case that draws from ``corners`` without culling and counts so many pixels."""
    script = Script()
    script.call(
        create(1, QueryType.OCCLUSION), _UNCULLED, begin(1), *tokens, end(1), corners=corners
    )
    script.owe_count(1, pixels)
    return script.case(name, rule, source)


def _counted(name: str, rule: str, source: str, pixels: int, *rest: Any) -> Case:
    return counted(f"draw.{name}", rule, source, pixels, *rest)


_PLAIN = ((Op.TRIANGLELIST, _LIST, 2), (Op.TRIANGLESTRIP, _STRIP, 4), (Op.TRIANGLEFAN, _FAN, 4))


def _lists() -> Iterator[Case]:
    for op, kind, count in _PLAIN:
        pixels = pixels_of(_CORNERS, numbers(kind, count))
        for start in (0, _EXTRA):
            corners = (*_AWAY[:start], *_CORNERS)
            drawn = token(op, struct.pack("<H", start), count)
            rule = f"{op.sdk} draws {kind.name.lower()}s from wVStart"
            yield _counted(f"{op.name.lower()}.{start}", rule, _TOKENS, pixels, corners, drawn)


_INDEXED = (
    (Op.INDEXEDTRIANGLELIST2, _LIST, (5, 1, 0, 2, 3, 4)),
    (Op.INDEXEDTRIANGLESTRIP, _STRIP, (0, 5, 1, 4, 2)),
    (Op.INDEXEDTRIANGLEFAN, _FAN, (2, 5, 1, 4, 0)),
)


def _indexed() -> Iterator[Case]:
    for op, kind, indices in _INDEXED:
        count = len(indices) // 3 if kind is _LIST else len(indices) - 2
        order = [[indices[i] for i in triangle] for triangle in numbers(kind, count)]
        pixels = pixels_of(_CORNERS, order)
        for start in (0, _EXTRA):
            payload = struct.pack(f"<{len(indices) + 1}H", start, *indices)
            rule = f"the indices of {op.sdk} count from wVStart"
            yield _counted(
                f"{op.name.lower()}.{start}", rule, _TOKENS, pixels, (*_AWAY[:start], *_CORNERS),
                token(op, payload, count),
            )  # fmt: skip
    yield _far_index()
    yield from _outside()


def _outside() -> Iterator[Case]:
    """What a driver does is its affair, as long as it goes on."""
    for indices in ((0, 1, 9000), (9000, 0, 1), (9000, 9001, 9002)):
        script = Script()
        payload = struct.pack("<4H", 0, *indices)
        script.call(
            _UNCULLED, token(Op.INDEXEDTRIANGLELIST2, payload),
            corners=BOX, expect=Expect(ANY_RESULT),
        )  # fmt: skip
        script.call(create(1), end(1))
        script.owe_event(1)
        name = f"draw.index_outside.{sum(index > len(BOX) for index in indices)}"
        if indices[0]:
            name += ".first"
        rule = "an index outside of the vertices harms nothing"
        yield script.case(name, rule, _NUMBERS)


def _far_index() -> Case:
    """Vertices beyond 65535 are reached only by a sum of more than 16 bits."""
    start, index = 0xFFF0, 0x20
    corners = ((0.0, 0.0),) * (start + index) + BOX[:3]
    payload = struct.pack("<4H", start, index, index + 1, index + 2)
    pixels = pixels_of(BOX, ((0, 1, 2),))
    return _counted(
        "index_beyond_16_bits", "wVStart and an index are added in 32 bits", _NUMBERS,
        pixels, corners, token(Op.INDEXEDTRIANGLELIST2, payload),
    )  # fmt: skip


def _others() -> Iterator[Case]:
    payload = struct.pack("<8H", 5, 1, 0, 0x700, 2, 3, 4, 0)
    yield _counted(
        "indexedtrianglelist", "indices of D3DDP2OP_INDEXEDTRIANGLELIST are absolute", _TOKENS,
        pixels_of(_CORNERS, ((5, 1, 0), (2, 3, 4))), _CORNERS,
        token(Op.INDEXEDTRIANGLELIST, payload, 2),
    )  # fmt: skip
    for gap, name in ((b"", "aligned"), (token(Op.TRIANGLELIST, b"\0\0", 0), "unaligned")):
        yield _immediate(name, gap)
    yield _counted(
        "none", "a token that counts nothing draws nothing", _TOKENS, 0, _CORNERS,
        token(Op.TRIANGLELIST, b"\0\0", 0),
    )  # fmt: skip


def _immediate(name: str, gap: bytes) -> Case:
    """TRIANGLEFAN_IMM behind tokens of so many bytes."""
    before = create(1, QueryType.OCCLUSION) + _UNCULLED + begin(1) + gap
    head = token(Op.TRIANGLEFAN_IMM, struct.pack("<I", 7), 2)
    pad = bytes(-(len(before) + len(head)) % 4)
    script = Script()
    script.call(before, head, pad, vertices(_CORNERS[:4]), end(1))
    script.owe_count(1, pixels_of(_CORNERS, numbers(_FAN, 2)))
    rule = "the vertices of an _IMM token begin at a multiple of 4 from the buffer's base"
    return script.case(f"draw.trianglefan_imm.{name}", rule, 'wire format, "Inline vertices"')


# Streams


def _streamed(
    name: str, rule: str, pixels: int, *tokens: bytes, expect: Expect | None = None
) -> Case:
    """Draws from a vertex buffer at stream 0 that has ``_AWAY`` before ``_CORNERS``."""
    script = Script()
    script.buffer(
        VERTICES, SurfaceKind.VERTEXBUFFER, VERTEX_BYTES * 9, vertices((*_AWAY, *_CORNERS))
    )
    script.buffer(INDICES, SurfaceKind.INDEXBUFFER, 32, struct.pack("<8H", 9, 9, 5, 1, 0, 2, 3, 4))
    script.call(create(1, QueryType.OCCLUSION), _UNCULLED, _FORMAT, _SOURCE)
    script.call(begin(1), *tokens, end(1), expect=expect)
    if expect is None:
        script.owe_count(1, pixels)
    return script.case(f"draw.{name}", rule, _STREAMS)


_FORMAT = dwords(Op.SETVERTEXSHADER, FVF_XYZRHW)
_SOURCE = dwords(Op.SETSTREAMSOURCE, 0, VERTICES, VERTEX_BYTES)
_INDEX = dwords(Op.SETINDICES, INDICES, 2)


def _streams() -> Iterator[Case]:
    for kind, count in ((_LIST, 2), (_STRIP, 4), (_FAN, 4)):
        pixels = pixels_of(_CORNERS, numbers(kind, count))
        name = kind.name.lower()
        yield _streamed(
            f"drawprimitive.{name}", "D3DDP2OP_DRAWPRIMITIVE starts at a vertex", pixels,
            dwords(Op.DRAWPRIMITIVE, kind, _EXTRA, count),
        )  # fmt: skip
        yield _streamed(
            f"drawprimitive2.{name}", "D3DDP2OP_DRAWPRIMITIVE2 starts at a byte", pixels,
            dwords(Op.DRAWPRIMITIVE2, kind, _EXTRA * VERTEX_BYTES, count),
        )  # fmt: skip
    indexed = pixels_of(_CORNERS, ((5, 1, 0), (2, 3, 4)))
    draw = dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, _EXTRA, 0, 6, 2, 2)
    yield _streamed(
        "drawindexedprimitive", "indices count from the base vertex, and begin at StartIndex",
        indexed, _INDEX, draw,
    )  # fmt: skip
    hinted = dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, _EXTRA, 7, 1, 2, 2)
    yield _streamed(
        "index_hints", "MinIndex and NumVertices are hints, and move nothing", indexed, _INDEX,
        hinted,
    )  # fmt: skip
    yield _streamed(
        "negative_base", "the base vertex may be negative",
        pixels_of(_AWAY, ((0, 1, 2),)), _INDEX,
        dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, -2, 0, 9, 5, 1),
    )  # fmt: skip
    yield _streamed(
        "no_indices", "index buffer 0 takes the buffer away", 0, _INDEX,
        dwords(Op.SETINDICES, 0, 0), draw,
        expect=Expect(ANY_FAILURE, len(begin(1) + _INDEX) + 12),
    )  # fmt: skip
    yield _streamed(
        "offset", "D3DDP2OP_SETSTREAMSOURCE2 counts its offset in bytes",
        pixels_of(_CORNERS, ((0, 1, 2),)),
        dwords(Op.SETSTREAMSOURCE2, 0, VERTICES, _EXTRA * VERTEX_BYTES, VERTEX_BYTES),
        dwords(Op.DRAWPRIMITIVE, _LIST, 0, 1),
    )  # fmt: skip


# State


def _states() -> Iterator[Case]:
    clockwise = token(Op.TRIANGLELIST, b"\0\0", 1)
    pixels = pixels_of(BOX, ((0, 1, 2),))
    for mode, kept in ((Cull.NONE, pixels), (Cull.CW, 0), (Cull.CCW, pixels)):
        yield _counted(
            f"cull.{mode.name.lower()}", f"{mode.sdk} draws what it must", "D3DCULL", kept, BOX,
            render_state(RenderState.CULLMODE, mode), clockwise,
        )  # fmt: skip
    yield _counted(
        "state_order", "states take effect in order with drawing", 'wire format, "Stream shape"',
        pixels, BOX, clockwise, render_state(RenderState.CULLMODE, Cull.CW), clockwise,
    )  # fmt: skip
    yield _counted(
        "viewport", "nothing is drawn outside of the viewport", _VIEWPORT, 3 * 2, BOX,
        dwords(Op.VIEWPORTINFO, 2, 1, 3, 2), box(),
    )  # fmt: skip
    scissor = dwords(Op.SETSCISSORRECT, 1, 1, 6, 3)
    for enabled, inside in ((0, BOX_PIXELS), (1, 5 * 2)):
        yield _counted(
            f"scissor.{enabled}", "the scissor rectangle counts while its test is enabled",
            _VIEWPORT, inside, BOX,
            scissor, render_state(RenderState.SCISSORTESTENABLE, enabled), box(),
        )  # fmt: skip


# Coverage

_TRIANGLES: dict[str, tuple[Corner, Corner, Corner]] = {
    "whole": ((0, 0), (4, 0), (0, 4)),
    "half": ((0.5, 0.5), (4.5, 0.5), (0.5, 4.5)),
    "eighth": ((1.125, 0.875), (9.375, 3.25), (2.625, 11.5)),
    "left_owned": ((2, 0), (8, 0), (2, 8)),
    "right_not_owned": ((2, 0), (8, 0), (8, 8)),
    "bottom_not_owned": ((5, 0), (9, 6), (1, 6)),
    "between_centres": ((3.25, 3.25), (3.75, 3.25), (3.25, 3.75)),
    "on_a_centre": ((3, 3), (3.5, 3), (3, 3.5)),
    "sliver": ((0, 0), (31, 1), (31, 1.5)),
    "flat": ((0, 0), (8, 4), (16, 8)),
    "outside": ((-8, -8), (-2, -8), (-8, -2)),
    "across": ((-8, -4), (40, 2), (-3, 30)),
    "counterclockwise": ((0, 4), (4, 0), (0, 0)),
}


def _edges() -> Iterator[Case]:
    for name, corners in _TRIANGLES.items():
        yield _counted(
            f"coverage.{name}", "a centre inside, or on a top or left edge, is drawn",
            _RULES, pixels_of(corners, ((0, 1, 2),)), corners, token(Op.TRIANGLELIST, b"\0\0", 1),
        )  # fmt: skip
    shared: tuple[Corner, ...] = ((1.5, 1.25), (17.25, 2.5), (3.75, 12.5), (19.5, 13.25))
    yield _counted(
        "coverage.shared", "triangles that share an edge leave no gap and cover nothing twice",
        _RULES, pixels_of(shared, ((0, 1, 2), (1, 3, 2))), shared, box(),
    )  # fmt: skip
