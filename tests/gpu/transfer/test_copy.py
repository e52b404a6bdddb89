"""Copies between subresources, against plain loops over pixels."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format
from dp2emu.gpu.command.packets import (
    Copy,
    CopyBytes,
    GenerateLevels,
    Part,
    Write,
    WriteBytes,
    whole_part,
)
from dp2emu.gpu.command.queries import Counters
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.subresources import Box
from dp2emu.gpu.resource.texels import blocks
from dp2emu.gpu.transfer.copy_resolve import (
    execute_copy,
    execute_copy_bytes,
    execute_generate_levels,
    execute_write,
    execute_write_bytes,
)
from dp2emu.shader.texture.texels import decode

A8, X8, R5, L8 = Format.A8R8G8B8, Format.X8R8G8B8, Format.R5G6B5, Format.L8


def surface(
    format: Format = A8,
    width: int = 8,
    height: int = 6,
    kind: SurfaceKind = SurfaceKind.SURFACE,
    seed: int = 1,
    **more: int,
) -> Surface:
    """A surface of its own heap, full of arbitrary bytes."""
    made = Heap().create(SurfaceDesc(1, kind, width, height, int(format), **more))
    made.data[:] = np.random.default_rng(seed).integers(0, 256, made.data.nbytes, np.uint8)
    return made


def part(of: Surface, *box: int, index: int = 0) -> Part:
    return Part(of, index, Box(*box)) if box else whole_part(of, index)


def moved(source: Part, target: Part, linear: bool = False) -> Counters:
    counters = Counters()
    execute_copy(Copy(source, target, linear), counters)
    return counters


def words(of: Surface, index: int = 0) -> np.ndarray:
    return blocks(of, index)[0, :, :, 0].copy().view("<u4")[..., 0]


def channels(word: int) -> list[int]:
    return [word >> shift & 0xFF for shift in (16, 8, 0, 24)]


@pytest.mark.parametrize("format", [A8, R5, Format.R8G8B8, Format.A32B32G32R32F, Format.D24S8])
def test_a_rectangle_of_one_format_is_copied_as_it_is(format: Format) -> None:
    source, target = surface(format), surface(format, 9, 7, seed=2)
    before = blocks(target, 0).copy()
    moved(part(source, 1, 2, 6, 5), part(target, 4, 3, 9, 6))
    before[:, 3:6, 4:9] = blocks(source, 0)[:, 2:5, 1:6]
    assert (blocks(target, 0) == before).all()


def test_a_pitch_with_holes_is_heeded_and_holes_stay() -> None:
    source, target = surface(A8, 3, 2, pitch=20), surface(A8, 3, 2, pitch=16, seed=2)
    holes = target.data.reshape(2, 16)[:, 12:].copy()
    moved(part(source), part(target))
    assert (words(source) == words(target)).all()
    assert (target.data.reshape(2, 16)[:, 12:] == holes).all()


@pytest.mark.parametrize(("to", "box"), [((2, 1), (0, 0, 5, 4)), ((0, 0), (2, 1, 7, 5))])
def test_overlapping_parts_are_read_before_they_are_written(
    to: tuple[int, int], box: tuple[int, int, int, int]
) -> None:
    one = surface()
    wanted = words(one).copy()
    left, top, right, bottom = box
    wanted[to[1] : to[1] + 4, to[0] : to[0] + 5] = wanted[top:bottom, left:right].copy()
    moved(part(one, *box), part(one, *to, to[0] + 5, to[1] + 4))
    assert (words(one) == wanted).all()


def test_a_stretch_of_a_surface_over_itself_reads_first() -> None:
    one = surface(A8, 4, 4)
    source = words(one)
    moved(part(one, 0, 0, 2, 2), part(one))
    assert (words(one) == np.repeat(np.repeat(source[:2, :2], 2, 0), 2, 1)).all()


def test_levels_and_faces_are_apart() -> None:
    cube = surface(A8, 4, 4, SurfaceKind.CUBETEXTURE, levels=2)
    plain = surface(A8, 2, 2, seed=3)
    before = [words(cube, index).copy() for index in range(12)]
    moved(part(plain), part(cube, index=7))
    before[7] = words(plain)
    assert all((words(cube, index) == before[index]).all() for index in range(12))


def test_a_box_of_a_volume_is_copied_slice_by_slice() -> None:
    kind = SurfaceKind.VOLUMETEXTURE
    source = surface(A8, 4, 4, kind, depth=4)
    target = surface(A8, 4, 4, kind, depth=2, seed=2)
    moved(part(source, 1, 1, 3, 4, 2, 4), part(target, 0, 0, 2, 3, 0, 2))
    assert (blocks(target, 0)[:, :3, :2] == blocks(source, 0)[2:, 1:4, 1:3]).all()


def test_compressed_formats_move_in_blocks() -> None:
    source, target = surface(Format.DXT5, 10, 8), surface(Format.DXT5, 8, 8, seed=2)
    moved(part(source, 4, 0, 10, 4), part(target, 0, 4, 6, 8))
    assert (blocks(target, 0)[0, 1] == blocks(source, 0)[0, 0, 1:3]).all()


# Conversion and stretching


def converted(word: int) -> int:
    """A8R8G8B8 to R5G6B5, to the nearest, half up."""
    red, green, blue, _ = (Fraction(value, 255) for value in channels(word))
    fields = [floor(value * most + Fraction(1, 2))
              for value, most in ((red, 31), (green, 63), (blue, 31))]  # fmt: skip
    return fields[0] << 11 | fields[1] << 5 | fields[2]


def test_colours_are_converted_to_the_target_s_format() -> None:
    source, target = surface(), surface(R5, seed=2)
    moved(part(source), part(target))
    found = blocks(target, 0)[0, :, :, 0].copy().view("<u2")[..., 0]
    wanted = [[converted(int(word)) for word in row] for row in words(source)]
    assert found.tolist() == wanted


def test_what_a_format_lacks_is_filled_in() -> None:
    source, target = surface(L8), surface(A8, seed=2)
    moved(part(source), part(target))
    gray = blocks(source, 0)[0, :, :, 0, 0].astype(np.uint32)
    assert (words(target) == (0xFF << 24 | gray << 16 | gray << 8 | gray)).all()


@pytest.mark.parametrize("format", [Format.YUY2, Format.DXT1])
def test_pixels_that_share_bytes_are_decoded_where_they_are_read(format: Format) -> None:
    source, target = surface(format, 12, 8), surface(X8, 7, 5, seed=2)
    moved(part(source, 3, 2, 10, 7), part(target))
    colors = decode(format, blocks(source, 0).tobytes(), 12, 8)[2:7, 3:10].astype(np.uint32)
    wanted = 0xFF << 24 | colors[..., 0] << 16 | colors[..., 1] << 8 | colors[..., 2]
    assert (words(target) == wanted).all()


boxes = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5), st.integers(1, 5))


def corners(box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    left, top, width, height = box
    return left, top, left + width, top + height


@given(boxes, boxes)
@settings(max_examples=40, deadline=None)
def test_point_stretches_take_the_texel_under_each_centre(
    given_box: tuple[int, int, int, int], made_box: tuple[int, int, int, int]
) -> None:
    source, target = surface(A8, 8, 8), surface(A8, 8, 8, seed=2)
    wanted = words(target).copy()
    moved(part(source, *corners(given_box)), part(target, *corners(made_box)))
    left, top, width, height = made_box
    for y in range(height):
        for x in range(width):
            row = given_box[1] + floor(Fraction(2 * y + 1, 2 * height) * given_box[3])
            column = given_box[0] + floor(Fraction(2 * x + 1, 2 * width) * given_box[2])
            wanted[top + y, left + x] = words(source)[row, column]
    assert (words(target) == wanted).all()


def near(start: int, size: int, made: int, position: int) -> list[tuple[int, Fraction]]:
    """Texels of 8 and their shares of a target position, from ``size`` of them."""
    place = start + Fraction(2 * position + 1, 2 * made) * size - Fraction(1, 2)
    share = Fraction(floor((place - floor(place)) * 256 + Fraction(1, 2)), 256)
    pairs = [(floor(place), 1 - share), (floor(place) + 1, share)]
    return [(min(max(texel, 0), 7), part) for texel, part in pairs]


@given(boxes, boxes)
@settings(max_examples=40, deadline=None)
def test_linear_stretches_mix_four_texels_also_from_beside_the_rectangle(
    given_box: tuple[int, int, int, int], made_box: tuple[int, int, int, int]
) -> None:
    source, target = surface(A8, 8, 8), surface(A8, 8, 8, seed=2)
    moved(part(source, *corners(given_box)), part(target, *corners(made_box)), linear=True)
    left, top, width, height = made_box
    for y in range(height):
        for x in range(width):
            sums = [Fraction(0)] * 4
            for row, high in near(given_box[1], given_box[3], height, y):
                for column, wide in near(given_box[0], given_box[2], width, x):
                    word = int(words(source)[row, column])
                    share = high * wide
                    sums = [a + b * share for a, b in zip(sums, channels(word), strict=True)]
            found = channels(int(words(target)[top + y, left + x]))
            # A value that lies half way may go either way: it has been a float32.
            assert all(abs(value - total) <= Fraction(1, 2) + Fraction(1, 10**4)
                       for value, total in zip(found, sums, strict=True))  # fmt: skip


def test_rows_beyond_a_band_come_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = []
    for band in (1, 1 << 18):
        monkeypatch.setattr("dp2emu.gpu.transfer.copy_resolve._BAND", band)
        target = surface(A8, 13, 11, seed=2)
        moved(part(surface()), part(target), linear=True)
        pictures.append(words(target).tolist())
    assert pictures[0] == pictures[1]


def test_a_copy_counts_the_bytes_of_both_sides_and_no_samples() -> None:
    counters = moved(part(surface()), part(surface(R5, 4, 4)))
    assert (counters.pixel_bytes, counters.samples) == (8 * 6 * 4 + 4 * 4 * 2, 0)


def test_all_samples_of_a_pixel_get_what_has_one() -> None:
    source, target = surface(A8, 2, 2), surface(A8, 2, 2, samples=4, seed=2)
    moved(part(source), part(target))
    assert (blocks(target, 0) == blocks(source, 0)).all()
    again = surface(A8, 2, 2, samples=4, seed=5)
    moved(part(target), part(again))
    assert (again.data == target.data).all()


def average(source: Surface, x: int, y: int) -> list[int]:
    """What the channels of a pixel's samples come to, rounding half up."""
    samples = blocks(source, 0)[0, y, x].copy().view("<u4").ravel().tolist()
    sums = [sum(channel) for channel in zip(*map(channels, samples), strict=True)]
    return [floor(Fraction(total, len(samples)) + Fraction(1, 2)) for total in sums]


