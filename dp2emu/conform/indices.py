"""Cases of vertex numbers beyond the vertices of a draw, for every token that draws.

A token may name vertices that do not exist.  No document says how a driver answers, so every
result is right; but nothing may be drawn from memory behind the vertices, and the next call must
work.  Behind the vertices of a call lie well-formed ones here, far from them: if a driver reads
these, they show in the right half of the target.  Nothing is known of memory behind a vertex
buffer; rigs put a page there that ends a driver which reads it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cache

from dp2emu.conform.case import ANY_RESULT, Case, Expect
from dp2emu.conform.coverage import away_from_edges
from dp2emu.conform.script import INDICES, VERTICES, Corner, Script, dwords, token, vertex
from dp2emu.conform.target import FRONT, OTHER, WIDTH, Pixels, background, fill
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import PrimitiveType
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW, fvf_size
from dp2emu.dp2.table import TABLE, Since, Token
from dp2emu.gpu.resource.heap import SurfaceKind

_NUMBERS = 'wire format, "Vertex numbers"'
_STREAMS = 'wire format, "Vertex sources"'
_LIST = PrimitiveType.TRIANGLELIST

_INNER: tuple[Corner, ...] = ((1, 1), (9, 1), (1, 7), (9, 7))
"""The vertices that a draw has, as a strip: a box in the left half of the target."""
_OUTER: tuple[Corner, ...] = (
    (31, 14), (18, 1), (30, 2), (19, 13), (31, 1), (18, 15), (20, 2), (30, 15),
)  # fmt: skip
"""The vertices behind them in memory: whatever is drawn of these shows in the right half."""
_COUNT = len(_INNER)
_FAR = 0xF000
"""A vertex number far beyond all memory of a case."""
_SMALL, _LARGE = XYZRHW | DIFFUSE, XYZRHW | DIFFUSE | 8 << 8
"""FVF codes: vertices of 20 bytes, and of 84 bytes with eight texture coordinates."""
_BEFORE = 30
"""Handle of a second vertex buffer."""
_BOX = token(Op.TRIANGLESTRIP, b"\0\0", 2)


def index_cases(ddi: Since) -> Iterator[Case]:
    """Yield the cases of vertex numbers beyond the vertices."""
    for op in sorted(TABLE):
        row = TABLE[op]
        if row.name.startswith("INDEXED"):
            yield from _indexed(ddi, row)
    for name, tokens in _PLAIN.items():
        rule = "vertices that a call does not have are not drawn"
        yield _beyond(ddi, name, rule, tokens)
    yield from _sizes(ddi)
    if ddi >= Since.DX8:
        yield from _streams(ddi)


# Vertices of the call


def _words(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}H", *numbers)


_PLAIN: dict[str, bytes] = {
    "points.start": token(Op.POINTS, _words(3, _COUNT)),
    "points.count": token(Op.POINTS, _words(_COUNT + 3, 0)),
    "linelist.start": token(Op.LINELIST, _words(_COUNT), 2),
    "linelist.count": token(Op.LINELIST, _words(0), 4),
    "linestrip.start": token(Op.LINESTRIP, _words(_COUNT), 2),
    "linestrip.count": token(Op.LINESTRIP, _words(0), 5),
    "trianglelist.start": token(Op.TRIANGLELIST, _words(_COUNT), 1),
    "trianglelist.count": token(Op.TRIANGLELIST, _words(0), 2),
    "trianglestrip.start": token(Op.TRIANGLESTRIP, _words(_COUNT), 2),
    "trianglestrip.count": token(Op.TRIANGLESTRIP, _words(0), 6),
    "trianglefan.start": token(Op.TRIANGLEFAN, _words(_COUNT), 2),
    "trianglefan.count": token(Op.TRIANGLEFAN, _words(0), 6),
    "trianglelist.far": token(Op.TRIANGLELIST, _words(_FAR), 1),
}
"""By case name, tokens without indices that need vertices beyond the ``_COUNT`` of a call."""


def _indexed(ddi: Since, row: Token) -> Iterator[Case]:
    """Cases of one primitive with indices beyond the vertices: all, the last, wVStart; far."""
    name, rule = row.name.lower(), f"{row.op.sdk} draws no vertices that the call does not have"
    corners = _corners(row)
    past = range(_COUNT, _COUNT + corners)
    for which, numbers in (
        ("all", tuple(past)),
        ("first", (_COUNT, *range(corners - 1))),
        ("last", (*range(corners - 1), _COUNT)),
        ("far", (*range(corners - 1), _FAR)),
        ("highest", (*range(corners - 1), 0xFFFF)),
    ):
        yield _beyond(ddi, f"{name}.{which}", rule, _primitive(row, numbers))
    if row.head is not None:
        draw = _primitive(row, tuple(range(corners)), start=_COUNT)
        yield _beyond(ddi, f"{name}.start", rule, draw)


def _corners(row: Token) -> int:
    """The number of indices of one primitive of an indexed token."""
    assert row.item_dtype is not None
    fields = [name for name in row.item_dtype.names or ("",) if name != "wFlags"]
    return row.count(1) * len(fields)


def _primitive(row: Token, numbers: Sequence[int], start: int = 0) -> bytes:
    """A token of one primitive with indices ``numbers``, and wVStart ``start`` if it has one."""
    assert row.item_dtype is not None
    flags = (0x700,) if "wFlags" in (row.item_dtype.names or ()) else ()  # all edges
    return token(row.op, _words(*((start,) if row.head is not None else ()), *numbers, *flags))


def _points(corners: Sequence[Corner], color: int, fvf: int = _SMALL) -> bytes:
    """Vertices of format ``fvf``, whose texture coordinates are 0."""
    size = fvf_size(fvf)
    return b"".join(vertex(x, y, color).ljust(size, b"\0") for x, y in corners)


@cache
def _box_drawn(color: int) -> Pixels:
    """The pixels to expect of the box and of the right half, which stays empty.

    Those near the box's edges are left out: this is no rule about coverage.
    """
    pixels = background()
    left, top = map(int, _INNER[0])
    right, bottom = map(int, _INNER[-1])
    fill(pixels, left, top, right, bottom, color)
    even = away_from_edges(pixels)
    return {at: even[at] for at in even if at[0] > WIDTH // 2 or even[at] == color}


def _beyond(ddi: Since, name: str, rule: str, draw: bytes) -> Case:
    """A case of a call with ``draw``, which needs more than its ``_COUNT`` vertices, and of a call
    that draws a box.
    """
    script = Script(ddi)
    script.background()
    user = _points((*_INNER, *_OUTER), FRONT)
    script.call(draw, user=user, fvf=_SMALL, count=_COUNT, expect=Expect(ANY_RESULT))
    return _then_box(script, name, rule, _NUMBERS)


def _then_box(script: Script, name: str, rule: str, source: str) -> Case:
    script.call(_BOX, user=_points(_INNER, OTHER), fvf=_SMALL)
    script.show(_box_drawn(OTHER))
    return script.case(f"indices.{name}", rule, source, optional=True)


# Vertices of two sizes


def _sizes(ddi: Since) -> Iterator[Case]:
    """Cases of two calls whose vertices differ in size or number: each has its own bounds."""
    box_of_indices = token(Op.INDEXEDTRIANGLELIST2, _words(0, 0, 1, 2, 1, 3, 2), 2)
    beyond_of_indices = token(Op.INDEXEDTRIANGLELIST2, _words(0, *range(_COUNT, _COUNT + 3)))
    for name, within, beyond in (
        ("trianglestrip", _BOX, token(Op.TRIANGLESTRIP, _words(_COUNT), 2)),
        ("indexedtrianglelist2", box_of_indices, beyond_of_indices),
    ):
        rule = "vertices of the size before do not decide which vertices a call has"
        yield _after(ddi, f"{name}.smaller_before", rule, (_SMALL, _INNER), _LARGE, beyond)
        yield _after(ddi, f"{name}.larger_before", rule, (_LARGE, _INNER), _SMALL, within)
        rule = "the number of vertices of the call before does not decide which a call has"
        yield _after(ddi, f"{name}.more_before", rule, (_SMALL, _INNER * 4), _SMALL, beyond)
        yield _after(ddi, f"{name}.fewer_before", rule, (_SMALL, _INNER[:3]), _SMALL, within)


def _after(
    ddi: Since, name: str, rule: str, before: tuple[int, Sequence[Corner]], fvf: int, draw: bytes
) -> Case:
    """A case of a draw from the vertices ``before``, of which the size and number must not count
    in the next call, which has ``_COUNT`` vertices of format ``fvf`` and draws ``draw``.

    If that draws no vertices but its own it must draw a box; else a third call does.
    """
    script = Script(ddi)
    script.background()
    before_fvf, corners = before
    script.call(
        token(Op.TRIANGLELIST, b"\0\0"), user=_points(corners, FRONT, before_fvf), fvf=before_fvf
    )
    user = _points((*_INNER, *_OUTER), OTHER, fvf)
    own = name.endswith((".larger_before", ".fewer_before"))
    script.call(draw, user=user, fvf=fvf, count=_COUNT, expect=None if own else Expect(ANY_RESULT))
    if not own:
        return _then_box(script, name, rule, _NUMBERS)
    script.show(_box_drawn(OTHER))
    return script.case(f"indices.{name}", rule, _NUMBERS, optional=True)


# Bound streams


def _streams(ddi: Since) -> Iterator[Case]:
    """Cases of draws that read beyond the bound vertex or index buffer."""
    size = fvf_size(_SMALL)
    rule = "vertices that the vertex buffer does not have are not drawn"
    for name, draw in {
        "drawprimitive.start": dwords(Op.DRAWPRIMITIVE, _LIST, _COUNT, 1),
        "drawprimitive.count": dwords(Op.DRAWPRIMITIVE, _LIST, 0, 2),
        "drawprimitive.far": dwords(Op.DRAWPRIMITIVE, _LIST, 0x0FFFFFFF, 1),
        "drawprimitive.many": dwords(Op.DRAWPRIMITIVE, _LIST, 0, 0xFFFF),
        "drawprimitive2.start": dwords(Op.DRAWPRIMITIVE2, _LIST, _COUNT * size, 1),
        "drawprimitive2.far": dwords(Op.DRAWPRIMITIVE2, _LIST, 0x0FFFFFFC, 1),
        "clippedtrianglefan.start": dwords(Op.CLIPPEDTRIANGLEFAN, _COUNT * size, 7, 1),
        "clippedtrianglefan.count": dwords(Op.CLIPPEDTRIANGLEFAN, 0, 7, 6),
        "drawindexedprimitive.index": _by_index(Op.DRAWINDEXEDPRIMITIVE, 0, 3),
        "drawindexedprimitive.base": _by_index(Op.DRAWINDEXEDPRIMITIVE, _COUNT, 0),
        "drawindexedprimitive.negative": _by_index(Op.DRAWINDEXEDPRIMITIVE, -_COUNT, 0),
        "drawindexedprimitive.far": _by_index(Op.DRAWINDEXEDPRIMITIVE, 0x0FFFFFFF, 0),
        "drawindexedprimitive2.index": _by_index(Op.DRAWINDEXEDPRIMITIVE2, 0, 6),
        "drawindexedprimitive2.base": _by_index(Op.DRAWINDEXEDPRIMITIVE2, _COUNT * size, 0),
        "drawindexedprimitive2.negative": _by_index(Op.DRAWINDEXEDPRIMITIVE2, -_COUNT * size, 0),
    }.items():
        yield _from_buffers(ddi, name, rule, draw, expect=Expect(ANY_RESULT))
    rule = "indices that the index buffer does not have are not drawn"
    for name, draw in {
        "drawindexedprimitive.indices": _by_index(Op.DRAWINDEXEDPRIMITIVE, 0, 6),
        "drawindexedprimitive.indices_far": _by_index(Op.DRAWINDEXEDPRIMITIVE, 0, 0x0FFFFFFF),
        "drawindexedprimitive2.indices": _by_index(Op.DRAWINDEXEDPRIMITIVE2, 0, 12),
    }.items():
        yield _from_buffers(ddi, name, rule, draw, expect=Expect(ANY_RESULT))
    yield from _strides(ddi)


def _by_index(op: Op, base: int, start: int) -> bytes:
    """A token that draws a triangle by three indices of the buffer, from ``start`` on."""
    return dwords(op, _LIST, base, 0, _COUNT, start, 1)


def _strides(ddi: Since) -> Iterator[Case]:
    """Cases of two strides of stream 0, each with bounds of its own."""
    rule = "the stride before does not decide which vertices a buffer has"
    within = {
        "drawprimitive": dwords(Op.DRAWPRIMITIVE, PrimitiveType.TRIANGLESTRIP, 0, 2),
        "drawindexedprimitive": dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, 0, 0, _COUNT, 0, 1)
        + dwords(Op.DRAWINDEXEDPRIMITIVE, _LIST, 1, 0, _COUNT, 0, 1),
    }
    for name, draw in within.items():
        yield _from_buffers(ddi, f"{name}.larger_before", rule, draw, before=_LARGE)
    beyond = {
        "drawprimitive": dwords(Op.DRAWPRIMITIVE, _LIST, _COUNT, 1),
        "drawindexedprimitive": _by_index(Op.DRAWINDEXEDPRIMITIVE, 0, 3),
    }
    for name, draw in beyond.items():
        yield _from_buffers(
            ddi, f"{name}.smaller_before", rule, draw, before=_SMALL, fvf=_LARGE,
            expect=Expect(ANY_RESULT),
        )  # fmt: skip


def _from_buffers(
    ddi: Since,
    name: str,
    rule: str,
    draw: bytes,
    *,
    expect: Expect | None = None,
    before: int = 0,
    fvf: int = _SMALL,
) -> Case:
    """A case of ``draw`` from a vertex buffer with the box's vertices in format ``fvf``.

    ``before``, if not 0, is the format of vertices that are drawn from another buffer first.  With
    ``expect`` the result is left open, and another call draws the box; else ``draw`` must.
    """
    script = Script(ddi)
    indices = _words(0, 1, 2, *range(_COUNT, _COUNT + 3))
    script.buffer(INDICES, SurfaceKind.INDEXBUFFER, len(indices), indices)
    sources = [(_BEFORE, before)] if before else []
    sources.append((VERTICES, fvf))
    for handle, format in sources:
        data = _points(_INNER, OTHER if handle == VERTICES else FRONT, format)
        script.buffer(handle, SurfaceKind.VERTEXBUFFER, len(data), data)
    script.background()
    bind = {handle: _bound(handle, format) for handle, format in sources}
    if before:
        script.call(bind[_BEFORE], dwords(Op.DRAWPRIMITIVE, _LIST, 0, 1))
    script.call(dwords(Op.SETINDICES, INDICES, 2), bind[VERTICES], draw, expect=expect)
    if expect:
        return _then_box(script, name, rule, _STREAMS)
    script.show(_box_drawn(OTHER))
    return script.case(f"indices.{name}", rule, _STREAMS, optional=True)


def _bound(buffer: int, fvf: int) -> bytes:
    """Tokens that bind a vertex buffer with vertices of format ``fvf`` to stream 0."""
    source = dwords(Op.SETSTREAMSOURCE, 0, buffer, fvf_size(fvf))
    return dwords(Op.SETVERTEXSHADER, fvf) + source
