"""SETCONVOLUTIONKERNELMONO and D3DTEXF_CONVOLUTIONMONO, from the tokens to a pixel."""

from __future__ import annotations

import struct

import pytest

from dp2emu.d3d.dp2structs import Op
from dp2emu.d3d.enums import Format, TextureFilter
from dp2emu.d3d.hresult import HResult
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind
from tests.dp2.rigging import COLOR, Bench, header, render_state, token, triangle_list
from tests.dp2.screen import CORNERS

SELECTARG1, ALPHA_OF_TEXTURE = 2, 0x22
MAGFILTER, MINFILTER = 16, 17
TEXTURE, COLORED = 20, 21


def stage(state: int, value: int) -> bytes:
    return header(25) + struct.pack("<HHI", 0, state, value)


def kernel(
    width: int, height: int = 1, rows: tuple[float, ...] = (), columns: tuple[float, ...] = ()
) -> bytes:
    flags = (1 if rows else 0) | (2 if columns else 0)
    return token(Op.SETCONVOLUTIONKERNELMONO, width, height, flags, *rows, *columns)


def stateset(operation: int, handle: int = 0, kind: int = 0) -> bytes:
    return token(39, operation, handle, kind)


def convolving() -> Bench:
    """A driver whose stage 0 shows the alpha of a texture of the bits 0110."""
    bench = Bench()
    make = bench.driver.create_surface
    make(SurfaceDesc(TEXTURE, SurfaceKind.TEXTURE, 4, 1, int(Format.A1)))
    make(SurfaceDesc(COLORED, SurfaceKind.TEXTURE, 4, 1, int(Format.A8R8G8B8)))
    bench.driver.write(TEXTURE, 0, b"\x60")
    bench.ok(
        render_state(22, 1) + stage(0, TEXTURE) + stage(1, SELECTARG1) + stage(2, ALPHA_OF_TEXTURE)
        + stage(MAGFILTER, TextureFilter.CONVOLUTIONMONO)
    )  # fmt: skip
    return bench


def draw(bench: Bench, u: float = 0.5) -> int:
    """The blue of a square that is sampled at u, 0: half a texel above the middle of the row."""
    order = [CORNERS[corner] for corner in (0, 1, 2, 1, 3, 2)]
    vertices = b"".join(struct.pack("<4f2f", x, y, 0.5, 1.0, u, 0.0) for x, y in order)
    fields = {"dwVertexType": 0x104, "dwVertexLength": 6, "dwVertexSize": 24}
    answer = bench.call(triangle_list(0, 2), vertices, **fields)
    if answer.ddrval:
        return answer.ddrval
    return bench.driver.read(COLOR, 4 * 65, 1)[0]


HALF, QUARTER = 128, 64
"""Half of everything lies above the texture, where nothing is."""


def test_one_texel_is_what_it_is_without_a_word() -> None:
    bench = convolving()
    assert draw(bench) == HALF
    assert [draw(bench, u) for u in (0.125, 0.25, 0.375)] == [0, QUARTER, HALF]


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (kernel(2), HALF),
        (kernel(4), QUARTER),
        (kernel(1, 3), 85),  # one row of three
        (kernel(2, rows=(0.5, 0.25)), 48),  # 3/4 of 2, halved
        (kernel(1, columns=(0.5,)), QUARTER),
        (kernel(4, rows=(0.0, 2.0, 0.0, 9.0), columns=(1.0,)), QUARTER),
        (kernel(7) + kernel(1), HALF),
    ],
)
def test_kernels_have_a_size_and_weights(data: bytes, wanted: int) -> None:
    bench = convolving()
    bench.ok(data)
    assert draw(bench) == wanted


def test_the_last_of_several_kernels_in_a_token_wins() -> None:
    bench = convolving()
    first, second = struct.pack("<3If", 1, 1, 2, 9.0), struct.pack("<3I", 4, 1, 0)
    bench.ok(header(Op.SETCONVOLUTIONKERNELMONO, 2) + first + second)
    assert draw(bench) == QUARTER


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (8, 1), (1, 8), (1 << 31, 1)])
def test_kernels_have_one_to_seven_texels_a_side(size: tuple[int, int]) -> None:
    bench = convolving()
    assert bench.call(kernel(*size)).ddrval == HResult.D3DERR_DRIVERINVALIDCALL
    assert draw(bench) == HALF


def test_textures_of_colours_are_not_convolved() -> None:
    bench = convolving()
    bench.ok(stage(0, COLORED))
    assert draw(bench) == HResult.D3DERR_DRIVERINVALIDCALL
    bench.ok(stage(MAGFILTER, TextureFilter.LINEAR))
    assert draw(bench) == 0


def test_kernels_are_pixel_state_of_state_blocks() -> None:
    bench = convolving()
    record = stateset(0, 1) + kernel(4) + stateset(1)
    bench.ok(record)
    assert draw(bench) == HALF
    bench.ok(stateset(5, 2, 2) + stateset(5, 3, 3) + stateset(3, 1))
    assert draw(bench) == QUARTER
    bench.ok(stateset(3, 3))
    assert draw(bench) == QUARTER
    bench.ok(stateset(3, 2))
    assert draw(bench) == HALF


def test_a_kernel_there_cannot_be_is_not_recorded() -> None:
    bench = convolving()
    answer = bench.call(stateset(0, 1) + kernel(8))
    assert answer.ddrval == HResult.D3DERR_DRIVERINVALIDCALL
