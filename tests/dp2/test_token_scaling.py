"""Work of each token grows in proportion: to the tokens of a call, to a token's elements, to the
length of an element, and to the calls.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2 import walk
from dp2emu.dp2.options import Options
from dp2emu.dp2.table import TABLE, Body, Token
from dp2emu.gpu.command.packets import Draw, Packet
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import COLOR, DEPTH, Bench, header, token, vertex
from tests.scaling import SIZES, assert_linear

STREAM, INDICES, TEXTURE, OTHER, CHAIN, VOLUME, OTHER_VOLUME, PALETTISED = range(10, 18)
ONE_BIT, OTHER_BIT, RECTANGLES, PLACES, MANAGED, MANAGED_VOLUME = range(18, 24)
SIDE = 4
WHOLE = (0, 0, SIDE, SIDE)
LEAST, FEW = (1, 2, 4, 8), (2, 4, 8, 16)
"""Sizes of the default lane, of calls and of others."""
MOST = 3 * SIZES[-1]
"""The greatest size that is tried."""
BUFFER = 1 << 18
XYZ_DIFFUSE = 0x42


class Row(NamedTuple):
    """How the inputs of a token grow.

    ``one(i)`` is the i-th token of a stream, ``many(n)`` one of n elements, ``long(n)`` a token
    of one element with n parts.  The last two are None for tokens that have one element, or
    elements of one size.  ``before(n)`` are commands that are executed first and not
    counted.
    """

    one: Callable[[int], bytes]
    many: Callable[[int], bytes] | None = None
    long: Callable[[int], bytes] | None = None
    before: Callable[[int], bytes] = lambda n: b""


def words(*values: int | float) -> bytes:
    """DWORDs, and float32 values."""
    return token(0, *values)[4:]


def shorts(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}H", *values)


def listed(
    op: Op,
    item: Callable[[int], bytes],
    long: Callable[[int], bytes] | None = None,
    before: Callable[[int], bytes] = lambda n: b"",
) -> Row:
    """A token of n elements; ``long(n)`` is an element with n parts."""
    return Row(
        lambda i: header(op) + item(i),
        lambda n: header(op, n) + b"".join(map(item, range(n))),
        None if long is None else lambda n: header(op) + long(n),
        before,
    )


def indexed(op: Op, head: bytes, each: int, more: int = 0) -> Row:
    """A draw of n primitives with ``each`` WORDs a primitive, and ``more`` at the end."""

    def data(n: int) -> bytes:
        return header(op, n) + head + shorts(*(i % MOST for i in range(n * each + more)))

    return Row(lambda i: data(1), data)


def ranged(op: Op) -> Row:
    """A draw of n primitives from the vertices of the call."""
    return Row(lambda i: header(op) + shorts(i), lambda n: header(op, n) + shorts(0))


def immediate(op: Op, head: bytes, vertices: Callable[[int], int]) -> Row:
    """A draw of n primitives with vertices in the stream."""

    def data(n: int) -> bytes:
        corners = (vertex(i % 8, i % 7) for i in range(vertices(n)))
        return header(op, n) + head + b"".join(corners)

    return Row(lambda i: data(1), data)


def streamed(op: Op, item: Callable[[int, int], bytes]) -> Row:
    """A draw from bound streams: elements of ``item(first, primitives)``."""
    return listed(op, lambda i: item(i, 1), lambda n: item(0, n), before=lambda n: BOUND_STREAM)


BOUND_STREAM = (
    token(Op.SETSTREAMSOURCE, 0, STREAM, 16)
    + token(Op.SETINDICES, INDICES, 2)
    + token(Op.SETVERTEXSHADERDECL, XYZ_DIFFUSE)
)
PS_CODE = bytes.fromhex("01 01 FF FF FF FF 00 00")
VS_CODE = bytes.fromhex("00 02 FE FF FF FF 00 00")
VS8_DECLARATION = bytes.fromhex("00 00 00 20 00 00 02 40 FF FF FF FF")
VS8_CODE = bytes.fromhex("01 01 FE FF FF FF 00 00")


def odd(i: int) -> int:
    return 2 * i + 1


def made(op: Op, item: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Commands that make n objects of ``item``."""
    return lambda n: b"".join(header(op) + item(i) for i in range(n))


