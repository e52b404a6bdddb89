"""Channels of the formats of Direct3D 10 against a model in fractions."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.d3d.dxgi import DXGI, ROWS
from dp2emu.d3d.dxgiformat import DxgiFormat
from dp2emu.d3d.formats import Channel, Coding, Use
from dp2emu.gpu.arrays import F32, Words
from dp2emu.gpu.resource.pixel_format import as_floats, encode, pack_color, unpack_color
from dp2emu.gpu.resource.srgb import decoded, encoded
from dp2emu.shader import codings
from dp2emu.shader.builder import Builder
from dp2emu.shader.formulas import computed
from dp2emu.shader.values import Value

FLOATS = st.floats(width=32)
WORDS = st.integers(0, 0xFFFFFFFF)


def decode(channel: Channel, bits: Words) -> F32:
    return computed(_decoded, channel, bits)[0]


def _decoded(b: Builder, channel: Channel, word: Value) -> tuple[Value]:
    return (codings.decoded([word], channel),)


def stored(channel: Channel, value: float) -> int:
    return int(encode(channel, np.array([value], np.float32), toward_zero=True)[0])


def stored_word(channel: Channel, word: int) -> int:
    return int(encode(channel, np.array([word], np.uint32).view(np.int32))[0])


def small_float(bits: int, mantissa: int, signed: bool) -> Fraction:
    exponent, fraction = bits >> mantissa & 31, bits & (1 << mantissa) - 1
    if exponent == 0:
        value = Fraction(fraction, 1 << mantissa) / (1 << 14)
    else:
        value = (1 + Fraction(fraction, 1 << mantissa)) * Fraction(2) ** (exponent - 15)
    return -value if signed and bits >> mantissa + 5 else value


@pytest.mark.parametrize("bits", [8, 16])
@given(value=FLOATS)
def test_snorm_is_the_nearest_number_and_halves_go_away_from_0(bits: int, value: float) -> None:
    most = (1 << bits - 1) - 1
    held = 0.0 if math.isnan(value) else min(max(value, -1.0), 1.0)
    exact = Fraction(held) * most
    nearest = math.floor(abs(exact) + Fraction(1, 2)) * (-1 if exact < 0 else 1)
    assert stored(Channel(0, bits, Coding.SNORM), value) == nearest & (1 << bits) - 1


@pytest.mark.parametrize("bits", [2, 8, 10, 16, 32])
@given(word=WORDS)
def test_integers_are_held_in_the_bits_there_are(bits: int, word: int) -> None:
    signed = word - (word >> 31 << 32)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    assert stored_word(Channel(0, bits, Coding.UINT), word) == min(word, (1 << bits) - 1)
    assert stored_word(Channel(0, bits, Coding.SINT), word) == min(max(signed, low), high) & (
        (1 << bits) - 1
    )


@pytest.mark.parametrize(("bits", "mantissa", "signed"), [(10, 5, 0), (11, 6, 0), (16, 10, 1)])
@given(value=FLOATS)
def test_smaller_floats_are_cut_off(bits: int, mantissa: int, signed: int, value: float) -> None:
    found = stored(Channel(0, bits, Coding.FLOAT), value)
    infinity = 31 << mantissa
    if math.isnan(value):
        assert found & infinity == infinity and found & (1 << mantissa) - 1
        return
    if math.isinf(value):
        sign = (1 << bits - 1) if signed else 0
        assert found == (infinity if value > 0 else (infinity | sign) if signed else 0)
        return
    exact = Fraction(value) if signed else max(Fraction(value), Fraction(0))
    near = small_float(found, mantissa, bool(signed))
    magnitude = found & (1 << mantissa + 5) - 1
    assert abs(near) <= abs(exact)
    if magnitude + 1 < infinity:
        assert abs(small_float(magnitude + 1, mantissa, False)) > abs(exact)


@pytest.mark.parametrize(("bits", "mantissa"), [(10, 5), (11, 6)])
def test_every_small_float_means_what_its_bits_say(bits: int, mantissa: int) -> None:
    finite = np.arange(31 << mantissa, dtype=np.uint32)
    values = decode(Channel(0, bits, Coding.FLOAT), finite)
    assert [Fraction(v) for v in values.tolist()] == [
        small_float(b, mantissa, False) for b in finite.tolist()
    ]


@given(word=WORDS)
def test_what_is_negative_is_told_by_the_highest_bit(word: int) -> None:
    for bits in (8, 16, 32):
        field = word & (1 << bits) - 1
        channel = Channel(0, bits, Coding.SINT)
        found = decode(channel, np.array([field], np.uint32))[0]
        assert found == np.float32(field - (field >> bits - 1 << bits))


@given(word=WORDS)
def test_bits_of_a_target_of_floats_are_floats(word: int) -> None:
    value = float(as_floats(np.array([word], np.uint32).view(np.int32))[0])
    (exact,) = struct.unpack("<f", struct.pack("<I", word))
    assert value == exact or (math.isnan(value) and math.isnan(exact))


TARGETS = [f for f, row in DXGI.items() if Use.TARGET in row.texels.uses]


@pytest.mark.parametrize("format", TARGETS)
@given(data=st.data())
def test_every_pixel_survives_unpacking_and_packing(
    format: DxgiFormat, data: st.DataObject
) -> None:
    """But for floats that are no numbers, the second -1 of SNORM and integers beyond floats."""
    row = ROWS[format]
    raw = bytearray(data.draw(st.binary(min_size=row.size, max_size=row.size)))
    whole = int.from_bytes(raw, "little")
    for channel in row.channels.values():
        field = whole >> channel.shift & channel.max
        if _ambiguous(channel, field):
            whole &= ~(channel.max << channel.shift)
    unused = ~sum(c.max << c.shift for c in row.channels.values()) & (1 << 8 * row.size) - 1
    raw = bytearray((whole | unused).to_bytes(row.size, "little"))
    words = row.view(np.frombuffer(bytes(raw), np.uint8))
    lanes = unpack_color(row, words)
    if DXGI[format].integers:
        coding = next(iter(row.channels.values())).coding
        type = np.uint32 if coding is Coding.UINT else np.int32
        lanes = tuple(lane.astype(type).view(np.int32) for lane in lanes)
    assert pack_color(row, lanes).tobytes() == bytes(raw)


def _ambiguous(channel: Channel, field: int) -> bool:
    if channel.coding in (Coding.UINT, Coding.SINT):
        return channel.bits == 32 and field >= 1 << 24
    if channel.coding is Coding.SNORM:
        return field == 1 << channel.bits - 1
    exponents = {32: 0xFF << 23, 16: 31 << 10, 11: 31 << 6, 10: 31 << 5}
    wanted = exponents.get(channel.bits, 0)
    return channel.coding is Coding.FLOAT and field & wanted == wanted


def test_every_srgb_code_survives_linear_light() -> None:
    row = ROWS[DxgiFormat.R8G8B8A8_UNORM_SRGB]
    codes = (np.arange(256) / np.float32(255)).astype(np.float32)
    light = decoded(row, (codes,) * 4)
    assert np.array_equal(light[3], codes)
    assert 0.2 < light[0][128] < 0.22
    for lane in encoded(row, light):
        assert np.array_equal(np.rint(lane * 255), np.arange(256))
