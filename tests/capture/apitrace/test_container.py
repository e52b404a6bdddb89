"""Salvage of damaged snappy chunks."""

from __future__ import annotations

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.capture.apitrace.container import salvage

PARTS = st.lists(st.one_of(st.binary(max_size=90), st.sampled_from([b"abcd" * 40, bytes(3000)])))


@given(PARTS.map(b"".join))
def test_whole_data_expands_to_what_it_was(data: bytes) -> None:
    assert salvage(bytes(cramjam.snappy.compress_raw(data)), 1 << 20) == data


@given(PARTS.map(b"".join), st.floats(0, 1))
def test_cut_data_expands_to_a_beginning(data: bytes, part: float) -> None:
    packed = bytes(cramjam.snappy.compress_raw(data))
    assert data.startswith(salvage(packed[: int(part * len(packed))], 1 << 20))


@pytest.mark.parametrize(
    ("elements", "out"),
    [
        (b"\x04ab", b"ab"),
        (b"\xf0\x01ab", b"ab"),
        (b"\xf4\x01\0ab", b"ab"),
        (b"\xf8\x01\0\0ab", b"ab"),
        (b"\xfc\x01\0\0\0ab", b"ab"),
        (b"\x04ab\x05\x02", b"ab" + b"ababa"),
        (b"\x04ab\x12\x02\0", b"ab" + b"ababa"),
        (b"\x04ab\x13\x02\0\0\0", b"ab" + b"ababa"),
        (b"\x04ab\x05\x03\x04cd", b"ab"),
        (b"\x04ab\x05\x00\x04cd", b"ab"),
        (b"\x04ab\x12\x02", b"ab"),
        (b"\x04a", b"a"),
        (b"", b""),
    ],
)
def test_every_element_is_expanded_and_an_impossible_one_ends_it(
    elements: bytes, out: bytes
) -> None:
    assert salvage(b"\x90\x01" + elements, 100) == out


def test_far_copies_reach_back() -> None:
    start = bytes(range(250)) * 3
    data = b"\0" + b"\xf4" + (len(start) - 1).to_bytes(2, "little") + start
    assert salvage(data + b"\x41\x01", 1000)[750:] == start[750 - 0x201 :][:4]


def test_limit_holds() -> None:
    assert salvage(b"\0\x04ab" + b"\xfe\x02\0" * 50, 100) == (b"ab" * 50)


def test_nothing_is_nothing() -> None:
    assert salvage(b"", 10) == salvage(b"\x80\x80", 10) == b""
