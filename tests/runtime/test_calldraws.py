"""Draws of DirectX 6 and 7: which tokens, and which vertices go with them."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.dp2.call import Call
from dp2emu.dp2.walk import scan
from dp2emu.errors import UsageError
from dp2emu.gpu.resource.heap import SurfaceKind
from dp2emu.runtime.calldraws import CallDraws, VertexBuffer
from dp2emu.runtime.session import Refused, Session
from tests.runtime.rigs import ScriptedRig

FVF, STRIDE = 0x44, 20
"""XYZRHW and diffuse."""
POINTS, LINES, LINE_STRIP, TRIANGLES, STRIP, FAN = range(1, 7)


def started(**more: int) -> tuple[ScriptedRig, Session, CallDraws]:
    rig = ScriptedRig()
    session = Session(rig, interface=7, **more)
    return rig, session, CallDraws(session)


def vertices(count: int, first: int = 0) -> bytes:
    return b"".join(struct.pack("<4fI", n, 0, 0, 1, n) for n in range(first, first + count))


def names(call: Call) -> list[str]:
    data = call.commands or b""
    return [token.name for _, token, *_ in scan(data, 0, len(data), STRIDE).commands]


def only(rig: ScriptedRig) -> Call:
    (call,) = rig.calls
    return call


@pytest.mark.parametrize(
    ("primitive", "count", "wanted"),
    [
        (POINTS, 3, struct.pack("<BBHHH", 1, 0, 1, 3, 0)),
        (LINES, 5, struct.pack("<BBHH", 15, 0, 2, 0)),
        (LINE_STRIP, 4, struct.pack("<BBHH", 16, 0, 3, 0)),
        (TRIANGLES, 7, struct.pack("<BBHH", 18, 0, 2, 0)),
        (STRIP, 5, struct.pack("<BBHH", 19, 0, 3, 0)),
        (FAN, 5, struct.pack("<BBHH", 21, 0, 3, 0)),
    ],
)
def test_a_topology_has_its_token(primitive: int, count: int, wanted: bytes) -> None:
    rig, session, draws = started()
    draws.user(primitive, FVF, vertices(count), count)
    session.flush()
    assert only(rig).commands == wanted


@pytest.mark.parametrize(
    ("primitive", "op", "n", "sent"),
    [
        (LINES, 27, 2, [0, 1, 1, 2]),
        (LINE_STRIP, 17, 4, [0, 1, 1, 2, 2]),
        (TRIANGLES, 26, 1, [0, 1, 1]),
        (STRIP, 20, 3, [0, 1, 1, 2, 2]),
        (FAN, 22, 3, [0, 1, 1, 2, 2]),
    ],
)
def test_a_topology_with_indices_has_its_token(
    primitive: int, op: int, n: int, sent: list[int]
) -> None:
    rig, session, draws = started()
    draws.user(primitive, FVF, vertices(3), 3, [0, 1, 1, 2, 2])
    session.flush()
    assert only(rig).commands == struct.pack(f"<BBHH{len(sent)}H", op, 0, n, 0, *sent)


def test_indexed_points_are_runs_of_one() -> None:
    rig, session, draws = started()
    draws.user(POINTS, FVF, vertices(3), 3, [2, 0])
    session.flush()
    assert only(rig).commands == struct.pack("<BBH4H", 1, 0, 2, 1, 2, 1, 0)


def test_vertices_of_one_format_share_a_call() -> None:
    rig, session, draws = started()
    draws.user(TRIANGLES, FVF, vertices(3), 3)
    session.emit(Op.RENDERSTATE, [(22, 1)])
    draws.user(TRIANGLES, FVF, vertices(3, 3), 3)
    session.flush()
    call = only(rig)
    assert call.vertices == vertices(6)
    assert (call.dwVertexType, call.dwVertexSize, call.dwVertexLength) == (FVF, STRIDE, 6)
    assert call.dwFlags == 1
    assert names(call) == ["TRIANGLELIST", "RENDERSTATE", "TRIANGLELIST"]
    assert (call.commands or b"")[-2:] == struct.pack("<H", 3)


def test_another_format_goes_with_another_call() -> None:
    rig, session, draws = started()
    draws.user(TRIANGLES, FVF, vertices(3), 3)
    draws.user(TRIANGLES, 0x4, bytes(48), 3)
    session.flush()
    assert [call.dwVertexType for call in rig.calls] == [FVF, 0x4]


def test_a_vertex_buffer_is_named_and_not_sent() -> None:
    rig, session, draws = started()
    desc = session.create_surface(SurfaceKind.VERTEXBUFFER, 100)
    draws.buffer(TRIANGLES, VertexBuffer(desc, FVF, STRIDE, 5), 1, 3)
    session.flush()
    call = only(rig)
    assert (call.lpDDVertex, call.vertices, call.dwVertexLength) == (desc.handle, None, 5)
    assert call.commands == struct.pack("<BBHH", 18, 0, 1, 1)


def test_a_call_without_draws_has_no_vertices() -> None:
    rig, session, draws = started()
    draws.user(TRIANGLES, FVF, vertices(3), 3)
    session.flush()
    session.emit(Op.RENDERSTATE, [(22, 1)])
    session.flush()
    assert rig.calls[1].vertices is None


def test_a_full_command_buffer_takes_its_vertices_along() -> None:
    rig, session, draws = started(command_bytes=20)
    for first in range(4):
        draws.user(TRIANGLES, FVF, vertices(3, first), 3)
    session.flush()
    assert len(rig.calls) > 1
    for call in rig.calls:
        drawn = len(names(call))
        assert call.dwVertexLength == 3 * drawn == len(call.vertices or b"") // STRIDE


def test_more_vertices_than_numbers_begin_a_call() -> None:
    rig, session, draws = started()
    for _ in range(2):
        draws.user(TRIANGLES, 0x4, bytes(16 * 40_000), 40_000)
    session.flush()
    assert [call.dwVertexLength for call in rig.calls] == [40_000, 40_000]


def test_too_few_vertices_for_a_primitive_draw_nothing() -> None:
    rig, session, draws = started()
    draws.user(TRIANGLES, FVF, vertices(2), 2)
    draws.user(STRIP, FVF, vertices(1), 1)
    session.flush()
    assert all(not call.commands for call in rig.calls)


@pytest.mark.parametrize("primitive", [0, 7, 99])
def test_what_is_no_topology_is_refused(primitive: int) -> None:
    _, _, draws = started()
    with pytest.raises(Refused, match="primitive type"):
        draws.user(primitive, FVF, vertices(3), 3)


def test_missing_vertices_are_an_error() -> None:
    _, _, draws = started()
    with pytest.raises(UsageError, match="vertices"):
        draws.user(TRIANGLES, FVF, vertices(2), 3)


def test_vertices_past_a_buffer_are_refused() -> None:
    _, session, draws = started()
    desc = session.create_surface(SurfaceKind.VERTEXBUFFER, 100)
    with pytest.raises(Refused, match="3 to 6 of 5"):
        draws.buffer(TRIANGLES, VertexBuffer(desc, FVF, STRIDE, 5), 3, 3)