def vertex_shader(i: int) -> bytes:
    return words(odd(i), len(VS8_DECLARATION), len(VS8_CODE)) + VS8_DECLARATION + VS8_CODE


def declaration(i: int, elements: int = 1) -> bytes:
    each = (struct.pack("<HH4B", 0, 12 * j, 2, 0, 5 if j else 0, j) for j in range(elements))
    return words(odd(i), elements) + b"".join(each)


def function(i: int) -> bytes:
    return words(i + 1, len(VS_CODE)) + VS_CODE


def pixel_shader(i: int) -> bytes:
    return words(i + 1, len(PS_CODE)) + PS_CODE


def query(i: int) -> bytes:
    return words(i, QueryType.OCCLUSION)


def light(i: int) -> bytes:
    return words(i, 2) + words(1) + bytes(100)


def constants(register: int, count: int, value: bytes) -> bytes:
    return words(register, count) + value * count


def file_of(op: Op, registers: int, value: bytes, *, growing: bool = False) -> Row:
    """Constants of a register file; an element grows only if the file has room."""
    return listed(
        op,
        lambda i: constants(i % registers, 1, value),
        (lambda n: constants(0, n, value)) if growing else None,
    )


def patch(op: Op, info: bytes, segments: bytes) -> Row:
    return listed(op, lambda i: words(i + 1, 3) + segments + info, before=lambda n: BOUND_STREAM)


def blit(source: int, target: int) -> Callable[[int], bytes]:
    return lambda i: words(source, *WHOLE, 0, target, *WHOLE, 0, 0)


def clear_of(n: int) -> bytes:
    return header(Op.CLEAR, n) + words(3, 0, 1.0, 0) + words(*WHOLE) * n


def state_set(handles: range) -> bytes:
    """A token that records empty blocks, and captures, executes and deletes them."""
    items = [words(operation, handle, 1) for handle in handles for operation in (0, 1, 4, 3, 2)]
    return header(Op.STATESET, len(items)) + b"".join(items)


FOUR = words(1.0, 1.0, 1.0, 1.0)
RECT_PATCH = words(0, 0, 4, 4, 4, 0, 3)
TRI_PATCH = words(0, 10, 0, 3)

