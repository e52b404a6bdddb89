"""Resolving: every target format against averages of whole numbers and of Python floats."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest

from dp2emu.d3d.enums import Format
from dp2emu.d3d.formats import COLOR, FORMATS, Coding, FormatRow
from dp2emu.gpu.arrays import Words
from dp2emu.gpu.transfer import copy_resolve as resolving
from dp2emu.gpu.transfer.copy_resolve import resolve

WIDTH, HEIGHT = 5, 3


def noise(row: FormatRow, samples: int) -> tuple[bytes, Words]:
    """Random bytes, none of which is a NaN or an infinity, and the same as words."""
    generator = np.random.default_rng(samples)
    count = WIDTH * HEIGHT * samples
    pixels = []
    for _ in range(count):
        bits = 0
        for channel in row.channels.values():
            value = int(generator.integers(0, channel.max, endpoint=True))
            if channel.coding is Coding.FLOAT:
                value &= ~(1 << channel.bits - 2)
            bits |= value << channel.shift
        pixels.append(bits.to_bytes(row.size, "little"))
    data = b"".join(pixels)
    words = row.view(np.frombuffer(data, np.uint8))
    return data, words.reshape(HEIGHT, WIDTH * samples, *words.shape[1:])


def model(row: FormatRow, samples: list[int]) -> int:
    """The bits of a resolved pixel."""
    bits = (1 << 8 * row.size) - 1
    for channel in row.channels.values():
        values = [pixel >> channel.shift & channel.max for pixel in samples]
        if channel.coding is Coding.FLOAT:
            value = float_mean(values, channel.bits)
        else:
            value = int(Fraction(sum(values), len(values)) + Fraction(1, 2))
        bits &= ~(channel.max << channel.shift)
        bits |= value << channel.shift
    return bits


def float_mean(values: list[int], bits: int) -> int:
    code, size = ("e", 2) if bits == 16 else ("f", 4)
    total = 0.0
    for value in values:
        total += struct.unpack(f"<{code}", value.to_bytes(size, "little"))[0]
    single = np.float32(total / len(values))
    return int.from_bytes(struct.pack(f"<{code}", single), "little")


@pytest.mark.parametrize("samples", [2, 4, 8])
@pytest.mark.parametrize("row", COLOR.values(), ids=lambda row: row.format.name)
def test_every_format_is_averaged_channel_by_channel(row: FormatRow, samples: int) -> None:
    data, words = noise(row, samples)
    found = resolve(row, words, samples)
    assert found.shape == (HEIGHT, WIDTH, *words.shape[2:])
    pixels = [int.from_bytes(data[at : at + row.size], "little")
              for at in range(0, len(data), row.size)]  # fmt: skip
    expected = [model(row, pixels[at : at + samples]) for at in range(0, len(pixels), samples)]
    assert found.tobytes() == b"".join(bits.to_bytes(row.size, "little") for bits in expected)


def test_halves_are_rounded_up() -> None:
    row = FORMATS[Format.A8R8G8B8]
    words = np.array([[0x00010203, 0x01010304, 0x05060708, 0x05060708]], np.uint32)
    assert resolve(row, words, 2).tolist() == [[0x01010304, 0x05060708]]


def test_bands_make_what_the_whole_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    row = FORMATS[Format.A16B16G16R16F]
    _, words = noise(row, 4)
    whole = resolve(row, words, 4)
    monkeypatch.setattr(resolving, "_BAND", 1)
    np.testing.assert_array_equal(resolve(row, words, 4), whole)


def test_floats_beyond_their_range_stay_infinite_and_nan_canonical() -> None:
    row = FORMATS[Format.R32F]
    words = np.array([[np.inf, 1.0, np.inf, -np.inf, 3e38, 3e38]], np.float32).view(np.uint32)
    found = resolve(row, words, 2).view(np.float32)
    assert found[0, 0] == np.inf
    assert found.view(np.uint32)[0, 1] == 0x7FC00000
    assert found[0, 2] == np.float32(3e38)
