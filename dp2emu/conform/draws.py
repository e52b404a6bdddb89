"""Cases of drawing: vertices of each draw token, triangle coverage, state blocks, statistics.

The cases draw transformed vertices; ``covered`` computes the pixels that a triangle must draw.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import product

from dp2emu.conform.case import ANY_RESULT, Case, Expect
from dp2emu.conform.script import (
    BOX,
    BOX_PIXELS,
    INDICES,
    UNCULLED,
    VERTICES,
    Corner,
    Script,
    box,
    create,
    dwords,
    end,
    render_state,
    token,
    vertex,
)
from dp2emu.conform.target import FRONT, HEIGHT, OTHER, WIDTH, Pixel, background
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Cull, PrimitiveType, QueryType, RenderState
from dp2emu.dp2.table import Since
from dp2emu.dp2.tokens.state import StateSetOperation
from dp2emu.gpu.resource.heap import SurfaceKind

_LIST, _STRIP, _FAN = (
    PrimitiveType.TRIANGLELIST, PrimitiveType.TRIANGLESTRIP, PrimitiveType.TRIANGLEFAN,
)  # fmt: skip
_TOKENS = 'wire format, "DirectX 6 opcodes" and "Primitive order"'
_STREAMS = 'wire format, "DirectX 8 opcodes" and "Vertex sources"'
_NUMBERS = 'wire format, "Vertex numbers"'
_VIEWPORT = 'wire format, "Viewport and ranges"'
_RULES = "Direct3D 9 rasterization rules"
_BLOCKS = 'wire format, "State blocks"'
_TYPES = 'wire format, "Query types"'
_EXTRA = 3
"""Number of vertices at the start of the vertex buffer that a draw must skip: its start vertex or
base vertex has this value."""

_CORNERS: tuple[Corner, ...] = ((1, 1), (20, 2), (4, 9), (22, 12), (9, 15), (30, 14))
"""Pixel positions (x, y) of the six vertices that most draw cases use; any two triangles of them
cover different numbers of pixels."""
_AWAY: tuple[Corner, ...] = ((31, 15), (27, 15), (31, 9))

_CLOCKWISE = token(Op.TRIANGLELIST, b"\0\0", 1)


# Expected pixels

_STEPS = 256
"""Vertex coordinates are rounded to multiples of 1 / ``_STEPS`` of a pixel."""


def covered(corners: Sequence[Corner], width: int, height: int) -> frozenset[Pixel]:
    """The pixels (x, y) of a target that a triangle of either winding covers.

    Pixel centres are at integers; a centre on an edge is covered if that is a top or a left edge
    (Direct3D 9 documentation of rasterization rules; wire format, "Primitive order").
    """
    return _covered(tuple(corners), width, height)


@cache
def _covered(corners: tuple[Corner, ...], width: int, height: int) -> frozenset[Pixel]:
    a, b, c = ((round(x * _STEPS), round(y * _STEPS)) for x, y in corners)
    if _side(a, b, c) == 0:
        return frozenset()
    if _side(a, b, c) < 0:
        b, c = c, b
    return frozenset(
        (x, y)
        for y, x in product(range(height), range(width))
        if all(_inside(*edge, (x * _STEPS, y * _STEPS)) for edge in ((a, b), (b, c), (c, a)))
    )


def _side(a: Pixel, b: Pixel, c: Pixel) -> int:
    """Positive if a, b, c are clockwise on a screen whose y grows downwards."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _inside(a: Pixel, b: Pixel, pixel: Pixel) -> bool:
    where = _side(a, b, pixel)
    if where != 0:
        return where > 0
    return b[0] > a[0] if a[1] == b[1] else b[1] < a[1]


def _numbers(kind: PrimitiveType, count: int) -> tuple[tuple[int, int, int], ...]:
    """Vertex numbers of the ``count`` triangles of primitive type ``kind``, in winding order."""
    if kind is _LIST:
        return tuple((3 * i, 3 * i + 1, 3 * i + 2) for i in range(count))
    if kind is _STRIP:
        return tuple((i, i + 1 + i % 2, i + 2 - i % 2) for i in range(count))
    return tuple((i + 1, i + 2, 0) for i in range(count))


Triangles = Sequence[Collection[Pixel]]
"""Pixels that each of several triangles covers, in order of drawing."""


def _pixels(corners: Sequence[Corner], order: Sequence[Sequence[int]]) -> Triangles:
    """The pixels that triangles cover.

    ``order`` has, for each triangle, the indices of its vertices in ``corners``.
    """
    return [covered([corners[i] for i in each], WIDTH, HEIGHT) for each in order]


