"""Response buffers: everything valid is read, everything else is an error with its offset."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dp2emu.dp2 import parse
from dp2emu.dp2.parsers import CHECKED, CONSTRUCT, WALK
from dp2emu.errors import DecodingDisagreement, ResponseError
from dp2emu.runtime import parse_responses

from .rigs import MORE, block

SIZES = {5: 4, 6: 8, 7: 0}


def read(buffer: bytes) -> tuple[list[tuple[int, bytes]], bool]:
    responses = parse_responses(buffer, SIZES.get)
    assert parse_responses(buffer, SIZES.get, CONSTRUCT) == responses
    assert parse_responses(buffer, SIZES.get, CHECKED) == responses
    return [(record.query, record.data) for record in responses.records], responses.more


def test_the_vector_of_the_reference() -> None:
    buffer = bytes.fromhex("58000100 14000000 05000000 04000000 2A000000")
    assert read(buffer) == ([(5, b"\x2a\0\0\0")], False)


def test_nothing_written_is_no_response() -> None:
    assert read(b"") == ([], False)


def test_several_blocks_and_a_continue_are_read_in_order() -> None:
    buffer = block((5, b"AAAA"), (6, b"BBBBBBBB")) + block((5, b"CCCC")) + MORE
    assert read(buffer) == ([(5, b"AAAA"), (6, b"BBBBBBBB"), (5, b"CCCC")], True)


def test_the_count_of_a_continue_block_is_ignored() -> None:
    assert read(block((5, b"AAAA")) + struct.pack("<BBHI", 87, 0, 1, 8)) == ([(5, b"AAAA")], True)


def test_a_record_of_no_bytes_means_no_data() -> None:
    assert read(block((5, b""))) == ([(5, b"")], False)


@pytest.mark.parametrize(
    ("buffer", "what", "offset"),
    [
        (b"\x58\0\1", "cut off", 0),
        (block((5, b"AAAA")) + b"\x58\0", "cut off", 20),
        (b"\x08\0\1\0\x08\0\0\0", "bCommand is 8", 0),
        (struct.pack("<BBHI", 88, 0, 0, 7), "block of 7 bytes", 0),
        (struct.pack("<BBHI", 88, 0, 0, 9), "where 8 are left", 0),
        (struct.pack("<BBHIQ", 87, 0, 0, 16, 0), "RESPONSECONTINUE of 16 bytes", 0),
        (struct.pack("<BBHI", 88, 0, 0, 0xFFFFFFFF), "where 8 are left", 0),
        (block((5, b"AAAA"), count=2), "record header passes", 20),
        (block((5, b"AAAA"), count=0), "12 bytes behind", 8),
        (struct.pack("<BBHIII", 88, 0, 1, 16, 5, 4), "4 bytes pass", 8),
        (struct.pack("<BBHIII", 88, 0, 1, 16, 5, 0xFFFFFFFF), "pass the end", 8),
        (block((9, b"AAAA")), "no query 9", 8),
        (block((5, b"AAAAAAAA")), "8 bytes of data, not 4", 8),
        (block((5, b"AA")), "2 bytes of data, not 4", 8),
    ],
)
def test_a_broken_buffer_is_an_error_with_its_offset(
    buffer: bytes, what: str, offset: int
) -> None:
    with pytest.raises(ResponseError, match=what) as caught:
        read(buffer)
    assert caught.value.offset == offset


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(buffer: bytes) -> None:
    try:
        records, _ = read(buffer)
    except ResponseError as error:
        assert error.offset is not None
        assert 0 <= error.offset <= len(buffer)
    else:
        assert all(query in SIZES for query, _ in records)


@given(st.lists(st.lists(st.sampled_from([(5, b"abcd"), (6, b"abcdefgh"), (5, b"")]))), st.data())
def test_a_changed_byte_never_invents_a_query(
    blocks: list[list[tuple[int, bytes]]], data: st.DataObject
) -> None:
    buffer = bytearray(b"".join(block(*records) for records in blocks))
    assert read(bytes(buffer))[0] == [record for records in blocks for record in records]
    if not buffer:
        return
    place = data.draw(st.integers(0, len(buffer) - 1))
    buffer[place] ^= data.draw(st.integers(1, 255))
    try:
        records, _ = read(bytes(buffer))
    except ResponseError:
        return
    assert {query for query, _ in records} <= SIZES.keys()


@given(
    st.lists(st.sampled_from([MORE, block((5, b"AAAA")), block((9, b"")), block((7, b""))])),
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 255)), max_size=2),
    st.integers(0, 60),
)
def test_construct_refuses_what_the_reader_refuses_with_the_same_error(
    blocks: list[bytes], damage: list[tuple[int, int]], cut: int
) -> None:
    buffer = bytearray(b"".join(blocks))
    for place, value in damage:
        buffer[place : place + 1] = bytes([value])
    data = bytes(buffer[:cut])
    assert outcome(data, CONSTRUCT) == outcome(data, WALK) == outcome(data, CHECKED)


def outcome(buffer: bytes, parser: str) -> object:
    try:
        return parse_responses(buffer, SIZES.get, parser)
    except ResponseError as error:
        return error.what, error.offset


def test_responses_that_construct_reads_differently_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = parse.parse_responses
    monkeypatch.setattr(parse, "parse_responses", lambda buffer: real(buffer)[:-1])
    with pytest.raises(DecodingDisagreement):
        parse_responses(block((5, b"AAAA")), SIZES.get, CHECKED)
