"""Cases of two tokens in a row, for every token whose size is a sum of parts.

The tokens are made from the token table: one with two items and one with a third item, whose
variable bytes differ in number.  A driver that mistakes the size of a part reads the second token,
or the one behind both, at the wrong place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dp2emu.conform.case import Case
from dp2emu.conform.script import BOX, Script, token, vertex
from dp2emu.conform.target import BACK, HEIGHT, TARGET, WIDTH
from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import (
    FillMode,
    Format,
    PrimitiveType,
    QueryType,
    RenderState,
    ShadeMode,
    TextureFilter,
)
from dp2emu.d3d.flags import Clear, Issue
from dp2emu.d3d.fvf import DIFFUSE, XYZRHW, fvf_size
from dp2emu.dp2.table import TABLE, Since, Token
from dp2emu.dp2.walk import HEADER_BYTES
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

_SOURCE = 'wire format, "Opcodes" and "Ambiguous lengths"'
_FVF = XYZRHW | DIFFUSE
_VERTEX_BYTES = fvf_size(_FVF)
_POINTS = vertex(*BOX[0]) * 8
"""Vertices of vertex buffers: all are one point, so that no triangle of them has pixels."""
_MISSING = 0x00C0FFEE
"""A handle that is never created."""


# Surfaces

(_IMAGE, _OTHER_IMAGE, _PALETTED, _MONO, _OTHER_MONO, _VOLUME, _OTHER_VOLUME, _MANAGED,
 _MANAGED_VOLUME, _BUFFER, _OTHER_BUFFER, _INDICES) = range(100, 112)  # fmt: skip
_A8R8G8B8 = Format.A8R8G8B8
_SURFACES = {
    desc.handle: desc
    for desc in (
        SurfaceDesc(_IMAGE, SurfaceKind.SURFACE, 4, 4, _A8R8G8B8),
        SurfaceDesc(_OTHER_IMAGE, SurfaceKind.SURFACE, 4, 4, _A8R8G8B8),
        SurfaceDesc(_PALETTED, SurfaceKind.TEXTURE, 4, 4, Format.P8),
        SurfaceDesc(_MONO, SurfaceKind.TEXTURE, 32, 4, Format.A1),
        SurfaceDesc(_OTHER_MONO, SurfaceKind.TEXTURE, 32, 4, Format.A1),
        SurfaceDesc(_VOLUME, SurfaceKind.VOLUMETEXTURE, 4, 4, _A8R8G8B8, depth=4),
        SurfaceDesc(_OTHER_VOLUME, SurfaceKind.VOLUMETEXTURE, 4, 4, _A8R8G8B8, depth=4),
        SurfaceDesc(_MANAGED, SurfaceKind.TEXTURE, 4, 4, _A8R8G8B8, levels=3, managed=1),
        SurfaceDesc(
            _MANAGED_VOLUME, SurfaceKind.VOLUMETEXTURE, 4, 4, _A8R8G8B8, depth=4, managed=1
        ),
        SurfaceDesc(_BUFFER, SurfaceKind.VERTEXBUFFER, len(_POINTS)),
        SurfaceDesc(_OTHER_BUFFER, SurfaceKind.VERTEXBUFFER, len(_POINTS)),
        SurfaceDesc(_INDICES, SurfaceKind.INDEXBUFFER, 64),
    )
}
"""By handle, the surfaces that tokens name; a case has those that it names.  No other field has
one of these numbers, and no opcode."""


# Fields

_Values = Mapping[str, tuple[float, ...]]

_FIELDS: dict[str, tuple[float, ...]] = {
    "Back": (1,), "Bottom": (2,), "Filter": (TextureFilter.POINT,), "NumVertices": (3,),
    "PrimitiveCount": (1, 2, 1), "QueryType": (QueryType.OCCLUSION,),
    "RenderState": (RenderState.FILLMODE, RenderState.SHADEMODE),
    "Right": (2,), "Size": (4,), "TSState": (11,), "bottom": (2,), "dvMaxZ": (1,),
    "dvWFar": (1,), "dwCodeSize": (20, 24, 20), "dwCount": (1, 3, 2), "dwDDSurface": (_MANAGED,),
    "dwDataType": (2, 1, 2), "dwDeclSize": (12, 16, 12), "dwDivider": (1,),
    "dwHandle": (3, 5, 7), "dwHeight": (HEIGHT,), "dwIndex": (0, 4, 2),
    "dwNumVertexElements": (1, 2, 1), "dwOperation": (0, 1, 2), "dwPaletteHandle": (1,),
    "dwParam": (3,), "dwQueryID": (11, 12, 13), "dwSize": (20, 24, 20),
    "dwState": (FillMode.SOLID, ShadeMode.GOURAUD),
    "dwStride": (_VERTEX_BYTES,), "dwSurface": (_MANAGED,), "dwSurfaceHandle": (_PALETTED,),
    "dwVBHandle": (_BUFFER,), "dwWidth": (WIDTH,), "hRenderTarget": (TARGET,),
    "hSurface": (_MANAGED,), "primType": (PrimitiveType.TRIANGLELIST,), "right": (2,),
    "wCount": (1, 4), "wNumEntries": (2, 3, 1), "xfrmType": (2,),
    **{f"_{n}{n}": (1,) for n in range(1, 5)},
}  # fmt: skip
"""By the name of a field, its values in the first item of a token, the second, and so on, over and
over; other fields are 0.  What they set is the default, and what they draw has no area.  The
second item begins with no opcode: if a driver takes it for a token, the call fails."""
_OWN: dict[Op, _Values] = {
    Op.ADDDIRTYBOX: {"dwSurface": (_MANAGED_VOLUME,)},
    Op.BLT: {"dwSource": (_IMAGE,), "dwDest": (_OTHER_IMAGE,)},
    Op.BUFFERBLT: {"dwDDDestSurface": (_OTHER_BUFFER,), "dwDDSrcSurface": (_BUFFER,)},
    Op.CLEAR: {"dwFlags": (Clear.TARGET,), "dwFillColor": (BACK,), "dvFillDepth": (1,)},
    Op.COLORFILL: {"dwSurface": (_IMAGE,)},
    Op.COMPOSERECTS: {
        "SrcSurfaceHandle": (_MONO,), "DstSurfaceHandle": (_OTHER_MONO,),
        "SrcRectDescsVBHandle": (_BUFFER,), "DstRectDescsVBHandle": (_OTHER_BUFFER,),
        "Operation": (1,),
    },
    Op.CREATEVERTEXSHADERFUNC: {"dwSize": (32, 36, 32)},
    Op.DRAWRECTPATCH: {"Handle": (_MISSING,), "Flags": (1, 0, 1)},
    Op.DRAWTRIPATCH: {"Handle": (_MISSING,), "Flags": (1, 0, 1)},
    Op.ISSUEQUERY: {"dwFlags": (Issue.BEGIN,)},
    Op.SETCONVOLUTIONKERNELMONO: {
        "dwWidth": (3, 1, 5), "dwHeight": (1, 3, 3), "dwFlags": (1, 2, 3),
    },
    Op.POINTS: {"wVStart": (len(BOX),)},
    Op.SETINDICES: {"dwVBHandle": (_INDICES,), "dwStride": (2,)},
    Op.SETPIXELSHADER: {"dwHandle": (0,)},
    Op.SETVERTEXSHADER: {"dwHandle": (_FVF,)},
    Op.SETVERTEXSHADERDECL: {"dwHandle": (_FVF,)},
    Op.SETVERTEXSHADERFUNC: {"dwHandle": (0,)},
    Op.SURFACEBLT: {"dwSource": (_IMAGE,), "dwDest": (_OTHER_IMAGE,)},
    Op.TEXBLT: {"dwDDSrcSurface": (_MANAGED,)},
    Op.VOLUMEBLT: {"dwDDDestSurface": (_OTHER_VOLUME,), "dwDDSrcSurface": (_VOLUME,)},
}  # fmt: skip
"""The same for the fields of single tokens, where a name has another meaning."""


def _values(op: Op, field: str) -> tuple[float, ...]:
    return _OWN.get(op, {}).get(field) or _FIELDS.get(field, (0,))


def _fill(record: Any, op: Op, number: int) -> None:
    """Set the fields of a NumPy record to their values in item ``number`` of token ``op``."""
    for name in record.dtype.names or ():
        if record.dtype[name].names:
            _fill(record[name], op, number)
        elif not record.dtype[name].subdtype:
            values = _values(op, name)
            record[name] = values[number % len(values)]


def _fields(dtype: np.dtype[Any]) -> Iterator[str]:
    """The names of a record's members, and of theirs."""
    for name in dtype.names or ():
        yield name
        yield from _fields(dtype[name])


