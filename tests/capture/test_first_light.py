"""The stream everybody meets first, cut at every byte and with bits flipped everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest

from dp2emu.capture import open_capture
from dp2emu.capture.records import Record
from dp2emu.errors import CaptureError

DATA = (Path(__file__).parents[2] / "streams" / "first_light.dp2").read_bytes()
TRUE = list(open_capture(BytesIO(DATA)).records())
PARTS = 4
"""All bits are shared out among tests, so that they can run side by side."""


def check_damaged(data: bytes) -> None:
    """A damaged file gives a true prefix and an error, or an error at once."""
    try:
        capture = open_capture(BytesIO(data))
    except CaptureError:
        return
    records: list[Record] = list(capture.records())
    assert records == TRUE[: len(records)]
    assert capture.damage is not None
    assert "lost" in str(capture.damage)


def test_every_cut_gives_a_true_prefix_and_says_what_is_lost() -> None:
    for size in range(len(DATA)):
        check_damaged(DATA[:size])


def check_flipped(bits: Iterable[int]) -> None:
    data = bytearray(DATA)
    for bit in bits:
        data[bit // 8] ^= 1 << bit % 8
        check_damaged(bytes(data))
        data[bit // 8] ^= 1 << bit % 8


def test_a_flipped_bit_of_any_byte_is_noticed_and_no_record_is_wrong() -> None:
    check_flipped(8 * byte + (byte + byte // 8) % 8 for byte in range(len(DATA)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_flipped_bit_is_noticed_and_no_record_is_wrong(part: int) -> None:
    check_flipped(range(part, 8 * len(DATA), PARTS))
