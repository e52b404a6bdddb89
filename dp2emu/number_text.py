"""Exact conversion of numbers to text and back.

Floats are represented by their 32 bits: conversion to a Python float would quiet a signalling NaN.
"""

from __future__ import annotations

import math
import re
import struct
from functools import lru_cache

import numpy as np

_FLOAT = struct.Struct("<f")
_BITS = struct.Struct("<I")
_INTEGER = re.compile(r"-?(0[xX][0-9a-fA-F]+|[0-9]+)\Z", re.ASCII)
_DECIMAL = re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?\Z", re.ASCII)
_NAN = re.compile(r"nan\((0x[0-9a-f]{8})\)\Z")
_INFINITE = {"inf": 0x7F800000, "-inf": 0xFF800000}
_DOUBLE, _LONG = struct.Struct("<d"), struct.Struct("<Q")
_LONG_NAN = re.compile(r"nan\((0x[0-9a-f]{16})\)\Z")
_LONG_INFINITE = {"inf": 0x7FF << 52, "-inf": 0xFFF << 52}
_DIGITS = 64
"""Maximum length in characters of a number that is parsed."""

_LONG_DIGITS = 384
"""The same for float64, whose largest numbers have 309 digits before the point."""

DECIMAL_BELOW = 0x10000
"""Unsigned numbers below this are printed in decimal, others in hexadecimal."""


@lru_cache(maxsize=1 << 16)
def float_text(bits: int) -> str:
    """The shortest decimal that reads back as this float32, never in the form of an integer.

    NaNs show their bits: ``nan(0x7fc00000)``; infinities are ``inf`` and ``-inf``.
    """
    (value,) = _FLOAT.unpack(_BITS.pack(bits))
    if math.isnan(value):
        return f"nan({bits:#010x})"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    # NumPy finds the shortest digits, but its use of exponents depends on the version.
    return repr(float(str(np.float32(value))))


def float_bits(text: str) -> int | None:
    """The float32 bits of a float literal, rounded to nearest; None for other text.

    Raises OverflowError for a finite number beyond float32.
    """
    if text in _INFINITE:
        return _INFINITE[text]
    if nan := _NAN.match(text):
        bits = int(nan[1], 16)
        return bits if bits & 0x7FFFFFFF > _INFINITE["inf"] else None
    if len(text) > _DIGITS or not _DECIMAL.match(text):
        return None
    value = float(text)
    if math.isinf(value):
        raise OverflowError(text)
    (bits,) = _BITS.unpack(_FLOAT.pack(value))
    return int(bits)


def double_text(bits: int) -> str:
    """The shortest decimal that reads back as this float64, with the suffix ``l``: ``0.1l``.

    NaNs show their bits: ``nan(0x7ff8000000000000)``; infinities are ``inf`` and ``-inf``.
    """
    (value,) = _DOUBLE.unpack(_LONG.pack(bits))
    if math.isnan(value):
        return f"nan({bits:#018x})"
    return f"{value!r}l" if math.isfinite(value) else repr(value)


def double_bits(text: str) -> int | None:
    """The float64 bits of a literal, rounded to nearest; None for other text.

    It has a point, an exponent or the suffix ``l``.  Raises OverflowError for a finite number
    beyond float64.
    """
    if text in _LONG_INFINITE:
        return _LONG_INFINITE[text]
    if nan := _LONG_NAN.match(text):
        bits = int(nan[1], 16)
        return bits if bits & ~(1 << 63) > _LONG_INFINITE["inf"] else None
    number = text.removesuffix("l")
    whole = number != text and number.removeprefix("-").isdecimal() and text.isascii()
    if len(text) > _LONG_DIGITS or not (whole or _DECIMAL.match(number)):
        return None
    value = float(number)
    if math.isinf(value):
        raise OverflowError(text)
    (bits,) = _LONG.unpack(_DOUBLE.pack(value))
    return int(bits)


def unsigned_text(value: int) -> str:
    """A number in decimal if it is less than ``DECIMAL_BELOW``, else in hexadecimal."""
    return str(value) if value < DECIMAL_BELOW else f"{value:#010x}"


def integer(text: str) -> int | None:
    """The value of a decimal or hexadecimal literal; None for other text."""
    if len(text) > _DIGITS:
        return None
    if text.isdecimal() and text.isascii():
        return int(text)
    return int(text, 16 if "x" in text or "X" in text else 10) if _INTEGER.match(text) else None


def json_number(value: float | int) -> float | int | str:
    """A number as a JSON value, a float rounded to 32 bits; infinities and NaNs, which JSON
    lacks, as text.

    >>> json_number(float("inf"))
    'inf'
    """
    if isinstance(value, int):
        return int(value)
    try:
        text = float_text(int.from_bytes(_FLOAT.pack(value), "little"))
    except OverflowError:
        text = "inf" if value > 0 else "-inf"
    return text if text[-1] in "fn)" else float(text)


def grouped_hex(data: bytes, group: int = 4) -> str:
    """Bytes in hexadecimal, in groups of ``group`` bytes separated by spaces."""
    return data.hex(" ", -group) if data else ""