# Variable bytes

_MOV, _DCL, _NOP, _END = 0x00000001, 0x0000001F, 0, 0x0000FFFF
_V0, _R0, _OPOS = 0x90E40000, 0x800F0000, 0xC00F0000
_ELEMENTS = struct.pack("<HHBBBB", 0, 0, 3, 0, 9, 0) + struct.pack("<HHBBBB", 0, 16, 4, 0, 10, 0)
"""D3DVERTEXELEMENT9 of a transformed position, FLOAT4, and of a colour behind it."""
_SHADERS: dict[Op, tuple[int, ...]] = {
    Op.CREATEVERTEXSHADER: (0xFFFE0101, _MOV, _OPOS, _V0),
    Op.CREATEVERTEXSHADERFUNC: (0xFFFE0101, _DCL, 0x80000000, 0x900F0000, _MOV, _OPOS, _V0),
    Op.CREATEPIXELSHADER: (0xFFFF0101, _MOV, _R0, _V0),
}
"""The shader that a token creates, without its end: version 1.1, moves input 0 to its output."""


def _words(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _code(op: Op, size: int) -> bytes:
    """A shader of ``size`` bytes: nops lengthen it."""
    words = _SHADERS[op]
    return _words(*words, *[_NOP] * (size // 4 - len(words) - 1), _END)


def _declaration(op: Op, size: int) -> bytes:
    """A declaration of DirectX 8: stream 0, a position and, if there is space, a colour."""
    colour = (0x40040005,) if size > 12 else ()  # D3DVSD_REG(5, D3DVSDT_D3DCOLOR)
    return _words(0x20000000, 0x40020000, *colour, 0xFFFFFFFF)


def _light(op: Op, size: int) -> bytes:
    """D3DLIGHT7 of a directional light along z."""
    return (_words(3) + bytes(68) + struct.pack("<f", 1)).ljust(size, b"\0")


def _ones(op: Op, size: int) -> bytes:
    return struct.pack("<f", 1) * (size // 4)


_TAILS: dict[str, Callable[[Op, int], bytes]] = {
    "code": _code,
    "columns": _ones,
    "declaration": _declaration,
    "elements": lambda op, size: _ELEMENTS[:size],
    "light": _light,
    "rows": _ones,
    "segments": _ones,
}
"""By the name of a part behind an item, a function that makes its bytes; other parts are 0."""


# Tokens


def _item(row: Token, number: int) -> bytes:
    """Item ``number`` of a token, with the bytes behind it."""
    record = np.zeros(1, row.item_dtype)
    _fill(record[0], row.op, number)
    data = record.tobytes()
    for name, element, count in row.tail.parts if row.tail else ():
        size = element.sizeof() * count(record[0])
        data += _TAILS[name](row.op, size) if size and name in _TAILS else bytes(size)
    return data


def _tokens(row: Token, first: int, n: int, vertex: bytes) -> bytes:
    """A token of count ``n``, or ``n`` tokens if it always has count 1 (``_SINGLE``)."""
    if row.op not in _SINGLE:
        return _token(row, first, n, vertex)
    return b"".join(_token(row, first + number, 1, vertex) for number in range(n))


def _token(row: Token, first: int, n: int, vertex: bytes) -> bytes:
    """A token of count ``n`` with items ``first`` and following; inline vertices are copies of
    ``vertex``.  It begins at a multiple of 4.
    """
    payload = b""
    head = np.zeros(1, row.head_dtype) if row.head_dtype is not None else None
    if head is not None:
        _fill(head[0], row.op, 0)
        payload += head.tobytes()
    if row.item_dtype is not None:
        number = row.number(n, None if head is None else head[0])
        payload += b"".join(_item(row, first + each) for each in range(number))
    if row.vertices is not None:
        payload += bytes(-(HEADER_BYTES + len(payload)) % 4) + vertex * row.vertices(n)
    return token(row.op, payload, n)


# Cases

_STREAMS = Op.SETVERTEXSHADER, Op.SETSTREAMSOURCE, Op.SETINDICES
_BEFORE: dict[Op, tuple[Op, ...]] = {
    Op.CLIPPEDTRIANGLEFAN: _STREAMS,
    Op.DELETEPIXELSHADER: (Op.CREATEPIXELSHADER,),
    Op.DELETEQUERY: (Op.CREATEQUERY,),
    Op.DELETEVERTEXSHADER: (Op.CREATEVERTEXSHADER,),
    Op.DELETEVERTEXSHADERDECL: (Op.CREATEVERTEXSHADERDECL,),
    Op.DELETEVERTEXSHADERFUNC: (Op.CREATEVERTEXSHADERFUNC,),
    Op.DRAWINDEXEDPRIMITIVE2: _STREAMS,
    Op.DRAWINDEXEDPRIMITIVE: _STREAMS,
    Op.DRAWPRIMITIVE2: _STREAMS,
    Op.DRAWPRIMITIVE: _STREAMS,
    Op.ISSUEQUERY: (Op.CREATEQUERY,),
    Op.SETLIGHT: (Op.CREATELIGHT,),
    Op.UPDATEPALETTE: (Op.SETPALETTE,),
}
"""The tokens that create or bind objects a token needs; they run in a call of their own."""
_REFUSABLE = frozenset(_SHADERS) | {
    Op.CREATEVERTEXSHADERDECL, Op.DRAWRECTPATCH, Op.DRAWTRIPATCH, Op.MULTIPLYTRANSFORM,
    Op.SETCONVOLUTIONKERNELMONO,
    Op.SETCLIPPLANE, Op.SETSTREAMSOURCEFREQ, Op.SETVERTEXSHADERCONST, Op.SETPIXELSHADERCONST,
    Op.SETVERTEXSHADERCONSTI, Op.SETVERTEXSHADERCONSTB, Op.SETPIXELSHADERCONSTI,
    Op.SETPIXELSHADERCONSTB,
}  # fmt: skip
"""Tokens that a runtime sends only to drivers with a capability."""
_SINGLE = frozenset((
    Op.VIEWPORTINFO, Op.WINFO, Op.ZRANGE, Op.CREATELIGHT, Op.SETSTREAMSOURCE,
    Op.SETSTREAMSOURCEUM, Op.SETINDICES, Op.SETSCISSORRECT, Op.SETSTREAMSOURCE2,
    Op.SETRENDERTARGET2, Op.SETDEPTHSTENCIL,
))  # fmt: skip
"""Tokens that runtimes send with count 1; documents do not say what another count means."""
_POINTS_AT = BOX[:1] * 4
"""The vertices of POINTS, behind those of the box: its points are in the box's first pixel."""
_ITEMS = 3
"""The number of items that the two tokens have."""


def length_cases(ddi: Since) -> Iterator[Case]:
    """Yield a case of two tokens in a row for every token with items or inline vertices.

    Left out is EXT, for which no use is documented.
    """
    for op in sorted(TABLE):
        row = TABLE[op]
        if row.since <= ddi and (row.items or row.vertices) and op is not Op.EXT:
            yield _twice(ddi, row)


def _twice(ddi: Since, row: Token) -> Case:
    """The case of a token.  It is skipped if the driver refuses a surface, or, in a call before,
    an object that the token needs or the token itself without items, or with one if it always has.
    """
    script = Script(ddi)
    rows = [TABLE[op] for op in (*_BEFORE.get(row.op, ()), row.op)]
    surfaces = sorted(set().union(*map(_named, rows)))
    vertex = script.vertices(BOX[:1])
    for handle in surfaces:
        desc = _SURFACES[handle]
        if desc.kind is SurfaceKind.VERTEXBUFFER:
            script.buffer(handle, desc.kind, desc.width, _POINTS)
        else:
            script.surface(desc)
    optional = bool(surfaces) or any(each.op in _REFUSABLE for each in rows)
    before = b"".join(_tokens(each, 0, _ITEMS, vertex) for each in rows[:-1])
    if optional and not before:
        before = _token(row, 0, 1, vertex) if row.op in _SINGLE else token(row.op, n=0)
    if before:
        script.call(before, corners=BOX)
    script.followed(
        _tokens(row, 0, 2, vertex), _token(row, 2, 1, vertex),
        more=_POINTS_AT if row.op is Op.POINTS else (),
    )  # fmt: skip
    rule = f"behind a {row.op.sdk} begins another one, and behind that the next token"
    return script.case(f"walk.two.{row.name.lower()}", rule, _SOURCE, optional=optional)


def _named(row: Token) -> set[int]:
    """Handles of the surfaces that items of a token name."""
    values = {
        int(value)
        for dtype in (row.head_dtype, row.item_dtype)
        if dtype is not None
        for field in _fields(dtype)
        for value in _values(row.op, field)
    }
    return values & set(_SURFACES)
