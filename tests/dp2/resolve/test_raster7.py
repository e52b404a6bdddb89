"""Render states that only DirectX 6 and 7 have: each changes pixels, or says why it does not."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.enums import Format, QueryType, RenderState
from dp2emu.d3d.hresult import HResult
from dp2emu.d3d.legacy import RenderState7
from dp2emu.dp2.resolve.raster7 import WITHOUT_EFFECT
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import (
    BEGIN,
    COLOR,
    DEPTH,
    END,
    Bench,
    clear,
    create,
    dword,
    header,
    issue,
    rectangle,
    render_state,
    token,
    triangle_list,
    vertex,
)

R = RenderState7
TEXTURE, SIDE = 9, 64
XYZRHW_DIFFUSE_TEX1, XYZRHW_BOTH = 0x144, 0x0C4
BLUE = 0x0000FF


def bench(interface: int = 6, **surface: Any) -> Bench:
    made = Bench(context=False)
    desc = {"kind": SurfaceKind.TEXTURE, "width": 4, "height": 4, "format": int(Format.X8R8G8B8)}
    made.driver.create_surface(SurfaceDesc(TEXTURE, **{**desc, **surface}))
    made.driver.create_context(1, interface=interface, color=COLOR, depth=DEPTH)
    made.ok(clear() + render_state(22, 1))
    return made


def pixels(made: Bench, surface: int = COLOR) -> NDArray[np.uint32]:
    made.driver.finish()
    return np.frombuffer(made.driver.read(surface, 0, 4 * SIDE * SIDE), "<u4").reshape(SIDE, -1)


def states(**values: int) -> bytes:
    return b"".join(render_state(R[name], value) for name, value in values.items())


def solid(made: Bench, color: int, **values: int) -> NDArray[np.uint32]:
    """The picture after states and a rectangle over everything."""
    ends = ((-0.5, -0.5), (63.5, -0.5), (-0.5, 63.5), (63.5, 63.5))
    corners = [vertex(x, y, color=color) for x, y in ends]
    made.ok(
        states(**values) + triangle_list(0, 2), b"".join(corners[i] for i in (0, 1, 2, 1, 3, 2))
    )
    return pixels(made) & 0xFFFFFF


# Raster operations and planes

CASES = [(0, 0), (0, 1), (1, 0), (1, 1)]
"""A bit of what is drawn, and of what was there."""


@pytest.mark.parametrize("operation", range(1, 17))
def test_raster_operations_combine_stored_bits(operation: int) -> None:
    made = bench()
    made.ok(clear(0x00330F55))
    drawn, there = 0x0F3355, 0x330F55
    expected = 0
    for bit in range(24):
        case = CASES.index((drawn >> bit & 1, there >> bit & 1))
        expected |= (operation - 1 >> case & 1) << bit
    assert set(solid(made, drawn, ROP2=operation).ravel().tolist()) == {expected}


def test_a_raster_operation_counts_every_layer() -> None:
    made = bench()
    made.ok(states(ROP2=7) + triangle_list(0, 6), 3 * rectangle(0, 0, 8, 8))
    assert set((pixels(made)[:8, :8] & 0xFFFFFF).ravel().tolist()) == {0xFFFFFF}


def test_bits_of_no_channel_stay_under_raster_operations() -> None:
    made = bench()
    solid(made, 0xFFFFFF, ROP2=1)
    assert set(pixels(made).ravel().tolist()) == {0xFF000000}


def test_raster_operations_and_masks_go_together() -> None:
    made = bench()
    made.ok(clear(0x00FFFFFF))
    assert solid(made, 0xFFFFFF, ROP2=7, PLANEMASK=0x00F00F)[5, 5] == 0xFF0FF0


@pytest.mark.parametrize("operation", [0, 17])
def test_what_is_no_raster_operation_is_refused(operation: int) -> None:
    answer = bench().call(states(ROP2=operation) + triangle_list(0), rectangle(0, 0, 4, 4))
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL


def test_a_plane_mask_chooses_the_bits_that_are_written() -> None:
    assert solid(bench(), 0xFFFFFF, PLANEMASK=0x0012_3456)[9, 9] == 0x123456
    assert solid(bench(), 0xFFFFFF, PLANEMASK=0)[9, 9] == 0


@pytest.mark.parametrize("interface", [7, 8, 9])
@pytest.mark.parametrize(
    "values", [{"ROP2": 1}, {"PLANEMASK": 0}, {"MONOENABLE": 1}, {"STIPPLEENABLE": 1}]
)
def test_directx_7_has_made_them_obsolete(interface: int, values: dict[str, int]) -> None:
    made = bench(interface)
    made.ok(token(47, 0x44))
    assert set(solid(made, 0x123456, **values).ravel().tolist()) == {0x123456}


# Stippling


def test_a_pattern_of_32_by_32_says_which_pixels_are_drawn() -> None:
    generator = np.random.default_rng(7)
    rows = generator.integers(0, 1 << 32, 32, np.uint32).tolist()
    pattern = {f"STIPPLEPATTERN{number:02}": row for number, row in enumerate(rows)}
    found = solid(bench(), 0xFFFFFF, STIPPLEENABLE=1, **pattern)
    for y in range(SIDE):
        for x in range(SIDE):
            assert bool(found[y, x]) == bool(rows[y % 32] >> 31 - x % 32 & 1)


def test_a_pattern_is_for_triangles_while_it_is_enabled() -> None:
    assert solid(bench(), BLUE, STIPPLEPATTERN00=0)[0, 0] == BLUE
    made = bench()
    line = header(15) + b"\0\0"
    made.ok(states(STIPPLEENABLE=1) + line, vertex(1, 1) + vertex(9, 1))
    assert np.count_nonzero(pixels(made) & 0xFFFFFF) == 9


def test_what_a_pattern_leaves_out_is_not_counted() -> None:
    made = bench()
    draw = create(1, QueryType.OCCLUSION) + issue(1, BEGIN)
    draw += states(STIPPLEENABLE=1, STIPPLEPATTERN03=0xF0000001)
    draw += triangle_list(0, 2) + issue(1, END)
    assert dword(made.settle(draw, rectangle(0, 0, 32, 32))[1]) == 5


# Z-checking


@pytest.mark.parametrize(("interface", "checks"), [(6, True), (7, False), (8, False), (9, False)])
def test_z_checking_counts_and_writes_nothing(interface: int, checks: bool) -> None:
    made = bench(interface)
    stencil = {
        RenderState.STENCILENABLE: 1, RenderState.STENCILPASS: 7, RenderState.STENCILZFAIL: 7,
    }  # fmt: skip
    draw = b"".join(render_state(*each) for each in stencil.items()) + states(ZVISIBLE=1)
    draw += create(1, QueryType.OCCLUSION) + issue(1, BEGIN) + triangle_list(0, 2)
    before = pixels(made, DEPTH)[4, 4]
    found = made.settle(draw + issue(1, END), rectangle(0, 0, 10, 10))
    assert dword(found[1]) == 100
    assert bool(pixels(made)[4, 4] & 0xFFFFFF) is not checks
    assert bool(pixels(made, DEPTH)[4, 4] == before) is checks


def test_z_checking_still_tests_depth() -> None:
    made = bench()
    made.ok(triangle_list(0, 2), rectangle(0, 0, 10, 5, z=0.25))
    draw = states(ZVISIBLE=1) + create(1, QueryType.OCCLUSION) + issue(1, BEGIN)
    draw += triangle_list(0, 2) + issue(1, END)
    assert dword(made.settle(draw, rectangle(0, 0, 10, 10, z=0.5))[1]) == 50


# Monochrome


def test_monochrome_takes_blue_for_red_and_green() -> None:
    assert solid(bench(), 0x112233, MONOENABLE=1)[3, 3] == 0x333333


def test_monochrome_holds_for_the_specular_colour() -> None:
    made = bench()
    ends = ((-0.5, -0.5), (63.5, -0.5), (-0.5, 63.5))
    data = b"".join(struct.pack("<4fII", x, y, 0.5, 1, 0x040810, 0x102040) for x, y in ends)
    draw = states(MONOENABLE=1, SPECULARENABLE=1) + triangle_list(0)
    made.ok(draw, data, dwVertexType=XYZRHW_BOTH, dwVertexLength=3)
    assert pixels(made)[1, 1] & 0xFFFFFF == 0x505050


# Perspective


def mapped(x: float, y: float, rhw: float, u: float, color: int = 0xFFFFFFFF) -> bytes:
    return struct.pack("<4fI2f", x, y, 0.5, rhw, color, u, 0.5)


def across(interface: int, **values: int) -> tuple[list[int], list[int]]:
    """Texels 0 to 255 and the blue of vertices, along a row of 64 pixels that goes away."""
    made = bench(interface, width=256, height=1)
    made.driver.write(TEXTURE, 0, struct.pack("<256I", *(n << 8 for n in range(256))))
    near, far = 1.0, 0.25
    ends = [(-0.5, -0.5, near, 0.0), (63.5, -0.5, far, 1.0), (-0.5, 7.5, near, 0.0),
            (63.5, 7.5, far, 1.0)]  # fmt: skip
    corners = [mapped(x, y, rhw, u, int(255 * u)) for x, y, rhw, u in ends]
    data = b"".join(corners[i] for i in (0, 1, 2, 1, 3, 2))
    found = []
    for handle in (TEXTURE, 0):
        draw = states(**values) + header(25) + struct.pack("<HHI", 0, 0, handle)
        draw += header(25) + struct.pack("<HHI", 0, 2, 2) + header(25)
        draw += struct.pack("<HHI", 0, 1, 2) + token(47, XYZRHW_DIFFUSE_TEX1)
        made.ok(draw + triangle_list(0, 2), data, dwVertexType=XYZRHW_DIFFUSE_TEX1,
                dwVertexSize=28, dwVertexLength=6)  # fmt: skip
        found.append(pixels(made)[3].tolist())
    green, blue = ([word >> shift & 0xFF for word in row]
                   for row, shift in zip(found, (8, 0), strict=True))  # fmt: skip
    return green, blue


def in_perspective(share: Fraction) -> Fraction:
    """How far from near (rhw 1) to far (rhw 1/4) something is seen at a share of the way."""
    return share / 4 / (1 - share + share / 4)


@pytest.mark.parametrize(
    ("interface", "perspective", "linear"),
    [(6, 0, True), (7, 0, True), (6, 1, False), (7, 1, False), (8, 0, False), (9, 0, False)],
)
def test_texture_coordinates_are_linear_on_the_screen_without_perspective(
    interface: int, perspective: int, linear: bool
) -> None:
    texels, _ = across(interface, TEXTUREPERSPECTIVE=perspective)
    for x, texel in enumerate(texels):
        share = Fraction(2 * x + 1, 128)
        at = 256 * (share if linear else in_perspective(share))
        assert abs(texel - at) <= 1


def test_perspective_is_the_default() -> None:
    assert across(6) == across(6, TEXTUREPERSPECTIVE=1)


def test_colours_are_in_perspective_all_the_same() -> None:
    assert across(6, TEXTUREPERSPECTIVE=0)[1] == across(6)[1]


# Every state there is

EARLY = [state for state in RenderState7 if int(state) not in set(map(int, RenderState))]


SCENE = {
    R.TEXTUREHANDLE: TEXTURE, R.TEXTUREADDRESS: 4, R.TEXTUREMIN: 6, R.TEXTUREMAPBLEND: 4,
    R.ALPHABLENDENABLE: 1, R.SRCBLEND: 5, R.DESTBLEND: 6,
}  # fmt: skip


def scene(before: bytes, between: bytes) -> NDArray[np.uint32]:
    """A picture in which much is going on: behind a plain triangle a mapped one and a line."""
    made = bench(6, width=8, height=8, levels=4, format=int(Format.A8R8G8B8))
    texels = [0x80FF0000, 0xFF00FF00, 0x010000FF, 0xFE808080]
    made.driver.write(TEXTURE, 0, struct.pack("<85I", *(texels[n * n % 4] for n in range(85))))
    made.driver.set_color_key(TEXTURE, (0xFF00FF00, 0xFF00FF00))
    ends = [(-0.5, -0.5, 1.0, -0.25), (63.5, -0.5, 0.25, 1.75), (-0.5, 63.5, 0.5, 0.9)]
    data = b"".join(mapped(x, y, 1.0, 0.0, 0xFF204080) for x, y in ((20, 0), (64, 40), (20, 64)))
    data += b"".join(
        struct.pack("<4fI2f", x, y, 0.5 + 1e-5, rhw, 0xFF804020, u, 9 * u) for x, y, rhw, u in ends
    )
    data += mapped(1, 40, 1.0, 0.1, 0xC0FFFFFF) + mapped(19, 63, 1.0, 0.4, 0xC0FFFFFF)
    draw = triangle_list(3) + header(15) + struct.pack("<H", 6)
    made.ok(clear(0x00205070) + triangle_list(0) + before + between + draw, data, dwVertexSize=28,
            dwVertexType=XYZRHW_DIFFUSE_TEX1, dwVertexLength=8)  # fmt: skip
    return pixels(made)


def changed(state: RenderState7, value: int) -> bool:
    """Whether a state makes a difference to the scene."""
    fixed = {number: each for number, each in SCENE.items() if number is not state}
    before = b"".join(render_state(*each) for each in fixed.items())
    plain = render_state(state, SCENE[state]) if state in SCENE else b""
    return bool((scene(before, plain) != scene(before, render_state(state, value))).any())


VALUES = {
    R.TEXTUREHANDLE: 0, R.ANTIALIAS: 1, R.TEXTUREADDRESS: 3, R.TEXTUREPERSPECTIVE: 0,
    R.WRAPU: 1, R.WRAPV: 1, R.LINEPATTERN: 0x00050002, R.MONOENABLE: 1, R.ROP2: 7,
    R.PLANEMASK: 0xF0F0F0F0, R.TEXTUREMAG: 2, R.TEXTUREMIN: 1, R.TEXTUREMAPBLEND: 7,
    R.ZVISIBLE: 1, R.EDGEANTIALIAS: 1, R.COLORKEYENABLE: 1, R.BORDERCOLOR: 0xFFFFFFFF,
    R.TEXTUREADDRESSU: 1, R.TEXTUREADDRESSV: 1, R.MIPMAPLODBIAS: 0x40000000, R.ZBIAS: 16,
    R.ANISOTROPY: 8, R.STIPPLEENABLE: 1, R.COLORKEYBLENDENABLE: 1,
    **dict.fromkeys(WITHOUT_EFFECT, 1),
}  # fmt: skip
"""A value that differs from the default, or from what the scene has."""
ELSEWHERE = {R.ANTIALIAS, R.ANISOTROPY, R.TEXTUREMAG}
"""States that need a scene of their own: multisampled targets, and certain filters."""


@pytest.mark.parametrize("state", sorted(set(VALUES) - ELSEWHERE), ids=lambda state: state.name)
def test_every_state_changes_pixels_or_says_why_not(state: RenderState7) -> None:
    assert changed(state, VALUES[state]) is (state not in WITHOUT_EFFECT)


def test_all_states_of_directx_6_and_7_are_spoken_of() -> None:
    patterns = {state for state in EARLY if state.name.startswith("STIPPLEPATTERN")}
    assert set(EARLY) == set(VALUES) | patterns
    assert all(WITHOUT_EFFECT.values())


@pytest.mark.parametrize(
    ("interface", "clipping", "tested", "drawn"),
    [
        (7, 1, 1, False), (7, 0, 1, False), (7, 1, 0, True), (6, 0, 1, False),
        (9, 1, 1, False), (9, 0, 1, False), (9, 1, 0, True), (9, 0, 0, True),
    ],
)  # fmt: skip
def test_depth_of_transformed_vertices_is_clipped_while_it_is_tested(
    interface: int, clipping: int, tested: int, drawn: bool
) -> None:
    made = bench(interface)
    always = render_state(RenderState.ZFUNC, 8) + render_state(RenderState.ZENABLE, tested)
    made.ok(always + render_state(RenderState.CLIPPING, clipping))
    made.ok(triangle_list(0, 2), rectangle(0, 0, 8, 8, z=5.0))
    assert bool(pixels(made)[3, 3] & BLUE) is drawn
