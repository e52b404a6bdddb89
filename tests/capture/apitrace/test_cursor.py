"""Numbers and bytes across pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.apitrace.cursor import Cursor
from dp2emu.errors import CaptureError
from tests.capture.apitrace.encoder import uint

EDGES = (0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x100, 0x3FFF, 0x4000, 1 << 63, (1 << 64) - 1)


@pytest.mark.parametrize("value", EDGES)
def test_numbers_of_64_bits_are_read(value: int) -> None:
    data = uint(value)
    assert Cursor(iter([data])).uint() == value
    assert Cursor(bytes([each]) for each in data).uint() == value


@pytest.mark.parametrize("data", [uint(1 << 64), b"\x80" * 10 + b"\0", b"\xff" * 9 + b"\x02"])
def test_longer_ones_are_refused(data: bytes) -> None:
    with pytest.raises(CaptureError, match="more than 64 bits"):
        Cursor(iter([data])).uint()


@given(st.lists(st.binary(min_size=1, max_size=9), max_size=9), st.integers(0, 90))
def test_bytes_are_taken_however_they_come(pieces: list[bytes], size: int) -> None:
    whole = b"".join(pieces)
    cursor = Cursor(iter(pieces))
    if size > len(whole):
        with pytest.raises(CaptureError, match="ends early"):
            cursor.take(size)
    else:
        assert cursor.take(size) == whole[:size]
        assert cursor.at_end() is (size == len(whole))