@pytest.mark.parametrize("samples", [2, 4, 8])
def test_a_rectangle_of_samples_is_resolved_into_pixels(samples: int) -> None:
    source, target = surface(A8, samples=samples), surface(A8, 9, 7, seed=2)
    before = words(target)
    moved(part(source, 1, 2, 6, 5), part(target, 4, 3, 9, 6))
    after = words(target)
    for y in range(7):
        for x in range(9):
            if 4 <= x < 9 and 3 <= y < 6:
                assert channels(after[y, x]) == average(source, x - 3, y - 1)
            else:
                assert after[y, x] == before[y, x]


def test_what_is_resolved_may_be_stretched_and_converted() -> None:
    source, single = surface(A8, samples=4), surface(A8)
    moved(part(source), part(single))
    for linear in (False, True):
        found, expected = surface(R5, 5, 9), surface(R5, 5, 9)
        moved(part(source), part(found), linear)
        moved(part(single), part(expected), linear)
        assert (found.data == expected.data).all()


# Generated levels


def mix_of(above: np.ndarray, size: tuple[int, int], x: int, y: int) -> list[Fraction]:
    """The colour around the centre of a texel of the next level, in steps of 1/256 of a texel."""
    height, width = above.shape
    sums = [Fraction(0)] * 4
    for row, down in nearest(y, height, size[1]):
        for column, across in nearest(x, width, size[0]):
            word = channels(int(above[row, column]))
            sums = [total + down * across * value for total, value in zip(sums, word, strict=True)]
    return sums


