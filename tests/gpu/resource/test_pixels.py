"""Pixel words of every format."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, DEPTH, FORMATS, Channel, Coding, FormatRow
from dp2emu.errors import Unsupported
from dp2emu.gpu.arrays import Words
from dp2emu.gpu.resource.pixel_format import (
    color_format,
    depth_format,
    pack_color,
    quantise_depth,
    stored_depth,
    unpack_color,
    unused_bits,
    with_color,
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


def unnormalised(row: FormatRow, name: str, value: int) -> Fraction | float:
    """The value of a channel by the definition of its coding, exactly."""
    channel = row.channels[name]
    if channel.coding is Coding.UNORM:
        return Fraction(value, 2**channel.bits - 1)
    if channel.coding is Coding.SNORM:
        number = value - 2**channel.bits if value >> channel.bits - 1 else value
        return max(Fraction(number, 2 ** (channel.bits - 1) - 1), Fraction(-1))
    code = "<e" if channel.bits == 16 else "<f"
    number: float = struct.unpack(code, value.to_bytes(channel.bits // 8, "little"))[0]
    return number


def single(row: FormatRow, values: dict[str, int]) -> Words:
    """The words of one pixel with those channel values."""
    bits = sum(value << row.channels[name].shift for name, value in values.items())
    return row.view(np.frombuffer(bits.to_bytes(row.size, "little"), np.uint8))


READABLE = [row for row in FORMATS.values()
            if row.channels and not set(row.channels) & set("pds")]  # fmt: skip


@pytest.mark.parametrize("row", READABLE, ids=lambda row: row.format.name)
@given(data=st.data())
def test_lanes_are_the_values_of_their_channels(row: FormatRow, data: st.DataObject) -> None:
    values = {name: data.draw(st.integers(0, c.max)) for name, c in row.channels.items()}
    unpacked = unpack_color(row, single(row, values))
    for lane, source in zip(unpacked, row.lanes, strict=True):
        names = [name for name, channel in row.channels.items() if channel is source]
        if names:
            expected = float(unnormalised(row, names[0], values[names[0]]))
            assert lane.tolist() == [np.float32(expected)] or (
                np.isnan(lane) and np.isnan(expected)
            )
        elif row.format is not Format.CxV8U8:
            assert lane.tolist() == [source]


def values_of(channel: Channel) -> list[int]:
    """All values up to 16 bits, and of 32 bits those around every power of 2; no NaN of floats."""
    if channel.bits <= 16:
        values = list(range(1 << channel.bits))
    else:
        values = sorted({max(0, (1 << n) + d) for n in range(32) for d in (-1, 0, 1)})
    if channel.coding is not Coding.FLOAT:
        return values
    infinity = 0x7C00 if channel.bits == 16 else 0x7F800000
    return [value for value in values if value & channel.max >> 1 <= infinity]


@pytest.mark.parametrize(
    ("row", "name"),
    [(row, name) for row in COLOR.values() for name in row.channels],
    ids=lambda part: part if isinstance(part, str) else part.format.name,
)
def test_packing_what_was_unpacked_gives_the_same_words(row: FormatRow, name: str) -> None:
    channel, unused = row.channels[name], unused_bits(row)
    pixels = [value << channel.shift | unused for value in values_of(channel)]
    data = b"".join(pixel.to_bytes(row.size, "little") for pixel in pixels)
    words = row.view(np.frombuffer(data, np.uint8))
    assert np.array_equal(pack_color(row, unpack_color(row, words)), words)


@pytest.mark.parametrize("name", ["R16F", "A16B16G16R16F", "R32F", "G32R32F", "A32B32G32R32F"])
def test_every_nan_is_stored_as_the_canonical_one(name: str) -> None:
    row = COLOR[Format[name]]
    nans = np.array([0x7F800001, 0xFFFFFFFF, 0x7FC00000], np.uint32).view(np.float32)
    canonical = 0x7E00 if row.channels["r"].bits == 16 else 0x7FC00000
    expected = sum(canonical << channel.shift for channel in row.channels.values())
    stored = pack_color(row, [nans] * 4).tobytes()
    assert stored == expected.to_bytes(row.size, "little") * 3


def test_halves_round_to_even_and_overflow_to_infinity() -> None:
    row = COLOR[Format.R16F]
    values = [1 + 2**-11, 1 + 3 * 2**-11, 65519.9, 65520.0, -1e9, 2.0**-25, 3 * 2.0**-26]
    lanes = [np.array(values, np.float32)] * 4
    assert pack_color(row, lanes).tolist() == [0x3C00, 0x3C02, 0x7BFF, 0x7C00, 0xFC00, 0, 1]


@pytest.mark.parametrize("format", [Format.A8R8G8B8, Format.A16B16G16R16, Format.L8])
def test_normalised_colours_are_clamped_and_nan_is_black(format: Format) -> None:
    row = COLOR[format]
    low, high = lanes(-1.0, -0.5, np.nan, -np.inf), lanes(2.0, 1.5, np.inf, 1.0)
    assert unpack_color(row, pack_color(row, low))[0].tolist() == [0]
    assert unpack_color(row, pack_color(row, high))[0].tolist() == [1]


def test_mixed_bump_formats_have_the_third_component_of_a_unit_vector() -> None:
    row = FORMATS[Format.CxV8U8]
    u, v, c, one = unpack_color(row, np.array([0x0000, 0x007F, 0x4C4C, 0x8080], np.uint16))
    assert u.tolist() == pytest.approx([0, 1, 76 / 127, -1])
    assert v.tolist() == pytest.approx([0, 0, 76 / 127, -1])
    assert c.tolist() == pytest.approx([1, 0, (1 - 2 * (76 / 127) ** 2) ** 0.5, 0])
    assert one.tolist() == [1] * 4


@pytest.mark.parametrize("name", ["P8", "A8P8", "DXT1", "UYVY", "A1"])
def test_pixels_that_are_no_colours_alone_are_unsupported(name: str) -> None:
    with pytest.raises(Unsupported, match=name):
        unpack_color(FORMATS[Format[name]], np.zeros(1, np.uint8))


@pytest.mark.parametrize("row", COLOR.values(), ids=lambda row: row.format.name)
@given(old=st.integers(0, 2**128 - 1), new=st.integers(0, 2**128 - 1), mask=st.integers(1, 15))
def test_masked_channels_keep_their_bits(row: FormatRow, old: int, new: int, mask: int) -> None:
    everything = 2 ** (8 * row.size) - 1
    bits = write_bits(row, mask)
    expected = (new & bits | old & ~bits) & everything
    both = [row.view(np.frombuffer((pixel & everything).to_bytes(row.size, "little"), np.uint8))
            for pixel in (old, new)]  # fmt: skip
    written = with_color(row, both[0], both[1], bits)
    assert written.tobytes() == expected.to_bytes(row.size, "little")


def float24(bits: int) -> Fraction:
    exponent, mantissa = bits >> 20, bits & 0xFFFFF
    if exponent == 0:
        return Fraction(mantissa, 2**34)
    return (1 + Fraction(mantissa, 2**20)) * Fraction(2) ** (exponent - 15)


@given(z=st.floats(0, 1))
def test_24_bit_float_depth_is_the_nearest_there_is(z: float) -> None:
    row = DEPTH[Format.D24FS8]
    bits = int(quantise_depth(row, np.array([z]))[0])
    error = abs(float24(bits) - Fraction(z))
    near = [float24(other) for other in (bits - 1, bits + 1) if 0 <= other <= 0xF00000]
    for other in near:
        assert error < abs(other - Fraction(z)) or (
            error == abs(other - Fraction(z)) and bits % 2 == 0
        )


def test_the_ends_of_24_bit_float_depth() -> None:
    ends = np.array([0.0, 1.0, 2.0**-14, 2.0**-34])
    bits = quantise_depth(DEPTH[Format.D24FS8], ends)
    assert bits.tolist() == [0, 0xF00000, 0x100000, 1]
