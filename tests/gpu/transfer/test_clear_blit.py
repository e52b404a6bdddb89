"""Blits against a plain model: rectangles of numbers, copied one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.ddraw import BLACKNESS, SRCCOPY, WHITENESS, BltEffects, BltFlags
from dp2emu.d3d.enums import Format
from dp2emu.dp2.blt import Blt
from dp2emu.dp2.driver import Driver
from dp2emu.errors import Fault, Unsupported
from dp2emu.gpu.resource.heap import SurfaceDesc, SurfaceKind

SOURCE, TARGET = 1, 2
WIDTH, HEIGHT = 4, 3


def bench(given: Format = Format.R5G6B5, made: Format | None = None, **sizes: int) -> Driver:
    """A driver with two surfaces."""
    driver = Driver()
    for handle, format in ((SOURCE, given), (TARGET, made or given)):
        desc = SurfaceDesc(
            handle, SurfaceKind.SURFACE, sizes.get("width", WIDTH), sizes.get("height", HEIGHT),
            format,
        )  # fmt: skip
        driver.create_surface(desc)
    return driver


def put(driver: Driver, handle: int, values: Any, dtype: str = "<u2") -> None:
    driver.write(handle, 0, np.array(values, dtype).tobytes())


def got(driver: Driver, handle: int = TARGET, dtype: str = "<u2", width: int = WIDTH) -> list[Any]:
    size = driver.gpu.heap.get(handle).data.nbytes  # type: ignore[union-attr]
    return np.frombuffer(driver.read(handle, 0, size), dtype).reshape(-1, width).tolist()


NUMBERED = [[10 * y + x for x in range(WIDTH)] for y in range(HEIGHT)]
WHOLE = (0, 0, WIDTH, HEIGHT)


def numbered() -> Driver:
    driver = bench()
    put(driver, SOURCE, NUMBERED)
    return driver


def copy(target: tuple[int, ...] = WHOLE, source: tuple[int, ...] = WHOLE, **more: int) -> Blt:
    return Blt(TARGET, *target, SOURCE, *source, **more)


def test_a_rectangle_is_copied() -> None:
    driver = numbered()
    driver.blit(copy((1, 0, 3, 2), (2, 1, 4, 3)))
    assert got(driver) == [[0, 12, 13, 0], [0, 22, 23, 0], [0, 0, 0, 0]]


def test_what_overlaps_is_read_before_it_is_written() -> None:
    driver = numbered()
    driver.blit(Blt(SOURCE, 1, 0, 4, 3, SOURCE, 0, 0, 3, 3))
    assert got(driver, SOURCE)[0] == [0, 0, 1, 2]


@given(*(st.integers(1, n) for n in (WIDTH, HEIGHT, WIDTH, HEIGHT)))
def test_stretching_takes_the_pixel_under_the_centre(w: int, h: int, tw: int, th: int) -> None:
    driver = numbered()
    driver.blit(copy((0, 0, tw, th), (0, 0, w, h)))
    wanted = [[0] * WIDTH for _ in range(HEIGHT)]
    for y in range(th):
        for x in range(tw):
            wanted[y][x] = NUMBERED[(2 * y + 1) * h // (2 * th)][(2 * x + 1) * w // (2 * tw)]
    assert got(driver) == wanted


@pytest.mark.parametrize(
    ("effect", "wanted"),
    [
        (BltEffects.MIRRORLEFTRIGHT, [[1, 0], [11, 10]]),
        (BltEffects.MIRRORUPDOWN, [[10, 11], [0, 1]]),
        (BltEffects.ROTATE90, [[10, 0], [11, 1]]),
        (BltEffects.ROTATE180, [[11, 10], [1, 0]]),
        (BltEffects.ROTATE270, [[1, 11], [0, 10]]),
        (BltEffects.MIRRORLEFTRIGHT | BltEffects.ROTATE90, [[11, 1], [10, 0]]),
        (BltEffects.NOTEARING, [[0, 1], [10, 11]]),
        (BltEffects.ARITHSTRETCHY, [[0, 1], [10, 11]]),
    ],
)
def test_effects(effect: int, wanted: list[list[int]]) -> None:
    driver = numbered()
    driver.blit(copy((0, 0, 2, 2), (0, 0, 2, 2), flags=BltFlags.DDFX, fx=effect))
    assert [row[:2] for row in got(driver)[:2]] == wanted


def test_turning_a_quarter_exchanges_the_sides() -> None:
    driver = numbered()
    driver.blit(copy((0, 0, 2, 3), (0, 0, 3, 2), flags=BltFlags.DDFX, fx=BltEffects.ROTATE90))
    assert [row[:2] for row in got(driver)] == [[10, 0], [11, 1], [12, 2]]


def test_effects_count_with_their_flag_only() -> None:
    driver = numbered()
    driver.blit(copy(fx=BltEffects.MIRRORUPDOWN))
    assert got(driver) == NUMBERED


def test_the_source_key_is_left_out() -> None:
    driver = numbered()
    put(driver, TARGET, [[7] * WIDTH] * HEIGHT)
    driver.blit(copy(flags=BltFlags.KEYSRCOVERRIDE, low=1, high=11))
    assert got(driver) == [[0, 7, 7, 7], [7, 7, 12, 13], [20, 21, 22, 23]]


def test_only_the_destination_key_is_written() -> None:
    driver = numbered()
    put(driver, TARGET, [[5, 6, 7, 8]] * HEIGHT)
    driver.blit(copy(flags=BltFlags.KEYDESTOVERRIDE, dest_low=6, dest_high=7))
    assert got(driver) == [[5, 1, 2, 8], [5, 11, 12, 8], [5, 21, 22, 8]]


def test_keys_do_not_look_at_bits_of_no_colour() -> None:
    driver = bench(Format.A1R5G5B5)
    put(driver, SOURCE, [[0x8001, 1, 2, 0x8002]] * HEIGHT)
    driver.blit(copy(flags=BltFlags.KEYSRCOVERRIDE, low=1, high=1))
    assert got(driver)[0] == [0, 0, 2, 0x8002]


@pytest.mark.parametrize("index", range(16))
def test_raster_operations(index: int) -> None:
    driver = bench()
    put(driver, SOURCE, [[0b0011] * WIDTH] * HEIGHT)
    put(driver, TARGET, [[0b0101] * WIDTH] * HEIGHT)
    driver.blit(copy(flags=BltFlags.ROP, rop=index << 20 | index << 16))
    wanted = sum(
        1 << bit for bit in range(4)
        if index >> (2 * (0b0011 >> bit & 1) + (0b0101 >> bit & 1)) & 1
    )  # fmt: skip
    assert got(driver)[0][0] & 0xF == wanted


@pytest.mark.parametrize(("rop", "wanted"), [(BLACKNESS, 0), (WHITENESS, 0xFFFF)])
def test_operations_that_need_no_source(rop: int, wanted: int) -> None:
    driver = numbered()
    driver.blit(Blt(TARGET, 1, 1, 2, 2, flags=BltFlags.ROP, rop=rop))
    assert got(driver)[1][1] == wanted


def test_a_pattern_is_not_built() -> None:
    with pytest.raises(Unsupported, match="pattern"):
        numbered().blit(copy(flags=BltFlags.ROP, rop=0xF00021))


@pytest.mark.parametrize(
    ("format", "dtype"), [(Format.A8, "u1"), (Format.R5G6B5, "<u2"), (Format.X8R8G8B8, "<u4")]
)
def test_a_fill_stores_the_pixel_as_it_is(format: Format, dtype: str) -> None:
    driver = bench(format)
    driver.blit(Blt(TARGET, 1, 0, 3, 2, flags=BltFlags.COLORFILL, fill=0x12345678))
    value = 0x12345678 & (1 << 8 * np.dtype(dtype).itemsize) - 1
    assert got(driver, dtype=dtype) == [[0, value, value, 0]] * 2 + [[0] * 4]


def test_a_fill_of_depth_leaves_the_stencil() -> None:
    driver = bench(Format.D24S8)
    put(driver, TARGET, [[0x000000AB] * WIDTH] * HEIGHT, "<u4")
    driver.blit(Blt(TARGET, *WHOLE, flags=BltFlags.DEPTHFILL, fill=0x12345678))
    assert got(driver, dtype="<u4")[0][0] == 0x123456AB


@pytest.mark.parametrize(
    ("given", "made", "pixel", "wanted", "dtype"),
    [
        (Format.R5G6B5, Format.X8R8G8B8, 0xF800, 0xFFFF0000, "<u4"),
        (Format.A1R5G5B5, Format.A8R8G8B8, 0x801F, 0xFF0000FF, "<u4"),
        (Format.A1R5G5B5, Format.A4R4G4B4, 0x03E0, 0x00F0, "<u2"),
        (Format.R5G6B5, Format.A1R5G5B5, 0x07E0, 0x83E0, "<u2"),
    ],
)
def test_formats_are_converted(
    given: Format, made: Format, pixel: int, wanted: int, dtype: str
) -> None:
    driver = bench(given, made)
    put(driver, SOURCE, [[pixel] * WIDTH] * HEIGHT)
    driver.blit(copy())
    assert got(driver, dtype=dtype) == [[wanted] * WIDTH] * HEIGHT


DXT = (Format.DXT1, Format.DXT2, Format.DXT3, Format.DXT4, Format.DXT5)


@pytest.mark.parametrize("format", DXT)
@pytest.mark.parametrize("color", [0x801F, 0xFC00, 0x83E0, 0xFFFF, 0x8000])
def test_one_colour_survives_compression(format: Format, color: int) -> None:
    driver = bench(Format.A1R5G5B5, format, width=8, height=4)
    driver.create_surface(SurfaceDesc(3, SurfaceKind.SURFACE, 8, 4, Format.A1R5G5B5))
    put(driver, SOURCE, [[color] * 8] * 4)
    driver.blit(copy((0, 0, 8, 4), (0, 0, 8, 4)))
    driver.blit(Blt(3, 0, 0, 8, 4, TARGET, 0, 0, 8, 4))
    assert got(driver, 3, width=8) == [[color] * 8] * 4


def test_compressed_pixels_of_one_format_move_as_blocks() -> None:
    driver = bench(Format.DXT1, width=8, height=4)
    driver.write(SOURCE, 0, bytes(range(16)))
    driver.blit(copy((0, 0, 4, 4), (4, 0, 8, 4)))
    assert driver.read(TARGET, 0, 16) == bytes(range(8, 16)) + bytes(8)


@pytest.mark.parametrize("box", [(-1, 0, 2, 2), (0, 0, 5, 1), (0, 2, 1, 4), (1, 1, 1, 2)])
def test_rectangles_outside_are_refused(box: tuple[int, ...]) -> None:
    with pytest.raises(Fault, match="surface 2"):
        numbered().blit(copy(box))


def test_depth_is_only_copied() -> None:
    driver = bench(Format.D24S8)
    put(driver, SOURCE, [[0x12345678] * WIDTH] * HEIGHT, "<u4")
    driver.blit(copy())
    assert got(driver, dtype="<u4")[0][0] == 0x12345678
    with pytest.raises(Fault, match="D24S8 to D3DFMT_R5G6B5"):
        bench(Format.D24S8, Format.R5G6B5).blit(copy())


def test_blits_come_after_the_drawing_before_them() -> None:
    driver = numbered()
    driver.blit(copy())
    driver.blit(copy(flags=BltFlags.COLORFILL, fill=9))
    assert got(driver) == [[9] * WIDTH] * HEIGHT


def test_a_copy_is_the_plain_operation() -> None:
    driver = numbered()
    driver.blit(copy(flags=BltFlags.ROP, rop=SRCCOPY))
    assert got(driver) == NUMBERED
