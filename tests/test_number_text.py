"""Numbers as text: nothing is lost, and every literal says what it is."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.number_text import (
    double_bits,
    double_text,
    float_bits,
    float_text,
    grouped_hex,
    integer,
    unsigned_text,
)


@given(st.integers(0, 0xFFFFFFFF))
def test_every_float_comes_back_with_the_same_bits(bits: int) -> None:
    assert float_bits(float_text(bits)) == bits


@given(st.integers(0, 0xFFFFFFFF))
def test_a_float_never_looks_like_an_integer(bits: int) -> None:
    assert integer(float_text(bits)) is None


def bits_of(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


@given(st.integers(0, (1 << 64) - 1) | st.floats().map(bits_of))
def test_every_double_comes_back_with_the_same_bits(bits: int) -> None:
    text = double_text(bits)
    assert double_bits(text) == bits
    assert integer(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5l", 1.5), ("1.5", 1.5), ("-3l", -3.0), ("1e3", 1e3), (".5l", 0.5), ("-0.0l", -0.0),
     (f"{1e300:f}l", 1e300), ("inf", float("inf")), ("-inf", float("-inf"))],
)  # fmt: skip
def test_literal_of_a_double_is_its_nearest(text: str, value: float) -> None:
    assert double_bits(text) == bits_of(value)


@pytest.mark.parametrize(
    "text", ["", "l", "3", "-l", "1.5f", "1.5ll", "nan", "nan(0x7ff0000000000000)",
             "nan(0x7fc00000)", "infl", "0x10l", "\u0663l", "1" * 400 + "l"],
)  # fmt: skip
def test_other_text_is_no_double(text: str) -> None:
    assert double_bits(text) is None


def test_double_beyond_the_largest_overflows() -> None:
    with pytest.raises(OverflowError):
        double_bits("1e309l")


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
