"""Patches on the wire: what is drawn, kept, refused; pixels counted by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import QueryType
from dp2emu.d3d.hresult import HResult
from dp2emu.dp2.call import Answer
from dp2emu.dp2.options import Options
from dp2emu.dp2.resolve import patches
from dp2emu.dp2.states.inspect import facts_of
from dp2emu.gpu.command.packets import Draw
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from dp2emu.limits import Limits
from tests.dp2.rigging import (
    BEGIN,
    COLOR,
    END,
    VERTICES,
    XYZRHW_DIFFUSE,
    Bench,
    clear,
    create,
    dword,
    header,
    issue,
    render_state,
    token,
    vertex,
)
from tests.refusals import refuses

BAD = HResult.D3DERR_DRIVERINVALIDCALL
SEGMENTS, EDGE_STYLE, DELETE, FILL, LIGHTING, CULL = 164, 163, 169, 8, 137, 22
POSITION_DEGREE, NORMAL_DEGREE, ADAPTIVE, LEAST, MOST = 172, 173, 184, 178, 179
RECTANGLE, TRIANGLE = 61, 62
XYZ = 0x002
BEZIER, BSPLINE, INTERPOLATE = 0, 1, 2
SQUARE = (0, 0, 2, 2, 2, BEZIER, 1)
"""D3DRECTPATCH_INFO of the first four vertices."""
CORNER = (0, 3, BEZIER, 1)
"""D3DTRIPATCH_INFO of the first three vertices."""
FORMAT = token(73, XYZRHW_DIFFUSE)


def bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def patch(op: int, handle: int, segments: Sequence[float] = (), info: Sequence[int] = ()) -> bytes:
    flags = bool(segments) | 2 * bool(info)
    tail = struct.pack(f"<{len(segments)}f{len(info)}I", *segments, *info)
    return header(op) + struct.pack("<2I", handle, flags) + tail


def square(x: int, y: int, width: int, height: int) -> bytes:
    """Control points that cover exactly width x height pixel centres."""
    left, top, right, bottom = x - 0.5, y - 0.5, x + width - 0.5, y + height - 0.5
    return b"".join(vertex(*at) for at in (
        (left, top), (right, top), (left, bottom), (right, bottom)))  # fmt: skip


class Patches(Bench):
    """A bench whose stream 0 holds XYZRHW | DIFFUSE control points; draws are noted."""

    def __init__(self, control: bytes = square(4, 6, 10, 8), **options: Any) -> None:
        super().__init__(**options)
        self.driver.create_surface(SurfaceDesc(VERTICES, SurfaceKind.MEMORY, 4096))
        self.driver.write(VERTICES, 0, control)
        self.drawn: list[Draw] = []
        self.driver.gpu.packet_taps.append(
            lambda packet, _: self.drawn.append(packet) if isinstance(packet, Draw) else None
        )
        self.ok(FORMAT + token(80, 0, VERTICES, 0, 20) + clear() + create(1, QueryType.OCCLUSION))

    def covered(self, commands: bytes, vertices: bytes = b"") -> int:
        """Pixels that are not black after commands from a black screen."""
        self.ok(clear() + commands, vertices)
        self.driver.finish()
        pixels = np.frombuffer(self.driver.read(COLOR, 0, 4 * 64 * 64), "<u4")
        return int(np.count_nonzero(pixels & 0xFFFFFF))

    def kept(self) -> list[int]:
        context = self.driver.context(1)
        assert context is not None
        found: list[int] = facts_of(context)["patches"]
        return found


def test_a_rectangle_covers_its_pixels_once() -> None:
    bench = Patches()
    counted = bench.settle(
        issue(1, BEGIN) + patch(RECTANGLE, 0, (3.0, 4.0, 5.0, 2.0), SQUARE) + issue(1, END)
    )
    assert dword(counted[1]) == 80
    assert bench.covered(patch(RECTANGLE, 0, (1.0,) * 4, SQUARE)) == 80


def test_a_triangle_covers_half_of_it() -> None:
    # The corners are in order first, last, first of the last row: clockwise ones are in front.
    # Pixels whose centres are on the third side, a lower right one, belong to others.
    bench = Patches(vertex(3.5, 5.5) + vertex(3.5, 13.5) + vertex(11.5, 5.5))
    culled = render_state(CULL, 3)
    assert bench.covered(culled + patch(TRIANGLE, 0, (4.0, 4.0, 4.0), CORNER)) == 8 * 7 // 2
    assert bench.covered(render_state(CULL, 2) + patch(TRIANGLE, 0, (4.0,) * 3, CORNER)) == 0


def test_elements_of_a_token_are_drawn_each() -> None:
    bench = Patches(square(4, 6, 10, 8) + square(20, 20, 3, 5))
    first = struct.pack("<2I4f7I", 0, 3, 1, 2, 3, 4, *SQUARE)
    second = struct.pack("<2I7I", 9, 2, 0, 2, *SQUARE[2:])
    third = struct.pack("<2I", 9, 0)
    assert bench.covered(header(RECTANGLE, 3) + first + second + third) == 80 + 15
    assert len(bench.drawn) == 3


def test_control_points_lie_in_rows_of_the_stride() -> None:
    # Rows of 3: the patch starts at column 1 of row 1.
    far = vertex(60.0, 60.0)
    points = square(10, 10, 6, 4)
    data = 3 * far + far + points[:40] + far + points[40:]
    bench = Patches(data)
    assert bench.covered(patch(RECTANGLE, 0, (2.0,) * 4, (1, 1, 2, 2, 3, BEZIER, 1))) == 24


@pytest.mark.parametrize(("segments", "triangles"), [(0.0, 2), (1.0, 2), (3.0, 18), (3.9, 18)])
def test_without_segments_the_render_state_counts(segments: float, triangles: int) -> None:
    bench = Patches()
    bench.ok(create(2, QueryType.VERTEXSTATS) + render_state(SEGMENTS, bits(segments)))
    found = bench.settle(patch(RECTANGLE, 0, (), SQUARE) + issue(2, END))
    assert struct.unpack("<2I", found[2])[0] == triangles


# Handles


def test_a_kept_patch_is_drawn_whatever_becomes_of_its_stream() -> None:
    bench = Patches()
    assert bench.covered(patch(RECTANGLE, 7, (2.0,) * 4, SQUARE)) == 80
    bench.driver.write(VERTICES, 0, bytes(80))
    assert bench.covered(token(80, 0, 0, 0, 0) + patch(RECTANGLE, 7)) == 80
    assert bench.kept() == [7]


def test_streams_are_read_when_the_draw_executes_and_not_again() -> None:
    bench = Patches()
    bench.ok(patch(RECTANGLE, 7, (2.0,) * 4, SQUARE))
    bench.driver.finish()
    bench.driver.write(VERTICES, 0, square(0, 0, 3, 3))
    assert bench.covered(patch(RECTANGLE, 7)) == 80
    assert bench.covered(patch(RECTANGLE, 7, (2.0,) * 4, SQUARE)) == 9
    assert bench.covered(patch(RECTANGLE, 7)) == 9


def segments_of(draw: Draw) -> tuple[float, ...]:
    assert draw.input.patch is not None
    return draw.input.patch.fineness.segments


def test_segments_given_go_before_kept_ones_and_before_the_state() -> None:
    bench = Patches()
    bench.ok(render_state(SEGMENTS, bits(5.0)) + patch(RECTANGLE, 7, (2.0,) * 4, SQUARE))
    bench.ok(patch(RECTANGLE, 7) + patch(RECTANGLE, 7, (3.0,) * 4) + patch(RECTANGLE, 7))
    bench.ok(patch(RECTANGLE, 8, (), SQUARE) + patch(RECTANGLE, 8))
    bench.driver.finish()
    assert [segments_of(draw) for draw in bench.drawn] == [
        (2.0,) * 4, (2.0,) * 4, (3.0,) * 4, (2.0,) * 4, (5.0,), (5.0,)
    ]  # fmt: skip


def test_unknown_handles_are_ignored_and_strictly_refused() -> None:
    for handle in (0, 5, 0xFFFFFFFF):
        bench = Patches()
        assert bench.covered(patch(RECTANGLE, handle) + patch(TRIANGLE, handle, (1.0,) * 3)) == 0
        strict = Patches(options=Options(strict=True))
        assert strict.call(patch(RECTANGLE, handle)).ddrval == BAD


def test_a_patch_that_was_deleted_is_unknown() -> None:
    bench = Patches()
    bench.ok(patch(RECTANGLE, 7, (), SQUARE) + patch(TRIANGLE, 8, (), CORNER))
    assert bench.kept() == [7, 8]
    assert bench.covered(patch(RECTANGLE, 7) + render_state(DELETE, 7)) == 80
    assert bench.covered(patch(RECTANGLE, 7)) == 0
    assert bench.kept() == [8]
    bench.ok(render_state(DELETE, 7) + render_state(DELETE, 0))
    assert bench.kept() == [8]


def test_both_shapes_share_their_handles() -> None:
    bench = Patches()
    bench.ok(patch(RECTANGLE, 7, (), SQUARE))
    assert bench.covered(patch(TRIANGLE, 7)) == 0
    assert bench.kept() == []
    bench.ok(patch(TRIANGLE, 7, (), CORNER) + patch(RECTANGLE, 7, (), SQUARE))
    assert bench.covered(patch(RECTANGLE, 7)) == 80


def test_a_patch_that_could_not_be_drawn_is_not_kept() -> None:
    bench = Patches()
    assert bench.call(patch(RECTANGLE, 7, (), (*SQUARE[:-1], 2))).ddrval == BAD
    assert bench.call(token(80, 0, 0, 0, 0) + patch(RECTANGLE, 7, (), SQUARE)).ddrval == BAD
    assert bench.kept() == []


def test_room_for_patches_is_bounded() -> None:
    bench = Patches(limits=Limits(objects=2))
    keep = [patch(RECTANGLE, handle, (), SQUARE) for handle in (1, 2, 3)]
    bench.ok(keep[0] + keep[1] + keep[1])
    assert bench.call(keep[2]).ddrval == HResult.DDERR_OUTOFMEMORY
    bench.ok(patch(RECTANGLE, 0, (), SQUARE) + render_state(DELETE, 1) + keep[2])
    assert bench.kept() == [2, 3]


def test_control_points_that_are_kept_are_bounded() -> None:
    keep = [patch(RECTANGLE, handle, (), SQUARE) for handle in (1, 2)]
    of_two = 2 * 4 * 2 * 32
    Patches(limits=Limits(patch_bytes=of_two)).ok(keep[0] + keep[1] + keep[1])
    bench = Patches(limits=Limits(patch_bytes=of_two - 1))
    answer = bench.call(keep[0] + keep[1])
    assert answer.ddrval == HResult.DDERR_OUTOFMEMORY
    assert refuses(answer.fault, "patch_bytes", of_two - 1)
    assert bench.kept() == [1]


# What is allowed


ALLOWED = [
    (BEZIER, 1, 2, 2), (BEZIER, 2, 3, 3), (BEZIER, 3, 4, 4), (BEZIER, 5, 6, 6),
    (BSPLINE, 1, 2, 5), (BSPLINE, 2, 3, 3), (BSPLINE, 2, 5, 4),
    (BSPLINE, 3, 4, 4), (BSPLINE, 3, 9, 4), (BSPLINE, 5, 6, 7),
    (INTERPOLATE, 3, 4, 4), (INTERPOLATE, 3, 4, 6),
]  # fmt: skip
REFUSED = [
    (BEZIER, 0, 1, 1), (BEZIER, 2, 4, 4), (BEZIER, 4, 5, 5), (BEZIER, 3, 5, 4), (BEZIER, 3, 4, 7),
    (BSPLINE, 2, 2, 3), (BSPLINE, 3, 3, 4), (BSPLINE, 5, 6, 5), (INTERPOLATE, 1, 2, 2),
    (INTERPOLATE, 2, 3, 3), (INTERPOLATE, 5, 6, 6), (3, 3, 4, 4), (0xFFFFFFFF, 3, 4, 4),
    (BSPLINE, 0xFFFFFFFF, 4, 4),
    (BSPLINE, 3, 0xFFFFFFFF, 0xFFFFFFFF), (BSPLINE, 1, 1 << 9, (1 << 7) + 1), (BSPLINE, 1, 0, 9),
]  # fmt: skip


@pytest.mark.parametrize(("basis", "degree", "width", "height"), ALLOWED)
def test_rectangles_that_are_allowed(basis: int, degree: int, width: int, height: int) -> None:
    info = (0, 0, width, height, width, basis, degree)
    Patches().ok(patch(RECTANGLE, 0, (1.0,) * 4, info))


@pytest.mark.parametrize(("basis", "degree", "width", "height"), REFUSED)
def test_rectangles_that_are_not(basis: int, degree: int, width: int, height: int) -> None:
    info = (0, 0, width, height, width, basis, degree)
    bench = Patches()
    bad = bench.call(FORMAT + patch(RECTANGLE, 0, (1.0,) * 4, info))
    assert (bad.ddrval, bad.dwErrorOffset) == (BAD, len(FORMAT))


@pytest.mark.parametrize(
    ("number", "degree", "allowed"),
    [(3, 1, True), (10, 3, True), (21, 5, True), (6, 2, True), (7, 2, False), (15, 4, False),
     (9, 3, False), (11, 3, False), (3, 3, False), (1, 0, False)],
)  # fmt: skip
def test_triangles_that_are_allowed(number: int, degree: int, allowed: bool) -> None:
    answer = Patches().call(patch(TRIANGLE, 0, (2.0,) * 3, (0, number, BEZIER, degree)))
    assert answer.ddrval == (0 if allowed else BAD)


@pytest.mark.parametrize("basis", [BSPLINE, INTERPOLATE, 3])
def test_triangles_are_bezier_ones(basis: int) -> None:
    assert Patches().call(patch(TRIANGLE, 0, (), (0, 10, basis, 3))).ddrval == BAD


@pytest.mark.parametrize(
    "info",
    [(0, 0xFFFFFFFF, 2, 2, 0xFFFFFFFF, 0, 1), (0xFFFFFFFF, 0, 2, 2, 2, 0, 1),
     (0, (1 << 31) - 1, 2, 2, 2, 0, 1)],
)  # fmt: skip
def test_control_points_are_vertices_there_can_be(info: tuple[int, ...]) -> None:
    assert Patches().call(patch(RECTANGLE, 0, (), info)).ddrval == BAD


def test_control_points_behind_the_buffer_are_zero() -> None:
    bench = Patches()
    assert bench.covered(patch(RECTANGLE, 0, (), (0, (1 << 31) - 2, 2, 2, 2, 0, 1))) == 0
    assert bench.covered(patch(TRIANGLE, 0, (), (0xFFFFFFFD, 3, 0, 1))) == 0
    assert bench.call(patch(TRIANGLE, 0, (), (0xFFFFFFFE, 3, 0, 1))).ddrval == BAD


def test_edge_styles_are_two() -> None:
    bench = Patches()
    for style in (0, 1):
        bench.ok(render_state(EDGE_STYLE, style) + patch(RECTANGLE, 0, (3.5,) * 4, SQUARE))
    bench.driver.finish()
    assert [draw.input.patch and draw.input.patch.fineness.continuous for draw in bench.drawn] == [
        False,
        True,
    ]
    assert bench.call(render_state(EDGE_STYLE, 2) + patch(TRIANGLE, 0, (), CORNER)).ddrval == BAD


def test_patches_need_what_draws_need() -> None:
    bench = Patches()
    assert bench.call(token(73, 0) + patch(RECTANGLE, 0, (), SQUARE)).ddrval == BAD
    assert (
        bench.call(token(80, 0, 0, 0, 0) + FORMAT + patch(TRIANGLE, 0, (), CORNER)).ddrval == BAD
    )


NUMBERS = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 0x7FFFFFFF, 0xFFFFFFFF])
FLOATS = st.floats(width=32) | st.sampled_from([1.0, 2.5, 64.0])
STATES = st.dictionaries(
    st.sampled_from([EDGE_STYLE, SEGMENTS, *range(LEAST, ADAPTIVE + 1)]),
    st.integers(0, 1) | FLOATS.map(bits),
    max_size=4,
)


@settings(max_examples=40)
@given(
    st.lists(FLOATS, min_size=4, max_size=4),
    st.lists(NUMBERS, min_size=7, max_size=7),
    st.lists(NUMBERS, min_size=4, max_size=4),
    st.lists(FLOATS, min_size=20, max_size=20),
    STATES,
)
def test_any_numbers_are_a_patch_or_refused(
    segments: list[float],
    rectangle: list[int],
    triangle: list[int],
    control: list[float],
    states: dict[int, int],
) -> None:
    bench = Patches(struct.pack("<20f", *control))
    commands = b"".join(render_state(*each) for each in states.items())
    for op, count, info in ((RECTANGLE, 4, rectangle), (TRIANGLE, 3, triangle)):
        for given_info in (info, list(SQUARE if op == RECTANGLE else CORNER)):
            answer = bench.call(commands + patch(op, 5, segments[:count], given_info))
            assert answer.ddrval in (0, BAD)
            bench.ok(patch(op, 5))
    bench.driver.finish()
    assert all(draw.input.patch is not None for draw in bench.drawn)


# N-patches


TRIANGLES = b"".join(
    struct.pack("<3f", *at) for at in ((-0.5, 0.5, 0.5), (0.5, 0.5, 0.5), (-0.5, -0.5, 0.5)) * 2
)


class NPatches(Patches):
    """A bench whose stream 0 holds two triangles on the screen's middle, unlit."""

    def __init__(self, **options: Any) -> None:
        super().__init__(TRIANGLES, **options)
        self.ok(
            token(73, XYZ) + token(80, 0, VERTICES, 0, 12) + render_state(LIGHTING, 0)
            + create(2, QueryType.VERTEXSTATS)
        )  # fmt: skip

    def triangles(self, states: dict[int, int], topology: int = 4, count: int = 2) -> int:
        """Rendered triangles of a draw under render states."""
        found = self.settle(issue(2, END))
        before = struct.unpack("<2I", found[2])[0]
        commands = b"".join(render_state(*each) for each in states.items())
        found = self.settle(commands + token(52, topology, 0, count) + issue(2, END))
        return int(struct.unpack("<2I", found[2])[0]) - before

    def drawn_with(self, states: dict[int, int]) -> Answer:
        commands = b"".join(render_state(*each) for each in states.items())
        return self.call(commands + token(52, 4, 0, 2))


