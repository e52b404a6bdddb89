"""Mistakes that drivers which walk this stream are known to have made (wire format, "Walker
mistakes").

One test each, named after the mistake, and the length of every token on which sources disagree.
"""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.table import TABLE
from dp2emu.dp2.walk import scan
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import (
    BEGIN,
    COLOR,
    END,
    VERTICES,
    Bench,
    create,
    dword,
    header,
    issue,
    token,
    triangle_list,
    vertex,
)

LAST = 65_535
RED, BLUE = 0xFFFF0000, 0xFF0000FF


def pixel(bench: Bench, x: int = 1, y: int = 1) -> int:
    return dword(bench.driver.read(COLOR, 4 * (64 * y + x), 4)) & 0xFFFFFF


def corner(size: float = 8, color: int = 0xFFFFFFFF) -> bytes:
    """A triangle over the upper left corner of the target."""
    ends = ((-0.5, -0.5), (size - 0.5, -0.5), (-0.5, size - 0.5))
    return b"".join(vertex(x, y, color=color) for x, y in ends)


def pixels(draw: bytes, vertices: bytes) -> int:
    """How many pixels a draw passes."""
    query = create(1, QueryType.OCCLUSION) + issue(1, BEGIN) + draw + issue(1, END)
    return dword(Bench().settle(query, vertices)[1])


# The bugs


@pytest.mark.parametrize(
    "draw",
    [
        header(Op.INDEXEDTRIANGLELIST2) + struct.pack("<4H", LAST, 1, 2, 3),
        header(Op.INDEXEDTRIANGLESTRIP) + struct.pack("<4H", LAST, 1, 2, 3),
        header(Op.INDEXEDTRIANGLEFAN) + struct.pack("<4H", LAST, 1, 2, 3),
    ],
)
def test_start_vertex_plus_index_does_not_wrap_at_16_bits(draw: bytes) -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 20 * (LAST + 4)))
    bench.driver.write(VERTICES, 0, corner(color=BLUE))
    bench.driver.write(VERTICES, 20 * (LAST + 1), corner(color=RED))
    memory = {"dwFlags": 0, "lpDDVertex": VERTICES}
    bench.ok(draw, **memory, dwVertexLength=LAST + 4)
    assert pixel(bench) == RED & 0xFFFFFF
    refused = bench.call(draw, **memory, dwVertexLength=LAST + 3)
    assert refused.ddrval == HResult.D3DERR_DRIVERINVALIDCALL


@pytest.mark.parametrize(
    "draw",
    [
        header(Op.TRIANGLEFAN, 3) + struct.pack("<H", 0),
        header(Op.INDEXEDTRIANGLEFAN, 3) + struct.pack("<6H", 0, 0, 1, 2, 3, 4),
    ],
)
def test_a_fan_does_not_take_its_first_vertex_twice(draw: bytes) -> None:
    ends = ((-0.5, -0.5), (9.5, -0.5), (9.5, 4.5), (9.5, 9.5), (-0.5, 9.5))
    assert pixels(draw, b"".join(vertex(x, y) for x, y in ends)) == 100


def test_a_clipped_fan_does_not_take_its_first_vertex_twice() -> None:
    ends = ((-0.5, -0.5), (9.5, -0.5), (9.5, 4.5), (9.5, 9.5), (-0.5, 9.5))
    draw = token(Op.SETSTREAMSOURCEUM, 0, 20) + token(Op.SETVERTEXSHADER, 0x44)
    draw += token(Op.CLIPPEDTRIANGLEFAN, 0, 0, 3)
    assert pixels(draw, b"".join(vertex(x, y) for x, y in ends)) == 100


@pytest.mark.parametrize("wrong", range(3))
@pytest.mark.parametrize("op", [Op.INDEXEDTRIANGLELIST, Op.INDEXEDTRIANGLELIST2])
def test_one_index_beyond_the_vertices_is_enough_to_be_refused(op: Op, wrong: int) -> None:
    numbers = [0, 1, 2]
    numbers[wrong] = 3
    fields = [*numbers, 0x700] if op is Op.INDEXEDTRIANGLELIST else [0, *numbers]
    bench = Bench()
    answer = bench.call(header(op) + struct.pack("<4H", *fields), corner())
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL
    assert pixel(bench) == 0


@pytest.mark.parametrize(
    ("op", "segments", "info"), [(Op.DRAWRECTPATCH, 16, 28), (Op.DRAWTRIPATCH, 12, 16)]
)
def test_tails_of_patches_are_those_of_each_and_do_not_add_up(
    op: Op, segments: int, info: int
) -> None:
    patches = [(1, segments), (3, segments + info), (0, 0), (2, info), (1, segments)]
    body = b"".join(struct.pack("<II", 9, flags) + bytes(range(size)) for flags, size in patches)
    data = header(op, len(patches)) + body + token(Op.RENDERSTATE, 27, 1)
    found = scan(data, 0, len(data))
    assert found.problem is None
    assert [at for at, *_ in found.commands] == [0, 4 + len(body)]


