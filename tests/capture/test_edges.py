"""Records of a container that no writer of ours makes, one for each way to be wrong."""

from __future__ import annotations

import struct
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from mcap.records import Header

from dp2emu.capture import open_capture
from dp2emu.capture.container import FOOTER, MAGIC, PROFILE, RECORD_HEAD, SUMMARY_OFFSET, build
from dp2emu.capture.files import Source, open_source
from dp2emu.capture.opened import _find_totals, _named_totals, _small, begins_as_text
from dp2emu.capture.rawlog import RECORD, scan_heads
from dp2emu.errors import CaptureError
from tests.capture.samples import EVERYTHING
from tests.capture.test_rawlog import log
from tests.capture.test_reader import _file, read, sealed

HEADER = build(Header(profile=PROFILE, library=""))[RECORD_HEAD.size :]
FOOTER_BYTES = RECORD_HEAD.size + FOOTER.size + len(MAGIC)


def record(opcode: int, body: bytes) -> bytes:
    return RECORD_HEAD.pack(opcode, len(body)) + body


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (record(6, bytes(31)), "chunk record of 31 bytes"),
        (record(7, bytes(5)), "message index of 5 bytes"),
        (record(7, struct.pack("<HI", 1, 3)), "message index of 6 bytes, 3 of them entries"),
        (record(7, struct.pack("<HI", 1, 3) + bytes(3)), "of 9 bytes, 3 of them entries"),
        (record(15, bytes(3)), "data end record of 3 bytes"),
        (record(15, b"\1\2\3\4"), "data section checksum is wrong"),
    ],
)
def test_a_record_that_is_wrong_is_damage(raw: bytes, what: str) -> None:
    records, damage = read(_file(raw=raw))
    assert records == []
    assert damage is not None
    assert what in damage


def test_an_index_elsewhere_than_the_footer_says_is_damage() -> None:
    data = bytearray(sealed(EVERYTHING))
    at = len(data) - FOOTER_BYTES + RECORD_HEAD.size
    start, groups, _ = FOOTER.unpack_from(data, at)
    FOOTER.pack_into(data, at, start + 1, groups, 0)
    records, damage = read(bytes(data))
    assert records == EVERYTHING
    assert damage is not None
    assert "the index is not where the footer says" in damage


@pytest.mark.parametrize("head", [(0x77, FOOTER.size), (2, FOOTER.size + 1)])
def test_an_index_ends_with_its_footer(head: tuple[int, int]) -> None:
    data = bytearray(sealed(EVERYTHING))
    RECORD_HEAD.pack_into(data, len(data) - FOOTER_BYTES, *head)
    records, damage = read(bytes(data))
    assert records == EVERYTHING
    assert damage is not None
    assert f"container record {head[0]:#04x} in the index" in damage


@pytest.mark.parametrize("head", [(2, len(HEADER)), (1, (1 << 20) + 1)])
def test_a_file_begins_with_its_header(head: tuple[int, int]) -> None:
    records, damage = read(MAGIC + RECORD_HEAD.pack(*head) + HEADER + bytes(1 << 20))
    assert records == []
    assert damage is not None
    assert "no header record" in damage


def source(data: bytes) -> Source:
    return open_source(BytesIO(data))


def test_an_index_without_totals_names_none() -> None:
    other = record(14, SUMMARY_OFFSET.pack(3, 0, 0)) + record(14, b"") + record(3, b"")
    with pytest.raises(CaptureError, match="names no totals"):
        _find_totals(source(other), 0, len(other))
    index = record(13, struct.pack("<QQI", 0, 0, 5) + b"other")
    with pytest.raises(CaptureError, match="names no totals"):
        _named_totals(record(3, b"") + index)


def test_an_index_record_that_is_large_is_not_read() -> None:
    with pytest.raises(CaptureError, match="index record of 1048577 bytes"):
        _small(source(bytes(10)), (1 << 20) + 1)
    assert _small(source(bytes(10)), 10) == bytes(10)


def test_heads_of_kinds_that_are_unknown_are_passed_over() -> None:
    data = log(EVERYTHING)
    unknown = RECORD.pack(200, 3, 0, 0) + b"abc"
    known = scan_heads(source(data))
    assert known is not None
    found = scan_heads(source(data[:8] + unknown + data[8:]))
    assert found == known


def test_what_begins_as_text_is_told_by_its_first_byte(tmp_path: Path) -> None:
    for content, expected in ((b"dp2", True), (b"\x89MCAP", False), (b"", False)):
        (tmp_path / "a").write_bytes(content)
        with open(tmp_path / "a", "rb") as file:
            assert begins_as_text(file) == expected
            assert file.read() == content


def test_the_chunk_of_the_last_record_is_told() -> None:
    capture = open_capture(BytesIO(sealed(EVERYTHING)))
    assert capture.chunk.number == 0
    numbers = [capture.chunk.number for _ in capture.records()]
    assert numbers[0] == 1
    assert numbers == sorted(numbers)


def test_streams_are_called_by_their_names() -> None:
    class Named(BytesIO):
        name: Any = "there"

    assert open_source(Named()).name == "there"
    assert open_source(BytesIO()).name == "-"