@pytest.mark.parametrize(
    ("segments", "wanted"),
    [(0.0, 2), (0.5, 2), (1.0, 2), (1.9, 2), (2.0, 8), (3.7, 18), (-4.0, 2), (float("nan"), 2),
     (1e9, 2 * 64 * 64)],
)  # fmt: skip
def test_the_render_state_makes_triangles_n_patches(segments: float, wanted: int) -> None:
    assert NPatches().triangles({SEGMENTS: bits(segments)}) == wanted


def test_indexed_triangles_are_n_patches_as_well() -> None:
    bench = NPatches()
    bench.driver.create_surface(SurfaceDesc(9, SurfaceKind.MEMORY, 64))
    bench.driver.write(9, 0, struct.pack("<6H", 0, 1, 2, 3, 4, 5))
    states = token(51, 9, 2) + render_state(SEGMENTS, bits(3.0))
    assert bench.covered(states + token(53, 4, 0, 0, 6, 0, 2)) > 0
    assert bench.drawn[-1].input.patch is not None
    found = bench.settle(issue(2, END))
    assert struct.unpack("<2I", found[2])[0] == 18


def test_they_cover_what_the_triangles_cover() -> None:
    bench = NPatches()
    plain = bench.covered(token(52, 4, 0, 2))
    assert plain == 32 * 33 // 2
    assert bench.covered(render_state(SEGMENTS, bits(5.0)) + token(52, 4, 0, 2)) == plain