def nearest(at: int, most: int, made: int) -> list[tuple[int, Fraction]]:
    """The two texels whose centres are around one of the next level, and their shares."""
    place = (at + Fraction(1, 2)) * most / made - Fraction(1, 2)
    first = floor(place)
    share = Fraction(floor((place - first) * 256 + Fraction(1, 2)), 256)
    pairs = ((first, 1 - share), (first + 1, share))
    return [(min(max(texel, 0), most - 1), part) for texel, part in pairs]


@pytest.mark.parametrize(("width", "height"), [(8, 8), (7, 5), (1, 6), (5, 1), (3, 3)])
def test_levels_are_linear_blits_of_the_level_above(width: int, height: int) -> None:
    levels = max(width, height).bit_length()
    texture = surface(A8, width, height, SurfaceKind.TEXTURE, levels=levels)
    top = words(texture).copy()
    execute_generate_levels(GenerateLevels(texture), Counters())
    assert (words(texture) == top).all()
    for index in range(1, levels):
        above, made = words(texture, index - 1), words(texture, index)
        size = made.shape[1], made.shape[0]
        for y in range(size[1]):
            for x in range(size[0]):
                wanted = mix_of(above, size, x, y)
                found = channels(int(made[y, x]))
                assert all(abs(a - b) <= Fraction(1, 2) + Fraction(1, 10**4)
                           for a, b in zip(found, wanted, strict=True))  # fmt: skip


def test_points_are_taken_from_the_level_above() -> None:
    texture = surface(A8, 8, 4, SurfaceKind.TEXTURE, levels=3)
    execute_generate_levels(GenerateLevels(texture, point=True), Counters())
    assert (words(texture, 1) == words(texture, 0)[1::2, 1::2]).all()
    assert (words(texture, 2) == words(texture, 1)[1::2, 1::2]).all()


