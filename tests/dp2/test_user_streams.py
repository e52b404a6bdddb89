"""SETSTREAMSOURCEUM with every token that draws from streams (wire format, "Vertex sources")."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import DeclType, DeclUsage
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import COLOR, VERTICES, XYZRHW_DIFFUSE, Bench, header, token, vertex

INDICES, SIDE = 9, 8
RED, GREEN, BLUE = 0xFF0000, 0xFF00, 0xFF
CORNER = sum(range(SIDE))
"""Pixels of ``corner``."""


def corner(color: int) -> bytes:
    """A triangle over the upper left corner; what its slope goes through is outside."""
    ends = ((-0.5, -0.5), (SIDE - 0.5, -0.5), (-0.5, SIDE - 0.5))
    return b"".join(vertex(x, y, color=color) for x, y in ends)


def bench(indices: tuple[int, ...] = (0, 1, 2)) -> Bench:
    made = Bench()
    made.driver.create_surface(SurfaceDesc(INDICES, SurfaceKind.INDEXBUFFER, 64))
    made.driver.write(INDICES, 0, struct.pack(f"<{len(indices)}H", *indices))
    made.ok(token(Op.SETINDICES, INDICES, 2) + token(Op.SETVERTEXSHADER, XYZRHW_DIFFUSE))
    return made


def um(stream: int = 0, stride: int = 20) -> bytes:
    return token(Op.SETSTREAMSOURCEUM, stream, stride)


def picture(made: Bench) -> dict[int, int]:
    """How many pixels have which colour, black left out."""
    words = struct.unpack("<4096I", made.driver.read(COLOR, 0, 4 * 4096))
    found = [word & 0xFFFFFF for word in words]
    return {color: found.count(color) for color in sorted(set(found)) if color}


DRAWS = {
    "DRAWPRIMITIVE": token(Op.DRAWPRIMITIVE, 4, 3, 1),
    "DRAWINDEXEDPRIMITIVE": token(Op.DRAWINDEXEDPRIMITIVE, 4, 3, 0, 3, 0, 1),
    "DRAWINDEXEDPRIMITIVE back": token(Op.DRAWINDEXEDPRIMITIVE, 4, 0xFFFFFFFD, 0, 3, 3, 1),
    "DRAWPRIMITIVE2": token(Op.DRAWPRIMITIVE2, 4, 60, 1),
    "DRAWINDEXEDPRIMITIVE2": token(Op.DRAWINDEXEDPRIMITIVE2, 4, 60, 0, 3, 0, 1),
    "DRAWINDEXEDPRIMITIVE2 back": token(Op.DRAWINDEXEDPRIMITIVE2, 4, 0xFFFFFFC4, 0, 3, 6, 1),
    "CLIPPEDTRIANGLEFAN": token(Op.CLIPPEDTRIANGLEFAN, 60, 7, 1),
}
"""One triangle each of vertices 3 to 5; those that go back have indices of 6 to 8."""
BACK = (0, 1, 2, 6, 7, 8)


@pytest.fixture(params=sorted(DRAWS))
def draw(request: pytest.FixtureRequest) -> bytes:
    return DRAWS[request.param]


def test_every_draw_reads_the_user_memory_of_its_call(draw: bytes) -> None:
    made = bench(BACK)
    made.ok(um() + draw, corner(BLUE) + corner(RED) + corner(GREEN))
    assert picture(made) == {RED: CORNER}


def test_the_vertex_offset_of_the_call_is_added(draw: bytes) -> None:
    made = bench(BACK)
    made.ok(um() + draw, bytes(12) + corner(BLUE) + corner(RED), dwVertexOffset=12)
    assert picture(made) == {RED: CORNER}


def test_what_the_call_says_of_its_vertices_besides_does_not_matter(draw: bytes) -> None:
    made = bench(BACK)
    fields = {"dwVertexType": 0x112, "dwVertexLength": 0, "dwVertexSize": 7}
    made.ok(um() + draw, corner(BLUE) + corner(RED), **fields)
    assert picture(made) == {RED: CORNER}


def test_every_call_brings_memory_of_its_own(draw: bytes) -> None:
    made = bench(BACK)
    made.ok(um() + draw, corner(BLUE) + corner(RED))
    made.ok(draw, corner(BLUE) + corner(GREEN))
    assert picture(made) == {GREEN: CORNER}


def test_without_user_memory_a_draw_fails(draw: bytes) -> None:
    made = bench(BACK)
    answer = made.call(um() + draw)
    assert answer.ddrval == HResult.DDERR_EXCEPTION
    assert answer.dwErrorOffset == 12


def test_a_vertex_buffer_of_the_call_is_no_user_memory(draw: bytes) -> None:
    made = bench(BACK)
    made.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 120))
    assert made.call(um() + draw, lpDDVertex=VERTICES).ddrval == HResult.DDERR_EXCEPTION


def test_memory_that_ends_too_early_reads_as_zero(draw: bytes) -> None:
    made = bench(BACK)
    made.ok(um() + draw, corner(BLUE) + corner(RED)[:-30])
    assert picture(made) == {}


def test_a_buffer_takes_the_place_of_user_memory_and_back(draw: bytes) -> None:
    made = bench(BACK)
    made.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 180))
    made.driver.write(VERTICES, 0, corner(BLUE) + corner(GREEN))
    memory = corner(BLUE) + corner(RED)
    made.ok(um() + token(Op.SETSTREAMSOURCE, 0, VERTICES, 20) + draw, memory)
    assert picture(made) == {GREEN: CORNER}
    made.ok(um() + draw, memory)
    assert picture(made) == {RED: CORNER}
    unbound = made.call(token(Op.SETSTREAMSOURCE2, 0, 0, 0, 0) + draw, memory)
    assert unbound.ddrval == HResult.D3DERR_DRIVERINVALIDCALL


def test_a_wider_stride_passes_over_what_is_between() -> None:
    made = bench()
    wide = b"".join(corner(RED)[at : at + 20] + bytes(9) for at in (0, 20, 40))
    made.ok(um(stride=29) + token(Op.DRAWPRIMITIVE, 4, 0, 1), wide)
    assert picture(made) == {RED: CORNER}


def test_stride_0_reads_one_vertex_again_and_again() -> None:
    made = bench()
    point = vertex(3, 3, color=RED)
    made.ok(um(stride=0) + token(Op.DRAWPRIMITIVE, 1, 5, 2), point + vertex(9, 9, color=BLUE))
    assert picture(made) == {RED: 1}


def declaration(*elements: tuple[int, int, DeclType, DeclUsage]) -> bytes:
    """Created as 5 and set: stream, offset, type and usage of each element."""
    records = [struct.pack("<HHBBBB", s, o, int(t), 0, int(u), 0) for s, o, t, u in elements]
    made = header(Op.CREATEVERTEXSHADERDECL) + struct.pack("<II", 5, len(elements))
    return made + b"".join(records) + token(Op.SETVERTEXSHADERDECL, 5)


APART = declaration(
    (0, 0, DeclType.FLOAT4, DeclUsage.POSITIONT), (1, 0, DeclType.D3DCOLOR, DeclUsage.COLOR)
)
"""Positions in stream 0, colours in stream 1."""


def positions() -> bytes:
    return b"".join(corner(0)[at : at + 16] for at in (0, 20, 40))


@pytest.mark.parametrize("user", [0, 1])
def test_one_stream_may_be_user_memory_and_the_other_a_buffer(user: int) -> None:
    made = bench()
    parts = [positions(), struct.pack("<3I", RED, RED, RED)]
    strides = [16, 4]
    other = 1 - user
    made.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 64))
    made.driver.write(VERTICES, 0, parts[other])
    bound = um(user, strides[user])
    bound += token(Op.SETSTREAMSOURCE, other, VERTICES, strides[other])
    made.ok(APART + bound + token(Op.DRAWPRIMITIVE, 4, 0, 1), parts[user])
    assert picture(made) == {RED: CORNER}


def test_two_streams_of_user_memory_both_start_where_it_starts() -> None:
    made = bench()
    overlaid = declaration(
        (0, 0, DeclType.FLOAT4, DeclUsage.POSITIONT), (1, 16, DeclType.D3DCOLOR, DeclUsage.COLOR)
    )
    made.ok(overlaid + um() + um(1) + token(Op.DRAWPRIMITIVE, 4, 3, 1), corner(BLUE) + corner(RED))
    assert picture(made) == {RED: CORNER}


def test_the_byte_offset_of_the_2_forms_moves_stream_0_alone() -> None:
    made = bench()
    made.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 64))
    made.driver.write(VERTICES, 0, struct.pack("<6I", RED, RED, RED, BLUE, BLUE, BLUE))
    bound = um(0, 16) + token(Op.SETSTREAMSOURCE, 1, VERTICES, 4)
    made.ok(APART + bound + token(Op.DRAWPRIMITIVE2, 4, 48, 1), bytes(48) + positions())
    assert picture(made) == {RED: CORNER}


def test_instances_may_come_from_user_memory() -> None:
    made = bench()
    made.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 64))
    made.driver.write(VERTICES, 0, positions())
    bound = token(Op.SETSTREAMSOURCE, 0, VERTICES, 16) + um(1, 4)
    often = token(Op.SETSTREAMSOURCEFREQ, 0, 0x40000003)
    often += token(Op.SETSTREAMSOURCEFREQ, 1, 0x80000001)
    indexed = token(Op.DRAWINDEXEDPRIMITIVE, 4, 0, 0, 3, 0, 1)
    made.ok(APART + bound + often + indexed, struct.pack("<3I", BLUE, GREEN, RED))
    assert picture(made) == {RED: CORNER}


PASSING = (
    0xFFFE0200,                      # vs_2_0
    0x0200001F, 0x80000000, 0x900F0000,  # dcl_position v0
    0x0200001F, 0x8000000A, 0x900F0001,  # dcl_color v1
    0x02000001, 0xC00F0000, 0x90E40000,  # mov oPos, v0
    0x02000001, 0xD00F0000, 0x90E40001,  # mov oD0, v1
    0x0000FFFF,
)  # fmt: skip


def test_a_vertex_shader_reads_user_memory() -> None:
    made = bench()
    code = struct.pack(f"<{len(PASSING)}I", *PASSING)
    function = header(Op.CREATEVERTEXSHADERFUNC) + struct.pack("<II", 6, len(code)) + code
    function += token(Op.SETVERTEXSHADERFUNC, 6) + token(Op.RENDERSTATE, 22, 1)
    layout = declaration(
        (0, 0, DeclType.FLOAT4, DeclUsage.POSITION), (0, 16, DeclType.D3DCOLOR, DeclUsage.COLOR)
    )
    everything = ((-1.0, 1.0), (3.0, 1.0), (-1.0, -3.0))
    memory = b"".join(vertex(x, y, color=RED) for x, y in everything)
    made.ok(function + layout + um() + token(Op.DRAWPRIMITIVE, 4, 0, 1), memory)
    assert picture(made) == {RED: 64 * 64}


PASSING_3 = (
    0xFFFE0300,                      # vs_3_0
    0x0200001F, 0x80000000, 0x900F0000,  # dcl_position v0
    0x0200001F, 0x8000000A, 0x900F0001,  # dcl_color v1
    0x0200001F, 0x80000000, 0xE00F0000,  # dcl_position o0
    0x0200001F, 0x8000000A, 0xE00F0001,  # dcl_color o1
    0x02000001, 0xE00F0000, 0x90E40000,  # mov o0, v0
    0x02000001, 0xE00F0001, 0x90E40001,  # mov o1, v1
    0x0000FFFF,
)  # fmt: skip


@pytest.mark.parametrize(
    ("program", "seen"), [(PASSING_3, RED), (PASSING, GREEN), ((), GREEN)], ids=["3", "2", "fixed"]
)
def test_a_divider_holds_for_shaders_of_model_3_alone(program: tuple[int, ...], seen: int) -> None:
    made = bench()
    made.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.VERTEXBUFFER, 128))
    if program:
        code = struct.pack(f"<{len(program)}I", *program)
        function = header(Op.CREATEVERTEXSHADERFUNC) + struct.pack("<II", 6, len(code)) + code
        made.ok(function + token(Op.SETVERTEXSHADERFUNC, 6))
    usage = DeclUsage.POSITION if program else DeclUsage.POSITIONT
    layout = declaration(
        (0, 0, DeclType.FLOAT4, usage), (1, 0, DeclType.D3DCOLOR, DeclUsage.COLOR)
    )
    everything = ((-1.0, 1.0), (150.0, 1.0), (-1.0, -3.0 if program else 150.0)) * 2
    data = b"".join(struct.pack("<4f", *corner, 0.0, 1.0) for corner in everything)
    made.driver.write(VERTICES, 0, data)
    bound = token(Op.SETSTREAMSOURCE, 0, VERTICES, 16) + um(1, 4)
    bound += token(Op.SETSTREAMSOURCEFREQ, 1, 3) + token(Op.RENDERSTATE, 22, 1)
    colors = struct.pack("<6I", BLUE, RED, GREEN, GREEN, GREEN, GREEN)
    made.ok(layout + bound + token(Op.DRAWPRIMITIVE, 4, 0, 2), colors)
    assert set(picture(made)) == {seen & 0xFFFFFF}


@pytest.mark.parametrize(
    ("op", "info"), [(Op.DRAWRECTPATCH, (0, 0, 2, 2, 2, 0, 1)), (Op.DRAWTRIPATCH, (0, 3, 0, 1))]
)
def test_control_points_of_patches_may_be_user_memory(op: Op, info: tuple[int, ...]) -> None:
    made = bench()
    patch = header(op) + struct.pack("<II", 0, 2) + struct.pack(f"<{len(info)}I", *info)
    ends = ((-0.5, -0.5), (7.5, -0.5), (-0.5, 7.5), (7.5, 7.5))
    points = b"".join(vertex(x, y, color=RED) for x, y in ends)
    made.ok(um() + token(Op.RENDERSTATE, 22, 1) + patch, points)
    assert picture(made) == {RED: 64 if op is Op.DRAWRECTPATCH else CORNER}