ELEMENTS = {
    Op.POINTS: 4, Op.INDEXEDLINELIST: 4, Op.INDEXEDTRIANGLELIST: 8, Op.RENDERSTATE: 8,
    Op.TEXTURESTAGESTATE: 8, Op.VIEWPORTINFO: 16, Op.WINFO: 8, Op.SETPALETTE: 12, Op.ZRANGE: 8,
    Op.SETMATERIAL: 68, Op.CREATELIGHT: 4, Op.SETTRANSFORM: 68, Op.TEXBLT: 36, Op.STATESET: 12,
    Op.SETPRIORITY: 8, Op.SETTEXLOD: 8, Op.SETCLIPPLANE: 20, Op.DELETEVERTEXSHADER: 4,
    Op.SETVERTEXSHADER: 4, Op.SETSTREAMSOURCE: 12, Op.SETSTREAMSOURCEUM: 8, Op.SETINDICES: 8,
    Op.DRAWPRIMITIVE: 12, Op.DRAWINDEXEDPRIMITIVE: 24, Op.DELETEPIXELSHADER: 4,
    Op.SETPIXELSHADER: 4, Op.CLIPPEDTRIANGLEFAN: 12, Op.DRAWPRIMITIVE2: 12,
    Op.DRAWINDEXEDPRIMITIVE2: 24, Op.VOLUMEBLT: 48, Op.BUFFERBLT: 24, Op.MULTIPLYTRANSFORM: 68,
    Op.ADDDIRTYRECT: 20, Op.ADDDIRTYBOX: 28, Op.DELETEVERTEXSHADERDECL: 4,
    Op.SETVERTEXSHADERDECL: 4, Op.DELETEVERTEXSHADERFUNC: 4, Op.SETVERTEXSHADERFUNC: 4,
    Op.SETSCISSORRECT: 16, Op.SETSTREAMSOURCE2: 16, Op.BLT: 52, Op.COLORFILL: 24,
    Op.CREATEQUERY: 8, Op.SETRENDERTARGET2: 8, Op.SETDEPTHSTENCIL: 4,
    Op.GENERATEMIPSUBLEVELS: 8, Op.DELETEQUERY: 4, Op.ISSUEQUERY: 8, Op.SETSTREAMSOURCEFREQ: 8,
    Op.SURFACEBLT: 52, Op.COMPOSERECTS: 32,
}  # fmt: skip
"""Bytes of an element where all elements are alike (wire format, "Opcodes")."""


@pytest.mark.parametrize("op", ELEMENTS, ids=lambda op: op.name)
def test_an_element_is_as_large_as_its_structure(op: Op) -> None:
    for count in (0, 1, 3):
        data = header(op, count) + bytes(count * ELEMENTS[op]) + header(Op.RENDERSTATE, 0)
        found = scan(data, 0, len(data))
        assert (found.problem, len(found.commands)) == (None, 2)


def test_no_token_of_like_elements_is_left_out() -> None:
    same = {op for op, row in TABLE.items() if row.items is not None and row.tail is None}
    others = {
        Op.INDEXEDLINESTRIP, Op.INDEXEDTRIANGLESTRIP, Op.INDEXEDTRIANGLEFAN,
        Op.INDEXEDTRIANGLELIST2, Op.INDEXEDLINELIST2, Op.CLEAR,
    }  # fmt: skip
    assert same - others == set(ELEMENTS)


def test_handle_0_leaves_no_stale_index_buffer() -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.INDEXBUFFER, 6))
    bench.driver.write(9, 0, struct.pack("<3H", 0, 1, 2))
    bound = token(Op.SETSTREAMSOURCEUM, 0, 20) + token(Op.SETVERTEXSHADER, 0x44)
    draw = token(Op.DRAWINDEXEDPRIMITIVE, 4, 0, 0, 3, 0, 1)
    bench.ok(bound + token(Op.SETINDICES, 9, 2) + draw, corner())
    answer = bench.call(token(Op.SETINDICES, 0, 2) + draw, corner())
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL
    assert answer.dwErrorOffset == 12


def test_the_offset_of_drawprimitive2_is_in_bytes() -> None:
    bench = Bench()
    bound = token(Op.SETSTREAMSOURCEUM, 0, 20) + token(Op.SETVERTEXSHADER, 0x44)
    draw = token(Op.DRAWPRIMITIVE2, 4, 60, 1)
    bench.ok(bound + draw, corner(color=BLUE) + corner(color=RED))
    assert pixel(bench) == RED & 0xFFFFFF


def test_offsets_of_drawindexedprimitive2_are_in_bytes() -> None:
    bench = Bench()
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.INDEXBUFFER, 12))
    bench.driver.write(9, 0, struct.pack("<6H", 5, 5, 5, 0, 1, 2))
    bound = token(Op.SETSTREAMSOURCEUM, 0, 20) + token(Op.SETVERTEXSHADER, 0x44)
    bound += token(Op.SETINDICES, 9, 2)
    draw = token(Op.DRAWINDEXEDPRIMITIVE2, 4, 60, 0, 3, 6, 1)
    bench.ok(bound + draw, corner(color=BLUE) + corner(color=RED))
    assert pixel(bench) == RED & 0xFFFFFF


