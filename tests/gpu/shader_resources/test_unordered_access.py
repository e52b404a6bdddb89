"""Memory that programs act on: addresses, what is out of range, and every format."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from dp2emu.d3d.dxgi import DXGI, Support
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import Channel, Coding
from dp2emu.gpu.command.packets import Unordered
from dp2emu.gpu.resource.heap import Heap, Surface, SurfaceDesc, SurfaceKind
from dp2emu.gpu.resource.resource_views import buffer_view, level_view, structured_view
from dp2emu.gpu.shader_resources.unordered_access import TexelMemory, WordMemory, clear, memory_of
from dp2emu.shader.resources import Dimension

STORABLE = [
    row.format
    for row in DXGI.values()
    if {Support.TARGET, Support.BUFFER} <= set(row.support) and not row.texels.srgb
]


def buffer(size: int) -> Surface:
    return Heap().make(SurfaceDesc(0, SurfaceKind.MEMORY, size))


def lanes(*numbers: int) -> NDArray[np.int32]:
    return np.array(numbers, np.int64).astype(np.uint32).view(np.int32)


def texels(bound: Unordered) -> TexelMemory:
    found = memory_of(bound, bound.dimension)
    assert isinstance(found, TexelMemory)
    return found


def words(bound: Unordered) -> WordMemory:
    found = memory_of(bound, bound.dimension)
    assert isinstance(found, WordMemory)
    return found


# Words


def raw(size: int = 32, first: int = 2, count: int = 4) -> tuple[WordMemory, Surface]:
    held = buffer(size)
    held.words[:] = np.arange(size // 4) + 100
    view = buffer_view(held, DxgiFormat.R32_UINT, first, count)
    return words(Unordered(view, Dimension.RAW_BUFFER)), held


def test_raw_words_are_by_byte_from_the_beginning_of_the_view() -> None:
    memory, _ = raw()
    x, y, z, w = memory.load([lanes(0, 4, 12)])
    assert x.tolist() == [102, 103, 105]
    assert y.tolist() == [103, 104, 0]
    assert (z.tolist(), w.tolist()) == ([104, 105, 0], [105, 0, 0])


@pytest.mark.parametrize("at", [16, 0x7FFFFFFC, 0xFFFFFFFC])
def test_raw_words_out_of_range_are_0_and_not_written(at: int) -> None:
    memory, held = raw()
    before = held.words.copy()
    assert [int(each[0]) for each in memory.load([lanes(at)])] == [0] * 4
    memory.store([lanes(at)], [lanes(1)] * 4, np.arange(1))
    assert (held.words == before).all()


def test_what_is_out_of_range_of_a_store_is_lost_word_by_word() -> None:
    memory, held = raw()
    memory.store([lanes(8)], [lanes(1), lanes(2), lanes(3), lanes(4)], np.arange(1))
    assert held.words.tolist() == [100, 101, 102, 103, 1, 2, 106, 107]


def test_structures_end_where_the_next_begins() -> None:
    held = buffer(48)
    held.words[:] = np.arange(12)
    view = structured_view(held, 12, 1, 2)
    memory = words(Unordered(view, Dimension.STRUCTURED_BUFFER, 12))
    found = memory.load([lanes(0, 1, 1, 2, 0xFFFFFFFF), lanes(0, 4, 12, 0, 0)])
    assert [each.tolist() for each in found] == [
        [3, 7, 0, 0, 0],
        [4, 8, 0, 0, 0],
        [5, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    memory.store([lanes(1), lanes(8)], [lanes(-1), lanes(-2)], np.arange(1))
    assert held.words.tolist() == [*range(8), -1, *range(9, 12)]


def test_the_last_lane_that_stores_is_seen() -> None:
    memory, held = raw()
    memory.store([lanes(0, 0, 4, 0)], [lanes(1, 2, 3, 4)], np.array([0, 1, 2]))
    assert held.words[2:4].tolist() == [2, 3]


def test_lanes_may_have_words_of_their_own() -> None:
    shared = np.zeros(4, np.int32)
    memory = WordMemory(shared, 0, 2, 0, np.array([0, 0, 2, 2]))
    memory.store([lanes(0, 4, 0, 8)], [lanes(1, 2, 3, 4)], np.arange(4))
    assert shared.tolist() == [1, 2, 3, 0]
    assert memory.load([lanes(0, 0, 4, 0)])[0].tolist() == [1, 1, 0, 3]


def test_counts_are_of_bytes_structures_and_elements() -> None:
    assert raw()[0].counted() == 16
    held = buffer(48)
    view = Unordered(structured_view(held, 12, 1, 3), Dimension.STRUCTURED_BUFFER, 12)
    assert words(view).counted() == 3
    typed = Unordered(buffer_view(held, DxgiFormat.R16_UINT, 1, 7), Dimension.BUFFER)
    assert texels(typed).counted() == 7


# Texels


def value_of(channel: Channel, number: Fraction) -> int:
    """The bits of a channel for a number, as documents say."""
    most = (1 << channel.bits) - 1
    if channel.coding is Coding.UNORM:
        return int(min(max(number, Fraction(0)), Fraction(1)) * most + Fraction(1, 2))
    if channel.coding is Coding.SNORM:
        scaled = min(max(number, Fraction(-1)), Fraction(1)) * (most >> 1)
        away = int(abs(scaled) + Fraction(1, 2))
        return (away if scaled >= 0 else -away) & most
    if channel.coding is Coding.UINT:
        return min(int(number), most)
    return int(number) & most


@pytest.mark.parametrize("format", STORABLE, ids=lambda each: each.name)
def test_every_format_stores_what_documents_say_and_loads_it_again(format: DxgiFormat) -> None:
    row = DXGI[format].texels
    held = buffer(row.size * 4)
    memory = texels(Unordered(buffer_view(held, format, 1, 2), Dimension.BUFFER))
    whole = DXGI[format].integers
    given = [3, 2, 1, 1] if whole else [0.5, 1.0, 0.25, 0.75]
    values = [
        lanes(int(each)) if whole else np.array([each], np.float32).view(np.int32)
        for each in given
    ]
    memory.store([lanes(1)], values, np.arange(1))
    bits = int.from_bytes(held.data[2 * row.size : 3 * row.size].tobytes(), "little")
    colors = (row.red, row.green, row.blue, row.alpha)
    for channel, number in zip(colors, given, strict=True):
        if channel is not None and channel.coding is not Coding.FLOAT:
            found = bits >> channel.shift & channel.max
            assert found == value_of(channel, Fraction(number))
    loaded = memory.load([lanes(1)])
    for channel, number, word in zip(colors, given, loaded, strict=True):
        if channel is not None:
            seen = float(word[0]) if whole else float(word.view(np.float32)[0])
            assert seen == pytest.approx(number, abs=0 if whole else 2.0 / channel.max)
    assert not held.data[: 2 * row.size].any()
    assert not held.data[3 * row.size :].any()


def test_elements_out_of_range_are_0_and_have_the_defaults_of_what_is_missing() -> None:
    held = buffer(8)
    floats = Unordered(buffer_view(held, DxgiFormat.R32_FLOAT, 0, 2), Dimension.BUFFER)
    assert [int(each[0]) for each in texels(floats).load([lanes(2)])] == [0, 0, 0, 0x3F800000]
    whole = Unordered(buffer_view(held, DxgiFormat.R16G16_UINT, 0, 2), Dimension.BUFFER)
    assert [int(each[0]) for each in texels(whole).load([lanes(-1)])] == [0, 0, 0, 1]
    texels(whole).store([lanes(2)], [lanes(1)] * 4, np.arange(1))
    assert not held.data.any()


def texture(kind: SurfaceKind, width: int, height: int, **more: int) -> Surface:
    desc = SurfaceDesc(0, kind, width, height, dxgi=DxgiFormat.R32_UINT, **more)
    made = Heap().make(desc)
    made.words[:] = np.arange(len(made.words))
    return made


@pytest.mark.parametrize(
    ("surface", "dimension", "level", "slices", "address", "expected"),
    [
        (texture(SurfaceKind.TEXTURE, 8, 1), Dimension.TEXTURE1D, 0, (0, 1), (5,), 5),
        (texture(SurfaceKind.TEXTURE, 8, 1), Dimension.TEXTURE1D, 0, (0, 1), (8,), None),
        (texture(SurfaceKind.TEXTURE, 4, 1, layers=3), Dimension.TEXTURE1DARRAY, 0, (1, 3),
         (2, 1), 10),
        (texture(SurfaceKind.TEXTURE, 4, 1, layers=3), Dimension.TEXTURE1DARRAY, 0, (1, 3),
         (2, 2), None),
        (texture(SurfaceKind.TEXTURE, 4, 4, levels=3), Dimension.TEXTURE2D, 1, (0, 1),
         (1, 1), 19),
        (texture(SurfaceKind.TEXTURE, 4, 4, levels=3), Dimension.TEXTURE2D, 1, (0, 1),
         (1, 2), None),
        (texture(SurfaceKind.TEXTURE, 2, 2, layers=4, levels=2), Dimension.TEXTURE2DARRAY, 0,
         (2, 4), (0, 1, 1), 17),
        (texture(SurfaceKind.TEXTURE, 2, 2, layers=4), Dimension.TEXTURE2DARRAY, 0, (2, 4),
         (0, 1, 2), None),
        (texture(SurfaceKind.VOLUMETEXTURE, 2, 2, depth=4), Dimension.TEXTURE3D, 0, (1, 3),
         (1, 0, 1), 9),
        (texture(SurfaceKind.VOLUMETEXTURE, 2, 2, depth=4), Dimension.TEXTURE3D, 0, (1, 3),
         (1, 0, 2), None),
    ],
)  # fmt: skip
def test_texels_are_where_their_dimension_says(
    surface: Surface,
    dimension: Dimension,
    level: int,
    slices: tuple[int, int],
    address: tuple[int, ...],
    expected: int | None,
) -> None:
    view = level_view(surface, DxgiFormat.R32_UINT, level, slices)
    memory = texels(Unordered(view, dimension))
    number, inside = memory.places([lanes(each) for each in address])
    assert (int(number[0]) if inside[0] else None) == expected


@pytest.mark.parametrize(
    ("dimension", "sizes"),
    [
        (Dimension.TEXTURE1D, (4, 0, 0, 1)),
        (Dimension.TEXTURE1DARRAY, (4, 2, 0, 1)),
        (Dimension.TEXTURE2D, (4, 2, 0, 1)),
        (Dimension.TEXTURE2DARRAY, (4, 2, 2, 1)),
    ],
)
def test_sizes_are_lengths_then_slices(
    dimension: Dimension, sizes: tuple[int, int, int, int]
) -> None:
    surface = texture(SurfaceKind.TEXTURE, 4, 2, layers=3)
    view = Unordered(level_view(surface, DxgiFormat.R32_UINT, 0, (0, 2)), dimension)
    assert texels(view).sizes() == sizes


def test_only_single_words_of_32_bits_are_acted_on() -> None:
    held = buffer(16)
    for format, there in (
        (DxgiFormat.R32_UINT, True),
        (DxgiFormat.R32_SINT, True),
        (DxgiFormat.R16G16_UINT, False),
        (DxgiFormat.R16_UINT, False),
        (DxgiFormat.R8G8B8A8_UNORM, False),
    ):
        view = Unordered(buffer_view(held, format, 0, 2), Dimension.BUFFER)
        assert (texels(view).words is not None) is there


def test_a_view_of_another_kind_is_none() -> None:
    view = Unordered(buffer_view(buffer(16), DxgiFormat.R32_UINT, 0, 4), Dimension.RAW_BUFFER)
    assert memory_of(view, Dimension.BUFFER) is None
    assert memory_of(view, Dimension.TEXTURE2D) is None
    flat = level_view(texture(SurfaceKind.TEXTURE, 2, 2), DxgiFormat.R32_UINT, 0, (0, 1))
    bound = Unordered(flat, Dimension.TEXTURE2D)
    assert memory_of(bound, Dimension.TEXTURE2DARRAY) is not None


# Clears


def test_bits_are_cleared_channel_by_channel() -> None:
    surface = texture(SurfaceKind.TEXTURE, 2, 2, layers=2)
    view = level_view(surface, DxgiFormat.R8G8B8A8_UNORM, 0, (1, 2))
    moved = clear(Unordered(view, Dimension.TEXTURE2D), (0x1AB, 2, 3, 4), bits=True)
    assert moved == 16
    assert surface.words.view(np.uint32).tolist() == [0, 1, 2, 3, *[0x040302AB] * 4]


def test_words_are_cleared_to_the_first_number() -> None:
    memory, held = raw()
    del memory
    view = buffer_view(held, DxgiFormat.R32_UINT, 2, 4)
    clear(Unordered(view, Dimension.RAW_BUFFER), (7, 1, 2, 3), bits=True)
    assert held.words.tolist() == [100, 101, 7, 7, 7, 7, 106, 107]


def test_floats_are_converted() -> None:
    held = buffer(8)
    view = buffer_view(held, DxgiFormat.R8G8B8A8_UNORM, 1, 1)
    ones = int(np.float32(1).view(np.int32)), int(np.float32(0.5).view(np.int32))
    clear(Unordered(view, Dimension.BUFFER), (ones[0], ones[1], 0, ones[0]), bits=False)
    assert held.data.tolist() == [0, 0, 0, 0, 255, 128, 0, 255]
