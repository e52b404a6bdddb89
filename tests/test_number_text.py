"""Numbers as text: nothing is lost, and every literal says what it is."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.number_text import float_bits, float_text, grouped_hex, integer, unsigned_text


@given(st.integers(0, 0xFFFFFFFF))
def test_every_float_comes_back_with_the_same_bits(bits: int) -> None:
    assert float_bits(float_text(bits)) == bits


@given(st.integers(0, 0xFFFFFFFF))
def test_a_float_never_looks_like_an_integer(bits: int) -> None:
    assert integer(float_text(bits)) is None


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float_text_has_the_fewest_digits_that_read_back(value: float) -> None:
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    digits = np.format_float_scientific(np.float32(value), unique=True, trim="-")
    assert float(float_text(bits)) == float(digits)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x00000000, "0.0"),
        (0x80000000, "-0.0"),
        (0x3F800000, "1.0"),
        (0x3DCCCCCD, "0.1"),
        (0x00000001, "1e-45"),
        (0x7F7FFFFF, "3.4028235e+38"),
        (0x7F800000, "inf"),
        (0xFF800000, "-inf"),
        (0x7FC00000, "nan(0x7fc00000)"),
        (0xFF800001, "nan(0xff800001)"),
    ],
)
def test_known_floats(bits: int, text: str) -> None:
    assert float_text(bits) == text


@pytest.mark.parametrize(
    "text", ["", "1", "0x10", "nan", "nan(0x3f800000)", "nan(0x7f800000)", "-"]
)
def test_what_is_no_float(text: str) -> None:
    assert float_bits(text) is None


@pytest.mark.parametrize("text", ["1e39", "-3.4028236e+38", "1e999", "-1e999"])
def test_a_number_beyond_float32_is_an_overflow(text: str) -> None:
    with pytest.raises(OverflowError):
        float_bits(text)


def test_large_unsigned_numbers_are_hexadecimal() -> None:
    assert (unsigned_text(65535), unsigned_text(65536)) == ("65535", "0x00010000")


@given(st.integers(0, 2**64 - 1))
def test_unsigned_text_reads_back(value: int) -> None:
    assert integer(unsigned_text(value)) == value


@pytest.mark.parametrize("text", ["", "-", "0x", "1_000", "٣", "1" * 65, "1.0", "D3D_OK"])
def test_what_is_no_integer(text: str) -> None:
    assert integer(text) is None


def test_hexadecimal_is_in_memory_order_from_the_first_byte() -> None:
    assert grouped_hex(bytes(range(6))) == "00010203 0405"
    assert grouped_hex(b"") == ""