def test_the_vertex_size_is_read_before_ddrval_takes_its_place() -> None:
    wide = b"".join(corner(color=RED)[at : at + 20] + bytes(12) for at in range(0, 60, 20))
    immediate = header(Op.TRIANGLEFAN_IMM) + struct.pack("<I", 7) + wide
    bench = Bench()
    bench.ok(immediate + triangle_list(0), wide, dwVertexSize=32, dwVertexLength=3)
    assert pixel(bench) == RED & 0xFFFFFF
    failed = bench.call(b"\xff\0\0\0", wide, dwVertexSize=32)
    assert failed.ddrval == HResult.D3DERR_COMMAND_UNPARSED
    # The size of the next call is its own again.
    bench.ok(token(42, 1, 0, 0.0, 0, 0, 0, 64, 64) + triangle_list(0), corner(color=BLUE))
    assert pixel(bench) == BLUE & 0xFFFFFF


# Lengths on which sources disagree


def clear(count: int, flags: int, rects: int) -> bytes:
    return header(Op.CLEAR, count) + struct.pack("<IIfI", flags, 0, 0, 0) + bytes(16 * rects)


LENGTHS = {
    "CLEAR of nothing": clear(0, 1, 0),
    "CLEAR of nothing, rectangles computed": clear(0, 9, 1),
    "CLEAR of three, rectangles computed": clear(3, 9, 3),
    "SETRENDERTARGET, whatever n says": header(Op.SETRENDERTARGET, 5) + bytes(8),
    "SETRENDERTARGET of none": header(Op.SETRENDERTARGET, 0) + bytes(8),
    "SETRENDERTARGET2": header(Op.SETRENDERTARGET2, 2) + bytes(16),
    "SETDEPTHSTENCIL": header(Op.SETDEPTHSTENCIL, 2) + bytes(8),
    "CREATELIGHT": header(Op.CREATELIGHT, 2) + bytes(8),
    "VIEWPORTINFO": header(Op.VIEWPORTINFO, 2) + bytes(32),
    "WINFO": header(Op.WINFO, 2) + bytes(16),
    "SETLIGHT": header(Op.SETLIGHT, 3) + struct.pack("<4I", 0, 0, 1, 2) + bytes(104)
    + struct.pack("<2I", 1, 1),
    "SETVERTEXSHADERCONSTB": header(Op.SETVERTEXSHADERCONSTB, 2)
    + struct.pack("<5I", 0, 3, 1, 0, 1) + struct.pack("<2I", 9, 0),
    "SETPIXELSHADERCONSTB": header(Op.SETPIXELSHADERCONSTB) + struct.pack("<4I", 0, 2, 1, 0),
    "SETPRIORITY": header(Op.SETPRIORITY, 2) + bytes(16),
    "SETTEXLOD": header(Op.SETTEXLOD, 2) + bytes(16),
    "EXT": header(Op.EXT, 2) + struct.pack("<3I", 1, 12, 0) + struct.pack("<2I", 1, 3),
    "UPDATEPALETTE, whatever n says": header(Op.UPDATEPALETTE, 7)
    + struct.pack("<IHH2I", 1, 0, 2, 0, 0),
    "LINELIST_IMM at 2 mod 4": header(Op.LINELIST, 0) + bytes(2) + header(Op.LINELIST_IMM)
    + bytes(2) + bytes(40),
    "TRIANGLEFAN_IMM at 2 mod 4": header(Op.LINELIST, 0) + bytes(2)
    + header(Op.TRIANGLEFAN_IMM) + bytes(4) + bytes(2) + bytes(60),
    "TRIANGLEFAN_IMM of none": header(Op.TRIANGLEFAN_IMM, 0) + bytes(4) + bytes(40),
}  # fmt: skip


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_are_those_the_reference_decides_for(name: str) -> None:
    data = LENGTHS[name]
    found = scan(data + header(Op.RENDERSTATE, 0), 0, len(data) + 4, vertex_size=20)
    assert found.problem is None
    assert found.commands[-1][0] == len(data)
    cut = scan(data[:-1], 0, len(data) - 1, vertex_size=20)
    assert cut.problem is not None


@pytest.mark.parametrize("name", ["SETPRIORITY", "SETTEXLOD"])
def test_lengths_while_a_state_block_is_recorded_are_the_same(name: str) -> None:
    bench = Bench()
    begin, end = token(Op.STATESET, 0, 1, 0), token(Op.STATESET, 1, 1, 0)
    on_target = header(Op[name], 2) + struct.pack("<4I", COLOR, 0, COLOR, 0)
    bench.ok(begin + on_target + token(Op.RENDERSTATE, 27, 1) + end)
    context = bench.driver.context(1)
    assert context is not None
    assert context.blocks.sizes() == {1: 1}


def test_a_line_strip_needs_one_vertex_more_than_lines() -> None:
    draw = header(Op.LINESTRIP, 2) + struct.pack("<H", 0)
    two, three = (b"".join(vertex(x, 0) for x in range(count)) for count in (2, 3))
    bench = Bench()
    bench.ok(draw, three)
    assert bench.call(draw, two).ddrval == HResult.D3DERR_DRIVERINVALIDCALL
