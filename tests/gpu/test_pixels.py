"""Pixel words of every format."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, DEPTH, Channel
from dp2emu.errors import Unsupported
from dp2emu.gpu.memory import Heap, SurfaceDesc, SurfaceKind
from dp2emu.gpu.pixels import (
    color_format,
    depth_format,
    pack_color,
    quantise_depth,
    stored_depth,
    unused_bits,
    with_depth,
    with_stencil,
    write_bits,
)
from tests.gpu.drawing import surface

X8, A8, R5 = COLOR[Format.X8R8G8B8], COLOR[Format.A8R8G8B8], COLOR[Format.R5G6B5]


def lanes(*values: float) -> list[np.ndarray[tuple[int], np.dtype[np.float32]]]:
    return [np.array([value], np.float32) for value in values]


def test_every_byte_survives_unpacking_and_packing() -> None:
    values = np.arange(256, dtype=np.uint8)
    unpacked = values.astype(np.float32) / np.float32(255)
    words = pack_color(A8, [unpacked] * 4)
    assert words.tolist() == [value * 0x01010101 for value in range(256)]


def test_every_16_bit_colour_survives_widening_and_packing() -> None:
    for channel, lane in ((R5.red, 0), (R5.green, 1), (R5.blue, 2)):
        values = np.arange(channel.max + 1)
        rgba = [np.zeros(len(values), np.float32)] * 4
        rgba[lane] = (values / channel.max).astype(np.float32)
        assert (pack_color(R5, rgba) >> channel.shift).tolist() == values.tolist()


def test_packing_rounds_to_nearest() -> None:
    assert pack_color(A8, lanes(0.5, 0.25, 0.0, 1.0)).tolist() == [0xFF804000]
    assert pack_color(R5, lanes(0.5, 0.5, 0.5, 0.0)).tolist() == [16 << 11 | 32 << 5 | 16]


def test_x_bits_are_stored_as_ones() -> None:
    assert pack_color(X8, lanes(0, 0, 0, 0)).tolist() == [0xFF000000]
    assert unused_bits(X8) == 0xFF000000
    assert unused_bits(A8) == unused_bits(R5) == 0


@pytest.mark.parametrize(
    ("row", "mask", "bits"),
    [
        (A8, 0, 0),
        (A8, 1, 0x00FF0000),
        (A8, 2, 0x0000FF00),
        (A8, 4, 0x000000FF),
        (A8, 8, 0xFF000000),
        (A8, 15, 0xFFFFFFFF),
        (X8, 8, 0),
        (X8, 1, 0xFFFF0000),
        (X8, 15, 0xFFFFFFFF),
        (R5, 15, 0xFFFF),
        (R5, 8, 0),
        (R5, 2, 0x07E0),
    ],
)
def test_write_masks_become_bits_of_the_word(row: object, mask: int, bits: int) -> None:
    assert write_bits(row, mask) == bits  # type: ignore[arg-type]


@pytest.mark.parametrize("format", list(DEPTH))
@given(z=st.floats(0, 1), word=st.integers(0, 0xFFFFFFFF))
def test_depth_is_read_as_it_was_stored(format: Format, z: float, word: int) -> None:
    row = DEPTH[format]
    words = np.array([word], np.uint32).view(row.word)[:1]
    depth = quantise_depth(row, np.array([z]))
    assert stored_depth(row, with_depth(row, words, depth)) == depth


@pytest.mark.parametrize(
    ("format", "z", "stored"),
    [
        (Format.D16, 1.0, 0xFFFF),
        (Format.D16, 0.5, 0x8000),
        (Format.D24S8, 1.0, 0xFFFFFF),
        (Format.D24S8, 0.5, 0x800000),
        (Format.D24X8, 0.0, 0),
        (Format.D32F_LOCKABLE, 0.1, float(np.float32(0.1))),
    ],
)
def test_depth_quantises_to_nearest(format: Format, z: float, stored: float) -> None:
    assert quantise_depth(DEPTH[format], np.array([z])).tolist() == [stored]


def test_depth_leaves_the_stencil_alone_and_the_reverse() -> None:
    row = DEPTH[Format.D24S8]
    words = np.array([0x123456AB], np.uint32)
    assert with_depth(row, words, np.array([0xFEDCBA], np.uint32)).tolist() == [0xFEDCBAAB]
    assert with_stencil(row, words, 0x1CD).tolist() == [0x123456CD]


@pytest.mark.parametrize("format", [Format.D16, Format.D24X8])
def test_formats_without_stencil_ignore_it(format: Format) -> None:
    row = DEPTH[format]
    words = np.array([0x1234], row.word)
    assert with_stencil(row, words, 0xFF).tolist() == [0x1234]


def test_depth_channels_are_where_the_formats_have_them() -> None:
    assert DEPTH[Format.D24S8].depth == Channel(8, 24)


def test_the_wrong_kind_of_format_is_unsupported_by_name() -> None:
    with pytest.raises(Unsupported, match="render target format D3DFMT_D16"):
        color_format(surface(Format.D16))
    with pytest.raises(Unsupported, match="depth buffer format D3DFMT_R5G6B5"):
        depth_format(surface(Format.R5G6B5))


def test_multisampled_surfaces_are_unsupported() -> None:
    desc = SurfaceDesc(1, SurfaceKind.SURFACE, 4, 4, Format.A8R8G8B8, samples=4)
    with pytest.raises(Unsupported, match="multisampled"):
        color_format(Heap().create(desc))