def _drawn(
    ddi: Since,
    name: str,
    rule: str,
    source: str,
    pixels: Triangles,
    corners: Sequence[Corner],
    *tokens: bytes,
) -> Case:
    """A case that executes ``tokens`` on the vertices ``corners``, without culling, which must
    draw ``pixels``.
    """
    script = Script(ddi)
    script.call(script.watch(), script.begun, *tokens, script.ended, corners=corners)
    script.drawn(pixels)
    return script.case(name, rule, source)


# Tokens


def draw_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of draw tokens and of triangle coverage."""
    yield from _lists(ddi)
    yield from _indexed(ddi)
    yield from _others(ddi)
    yield from _sources(ddi)
    if ddi >= Since.DX8:
        yield from _streams(ddi)
    yield from _states(ddi)
    yield from _edges(ddi)


_PLAIN = ((Op.TRIANGLELIST, _LIST, 2), (Op.TRIANGLESTRIP, _STRIP, 4), (Op.TRIANGLEFAN, _FAN, 4))


def _lists(ddi: Since) -> Iterator[Case]:
    for op, kind, count in _PLAIN:
        pixels = _pixels(_CORNERS, _numbers(kind, count))
        rule = f"{op.sdk} draws {kind.name.lower()}s from wVStart"
        for start in (0, _EXTRA):
            yield _drawn(
                ddi, f"draw.{op.name.lower()}.{start}", rule, _TOKENS, pixels,
                (*_AWAY[:start], *_CORNERS), token(op, struct.pack("<H", start), count),
            )  # fmt: skip


_INDEXED = (
    (Op.INDEXEDTRIANGLELIST2, _LIST, (5, 1, 0, 2, 3, 4)),
    (Op.INDEXEDTRIANGLESTRIP, _STRIP, (0, 5, 1, 4, 2)),
    (Op.INDEXEDTRIANGLEFAN, _FAN, (2, 5, 1, 4, 0)),
)


def _indexed(ddi: Since) -> Iterator[Case]:
    for op, kind, indices in _INDEXED:
        count = len(indices) // 3 if kind is _LIST else len(indices) - 2
        order = [[indices[i] for i in triangle] for triangle in _numbers(kind, count)]
        pixels = _pixels(_CORNERS, order)
        for start in (0, _EXTRA):
            payload = struct.pack(f"<{len(indices) + 1}H", start, *indices)
            yield _drawn(
                ddi, f"draw.{op.name.lower()}.{start}",
                f"the indices of {op.sdk} count from wVStart", _TOKENS, pixels,
                (*_AWAY[:start], *_CORNERS), token(op, payload, count),
            )  # fmt: skip
    # Only a sum of more than 16 bits reaches vertices beyond 65535.
    start, index = 0xFFF0, 0x20
    payload = struct.pack("<4H", start, index, index + 1, index + 2)
    yield _drawn(
        ddi, "draw.index_beyond_16_bits", "wVStart and an index are added in 32 bits", _NUMBERS,
        _pixels(BOX, ((0, 1, 2),)), ((0.0, 0.0),) * (start + index) + BOX[:3],
        token(Op.INDEXEDTRIANGLELIST2, payload),
    )  # fmt: skip
    yield from _outside(ddi)


def _outside(ddi: Since) -> Iterator[Case]:
    """Cases of a draw with indices out of range: any result is right, the next call succeeds."""
    for indices in ((0, 1, 9000), (9000, 0, 1), (9000, 9001, 9002)):
        script = Script(ddi)
        payload = struct.pack("<4H", 0, *indices)
        script.call(
            UNCULLED, token(Op.INDEXEDTRIANGLELIST2, payload),
            corners=BOX, expect=Expect(ANY_RESULT),
        )  # fmt: skip
        script.followed()
        name = f"draw.index_outside.{sum(index > len(BOX) for index in indices)}"
        if indices[0]:
            name += ".first"
        yield script.case(name, "an index outside of the vertices harms nothing", _NUMBERS)


def _others(ddi: Since) -> Iterator[Case]:
    payload = struct.pack("<8H", 5, 1, 0, 0x700, 2, 3, 4, 0)
    yield _drawn(
        ddi, "draw.indexedtrianglelist", "indices of D3DDP2OP_INDEXEDTRIANGLELIST are absolute",
        _TOKENS, _pixels(_CORNERS, ((5, 1, 0), (2, 3, 4))), _CORNERS,
        token(Op.INDEXEDTRIANGLELIST, payload, 2),
    )  # fmt: skip
    for gap, name in ((b"", "aligned"), (token(Op.TRIANGLELIST, b"\0\0"), "unaligned")):
        yield _immediate(ddi, name, gap)
    yield _drawn(
        ddi, "draw.none", "a token that counts nothing draws nothing", _TOKENS, (), _CORNERS,
        token(Op.TRIANGLELIST, b"\0\0", 0),
    )  # fmt: skip


def _immediate(ddi: Since, name: str, gap: bytes) -> Case:
    """A case that draws a TRIANGLEFAN_IMM token; ``gap`` are tokens before it, whose length
    decides how many bytes align its vertices to DWORDs.  The call's own vertices, which they may
    draw, are all one point.
    """
    script = Script(ddi)
    before = script.watch() + script.begun + gap
    head = token(Op.TRIANGLEFAN_IMM, struct.pack("<I", 7), 2)
    pad = bytes(-(len(before) + len(head)) % 4)
    inline = script.vertices(_CORNERS[:4])
    script.call(before, head, pad, inline, script.ended, corners=_CORNERS[:1] * 3)
    script.drawn(_pixels(_CORNERS, _numbers(_FAN, 2)))
    rule = "the vertices of an _IMM token begin at a multiple of 4 from the buffer's base"
    return script.case(f"draw.trianglefan_imm.{name}", rule, 'wire format, "Inline vertices"')


def _sources(ddi: Since) -> Iterator[Case]:
    """Cases of the vertices of a call: in a vertex buffer, and behind others that are skipped."""
    pixels = _pixels(_CORNERS, _numbers(_LIST, 2))
    kind = SurfaceKind.VERTEXBUFFER if ddi >= Since.DX8 else SurfaceKind.MEMORY
    for name, first, buffered, rule in (
        ("vertex_buffer", 0, True, "the vertices of a call may be in a buffer"),
        ("vertex_offset.buffer", _EXTRA, True, _AT_OFFSET),
        ("vertex_offset.user", _EXTRA, False, _AT_OFFSET),
    ):
        script = Script(ddi)
        data = script.vertices((*_AWAY[:first], *_CORNERS))
        if buffered:
            script.buffer(VERTICES, kind, len(data), data)
        script.call(
            script.watch(), script.begun, token(Op.TRIANGLELIST, b"\0\0", 2), script.ended,
            user=b"" if buffered else data, vertices=VERTICES if buffered else 0,
            start=first * script.vertex_bytes, count=len(_CORNERS),
        )  # fmt: skip
        script.drawn(pixels)
        yield script.case(f"draw.{name}", rule, _TOKENS)


_AT_OFFSET = "vertex 0 of a call is at byte dwVertexOffset"


# Streams


def _streamed(
    ddi: Since, name: str, rule: str, pixels: Triangles, *tokens: bytes, refusable: bytes = b""
) -> Case:
    """A case that draws from stream 0, which must draw ``pixels``.

    Stream 0 is a vertex buffer with the vertices ``_AWAY``, then ``_CORNERS``.  The tokens
    ``refusable`` follow in a call of their own, which may fail.
    """
    script = Script(ddi)
    data = script.vertices((*_AWAY, *_CORNERS))
    script.buffer(VERTICES, SurfaceKind.VERTEXBUFFER, len(data), data)
    script.buffer(INDICES, SurfaceKind.INDEXBUFFER, 32, struct.pack("<8H", 9, 9, 5, 1, 0, 2, 3, 4))
    format = dwords(Op.SETVERTEXSHADER, script.fvf)
    source = dwords(Op.SETSTREAMSOURCE, 0, VERTICES, script.vertex_bytes)
    script.call(script.watch(), format, source)
    if refusable:
        script.call(script.begun, *tokens)
        script.call(refusable, expect=Expect(ANY_RESULT))
        script.call(script.ended)
    else:
        script.call(script.begun, *tokens, script.ended)
    script.drawn(pixels)
    return script.case(f"draw.{name}", rule, _STREAMS)


def _streams(ddi: Since) -> Iterator[Case]:
    for kind, count in ((_LIST, 2), (_STRIP, 4), (_FAN, 4)):
        pixels = _pixels(_CORNERS, _numbers(kind, count))
        for op, unit, start in (
            (Op.DRAWPRIMITIVE, "vertex", _EXTRA),
            (Op.DRAWPRIMITIVE2, "byte", _EXTRA * Script(ddi).vertex_bytes),
        ):
            yield _streamed(
                ddi, f"{op.name.lower()}.{kind.name.lower()}", f"{op.sdk} starts at a {unit}",
                pixels, dwords(op, kind, start, count),
            )  # fmt: skip
    before = _EXTRA * Script(ddi).vertex_bytes
    yield _streamed(
        ddi, "clippedtrianglefan", f"{Op.CLIPPEDTRIANGLEFAN.sdk} starts at a byte",
        _pixels(_CORNERS, _numbers(_FAN, 4)), dwords(Op.CLIPPEDTRIANGLEFAN, before, 0x1F, 4),
    )  # fmt: skip
    pixels = _pixels(_CORNERS, ((5, 1, 0), (2, 3, 4)))
    index = dwords(Op.SETINDICES, INDICES, 2)
    draw = dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, _EXTRA, 0, 6, 2, 2)
    yield _streamed(
        ddi, "drawindexedprimitive", "indices count from the base vertex, and begin at StartIndex",
        pixels, index, draw,
    )  # fmt: skip
    yield _streamed(
        ddi, "drawindexedprimitive2", "base vertex and first index are at bytes", pixels, index,
        dwords(Op.DRAWINDEXEDPRIMITIVE2, _LIST, before, 0, 6, 2 * 2, 2),
    )  # fmt: skip
    yield _streamed(
        ddi, "index_hints", "MinIndex and NumVertices are hints, and move nothing", pixels, index,
        dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, _EXTRA, 7, 1, 2, 2),
    )  # fmt: skip
    yield _streamed(
        ddi, "negative_base", "the base vertex may be negative", _pixels(_AWAY, ((0, 1, 2),)),
        index, dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, -2, 0, 9, 5, 1),
    )  # fmt: skip
    yield _streamed(
        ddi, "no_indices", "index buffer 0 takes the buffer away", (), index,
        dwords(Op.SETINDICES, 0, 0), refusable=draw,
    )  # fmt: skip
    size = Script(ddi).vertex_bytes
    yield _streamed(
        ddi, "other_stream", "each stream has a buffer of its own",
        _pixels(_CORNERS, ((0, 1, 2),)), dwords(Op.SETSTREAMSOURCE, 1, VERTICES, 2 * size),
        dwords(Op.DRAWPRIMITIVE, _LIST, _EXTRA, 1),
    )  # fmt: skip
    if ddi >= Since.DX9:
        yield _streamed(
            ddi, "offset", "D3DDP2OP_SETSTREAMSOURCE2 counts its offset in bytes",
            _pixels(_CORNERS, ((0, 1, 2),)),
            dwords(Op.SETSTREAMSOURCE2, 0, VERTICES, _EXTRA * size, size),
            dwords(Op.DRAWPRIMITIVE, _LIST, 0, 1),
        )  # fmt: skip


# Render states


def _cull(mode: Cull) -> bytes:
    return render_state(RenderState.CULLMODE, mode)


def _states(ddi: Since) -> Iterator[Case]:
    pixels = _pixels(BOX, ((0, 1, 2),))
    for mode, kept in ((Cull.NONE, pixels), (Cull.CW, ()), (Cull.CCW, pixels)):
        yield _drawn(
            ddi, f"draw.cull.{mode.name.lower()}", f"{mode.sdk} draws what it must", "D3DCULL",
            kept, BOX, _cull(mode), _CLOCKWISE,
        )  # fmt: skip
    corners, second = _twice(ddi)
    yield _drawn(
        ddi, "draw.state_order", "states take effect in order with drawing",
        'wire format, "Stream shape"', pixels, corners, _CLOCKWISE, _cull(Cull.CW), second,
    )  # fmt: skip
    inside = frozenset(product(range(2, 5), range(1, 3)))
    yield _drawn(
        ddi, "draw.viewport", "nothing is drawn outside of the viewport", _VIEWPORT, [inside],
        BOX, dwords(Op.VIEWPORTINFO, 2, 1, 3, 2), box(),
    )  # fmt: skip
    if ddi >= Since.DX9:
        yield from _scissors(ddi)


def _twice(ddi: Since) -> tuple[Sequence[Corner], bytes]:
    """Vertices of the triangle that ``_CLOCKWISE`` draws, and a token that draws it once more.

    Where pixels are looked at, the second triangle is elsewhere.
    """
    first = BOX[:3]
    if ddi >= Since.DX9:
        return BOX, _CLOCKWISE
    elsewhere = tuple((x + WIDTH // 2, y) for x, y in first)
    return (*first, *elsewhere), token(Op.TRIANGLELIST, struct.pack("<H", len(first)), 1)


def _scissors(ddi: Since) -> Iterator[Case]:
    scissor = dwords(Op.SETSCISSORRECT, 1, 1, 6, 3)
    inside = frozenset(product(range(1, 6), range(1, 3)))
    for enabled, kept in ((0, BOX_PIXELS), (1, inside)):
        yield _drawn(
            ddi, f"draw.scissor.{enabled}",
            "the scissor rectangle counts while its test is enabled", _VIEWPORT, [kept], BOX,
            scissor, render_state(RenderState.SCISSORTESTENABLE, enabled), box(),
        )  # fmt: skip


def state_cases(ddi: Since) -> Iterator[Case]:
    """Yield the conformance cases of state blocks and of pipeline statistics."""
    if ddi >= Since.DX7:
        yield from _blocks(ddi)
    if ddi >= Since.DX9:
        yield from _statistics(ddi)


def _blocks(ddi: Since) -> Iterator[Case]:
    def block(operation: int) -> bytes:
        return dwords(Op.STATESET, operation, 3, 0)

    pixels = _pixels(BOX, ((0, 1, 2),))
    corners, second = _twice(ddi)
    recorded = block(StateSetOperation.BEGIN) + _cull(Cull.CW) + block(StateSetOperation.END)
    executed = block(StateSetOperation.EXECUTE)
    yield _drawn(
        ddi, "state.block.recorded", "states between begin and end are recorded, not executed",
        _BLOCKS, pixels, BOX, recorded, _CLOCKWISE,
    )  # fmt: skip
    yield _drawn(
        ddi, "state.block.executed", "executing a block sets the states that are in it", _BLOCKS,
        pixels, corners, recorded, _CLOCKWISE, executed, second,
    )  # fmt: skip
    yield _drawn(
        ddi, "state.block.captured", "capturing refreshes the states that are in a block", _BLOCKS,
        pixels, BOX, recorded, block(StateSetOperation.CAPTURE), _cull(Cull.CW), executed,
        _CLOCKWISE,
    )  # fmt: skip


def _statistics(ddi: Since) -> Iterator[Case]:
    for name, rule, boxes in (
        ("triangles", "D3DQUERYTYPE_VERTEXSTATS counts triangles since the END before", 2),
        ("box", "a strip of four vertices is two triangles", 1),
    ):
        script = Script(ddi)
        script.call(create(1, QueryType.VERTEXSTATS))
        script.call(box() * boxes, end(1), corners=BOX)
        script.owe(1, QueryType.VERTEXSTATS, struct.pack("<2I", 2 * boxes, 0))
        yield script.case(f"count.{name}", rule, _TYPES, optional=True)


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


def _edges(ddi: Since) -> Iterator[Case]:
    for name, corners in _TRIANGLES.items():
        yield _drawn(
            ddi, f"draw.coverage.{name}", "a centre inside, or on a top or left edge, is drawn",
            _RULES, _pixels(corners, ((0, 1, 2),)), corners, _CLOCKWISE,
        )  # fmt: skip
    yield _shared(ddi)


_SHARED: tuple[Corner, ...] = ((1.5, 1.25), (17.25, 2.5), (3.75, 12.5), (19.5, 13.25))
"""Vertices of a strip of two triangles that share an edge."""


def _shared(ddi: Since) -> Case:
    """A case of two triangles with a common edge.

    Where pixels are looked at, it draws them in two colours, and in another place once more, the
    other one first: what is covered twice has the wrong colour in one of the places.
    """
    case = "draw.coverage.shared"
    rule = "triangles that share an edge leave no gap and cover nothing twice"
    first, second = (0, 1, 2), (1, 3, 2)
    if ddi >= Since.DX9:
        pixels = _pixels(_SHARED, (first, second))
        return _drawn(ddi, case, rule, _RULES, pixels, _SHARED, box())
    script, user, shown = Script(ddi), b"", background()
    script.background()
    for (x, y), order in (((0, 0), (first, second)), ((WIDTH // 2, 4), (second, first))):
        place = [(x + at / 2, y + down / 2) for at, down in _SHARED]
        for numbers in order:
            color = FRONT if numbers is first else OTHER
            corners = [place[number] for number in numbers]
            user += b"".join(vertex(*corner, color) for corner in corners)
            shown |= dict.fromkeys(covered(corners, WIDTH, HEIGHT), color)
    script.call(token(Op.TRIANGLELIST, b"\0\0", 4), user=user)
    script.show(shown)
    return script.case(case, rule, _RULES)