ROWS: dict[Op, Row] = {
    Op.POINTS: listed(Op.POINTS, lambda i: shorts(1, i), lambda n: shorts(n, 0)),
    Op.INDEXEDLINELIST: indexed(Op.INDEXEDLINELIST, b"", 2),
    Op.INDEXEDTRIANGLELIST: indexed(Op.INDEXEDTRIANGLELIST, b"", 4),
    Op.LINELIST: ranged(Op.LINELIST),
    Op.LINESTRIP: ranged(Op.LINESTRIP),
    Op.INDEXEDLINESTRIP: indexed(Op.INDEXEDLINESTRIP, shorts(0), 1, 1),
    Op.TRIANGLELIST: ranged(Op.TRIANGLELIST),
    Op.TRIANGLESTRIP: ranged(Op.TRIANGLESTRIP),
    Op.INDEXEDTRIANGLESTRIP: indexed(Op.INDEXEDTRIANGLESTRIP, shorts(0), 1, 2),
    Op.TRIANGLEFAN: ranged(Op.TRIANGLEFAN),
    Op.INDEXEDTRIANGLEFAN: indexed(Op.INDEXEDTRIANGLEFAN, shorts(0), 1, 2),
    Op.TRIANGLEFAN_IMM: immediate(Op.TRIANGLEFAN_IMM, words(0), lambda n: n + 2),
    Op.LINELIST_IMM: immediate(Op.LINELIST_IMM, b"", lambda n: 2 * n),
    Op.INDEXEDTRIANGLELIST2: indexed(Op.INDEXEDTRIANGLELIST2, shorts(0), 3),
    Op.INDEXEDLINELIST2: indexed(Op.INDEXEDLINELIST2, shorts(0), 2),
    Op.DRAWPRIMITIVE: streamed(Op.DRAWPRIMITIVE, lambda first, count: words(4, first, count)),
    Op.DRAWINDEXEDPRIMITIVE: streamed(
        Op.DRAWINDEXEDPRIMITIVE, lambda first, count: words(4, 0, 0, 9, first, count)
    ),
    Op.CLIPPEDTRIANGLEFAN: streamed(
        Op.CLIPPEDTRIANGLEFAN, lambda first, count: words(16 * first, 0, count)
    ),
    Op.DRAWPRIMITIVE2: streamed(
        Op.DRAWPRIMITIVE2, lambda first, count: words(4, 16 * first, count)
    ),
    Op.DRAWINDEXEDPRIMITIVE2: streamed(
        Op.DRAWINDEXEDPRIMITIVE2, lambda first, count: words(4, 0, 0, 9, 2 * first, count)
    ),
    Op.DRAWRECTPATCH: patch(Op.DRAWRECTPATCH, RECT_PATCH, FOUR),
    Op.DRAWTRIPATCH: patch(Op.DRAWTRIPATCH, TRI_PATCH, FOUR[:12]),
    Op.RENDERSTATE: listed(Op.RENDERSTATE, lambda i: words(i % 200 + 7, i)),
    Op.TEXTURESTAGESTATE: listed(
        Op.TEXTURESTAGESTATE, lambda i: shorts(i % 8, i // 8 % 33) + words(i)
    ),
    Op.VIEWPORTINFO: listed(Op.VIEWPORTINFO, lambda i: words(0, 0, i % 64 + 1, 64)),
    Op.WINFO: listed(Op.WINFO, lambda i: words(0.0, float(i + 1))),
    Op.ZRANGE: listed(Op.ZRANGE, lambda i: words(0.0, 1.0)),
    Op.SETSCISSORRECT: listed(Op.SETSCISSORRECT, lambda i: words(0, 0, i % 64 + 1, 64)),
    Op.SETRENDERTARGET: Row(lambda i: token(Op.SETRENDERTARGET, COLOR, DEPTH)),
    Op.SETRENDERTARGET2: listed(Op.SETRENDERTARGET2, lambda i: words(i % 4, COLOR)),
    Op.SETDEPTHSTENCIL: listed(Op.SETDEPTHSTENCIL, lambda i: words(DEPTH)),
    Op.CLEAR: Row(lambda i: clear_of(1), clear_of),
    Op.STATESET: Row(lambda i: state_set(range(i, i + 1)), lambda n: state_set(range(n))),
    Op.SETMATERIAL: listed(Op.SETMATERIAL, lambda i: words(*(17 * [float(i)]))),
    Op.SETLIGHT: listed(Op.SETLIGHT, light),
    Op.CREATELIGHT: listed(Op.CREATELIGHT, words),
    Op.SETTRANSFORM: listed(Op.SETTRANSFORM, lambda i: words(256 + i % 256) + FOUR * 4),
    Op.MULTIPLYTRANSFORM: listed(Op.MULTIPLYTRANSFORM, lambda i: words(2) + FOUR * 4),
    Op.SETCLIPPLANE: listed(Op.SETCLIPPLANE, lambda i: words(i % 32) + FOUR),
    Op.SETSTREAMSOURCE: listed(Op.SETSTREAMSOURCE, lambda i: words(i % 16, STREAM, 4 * i)),
    Op.SETSTREAMSOURCE2: listed(Op.SETSTREAMSOURCE2, lambda i: words(i % 16, STREAM, 4 * i, 16)),
    Op.SETSTREAMSOURCEUM: listed(Op.SETSTREAMSOURCEUM, lambda i: words(i % 16, 16)),
    Op.SETSTREAMSOURCEFREQ: listed(Op.SETSTREAMSOURCEFREQ, lambda i: words(i % 16, i + 1)),
    Op.SETINDICES: listed(Op.SETINDICES, lambda i: words(INDICES, 2)),
    Op.CREATEVERTEXSHADER: listed(Op.CREATEVERTEXSHADER, vertex_shader),
    Op.DELETEVERTEXSHADER: listed(
        Op.DELETEVERTEXSHADER,
        lambda i: words(odd(i)),
        before=made(Op.CREATEVERTEXSHADER, vertex_shader),
    ),
    Op.SETVERTEXSHADER: listed(
        Op.SETVERTEXSHADER,
        lambda i: words(odd(i)),
        before=made(Op.CREATEVERTEXSHADER, vertex_shader),
    ),
    Op.SETVERTEXSHADERCONST: file_of(Op.SETVERTEXSHADERCONST, 96, FOUR, growing=True),
    Op.SETVERTEXSHADERCONSTI: file_of(Op.SETVERTEXSHADERCONSTI, 16, words(1, 1, 1, 1)),
    Op.SETVERTEXSHADERCONSTB: file_of(Op.SETVERTEXSHADERCONSTB, 16, words(1)),
    Op.SETPIXELSHADERCONST: file_of(Op.SETPIXELSHADERCONST, 32, FOUR, growing=True),
    Op.SETPIXELSHADERCONSTI: file_of(Op.SETPIXELSHADERCONSTI, 16, words(1, 1, 1, 1)),
    Op.SETPIXELSHADERCONSTB: file_of(Op.SETPIXELSHADERCONSTB, 16, words(1)),
    Op.CREATEPIXELSHADER: listed(Op.CREATEPIXELSHADER, pixel_shader),
    Op.DELETEPIXELSHADER: listed(
        Op.DELETEPIXELSHADER,
        lambda i: words(i + 1),
        before=made(Op.CREATEPIXELSHADER, pixel_shader),
    ),
    Op.SETPIXELSHADER: listed(
        Op.SETPIXELSHADER, lambda i: words(i + 1), before=made(Op.CREATEPIXELSHADER, pixel_shader)
    ),
    Op.CREATEVERTEXSHADERDECL: listed(
        Op.CREATEVERTEXSHADERDECL, declaration, lambda n: declaration(0, n % 16 + 1)
    ),
    Op.DELETEVERTEXSHADERDECL: listed(
        Op.DELETEVERTEXSHADERDECL,
        lambda i: words(odd(i)),
        before=made(Op.CREATEVERTEXSHADERDECL, declaration),
    ),
    Op.SETVERTEXSHADERDECL: listed(
        Op.SETVERTEXSHADERDECL,
        lambda i: words(odd(i)),
        before=made(Op.CREATEVERTEXSHADERDECL, declaration),
    ),
    Op.CREATEVERTEXSHADERFUNC: listed(Op.CREATEVERTEXSHADERFUNC, function),
    Op.DELETEVERTEXSHADERFUNC: listed(
        Op.DELETEVERTEXSHADERFUNC,
        lambda i: words(i + 1),
        before=made(Op.CREATEVERTEXSHADERFUNC, function),
    ),
    Op.SETVERTEXSHADERFUNC: listed(
        Op.SETVERTEXSHADERFUNC,
        lambda i: words(i + 1),
        before=made(Op.CREATEVERTEXSHADERFUNC, function),
    ),
    Op.SETPALETTE: listed(Op.SETPALETTE, lambda i: words(i + 1, 0, PALETTISED)),
    Op.UPDATEPALETTE: Row(
        lambda i: header(Op.UPDATEPALETTE) + words(i) + shorts(0, 1) + words(i),
        long=lambda n: header(Op.UPDATEPALETTE) + words(1) + shorts(0, n) + words(1) * n,
    ),
    Op.TEXBLT: listed(Op.TEXBLT, lambda i: words(OTHER, TEXTURE, 0, 0, *WHOLE, 0)),
    Op.SETPRIORITY: listed(Op.SETPRIORITY, lambda i: words(MANAGED, i)),
    Op.SETTEXLOD: listed(Op.SETTEXLOD, lambda i: words(MANAGED, 0)),
    Op.VOLUMEBLT: listed(
        Op.VOLUMEBLT, lambda i: words(OTHER_VOLUME, VOLUME, 0, 0, 0, *WHOLE, 0, 2, 0)
    ),
    Op.BUFFERBLT: listed(Op.BUFFERBLT, lambda i: words(PLACES, RECTANGLES, 0, 8 * i, 8, 0)),
    Op.ADDDIRTYRECT: listed(Op.ADDDIRTYRECT, lambda i: words(MANAGED, i % 4, 0, 4, 4)),
    Op.ADDDIRTYBOX: listed(Op.ADDDIRTYBOX, lambda i: words(MANAGED_VOLUME, i % 4, 0, 4, 4, 0, 2)),
    Op.BLT: listed(Op.BLT, blit(TEXTURE, OTHER)),
    Op.SURFACEBLT: listed(Op.SURFACEBLT, blit(TEXTURE, OTHER)),
    Op.COLORFILL: listed(Op.COLORFILL, lambda i: words(TEXTURE, *WHOLE, i)),
    Op.GENERATEMIPSUBLEVELS: listed(Op.GENERATEMIPSUBLEVELS, lambda i: words(CHAIN, 2)),
    Op.SETCONVOLUTIONKERNELMONO: listed(
        Op.SETCONVOLUTIONKERNELMONO, lambda i: words(1, 3, 3, 0.5, 0.5, 0.5, 1.0)
    ),
    Op.COMPOSERECTS: listed(
        Op.COMPOSERECTS,
        lambda i: words(ONE_BIT, OTHER_BIT, RECTANGLES, 1, PLACES, 1, 0, 0),
        lambda n: words(ONE_BIT, OTHER_BIT, RECTANGLES, n, PLACES, 1, 0, 0),
    ),
    Op.CREATEQUERY: listed(Op.CREATEQUERY, query),
    Op.DELETEQUERY: listed(Op.DELETEQUERY, words, before=made(Op.CREATEQUERY, query)),
    Op.ISSUEQUERY: listed(
        Op.ISSUEQUERY, lambda i: words(i, 3), before=made(Op.CREATEQUERY, query)
    ),
    Op.EXT: listed(Op.EXT, lambda i: words(1, 8), lambda n: words(1, 8 + n) + bytes(n)),
}
"""Opcode -> how its inputs grow."""

REFUSED = {Op.EXT: HResult.D3DERR_COMMAND_UNPARSED}
"""Opcodes that the driver refuses -> its result."""


def test_every_token_has_a_row() -> None:
    assert set(ROWS) == set(TABLE)


def test_rows_grow_along_all_that_their_tokens_repeat() -> None:
    """A token with elements has a case for many of them, one with tails for a long tail."""
    for op, row in ROWS.items():
        described = TABLE[op]
        counted = described.count(2) > described.count(1)
        if (described.items is not None and counted) or described.vertices is not None:
            assert row.many is not None, op


VERTEX_DATA = b"".join(vertex(i % 8, i % 7) for i in range(3 * MOST + 3))
_A8R8G8B8 = int(Format.A8R8G8B8)
_SURFACES = (
    *(SurfaceDesc(handle, SurfaceKind.VERTEXBUFFER, 48 * (MOST + 2))
      for handle in (STREAM, INDICES, RECTANGLES, PLACES)),
    *(SurfaceDesc(handle, SurfaceKind.TEXTURE, SIDE, SIDE, _A8R8G8B8)
      for handle in (TEXTURE, OTHER)),
    SurfaceDesc(CHAIN, SurfaceKind.TEXTURE, SIDE, SIDE, _A8R8G8B8, levels=2),
    SurfaceDesc(MANAGED, SurfaceKind.TEXTURE, SIDE, SIDE, _A8R8G8B8, managed=1),
    *(SurfaceDesc(handle, SurfaceKind.VOLUMETEXTURE, SIDE, SIDE, _A8R8G8B8, depth=2)
      for handle in (VOLUME, OTHER_VOLUME)),
    SurfaceDesc(
        MANAGED_VOLUME, SurfaceKind.VOLUMETEXTURE, SIDE, SIDE, _A8R8G8B8, depth=2, managed=1
    ),
    SurfaceDesc(PALETTISED, SurfaceKind.TEXTURE, SIDE, SIDE, int(Format.P8)),
    *(SurfaceDesc(handle, SurfaceKind.TEXTURE, SIDE, SIDE, int(Format.A1))
      for handle in (ONE_BIT, OTHER_BIT)),
)  # fmt: skip


class Rig:
    """A driver with the objects that the tokens of ``ROWS`` name.

    It does not execute draws if ``skipped`` names them.
    """

    def __init__(self, *skipped: type[Packet], **options: str) -> None:
        options = {"engine": "reference", "parser": "walk", **options}
        self.bench = Bench(buffer=BUFFER, options=Options(threads=1, **options))
        self.bench.driver.gpu.skipped = frozenset(skipped)
        for desc in _SURFACES:
            self.bench.driver.create_surface(desc)
        self._context = 1

    def call(self, commands: bytes, op: Op) -> None:
        """Submit commands, which must have the result that tokens of ``op`` have."""
        answer = self.bench.call(commands, VERTEX_DATA, dwhContext=self._context)
        assert answer.ddrval == REFUSED.get(op, HResult.D3D_OK), answer.fault

    def fresh(self) -> None:
        """Go on in a new context, where no token has had an effect yet."""
        self._context += 1
        self.bench.driver.create_context(self._context, color=COLOR, depth=DEPTH)

    def given(self, row: Row, calls: list[bytes], n: int) -> list[bytes]:
        """``calls``, after the commands before them."""
        before = row.before(n)
        if before:
            self.bench.ok(before, dwhContext=self._context)
        return calls


Calls = Callable[[Row, int], list[bytes]]
GROWTHS: dict[str, Calls] = {
    "tokens": lambda row, n: [b"".join(map(row.one, range(n)))],
    "calls": lambda row, n: list(map(row.one, range(n))),
    "elements": lambda row, n: [row.many(n)] if row.many else [],
    "length": lambda row, n: [row.long(n)] if row.long else [],
}
"""How an input of size n grows -> its calls; none for rows that do not grow so."""


def check_linear(op: Op, calls: Calls, rig: Rig, sizes: Sequence[int]) -> None:
    """Fail unless the work of the token ``op`` in ``calls`` is linear."""
    row = ROWS[op]

    def execute(given: list[bytes]) -> None:
        for each in given:
            rig.call(each, op)

    rig.fresh()
    assert_linear(lambda n: rig.given(row, calls(row, n), n), execute, sizes)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_tokens_are_executed_in_linear_time(op: Op) -> None:
    """Draws are translated, but not executed."""
    rig = Rig(Draw)
    for growth, calls in GROWTHS.items():
        if calls(ROWS[op], 1):
            check_linear(op, calls, rig, LEAST if growth == "calls" else FEW)


DRAWS = [
    op for op in ROWS if "draw" in TABLE[op].execute.__doc__.lower() and op is not Op.ISSUEQUERY
]
"""Opcodes that draw."""
TYPICAL = (Op.POINTS, Op.LINESTRIP, Op.INDEXEDTRIANGLELIST, Op.DRAWPRIMITIVE)
"""Opcodes whose draws are executed in the default lane too."""


@pytest.mark.parametrize(
    "op",
    [pytest.param(op, marks=[] if op in TYPICAL else [pytest.mark.slow]) for op in DRAWS],
    ids=lambda op: op.name,
)
def test_primitives_are_drawn_in_linear_time(op: Op) -> None:
    """Many primitives in a draw; a patch has none, but many patches are drawn."""
    check_linear(op, GROWTHS["length" if ROWS[op].long else "elements"], Rig(), SIZES)


@pytest.mark.parametrize("engine", ["reference", pytest.param("jit", marks=pytest.mark.slow)])
def test_draws_are_executed_in_linear_time(engine: str) -> None:
    check_linear(Op.TRIANGLELIST, GROWTHS["tokens"], Rig(engine=engine), FEW)


@pytest.mark.parametrize("engine", [pytest.param("reference", marks=pytest.mark.slow), "jit"])
def test_vertices_of_a_call_are_drawn_in_linear_time(engine: str) -> None:
    """Draws that read few vertices of a call do not touch the others."""
    rig = Rig(engine=engine)

    def draw(vertices: int) -> None:
        step = max(vertices // 8, 1)  # eight draws, whatever the number of vertices
        commands = b"".join(
            header(Op.INDEXEDTRIANGLELIST2) + shorts(0, first, first + 1, first + 2)
            for first in range(0, vertices - 2, step)
        )
        data = VERTEX_DATA[: 20 * vertices]
        rig.bench.ok(commands, data)

    assert_linear(lambda n: n, draw, (16, 32, 64, 128))


def test_a_second_pass_for_each_token_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the tokens before each token found again, the test above fails."""
    rig = Rig()

    def rescanning(token: Token, buffer: Any, n: int, start: int, *rest: int) -> Body:
        walk.scan(buffer, 0, start - walk.HEADER_BYTES)
        return walk.body_of(token, buffer, n, start, *rest)

    parser = rig.bench.driver._parser
    monkeypatch.setattr(rig.bench.driver, "_parser", parser._replace(body_of=rescanning))
    with pytest.raises(AssertionError, match="more than linear"):
        check_linear(Op.RENDERSTATE, GROWTHS["tokens"], rig, SIZES)


@pytest.mark.slow
@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("parser", ["walk", "construct"])
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_many_tokens_are_executed_in_linear_time(op: Op, parser: str, growth: str) -> None:
    if GROWTHS[growth](ROWS[op], 1):
        check_linear(op, GROWTHS[growth], Rig(Draw, parser=parser), SIZES)
