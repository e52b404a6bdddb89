"""Targets: every token that can switch them, and what occlusion queries make of samples."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dp2emu.d3d.enums import Format, QueryType, RenderState
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import (
    BEGIN,
    COLOR,
    DEPTH,
    END,
    Bench,
    create,
    dword,
    issue,
    payloads,
    rectangle,
    render_state,
    token,
    triangle_list,
    vertex,
)

MULTI2, MULTI4, OTHER4, DEPTH2, DEPTH4, SMALL = 21, 22, 23, 24, 25, 26
SAMPLES = {COLOR: 1, MULTI2: 2, MULTI4: 4, OTHER4: 4, DEPTH: 1, DEPTH2: 2, DEPTH4: 4}
FIRST = {1: (0, 0), 2: (4, 4), 4: (-2, -6)}
"""The first sample's offset from the pixel's centre in sixteenths."""

QUERY = 5
OLD_TARGET, TARGET, DEPTH_STENCIL = 41, 85, 86


def make(bench: Bench, handle: int, format: Format, samples: int, size: int = 64) -> None:
    desc = SurfaceDesc(handle, SurfaceKind.SURFACE, size, size, int(format), samples=samples)
    bench.driver.create_surface(desc)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    for handle in (MULTI2, MULTI4, OTHER4):
        make(bench, handle, Format.X8R8G8B8, SAMPLES[handle])
    for handle in (DEPTH2, DEPTH4):
        make(bench, handle, Format.D24S8, SAMPLES[handle])
        bench.driver.write(handle, 0, b"\xff" * (4 * 64 * 64 * SAMPLES[handle]))
    make(bench, SMALL, Format.D24S8, 1, size=8)
    return bench


def speck(samples: int, x: int = 9, y: int = 7) -> bytes:
    """A square so small that it covers one sample of one pixel."""
    dx, dy = FIRST[samples]
    left, top = x + (dx - 1) / 16, y + (dy - 1) / 16
    a, b = vertex(left, top), vertex(left + 1 / 8, top)
    c, d = vertex(left, top + 1 / 8), vertex(left + 1 / 8, top + 1 / 8)
    return a + b + c + b + d + c


def asked(bench: Bench, switches: list[tuple[bytes, int]]) -> int:
    """What an OCCLUSION interval answers that has, after each switch, a speck on each of so many
    pixels of the target of so many samples: (switch, samples).
    """
    commands = create(QUERY, QueryType.OCCLUSION) + issue(QUERY, BEGIN)
    vertices = b""
    for switch, samples in switches:
        first = len(vertices) // 20
        vertices += speck(samples)
        commands += switch + triangle_list(first, 2)
    return dword(bench.settle(commands + issue(QUERY, END), vertices)[QUERY])


def no_test() -> bytes:
    return render_state(RenderState.ZENABLE, 0)


def test_setrendertarget2_inside_the_interval_counts_each_target_apart(bench: Bench) -> None:
    targets = [COLOR, MULTI2, MULTI4, OTHER4, MULTI4, MULTI2]
    switches = [(no_test() + token(TARGET, 0, t), SAMPLES[t]) for t in targets]
    # 1 + ceil(2 / 2) + ceil(2 / 4) + ceil(1 / 4)
    assert asked(bench, switches) == 4


def test_setrendertarget_inside_the_interval_counts_each_target_apart(bench: Bench) -> None:
    pairs = [(COLOR, DEPTH), (MULTI2, DEPTH2), (MULTI4, DEPTH4), (OTHER4, DEPTH4)]
    switches = [(token(OLD_TARGET, *pair), SAMPLES[pair[0]]) for pair in pairs]
    assert asked(bench, switches) == 4


def test_setdepthstencil_inside_the_interval_counts_depth_surfaces_apart(bench: Bench) -> None:
    bench.ok(token(TARGET, 0, 0))
    switches = [(token(DEPTH_STENCIL, d), SAMPLES[d]) for d in (DEPTH, DEPTH2, DEPTH4, DEPTH2)]
    assert asked(bench, switches) == 3


def test_a_context_counts_on_the_targets_it_is_created_with(bench: Bench) -> None:
    bench.driver.create_context(2, color=MULTI4, depth=DEPTH4)
    begin = create(QUERY, QueryType.OCCLUSION) + issue(QUERY, BEGIN)
    commands = begin + triangle_list(0, 2) + triangle_list(6, 2) + issue(QUERY, END)
    answer = bench.ok(commands, speck(4) + speck(4, x=30), dwhContext=2)
    assert dword(payloads(answer.response)[QUERY]) == 1


def test_a_nonzero_number_of_samples_never_becomes_0_pixels(bench: Bench) -> None:
    for target in (COLOR, MULTI2, MULTI4):
        switch = no_test() + token(TARGET, 0, target)
        assert asked(bench, [(switch, SAMPLES[target])]) == 1


def test_a_whole_rectangle_counts_its_pixels_whatever_the_samples(bench: Bench) -> None:
    for target in (COLOR, MULTI2, MULTI4):
        commands = no_test() + token(TARGET, 0, target) + create(QUERY, QueryType.OCCLUSION)
        commands += issue(QUERY, BEGIN) + triangle_list(0, 2) + issue(QUERY, END)
        assert dword(bench.settle(commands, rectangle(3, 4, 20, 10))[QUERY]) == 200


def test_a_clear_inside_the_interval_counts_nothing(bench: Bench) -> None:
    clear = token(42, 1, 0xFFFFFFFF, 1.0, 0, 0, 0, 64, 64)
    switch = no_test() + token(TARGET, 0, MULTI4) + clear
    assert asked(bench, [(switch, 4)]) == 1


def test_clears_fill_all_samples_of_their_rectangles(bench: Bench) -> None:
    bench.ok(token(TARGET, 0, MULTI4) + token(42, 1, 0xFF123456, 1.0, 0, 3, 2, 5, 4))
    words = np.frombuffer(bench.driver.read(MULTI4, 0, 64 * 64 * 16), "<u4").reshape(64, 64, 4)
    filled = np.zeros((64, 64), bool)
    filled[2:4, 3:5] = True
    assert ((words == 0xFF123456) == filled[:, :, None]).all()


def test_targets_and_depth_of_different_samples_cannot_be_drawn_to_together(bench: Bench) -> None:
    drawing = triangle_list(0, 2)
    for switch in (
        token(TARGET, 0, MULTI4),
        token(TARGET, 0, MULTI4) + token(DEPTH_STENCIL, DEPTH2),
    ):
        answer = bench.call(switch + drawing, rectangle(0, 0, 4, 4))
        assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL
        assert answer.dwErrorOffset == len(switch)
    bench.ok(no_test() + token(TARGET, 1, OTHER4) + drawing, rectangle(0, 0, 4, 4))
    answer = bench.call(token(TARGET, 1, MULTI2) + drawing, rectangle(0, 0, 4, 4))
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL


def test_a_depth_surface_that_is_not_used_bounds_nothing(bench: Bench) -> None:
    commands = no_test() + token(DEPTH_STENCIL, SMALL) + triangle_list(0, 2)
    bench.ok(commands, rectangle(0, 0, 32, 32))
    words = np.frombuffer(bench.driver.read(COLOR, 0, 4 * 64 * 64), "<u4").reshape(64, 64)
    assert np.count_nonzero(words) == 32 * 32


def test_only_a_new_target_0_resets_viewport_and_scissor(bench: Bench) -> None:
    viewport = struct.pack("<BBH4I", 28, 0, 1, 0, 0, 4, 4)
    for switch, drawn in (
        (token(TARGET, 1, OTHER4), 16), (token(DEPTH_STENCIL, DEPTH4), 16),
        (token(TARGET, 0, MULTI4), 1024),
    ):  # fmt: skip
        commands = no_test() + token(TARGET, 0, MULTI4) + token(DEPTH_STENCIL, DEPTH4) + viewport
        commands += create(QUERY, QueryType.OCCLUSION) + switch + issue(QUERY, BEGIN)
        commands += triangle_list(0, 2) + issue(QUERY, END) + token(TARGET, 1, 0)
        assert dword(bench.settle(commands, rectangle(0, 0, 32, 32))[QUERY]) == drawn


@pytest.mark.parametrize(("state", "value", "samples"), [
    (RenderState.MULTISAMPLEMASK, 0b0001, 1), (RenderState.MULTISAMPLEANTIALIAS, 0, 0),
    (RenderState.ADAPTIVETESS_Y, int.from_bytes(b"ATOC", "little"), 1),
])  # fmt: skip
def test_multisample_states_decide_which_samples_are_drawn(
    bench: Bench, state: RenderState, value: int, samples: int
) -> None:
    """A rectangle over the left half of pixel 5, which has two samples, but not its centre.

    Alpha of one half covers the first of them.
    """
    corners = [(4.5, 4.5), (4.99, 4.5), (4.5, 5.5), (4.99, 4.5), (4.99, 5.5), (4.5, 5.5)]
    half = b"".join(vertex(x, y, color=0x80FFFFFF) for x, y in corners)
    setting = no_test() + token(TARGET, 0, MULTI4)
    bench.ok(setting + triangle_list(0, 2), half)
    assert lit(bench) == 2
    bench.ok(token(42, 1, 0, 1.0, 0, 0, 0, 64, 64) + render_state(state, value)
             + triangle_list(0, 2), half)  # fmt: skip
    assert lit(bench) == samples


@pytest.mark.parametrize(("interface", "state", "value", "samples"), [
    (7, None, 0, 0), (7, 2, 1, 2), (7, 2, 2, 2), (7, 161, 1, 0), (8, None, 0, 2), (8, 161, 0, 0),
])  # fmt: skip
def test_before_directx_8_antialiasing_is_asked_for_by_an_older_state(
    bench: Bench, interface: int, state: int | None, value: int, samples: int
) -> None:
    bench.driver.create_context(2, interface=interface, color=MULTI4)
    corners = [(4.5, 4.5), (4.99, 4.5), (4.5, 5.5), (4.99, 4.5), (4.99, 5.5), (4.5, 5.5)]
    setting = no_test() + (b"" if state is None else token(8, state, value))
    half = b"".join(vertex(x, y) for x, y in corners)
    bench.ok(setting + triangle_list(0, 2), half, dwhContext=2)
    assert lit(bench) == samples


def lit(bench: Bench) -> int:
    words = np.frombuffer(bench.driver.read(MULTI4, 0, 64 * 64 * 16), "<u4")
    return int(np.count_nonzero(words & 0xFFFFFF))


TEXTURE, CUBE, VOLUME, LEVEL, FACE, SLICE = 31, 32, 33, 34, 35, 36


@pytest.fixture
def textures(bench: Bench) -> Bench:
    """A texture and a cube of 16 x 16 with full chains, a volume, and surfaces for one level of
    each.
    """
    create, format = bench.driver.create_surface, int(Format.A8R8G8B8)
    create(SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 16, 16, format, levels=5))
    create(SurfaceDesc(CUBE, SurfaceKind.CUBETEXTURE, 16, 16, format, levels=5))
    create(SurfaceDesc(VOLUME, SurfaceKind.VOLUMETEXTURE, 16, 16, format, depth=4))
    create(SurfaceDesc(LEVEL, SurfaceKind.SURFACE, 4, 4, format, parent=TEXTURE, index=2))
    create(SurfaceDesc(FACE, SurfaceKind.SURFACE, 8, 8, format, parent=CUBE, index=3 * 5 + 1))
    create(SurfaceDesc(SLICE, SurfaceKind.VOLUME, 16, 16, format, depth=4, parent=VOLUME))
    return bench


LEVELS = (16 * 16, 8 * 8, 4 * 4, 2 * 2, 1)
"""Pixels of the levels, one behind the other in memory."""


@pytest.mark.parametrize(("target", "owner", "before", "size"), [
    (TEXTURE, TEXTURE, 0, 16),
    (LEVEL, TEXTURE, sum(LEVELS[:2]), 4),
    (CUBE, CUBE, 0, 16),
    (FACE, CUBE, 3 * sum(LEVELS) + LEVELS[0], 8),
])  # fmt: skip
def test_levels_and_faces_are_targets_and_nothing_around_them_changes(
    textures: Bench, target: int, owner: int, before: int, size: int
) -> None:
    commands = no_test() + token(TARGET, 0, target) + triangle_list(0, 2)
    textures.ok(commands, rectangle(-9, -9, 99, 99))
    faces = 6 if owner == CUBE else 1
    words = np.frombuffer(textures.driver.read(owner, 0, 4 * faces * sum(LEVELS)), "<u4")
    assert np.flatnonzero(words).tolist() == list(range(before, before + size * size))


@pytest.mark.parametrize("handle", [VOLUME, SLICE])
def test_volumes_are_no_targets(textures: Bench, handle: int) -> None:
    answer = textures.call(token(TARGET, 0, handle))
    assert (answer.ddrval, answer.dwErrorOffset) == (HResult.DDERR_GENERIC, 0)


def test_what_was_drawn_is_sampled_by_the_next_draw_of_the_same_call(textures: Bench) -> None:
    def clear(color: int) -> bytes:
        return token(42, 1, color, 1.0, 0, 0, 0, 64, 64)

    bind = struct.pack("<BBH2HI", 25, 0, 1, 0, 0, TEXTURE)
    commands = no_test() + bind
    for color, first in ((0xFF00FF00, 0), (0xFFFF0000, 6)):
        commands += token(TARGET, 0, TEXTURE) + clear(color)
        commands += token(TARGET, 0, COLOR) + triangle_list(first, 2)
    textures.ok(commands, rectangle(0, 0, 4, 4) + rectangle(10, 0, 4, 4))
    words = np.frombuffer(textures.driver.read(COLOR, 0, 4 * 64 * 64), "<u4").reshape(64, 64)
    assert (words[:4, :4] == 0xFF00FF00).all()
    assert (words[:4, 10:14] == 0xFFFF0000).all()


def test_a_target_may_go_while_it_is_bound(textures: Bench) -> None:
    textures.ok(no_test() + token(TARGET, 0, LEVEL))
    textures.driver.destroy_surface(LEVEL)
    textures.ok(triangle_list(0, 2), rectangle(0, 0, 4, 4))
    words = np.frombuffer(textures.driver.read(TEXTURE, 0, 4 * sum(LEVELS)), "<u4")
    assert np.count_nonzero(words) == 16