def test_vertices_on_the_screen_are_no_n_patches() -> None:
    bench = Patches()
    bench.ok(render_state(SEGMENTS, bits(5.0)) + token(52, 4, 0, 1))
    bench.driver.finish()
    assert bench.drawn[-1].input.patch is None


def test_adaptive_levels_need_no_segments() -> None:
    bench = NPatches()
    assert bench.triangles({ADAPTIVE: 1, LEAST: bits(3.0), MOST: bits(9.0)}) == 2 * 9
    # 2 segments at depth 0.5 are 4.
    assert bench.triangles({SEGMENTS: bits(2.0)}) == 2 * 16


@pytest.mark.parametrize("value", [0, 2, 5, 7])
def test_positions_of_n_patches_are_linear_or_cubic(value: int) -> None:
    states = {SEGMENTS: bits(2.0), POSITION_DEGREE: value}
    assert NPatches().drawn_with(states).ddrval == BAD
    states[SEGMENTS] = bits(1.0)
    assert NPatches().drawn_with(states).ddrval == 0


@pytest.mark.parametrize(("value", "allowed"), [(1, True), (2, True), (3, False), (5, False)])
def test_normals_of_n_patches_are_linear_or_quadratic(value: int, allowed: bool) -> None:
    states = {SEGMENTS: bits(2.0), NORMAL_DEGREE: value}
    assert NPatches().drawn_with(states).ddrval == (0 if allowed else BAD)


def test_a_draw_comes_to_a_limited_number_of_triangles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "MAX_TRIANGLES", 50)
    assert NPatches().drawn_with({SEGMENTS: bits(5.0)}).ddrval == 0
    assert NPatches().drawn_with({SEGMENTS: bits(6.0)}).ddrval == BAD