def test_every_face_and_slice_has_its_own_levels() -> None:
    cube = surface(A8, 2, 2, SurfaceKind.CUBETEXTURE, levels=2)
    solid = surface(Format.R32F, 2, 2, SurfaceKind.VOLUMETEXTURE, depth=2, levels=2)
    solid.data[:] = np.arange(9, dtype="<f4").view(np.uint8)
    for face in range(6):
        words(cube, 2 * face)
        blocks(cube, 2 * face)[...] = 40 * face
    execute_generate_levels(GenerateLevels(cube), Counters())
    execute_generate_levels(GenerateLevels(solid), Counters())
    assert [int(words(cube, 2 * face + 1)[0, 0]) & 0xFF for face in range(6)] == [
        40 * face for face in range(6)
    ]
    assert blocks(solid, 1).copy().view("<f4").ravel().tolist() == [3.5]


# Buffers


def buffer(size: int) -> Surface:
    made = Heap().create(SurfaceDesc(1, SurfaceKind.VERTEXBUFFER, size))
    made.data[:] = np.arange(size)
    return made


@pytest.mark.parametrize(("start", "offset"), [(0, 3), (3, 0), (2, 2)])
def test_ranges_of_one_buffer_may_overlap(start: int, offset: int) -> None:
    one = buffer(10)
    wanted = list(range(10))
    wanted[offset : offset + 5] = range(start, start + 5)
    execute_copy_bytes(CopyBytes(one, start, one, offset, 5), Counters())
    assert one.data.tolist() == wanted


def test_bytes_go_from_buffer_to_buffer() -> None:
    source, target = buffer(8), buffer(6)
    target.data[:] = 99
    counters = Counters()
    execute_copy_bytes(CopyBytes(source, 4, target, 1, 3), counters)
    assert target.data.tolist() == [99, 4, 5, 6, 99, 99]
    assert counters.pixel_bytes == 6


def test_samples_are_averaged_for_a_target_that_has_one() -> None:
    source, target = surface(A8, 4, 3, samples=4), surface(A8, 4, 3, seed=2)
    moved(part(source, 1, 0, 3, 3), part(target, 0, 0, 2, 3))
    sums = blocks(source, 0)[0, :, 1:3].astype(int).sum(axis=2)
    assert (blocks(target, 0)[0, :, :2, 0] == (sums + 2) // 4).all()


def test_averages_are_converted_and_stretched_like_pixels() -> None:
    source, single = surface(A8, 4, 3, samples=2), surface(A8, 4, 3, seed=2)
    moved(part(source), part(single))
    direct, twice = surface(R5, 7, 5), surface(R5, 7, 5, seed=2)
    moved(part(source), part(direct), linear=True)
    moved(part(single), part(twice), linear=True)
    assert (direct.data == twice.data).all()


# Data that came with a command


def test_a_write_fills_its_box_row_by_row_and_nothing_else() -> None:
    made, counters = surface(R5, 4, 3), Counters()
    before = made.pixels().copy()
    work = execute_write(Write(part(made, 1, 1, 3, 3), bytes(range(8))), counters)
    before[1:3, 1:3] = [[0x0100, 0x0302], [0x0504, 0x0706]]
    assert (made.pixels() == before).all()
    assert (work.pixels, work.pixel_bytes, counters.pixel_bytes) == (4, 8, 8)


def test_a_write_to_a_compressed_format_is_of_whole_blocks() -> None:
    made = surface(Format.DXT1, 8, 8, SurfaceKind.TEXTURE)
    before = made.data.copy()
    execute_write(Write(part(made, 4, 0, 8, 8), bytes(range(16))), Counters())
    before[8:16], before[24:32] = range(8), range(8, 16)
    assert (made.data == before).all()


def test_a_write_reaches_a_slice_of_a_level_of_a_volume() -> None:
    made = surface(L8, 4, 4, SurfaceKind.VOLUMETEXTURE, depth=4, levels=2)
    before = made.data.copy()
    execute_write(Write(part(made, 0, 0, 2, 2, 1, 2, index=1), b"abcd"), Counters())
    before[64 + 4 : 64 + 8] = list(b"abcd")
    assert (made.data == before).all()


def test_bytes_are_written_at_their_place_in_a_buffer() -> None:
    made, counters = Heap().create(SurfaceDesc(1, SurfaceKind.MEMORY, 6)), Counters()
    work = execute_write_bytes(WriteBytes(made, 2, b"abc"), counters)
    assert made.data.tobytes() == b"\0\0abc\0"
    assert (work.pixel_bytes, counters.pixel_bytes) == (3, 3)
