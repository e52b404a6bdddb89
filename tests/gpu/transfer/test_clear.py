"""Clear fills what it was told and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR
from dp2emu.errors import Unsupported
from dp2emu.gpu.command.bindings import Rect
from dp2emu.gpu.command.packets import Clear
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.command.work import Work
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.transfer.clear_blit import FEW, execute_clear
from tests.gpu.drawing import color_surface, depth_surface, surface

ALL = (Rect(0, 0, 32, 32),)


def clear(
    *rects: Rect,
    color: int | None = None,
    z: float | None = None,
    stencil: int | None = None,
    target: Surface | None = None,
    depth: Surface | None = None,
) -> Work:
    return execute_clear(Clear(rects or ALL, (target,), color, depth, z, stencil), Counters())


WORDS = {
    Format.A8R8G8B8: 0x12345678,
    Format.X8R8G8B8: 0xFF345678,
    Format.R5G6B5: 0x32AF,
    Format.X1R5G5B5: 0x994F,
    Format.A1R5G5B5: 0x194F,
    Format.A4R4G4B4: 0x1357,
    Format.R3G3B2: 0x29,
    Format.A8: 0x12,
    Format.A8R3G3B2: 0x1229,
    Format.X4R4G4B4: 0xF357,
    Format.A2B10G10R10: 0x1E1564D1,
    Format.A8B8G8R8: 0x12785634,
    Format.X8B8G8R8: 0xFF785634,
    Format.G16R16: 0x56563434,
    Format.A2R10G10B10: 0x0D1565E1,
    Format.A16B16G16R16: 0x1212787856563434,
    Format.L8: 0x34,
    Format.A8L8: 0x1234,
    Format.L16: 0x3434,
    Format.R16F: 0x3287,
    Format.G16R16F: 0x35653287,
    Format.A16B16G16R16F: 0x2C85378835653287,
    Format.R32F: 0x3E50D0D1,
    Format.G32R32F: 0x3EACACAD3E50D0D1,
    Format.A32B32G32R32F: 0x3D9090913EF0F0F13EACACAD3E50D0D1,
}
"""Pixels of red 0x34, green 0x56, blue 0x78 and alpha 0x12 of 255, by exact fractions."""


@pytest.mark.parametrize("format", COLOR)
def test_colour_is_converted_to_the_format(format: Format) -> None:
    target = color_surface(format, 3, 2)
    clear(color=0x12345678, target=target)
    assert target.data.tobytes() == WORDS[format].to_bytes(COLOR[format].size, "little") * 6


@pytest.mark.parametrize(
    ("format", "word"),
    [
        (Format.A8R8G8B8, 0x40BC0089),
        (Format.X8B8G8R8, 0xFF8900BC),
        (Format.A2R10G10B10, 1 << 30 | 514 << 20 | 257),
        (Format.R5G6B5, 16 << 11 | 8),
    ],
)
def test_srgb_write_converts_the_colour_where_a_draw_would(format: Format, word: int) -> None:
    target = color_surface(format, 1, 1)
    packet = Clear(ALL, (target,), 0x40800040, None, None, None, srgb=True)
    execute_clear(packet, Counters())
    assert (target.pixels() == word).all()


def test_pixels_of_several_words_are_filled_by_many_rectangles() -> None:
    target = color_surface(Format.A32B32G32R32F, 8, 8)
    clear(*[Rect(0, 0, 1, 1)] * FEW, Rect(2, 3, 4, 4), color=0xFFFFFFFF, target=target)
    filled = np.zeros((8, 8), bool)
    filled[0, 0] = filled[3, 2:4] = True
    assert (target.data.view(np.float32).reshape(8, 8, 4) == filled[..., None]).all()


def test_a_face_of_a_cube_is_filled_alone() -> None:
    heap = Heap()
    desc = SurfaceDesc(1, SurfaceKind.CUBETEXTURE, 4, 4, Format.R5G6B5, levels=2)
    cube = heap.create(desc)
    face = heap.create(SurfaceDesc(2, SurfaceKind.SURFACE, 2, 2, Format.R5G6B5, parent=1, index=3))
    clear(color=0xFFFFFFFF, target=face)
    start = cube.subresources[3].offset
    assert cube.data[start : start + 8].all()
    assert not cube.data[:start].any()
    assert not cube.data[start + 8 :].any()


def test_only_the_rectangles_are_filled() -> None:
    target = color_surface()
    clear(Rect(1, 2, 4, 3), Rect(10, 10, 11, 40), Rect(5, 5, 5, 9), color=1, target=target)
    filled = np.zeros((32, 32), bool)
    filled[2:3, 1:4] = True
    filled[10:32, 10] = True
    np.testing.assert_array_equal(target.pixels() == 0xFF000001, filled)


def test_rectangles_outside_of_the_surface_do_nothing() -> None:
    target = color_surface()
    clear(Rect(-9, -9, 0, 0), Rect(32, 0, 99, 99), Rect(9, 9, 3, 3), color=1, target=target)
    assert not target.pixels().any()


@pytest.mark.parametrize(
    ("format", "word"),
    [(Format.D16, 0x8000), (Format.D16_LOCKABLE, 0x8000), (Format.D15S1, 0x8001),
     (Format.D24S8, 0x80000011), (Format.D24X8, 0x80000011), (Format.D24X4S4, 0x80000011),
     (Format.D24FS8, 0xE0000011), (Format.D32, 0x80000000), (Format.D32_LOCKABLE, 0x80000000),
     (Format.D32F_LOCKABLE, 0.5)],
)  # fmt: skip
def test_depth_is_cleared_and_stencil_kept(format: Format, word: float) -> None:
    depth = depth_surface(format, word=0x11)
    clear(z=0.5, depth=depth)
    assert (depth.pixels() == word).all()


@pytest.mark.parametrize(
    ("format", "word"),
    [(Format.D24S8, 0x123456FF), (Format.D24X4S4, 0x1234567F), (Format.D24FS8, 0x123456FF),
     (Format.D24X8, 0x12345678), (Format.D32, 0x12345678)],
)  # fmt: skip
def test_stencil_is_cleared_and_depth_kept(format: Format, word: int) -> None:
    depth = depth_surface(format, word=0x12345678)
    clear(stencil=0x1FF, depth=depth)
    assert (depth.pixels() == word).all()


def test_a_buffer_without_depth_keeps_its_stencil_when_depth_is_cleared() -> None:
    depth = depth_surface(Format.S8_LOCKABLE, word=0x12)
    clear(z=1.0, depth=depth)
    assert (depth.pixels() == 0x12).all()
    clear(z=1.0, stencil=0x34, depth=depth)
    assert (depth.pixels() == 0x34).all()


def test_a_buffer_of_floats_without_stencil_is_left_alone_when_that_is_cleared() -> None:
    depth = depth_surface(Format.D32F_LOCKABLE, word=0.25)
    clear(stencil=0xFF, depth=depth)
    assert (depth.pixels() == 0.25).all()


def test_a_single_bit_of_stencil_is_cleared() -> None:
    depth = depth_surface(Format.D15S1, word=0x1234)
    clear(stencil=3, depth=depth)
    assert (depth.pixels() == 0x1235).all()


@pytest.mark.parametrize(
    ("z", "word"), [(7.0, 0xFFFF), (-0.5, 0), (math.nan, 0), (math.inf, 0xFFFF)]
)
def test_depth_is_clamped_and_nan_is_zero(z: float, word: int) -> None:
    depth = depth_surface(Format.D16, word=0x1111)
    clear(z=z, depth=depth)
    assert (depth.pixels() == word).all()


def test_clearing_with_a_float32_depth_is_exact() -> None:
    depth = depth_surface()
    clear(z=np.float32(1.0), depth=depth)  # type: ignore[arg-type]
    assert (depth.pixels() >> 8 == 0xFFFFFF).all()


def test_padding_between_rows_is_not_written() -> None:
    target = surface(Format.A8R8G8B8, 4, 4, pitch=32)
    clear(color=0xFFFFFFFF, target=target)
    assert np.count_nonzero(target.data) == 4 * 4 * 4


def test_work_is_pixels_and_bytes_but_no_query_counts_them() -> None:
    counters = Counters()
    packet = Clear(ALL, (color_surface(),), 0, depth_surface(), 1.0, 0)
    work = execute_clear(packet, counters)
    assert work == Work(pixels=2048, shaded=2048, pixel_bytes=2048 * 4)
    assert counters == Counters(pixel_bytes=work.pixel_bytes)


def test_nothing_is_filled_if_one_surface_is_unsupported() -> None:
    target = color_surface()
    with pytest.raises(Unsupported):
        clear(color=1, z=1.0, target=target, depth=surface(Format.A8R8G8B8))
    assert not target.pixels().any()


def test_the_union_of_many_rectangles_is_filled_once() -> None:
    rng = np.random.default_rng(5)
    corners = rng.integers(-20, 120, (200, 4)).tolist()
    rects = tuple(Rect(*corner) for corner in corners if corner[0] < corner[2])
    pictures = []
    for parts in ([rects], [rects[i : i + FEW] for i in range(0, len(rects), FEW)]):
        target = color_surface(width=100, height=90)
        depth = depth_surface(width=100, height=90)
        counters = Counters()
        for part in parts:
            execute_clear(Clear(part, (target,), 0xFF123456, depth, 0.25, 3), counters)
        pictures.append((target.data.tobytes(), depth.data.tobytes(), counters.pixel_bytes))
    assert pictures[0] == pictures[1]


def test_bands_of_a_large_union_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dp2emu.gpu.transfer.clear_blit._UNION_BAND", 300)
    target = color_surface(width=100, height=50)
    rects = tuple(Rect(x, x // 2, x + 1, 50) for x in range(100))
    execute_clear(Clear(rects, (target,), 0xFFFFFFFF, None, None, None), Counters())
    expected = np.add.outer(np.arange(50) * 2 + 1, -np.arange(100)) >= 0
    assert ((target.pixels() == 0xFFFFFFFF) == expected).all()


@pytest.mark.parametrize("format", [Format.X8R8G8B8, Format.A32B32G32R32F])
def test_all_samples_of_many_rectangles_are_filled(format: Format) -> None:
    plain, multi = color_surface(format), color_surface(format, samples=4)
    rects = tuple(Rect(n % 7 * 4, n, n % 7 * 4 + 3, n + 2) for n in range(FEW + 1))
    for target in (plain, multi):
        work = clear(*rects, color=0xFF123456, target=target)
        assert work.pixel_bytes == work.pixels * target.pixels().nbytes // (32 * 32)
    for sample in range(4):
        np.testing.assert_array_equal(multi.pixels()[:, sample::4], plain.pixels())


def test_zeros_of_either_sign_are_kept_apart() -> None:
    target, words = surface(Format.R32F), []
    for red in (0.0, -0.0, 0.0):
        execute_clear(Clear(ALL, (target,), (red, 0.0, 0.0, 0.0), None, None, None), Counters())
        words.append(int(target.data.view("<u4")[0]))
    assert words == [0, 1 << 31, 0]


def test_depths_that_were_cleared_before_are_found_for_each_format() -> None:
    words = []
    for format in (Format.D16, Format.D24S8, Format.D16):
        depth = depth_surface(format)
        clear(z=0.5, depth=depth)
        words.append(int(depth.pixels()[0, 0]))
    assert words[0] == words[2] != words[1]
